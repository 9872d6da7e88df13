//! `runs`: the runs of trials, with their layouts and how they ended.

use std::ops::Range;

use barrow_trials::{RunId, Trials};

use crate::answer::measured::measured;
use crate::answer::{Answer, Column, table, visible};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::session::state::State;
use crate::tables::trials::metric_of;
use crate::tables::trials::runs::{self, Walls};

use super::more::OnDemand;
use super::{Command, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "[RUN | PROGRAM] [failed]",
    example: "runs failed",
    ..Command::new("runs", include_str!("../../verbs/runs.md"), Group::Trials, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let trials = ask.trials()?;
    let mut words = ask.arguments.words();
    let is_failed = words.last().is_some_and(|word| word == "failed");
    if is_failed {
        words.pop();
    }
    let all = (0..u32::try_from(trials.runs().len()).unwrap_or(u32::MAX)).map(RunId);
    let mut chosen: Vec<RunId> = match &words[..] {
        [] => all.collect(),
        [number] if number.parse::<u32>().is_ok() && !is_failed => {
            return one(ask, &trials, number.parse().unwrap_or_default()).map(Reply::from);
        }
        [name] => {
            let variant = trials.variant(name)?;
            all.filter(|run| trials.runs()[run.index()].variant == variant).collect()
        }
        [_, other, ..] => return Err(COMMAND.refuses(other)),
    };
    chosen.retain(|run| !is_failed || trials.runs()[run.index()].has_failed());
    let mut answer = Answer::default().exact();
    if chosen.is_empty() && is_failed {
        answer = answer.note("no run failed");
    }
    let (count, walls) = (chosen.len(), Walls::of(&trials));
    let make = move |ask: &Ask, places: Range<usize>| {
        let table = runs::table(&trials, &walls, &chosen[places], || ask.context.check())?;
        Ok((table, Listed::default()))
    };
    OnDemand { answer, count, rows: None, has_pages: true, make: Box::new(make) }.begin(ask)
}

/// The fact in which `trial` names runs of which it is not known what they allocated, and why.
const ALLOCATIONS_NOT_KNOWN: &str = "allocations not known";

/// Everything about one run.
fn one(state: &State, trials: &Trials, number: u32) -> Result<Answer, QueryError> {
    let run = trials.run(number)?;
    let all = trials.metric_ids().flat_map(|metric| {
        let values = trials.values(metric).iter().filter(|value| value.run.0 == number);
        values.map(move |value| (metric_of(trials, metric), value))
    });
    let values = table!("values", all, |(metric, value)| {
        Column::text("metric") => metric.name.as_str(),
        Column::number("iteration") => value.iteration,
        Column::number("seed").secondary() => value.seed,
        Column::number("value") => measured(value.value, &metric.unit),
    });
    let table = runs::table(trials, &Walls::of(trials), &[RunId(number)], || Ok(()))?;
    let mut answer = Answer::default().table(table).table(values).exact();
    if let Some(output) = run.end.as_ref().and_then(|end| end.output.as_deref()) {
        answer = answer.fact(Column::text("output").for_machines(), output);
        answer = answer.note("it printed:").lines(output.lines().map(|line| format!("  | {}", visible::cell(line))));
    }
    // Of a run that was not counted, the fact tells why.
    let is_counted =
        trials.metric("peak_heap").is_ok_and(|metric| trials.values(metric).iter().any(|value| value.run.0 == number));
    if !is_counted {
        let facts = state.recording()?.facts()?;
        let why = facts.iter().find(|(key, _)| key == ALLOCATIONS_NOT_KNOWN);
        answer = answer.lines(why.map(|(key, why)| format!("{key}: {why}")));
    }
    if !run.is_warmup && run.seed.is_some() {
        answer = answer.note(format!("`barrow trial --replay {number} FILE` repeats it"));
    }
    Ok(answer)
}
