//! What functions return, and what it means in words.

use core::ffi::{CStr, c_char};
use kgard::Error;

/// What a function returns: zero, or what is wrong.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "the prefix is C's name space")]
pub enum Code {
    /// All is well.
    KgardOk = 0,
    /// A pointer is null.
    KgardNull = 1,
    /// A pointer is not aligned to its type.
    KgardAlignment = 2,
    /// A handle was not made by the function that makes such handles.
    KgardHandle = 3,
    /// An array has another length than the plan calls for.
    KgardLength = 4,
    /// The caller's memory is too short.
    KgardMemory = 5,
    /// A sample or another number is NaN or infinite.
    KgardNotFinite = 6,
    /// A setting is outside of what it can be.
    KgardSetting = 7,
    /// The bytes are no plan, are damaged, or were made for another scalar type.
    KgardFormat = 8,
    /// Results are too large for numbers: scale the data down.
    KgardOverflow = 9,
    /// There is not enough memory, or the sizes cannot be counted.
    KgardTooLarge = 10,
    /// The system cannot be solved: raise lambda.
    KgardSingular = 11,
    /// Input of a kind that is not handled.
    KgardUnsupported = 12,
    /// A defect of this library: please report it.
    KgardDefect = 13,
}

impl Code {
    const fn text(self) -> &'static CStr {
        match self {
            Self::KgardOk => c"all is well",
            Self::KgardNull => c"a pointer is null",
            Self::KgardAlignment => c"a pointer is not aligned to its type",
            Self::KgardHandle => c"a handle was not made by the function that makes such handles",
            Self::KgardLength => c"an array has another length than the plan calls for",
            Self::KgardMemory => {
                c"the memory is too short: see KGARD_FIT_SCALARS and the sizes of streams"
            }
            Self::KgardNotFinite => c"a number is NaN or infinite: remove it or replace it",
            Self::KgardSetting => c"a setting is outside of what it can be",
            Self::KgardFormat => c"not a usable plan: damaged, or made for another scalar type",
            Self::KgardOverflow => c"results overflow: scale the data down or use double",
            Self::KgardTooLarge => c"not enough memory",
            Self::KgardSingular => c"not positive definite: raise lambda",
            Self::KgardUnsupported => c"not supported: convert it first",
            Self::KgardDefect => c"a defect of kgard: please report it",
        }
    }
}

/// All codes, by their number.
const CODES: [Code; 14] = [
    Code::KgardOk,
    Code::KgardNull,
    Code::KgardAlignment,
    Code::KgardHandle,
    Code::KgardLength,
    Code::KgardMemory,
    Code::KgardNotFinite,
    Code::KgardSetting,
    Code::KgardFormat,
    Code::KgardOverflow,
    Code::KgardTooLarge,
    Code::KgardSingular,
    Code::KgardUnsupported,
    Code::KgardDefect,
];

impl From<Error> for Code {
    #[inline(never)]
    fn from(error: Error) -> Self {
        match error {
            Error::Empty { .. }
            | Error::Length { .. }
            | Error::Dimension { .. }
            | Error::ImageSize { .. } => Self::KgardLength,
            Error::TooShort { .. } => Self::KgardMemory,
            Error::TooLarge { .. } => Self::KgardTooLarge,
            Error::NotFinite { .. } | Error::Kernel { .. } => Self::KgardNotFinite,
            Error::Overflow { .. } => Self::KgardOverflow,
            Error::NotPositive { .. }
            | Error::Negative { .. }
            | Error::Setting { .. }
            | Error::WeightsNeedL2
            | Error::Index { .. }
            | Error::Duplicate { .. }
            | Error::Regions { .. } => Self::KgardSetting,
            Error::NotPositiveDefinite { .. }
            | Error::RankTooHigh { .. }
            | Error::NoConvergence { .. } => Self::KgardSingular,
            Error::Format { .. } => Self::KgardFormat,
            _ => Self::KgardUnsupported,
        }
    }
}

/// What a code means: a text that ends with a zero byte, and stays. Any number may be given.
#[unsafe(no_mangle)]
pub extern "C" fn kgard_error_text(error: i32) -> *const c_char {
    let code = usize::try_from(error).ok().and_then(|at| CODES.get(at));
    code.map_or(c"not an error code of kgard", |code| code.text()).as_ptr()
}

/// The version of the library, such as "0.1.0": a text that ends with a zero byte, and stays.
#[unsafe(no_mangle)]
pub extern "C" fn kgard_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

#[cfg(feature = "host")]
mod message {
    use crate::border::{output, slice_mut};
    use core::ffi::c_char;
    use std::cell::RefCell;
    use std::string::String;

    std::thread_local! {
        static LAST: RefCell<String> = const { RefCell::new(String::new()) };
    }

    pub(crate) fn keep(text: String) {
        LAST.with(|last| *last.borrow_mut() = text);
    }

    /// What went wrong last in this thread, with the numbers that were wrong. Writes as much as
    /// fits, with a zero byte at the end, and to `length`, unless it is null, how long the
    /// message is without it.
    ///
    /// # Safety
    /// `text` points to `capacity` bytes that may be written to, `length` to a number or is null.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn kgard_last_message(
        text: *mut c_char,
        capacity: usize,
        length: *mut usize,
    ) -> super::Code {
        LAST.with(|last| {
            let last = last.borrow();
            // SAFETY: the caller's promise.
            let text = match unsafe { slice_mut(text.cast::<u8>(), capacity) } {
                Ok(text) => text,
                Err(code) => return code,
            };
            if let Some(room) = text.len().checked_sub(1) {
                let count = room.min(last.len());
                text[..count].copy_from_slice(&last.as_bytes()[..count]);
                text[count] = 0;
            }
            if !length.is_null() {
                // SAFETY: the caller's promise.
                return unsafe { output(length, last.len()) };
            }
            super::Code::KgardOk
        })
    }
}

#[cfg(feature = "host")]
pub(crate) use message::keep;
