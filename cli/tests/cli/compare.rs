//! `kgard denoise --compare`.

use crate::common::Folder;
use crate::pictures::{KINDS, noisy};
use image::{ColorType, GenericImageView, Rgb, imageops};

/// Where the panels begin, and how large they are: found by what they show.
#[test]
fn before_after_and_outliers() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::Rgb8, 300, 260));
    folder.kgard("denoise a.png -o b.png --compare strip.png").ok();
    let strip = folder.open("strip.png").to_rgb8();
    let (noisy, clean) = (folder.open("a.png").to_rgb8(), folder.open("b.png").to_rgb8());
    let (gap, top) = ((strip.width() - 900) / 4, strip.height() - 260 - (strip.width() - 900) / 4);
    let panel =
        |i: u32| imageops::crop_imm(&strip, gap + i * (300 + gap), top, 300, 260).to_image();
    assert_eq!(panel(0), noisy);
    assert_eq!(panel(1), clean);
    let grey = panel(2).pixels().filter(|&&pixel| pixel == Rgb([128; 3])).count();
    assert!((40_000..77_900).contains(&grey), "{grey} pixels without an impulse");
    // There is something to read above each of them.
    for i in 0..3 {
        let head = imageops::crop_imm(&strip, gap + i * (300 + gap), 0, 300, top).to_image();
        let dark = head.pixels().filter(|pixel| pixel.0[0] < 100).count();
        assert!(dark > 100, "{dark}");
    }
}

#[test]
fn every_kind_and_size() {
    let folder = Folder::new();
    for (color, formats) in KINDS {
        let name = format!("a.{}", formats[0]);
        folder.save(&name, &noisy(color, 40, 32));
        folder.kgard(&format!("denoise {name} -o b.{} --compare s.png", formats[0])).ok();
        let strip = folder.open("s.png");
        assert_eq!(strip.color(), ColorType::Rgb8, "{color:?}");
        assert!(strip.width() >= 3 * 240);
    }
    for (width, height) in [(1, 1), (1, 200), (200, 1)] {
        folder.save("a.png", &noisy(ColorType::L8, width, height));
        folder.kgard("denoise a.png -o b.png --compare s.jpg").ok();
        let (width, height) = folder.open("s.jpg").dimensions();
        assert!(width >= 3 * 200 && height >= 40, "{width} x {height}");
    }
    folder.save("z.tif", &noisy(ColorType::L8, 30, 30));
    folder.kgard("denoise a.png z.tif -o out --compare strips").ok();
    assert_eq!(folder.open("strips/z.png").color(), ColorType::Rgb8);
    folder.kgard("denoise a.png -o b.png --compare b.png").fails(2, &["cannot be one file"]);
    folder.kgard("denoise a.png -o b.png --compare a.png").fails(1, &["would be written over"]);
}
