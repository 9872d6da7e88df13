//! Tests of the values of fields of a row: a number, a text, true or false, null.

use std::cmp::Ordering;

use crate::decimal::Decimal;
use crate::moment::TimeTest;
use crate::number::parse_number;
use crate::pattern::TextTest;

/// A test of a field, such as `.count > 3` or `.owner.name = "x"`.
#[derive(Debug, Clone)]
pub enum FieldTest {
    /// Whether it holds true, or false.
    Boolean(bool),
    /// Compares a number that it holds.
    Number(NumberTest),
    /// Compares a text that it holds.
    Text(TextTest),
    /// Compares a time that it holds; a text only if the test is one for equality.
    Time(TimeTest, Option<TextTest>),
    /// Whether it is null, or not.
    Null {
        /// Whether it must not be null.
        negated: bool,
    },
    /// Whether it is `undefined`, which some languages have besides null, or not.
    Undefined {
        /// Whether it must not be undefined.
        negated: bool,
    },
    /// Whether its value was not recorded, or was.
    Unknown {
        /// Whether it must be recorded.
        negated: bool,
    },
}

/// A comparison of a number that may have a sign and a fraction.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberTest {
    /// The least number that passes.
    pub low: Bound,
    /// The greatest number that passes.
    pub high: Bound,
    /// Whether all other numbers pass instead.
    pub negated: bool,
}

/// An end of a range of numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// Every number is on this side of it.
    None,
    /// Up to and including this number.
    With(Number),
    /// Up to but excluding this number.
    Without(Number),
}

/// A number that a field holds or is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// A whole number of at most 64 bits, with or without a sign.
    Whole(i128),
    /// A binary number with a fraction.
    Real(f64),
    /// A decimal number of any size.
    Decimal(Decimal),
}

impl Number {
    /// Reads `-3`, `0x10`, `1.5M`, `0.25` or `Infinity`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        if ["Infinity", "inf"].contains(&digits) {
            return Some(Number::Real(if is_negative { f64::NEG_INFINITY } else { f64::INFINITY }));
        }
        if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let whole = parse_number(digits).map(|number| Number::Whole(i128::from(number)));
        let number = whole.or_else(|| digits.parse().ok().filter(|real: &f64| real.is_finite()).map(Number::Real))?;
        Some(match number {
            Number::Whole(whole) if is_negative => Number::Whole(-whole),
            Number::Real(real) if is_negative => Number::Real(-real),
            number => number,
        })
    }

    /// Reads the same as [`Number::parse`]. A number with a fraction, or of more than 64 bits, is exactly what was typed:
    /// with binary numbers it is compared as the nearest one of these.
    pub(crate) fn exact(text: &str) -> Option<Self> {
        let number = Number::parse(text);
        // A number that is too large for 64 bits is only a decimal number.
        let is_rounded = number.as_ref().is_none_or(|number| matches!(number, Number::Real(real) if real.is_finite()));
        Decimal::parse(text).filter(|_| is_rounded).map(Number::Decimal).or(number)
    }

    /// Parses the same, or a percentage as a fraction.
    pub(crate) fn parse_share(text: &str) -> Option<Self> {
        let Some(percent) = text.strip_suffix('%') else { return Number::parse(text) };
        // Dividing rounds once, so that 7% is the number nearest to 7/100.
        percent.parse().ok().filter(|percent: &f64| percent.is_finite()).map(|percent| Number::Real(percent / 100.0))
    }

    /// The nearest number of 64 bits.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "whole numbers are compared with each other exactly")]
    pub fn real(&self) -> f64 {
        match self {
            Number::Whole(whole) => *whole as f64,
            Number::Real(real) => *real,
            Number::Decimal(decimal) => decimal.real(),
        }
    }

    /// Returns whether it is not a number.
    #[must_use]
    pub fn is_nan(&self) -> bool {
        matches!(self, Number::Real(real) if real.is_nan())
    }

    /// The order of two numbers; `None` if one is NaN.
    #[must_use]
    pub fn compare(&self, other: &Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Whole(one), Number::Whole(other)) => Some(one.cmp(other)),
            (Number::Decimal(one), Number::Decimal(other)) => Some(one.cmp(other)),
            // Rounding keeps the order of numbers that it does not make equal.
            (Number::Decimal(one), Number::Whole(whole)) => match one.real().partial_cmp(&other.real()) {
                Some(Ordering::Equal) => Some(one.cmp(&Decimal::from(*whole))),
                order => order,
            },
            (Number::Whole(_), Number::Decimal(_)) => other.compare(self).map(Ordering::reverse),
            (Number::Whole(one), Number::Real(real)) => whole_and_real(*one, *real),
            (Number::Real(real), Number::Whole(other)) => whole_and_real(*other, *real).map(Ordering::reverse),
            // The nearest number of a large decimal is infinite.
            (Number::Decimal(_), Number::Real(real)) if real.is_infinite() => 0.0.partial_cmp(real),
            (Number::Real(real), Number::Decimal(_)) if real.is_infinite() => real.partial_cmp(&0.0),
            (one, other) => one.real().partial_cmp(&other.real()),
        }
    }
}

