//! `survived`: the objects that have lived long.

use std::sync::Arc;

use barrow_analyzer::{CountBounds, Lives};

use crate::tables::lifelines;
use crate::tables::type_counts::TypeCounts;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "N",
    example: "survived 2",
    ..Command::new("survived", include_str!("../../verbs/survived.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    lifelines::refuse_without(ask)?;
    let [word] = COMMAND.words(&ask.arguments)?;
    let word = word.ok_or_else(|| QueryError::usage("how many snapshots? `survived 2`"))?;
    let least: usize = word.parse().map_err(|_| COMMAND.refuses(&word))?;
    let snapshot = ask.snapshot()?;
    let recording = ask.recording()?;
    let mut lives = Lives::with(&recording, snapshot, ask.context.series_options())?;
    let place = ask.snapshots()?.iter().take_while(|&&before| before < snapshot).count();
    let step = lives.last(&ask.meter())?.ok_or(QueryError::NoSnapshot)?;
    let set = step.objects_born(|born| born + least <= place);
    let first = ask.snapshots()?.get(place.saturating_sub(least)).copied().unwrap_or(snapshot);
    let counts = TypeCounts::of(&recording, [first, snapshot], lives.origin())?;
    let rule = if least <= place { CountBounds::stayed } else { |_: &[u64]| CountBounds::default() };
    let answer =
        lifelines::by_type(ask, &set, &counts, rule)?.fact(Column::number("least_age").called("at least"), least);
    let answer = lifelines::with_origin(answer, lives.origin(), lives.confidence());
    Ok(more::first_page(ask, answer, ask.page_rows()).with_last(Arc::new(set)))
}
