//! Kernels on a line whose Gaussian process is Markov.
//!
//! A Matérn kernel of order $\nu = D - 1/2$ is the covariance of the first
//! component of a process $z = (f, f', \dots)$ with $D$ components, in units of
//! $\ell / \sqrt{2 \nu}$:
//!
//! $$ z(x + \tau) = \Phi(\tau) z(x) + w, \qquad \operatorname{cov} w = Q(\tau), \qquad \operatorname{cov} z = P_\infty , $$
//!
//! and what is left of $x$ matters to what is right of it through $z(x)$ alone.
//! With $s = \sqrt{2 \nu} \\, \tau / \ell$, $\Phi$ is $e^{-s}$ times polynomials of $s$,
//! and $Q$ is made of the probabilities
//! $P_k(a) = e^{-a} \sum_{j \ge k} a^j / j!$ and their differences
//! $t_k(a) = e^{-a} a^k / k!$ at $a = 2 s$. $Q = P_\infty - \Phi P_\infty \Phi^T$
//! would cancel for close points; these sums do not.

use crate::Real;
use crate::kernel::{Cosine, Kernel, Laplacian, Matern32, Matern52, Product, Scaled, Sum};
use crate::real::{constant, count};
use core::fmt::Debug;

/// A kernel on a line whose Gaussian process has a state of a few numbers that
/// is all the future needs to know of the past.
///
/// Implemented for [`Laplacian`] (which is Matérn 1/2 on a line), [`Matern32`],
/// [`Matern52`], their products with a [`Cosine`] (a wave whose phase and amplitude
/// drift), and multiples ([`Scaled`]) and sums ([`Sum`]) of all these up to eight
/// components. The first component of the state is the process itself.
///
/// A daily cycle of two harmonics that changes over a month of hours, and the weather
/// beside it:
///
/// ```
/// use kgard::line::Line;
/// use kgard::{Cosine, Kernel, Laplacian, Matern32, Stop};
///
/// let wave = |period: f64| Laplacian::new(720.0).times(Cosine::new(period));
/// let kernel = Matern32::new(72.0).plus(wave(24.0)).plus(wave(12.0).scaled(0.3));
/// let hours: Vec<f64> = (0..5000).map(f64::from).collect();
/// let mut y: Vec<f64> = hours.iter().map(|h| (h / 300.0).sin() + (h * 0.2618).cos()).collect();
/// y[2222] += 1.0;
/// let fit = Line::new(&hours, kernel, 0.01)?.fit(&y, Stop::max_residual(0.3))?;
/// assert_eq!(fit.support(), [2222]);
/// # Ok::<(), kgard::Error>(())
/// ```
///
/// The kernel that decays bounds the window of a removal: a cosine alone never decays, has
/// no window, and is not Markov here.
pub trait Markov<T: Real>: Kernel<T> {
    /// A matrix on the state: `[[T; D]; D]` for a state of `D` components.
    type Matrix: Copy + Debug;
    /// What has to be known of the distance of two points to make their
    /// [`Transition`] without transcendental functions.
    type Gap: Copy + Debug + Default + PartialEq + Send + Sync;

    /// $P_\infty$, the covariance of the state with nothing known.
    fn stationary(&self) -> Self::Matrix;

    /// What has to be known of a distance $\tau \ge 0$.
    fn gap(&self, distance: T) -> Self::Gap;

    /// $\Phi(\tau)$ and $Q(\tau)$.
    fn transition(&self, gap: &Self::Gap) -> Transition<Self::Matrix>;
}

/// The step from one point to the next one on its right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition<M> {
    /// $\Phi$: the expected state there, by the state here.
    pub phi: M,
    /// $Q$: the covariance of the rest.
    pub q: M,
}

/// A kernel with a state of `D` components: shorthand for bounds.
pub trait MarkovOf<T: Real, const D: usize>: Markov<T, Matrix = [[T; D]; D]> {}

impl<T: Real, const D: usize, K: Markov<T, Matrix = [[T; D]; D]>> MarkovOf<T, D> for K {}

