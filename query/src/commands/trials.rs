//! `trials`: what was measured, in how many runs, and how it is distributed.

use barrow_trials::Trials;

use crate::tables::trials::overview;
use crate::tables::trials::presentation::Presentation;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "[METRIC..] [--sort ORDER] [-u UNIT]",
    example: "trials wall",
    flags: &["--sort", "-u"],
    ..Command::new("trials", include_str!("../../verbs/trials.md"), Group::Trials, run)
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
    let answer = add_runs(Answer::default(), &trials).table(table);
    Ok(more::first_page(ask, answer.exact(), ask.page_rows()))
}

/// Adds what does not count, and why.
pub(super) fn add_runs(answer: Answer, trials: &Trials) -> Answer {
    let failed = failed_runs(trials);
    let warmups = trials.runs().iter().filter(|run| run.is_warmup).count();
    answer
        .fact(Column::count("failed_runs").for_machines(), failed)
        .fact(Column::count("warmup_runs").for_machines(), warmups)
        .lines(failed_note(trials))
        .note_if(trials.runs().is_empty(), "no run was recorded")
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
