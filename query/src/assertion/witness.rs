//! Witnesses: the objects, processes, runs or modes for which an assertion does not hold.

use std::cmp::Reverse;

use barrow_analyzer::{Heap, ObjectSet, SnapshotId};
use barrow_processes::{Amounts, Attribute, ImageId, ImageSet, ProcessTree, SampledPeak};
use barrow_statistics::Mode;

use super::measure::{Measure, OfProcesses, Reading};
use super::{Figure, judgement::grown::Grown};
use crate::answer::{Column, Fact, Value, measured, record, shortened, units};
use crate::error::QueryError;
use crate::progress::Meter;
use crate::tables::chain::{Chain, title, titled, type_title};
use crate::tables::{series, suspect_lines, suspects::Suspected};

/// The most suspects of a witness: the largest ones. There are at most ten unless `--min` says less than a tenth of
/// the heap.
const MOST_SUSPECTS: usize = 20;
/// The most objects, processes or runs that are shown: examples, since the count is there, too.
const SHOWN: usize = 3;
/// The most characters of a command line that are shown, about a line of a terminal.
const LONGEST_COMMAND: usize = 100;

/// The reason why an assertion does not hold.
pub(super) struct Witness {
    /// For people.
    pub(super) lines: Vec<String>,
    /// For machines.
    pub(super) fields: Vec<Fact>,
}

/// The largest objects of a set, and a path to the largest.
pub(super) fn of_set(heap: &Heap, set: &ObjectSet, meter: &Meter) -> Result<Witness, QueryError> {
    let dominators = heap.dominators(meter)?;
    let largest = dominators.largest(SHOWN, |object| set.contains(object));
    let mut lines = Vec::new();
    let mut objects = Vec::new();
    for &object in &largest {
        let retained = dominators.retained_bytes(object);
        lines.push(format!("{} retains {}", titled(heap, object)?, units::size(retained)));
        objects.push(record! {
            Column::object("object") => object.0,
            Column::text("type").names() => type_title(heap, object)?,
            Column::text("title").names() => title(heap, object)?,
            Column::bytes("retained_bytes") => retained,
        });
    }
    let count = set.len();
    if count > largest.len() as u64 && !largest.is_empty() {
        lines.push(format!("… of {}, the largest first", units::counted(count, "object")));
    }
    let mut fields = vec![Fact::new(Column::nested("largest"), objects)];
    match largest.first() {
        Some(&object) => {
            let chain = Chain::to(heap, object, meter)?;
            lines.push(format!("@{object} is held by"));
            lines.extend(chain.lines().into_iter().map(|line| format!("  {line}")));
            fields.push(Fact::new(Column::nested("path"), chain.value()));
        }
        None if count > 0 => lines.push(format!("no root reaches {}", units::counted(count, "such object"))),
        None => lines.push("there is no such object".to_owned()),
    }
    Ok(Witness { lines, fields })
}

/// The series with its slope, and the witness of the last snapshot.
pub(super) fn of_growth(last: SnapshotId, of_last: Witness, grown: &Grown, unit: Figure) -> Witness {
    let amount = if unit == Figure::BytesPerSnapshot { Figure::Bytes } else { Figure::Count("objects") };
    let points = grown.points.iter().map(|(snapshot, found)| format!("{snapshot}: {}", amount.text(*found)));
    let trend = &grown.growth.trend;
    let (low, high) = trend.interval.unwrap_or((trend.slope, trend.slope));
    let mut lines = vec![
        format!("by snapshot: {}", points.collect::<Vec<_>>().join(", ")),
        format!(
            "it {}: slope {}, with 95 % confidence between {} and {}",
            series::words(grown.growth.verdict),
            unit.text(trend.slope),
            unit.text(low),
            unit.text(high)
        ),
        format!("in snapshot {last}:"),
    ];
    lines.extend(of_last.lines.into_iter().map(|line| format!("  {line}")));
    let points = grown.points.iter().map(|&(snapshot, found)| {
        record! { Column::number("snapshot") => snapshot as u64, Column::new("found", amount.unit()) => found as u64 }
    });
    let mut fields = vec![
        Fact::new(Column::nested("series"), Value::List(points.collect())),
        Fact::new(Column::new("slope", amount.unit()), Value::Rate(trend.slope)),
        Fact::new(Column::new("slope_low", amount.unit()), Value::Rate(low)),
        Fact::new(Column::new("slope_high", amount.unit()), Value::Rate(high)),
    ];
    fields.extend(of_last.fields);
    Witness { lines, fields }
}

/// Every suspect as `leaks` describes it, with the reason why it is not excused where an exception names it.
pub(super) fn of_suspects(
    heap: &Heap,
    suspects: &[(Suspected, Option<String>)],
    meter: &Meter,
) -> Result<Witness, QueryError> {
    let whole = heap.dominators(meter)?.reachable_bytes();
    let mut lines = Vec::new();
    let mut found = Vec::new();
    for (suspected, reason) in suspects.iter().take(MOST_SUSPECTS) {
        let suspect = &suspected.suspect;
        let chain = suspect_lines::chain_of(heap, suspect, meter)?;
        let described = suspect_lines::described(heap, suspected, &chain, whole)?;
        lines.extend(described.iter().map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned()));
        lines.extend(reason.iter().map(|reason| format!("  {reason}")));
        found.push(record! {
            Column::text("fingerprint").own_words() => suspected.fingerprint.to_string(),
            Column::object("object") => suspect.object.0,
            Column::text("type").names() => type_title(heap, suspect.object)?,
            Column::text("title").names() => title(heap, suspect.object)?,
            Column::count("objects") => suspect.objects,
            Column::bytes("retained_bytes") => suspect.retained_bytes,
            Column::count("alike") => suspected.alike,
            Column::bytes("together_bytes") => suspected.retained_bytes,
            Column::text("not_excused_because").own_words() => reason.clone(),
            Column::nested("path") => chain.value(),
        });
    }
    if let Some(more) = suspects.len().checked_sub(MOST_SUSPECTS).filter(|&more| more > 0) {
        lines.push(format!("and {more} more"));
    }
    Ok(Witness { lines, fields: vec![Fact::new(Column::nested("suspects"), found)] })
}

