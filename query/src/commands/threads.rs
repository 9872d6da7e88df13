//! `threads`: what the threads of the program have done, and what they hold.

use std::cmp::Reverse;

use barrow_analyzer::{Heap, Recording, SnapshotId, Tables, Thread, ThreadChange, ThreadRoots, Threads};

use crate::answer::{Answer, Column, Fact, Table, Value, table, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::ranking;

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[by cpu|allocated|objects|retained]",
    example: "threads by allocated",
    orders: |_| ORDERS.map(|(word, _)| word).into(),
    ..Command::new("threads", include_str!("../../verbs/threads.md"), Group::Alive, run)
};

/// A number that ranks threads. It is one of the thread, or of all that it holds, and of no object.
type Order = fn(&Row<'_>) -> Option<u64>;

const ORDERS: [(&str, Order); 4] = [
    ("cpu", |row| row.done()?.cpu_time_ns),
    ("allocated", |row| row.done()?.allocated_bytes),
    ("objects", |row| row.done()?.allocated_objects),
    ("retained", |row| Some(row.roots?.retained.bytes)),
];

/// The snapshot before, if it has threads.
struct Before {
    snapshot: SnapshotId,
    threads: Threads,
    elapsed_ns: Option<u64>,
}

/// A thread of the recording, of the labels of roots, or of both.
struct Row<'a> {
    thread: Option<&'a Thread>,
    roots: Option<&'a ThreadRoots>,
    /// Its work since the snapshot before, if that is known.
    change: Option<ThreadChange>,
    /// Its work since it began; ranks it if there is no snapshot before.
    whole: Option<ThreadChange>,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let order = order(&ask.arguments.words())?;
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let recording = heap.recording();
    let threads = Threads::read(recording, snapshot)?;
    let before = before(recording, snapshot)?;
    let (roots, is_exact) = heap.thread_roots(&threads, &ask.meter())?;
    let mut rows = rows(&threads, before.as_ref(), &roots);
    rank(&mut rows, order);
    let answer = answer(&heap, &threads, before.as_ref(), &rows, is_exact)?;
    let answer = shared(&roots, &threads, heap.recording().tables()?).into_iter().fold(answer, Answer::note);
    Ok(more::first_page(ask, answer, ask.page_rows()))
}

/// The number of threads whose roots these are, if they are those of several.
pub(super) fn sharing(roots: &ThreadRoots, threads: &Threads, tables: &Tables) -> usize {
    let label = tables.string(roots.label);
    let is_labelled = |thread: &&Thread| thread.root_label.is_some_and(|own| tables.string(own) == label);
    if roots.row.is_some() { 0 } else { threads.rows().iter().filter(is_labelled).count() }
}

/// A note for each row that is about several threads.
fn shared(roots: &[ThreadRoots], threads: &Threads, tables: &Tables) -> Vec<String> {
    let told = roots.iter().filter_map(|one| {
        let (count, label) = (sharing(one, threads, tables), tables.string(one.label));
        (count > 0).then(|| format!("roots of {count} threads have the label `{label}`: one row is about all of them"))
    });
    told.collect()
}

/// Reads `[by ORDER]`.
fn order(words: &[String]) -> Result<Option<Order>, QueryError> {
    match words {
        [] => Ok(None),
        [by, word] if by == "by" => {
            let found = ORDERS.into_iter().find(|(name, _)| !word.is_empty() && name.starts_with(word.as_str()));
            found.map(|(_, order)| Some(order)).ok_or_else(|| COMMAND.refuses(word))
        }
        [word, ..] => Err(COMMAND.refuses(word)),
    }
}

fn before(recording: &Recording, snapshot: SnapshotId) -> Result<Option<Before>, QueryError> {
    let Some(before) = recording.snapshot_ids().rfind(|&id| id < snapshot) else { return Ok(None) };
    let threads = Threads::read(recording, before)?;
    let (now, then) = (recording.snapshot(snapshot)?.time_ns, recording.snapshot(before)?.time_ns);
    let elapsed_ns = now.zip(then).and_then(|(now, then)| now.checked_sub(then));
    Ok((!threads.rows().is_empty()).then_some(Before { snapshot: before, threads, elapsed_ns }))
}

fn rows<'a>(threads: &'a Threads, before: Option<&Before>, roots: &'a [ThreadRoots]) -> Vec<Row<'a>> {
    let changes = before.map(|before| threads.since(&before.threads));
    let whole = threads.since(&Threads::default());
    let mut rows: Vec<Row<'a>> = Vec::with_capacity(threads.rows().len());
    for (at, thread) in threads.rows().iter().enumerate() {
        let change = changes.as_ref().and_then(|changes| changes[at]);
        let whole = if changes.is_some() { None } else { whole[at] };
        rows.push(Row { thread: Some(thread), roots: None, change, whole });
    }
    for of_thread in roots {
        match of_thread.row {
            Some(at) => rows[at].roots = Some(of_thread),
            None => rows.push(Row { thread: None, roots: Some(of_thread), change: None, whole: None }),
        }
    }
    rows
}

