//! What differs from one processor to another: start-up, the debugger and the clock.

#[cfg(target_arch = "arm")]
mod arm;
#[cfg(target_arch = "riscv32")]
mod riscv;

#[cfg(target_arch = "arm")]
pub use arm::{clock, start_clock};
#[cfg(target_arch = "arm")]
pub(crate) use arm::{guard_stack, semihosting};
#[cfg(target_arch = "riscv32")]
pub use riscv::{clock, start_clock};
#[cfg(target_arch = "riscv32")]
pub(crate) use riscv::{guard_stack, semihosting};
