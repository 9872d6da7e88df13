//! `idom`: who keeps an object alive alone.

use barrow_analyzer::{Holder, ObjectId, objects};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::label;

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "ID",
    example: "idom @123",
    ..Command::new("idom", include_str!("../../verbs/idom.md"), Group::Alive, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let (snapshot, object) = match &ask.arguments.words()[..] {
        [] => return Err(QueryError::usage("of which object? `idom @123`, or `idom %3` for row 3 of the last table")),
        [name] => ask.object(name)?,
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let asked = heap.ask_dominators(&meter, |dominators| {
        let bytes = |holder: &Holder| match *holder {
            Holder::Object(dominator) => dominators.retained_bytes(dominator),
            Holder::Roots(name) => dominators.group_bytes(name),
            Holder::Everything => dominators.reachable_bytes(),
        };
        let holders: Vec<(Holder, u64)> = dominators.holders(object).map(|holder| (holder, bytes(&holder))).collect();
        Ok::<_, QueryError>((holders, dominators.is_reachable(object), dominators.is_exact()))
    });
    let (holders, is_reachable, is_exact) = asked?;
    let dominators: Vec<ObjectId> = holders.iter().filter_map(|(holder, _)| holder.object()).collect();
    let mut details = objects(heap.recording(), snapshot, &dominators)?.into_iter();
    drop(meter);
    let tables = heap.recording().tables()?;
    let (mut rows, mut listed) = (Vec::new(), Listed::default());
    for (holder, bytes) in holders {
        ask.context.check()?;
        let dominator = holder.object();
        let object = dominator.and_then(|_| details.next());
        let type_id = object.map(|object| object.type_id);
        let title = match holder {
            Holder::Object(_) => object.map_or_else(String::new, |one| label::object(tables, one.type_id, one.name)),
            Holder::Roots(name) => format!("roots: {}", tables.string(name)),
            Holder::Everything => "all roots".to_owned(),
        };
        rows.push(vec![
            dominator.map(|dominator| listed.push((snapshot, dominator))).into(),
            dominator.map(|dominator| dominator.0).into(),
            Value::text(&title),
            Value::Text(type_id.map_or(title, |type_id| tables.type_title(type_id))),
            type_id.map(|type_id| tables.kind_name(tables.type_kind(type_id))).into(),
            bytes.into(),
        ]);
    }
    let columns = vec![
        Column::row_number(),
        Column::object("object"),
        Column::shown("type", Unit::Text),
        Column::text("type").for_machines(),
        Column::text("kind"),
        Column::bytes("retained_bytes"),
    ];
    let mut answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::object("object"), object.0)
        .table(Table { key: "rows", audience: Audience::Everyone, columns, rows })
        .with_exactness(is_exact);
    if !is_reachable {
        answer = answer.note("no root reaches it: nothing keeps it alive");
    }
    let page = ask.page_rows();
    Ok(more::first_page(ask, answer, page).listing(listed))
}
