//! Numbers of several objects in all: their sum and mean, the least and the greatest; of dates and times the first and
//! the last.
//!
//! ```text
//!   a number, an object that reads as one ──────────▶ known: it is added
//!   an object that reads as a date or a time ───────▶ a time: it is compared with others
//!   no such field, null, an object, a text, NaN ────▶ absent
//!   not recorded, a number that cannot be read ─────▶ unknown: the sum may be another one
//! ```
//!
//! **Binary numbers.** A number of 32 bits counts with the value that its bits have, as programs add it: 0.1 as
//! 0.10000000149. The least and the greatest one are written in 32 bits. The sum is rounded to 64 bits at its end:
//! [`NumberTotals::is_rounded`].

use std::cmp::Ordering;

use barrow_expressions::{Decimal, Moment, Number};
use barrow_format::ObjectId;
use barrow_format::rows::Value;

use crate::error::{AnalyzerError, Result};
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::{FieldPath, Held, number, shortest};
use crate::questions::lines::Line;

/// The maximum length of a time with its zone, in bytes.
const MOST_TIME_BYTES: usize = 100;

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
    /// Rounding has taken digits from `lost`, too, or a sum of finite numbers is not finite.
    is_rounded: bool,
    least: Option<Number>,
    greatest: Option<Number>,
    times: TimeTotals,
}

/// The dates and times of several objects in all.
#[derive(Debug, Clone, Default)]
struct TimeTotals {
    known: u64,
    first: Option<Time>,
    last: Option<Time>,
}

/// A date or a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    /// What it is compared by.
    pub moment: Moment,
    /// As it is written.
    pub text: String,
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
        self.compare(number);
    }

    /// Adds a number of 32 bits, which is not NaN.
    fn add_float(&mut self, number: f32) {
        self.known += 1;
        self.add_real(number.into());
        self.compare(Number::Real(shortest(number)));
    }

    fn compare(&mut self, number: Number) {
        if self.least.as_ref().is_none_or(|least| order(least, &number).is_gt()) {
            self.least = Some(number.clone());
        }
        if self.greatest.as_ref().is_none_or(|greatest| order(greatest, &number).is_lt()) {
            self.greatest = Some(number);
        }
    }

    /// Adds a time.
    fn add_time(&mut self, time: Time) {
        self.times.known += 1;
        if self.times.first.as_ref().is_none_or(|first| time.moment.order(&first.moment).is_lt()) {
            self.times.first = Some(time.clone());
        }
        if self.times.last.as_ref().is_none_or(|last| time.moment.order(&last.moment).is_gt()) {
            self.times.last = Some(time);
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
            FieldNumber::Float(number) => self.add_float(number),
            FieldNumber::Time(time) => self.add_time(time),
            FieldNumber::Absent => self.absent += 1,
            FieldNumber::Unknown => self.unknown += 1,
        }
    }

    /// Adds the value of a field.
    pub fn add_held(&mut self, held: Held) {
        self.add_found(FieldNumber::of(held));
    }

    fn add_real(&mut self, number: f64) {
        let (sum, lost) = added(self.real, number);
        let (all_lost, rest) = added(self.lost, lost);
        self.is_rounded |= rest != 0.0 || (!sum.is_finite() && self.real.is_finite() && number.is_finite());
        (self.real, self.lost, self.has_reals) = (sum, all_lost, true);
    }

    /// The sum of the known numbers: 0 of no objects, `None` of objects of which none has a known number.
    #[must_use]
    pub fn sum(&self) -> Option<Number> {
        if self.known == 0 && self.absent + self.unknown + self.times.known > 0 {
            return None;
        }
        let exact = self.exact_sum()?;
        Some(match self.has_reals {
            false => exact,
            // What is lost of an infinite sum is no number.
            true if !self.real.is_finite() => Number::Real(self.real),
            true => Number::Real(self.real + self.lost + exact.real()),
        })
    }

    /// The sum of whole and decimal numbers.
    fn exact_sum(&self) -> Option<Number> {
        Some(match &self.decimal {
            None => Number::Whole(self.whole),
            Some(decimal) => {
                let sum = decimal.plus(&Decimal::from(self.whole))?;
                sum.whole().map_or(Number::Decimal(sum), Number::Whole)
            }
        })
    }

    /// Returns whether the sum is not exact, because 64 bits do not hold that of the binary numbers.
    #[must_use]
    pub fn is_rounded(&self) -> bool {
        if !self.has_reals || !self.real.is_finite() {
            return self.is_rounded;
        }
        let (whole, of_whole) = match self.exact_sum() {
            Some(Number::Whole(whole)) => (whole as f64, whole as f64 as i128 != whole),
            // Few fractions are binary ones.
            _ => (0.0, true),
        };
        let (sum, lost) = added(self.real, self.lost);
        self.is_rounded || of_whole || lost != 0.0 || added(sum, whole).1 != 0.0
    }

    /// The mean of the known numbers, if there is any.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no recording has 2^53 objects")]
    pub fn mean(&self) -> Option<f64> {
        self.sum().filter(|_| self.known > 0).map(|sum| sum.real() / self.known as f64)
    }

    /// Returns whether more than the division of the mean is rounded: the sum, or a whole number that 64 bits of a binary
    /// number do not hold.
    #[must_use]
    pub fn is_mean_rounded(&self) -> bool {
        let is_cut = |whole: i128| whole as f64 as i128 != whole;
        self.is_rounded() || matches!(self.sum(), Some(Number::Whole(whole)) if is_cut(whole))
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

    /// Number of objects with a date or a time.
    #[must_use]
    pub fn times(&self) -> u64 {
        self.times.known
    }

    /// The first and the last time, if there are no numbers and all times have a common order: not those with a zone and
    /// those without one.
    #[must_use]
    pub fn first_and_last(&self) -> Option<(&Time, &Time)> {
        let (first, last) = self.times.first.as_ref().zip(self.times.last.as_ref())?;
        (self.known == 0 && first.moment.zone == last.moment.zone).then_some((first, last))
    }
}

