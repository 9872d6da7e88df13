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

/// Parses a duration as people type it, in nanoseconds: `10min`, `1.5s`, `200ms`. Only 0 needs no unit.
#[must_use]
pub fn parse_duration(text: &str) -> Option<u64> {
    let (number, unit) = divided(text);
    let nanoseconds = match unit.to_ascii_lowercase().as_str() {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        "" => return (number.parse() == Ok(0u64)).then_some(0),
        _ => return None,
    };
    match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(nanoseconds),
        Err(_) => fraction(&number, nanoseconds as f64, f64::round),
    }
}

/// The digits of a text, without `_`, and the rest.
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
    fn addresses_are_hexadecimal() {
        assert_eq!(parse_number("0x7F00"), Some(0x7f00));
        assert_eq!(parse_number("2k"), Some(2048));
        for wrong in ["0x", "0x+1", "0xg", "0x10000000000000000"] {
            assert_eq!(parse_number(wrong), None, "{wrong}");
        }
    }
}
