//! From pointers to references, and from results to codes.

use crate::code::Code;
use kgard::Error;

/// Why a function returns something else than zero.
pub(crate) enum Failure {
    /// The pointers.
    Border(Code),
    /// The library.
    Refused(Error),
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Self::Border(code)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Runs the body of a function. With an operating system a panic ends here, and messages are
/// kept.
#[cfg(feature = "host")]
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> Code {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    // What the body writes to is the caller's, who is told not to believe it.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Code::KgardOk,
        Ok(Err(Failure::Border(code))) => {
            crate::code::keep(std::string::String::new());
            code
        }
        Ok(Err(Failure::Refused(error))) => {
            crate::code::keep(std::format!("{error}"));
            error.into()
        }
        Err(_) => Code::KgardDefect,
    }
}

/// Runs the body of a function.
#[cfg(not(feature = "host"))]
#[inline(always)]
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> Code {
    match body() {
        Ok(()) => Code::KgardOk,
        Err(Failure::Border(code)) => code,
        Err(Failure::Refused(error)) => error.into(),
    }
}

fn check<T>(pointer: *const T, length: usize) -> Result<(), Code> {
    if pointer.is_null() {
        return Err(Code::KgardNull);
    }
    if !pointer.is_aligned() {
        return Err(Code::KgardAlignment);
    }
    match length.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Code::KgardTooLarge),
    }
}

/// # Safety
/// Unless it is null or not aligned, `pointer` points to a `T` that nobody writes to.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T) -> Result<&'a T, Code> {
    check(pointer, 1)?;
    // SAFETY: it is not null and aligned; the rest is the caller's promise.
    Ok(unsafe { &*pointer })
}

/// # Safety
/// Unless it is null or not aligned, `pointer` points to `length` initialised values that nobody
/// writes to.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, length: usize) -> Result<&'a [T], Code> {
    if length == 0 {
        return Ok(&[]);
    }
    check(pointer, length)?;
    // SAFETY: it is not null, aligned and not longer than memory; the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(pointer, length) })
}

/// # Safety
/// Unless it is null or not aligned, `pointer` points to memory for `length` values that nobody
/// else looks at. Numbers only: they have no value that is not allowed.
pub(crate) unsafe fn slice_mut<'a, T: Copy>(
    pointer: *mut T,
    length: usize,
) -> Result<&'a mut [T], Code> {
    if length == 0 {
        return Ok(&mut []);
    }
    check(pointer, length)?;
    // SAFETY: it is not null, aligned and not longer than memory. What C has not written to yet
    // has some value, which is one of a number. The rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer, length) })
}

/// Writes a result, whatever was there before.
///
/// # Safety
/// Unless it is null or not aligned, `pointer` points to memory for a `T` that nobody else looks at.
pub(crate) unsafe fn write<T>(pointer: *mut T, value: T) -> Result<(), Code> {
    check(pointer, 1)?;
    // SAFETY: it is not null and aligned; the rest is the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// [`write`], as a function's last act.
///
/// # Safety
/// As [`write`].
#[cfg(feature = "host")]
pub(crate) unsafe fn output<T>(pointer: *mut T, value: T) -> Code {
    // SAFETY: the caller's promise.
    unsafe { write(pointer, value) }.err().unwrap_or(Code::KgardOk)
}
