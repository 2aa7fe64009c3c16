//! What a device has to know of the automatic KGARD: all that `gpu/` sees of it.
//!
//! A device takes the steps between the survey and the result, so it needs the run and its strips,
//! the smoothers, the networks, and the constants that its shaders get from here.

pub(crate) use super::blend::Strip;
pub(crate) use super::detect::classifier::weights::{OF_LARGE, OF_SMALL};
pub(crate) use super::detect::classifier::{DETAIL, SURE};
pub(crate) use super::detect::neighbourhood::SUSPECT;
pub(crate) use super::detect::rows::read;
pub(crate) use super::detect::window::{BLOCK, MOST_WITNESSES, REACH, padded};
pub(crate) use super::pipeline::Run;
pub(crate) use super::smooth::ladder::Ladder;
pub(crate) use super::strip::Job;

// What tests of the shaders compare.
#[cfg(test)]
pub(crate) use super::detect::classifier::{
    pattern::DIFFERENCES,
    weights::{INPUTS, LARGE, SMALL},
};
