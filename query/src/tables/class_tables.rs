//! Time and memory of the classes of a schema, as tables for people and as values for machines.

use std::collections::BTreeMap;

use barrow_processes::{ClassTotals, Figures, Measure, Schema, Spread, WholeSpan};

use super::process_text::time;
use crate::answer::{Audience, Column, Table, Unit, Value, record, table, units};

/// Equal parts of the time in which classes ran: the width of the widest series at a terminal.
pub(crate) const PARTS: usize = 32;

/// A schema with its totals.
pub(crate) struct Totalled<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) totals: Vec<ClassTotals>,
    /// The largest sample of each.
    pub(crate) peaks: Vec<Option<(i64, u64)>>,
    /// The time in which all of them ran; `None` if there is none.
    pub(crate) whole: Option<WholeSpan>,
}

impl Totalled<'_> {
    /// The part of the span of all classes that a class has.
    fn share(&self, class: &ClassTotals) -> Value {
        self.whole.map_or(Value::None, |whole| Value::share(class.span_ns(), whole.span_ns()))
    }
}

/// The times of the classes, with the share of each part of the whole time in which they ran. The last row is about all.
pub(crate) fn when(of: &Totalled<'_>, shares: &[Vec<f64>], of_all: &[f64]) -> Table {
    let of_class = of.totals.iter().zip(of.schema.labels()).enumerate().map(|(at, (class, label))| {
        let load = shares.get(at).cloned().map_or(Value::None, Value::Load);
        (label.as_str(), class.processes, class.running_ns, class.span_ns(), of.share(class), load)
    });
    let of_whole = of.whole.filter(|_| of.totals.len() > 1).map(|whole| {
        let span_ns = whole.span_ns();
        (
            "(all)",
            whole.processes,
            whole.running_ns,
            span_ns,
            Value::share(span_ns, span_ns),
            Value::Load(of_all.to_vec()),
        )
    });
    let table = table!("when", of_class.chain(of_whole), |(class, processes, running_ns, span_ns, share, load)| {
        Column::text("class") => class,
        Column::count("processes") => processes,
        Column::duration("running_ns") => running_ns,
        Column::duration("span_ns") => span_ns,
        Column::share("span_share").called("%") => share,
        Column::picture("").called("from first to last") => load,
    });
    table.for_readers(Audience::People)
}

/// The use of a measure by the classes: alone, with all that they started, and by a process.
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
    let whole = of.totals.iter().filter_map(|class| own(class, measure)).reduce(u64::saturating_add);
    let rows = of.totals.iter().zip(&of.peaks).zip(of.schema.labels());
    let mut table = table!("used", rows, |((class, peak), label)| {
        let (own, all) = match measure {
            Measure::Memory => (peak.map(|(_, bytes)| bytes), None),
            _ => (own(class, measure), figures(class, measure).and_then(|figures| figures.total.value())),
        };
        let share = |part: Option<u64>| match measure {
            Measure::Memory | Measure::Wall => None,
            _ => part.zip(whole).map(|(part, whole)| Value::share(part, whole)),
        };
        let spread = spread(class, measure);
        Column::text("class") => label.as_str(),
        Column::new("own", unit).called(name) => own,
        Column::share("own_share").called("%") => share(own),
        Column::new("all", unit).called("with started") => all,
        Column::share("all_share").called("%") => share(all),
        Column::new("minimum", unit).secondary() => spread.minimum(),
        Column::new("mean", unit).secondary() => spread.mean(),
        Column::new("maximum", unit) => spread.maximum(),
        Column::bytes("peak") => class.peak_bytes.maximum().filter(|_| measure != Measure::Memory),
        ..has_waiting.then(|| Column::duration("waiting")) => has_waiting.then(|| waiting(class)),
    });
    if table.rows.len() > 1 && measure != Measure::Memory {
        let mut total = vec![Value::None; table.columns.len()];
        total[0] = Value::text("(all)");
        total[1] = whole.into();
        total[8] = of.totals.iter().filter_map(|class| class.peak_bytes.maximum()).max().into();
        if has_waiting {
            total[9] = of.totals.iter().filter_map(waiting).reduce(u64::saturating_add).into();
        }
        table.rows.push(total);
    }
    table.for_readers(Audience::People)
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

