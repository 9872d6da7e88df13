//! Numbers as people read them. Machines get plain integers, which need no help.

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in binary units: `512 B`, `12.3 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.96 would be printed as 1024.0.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A change, drawn by `magnitude` and a sign; nothing at all is `0`.
pub fn change(difference: i64, magnitude: fn(u64) -> String) -> String {
    match difference {
        0 => "0".to_owned(),
        1.. => format!("+{}", magnitude(difference.unsigned_abs())),
        _ => format!("-{}", magnitude(difference.unsigned_abs())),
    }
}

/// Bytes per something, with a sign: `+1.5 KiB`, `-0.25 B`.
pub fn rate(bytes: f64) -> String {
    let (sign, magnitude) = (if bytes < 0.0 { "-" } else { "+" }, bytes.abs());
    match magnitude {
        0.0 => "0 B".to_owned(),
        // Small ones are no whole bytes; smaller ones are nearly nothing.
        _ if magnitude < 0.005 => format!("{sign}< 0.01 B"),
        _ if magnitude < 10.0 && magnitude.fract() != 0.0 => format!("{sign}{magnitude:.2} B"),
        _ => format!("{sign}{}", size(magnitude.round() as u64)),
    }
}

/// A number that need not be whole, with all of its digits; one that would have many zeros with an exponent.
pub fn real(number: f64) -> String {
    let has_many_zeros = number != 0.0 && number.is_finite() && !(1e-5..1e16).contains(&number.abs());
    if has_many_zeros { format!("{number:e}") } else { number.to_string() }
}

/// `12_345_678` as `12 M`, `1_234` as `1234`: for rates, where three digits say enough.
pub fn rounded(number: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.into_iter().find(|(unit, _)| number >= 10.0 * unit) {
        Some((unit, name)) => format!("{:.0} {name}", number / unit),
        None => format!("{number:.0}"),
    }
}

/// Nanoseconds as seconds, `1.25 s`; short times as `1.25 ms` and `12.5 µs`.
pub fn duration(nanoseconds: u64) -> String {
    match nanoseconds {
        1..100_000 => format!("{:.1} µs", nanoseconds as f64 / 1e3),
        100_000..10_000_000 => format!("{:.2} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.2} s", nanoseconds as f64 / 1e9),
    }
}

/// `1 type`, `5,337 types`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = match noun.ends_with('s') {
        _ if number == 1 => "",
        true => "es",
        false => "s",
    };
    format!("{} {noun}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let texts = [0, 999, 1000, 1_234_567, u64::MAX].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn sizes_are_binary() {
        let texts = [0, 1023, 1024, 1536, 12_900_000, (1 << 20) - 1, 3 << 40].map(size);
        assert_eq!(texts, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "12.3 MiB", "1.0 MiB", "3.0 TiB"]);
    }

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change(1234, grouped), "+1,234");
        assert_eq!(change(-2048, size), "-2.0 KiB");
        assert_eq!(change(0, size), "0");
        assert_eq!(change(i64::MIN, grouped), "-9,223,372,036,854,775,808");
    }

    #[test]
    fn rates_have_a_sign_and_need_not_be_whole() {
        let texts = [0.0, 3.0, -0.25, 0.001, 1536.4, -2048.0].map(rate);
        assert_eq!(texts, ["0 B", "+3 B", "-0.25 B", "+< 0.01 B", "+1.5 KiB", "-2.0 KiB"]);
    }

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!([0, 1, 5337].map(|number| counted(number, "type")), ["0 types", "1 type", "5,337 types"]);
    }

    #[test]
    fn rates_are_rounded() {
        assert_eq!([999.0, 1234.0, 45_600.0, 120e6].map(rounded), ["999", "1234", "46 k", "120 M"]);
    }
}
