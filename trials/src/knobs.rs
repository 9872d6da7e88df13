//! The layouts beside the values: one column for each knob.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_statistics::KnobValues;

use crate::model::{Knob, Run, Trials, Value};
use crate::series::Series;

/// The values of a knob, one for each group of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct KnobColumn {
    /// The name of the knob.
    pub name: Arc<str>,
    /// Its values in the order of [`Series::sample`]'s groups.
    pub values: KnobValues,
}

/// The knobs that every group of a series has and that differ between them, by name.
#[must_use]
pub fn knob_columns(trials: &Trials, series: &Series) -> Vec<KnobColumn> {
    let groups = series.groups(series.has_layout_per_value());
    let layouts: Vec<BTreeMap<&Arc<str>, &Arc<str>>> = groups
        .iter()
        .map(|(first, _)| trials.runs().get(first.run.index()).map(|run| layout(run, first)).unwrap_or_default())
        .collect();
    let Some(first) = layouts.first() else { return Vec::new() };
    first
        .keys()
        .filter_map(|&name| {
            let column: Vec<&Arc<str>> =
                layouts.iter().map(|layout| layout.get(name).copied()).collect::<Option<_>>()?;
            let differs = column.windows(2).any(|pair| pair[0] != pair[1]);
            differs.then(|| KnobColumn { name: Arc::clone(name), values: values(&column) })
        })
        .collect()
}

/// The knobs that a value was measured under: those of its run, and those of its iteration, which go before.
fn layout<'t>(run: &'t Run, value: &Value) -> BTreeMap<&'t Arc<str>, &'t Arc<str>> {
    let of = |iteration: Option<u64>| run.knobs.iter().filter(move |knob: &&Knob| knob.iteration == iteration);
    let own = value.iteration.map(|iteration| of(Some(iteration))).into_iter().flatten();
    of(None).chain(own).map(|knob| (&knob.name, &knob.value)).collect()
}

/// Numbers if all are, otherwise each text is a class.
fn values(column: &[&Arc<str>]) -> KnobValues {
    if let Ok(numbers) = column.iter().map(|text| text.parse()).collect::<Result<Vec<u64>, _>>() {
        return KnobValues::Numbers(numbers);
    }
    let classes: BTreeSet<&Arc<str>> = column.iter().copied().collect();
    let class = |text: &&Arc<str>| classes.iter().position(|known| known == text).unwrap_or_default() as u64;
    KnobValues::Names(column.iter().map(class).collect())
}
