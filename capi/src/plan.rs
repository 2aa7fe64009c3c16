//! Regression on a plan in read-only memory.

use crate::border::{Failure, guarded, reference, slice, slice_mut, write};
use crate::code::Code;
use core::ffi::c_void;
use kgard::{
    Error, HalfPlanRef, PlanBytes, PlanRef, Progress, Real, ResidualMaker, Stop, StopReason,
    StopRule, Stored, Workspace, fit_on,
};

/// A plan that has been opened: memory of the caller, written by `kgard_plan_open` only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Plan {
    opaque: [usize; 4],
}

/// What is in a [`Plan`].
#[repr(C)]
struct Opened {
    mark: usize,
    bytes: PlanBytes<'static>,
}

const _: () = assert!(size_of::<Opened>() <= size_of::<Plan>());
const _: () = assert!(align_of::<Opened>() <= align_of::<Plan>());
/// Says that a plan has been opened.
const MARK: usize = 0x6B67_706C;

/// Memory of one fit in `float`.
#[repr(C)]
pub struct FitMemory {
    /// KGARD_FIT_SCALARS(n, k) numbers, whatever they are.
    pub scalars: *mut f32,
    /// How many there are.
    pub scalars_len: usize,
    /// Room for k indices: the most outliers that there can be. The fit writes the indices of
    /// the outliers here, in order of selection.
    pub outliers: *mut usize,
    /// k.
    pub outliers_len: usize,
}

/// Memory of one fit in `double`.
#[repr(C)]
pub struct FitMemory64 {
    /// KGARD_FIT_SCALARS(n, k) numbers, whatever they are.
    pub scalars: *mut f64,
    /// How many there are.
    pub scalars_len: usize,
    /// Room for k indices: the most outliers that there can be. The fit writes the indices of
    /// the outliers here, in order of selection.
    pub outliers: *mut usize,
    /// k.
    pub outliers_len: usize,
}

/// Why a search for outliers ended.
#[repr(i32)]
#[expect(clippy::enum_variant_names, reason = "the prefix is C's name space")]
pub enum Reason {
    /// The rule was met.
    KgardRuleMet = 0,
    /// There was no room for more outliers.
    KgardCapReached = 1,
    /// Nothing was left to take out.
    KgardExhausted = 2,
}

/// What a fit has found, beside the indices of the outliers and the fitted values.
#[repr(C)]
pub struct FitResult {
    /// How many outliers there are.
    pub outliers: usize,
    /// Why the search ended: KGARD_RULE_MET, KGARD_CAP_REACHED or KGARD_EXHAUSTED.
    pub reason: i32,
}

/// Opens a plan that `kgard plan` wrote: a .bin file in memory, or the array in a .h file. Its
/// checksum is checked here, and never again.
///
/// # Safety
/// `bytes` points to `length` bytes, aligned to eight, that are not changed as long as the plan
/// is in use; `plan` to memory for a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_plan_open(
    plan: *mut Plan,
    bytes: *const c_void,
    length: usize,
) -> Code {
    guarded(|| {
        // Nobody else's plan, if this one does not open.
        // SAFETY: the caller's promise.
        unsafe { write(plan, Plan { opaque: [0; 4] }) }?;
        // SAFETY: the caller's promise.
        let bytes: &'static [u8] = unsafe { slice(bytes.cast::<u8>(), length) }?;
        let bytes = PlanBytes::new(bytes)?;
        let opened = Opened { mark: MARK, bytes };
        // SAFETY: a plan has room for it and is aligned to it, by the assertions above.
        unsafe { plan.cast::<Opened>().write(opened) };
        Ok(())
    })
}

/// # Safety
/// Unless it is null or not aligned, `plan` points to a plan that nobody writes to.
unsafe fn opened<'a>(plan: *const Plan) -> Result<&'a PlanBytes<'static>, Code> {
    // SAFETY: the caller's promise.
    let raw = unsafe { reference(plan) }?;
    // The mark comes first.
    if raw.opaque[0] != MARK {
        return Err(Code::KgardHandle);
    }
    // SAFETY: with the mark it was written by `kgard_plan_open`.
    Ok(unsafe { &(*plan.cast::<Opened>()).bytes })
}

