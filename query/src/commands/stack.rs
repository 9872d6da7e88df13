//! `stack`: the frames of a thread, and what each retains.

use barrow_analyzer::{FrameRoots, Recording, SnapshotId, Tables, ThreadRoots, Threads};

use crate::tables::ranking;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "THREAD",
    example: "stack main",
    ..Command::new("stack", include_str!("../../verbs/stack.md"), Group::Alive, run)
};

/// Separates the label of a thread from that of one of its frames.
const SEPARATOR: &str = ": ";

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let name = ask.arguments.words().join(" ");
    if name.is_empty() {
        return Err(QueryError::usage("of which thread? `threads` lists them: `stack main`"));
    }
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let tables = heap.recording().tables()?;
    let threads = Threads::read(heap.recording(), snapshot)?;
    let (roots, _) = heap.thread_roots(&threads, &meter)?;
    let thread = chosen(&name, &threads, &roots, tables)?;
    let label = tables.string(thread.label);
    let (found, is_exact) = heap.frame_roots(&threads, thread.label, &meter)?;
    drop(meter);
    let stack = stack(heap.recording(), snapshot, label)?;
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::text("thread"), label)
        .fact(Column::count("frames"), stack.len())
        .fact(Column::count("roots"), thread.roots)
        .fact(Column::bytes("retained_bytes"), thread.retained.bytes)
        .table(table(&stack, &found, thread, tables, is_exact))
        .note_if(stack.is_empty(), "the stack was not recorded: these are the frames that labels of roots name");
    Ok(more::first_page(ask, answer.with_exactness(is_exact), ask.page_rows()))
}

/// The thread of this name or number.
fn chosen<'r>(
    name: &str,
    threads: &Threads,
    roots: &'r [ThreadRoots],
    tables: &Tables,
) -> Result<&'r ThreadRoots, QueryError> {
    let is_named = |thread: &&ThreadRoots| {
        let row = thread.row.map(|row| &threads.rows()[row]);
        let names = [Some(thread.label), row.and_then(|row| row.name)];
        names.into_iter().flatten().any(|known| tables.string(known) == name)
            || row.is_some_and(|row| row.id.to_string() == name)
    };
    let mut named = roots.iter().filter(is_named);
    match (named.next(), named.next()) {
        (Some(thread), None) => Ok(thread),
        (Some(_), Some(_)) => {
            Err(QueryError::usage("several threads are called so; type the number of one, from `threads`"))
        }
        (None, _) => Err(QueryError::usage(match roots.is_empty() {
            true => "no root of this snapshot belongs to a thread".to_owned(),
            false => format!("no thread with roots is called `{name}`; `threads` lists them"),
        })),
    }
}

/// The frames of a thread, the innermost first, each with how often it is there; empty if they were not recorded.
fn stack(recording: &Recording, snapshot: SnapshotId, label: &str) -> Result<Vec<(String, usize)>, QueryError> {
    let key = format!("thread {label}");
    let key_values = recording.snapshot(snapshot)?.key_values;
    let lines = key_values.iter().find(|(known, _)| *known == key).map_or("", |(_, lines)| lines.as_str());
    let mut frames: Vec<(String, usize)> = Vec::new();
    let mut place_of = std::collections::HashMap::new();
    for line in lines.lines() {
        let place = *place_of.entry(line).or_insert(frames.len());
        match frames.get_mut(place) {
            Some((_, times)) => *times += 1,
            None => frames.push((line.to_owned(), 1)),
        }
    }
    Ok(frames)
}

/// A row for each frame, then one for each label that is not in the stack, the thread itself, and what is shared.
fn table(
    stack: &[(String, usize)],
    found: &[FrameRoots],
    thread: &ThreadRoots,
    tables: &Tables,
    is_exact: bool,
) -> Table {
    let label = tables.string(thread.label);
    let named = found.iter().map(|one| {
        let frame = tables.string(one.label).strip_prefix(label).and_then(|text| text.strip_prefix(SEPARATOR));
        (frame, one)
    });
    let named: Vec<(Option<&str>, &FrameRoots)> = named.collect();
    let mut parts = Vec::new();
    for (frame, times) in stack {
        let roots = named.iter().find(|(of, _)| *of == Some(frame)).map(|(_, one)| (one.roots, one.retained.bytes));
        let (roots, bytes) = roots.unwrap_or_default();
        parts.push(StackRow { name: "frame", frame: Some(frame), times: Some(*times), roots: Some(roots), bytes });
    }
    for (frame, one) in named {
        if stack.iter().all(|(known, _)| frame != Some(known)) {
            let name = if frame.is_some() { "frame" } else { "thread" };
            parts.push(StackRow { name, frame, times: None, roots: Some(one.roots), bytes: one.retained.bytes });
        }
    }
    let (own, whole) = (found.iter().map(|one| one.retained.bytes).fold(0, u64::wrapping_add), thread.retained.bytes);
    parts.push(StackRow { name: "shared", frame: None, times: None, roots: None, bytes: whole.saturating_sub(own) });
    table!("rows", parts, |part| {
        Column::text("part") => part.name,
        Column::text("frame") => part.frame,
        Column::count("frames").secondary() => part.times,
        Column::count("roots") => part.roots,
        ranking::retained_column(is_exact) => part.bytes,
        Column::share("share").for_people() => Value::share(part.bytes, whole),
    })
}

/// A part of what a thread retains.
struct StackRow<'a> {
    name: &'static str,
    frame: Option<&'a str>,
    /// Number of times that the frame is in the stack.
    times: Option<usize>,
    roots: Option<u64>,
    bytes: u64,
}
