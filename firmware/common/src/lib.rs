//! The fit that both programs do, and how its result is judged.
//!
//! 64 points, `f32`, six outliers; the plan is made on the spot or comes from
//! read-only memory. Nothing is allocated.
#![no_std]
#![forbid(unsafe_code)]

pub mod line;
pub mod problem;
pub mod stored;
pub mod stream;

use kgard::{Error, FitRef, Gaussian, PlanRef, Points, Regularizer, Stop, Workspace, predict};
use problem::{BETWEEN, EPSILON, L2_LAMBDA, N, OUTLIERS, RKHS_LAMBDA, SIGMA};
use stored::{Expected, expected, rkhs};

/// The kernel.
pub const KERNEL: Gaussian<f32> = Gaussian::new(SIGMA);
/// Scalars for a plan with the RKHS penalty.
pub const RKHS_LEN: usize = PlanRef::<f32>::rkhs_len(N);
/// Scalars for a plan with the l2 penalty.
pub const L2_LEN: usize = PlanRef::<f32>::l2_len(N);
/// Scalars of scratch while planning.
pub const SCRATCH_LEN: usize = PlanRef::<f32>::scratch_len(N);

/// Room for outliers: more than there are, so that it is the rule that stops.
const CAP: usize = 8;

/// How far the fit may be off the true function: what the noise and the
/// penalty account for, and far less than the smallest outlier.
const FROM_TRUTH: f32 = 0.1;
/// How far `f32` may be off `f64`: a fraction of the noise.
const FROM_EXPECTED: f32 = 3e-4;

/// What can go wrong.
#[derive(Debug)]
pub enum Wrong {
    /// The library refused.
    Refused(Error),
    /// Other points were found than those that are wrong.
    Outliers,
    /// Off the true function by this much.
    Truth(f32),
    /// Off the fit in `f64` by this much.
    Expected(f32),
    /// Two ways to the same fit differ by this much.
    Apart(f32),
    /// It takes this many instructions, or too much memory.
    Cost(u32),
    /// The memory was already in use.
    Memory,
}

impl Wrong {
    /// In words, without the code that formats numbers: on a device it would
    /// take more flash than the fit.
    #[must_use]
    pub fn what(&self) -> &'static str {
        match self {
            Self::Refused(_) => "the library returned an error",
            Self::Outliers => "other outliers than expected",
            Self::Truth(_) => "off the true function",
            Self::Expected(_) => "off the fit in f64",
            Self::Apart(_) => "the plan made here and the stored one differ",
            Self::Cost(_) => "too many instructions, or too much memory",
            Self::Memory => "memory taken twice",
        }
    }

    /// By how many millionths, if that is what is wrong.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and a NaN becomes zero")]
    pub fn millionths(&self) -> i32 {
        match self {
            Self::Truth(by) | Self::Expected(by) | Self::Apart(by) => (by * 1e6) as i32,
            Self::Refused(_) | Self::Outliers | Self::Cost(_) | Self::Memory => 0,
        }
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Memory of one fit, for the caller to place.
pub struct Memory {
    y: [f32; N],
    scalars: [f32; Workspace::<f32>::len(N, CAP)],
    indices: [usize; CAP],
    coefficients: [f32; N],
    fitted: [f32; N],
}

impl Memory {
    /// Zeros.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            y: [0.0; N],
            scalars: [0.0; Workspace::<f32>::len(N, CAP)],
            indices: [0; CAP],
            coefficients: [0.0; N],
            fitted: [0.0; N],
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// What the parts of a fit cost, in units of the caller's clock.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// The search for outliers.
    pub fit: u32,
    /// Coefficients and bias from the residual.
    pub coefficients: u32,
    /// The function at one more point.
    pub prediction: u32,
}

/// Plans with the RKHS penalty; `memory` takes [`RKHS_LEN`] scalars, `scratch`
/// [`SCRATCH_LEN`].
///
/// # Errors
/// If the library refuses.
pub fn plan_rkhs<'a>(
    memory: &'a mut [f32],
    scratch: &mut [f32],
) -> Result<PlanRef<'a, f32>, Error> {
    PlanRef::new(&problem::points::<N>(), &KERNEL, Regularizer::rkhs(RKHS_LAMBDA), memory, scratch)
}

