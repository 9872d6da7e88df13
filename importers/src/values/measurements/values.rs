//! Measured values as a neutral list, independent of the format of the file.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use barrow_writer::{Better, Word};

use super::json::Text;
use super::range::Range;
use crate::error::{Damage, ImportError, Stop};

/// Reads a file of measured values. The path is that of the file, if it has one: some formats keep names in another file
/// beside it.
pub(crate) type ReadFile = fn(text: &[u8], source: Option<&Path>) -> Result<ParsedValues, ImportError>;

/// The values read from a file.
pub(crate) struct ParsedValues {
    pub(crate) values: Values,
    /// `Ok` if the whole file was read.
    pub(crate) end: Result<(), Stop>,
}

/// A metric, as a file names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MetricText<'t> {
    pub(crate) name: &'t str,
    pub(crate) unit: &'t str,
    pub(crate) better: Better,
    pub(crate) exact: bool,
}

/// Measured values: 48 bytes for each, and each name once.
#[derive(Debug, Default)]
pub(crate) struct Values {
    pub(crate) variants: Vec<Variant>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) runs: Vec<Run>,
    /// In the order of the file.
    pub(crate) rows: Vec<Row>,
    /// Facts of the recording: keys and values.
    pub(crate) facts: Vec<(String, String)>,
    /// The words of the importer in keys, names and units.
    pub(crate) words: Vec<Word>,
    notes: Vec<String>,
    texts: HashSet<Arc<str>>,
    variants_by_name: HashMap<Variant, usize>,
    metrics_by_name: HashMap<(Arc<str>, Arc<str>), usize>,
    runs_by_number: HashMap<(usize, u64), usize>,
    /// Number of runs of each variant.
    run_counts: Vec<u64>,
    no_numbers: OmittedValues,
    impossible: OmittedValues,
}

/// Number of values left out, with the first of them.
#[derive(Debug, Default)]
struct OmittedValues {
    count: u64,
    first: String,
}

impl OmittedValues {
    fn add(&mut self, first: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = first();
        }
        self.count += 1;
    }
}

/// A program that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    pub(crate) name: Arc<str>,
    pub(crate) attributes: Vec<(Arc<str>, Arc<str>)>,
}

/// A metric.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) name: Arc<str>,
    pub(crate) unit: Arc<str>,
    pub(crate) better: Better,
    pub(crate) exact: bool,
}

/// A run of a variant.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) variant: usize,
    /// Its number among those of its variant, from the file or counted from 0.
    pub(crate) number: u64,
    pub(crate) seed: Option<u64>,
    /// The end of the run, if the file has it.
    pub(crate) end: Option<End>,
}

/// The end of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) exit_status: Option<u64>,
    pub(crate) failed: bool,
}

/// A value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) metric: usize,
    pub(crate) run: usize,
    pub(crate) iteration: Option<u64>,
    pub(crate) seed: Option<u64>,
    pub(crate) value: f64,
}

impl Values {
    /// The variant of this name and these attributes.
    pub(crate) fn variant(&mut self, name: &str, attributes: &[(&str, &str)]) -> usize {
        let name = self.text(name);
        let attributes = attributes.iter().map(|(key, value)| (self.text(key), self.text(value))).collect();
        let variant = Variant { name, attributes };
        if let Some(&known) = self.variants_by_name.get(&variant) {
            return known;
        }
        self.variants_by_name.insert(variant.clone(), self.variants.len());
        self.variants.push(variant);
        self.run_counts.push(0);
        self.variants.len() - 1
    }

    /// The metric of this name and unit. The first description with a direction determines which values are better.
    pub(crate) fn metric(&mut self, described: &MetricText<'_>) -> usize {
        let key = (self.text(described.name), self.text(described.unit));
        if let Some(&known) = self.metrics_by_name.get(&key) {
            if self.metrics[known].better == Better::Unknown {
                self.metrics[known].better = described.better;
            }
            return known;
        }
        let (name, unit) = key.clone();
        self.metrics_by_name.insert(key, self.metrics.len());
        self.metrics.push(Metric { name, unit, better: described.better, exact: described.exact });
        self.metrics.len() - 1
    }

