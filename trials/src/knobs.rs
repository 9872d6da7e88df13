//! The layouts of the values: one column for each knob.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use barrow_statistics::KnobValues;

use crate::model::{Knob, Trials};
use crate::series::Series;
use crate::values::Value;

/// The values of a knob, one for each group of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct KnobColumn {
    /// The name of the knob.
    pub name: Arc<str>,
    /// Its values in the order of the groups.
    pub values: KnobValues,
    /// The groups are those of [`Series::sample_by_run`], because all values of a run have the same knob value;
    /// otherwise they are those of [`Series::sample`]. Values of a run are not independent evidence about a knob of the
    /// run.
    pub is_of_run: bool,
}

/// The knobs that every group of a series has and that differ between them, by name.
#[must_use]
pub fn knob_columns(trials: &Trials, series: &Series<'_>) -> Vec<KnobColumn> {
    let layouts = Layouts::of(trials);
    let mut columns = columns(&layouts, series, false);
    if series.has_layout_per_value() && series.len() > series.run_count() {
        let own: BTreeSet<&Arc<str>> = series.values().flat_map(|value| layouts.own(&value)).map(name).collect();
        columns.retain(|column| !own.contains(&column.name));
        columns.extend(self::columns(&layouts, series, true).into_iter().filter(|column| own.contains(&column.name)));
        columns.sort_by(|one, other| one.name.cmp(&other.name));
    }
    columns
}

fn name(knob: &Knob) -> &Arc<str> {
    &knob.name
}

/// All layouts, indexed by run and iteration.
struct Layouts<'t> {
    trials: &'t Trials,
    /// By run and iteration.
    own: HashMap<(u32, u64), Vec<&'t Knob>>,
}

impl<'t> Layouts<'t> {
    fn of(trials: &'t Trials) -> Self {
        let mut own: HashMap<(u32, u64), Vec<&Knob>> = HashMap::new();
        for (run, described) in (0..).zip(trials.runs()) {
            for knob in &described.knobs {
                if let Some(iteration) = knob.iteration {
                    own.entry((run, iteration)).or_default().push(knob);
                }
            }
        }
        Layouts { trials, own }
    }

    /// The knobs of the iteration that a value belongs to.
    fn own(&self, value: &Value) -> impl Iterator<Item = &'t Knob> + use<'t> {
        let own = value.iteration.and_then(|iteration| self.own.get(&(value.run.0, iteration)));
        own.cloned().unwrap_or_default().into_iter()
    }

    /// The knobs that a value was measured under: those of its run, overridden by those of its iteration.
    fn layout(&self, value: &Value) -> BTreeMap<&'t Arc<str>, &'t Arc<str>> {
        let of_run = self.trials.runs().get(value.run.index()).into_iter().flat_map(|run| &run.knobs);
        let of_run = of_run.take_while(|knob| knob.iteration.is_none());
        of_run.chain(self.own(value)).map(|knob| (&knob.name, &knob.value)).collect()
    }
}

fn columns(layouts: &Layouts<'_>, series: &Series<'_>, by_value: bool) -> Vec<KnobColumn> {
    let known = layouts.trials.values(series.metric());
    let first = series.groups(by_value).first.into_iter().filter_map(|place| known.get(place));
    let layouts: Vec<BTreeMap<&Arc<str>, &Arc<str>>> = first.map(|value| layouts.layout(&value)).collect();
    let Some(first) = layouts.first() else { return Vec::new() };
    first
        .keys()
        .filter_map(|&name| {
            let column: Vec<&Arc<str>> =
                layouts.iter().map(|layout| layout.get(name).copied()).collect::<Option<_>>()?;
            let differs = column.windows(2).any(|pair| pair[0] != pair[1]);
            differs.then(|| KnobColumn { name: Arc::clone(name), values: values(&column), is_of_run: !by_value })
        })
        .collect()
}

/// Numbers if all are, otherwise each text is a class.
fn values(column: &[&Arc<str>]) -> KnobValues {
    if let Ok(numbers) = column.iter().map(|text| text.parse()).collect::<Result<Vec<u64>, _>>() {
        return KnobValues::Numbers(numbers);
    }
    let classes: BTreeSet<&Arc<str>> = column.iter().copied().collect();
    let classes: HashMap<&Arc<str>, u64> = classes.into_iter().zip(0..).collect();
    KnobValues::Names(column.iter().map(|text| classes[text]).collect())
}