impl NumberTest {
    /// The test that compares with a number; `None` if the operator does not compare numbers.
    pub(crate) fn compared(operator: &str, number: Number) -> Option<Self> {
        use Bound::{None as Open, With, Without};
        let (low, high) = match operator {
            "=" | "==" | "!=" => (With(number.clone()), With(number)),
            "<" => (Open, Without(number)),
            "<=" => (Open, With(number)),
            ">" => (Without(number), Open),
            ">=" => (With(number), Open),
            _ => return None,
        };
        Some(NumberTest { low, high, negated: operator == "!=" })
    }

    /// The test for `-1..3`, `1.5..` or `..2M`, with numbers parsed by `parse`.
    pub(crate) fn range(text: &str, parse: impl Fn(&str) -> Option<Number>) -> Option<Self> {
        let (low, high) = text.split_once("..").filter(|_| text != "..")?;
        let end = |text: &str| if text.is_empty() { Some(Bound::None) } else { parse(text).map(Bound::With) };
        Some(NumberTest { low: end(low)?, high: end(high)?, negated: false })
    }

    /// Whether it tests for one number, or for all others.
    #[must_use]
    pub fn is_equality(&self) -> bool {
        matches!((&self.low, &self.high), (Bound::With(low), Bound::With(high)) if low == high)
    }

    /// Whether a number passes. NaN passes only a test for NaN.
    #[must_use]
    pub fn holds(&self, number: &Number) -> bool {
        if matches!(&self.low, Bound::With(low) if low.is_nan()) {
            return number.is_nan() != self.negated;
        }
        if number.is_nan() {
            return false;
        }
        (self.low.admits(number, Ordering::Less) && self.high.admits(number, Ordering::Greater)) != self.negated
    }
}

/// The order of a whole number and a binary one, without rounding; `None` if that is NaN.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a number beyond the range becomes its end, which is beyond all others"
)]
fn whole_and_real(whole: i128, real: f64) -> Option<Ordering> {
    let fraction = 0.0.partial_cmp(&(real - real.trunc()));
    if real.is_infinite() {
        return 0.0.partial_cmp(&real);
    }
    fraction.map(|fraction| whole.cmp(&(real.trunc() as i128)).then(fraction))
}

