//! What the decoders do not tell of a TIFF file: its pages, whether it is raw data of
//! a camera, and the tags that must not get lost.
//!
//! A TIFF file is a list of directories, one for each page, of entries: tag, type,
//! count, and the values or their offset. EXIF data are such a file without pixels.
//! Every offset can be wrong, and lists can be circular.

use std::collections::BTreeMap;

/// Tags that are copied: what the picture is called, what took it and when, whose it
/// is, its resolution, XMP and IPTC data.
const KEPT: [u16; 13] = [269, 270, 271, 272, 282, 283, 296, 305, 306, 315, 700, 33432, 33723];
/// The tags of the directory of EXIF data, and of its entries that mean nothing in
/// another file: notes of the maker with offsets, and the size of the picture.
const EXIF: u16 = 34665;
const NOT_KEPT_OF_EXIF: [u16; 4] = [37500, 40962, 40963, 40965];

const SUBFILE: u16 = 254;
const BITS: u16 = 258;
const PHOTOMETRIC: u16 = 262;
const DESCRIPTION: u16 = 270;
const ORIENTATION: u16 = 274;
const SAMPLES: u16 = 277;
const COLOURS: u16 = 320;
const SAMPLE_FORMAT: u16 = 339;
const SUBDIRECTORIES: u16 = 330;
const DNG_VERSION: u16 = 50706;
const PROFILE: u16 = 34675;
/// Colour filter array, and linear raw.
const RAW: [usize; 2] = [32803, 34892];
/// Directories and entries that are looked at.
const MOST_DIRECTORIES: usize = 100_000;
const MOST_ENTRIES: usize = 4096;

/// Bytes of a value, by its type: 1 to 13, and those of BigTIFF.
const fn size_of_type(kind: u16) -> usize {
    match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => 0,
    }
}

/// Bytes of the numbers that a value consists of: a fraction has two.
const fn size_of_number(kind: u16) -> usize {
    match kind {
        5 | 10 => 4,
        _ => size_of_type(kind),
    }
}

/// An entry, its values with the least byte first.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    kind: u16,
    values: Vec<u8>,
}

impl Entry {
    fn numbers(&self) -> Vec<usize> {
        let size = size_of_number(self.kind).max(1);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &b| sum << 8 | usize::from(b));
        self.values.chunks_exact(size.min(8)).map(number).collect()
    }

    fn count(&self) -> usize {
        self.values.len() / size_of_type(self.kind).max(1)
    }
}

type Directory = BTreeMap<u16, Entry>;

/// A file as it is read.
#[derive(Clone, Copy)]
struct File<'a> {
    bytes: &'a [u8],
    reversed: bool,
    big: bool,
}

impl<'a> File<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let (reversed, big) = match bytes.get(..4)? {
            b"II*\0" => (true, false),
            b"MM\0*" => (false, false),
            b"II+\0" => (true, true),
            b"MM\0+" => (false, true),
            _ => return None,
        };
        Some(Self { bytes, reversed, big })
    }

    fn number(&self, at: usize, length: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..at.checked_add(length)?)?;
        let append = |sum: usize, &byte: &u8| sum << 8 | usize::from(byte);
        Some(if self.reversed {
            bytes.iter().rev().fold(0, append)
        } else {
            bytes.iter().fold(0, append)
        })
    }

    /// The entries of the directory at an offset, and the offset of the next one.
    fn directory(&self, at: usize) -> Option<(Directory, usize)> {
        let (head, word, length) = if self.big { (8, 8, 20) } else { (2, 4, 12) };
        let count = self.number(at, head)?;
        let mut directory = Directory::new();
        let first = at.checked_add(head)?;
        for i in 0..count.min(MOST_ENTRIES) {
            let entry = first.checked_add(i * length)?;
            let kind = u16::try_from(self.number(entry + 2, 2)?).ok()?;
            let values = self.number(entry + 4, word)?.checked_mul(size_of_type(kind))?;
            let place = entry + 4 + word;
            let start = if values <= word { place } else { self.number(place, word)? };
            let Some(values) = self.bytes.get(start..start.saturating_add(values)) else {
                continue;
            };
            let mut values = values.to_vec();
            if !self.reversed {
                let size = size_of_number(kind).max(1);
                values.chunks_exact_mut(size).for_each(<[u8]>::reverse);
            }
            let tag = u16::try_from(self.number(entry, 2)?).ok()?;
            directory.insert(tag, Entry { kind, values });
        }
        let next = self.number(first.checked_add(count.checked_mul(length)?)?, word).unwrap_or(0);
        Some((directory, next))
    }

    /// Where the value of an entry of the directory at an offset is, if it stands in the entry.
    fn place_of(&self, at: usize, tag: u16) -> Option<usize> {
        let (head, word, length) = if self.big { (8, 8, 20) } else { (2, 4, 12) };
        let count = self.number(at, head)?;
        let entries = (0..count.min(MOST_ENTRIES)).map(|i| at + head + i * length);
        let is_it = |entry: &usize| self.number(*entry, 2) == Some(tag.into());
        entries.into_iter().find(is_it).map(|entry| entry + 4 + word)
    }

    /// Where the offset of the first directory is, and its length.
    fn first(&self) -> (usize, usize) {
        if self.big { (8, 8) } else { (4, 4) }
    }

    /// All directories of the list, with their offsets.
    fn pages(&self) -> Vec<(usize, Directory)> {
        let mut pages = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let (place, length) = self.first();
        let mut at = self.number(place, length);
        while let Some(offset) = at.filter(|&at| at != 0 && seen.insert(at)) {
            if pages.len() == MOST_DIRECTORIES {
                break;
            }
            let Some((directory, next)) = self.directory(offset) else { break };
            pages.push((offset, directory));
            at = Some(next);
        }
        pages
    }

    /// The first directory.
    fn page(&self) -> Option<Directory> {
        let (place, length) = self.first();
        self.directory(self.number(place, length)?).map(|(directory, _)| directory)
    }
}

