//! The presentation of tables about trials: parameters as columns, the order of programs, the unit of times.

use std::collections::HashMap;

use barrow_trials::{Series, Trials, Variant};

use crate::answer::{Column, Table, Unit, Value, visible};
use crate::error::QueryError;
use crate::flags::{SortBy, TimeUnit, TrialFlags};

use super::{metric_of, variant_of};

/// The prefix of the keys of parameters, among the attributes of a program.
const PARAMETER: &str = "parameter ";

/// The order of programs, the unit of times and the reference in tables about trials.
pub(crate) struct Presentation<'t> {
    trials: &'t Trials,
    sort: SortBy,
    unit: Option<TimeUnit>,
    reference: Option<&'t str>,
}

impl<'t> Presentation<'t> {
    /// The presentation that the flags ask for.
    ///
    /// # Errors
    /// A usage error if there is no such program to compare with.
    pub(crate) fn of(trials: &'t Trials, flags: &TrialFlags) -> Result<Self, QueryError> {
        let reference = flags.reference.as_deref().map(|name| trials.variant(name)).transpose()?;
        let reference = reference.map(|id| variant_of(trials, id).name.as_str());
        Ok(Presentation { trials, sort: flags.sort.unwrap_or_default(), unit: flags.time_unit, reference })
    }

    /// A table with a row for each metric of each program: with the parameters, in the order that is wanted.
    pub(crate) fn overview(&self, mut table: Table) -> Table {
        if self.sort == SortBy::MeanTime {
            self.sort(&mut table);
        }
        self.times(with_parameters(self.trials, table))
    }

    /// The same table with times in the unit that is wanted.
    pub(crate) fn times(&self, mut table: Table) -> Table {
        let Some(unit) = self.unit else { return table };
        let [unit_at, metric_at] = places(&table, ["unit", "metric"]);
        for row in &mut table.rows {
            let metric = metric_at.and_then(|at| text(&row[at])).and_then(|name| self.trials.metric(name).ok());
            let of_metric = metric.map(|id| metric_of(self.trials, id).unit.as_str());
            if unit_at.and_then(|at| text(&row[at])).or(of_metric) != Some("ns") {
                continue;
            }
            for cell in row {
                if let Value::Measured(measured) = cell {
                    measured.time_unit = Some(unit.into());
                }
            }
        }
        table
    }

    /// The same with the median relative to that of the reference, or to the smallest one of the metric, where there are
    /// several programs.
    pub(crate) fn with_relative(&self, mut table: Table) -> Table {
        let [Some(metric), Some(variant), Some(median)] = places(&table, ["metric", "variant", "median"]) else {
            return table;
        };
        if self.trials.variants().len() < 2 {
            return table;
        }
        let mut base: HashMap<String, f64> = HashMap::new();
        for row in &table.rows {
            let (Some(metric), Some(value)) = (text(&row[metric]), number(&row[median])) else { continue };
            if self.reference.is_none_or(|name| text(&row[variant]) == Some(name)) {
                base.entry(metric.to_owned()).and_modify(|least| *least = least.min(value)).or_insert(value);
            }
        }
        for row in &mut table.rows {
            let base = text(&row[metric]).and_then(|metric| base.get(metric));
            let ratio = number(&row[median]).zip(base).map(|(value, base)| value / base);
            row.push(ratio.filter(|ratio| ratio.is_finite()).map(|ratio| format!("{ratio:.3}")).into());
        }
        table.columns.push(Column::number("relative").own_words());
        table
    }

    /// Puts the rows of each metric in the order of the programs' mean time; those without a time come last.
    fn sort(&self, table: &mut Table) {
        let [Some(metric), Some(variant)] = places(table, ["metric", "variant"]) else { return };
        let times = self.mean_times();
        let mut metrics: HashMap<String, usize> = HashMap::new();
        let rows = std::mem::take(&mut table.rows).into_iter().map(|row| {
            let next = metrics.len();
            let at = *metrics.entry(text(&row[metric]).unwrap_or_default().to_owned()).or_insert(next);
            let time = text(&row[variant]).and_then(|name| times.get(name)).copied().unwrap_or(f64::INFINITY);
            (at, time, row)
        });
        let mut keyed: Vec<(usize, f64, Vec<Value>)> = rows.collect();
        keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        table.rows = keyed.into_iter().map(|(_, _, row)| row).collect();
    }

    /// The mean of `wall` of each program.
    fn mean_times(&self) -> HashMap<&'t str, f64> {
        let Ok(wall) = self.trials.metric("wall") else { return HashMap::new() };
        let time = |series: Series<'_>| {
            let sum: f64 = series.values().map(|value| value.value).sum();
            (variant_of(self.trials, series.variant()).name.as_str(), sum / series.len() as f64)
        };
        Series::of_metric(self.trials, wall).into_iter().map(time).collect()
    }
}

/// The parameters that the command of a program was made with: names and values.
pub(crate) fn parameters(variant: &Variant) -> impl Iterator<Item = (&str, &str)> {
    let attributes = variant.attributes.iter();
    attributes.filter_map(|(key, value)| Some((key.strip_prefix(PARAMETER)?, value.as_str())))
}

/// The names of all parameters, in their order.
pub(crate) fn parameter_names(trials: &Trials) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in trials.variants().iter().flat_map(parameters) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The column of a parameter.
pub(crate) fn parameter_column(name: &str) -> Column {
    let column = Column::named(format!("parameter_{name}"), Unit::Text);
    column.called(visible::cell(name).into_owned()).secondary()
}

/// The table with a column for each parameter after that of the program.
fn with_parameters(trials: &Trials, mut table: Table) -> Table {
    let names = parameter_names(trials);
    let [Some(variant)] = places(&table, ["variant"]) else { return table };
    if names.is_empty() {
        return table;
    }
    let of_name: HashMap<&str, &Variant> = trials.variants().iter().map(|one| (one.name.as_str(), one)).collect();
    for row in &mut table.rows {
        let program = text(&row[variant]).and_then(|name| of_name.get(name));
        let cells: Vec<Value> = names
            .iter()
            .map(|name| {
                program.and_then(|one| parameters(one).find(|(known, _)| known == name)).map(|(_, value)| value).into()
            })
            .collect();
        row.splice(variant + 1..variant + 1, cells);
    }
    let columns = names.iter().map(|name| parameter_column(name));
    table.columns.splice(variant + 1..variant + 1, columns);
    table
}

/// Where the columns of these keys are.
fn places<const N: usize>(table: &Table, keys: [&str; N]) -> [Option<usize>; N] {
    keys.map(|key| table.columns.iter().position(|column| column.key == key))
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Measured(measured) => Some(measured.value),
        _ => None,
    }
}
