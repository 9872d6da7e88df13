//! Exact decimal numbers of any size.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

/// The greatest exponent of ten that a text may name, far beyond those that programs have.
const MOST_EXPONENT: i64 = 1 << 40;
/// A number with a digit further from the point is compared, but not added: the sum could have billions of digits.
const MOST_PLACES: i64 = 1000;
/// Numbers with more zeros between their digits and the point are written with an exponent.
const MOST_ZEROS: i64 = 40;
/// 2^127 has 39 digits.
const MOST_WHOLE_DIGITS: i64 = 39;

/// A decimal number, exactly: `±0.d₁d₂d₃… · 10^exponent`. Numbers of equal value are equal: 2.50 is 2.5.
#[derive(Debug, Clone)]
pub struct Decimal {
    is_negative: bool,
    /// The digits, each 0 to 9; neither the first nor the last one is 0. Zero has none.
    digits: Vec<u8>,
    exponent: i64,
    nearest: f64,
}

impl Decimal {
    /// Reads `-412.50`, `.5` or `1.23E+7`.
    ///
    /// Time: linear in the length of the text, which may name any exponent.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            None => (text, 0),
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(part.bytes()).collect();
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        if !is_number || !(-MOST_EXPONENT..=MOST_EXPONENT).contains(&exponent) {
            return None;
        }
        let digits = digits.into_iter().map(|digit| digit - b'0').collect();
        Some(Decimal::of(is_negative, digits, exponent + whole.len() as i64))
    }

    /// The number with these digits, which may begin and end with zeros.
    fn of(is_negative: bool, mut digits: Vec<u8>, exponent: i64) -> Self {
        digits.truncate(digits.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1));
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..zeros);
        let is_zero = digits.is_empty();
        let exponent = if is_zero { 0 } else { exponent - zeros as i64 };
        let mut number = Decimal { is_negative: is_negative && !is_zero, digits, exponent, nearest: 0.0 };
        number.nearest = number.scientific().parse().unwrap_or(f64::NAN);
        number
    }

    /// The nearest number of 64 bits; infinite if it is too large.
    #[must_use]
    pub fn real(&self) -> f64 {
        self.nearest
    }

    /// The number of digits after the point.
    #[must_use]
    pub fn decimals(&self) -> u64 {
        u64::try_from(self.digits.len() as i64 - self.exponent).unwrap_or(0)
    }

    /// The same number, if it is whole and has at most 128 bits.
    #[must_use]
    pub fn whole(&self) -> Option<i128> {
        let is_small = self.decimals() == 0 && self.exponent <= MOST_WHOLE_DIGITS;
        is_small.then(|| self.plain().parse().ok()).flatten()
    }

    /// The sum; `None` if `other` has a digit more than 1000 places from the point.
    #[must_use]
    pub fn plus(&self, other: &Decimal) -> Option<Decimal> {
        let is_near = other.exponent <= MOST_PLACES && other.exponent - other.digits.len() as i64 >= -MOST_PLACES;
        if !is_near || other.digits.is_empty() || self.digits.is_empty() {
            return is_near.then(|| if other.digits.is_empty() { self.clone() } else { other.clone() });
        }
        let (large, small) = if self.magnitude(other).is_ge() { (self, other) } else { (other, self) };
        let ends = [large, small].map(|one| one.exponent - one.digits.len() as i64);
        // One more digit for what is carried.
        let (top, end) = (large.exponent + 1, ends[0].min(ends[1]));
        let digit = |one: &Decimal, place: i64| {
            let at = usize::try_from(one.exponent - 1 - place).ok();
            at.and_then(|at| one.digits.get(at)).map_or(0, |&digit| digit.cast_signed())
        };
        let sign = if large.is_negative == small.is_negative { 1 } else { -1 };
        let mut carry = 0;
        // From the lowest place on.
        let mut digits: Vec<u8> = (end..top)
            .map(|place| {
                let sum = digit(large, place) + sign * digit(small, place) + carry;
                carry = sum.div_euclid(10);
                sum.rem_euclid(10).cast_unsigned()
            })
            .collect();
        digits.reverse();
        Some(Decimal::of(large.is_negative, digits, top))
    }

    /// The order without the signs.
    fn magnitude(&self, other: &Decimal) -> Ordering {
        self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits))
    }

    fn sign(&self) -> i8 {
        if self.digits.is_empty() {
            0
        } else if self.is_negative {
            -1
        } else {
            1
        }
    }

    /// Its digits with the point among them, or zeros between.
    fn plain(&self) -> String {
        let digits: String = self.digits.iter().map(|&digit| char::from(b'0' + digit)).collect();
        let sign = if self.is_negative { "-" } else { "" };
        match usize::try_from(self.exponent) {
            Ok(0) | Err(_) if digits.is_empty() => "0".to_owned(),
            Ok(0) | Err(_) => format!("{sign}0.{}{digits}", "0".repeat(self.exponent.unsigned_abs() as usize)),
            Ok(whole) if whole >= digits.len() => format!("{sign}{digits:0<whole$}"),
            Ok(whole) => format!("{sign}{}.{}", &digits[..whole], &digits[whole..]),
        }
    }

    /// One digit, the others after the point, and the exponent.
    fn scientific(&self) -> String {
        let mut digits = self.digits.iter().map(|&digit| char::from(b'0' + digit));
        let sign = if self.is_negative { "-" } else { "" };
        let (first, others) = (digits.next().unwrap_or('0'), digits.collect::<String>());
        let point = if others.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{others}E{:+}", self.exponent - 1)
    }
}

