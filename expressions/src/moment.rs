//! Dates and times of ISO 8601.
//!
//! ```text
//!   2020-02-10                              a day
//!   2020-02-10T12:00  2020-02-10T12:00:00.5 a time somewhere
//!   2020-02-10T12:00Z  …+02:00              a time everywhere
//!   12:00  12:00:30.5                       a time of day
//! ```

use std::cmp::Ordering;

const DAY_SECONDS: i64 = 86_400;
const NANOSECONDS: i128 = 1_000_000_000;
/// Years have four digits, or a sign and up to ten.
const LONGEST_YEAR: usize = 10;

/// A point in time, or a day, which spans several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The first nanosecond: since 1970, or since midnight.
    first: i128,
    /// The last nanosecond: another one if it is a day.
    last: i128,
    /// What it counts from.
    pub zone: Zone,
}

/// What a time counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// Midnight.
    OfDay,
    /// The first midnight of 1970 in a zone that is not known.
    Local,
    /// 1970 in UTC.
    Known,
}

impl Moment {
    /// Reads a date, a time, or both. A zone may have its name after its offset: `+02:00[Europe/Berlin]`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let Some((days, rest)) = date(text) else {
            let (nanoseconds, rest) = clock(text)?;
            return rest.is_empty().then_some(Moment { first: nanoseconds, last: nanoseconds, zone: Zone::OfDay });
        };
        let start = i128::from(days) * i128::from(DAY_SECONDS) * NANOSECONDS;
        if rest.is_empty() {
            let last = start + i128::from(DAY_SECONDS) * NANOSECONDS - 1;
            return Some(Moment { first: start, last, zone: Zone::Local });
        }
        let (nanoseconds, rest) = clock(rest.strip_prefix('T')?)?;
        let (offset, zone) = match rest {
            "" => (0, Zone::Local),
            _ => (offset(rest)?, Zone::Known),
        };
        let time = start + nanoseconds - i128::from(offset) * NANOSECONDS;
        Some(Moment { first: time, last: time, zone })
    }
}

impl Moment {
    /// The order of two times that count from the same; others are ordered by what they count from.
    #[must_use]
    pub fn order(&self, other: &Moment) -> Ordering {
        (self.zone, self.first, self.last).cmp(&(other.zone, other.first, other.last))
    }
}

/// A comparison with times. Both ends are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeTest {
    low: i128,
    high: i128,
    zone: Zone,
    negated: bool,
}

impl TimeTest {
    /// The test that compares with a time; `None` if the operator does not compare times. A day includes all its times:
    /// `<=` is until its end.
    pub(crate) fn compared(operator: &str, time: Moment) -> Option<Self> {
        let (low, high) = match operator {
            "=" | "==" | "!=" => (time.first, time.last),
            "<" => (i128::MIN, time.first - 1),
            "<=" => (i128::MIN, time.last),
            ">" => (time.last + 1, i128::MAX),
            ">=" => (time.first, i128::MAX),
            _ => return None,
        };
        Some(TimeTest { low, high, zone: time.zone, negated: operator == "!=" })
    }

    /// The test for `2020-01-01..2020-03-31`, `2020-01-01..` or `..12:00`.
    pub(crate) fn range(text: &str) -> Option<Self> {
        let (low, high) = text.split_once("..").filter(|_| text != "..")?;
        let end = |text: &str| if text.is_empty() { Some(None) } else { Moment::parse(text).map(Some) };
        let (low, high) = (end(low)?, end(high)?);
        let zone = low.or(high)?.zone;
        let is_one_zone = high.is_none_or(|high| high.zone == zone);
        let (low, high) = (low.map_or(i128::MIN, |low| low.first), high.map_or(i128::MAX, |high| high.last));
        is_one_zone.then_some(TimeTest { low, high, zone, negated: false })
    }

    /// Returns whether it compares times in UTC with a time that was typed without a zone.
    #[must_use]
    pub fn assumes_utc(&self) -> bool {
        self.zone == Zone::Local
    }

    /// Whether a time passes. A day counts as its midnight. A time of a known zone is compared in UTC, and one of an unknown
    /// zone passes no test with a known one. Times of day are compared with each other only.
    #[must_use]
    pub fn holds(&self, time: Moment) -> bool {
        let is_comparable = match (self.zone, time.zone) {
            (Zone::Known, Zone::Local) => false,
            (one, other) => (one == Zone::OfDay) == (other == Zone::OfDay),
        };
        is_comparable && (self.low..=self.high).contains(&time.first) != self.negated
    }
}

/// Reads the digits of a number at the start of a text, followed by the rest.
fn digits(text: &str, count: usize) -> Option<(i64, &str)> {
    let (number, rest) = text.split_at_checked(count)?;
    let are_digits = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| are_digits)?, rest))
}

/// Reads a date at the start of a text, as days since 1970.
fn date(text: &str) -> Option<(i64, &str)> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let length = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let is_year = length == 4 || (5..=LONGEST_YEAR).contains(&length) && unsigned.len() < text.len();
    let (year, rest) = digits(unsigned, length).filter(|_| is_year)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let year = sign * year;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=length).contains(&day).then(|| (date_to_days(year, month, day), rest))
}

