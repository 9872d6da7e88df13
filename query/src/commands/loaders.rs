//! `loaders`: class loaders, and classes that several of them define.

use barrow_analyzer::{Heap, Loader, Loaders};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value, label};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "loaders",
    aliases: &[],
    group: Group::Objects,
    arguments: "",
    about: "Class loaders of a JVM: classes, instances, duplicates",
    details: "A loader that should be gone, that of an application that was deployed anew for instance, still has its classes \
              and all that their static fields hold: `path %3` tells what keeps it. `duplicates` are its classes that \
              another loader defines, too; the second table lists them, with the first of their class objects. `instances` \
              and `bytes` are the objects of its classes and arrays of them, by shallow size. Where loaders of one class define \
              classes of one name, the dump may not say whose instances they are: `unknown` counts these classes. \
              `retained` is what would be freed without the loader's object. The loader of the JVM itself is no object.",
    example: "loaders",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

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
        .of_snapshot(snapshot)
        .fact(Column::new("loaders", "loaders", Unit::Count), found.loaders.len())
        .fact(Column::new("classes", "classes", Unit::Count), found.loaders.iter().map(|one| one.classes).sum::<u64>())
        .fact(Column::new("duplicate_classes", "duplicate classes", Unit::Count), found.duplicates.len())
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
        Column::new("loader", "loader", Unit::Text),
        Column::new("classes", "classes", Unit::Count),
        Column::new("duplicates", "duplicates", Unit::Count),
        Column::new("instances", "instances", Unit::Count),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
        Column::new("unknown", "unknown", Unit::Count).secondary(),
        Column::new("retained_bytes", "retained", Unit::Bytes),
        Column::new("parent", "parent", Unit::Object).secondary(),
        Column::new("object", "object", Unit::Object),
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
        Column::new("class", "class of several loaders", Unit::Text),
        Column::new("loaders", "loaders", Unit::Count),
        Column::new("instances", "instances", Unit::Count),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
        Column::new("object", "first class", Unit::Object),
    ];
    Table { key: "duplicates", audience: Audience::Everyone, columns, rows: rows.collect() }
}
