//! Every path through KGARD against Algorithm 1 written literally.
use crate::common;

use common::oracle::{self, Penalty, State};
use common::problem::{Problem, Random};
use kgard::{
    Error, Gaussian, Matern32, Plan, PlanRef, Points, Regularizer, Stop, System, Workspace,
};
use proptest::prelude::*;
use twofloat::TwoFloat;

/// One regularizer in the library's and in the oracle's words.
#[derive(Debug, Clone)]
enum Case {
    L2 { lambda: f64 },
    Weighted { lambda: f64, weights: Vec<f64> },
    Rkhs { lambda: f64 },
    Tikhonov { psi: Vec<f64>, bias_lambda: f64 },
}

impl Case {
    fn all(n: usize, lambda: f64, seed: u64) -> Vec<Self> {
        let mut random = common::problem::Random(seed);
        let mut weights = vec![0.0; n];
        kgard::border_weights(&mut weights, n / 5, 5.0);
        // A dense Psi: a multiple of the identity, differences, and a bit of
        // everything.
        let mut psi = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let base = if i == j {
                    1.0
                } else if j == i + 1 {
                    -0.4
                } else {
                    0.0
                };
                psi[i * n + j] = lambda.sqrt() * (base + 0.05 * random.normal());
            }
        }
        vec![
            Self::L2 { lambda },
            Self::Weighted { lambda, weights },
            Self::Rkhs { lambda },
            Self::Tikhonov { psi, bias_lambda: lambda },
        ]
    }

    fn regularizer(&self) -> Regularizer<'_, f64> {
        match self {
            Self::L2 { lambda } => Regularizer::l2(*lambda),
            Self::Weighted { lambda, weights } => Regularizer::l2(*lambda).with_weights(weights),
            Self::Rkhs { lambda } => Regularizer::rkhs(*lambda),
            Self::Tikhonov { psi, bias_lambda } => Regularizer::tikhonov(psi, *bias_lambda),
        }
    }

    fn penalty(&self, n: usize) -> Penalty<TwoFloat> {
        let two = TwoFloat::from;
        let mut p = vec![two(0.0); n * n];
        let d_c = match self {
            Self::Rkhs { lambda } => return Penalty::Rkhs { lambda: two(*lambda) },
            Self::L2 { lambda } => {
                (0..n).for_each(|i| p[i * n + i] = two(*lambda));
                lambda
            }
            Self::Weighted { lambda, weights } => {
                (0..n).for_each(|i| p[i * n + i] = two(*lambda) * two(weights[i]));
                lambda
            }
            Self::Tikhonov { psi, bias_lambda } => {
                for a in 0..n {
                    for b in 0..n {
                        for i in 0..n {
                            p[a * n + b] += two(psi[i * n + a]) * two(psi[i * n + b]);
                        }
                    }
                }
                bias_lambda
            }
        };
        Penalty::Quadratic { p, d_c: two(*d_c) }
    }
}

/// The kernel's Gram matrix, as the library computes it, in double-double.
fn gram(points: Points<'_, f64>, kernel: &impl kgard::Kernel<f64>) -> Vec<TwoFloat> {
    let mut k = vec![0.0; points.len() * points.len()];
    kgard::kernel::gram(points, kernel, &mut k).unwrap();
    k.into_iter().map(TwoFloat::from).collect()
}

fn oracle_states(
    problem: &Problem,
    kernel: &impl kgard::Kernel<f64>,
    case: &Case,
    bias: bool,
    steps: usize,
) -> Vec<State<TwoFloat>> {
    let y: Vec<TwoFloat> = problem.y.iter().map(|&y| TwoFloat::from(y)).collect();
    oracle::kgard(&gram(problem.points(), kernel), &y, &case.penalty(problem.n()), bias, steps)
}

/// As many steps as the oracle selects beyond doubt at precision `margin`.
fn clear_steps(states: &[State<TwoFloat>], margin: f64) -> usize {
    let clear = |s: &State<TwoFloat>| {
        let (first, second) = (f64::from(s.next.0), f64::from(s.next.1));
        first - second > margin * first
    };
    states[..states.len() - 1].iter().take_while(|s| clear(s)).count()
}

struct Found {
    support: Vec<usize>,
    u: Vec<f64>,
    alpha: Vec<f64>,
    c: f64,
    residual: Vec<f64>,
    fitted: Vec<f64>,
}

