//! The verdict: what the sections below say at length, in a sentence each.

use barrow_query::answer::{Answer, units};

use crate::html::Html;
use crate::rows::Rows;
use crate::suspects;

/// The answers that a verdict is about; a question that was not answered has none.
pub(crate) struct Answers<'a> {
    pub(crate) asserted: Option<&'a Answer>,
    pub(crate) suspects: Option<&'a Answer>,
    pub(crate) growth: Option<&'a Answer>,
    pub(crate) summary: &'a Answer,
}

/// Draws the sentences.
pub(crate) fn draw(html: &mut Html, answers: &Answers<'_>, with_texts: bool) {
    let sentences = [
        answers.asserted.and_then(asserted),
        answers.suspects.map(|answer| suspected(answer, with_texts)),
        // The first note of `growth` says how many series grow.
        answers.growth.and_then(|answer| answer.notes.first()).map(|note| format!("Growth: {note}.")),
        size(answers.summary),
    ];
    html.element("ul", &[("class", "verdict")], |html| {
        for sentence in sentences.into_iter().flatten() {
            html.element("li", &[], |html| html.prose(&sentence));
        }
    });
}

fn asserted(answer: &Answer) -> Option<String> {
    let rows = Rows::of(answer, "assertions")?;
    let count = |result: &str| (0..rows.len()).filter(|&row| rows.text(row, "result") == result).count() as u64;
    let (all, failed, undecided) = (rows.len() as u64, count("FALSE"), count("undecided"));
    Some(match (failed, undecided) {
        (0, 0) => format!("{}: all true.", units::counted(all, "assertion")),
        (_, 0) => format!("{}: {} false.", units::counted(all, "assertion"), units::grouped(failed)),
        _ => format!("{}: {failed} false, {undecided} undecided.", units::counted(all, "assertion")),
    })
}

fn suspected(answer: &Answer, with_texts: bool) -> String {
    match Rows::of(answer, "suspects").filter(|rows| rows.len() > 0) {
        None => "No object or type looks like a leak.".to_owned(),
        Some(rows) => {
            let (of, retains) = suspects::headline(rows, 0, with_texts);
            let count = units::counted(rows.len() as u64, "leak suspect");
            format!("{count}; the first: {of} {retains}.")
        }
    }
}

/// The size of the heap, in the first and in the last snapshot.
fn size(summary: &Answer) -> Option<String> {
    let rows = Rows::of(summary, "snapshots")?;
    let last = rows.len().checked_sub(1)?;
    let size = |row: usize| units::size(rows.number(row, "heap_bytes"));
    let objects = |row: usize| units::counted(rows.number(row, "objects"), "object");
    Some(match last {
        0 => format!("The heap: {} in {}.", size(0), objects(0)),
        _ => format!(
            "The heap over {}: from {} in {} to {} in {}.",
            units::counted(rows.len() as u64, "snapshot"),
            size(0),
            objects(0),
            size(last),
            objects(last)
        ),
    })
}
