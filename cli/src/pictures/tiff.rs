//! What the decoder does not tell of a TIFF file: its pages, whether it is raw data of
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

    /// All directories of the list.
    fn pages(&self) -> Vec<Directory> {
        let mut pages = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut at = self.number(if self.big { 8 } else { 4 }, if self.big { 8 } else { 4 });
        while let Some(offset) = at.filter(|&at| at != 0 && seen.insert(at)) {
            if pages.len() == MOST_DIRECTORIES {
                break;
            }
            let Some((directory, next)) = self.directory(offset) else { break };
            pages.push(directory);
            at = Some(next);
        }
        pages
    }
}

fn first_number(directory: &Directory, tag: u16) -> Option<usize> {
    directory.get(&tag)?.numbers().first().copied()
}

/// What there is to know of a TIFF file before it is decoded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Pages that are no reduced copies or masks of others.
    pub(super) pages: usize,
    /// Reduced copies and masks.
    pub(super) besides: usize,
    /// Whether it holds raw data of a camera.
    pub(super) raw: bool,
    /// What its samples are, if the decoder does not read them.
    pub(super) unread: Option<String>,
    /// The colour profile of the first page.
    pub(super) profile: Option<Vec<u8>>,
}

impl Facts {
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let file = File::new(bytes)?;
        let pages = file.pages();
        let mut facts = Self::default();
        for (i, page) in pages.iter().enumerate() {
            // Reduced, and a mask, are bits 0 and 2. The first page is what is decoded.
            let is_copy = first_number(page, SUBFILE).is_some_and(|bits| bits & 5 != 0);
            *(if is_copy && i > 0 { &mut facts.besides } else { &mut facts.pages }) += 1;
            let below = page.get(&SUBDIRECTORIES).map(Entry::numbers).unwrap_or_default();
            let below = below.iter().filter_map(|&at| file.directory(at)).map(|(page, _)| page);
            facts.raw |= below.chain([page.clone()]).any(|page| {
                first_number(&page, PHOTOMETRIC).is_some_and(|kind| RAW.contains(&kind))
                    || page.contains_key(&DNG_VERSION)
            });
        }
        // Canon's files say so in their head.
        facts.raw |= bytes.get(8..10) == Some(b"CR");
        if let Some(first) = pages.first() {
            facts.profile = first.get(&PROFILE).map(|entry| entry.values.clone());
            facts.unread = unread(first);
        }
        Some(facts)
    }
}

/// What the samples of a page are, if they are of a kind that is not read.
fn unread(page: &Directory) -> Option<String> {
    let bits = first_number(page, BITS).unwrap_or(1);
    let format = first_number(page, SAMPLE_FORMAT).unwrap_or(1);
    let is_grey = matches!(first_number(page, PHOTOMETRIC), Some(0 | 1));
    let what = match (format, bits) {
        _ if first_number(page, PHOTOMETRIC) == Some(3) => "palette colours".into(),
        (2, _) => format!("signed integers of {bits} bits"),
        (3, 32) if is_grey => "grey floats".into(),
        (3, bits) if bits != 32 => format!("floats of {bits} bits"),
        (1, bits) if bits > 16 => format!("integers of {bits} bits"),
        _ => return None,
    };
    Some(what)
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
    let mut main = file.pages().into_iter().next()?;
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

/// Adds the tags of EXIF data to a TIFF file of ours; false if that cannot be.
pub(super) fn add_metadata(file: &mut Vec<u8>, exif: &[u8]) -> bool {
    let Some((mut main, exif)) = kept(exif) else { return false };
    let Some(source) = File::new(file).filter(|file| file.reversed && !file.big) else {
        return false;
    };
    let Some((page, 0)) = source.number(4, 4).and_then(|at| source.directory(at)) else {
        return false;
    };
    for (tag, entry) in page {
        // The unit of no resolution is no unit.
        main.entry(tag).or_insert(entry);
    }
    if file.len() % 2 == 1 {
        file.push(0);
    }
    let Ok(at) = u32::try_from(file.len()) else { return false };
    file[4..8].copy_from_slice(&at.to_le_bytes());
    write(file, main, &exif);
    true
}

/// Appends a directory, and below it one of EXIF data.
fn write(file: &mut Vec<u8>, mut main: Directory, exif: &Directory) {
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
    use super::{Directory, Entry, Facts, File, add_metadata, append, kept, metadata};

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

    #[test]
    fn profile() {
        let little = b"II*\0\x08\0\0\0\x01\0\x73\x87\x07\0\x05\0\0\0\x16\0\0\0hello";
        let big = b"MM\0*\0\0\0\x08\0\x01\x87\x73\0\x07\0\0\0\x05\0\0\0\x16hello";
        for file in [&little[..], big] {
            assert_eq!(
                Facts::of(file).and_then(|facts| facts.profile).as_deref(),
                Some(&b"hello"[..])
            );
            for end in 0..file.len() {
                assert_eq!(Facts::of(&file[..end]).and_then(|facts| facts.profile), None);
            }
        }
        let lost = Facts::of(b"MM\0*\xff\xff\xff\xff\0\x01").map(|facts| facts.pages);
        assert_eq!(lost, Some(0));
    }

    #[test]
    fn pages() {
        let plain = Directory::from([(258, entry(3, &[16, 0]))]);
        let reduced = Directory::from([(254, entry(4, &[1, 0, 0, 0]))]);
        let counts = |pages: &[Directory]| {
            Facts::of(&file(pages)).map(|facts| (facts.pages, facts.besides, facts.raw))
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
        assert_eq!(Facts::of(&circle).map(|facts| facts.pages), Some(1));
        let unread = |format: u8, bits: u8| {
            let page = [(258, entry(3, &[bits, 0])), (262, entry(3, &[1, 0]))];
            let mut page = Directory::from(page);
            page.insert(339, entry(3, &[format, 0]));
            Facts::of(&file(&[page])).and_then(|facts| facts.unread)
        };
        assert_eq!([unread(1, 8), unread(1, 16)], [None, None]);
        for (format, bits, what) in [
            (1, 32, "integers of 32"),
            (2, 16, "signed"),
            (3, 32, "grey floats"),
            (3, 64, "floats"),
        ] {
            assert!(unread(format, bits).is_some_and(|text| text.starts_with(what)), "{what}");
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
        let mut main = File::new(&source).expect("a file").pages().remove(0);
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
        assert!(add_metadata(&mut ours, &both));
        let (tags, exif) = kept(&ours).expect("tags");
        assert_eq!(tags[&282].numbers(), [300, 1]);
        assert_eq!(exif.len(), 1);
        assert_eq!(Facts::of(&ours).map(|facts| facts.pages), Some(1));
        // Cut off anywhere.
        for end in 0..both.len() {
            let _ = (metadata(&both[..end]), Facts::of(&both[..end]));
        }
    }
}
