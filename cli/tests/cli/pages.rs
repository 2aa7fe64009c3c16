//! Files with more in them than one picture: never anything lost without a word.

use crate::common::Folder;
use crate::pictures::{crc32, noisy};
use image::{ColorType, ImageFormat};

fn encoded(format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    noisy(ColorType::L8, 40, 32).write_to(&mut bytes, format).expect("a file");
    bytes.into_inner()
}

fn number(tiff: &[u8], at: usize, length: usize) -> usize {
    tiff[at..at + length].iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte))
}

/// Where the entry of a tag is, in a file of the `image` crate or of kgard.
fn entry(tiff: &[u8], tag: usize) -> Option<usize> {
    assert_eq!(&tiff[..4], b"II*\0");
    let directory = number(tiff, 4, 4);
    let entries = (0..number(tiff, directory, 2)).map(|i| directory + 2 + 12 * i);
    entries.into_iter().find(|&at| number(tiff, at, 2) == tag)
}

/// The same pixels once more, as another page.
fn with_second_page(tiff: &[u8]) -> Vec<u8> {
    let mut tiff = tiff.to_vec();
    let start = number(&tiff, 4, 4);
    let end = start + 2 + 12 * number(&tiff, start, 2);
    let directory = tiff[start..end].to_vec();
    let second = u32::try_from(tiff.len()).expect("a small file");
    tiff[end..end + 4].copy_from_slice(&second.to_le_bytes());
    tiff.extend(directory);
    tiff.extend([0; 4]);
    tiff
}

#[test]
fn pages_and_frames() {
    let folder = Folder::new();
    folder.write("stack.tif", with_second_page(&encoded(ImageFormat::Tiff)));
    let png = encoded(ImageFormat::Png);
    let mut chunk = b"acTL\0\0\0\x05\0\0\0\0".to_vec();
    chunk.extend(crc32(&chunk).to_be_bytes());
    folder.write("film.png", [&png[..33], &[0, 0, 0, 8], &chunk, &png[33..]].concat());
    for (name, count) in [("stack.tif", 2), ("film.png", 5)] {
        for command in [format!("denoise {name} -o out.png"), format!("metrics {name} {name}")] {
            let text =
                format!("{name}: holds {count} pictures, and all but the first would be lost");
            folder.kgard(&command).fails(1, &[&text, "split it"]);
        }
    }
    // In a batch the others are done.
    folder.write("plain.png", png);
    let run = folder.kgard("denoise stack.tif plain.png -o out");
    assert_eq!(run.code(), 1);
    assert!(run.stderr().contains("stack.tif: holds 2 pictures"), "{}", run.stderr());
    assert!(folder.path("out/plain.png").exists() && !folder.path("out/stack.tif").exists());
}

#[test]
fn raw_files() {
    let folder = Folder::new();
    let mut nef = encoded(ImageFormat::Tiff);
    let photometric = entry(&nef, 262).expect("a photometric interpretation");
    nef[photometric + 8..photometric + 10].copy_from_slice(&32803_u16.to_le_bytes());
    folder.write("a.nef", nef);
    folder.write("a.raf", b"FUJIFILMCCD-RAW 0201");
    folder.write("a.cr3", b"\0\0\0\x18ftypcrx \0\0\0\x01");
    folder.write("a.cr2", b"II*\0\x10\0\0\0CR\x02\0\0\0\0\0");
    for name in ["a.nef", "a.raf", "a.cr3", "a.cr2"] {
        let run = folder.kgard(&format!("denoise {name} -o out.png"));
        run.fails(1, &[name, "is a raw file of a camera", "develop it first"]);
    }
}

#[test]
fn samples_that_are_not_read() {
    let folder = Folder::new();
    let tiff = encoded(ImageFormat::Tiff);
    let format = entry(&tiff, 339).expect("a sample format");
    let mut signed = tiff.clone();
    signed[format + 8] = 2;
    folder.write("signed.tif", signed);
    let run = folder.kgard("denoise signed.tif -o out.tif");
    run.fails(1, &["signed.tif: holds signed integers of 8 bits", "convert it"]);
}

#[test]
fn resolution_stays() {
    let folder = Folder::new();
    let mut tiff = encoded(ImageFormat::Tiff);
    let place = |tiff: &[u8]| number(tiff, entry(tiff, 282).expect("a resolution") + 8, 4);
    let at = place(&tiff);
    tiff[at..at + 8].copy_from_slice(&[44, 1, 0, 0, 1, 0, 0, 0]);
    folder.write("a.tif", &tiff);
    // There, and by way of EXIF data of a PNG file.
    let run = folder.kgard("denoise a.tif -o b.tif");
    run.ok();
    assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
    folder.kgard("denoise a.tif -o c.png").ok();
    folder.kgard("denoise c.png -o d.tif").ok();
    for name in ["b.tif", "d.tif"] {
        let clean = folder.bytes(name);
        let at = place(&clean);
        assert_eq!((number(&clean, at, 4), number(&clean, at + 4, 4)), (300, 1), "{name}");
        assert_eq!(folder.open(name).color(), ColorType::L8);
    }
}

#[test]
fn a_folder_says_what_it_skipped() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).expect("a folder");
    folder.save("in/a.png", &noisy(ColorType::L8, 40, 32));
    for name in ["in/notes.txt", "in/b.cr2", "in/.hidden"] {
        folder.write(name, "x");
    }
    let run = folder.kgard("denoise in -o out");
    run.ok();
    let text = "skipped 2 files with other names than pictures have: b.cr2, notes.txt\n";
    assert!(run.stderr().contains(text), "{}", run.stderr());
    assert!(!folder.kgard("-q denoise in -o out").stderr().contains("skipped"));
}