/// A distance as the Matérn kernels see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaternGap<T> {
    /// $s = \sqrt{2 \nu} \\, \tau / \ell$; zero where $e^{-s}$ is.
    s: T,
    /// $e^{-s}$.
    decay: T,
    /// $P_{2D - 1}(2s)$.
    tail: T,
}

impl<T: Real> Default for MaternGap<T> {
    /// No distance.
    fn default() -> Self {
        Self { s: T::zero(), decay: T::one(), tail: T::zero() }
    }
}

impl<T: Real> MaternGap<T> {
    fn new(s: T, states: usize) -> Self {
        let decay = (-s).exp();
        let tail = upper_poisson(s + s, decay * decay, 2 * states - 1);
        // s^k e^-s is zero there, too, and not infinity times zero.
        Self { s: if decay == T::zero() { T::zero() } else { s }, decay, tail }
    }

    /// $t_k(2s)$ for `K` values of $k$ from 1, at most 4.
    #[inline(always)]
    fn terms<const K: usize>(&self) -> [T; K] {
        let a = self.s + self.s;
        let mut term = self.decay * self.decay;
        let mut terms = [T::zero(); K];
        // Written out: compiled for size, a loop would divide in double precision.
        if K > 0 {
            term = term * a;
            terms[0] = term;
        }
        if K > 1 {
            term = term * a * constant(1.0 / 2.0);
            terms[1] = term;
        }
        if K > 2 {
            term = term * a * constant(1.0 / 3.0);
            terms[2] = term;
        }
        if K > 3 {
            term = term * a * constant(1.0 / 4.0);
            terms[3] = term;
        }
        terms
    }
}

/// The square root of a constant, from what `f64` knows of it, to the precision of `T`: a step of
/// Newton's, which compilers work out, and they do not the root.
#[inline(always)]
fn root<T: Real>(square: f64, known: f64) -> T {
    let (square, known) = (constant::<T>(square), constant::<T>(known));
    (known + square / known) * constant(0.5)
}

/// $P_k(a) = e^{-a} \sum_{j \ge k} a^j / j!$, the probability that a Poisson
/// variable of mean $a$ is $k$ or more; `decay` is $e^{-a}$.
fn upper_poisson<T: Real>(a: T, decay: T, k: usize) -> T {
    // Counted in `T`: compiled for size, conversions would cost more than the series.
    let (one, mut j) = (T::one(), T::zero());
    if a > count(k + 2) {
        // At least a half: one minus the rest loses nothing.
        let (mut term, mut rest) = (one, one);
        for _ in 1..k {
            j = j + one;
            term = term * a / j;
            rest = rest + term;
        }
        return if decay == T::zero() { one } else { one - decay * rest };
    }
    let mut term = decay;
    for _ in 0..k {
        j = j + one;
        term = term * a / j;
    }
    let mut sum = term;
    loop {
        j = j + one;
        term = term * a / j;
        let next = sum + term;
        if !(next > sum) {
            return sum;
        }
        sum = next;
    }
}

impl<T: Real> Markov<T> for Laplacian<T> {
    type Matrix = [[T; 1]; 1];
    type Gap = MaternGap<T>;

    fn stationary(&self) -> Self::Matrix {
        [[T::one()]]
    }

    fn gap(&self, distance: T) -> Self::Gap {
        MaternGap::new(distance / self.sigma, 1)
    }

    #[inline(always)]
    fn transition(&self, gap: &Self::Gap) -> Transition<Self::Matrix> {
        Transition { phi: [[gap.decay]], q: [[gap.tail]] }
    }
}

impl<T: Real> Markov<T> for Matern32<T> {
    type Matrix = [[T; 2]; 2];
    type Gap = MaternGap<T>;

    fn stationary(&self) -> Self::Matrix {
        let (one, zero) = (T::one(), T::zero());
        [[one, zero], [zero, one]]
    }

    fn gap(&self, distance: T) -> Self::Gap {
        MaternGap::new(root::<T>(3.0, 1.732_050_807_568_877_2) * (distance / self.length), 2)
    }

    #[inline(always)]
    fn transition(&self, gap: &Self::Gap) -> Transition<Self::Matrix> {
        let &MaternGap { s, decay: e, tail } = gap;
        let se = s * e;
        let [t1, t2] = gap.terms();
        Transition { phi: [[e + se, se], [-se, e - se]], q: [[tail, t2], [t2, t1 + t1 + tail]] }
    }
}