impl Display for Decimal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let zeros = (-self.exponent).max(self.exponent - self.digits.len() as i64);
        f.write_str(&if zeros <= MOST_ZEROS { self.plain() } else { self.scientific() })
    }
}

impl From<i128> for Decimal {
    fn from(whole: i128) -> Self {
        let digits = whole.unsigned_abs().to_string().into_bytes().into_iter().map(|digit| digit - b'0');
        let digits: Vec<u8> = digits.collect();
        let exponent = digits.len() as i64;
        Decimal::of(whole < 0, digits, exponent)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| match self.is_negative {
            false => self.magnitude(other),
            true => other.magnitude(self),
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).expect(text)
    }

    /// A number of a few digits: how many units of 10^-`scale`.
    fn scaled(unscaled: i64, scale: u8) -> Decimal {
        decimal(&format!("{unscaled}e-{scale}"))
    }

    #[test]
    fn texts_of_equal_value_are_equal() {
        for (one, other) in
            [("2.50", "2.5"), ("-0", "0.000"), ("1.23E+7", "12300000"), (".5", "5e-1"), ("0E+9", "0"), ("007", "7")]
        {
            assert_eq!(decimal(one), decimal(other), "{one} {other}");
        }
        for wrong in ["", "-", ".", "+1", "1.2.3", "1e", "e5", "0x10", "--1", "1 ", "NaN", "1e9999999999999999999"] {
            assert!(Decimal::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_written_with_the_least_digits() {
        for (text, written) in [
            ("-412.50", "-412.5"),
            ("100.00", "100"),
            ("0.00", "0"),
            ("0.00070", "0.0007"),
            ("123456789123456789123456789123456789123456789.50", "123456789123456789123456789123456789123456789.5"),
            ("1E+400", "1E+400"),
            ("-1.50E-2000000000", "-1.5E-2000000000"),
        ] {
            assert_eq!(decimal(text).to_string(), written);
        }
    }

    #[test]
    fn numbers_of_any_exponent_are_compared_and_not_added() {
        let (small, large) = (decimal("1E-2000000000"), decimal("1E+2000000000"));
        assert!(decimal("0") < small && small < large && decimal("-1E+2000000000") < small);
        assert_eq!((small.real(), large.real()), (0.0, f64::INFINITY));
        for far in [small, large] {
            assert_eq!(decimal("1").plus(&far), None);
        }
    }

    proptest! {
        #[test]
        fn decimals_behave_as_whole_numbers_of_the_least_unit(
            (one, of_one) in (any::<i64>(), 0_u8..18), (other, of_other) in (any::<i64>(), 0_u8..18), small in 0_u8..60,
        ) {
            let (one, other) = (one >> small, other >> (60 - small));
            let units = |number: i64, scale: u8| i128::from(number) * 10_i128.pow(18 - u32::from(scale));
            let [first, second] = [units(one, of_one), units(other, of_other)];
            let [left, right] = [scaled(one, of_one), scaled(other, of_other)];
            prop_assert_eq!(left.cmp(&right), first.cmp(&second));
            let sum = left.plus(&right).expect("a sum");
            prop_assert_eq!(&sum, &decimal(&format!("{}e-18", first + second)));
            prop_assert_eq!(sum.whole(), ((first + second) % 10_i128.pow(18) == 0).then(|| (first + second) / 10_i128.pow(18)));
            prop_assert_eq!(&decimal(&sum.to_string()), &sum);
            prop_assert_eq!(sum.real(), format!("{}e-18", first + second).parse::<f64>().expect("a number"));
        }

        #[test]
        fn whole_numbers_are_the_same(whole in any::<i128>()) {
            prop_assert_eq!(Decimal::from(whole), decimal(&whole.to_string()));
            prop_assert_eq!(Decimal::from(whole).whole(), Some(whole));
            prop_assert_eq!(Decimal::from(whole).real(), whole as f64);
        }

        #[test]
        fn any_text_is_a_number_or_not(text in "[-+.0-9eE]{0,12}") {
            let is_number = text.parse::<f64>().is_ok() && !text.starts_with('+');
            prop_assert_eq!(Decimal::parse(&text).is_some(), is_number, "{}", text);
        }
    }
}
