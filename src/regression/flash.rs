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
//! | 16 | u32 | 0: l2 or Tikhonov, 1: RKHS; 2 more with sample weights |
//! | 20 | u32 | FNV-1a checksum of all that follows |
//! | 24 | u64 | n |
//! | 32 | u64 | dimension of the points |
//! | 40 | f64 | what the sum of the residual is multiplied with for the bias, or $\lambda$ |
//! | 48 | scalars | the points, $H$, then the coefficient map (n x n) or the bias weights (n), then the square roots of sample weights (n) |

use super::plan::PlanRef;
use crate::{Error, Points, Real};

const MAGIC: &[u8; 8] = b"KGARDPLN";
const VERSION: u32 = 1;
const MAPPED: u32 = 0;
const SCALED: u32 = 1;
/// Added to the kind of a plan with sample weights.
const WEIGHTED: u32 = 2;
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

impl<'a, T: Stored> PlanRef<'a, T> {
    /// Borrows the plan, and the points it was made for, from the bytes that
    /// `Plan::to_bytes` wrote. Nothing is copied.
    ///
    /// The bytes must start at a multiple of eight;
    /// [`include_plan!`](crate::include_plan) takes care of that.
    ///
    /// # Errors
    /// [`Error::Format`] if they are not the bytes of a plan in `T`, or have
    /// been damaged.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<(Self, Points<'a, T>), Error> {
        let wrong = |what| Error::Format { what };
        if cfg!(target_endian = "big") {
            return Err(wrong("plans are little-endian, this machine is not"));
        }
        if bytes.len() < HEADER || &bytes[..8] != MAGIC {
            return Err(wrong("it does not begin like a plan; make one with `kgard plan`"));
        }
        if u32_at(bytes, 8) != VERSION {
            return Err(wrong("it was made by another version of kgard; make it anew"));
        }
        if u32_at(bytes, 12) as usize != size_of::<T>() {
            return Err(wrong("it was made for another scalar type; see --scalar"));
        }
        let n = usize::try_from(u64_at(bytes, 24)).unwrap_or(0);
        let dim = usize::try_from(u64_at(bytes, 32)).unwrap_or(0);
        let kind = u32_at(bytes, 16);
        let square = n.checked_mul(n);
        let rest = if kind & SCALED == MAPPED { square } else { Some(n) };
        let roots = if kind & WEIGHTED == 0 { 0 } else { n };
        let lengths = n.checked_mul(dim).zip(square).zip(rest);
        let scalars =
            lengths.and_then(|((p, h), r)| p.checked_add(h)?.checked_add(r)?.checked_add(roots));
        let size = scalars.and_then(|s| s.checked_mul(size_of::<T>())?.checked_add(HEADER));
        if kind > SCALED + WEIGHTED || n == 0 || dim == 0 || size != Some(bytes.len()) {
            return Err(wrong("its length does not fit what it says; it is cut off or damaged"));
        }
        if fnv1a(&bytes[CHECKED_FROM..]) != u32_at(bytes, 20) {
            return Err(wrong("its checksum does not fit; it is damaged"));
        }
        let parameter = T::from_f64(f64::from_bits(u64_at(bytes, 40)));
        let scalars = T::cast(&bytes[HEADER..])
            .ok_or(wrong("it is not aligned to eight bytes; use kgard::include_plan!"))?;
        let (points, rest) = scalars.split_at(n * dim);
        let (h, rest) = rest.split_at(n * n);
        let (rest, roots) = rest.split_at(rest.len() - roots);
        let plan = if kind & SCALED == MAPPED {
            Self::mapped(n, h, rest, parameter)?
        } else {
            Self::scaled(n, h, rest, parameter)?
        };
        let plan = if roots.is_empty() { plan } else { plan.with_roots(roots)? };
        Ok((plan, Points::new(points, dim)?))
    }
}

