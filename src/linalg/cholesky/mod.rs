//! The Cholesky decomposition $A = L L^T$ of a symmetric positive definite
//! matrix: [`factor()`] it, [`solve()`] with it, [`invert()`] it, and extend
//! it by one row and column ([`Extending`]).

mod extend;
mod factor;
mod inverse;
mod solve;

pub use extend::Extending;
pub use factor::{factor, factor_scratch_len};
pub use inverse::{inverse_diagonal, inverse_diagonal_scratch_len, invert, invert_scratch_len};
pub(crate) use solve::{backward, forward, inverse_column};
pub use solve::{solve, solve_lower, solve_unit, solve_upper};
