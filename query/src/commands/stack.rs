//! `stack`: the frames of a thread, what each retains, and the objects that they hold.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use barrow_analyzer::{
    Frames, Heap, Local, ObjectId, Progress, Recording, SnapshotId, Tables, Thread, ThreadRoots, Threads, nearest,
    objects,
};

use crate::tables::{self, label, ranking};

use super::more::OnDemand;
use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "THREAD [--frame FRAME]",
    example: "stack main",
    flags: &["--frame"],
    completion: Completion::Threads,
    ..Command::new("stack", include_str!("../../verbs/stack.md"), Group::Alive, run)
};

/// Separates the label of a thread from that of one of its frames.
const SEPARATOR: &str = ": ";
/// The maximum number of threads that a message names.
const MOST_CANDIDATES: usize = 8;
/// The name of the parts of a thread that are frames.
const FRAME: &str = "frame";

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
    let frames = heap.frames(&threads, thread.label, &meter)?;
    let stack = stack(heap.recording(), snapshot, label)?;
    let are_objects = frames.rows.iter().any(|row| row.function.is_some());
    // CPython's dumps tell locals from 3.13 on.
    let knows_locals = !are_objects || !frames.locals.is_empty();
    let parts = match &ask.arguments.flags.frame {
        Some(frame) => only(frame, parts(&stack, &frames, thread, tables))?,
        None => parts(&stack, &frames, thread, tables),
    };
    let held = held(&heap, &parts, &frames, &meter)?;
    let number = thread.row.map(|row| threads.rows()[row].id);
    drop(meter);
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::text("thread"), label)
        .fact(Column::count("frames"), parts.iter().filter(|part| part.name == FRAME).count())
        .fact(Column::count("roots"), thread.roots)
        .fact(Column::bytes("retained_bytes"), thread.retained.bytes)
        .fact(Column::count("objects_held").called("objects held"), knows_locals.then_some(held.len()))
        .table(table(&parts, (label, number), thread, frames.are_exact))
        .note_if(
            stack.is_empty() && !are_objects,
            "the stack was not recorded: these are the frames that roots tell of",
        )
        .note_if(!knows_locals, "the recording does not tell what these frames hold");
    let sharing = super::threads::sharing(thread, &threads, tables);
    let answer =
        answer.note_if(sharing > 0, format!("this is about {sharing} threads, whose roots are not told apart"));
    let answer = answer.with_exactness(frames.are_exact);
    if held.is_empty() {
        return Ok(answer.into());
    }
    let names: Vec<Option<String>> = parts.into_iter().map(|part| part.frame).collect();
    let (count, heap, label) = (held.len(), Arc::clone(&heap), label.to_owned());
    let make = move |ask: &Ask, range: Range<usize>| page(ask, &heap, (&label, number), &names, &held[range]);
    OnDemand { answer, count, rows: None, has_pages: true, make: Box::new(make) }.begin(ask)
}

/// The thread of this name, of this number, or with this object.
fn chosen<'r>(
    name: &str,
    threads: &Threads,
    roots: &'r [ThreadRoots],
    tables: &Tables,
) -> Result<&'r ThreadRoots, QueryError> {
    let row = |thread: &ThreadRoots| thread.row.map(|row| &threads.rows()[row]);
    let has_object = |thread: &ThreadRoots| thread.object.is_some_and(|object| format!("@{object}") == name);
    let has_number = |thread: &ThreadRoots| row(thread).is_some_and(|row| row.id.to_string() == name);
    // Several threads may have their roots in common.
    let numbered = threads.rows().iter().find(|row| row.id.to_string() == name);
    let label = numbered.and_then(|row| row.root_label).map(|label| tables.string(label));
    let shares = |thread: &ThreadRoots| label.is_some_and(|label| label == tables.string(thread.label));
    let is_called = |thread: &ThreadRoots| {
        let names = [Some(thread.label), row(thread).and_then(|row| row.name)];
        names.into_iter().flatten().any(|known| tables.string(known) == name)
    };
    // CPython's dumps know threads only by their identifiers.
    let has_identifier = |thread: &ThreadRoots| tables.string(thread.label).strip_prefix("thread ") == Some(name);
    let found = |is: &dyn Fn(&ThreadRoots) -> bool| roots.iter().filter(|thread| is(thread)).collect::<Vec<_>>();
    let ways = [found(&has_object), found(&has_number), found(&shares), found(&is_called), found(&has_identifier)];
    let named = ways.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
    match &named[..] {
        [thread] => Ok(thread),
        [] if roots.is_empty() => Err(QueryError::usage("no root of this snapshot belongs to a thread")),
        [] => Err(QueryError::usage(format!("no thread with roots is called `{name}`; `threads` lists them"))),
        several => {
            let told = several.iter().take(MOST_CANDIDATES).map(|thread| candidate(thread, row(thread)));
            let told: Vec<String> = told.collect();
            let others = several.len() - told.len();
            let more = if others > 0 { format!(" and {others} more, which `threads` lists") } else { String::new() };
            let count = several.len();
            let told = told.join(", ");
            Err(QueryError::usage(format!("{count} threads are called `{name}`; type the number of one: {told}{more}")))
        }
    }
}