/// Processes that were measured.
#[derive(Clone)]
pub(super) struct Contributors {
    pub(super) tree: std::sync::Arc<ProcessTree>,
    pub(super) images: ImageSet,
    /// The sample with the peak, if that was measured.
    pub(super) sample: Option<SampledPeak>,
    pub(super) measure: &'static Measure,
}

impl Contributors {
    /// The numbers that the measure adds up, or of which it is one.
    fn ranking(&self) -> Option<Amounts> {
        Amounts::of_attribute(Attribute::named(self.measure.word)?, &self.tree)
    }

    /// Images with the contribution of each, the largest first; in their order, without one, where each counts as much.
    fn rows(&self) -> Vec<(ImageId, Option<u64>)> {
        let tree = &*self.tree;
        if let Some(sample) = &self.sample {
            let mut rows: Vec<_> = sample.images.iter().map(|&(id, bytes)| (id, Some(bytes))).collect();
            rows.sort_by_key(|&(id, bytes)| (Reverse(bytes), id));
            return rows;
        }
        if let Some(by) = self.ranking() {
            return by.ranked(tree, &self.images).into_iter().map(|id| (id, by.of(tree, id))).collect();
        }
        let is_any = !matches!(self.measure.reading, Reading::Processes(OfProcesses::Failed));
        let shown = self.images.iter().filter(|&id| is_any || tree.end_of(id).is_some_and(|end| end.is_failure()));
        shown.map(|id| (id, None)).collect()
    }

    /// `1234:0 gcc -c a.c: 2.1 GiB`.
    fn line(&self, id: ImageId, found: Option<u64>) -> String {
        let (tree, image) = (&*self.tree, self.tree.image(id));
        let command = tree.arguments(image).collect::<Vec<_>>().join(" ");
        let mut line = format!("{} {}", tree.name(image.process), shortened(&command, LONGEST_COMMAND));
        if let Some(found) = found {
            line += &format!(": {}", self.measure.figure.text(found as f64));
        }
        match tree.end_of(id).filter(|end| end.is_failure()).map(|end| (end.exit_status, end.signal)) {
            Some((_, Some(signal))) => line += &format!(", ended by signal {signal}"),
            Some((Some(status), None)) => line += &format!(", exit status {status}"),
            _ => {}
        }
        line
    }

    fn record(&self, id: ImageId, found: Option<u64>) -> Value {
        let (tree, image) = (&*self.tree, self.tree.image(id));
        let end = tree.end_of(id);
        record! {
            Column::process("process") => tree.name(image.process),
            Column::number("image") => image.number,
            Column::nested("arguments") => Value::List(tree.arguments(image).map(Value::text).collect()),
            Column::new("found", self.measure.figure.unit()) => found,
            Column::number("exit_code") => end.and_then(|end| end.exit_status),
            Column::number("signal") => end.and_then(|end| end.signal),
        }
    }
}

/// The processes that contribute most, or the first ones where each counts as much.
pub(super) fn of_processes(measured: &Contributors) -> Witness {
    let rows = measured.rows();
    let shown = &rows[..rows.len().min(SHOWN)];
    let mut lines = Vec::new();
    if let Some(sample) = &measured.sample {
        let time = units::duration(sample.time_ns.unsigned_abs());
        let sign = if sample.time_ns < 0 { "-" } else { "" };
        lines.push(format!("in the sample at {sign}{time}:"));
    }
    lines.extend(shown.iter().map(|&(id, found)| measured.line(id, found)));
    if rows.len() > SHOWN {
        let is_ranked = measured.sample.is_some() || measured.ranking().is_some();
        let order = if is_ranked { ", the largest first" } else { "" };
        lines.push(format!("… of {}{order}", units::counted(rows.len() as u64, "program")));
    }
    if rows.is_empty() {
        lines.push("there is no such process".to_owned());
    }
    let records = shown.iter().map(|&(id, found)| measured.record(id, found)).collect();
    Witness { lines, fields: vec![Fact::new(Column::nested("processes"), Value::List(records))] }
}

/// A program of trials; people know which it is if there is no other.
pub(super) fn of_program(name: &str, programs: usize) -> Witness {
    let lines = if programs > 1 { vec![format!("program `{name}`")] } else { Vec::new() };
    Witness { lines, fields: vec![Fact::new(Column::text("program"), name)] }
}

impl Witness {
    /// Adds runs, of which each is named once.
    pub(super) fn add_runs(&mut self, mut runs: Vec<u32>) {
        runs.dedup();
        if runs.is_empty() {
            return;
        }
        let shown: Vec<String> = runs.iter().take(SHOWN).map(|run| format!("run {run}")).collect();
        let more = match runs.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        self.lines.push(format!("{}{more}; `runs RUN` shows one", shown.join(", ")));
        let runs = Value::List(runs.into_iter().map(Value::from).collect());
        self.fields.push(Fact::new(Column::nested("runs"), runs));
    }

    /// Adds the modes of values in `unit`.
    pub(super) fn add_modes(&mut self, modes: &[Mode], unit: &str) {
        self.lines.extend((1..).zip(modes).map(|(number, mode)| {
            let (location, share) = (measured::text(mode.location, unit), mode.weight * 100.0);
            format!("mode {number}: {location}, {share:.0} % of the values")
        }));
    }
}
