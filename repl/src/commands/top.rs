//! `top`: the types that hold most.

use crate::answer::Answer;
use crate::error::ReplError;
use crate::kinds::{Kinds, leading_kind};
use crate::ranking::{self, Order};
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "top",
    aliases: &[],
    group: Group::Snapshots,
    arguments: "[N] [KIND] [by size|count|unmanaged]",
    about: "The types that hold most",
    details: "KIND is a kind of the recording, like `objects` or `frames`; `types` or none means all of them. \
              `by size` ranks by shallow size, `by unmanaged` by what lies outside the heap. \
              N is 15 unless told.",
    example: "top 10 objects by count",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Rankings,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let recording = session.recording()?;
    let snapshot = session.snapshot()?;
    let mut words = &arguments.words()[..];
    let mut rows = session.settings.rows;
    if let Some(number) = words.first().and_then(|word| word.parse().ok()) {
        rows = number;
        words = &words[1..];
    }
    let (kinds, order) = kind_and_order(recording.tables()?, words)?;
    let types = ranking::types(&recording, snapshot, &kinds, order)?;
    let answer = ranking::answer(recording.tables()?, snapshot, &types, order);
    session.listed.clear();
    Ok(more::first_page(session, answer, rows.max(1)))
}

fn kind_and_order(tables: &barrow_analyzer::Tables, words: &[String]) -> Result<(Kinds, Order), ReplError> {
    let kinds = match words.first() {
        Some(word) if word != "by" => leading_kind(tables, words)?,
        _ => Kinds::default(),
    };
    match &words[kinds.words..] {
        [] => Ok((kinds, Order::default())),
        [by, name] if by == "by" => match Order::named(name) {
            Some(order) => Ok((kinds, order)),
            None => Err(ReplError::usage(format!(
                "there is no order `{name}`; try `by size`, `by count` or `by unmanaged`"
            ))),
        },
        [word, ..] => Err(COMMAND.refuses(word)),
    }
}