/// Days since 1970-01-01 of a date.
///
/// Source: <https://howardhinnant.github.io/date_algorithms.html>.
fn date_to_days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have their leap day at the end; 719468 days lie between 0000-03-01 and 1970.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Reads hours and minutes at the start of a text, perhaps with seconds and their fraction, as nanoseconds.
fn clock(text: &str) -> Option<(i128, &str)> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = match rest.strip_prefix(':') {
        Some(rest) => digits(rest, 2)?,
        None => (0, rest),
    };
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (fraction, after) = digits(rest, length).filter(|_| (1..=9).contains(&length))?;
            (i128::from(fraction) * 10_i128.pow(9 - length as u32), after)
        }
        None => (0, rest),
    };
    let is_time = hour < 24 && minute < 60 && second < 60;
    is_time.then(|| (i128::from(hour * 3600 + minute * 60 + second) * NANOSECONDS + fraction, rest))
}

/// Reads `Z`, `+02:00` or `-03:30:15`, perhaps with the name of the zone in brackets, as seconds.
fn offset(text: &str) -> Option<i64> {
    let text = text.strip_suffix(']').and_then(|text| text.split_once('[')).map_or(text, |(offset, _)| offset);
    if text == "Z" {
        return Some(0);
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+')?),
    };
    let (nanoseconds, rest) = clock(rest).filter(|(nanoseconds, _)| nanoseconds % NANOSECONDS == 0)?;
    rest.is_empty().then(|| sign * (nanoseconds / NANOSECONDS) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        Moment::parse(text).expect(text)
    }

    #[test]
    fn days_follow_each_other_as_the_calendar_has_them() {
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        // 0000-01-01 is 719528 days before 1970.
        let (mut year, mut month, mut day) = (0, 1, 1);
        for days in -719_528..200_000 {
            assert_eq!(date(&format!("{year:04}-{month:02}-{day:02}")), Some((days, "")));
            let february = if is_leap(year) { 29 } else { 28 };
            let length = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
            day += 1;
            if day > length {
                assert_eq!(date(&format!("{year:04}-{month:02}-{day:02}")), None);
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    #[test]
    fn equal_times_are_equal() {
        for (one, other) in [
            ("2020-02-10T12:00Z", "2020-02-10T14:00:00.000+02:00[Europe/Berlin]"),
            ("2020-02-10T00:15Z", "2020-02-09T20:45-03:30"),
            ("1970-01-01T00:00:00.5Z", "1970-01-01T00:00:00.500000000Z"),
            ("12:30", "12:30:00"),
        ] {
            assert_eq!(moment(one), moment(other), "{one}");
        }
        assert_eq!(moment("1970-01-02T00:00:01.5Z").first, 86_401_500_000_000);
        assert_eq!(moment("-0001-12-31").last, moment("0000-01-01").first - 1);
        assert!(moment("+999999999-12-31").first > moment("9999-12-31").last);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for wrong in [
            "",
            "2020",
            "2020-02",
            "2020-02-30",
            "2020-13-01",
            "2020-2-1",
            "20200210",
            "12020-02-10",
            "2020-02-10T",
            "2020-02-10T24:00",
            "2020-02-10T12",
            "2020-02-10T12:60",
            "2020-02-10 12:00",
            "2020-02-10T12:00:60",
            "2020-02-10T12:00:00.",
            "2020-02-10T12:00+2",
            "2020-02-10T12:00z",
            "12:00Z",
            "1:00",
            "2020-02-10Z",
            "2020-02-10T12:00[UTC]",
            "+99999999999-01-01",
            "２０20-02-10",
            "ä020-02-10",
        ] {
            assert_eq!(Moment::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_day_includes_its_times() {
        let holds =
            |operator, typed, time| TimeTest::compared(operator, moment(typed)).expect("a test").holds(moment(time));
        for (time, expected) in [
            ("2020-02-09T23:59:59.999999999", [false, false, true, true, false]),
            ("2020-02-10T00:00", [true, true, false, true, false]),
            ("2020-02-10T23:59:59.999999999", [true, true, false, true, false]),
            ("2020-02-11T00:00", [false, true, false, false, true]),
            ("2020-02-10", [true, true, false, true, false]),
        ] {
            let found = ["=", ">=", "<", "<=", ">"].map(|operator| holds(operator, "2020-02-10", time));
            assert_eq!(found, expected, "{time}");
            assert_eq!(holds("!=", "2020-02-10", time), !expected[0]);
        }
        assert!(holds("=", "2020-02-10T00:00", "2020-02-10"));
        assert!(TimeTest::compared("~", moment("2020-02-10")).is_none());
        let within = |range, time| TimeTest::range(range).expect(range).holds(moment(time));
        assert!(within("2020-02-09..2020-02-10", "2020-02-10T12:00") && !within("..2020-02-09", "2020-02-10"));
        assert!(within("12:00:00.5..", "12:00:01") && !within("12:00..13:00", "13:00:01"));
        for wrong in ["..", "2020-02-09", "2020-02-09..12:00", "2020-02-09..x"] {
            assert_eq!(TimeTest::range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn zones_are_compared_in_utc_if_they_are_known() {
        let holds = |typed, time| {
            ["=", "!="].map(|operator| TimeTest::compared(operator, moment(typed)).expect("a test").holds(moment(time)))
        };
        assert_eq!(holds("2020-02-10T12:00", "2020-02-10T14:00+02:00"), [true, false]);
        assert_eq!(holds("2020-02-10T12:00+01:00", "2020-02-10T11:00Z"), [true, false]);
        for (typed, time) in
            [("2020-02-10T12:00Z", "2020-02-10T12:00"), ("12:00", "1970-01-01T12:00"), ("1970-01-01", "00:00")]
        {
            assert_eq!(holds(typed, time), [false, false], "{typed} {time}");
        }
    }
}
