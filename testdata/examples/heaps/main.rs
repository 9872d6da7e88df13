//! Writes recordings that are hard to show: deep, wide, hostile, empty. The tests of the page ask them.
//!
//! `cargo run -p barrow-testdata --example heaps FOLDER` writes all of them into a folder.
//! `cargo run -p barrow-testdata --example heaps grow FILE` commits a snapshot for each line on its standard input, and
//! says so on its standard output.

mod trials;

use std::io::{self, BufRead, Write};
use std::path::Path;

use barrow_writer::{
    Encoding, KindRole, Label, Object, Options, ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Result,
    SnapshotInfo, StrengthId, StringId, ThreadDescription, TypeDescription, TypeId, Usage, Value, Writer,
};

/// Objects of the linked list.
const DEEP: u64 = 1_000_000;
/// Children of one object, each of which has a child of its own.
const WIDE: u64 = 2_000_000;
/// Characters of the longest name.
const LONG: usize = 1_000_000;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [word, file] if word == "grow" => grow(Path::new(file))?,
        [folder] => {
            let folder = Path::new(folder);
            std::fs::create_dir_all(folder)?;
            deep(&folder.join("deep.barrow"))?;
            wide(&folder.join("wide.barrow"))?;
            hostile(&folder.join("hostile.barrow"))?;
            no_snapshot(&folder.join("nothing.barrow"))?;
            no_object(&folder.join("empty.barrow"))?;
            one(&folder.join("one.barrow"))?;
            both(&folder.join("both.barrow"))?;
            trials::write(folder)?;
        }
        _ => return Err("which folder?".into()),
    }
    Ok(())
}

/// What distinguishes these recordings from others.
const UUID: [u8; 16] = *b"for the web page";

/// A recording whose bytes depend on nothing but this program.
fn create(path: &Path) -> Result<Writer> {
    Writer::create(path, Options { uuid: Some(UUID), created_ns: Some(0), ..Options::default() })
}

/// Types of kind `object`.
fn declare<const N: usize>(writer: &Writer, names: [&str; N]) -> Result<[TypeId; N]> {
    let kind = writer.kind("object", KindRole::Object)?;
    let mut types = [TypeId(0); N];
    for (type_id, name) in types.iter_mut().zip(names) {
        *type_id = writer.declare_type(&TypeDescription::new(kind, name))?;
    }
    Ok(types)
}

/// `root -> Node -> Node -> …`, each of 24 bytes, and one large object at the end.
fn deep(path: &Path) -> Result<()> {
    let writer = create(path)?;
    let [node, end] = declare(&writer, ["Node", "End"])?;
    let next = Label::Name(writer.string("next")?);
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = snapshot.shard();
    shard.root(writer.string("globals")?, None, 0)?;
    for id in 0..DEEP {
        shard.object(id, &Object::new(node, 24))?;
        shard.reference(next, StrengthId::STRONG, id + 1)?;
    }
    shard.object(DEEP, &Object::new(end, 1 << 20))?;
    shard.finish()?;
    snapshot.commit()?;
    writer.finish()?;
    Ok(())
}