fn assert_same(found: &Found, state: &State<TwoFloat>, y: &[f64], tolerance: f64, what: &str) {
    let scale = y.iter().fold(1.0_f64, |m, y| m.max(y.abs()));
    let close = |a: f64, b: TwoFloat, size: f64, part: &str| {
        let b = f64::from(b);
        assert!(
            (a - b).abs() <= tolerance * size,
            "{what}: {part} {a} instead of {b} (k = {})",
            state.support.len()
        );
    };
    assert_eq!(found.support, state.support, "{what}: outliers in order");
    let largest = state.alpha.iter().fold(scale, |m, a| m.max(f64::from(a.abs())));
    for i in 0..y.len() {
        close(found.alpha[i], state.alpha[i], largest, "coefficient");
        close(found.residual[i], state.residual[i], scale, "residual");
        let u =
            state.support.iter().position(|&s| s == i).map_or(TwoFloat::from(0.0), |p| state.u[p]);
        close(found.fitted[i], TwoFloat::from(y[i]) - u - state.residual[i], scale, "fitted value");
    }
    for (a, b) in found.u.iter().zip(&state.u) {
        close(*a, *b, scale, "outlier value");
    }
    close(found.c, state.c, largest.min(1e3 * scale), "bias");
}

fn owned<K>(fit: &kgard::Fit<f64, K>) -> Found {
    Found {
        support: fit.outliers().iter().map(|o| o.index).collect(),
        u: fit.outliers().iter().map(|o| o.value).collect(),
        alpha: fit.coefficients().to_vec(),
        c: fit.bias(),
        residual: fit.residual().to_vec(),
        fitted: fit.fitted().to_vec(),
    }
}

fn borrowed<T: kgard::Real>(fit: &kgard::FitRef<'_, T>) -> Found {
    let wide = |v: &[T]| v.iter().map(|x| x.to_f64().unwrap()).collect::<Vec<_>>();
    let mut alpha = vec![T::zero(); fit.residual().len()];
    fit.coefficients(&mut alpha).unwrap();
    let mut fitted = alpha.clone();
    fit.fitted(&mut fitted).unwrap();
    Found {
        support: fit.outliers().map(|o| o.index).collect(),
        u: fit.outliers().map(|o| o.value.to_f64().unwrap()).collect(),
        alpha: wide(&alpha),
        c: fit.bias().to_f64().unwrap(),
        residual: wide(fit.residual()),
        fitted: wide(&fitted),
    }
}

/// All paths in f64, after `k` outliers for every `k` up to `steps`.
fn check_f64<K: kgard::Kernel<f64> + Clone>(
    problem: &Problem,
    kernel: K,
    case: &Case,
    bias: bool,
    steps: usize,
    tolerance: f64,
) {
    let states = oracle_states(problem, &kernel, case, bias, steps);
    let n = problem.n();
    let mut regularizer = case.regularizer();
    if !bias {
        regularizer = regularizer.without_bias();
    }
    let plan = Plan::new(problem.points(), kernel.clone(), regularizer).unwrap();
    for k in 0..=clear_steps(&states, 1e-9) {
        let state = &states[k];
        let y = &problem.y;
        let what = |path| format!("{path}, {case:?}, n = {n}");

        let fit = plan.fit(y, Stop::count(k)).unwrap();
        assert_same(&owned(&fit), state, y, tolerance, &what("plan"));

        let once = kgard::fit(problem.points(), y, kernel.clone(), regularizer, Stop::count(k));
        assert_same(&owned(&once.unwrap()), state, y, tolerance, &what("one shot"));

        let mut scalars = vec![0.0; Workspace::<f64>::len(n, k)];
        let mut indices = vec![0; k];
        let work = Workspace::new(n, &mut scalars, &mut indices).unwrap();
        let fit = plan.as_ref().fit(y, Stop::max_residual(0.0), work).unwrap();
        assert_same(&borrowed(&fit), state, y, tolerance, &what("scratch tier"));

        let fit = plan.fit_support(y, &state.support).unwrap();
        assert_same(&owned(&fit), state, y, tolerance, &what("given support"));
    }
}

