//! `loaders`: class loaders, and classes that several of them define.

use barrow_analyzer::{Heap, Loader, Loaders};

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::label;

use super::{Command, Group, more};

pub(super) const COMMAND: Command =
    Command::new("loaders", include_str!("../../verbs/loaders.md"), Group::Objects, run);

/// What the loader of the JVM itself is called.
const OWN_LOADER: &str = "<the JVM's own>";

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let found = match heap.loaders(&meter) {
        Err(barrow_analyzer::AnalyzerError::NoField { .. }) => {
            return Err(QueryError::usage("no class of this snapshot has a loader: only dumps of JVMs tell them"));
        }
        found => found?,
    };
    let retained: Vec<Option<u64>> = heap.ask_dominators(&meter, |dominators| {
        let retained = |loader: &Loader| loader.object.map(|object| dominators.retained_bytes(object.id));
        Ok::<_, QueryError>(found.loaders.iter().map(retained).collect())
    })?;
    let objects = found.loaders.iter().filter_map(|loader| loader.object.map(|object| object.id));
    let examples = found.duplicates.iter().map(|class| class.classes[0]);
    let listed: Vec<_> = objects.chain(examples).collect();
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("loaders"), found.loaders.len())
        .fact(Column::count("classes"), found.loaders.iter().map(|one| one.classes).sum::<u64>())
        .fact(Column::count("duplicate_classes"), found.duplicates.len())
        .table(loaders(&heap, &found, &retained)?)
        .table(duplicates(&found));
    drop(meter);
    Ok(more::first_page(ask, answer, ask.page_rows()).listing_objects(snapshot, listed))
}

fn loaders(heap: &Heap, found: &Loaders<'_>, retained: &[Option<u64>]) -> Result<Table, QueryError> {
    let tables = heap.recording().tables()?;
    let mut number = 0;
    let rows = found.loaders.iter().zip(retained).map(|(loader, &retained)| {
        let object = loader.object.as_ref();
        number += usize::from(object.is_some());
        vec![
            object.map(|_| number).into(),
            object.map_or(OWN_LOADER.into(), |object| Value::text(label::object(tables, object.type_id, object.name))),
            loader.classes.into(),
            loader.duplicates.into(),
            loader.instances.into(),
            loader.bytes.into(),
            loader.unknown.into(),
            retained.into(),
            loader.parent.map(|parent| parent.0).into(),
            object.map(|object| object.id.0).into(),
        ]
    });
    let columns = vec![
        Column::row_number(),
        Column::text("loader"),
        Column::count("classes"),
        Column::count("duplicates"),
        Column::count("instances"),
        Column::bytes("shallow_bytes"),
        Column::count("unknown").secondary(),
        Column::bytes("retained_bytes"),
        Column::object("parent").secondary(),
        Column::object("object"),
    ];
    Ok(Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.collect() })
}

fn duplicates(found: &Loaders<'_>) -> Table {
    let before = found.loaders.iter().filter(|loader| loader.object.is_some()).count();
    let rows = found.duplicates.iter().zip(before + 1..).map(|(class, number)| {
        vec![
            Value::from(number),
            Value::text(class.name),
            class.classes.len().into(),
            class.instances.into(),
            class.bytes.into(),
            class.classes[0].0.into(),
        ]
    });
    let columns = vec![
        Column::row_number(),
        Column::text("class").called("class of several loaders"),
        Column::count("loaders"),
        Column::count("instances"),
        Column::bytes("shallow_bytes"),
        Column::object("object").called("first class"),
    ];
    Table { key: "duplicates", audience: Audience::Everyone, columns, rows: rows.collect() }
}