/// Plans with the l2 penalty; `memory` takes [`L2_LEN`] scalars, `scratch`
/// [`SCRATCH_LEN`].
///
/// # Errors
/// If the library refuses.
pub fn plan_l2<'a>(memory: &'a mut [f32], scratch: &mut [f32]) -> Result<PlanRef<'a, f32>, Error> {
    PlanRef::new(&problem::points::<N>(), &KERNEL, Regularizer::l2(L2_LAMBDA), memory, scratch)
}

/// Fits the data with `plan`, and checks the result.
///
/// # Errors
/// Whatever is wrong with it.
pub fn fit_and_check(
    plan: PlanRef<'_, f32>,
    points: Points<'_, f32>,
    expected: &Expected,
    memory: &mut Memory,
    clock: impl Fn() -> u32,
) -> Result<Costs, Wrong> {
    let Memory { y, scalars, indices, coefficients, fitted } = memory;
    *y = problem::data();
    let work = Workspace::new(N, scalars, indices)?;

    // Looking at the clock is not free either.
    let start = clock();
    let overhead = clock() - start;
    let since = |earlier: u32| clock() - earlier - overhead;

    let start = clock();
    let fit = plan.fit(y, Stop::max_residual(EPSILON), work)?;
    let fit_cost = since(start);

    let start = clock();
    fit.coefficients(coefficients)?;
    let bias = fit.bias();
    let coefficients_cost = since(start);

    let start = clock();
    let between = predict(points, &KERNEL, coefficients, bias, &[BETWEEN])?;
    let prediction_cost = since(start);

    check_outliers(&fit, expected)?;
    fit.fitted(fitted)?;
    within(between, expected.between, FROM_EXPECTED).map_err(Wrong::Expected)?;
    for ((x, &f), &e) in problem::points::<N>().into_iter().zip(&*fitted).zip(&expected.fitted) {
        within(f, e, FROM_EXPECTED).map_err(Wrong::Expected)?;
        within(f, problem::truth(x), FROM_TRUTH).map_err(Wrong::Truth)?;
    }
    Ok(Costs { fit: fit_cost, coefficients: coefficients_cost, prediction: prediction_cost })
}

/// The outliers must be the wrong values and no others, in the order in which
/// they are found in `f64`, and as far off.
fn check_outliers(fit: &FitRef<'_, f32>, expected: &Expected) -> Result<(), Wrong> {
    if fit.outliers().len() != OUTLIERS.len() || expected.outliers.len() != OUTLIERS.len() {
        return Err(Wrong::Outliers);
    }
    for (found, &(index, value)) in fit.outliers().zip(expected.outliers) {
        let is_wrong = OUTLIERS.iter().any(|&(wrong, _)| wrong == found.index);
        if found.index != index || !is_wrong {
            return Err(Wrong::Outliers);
        }
        within(found.value, value, FROM_EXPECTED).map_err(Wrong::Expected)?;
    }
    Ok(())
}

/// Does the fit with both penalties, each with a plan made on the spot and
/// with the one from read-only memory, and compares the two.
///
/// # Errors
/// Whatever is wrong.
pub fn check_all(
    plan_memory: &mut [f32; L2_LEN],
    scratch: &mut [f32; SCRATCH_LEN],
    [planned, from_flash]: &mut [Memory; 2],
) -> Result<(), Wrong> {
    let no_clock = || 0;
    let points = problem::points::<N>();

    let plan = plan_rkhs(plan_memory, scratch)?;
    fit_and_check(plan, (&points).into(), &expected::RKHS, planned, no_clock)?;
    let stored_points = Points::new(&rkhs::POINTS, rkhs::DIM)?;
    fit_and_check(rkhs::PLAN, stored_points, &expected::RKHS, from_flash, no_clock)?;
    check_agreement(planned, from_flash)?;

    let plan = plan_l2(plan_memory, scratch)?;
    fit_and_check(plan, (&points).into(), &expected::L2, planned, no_clock)?;
    let (plan, stored_points) = stored::l2()?;
    fit_and_check(plan, stored_points, &expected::L2, from_flash, no_clock)?;
    check_agreement(planned, from_flash)
}

fn check_agreement(a: &Memory, b: &Memory) -> Result<(), Wrong> {
    let mut pairs = a.fitted.iter().zip(&b.fitted);
    pairs.try_for_each(|(&a, &b)| within(a, b, FROM_EXPECTED).map_err(Wrong::Apart))
}

/// The difference, as an error, unless it is small; a NaN is not.
fn within(a: f32, b: f32, tolerance: f32) -> Result<(), f32> {
    let difference = (a - b).abs();
    if difference <= tolerance { Ok(()) } else { Err(difference) }
}
