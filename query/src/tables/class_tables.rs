//! What the classes of a schema used, as tables for people and as values for machines.

use std::collections::BTreeMap;

use barrow_processes::{ClassTotals, Figures, Measure, Schema, Spread, Sum, WholeSpan};

use super::process_text::time;
use crate::answer::{Audience, Column, Table, Unit, Value, units};

/// Characters of a bar.
pub(crate) const BAR: usize = 32;

/// A schema with its totals.
pub(crate) struct Totalled<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) totals: Vec<ClassTotals>,
    /// The largest sample of each.
    pub(crate) peaks: Vec<Option<(i64, u64)>>,
    /// When all of them ran; `None` if there is none.
    pub(crate) whole: Option<WholeSpan>,
}

impl Totalled<'_> {
    /// Which part of the span of all classes that of a class is.
    fn share(&self, class: &ClassTotals) -> Value {
        self.whole.map_or(Value::None, |whole| Value::share(class.span_ns(), whole.span_ns()))
    }
}

/// When the classes ran: a bar from the start of the first process to the end of the last. `#` is drawn where processes ran
/// for at least half of the time, `-` where they ran for less, `.` where none did. The last row is about all of them.
pub(crate) fn when(of: &Totalled<'_>, shares: &[Vec<f64>], of_all: &[f64]) -> Table {
    let columns = vec![
        Column::text("class"),
        Column::count("processes"),
        Column::duration("running_ns"),
        Column::duration("span_ns"),
        Column::share("span_share").called("%"),
        Column::text("").called("from first to last"),
    ];
    let rows = of.totals.iter().enumerate().map(|(at, class)| {
        vec![
            Value::text(&of.schema.labels()[at]),
            class.processes.into(),
            class.running_ns.into(),
            class.span_ns().into(),
            of.share(class),
            shares.get(at).map(|shares| bar(shares)).into(),
        ]
    });
    let mut rows: Vec<Vec<Value>> = rows.collect();
    if let Some(whole) = of.whole.filter(|_| of.totals.len() > 1) {
        rows.push(vec![
            Value::text("(all)"),
            whole.processes.into(),
            whole.running_ns.into(),
            whole.span_ns().into(),
            Value::share(whole.span_ns(), whole.span_ns()),
            bar(of_all).into(),
        ]);
    }
    Table { key: "when", audience: Audience::People, rows, columns }
}

fn bar(shares: &[f64]) -> String {
    let is_running = |share: &f64| *share > 0.0;
    let (first, last) = (shares.iter().position(is_running), shares.iter().rposition(is_running));
    let drawn = shares.iter().enumerate().map(|(at, share)| match share {
        _ if first.is_none_or(|first| at < first) || last.is_none_or(|last| at > last) => ' ',
        share if *share >= 0.5 => '#',
        share if *share > 0.0 => '-',
        _ => '.',
    });
    format!("|{}|", drawn.collect::<String>())
}

/// What the classes used of something: alone, with all that they started, and of a process.
pub(crate) fn used(of: &Totalled<'_>, measure: Measure) -> Table {
    let unit = if measure == Measure::Memory { Unit::Bytes } else { Unit::Duration };
    let name = match measure {
        Measure::Cpu => "cpu",
        Measure::User => "user",
        Measure::System => "system",
        Measure::Waiting => "waiting",
        Measure::Wall => "wall",
        Measure::Memory => "peak together",
    };
    let waiting = |class: &ClassTotals| class.waiting_ns.exclusive.sum().value();
    let has_waiting = measure != Measure::Waiting && of.totals.iter().any(|class| waiting(class).is_some());
    let mut columns = vec![
        Column::text("class"),
        Column::new("own", unit).called(name),
        Column::share("own_share").called("%"),
        Column::new("all", unit).called("with started"),
        Column::share("all_share").called("%"),
        Column::new("minimum", unit).secondary(),
        Column::new("mean", unit),
        Column::new("maximum", unit),
        Column::bytes("peak"),
    ];
    if has_waiting {
        columns.push(Column::duration("waiting"));
    }
    let whole = of.totals.iter().fold(0u64, |sum, class| sum.saturating_add(own(class, measure).unwrap_or(0)));
    let rows = of.totals.iter().enumerate().map(|(at, class)| {
        let (own, all) = match measure {
            Measure::Memory => (of.peaks[at].map(|(_, bytes)| bytes), None),
            _ => (own(class, measure), figures(class, measure).and_then(|figures| figures.total.value())),
        };
        let share = |part: Option<u64>| match measure {
            Measure::Memory | Measure::Wall => Value::None,
            _ => part.map_or(Value::None, |part| Value::share(part, whole)),
        };
        let spread = spread(class, measure);
        let mut row = vec![
            Value::text(&of.schema.labels()[at]),
            own.into(),
            share(own),
            all.into(),
            share(all),
            spread.minimum().into(),
            spread.mean().into(),
            spread.maximum().into(),
            if measure == Measure::Memory { Value::None } else { class.peak_bytes.maximum().into() },
        ];
        row.extend(has_waiting.then(|| waiting(class).into()));
        row
    });
    let mut rows: Vec<Vec<Value>> = rows.collect();
    if rows.len() > 1 && measure != Measure::Memory {
        let mut total = vec![Value::None; columns.len()];
        total[0] = Value::text("(all)");
        total[1] = whole.into();
        total[8] = of.totals.iter().filter_map(|class| class.peak_bytes.maximum()).max().into();
        if has_waiting {
            total[9] = of.totals.iter().filter_map(waiting).reduce(u64::saturating_add).into();
        }
        rows.push(total);
    }
    Table { key: "used", audience: Audience::People, rows, columns }
}

