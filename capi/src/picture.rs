//! Pictures, where there is an operating system.

use crate::border::{Failure, guarded, reference, slice_mut, write};
use crate::code::Code;
use core::ffi::c_void;
use kgard::Error;
use kgard::denoise::{
    DenoisePlan, Denoised, Denoiser as Settings, KgBm3d, KgBm3dPlan, Masks, Plane, PlaneBuf,
};
use std::boxed::Box;
use std::vec::Vec;

/// How pictures are denoised. A `kgard_denoiser` may be used by several threads at a time.
pub struct Denoiser {
    mark: usize,
    method: Planned,
}

enum Planned {
    KgBm3d(Box<KgBm3dPlan<f32>>),
    Kgard(Box<DenoisePlan<f32>>),
}

/// Says that a denoiser has been made here.
const MARK: usize = 0x6B67_6465;

const KG_BM3D: i32 = Method::KgardMethodKgBm3d as i32;
const KGARD: i32 = Method::KgardMethodKgard as i32;
const U8: i32 = SampleType::KgardSampleU8 as i32;
const U16: i32 = SampleType::KgardSampleU16 as i32;
const F32: i32 = SampleType::KgardSampleF32 as i32;

/// The methods.
#[repr(i32)]
pub enum Method {
    /// KGARD and BM3D in a loop: the best, and the default of the program.
    KgardMethodKgBm3d = 0,
    /// KGARD alone: several times faster.
    KgardMethodKgard = 1,
}

/// The types of samples.
#[repr(i32)]
pub enum SampleType {
    /// `uint8_t`
    KgardSampleU8 = 0,
    /// `uint16_t`
    KgardSampleU16 = 1,
    /// `float`
    KgardSampleF32 = 2,
}

/// A picture in memory of the caller: sample (x, y) of channel c is at
/// `samples + x * pixel_stride + y * row_stride + c * channel_stride`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Picture {
    /// Sample (0, 0) of channel 0.
    pub samples: *mut c_void,
    /// KGARD_SAMPLE_U8, KGARD_SAMPLE_U16 or KGARD_SAMPLE_F32.
    pub sample_type: i32,
    /// 1 for grey, 3 for red, green and blue, which are filtered together.
    pub channels: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes from a pixel to the next one in its row; zero: channels lie side by side.
    pub pixel_stride: isize,
    /// Bytes from a row to the next one, negative if they stand upside down; zero: without gaps.
    pub row_stride: isize,
    /// Bytes from a channel to the next one of the same pixel; zero: side by side.
    pub channel_stride: isize,
}

/// What was estimated and counted in a channel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Channel {
    /// Number of outliers.
    pub outliers: usize,
    /// Standard deviation of the noise in units of the samples; negative if it is not estimated.
    pub noise: f32,
}

impl Picture {
    /// With strides in place of zeros.
    fn complete(mut self) -> Result<Self, Failure> {
        let bytes = match self.sample_type {
            U8 => size_of::<u8>(),
            U16 => size_of::<u16>(),
            F32 => size_of::<f32>(),
            _ => {
                let value = usize::try_from(self.sample_type).unwrap_or(usize::MAX);
                let allowed = "KGARD_SAMPLE_U8, KGARD_SAMPLE_U16 or KGARD_SAMPLE_F32";
                return Err(Error::Setting { what: "sample_type", value, allowed }.into());
            }
        };
        if self.samples.is_null() {
            return Err(Code::KgardNull.into());
        }
        if self.width == 0 || self.height == 0 || self.channels == 0 {
            return Err(Error::Empty { what: "image" }.into());
        }
        let uncountable = || Failure::Refused(Error::TooLarge { scalars: usize::MAX });
        let bytes = isize::try_from(bytes).map_err(|_| uncountable())?;
        let count = |count: u32| isize::try_from(count).map_err(|_| uncountable());
        let (width, height) = (count(self.width)?, count(self.height)?);
        let channels = count(self.channels)?;
        if self.channel_stride == 0 {
            self.channel_stride = bytes;
        }
        if self.pixel_stride == 0 {
            self.pixel_stride = bytes.checked_mul(channels).ok_or_else(uncountable)?;
        }
        if self.row_stride == 0 {
            self.row_stride = self.pixel_stride.checked_mul(width).ok_or_else(uncountable)?;
        }
        // No way from the first sample to another one overflows.
        let reach = |stride: isize, count: isize| {
            stride.unsigned_abs().checked_mul((count - 1).unsigned_abs())
        };
        let all = reach(self.pixel_stride, width)
            .zip(reach(self.row_stride, height))
            .zip(reach(self.channel_stride, channels))
            .and_then(|((x, y), c)| x.checked_add(y)?.checked_add(c))
            .and_then(|all| isize::try_from(all).ok());
        all.ok_or_else(uncountable)?;
        Ok(self)
    }

    /// Where a sample is.
    fn at(&self, x: usize, y: usize, c: usize) -> *mut c_void {
        let way = |i: usize, stride: isize| i.cast_signed().wrapping_mul(stride);
        let offset = way(x, self.pixel_stride)
            .wrapping_add(way(y, self.row_stride))
            .wrapping_add(way(c, self.channel_stride));
        self.samples.wrapping_byte_offset(offset)
    }

    fn size(&self) -> (usize, usize) {
        (self.width as usize, self.height as usize)
    }

