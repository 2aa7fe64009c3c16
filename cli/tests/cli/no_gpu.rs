//! A program that was built without the feature `gpu` says so.

use crate::common::Folder;
use crate::pictures::noisy;
use image::ColorType;

#[test]
fn built_without() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::L8, 32, 24));
    let text = ["built without GPUs", "the feature `gpu`"];
    folder.kgard("denoise a.png -o b.png --backend gpu").fails(1, &text);
    folder.kgard("denoise a.png -o b.png --adapter x").fails(1, &text);
    folder.kgard("devices").fails(1, &text);
    let json = folder.kgard("denoise a.png -o b.png --json").json();
    assert_eq!(json["backend"], "cpu");
}
