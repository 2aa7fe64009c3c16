//! The colour profile of a TIFF file, which the decoder does not find.

/// The tag of an ICC profile.
const PROFILE: u16 = 34675;
/// The types of bytes, and of bytes that mean something to somebody else.
const BYTES: [u16; 2] = [1, 7];

/// The profile of the first picture in the file.
pub(super) fn profile(file: &[u8]) -> Option<Vec<u8>> {
    let reversed = match file.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let number = |at: usize, length: usize| {
        let bytes = file.get(at..at.checked_add(length)?)?;
        let append = |sum: usize, &byte: &u8| sum << 8 | usize::from(byte);
        Some(if reversed {
            bytes.iter().rev().fold(0, append)
        } else {
            bytes.iter().fold(0, append)
        })
    };
    let directory = number(4, 4)?;
    let entries = number(directory, 2)?;
    for entry in (0..entries).map(|i| directory + 2 + 12 * i) {
        let kind = u16::try_from(number(entry + 2, 2)?).ok()?;
        if number(entry, 2)? == usize::from(PROFILE) && BYTES.contains(&kind) {
            let (length, start) = (number(entry + 4, 4)?, number(entry + 8, 4)?);
            return file.get(start..start.checked_add(length)?).map(<[u8]>::to_vec);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::profile;

    /// A directory with one entry, in both orders of bytes, and cut anywhere.
    #[test]
    fn found() {
        let little = b"II*\0\x08\0\0\0\x01\0\x73\x87\x07\0\x05\0\0\0\x16\0\0\0hello";
        let big = b"MM\0*\0\0\0\x08\0\x01\x87\x73\0\x01\0\0\0\x05\0\0\0\x16hello";
        for file in [&little[..], big] {
            assert_eq!(profile(file).as_deref(), Some(&b"hello"[..]));
            for end in 0..file.len() {
                assert_eq!(profile(&file[..end]), None);
            }
        }
        assert_eq!(profile(b"MM\0*\xff\xff\xff\xff\0\x01"), None);
    }
}
