//! Two programs, metric by metric and mode by mode.

use barrow_statistics::{
    Comparison, ComparisonVerdict, Direction, Doubt, LEAST_GROUPS, Location, ModePair, Sample, Threshold, WEIGHT_LIMIT,
    compare,
};
use barrow_trials::{Better, Metric, Series};

use crate::answer::measured::{difference, measured, text};
use crate::answer::{Audience, Column, Table, Value, record, table, units};
use crate::tables::trials::dependence;

/// A smaller relative change does not matter, unless `--threshold` gives another limit. This is a judgement.
const RELATIVE: f64 = 0.05;
/// A change of a nanosecond does not matter: clocks count in whole ones.
const FLOOR_NS: f64 = 1.0;
/// A larger share than this that a comparison could see is not told: the median is next to nothing.
const MOST_SHARE: f64 = 1e6;

/// The least differences that matter, where the question gives them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    /// Relative to the median of the first program.
    pub(crate) relative: Option<f64>,
    /// In the unit of the metric.
    pub(crate) floor: Option<f64>,
    /// Of the part of the values in a mode.
    pub(crate) weight: Option<f64>,
}

/// A metric in both programs.
pub(crate) struct Compared<'t> {
    /// The name of the second program.
    pub(crate) variant: &'t str,
    /// The metric.
    pub(crate) metric: &'t Metric,
    /// The difference that matters.
    pub(crate) threshold: Threshold,
    /// The result.
    pub(crate) comparison: Comparison,
    /// The medians of both.
    pub(crate) medians: [Option<f64>; 2],
    /// Whether runs have several values.
    has_repeats: bool,
}

impl<'t> Compared<'t> {
    /// Compares a metric of two programs.
    pub(crate) fn of(metric: &'t Metric, a: &Series, b: &Series, variant: &'t str, asked: Asked) -> Self {
        let (a, b) = (a.sample_by_run(), b.sample_by_run());
        let threshold = threshold(metric, [&a, &b], asked);
        let comparison = compare(&a, &b, threshold, direction(metric));
        let medians = [&a, &b].map(|sample| Location::of(sample).map(|location| location.median));
        let has_repeats = [&a, &b].into_iter().any(|sample| sample.groups().any(|group| group.len() > 1));
        Compared { variant, metric, threshold, comparison, medians, has_repeats }
    }

    /// Why it is not known to be equal, and how many runs decide.
    pub(crate) fn why_unknown(&self) -> String {
        let why = match self.comparison.doubt {
            Some(Doubt::TooFew) => {
                let together = if self.has_repeats { "; values of one run count once" } else { "" };
                return format!("too few runs to compare: each program needs at least {LEAST_GROUPS}{together}");
            }
            Some(Doubt::Order) => return self.dependence().unwrap_or_default(),
            Some(Doubt::Location { pair: Some(pair), .. }) => {
                let mode = self.mode_of(pair);
                format!("the interval of {mode} passes the threshold of {}", self.limit_text())
            }
            Some(Doubt::Location { pair: None, .. }) => {
                format!("the interval of the shift passes the threshold of {}", self.limit_text())
            }
            Some(Doubt::Weight { location, low, high, .. }) => self.weight_text(location, low, high),
            Some(Doubt::Modes { .. }) => "one program has a mode that the other does not show".to_owned(),
            Some(Doubt::Extremes) => "some runs of one program are beyond those of the other".to_owned(),
            None => "the values do not decide it".to_owned(),
        };
        match self.comparison.doubt.and_then(Doubt::groups) {
            Some(runs) => format!("{why}; about {} runs of each program decide", units::grouped(runs)),
            None => format!("{why}; more runs may decide"),
        }
    }

    /// Why the change of the weight of a mode with this interval is not known to be within the limit.
    fn weight_text(&self, location: f64, low: f64, high: f64) -> String {
        let (location, limit) = (text(location, self.metric.unit.as_str()), self.threshold.weight);
        let known = match (high - low) / 2.0 {
            half_width if half_width > limit => format!("is known to ±{:.0} points", half_width * 100.0),
            _ => format!("changed by {} to {} points", points(low), points(high)),
        };
        format!("the weight of the mode at {location} {known}, and {:.0} matter", limit * 100.0)
    }

    /// The sentence about values that depend on the order of runs.
    pub(crate) fn dependence(&self) -> Option<String> {
        self.comparison.dependence.map(dependence::sentence)
    }

    /// The threshold for people: `5 %`.
    fn limit_text(&self) -> String {
        match self.threshold.relative > 0.0 {
            true => format!("{} %", (self.threshold.relative * 1e5).round() / 1e3),
            false => text(self.threshold.floor, &self.metric.unit),
        }
    }

    /// The modes of a pair: `mode 2`, or `mode 2 of A`.
    fn mode_of(&self, pair: usize) -> String {
        match self.comparison.modes.get(pair).map(|pair| (pair.a, pair.b)) {
            Some((_, Some(mode))) => format!("mode {}", mode + 1),
            Some((Some(mode), None)) => format!("mode {} of A", mode + 1),
            _ => "all values".to_owned(),
        }
    }

