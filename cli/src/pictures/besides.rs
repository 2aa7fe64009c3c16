//! What else is in a file that its decoder passes over: parts and channels of OpenEXR files,
//! further pictures of JPEG files.

/// What is left out, in words.
pub(super) fn left_out(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0x76, 0x2f, 0x31, 0x01, ..] => of_exr(bytes),
        [0xff, 0xd8, ..] => has_more_pictures(bytes)
            .then(|| "further pictures in the file (previews, a gain map) are left out".into()),
        _ => None,
    }
}

/// Whether a segment of a JPEG file lists several pictures (Multi-Picture Format).
fn has_more_pictures(bytes: &[u8]) -> bool {
    let mut at = 2;
    // Segments: a marker, and the length with the two bytes of itself.
    while let Some(&[0xff, marker, high, low]) = bytes.get(at..at + 4) {
        let start = at + 4;
        if marker == 0xe2 && bytes.get(start..start + 4) == Some(b"MPF\0") {
            return true;
        }
        // The pixels begin.
        if marker == 0xda {
            break;
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low])).max(2);
    }
    false
}

/// Channels beside R, G, B and A, and parts beside the first.
fn of_exr(bytes: &[u8]) -> Option<String> {
    const PARTS: u8 = 0x10;
    let has_parts = bytes.get(5).is_some_and(|flags| flags & PARTS != 0);
    let mut rest = bytes.get(8..)?;
    let (mut others, mut parts) = (Vec::new(), 0);
    loop {
        // A header is a list of attributes, which an empty name ends.
        let mut attributes = 0;
        while let Some((name, after)) = text(rest).filter(|(name, _)| !name.is_empty()) {
            let (kind, after) = text(after)?;
            let (&size, after) = after.split_first_chunk::<4>()?;
            let size = usize::try_from(u32::from_le_bytes(size)).ok()?;
            let (value, after) = after.split_at_checked(size)?;
            if name == b"channels" && kind == b"chlist" && parts == 0 {
                others = channels(value);
            }
            rest = after;
            attributes += 1;
        }
        parts += usize::from(attributes > 0);
        rest = rest.get(1..)?;
        // With parts an empty header ends the list of headers.
        if !has_parts || attributes == 0 {
            break;
        }
    }
    let mut texts = Vec::new();
    if !others.is_empty() {
        texts.push(format!("channels beside R, G, B and A ({})", others.join(", ")));
    }
    if parts > 1 {
        texts.push(format!("parts beside the first ({})", parts - 1));
    }
    (!texts.is_empty()).then(|| format!("{} are left out", texts.join(" and ")))
}

/// The names of a list of channels: each is followed by 16 bytes.
fn channels(mut list: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    while let Some((name, after)) = text(list).filter(|(name, _)| !name.is_empty()) {
        if !matches!(name, b"R" | b"G" | b"B" | b"A") {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        list = after.get(16..).unwrap_or_default();
    }
    names
}

/// The bytes before a zero, and those after it.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::left_out;

    fn header(channels: &[&str]) -> Vec<u8> {
        let mut list = Vec::new();
        for name in channels {
            list.extend([name.as_bytes(), &[0; 17]].concat());
        }
        list.push(0);
        let size = u32::try_from(list.len()).expect("a short list").to_le_bytes();
        [b"channels\0chlist\0".as_slice(), &size, &list, &[0]].concat()
    }

    #[test]
    fn channels_and_parts() {
        let file = |flags: u8, headers: &[Vec<u8>]| {
            [&[0x76, 0x2f, 0x31, 0x01, 2, flags, 0, 0], &headers.concat()[..]].concat()
        };
        assert_eq!(left_out(&file(0, &[header(&["B", "G", "R"])])), None);
        let depth = file(0, &[header(&["A", "B", "G", "R", "Z", "n.x"])]);
        let text = "channels beside R, G, B and A (Z, n.x) are left out";
        assert_eq!(left_out(&depth).as_deref(), Some(text));
        let rgb = header(&["B", "G", "R"]);
        let parts = file(0x10, &[rgb.clone(), rgb.clone(), rgb, vec![0]]);
        assert_eq!(left_out(&parts).as_deref(), Some("parts beside the first (2) are left out"));
        // Cut off anywhere.
        for end in 0..depth.len() {
            let _ = left_out(&depth[..end]);
        }
    }

    #[test]
    fn pictures_of_a_jpeg_file() {
        let plain = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xda, 0, 2, 7, 7];
        assert_eq!(left_out(&plain), None);
        let more = [&plain[..8], &[0xff, 0xe2, 0, 8], b"MPF\0ab", &plain[8..]].concat();
        assert!(left_out(&more).is_some_and(|text| text.starts_with("further pictures")));
    }
}
