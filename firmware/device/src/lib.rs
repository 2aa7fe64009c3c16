//! What a program needs on the bare board: start-up, output, a clock, and
//! memory that is handed out once.
//!
//! The exit codes: 0 all is well, 1 a wrong result, 101 a panic, 102 a fault.
#![no_std]

mod board;
mod machine;
mod once;
mod start;

pub use board::{flash, stack_high_water, static_ram};
pub use machine::{clock, start_clock};
pub use once::Once;

use core::fmt::{self, Write};
use kgard_firmware_common::{Costs, Wrong};

/// Declares the program: a name, and a function that returns a
/// `Result<(), Wrong>`.
#[macro_export]
macro_rules! program {
    ($name:literal, $function:path) => {
        #[unsafe(no_mangle)]
        extern "Rust" fn kgard_program() -> bool {
            $crate::conclude($name, &$function())
        }
    };
}

/// Writes a line to the host.
#[macro_export]
macro_rules! say {
    ($($arguments:tt)*) => { $crate::write_line(format_args!($($arguments)*)) };
}

#[doc(hidden)]
pub fn write_line(line: fmt::Arguments<'_>) {
    // The console takes everything.
    let _ = writeln!(board::Console, "{line}");
}

#[doc(hidden)]
#[must_use]
pub fn conclude(name: &str, result: &Result<(), Wrong>) -> bool {
    match result {
        Ok(()) => say!("{name}: ok"),
        Err(wrong) => say!("{name}: WRONG: {} ({} millionths)", wrong.what(), wrong.millionths()),
    }
    result.is_ok()
}

/// Prints what a fit has cost, and what the program takes of the board.
pub fn report(plan: u32, costs: Costs) {
    // First of all: formatting takes stack too.
    let stack = stack_high_water();
    let Costs { fit, coefficients, prediction } = costs;
    say!(
        "  instructions: plan {plan}, fit {fit}, coefficients {coefficients}, \
         one prediction {prediction}"
    );
    say!("  bytes: static RAM {}, stack {stack}, flash {}", static_ram(), flash());
}
