//! A stream: made, fed and drained.
#![no_std]
#![no_main]

use core::mem::MaybeUninit;
use kgard::Matern32;
use kgard::line::{Cleaned, FixedLag};
use kgard_budget as _;

type Stream = FixedLag<f32, Matern32<f32>, 2, 16>;

/// What is looked at.
#[repr(C)]
pub struct Roots {
    new: extern "C" fn(&mut MaybeUninit<Stream>, f32, f32, f32) -> bool,
    push: extern "C" fn(&mut Stream, f32, f32, &mut MaybeUninit<Cleaned<f32>>) -> bool,
    drain: extern "C" fn(&mut Stream, &mut MaybeUninit<Cleaned<f32>>) -> bool,
}

/// The functions, and with them what they call.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".roots")]
pub static ROOTS: Roots = Roots { new, push, drain };

extern "C" fn new(slot: &mut MaybeUninit<Stream>, length: f32, lambda: f32, noise: f32) -> bool {
    match Stream::new(Matern32::new(length), lambda, noise) {
        Ok(stream) => {
            slot.write(stream);
            true
        }
        Err(_) => false,
    }
}

extern "C" fn push(
    stream: &mut Stream,
    distance: f32,
    sample: f32,
    out: &mut MaybeUninit<Cleaned<f32>>,
) -> bool {
    #[cfg(feature = "sneak-panic")]
    assert!(sample > 0.0);
    match stream.push_after(distance, sample) {
        Ok(Some(cleaned)) => {
            out.write(cleaned);
            true
        }
        _ => false,
    }
}

extern "C" fn drain(stream: &mut Stream, out: &mut MaybeUninit<Cleaned<f32>>) -> bool {
    stream.drain().map(|cleaned| out.write(cleaned)).is_some()
}
