//! `inrefs`: who refers to an object.

use std::sync::Arc;

use barrow_analyzer::{Direction, Heap, ObjectId, Referrers};

use crate::tables::references::{self, ORDERS, Wanted};
use crate::tables::{held, label};

use super::{more, prelude::*, set_references};

pub(super) const COMMAND: Command = Command {
    aliases: &["in", "incoming", "retainers"],
    arguments: "ID [by type|field|object | FROM.. | FROM..TO] | [N] [KIND] EXPR [by type|field|object]",
    completion: Completion::Expressions,
    orders: |_| ORDERS.to_vec(),
    example: "inrefs @123",
    ..Command::new("inrefs", include_str!("../../verbs/inrefs.md"), Group::Objects, run)
};

/// References that are yet to be shown.
#[derive(Clone)]
struct Incoming {
    heap: Arc<Heap>,
    object: ObjectId,
    referrers: Arc<Referrers>,
    wanted: Wanted,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    if set_references::is_about_set(ask, &words) {
        return set_references::of_expression(ask, &COMMAND, Direction::Incoming);
    }
    let (name, wanted) = Wanted::of_words(&COMMAND, &words)?;
    let (snapshot, object) = references::object(ask, name)?;
    let heap = ask.heap(snapshot)?;
    let Some(order) = wanted.by else {
        let referrers = Arc::new(heap.referrers(object, &ask.meter())?);
        return Incoming { heap, object, referrers, wanted }.answer(ask);
    };
    if order != ORDERS[0] {
        return set_references::of_object(ask, heap, object, Direction::Incoming, order);
    }
    let types = heap.incoming_by_type(object, &ask.meter())?;
    let is_empty = types.is_empty();
    let (answer, listed) = references::by_type(&heap, object, types)?;
    let answer = answer.note_if(is_empty, "nothing refers to it");
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

impl Incoming {
    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let total = self.referrers.count();
        self.wanted.pass(ask.view.skip);
        let most = self.wanted.page(ask, total);
        let found = self.heap.incoming_page(&self.referrers, self.wanted.from, most)?;
        self.wanted.from = self.wanted.from.saturating_add(most as u64);
        let tables = self.heap.recording().tables()?;
        let (snapshot, first) = (self.heap.snapshot(), ask.listed_before() + 1);
        let lines = held::lines_of(&self.heap, found.iter().map(|reference| &reference.source), &ask.meter())?;
        let table = table!("rows", found.iter().enumerate(), |(at, reference)| {
            ask.context.check()?;
            let source = &reference.source;
            Column::row_number() => ask.row_number(first + at),
            Column::object("source") => source.id.0,
            Column::text("type").names() => tables.type_title(source.type_id),
            Column::text("name") => label::name(tables, source.name),
            Column::text("line") => lines.get(&source.id).cloned(),
            Column::text("kind").names() => tables.kind_name(tables.type_kind(source.type_id)),
            Column::text("label").called("reference") => label::text(tables, reference.label),
            Column::text("strength").names() => label::strength(tables, reference.strength),
            Column::bytes("shallow_bytes") => source.shallow_bytes,
        });
        let mut answer = references::about(snapshot, self.object, total).table(table);
        let listed = found.iter().map(|reference| (snapshot, reference.source.id)).collect();
        if total == 0 {
            answer = answer.note("nothing refers to it");
        } else if most == 0 {
            answer = answer.note(format!("the references to it have the numbers 0 to {}", total - 1));
        }
        let about = (self.wanted, total, COMMAND.name, self.object);
        Ok(page(ask, answer, listed, about, move |ask| self.clone().answer(ask)))
    }
}

/// A page of the references or entries of an object, of `total`, with the number of those that follow, and how to get
/// them. `next` makes the next page.
pub(super) fn page(
    ask: &Ask,
    mut answer: Answer,
    listed: Listed,
    (wanted, total, verb, object): (Wanted, u64, &'static str, ObjectId),
    next: impl Fn(&Ask) -> Result<Reply, QueryError> + Send + Sync + 'static,
) -> Reply {
    let left = wanted.left(total);
    answer.all_rows = Some(wanted.all(total));
    answer.goes_on = left > 0 && ask.view.is_whole;
    if left > 0 && !ask.view.is_whole {
        let note = references::rest_note(ask, verb, object, wanted.from, left);
        answer = answer.cut(note).fact(Column::count("more_rows").for_machines(), left);
    }
    let reply = Reply::from(answer).listing_page(ask, listed).skipping(ask.view.skip.is_some());
    if left > 0 { reply.with_more(next) } else { reply }
}