/// The sum of two numbers, and exactly what rounding has taken from it.
fn added(one: f64, other: f64) -> (f64, f64) {
    let sum = one + other;
    let (large, small) = if one.abs() >= other.abs() { (one, other) } else { (other, one) };
    (sum, (large - sum) + small)
}

/// What a field holds where a number is wanted.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldNumber {
    /// A number, which is not NaN.
    Known(Number),
    /// A number of 32 bits, which is not NaN.
    Float(f32),
    /// A date or a time.
    Time(Time),
    /// No number.
    Absent,
    /// A number that is not known.
    Unknown,
}

impl FieldNumber {
    /// The number that a field itself holds.
    fn of(held: Held) -> Self {
        if let Held::Value(Value::Float(number)) = held
            && !number.is_nan()
        {
            return FieldNumber::Float(number);
        }
        let number = if let Held::Value(value) = held { number(value) } else { None };
        match number.filter(|number| !number.is_nan()) {
            Some(number) => FieldNumber::Known(number),
            None if held == Held::Unknown => FieldNumber::Unknown,
            None => FieldNumber::Absent,
        }
    }

    /// The number whose digits are the name of its object; some dumps cut long ones.
    fn of_digits(digits: &str) -> Self {
        let number = Decimal::parse(digits);
        number.map_or(FieldNumber::Unknown, |number| {
            FieldNumber::Known(number.whole().map_or(Number::Decimal(number), Number::Whole))
        })
    }

    /// The number or the time that a line is.
    fn of_line(line: &Line) -> Self {
        match (line.number(), line.time()) {
            (Some(number), _) => FieldNumber::Known(number),
            (None, Some(_)) if line.text.len() > MOST_TIME_BYTES => FieldNumber::Unknown,
            (None, Some(moment)) => FieldNumber::Time(Time { moment, text: line.text.clone() }),
            (None, None) => FieldNumber::Absent,
        }
    }
}