/// Sample weights on all paths, after `k` outliers for every `k` up to `steps`.
fn check_sample_weights(problem: &Problem, case: &Case, bias: bool, steps: usize) {
    let (n, y, kernel) = (problem.n(), &problem.y, Matern32::new(0.3));
    let mut random = Random(11);
    let weights: Vec<f64> = (0..n).map(|_| 10.0_f64.powf(2.0 * random.uniform() - 1.0)).collect();
    let two = |v: &[f64]| v.iter().map(|&x| TwoFloat::from(x)).collect::<Vec<_>>();
    let k_matrix = gram(problem.points(), &kernel);
    let (penalty, two_weights) = (case.penalty(n), two(&weights));
    let states = oracle::weighted(&k_matrix, &two(y), &two_weights, &penalty, bias, steps);
    let mut regularizer = case.regularizer().with_sample_weights(&weights);
    if !bias {
        regularizer = regularizer.without_bias();
    }
    let plan = Plan::new(problem.points(), kernel, regularizer).unwrap();
    let bytes = plan.to_bytes();
    let words: Vec<u64> =
        bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
    let (stored, _) = PlanRef::<f64>::from_bytes(bytemuck::cast_slice(&words)).unwrap();
    let mut ys = y.clone();
    ys.extend(y.iter().map(|y| 2.0 * y));
    for k in 0..=clear_steps(&states, 1e-9) {
        let state = &states[k];
        let same = |found: &Found, path: &str| {
            assert_same(found, state, y, 1e-9, &format!("weights, {path}, {case:?}, n = {n}"));
        };
        same(&owned(&plan.fit(y, Stop::count(k)).unwrap()), "plan");
        same(&owned(&plan.fit_many(&ys, Stop::count(k)).unwrap()[0]), "many");
        same(&owned(&plan.fit_support(y, &state.support).unwrap()), "given support");
        let once = kgard::fit(problem.points(), y, kernel, regularizer, Stop::count(k));
        same(&owned(&once.unwrap()), "one shot");
        let (points, support) = (problem.points(), &state.support);
        let once = kgard::fit_support(points, y, kernel, regularizer, support);
        same(&owned(&once.unwrap()), "one shot, given support");
        for (plan, path) in [(plan.as_ref(), "scratch tier"), (stored, "from bytes")] {
            let mut scalars = vec![0.0; Workspace::<f64>::weighted_len(n, k)];
            let mut indices = vec![0; k];
            let work = Workspace::new(n, &mut scalars, &mut indices).unwrap();
            let fit = plan.fit(y, Stop::max_residual(0.0), work).unwrap();
            same(&borrowed(&fit), path);
            let work = Workspace::new(n, &mut scalars, &mut indices).unwrap();
            same(&borrowed(&plan.fit_support(y, support, work).unwrap()), path);
        }
        let second = &plan.fit_many(&ys, Stop::count(k)).unwrap()[1];
        let doubled = owned(second);
        for (a, b) in doubled.residual.iter().zip(&state.residual) {
            assert!((a - 2.0 * f64::from(*b)).abs() < 1e-8, "the second target, {case:?}");
        }
    }
    // Rules see residuals in units of their noise.
    let ridge = plan.ridge(y).unwrap();
    let norm = ridge.residual().iter().zip(&weights);
    let norm = norm.map(|(r, w)| w * r * r).sum::<f64>().sqrt();
    let none = plan.fit(y, Stop::residual_norm(1.001 * norm)).unwrap();
    assert!(none.outliers().is_empty());
    assert!(!plan.fit(y, Stop::residual_norm(0.999 * norm)).unwrap().outliers().is_empty());
    // Without room for the whitened data.
    let mut scalars = vec![0.0; Workspace::<f64>::len(n, 1)];
    let mut indices = [0];
    let work = Workspace::new(n, &mut scalars, &mut indices).unwrap();
    let short = plan.as_ref().fit(y, Stop::count(1), work).unwrap_err();
    assert!(
        matches!(short, Error::TooShort { needed, .. } if needed == Workspace::<f64>::weighted_len(n, 1))
    );
}

#[test]
fn sample_weights() {
    for (n, dim, outliers) in [(40, 1, 4), (30, 3, 3)] {
        let problem = Problem::new(n, dim, outliers, 0.1, n as u64);
        for case in Case::all(n, 0.2, 1) {
            for bias in [true, false] {
                check_sample_weights(&problem, &case, bias, outliers + 2);
            }
        }
    }
}