    /// The metric whose name and unit are words of the importer.
    pub(crate) fn own_metric(&mut self, described: &MetricText<'static>) -> usize {
        self.word(described.name);
        self.word(described.unit);
        self.metric(described)
    }

    /// A new run of a variant.
    pub(crate) fn run(&mut self, variant: usize) -> usize {
        let number = self.run_counts[variant];
        self.add_run(variant, number)
    }

    /// The run of the variant with this number.
    pub(crate) fn numbered_run(&mut self, variant: usize, number: u64) -> usize {
        if let Some(&known) = self.runs_by_number.get(&(variant, number)) {
            return known;
        }
        let run = self.add_run(variant, number);
        self.runs_by_number.insert((variant, number), run);
        run
    }

    fn add_run(&mut self, variant: usize, number: u64) -> usize {
        self.run_counts[variant] += 1;
        self.runs.push(Run { variant, number, seed: None, end: None });
        self.runs.len() - 1
    }

    /// Sets the end of a run. Without an exit status it was killed, and so failed.
    pub(crate) fn end_run(&mut self, run: usize, exit_status: Option<i64>) {
        let failed = exit_status != Some(0);
        self.runs[run].end =
            Some(End { exit_status: exit_status.and_then(|status| u64::try_from(status).ok()), failed });
    }

    /// Adds a value. One that is not a finite number is only counted; `place` describes the first of them.
    pub(crate) fn value(
        &mut self,
        metric: usize,
        run: usize,
        iteration: Option<u64>,
        value: f64,
        place: impl FnOnce() -> String,
    ) {
        if value.is_finite() {
            self.rows.push(Row { metric, run, iteration, seed: None, value });
        } else {
            self.no_numbers.add(place);
        }
    }

    /// Adds a value of a metric that has a range. One outside of it is only counted.
    pub(crate) fn value_in(
        &mut self,
        range: Range,
        (metric, run, iteration): (usize, usize, Option<u64>),
        value: f64,
        place: impl FnOnce() -> String,
    ) {
        if range.has(value) {
            self.value(metric, run, iteration, value, place);
        } else {
            self.impossible(|| format!("{} is {value}", place()));
        }
    }

    /// Adds a value that cannot be below 0, such as a time. A negative one is only counted.
    pub(crate) fn amount(
        &mut self,
        metric: usize,
        run: usize,
        iteration: Option<u64>,
        value: f64,
        place: impl FnOnce() -> String,
    ) {
        self.value_in(Range::Amount, (metric, run, iteration), value, place);
    }

    /// Adds the time of one of `count` iterations, which took `total` together. An impossible time or count is only counted.
    pub(crate) fn share(
        &mut self,
        (metric, run, iteration): (usize, usize, u64),
        total: f64,
        count: f64,
        place: impl FnOnce() -> String,
    ) {
        if Range::Divisor.has(count) {
            self.value_in(Range::Amount, (metric, run, Some(iteration)), total / count, place);
        } else {
            self.impossible(|| format!("the count of iterations in {} is {count}", place()));
        }
    }

    /// Counts an impossible value; `first` describes the first of them.
    pub(crate) fn impossible(&mut self, first: impl FnOnce() -> String) {
        self.impossible.add(first);
    }

    /// Sets the seed of the layout of the value that was added last.
    pub(crate) fn seed(&mut self, seed: u64) {
        if let Some(row) = self.rows.last_mut() {
            row.seed = Some(seed);
        }
    }

    /// Counts a value that is not a number, at a place.
    pub(crate) fn no_number(&mut self, place: impl FnOnce() -> String) {
        self.value(0, 0, None, f64::NAN, place);
    }

