//! Plans of half the size, for points that are symmetric about their middle.
//!
//! On a regular grid, or any points that are their own mirror image, a kernel of a distance
//! makes $H$ centrosymmetric: $H_{n - 1 - i, n - 1 - j} = H_{i j}$. So $H$ takes the even part
//! of $v$ to the even part of $H v$ and the odd part to the odd one, and two matrices of half
//! the order,
//!
//! $$ E_{i j} = \tfrac12 (H_{i j} + H_{i, n - 1 - j}), \qquad O_{i j} = \tfrac12 (H_{i j} - H_{i, n - 1 - j}), $$
//!
//! have all of it: $(H v)_i = (E s)_i + (O d)_i$ and $(H v)_{n - 1 - i} = (E s)_i - (O d)_i$, with
//! $s_j = v_j + v_{n - 1 - j}$ and $d_j = v_j - v_{n - 1 - j}$. A point in the middle belongs to the
//! even part.

use super::fit::FitRef;
use super::greedy::ResidualMaker;
use super::plan::{fit_on, with_model};
use super::stop::StopRule;
use super::system::Model;
use super::workspace::Workspace;
use crate::checked::{entry, piece, set, split_mut};
use crate::{Error, Real};

/// A plan for points that are symmetric about their middle, a regular grid above all, in
/// borrowed memory: half the flash of a [`PlanRef`](crate::PlanRef), and half the
/// multiplications for the first residual. With the RKHS penalty.
///
/// [`Plan::half`](crate::Plan::half) makes it on a computer, or `kgard plan --half`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfPlanRef<'a, T> {
    n: usize,
    even: &'a [T],
    odd: &'a [T],
    bias: &'a [T],
    lambda: T,
}

impl<'a, T: Real> HalfPlanRef<'a, T> {
    /// Scalars of the even matrix of a plan of `n` points.
    #[must_use]
    pub const fn even_len(n: usize) -> usize {
        let order = n - n / 2;
        order.saturating_mul(order)
    }

    /// Scalars of the odd matrix of a plan of `n` points.
    #[must_use]
    pub const fn odd_len(n: usize) -> usize {
        (n / 2).saturating_mul(n / 2)
    }

    /// A plan from its parts: both matrices, $\lambda$, and the weights whose inner product
    /// with the data is the bias (zeros if there is none).
    ///
    /// # Errors
    /// [`Error::Length`] if one has a wrong length.
    pub const fn new(
        n: usize,
        even: &'a [T],
        odd: &'a [T],
        bias: &'a [T],
        lambda: T,
    ) -> Result<Self, Error> {
        let lengths = [
            Error::check_len("even half of H", even.len(), Self::even_len(n)),
            Error::check_len("odd half of H", odd.len(), Self::odd_len(n)),
            Error::check_len("bias weights", bias.len(), n),
        ];
        match lengths {
            [Ok(()), Ok(()), Ok(())] => Ok(Self { n, even, odd, bias, lambda }),
            [Err(error), ..] | [_, Err(error), _] | [.., Err(error)] => Err(error),
        }
    }

    /// Both matrices and the weights of the bias.
    #[cfg(feature = "alloc")]
    pub(super) const fn arrays(&self) -> [&'a [T]; 3] {
        [self.even, self.odd, self.bias]
    }

    #[cfg(feature = "alloc")]
    pub(super) const fn lambda(&self) -> T {
        self.lambda
    }

    /// Number of points.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no points.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Finds the outliers in `y` and fits the rest (Algorithm 1), in the caller's memory.
    ///
    /// # Errors
    /// If `y` or the workspace has the wrong length, or `y` is not finite.
    pub fn fit<'w>(
        &self,
        y: &'w [T],
        stop: impl StopRule<T>,
        work: Workspace<'w, T>,
    ) -> Result<FitRef<'w, T>, Error>
    where
        'a: 'w,
    {
        let Self { lambda, bias, .. } = *self;
        with_model(fit_on(self, y, stop, work)?, Model::Scaled { lambda, bias, roots: &[] })
    }

    /// Row `i` of the even matrix.
    #[inline(always)]
    fn even(&self, i: usize) -> &'a [T] {
        let order = self.n - self.n / 2;
        piece(self.even, i * order, order)
    }

    /// Row `i` of the odd matrix; the point in the middle has none.
    #[inline(always)]
    fn odd(&self, i: usize) -> &'a [T] {
        let order = self.n / 2;
        if i < order { piece(self.odd, i * order, order) } else { &[] }
    }
}