    /// The subject of the verdict: `all values`, `mode 2`, `weight of mode 2`.
    fn about(&self) -> Option<String> {
        let place = self.place()?;
        Some(if is_weight(self.comparison.verdict) { format!("weight of {place}") } else { place })
    }

    /// The values that the verdict is about: `all values`, `mode 2`.
    fn place(&self) -> Option<String> {
        match self.comparison.about {
            _ if self.comparison.verdict == ComparisonVerdict::Unknown => None,
            Some(pair) => Some(self.mode_of(pair)),
            None => Some("all values".to_owned()),
        }
    }

    /// The verdict with what it is about and by how much, if it is about a mode: `slower in mode 2: +12.80 ms; shift of all
    /// values -0.4 %`.
    pub(crate) fn headline(&self) -> Option<String> {
        let pair = self.comparison.modes.get(self.comparison.about?)?;
        let unit = self.metric.unit.as_str();
        let verdict = word(self.metric, self.comparison.verdict);
        let mode = self.mode_of(self.comparison.about?);
        let points = format!("{} points", points(pair.weight_change));
        let what = match pair.location_change {
            _ if is_weight(self.comparison.verdict) => format!("{verdict}: {mode} has {points}"),
            Some(change) => format!("{verdict} in {mode}: {}", plain(&difference(change, unit))),
            None => format!("{verdict} in {mode}, which is new: {points}"),
        };
        Some(match self.comparison.shift {
            Some(shift) => format!("{what}; shift of all values {}", plain(&share(shift, self.medians[0], unit))),
            None => what,
        })
    }
}

/// Returns whether a verdict is about the weights of modes.
fn is_weight(verdict: ComparisonVerdict) -> bool {
    matches!(verdict, ComparisonVerdict::MovedWeight | ComparisonVerdict::WorseWeight)
}

/// The text of a value.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Measured(measured) => measured.text(),
        Value::Text(text) => text.clone(),
        _ => String::new(),
    }
}

/// Exact metrics that do not vary differ by any amount; others by what matters.
fn threshold(metric: &Metric, samples: [&Sample; 2], asked: Asked) -> Threshold {
    let sorted = samples.map(Sample::sorted);
    let is_exact = metric.is_exact && sorted.iter().all(|values| values.first() == values.last());
    let (relative, floor) = match (is_exact, metric.unit.as_str()) {
        (true, _) => (0.0, 0.0),
        (false, "ns") => (RELATIVE, FLOOR_NS),
        (false, _) => (RELATIVE, 0.0),
    };
    Threshold {
        relative: asked.relative.unwrap_or(relative),
        floor: asked.floor.unwrap_or(floor),
        weight: asked.weight.unwrap_or(WEIGHT_LIMIT),
    }
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
        ComparisonVerdict::WorseWeight => "worse weight",
        ComparisonVerdict::Unknown => "unknown",
    }
}

