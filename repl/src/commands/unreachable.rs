//! `unreachable`: what no root reaches.

use std::sync::Arc;

use barrow_analyzer::Counted;

use crate::answer::Answer;
use crate::error::ReplError;
use crate::ranking::{self, Order};
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject, count, more};

pub(super) const COMMAND: Command = Command {
    name: "unreachable",
    aliases: &["garbage"],
    group: Group::Alive,
    arguments: "[by type]",
    about: "Objects that no root reaches over references that retain",
    details: "How many there are and what they take, or that of each type. `$_` is the set of these objects \
              afterwards. They are garbage that was not collected yet, or kept alive by something the recorder \
              did not tell.",
    example: "unreachable by type",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let words = arguments.words();
    let by_type = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["by", "type"] => true,
        ["by", word, ..] | [word, ..] => return Err(COMMAND.refuses(word)),
    };
    let snapshot = session.snapshot()?;
    let heap = session.heap(snapshot)?;
    let meter = session.meter();
    let set = heap.unreachable(&meter)?;
    let types = heap.type_totals_of(&set, &meter)?;
    let is_empty = set.is_empty();
    session.sets.set_last(Arc::new(set));
    session.listed.clear();
    if by_type {
        let types = ranking::ranked(&types, Order::Size);
        let answer = ranking::answer(&heap, &types, Order::Size, &meter)?;
        drop(meter);
        let rows = session.page_rows();
        return Ok(more::first_page(session, answer, rows));
    }
    let mut sum = Counted::default();
    for totals in &types {
        sum.objects += totals.objects;
        sum.heap_bytes = sum.heap_bytes.wrapping_add(totals.heap_bytes);
        sum.unmanaged_bytes = sum.unmanaged_bytes.wrapping_add(totals.unmanaged_bytes);
    }
    let answer = count::with_totals(Answer::default(), snapshot, sum);
    Ok(if is_empty { answer.note("the roots reach every object") } else { answer })
}
