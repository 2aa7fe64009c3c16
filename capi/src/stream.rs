//! Streams: samples come one by one, and leave a fixed number of samples later.
//!
//! A stream lives in memory of the caller. It carries the addresses of its own functions, so
//! that of the six kinds only those are linked whose constructor is called.

use crate::border::{Failure, guarded, reference, write};
use crate::code::Code;
use core::ffi::c_void;
use kgard::line::{Cleaned, FixedLag, Markov};
use kgard::{Error, Laplacian, Matern32, Matern52};

/// A stream, in memory of the caller. Made by one of the functions `kgard_stream_matern...`.
#[repr(transparent)]
pub struct Stream {
    head: Head,
}

/// The settings of a stream. What is zero has its default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StreamSettings {
    /// The kernel's length, in units of the distance of samples. No default.
    pub length: f32,
    /// The variance of the noise over that of the function. No default.
    pub lambda: f32,
    /// The standard deviation of the noise, in units of the samples. No default.
    pub noise: f32,
    /// The distance of samples for `kgard_stream_push`: 1.
    pub interval: f32,
    /// The threshold of an outlier in standard deviations: 4.
    pub threshold: f32,
    /// How far the level wanders over a distance of one, in units of the samples: by default one
    /// standard deviation of the function in 1000 samples. Negative: by steps only.
    pub drift: f32,
    /// If positive the noise is estimated from the stream, and never below this: a third of the
    /// resolution of the samples is a good choice. By default it is as given.
    pub noise_floor: f32,
}

/// A sample that has left a stream.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sample {
    /// The function there, without noise.
    pub value: f32,
    /// The sample as it came.
    pub raw: f32,
    /// Later samples that were known when this was decided.
    pub lag: u32,
    /// Whether a sample has left; if not, nothing else here means anything.
    pub present: bool,
    /// Whether it is an outlier.
    pub outlier: bool,
    /// Whether it was missing.
    pub missing: bool,
    /// Whether a new level begins here.
    pub step: bool,
}

impl Sample {
    fn of(cleaned: Option<Cleaned<f32>>) -> Self {
        match cleaned {
            Some(Cleaned { value, sample, outlier, missing, step, lag, .. }) => {
                // A window has at most 32 samples.
                let lag = u32::try_from(lag).unwrap_or(u32::MAX);
                Self { value, raw: sample, lag, present: true, outlier, missing, step }
            }
            None => Self {
                value: f32::NAN,
                raw: f32::NAN,
                lag: 0,
                present: false,
                outlier: false,
                missing: false,
                step: false,
            },
        }
    }
}

type Pushed = Result<Option<Cleaned<f32>>, Error>;

/// The functions of one kind of stream. Each takes a stream of that kind.
struct Functions {
    push: unsafe fn(*mut Stream, Option<f32>, f32) -> Pushed,
    drain: unsafe fn(*mut Stream) -> Option<Cleaned<f32>>,
    noise: unsafe fn(*const Stream) -> f32,
}

/// The beginning of every stream.
#[repr(C)]
struct Head {
    mark: usize,
    functions: &'static Functions,
}

/// A stream in memory.
#[repr(C)]
struct Placed<S> {
    head: Head,
    stream: S,
}

/// Says that a stream has been made here.
const MARK: usize = 0x6B67_7374;

/// What the functions below have in common, whatever kind of stream it is.
trait Kind: Sized + 'static {
    const FUNCTIONS: &'static Functions;
    fn new(settings: &StreamSettings) -> Result<Self, Error>;
}

impl<K, const D: usize, const L: usize> Kind for FixedLag<f32, K, D, L>
where
    K: OfLength + Markov<f32, Matrix = [[f32; D]; D]> + 'static,
{
    const FUNCTIONS: &'static Functions = &Functions {
        // SAFETY: the functions of a kind are called on streams of this kind.
        push: |stream, distance, sample| unsafe {
            let stream = &mut (*stream.cast::<Placed<Self>>()).stream;
            match distance {
                Some(distance) => stream.push_after(distance, sample),
                None => Ok(stream.push(sample)),
            }
        },
        // SAFETY: as above.
        drain: |stream| unsafe { (*stream.cast::<Placed<Self>>()).stream.drain() },
        // SAFETY: as above.
        noise: |stream| unsafe { (*stream.cast::<Placed<Self>>()).stream.noise() },
    };

    fn new(settings: &StreamSettings) -> Result<Self, Error> {
        let &StreamSettings { length, lambda, noise, interval, threshold, drift, noise_floor } =
            settings;
        let mut stream = Self::new(K::of_length(length), lambda, noise)?;
        if interval != 0.0 {
            stream = stream.with_interval(interval)?;
        }
        if threshold != 0.0 {
            stream = stream.with_threshold(threshold)?;
        }
        if drift != 0.0 {
            stream = stream.with_drift(drift.max(0.0))?;
        }
        if noise_floor != 0.0 {
            stream = stream.with_tracked_noise(noise_floor)?;
        }
        Ok(stream)
    }
}