/// Includes the file of a plan, aligned as
/// [`PlanRef::from_bytes`](crate::PlanRef::from_bytes) needs it:
///
/// ```text
/// static BYTES: &[u8] = kgard::include_plan!("plan.bin");
/// let (plan, points) = PlanRef::<f32>::from_bytes(BYTES)?;
/// ```
#[macro_export]
macro_rules! include_plan {
    ($path:expr) => {{
        #[repr(C, align(8))]
        struct Aligned<B: ?Sized>(B);
        const PLAN: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        &PLAN.0
    }};
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut value = [0; 4];
    value.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(value)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, &b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

#[cfg(feature = "alloc")]
mod writing {
    use super::{CHECKED_FROM, MAGIC, MAPPED, SCALED, Stored, VERSION, WEIGHTED, fnv1a};
    use crate::regression::system::Model;
    use crate::{Kernel, Plan};
    use alloc::string::String;
    use alloc::vec::Vec;
    use core::fmt::Write;

    impl<T: Stored, K: Kernel<T>> Plan<T, K> {
        /// The plan as bytes, for [`PlanRef::from_bytes`](crate::PlanRef::from_bytes).
        #[must_use]
        #[allow(clippy::cast_possible_truncation)]
        pub fn to_bytes(&self) -> Vec<u8> {
            let plan = self.as_ref();
            let (kind, parameter, rest) = match plan.model {
                Model::Mapped { map, bias, .. } => (MAPPED, bias, map),
                Model::Scaled { lambda, bias, .. } => (SCALED, lambda, bias),
            };
            let roots = plan.roots();
            let kind = if roots.is_empty() { kind } else { kind + WEIGHTED };
            let parameter = parameter.to_f64().unwrap_or(f64::NAN);
            let mut bytes = Vec::new();
            bytes.extend_from_slice(MAGIC);
            for word in [VERSION, size_of::<T>() as u32, kind, 0] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            for word in [plan.n as u64, self.points().dim() as u64, parameter.to_bits()] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            for &x in self.points().coordinates().iter().chain(plan.h).chain(rest).chain(roots) {
                x.store(&mut bytes);
            }
            let checksum = fnv1a(&bytes[CHECKED_FROM..]);
            bytes[CHECKED_FROM - 4..CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
            bytes
        }

        /// The plan as Rust source: constants `N`, `DIM`, `POINTS` and a
        /// static `PLAN`, for `include!` on a device. `title` becomes the
        /// first line of the file's comment.
        #[must_use]
        pub fn to_rust_source(&self, title: &str) -> String {
            let plan = self.as_ref();
            let n = plan.n;
            let dim = self.points().dim();
            let mut source = String::new();
            let mut line = |text: &str| {
                source.push_str(text);
                source.push('\n');
            };
            for title in title.lines() {
                line(&alloc::format!("// {title}"));
            }
            line("\n/// Number of points.");
            line(&alloc::format!("pub const N: usize = {n};"));
            line("\n/// Coordinates per point.");
            line(&alloc::format!("pub const DIM: usize = {dim};"));
            line("\n/// The points, one after another.");
            line(&array("pub const POINTS", "N * DIM", self.points().coordinates()));
            line(&array("const H", "N * N", plan.h));
            let (name, constructor, last) = match plan.model {
                Model::Mapped { map, bias, .. } => {
                    line(&array("const MAP", "N * N", map));
                    ("MAP", "mapped", bias)
                }
                Model::Scaled { lambda, bias, .. } => {
                    line(&array("const BIAS", "N", bias));
                    ("BIAS", "scaled", lambda)
                }
            };
            if !plan.roots().is_empty() {
                line(&array("const ROOTS", "N", plan.roots()));
            }
            line("/// The plan, in read-only memory.");
            line(&alloc::format!("pub static PLAN: kgard::PlanRef<'static, {}> =", T::NAME));
            line(&alloc::format!(
                "    match kgard::PlanRef::{constructor}(N, &H, &{name}, {last:?}) {{"
            ));
            if plan.roots().is_empty() {
                line("        Ok(plan) => plan,");
            } else {
                line("        Ok(plan) => match plan.with_roots(&ROOTS) {");
                line("            Ok(plan) => plan,");
                line(
                    "            Err(_) => panic!(\"the lengths fit: they were written together\"),",
                );
                line("        },");
            }
            line("        Err(_) => panic!(\"the lengths fit: they were written together\"),");
            line("    };");
            source
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
