//! `values`: every value of a metric.

use std::ops::Range;

use barrow_statistics::Modes;
use barrow_trials::Series;

use crate::answer::measured::measured;
use crate::tables::trials::{STATISTICS_BYTES, metric_of, program_column, runs, variant_of};

use super::more::OnDemand;
use super::prelude::*;

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
    let has_several = series.len() > 1;
    let mut places = Vec::new();
    for series in &series {
        if mode.is_some() {
            ask.context.require(series.len(), STATISTICS_BYTES)?;
        }
        let modes = mode.map(|_| Modes::of(&series.sample()));
        let wanted = series.places().iter().zip(series.values()).filter(|(_, value)| {
            modes.as_ref().is_none_or(|modes| modes.mode_of(value.value).map(|at| at + 1) == mode)
        });
        places.extend(ask.context.collect(wanted.map(|(place, _)| *place))?);
    }
    drop(series);
    let answer = Answer::default()
        .fact(Column::text("metric"), metric.name.as_str())
        .fact(Column::text("unit").for_machines(), metric.unit.as_str());
    let answer = match (places.is_empty(), mode) {
        (true, Some(mode)) => answer.note(format!("there is no mode {mode}; `modes {}` lists them", metric.name)),
        (true, None) => answer.note("no run that counts has a value"),
        (false, _) => answer,
    };
    let (count, answer) = (places.len(), answer.exact());
    let make = move |ask: &Ask, range: Range<usize>| {
        let metric = metric_of(&trials, id);
        let values = places[range].iter().filter_map(|place| trials.values(id).get(*place));
        let table = table!("rows", values, |value| {
            ask.context.check()?;
            let run = trials.runs().get(value.run.index());
            let layout = mode.map(|_| run.map_or([Value::None, Value::None], |run| runs::layout(run, value.iteration)));
            program_column(has_several) => run.map(|run| variant_of(&trials, run.variant).name.as_str()),
            Column::number("run") => value.run.0,
            Column::number("iteration") => value.iteration,
            Column::number("seed") => value.seed.or(run.and_then(|run| run.seed)),
            Column::number("value") => measured(value.value, &metric.unit),
            ..mode.iter().flat_map(|_| [Column::nested("knobs").for_machines(), Column::text("layout")])
                => layout.into_iter().flatten(),
        });
        Ok((table, Listed::default()))
    };
    OnDemand { answer, count, rows: None, has_pages: true, make: Box::new(make) }.begin(ask)
}