#[test]
fn sample_weights_of_one_change_nothing_and_bad_ones_are_refused() {
    let problem = Problem::new(30, 1, 3, 0.1, 4);
    let (ones, kernel) = (vec![1.0; 30], Gaussian::new(0.3));
    for case in Case::all(30, 0.2, 1) {
        let plain = Plan::new(problem.points(), kernel, case.regularizer()).unwrap();
        let regularizer = case.regularizer().with_sample_weights(&ones);
        let weighted = Plan::new(problem.points(), kernel, regularizer).unwrap();
        let stop = Stop::count(3);
        assert_eq!(plain.fit(&problem.y, stop), weighted.fit(&problem.y, stop), "{case:?}");
    }
    for bad in [vec![1.0; 29], vec![0.0; 30], vec![-1.0; 30], vec![f64::NAN; 30]] {
        let regularizer = Regularizer::rkhs(0.1).with_sample_weights(&bad);
        assert!(Plan::new(problem.points(), kernel, regularizer).is_err(), "{bad:?}");
    }
    // A method whose own loop knows of no weights says so.
    let regularizer = Regularizer::rkhs(0.1).with_sample_weights(&ones);
    let plan = Plan::new(problem.points(), kernel, regularizer).unwrap();
    let refused = kgard::baselines::Ram::new(1.0).fit(&plan, &problem.y).unwrap_err();
    assert!(matches!(refused, Error::Unsupported { .. }));
}

/// The scratch tier in f32, planned in f32 and planned in f64.
fn check_f32(problem: &Problem, width: f64, case: &Case, steps: usize, tolerance: f64) {
    let narrow = |v: &[f64]| v.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    // The oracle works on the rounded data.
    let mut rounded = problem.clone();
    rounded.x = narrow(&problem.x).iter().map(|&x| f64::from(x)).collect();
    rounded.y = narrow(&problem.y).iter().map(|&y| f64::from(y)).collect();
    let states = oracle_states(&rounded, &Matern32::new(width), case, true, steps);
    let (x, y) = (narrow(&problem.x), narrow(&problem.y));
    let n = y.len();
    let wide = Plan::new(rounded.points(), Matern32::new(width), case.regularizer()).unwrap();
    let cast = wide.cast(Matern32::new(width as f32)).unwrap();

    let weights;
    let psi;
    let regularizer = match case {
        Case::L2 { lambda } => Regularizer::l2(*lambda as f32),
        Case::Rkhs { lambda } => Regularizer::rkhs(*lambda as f32),
        Case::Weighted { lambda, weights: w } => {
            weights = narrow(w);
            Regularizer::l2(*lambda as f32).with_weights(&weights)
        }
        Case::Tikhonov { psi: p, bias_lambda } => {
            psi = narrow(p);
            Regularizer::tikhonov(&psi, *bias_lambda as f32)
        }
    };
    let mut memory = vec![0.0_f32; PlanRef::<f32>::l2_len(n) + n];
    let mut scratch = vec![0.0_f32; PlanRef::<f32>::tikhonov_scratch_len(n)];
    let points = Points::new(&x, problem.dim).unwrap();
    let kernel = Matern32::new(width as f32);
    let plan = PlanRef::new(points, &kernel, regularizer, &mut memory, &mut scratch).unwrap();

    for k in 0..=clear_steps(&states, 2e-3) {
        for (plan, what) in [(plan, "f32"), (cast.as_ref(), "f64 cast to f32")] {
            let mut scalars = vec![0.0; Workspace::<f32>::len(n, k)];
            let mut indices = vec![0; k];
            let work = Workspace::new(n, &mut scalars, &mut indices).unwrap();
            let fit = plan.fit(&y, Stop::max_residual(0.0), work).unwrap();
            let what = format!("{what}, {case:?}, n = {n}");
            assert_same(&borrowed(&fit), &states[k], &rounded.y, tolerance, &what);
        }
    }
}

#[test]
fn fixed_problems() {
    for (n, dim, outliers) in [(40, 1, 4), (49, 2, 6), (30, 3, 3)] {
        let problem = Problem::new(n, dim, outliers, 0.1, n as u64);
        for case in Case::all(n, 0.2, 1) {
            for bias in [true, false] {
                // A kernel whose Gram matrix is far from singular: the normal
                // equations of the RKHS penalty are not solvable otherwise.
                check_f64(&problem, Matern32::new(0.3), &case, bias, outliers + 2, 1e-9);
            }
            if !matches!(case, Case::Rkhs { .. }) {
                check_f64(&problem, Gaussian::new(0.3), &case, true, outliers + 2, 1e-8);
            }
        }
    }
}

