//! Two programs, metric by metric and mode by mode.

use barrow_statistics::{Comparison, ComparisonVerdict, Direction, LEAST_GROUPS, ModePair, Threshold, compare};
use barrow_trials::{Better, Metric, Series};

use crate::answer::measured::{difference, measured, text};
use crate::answer::{Audience, Column, Table, Unit, Value};

/// A change that is less does not matter, unless told otherwise.
const RELATIVE: f64 = 0.05;
/// Nor does one of a nanosecond.
const FLOOR_NS: f64 = 1.0;

/// How large a difference must be, as far as the question says.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    /// Relative to the median of the first program.
    pub(crate) relative: Option<f64>,
    /// In the unit of the metric.
    pub(crate) floor: Option<f64>,
}

/// A metric in both programs.
pub(crate) struct Compared<'t> {
    /// The name of the second program.
    pub(crate) variant: &'t str,
    /// What was measured.
    pub(crate) metric: &'t Metric,
    /// The difference that matters.
    pub(crate) threshold: Threshold,
    /// What was found.
    pub(crate) comparison: Comparison,
    /// The medians of both.
    pub(crate) medians: [Option<f64>; 2],
    /// The runs of the program that has fewer.
    runs: usize,
}

impl<'t> Compared<'t> {
    /// Compares a metric of two programs.
    pub(crate) fn of(metric: &'t Metric, a: &Series, b: &Series, variant: &'t str, asked: Asked) -> Self {
        let (a, b) = (a.sample_by_run(), b.sample_by_run());
        let threshold = threshold(metric, [&a, &b], asked);
        let comparison = compare(&a, &b, threshold, direction(metric));
        let medians = [&a, &b].map(|sample| barrow_statistics::Location::of(sample).map(|location| location.median));
        let runs = a.group_count().min(b.group_count());
        Compared { variant, metric, threshold, comparison, medians, runs }
    }

    /// Why nothing can be said.
    pub(crate) fn why_unknown(&self) -> String {
        match self.comparison.smallest_detectable {
            _ if self.runs < LEAST_GROUPS => {
                format!("too few runs to compare: each program needs at least {LEAST_GROUPS}")
            }
            Some(least) if least.is_finite() => {
                let least = least * 100.0;
                format!("these runs can detect a difference of about {least:.1} %; more runs detect smaller ones")
            }
            _ => "the values do not decide it; more runs may".to_owned(),
        }
    }
}

/// Exact metrics that do not vary differ by any amount; others by what matters.
fn threshold(metric: &Metric, samples: [&barrow_statistics::Sample; 2], asked: Asked) -> Threshold {
    let is_constant = |sample: &barrow_statistics::Sample| {
        let sorted = sample.sorted();
        sorted.first() == sorted.last()
    };
    let is_exact = metric.is_exact && samples.into_iter().all(is_constant);
    let (relative, floor) = match (is_exact, metric.unit.as_str()) {
        (true, _) => (0.0, 0.0),
        (false, "ns") => (RELATIVE, FLOOR_NS),
        (false, _) => (RELATIVE, 0.0),
    };
    Threshold { relative: asked.relative.unwrap_or(relative), floor: asked.floor.unwrap_or(floor) }
}

fn direction(metric: &Metric) -> Direction {
    if metric.better == Better::Higher { Direction::Higher } else { Direction::Lower }
}

/// The word for a verdict: times are faster or slower, amounts smaller or larger.
pub(crate) fn word(metric: &Metric, verdict: ComparisonVerdict) -> &'static str {
    let is_speed = metric.unit == "ns" || metric.better == Better::Higher;
    match verdict {
        ComparisonVerdict::Equal => "equal",
        ComparisonVerdict::Better if is_speed => "faster",
        ComparisonVerdict::Worse if is_speed => "slower",
        ComparisonVerdict::Better => "smaller",
        ComparisonVerdict::Worse => "larger",
        ComparisonVerdict::MovedWeight => "moved weight",
        ComparisonVerdict::Unknown => "unknown",
    }
}

/// A row for each metric of each second program; and for people, one for each mode where there are several.
pub(crate) fn tables(rows: &[Compared<'_>]) -> Vec<Table> {
    let has_several = has_several(rows);
    let variant = Column::new("variant", "B", Unit::Text);
    let columns = vec![
        if has_several { variant } else { variant.for_machines() },
        Column::new("metric", "metric", Unit::Text),
        Column::new("unit", "unit", Unit::Text).for_machines(),
        Column::new("verdict", "B is", Unit::Text),
        Column::new("median_a", "median A", Unit::Number),
        Column::new("median_b", "median B", Unit::Number),
        Column::new("shift_share", "change", Unit::Number).for_people(),
        Column::new("shift_share_low", "from", Unit::Number).for_people(),
        Column::new("shift_share_high", "to", Unit::Number).for_people(),
        Column::new("shift", "shift", Unit::Number).secondary(),
        Column::new("shift_low", "from", Unit::Number).for_machines(),
        Column::new("shift_high", "to", Unit::Number).for_machines(),
        Column::new("threshold", "matters from", Unit::Share).secondary(),
        Column::new("smallest_detectable", "could see", Unit::Number).secondary(),
        Column::new("modes", "", Unit::Nested).for_machines(),
    ];
    let main = Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.iter().map(row).collect() };
    let several: Vec<&Compared<'_>> = rows.iter().filter(|row| row.comparison.modes.len() > 1).collect();
    let mut tables = vec![main];
    if !several.is_empty() && !has_several {
        tables.push(by_mode(&several));
    }
    tables
}

