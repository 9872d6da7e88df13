//! The formats of numbers in lines. Times are those of ISO 8601, in UTC.

/// The format of one or several numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Milliseconds since 1970, perhaps with the nanoseconds of the second: `2026-11-25T14:00:00.500Z`.
    Milliseconds,
    /// Seconds since 1970, and nanoseconds.
    Seconds,
    /// Year, month, day.
    Date,
    /// Hour, minute, second, nanosecond.
    Clock,
    /// Seconds and nanoseconds: `PT1H2M3.5S`.
    Duration,
    /// Two halves, the more significant one first.
    Uuid,
    /// An address of IP version 4.
    Ipv4,
    /// An address of IP version 6, from its bytes in hexadecimal.
    Ipv6,
    /// A number without its sign; nothing of a negative one.
    Natural,
    /// This number of digits, with leading zeros.
    Digits(usize),
    /// The sign of a number, and its words of 32 bits, the most significant one first, each as a number with a sign.
    Integer,
    /// A number, or one of several words, and the number of its digits after the point: `1.50`.
    Decimal,
}

/// The value of a field that is written in a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    Number(i64),
    Text(String),
}

const NAMES: [(&str, Format); 13] = [
    ("ms", Format::Milliseconds),
    ("time", Format::Seconds),
    ("date", Format::Date),
    ("clock", Format::Clock),
    ("duration", Format::Duration),
    ("uuid", Format::Uuid),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("natural", Format::Natural),
    ("02", Format::Digits(2)),
    ("04", Format::Digits(4)),
    ("integer", Format::Integer),
    ("decimal", Format::Decimal),
];

/// The maximum number of words in a number that is written.
const MOST_WORDS: usize = 64;
/// The maximum number of leading zeros after the point, as in Java; smaller numbers have an exponent.
const MOST_ZEROS: i64 = 6;

/// The greatest year before and after 0: that of Java's `Instant`.
const MOST_YEARS: i64 = 1_000_000_000;
/// Times before and after these seconds since 1970 have later years than that.
const MOST_SECONDS: i64 = MOST_YEARS * 31_556_952;
const DAY_SECONDS: i64 = 86_400;
const NANOSECONDS: i64 = 1_000_000_000;

