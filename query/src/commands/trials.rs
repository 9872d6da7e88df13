//! `trials`: what was measured, in how many runs, and how it is distributed.

use barrow_trials::Trials;

use crate::answer::{Answer, Column, Unit, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::trials::overview;
use crate::tables::trials::presentation::Presentation;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "trials",
    aliases: &[],
    group: Group::Trials,
    arguments: "[METRIC..] [--sort ORDER] [-u UNIT]",
    about: "What was measured: runs, medians, ranges, modes, whether layout matters",
    details: "A row for each metric of each program. Runs that failed and warm-ups do not count. The median and the \
              quartiles are those of the values: the one in the middle, or between the two there. `modes` is the number of modes, unless 12 values are not there. \
              `layout matters` is yes if some knob of the memory layout explains a part of the spread that chance gives \
              in less than one of a hundred cases. Parameters of programs have columns, which narrow terminals leave out. \
              `--sort mean-time` orders the programs by the mean of `wall`, `-u millisecond` shows all times in one unit.",
    example: "trials wall",
    flags: &["--sort", "-u"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let trials = ask.trials()?;
    let metrics: Vec<_> = match &ask.arguments.words()[..] {
        [] => trials.metric_ids().collect(),
        named => named.iter().map(|name| trials.metric(name)).collect::<Result<_, _>>()?,
    };
    overview::require(&ask.context, &trials, &metrics)?;
    let presentation = Presentation::of(&trials, &ask.arguments.flags.trial)?;
    let table = presentation.overview(overview::table(&trials, &metrics, || ask.context.check())?);
    let rows = ask.page_rows();
    let answer = add_runs(Answer::default(), &trials).table(table);
    Ok(more::first_page(ask, answer.exact(), rows))
}

/// Adds what does not count, and why.
pub(super) fn add_runs(answer: Answer, trials: &Trials) -> Answer {
    let failed = failed_runs(trials);
    let warmups = trials.runs().iter().filter(|run| run.is_warmup).count();
    let machines = |key| Column::new(key, "", Unit::Count).for_machines();
    let mut answer = answer.fact(machines("failed_runs"), failed).fact(machines("warmup_runs"), warmups);
    answer.notes.extend(failed_note(trials));
    if trials.runs().is_empty() {
        answer = answer.note("no run was recorded");
    }
    answer
}

fn failed_runs(trials: &Trials) -> usize {
    trials.runs().iter().filter(|run| !run.is_warmup && run.has_failed()).count()
}

/// Says that runs failed, if any did.
pub(super) fn failed_note(trials: &Trials) -> Option<String> {
    let failed = failed_runs(trials);
    let runs = units::counted(failed as u64, "run");
    let (do_not, them) = if failed == 1 { ("does not", "it") } else { ("do not", "them") };
    (failed > 0).then(|| format!("{runs} failed and {do_not} count; `runs failed` lists {them}"))
}
