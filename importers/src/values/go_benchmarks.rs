//! Go's benchmarks: the output of `go test -bench`.
//!
//! ```text
//!   pkg: example.com/sums
//!   BenchmarkSum/n=100-2   2000   24.88 ns/op   32157.57 MB/s   100.0 items/op   0 B/op   0 allocs/op
//!   PASS
//!   ok   example.com/sums   0.092s
//! ```
//!
//! A result is a name, a count of iterations, and pairs of a value and its unit; all other lines are output of tests.
//! `docs/imports.md` lists the use of each.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use barrow_writer::{Better, Word};

use crate::error::ImportError;
use crate::format::Importer;
use crate::processes::process_logs::{Lines, UnreadableParts, readable, text};
use crate::values::measurements::{MetricText, ParsedValues, Values, import, without_mark};

/// The output of `go test -bench`.
pub(crate) const IMPORTER: Importer = Importer {
    key: "go",
    name: "results of Go's benchmarks (text)",
    heading: "Go",
    sample: "go-1.19.txt",
    recognises,
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The name of the variant if its package is unknown.
const UNNAMED: &str = "go test";
/// The beginning of names of benchmarks.
const PREFIX: &[u8] = b"Benchmark";
/// Lines about a whole package, and what becomes of them.
const FACTS: [(&[u8], Word); 3] = [
    (b"goos: ", Word::new("system")),
    (b"goarch: ", Word::of_settings("architecture")),
    (b"cpu: ", Word::new("processor")),
];

/// Units of Go's own measurements, which are never below 0. Values that a benchmark reports may be.
const OWN_UNITS: [&[u8]; 4] = [b"ns/op", b"B/op", b"allocs/op", b"MB/s"];

/// Returns whether a result, or the output of `go test` before it, is in the first lines.
fn recognises(first_bytes: &[u8]) -> bool {
    let mut has_system = false;
    for line in Lines::new(without_mark(first_bytes)) {
        if line.text.starts_with(b"goos: ") {
            has_system = true;
        } else if has_system && line.text.starts_with(b"goarch: ") || matches!(Line::of(line.text), Line::Result(_)) {
            return true;
        } else {
            has_system = false;
        }
    }
    false
}

/// The content of a line.
enum Line<'t> {
    /// A result.
    Result(Measurement<'t>),
    /// The beginning of a result whose values cannot be read.
    Broken,
    /// The package of the following results, which are of another process.
    Package(&'t [u8]),
    /// The process has ended.
    End,
    /// A benchmark failed, or was skipped.
    Without(&'static str, &'t [u8]),
    /// The direction in which values of a unit are better.
    Unit(&'t [u8], Better),
    /// A fact, and its key.
    Fact(Word, &'t [u8]),
    /// Anything else.
    Other,
}

/// A result.
struct Measurement<'t> {
    name: &'t [u8],
    /// Values and units: at least one pair.
    pairs: Vec<(f64, &'t [u8])>,
}

impl<'t> Line<'t> {
    fn of(line: &'t [u8]) -> Self {
        if line.strip_prefix(PREFIX).is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_lowercase)) {
            return Self::of_benchmark(line);
        }
        if let Some(package) = line.strip_prefix(b"pkg: ") {
            return Line::Package(package.trim_ascii());
        }
        if let Some((key, value)) = FACTS.iter().find_map(|(begin, key)| Some((*key, line.strip_prefix(*begin)?))) {
            return Line::Fact(key, value.trim_ascii());
        }
        if matches!(line, b"PASS" | b"FAIL") || line.starts_with(b"ok  \t") || line.starts_with(b"FAIL\t") {
            return Line::End;
        }
        let outcomes = [(&b"--- FAIL: "[..], "failed"), (b"--- SKIP: ", "were skipped")];
        let without =
            outcomes.iter().find_map(|(begin, what)| Some((*what, line.trim_ascii_start().strip_prefix(*begin)?)));
        if let Some((what, rest)) = without.filter(|(_, rest)| rest.starts_with(PREFIX)) {
            return Line::Without(what, words(rest).next().unwrap_or_default());
        }
        Self::of_unit(line).unwrap_or(Line::Other)
    }

    /// `Unit items/s better=higher`
    fn of_unit(line: &'t [u8]) -> Option<Self> {
        let mut words = words(line.strip_prefix(b"Unit ")?);
        let unit = words.next()?;
        words.find_map(|word| match word {
            b"better=higher" => Some(Line::Unit(unit, Better::Higher)),
            b"better=lower" => Some(Line::Unit(unit, Better::Lower)),
            _ => None,
        })
    }

    fn of_benchmark(line: &'t [u8]) -> Self {
        let mut words = words(line);
        let name = words.next().unwrap_or_default();
        let Some(count) = words.next() else {
            // `-v` prints the name alone before the result.
            return Line::Other;
        };
        if !count.iter().all(u8::is_ascii_digit) {
            return Line::Broken;
        }
        let mut pairs = Vec::new();
        while let Some(value) = words.next() {
            let (Some(value), Some(unit)) = (number(value), words.next()) else { return Line::Broken };
            pairs.push((value, unit));
        }
        if pairs.is_empty() { Line::Broken } else { Line::Result(Measurement { name, pairs }) }
    }
}

/// The words of a line, separated by blanks.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Parses a number, which may be `NaN` or `+Inf` in Go's output.
fn number(text: &[u8]) -> Option<f64> {
    str::from_utf8(text).ok()?.parse().ok()
}

fn read(output: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let output = without_mark(output);
    let mut adding = ResultCollector { directions: directions(output), ..ResultCollector::default() };
    let mut left_out = UnreadableParts::new("line");
    for line in Lines::new(output) {
        match Line::of(line.text) {
            // Half of a number is another number.
            Line::Result(_) | Line::Broken if line.is_cut => left_out.ends_inside(output.len(), "a line"),
            Line::Broken => left_out.add(line.offset, line.text.len(), || readable(line.text)),
            Line::Result(measured) => adding.add(&measured),
            Line::Package(package) => {
                adding.package = text(package);
                adding.run = None;
            }
            Line::End => adding.run = None,
            Line::Without(what, name) => adding.without(what, name),
            Line::Fact(key, value) if !adding.facts.contains(&key) => {
                adding.facts.push(key);
                adding.values.fact(key, "", &text(value));
            }
            Line::Fact(..) | Line::Unit(..) | Line::Other => {}
        }
    }
    let ResultCollector { mut values, without, .. } = adding;
    for (what, (count, first)) in without {
        values.note(format!("benchmarks that {what} and have no values: {count}; the first: `{first}`"));
    }
    Ok(ParsedValues { values, end: left_out.end() })
}

/// The direction in which values are better, by unit. The lines with them may follow the results.
fn directions(output: &[u8]) -> HashMap<&[u8], Better> {
    let has_any = memchr::memmem::find(output, b"better=").is_some();
    let lines = has_any.then(|| Lines::new(output)).into_iter().flatten();
    let unit = lines.filter_map(|line| match Line::of(line.text) {
        Line::Unit(unit, better) => Some((unit, better)),
        _ => None,
    });
    unit.collect()
}

/// Adds results.
#[derive(Default)]
struct ResultCollector<'t> {
    values: Values,
    directions: HashMap<&'t [u8], Better>,
    package: Cow<'t, str>,
    /// The current run, while its process goes on.
    run: Option<usize>,
    /// Number of results of each metric of the run.
    counts: HashMap<usize, u64>,
    facts: Vec<Word>,
    /// Number of benchmarks without values, by their result, and the first of them.
    without: Vec<(&'static str, (u64, String))>,
}

impl ResultCollector<'_> {
    fn add(&mut self, measured: &Measurement<'_>) {
        let run = match self.run {
            Some(run) => run,
            None => {
                let package = if self.package.is_empty() { UNNAMED } else { &self.package };
                self.values.word(UNNAMED);
                let variant = self.values.variant(package, &[]);
                self.counts.clear();
                *self.run.insert(self.values.run(variant))
            }
        };
        let benchmark = text(measured.name);
        for word in [" allocated", " blocks", " MB/s"] {
            self.values.word(Word::new(word).behind_names());
        }
        self.values.word("MB/s");
        for &(value, unit) in &measured.pairs {
            let is_amount = OWN_UNITS.contains(&unit);
            let (name, unit, better) = self.metric(&benchmark, unit);
            let metric = self.values.metric(&MetricText { name: &name, unit: &unit, better, exact: false });
            let count = self.counts.entry(metric).or_default();
            let iteration = *count;
            *count += 1;
            let place = || format!("result {iteration} of `{name}`");
            if is_amount {
                self.values.amount(metric, run, Some(iteration), value, place);
            } else {
                self.values.value(metric, run, Some(iteration), value, place);
            }
        }
    }

    /// The metric of a unit: its name, its unit, and the direction in which values are better.
    fn metric<'u>(&self, benchmark: &str, unit: &'u [u8]) -> (String, Cow<'u, str>, Better) {
        match unit {
            b"ns/op" => (benchmark.to_owned(), "ns".into(), Better::Lower),
            b"B/op" => (format!("{benchmark} allocated"), "bytes".into(), Better::Lower),
            b"allocs/op" => (format!("{benchmark} blocks"), "".into(), Better::Lower),
            b"MB/s" => (format!("{benchmark} MB/s"), "MB/s".into(), Better::Higher),
            other => {
                let better = self.directions.get(other).copied().unwrap_or(Better::Unknown);
                let unit = text(other);
                (format!("{benchmark} {unit}"), unit, better)
            }
        }
    }

    fn without(&mut self, what: &'static str, name: &[u8]) {
        match self.without.iter_mut().find(|(known, _)| *known == what) {
            Some((_, (count, _))) => *count += 1,
            None => self.without.push((what, (1, text(name).into_owned()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_results_are_told_from_others() {
        let pairs = |line: &str| match Line::of(line.as_bytes()) {
            Line::Result(measured) => measured.pairs.len(),
            _ => 0,
        };
        assert_eq!(pairs("BenchmarkSum/n=100-2 \t    2000\t        24.88 ns/op\t32157.57 MB/s"), 2);
        assert_eq!(pairs("Benchmark 1 5 ns/op"), 1);
        for other in ["BenchmarkJoin", "Benchmarking 5 4 ns/op", " BenchmarkA 1 2 ns/op", "ok  \tpkg\t0.1s", ""] {
            assert!(pairs(other) == 0 && !matches!(Line::of(other.as_bytes()), Line::Broken), "{other}");
        }
        for broken in [
            "BenchmarkA says",
            "BenchmarkA 100",
            "BenchmarkA 100 5",
            "BenchmarkA 100 x ns/op",
            "BenchmarkA-2 -1 5 ns/op",
        ] {
            assert!(matches!(Line::of(broken.as_bytes()), Line::Broken), "{broken}");
        }
    }
}