fn first_number(directory: &Directory, tag: u16) -> Option<usize> {
    directory.get(&tag)?.numbers().first().copied()
}

/// Who reads the samples of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The `image` crate.
    Usual,
    /// `tiff_pages`.
    Rare,
    /// The same, as numbers of colours.
    Palette,
}

/// What there is to know of a page before it is decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// Of its directory.
    offset: usize,
    pub(super) reading: Reading,
    /// What its samples are, if nobody reads them.
    pub(super) unread: Option<String>,
    /// The colour profile.
    pub(super) profile: Option<Vec<u8>>,
    /// The colours of a palette: all levels of red, of green, of blue, in 16 bits.
    pub(super) colours: Option<Vec<u16>>,
    /// As EXIF has it.
    pub(super) orientation: u8,
}

impl Page {
    fn new(offset: usize, page: &Directory) -> Self {
        let (reading, unread) = match reading(page) {
            Ok(reading) => (reading, None),
            Err(what) => (Reading::Usual, Some(what)),
        };
        let level = |level: usize| u16::try_from(level).unwrap_or(u16::MAX);
        let colours = page.get(&COLOURS).filter(|_| reading == Reading::Palette);
        Self {
            offset,
            reading,
            unread,
            profile: page.get(&PROFILE).map(|entry| entry.values.clone()),
            colours: colours.map(|entry| entry.numbers().into_iter().map(level).collect()),
            orientation: first_number(page, ORIENTATION)
                .and_then(|number| u8::try_from(number).ok())
                .unwrap_or(1),
        }
    }
}

/// What there is to know of a TIFF file before it is decoded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Pages that are no reduced copies or masks of others.
    pub(super) pages: Vec<Page>,
    /// Reduced copies and masks.
    pub(super) besides: usize,
    /// Whether it holds raw data of a camera.
    pub(super) raw: bool,
    /// How many pictures the program that wrote it says there are: ImageJ can store them without
    /// pages.
    pub(super) claimed: Option<usize>,
}

impl Facts {
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let file = File::new(bytes)?;
        let mut facts = Self::default();
        for (i, (offset, page)) in file.pages().into_iter().enumerate() {
            // Reduced, and a mask, are bits 0 and 2. The first page is the picture all the same.
            let is_copy = first_number(&page, SUBFILE).is_some_and(|bits| bits & 5 != 0);
            if is_copy && i > 0 {
                facts.besides += 1;
            } else {
                facts.pages.push(Page::new(offset, &page));
            }
            if i == 0 {
                facts.claimed = claimed(&page);
            }
            let below = page.get(&SUBDIRECTORIES).map(Entry::numbers).unwrap_or_default();
            let below = below.iter().filter_map(|&at| file.directory(at)).map(|(page, _)| page);
            facts.raw |= below.chain([page]).any(|page| {
                first_number(&page, PHOTOMETRIC).is_some_and(|kind| RAW.contains(&kind))
                    || page.contains_key(&DNG_VERSION)
            });
        }
        // Canon's files say so in their head.
        facts.raw |= bytes.get(8..10) == Some(b"CR");
        Some(facts)
    }
}