/// Writes how many points a plan has, and how many coordinates each has, where not null.
///
/// # Safety
/// `plan` points to an opened plan, `points` and `dimension` to numbers or are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_plan_size(
    plan: *const Plan,
    points: *mut usize,
    dimension: *mut usize,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (n, dim) = unsafe { opened(plan) }?.shape();
        for (place, value) in [(points, n), (dimension, dim)] {
            if !place.is_null() {
                // SAFETY: the caller's promise.
                unsafe { write(place, value) }?;
            }
        }
        Ok(())
    })
}

/// [`Stop::automatic`] as a type, so that no code of other rules is linked.
struct Automatic;

impl<T: Real> StopRule<T> for Automatic {
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        Stop::automatic().check(progress)
    }

    fn studentized(&self) -> bool {
        true
    }
}

/// [`Stop::max_residual`], likewise.
struct MaxResidual<T>(T);

impl<T: Real> StopRule<T> for MaxResidual<T> {
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        (progress.max() <= self.0).then_some(StopReason::MaxResidual)
    }

    fn validate(&self) -> Result<(), Error> {
        StopRule::validate(&Stop::max_residual(self.0))
    }
}

/// A plan, whole or half: one search serves both.
enum Maker<'a, T> {
    Whole(PlanRef<'a, T>),
    Half(HalfPlanRef<'a, T>),
}

impl<T: Real> ResidualMaker<T> for Maker<'_, T> {
    fn len(&self) -> usize {
        match self {
            Self::Whole(plan) => plan.len(),
            Self::Half(plan) => plan.len(),
        }
    }

    fn roots(&self) -> &[T] {
        match self {
            Self::Whole(plan) => plan.roots(),
            Self::Half(_) => &[],
        }
    }

    fn residual(&self, v: &[T], out: &mut [T]) {
        match self {
            Self::Whole(plan) => plan.residual(v, out),
            Self::Half(plan) => plan.residual(v, out),
        }
    }

    fn column(&self, j: usize, out: &mut [T]) {
        match self {
            Self::Whole(plan) => plan.column(j, out),
            Self::Half(plan) => plan.column(j, out),
        }
    }

    fn diagonal(&self, out: &mut [T], scratch: &mut [T]) {
        match self {
            Self::Whole(plan) => plan.diagonal(out, scratch),
            Self::Half(plan) => plan.diagonal(out, scratch),
        }
    }
}

/// The arguments of a fit.
struct Arguments<T> {
    plan: *const Plan,
    y: *const T,
    n: usize,
    scalars: (*mut T, usize),
    indices: (*mut usize, usize),
    fitted: *mut T,
    result: *mut FitResult,
}

impl<T: Stored> Arguments<T> {
    /// # Safety
    /// As [`kgard_fit`].
    #[inline(never)]
    unsafe fn fit(self, rule: impl StopRule<T>) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        let bytes = unsafe { opened(self.plan) }?;
        // SAFETY: the caller's promise.
        let y = unsafe { slice(self.y, self.n) }?;
        // SAFETY: the caller's promise.
        let scalars = unsafe { slice_mut(self.scalars.0, self.scalars.1) }?;
        // SAFETY: the caller's promise.
        let indices = unsafe { slice_mut(self.indices.0, self.indices.1) }?;
        let maker = if bytes.is_half() {
            Maker::Half(bytes.open_half::<T>()?.0)
        } else {
            Maker::Whole(bytes.open::<T>()?.0)
        };
        let work = Workspace::new(maker.len(), scalars, indices)?;
        let fit = fit_on(&maker, y, rule, work)?;
        let reason = match fit.stop_reason() {
            StopReason::Cap => Reason::KgardCapReached,
            StopReason::Exhausted => Reason::KgardExhausted,
            _ => Reason::KgardRuleMet,
        } as i32;
        if !self.fitted.is_null() {
            // SAFETY: the caller's promise; a fit has as many values as data.
            fit.fitted(unsafe { slice_mut(self.fitted, self.n) }?)?;
        }
        let outliers = fit.outliers().len();
        // SAFETY: the caller's promise.
        unsafe { write(self.result, FitResult { outliers, reason }) }?;
        Ok(())
    }
}