#[test]
fn up_to_the_cap() {
    // Every point but one can be taken out, with a free bias; all of them with
    // a penalised one.
    let problem = Problem::new(12, 1, 3, 0.2, 7);
    for case in Case::all(12, 0.3, 2) {
        check_f64(&problem, Matern32::new(0.2), &case, true, 11, 1e-7);
        let plan = Plan::new(problem.points(), Matern32::new(0.2), case.regularizer()).unwrap();
        let fit = plan.fit(&problem.y, Stop::max_residual(0.0)).unwrap();
        let free = matches!(case, Case::Rkhs { .. });
        assert!(fit.outliers().len() >= if free { 11 } else { 12 } - 1, "{case:?}");
        assert!(fit.residual_norm() < 1e-6);
    }
}

#[test]
fn the_size_of_the_paper() {
    let problem = Problem::table1(20, 3);
    let mut weights = vec![0.0; 199];
    kgard::border_weights(&mut weights, 5, 5.0);
    let case = Case::Weighted { lambda: 0.2, weights };
    let kernel = Gaussian::new(0.15);
    let y: Vec<TwoFloat> = problem.y.iter().map(|&y| TwoFloat::from(y)).collect();
    let k = gram(problem.points(), &kernel);
    let fit = kgard::fit(
        problem.points(),
        &problem.y,
        kernel,
        case.regularizer(),
        Stop::residual_norm(10.0),
    )
    .unwrap();
    let mut found: Vec<usize> = fit.outliers().iter().map(|o| o.index).collect();
    // The last step of the literal algorithm, with the support that was found.
    let state = oracle::solve_step(&k, &y, &case.penalty(199), true, &found);
    assert_same(&owned(&fit), &state, &problem.y, 1e-9, "table 1");
    found.sort_unstable();
    let mut wrong = problem.wrong.clone();
    wrong.sort_unstable();
    assert_eq!(found, wrong);
}

#[test]
fn single_precision() {
    for (n, dim, outliers) in [(40, 1, 4), (64, 2, 5)] {
        let problem = Problem::new(n, dim, outliers, 0.1, 3 * n as u64);
        for case in Case::all(n, 0.2, 1) {
            check_f32(&problem, 0.15, &case, outliers, 3e-4);
        }
    }
}

#[test]
fn one_point() {
    let problem = Problem { dim: 1, x: vec![0.5], y: vec![3.0], wrong: vec![] };
    for case in Case::all(1, 0.2, 1) {
        check_f64(&problem, Gaussian::new(0.3), &case, true, 0, 1e-12);
    }
}

#[test]
fn constant_data() {
    let mut problem = Problem::new(30, 1, 0, 0.0, 1);
    problem.y.fill(2.5);
    for case in Case::all(30, 0.2, 1) {
        check_f64(&problem, Matern32::new(0.2), &case, true, 0, 1e-9);
    }
    // A free bias explains a constant, so nothing is left to take out.
    let plan = Plan::new(problem.points(), Gaussian::new(0.2), Regularizer::rkhs(0.1)).unwrap();
    let fit = plan.fit(&problem.y, Stop::max_residual(1e-9)).unwrap();
    assert_eq!(fit.outliers().len(), 0);
    assert!((fit.bias() - 2.5).abs() < 1e-12);
}

/// With duplicate points K is singular, and the normal equations of the RKHS
/// penalty with it. The conditions of a minimum tell all the same.
#[test]
fn duplicate_points() {
    let mut problem = Problem::new(40, 1, 4, 0.1, 11);
    for i in 0..20 {
        problem.x[2 * i + 1] = problem.x[2 * i];
    }
    for case in Case::all(40, 0.2, 1) {
        if !matches!(case, Case::Rkhs { .. }) {
            check_f64(&problem, Gaussian::new(0.3), &case, true, 5, 1e-9);
        }
    }
    let lambda = 0.2;
    let kernel = Gaussian::new(0.3);
    let plan = Plan::new(problem.points(), kernel, Regularizer::rkhs(lambda)).unwrap();
    let fit = plan.fit(&problem.y, Stop::count(4)).unwrap();
    let mut k = vec![0.0; 1600];
    kgard::kernel::gram(problem.points(), &kernel, &mut k).unwrap();
    let r = fit.residual();
    // d/dc, d/du and K^-1 d/d alpha of |y - K alpha - c - u|^2 + lambda alpha' K alpha.
    assert!(r.iter().sum::<f64>().abs() < 1e-10);
    assert!(fit.outliers().iter().all(|o| r[o.index] == 0.0));
    let mut u = vec![0.0; 40];
    fit.outliers().iter().for_each(|o| u[o.index] = o.value);
    for i in 0..40 {
        assert!((lambda * fit.coefficients()[i] - r[i]).abs() < 1e-10);
        let f = (0..40).map(|j| k[i * 40 + j] * fit.coefficients()[j]).sum::<f64>() + fit.bias();
        assert!((problem.y[i] - u[i] - f - r[i]).abs() < 1e-10);
    }
}

