//! Numbers of the command line: read and checked, and shown to people.

/// A number that is positive and finite.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        Ok(_) => Err("it must be positive and finite".into()),
        Err(_) => Err("it is not a number".into()),
    }
}

/// A number that is finite and at least zero.
pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        Ok(_) => Err("it must be zero or more, and finite".into()),
        Err(_) => Err("it is not a number".into()),
    }
}

/// A probability, neither 0 nor 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        Ok(_) => Err("it must be between 0 and 1, such as 0.95".into()),
        Err(_) => Err("it is not a number".into()),
    }
}

/// Significant digits in the summaries; files and JSON have all of them.
const DIGITS: i32 = 6;

/// A number as people like to read it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let magnitude = x.abs().log10().floor() as i32;
    if !(-4..DIGITS).contains(&magnitude) {
        return format!("{x:.*e}", (DIGITS - 1) as usize);
    }
    let text = format!("{x:.*}", (DIGITS - 1 - magnitude) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number with all its digits and no more: the shortest text that reads back as
/// the same number.
pub(crate) fn exact(x: f64) -> String {
    if x == 0.0 || (1e-5..1e15).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

/// `1 outlier`, `3 outliers`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{exact, not_negative, positive, short};

    #[test]
    fn checked() {
        assert_eq!(positive("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "inf", "NaN", "1e999", "", "x"] {
            assert!(positive(wrong).is_err(), "{wrong}");
        }
        assert_eq!(not_negative("0"), Ok(0.0));
        assert!(not_negative("-1e-300").is_err());
    }

    #[test]
    fn nothing_is_lost() {
        for (x, text) in [
            (0.0, "0"),
            (1_706_745_600.0, "1706745600"),
            (1_706_745_600.25, "1706745600.25"),
            (0.1, "0.1"),
            (1e15, "1e15"),
            (-1.5e-7, "-1.5e-7"),
        ] {
            assert_eq!(exact(x), text);
        }
    }

    #[test]
    fn shown() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (100.0, "100"),
            (-0.25, "-0.25"),
            (4.000_000_1, "4"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e6"),
            (0.000_012_5, "1.25000e-5"),
        ] {
            assert_eq!(short(x), text);
        }
    }
}
