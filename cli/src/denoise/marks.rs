//! Pictures that mark pixels: those known to be bad, those to be left alone.

use super::args::DenoiseArgs;
use crate::error::{Error, Result};
use crate::input::Source;
use crate::pictures::{Picture, Raster};
use kgard::denoise::{Masks, Plane, PlaneBuf};
use std::path::Path;

/// From here on a pixel is marked, of 16 bits.
const BRIGHT: u16 = 1 << 15;

/// What the command line marks, in all of its pictures.
#[derive(Debug, Default)]
pub(super) struct Marks<'a> {
    bad: Option<Mark<'a>>,
    keep: Option<Mark<'a>>,
}

#[derive(Debug)]
struct Mark<'a> {
    path: &'a Path,
    pixels: PlaneBuf<bool>,
}

impl<'a> Marks<'a> {
    pub(super) fn read(args: &'a DenoiseArgs) -> Result<Self> {
        let read = |path: Option<&'a Path>| path.map(Mark::read).transpose();
        Ok(Self { bad: read(args.bad.as_deref())?, keep: read(args.keep.as_deref())? })
    }

    /// Those of a picture, `name` in messages.
    pub(super) fn of(&self, image: &Raster, name: &str) -> Result<Masks<'_>> {
        let [bad, keep] = [&self.bad, &self.keep]
            .map(|mark| mark.as_ref().map(|mark| mark.plane(image, name)).transpose());
        Ok(Masks { bad: bad?, keep: keep? })
    }
}

impl<'a> Mark<'a> {
    fn read(path: &'a Path) -> Result<Self> {
        let picture = Picture::read(Source::new(path))?.image.shown()?.into_luma16();
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let pixels = picture.into_raw().into_iter().map(|sample| sample >= BRIGHT).collect();
        let pixels = PlaneBuf::new(pixels, width, height)
            .map_err(|error| Error::failed(format!("{}: {error}", path.display())))?;
        Ok(Self { path, pixels })
    }

    fn plane(&self, image: &Raster, name: &str) -> Result<Plane<'_, bool>> {
        let plane = self.pixels.as_plane();
        let (width, height) = (image.width() as usize, image.height() as usize);
        if (plane.width(), plane.height()) == (width, height) {
            return Ok(plane);
        }
        Err(Error::failed(format!(
            "{name}: has {width} x {height} pixels, and {} has {} x {}: a mask is as large as the \
             picture",
            self.path.display(),
            plane.width(),
            plane.height()
        )))
    }
}
