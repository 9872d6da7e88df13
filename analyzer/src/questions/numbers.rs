//! Numbers of several objects in all: their sum and mean, the least and the greatest.
//!
//! ```text
//!   a number ───────────────────────────────────────▶ known: it is added
//!   no such field, null, an object, a text, NaN ────▶ absent
//!   not recorded ───────────────────────────────────▶ unknown: the sum may be another one
//! ```

use std::cmp::Ordering;

use barrow_expressions::Number;

use crate::error::{AnalyzerError, Result};
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::{FieldPath, Held, number};

/// The numbers of several objects in all. Whole numbers are added exactly; the error of a sum of others does not grow with
/// their count.
#[derive(Debug, Clone, Copy, Default)]
pub struct NumberTotals {
    /// Number of objects with a number.
    pub known: u64,
    /// Number of objects that have none.
    pub absent: u64,
    /// Number of objects of which it was not recorded.
    pub unknown: u64,
    /// 2^64 objects of 64 bits would fit.
    whole: i128,
    real: f64,
    /// The digits that rounding has taken from `real`.
    lost: f64,
    has_reals: bool,
    least: Option<Number>,
    greatest: Option<Number>,
}

impl NumberTotals {
    /// Adds a number, which is not NaN.
    pub fn add(&mut self, number: Number) {
        self.known += 1;
        match number {
            Number::Whole(whole) => self.whole += whole,
            Number::Real(real) => self.add_real(real),
        }
        self.least = Some(self.least.filter(|least| order(*least, number).is_le()).unwrap_or(number));
        self.greatest = Some(self.greatest.filter(|greatest| order(*greatest, number).is_ge()).unwrap_or(number));
    }

    /// Adds the value of a field.
    pub fn add_held(&mut self, held: Held) {
        let number = if let Held::Value(value) = held { number(value) } else { None };
        match number.filter(|number| !number.real().is_nan()) {
            Some(number) => self.add(number),
            None if held == Held::Unknown => self.unknown += 1,
            None => self.absent += 1,
        }
    }

    fn add_real(&mut self, number: f64) {
        let sum = self.real + number;
        let (large, small) = if self.real.abs() >= number.abs() { (self.real, number) } else { (number, self.real) };
        self.lost += (large - sum) + small;
        self.real = sum;
        self.has_reals = true;
    }

    /// The sum of the known numbers: 0 of no objects, `None` of objects of which none has a known number.
    #[must_use]
    pub fn sum(&self) -> Option<Number> {
        if self.known == 0 && self.absent + self.unknown > 0 {
            return None;
        }
        Some(match self.has_reals {
            false => Number::Whole(self.whole),
            // What is lost of an infinite sum is no number.
            true if !self.real.is_finite() => Number::Real(self.real),
            true => Number::Real(self.real + self.lost + Number::Whole(self.whole).real()),
        })
    }

    /// The mean of the known numbers, if there is any.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no recording has 2^53 objects")]
    pub fn mean(&self) -> Option<f64> {
        self.sum().filter(|_| self.known > 0).map(|sum| sum.real() / self.known as f64)
    }

    /// The least known number.
    #[must_use]
    pub fn least(&self) -> Option<Number> {
        self.least
    }

    /// The greatest known number.
    #[must_use]
    pub fn greatest(&self) -> Option<Number> {
        self.greatest
    }
}

impl Heap {
    /// The value of a field for each object of the set, in their order, where numbers are wanted: see
    /// [`Heap::field_column`].
    ///
    /// # Errors
    /// Those of [`Heap::field_column`]; [`AnalyzerError::ReplacedNumbers`].
    pub fn field_numbers(&self, set: &ObjectSet, path: &FieldPath, progress: &dyn Progress) -> Result<Vec<Held>> {
        if self.recording().has_replaced_numbers()? {
            return Err(AnalyzerError::ReplacedNumbers);
        }
        self.field_column(set, path, progress)
    }
}

/// The order of two numbers, of which none is NaN.
#[must_use]
pub fn order(one: Number, other: Number) -> Ordering {
    match (one, other) {
        (Number::Whole(one), Number::Whole(other)) => one.cmp(&other),
        (one, other) => one.real().total_cmp(&other.real()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barrow_format::rows::Value;
    use proptest::prelude::*;

    fn totals(held: &[Held]) -> NumberTotals {
        let mut totals = NumberTotals::default();
        held.iter().for_each(|&held| totals.add_held(held));
        totals
    }

    #[test]
    fn whole_numbers_of_64_bits_add_up_exactly() {
        let held = [Value::Unsigned(u64::MAX), Value::Unsigned(u64::MAX), Value::Signed(i64::MIN)].map(Held::Value);
        let totals = totals(&held);
        assert_eq!(totals.sum(), Some(Number::Whole(27_670_116_110_564_327_422)));
        assert_eq!(totals.least(), Some(Number::Whole(i64::MIN.into())));
        assert_eq!(totals.greatest(), Some(Number::Whole(u64::MAX.into())));
    }

    #[test]
    fn tenths_add_up_to_one() {
        assert_eq!(totals(&[Held::Value(Value::Double(0.1)); 10]).sum(), Some(Number::Real(1.0)));
        assert_eq!(totals(&[Held::Value(Value::Float(0.1)); 10]).sum(), Some(Number::Real(1.0)));
        let infinite = [1.0, f64::INFINITY, 2.0].map(|real| Held::Value(Value::Double(real)));
        assert_eq!(totals(&infinite).sum(), Some(Number::Real(f64::INFINITY)));
    }

    #[test]
    fn what_is_no_number_is_not_zero() {
        assert_eq!(totals(&[]).sum(), Some(Number::Whole(0)));
        assert_eq!((totals(&[]).mean(), totals(&[]).least()), (None, None));
        let held = [Held::Unknown, Held::Null, Held::Missing, Held::Value(Value::Double(f64::NAN))];
        let nothing = totals(&held);
        assert_eq!((nothing.sum(), nothing.mean(), nothing.greatest()), (None, None, None));
        assert_eq!((nothing.known, nothing.absent, nothing.unknown), (0, 3, 1));
    }

    proptest! {
        #[test]
        fn totals_are_those_of_a_loop(numbers in prop::collection::vec(any::<Option<i32>>(), 0..50), quarters in any::<bool>()) {
            let held = |number: &Option<i32>| match number {
                Some(number) if quarters => Held::Value(Value::Double(f64::from(*number) / 4.0)),
                Some(number) => Held::Value(Value::Signed((*number).into())),
                None => Held::Unknown,
            };
            let totals = totals(&numbers.iter().map(held).collect::<Vec<_>>());
            let known: Vec<f64> = numbers.iter().flatten().map(|&number| f64::from(number)).collect();
            let known: Vec<f64> = known.into_iter().map(|number| if quarters { number / 4.0 } else { number }).collect();
            let sum = (known.len() == numbers.len() || !known.is_empty()).then(|| known.iter().sum::<f64>());
            prop_assert_eq!(totals.sum().map(Number::real), sum.map(|sum| sum + 0.0));
            prop_assert_eq!(totals.mean(), (!known.is_empty()).then(|| sum.unwrap_or_default() / known.len() as f64));
            prop_assert_eq!(totals.least().map(Number::real), known.iter().copied().reduce(f64::min));
            prop_assert_eq!(totals.greatest().map(Number::real), known.iter().copied().reduce(f64::max));
            prop_assert_eq!(totals.unknown, (numbers.len() - known.len()) as u64);
        }
    }
}