impl Heap {
    /// Calls `tell` once for each object of the set with its place there and the number that a field holds: see
    /// [`Heap::field_column`]. An object that reads as a number or a time is that. The objects come in any order.
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
        let leads = self.path_column(set, path, progress).map_err(|error| path.place(error))?;
        let column = self.resolved(&leads, progress)?;
        let lacks_numbers = self.recording().lacks_numbers()?;
        let tables = self.recording().tables()?;
        // Some dumps have numbers beyond 64 bits by their names.
        let named = leads.iter().zip(&column).filter(|(_, held)| matches!(held, Held::Value(Value::Text(_))));
        let named: Vec<Held> = named.map(|(&lead, _)| lead).collect();
        let numbers = self.number_objects(&self.set_of(&Held::objects(&named)), progress)?;
        // By the object that a field holds, the place of the object that has the field.
        let mut places: Vec<(ObjectId, usize)> = Vec::new();
        for (at, (&lead, &held)) in leads.iter().zip(&column).enumerate() {
            match (lead, held) {
                (_, Held::Object(target)) => places.push((target, at)),
                (_, Held::Missing) if lacks_numbers => tell(at, FieldNumber::Unknown),
                (Held::Object(target), Held::Value(Value::Text(digits))) if numbers.contains(target) => {
                    tell(at, FieldNumber::of_digits(tables.string(digits)));
                }
                _ => tell(at, FieldNumber::of(held)),
            }
        }
        drop(leads);
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
        let unread = self.unread_numbers(&targets, progress)?;
        // Without contents no line is known, of a number or of anything else.
        let has_contents = self.recording().has_contents()?;
        let mut without_line = |target: ObjectId| match !has_contents || unread.contains(target) {
            true => FieldNumber::Unknown,
            false => FieldNumber::Absent,
        };
        self.each_line(Some(&targets), progress, &mut |object, line| {
            told(Some(object), &mut |target| match target == object {
                true => FieldNumber::of_line(&line),
                false => without_line(target),
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
        assert!(totals(&[Held::Value(Value::Double(0.1)); 10]).is_rounded());
        let infinite = [1.0, f64::INFINITY, 2.0].map(|real| Held::Value(Value::Double(real)));
        assert_eq!(totals(&infinite).sum(), Some(Number::Real(f64::INFINITY)));
    }

    /// As a program adds them: `double sum = 0; for (float f : floats) sum += f;`.
    #[test]
    fn numbers_of_32_bits_count_with_all_of_their_bits() {
        let large = totals(&[Held::Value(Value::Float(123_456_789.0))]);
        assert_eq!(large.greatest(), Some(&Number::Real(123_456_792.0)), "as Java says of `(double) 123456789f`");
        let floats = totals(&[Held::Value(Value::Float(0.1)); 3]);
        assert_eq!(floats.sum(), Some(Number::Real(0.300_000_004_470_348_36)));
        assert!(!floats.is_rounded());
        assert_eq!((floats.least(), floats.greatest()), (Some(&Number::Real(0.1)), Some(&Number::Real(0.1))));
    }

    #[test]
    fn times_have_a_first_and_a_last_one_if_they_are_of_one_kind() {
        let time = |text: &str| FieldNumber::Time(Time { moment: Moment::parse(text).unwrap(), text: text.to_owned() });
        let ends = |times: &[&str]| {
            let mut totals = NumberTotals::default();
            times.iter().for_each(|text| totals.add_found(time(text)));
            assert_eq!((totals.sum(), totals.known, totals.times()), (None, 0, times.len() as u64));
            totals.first_and_last().map(|(first, last)| (first.text.clone(), last.text.clone()))
        };
        let both = |first: &str, last: &str| Some((first.to_owned(), last.to_owned()));
        assert_eq!(ends(&["2020-02-10", "-0044-03-15", "1999-12-31"]), both("-0044-03-15", "2020-02-10"));
        assert_eq!(ends(&["12:00", "11:59:59.5"]), both("11:59:59.5", "12:00"));
        let zones = ["2020-01-01T00:30+01:00", "2020-01-01T00:00Z"];
        assert_eq!(ends(&zones), both(zones[0], zones[1]));
        assert_eq!(ends(&["2020-01-01T00:00", "2020-01-01T00:00Z"]), None);
        assert_eq!(ends(&["2020-01-01", "12:00"]), None);
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

    /// A multiple of 2^-80 below 2^40 in these units.
    fn in_units(number: f64) -> i128 {
        let mantissa = i128::from(number.to_bits() & ((1 << 52) - 1) | 1 << 52);
        let shift = (number.to_bits() >> 52 & 0x7ff) as i32 - (1023 + 52 - 80);
        let units =
            if shift >= 0 { mantissa << shift } else { mantissa.checked_shr(shift.unsigned_abs()).unwrap_or(0) };
        if number < 0.0 { -units } else { units }
    }

    proptest! {
        /// By definition, in whole numbers.
        #[test]
        fn a_sum_is_rounded_or_exact(
            numbers in prop::collection::vec((1_u64..1 << 53, 0_i32..60, any::<bool>()), 0..20), few_bits in any::<bool>(),
        ) {
            let (mut totals, mut exact) = (NumberTotals::default(), 0);
            for (bits, shift, is_negative) in numbers {
                let size = match few_bits {
                    true => (bits & 0xff) as f64 * 2_f64.powi(shift % 40 - 26),
                    false => (bits as f64 * 2_f64.powi(shift - 78)).max(2_f64.powi(-26)),
                };
                let number = if is_negative { -size } else { size };
                exact += in_units(number);
                totals.add(Number::Real(number));
            }
            let is_exact = in_units(totals.sum().expect("known").real()) == exact;
            prop_assert!(is_exact || totals.is_rounded(), "{:?} {}", totals.sum(), exact);
            // All of these have room in 53 bits.
            prop_assert!(!few_bits || is_exact && !totals.is_rounded());
        }

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
