//! A program without the feature `gpu` never has a device.

use super::{Devices, Wanted, Work};
use crate::error::{Error, Result};
use kgard::denoise::{DenoisePlan, Denoised, KgBm3dPlan, Masks, Plane, Repaired};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::result::Result as Either;

const WITHOUT: &str = "this kgard was built without GPUs: build it with the feature `gpu` (which \
                       cargo does by default), or use --backend cpu";

/// There is none.
#[derive(Debug)]
pub(crate) enum Device {}

/// There is none.
#[derive(Debug)]
pub(crate) struct KgardOn<'p>(Infallible, PhantomData<&'p ()>);

/// There is none.
#[derive(Debug)]
pub(crate) struct KgBm3dOn<'p>(Infallible, PhantomData<&'p ()>);

impl Device {
    pub(super) fn open(wanted: Wanted<'_>, _: u64) -> Result<Option<Self>> {
        match wanted {
            Wanted::Auto | Wanted::Cpu => Ok(None),
            Wanted::Gpu | Wanted::Named(_) => Err(Error::failed(WITHOUT)),
        }
    }

    pub(crate) fn kgard(&self, _: &DenoisePlan<f32>) -> Either<KgardOn<'_>, String> {
        match *self {}
    }

    pub(crate) fn kg_bm3d(&self, _: &KgBm3dPlan<f32>) -> Either<KgBm3dOn<'_>, String> {
        match *self {}
    }
}

impl KgardOn<'_> {
    pub(crate) fn denoise(
        &self,
        _: &[Plane<'_, f32>],
        _: Masks<'_>,
    ) -> Either<(Denoised<f32>, Work), kgard::Error> {
        match self.0 {}
    }
}

impl KgBm3dOn<'_> {
    pub(crate) fn repair<'a>(
        &self,
        _: &[Plane<'a, f32>],
        _: Masks<'a>,
    ) -> Either<(Repaired<'a, f32>, Work), kgard::Error> {
        match self.0 {}
    }
}

pub(crate) fn list() -> Result<Devices> {
    Err(Error::failed(WITHOUT))
}