/// A kernel of a length.
trait OfLength {
    fn of_length(length: f32) -> Self;
}

impl OfLength for Laplacian<f32> {
    fn of_length(length: f32) -> Self {
        Self::new(length)
    }
}

impl OfLength for Matern32<f32> {
    fn of_length(length: f32) -> Self {
        Self::new(length)
    }
}

impl OfLength for Matern52<f32> {
    fn of_length(length: f32) -> Self {
        Self::new(length)
    }
}

/// # Safety
/// As [`kgard_stream_matern32_lag16`].
unsafe fn make<S: Kind>(
    memory: *mut c_void,
    size: usize,
    settings: *const StreamSettings,
    stream: *mut *mut Stream,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let settings = unsafe { reference(settings) }?;
    let place = memory.cast::<Placed<S>>();
    if size < size_of::<Placed<S>>() {
        return Err(Code::KgardMemory.into());
    }
    let head = Head { mark: MARK, functions: S::FUNCTIONS };
    let made = S::new(settings)?;
    // SAFETY: the caller's promise, and there is room.
    unsafe { write(place, Placed { head, stream: made }) }?;
    // SAFETY: the caller's promise.
    unsafe { write(stream, place.cast::<Stream>()) }?;
    Ok(())
}

/// # Safety
/// Unless it is null or not aligned, `stream` points to a stream.
unsafe fn functions(stream: *const Stream) -> Result<&'static Functions, Code> {
    // SAFETY: the caller's promise; the mark is a number, whatever is there.
    let mark = unsafe { reference(stream.cast::<usize>()) }?;
    if *mark != MARK {
        return Err(Code::KgardHandle);
    }
    // SAFETY: with the mark it was written by `make`.
    Ok(unsafe { (*stream).head.functions })
}

type Matern12Lag16 = FixedLag<f32, Laplacian<f32>, 1, 16>;
type Matern12Lag32 = FixedLag<f32, Laplacian<f32>, 1, 32>;
type Matern32Lag16 = FixedLag<f32, Matern32<f32>, 2, 16>;
type Matern32Lag32 = FixedLag<f32, Matern32<f32>, 2, 32>;
type Matern52Lag16 = FixedLag<f32, Matern52<f32>, 3, 16>;
type Matern52Lag32 = FixedLag<f32, Matern52<f32>, 3, 32>;

/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "32")]
pub const KGARD_STREAM_MATERN12_LAG16: usize = 1096;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "64")]
pub const KGARD_STREAM_MATERN12_LAG16: usize = 1192;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "32")]
pub const KGARD_STREAM_MATERN12_LAG32: usize = 2056;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "64")]
pub const KGARD_STREAM_MATERN12_LAG32: usize = 2216;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "32")]
pub const KGARD_STREAM_MATERN32_LAG16: usize = 1840;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "64")]
pub const KGARD_STREAM_MATERN32_LAG16: usize = 2008;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "32")]
pub const KGARD_STREAM_MATERN32_LAG32: usize = 3504;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "64")]
pub const KGARD_STREAM_MATERN32_LAG32: usize = 3800;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "32")]
pub const KGARD_STREAM_MATERN52_LAG16: usize = 3000;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "64")]
pub const KGARD_STREAM_MATERN52_LAG16: usize = 3096;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "32")]
pub const KGARD_STREAM_MATERN52_LAG32: usize = 5752;
/// Bytes of a stream with this kernel and lag.
#[cfg(target_pointer_width = "64")]
pub const KGARD_STREAM_MATERN52_LAG32: usize = 5912;

const _: () = assert!(size_of::<Placed<Matern12Lag16>>() <= KGARD_STREAM_MATERN12_LAG16);
const _: () = assert!(size_of::<Placed<Matern12Lag32>>() <= KGARD_STREAM_MATERN12_LAG32);
const _: () = assert!(size_of::<Placed<Matern32Lag16>>() <= KGARD_STREAM_MATERN32_LAG16);
const _: () = assert!(size_of::<Placed<Matern32Lag32>>() <= KGARD_STREAM_MATERN32_LAG32);
const _: () = assert!(size_of::<Placed<Matern52Lag16>>() <= KGARD_STREAM_MATERN52_LAG16);
const _: () = assert!(size_of::<Placed<Matern52Lag32>>() <= KGARD_STREAM_MATERN52_LAG32);
const _: () = assert!(align_of::<Placed<Matern52Lag32>>() <= 8);

/// Makes a stream with the kernel Matern 3/2 and a window of 16 samples in `memory`
/// of `size` bytes, KGARD_STREAM_MATERN32_LAG16 at least, and writes to `stream` where it is.
///
/// # Safety
/// `memory` points to `size` bytes, aligned to eight, that nobody else uses as long as the stream
/// does; `settings` to settings; `stream` to memory for a pointer. A stream may be used by one
/// thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_matern32_lag16(
    memory: *mut c_void,
    size: usize,
    settings: *const StreamSettings,
    stream: *mut *mut Stream,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { make::<Matern32Lag16>(memory, size, settings, stream) })
}

