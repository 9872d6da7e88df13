//! The measures that assertions compare: the one table that the parser, its errors, help and completion read.

use std::borrow::Cow;
use std::sync::LazyLock;

use barrow_analyzer::{Counted, Heap, ObjectSet};
use barrow_processes::{ATTRIBUTES, Aggregate, Attribute, Selection};
use barrow_statistics::Location;
use barrow_trials::Run;

use super::figure::Figure;
use crate::error::QueryError;
use crate::progress::Meter;

/// A measure: `retained(…)`.
#[derive(Debug)]
pub(crate) struct Measure {
    pub(super) word: &'static str,
    /// The unit of its numbers.
    pub(super) figure: Figure,
    pub(super) reading: Reading,
    /// A clause of `help assert`.
    pub(crate) document: Cow<'static, str>,
}

/// The subject of a measure, and how the measure is read from it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading {
    Objects(OfObjects),
    /// The slope of what a path of types retains.
    Path,
    Processes(OfProcesses),
    Trials(OfTrials),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum OfObjects {
    Amount(Quantity),
    /// The slope over snapshots.
    Growth(Quantity),
}

/// A number of a set of objects. Attributes are numbers of single objects: what a set retains is no sum of theirs, and
/// `size` is both sizes, as in `diff`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantity {
    pub(super) name: &'static str,
    pub(super) of: fn(&Heap, &ObjectSet, &Counted, &Meter) -> Result<u64, QueryError>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum OfProcesses {
    /// A number, and the number of programs without it: those of which this noun was not recorded.
    Total(&'static str, fn(&Selection) -> (Option<u64>, u32)),
    /// The number of processes that failed.
    Failed,
    /// The most memory in a sample.
    Sampled,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum OfTrials {
    /// By how much the values became worse.
    Change,
    Median,
    Extreme(fn(&Location) -> f64),
    /// The number of modes.
    Modes,
    /// The number of runs with a property, and whether a witness names them.
    Runs(fn(&Run) -> bool, bool),
}

const BYTES: Figure = Figure::Bytes;
const TIME: Figure = Figure::Time;
/// The unit of the metric, once it is known.
const METRIC: Figure = Figure::Measured("");

const COUNT: Quantity = Quantity { name: "count", of: |_, _, counted, _| Ok(counted.objects) };
const SIZE: Quantity =
    Quantity { name: "size", of: |_, _, counted, _| Ok(counted.heap_bytes.saturating_add(counted.unmanaged_bytes)) };
const RETAINED: Quantity = Quantity { name: "retained", of: |heap, set, _, meter| retained_bytes(heap, set, meter) };

/// All measures, of objects, of processes and of trials. Of rows with the same word the first is meant unless the argument
/// or the recording says so.
pub(crate) static MEASURES: LazyLock<[Vec<Measure>; 3]> =
    LazyLock::new(|| [measures_of_objects(), measures_of_processes(), measures_of_trials()]);

fn measures_of_objects() -> Vec<Measure> {
    use OfObjects::{Amount, Growth};
    vec![
        objects("count", Figure::Count("objects"), Amount(COUNT), "`count(EXPR) <= 100`;"),
        objects("size", BYTES, Amount(SIZE), "`size(EXPR)`, shallow and, where the dump tells it, unmanaged;"),
        objects(
            "retained",
            BYTES,
            Amount(RETAINED),
            "`retained(EXPR) < 64M`, what would be freed with all these objects;",
        ),
        objects(
            "growth",
            Figure::BytesPerSnapshot,
            Growth(RETAINED),
            "`growth(EXPR) <= 0`, by how many bytes per snapshot their retained size grows;",
        ),
        objects(
            "growth",
            Figure::ObjectsPerSnapshot,
            Growth(COUNT),
            "`growth(count EXPR)`, by how many objects per snapshot their number grows;",
        ),
        Measure {
            word: "growth",
            figure: Figure::BytesPerSnapshot,
            reading: Reading::Path,
            document: "`growth(path \"PATH\")`, that of what a path retains, as `growth` lists it;".into(),
        },
    ]
}

/// The numbers of processes, and those that are attributes of several: first those that are no sums.
fn measures_of_processes() -> Vec<Measure> {
    use OfProcesses::{Failed, Sampled, Total};
    let all = |selection: &Selection| (Some(selection.images), 0);
    let mut measures = vec![
        processes("count", Figure::Count("programs"), Total("", all), "`count(EXPR)`, programs that were executed;"),
        processes("failed", Figure::Count("processes"), Failed, "`failed(EXPR) = 0`, processes that failed;"),
    ];
    let of_attributes = ATTRIBUTES.iter().filter_map(|attribute| Some((attribute, attribute.aggregate()?)));
    let (others, sums): (Vec<_>, Vec<_>) = of_attributes.partition(|(_, aggregate)| aggregate.document.is_some());
    for (attribute, aggregate) in others {
        let document = aggregate.document.unwrap_or_default();
        measures.push(of_attribute(attribute, aggregate, format!("{document};")));
    }
    let sampled = "`peak(EXPR) < 8G`, the most memory of all of them together in a sample;";
    measures.push(processes("peak", BYTES, Sampled, sampled));
    for (at, &(attribute, aggregate)) in sums.iter().enumerate() {
        let end = match sums.len() - at {
            1 => ", their sums.",
            2 => " and",
            _ => ",",
        };
        measures.push(of_attribute(attribute, aggregate, format!("`{}(EXPR)`{end}", attribute.word())));
    }
    measures
}

fn of_attribute(attribute: &Attribute, aggregate: Aggregate, document: String) -> Measure {
    let figure = match attribute.quantity() {
        Some(barrow_processes::Quantity::Bytes) => BYTES,
        Some(barrow_processes::Quantity::Time) => TIME,
        _ => Figure::Count(attribute.word()),
    };
    processes(attribute.word(), figure, OfProcesses::Total(aggregate.noun, aggregate.of), document)
}

fn measures_of_trials() -> Vec<Measure> {
    use OfTrials::{Change, Extreme, Median, Modes, Runs};
    vec![
        trials(
            "compare",
            METRIC,
            Change,
            "`compare(METRIC) <= 5%`, that the second program, or this recording beside that of `--baseline`, is not \
             worse by more, in any of its modes;",
        ),
        trials("median", METRIC, Median, "`median(METRIC) < 64M`,"),
        trials("minimum", METRIC, Extreme(|location| location.minimum), "`minimum(METRIC)`,"),
        trials("maximum", METRIC, Extreme(|location| location.maximum), "`maximum(METRIC)`,"),
        trials("modes", Figure::Count("modes"), Modes, "`modes(METRIC) = 1`,"),
        trials("runs", Figure::Count("runs"), Runs(Run::counts, false), "`runs() >= 20` and"),
        trials(
            "failed",
            Figure::Count("runs"),
            Runs(|run| !run.is_warmup && run.has_failed(), true),
            "`failed() = 0`.",
        ),
    ]
}

/// The words of all measures, each once.
pub(crate) fn measures() -> Vec<&'static str> {
    let mut words = Vec::new();
    for measure in MEASURES.iter().flatten() {
        if !words.contains(&measure.word) {
            words.push(measure.word);
        }
    }
    words
}

fn objects(word: &'static str, figure: Figure, reading: OfObjects, document: impl Into<Cow<'static, str>>) -> Measure {
    Measure { word, figure, reading: Reading::Objects(reading), document: document.into() }
}

fn processes(
    word: &'static str,
    figure: Figure,
    reading: OfProcesses,
    document: impl Into<Cow<'static, str>>,
) -> Measure {
    Measure { word, figure, reading: Reading::Processes(reading), document: document.into() }
}

fn trials(word: &'static str, figure: Figure, reading: OfTrials, document: impl Into<Cow<'static, str>>) -> Measure {
    Measure { word, figure, reading: Reading::Trials(reading), document: document.into() }
}

/// The bytes that would be freed with all objects of a set.
pub(super) fn retained_bytes(heap: &Heap, set: &ObjectSet, meter: &Meter) -> Result<u64, QueryError> {
    if set.is_empty() {
        return Ok(0);
    }
    let retained = heap.retained_set(set, meter)?;
    let types = heap.type_totals_of(&retained, meter)?;
    Ok(types.iter().fold(0, |sum, row| sum.saturating_add(row.heap_bytes).saturating_add(row.unmanaged_bytes)))
}