    /// If all values of each run of a variant have the same seed, it becomes the seed of the run, since no value has
    /// a layout of its own. The same holds for values of a run as a whole.
    pub(crate) fn share_seeds(&mut self) {
        let mut has_own = vec![false; self.variants.len()];
        for row in &self.rows {
            let run = &mut self.runs[row.run];
            match (run.seed, row.seed) {
                (None, seed) => run.seed = seed,
                (Some(known), Some(seed)) if known != seed && row.iteration.is_some() => has_own[run.variant] = true,
                _ => {}
            }
        }
        // If iterations have layouts of their own, the seed of the run is that of its other values.
        for run in self.runs.iter_mut().filter(|run| has_own[run.variant]) {
            run.seed = None;
        }
        for row in &mut self.rows {
            let run = &mut self.runs[row.run];
            if !has_own[run.variant] {
                row.seed = None;
            } else if row.iteration.is_none() {
                run.seed = run.seed.or(row.seed.take());
                row.seed = None;
            }
        }
    }

    /// Returns whether there is no value.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Facts of the recording, as far as they are known.
    pub(crate) fn known_facts<const N: usize>(&mut self, facts: [(Word, Text); N]) {
        for (key, value) in facts {
            if let Some(value) = value.0 {
                self.fact(key, "", &value);
            }
        }
    }

    /// A fact of the recording. Its key is a word of the importer, followed by a name, which may be empty.
    pub(crate) fn fact(&mut self, key: Word, name: &str, value: &str) {
        self.word(key);
        self.facts.push((format!("{}{name}", key.text()), value.to_owned()));
    }

    /// Marks a word of the importer, which a redaction keeps.
    pub(crate) fn word(&mut self, word: impl Into<Word>) {
        let word = word.into();
        if !word.text().is_empty() && !self.words.contains(&word) {
            self.words.push(word);
        }
    }

    /// Marks a text that the file says, if it is one of the words that `known` lists.
    pub(crate) fn mark_known(&mut self, text: &str, known: &[&'static str]) {
        if let Some(&known) = known.iter().find(|&&known| known == text) {
            self.word(known);
        }
    }

    /// Adds a note for the user.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Takes the notes for the user.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Takes the counts of the values that were left out.
    pub(crate) fn take_unusable(&mut self) -> Vec<Damage> {
        let OmittedValues { count, first } = std::mem::take(&mut self.no_numbers);
        let no_numbers = (count > 0).then_some(Damage::NoNumbers { count, first });
        let OmittedValues { count, first } = std::mem::take(&mut self.impossible);
        let impossible = (count > 0).then_some(Damage::Impossible { count, first });
        no_numbers.into_iter().chain(impossible).collect()
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&text));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(rows: &[(u64, Option<u64>, u64)]) -> (Vec<Option<u64>>, Vec<Option<u64>>) {
        let mut values = Values::default();
        let variant = values.variant("a", &[]);
        let metric = values.metric(&super::super::standard::WALL);
        for &(number, iteration, seed) in rows {
            let run = values.numbered_run(variant, number);
            values.value(metric, run, iteration, 1.0, String::new);
            values.seed(seed);
        }
        values.share_seeds();
        (values.runs.iter().map(|run| run.seed).collect(), values.rows.iter().map(|row| row.seed).collect())
    }

    #[test]
    fn a_seed_that_all_values_share_is_that_of_the_run() {
        assert_eq!(seeds(&[(0, None, 7), (0, None, 7), (1, None, 8)]), (vec![Some(7), Some(8)], vec![None; 3]));
        assert_eq!(seeds(&[(0, Some(0), 7), (0, Some(1), 7)]), (vec![Some(7)], vec![None; 2]));
    }

    #[test]
    fn iterations_keep_seeds_of_their_own() {
        let (runs, rows) = seeds(&[(0, None, 1), (0, Some(0), 7), (0, Some(1), 8), (1, Some(0), 9)]);
        assert_eq!((runs, rows), (vec![Some(1), None], vec![None, Some(7), Some(8), Some(9)]));
    }

    #[test]
    fn what_is_no_number_is_counted_and_the_first_is_named() {
        let mut values = Values::default();
        values.no_number(|| "`x` in line 2".to_owned());
        values.no_number(|| unreachable!("only the first is named"));
        let unusable = values.take_unusable().first().map(ToString::to_string);
        let expected = "2 values are no finite numbers and were left out; the first: `x` in line 2";
        assert_eq!(unusable.as_deref(), Some(expected));
    }
}
