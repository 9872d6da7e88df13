//! `unreachable`: what no root reaches.

use std::sync::Arc;

use barrow_analyzer::{Counted, Heap, Progress, TypeTotals};

use crate::attributes::totals::Total;
use crate::tables::ranking;

use super::{count, more, prelude::*};

pub(super) const COMMAND: Command = Command {
    aliases: &["garbage"],
    arguments: "[by type]",
    orders: |_| vec!["type"],
    example: "unreachable by type",
    ..Command::new("unreachable", include_str!("../../verbs/unreachable.md"), Group::Alive, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let by_type = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["by", "type"] => true,
        ["by", word, ..] | [word, ..] => return Err(COMMAND.refuses(word)),
    };
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let set = heap.unreachable(&meter)?;
    let remembered = if by_type { None } else { only_remembered(&heap, &meter)? };
    let types = heap.type_totals_of(&set, &meter)?;
    if by_type {
        let types = ranking::ranked(&types, Total::Size);
        let answer = ranking::answer(&heap, &types, Total::Size, &meter)?;
        drop(meter);
        return Ok(more::first_page(ask, answer, ask.page_rows()).with_last(Arc::new(set)));
    }
    let answer = count::with_totals(Answer::default(), snapshot, sum_of(&types));
    let answer = answer.lines(remembered.map(remembered_note));
    Ok(answer.note_if(set.is_empty(), "the roots reach every object").into())
}

/// The unreachable objects that the remembered set keeps alive; `None` if there are none.
pub(super) fn only_remembered(heap: &Heap, progress: &dyn Progress) -> Result<Option<Counted>, QueryError> {
    let Some(set) = heap.only_remembered(progress)?.filter(|set| !set.is_empty()) else { return Ok(None) };
    Ok(Some(sum_of(&heap.type_totals_of(&set, progress)?)))
}

/// The note about these objects.
pub(super) fn remembered_note(held: Counted) -> String {
    let objects = units::counted(held.objects, "object");
    let bytes = units::size(held.heap_bytes.wrapping_add(held.unmanaged_bytes));
    format!("held only by the remembered set, so that a full collection frees it: {objects}, {bytes}")
}

pub(super) fn sum_of(types: &[TypeTotals]) -> Counted {
    let mut sum = Counted::default();
    for totals in types {
        sum.objects += totals.objects;
        sum.heap_bytes = sum.heap_bytes.wrapping_add(totals.heap_bytes);
        sum.unmanaged_bytes = sum.unmanaged_bytes.wrapping_add(totals.unmanaged_bytes);
    }
    sum
}