#[test]
fn a_system_becomes_a_plan() {
    let problem = Problem::new(30, 1, 3, 0.1, 5);
    let kernel = Gaussian::new(0.2);
    for case in Case::all(30, 0.2, 1) {
        let regularizer = case.regularizer();
        let mut memory = vec![0.0; System::<f64>::len_for(30, &regularizer)];
        let mut scratch = vec![0.0; PlanRef::<f64>::tikhonov_scratch_len(30)];
        let system =
            System::new(problem.points(), &kernel, regularizer, &mut memory, &mut scratch).unwrap();
        let plan = system.into_plan(&mut scratch).unwrap();
        let direct = Plan::new(problem.points(), kernel, regularizer).unwrap();
        assert_eq!(plan, direct.as_ref());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_problems(
        n in 2usize..36,
        dim in 1usize..4,
        share in 0.0..0.3f64,
        noise in 0.0..0.5f64,
        lambda in 0.02..3.0f64,
        width in 0.05..1.0f64,
        seed in any::<u64>(),
    ) {
        let outliers = (share * n as f64) as usize;
        let problem = Problem::new(n, dim, outliers, noise, seed);
        for case in Case::all(n, lambda, seed) {
            check_f64(&problem, Matern32::new(width), &case, true, outliers.min(n - 1), 1e-7);
        }
    }

    #[test]
    fn random_problems_in_single_precision(
        n in 2usize..36,
        dim in 1usize..4,
        share in 0.0..0.25f64,
        lambda in 0.1..3.0f64,
        seed in any::<u64>(),
    ) {
        let outliers = (share * n as f64) as usize;
        let problem = Problem::new(n, dim, outliers, 0.2, seed);
        for case in Case::all(n, lambda, seed) {
            check_f32(&problem, 0.2, &case, outliers, 2e-3);
        }
    }
}

/// Many targets at once are the same fits as one by one.
#[test]
fn many_targets_are_single_fits() {
    let mut random = Random(31);
    for (n, dim) in [(1, 1), (23, 1), (64, 2)] {
        let x: Vec<f64> = (0..n * dim).map(|_| random.uniform()).collect();
        let points = Points::new(&x, dim).unwrap();
        let mut ys: Vec<f64> = (0..9 * n).map(|_| random.normal()).collect();
        for target in ys.chunks_exact_mut(n) {
            target[n / 2] += 8.0;
        }
        // A gross value has its residual computed anew.
        ys[3 * n] = 1e200;
        for regularizer in [Regularizer::l2(0.2), Regularizer::rkhs(0.2)] {
            let plan = Plan::new(points, Gaussian::new(0.4), regularizer).unwrap();
            let fits = plan.fit_many(&ys, Stop::max_residual(1.5)).unwrap();
            assert_eq!(fits.len(), 9);
            for (fit, y) in fits.iter().zip(ys.chunks_exact(n)) {
                let single = plan.fit(y, Stop::max_residual(1.5)).unwrap();
                let indices = |f: &kgard::Fit<f64, Gaussian<f64>>| -> Vec<usize> {
                    f.outliers().iter().map(|o| o.index).collect()
                };
                assert_eq!(indices(fit), indices(&single));
                for (a, b) in fit.fitted().iter().zip(single.fitted()) {
                    assert!((a - b).abs() < 1e-9 * b.abs().max(1.0));
                }
            }
            assert!(plan.fit_many(&[], Stop::automatic()).unwrap().is_empty());
            let refused = plan.fit_many(&ys[..9 * n - 1], Stop::automatic());
            assert!(n == 1 || matches!(refused, Err(Error::Length { .. })));
        }
    }
}