/// The name of a measure, and the number of processes of which it is not known. A note on all answers is about waiting.
pub(crate) fn unknown(of: &Totalled<'_>, measure: Measure) -> Option<(&'static str, u64)> {
    let name = match measure {
        Measure::Cpu => "processor time",
        Measure::User => "user time",
        Measure::System => "system time",
        Measure::Wall => "time from start to end",
        Measure::Waiting | Measure::Memory => return None,
    };
    let figures = of.totals.iter().filter_map(|class| figures(class, measure));
    Some((name, figures.map(|figures| u64::from(figures.exclusive.sum().unknown())).sum()))
}

fn own(class: &ClassTotals, measure: Measure) -> Option<u64> {
    figures(class, measure).and_then(|figures| figures.exclusive.sum().value())
}

/// Of a process: its own, but from start to end for the wall clock.
fn spread(class: &ClassTotals, measure: Measure) -> Spread {
    match (figures(class, measure), measure) {
        (Some(figures), Measure::Wall) => figures.inclusive,
        (Some(figures), _) => figures.exclusive,
        (None, _) => class.peak_bytes,
    }
}

/// Ranges of a histogram: few enough to compare at a glance. This is a judgement.
const BINS: u64 = 10;

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

    /// The least value of a range.
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

/// The numbers of processes by amount, class by class, and the scale that all classes share in words.
pub(crate) fn histogram(
    schema: &Schema,
    values: &[Vec<u64>],
    measure: Measure,
    is_logarithmic: bool,
) -> (Table, Option<String>) {
    let unit = if measure == Measure::Memory { Unit::Bytes } else { Unit::Duration };
    let most = values.iter().flatten().copied().max();
    let scale = if is_logarithmic { Scale::Logarithmic } else { Scale::Linear(most.unwrap_or(0)) };
    let mut counts = BTreeMap::<(usize, u64), u64>::new();
    for (label, values) in values.iter().enumerate() {
        values.iter().for_each(|&value| *counts.entry((label, scale.bin(value))).or_default() += 1);
    }
    let largest = counts.values().copied().max().unwrap_or(1);
    let table = table!("histogram", counts, |((label, bin), count)| {
        Column::text("class") => schema.labels()[label].as_str(),
        Column::new("from", unit) => scale.edge(bin),
        Column::new("to", unit) => scale.edge(bin + 1),
        Column::count("processes") => count,
        Column::shown("", Unit::Picture) => Value::Bar { length: count, longest: largest },
    });
    (table, most.map(|most| scale.told(most, measure, largest)))
}

impl Scale {
    /// The scale in words.
    fn told(self, most: u64, measure: Measure, largest: u64) -> String {
        let most = if measure == Measure::Memory { units::size(most) } else { units::duration(most) };
        let ranges = match self {
            Scale::Linear(_) => format!("tenths of {most}, the most of any process"),
            Scale::Logarithmic => "powers of two".to_owned(),
        };
        let processes = units::counted(largest, "process");
        format!("all classes have one scale: ranges are {ranges}, and the longest bar is {processes}")
    }
}

