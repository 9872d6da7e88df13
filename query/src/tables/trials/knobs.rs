//! The knobs of the layout that explain the values.

use std::collections::{HashMap, HashSet};

use barrow_statistics::{KnobValues, Sample, Share, knob_shares};
use barrow_trials::{KnobColumn, Series, Trials, knob_columns};

use crate::answer::{Column, Table, Value, table};

/// A share is found if chance gives one as large less often than this, over all knobs together: one comparison in a
/// hundred finds something by chance.
const SIGNIFICANT: f64 = 0.01;
/// Shares that chance gives more often, by the usual limit of one in twenty, are listed after the others.
const LIKELY: f64 = 0.05;
/// Fewer values with a layout of their own tell nothing.
const LEAST_LAYOUTS: usize = 12;

/// The knobs of a series with their shares: those that chance hardly gives, then the others, the largest first.
pub(crate) fn shares(trials: &Trials, series: &Series) -> Vec<(KnobColumn, Share)> {
    let (of_runs, others): (Vec<KnobColumn>, Vec<KnobColumn>) =
        knob_columns(trials, series).into_iter().partition(|column| column.is_of_run);
    let mut shares = shares_of(&series.sample_by_run(), of_runs);
    shares.extend(shares_of(&series.sample(), others));
    shares.sort_by(|(_, one), (_, other)| {
        let likely_first = (other.p_value <= LIKELY).cmp(&(one.p_value <= LIKELY));
        likely_first.then(other.share.total_cmp(&one.share))
    });
    shares
}

fn shares_of(sample: &Sample, columns: Vec<KnobColumn>) -> Vec<(KnobColumn, Share)> {
    let values: Vec<KnobValues> = columns.iter().map(|column| column.values.clone()).collect();
    let shares = knob_shares(sample, &values).into_iter();
    shares.filter_map(|share| Some((columns.get(share.knob)?.clone(), share))).collect()
}

/// Returns whether some knob of the layout explains a part of the values; `None` if layouts did not differ, or are too few.
pub(crate) fn layout_matters(trials: &Trials, series: &Series) -> Option<bool> {
    if series.sample().group_count() < LEAST_LAYOUTS {
        return None;
    }
    let shares = shares(trials, series);
    // With several knobs, each may be the one that chance favours.
    let limit = SIGNIFICANT / shares.len().max(1) as f64;
    (!shares.is_empty()).then(|| shares.iter().any(|(_, share)| is_found(share, limit)))
}

fn is_found(share: &Share, limit: f64) -> bool {
    share.p_value <= limit && share.share > 0.0
}

/// A row for each knob; for machines with its setting for each value of the series. What chance gives as well is no part of
/// the spread.
pub(crate) fn table(trials: &Trials, series: &Series, shares: &[(KnobColumn, Share)]) -> Table {
    let limit = SIGNIFICANT / shares.len().max(1) as f64;
    let settings = Settings::of(trials, series);
    table!("knobs", shares, |(column, share)| {
        let part = is_found(share, limit).then_some(Value::Share(share.share));
        Column::text("knob") => &*column.name,
        Column::share("share").called("of the spread") => part,
        Column::number("p_value").called("p")
            => Value::Decimal { value: share.p_value, decimals: 3 },
        Column::number("modulus").called("modulo") => share.modulus,
        Column::nested("settings").for_machines() => settings.of_knob(&column.name),
    })
}

/// The settings of the knobs, by the run and by the iteration that has a layout of its own.
struct Settings<'t> {
    series: &'t Series<'t>,
    known: HashMap<(u32, Option<u64>, &'t str), &'t str>,
}

impl<'t> Settings<'t> {
    fn of(trials: &'t Trials, series: &'t Series<'t>) -> Self {
        let runs: HashSet<u32> = series.values().map(|value| value.run.0).collect();
        let runs = runs.into_iter().filter_map(|run| Some((run, trials.runs().get(run as usize)?)));
        let known = runs
            .flat_map(|(run, of)| of.knobs.iter().map(move |knob| ((run, knob.iteration, &*knob.name), &*knob.value)));
        Settings { series, known: known.collect() }
    }

    /// One setting for each value, in the order of the values: a number, or a text such as `on`.
    fn of_knob(&self, name: &str) -> Value {
        let settings = self.series.values().map(|value| {
            let own = value.iteration.and_then(|_| self.known.get(&(value.run.0, value.iteration, name)));
            let text = *own.or_else(|| self.known.get(&(value.run.0, None, name)))?;
            Some(text.parse::<u64>().map_or_else(|_| Value::text(text), Value::from))
        });
        Value::List(settings.map(Value::from).collect())
    }
}

/// The finding in a sentence.
pub(crate) fn sentence(trials: &Trials, series: &Series, shares: &[(KnobColumn, Share)]) -> String {
    let groups = series.sample().group_count();
    if shares.is_empty() {
        let has_layouts = trials.runs().iter().any(|run| !run.knobs.is_empty());
        return match has_layouts {
            true => "all values have the same layout, so its effect is not known; `--layout random` varies it",
            false => "no layouts were recorded, so their effect is not known",
        }
        .to_owned();
    }
    if groups < LEAST_LAYOUTS {
        return format!("{groups} layouts are too few to tell whether they matter; {LEAST_LAYOUTS} or more can");
    }
    let limit = SIGNIFICANT / shares.len() as f64;
    let found: Vec<String> = shares
        .iter()
        .filter(|(_, share)| is_found(share, limit))
        .map(|(column, share)| {
            let modulus = share.modulus.map(|modulus| format!(" modulo {modulus}")).unwrap_or_default();
            format!("{:.0} % of the spread is {}{modulus}", share.share * 100.0, column.name)
        })
        .collect();
    if found.is_empty() { "no layout effect found".to_owned() } else { found.join("; ") }
}
