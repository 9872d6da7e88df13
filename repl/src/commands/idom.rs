//! `idom`: who keeps an object alive alone.

use barrow_analyzer::{Holder, ObjectId, TypeId};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "idom",
    aliases: &[],
    group: Group::Alive,
    arguments: "ID",
    about: "The dominators of an object, from the nearest to the roots",
    details: "Each line would free the object, and everything in the lines above it. The first is the immediate \
              dominator.",
    example: "idom @123",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let (snapshot, object) = match &arguments.words()[..] {
        [] => return Err(ReplError::usage("of which object? `idom @123`, or `idom %3` for row 3 of the last table")),
        [name] => session.object(name)?,
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let heap = session.heap(snapshot)?;
    let meter = session.meter();
    let dominators = heap.dominators(&meter)?;
    let types = heap.types(&meter)?;
    drop(meter);
    let tables = heap.recording().tables()?;
    let type_of = |object: ObjectId| TypeId(types[object.index()]);
    session.listed.clear();
    let mut rows = Vec::new();
    for holder in dominators.holders(object) {
        let (dominator, title, bytes) = match holder {
            Holder::Object(dominator) => {
                let title = tables.type_title(type_of(dominator));
                (Some(dominator), title, dominators.retained_bytes(dominator))
            }
            Holder::Roots(name) => (None, format!("roots: {}", tables.string(name)), dominators.group_bytes(name)),
            Holder::Everything => (None, "all roots".to_owned(), dominators.reachable_bytes()),
        };
        session.listed.extend(dominator.map(|dominator| (snapshot, dominator)));
        rows.push(vec![
            dominator.map(|_| session.listed.len()).into(),
            dominator.map(|dominator| dominator.0).into(),
            Value::Text(title),
            dominator.map(|dominator| tables.kind_name(tables.type_kind(type_of(dominator)))).into(),
            bytes.into(),
        ]);
    }
    let columns = vec![
        Column::new("row", "%", Unit::Number).for_people(),
        Column::new("object", "object", Unit::Object),
        Column::new("type", "type", Unit::Text),
        Column::new("kind", "kind", Unit::Text),
        Column::new("retained_bytes", "retained", Unit::Bytes),
    ];
    let mut answer = Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), snapshot.0)
        .fact(Column::new("object", "object", Unit::Object), object.0)
        .table(Table { key: "rows", audience: Audience::Everyone, columns, rows })
        .with_exactness(dominators.is_exact());
    if !dominators.is_reachable(object) {
        answer = answer.note("no root reaches it: nothing keeps it alive");
    }
    let page = session.page_rows();
    Ok(more::first_page(session, answer, page))
}