/// Makes a stream with the kernel Matern 1/2, the Laplacian, and a window of 16 samples in `memory`
/// of `size` bytes, KGARD_STREAM_MATERN12_LAG16 at least, and writes to `stream` where it is.
///
/// # Safety
/// As `kgard_stream_matern32_lag16`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_matern12_lag16(
    memory: *mut c_void,
    size: usize,
    settings: *const StreamSettings,
    stream: *mut *mut Stream,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { make::<Matern12Lag16>(memory, size, settings, stream) })
}

/// Makes a stream with the kernel Matern 1/2, the Laplacian, and a window of 32 samples in `memory`
/// of `size` bytes, KGARD_STREAM_MATERN12_LAG32 at least, and writes to `stream` where it is.
///
/// # Safety
/// As `kgard_stream_matern32_lag16`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_matern12_lag32(
    memory: *mut c_void,
    size: usize,
    settings: *const StreamSettings,
    stream: *mut *mut Stream,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { make::<Matern12Lag32>(memory, size, settings, stream) })
}

/// Makes a stream with the kernel Matern 3/2 and a window of 32 samples in `memory`
/// of `size` bytes, KGARD_STREAM_MATERN32_LAG32 at least, and writes to `stream` where it is.
///
/// # Safety
/// As `kgard_stream_matern32_lag16`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_matern32_lag32(
    memory: *mut c_void,
    size: usize,
    settings: *const StreamSettings,
    stream: *mut *mut Stream,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { make::<Matern32Lag32>(memory, size, settings, stream) })
}

/// Makes a stream with the kernel Matern 5/2 and a window of 16 samples in `memory`
/// of `size` bytes, KGARD_STREAM_MATERN52_LAG16 at least, and writes to `stream` where it is.
///
/// # Safety
/// As `kgard_stream_matern32_lag16`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_matern52_lag16(
    memory: *mut c_void,
    size: usize,
    settings: *const StreamSettings,
    stream: *mut *mut Stream,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { make::<Matern52Lag16>(memory, size, settings, stream) })
}

/// Makes a stream with the kernel Matern 5/2 and a window of 32 samples in `memory`
/// of `size` bytes, KGARD_STREAM_MATERN52_LAG32 at least, and writes to `stream` where it is.
///
/// # Safety
/// As `kgard_stream_matern32_lag16`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_matern52_lag32(
    memory: *mut c_void,
    size: usize,
    settings: *const StreamSettings,
    stream: *mut *mut Stream,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { make::<Matern52Lag32>(memory, size, settings, stream) })
}

/// Takes a sample, NaN if it is missing, and writes the one that leaves, if one does.
///
/// # Safety
/// `stream` points to a stream, `out` to memory for a sample.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_push(
    stream: *mut Stream,
    sample: f32,
    out: *mut Sample,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { push(stream, None, sample, out) })
}

/// The same with the distance from the sample before; of the first one it does not matter.
///
/// # Safety
/// `stream` points to a stream, `out` to memory for a sample.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_push_after(
    stream: *mut Stream,
    distance: f32,
    sample: f32,
    out: *mut Sample,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { push(stream, Some(distance), sample, out) })
}

/// # Safety
/// As [`kgard_stream_push`].
unsafe fn push(
    stream: *mut Stream,
    distance: Option<f32>,
    sample: f32,
    out: *mut Sample,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise; nothing is lost if the place for the result is wrong.
    unsafe { write(out, Sample::of(None)) }?;
    // SAFETY: the caller's promise.
    let functions = unsafe { functions(stream) }?;
    // SAFETY: these are the functions of this kind of stream.
    let cleaned = unsafe { (functions.push)(stream, distance, sample) }?;
    // SAFETY: the caller's promise.
    unsafe { write(out, Sample::of(cleaned)) }?;
    Ok(())
}

/// Writes the oldest sample inside, decided with what there is; none if there is none. For the
/// end of a stream, which may go on afterwards.
///
/// # Safety
/// `stream` points to a stream, `out` to memory for a sample.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_drain(stream: *mut Stream, out: *mut Sample) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let functions = unsafe { functions(stream) }?;
        // SAFETY: the caller's promise; nothing is lost if the place for the result is wrong.
        unsafe { write(out, Sample::of(None)) }?;
        // SAFETY: these are the functions of this kind of stream.
        let cleaned = unsafe { (functions.drain)(stream) };
        // SAFETY: the caller's promise.
        unsafe { write(out, Sample::of(cleaned)) }?;
        Ok(())
    })
}

/// Writes the standard deviation of the noise, as it was given or as it is tracked.
///
/// # Safety
/// `stream` points to a stream, `noise` to memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_stream_noise(stream: *const Stream, noise: *mut f32) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let functions = unsafe { functions(stream) }?;
        // SAFETY: these are the functions of this kind of stream.
        let value = unsafe { (functions.noise)(stream) };
        // SAFETY: the caller's promise.
        unsafe { write(noise, value) }?;
        Ok(())
    })
}