/// The verdict of a pair of modes: no difference where all of it is unknown, because then none is significant beside the
/// others.
fn pair_word(of: &Compared<'_>, pair: &ModePair) -> &'static str {
    word(of.metric, pair_verdict(of.comparison.verdict, pair.verdict))
}

fn pair_verdict(all: ComparisonVerdict, pair: ComparisonVerdict) -> ComparisonVerdict {
    let is_unknown = all == ComparisonVerdict::Unknown && pair != ComparisonVerdict::Equal;
    if is_unknown { ComparisonVerdict::Unknown } else { pair }
}

/// A row for each metric of each second program; and for people, one for each mode where there are several.
pub(crate) fn tables(rows: &[Compared<'_>]) -> Vec<Table> {
    let has_several = has_several(rows);
    let variant = Column::text("variant").called("B");
    let variant = if has_several { variant } else { variant.for_machines() };
    let main = table!("rows", rows, |of| {
        let unit = of.metric.unit.as_str();
        let [median_a, median_b] = of.medians;
        let Comparison { verdict, shift, shift_low, shift_high, smallest_detectable, .. } = &of.comparison;
        let detectable = smallest_detectable.filter(|share| *share < MOST_SHARE);
        let [share_now, share_low, share_high] =
            [shift, shift_low, shift_high].map(|value| value.map(|value| share(value, median_a, unit)));
        let [change, change_low, change_high] =
            [shift, shift_low, shift_high].map(|value| value.map(|value| difference(value, unit)));
        let pairs = of.comparison.modes.iter().map(|pair| record(of, pair)).collect();
        variant => of.variant,
        Column::text("metric") => of.metric.name.as_str(),
        Column::text("unit").for_machines() => unit,
        Column::text("verdict").own_words().called("B is") => word(of.metric, *verdict),
        Column::text("about").for_machines() => of.about(),
        Column::text("place").called("in").for_people() => of.place(),
        Column::text("headline").for_machines() => of.headline(),
        Column::number("median_a").called("median A") => median_a.map(|median| measured(median, unit)),
        Column::number("median_b").called("median B") => median_b.map(|median| measured(median, unit)),
        Column::number("shift_share").own_words().called("change").for_people() => share_now,
        Column::number("shift_share_low").own_words().called("from").for_people().secondary().interval() => share_low,
        Column::number("shift_share_high").own_words().called("to").for_people().secondary().interval() => share_high,
        Column::number("shift").secondary() => change,
        Column::number("shift_low").for_machines().interval() => change_low,
        Column::number("shift_high").for_machines().interval() => change_high,
        Column::share("threshold").called("matters from").secondary() => Value::Share(of.threshold.relative),
        Column::share("weight_limit").for_machines() => Value::Share(of.threshold.weight),
        Column::number("smallest_detectable").called("could see").secondary() => detectable.map(estimate),
        Column::count("runs_needed").for_machines() => of.comparison.doubt.and_then(Doubt::groups),
        Column::text("depends_on_order").own_words().for_machines() => of.comparison.dependence.is_some(),
        Column::nested("modes").for_machines() => Value::List(pairs),
    });
    let several: Vec<&Compared<'_>> = rows.iter().filter(|row| row.comparison.modes.len() > 1).collect();
    let mut tables = vec![main];
    if !several.is_empty() && !has_several {
        tables.push(by_mode(&several));
    }
    tables
}

/// Returns whether several programs are compared with the first.
fn has_several(rows: &[Compared<'_>]) -> bool {
    rows.iter().any(|row| row.variant != rows[0].variant)
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
    Value::EstimatedShare(share)
}

/// `{a, b, location_change, location_low, …}`; modes are numbered from 1.
fn record(of: &Compared<'_>, pair: &ModePair) -> Value {
    let unit = of.metric.unit.as_str();
    record! {
        Column::number("a") => pair.a.map(|mode| mode + 1),
        Column::number("b") => pair.b.map(|mode| mode + 1),
        Column::number("location_change") => pair.location_change.map(|value| difference(value, unit)),
        Column::number("location_low") => pair.location_low.map(|value| difference(value, unit)),
        Column::number("location_high") => pair.location_high.map(|value| difference(value, unit)),
        Column::number("weight_change") => Value::Rate(pair.weight_change),
        Column::number("weight_low") => pair.weight_low.map(Value::Rate),
        Column::number("weight_high") => pair.weight_high.map(Value::Rate),
        Column::text("verdict").own_words() => pair_word(of, pair),
    }
}

/// A row for each pair of modes. Narrow terminals leave out intervals.
fn by_mode(rows: &[&Compared<'_>]) -> Table {
    let pairs = rows.iter().flat_map(|of| of.comparison.modes.iter().map(move |pair| (*of, pair)));
    let table = table!("modes", pairs, |(of, pair)| {
        let unit = of.metric.unit.as_str();
        Column::text("metric") => of.metric.name.as_str(),
        Column::number("a").called("A") => pair.a.map(|mode| mode + 1),
        Column::number("b").called("B") => pair.b.map(|mode| mode + 1),
        Column::text("verdict").own_words().called("B is") => pair_word(of, pair),
        Column::number("location_change").called("location")
            => pair.location_change.map(|value| difference(value, unit)),
        Column::number("location_low").called("from").secondary().interval()
            => pair.location_low.map(|value| difference(value, unit)),
        Column::number("location_high").called("to").secondary().interval()
            => pair.location_high.map(|value| difference(value, unit)),
        Column::text("weight_change").own_words().called("weight") => format!("{} %", points(pair.weight_change)),
        Column::text("weight_interval").own_words().called("from to").secondary().interval()
            => pair.weight_low.zip(pair.weight_high).map(|(low, high)| format!("{}…{}", points(low), points(high))),
    });
    table.for_readers(Audience::People)
}

/// A part of the values in points: `+12`.
fn points(share: f64) -> String {
    format!("{:+.0}", share * 100.0)
}

/// Sentences about what the comparison could not see.
pub(crate) fn notes(rows: &[Compared<'_>]) -> Vec<String> {
    let has_several = has_several(rows);
    let said = |row: &Compared<'_>| {
        let is_unknown = row.comparison.verdict == ComparisonVerdict::Unknown;
        let what = if is_unknown { Some(row.why_unknown()) } else { row.headline() }?;
        let name = &row.metric.name;
        Some(if has_several { format!("{name} of {}: {what}", row.variant) } else { format!("{name}: {what}") })
    };
    let mut notes: Vec<String> = rows.iter().filter_map(said).collect();
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
            "differences below {}{floor} do not count{exact}, nor do {:.0} points of weight; see `--threshold`, `--floor` \
             and `--weight`",
            row.limit_text(),
            row.threshold.weight * 100.0
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mode_differs_where_nothing_is_known() {
        use ComparisonVerdict::{Better, Equal, MovedWeight, Unknown, Worse, WorseWeight};
        for differs in [Better, Worse, MovedWeight, WorseWeight, Unknown] {
            assert_eq!(pair_verdict(Unknown, differs), Unknown);
            assert_eq!(pair_verdict(Worse, differs), differs);
        }
        assert_eq!(pair_verdict(Unknown, Equal), Equal);
    }
}
