//! How a file separates its cells.

/// Lines that are looked at, and bytes of them.
const LINES: usize = 50;
const BYTES: usize = 1 << 16;

/// The byte between cells: a tab, a semicolon or a comma.
///
/// The one that all of the first lines have equally often; where several do, as
/// in `1,5;2,5`, the first of these three, since a comma may be a decimal point.
/// Where none does, that of most lines, so that messages speak of its cells.
pub(super) fn delimiter(text: &str) -> u8 {
    let begin = text.get(..text.floor_char_boundary(BYTES)).unwrap_or(text);
    let mut counts: Vec<[usize; 3]> = Vec::new();
    let mut quoted = false;
    for line in begin.split(['\n', '\r']) {
        if !quoted && (line.trim().is_empty() || line.starts_with('#')) {
            continue;
        }
        let mut count = if quoted { counts.pop().unwrap_or_default() } else { [0; 3] };
        for byte in line.bytes() {
            match byte {
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'\t' => count[0] += 1,
                b';' => count[1] += 1,
                b',' => count[2] += 1,
                _ => {}
            }
        }
        counts.push(count);
        if counts.len() > LINES {
            break;
        }
    }
    // The last line may have been cut.
    if begin.len() < text.len() && counts.len() > 1 {
        counts.pop();
    }
    let candidates = [b'\t', b';', b','];
    let first = counts.first().copied().unwrap_or_default();
    let constant = |i: &usize| first[*i] > 0 && counts.iter().all(|count| count[*i] == first[*i]);
    let lines_with = |i: usize| counts.iter().filter(|count| count[i] > 0).count();
    let most = (0..3).max_by_key(|&i| (lines_with(i), i)).unwrap_or(2);
    candidates[(0..3).find(constant).unwrap_or(most)]
}

/// A number of a cell, with a decimal comma where commas do not separate cells.
pub(super) fn number(cell: &str, delimiter: u8) -> Option<f64> {
    if let Ok(number) = cell.parse() {
        return Some(number);
    }
    if delimiter == b',' || cell.contains('.') || cell.matches(',').count() != 1 {
        return None;
    }
    cell.replace(',', ".").parse().ok()
}

/// Whether a cell says that there is no value.
pub(super) fn is_missing(cell: &str) -> bool {
    cell.is_empty()
        || ["na", "n/a", "nan", "null", "none"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::{delimiter, number};

    #[test]
    fn delimiters() {
        for (text, expected) in [
            ("", b','),
            ("x\n1\n2\n", b','),
            ("x,y\n1,2\n", b','),
            ("x;y\n1;2\n", b';'),
            ("x\ty\n1\t2\n", b'\t'),
            ("x;y\n1,5;2,5\n", b';'),
            ("1,5;2,5\n3,5;4,5\n", b';'),
            ("1,5\t2,5\n3\t4,5\n", b'\t'),
            ("# a;b\n\nx,y\n1,2\n", b','),
            ("\"a;b\",y\n\"c\n;\",2\n", b','),
            ("name,y\na;b,1\nc,2\n", b','),
            ("x;y\n1;2\n3\n", b';'),
            ("x,y\r1,2\r", b','),
        ] {
            assert_eq!(char::from(delimiter(text)), char::from(expected), "{text:?}");
        }
        let long = format!("x;y\n{}", "1,25;2\n".repeat(20_000));
        assert_eq!(delimiter(&long), b';');
    }

    #[test]
    fn decimal_commas() {
        assert_eq!(number("1,5", b';'), Some(1.5));
        assert_eq!(number("-1,5e3", b'\t'), Some(-1500.0));
        for (cell, delimiter) in
            [("1,5", b','), ("1,234,567", b';'), ("1,234.5", b';'), (",", b';')]
        {
            assert_eq!(number(cell, delimiter), None, "{cell}");
        }
    }
}
