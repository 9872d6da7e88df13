//! `values`: every value of a metric.

use barrow_statistics::Modes;
use barrow_trials::Series;

use crate::answer::measured::measured;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
use crate::tables::trials::{metric_of, runs, variant_of};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "values",
    aliases: &[],
    group: Group::Trials,
    arguments: "METRIC [PROGRAM] [mode N]",
    about: "Every value of a metric, with its run, iteration and seed",
    details: "Values are in the order in which they were recorded. `mode N` keeps those of one mode, as `modes` numbers \
              them, with the layout of each run: `barrow trial --replay RUN FILE` repeats it. Values of failed runs and \
              of warm-ups do not count and are not listed.",
    example: "values wall mode 2",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let trials = session.trials()?;
    let mut words = arguments.words();
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
    let name = Column::new("variant", "program", Unit::Text);
    let mut columns = vec![
        if series.len() > 1 { name } else { name.for_machines() },
        Column::new("run", "run", Unit::Number),
        Column::new("iteration", "iteration", Unit::Number),
        Column::new("seed", "seed", Unit::Number),
        Column::new("value", "value", Unit::Number),
    ];
    if mode.is_some() {
        columns.push(Column::new("knobs", "", Unit::Nested).for_machines());
        columns.push(Column::new("layout", "layout", Unit::Text));
    }
    let mut rows = Vec::new();
    for series in &series {
        let modes = mode.map(|_| Modes::of(&series.sample()));
        let is_wanted = |value: f64| modes.as_ref().is_none_or(|modes| modes.mode_of(value).map(|at| at + 1) == mode);
        let variant = variant_of(&trials, series.variant()).name.as_str();
        rows.extend(series.values().iter().filter(|value| is_wanted(value.value)).map(|value| {
            let run = trials.runs().get(value.run.index());
            let seed = value.seed.or(run.and_then(|run| run.seed));
            let mut row = vec![
                variant.into(),
                value.run.0.into(),
                value.iteration.into(),
                seed.into(),
                measured(value.value, &metric.unit),
            ];
            if mode.is_some() {
                row.extend(run.map_or([Value::None, Value::None], |run| runs::layout(run, value.iteration)));
            }
            row
        }));
    }
    let table = Table { key: "rows", audience: Audience::Everyone, columns, rows };
    let answer = Answer::default()
        .fact(Column::new("metric", "metric", Unit::Text), metric.name.as_str())
        .fact(Column::new("unit", "unit", Unit::Text).for_machines(), metric.unit.as_str());
    let answer = match (table.rows.is_empty(), mode) {
        (true, Some(mode)) => answer.note(format!("there is no mode {mode}; `modes {}` lists them", metric.name)),
        (true, None) => answer.note("no run that counts has a value"),
        (false, _) => answer,
    };
    session.listed.clear();
    let page = session.page_rows();
    Ok(more::first_page(session, answer.table(table).exact(), page))
}
