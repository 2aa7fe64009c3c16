//! Texts of other people's files on terminals and in pictures.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal may obey it, or it turns the direction of writing around or
/// cannot be seen.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The text with control characters and marks of direction escaped.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::new();
    for c in text.chars() {
        if is_hidden(c) {
            visible.extend(c.escape_default());
        } else {
            visible.push(c);
        }
    }
    Cow::Owned(visible)
}

/// JSON in which no such character is left: serde_json escapes those below U+0020
/// only.
pub(crate) fn visible_json(json: &str) -> Cow<'_, str> {
    let is_raw = |c: char| is_hidden(c) && c != '\n';
    if !json.contains(is_raw) {
        return Cow::Borrowed(json);
    }
    let mut visible = String::with_capacity(json.len());
    for c in json.chars() {
        if is_raw(c) {
            let _ = write!(visible, "\\u{:04x}", u32::from(c));
        } else {
            visible.push(c);
        }
    }
    Cow::Owned(visible)
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_json};

    #[test]
    fn nothing_is_obeyed() {
        for plain in ["", "y", "température (°C)", "a \"b\" \\ c's", "湿度", "x²", "e\u{301}"]
        {
            assert_eq!(visible(plain), plain);
        }
        assert_eq!(visible("a\u{1b}[31mb\n\u{9b}c\u{202e}d"), "a\\u{1b}[31mb\\n\\u{9b}c\\u{202e}d");
        let text = "a\u{1b}\u{7f}\u{9b}é";
        let json = serde_json::to_string(text).expect("JSON");
        let json = visible_json(&json);
        assert!(!json.chars().any(char::is_control));
        assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
    }
}