/// The number of pictures in the description of a file of ImageJ.
fn claimed(page: &Directory) -> Option<usize> {
    let text = String::from_utf8_lossy(&page.get(&DESCRIPTION)?.values).into_owned();
    let mut lines = text.lines();
    lines.next().filter(|line| line.starts_with("ImageJ="))?;
    lines.find_map(|line| line.strip_prefix("images=")?.trim().parse().ok())
}

/// Makes a page the first one of its file, for decoders that read the first.
pub(super) fn show_page(bytes: &mut [u8], page: &Page) {
    let Some(file) = File::new(bytes) else { return };
    let (reversed, (place, length)) = (file.reversed, file.first());
    let photometric = file.place_of(page.offset, PHOTOMETRIC);
    let mut put = |at: usize, length: usize, number: usize| {
        let number = (number as u64).to_le_bytes();
        let Some(place) = bytes.get_mut(at..at + length) else { return };
        place.copy_from_slice(&number[..length]);
        if !reversed {
            place.reverse();
        }
    };
    put(place, length, page.offset);
    if let (Reading::Palette, Some(at)) = (page.reading, photometric) {
        // Numbers of colours are read as grey levels.
        put(at, 2, 1);
    }
}

/// Who reads the samples of a page; or what they are, if nobody does.
fn reading(page: &Directory) -> Result<Reading, String> {
    let bits = first_number(page, BITS).unwrap_or(1);
    let format = first_number(page, SAMPLE_FORMAT).unwrap_or(1);
    let samples = first_number(page, SAMPLES).unwrap_or(1);
    let photometric = first_number(page, PHOTOMETRIC);
    let is_grey = matches!(photometric, Some(0 | 1));
    if is_grey && samples > 2 {
        return Err(format!("{samples} channels that are no colours"));
    }
    match (format, bits) {
        (1, 8) if photometric == Some(3) => Ok(Reading::Palette),
        _ if photometric == Some(3) => Err(format!("palette colours of {bits} bits")),
        (2, 8 | 16 | 32) | (3, 32) if is_grey => Ok(Reading::Rare),
        (2, _) => Err(format!("signed integers of {bits} bits, of {samples} channels")),
        (3, 64) | (1, 32) => Ok(Reading::Rare),
        (3, bits) if bits != 32 => Err(format!("floats of {bits} bits")),
        (1, 8 | 16) if is_grey && samples == 2 => Ok(Reading::Rare),
        (1, 1 | 8 | 16) | (3, _) => Ok(Reading::Usual),
        (1, _) => Err(format!("integers of {bits} bits")),
        _ => Err("samples of no known type".into()),
    }
}

/// The tags of a TIFF file or of EXIF data that other files can keep, as EXIF data.
pub(super) fn metadata(bytes: &[u8]) -> Option<Vec<u8>> {
    let (main, exif) = kept(bytes)?;
    if main.is_empty() && exif.is_empty() {
        return None;
    }
    let mut result = b"II*\0\x08\0\0\0".to_vec();
    write(&mut result, main, &exif);
    Some(result)
}

fn kept(bytes: &[u8]) -> Option<(Directory, Directory)> {
    let file = File::new(bytes)?;
    let mut main = file.page()?;
    let exif = first_number(&main, EXIF).and_then(|at| file.directory(at));
    let mut exif = exif.map(|(directory, _)| directory).unwrap_or_default();
    main.retain(|tag, _| KEPT.contains(tag));
    exif.retain(|tag, _| !NOT_KEPT_OF_EXIF.contains(tag));
    for directory in [&mut main, &mut exif] {
        // BigTIFF's own types are not for EXIF data.
        directory.retain(|_, entry| (1..=12).contains(&entry.kind));
    }
    Some((main, exif))
}

/// Adds the tags of EXIF data to the pages of a TIFF file of ours; false if that cannot be.
pub(super) fn add_metadata(file: &mut Vec<u8>, exif: &[Option<Vec<u8>>]) -> bool {
    let Some(source) = File::new(file).filter(|file| file.reversed && !file.big) else {
        return false;
    };
    let pages = source.pages();
    if pages.len() != exif.len() {
        return false;
    }
    let mut has_all = true;
    // Where the offset of the next directory is to be.
    let mut link = 4;
    for ((_, page), exif) in pages.into_iter().zip(exif) {
        let kept = exif.as_deref().map(kept);
        has_all &= !matches!(kept, Some(None));
        let (mut main, exif) = kept.flatten().unwrap_or_default();
        for (tag, entry) in page {
            // The unit of no resolution is no unit.
            main.entry(tag).or_insert(entry);
        }
        if file.len() % 2 == 1 {
            file.push(0);
        }
        let Ok(at) = u32::try_from(file.len()) else { return false };
        file[link..link + 4].copy_from_slice(&at.to_le_bytes());
        link = write(file, main, &exif);
    }
    has_all
}