impl<T: Real> Markov<T> for Matern52<T> {
    type Matrix = [[T; 3]; 3];
    type Gap = MaternGap<T>;

    fn stationary(&self) -> Self::Matrix {
        let (one, zero, third) = (T::one(), T::zero(), constant::<T>(1.0 / 3.0));
        [[one, zero, -third], [zero, third, zero], [-third, zero, one]]
    }

    fn gap(&self, distance: T) -> Self::Gap {
        MaternGap::new(root::<T>(5.0, 2.236_067_977_499_79) * (distance / self.length), 3)
    }

    #[inline(always)]
    fn transition(&self, gap: &Self::Gap) -> Transition<Self::Matrix> {
        let c = constant::<T>;
        let &MaternGap { s, decay: e, tail: p5 } = gap;
        let (se, half) = (s * e, s * s * e * c(0.5));
        let phi = [
            [e + se + half, se + half + half, half],
            [-half, e + se - half - half, se - half],
            [half - se, half + half - c(3.0) * se, e - se - se + half],
        ];
        let [t1, t2, t3, t4] = gap.terms();
        let p4 = p5 + t4;
        let q01 = t4;
        let q02 = c(2.0 / 3.0) * t3 - t4 - p4 * c(1.0 / 3.0);
        let q11 = t3 * c(4.0 / 3.0) - t4 * c(2.0 / 3.0) + p5 * c(1.0 / 3.0);
        let q12 = t2 * c(4.0 / 3.0) - (t3 + t3) + t4;
        let q22 = (t1 - t2) * c(8.0 / 3.0) + c(4.0) * t3 + p5;
        Transition { phi, q: [[p5, q01, q02], [q01, q11, q12], [q02, q12, q22]] }
    }
}

impl<T, K, const D: usize> Markov<T> for Scaled<K, T>
where
    T: Real,
    K: Markov<T, Matrix = [[T; D]; D]>,
{
    type Matrix = [[T; D]; D];
    type Gap = K::Gap;

    fn stationary(&self) -> Self::Matrix {
        self.kernel.stationary().map(|row| row.map(|p| p * self.by))
    }

    fn gap(&self, distance: T) -> Self::Gap {
        self.kernel.gap(distance)
    }

    #[inline(always)]
    fn transition(&self, gap: &Self::Gap) -> Transition<Self::Matrix> {
        let Transition { phi, q } = self.kernel.transition(gap);
        Transition { phi, q: q.map(|row| row.map(|q| q * self.by)) }
    }
}

/// The rotation of a wave over a distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation<T> {
    cos: T,
    sin: T,
}

impl<T: Real> Default for Rotation<T> {
    /// No distance.
    fn default() -> Self {
        Self { cos: T::one(), sin: T::zero() }
    }
}

/// A process times a wave: the state of the process, each of its components as a
/// vector in the plane that the wave turns. With the rotation $R$ of a distance
/// $\Phi \otimes R$ and, since $R R^T = 1$, $Q \otimes 1$.
impl<T, K, const I: usize, const D: usize> Markov<T> for Product<K, Cosine<T>>
where
    T: Real,
    K: Markov<T, Matrix = [[T; I]; I]>,
    [[T; I]; I]: Join<[[T; I]; I], Both = [[T; D]; D]>,
{
    type Matrix = [[T; D]; D];
    type Gap = (K::Gap, Rotation<T>);

    fn stationary(&self) -> Self::Matrix {
        in_planes(&self.0.stationary(), &Rotation::default())
    }

    fn gap(&self, distance: T) -> Self::Gap {
        let (sin, cos) = self.1.angle(0, distance).1.sin_cos();
        (self.0.gap(distance), Rotation { cos, sin })
    }

    #[inline(always)]
    fn transition(&self, gap: &Self::Gap) -> Transition<Self::Matrix> {
        let Transition { phi, q } = self.0.transition(&gap.0);
        Transition { phi: in_planes(&phi, &gap.1), q: in_planes(&q, &Rotation::default()) }
    }
}