impl<T: Real> ResidualMaker<T> for HalfPlanRef<'_, T> {
    fn len(&self) -> usize {
        self.n
    }

    fn residual(&self, v: &[T], out: &mut [T]) {
        let (n, pairs) = (self.n, self.n / 2);
        out.fill(T::zero());
        // The even half of the result, and behind it the odd one from its end on.
        let (even, odd) = split_mut(out, n - pairs);
        // Four rows at a time, so that what is summed up is not loaded and stored for each.
        for j in (0..pairs).step_by(4) {
            let count = if pairs - j < 4 { pairs - j } else { 4 };
            let (mut s, mut d) = ([T::zero(); 4], [T::zero(); 4]);
            for (k, (s, d)) in s.iter_mut().zip(&mut d).enumerate().take(count) {
                let (a, b) = (entry(v, j + k), entry(v, n - 1 - (j + k)));
                (*s, *d) = (a + b, a - b);
            }
            // Where there are fewer, the first one is added again, times zero.
            let at = |k: usize| if k < count { j + k } else { j };
            let rows = [at(0), at(1), at(2), at(3)];
            add_rows(even.iter_mut(), rows.map(|i| self.even(i)), s);
            add_rows(odd.iter_mut().rev(), rows.map(|i| self.odd(i)), d);
        }
        if pairs < n - pairs {
            let middle = entry(v, pairs);
            for (sum, &h) in even.iter_mut().zip(self.even(pairs)) {
                *sum = *sum + h * middle;
            }
        }
        for (e, o) in even.iter_mut().zip(odd.iter_mut().rev()) {
            (*e, *o) = (*e + *o, *e - *o);
        }
    }

    fn column(&self, j: usize, out: &mut [T]) {
        let (n, pairs) = (self.n, self.n / 2);
        let is_mirrored = j >= n - pairs;
        let row = if is_mirrored { n - 1 - j } else { j };
        let (even, odd) = (self.even(row), self.odd(row));
        for i in 0..pairs {
            let e = entry(even, i);
            let o = odd.get(i).copied().unwrap_or(T::zero());
            let o = if is_mirrored { -o } else { o };
            set(out, i, e + o);
            set(out, n - 1 - i, e - o);
        }
        if pairs < n - pairs {
            set(out, pairs, entry(even, pairs));
        }
    }

    fn diagonal(&self, out: &mut [T], _: &mut [T]) {
        let (n, pairs) = (self.n, self.n / 2);
        for i in 0..n - pairs {
            let h = entry(self.even(i), i) + self.odd(i).get(i).copied().unwrap_or(T::zero());
            set(out, i, h);
            set(out, n - 1 - i, h);
        }
    }
}

/// Adds a linear combination of four rows.
#[inline(always)]
fn add_rows<'a, T: Real>(
    sums: impl Iterator<Item = &'a mut T>,
    [a, b, c, d]: [&[T]; 4],
    by: [T; 4],
) {
    for ((((sum, &a), &b), &c), &d) in sums.zip(a).zip(b).zip(c).zip(d) {
        *sum = *sum + (a * by[0] + b * by[1] + (c * by[2] + d * by[3]));
    }
}

#[cfg(feature = "alloc")]
pub use owned::HalfPlan;

#[cfg(feature = "alloc")]
mod owned {
    use super::HalfPlanRef;
    use crate::regression::system::Model;
    use crate::{Error, Kernel, Plan, Points, Real};
    use alloc::vec::Vec;