/// A table of rows, each with a value: one snapshot with few, one with [`WIDE`].
fn wide(path: &Path) -> Result<()> {
    let writer = create(path)?;
    let types = declare(&writer, ["Table", "Row", "Value"])?;
    let globals = writer.string("globals")?;
    let value = Label::Name(writer.string("value")?);
    for rows in [WIDE / 100, WIDE] {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        let mut shard = snapshot.shard();
        shard.root(globals, None, 0)?;
        shard.object(0, &Object::new(types[0], 16 + 8 * rows))?;
        for row in 0..rows {
            shard.reference(Label::Index(row), StrengthId::STRONG, 1 + 2 * row)?;
        }
        for row in 0..rows {
            shard.object(1 + 2 * row, &Object::new(types[1], 16 + row % 64))?;
            shard.reference(value, StrengthId::STRONG, 2 + 2 * row)?;
            shard.object(2 + 2 * row, &Object::new(types[2], 8 + row % 1000))?;
        }
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish()?;
    Ok(())
}

/// What somebody who wants to harm the reader of a dump calls objects.
fn hostile_names() -> Vec<String> {
    vec![
        "</script><img src=x onerror=alert(1)>".to_owned(),
        "<script>alert('type')</script>".to_owned(),
        "\"><svg onload=alert(2)>".to_owned(),
        "javascript:alert(3)".to_owned(),
        "{{constructor.constructor('alert(4)')()}}".to_owned(),
        "a\u{202e}gnp.exe\u{2066}b\u{200f}".to_owned(),
        "bell \u{7} escape \u{1b}[31mred\u{1b}[0m nul \u{0} back \u{8}\u{8} line\nline\r\ttab".to_owned(),
        "quotes ' \" ` $(touch /tmp/barrow-e2e-harm) \\ ; | > % &amp; #q=top".to_owned(),
        "constructor".to_owned(),
        "__proto__".to_owned(),
        "n".repeat(LONG),
    ]
}

/// Types, objects, references, roots, threads, fields, texts in them and labels with hostile names; three snapshots of
/// them.
fn hostile(path: &Path) -> Result<()> {
    let writer = create(path)?;
    let names = hostile_names();
    let kind = writer.kind(&names[1], KindRole::Object)?;
    let mut types = Vec::new();
    for name in &names {
        let file = Some(names[0].as_str());
        types.push(writer.declare_type(&TypeDescription {
            file,
            line: Some(1),
            ..TypeDescription::new(kind, name)
        })?);
    }
    let texts = names.iter().map(|name| writer.string(name)).collect::<Result<Vec<StringId>>>()?;
    let mut said = Vec::new();
    for &type_id in &types {
        // A reference of each name, a text, and a number that is never recorded.
        for name in &names {
            writer.field(type_id, name, Encoding::Reference, false)?;
        }
        said.push(writer.field(type_id, "said", Encoding::Text, false)?);
        writer.field(type_id, "<b>never</b>", Encoding::Unsigned, false)?;
    }
    writer.fact(&names[2], &names[0])?;
    for step in 0..3_u64 {
        let label = Some(names[step as usize].clone());
        let snapshot = writer.begin_snapshot(SnapshotInfo { label, ..SnapshotInfo::default() })?;
        snapshot.thread(&ThreadDescription {
            name: Some(&names[0]),
            state: Some(&names[6]),
            attributes: &[(&names[2], &names[1])],
            ..ThreadDescription::new(1)
        })?;
        let mut shard = snapshot.shard();
        let count = types.len() as u64;
        shard.root(texts[0], Some(texts[1]), 0)?;
        for id in 0..count {
            let at = id as usize;
            let object = Object { name: Some(texts[at]), ..Object::new(types[at], 100 + 1000 * id * (step + 1)) };
            shard.object(id, &object)?;
            shard.value(said[at], Value::Text(texts[at]))?;
            for target in id + 1..count {
                shard.reference(Label::Name(texts[target as usize]), StrengthId::STRONG, target)?;
            }
        }
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish()?;
    Ok(())
}

/// A recording of a process that ended before its first collection.
fn no_snapshot(path: &Path) -> Result<()> {
    create(path)?.finish()?;
    Ok(())
}

/// One snapshot without objects.
fn no_object(path: &Path) -> Result<()> {
    let writer = create(path)?;
    writer.begin_snapshot(SnapshotInfo::default())?.commit()?;
    writer.finish()?;
    Ok(())
}

/// One snapshot of few objects.
fn one(path: &Path) -> Result<()> {
    let writer = create(path)?;
    commit_list(&writer, &declare(&writer, LIST)?, 3)?;
    writer.finish()?;
    Ok(())
}

/// A heap, and a tree of processes with hostile names.
fn both(path: &Path) -> Result<()> {
    const SECOND: i64 = 1_000_000_000;
    let writer = create(path)?;
    commit_list(&writer, &declare(&writer, LIST)?, 3)?;
    let names = hostile_names();
    let begin = |time_ns: i64, pid: u64, parent: Option<ProcessId>, name: &str| {
        let arguments = [name, &names[0], &names[5], &names[7]];
        let program =
            ProgramDescription { executable: Some(name), directory: Some(names[1].as_str()), arguments: &arguments };
        let host = Some(if pid.is_multiple_of(2) { names[0].as_str() } else { "a b" });
        writer.begin_process(&ProcessDescription { time_ns, pid, parent, host, program })
    };
    let end = |process: ProcessId, time_ns: i64| {
        let used = Usage { user_ns: Some(SECOND as u64), peak_bytes: Some(1 << 20), ..Usage::default() };
        writer.end_process(process, time_ns, &ProcessEnd { exit_status: Some(0), signal: None, used })
    };
    let make = begin(0, 1, None, "make")?;
    let mut begun = Vec::new();
    for (at, name) in (0..).zip(&names) {
        begun.push(begin((at + 1) * SECOND, 2 + at as u64, Some(make), name)?);
    }
    let memory: Vec<(ProcessId, u64)> = begun.iter().map(|process| (*process, 1 << 20)).collect();
    writer.process_memory(12 * SECOND, &memory)?;
    for (at, process) in (0..).zip(begun) {
        end(process, (20 + 2 * at) * SECOND)?;
    }
    end(make, 60 * SECOND)?;
    writer.process_heap(make, UUID)?;
    writer.finish()?;
    Ok(())
}

/// The types of [`commit_list`].
const LIST: [&str; 2] = ["List", "Item"];

/// A `List` with this many items.
fn commit_list(writer: &Writer, types: &[TypeId; 2], items: u64) -> Result<()> {
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = snapshot.shard();
    shard.root(writer.string("globals")?, None, 0)?;
    shard.object(0, &Object::new(types[0], 64))?;
    for item in 0..items {
        shard.reference(Label::Index(item), StrengthId::STRONG, 1 + item)?;
    }
    for item in 0..items {
        shard.object(1 + item, &Object::new(types[1], 1000))?;
    }
    shard.finish()?;
    snapshot.commit()?;
    Ok(())
}

/// Commits a snapshot for each line of the standard input, each with one item more, until it ends.
fn grow(path: &Path) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let writer = create(path)?;
    let types = declare(&writer, LIST)?;
    for (number, line) in (1..).zip(io::stdin().lock().lines()) {
        line?;
        commit_list(&writer, &types, number)?;
        writeln!(io::stdout(), "{number}")?;
        io::stdout().flush()?;
    }
    writer.finish()?;
    Ok(())
}
