//! The formats of picture files.

use crate::error::{Error, Result};
use clap::ValueEnum;
use image::ImageFormat;
use std::path::Path;

/// A format that is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// 8 or 16 bits
    Png,
    /// 8 bits, without alpha; loses a little
    Jpeg,
    /// 8, 16 or 32 bits, or floats; several pages
    Tiff,
    /// 8 bits, grey stored as colour; nothing is lost
    Webp,
    /// PGM, PPM or PAM: 8 or 16 bits
    Pnm,
    /// OpenEXR: floats
    Exr,
}

/// All of them, for messages.
pub(crate) const FORMATS: &str = "PNG, JPEG, TIFF, WebP, PNM or OpenEXR";

impl Format {
    /// The format that a file's name asks for.
    pub(crate) fn of(option: &str, path: &Path) -> Result<Self> {
        Self::by_name(path).ok_or_else(|| {
            Error::usage(format!(
                "{option} {}: the name must end as those of {FORMATS} files do, as in clean.png",
                path.display()
            ))
        })
    }

    /// The same, if it is one of ours.
    pub(crate) fn by_name(path: &Path) -> Option<Self> {
        ImageFormat::from_path(path).ok().and_then(Self::known)
    }

    /// This format of the `image` crate, if it is one of ours.
    pub(crate) fn known(format: ImageFormat) -> Option<Self> {
        Some(match format {
            ImageFormat::Png => Self::Png,
            ImageFormat::Jpeg => Self::Jpeg,
            ImageFormat::Tiff => Self::Tiff,
            ImageFormat::WebP => Self::Webp,
            ImageFormat::Pnm => Self::Pnm,
            ImageFormat::OpenExr => Self::Exr,
            _ => return None,
        })
    }

    /// Its codec in the `image` crate.
    pub(super) fn codec(self) -> ImageFormat {
        match self {
            Self::Png => ImageFormat::Png,
            Self::Jpeg => ImageFormat::Jpeg,
            Self::Tiff => ImageFormat::Tiff,
            Self::Webp => ImageFormat::WebP,
            Self::Pnm => ImageFormat::Pnm,
            Self::Exr => ImageFormat::OpenExr,
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Tiff => "TIFF",
            Self::Webp => "WebP",
            Self::Pnm => "PNM",
            Self::Exr => "OpenEXR",
        }
    }

    /// Its media type.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Tiff => "image/tiff",
            Self::Webp => "image/webp",
            Self::Pnm => "image/x-portable-anymap",
            Self::Exr => "image/x-exr",
        }
    }

    /// Whether browsers show it.
    pub(crate) fn is_for_browsers(self) -> bool {
        matches!(self, Self::Png | Self::Jpeg | Self::Webp)
    }

    /// How names of its files end.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Tiff => "tif",
            Self::Webp => "webp",
            Self::Pnm => "pnm",
            Self::Exr => "exr",
        }
    }
}