    /// A [`HalfPlanRef`] with memory of its own, and its points: what is written for a device.
    #[derive(Debug, Clone, PartialEq)]
    pub struct HalfPlan<T> {
        coordinates: Vec<T>,
        dim: usize,
        even: Vec<T>,
        odd: Vec<T>,
        bias: Vec<T>,
        lambda: T,
    }

    impl<T: Real, K: Kernel<T>> Plan<T, K> {
        /// The plan in half the memory, where points and kernel are symmetric about the middle:
        /// a regular grid and a kernel of a distance.
        ///
        /// ```
        /// use kgard::{Gaussian, Plan, Regularizer};
        /// let grid: Vec<f64> = (0..64).map(|i| i as f64 / 64.0).collect();
        /// let plan = Plan::new(&grid, Gaussian::new(0.2), Regularizer::rkhs(0.1))?;
        /// let half = plan.half()?.cast::<f32>()?;
        /// assert!(half.to_bytes().len() < 9_000);
        /// # Ok::<(), kgard::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::Format`] if they are not, or with another penalty than that of the RKHS norm.
        pub fn half(&self) -> Result<HalfPlan<T>, Error> {
            let plan = self.as_ref();
            let Model::Scaled { lambda, bias, roots: [] } = plan.model else {
                let what = "half a plan takes the RKHS penalty, without sample weights";
                return Err(Error::Format { what });
            };
            let (n, h) = (plan.n, plan.h);
            let largest = h.iter().fold(T::zero(), |most, h| most.max(h.abs()));
            let limit = largest * T::epsilon().sqrt();
            // Each entry and its mirror image.
            if h.iter().zip(h.iter().rev()).any(|(&a, &b)| !((a - b).abs() <= limit)) {
                let what = "half a plan takes points that are symmetric about their middle, such \
                            as a regular grid, and a kernel of their distance";
                return Err(Error::Format { what });
            }
            let two = T::one() + T::one();
            let at = |i: usize, j: usize| (h[i * n + j] + h[n * n - 1 - (i * n + j)]) / two;
            let parts = |order: usize, sign: T| -> Vec<T> {
                let entry = |i: usize, j: usize| (at(i, j) + sign * at(i, n - 1 - j)) / two;
                (0..order * order).map(|k| entry(k / order, k % order)).collect()
            };
            Ok(HalfPlan {
                coordinates: self.points().coordinates().to_vec(),
                dim: self.points().dim(),
                even: parts(n - n / 2, T::one()),
                odd: parts(n / 2, -T::one()),
                bias: bias.to_vec(),
                lambda,
            })
        }
    }

    impl<T: Real> HalfPlan<T> {
        /// The plan as a device sees it.
        #[must_use]
        pub fn as_ref(&self) -> HalfPlanRef<'_, T> {
            let Self { even, odd, bias, lambda, .. } = self;
            HalfPlanRef { n: bias.len(), even, odd, bias, lambda: *lambda }
        }

        /// The points.
        #[must_use]
        pub fn points(&self) -> Points<'_, T> {
            Points::of_dim(&self.coordinates, self.dim)
        }

        /// The same plan in another scalar type.
        ///
        /// # Errors
        /// [`Error::Overflow`] if a number does not fit into the other type.
        pub fn cast<U: Real>(&self) -> Result<HalfPlan<U>, Error> {
            let scalar = |x: T| U::from(x).unwrap_or_else(U::nan);
            let slice = |from: &[T]| -> Vec<U> { from.iter().map(|&x| scalar(x)).collect() };
            let half = HalfPlan {
                coordinates: slice(&self.coordinates),
                dim: self.dim,
                even: slice(&self.even),
                odd: slice(&self.odd),
                bias: slice(&self.bias),
                lambda: scalar(self.lambda),
            };
            let HalfPlan { coordinates, even, odd, bias, lambda, .. } = &half;
            let all = [coordinates, even, odd, bias];
            if !all.into_iter().flatten().chain([lambda]).all(|x| x.is_finite()) {
                return Err(Error::Overflow { what: "the plan in the other scalar type" });
            }
            Ok(half)
        }
    }
}
