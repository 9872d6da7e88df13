//! `values`: every value of a metric.

use std::ops::Range;

use barrow_statistics::Modes;
use barrow_trials::{MetricId, Series, Trials};

use crate::answer::measured::measured;
use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::trials::{STATISTICS_BYTES, metric_of, runs, variant_of};

use super::more::OnDemand;
use super::{Command, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "METRIC [PROGRAM] [mode N]",
    example: "values wall mode 2",
    ..Command::new("values", include_str!("../../verbs/values.md"), Group::Trials, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let trials = ask.trials()?;
    let mut words = ask.arguments.words();
    let mut mode = None;
    if let [.., word, number] = &words[..]
        && word == "mode"
    {
        let number = number.parse::<usize>().ok().filter(|&number| number > 0);
        mode = Some(number.ok_or_else(|| QueryError::usage("modes have numbers from 1 on: `values wall mode 2`"))?);
        words.truncate(words.len() - 2);
    }
    let (metric, variant) = match &words[..] {
        [] => return Err(QueryError::usage("which metric? `trials` lists them: `values wall`")),
        [metric] => (metric, None),
        [metric, variant] => (metric, Some(variant)),
        [_, _, other, ..] => return Err(COMMAND.refuses(other)),
    };
    let id = trials.metric(metric)?;
    let series = match variant {
        Some(name) => vec![Series::of(&trials, id, trials.variant(name)?)],
        None => Series::of_metric(&trials, id),
    };
    let metric = metric_of(&trials, id);
    let name = Column::text("variant").called("program");
    let mut columns = vec![
        if series.len() > 1 { name } else { name.for_machines() },
        Column::number("run"),
        Column::number("iteration"),
        Column::number("seed"),
        Column::number("value"),
    ];
    if mode.is_some() {
        columns.push(Column::nested("knobs").for_machines());
        columns.push(Column::text("layout"));
    }
    let mut places = Vec::new();
    for series in &series {
        if mode.is_some() {
            ask.context.require(series.len(), STATISTICS_BYTES)?;
        }
        let modes = mode.map(|_| Modes::of(&series.sample()));
        let is_wanted = |value: f64| modes.as_ref().is_none_or(|modes| modes.mode_of(value).map(|at| at + 1) == mode);
        let wanted = series.places().iter().zip(series.values()).filter(|(_, value)| is_wanted(value.value));
        places.extend(ask.context.collect(wanted.map(|(place, _)| *place))?);
    }
    drop(series);
    let table = Table { key: "rows", audience: Audience::Everyone, columns, rows: Vec::new() };
    let answer = Answer::default()
        .fact(Column::text("metric"), metric.name.as_str())
        .fact(Column::text("unit").for_machines(), metric.unit.as_str());
    let answer = match (places.is_empty(), mode) {
        (true, Some(mode)) => answer.note(format!("there is no mode {mode}; `modes {}` lists them", metric.name)),
        (true, None) => answer.note("no run that counts has a value"),
        (false, _) => answer,
    };
    let (count, answer) = (places.len(), answer.table(table).exact());
    let make = move |ask: &Ask, range: Range<usize>| {
        let values = places[range].iter().filter_map(|place| trials.values(id).get(*place));
        let rows = values.map(|value| row(&trials, id, &value, mode.is_some()));
        Ok((ask.context.collect(rows)?, Listed::default()))
    };
    OnDemand { answer, count, has_pages: true, make: Box::new(make) }.begin(ask)
}

/// The row of a value, with its layout if that is asked for.
fn row(trials: &Trials, metric: MetricId, value: &barrow_trials::Value, with_layout: bool) -> Vec<Value> {
    let run = trials.runs().get(value.run.index());
    let mut row = vec![
        run.map(|run| Value::text(&*variant_of(trials, run.variant).name)).into(),
        value.run.0.into(),
        value.iteration.into(),
        value.seed.or(run.and_then(|run| run.seed)).into(),
        measured(value.value, &metric_of(trials, metric).unit),
    ];
    if with_layout {
        row.extend(run.map_or([Value::None, Value::None], |run| runs::layout(run, value.iteration)));
    }
    row
}
