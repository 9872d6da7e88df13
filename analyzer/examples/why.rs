//! Prints what the first object that matches an expression retains in the last snapshot, and why it is alive:
//! `cargo run -p barrow-analyzer --example why -- testdata/orders.barrow 'size > 1K'`.

use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{Expression, Heap, IndexPlace, Label, Memory, ObjectId, Page, PathOptions, Recording, Silent};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(file), Some(text)) = (words.next(), words.next()) else {
        return Err("usage: why FILE EXPRESSION".into());
    };
    print!("{}", why(file.as_ref(), &text)?);
    Ok(())
}

/// The lines about a file: the object, then each step of a shortest path to it from a root.
pub(crate) fn why(file: &Path, expression: &str) -> Result<String, Box<dyn std::error::Error>> {
    let recording = Arc::new(Recording::open(file)?);
    let last = recording.snapshot_ids().last().ok_or("there is no snapshot")?;
    let heap = Heap::new(Arc::clone(&recording), last, &IndexPlace::Nowhere, Memory::unlimited())?;
    let tables = recording.tables()?;

    let first = Page { from: ObjectId(0), limit: 1 };
    let found = heap.find(&[], &Expression::parse(expression)?, first, &Silent)?;
    let object = found.objects.first().ok_or("no object matches")?.id;
    let bytes = heap.dominators(&Silent)?.retained_bytes(object);
    let mut lines = format!("@{} retains {bytes} bytes\n", object.0);
    let paths = heap.paths(object, &PathOptions::default(), &Silent)?;
    let path = paths.first().ok_or("no root leads to it")?;
    for step in heap.steps(path, 0..path.objects.len())? {
        let label = match step.reference {
            None => tables.string(path.root.category).to_owned(),
            Some((Label::Name(name), _)) => tables.string(name).to_owned(),
            Some((Label::Index(index), _)) => format!("[{index}]"),
            Some(_) => "?".to_owned(),
        };
        lines.push_str(&format!("{label} → {} @{}\n", tables.type_title(step.object.type_id), step.object.id.0));
    }
    Ok(lines)
}