fn figures(class: &ClassTotals, measure: Measure) -> Option<&Figures> {
    match measure {
        Measure::Cpu => Some(&class.cpu_ns),
        Measure::User => Some(&class.user_ns),
        Measure::System => Some(&class.system_ns),
        Measure::Waiting => Some(&class.waiting_ns),
        Measure::Wall => Some(&class.wall_ns),
        Measure::Memory => None,
    }
}

fn own(class: &ClassTotals, measure: Measure) -> Option<u64> {
    figures(class, measure).and_then(|figures| figures.exclusive.sum().value())
}

/// Of a process: its own, but from start to end for the wall.
fn spread(class: &ClassTotals, measure: Measure) -> Spread {
    match (figures(class, measure), measure) {
        (Some(figures), Measure::Wall) => figures.inclusive,
        (Some(figures), _) => figures.exclusive,
        (None, _) => class.peak_bytes,
    }
}

/// Ranges of a histogram.
const BINS: u64 = 10;
/// The longest bar of a histogram, in characters.
const LONGEST_BAR: u64 = 30;

/// The ranges of a histogram, which all its classes share.
#[derive(Clone, Copy)]
enum Scale {
    /// Equal parts of everything up to this.
    Linear(u64),
    /// Powers of two.
    Logarithmic,
}

impl Scale {
    /// The range of a value.
    fn bin(self, value: u64) -> u64 {
        match self {
            // The number of digits.
            Scale::Logarithmic => u64::from(u64::BITS - value.leading_zeros()),
            Scale::Linear(most) => (u128::from(value) * u128::from(BINS) / (u128::from(most) + 1)) as u64,
        }
    }

    /// Where a range begins.
    fn edge(self, bin: u64) -> u64 {
        match self {
            Scale::Logarithmic => {
                bin.checked_sub(1).map_or(0, |power| 1u64.checked_shl(power as u32).unwrap_or(u64::MAX))
            }
            Scale::Linear(most) => {
                let edge = (u128::from(bin) * (u128::from(most) + 1)).div_ceil(u128::from(BINS));
                edge.min(u128::from(u64::MAX)) as u64
            }
        }
    }
}

/// How many processes have how much, class by class, and the scale that all classes share in words.
pub(crate) fn histogram(
    schema: &Schema,
    values: &[Vec<u64>],
    measure: Measure,
    is_logarithmic: bool,
) -> (Table, Option<String>) {
    let unit = if measure == Measure::Memory { Unit::Bytes } else { Unit::Duration };
    let columns = vec![
        Column::text("class"),
        Column::new("from", unit),
        Column::new("to", unit),
        Column::count("processes"),
        Column::shown("", Unit::Text),
    ];
    let most = values.iter().flatten().copied().max();
    let scale = if is_logarithmic { Scale::Logarithmic } else { Scale::Linear(most.unwrap_or(0)) };
    let mut counts = BTreeMap::<(usize, u64), u64>::new();
    for (label, values) in values.iter().enumerate() {
        values.iter().for_each(|&value| *counts.entry((label, scale.bin(value))).or_default() += 1);
    }
    let largest = counts.values().copied().max().unwrap_or(1);
    let rows = counts.iter().map(|(&(label, bin), &count)| {
        let length = (u128::from(count) * u128::from(LONGEST_BAR)).div_ceil(u128::from(largest)) as usize;
        vec![
            Value::text(&schema.labels()[label]),
            scale.edge(bin).into(),
            scale.edge(bin + 1).into(),
            count.into(),
            Value::text("#".repeat(length)),
        ]
    });
    let table = Table { key: "histogram", audience: Audience::Everyone, rows: rows.collect(), columns };
    (table, most.map(|most| scale.told(most, measure, largest)))
}

impl Scale {
    /// What people need to compare the classes.
    fn told(self, most: u64, measure: Measure, largest: u64) -> String {
        let most = if measure == Measure::Memory { units::size(most) } else { units::duration(most) };
        let ranges = match self {
            Scale::Linear(_) => format!("tenths of {most}, the most of any process"),
            Scale::Logarithmic => "powers of two".to_owned(),
        };
        let processes = units::counted(largest, "process");
        format!("all classes have one scale: ranges are {ranges}, and {LONGEST_BAR} `#` are {processes}")
    }
}

