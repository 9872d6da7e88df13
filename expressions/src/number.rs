//! Numbers as people type them.

/// Parses a number of an expression: a size, or an address such as `0x7f00`.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // `from_str_radix` would accept a sign.
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => parse_size(text),
    }
}

/// Parses a number of bytes or items as people type it: `100`, `64KiB`, `1.5M`. Units are binary.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) = divided(text);
    let power = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    let factor = 1u64 << (10 * power);
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    if factor == 1 { None } else { fraction(&number, factor as f64, f64::trunc) }
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount {
    /// The number, at least 0, in the base unit.
    pub value: f64,
    /// Its unit.
    pub unit: AmountUnit,
}

/// The unit of an [`Amount`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountUnit {
    /// Bytes or items: `64K`, `0.5`.
    Number,
    /// Nanoseconds: `2.5us`.
    Time,
    /// A part of a whole, which is 1: `5%`.
    Share,
}

impl Amount {
    /// Parses `64K`, `0.5`, `2.5us` or `5%`. Numbers without a unit, and those with `m`, are bytes or items.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (value, unit) = if let Some(percent) = text.strip_suffix('%') {
            (parse_real(percent)? / 100.0, AmountUnit::Share)
        } else if let Some(size) = parse_real(text).or_else(|| parse_size(text).map(|size| size as f64)) {
            (size, AmountUnit::Number)
        } else {
            // The number may have an exponent, as in `1e3s`.
            let number = text.trim_end_matches(char::is_alphabetic);
            (parse_real(&number.replace('_', ""))? * nanoseconds(&text[number.len()..])? as f64, AmountUnit::Time)
        };
        value.is_finite().then_some(Amount { value, unit })
    }
}

/// Parses a number without a sign and without a unit.
fn parse_real(text: &str) -> Option<f64> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|number: &f64| is_number && number.is_finite())
}

/// Parses a duration as people type it, in nanoseconds: `10min`, `1.5s`, `200ms`. Only 0 needs no unit.
#[must_use]
pub fn parse_duration(text: &str) -> Option<u64> {
    let (number, unit) = divided(text);
    if unit.is_empty() {
        return (number.parse() == Ok(0u64)).then_some(0);
    }
    let nanoseconds = nanoseconds(unit)?;
    match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(nanoseconds),
        Err(_) => fraction(&number, nanoseconds as f64, f64::round),
    }
}

/// The nanoseconds in a unit of time.
fn nanoseconds(unit: &str) -> Option<u64> {
    match unit.to_ascii_lowercase().as_str() {
        "ns" => Some(1),
        "us" | "µs" | "μs" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" | "sec" => Some(1_000_000_000),
        "m" | "min" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        "d" => Some(86_400_000_000_000),
        _ => None,
    }
}

/// The digits of a text, without `_`, and what follows them.
fn divided(text: &str) -> (String, &str) {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    (number.replace('_', ""), unit)
}

/// A number with a fraction times a factor, as a whole number.
fn fraction(number: &str, factor: f64, whole: fn(f64) -> f64) -> Option<u64> {
    let value = whole(number.parse::<f64>().ok()? * factor);
    (value.is_finite() && value < u64::MAX as f64).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary() {
        assert_eq!(parse_size("64KiB"), Some(65_536));
        assert_eq!(parse_size("1.5M"), Some(1_572_864));
        assert_eq!(parse_size("1_000"), Some(1000));
        assert_eq!(parse_size("99999999999T"), None);
        assert_eq!(parse_size("x"), None);
    }

    #[test]
    fn durations_have_a_unit() {
        for (text, nanoseconds) in [
            ("5ns", 5),
            ("3us", 3_000),
            ("3µs", 3_000),
            ("200ms", 200_000_000),
            ("1.5s", 1_500_000_000),
            ("0.29s", 290_000_000),
            ("1_000s", 1_000_000_000_000),
            ("0.5min", 30_000_000_000),
            ("10m", 600_000_000_000),
            ("2H", 7_200_000_000_000),
            ("1d", 86_400_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Some(nanoseconds), "{text}");
        }
        for wrong in ["", "5", "0x0", "1.5", "s", ".s", "-1s", "1.2.3s", "5K", "1e3s", "999999999999d"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn amounts_have_any_unit() {
        use AmountUnit::{Number, Share, Time};
        for (text, value, unit) in [
            ("0.5", 0.5, Number),
            ("1e5", 1e5, Number),
            ("1_000", 1000.0, Number),
            ("1.5K", 1536.0, Number),
            ("2m", 2_097_152.0, Number),
            ("2.5us", 2500.0, Time),
            ("0.2ns", 0.2, Time),
            ("10min", 6e11, Time),
            ("1e3s", 1e12, Time),
            ("0s", 0.0, Time),
            ("7%", 0.07, Share),
        ] {
            assert_eq!(Amount::parse(text), Some(Amount { value, unit }), "{text}");
        }
        for wrong in ["", "%", "-1", "+1", "inf", "nan%", "ns", "5 weeks", "1.2.3", "1e999"] {
            assert_eq!(Amount::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn addresses_are_hexadecimal() {
        assert_eq!(parse_number("0x7F00"), Some(0x7f00));
        assert_eq!(parse_number("2k"), Some(2048));
        for wrong in ["0x", "0x+1", "0xg", "0x10000000000000000"] {
            assert_eq!(parse_number(wrong), None, "{wrong}");
        }
    }
}
