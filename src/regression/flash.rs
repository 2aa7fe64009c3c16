//! Plans that were made elsewhere: as bytes, and as Rust source.
//!
//! A plan is made on a computer, in `f64`, and used on a device that has
//! neither the time nor the memory to make it: it is borrowed straight from
//! read-only memory.
//!
//! # The bytes
//! Little-endian. The header takes 48 bytes; with the first byte at an address
//! that is a multiple of eight, everything is aligned.
//!
//! | at | type | |
//! | --- | --- | --- |
//! | 0 | 8 bytes | `KGARDPLN` |
//! | 8 | u32 | version, 1 |
//! | 12 | u32 | bytes per scalar, 4 or 8 |
//! | 16 | u32 | 0: l2 or Tikhonov, 1: RKHS; 2 more with sample weights; 5: half a plan, RKHS |
//! | 20 | u32 | FNV-1a checksum of all that follows |
//! | 24 | u64 | n |
//! | 32 | u64 | dimension of the points |
//! | 40 | f64 | what the sum of the residual is multiplied with for the bias, or $\lambda$ |
//! | 48 | scalars | the points, $H$, then the coefficient map (n x n) or the bias weights (n), then the square roots of sample weights (n); of half a plan the even and the odd matrix in the place of $H$ |

use super::half::HalfPlanRef;
use super::plan::PlanRef;
use crate::checked::piece;
use crate::{Error, Points, Real};

const MAGIC: &[u8; 8] = b"KGARDPLN";
const VERSION: u32 = 1;
const MAPPED: u32 = 0;
const SCALED: u32 = 1;
/// Added to the kind of a plan with sample weights.
const WEIGHTED: u32 = 2;
/// Half a plan, with the RKHS penalty.
const HALF: u32 = 5;
const CHECKED_FROM: usize = 24;
const HEADER: usize = 48;

/// The scalars that plans can be stored in: `f32` and `f64`.
pub trait Stored: Real + sealed::Sealed {}

mod sealed {
    /// What storing takes of a scalar type.
    pub trait Sealed: Sized {
        /// Its bytes as its values, if they are aligned.
        fn cast(bytes: &[u8]) -> Option<&[Self]>;
        /// Appends its bytes.
        #[cfg(feature = "alloc")]
        fn store(self, bytes: &mut alloc::vec::Vec<u8>);
        /// The value closest to `x`.
        fn from_f64(x: f64) -> Self;
        /// The name of the type.
        #[cfg(feature = "alloc")]
        const NAME: &'static str;
    }

    macro_rules! stored {
        ($t:ident) => {
            impl super::Stored for $t {}
            impl Sealed for $t {
                fn cast(bytes: &[u8]) -> Option<&[Self]> {
                    bytemuck::try_cast_slice(bytes).ok()
                }
                #[cfg(feature = "alloc")]
                fn store(self, bytes: &mut alloc::vec::Vec<u8>) {
                    bytes.extend_from_slice(&self.to_le_bytes());
                }
                #[allow(clippy::cast_possible_truncation)]
                fn from_f64(x: f64) -> Self {
                    x as Self
                }
                #[cfg(feature = "alloc")]
                const NAME: &'static str = stringify!($t);
            }
        };
    }
    stored!(f32);
    stored!(f64);
}

/// The bytes of a plan, whole by their checksum.
///
/// They are checked once, by [`new`](Self::new) or while the program is compiled
/// ([`include_plan!`](crate::include_plan)); opening them reads the header only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanBytes<'a> {
    bytes: &'a [u8],
}