impl Row<'_> {
    fn done(&self) -> Option<&ThreadChange> {
        self.change.as_ref().or(self.whole.as_ref())
    }
}

/// Sorts by the largest number first; unknown numbers come last.
fn rank(rows: &mut [Row<'_>], order: Option<Order>) {
    let [cpu, allocated, objects, retained] = ORDERS.map(|(_, order)| order);
    let orders = [order.unwrap_or(cpu), cpu, allocated, objects, retained];
    rows.sort_by_cached_key(|row| {
        (Reverse(orders.map(|order| order(row))), row.thread.map_or(u64::MAX, |thread| thread.id))
    });
}

fn answer(
    heap: &Heap,
    threads: &Threads,
    before: Option<&Before>,
    rows: &[Row<'_>],
    is_exact: bool,
) -> Result<Answer, QueryError> {
    let tables = heap.recording().tables()?;
    let elapsed_ns = before.and_then(|before| before.elapsed_ns).filter(|&elapsed| elapsed > 0);
    let mut table = table(rows, elapsed_ns, tables, is_exact);
    // Tables leave out what is unknown.
    let columns = table.columns.into_iter().enumerate().map(|(at, column)| {
        match table.rows.iter().all(|row| row[at] == Value::None) {
            true => column.for_machines(),
            false => column,
        }
    });
    table.columns = columns.collect();
    let ended = before.map(|before| threads.ended_since(&before.threads));
    let mut answer = Answer::default()
        .of_snapshot(heap.snapshot().0)
        .fact(Column::count("threads"), rows.len())
        .fact(Column::number("since_snapshot").for_machines(), before.map(|before| before.snapshot.0))
        .fact(Column::duration("elapsed_ns").for_machines(), elapsed_ns)
        .fact(Column::count("ended").for_machines(), ended)
        .table(table);
    let has_changes = rows.iter().filter_map(|row| row.change.as_ref()).any(|change| {
        change.cpu_time_ns.is_some() || change.allocated_bytes.is_some() || change.allocated_objects.is_some()
    });
    if let Some(before) = before.filter(|_| has_changes || ended > Some(0)) {
        let elapsed = elapsed_ns.map(|elapsed| format!(", {} before", units::duration(elapsed))).unwrap_or_default();
        let ended = ended.filter(|&ended| ended > 0).map(|ended| units::counted(ended, "thread"));
        let ended = ended.map(|threads| format!("; {threads} ended in between")).unwrap_or_default();
        let mark = if has_changes { "+: " } else { "" };
        answer = answer.note(format!("{mark}since snapshot {}{elapsed}{ended}", before.snapshot));
    }
    if rows.is_empty() {
        return Ok(answer.note("this snapshot tells nothing of threads, and no label of a root names one").exact());
    }
    if threads.rows().is_empty() {
        answer = answer.note("nothing was recorded of threads; these are labels of roots");
    }
    Ok(answer.with_exactness(is_exact))
}

fn table(rows: &[Row<'_>], elapsed_ns: Option<u64>, tables: &Tables, is_exact: bool) -> Table {
    table!("rows", rows, |Row { thread, roots, change, .. }| {
        let name = match thread {
            Some(thread) => thread.name,
            None => roots.map(|roots| roots.label),
        };
        let load = change.and_then(|change| change.cpu_time_ns).zip(elapsed_ns);
        let attributes = thread.map_or(&[][..], |thread| &thread.attributes).iter();
        let attributes = attributes.map(|&(key, value)| Fact::noted(tables.string(key), tables.string(value)));
        Column::number("thread") => thread.map(|thread| thread.id),
        Column::text("name") => name.map(|name| tables.string(name)),
        Column::text("state") => thread.and_then(|thread| thread.state).map(|state| tables.string(state)),
        Column::duration("cpu_time_ns").called("cpu") => thread.and_then(|thread| thread.cpu_time_ns),
        Column::duration("cpu_time_since_ns").called("+ cpu") => change.and_then(|change| change.cpu_time_ns),
        Column::share("cpu_load").called("load") => load.map(|(used, elapsed)| Value::share(used, elapsed)),
        Column::bytes("allocated_bytes") => thread.and_then(|thread| thread.allocated_bytes),
        Column::bytes("allocated_since_bytes").called("+ allocated")
            => change.and_then(|change| change.allocated_bytes),
        Column::count("allocated_objects").called("objects") => thread.and_then(|thread| thread.allocated_objects),
        Column::count("allocated_since_objects").called("+ objects")
            => change.and_then(|change| change.allocated_objects),
        Column::text("is_new").own_words().for_machines() => change.map(|change| change.is_new),
        Column::count("roots") => roots.map(|roots| roots.roots),
        ranking::retained_column(is_exact) => roots.map(|roots| roots.retained.bytes),
        Column::object("object") => roots.and_then(|roots| roots.object).map(|object| object.0),
        Column::nested("attributes").for_machines() => Value::Record(attributes.collect()),
    })
}