/// $A \otimes R$.
#[inline(always)]
fn in_planes<T: Real, const I: usize, const D: usize>(
    a: &[[T; I]; I],
    rotation: &Rotation<T>,
) -> [[T; D]; D] {
    let mut out = [[T::zero(); D]; D];
    for k in 0..I {
        for l in 0..I {
            out[2 * k][2 * l] = a[k][l] * rotation.cos;
            out[2 * k][2 * l + 1] = a[k][l] * rotation.sin;
            out[2 * k + 1][2 * l] = -(a[k][l] * rotation.sin);
            out[2 * k + 1][2 * l + 1] = out[2 * k][2 * l];
        }
    }
    out
}

/// The size of a matrix of two blocks.
pub trait Join<Other> {
    /// The matrix of both.
    type Both;
}

macro_rules! join {
    ($($a:literal + $b:literal = $both:literal),+ $(,)?) => {
        $(impl<T> Join<[[T; $b]; $b]> for [[T; $a]; $a] { type Both = [[T; $both]; $both]; })+
    };
}

join! {
    1 + 1 = 2, 1 + 2 = 3, 1 + 3 = 4, 1 + 4 = 5, 1 + 5 = 6, 1 + 6 = 7, 1 + 7 = 8,
    2 + 1 = 3, 2 + 2 = 4, 2 + 3 = 5, 2 + 4 = 6, 2 + 5 = 7, 2 + 6 = 8,
    3 + 1 = 4, 3 + 2 = 5, 3 + 3 = 6, 3 + 4 = 7, 3 + 5 = 8,
    4 + 1 = 5, 4 + 2 = 6, 4 + 3 = 7, 4 + 4 = 8,
    5 + 1 = 6, 5 + 2 = 7, 5 + 3 = 8, 6 + 1 = 7, 6 + 2 = 8, 7 + 1 = 8,
}

/// Two processes that are independent, with their sum as the first component:
/// $(f_1 + f_2, f_1', \dots, f_2, f_2', \dots)$.
impl<T, A, B, const I: usize, const J: usize, const D: usize> Markov<T> for Sum<A, B>
where
    T: Real,
    A: Markov<T, Matrix = [[T; I]; I]>,
    B: Markov<T, Matrix = [[T; J]; J]>,
    [[T; I]; I]: Join<[[T; J]; J], Both = [[T; D]; D]>,
{
    type Matrix = [[T; D]; D];
    type Gap = (A::Gap, B::Gap);

    fn stationary(&self) -> Self::Matrix {
        add_first(blocks(self.0.stationary(), self.1.stationary()), I)
    }

    fn gap(&self, distance: T) -> Self::Gap {
        (self.0.gap(distance), self.1.gap(distance))
    }

    #[inline(always)]
    fn transition(&self, gap: &Self::Gap) -> Transition<Self::Matrix> {
        let (a, b) = (self.0.transition(&gap.0), self.1.transition(&gap.1));
        let mut phi: [[T; D]; D] = blocks(a.phi, b.phi);
        // New state = M z with M = 1 + e_0 e_I^T: M phi M^-1.
        for l in 0..D {
            phi[0][l] = phi[0][l] + phi[I][l];
        }
        for row in &mut phi {
            row[I] = row[I] - row[0];
        }
        Transition { phi, q: add_first(blocks(a.q, b.q), I) }
    }
}

/// The block-diagonal matrix of two.
#[inline(always)]
fn blocks<T: Real, const I: usize, const J: usize, const D: usize>(
    a: [[T; I]; I],
    b: [[T; J]; J],
) -> [[T; D]; D] {
    let mut both = [[T::zero(); D]; D];
    for k in 0..I {
        both[k][..I].copy_from_slice(&a[k]);
    }
    for k in 0..J {
        both[I + k][I..].copy_from_slice(&b[k]);
    }
    both
}

/// The covariance of $z$ with component `other` added to the first.
#[inline(always)]
fn add_first<T: Real, const D: usize>(mut p: [[T; D]; D], other: usize) -> [[T; D]; D] {
    for l in 0..D {
        p[0][l] = p[0][l] + p[other][l];
    }
    for row in &mut p {
        row[0] = row[0] + row[other];
    }
    p
}
