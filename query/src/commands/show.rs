//! `show`: what an object refers to.

use barrow_analyzer::{Direction, ObjectId, SnapshotId, objects, outgoing_page};

use crate::tables::references::{self, ORDERS, Wanted};
use crate::tables::{held, label};

use super::{inrefs, more, prelude::*, set_references};

pub(super) const COMMAND: Command = Command {
    aliases: &["out", "outgoing", "refs"],
    arguments: "ID [by type|field|object | FROM.. | FROM..TO] | [N] [KIND] EXPR [by type|field|object]",
    completion: Completion::Expressions,
    orders: |_| ORDERS.to_vec(),
    example: "show @123",
    ..Command::new("show", include_str!("../../verbs/show.md"), Group::Objects, run)
};

/// References that are yet to be shown.
#[derive(Clone)]
struct References {
    snapshot: SnapshotId,
    object: ObjectId,
    wanted: Wanted,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    if set_references::is_about_set(ask, &words) {
        return set_references::of_expression(ask, &COMMAND, Direction::Outgoing);
    }
    let (name, wanted) = Wanted::of_words(&COMMAND, &words)?;
    let (snapshot, object) = references::object(ask, name)?;
    let Some(order) = wanted.by else { return References { snapshot, object, wanted }.answer(ask) };
    let heap = ask.heap(snapshot)?;
    if order != ORDERS[0] {
        return set_references::of_object(ask, heap, object, Direction::Outgoing, order);
    }
    let types = heap.outgoing_by_type(object, &ask.meter())?;
    let is_empty = types.is_empty();
    let (answer, listed) = references::by_type(&heap, object, types)?;
    let answer = answer.note_if(is_empty, "it refers to nothing");
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

impl References {
    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let (recording, heap) = (ask.recording()?, ask.heap(self.snapshot)?);
        self.wanted.pass(ask.view.skip);
        let most = self.wanted.page(ask, u64::MAX);
        let (mut found, total) = outgoing_page(&recording, self.snapshot, self.object, self.wanted.from, most)?;
        self.wanted.from = self.wanted.from.saturating_add(found.len() as u64);
        let before = found.len();
        found.retain(|reference| heap.has_reference(self.object, reference));
        let gone = before - found.len();
        let targets: Vec<ObjectId> = found.iter().map(|reference| reference.target).collect();
        let details = objects(&recording, self.snapshot, &targets)?;
        let tables = recording.tables()?;
        let lines = held::lines_of(&heap, &details, &ask.meter())?;
        let first = ask.listed_before() + 1;
        let table = table!("rows", found.iter().zip(&details).enumerate(), |(at, (reference, target))| {
            ask.context.check()?;
            Column::row_number() => ask.row_number(first + at),
            Column::text("label").called("reference") => label::text(tables, reference.label),
            Column::text("strength").names() => label::strength(tables, reference.strength),
            Column::object("target") => reference.target.0,
            Column::text("type").names() => tables.type_title(target.type_id),
            Column::text("name") => label::name(tables, target.name),
            Column::text("line") => lines.get(&target.id).cloned(),
            Column::text("kind").names() => tables.kind_name(tables.type_kind(target.type_id)),
            Column::bytes("shallow_bytes") => target.shallow_bytes,
        });
        let mut answer = references::about(self.snapshot, self.object, total).table(table);
        let listed = targets.into_iter().map(|target| (self.snapshot, target)).collect();
        if total == 0 {
            answer = answer.note("it refers to nothing");
        } else if before == 0 {
            answer = answer.note(format!("its references have the numbers 0 to {}", total - 1));
        }
        let note = format!("… {} to what is excluded", units::counted(gone as u64, "reference"));
        let answer = answer.note_if(gone > 0, note);
        let about = (self.wanted, total, COMMAND.name, self.object);
        Ok(inrefs::page(ask, answer, listed, about, move |ask| self.clone().answer(ask)))
    }
}
