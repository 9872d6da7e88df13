//! Tests of numbers: every comparison is a range.

/// The numbers from `low` to `high`, both included, or all others if negated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The minimum.
    pub low: u64,
    /// The maximum; if it is less than `low`, the range is empty.
    pub high: u64,
    /// Whether all other numbers are in it instead.
    pub negated: bool,
}

impl Range {
    /// The numbers that satisfy `operator value`; `None` if the operator does not compare numbers.
    #[must_use]
    pub fn compared(operator: &str, value: u64) -> Option<Self> {
        // The empty range, for `< 0` and `> u64::MAX`.
        const NOTHING: (u64, u64) = (1, 0);
        let (low, high) = match operator {
            "=" | "==" | "!=" => (value, value),
            "<" => value.checked_sub(1).map_or(NOTHING, |high| (0, high)),
            "<=" => (0, value),
            ">" => value.checked_add(1).map_or(NOTHING, |low| (low, u64::MAX)),
            ">=" => (value, u64::MAX),
            _ => return None,
        };
        Some(Range { low, high, negated: operator == "!=" })
    }

    /// Whether the test holds for a number.
    #[inline(always)]
    #[must_use]
    pub fn contains(self, value: u64) -> bool {
        (self.low <= value && value <= self.high) != self.negated
    }

    /// Whether the test holds for a number from `least` to `most`; `None` if that depends on the number.
    #[must_use]
    pub fn of_all(self, least: u64, most: u64) -> Option<bool> {
        let is_within = self.low <= least && most <= self.high;
        let is_beyond = self.low > self.high || most < self.low || self.high < least;
        (is_within || is_beyond).then_some(is_within != self.negated)
    }

    /// The same test for numbers of 32 bits, as a single comparison.
    #[inline(always)]
    pub fn contains_narrow(self) -> impl Fn(u32) -> bool {
        let most = u64::from(u32::MAX);
        let is_empty = self.low > self.high.min(most);
        let (low, high) = if is_empty { (0, 0) } else { (self.low as u32, self.high.min(most) as u32) };
        // An empty range contains nothing, so only `negated` decides.
        let (length, inside) = (high - low, !is_empty);
        move |value| (inside & (value.wrapping_sub(low) <= length)) != self.negated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_ranges() {
        let holds = |found: u64, operator, value| Range::compared(operator, value).unwrap().contains(found);
        for (operator, expected) in [
            ("=", [false, true, false]),
            ("==", [false, true, false]),
            ("!=", [true, false, true]),
            ("<", [true, false, false]),
            ("<=", [true, true, false]),
            (">", [false, false, true]),
            (">=", [false, true, true]),
        ] {
            assert_eq!([4, 5, 6].map(|found| holds(found, operator, 5)), expected, "{operator}");
        }
        for found in [0, 1, u64::MAX] {
            assert!(!holds(found, "<", 0) && !holds(found, ">", u64::MAX));
        }
        assert!(Range::compared("~", 5).is_none());
    }

    #[test]
    fn several_numbers_pass_or_fail_together_or_not() {
        for (low, high) in [(0, 4), (3, 3), (5, 9), (1, 0), (0, u64::MAX)] {
            for (least, most) in [(0, 0), (0, 3), (3, 3), (3, 6), (5, 9), (7, 30)] {
                for negated in [false, true] {
                    let range = Range { low, high, negated };
                    let mut each = (least..=most).map(|number| range.contains(number));
                    let first = each.next().unwrap();
                    let expected = each.all(|other| other == first).then_some(first);
                    assert_eq!(range.of_all(least, most), expected, "{range:?} {least} {most}");
                }
            }
        }
    }

    #[test]
    fn numbers_of_32_bits_are_compared_alike() {
        let most = u64::from(u32::MAX);
        for (low, high) in [(0, 0), (1, 0), (5, 9), (0, u64::MAX), (most, most), (most + 1, u64::MAX), (9, 5)] {
            for negated in [false, true] {
                let range = Range { low, high, negated };
                for value in [0, 1, 5, 7, 9, 10, u32::MAX - 1, u32::MAX] {
                    assert_eq!(range.contains_narrow()(value), range.contains(value.into()), "{range:?} {value}");
                }
            }
        }
    }
}
