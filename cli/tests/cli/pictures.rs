//! Small pictures to work on, and ways to break them.

use crate::common::{Folder, Random};
use image::{ColorType, DynamicImage};
use kgard::denoise::PlaneBuf;
use kgard::interop::image::{peak, planes, with_planes};

/// All colour types, with the formats that hold them without loss.
pub(crate) const KINDS: [(ColorType, &[&str]); 10] = [
    (ColorType::L8, &["png", "tif", "pgm"]),
    (ColorType::La8, &["png", "pam"]),
    (ColorType::Rgb8, &["png", "tif", "webp", "ppm"]),
    (ColorType::Rgba8, &["png", "tif", "webp", "pam"]),
    (ColorType::L16, &["png", "tif", "pgm"]),
    (ColorType::La16, &["png"]),
    (ColorType::Rgb16, &["png", "tif", "ppm"]),
    (ColorType::Rgba16, &["png", "tif", "pam"]),
    (ColorType::Rgb32F, &["tif", "exr"]),
    (ColorType::Rgba32F, &["tif", "exr"]),
];

/// A soft picture of this type, without noise.
pub(crate) fn clean(color: ColorType, width: u32, height: u32) -> DynamicImage {
    let blank = DynamicImage::new(width, height, color);
    let (columns, rows) = (width as usize, height as usize);
    let channels: Vec<PlaneBuf<f32>> = (0..planes(&blank).expect("channels").len())
        .map(|c| {
            let level = |i: usize| {
                let (x, y) = ((i % columns) as f32, (i / columns) as f32);
                let wave = (x / 9.0 + c as f32).sin() * (y / 7.0).cos();
                peak(&blank) * (0.5 + 0.3 * wave)
            };
            PlaneBuf::new((0..columns * rows).map(level).collect(), columns, rows).expect("a plane")
        })
        .collect();
    with_planes(&blank, &channels).expect("a picture")
}

/// The same with noise, and impulses on about 1 pixel in 20.
pub(crate) fn noisy(color: ColorType, width: u32, height: u32) -> DynamicImage {
    let clean = clean(color, width, height);
    let peak = peak(&clean);
    let mut random = Random::new(3);
    let mut channels = planes(&clean).expect("channels");
    for sample in channels.iter_mut().flat_map(PlaneBuf::samples_mut) {
        *sample += 0.015 * peak * (random.below(2001) as f32 / 1000.0 - 1.0);
        if random.below(20) == 0 {
            *sample += if *sample > 0.5 * peak { -0.45 * peak } else { 0.45 * peak };
        }
    }
    with_planes(&clean, &channels).expect("a picture")
}

impl Folder {
    /// Saves a picture, in the format that the name says.
    pub(crate) fn save(&self, name: &str, picture: &DynamicImage) {
        picture.save(self.path(name)).expect("a picture is saved");
    }

    /// Opens a picture, whatever its name says.
    pub(crate) fn open(&self, name: &str) -> DynamicImage {
        decode(&self.bytes(name))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("a file is read")
    }
}

pub(crate) fn decode(bytes: &[u8]) -> DynamicImage {
    image::load_from_memory(bytes).expect("a picture")
}

/// Files that are no pictures, with what is said about them.
pub(crate) fn broken() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let mut png = std::io::Cursor::new(Vec::new());
    noisy(ColorType::L8, 40, 30).write_to(&mut png, image::ImageFormat::Png).expect("a PNG");
    let png = png.into_inner();
    // The header's width, and no pixels to match.
    let mut huge = b"P5 4000000000 4000000000 255\n".to_vec();
    huge.extend([0; 100]);
    let claimed = claims(70_000);
    vec![
        ("empty.png", Vec::new(), "is empty"),
        ("text.png", b"not a picture at all".to_vec(), "give PNG, JPEG, TIFF"),
        ("gif.gif", b"GIF89a\x01\x00\x01\x00\x00\x00\x00;".to_vec(), "give PNG, JPEG, TIFF"),
        ("short.png", png[..png.len() / 2].to_vec(), "is not a usable picture"),
        ("header.png", png[..20].to_vec(), "is not a usable picture"),
        ("zero.pgm", b"P5 0 0 255\n".to_vec(), "zero.pgm: "),
        ("huge.pgm", huge, "huge.pgm: "),
        ("claimed.png", claimed, "claimed.png: "),
    ]
}

/// A grey PNG whose header claims so many rows and columns, and has few of them.
pub(crate) fn claims(side: u32) -> Vec<u8> {
    let mut png = std::io::Cursor::new(Vec::new());
    noisy(ColorType::L8, 40, 30).write_to(&mut png, image::ImageFormat::Png).expect("a PNG");
    let mut png = png.into_inner();
    png[16..20].copy_from_slice(&side.to_be_bytes());
    png[20..24].copy_from_slice(&side.to_be_bytes());
    let crc = crc32(&png[12..29]);
    png[29..33].copy_from_slice(&crc.to_be_bytes());
    png
}

/// The checksum of PNG's chunks.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}