/// `{schema, rows[…], all}`
pub(crate) fn record(of: &Totalled<'_>) -> Value {
    let rows = of.totals.iter().zip(&of.peaks).zip(of.schema.labels()).map(|((class, peak), label)| {
        record! {
            Column::text("class") => label.as_str(),
            Column::count("processes") => class.processes,
            Column::count("images") => class.images,
            Column::duration("first_ns") => time(class.first_ns),
            Column::duration("last_ns") => time(class.last_ns),
            Column::duration("span_ns") => class.span_ns(),
            Column::share("span_share") => of.share(class),
            Column::duration("running_ns") => class.running_ns,
            Column::nested("user_ns") => of_figures(&class.user_ns, &class.user_ns.exclusive),
            Column::nested("system_ns") => of_figures(&class.system_ns, &class.system_ns.exclusive),
            Column::nested("waiting_ns") => of_figures(&class.waiting_ns, &class.waiting_ns.exclusive),
            Column::nested("wall_ns") => of_figures(&class.wall_ns, &class.wall_ns.inclusive),
            Column::nested("peak_bytes") => extremes(&class.peak_bytes, Unit::Bytes),
            Column::bytes("peak_together_bytes") => peak.map(|(_, bytes)| bytes),
        }
    });
    record! {
        Column::text("schema") => of.schema.name(),
        Column::nested("rows") => Value::List(rows.collect()),
        Column::nested("all") => of.whole.as_ref().map(all),
    }
}

/// When the processes of all classes ran.
fn all(whole: &WholeSpan) -> Value {
    record! {
        Column::count("processes") => whole.processes,
        Column::duration("first_ns") => time(whole.first_ns),
        Column::duration("last_ns") => time(whole.last_ns),
        Column::duration("span_ns") => whole.span_ns(),
        Column::duration("running_ns") => whole.running_ns,
    }
}

fn of_figures(figures: &Figures, spread: &Spread) -> Value {
    record! {
        Column::duration("exclusive") => figures.exclusive.sum().value(),
        Column::duration("inclusive") => figures.total.value(),
        Column::duration("minimum") => spread.minimum(),
        Column::duration("mean") => spread.mean(),
        Column::duration("maximum") => spread.maximum(),
        Column::duration("inclusive_minimum") => figures.inclusive.minimum(),
        Column::duration("inclusive_mean") => figures.inclusive.mean(),
        Column::duration("inclusive_maximum") => figures.inclusive.maximum(),
        Column::count("unknown") => figures.exclusive.sum().unknown(),
    }
}

fn extremes(of: &Spread, unit: Unit) -> Value {
    record! {
        Column::new("minimum", unit) => of.minimum(),
        Column::new("mean", unit) => of.mean(),
        Column::new("maximum", unit) => of.maximum(),
    }
}

/// A flat table of one schema, for machines.
pub(crate) fn flat(of: &Totalled<'_>) -> Table {
    table!("rows", of.totals.iter().zip(of.schema.labels()), |(class, label)| {
        let wall = &class.wall_ns.inclusive;
        Column::text("class") => label.as_str(),
        Column::count("processes") => class.processes,
        Column::duration("first_ns") => time(class.first_ns),
        Column::duration("last_ns") => time(class.last_ns),
        Column::duration("span_ns") => class.span_ns(),
        Column::share("span_share") => of.share(class),
        Column::duration("running_ns") => class.running_ns,
        Column::duration("user_exclusive_ns") => class.user_ns.exclusive.sum().value(),
        Column::duration("user_inclusive_ns") => class.user_ns.total.value(),
        Column::duration("system_exclusive_ns") => class.system_ns.exclusive.sum().value(),
        Column::duration("system_inclusive_ns") => class.system_ns.total.value(),
        Column::duration("wall_minimum_ns") => wall.minimum(),
        Column::duration("wall_mean_ns") => wall.mean(),
        Column::duration("wall_maximum_ns") => wall.maximum(),
        Column::bytes("peak_minimum_bytes") => class.peak_bytes.minimum(),
        Column::bytes("peak_mean_bytes") => class.peak_bytes.mean(),
        Column::bytes("peak_maximum_bytes") => class.peak_bytes.maximum(),
        Column::duration("waiting_exclusive_ns") => class.waiting_ns.exclusive.sum().value(),
        Column::duration("waiting_inclusive_ns") => class.waiting_ns.total.value(),
    })
    .for_readers(Audience::Machines)
}
