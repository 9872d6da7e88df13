//! `loaders`: class loaders, and classes that several of them define.

use barrow_analyzer::{AnalyzerError, Loaders};

use crate::tables::label;

use super::{more, prelude::*};

pub(super) const COMMAND: Command =
    Command::new("loaders", include_str!("../../verbs/loaders.md"), Group::Objects, run);

/// The name of the bootstrap loader, which is no object.
const OWN_LOADER: &str = "<the JVM's own>";

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let found = match heap.loaders(&meter) {
        Err(AnalyzerError::NoField { .. }) => {
            return Err(QueryError::usage("no class of this snapshot has a loader: only dumps of JVMs tell them"));
        }
        found => found?,
    };
    let retained: Vec<Option<u64>> = heap.ask_dominators(&meter, |dominators| {
        let objects = found.loaders.iter().map(|loader| loader.object.as_ref());
        Ok::<_, QueryError>(objects.map(|object| Some(dominators.retained_bytes(object?.id))).collect())
    })?;
    let with_classes = heap.retained_with_loaders(&found.loaders, &meter)?;
    drop(meter);
    let tables = heap.recording().tables()?;
    let mut listed = Listed::default();
    let loaders = table!("rows", found.loaders.iter().zip(retained).zip(with_classes), |((loader, retained), all)| {
        let object = loader.object.as_ref();
        Column::row_number() => object.map(|object| listed.push((snapshot, object.id))),
        Column::text("loader").names() => {
            object.map_or(OWN_LOADER.into(), |object| label::object(tables, object.type_id, object.name))
        },
        Column::text("name") => loader.name.as_deref(),
        Column::count("classes") => loader.classes,
        Column::count("duplicates").secondary() => loader.duplicates,
        Column::count("instances") => loader.instances,
        Column::bytes("shallow_bytes").secondary() => loader.bytes,
        Column::count("unknown").secondary() => loader.unknown,
        Column::bytes("retained_bytes").secondary() => retained,
        Column::bytes("retained_with_instances_bytes").called("cost") => all.map(|all| all.bytes),
        Column::object("parent").secondary() => loader.parent.map(|parent| parent.0),
        Column::object("object") => object.map(|object| object.id.0),
    });
    let duplicates = table!("duplicates", &found.duplicates, |class| {
        Column::row_number() => listed.push((snapshot, class.classes[0])),
        Column::text("class").called("class of several loaders") => class.name,
        Column::count("loaders") => class.classes.len(),
        Column::count("instances") => class.instances,
        Column::bytes("shallow_bytes") => class.bytes,
        Column::object("object").called("first class") => class.classes[0].0,
    });
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("loaders"), found.loaders.len())
        .fact(Column::count("classes"), found.loaders.iter().map(|one| one.classes).sum::<u64>())
        .fact(Column::count("duplicate_classes"), found.duplicates.len())
        .table(loaders)
        .table(duplicates);
    let is_cut = found.loaders.len() > Loaders::MOST_WITH_COST;
    let answer =
        answer.note_if(is_cut, format!("the cost is computed for the first {} loaders", Loaders::MOST_WITH_COST));
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}
