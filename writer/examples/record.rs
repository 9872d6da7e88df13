//! A runtime with two types records a snapshot after each of three collections:
//! `cargo run -p barrow-writer --example record -- /tmp/list.barrow`.

use std::path::Path;

use barrow_writer::{
    Finished, KindRole, Label, Object, Options, Result, SnapshotInfo, StrengthId, TypeDescription, Writer,
};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: record FILE")?;
    println!("{} snapshots", record(file.as_ref())?.snapshots);
    Ok(())
}

/// The heap of the runtime: a global list, which grows. A real runtime walks its own objects instead.
struct List {
    texts: Vec<&'static str>,
}

/// Writes a recording of the list while it grows.
pub(crate) fn record(file: &Path) -> Result<Finished> {
    let writer = Writer::create(file, Options::default())?;
    let mut list = List { texts: Vec::new() };
    for (number, text) in (1..).zip(["first", "second", "third"]) {
        list.texts.push(text);
        snapshot(&writer, &list, number)?;
    }
    writer.finish()
}

/// Announces every object once, followed by its references. Types and names may be declared again: equal ones have the
/// same number.
fn snapshot(writer: &Writer, list: &List, gc_number: u64) -> Result<()> {
    let object = writer.kind("object", KindRole::Object)?;
    let list_type = writer.declare_type(&TypeDescription::new(object, "List"))?;
    let text_type = writer.declare_type(&TypeDescription::new(object, "Text"))?;
    let globals = writer.string("globals")?;

    let snapshot = writer.begin_snapshot(SnapshotInfo { gc_number: Some(gc_number), ..SnapshotInfo::default() })?;
    // Each thread has its own shard. Here there is one.
    let mut shard = snapshot.shard();
    shard.root(globals, None, 0)?;
    shard.object(0, &Object::new(list_type, 24 + 8 * list.texts.len() as u64))?;
    for (index, id) in (0..list.texts.len() as u64).zip(1..) {
        shard.reference(Label::Index(index), StrengthId::STRONG, id)?;
    }
    for (text, id) in list.texts.iter().zip(1..) {
        let name = writer.string(text)?;
        shard.object(id, &Object { name: Some(name), ..Object::new(text_type, 16 + text.len() as u64) })?;
    }
    shard.finish()?;
    snapshot.commit()?;
    Ok(())
}