/// `{schema, rows[…], all}`
pub(crate) fn record(of: &Totalled<'_>) -> Value {
    let rows = of.totals.iter().zip(&of.peaks).zip(of.schema.labels()).map(|((class, peak), label)| {
        let spread = |of: &Spread| fields(&[("minimum", of.minimum()), ("mean", of.mean()), ("maximum", of.maximum())]);
        Value::Record(vec![
            ("class".to_owned(), Value::text(label)),
            ("processes".to_owned(), class.processes.into()),
            ("images".to_owned(), class.images.into()),
            ("first_ns".to_owned(), time(class.first_ns)),
            ("last_ns".to_owned(), time(class.last_ns)),
            ("span_ns".to_owned(), class.span_ns().into()),
            ("span_share".to_owned(), of.share(class)),
            ("running_ns".to_owned(), class.running_ns.into()),
            ("user_ns".to_owned(), of_figures(&class.user_ns, &class.user_ns.exclusive)),
            ("system_ns".to_owned(), of_figures(&class.system_ns, &class.system_ns.exclusive)),
            ("waiting_ns".to_owned(), of_figures(&class.waiting_ns, &class.waiting_ns.exclusive)),
            ("wall_ns".to_owned(), of_figures(&class.wall_ns, &class.wall_ns.inclusive)),
            ("peak_bytes".to_owned(), spread(&class.peak_bytes)),
            ("peak_together_bytes".to_owned(), peak.map(|(_, bytes)| bytes).into()),
        ])
    });
    Value::Record(vec![
        ("schema".to_owned(), Value::text(of.schema.name())),
        ("rows".to_owned(), Value::List(rows.collect())),
        ("all".to_owned(), of.whole.as_ref().map_or(Value::None, all)),
    ])
}

/// When the processes of all classes ran.
fn all(whole: &WholeSpan) -> Value {
    let fields: [(&str, Value); 5] = [
        ("processes", whole.processes.into()),
        ("first_ns", time(whole.first_ns)),
        ("last_ns", time(whole.last_ns)),
        ("span_ns", whole.span_ns().into()),
        ("running_ns", whole.running_ns.into()),
    ];
    Value::Record(fields.map(|(key, value)| (key.to_owned(), value)).to_vec())
}

fn of_figures(figures: &Figures, spread: &Spread) -> Value {
    let unknown = |sum: Sum| Some(u64::from(sum.unknown()));
    fields(&[
        ("exclusive", figures.exclusive.sum().value()),
        ("inclusive", figures.total.value()),
        ("minimum", spread.minimum()),
        ("mean", spread.mean()),
        ("maximum", spread.maximum()),
        ("inclusive_minimum", figures.inclusive.minimum()),
        ("inclusive_mean", figures.inclusive.mean()),
        ("inclusive_maximum", figures.inclusive.maximum()),
        ("unknown", unknown(figures.exclusive.sum())),
    ])
}

fn fields(fields: &[(&str, Option<u64>)]) -> Value {
    Value::Record(fields.iter().map(|&(key, value)| (key.to_owned(), value.into())).collect())
}

/// A flat table of one schema, for CSV.
pub(crate) fn flat(of: &Totalled<'_>) -> Table {
    let number = |key, unit| Column::new(key, unit);
    let columns = vec![
        number("class", Unit::Text),
        number("processes", Unit::Count),
        number("first_ns", Unit::Duration),
        number("last_ns", Unit::Duration),
        number("span_ns", Unit::Duration),
        number("span_share", Unit::Share),
        number("running_ns", Unit::Duration),
        number("user_exclusive_ns", Unit::Duration),
        number("user_inclusive_ns", Unit::Duration),
        number("system_exclusive_ns", Unit::Duration),
        number("system_inclusive_ns", Unit::Duration),
        number("wall_minimum_ns", Unit::Duration),
        number("wall_mean_ns", Unit::Duration),
        number("wall_maximum_ns", Unit::Duration),
        number("peak_minimum_bytes", Unit::Bytes),
        number("peak_mean_bytes", Unit::Bytes),
        number("peak_maximum_bytes", Unit::Bytes),
        number("waiting_exclusive_ns", Unit::Duration),
        number("waiting_inclusive_ns", Unit::Duration),
    ];
    let rows = of.totals.iter().zip(of.schema.labels()).map(|(class, label)| {
        let spread = |of: &Spread| [of.minimum().into(), of.mean().into(), of.maximum().into()];
        let both = |of: &Figures| [of.exclusive.sum().value().into(), of.total.value().into()];
        let mut row = vec![Value::text(label), class.processes.into(), time(class.first_ns), time(class.last_ns)];
        row.extend([class.span_ns().into(), of.share(class), class.running_ns.into()]);
        row.extend(both(&class.user_ns));
        row.extend(both(&class.system_ns));
        row.extend(spread(&class.wall_ns.inclusive));
        row.extend(spread(&class.peak_bytes));
        row.extend(both(&class.waiting_ns));
        row
    });
    Table { key: "rows", audience: Audience::Everyone, rows: rows.collect(), columns }
}
