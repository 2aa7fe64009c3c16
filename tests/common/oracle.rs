//! Algorithm 1 of the paper, literally: at every step the normal equations
//! are written down in full and solved by Gaussian elimination. Slow, and so
//! simple that it is unlikely to be wrong.

use kgard::Real;

/// The penalty, as the paper's block of the matrix lambda B.
#[derive(Debug, Clone)]
pub enum Penalty<T> {
    /// `alpha^T P alpha + d_c c^2`; P is n x n.
    Quadratic { p: Vec<T>, d_c: T },
    /// `lambda alpha^T K alpha`, free bias.
    Rkhs { lambda: T },
}

/// The solution after some steps.
#[derive(Debug, Clone)]
pub struct State<T> {
    pub support: Vec<usize>,
    pub alpha: Vec<T>,
    pub c: T,
    pub u: Vec<T>,
    pub residual: Vec<T>,
    /// Largest and second largest residual outside of the support: how clear
    /// the next selection is.
    pub next: (T, T),
}

/// States after 0, 1, ..., `steps` selections.
pub fn kgard<T: Real>(
    k: &[T],
    y: &[T],
    penalty: &Penalty<T>,
    bias: bool,
    steps: usize,
) -> Vec<State<T>> {
    weighted(k, y, &vec![T::one(); y.len()], penalty, bias, steps)
}

/// The same with squared residuals that count `weights` times, and selections by the
/// residuals in units of their noise.
pub fn weighted<T: Real>(
    k: &[T],
    y: &[T],
    weights: &[T],
    penalty: &Penalty<T>,
    bias: bool,
    steps: usize,
) -> Vec<State<T>> {
    let mut states = Vec::new();
    let mut support = Vec::new();
    loop {
        let state = solve_weighted_step(k, y, weights, penalty, bias, &support);
        let j = arg_max(&in_units_of_noise(&state.residual, weights), &support);
        states.push(state);
        if support.len() == steps {
            return states;
        }
        support.push(j);
    }
}

/// Steps 4, 5 / 10, 11: minimise `|y - X z|^2 + z^T lambda B z` over z.
pub fn solve_step<T: Real>(
    k: &[T],
    y: &[T],
    penalty: &Penalty<T>,
    bias: bool,
    support: &[usize],
) -> State<T> {
    solve_weighted_step(k, y, &vec![T::one(); y.len()], penalty, bias, support)
}

fn in_units_of_noise<T: Real>(residual: &[T], weights: &[T]) -> Vec<T> {
    residual.iter().zip(weights).map(|(&r, &w)| r * w.sqrt()).collect()
}

/// Minimise `sum of w_i (y - X z)_i^2 + z^T lambda B z` over z.
pub fn solve_weighted_step<T: Real>(
    k: &[T],
    y: &[T],
    weights: &[T],
    penalty: &Penalty<T>,
    bias: bool,
    support: &[usize],
) -> State<T> {
    let n = y.len();
    let zero = T::zero();
    let columns = n + usize::from(bias) + support.len();
    let first_u = n + usize::from(bias);
    // X = [K 1 I_S], column by column.
    let x = |i: usize, column: usize| {
        if column < n {
            k[i * n + column]
        } else if column < first_u || support[column - first_u] == i {
            T::one()
        } else {
            zero
        }
    };
    let mut normal = vec![zero; columns * columns];
    let mut rhs = vec![zero; columns];
    for a in 0..columns {
        for b in 0..columns {
            normal[a * columns + b] = (0..n).fold(zero, |s, i| s + weights[i] * x(i, a) * x(i, b));
        }
        rhs[a] = (0..n).fold(zero, |s, i| s + weights[i] * x(i, a) * y[i]);
    }
    for a in 0..n {
        for b in 0..n {
            let entry = match penalty {
                Penalty::Quadratic { p, .. } => p[a * n + b],
                Penalty::Rkhs { lambda } => *lambda * k[a * n + b],
            };
            normal[a * columns + b] = normal[a * columns + b] + entry;
        }
    }
    if let (true, Penalty::Quadratic { d_c, .. }) = (bias, penalty) {
        normal[n * columns + n] = normal[n * columns + n] + *d_c;
    }
    let z = gauss(normal, rhs);
    let residual: Vec<T> =
        (0..n).map(|i| (0..columns).fold(y[i], |s, c| s - x(i, c) * z[c])).collect();
    let noise = in_units_of_noise(&residual, weights);
    let mut outside: Vec<T> =
        (0..n).filter(|i| !support.contains(i)).map(|i| noise[i].abs()).collect();
    outside.sort_by(|a, b| b.partial_cmp(a).unwrap());
    State {
        support: support.to_vec(),
        alpha: z[..n].to_vec(),
        c: if bias { z[n] } else { zero },
        u: z[first_u..].to_vec(),
        residual,
        next: (outside.first().copied().unwrap_or(zero), outside.get(1).copied().unwrap_or(zero)),
    }
}

/// Step 8: the largest residual that is not yet selected.
pub fn arg_max<T: Real>(residual: &[T], support: &[usize]) -> usize {
    let mut best = usize::MAX;
    for j in 0..residual.len() {
        if !support.contains(&j) && (best == usize::MAX || residual[j].abs() > residual[best].abs())
        {
            best = j;
        }
    }
    best
}

/// Gaussian elimination with partial pivoting.
pub fn gauss<T: Real>(mut a: Vec<T>, mut b: Vec<T>) -> Vec<T> {
    let n = b.len();
    for c in 0..n {
        let pivot = (c..n)
            .max_by(|&i, &j| a[i * n + c].abs().partial_cmp(&a[j * n + c].abs()).unwrap())
            .unwrap();
        for k in 0..n {
            a.swap(c * n + k, pivot * n + k);
        }
        b.swap(c, pivot);
        for i in c + 1..n {
            let factor = a[i * n + c] / a[c * n + c];
            if factor != T::zero() {
                for k in c..n {
                    a[i * n + k] = a[i * n + k] - factor * a[c * n + k];
                }
                b[i] = b[i] - factor * b[c];
            }
        }
    }
    for c in (0..n).rev() {
        for k in c + 1..n {
            b[c] = b[c] - a[c * n + k] * b[k];
        }
        b[c] = b[c] / a[c * n + c];
    }
    b
}