impl<'a> PlanBytes<'a> {
    /// Checks the bytes that `Plan::to_bytes` wrote: header, length and checksum.
    ///
    /// # Errors
    /// [`Error::Format`] if they are not the bytes of a plan, or have been damaged.
    pub const fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        if let Err(error) = Header::read(bytes) {
            return Err(error);
        }
        match bytes.split_at_checked(CHECKED_FROM) {
            Some((_, checked)) if fnv1a(checked) == u32_at(bytes, 20) => Ok(Self { bytes }),
            _ => Err(wrong("its checksum does not fit; it is damaged")),
        }
    }

    /// How many points the plan has, and how many coordinates each has.
    #[must_use]
    pub const fn shape(&self) -> (usize, usize) {
        // Both fit: `new` has checked it.
        #[allow(clippy::cast_possible_truncation)]
        (u64_at(self.bytes, 24) as usize, u64_at(self.bytes, 32) as usize)
    }

    /// Borrows the plan, and the points it was made for. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::Format`] if the plan is half a plan, or was made for another scalar type, or the
    /// bytes do not start at a multiple of eight, which [`include_plan!`](crate::include_plan) takes care of.
    pub fn open<T: Stored>(&self) -> Result<(PlanRef<'a, T>, Points<'a, T>), Error> {
        let (Header { kind, n, dim, .. }, parameter, scalars) = self.scalars::<T>()?;
        if kind == HALF {
            return Err(wrong("it is half a plan: open it with open_half"));
        }
        let roots = if kind & WEIGHTED == 0 { 0 } else { n };
        let points = piece(scalars, 0, n * dim);
        let h = piece(scalars, n * dim, n * n);
        let rest = piece(scalars, n * dim + n * n, scalars.len() - n * dim - n * n - roots);
        let roots = piece(scalars, scalars.len() - roots, roots);
        let plan = if kind & SCALED == MAPPED {
            PlanRef::mapped(n, h, rest, parameter)?
        } else {
            PlanRef::scaled(n, h, rest, parameter)?
        };
        let plan = if roots.is_empty() { plan } else { plan.with_roots(roots)? };
        Ok((plan, Points::new(points, dim)?))
    }

    /// Whether this is [half a plan](HalfPlanRef).
    #[must_use]
    pub const fn is_half(&self) -> bool {
        u32_at(self.bytes, 16) == HALF
    }

    /// [`open`](Self::open) for half a plan.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`Error::Format`] if it is a whole one.
    pub fn open_half<T: Stored>(&self) -> Result<(HalfPlanRef<'a, T>, Points<'a, T>), Error> {
        let (Header { kind, n, dim, .. }, lambda, scalars) = self.scalars::<T>()?;
        if kind != HALF {
            return Err(wrong("it is a whole plan: open it with open"));
        }
        let (even, odd) = (HalfPlanRef::<T>::even_len(n), HalfPlanRef::<T>::odd_len(n));
        let points = piece(scalars, 0, n * dim);
        let bias = piece(scalars, n * dim + even + odd, n);
        let (even, odd) = (piece(scalars, n * dim, even), piece(scalars, n * dim + even, odd));
        Ok((HalfPlanRef::new(n, even, odd, bias, lambda)?, Points::new(points, dim)?))
    }

    /// The header, the parameter, and all that follows.
    #[inline(always)]
    fn scalars<T: Stored>(&self) -> Result<(Header, T, &'a [T]), Error> {
        if cfg!(target_endian = "big") {
            return Err(wrong("plans are little-endian, this machine is not"));
        }
        let header = Header::read(self.bytes)?;
        if header.width != size_of::<T>() {
            return Err(wrong("it was made for another scalar type; see --scalar"));
        }
        let parameter = T::from_f64(f64::from_bits(u64_at(self.bytes, 40)));
        let scalars = T::cast(piece(self.bytes, HEADER, self.bytes.len() - HEADER))
            .ok_or(wrong("it is not aligned to eight bytes; use kgard::include_plan!"))?;
        Ok((header, parameter, scalars))
    }
}

impl<'a, T: Stored> PlanRef<'a, T> {
    /// Checks the bytes that `Plan::to_bytes` wrote, and borrows the plan, and the points it
    /// was made for, from them. For bytes that are opened more than once see [`PlanBytes`].
    ///
    /// The bytes must start at a multiple of eight.
    ///
    /// # Errors
    /// [`Error::Format`] if they are not the bytes of a plan in `T`, or have
    /// been damaged.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<(Self, Points<'a, T>), Error> {
        PlanBytes::new(bytes)?.open()
    }
}

const fn wrong(what: &'static str) -> Error {
    Error::Format { what }
}

/// What the first bytes say.
struct Header {
    /// Bytes of a scalar.
    width: usize,
    kind: u32,
    n: usize,
    dim: usize,
}