impl Format {
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|&(_, format)| format)
    }

    /// Returns whether it writes a number or a time that can be compared with others.
    pub(super) fn measures(self) -> bool {
        use Format::{Clock, Date, Decimal, Integer, Milliseconds, Seconds};
        matches!(self, Milliseconds | Seconds | Date | Clock | Integer | Decimal)
    }

    /// Returns whether it writes this many numbers.
    pub(super) fn takes(self, numbers: usize) -> bool {
        match self {
            Format::Milliseconds => [1, 2].contains(&numbers),
            Format::Seconds | Format::Duration | Format::Uuid => numbers == 2,
            Format::Integer => [2, 3].contains(&numbers),
            Format::Decimal => [2, 3, 4].contains(&numbers),
            Format::Date => numbers == 3,
            Format::Clock => numbers == 4,
            Format::Ipv4 | Format::Ipv6 | Format::Natural | Format::Digits(_) => numbers == 1,
        }
    }

    /// The text; `None` if the operands do not fit the format.
    pub(super) fn text(self, operands: &[Operand]) -> Option<String> {
        match (self, operands) {
            (Format::Ipv6, [Operand::Text(bytes)]) => ipv6(bytes),
            (Format::Integer, [Operand::Number(sign), words @ ..]) => integer(*sign, &self::words(words)?),
            (Format::Decimal, [Operand::Number(sign), words @ .., Operand::Number(scale)]) if !words.is_empty() => {
                Some(decimal(&integer(*sign, &self::words(words)?)?, *scale))
            }
            // The smallest number says that there are more words.
            (Format::Decimal, [Operand::Number(number), Operand::Number(scale)]) => {
                (*number != i64::MIN).then(|| decimal(&number.to_string(), *scale))
            }
            _ => {
                let numbers = operands
                    .iter()
                    .map(|operand| if let Operand::Number(number) = operand { Some(*number) } else { None });
                self.of_numbers(&numbers.collect::<Option<Vec<i64>>>()?)
            }
        }
    }

    fn of_numbers(self, numbers: &[i64]) -> Option<String> {
        match (self, numbers) {
            (Format::Milliseconds, &[ms]) => time(ms.div_euclid(1000), ms.rem_euclid(1000) * 1_000_000),
            (Format::Milliseconds, &[ms, nanoseconds]) => time(ms.div_euclid(1000), nanoseconds),
            (Format::Seconds, &[seconds, nanoseconds]) => time(seconds, nanoseconds),
            (Format::Date, &[year, month, day]) => {
                let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
                Some(format!("{}-{month:02}-{day:02}", self::year(year).filter(|_| is_date)?))
            }
            (Format::Clock, &[hour, minute, second, nanosecond]) => {
                let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
                let fraction = fraction(nanosecond, 3).filter(|_| is_time)?;
                Some(format!("{hour:02}:{minute:02}:{second:02}{fraction}"))
            }
            (Format::Duration, &[seconds, nanoseconds]) => duration(seconds, nanoseconds),
            (Format::Uuid, &[high, low]) => {
                let (high, low) = (high.cast_unsigned(), low.cast_unsigned());
                let (time, middle, version) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
                Some(format!("{time:08x}-{middle:04x}-{version:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff))
            }
            (Format::Ipv4, &[address]) => {
                // Java has a number with a sign.
                let bits = u32::try_from(address).or(i32::try_from(address).map(i32::cast_unsigned)).ok()?;
                Some(std::net::Ipv4Addr::from_bits(bits).to_string())
            }
            (Format::Natural, &[number]) => (number >= 0).then(|| number.to_string()),
            (Format::Digits(width), &[number]) => {
                let text = format!("{number:0width$}");
                (number >= 0 && text.len() == width).then_some(text)
            }
            _ => None,
        }
    }
}

/// An address, from its 16 bytes in hexadecimal.
fn ipv6(bytes: &str) -> Option<String> {
    let bytes: Option<Vec<u8>> = bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    Some(std::net::Ipv6Addr::from_octets(bytes?.try_into().ok()?).to_string())
}

/// The words of a number: a text, or one word and how many times it is there.
fn words(operands: &[Operand]) -> Option<Vec<i32>> {
    match operands {
        [Operand::Text(words)] => {
            words.split(' ').filter(|word| !word.is_empty()).map(|word| word.parse().ok()).collect()
        }
        [Operand::Number(word), Operand::Number(count)] => {
            let count = usize::try_from(*count).ok().filter(|&count| count <= MOST_WORDS)?;
            Some(vec![i32::try_from(*word).ok()?; count])
        }
        _ => None,
    }
}

/// A number of several words.
fn integer(sign: i64, words: &[i32]) -> Option<String> {
    /// 10 to the number of digits that always fit into a word of 32 bits.
    const GROUP: u64 = 1_000_000_000;
    if words.len() > MOST_WORDS || !(-1..=1).contains(&sign) {
        return None;
    }
    // Groups of nine digits, the lowest one first.
    let mut groups = vec![0_u64];
    for word in words {
        let mut carry = u64::from(word.cast_unsigned());
        for group in &mut groups {
            carry += *group << 32;
            *group = carry % GROUP;
            carry /= GROUP;
        }
        while carry > 0 {
            groups.push(carry % GROUP);
            carry /= GROUP;
        }
    }
    let mut text = if sign < 0 { "-".to_owned() } else { String::new() };
    let mut groups = groups.into_iter().rev();
    text += &groups.next()?.to_string();
    groups.for_each(|group| text += &format!("{group:09}"));
    Some(text)
}

/// A number with `scale` digits after the point, as IEEE 754 and Java write it.
fn decimal(unscaled: &str, scale: i64) -> String {
    let (sign, digits) = unscaled.strip_prefix('-').map_or(("", unscaled), |digits| ("-", digits));
    let after_first = digits.len() as i64 - 1;
    let exponent = after_first.saturating_sub(scale);
    match usize::try_from(scale) {
        Ok(0) => unscaled.to_owned(),
        Ok(scale) if exponent >= -MOST_ZEROS => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, part) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{part}")
        }
        _ => {
            let (first, others) = digits.split_at(1);
            let point = if others.is_empty() { "" } else { "." };
            format!("{sign}{first}{point}{others}E{exponent:+}")
        }
    }
}

