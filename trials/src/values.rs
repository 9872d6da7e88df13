//! The values of a metric: a column for each field, so that a field without values takes no memory.

use barrow_analyzer::RunId;

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The run.
    pub run: RunId,
    /// The iteration of the run; `None` for the run as a whole.
    pub iteration: Option<u64>,
    /// The seed of the iteration's own layout.
    pub seed: Option<u64>,
    /// Time of the measurement, in nanoseconds since the recording began.
    pub time_ns: Option<i64>,
    /// The value, a finite number.
    pub value: f64,
}

/// The values of a metric, in the order in which they were recorded.
#[derive(Debug, Clone, Default)]
pub struct Values {
    runs: Vec<RunId>,
    values: Vec<f64>,
    iterations: Column<u64>,
    seeds: Column<u64>,
    times_ns: Column<i64>,
}

impl Values {
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value at a position, if there is one.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<Value> {
        Some(Value {
            run: *self.runs.get(place)?,
            iteration: self.iterations.get(place),
            seed: self.seeds.get(place),
            time_ns: self.times_ns.get(place),
            value: *self.values.get(place)?,
        })
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = Value> + Clone + '_ {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    pub(crate) fn push(&mut self, value: Value) {
        let place = self.len();
        self.runs.push(value.run);
        self.values.push(value.value);
        self.iterations.set(place, value.iteration);
        self.seeds.set(place, value.seed);
        self.times_ns.set(place, value.time_ns);
    }
}

/// A column of numbers, some or all of which are unknown. It is as long as the last known one requires.
#[derive(Debug, Clone, Default)]
struct Column<T> {
    numbers: Vec<T>,
    known: Vec<bool>,
}

impl<T: Copy + Default> Column<T> {
    fn get(&self, place: usize) -> Option<T> {
        self.numbers.get(place).copied().filter(|_| self.known[place])
    }

    fn set(&mut self, place: usize, number: Option<T>) {
        let Some(number) = number else { return };
        self.numbers.resize(place, T::default());
        self.known.resize(place, false);
        self.numbers.push(number);
        self.known.push(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_were_pushed() {
        let value = |number: u32, iteration, seed, time_ns| Value {
            run: RunId(number),
            iteration,
            seed,
            time_ns,
            value: f64::from(number) / 2.0,
        };
        let all = [
            value(0, None, None, None),
            value(0, Some(0), None, Some(-5)),
            value(1, None, Some(u64::MAX), None),
            value(7, Some(3), None, Some(i64::MAX)),
            value(8, None, None, None),
        ];
        let mut values = Values::default();
        all.iter().for_each(|value| values.push(*value));
        assert_eq!(values.iter().collect::<Vec<_>>(), all);
        assert_eq!((values.len(), values.get(5), values.is_empty()), (5, None, false));
    }
}