impl Bound {
    /// Whether a number is on the inner side of it; `outside` is the order of numbers beyond it.
    fn admits(&self, number: &Number, outside: Ordering) -> bool {
        match self {
            Bound::None => true,
            Bound::With(end) => number.compare(end).is_some_and(|order| order != outside),
            Bound::Without(end) => number.compare(end) == Some(outside.reverse()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_signs_and_fractions() {
        assert_eq!(Number::parse("-3"), Some(Number::Whole(-3)));
        assert_eq!(Number::parse("0x10"), Some(Number::Whole(16)));
        assert_eq!(Number::parse("1.5K"), Some(Number::Whole(1536)));
        assert_eq!(Number::parse("-0.25"), Some(Number::Real(-0.25)));
        assert_eq!(Number::parse("1e3"), Some(Number::Real(1000.0)));
        assert_eq!(Number::parse("-Infinity"), Some(Number::Real(f64::NEG_INFINITY)));
        for wrong in ["", "-", "x", "--3", "+3", "infinity", "nan", "1e999"] {
            assert_eq!(Number::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn decimals_are_compared_exactly_except_with_binary_numbers() {
        let decimal = |text| Number::Decimal(Decimal::parse(text).unwrap());
        let typed = |text| Number::exact(text).unwrap();
        for (one, other, order) in [
            (decimal("0.1"), typed("0.1"), Ordering::Equal),
            (Number::Real(0.1), typed("0.1"), Ordering::Equal),
            (decimal("0.1"), typed("0.1000000000000000000000001"), Ordering::Less),
            (decimal("9007199254740993"), Number::Whole(9_007_199_254_740_993), Ordering::Equal),
            (decimal("9007199254740993.5"), Number::Whole(9_007_199_254_740_993), Ordering::Greater),
            (decimal("18446744073709551616"), typed("18446744073709551616"), Ordering::Equal),
            (decimal("1E+400"), typed("Infinity"), Ordering::Less),
            (decimal("-1E+400"), typed("-Infinity"), Ordering::Greater),
            (decimal("1E+400"), Number::Whole(i128::MAX), Ordering::Greater),
            (decimal("1E+400"), typed("1e400"), Ordering::Equal),
            (typed("1e400"), Number::Real(f64::MAX), Ordering::Greater),
            (typed("1.5K"), decimal("1536.00"), Ordering::Equal),
            (Number::Real(9_007_199_254_740_992.0), typed("9007199254740993"), Ordering::Less),
            (Number::Real(9_007_199_254_740_992.0), typed("9007199254740992"), Ordering::Equal),
            (Number::Real(-2.5), typed("-2"), Ordering::Less),
            (Number::Real(1e300), Number::Whole(u64::MAX.into()), Ordering::Greater),
            (Number::Real(f64::NEG_INFINITY), Number::Whole(i128::MIN), Ordering::Less),
        ] {
            assert_eq!(one.compare(&other), Some(order), "{one:?} {other:?}");
            assert_eq!(other.compare(&one), Some(order.reverse()), "{one:?} {other:?}");
        }
        assert_eq!(decimal("1").compare(&Number::Real(f64::NAN)), None);
    }

    #[test]
    fn percentages_are_fractions() {
        assert_eq!(Number::parse_share("25%"), Some(Number::Real(0.25)));
        assert_eq!(Number::parse_share("7%"), Some(Number::Real(7.0 / 100.0)));
        assert_eq!(Number::parse_share("3"), Some(Number::Whole(3)));
        for wrong in ["%", "x%", "nan%", "inf%", "5%%"] {
            assert_eq!(Number::parse_share(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_operator_compares_as_it_says() {
        let numbers = [-2.5, -1.0, 0.0, 1.0, 2.0].map(Number::Real).into_iter().chain((-3..3).map(Number::Whole));
        for number in numbers {
            let real = number.real();
            for (operator, expected) in [
                ("=", real == 1.0),
                ("!=", real != 1.0),
                ("<", real < 1.0),
                ("<=", real <= 1.0),
                (">", real > 1.0),
                (">=", real >= 1.0),
            ] {
                let test = NumberTest::compared(operator, Number::Whole(1)).unwrap();
                assert_eq!(test.holds(&number), expected, "{number:?} {operator} 1");
            }
            assert_eq!(
                NumberTest::range("-1..1.5", Number::exact).unwrap().holds(&number),
                (-1.0..=1.5).contains(&real)
            );
        }
        assert!(!NumberTest::compared("!=", Number::Whole(1)).unwrap().holds(&Number::Real(f64::NAN)));
        let nan = Number::Real(f64::NAN);
        assert!(NumberTest::compared("=", nan.clone()).unwrap().holds(&nan));
        assert!(!NumberTest::compared("=", nan.clone()).unwrap().holds(&Number::Real(1.0)));
        assert!(!NumberTest::compared("!=", nan.clone()).unwrap().holds(&nan));
        assert!(NumberTest::compared("!=", nan.clone()).unwrap().holds(&Number::Whole(1)));
        assert!(NumberTest::compared(">", Number::Whole(i64::MAX.into())).unwrap().holds(&Number::Whole(1 << 63)));
    }
}
