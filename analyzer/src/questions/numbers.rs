//! Numbers of several objects in all: their sum and mean, the least and the greatest.
//!
//! ```text
//!   a number, an object that reads as one ──────────▶ known: it is added
//!   no such field, null, an object, a text, NaN ────▶ absent
//!   not recorded, a number of too many digits ──────▶ unknown: the sum may be another one
//! ```

use std::cmp::Ordering;

use barrow_expressions::{Decimal, Number};
use barrow_format::ObjectId;

use crate::error::{AnalyzerError, Result};
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::{FieldPath, Held, number};

/// The numbers of several objects in all. Whole and decimal numbers are added exactly; the error of a sum of binary ones
/// does not grow with their count.
#[derive(Debug, Clone, Default)]
pub struct NumberTotals {
    /// Number of objects with a number.
    pub known: u64,
    /// Number of objects that have none.
    pub absent: u64,
    /// Number of objects of which it was not recorded.
    pub unknown: u64,
    /// 2^64 objects of 64 bits would fit.
    whole: i128,
    /// The sum of decimal numbers that have a fraction, or more than 128 bits.
    decimal: Option<Decimal>,
    real: f64,
    /// The digits that rounding has taken from `real`.
    lost: f64,
    has_reals: bool,
    least: Option<Number>,
    greatest: Option<Number>,
}

impl NumberTotals {
    /// Adds a number, which is not NaN. A decimal number that [`Decimal::plus`] does not add is unknown.
    pub fn add(&mut self, number: Number) {
        match &number {
            Number::Whole(whole) => match self.whole.checked_add(*whole) {
                Some(sum) => self.whole = sum,
                None => self.decimal = self.with(&Decimal::from(*whole)),
            },
            Number::Real(real) => self.add_real(*real),
            Number::Decimal(decimal) => match self.with(decimal) {
                Some(sum) => self.decimal = Some(sum),
                None => {
                    self.unknown += 1;
                    return;
                }
            },
        }
        self.known += 1;
        if self.least.as_ref().is_none_or(|least| order(least, &number).is_gt()) {
            self.least = Some(number.clone());
        }
        if self.greatest.as_ref().is_none_or(|greatest| order(greatest, &number).is_lt()) {
            self.greatest = Some(number);
        }
    }

    /// The sum of decimal numbers with a further one.
    fn with(&self, decimal: &Decimal) -> Option<Decimal> {
        self.decimal.as_ref().unwrap_or(&Decimal::from(0)).plus(decimal)
    }

    /// Adds what a field holds where a number is wanted.
    pub fn add_found(&mut self, found: FieldNumber) {
        match found {
            FieldNumber::Known(number) => self.add(number),
            FieldNumber::Absent => self.absent += 1,
            FieldNumber::Unknown => self.unknown += 1,
        }
    }

    /// Adds the value of a field.
    pub fn add_held(&mut self, held: Held) {
        self.add_found(FieldNumber::of(held));
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
        let exact = match &self.decimal {
            None => Number::Whole(self.whole),
            Some(decimal) => {
                let sum = decimal.plus(&Decimal::from(self.whole))?;
                sum.whole().map_or(Number::Decimal(sum), Number::Whole)
            }
        };
        Some(match self.has_reals {
            false => exact,
            // What is lost of an infinite sum is no number.
            true if !self.real.is_finite() => Number::Real(self.real),
            true => Number::Real(self.real + self.lost + exact.real()),
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
    pub fn least(&self) -> Option<&Number> {
        self.least.as_ref()
    }

    /// The greatest known number.
    #[must_use]
    pub fn greatest(&self) -> Option<&Number> {
        self.greatest.as_ref()
    }
}

/// What a field holds where a number is wanted.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldNumber {
    /// A number, which is not NaN.
    Known(Number),
    /// No number.
    Absent,
    /// A number that is not known.
    Unknown,
}

impl FieldNumber {
    /// The number that a field itself holds.
    fn of(held: Held) -> Self {
        let number = if let Held::Value(value) = held { number(value) } else { None };
        match number.filter(|number| !number.is_nan()) {
            Some(number) => FieldNumber::Known(number),
            None if held == Held::Unknown => FieldNumber::Unknown,
            None => FieldNumber::Absent,
        }
    }
}

impl Heap {
    /// Calls `tell` once for each object of the set with its place there and the number that a field holds: see
    /// [`Heap::field_column`]. An object that reads as a number is that. The objects come in any order.
    ///
    /// Memory: that of [`Heap::field_column`], and the lines of some objects at a time.
    ///
    /// # Errors
    /// Those of [`Heap::field_column`]; [`AnalyzerError::ReplacedNumbers`].
    pub fn field_numbers(
        &self,
        set: &ObjectSet,
        path: &FieldPath,
        progress: &dyn Progress,
        tell: &mut dyn FnMut(usize, FieldNumber),
    ) -> Result<()> {
        if self.recording().has_replaced_numbers()? {
            return Err(AnalyzerError::ReplacedNumbers);
        }
        let column = self.field_column(set, path, progress)?;
        // By the object that a field holds, the place of the object that has the field.
        let mut places: Vec<(ObjectId, usize)> = Vec::new();
        for (at, &held) in column.iter().enumerate() {
            match held {
                Held::Object(target) => places.push((target, at)),
                held => tell(at, FieldNumber::of(held)),
            }
        }
        places.sort_unstable();
        let mut places = places.into_iter().peekable();
        let targets = Held::objects(&column);
        drop(column);
        if targets.is_empty() {
            return Ok(());
        }
        let mut told = |end: Option<ObjectId>, number: &mut dyn FnMut(ObjectId) -> FieldNumber| {
            while let Some((target, at)) = places.next_if(|&(target, _)| end.is_none_or(|end| target <= end)) {
                tell(at, number(target));
            }
        };
        let targets = self.set_of(&targets);
        let measurable = self.measurable(&targets, progress)?;
        let mut without_line = |target: ObjectId| match measurable.contains(target) {
            true => FieldNumber::Unknown,
            false => FieldNumber::Absent,
        };
        self.each_line(Some(&targets), progress, &mut |object, line| {
            told(Some(object), &mut |target| match line.number() {
                _ if target != object => without_line(target),
                number => number.map_or(FieldNumber::Absent, FieldNumber::Known),
            });
        })?;
        told(None, &mut without_line);
        Ok(())
    }
}

/// The order of two numbers, of which none is NaN.
#[must_use]
pub fn order(one: &Number, other: &Number) -> Ordering {
    one.compare(other).unwrap_or(Ordering::Equal)
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
        assert_eq!(totals.least(), Some(&Number::Whole(i64::MIN.into())));
        assert_eq!(totals.greatest(), Some(&Number::Whole(u64::MAX.into())));
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
            prop_assert_eq!(totals.sum().map(|sum| sum.real()), sum.map(|sum| sum + 0.0));
            prop_assert_eq!(totals.mean(), (!known.is_empty()).then(|| sum.unwrap_or_default() / known.len() as f64));
            prop_assert_eq!(totals.least().map(Number::real), known.iter().copied().reduce(f64::min));
            prop_assert_eq!(totals.greatest().map(Number::real), known.iter().copied().reduce(f64::max));
            prop_assert_eq!(totals.unknown, (numbers.len() - known.len()) as u64);
        }
    }
}