impl Header {
    #[allow(clippy::cast_possible_truncation, reason = "checked by converting back")]
    const fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() < HEADER || u64_at(bytes, 0) != u64_at(MAGIC, 0) {
            return Err(wrong("it does not begin like a plan; make one with `kgard plan`"));
        }
        if u32_at(bytes, 8) != VERSION {
            return Err(wrong("it was made by another version of kgard; make it anew"));
        }
        let (width, kind) = (u32_at(bytes, 12) as usize, u32_at(bytes, 16));
        let (n, dim) = (u64_at(bytes, 24) as usize, u64_at(bytes, 32) as usize);
        let is_exact = n as u64 == u64_at(bytes, 24) && dim as u64 == u64_at(bytes, 32);
        // The whole is as long as its parts, none of which overflows.
        let row = if kind & SCALED == MAPPED { n.checked_mul(2) } else { n.checked_add(1) };
        let row = match row {
            Some(row) if kind != HALF && kind & WEIGHTED != 0 => row.checked_add(1),
            row => row,
        };
        let scalars = match (row, width) {
            (Some(row), 4 | 8) => match row.checked_add(dim) {
                Some(of_point) => of_point.checked_mul(n),
                None => None,
            },
            _ => None,
        };
        let scalars = match scalars {
            // Two matrices of half the order: those of a whole plan can be counted, too.
            Some(scalars) if kind == HALF => Some(scalars - n / 2 * (n - n / 2) * 2),
            scalars => scalars,
        };
        let is_whole = match scalars {
            Some(scalars) => {
                let rest = bytes.len() - HEADER;
                rest.is_multiple_of(width) && rest / width == scalars
            }
            None => false,
        };
        if !is_exact
            || !is_whole
            || (kind > SCALED + WEIGHTED && kind != HALF)
            || n == 0
            || dim == 0
        {
            return Err(wrong("its length does not fit what it says; it is cut off or damaged"));
        }
        Ok(Self { width, kind, n, dim })
    }
}

/// Includes the file of a plan as [`PlanBytes`](crate::PlanBytes), aligned, and checked while
/// the program is compiled:
///
/// ```text
/// static BYTES: kgard::PlanBytes<'static> = kgard::include_plan!("plan.bin");
/// let (plan, points) = BYTES.open::<f32>()?;
/// ```
///
/// The compiler takes long for plans of more than about 500 kB and says so: include such bytes
/// with `include_bytes!`, and give them to [`PlanRef::from_bytes`](crate::PlanRef::from_bytes).
#[macro_export]
macro_rules! include_plan {
    ($path:expr) => {{
        #[repr(C, align(8))]
        struct Aligned<B: ?Sized>(B);
        const PLAN: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        const {
            match $crate::PlanBytes::new(&PLAN.0) {
                Ok(bytes) => bytes,
                Err(_) => panic!("the file is not a plan, or damaged; make it with `kgard plan`"),
            }
        }
    }};
}

const fn u32_at(bytes: &[u8], at: usize) -> u32 {
    match bytes.split_at_checked(at) {
        Some((_, [a, b, c, d, ..])) => u32::from_le_bytes([*a, *b, *c, *d]),
        _ => 0,
    }
}

const fn u64_at(bytes: &[u8], at: usize) -> u64 {
    (u32_at(bytes, at + 4) as u64) << 32 | u32_at(bytes, at) as u64
}

const fn fnv1a(bytes: &[u8]) -> u32 {
    let (mut hash, mut rest) = (0x811c_9dc5_u32, bytes);
    // Several bytes a round: the compiler limits the rounds of what it computes.
    while let Some((&[a, b, c, d, e, f, g, h], others)) = rest.split_first_chunk() {
        hash = mixed(mixed(mixed(mixed(hash, a), b), c), d);
        hash = mixed(mixed(mixed(mixed(hash, e), f), g), h);
        rest = others;
    }
    while let Some((&byte, others)) = rest.split_first() {
        hash = mixed(hash, byte);
        rest = others;
    }
    hash
}