/// Appends a directory, and below it one of EXIF data; returns where the offset of the next
/// directory is to be.
fn write(file: &mut Vec<u8>, mut main: Directory, exif: &Directory) -> usize {
    // Its offset is not known yet; its place is.
    if !exif.is_empty() {
        main.insert(EXIF, Entry { kind: 4, values: vec![0; 4] });
    }
    let index = main.keys().position(|&tag| tag == EXIF);
    let start = file.len();
    append(file, &main);
    if let Some(index) = index.filter(|_| !exif.is_empty()) {
        let at = u32::try_from(file.len()).unwrap_or(0);
        file[start + 2 + 12 * index + 8..][..4].copy_from_slice(&at.to_le_bytes());
        append(file, exif);
    }
    start + 2 + 12 * main.len()
}

fn append(file: &mut Vec<u8>, directory: &Directory) {
    let mut end = file.len() + 2 + 12 * directory.len() + 4;
    let mut values = Vec::new();
    file.extend(u16::try_from(directory.len()).unwrap_or(0).to_le_bytes());
    for (tag, entry) in directory {
        file.extend(tag.to_le_bytes());
        file.extend(entry.kind.to_le_bytes());
        file.extend(u32::try_from(entry.count()).unwrap_or(0).to_le_bytes());
        if entry.values.len() <= 4 {
            let mut place = [0; 4];
            place[..entry.values.len()].copy_from_slice(&entry.values);
            file.extend(place);
        } else {
            file.extend(u32::try_from(end).unwrap_or(0).to_le_bytes());
            let odd = entry.values.len() % 2;
            values.extend(&entry.values);
            values.resize(values.len() + odd, 0);
            end += entry.values.len() + odd;
        }
    }
    file.extend([0; 4]);
    file.extend(values);
}

#[cfg(test)]
mod tests {
    use super::{
        Directory, Entry, Facts, File, Reading, add_metadata, append, kept, metadata, reading,
    };

    fn entry(kind: u16, values: &[u8]) -> Entry {
        Entry { kind, values: values.to_vec() }
    }

    /// A file of pages that have no pixels.
    fn file(pages: &[Directory]) -> Vec<u8> {
        let mut file = b"II*\0\x08\0\0\0".to_vec();
        for (i, page) in pages.iter().enumerate() {
            let next = file.len() + 2 + 12 * page.len();
            append(&mut file, page);
            if i + 1 < pages.len() {
                let end = u32::try_from(file.len()).expect("a small file");
                file[next..next + 4].copy_from_slice(&end.to_le_bytes());
            }
        }
        file
    }

    fn profile_of(file: &[u8]) -> Option<Vec<u8>> {
        Facts::of(file)?.pages.into_iter().next()?.profile
    }

    fn pages_of(file: &[u8]) -> Option<usize> {
        Facts::of(file).map(|facts| facts.pages.len())
    }

    #[test]
    fn profile() {
        let little = b"II*\0\x08\0\0\0\x01\0\x73\x87\x07\0\x05\0\0\0\x16\0\0\0hello";
        let big = b"MM\0*\0\0\0\x08\0\x01\x87\x73\0\x07\0\0\0\x05\0\0\0\x16hello";
        for file in [&little[..], big] {
            assert_eq!(profile_of(file).as_deref(), Some(&b"hello"[..]));
            for end in 0..file.len() {
                assert_eq!(profile_of(&file[..end]), None);
            }
        }
        let lost = pages_of(b"MM\0*\xff\xff\xff\xff\0\x01");
        assert_eq!(lost, Some(0));
    }