/// # Safety
/// As [`kgard_fit`].
unsafe fn arguments(
    plan: *const Plan,
    y: *const f32,
    n: usize,
    memory: *const FitMemory,
    fitted: *mut f32,
    result: *mut FitResult,
) -> Result<Arguments<f32>, Code> {
    // SAFETY: the caller's promise.
    let memory = unsafe { reference(memory) }?;
    let scalars = (memory.scalars, memory.scalars_len);
    let indices = (memory.outliers, memory.outliers_len);
    Ok(Arguments { plan, y, n, scalars, indices, fitted, result })
}

/// # Safety
/// As [`kgard_fit`].
unsafe fn arguments64(
    plan: *const Plan,
    y: *const f64,
    n: usize,
    memory: *const FitMemory64,
    fitted: *mut f64,
    result: *mut FitResult,
) -> Result<Arguments<f64>, Code> {
    // SAFETY: the caller's promise.
    let memory = unsafe { reference(memory) }?;
    let scalars = (memory.scalars, memory.scalars_len);
    let indices = (memory.outliers, memory.outliers_len);
    Ok(Arguments { plan, y, n, scalars, indices, fitted, result })
}

/// Finds the outliers among `n` samples and fits the rest, with nothing to choose. Writes the
/// function's values to `fitted`, unless it is null, and what else there is to `result`; outlier
/// `j` is off by `y[j] - fitted[j]`.
///
/// # Safety
/// `plan` points to an opened plan; `y` to `n` samples; `memory` to memory as it says, which
/// nobody else uses meanwhile; `fitted` to memory for `n` numbers, none of them in `y`, or is
/// null; `result` to memory for a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_fit(
    plan: *const Plan,
    y: *const f32,
    n: usize,
    memory: *const FitMemory,
    fitted: *mut f32,
    result: *mut FitResult,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { arguments(plan, y, n, memory, fitted, result)?.fit(Automatic) }
    })
}

/// The same, with samples taken out until no residual is larger than `epsilon`.
///
/// # Safety
/// As `kgard_fit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_fit_max_residual(
    plan: *const Plan,
    y: *const f32,
    n: usize,
    epsilon: f32,
    memory: *const FitMemory,
    fitted: *mut f32,
    result: *mut FitResult,
) -> Code {
    guarded(|| {
        let rule = MaxResidual(epsilon);
        // SAFETY: the caller's promise.
        unsafe { arguments(plan, y, n, memory, fitted, result)?.fit(rule) }
    })
}

/// The same on a plan in `double`.
///
/// # Safety
/// As `kgard_fit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_fit64(
    plan: *const Plan,
    y: *const f64,
    n: usize,
    memory: *const FitMemory64,
    fitted: *mut f64,
    result: *mut FitResult,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { arguments64(plan, y, n, memory, fitted, result)?.fit(Automatic) }
    })
}

/// The same on a plan in `double`.
///
/// # Safety
/// As `kgard_fit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_fit64_max_residual(
    plan: *const Plan,
    y: *const f64,
    n: usize,
    epsilon: f64,
    memory: *const FitMemory64,
    fitted: *mut f64,
    result: *mut FitResult,
) -> Code {
    guarded(|| {
        let rule = MaxResidual(epsilon);
        // SAFETY: the caller's promise.
        unsafe { arguments64(plan, y, n, memory, fitted, result)?.fit(rule) }
    })
}