const fn mixed(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

#[cfg(feature = "alloc")]
mod writing {
    use super::{CHECKED_FROM, HALF, MAGIC, MAPPED, SCALED, Stored, VERSION, WEIGHTED, fnv1a};
    use crate::regression::system::Model;
    use crate::{HalfPlan, HalfPlanRef, Kernel, Plan, PlanRef, Points};
    use alloc::string::String;
    use alloc::vec::Vec;
    use core::fmt::Write;

    /// What is written of a plan.
    struct Parts<'a, T> {
        kind: u32,
        parameter: T,
        points: Points<'a, T>,
        /// Names, lengths and values of the arrays, in the order of the bytes.
        arrays: [(&'static str, &'static str, &'a [T]); 4],
        /// The type and its constructor.
        constructor: &'static str,
    }

    impl<'a, T: Stored> Parts<'a, T> {
        fn of(plan: PlanRef<'a, T>, points: Points<'a, T>) -> Self {
            let (kind, parameter, last, roots, constructor) = match plan.model {
                Model::Mapped { map, bias, roots } => {
                    (MAPPED, bias, ("MAP", "N * N", map), roots, "PlanRef::mapped")
                }
                Model::Scaled { lambda, bias, roots } => {
                    (SCALED, lambda, ("BIAS", "N", bias), roots, "PlanRef::scaled")
                }
            };
            let kind = if roots.is_empty() { kind } else { kind + WEIGHTED };
            let arrays =
                [("H", "N * N", plan.h), last, ("ROOTS", "N", roots), ("", "", &[] as &[T])];
            Self { kind, parameter, points, arrays, constructor }
        }

        fn of_half(plan: HalfPlanRef<'a, T>, points: Points<'a, T>) -> Self {
            let [even, odd, bias] = plan.arrays();
            let arrays = [
                ("EVEN", "(N - N / 2) * (N - N / 2)", even),
                ("ODD", "N / 2 * (N / 2)", odd),
                ("BIAS", "N", bias),
                ("", "", &[] as &[T]),
            ];
            let (parameter, constructor) = (plan.lambda(), "HalfPlanRef::new");
            Self { kind: HALF, parameter, points, arrays, constructor }
        }

        fn arrays(&self) -> impl Iterator<Item = &(&'static str, &'static str, &'a [T])> {
            self.arrays.iter().filter(|(name, ..)| !name.is_empty())
        }

        #[allow(clippy::cast_possible_truncation)]
        fn bytes(&self) -> Vec<u8> {
            let Self { kind, parameter, points, .. } = self;
            let parameter = parameter.to_f64().unwrap_or(f64::NAN);
            let mut bytes = Vec::new();
            bytes.extend_from_slice(MAGIC);
            for word in [VERSION, size_of::<T>() as u32, *kind, 0] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            for word in [points.len() as u64, points.dim() as u64, parameter.to_bits()] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            let arrays = self.arrays().flat_map(|(.., values)| *values);
            for &x in points.coordinates().iter().chain(arrays) {
                x.store(&mut bytes);
            }
            let checksum = fnv1a(&bytes[CHECKED_FROM..]);
            bytes[CHECKED_FROM - 4..CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
            bytes
        }

        fn c_header(&self, name: &str, title: &str) -> String {
            let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let mut name: String = name.chars().map(allowed).collect();
            if name.bytes().next().is_none_or(|byte| byte.is_ascii_digit()) {
                name.insert(0, '_');
            }
            let bytes = self.bytes();
            let upper = name.to_ascii_uppercase();
            let title = title.replace("*/", "* /").replace('\n', "\n   ");
            let mut source = alloc::format!(
                "/* {title}\n\n   kgard_plan plan;\n   kgard_plan_open(&plan, {name}_data, \
                 {upper}_BYTES); */\n\n#ifndef {upper}_H\n#define {upper}_H\n\n#include \
                 <stdint.h>\n\n/* Number of points, coordinates of a point, and bytes of the plan. \
                 */\n#define {upper}_N {}\n#define {upper}_DIM {}\n#define {upper}_BYTES {}\n\n\
                 /* Words, so that it is aligned. */\nstatic const uint64_t {name}_data[] = {{\n",
                self.points.len(),
                self.points.dim(),
                bytes.len(),
            );
            for row in bytes.chunks(32) {
                source.push_str("   ");
                for word in row.chunks(8) {
                    let word = word.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                    // Writing to a string cannot fail.
                    let _ = write!(source, " 0x{word:016x}u,");
                }
                source.push('\n');
            }
            source.push_str("};\n\n#endif\n");
            source
        }

        fn rust_source(&self, title: &str) -> String {
            let Self { points, parameter, constructor, .. } = self;
            let mut source = String::new();
            let mut line = |text: &str| {
                source.push_str(text);
                source.push('\n');
            };
            for title in title.lines() {
                line(&alloc::format!("// {title}"));
            }
            line("\n/// Number of points.");
            line(&alloc::format!("pub const N: usize = {};", points.len()));
            line("\n/// Coordinates per point.");
            line(&alloc::format!("pub const DIM: usize = {};", points.dim()));
            line("\n/// The points, one after another.");
            line(&array("pub const POINTS", "N * DIM", points.coordinates()));
            let weights = |name: &str| name == "ROOTS";
            let mut names = String::new();
            for (name, length, values) in self.arrays() {
                if weights(name) && values.is_empty() {
                    continue;
                }
                line(&array(&alloc::format!("const {name}"), length, values));
                if !weights(name) {
                    // Writing to a string cannot fail.
                    let _ = write!(names, "&{name}, ");
                }
            }
            let name = constructor.split(':').next().unwrap_or_default();
            line("/// The plan, in read-only memory.");
            line(&alloc::format!("pub static PLAN: kgard::{name}<'static, {}> =", T::NAME));
            line(&alloc::format!("    match kgard::{constructor}(N, {names}{parameter:?}) {{"));
            let panic = "panic!(\"the lengths fit: they were written together\"),";
            if self.arrays().any(|(name, _, values)| weights(name) && !values.is_empty()) {
                line("        Ok(plan) => match plan.with_roots(&ROOTS) {");
                line("            Ok(plan) => plan,");
                line(&alloc::format!("            Err(_) => {panic}"));
                line("        },");
            } else {
                line("        Ok(plan) => plan,");
            }
            line(&alloc::format!("        Err(_) => {panic}"));
            line("    };");
            source
        }
    }

    impl<T: Stored, K: Kernel<T>> Plan<T, K> {
        fn parts(&self) -> Parts<'_, T> {
            Parts::of(self.as_ref(), self.points())
        }

        /// The plan as bytes, for [`PlanRef::from_bytes`](crate::PlanRef::from_bytes).
        #[must_use]
        pub fn to_bytes(&self) -> Vec<u8> {
            self.parts().bytes()
        }

        /// The bytes of [`to_bytes`](Self::to_bytes) as a C header, for the library in `capi/`:
        /// an array `name_data`, aligned to eight bytes, and macros `NAME_N`, `NAME_DIM` and
        /// `NAME_BYTES`. What no name in C can have becomes an underscore. `title` becomes the
        /// first lines of the file's comment.
        #[must_use]
        pub fn to_c_header(&self, name: &str, title: &str) -> String {
            self.parts().c_header(name, title)
        }

        /// The plan as Rust source: constants `N`, `DIM`, `POINTS` and a
        /// static `PLAN`, for `include!` on a device. `title` becomes the
        /// first line of the file's comment.
        #[must_use]
        pub fn to_rust_source(&self, title: &str) -> String {
            self.parts().rust_source(title)
        }
    }

    impl<T: Stored> HalfPlan<T> {
        fn parts(&self) -> Parts<'_, T> {
            Parts::of_half(self.as_ref(), self.points())
        }

        /// The plan as bytes, for [`PlanBytes::open_half`](crate::PlanBytes::open_half).
        #[must_use]
        pub fn to_bytes(&self) -> Vec<u8> {
            self.parts().bytes()
        }

        /// The plan as a C header: see [`Plan::to_c_header`].
        #[must_use]
        pub fn to_c_header(&self, name: &str, title: &str) -> String {
            self.parts().c_header(name, title)
        }

        /// The plan as Rust source: see [`Plan::to_rust_source`]. The static `PLAN` is a
        /// [`HalfPlanRef`].
        #[must_use]
        pub fn to_rust_source(&self, title: &str) -> String {
            self.parts().rust_source(title)
        }
    }

    /// `{declaration}: [T; length] = [...];`, eight numbers a line, each with
    /// all the digits it takes to read it back.
    fn array<T: Stored>(declaration: &str, length: &str, values: &[T]) -> String {
        let mut text = alloc::format!("{declaration}: [{}; {length}] = [\n", T::NAME);
        for row in values.chunks(8) {
            text.push_str("   ");
            for value in row {
                // Writing to a string cannot fail.
                let _ = write!(text, " {value:?},");
            }
            text.push('\n');
        }
        text.push_str("];\n");
        text
    }
}