/// Whether there is more than one second program.
fn has_several(rows: &[Compared<'_>]) -> bool {
    rows.iter().any(|row| row.variant != rows[0].variant)
}

fn row(of: &Compared<'_>) -> Vec<Value> {
    let unit = of.metric.unit.as_str();
    let change = |value: Option<f64>| value.map(|value| difference(value, unit)).into();
    let share = |value: Option<f64>| value.map(|value| share(value, of.medians[0], unit)).into();
    let Comparison { verdict, shift, shift_low, shift_high, smallest_detectable, .. } = &of.comparison;
    let pairs = of.comparison.modes.iter().map(|pair| record(of.metric, pair));
    vec![
        of.variant.into(),
        of.metric.name.as_str().into(),
        unit.into(),
        word(of.metric, *verdict).into(),
        of.medians[0].map(|median| measured(median, unit)).into(),
        of.medians[1].map(|median| measured(median, unit)).into(),
        share(*shift),
        share(*shift_low),
        share(*shift_high),
        change(*shift),
        change(*shift_low),
        change(*shift_high),
        Value::Share(of.threshold.relative),
        smallest_detectable.filter(|share| share.is_finite()).map(estimate).into(),
        Value::List(pairs.collect()),
    ]
}

/// A difference as a part of the first median; as it is where that says nothing.
fn share(change: f64, median: Option<f64>, unit: &str) -> Value {
    // Without the sign of a zero.
    let percent = change / median.unwrap_or_default().abs() * 100.0 + 0.0;
    let sign = if percent > 0.0 { "+" } else { "" };
    let decimals = if change == 0.0 || percent.abs() >= 0.05 { 1 } else { 3 };
    match percent.is_finite() && (change == 0.0 || percent.abs() >= 5e-4) {
        true => Value::text(format!("{sign}{percent:.decimals$} %")),
        false => difference(change, unit),
    }
}

/// A share that is known about.
fn estimate(share: f64) -> Value {
    Value::Measured { value: share, text: format!("~{:.1} %", share * 100.0) }
}

/// `{a, b, location_change, location_low, …}`; modes are numbered from 1.
fn record(metric: &Metric, pair: &ModePair) -> Value {
    let number = |mode: Option<usize>| mode.map(|mode| mode + 1).into();
    let rate = |value: Option<f64>| value.map_or(Value::None, Value::Rate);
    let fields: [(&str, Value); 9] = [
        ("a", number(pair.a)),
        ("b", number(pair.b)),
        ("location_change", rate(pair.location_change)),
        ("location_low", rate(pair.location_low)),
        ("location_high", rate(pair.location_high)),
        ("weight_change", Value::Rate(pair.weight_change)),
        ("weight_low", Value::Rate(pair.weight_low)),
        ("weight_high", Value::Rate(pair.weight_high)),
        ("verdict", word(metric, pair.verdict).into()),
    ];
    Value::Record(fields.map(|(key, value)| (key.to_owned(), value)).into())
}

fn by_mode(rows: &[&Compared<'_>]) -> Table {
    let columns = vec![
        Column::new("metric", "metric", Unit::Text),
        Column::new("a", "mode of A", Unit::Number),
        Column::new("b", "mode of B", Unit::Number),
        Column::new("verdict", "B is", Unit::Text),
        Column::new("location_change", "location", Unit::Number),
        Column::new("location_low", "from", Unit::Number),
        Column::new("location_high", "to", Unit::Number),
        Column::new("weight_change", "weight", Unit::Text),
        Column::new("weight_low", "from", Unit::Text),
        Column::new("weight_high", "to", Unit::Text),
    ];
    let points = |share: f64| Value::text(format!("{:+.0} %", share * 100.0));
    let rows = rows.iter().flat_map(|of| {
        let unit = of.metric.unit.as_str();
        let change = move |value: Option<f64>| value.map(|value| difference(value, unit)).into();
        of.comparison.modes.iter().map(move |pair| {
            vec![
                of.metric.name.as_str().into(),
                pair.a.map(|mode| mode + 1).into(),
                pair.b.map(|mode| mode + 1).into(),
                word(of.metric, pair.verdict).into(),
                change(pair.location_change),
                change(pair.location_low),
                change(pair.location_high),
                points(pair.weight_change),
                points(pair.weight_low),
                points(pair.weight_high),
            ]
        })
    });
    Table { key: "modes", audience: Audience::People, rows: rows.collect(), columns }
}

/// Sentences about what the comparison could not see.
pub(crate) fn notes(rows: &[Compared<'_>]) -> Vec<String> {
    let unknown: Vec<&Compared<'_>> =
        rows.iter().filter(|row| row.comparison.verdict == ComparisonVerdict::Unknown).collect();
    let mut notes = Vec::new();
    for row in unknown {
        let name = &row.metric.name;
        notes.push(match has_several(rows) {
            true => format!("{name} of {}: {}", row.variant, row.why_unknown()),
            false => format!("{name}: {}", row.why_unknown()),
        });
    }
    let limit = |row: &Compared<'_>| (row.threshold.relative * 1e5).round() / 1e3;
    if let Some(row) = rows.iter().find(|row| row.threshold.relative > 0.0) {
        let floor = match row.threshold.floor > 0.0 {
            true => format!(" or {}", text(row.threshold.floor, &row.metric.unit)),
            false => String::new(),
        };
        let exact = match rows.iter().any(|row| row.threshold.relative == 0.0) {
            true => ", except in counts that never vary",
            false => "",
        };
        notes.push(format!(
            "differences below {} %{floor} do not count{exact}; see `--threshold` and `--floor`",
            limit(row)
        ));
    }
    notes
}