/// The number of a thread and its object, as they are typed.
fn candidate(thread: &ThreadRoots, row: Option<&Thread>) -> String {
    let number = row.map(|row| row.id.to_string());
    match (number, thread.object.map(|object| format!("@{object}"))) {
        (Some(number), Some(object)) => format!("{number} ({object})"),
        (number, object) => number.or(object).unwrap_or_else(|| "one without a number".to_owned()),
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

/// A part of what a thread retains.
struct StackPart {
    name: &'static str,
    frame: Option<String>,
    /// The index in [`Frames::rows`], if the frame has roots.
    row: Option<usize>,
    /// Number of times that the frame is in the stack.
    times: Option<usize>,
    roots: Option<u64>,
    bytes: u64,
}

/// The frames of the stack, then those of labels that are not in the stack, the thread itself, and what is shared.
fn parts(stack: &[(String, usize)], found: &Frames, thread: &ThreadRoots, tables: &Tables) -> Vec<StackPart> {
    let label = tables.string(thread.label);
    let named: Vec<Option<String>> = found
        .rows
        .iter()
        .map(|row| {
            let labelled = tables.string(row.label).strip_prefix(label).and_then(|text| text.strip_prefix(SEPARATOR));
            row.function.map(|function| tables.type_title(function)).or_else(|| labelled.map(str::to_owned))
        })
        .collect();
    let mut parts = Vec::new();
    for (frame, times) in stack {
        let row = named.iter().position(|of| of.as_ref() == Some(frame));
        let (roots, bytes) = row.map_or((0, 0), |row| (found.rows[row].roots, found.rows[row].retained.bytes));
        let frame = Some(frame.clone());
        parts.push(StackPart { name: FRAME, frame, row, times: Some(*times), roots: Some(roots), bytes });
    }
    for (at, (frame, row)) in named.into_iter().zip(&found.rows).enumerate() {
        if stack.iter().all(|(known, _)| frame.as_ref() != Some(known)) {
            let name = if frame.is_some() { FRAME } else { "thread" };
            let (row, roots, bytes) = (Some(at), Some(row.roots), row.retained.bytes);
            parts.push(StackPart { name, frame, row, times: None, roots, bytes });
        }
    }
    let own = found.rows.iter().map(|row| row.retained.bytes).fold(0, u64::wrapping_add);
    let bytes = thread.retained.bytes.saturating_sub(own);
    parts.push(StackPart { name: "shared", frame: None, row: None, times: None, roots: None, bytes });
    parts
}

/// The parts that are this frame.
fn only(frame: &str, parts: Vec<StackPart>) -> Result<Vec<StackPart>, QueryError> {
    let known: Vec<String> = parts.iter().filter_map(|part| part.frame.clone()).collect();
    let found: Vec<StackPart> = parts.into_iter().filter(|part| part.frame.as_deref() == Some(frame)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let near = nearest(frame, known.iter().map(String::as_str));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(QueryError::usage(format!("the thread has no frame `{frame}`{hint}")))
}

fn table(parts: &[StackPart], (label, number): (&str, Option<u64>), thread: &ThreadRoots, are_exact: bool) -> Table {
    table!("rows", parts, |part| {
        Column::text("part") => part.name,
        Column::text("thread").for_machines() => label,
        Column::number("thread_number").for_machines() => number,
        Column::text("frame") => part.frame.as_deref(),
        Column::count("frames").secondary() => part.times,
        Column::count("roots") => part.roots,
        ranking::retained_column(are_exact) => part.bytes,
        Column::share("share").for_people() => Value::share(part.bytes, thread.retained.bytes),
    })
}

/// An object that a part of the thread holds.
struct HeldObject {
    /// The index of the part.
    part: usize,
    local: Local,
    retained_bytes: u64,
}

/// The objects that each of these parts holds, in their order. Those that retain most come first. Equal ones are one.
fn held(
    heap: &Heap,
    parts: &[StackPart],
    frames: &Frames,
    progress: &dyn Progress,
) -> Result<Vec<HeldObject>, QueryError> {
    let mut part_of = vec![None; frames.rows.len()];
    for (part, row) in parts.iter().enumerate().filter_map(|(at, part)| Some((at, part.row?))) {
        part_of[row] = Some(part);
    }
    heap.ask_dominators(progress, |dominators| {
        let held = frames.locals.iter().filter_map(|&local| {
            let (part, retained_bytes) = (part_of[local.frame]?, dominators.retained_bytes(local.object));
            Some(HeldObject { part, local, retained_bytes })
        });
        let mut held: Vec<HeldObject> = held.collect();
        held.sort_by_key(|held| (held.part, Reverse(held.retained_bytes), held.local.object));
        // Several slots of a frame hold one object.
        held.dedup_by_key(|held| (held.part, held.local.object, held.local.category, held.local.name));
        Ok(held)
    })
}

/// A row for each object that a part of the thread holds.
fn page(
    ask: &Ask,
    heap: &Heap,
    (thread, number): (&str, Option<u64>),
    parts: &[Option<String>],
    held: &[HeldObject],
) -> Result<(Table, Listed), QueryError> {
    let (snapshot, tables, first) = (heap.snapshot(), heap.recording().tables()?, ask.listed_before() + 1);
    let ids: Vec<ObjectId> = held.iter().map(|held| held.local.object).collect();
    let details = objects(heap.recording(), snapshot, &ids)?;
    let lines = tables::held::lines_of(heap, &details, &ask.meter())?;
    let table = table!("held", held.iter().zip(&details).enumerate(), |(at, (held, object))| {
        ask.context.check()?;
        Column::row_number() => ask.row_number(first + at),
        Column::text("thread").for_machines() => thread,
        Column::number("thread_number").for_machines() => number,
        Column::text("frame") => parts[held.part].as_deref(),
        Column::text("root").secondary() => tables.string(held.local.category),
        Column::text("local").names() => label::text(tables, held.local.name),
        Column::object("object") => object.id.0,
        Column::text("type").names() => tables.type_title(object.type_id),
        Column::text("name") => label::name(tables, object.name),
        Column::text("line") => lines.get(&object.id).cloned(),
        Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(object.type_id)),
        Column::bytes("retained_bytes") => held.retained_bytes,
    });
    Ok((table, ids.into_iter().map(|id| (snapshot, id)).collect()))
}
