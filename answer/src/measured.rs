//! Measured numbers as people read them, in the units of their metrics.

use serde::Serialize;

use crate::{Value, units};

/// Significant digits: four show a change of a thousandth. This is a judgement.
const DIGITS: usize = 4;
/// Shorter times are shown as 0. A picosecond is far less than a cycle of any processor, so it is the rest of a
/// calculation.
const LEAST_NS: f64 = 1e-3;

/// A measured number. It serialises with its unit, so that the page writes it as a terminal does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// `ns`, `bytes`, a unit that a program named, or nothing.
    pub unit: Box<str>,
    /// Whether it is a difference, which has its sign.
    pub is_difference: bool,
    /// The unit of all times, if people asked for one.
    pub time_unit: Option<TimeUnit>,
}

/// A unit of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanosecond,
    /// Microseconds.
    #[serde(rename = "µs")]
    Microsecond,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Millisecond,
    /// Seconds.
    #[serde(rename = "s")]
    Second,
}

impl TimeUnit {
    /// Its nanoseconds, and its name.
    fn size(self) -> (f64, &'static str) {
        match self {
            TimeUnit::Nanosecond => (1.0, "ns"),
            TimeUnit::Microsecond => (1e3, "µs"),
            TimeUnit::Millisecond => (1e6, "ms"),
            TimeUnit::Second => (1e9, "s"),
        }
    }
}

impl Measured {
    /// The number with its unit.
    #[must_use]
    pub fn text(&self) -> String {
        let sign = if self.is_difference && self.value > 0.0 { "+" } else { "" };
        match self.time_unit.map(TimeUnit::size) {
            Some((size, name)) => {
                let sign = if self.value < 0.0 { "-" } else { sign };
                format!("{sign}{} {name}", significant(self.value.abs() / size))
            }
            None => format!("{sign}{}", text(self.value, &self.unit)),
        }
    }
}

/// A measured number of this unit.
pub fn measured(value: f64, unit: &str) -> Value {
    Value::Measured(Measured { value, unit: unit.into(), is_difference: false, time_unit: None })
}

/// A difference of measured numbers.
pub fn difference(value: f64, unit: &str) -> Value {
    Value::Measured(Measured { value, unit: unit.into(), is_difference: true, time_unit: None })
}

/// A number with its unit: `19.32 ns`, `8.5 MiB`, `1,234`, `3.5 MB/s`.
pub fn text(value: f64, unit: &str) -> String {
    let magnitude = value.abs();
    let sign = if value < 0.0 { "-" } else { "" };
    match unit {
        "ns" => format!("{sign}{}", time(magnitude)),
        "bytes" if magnitude.fract() == 0.0 && magnitude < 1e15 => format!("{sign}{}", units::size(magnitude as u64)),
        "bytes" if magnitude < 1e15 => match magnitude >= 1024.0 {
            true => format!("{sign}{}", units::size(magnitude.round() as u64)),
            false => format!("{sign}{} B", significant(magnitude)),
        },
        "" => format!("{sign}{}", significant(magnitude)),
        unit => format!("{sign}{} {unit}", significant(magnitude)),
    }
}

/// Nanoseconds in the unit that makes them short.
fn time(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let unit = units.into_iter().find(|(size, _)| nanoseconds >= *size);
    match unit {
        Some((size, name)) => format!("{} {name}", significant(nanoseconds / size)),
        // Less is a rest of arithmetic: quantiles are weighted means.
        None if nanoseconds < LEAST_NS => "0 ns".to_owned(),
        None => format!("{} ns", significant(nanoseconds)),
    }
}

/// A number of four significant digits; a whole one has all of its digits.
pub fn significant(magnitude: f64) -> String {
    if magnitude.fract() == 0.0 && magnitude < 1e15 {
        return units::grouped(magnitude as u64);
    }
    if !(1e-4..1e15).contains(&magnitude) {
        return format!("{magnitude:.3e}");
    }
    // Digits are counted after rounding: 0.99999 becomes 1.
    let rounded = format!("{magnitude:.*e}", DIGITS - 1);
    let exponent = rounded.rsplit_once('e').and_then(|(_, exponent)| exponent.parse::<i64>().ok());
    let whole_digits = exponent.unwrap_or_default() + 1;
    let decimals = usize::try_from(DIGITS as i64 - whole_digits).unwrap_or_default();
    match decimals {
        0 => units::grouped(magnitude.round() as u64),
        decimals => format!("{magnitude:.decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_a_unit() {
        let texts = [
            (17.5314, "ns", "17.53 ns"),
            (1_234_567.0, "ns", "1.235 ms"),
            (2.5e9, "ns", "2.500 s"),
            (-1_500.0, "ns", "-1.500 µs"),
            (0.0, "ns", "0 ns"),
            (8_875_584.0, "bytes", "8.5 MiB"),
            (100.5, "bytes", "100.5 B"),
            (140_725.0, "", "140,725"),
            (3.25, "MB/s", "3.250 MB/s"),
            (0.999_99, "", "1.000"),
            (2e-10, "ns", "0 ns"),
            (1e300, "", "1.000e300"),
            (1e-9, "s", "1.000e-9 s"),
        ];
        for (value, unit, expected) in texts {
            assert_eq!(text(value, unit), expected);
        }
    }
}