/// A time in UTC.
fn time(seconds: i64, nanoseconds: i64) -> Option<String> {
    if !(-MOST_SECONDS..=MOST_SECONDS).contains(&seconds) {
        return None;
    }
    let (year, month, day) = days_to_date(seconds.div_euclid(DAY_SECONDS));
    let of_day = seconds.rem_euclid(DAY_SECONDS);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let (year, fraction) = (self::year(year)?, fraction(nanoseconds, 3)?);
    Some(format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
}

/// A year, which has at least four digits, and a sign before 0 and after 9999.
fn year(year: i64) -> Option<String> {
    let sign = if year < 0 {
        "-"
    } else if year > 9999 {
        "+"
    } else {
        ""
    };
    (-MOST_YEARS..=MOST_YEARS).contains(&year).then(|| format!("{sign}{:04}", year.unsigned_abs()))
}

/// The fraction of a second without trailing zeros, in groups of `group` digits; `None` unless it is less than a second.
fn fraction(nanoseconds: i64, group: usize) -> Option<String> {
    (0..NANOSECONDS).contains(&nanoseconds).then(|| {
        let digits = format!("{nanoseconds:09}");
        let used = digits.trim_end_matches('0').len().next_multiple_of(group);
        if used == 0 { String::new() } else { format!(".{}", &digits[..used]) }
    })
}

/// A length of time.
fn duration(seconds: i64, nanoseconds: i64) -> Option<String> {
    if !(0..NANOSECONDS).contains(&nanoseconds) {
        return None;
    }
    let total = i128::from(seconds) * i128::from(NANOSECONDS) + i128::from(nanoseconds);
    // Every unit has the sign of all.
    let sign = if total < 0 { "-" } else { "" };
    let (whole, part) = (total.unsigned_abs() / NANOSECONDS as u128, total.unsigned_abs() % NANOSECONDS as u128);
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    let mut text = "PT".to_owned();
    for (amount, unit) in [(hours, 'H'), (minutes, 'M')] {
        if amount > 0 {
            text += &format!("{sign}{amount}{unit}");
        }
    }
    if seconds > 0 || part > 0 || whole == 0 {
        text += &format!("{sign}{seconds}{}S", fraction(part as i64, 1)?);
    }
    Some(text)
}

/// Year, month and day of a day, given as days since 1970-01-01.
///
/// Source: <https://howardhinnant.github.io/date_algorithms.html>.
#[must_use]
pub fn days_to_date(days: i64) -> (i64, i64, i64) {
    // Years that begin in March have their leap day at the end; 719468 days lie between 0000-03-01 and 1970.
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_each_other_as_the_calendar_has_them() {
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let (mut year, mut month, mut day) = (1583, 1, 1);
        for days in -141_349..400_000 {
            assert_eq!(days_to_date(days), (year, month, day), "{days}");
            let february = if is_leap(year) { 29 } else { 28 };
            let length = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(days_to_date(0), (1970, 1, 1));
    }

    #[test]
    fn numbers_are_written_in_their_format() {
        for (format, numbers, text) in [
            ("ms", &[0][..], Some("1970-01-01T00:00:00Z")),
            ("ms", &[-1], Some("1969-12-31T23:59:59.999Z")),
            ("ms", &[1_795_231_770_500, 1], Some("2026-11-21T03:29:30.000000001Z")),
            ("ms", &[i64::MAX], Some("+292278994-08-17T07:12:55.807Z")),
            ("ms", &[i64::MIN], Some("-292275055-05-16T16:47:04.192Z")),
            ("time", &[253_402_300_799, 120_000_000], Some("9999-12-31T23:59:59.120Z")),
            ("time", &[253_402_300_800, 0], Some("+10000-01-01T00:00:00Z")),
            ("time", &[-62_167_219_200, 0], Some("0000-01-01T00:00:00Z")),
            ("time", &[-62_167_219_201, 0], Some("-0001-12-31T23:59:59Z")),
            ("time", &[31_556_889_864_403_199, 0], Some("+1000000000-12-31T23:59:59Z")),
            ("time", &[i64::MAX, 0], None),
            ("time", &[i64::MIN, 0], None),
            ("time", &[0, NANOSECONDS], None),
            ("date", &[2000, 2, 29], Some("2000-02-29")),
            ("date", &[2000, 13, 29], None),
            ("date", &[-999_999_999, 1, 1], Some("-999999999-01-01")),
            ("date", &[1_000_000_001, 1, 1], None),
            ("integer", &[-1, -1, 2], Some("-18446744073709551615")),
            ("integer", &[1, -1, 65], None),
            ("integer", &[1, i64::MAX, 2], None),
            ("decimal", &[1, 1, 2, 3], Some("4294967.297")),
            ("decimal", &[1, 1, i64::MAX, 3], None),
            ("decimal", &[1, 2_000_000_000], Some("1E-2000000000")),
            ("decimal", &[1, i64::MIN], Some("1E+9223372036854775807")),
            ("clock", &[7, 5, 0, 0], Some("07:05:00")),
            ("clock", &[24, 5, 0, 0], None),
            ("duration", &[0, 0], Some("PT0S")),
            ("duration", &[3723, 500_000_000], Some("PT1H2M3.5S")),
            ("duration", &[-1, 500_000_000], Some("PT-0.5S")),
            ("duration", &[-3661, 0], Some("PT-1H-1M-1S")),
            ("duration", &[7200, 0], Some("PT2H")),
            ("duration", &[i64::MIN, 0], Some("PT-2562047788015215H-30M-8S")),
            ("uuid", &[0x1234_5678_9abc_def0, -2], Some("12345678-9abc-def0-ffff-fffffffffffe")),
            ("ipv4", &[0x7f00_0001], Some("127.0.0.1")),
            ("ipv4", &[-1], Some("255.255.255.255")),
            ("ipv4", &[1 << 32], None),
            ("natural", &[-1], None),
            ("natural", &[8080], Some("8080")),
            ("02", &[7], Some("07")),
            ("02", &[-7], None),
            ("02", &[100], None),
            ("04", &[2026], Some("2026")),
            ("decimal", &[150, 2], Some("1.50")),
            ("decimal", &[-5, 2], Some("-0.05")),
            ("decimal", &[0, 3], Some("0.000")),
            ("decimal", &[7, 0], Some("7")),
            ("decimal", &[7, 6], Some("0.000007")),
            ("decimal", &[7, 7], Some("7E-7")),
            ("decimal", &[-123, -5], Some("-1.23E+7")),
            ("decimal", &[i64::MIN, 2], None),
        ] {
            let named = Format::named(format).expect("a format");
            assert!(named.takes(numbers.len()), "{format}");
            let operands: Vec<Operand> = numbers.iter().map(|&number| Operand::Number(number)).collect();
            assert_eq!(named.text(&operands).as_deref(), text, "{format} {numbers:?}");
        }
    }

    #[test]
    fn addresses_and_integers_are_read_from_words() {
        let written = |format, operands: &[Operand]| Format::named(format).expect("a format").text(operands);
        let words = |words: &str| Operand::Text(words.to_owned());
        let ipv6 = |bytes| written("ipv6", &[words(bytes)]);
        assert_eq!(ipv6("fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 01").as_deref(), Some("fe80::1"));
        for wrong in ["", "fe 80", "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 1ff"] {
            assert_eq!(ipv6(wrong), None, "{wrong}");
        }
        let integer = |sign, text| written("integer", &[Operand::Number(sign), words(text)]);
        for (sign, text, expected) in [
            (0, "", Some("0")),
            (1, "7", Some("7")),
            (-1, "-1", Some("-4294967295")),
            (1, "1 0", Some("4294967296")),
            // 10^18, which has zeros in its groups of digits.
            (1, "232830643 -1486618624", Some("1000000000000000000")),
            (-1, "-1 -1 -1 -1", Some("-340282366920938463463374607431768211455")),
            (1, "one", None),
            (1, "4294967296", None),
            (2, "1", None),
        ] {
            assert_eq!(integer(sign, text).as_deref(), expected, "{sign} {text}");
        }
        assert_eq!(integer(1, &["1"; 65].join(" ")), None);
        let large = written("decimal", &[Operand::Number(-1), words("1 0"), Operand::Number(4)]);
        assert_eq!(large.as_deref(), Some("-429496.7296"));
    }
}