    /// # Safety
    /// The samples are where the picture says.
    unsafe fn channel(&self, c: usize) -> Result<PlaneBuf<f32>, Failure> {
        let (width, height) = self.size();
        let too_large = Error::TooLarge { scalars: width.saturating_mul(height) };
        let mut samples = Vec::new();
        let area = width.checked_mul(height).ok_or(too_large)?;
        samples.try_reserve_exact(area).map_err(|_| too_large)?;
        for y in 0..height {
            for x in 0..width {
                let at = self.at(x, y, c);
                // SAFETY: the caller's promise. Reading takes no alignment.
                samples.push(unsafe {
                    match self.sample_type {
                        U8 => f32::from(at.cast::<u8>().read()),
                        U16 => f32::from(at.cast::<u16>().read_unaligned()),
                        _ => at.cast::<f32>().read_unaligned(),
                    }
                });
            }
        }
        Ok(PlaneBuf::new(samples, width, height)?)
    }

    /// Writes a channel; integers are rounded and clipped to their range.
    ///
    /// # Safety
    /// There is memory for samples where the picture says.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it clips")]
    unsafe fn put(&self, c: usize, plane: &PlaneBuf<f32>) {
        let (width, height) = self.size();
        let mut samples = plane.samples().iter();
        for y in 0..height {
            for (x, &sample) in (0..width).zip(&mut samples) {
                let at = self.at(x, y, c);
                // SAFETY: the caller's promise. Writing takes no alignment.
                unsafe {
                    match self.sample_type {
                        U8 => at.cast::<u8>().write(sample.round() as u8),
                        U16 => at.cast::<u16>().write_unaligned(sample.round() as u16),
                        _ => at.cast::<f32>().write_unaligned(sample),
                    }
                }
            }
        }
    }
}

/// Makes a denoiser by the method KGARD_METHOD_KG_BM3D or KGARD_METHOD_KGARD, everything
/// automatic. It serves any number of pictures, and is freed by `kgard_denoiser_free`.
///
/// # Safety
/// `denoiser` points to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_denoiser_new(method: i32, denoiser: *mut *mut Denoiser) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { write(denoiser, core::ptr::null_mut()) }?;
        let method = match method {
            // Its result does not depend on the peak, as long as no setting is in samples.
            KG_BM3D => Planned::KgBm3d(Box::new(KgBm3d::new(1.0).plan()?)),
            KGARD => Planned::Kgard(Box::new(Settings::new().plan()?)),
            _ => {
                let value = usize::try_from(method).unwrap_or(usize::MAX);
                let allowed = "KGARD_METHOD_KG_BM3D or KGARD_METHOD_KGARD";
                return Err(Error::Setting { what: "method", value, allowed }.into());
            }
        };
        let made = Box::into_raw(Box::new(Denoiser { mark: MARK, method }));
        // SAFETY: the caller's promise.
        unsafe { write(denoiser, made) }?;
        Ok(())
    })
}

/// Frees a denoiser; null is none.
///
/// # Safety
/// `denoiser` was made by `kgard_denoiser_new`, is not in use, and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_denoiser_free(denoiser: *mut Denoiser) {
    if !denoiser.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(denoiser) });
    }
}

/// Denoises a picture. `output` has the size and the channels of `input`, with strides and a type
/// of samples of its own, and may be the same memory. To `outliers`, unless it is null, goes one
/// byte for each sample, 1 for an outlier, channel after channel, row after row without gaps; to
/// `channels`, unless it is null, what was estimated in each channel.
///
/// # Safety
/// `denoiser` was made by `kgard_denoiser_new`. The samples are where `input` and `output` say;
/// `outliers` points to memory for width x height x channels bytes or is null, `channels` to
/// memory for as many as the picture has or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kgard_denoise(
    denoiser: *const Denoiser,
    input: *const Picture,
    output: *const Picture,
    outliers: *mut u8,
    channels: *mut Channel,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let denoiser = unsafe { reference(denoiser) }?;
        if denoiser.mark != MARK {
            return Err(Code::KgardHandle.into());
        }
        // SAFETY: the caller's promise.
        let input = unsafe { reference(input) }?.complete()?;
        // SAFETY: the caller's promise.
        let output = unsafe { reference(output) }?.complete()?;
        let (expected, found) = (input.size(), output.size());
        if expected != found {
            return Err(Error::ImageSize { what: "output", expected, found }.into());
        }
        let count = input.channels as usize;
        if output.channels != input.channels {
            let (expected, found) = (count, output.channels as usize);
            return Err(Error::Length { what: "list of channels", expected, found }.into());
        }
        let noisy = (0..count)
            // SAFETY: the caller's promise.
            .map(|c| unsafe { input.channel(c) })
            .collect::<Result<Vec<_>, _>>()?;
        let views: Vec<Plane<'_, f32>> = noisy.iter().map(PlaneBuf::as_plane).collect();
        let result = match &denoiser.method {
            Planned::KgBm3d(plan) => plan.denoise(&views, Masks::default())?,
            Planned::Kgard(plan) => plan.denoise_all(&views, Masks::default())?,
        };
        let Denoised { channels: clean, outliers: map, report, .. } = result;
        for (c, plane) in clean.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { output.put(c, plane) };
        }
        if !outliers.is_null() {
            let area = expected.0 * expected.1;
            // SAFETY: the caller's promise.
            let bytes = unsafe { slice_mut(outliers, area.saturating_mul(count)) }?;
            for (bytes, mask) in bytes.chunks_exact_mut(area).zip(&map.mask) {
                for (byte, &is_outlier) in bytes.iter_mut().zip(mask.samples()) {
                    *byte = u8::from(is_outlier);
                }
            }
        }
        if !channels.is_null() {
            for (c, found) in report.channels.iter().enumerate() {
                let deviation = found.noise.unwrap_or(-1.0);
                // SAFETY: the caller's promise; there are as many as channels.
                unsafe {
                    write(
                        channels.wrapping_add(c),
                        Channel { outliers: found.outliers, noise: deviation },
                    )
                }?;
            }
        }
        Ok(())
    })
}
