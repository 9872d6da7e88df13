//! The values that a metric can have: the one rule by which an importer leaves out a value that cannot be.

/// Numbers from here on count nothing on a machine of 64 bits.
const TOO_MANY: f64 = 18_446_744_073_709_551_616.0;

/// The values that a metric can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    /// All numbers, as of a metric that a program defines.
    Any,
    /// Numbers from 0 on: a time, or a rate.
    Amount,
    /// Whole numbers from 0 on: bytes, blocks, events.
    Count,
    /// Whole numbers from 1 on: the iterations that a time is divided by.
    Divisor,
}

impl Range {
    /// Returns whether a metric can have this value. What is no finite number is another matter.
    pub(crate) fn has(self, value: f64) -> bool {
        let is_count = value.fract() == 0.0 && (0.0..TOO_MANY).contains(&value);
        !value.is_finite()
            || match self {
                Range::Any => true,
                Range::Amount => value >= 0.0,
                Range::Count => is_count,
                Range::Divisor => is_count && value >= 1.0,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_no_value_outside_its_range() {
        let ranges =
            |value: f64| [Range::Any, Range::Amount, Range::Count, Range::Divisor].map(|range| range.has(value));
        assert_eq!(ranges(1.0), [true; 4]);
        assert_eq!(ranges(-0.0), [true, true, true, false]);
        assert_eq!([0.5, 1e30].map(ranges), [[true, true, false, false]; 2]);
        assert_eq!(ranges(-1.0), [true, false, false, false]);
        assert_eq!([f64::NAN, f64::INFINITY].map(ranges), [[true; 4]; 2], "these are no numbers");
    }
}