    #[test]
    fn pages() {
        let plain = Directory::from([(258, entry(3, &[16, 0]))]);
        let reduced = Directory::from([(254, entry(4, &[1, 0, 0, 0]))]);
        let counts = |pages: &[Directory]| {
            Facts::of(&file(pages)).map(|facts| (facts.pages.len(), facts.besides, facts.raw))
        };
        assert_eq!(counts(std::slice::from_ref(&plain)), Some((1, 0, false)));
        assert_eq!(counts(&vec![plain.clone(); 7]), Some((7, 0, false)));
        assert_eq!(counts(&[plain.clone(), reduced.clone()]), Some((1, 1, false)));
        // The preview is what would be decoded: the page is not to be lost.
        assert_eq!(counts(&[reduced, plain.clone()]), Some((2, 0, false)));
        let raw = Directory::from([(262, entry(3, &[0x23, 0x80]))]);
        assert_eq!(counts(&[plain.clone(), raw]), Some((2, 0, true)));
        // A list that begins again.
        let mut circle = file(std::slice::from_ref(&plain));
        let next = 8 + 2 + 12;
        circle[next..next + 4].copy_from_slice(&8_u32.to_le_bytes());
        assert_eq!(pages_of(&circle), Some(1));
        let description = b"ImageJ=1.53t\nimages=12\nslices=12\n\0";
        let stack = Directory::from([(270, entry(2, description))]);
        assert_eq!(Facts::of(&file(&[stack])).and_then(|facts| facts.claimed), Some(12));
    }

    #[test]
    fn samples() {
        let of = |photometric: u8, format: u8, bits: u8, samples: u8| {
            let number = |x: u8| entry(3, &[x, 0]);
            let page = [(258, bits), (262, photometric), (277, samples), (339, format)];
            reading(&page.into_iter().map(|(tag, x)| (tag, number(x))).collect())
        };
        for bits in [1, 8, 16] {
            assert_eq!(of(1, 1, bits, 1), Ok(Reading::Usual));
        }
        assert_eq!([of(2, 1, 16, 3), of(2, 3, 32, 3)], [Ok(Reading::Usual), Ok(Reading::Usual)]);
        for (format, bits) in [(1, 32), (2, 8), (2, 16), (2, 32), (3, 32), (3, 64)] {
            assert_eq!(of(1, format, bits, 1), Ok(Reading::Rare), "{format} {bits}");
        }
        assert_eq!(of(3, 1, 8, 1), Ok(Reading::Palette));
        for (photometric, format, bits, samples, what) in [
            (1, 1, 12, 1, "integers of 12 bits"),
            (1, 1, 8, 5, "5 channels"),
            (2, 2, 16, 3, "signed integers of 16 bits, of 3"),
            (1, 3, 16, 1, "floats of 16 bits"),
            (3, 1, 4, 1, "palette colours of 4 bits"),
        ] {
            let refused = of(photometric, format, bits, samples);
            assert!(refused.is_err_and(|text| text.starts_with(what)), "{what}");
        }
    }

    #[test]
    fn metadata_goes_there_and_back() {
        let main = Directory::from([
            (270, entry(2, b"a picture\0")),
            (282, entry(5, &[44, 1, 0, 0, 1, 0, 0, 0])),
            (274, entry(3, &[6, 0])),
            (700, entry(1, b"<x/>")),
        ]);
        let mut source = file(&[main]);
        let at = u32::try_from(source.len()).expect("a small file");
        append(&mut source, &Directory::from([(33434, entry(5, &[1, 0, 0, 0, 60, 0, 0, 0]))]));
        // Without a directory of EXIF data, and with one.
        let plain = metadata(&source).expect("metadata");
        assert!(kept(&plain).is_some_and(|(main, exif)| main.len() == 3 && exif.is_empty()));
        let mut main = File::new(&source).and_then(|file| file.page()).expect("a page");
        main.insert(34665, entry(4, &at.to_le_bytes()));
        let end = u32::try_from(source.len()).expect("a small file");
        source[4..8].copy_from_slice(&end.to_le_bytes());
        append(&mut source, &main);
        let both = metadata(&source).expect("metadata");
        let (tags, exif) = kept(&both).expect("tags");
        assert_eq!(tags.keys().copied().collect::<Vec<_>>(), [270, 282, 700]);
        assert_eq!(exif[&33434].numbers(), [1, 60]);
        let mut ours =
            file(&[Directory::from([(258, entry(3, &[8, 0])), (282, entry(5, &[1; 8]))])]);
        assert!(add_metadata(&mut ours, &[Some(both.clone())]));
        let (tags, exif) = kept(&ours).expect("tags");
        assert_eq!(tags[&282].numbers(), [300, 1]);
        assert_eq!(exif.len(), 1);
        assert_eq!(pages_of(&ours), Some(1));
        // Cut off anywhere.
        for end in 0..both.len() {
            let _ = (metadata(&both[..end]), Facts::of(&both[..end]));
        }
    }
}
