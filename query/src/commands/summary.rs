//! `summary`: totals of one snapshot or of many.

use barrow_analyzer::{OffHeap, Recording, SnapshotId, Source, Summary, Tables, by_kind, summary, verified_summaries};

use crate::answer::{Answer, Audience, Column, Fact, Table, Unit, Value, record, table, units};
use crate::arguments::Arguments;
use crate::language::selection;
use crate::sources::import_facts::{losses_of, notes_of};
use crate::tables::process_summary;
use crate::tables::series;
use crate::tables::trials::summary as trial_summary;

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    aliases: &["overview"],
    arguments: "[all | every K | N..M | last] [--verify]",
    example: "summary all",
    flags: &["--verify"],
    asks_for_totals: Some(|arguments| !arguments.flags.verify),
    completion: Completion::Snapshots,
    ..Command::new("summary", include_str!("../../verbs/summary.md"), Group::Snapshots, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let answer = totals(ask, &ask.arguments)?;
    let facts = ask.recording()?.facts()?;
    let file = ask.file();
    let lost = if file.is_some_and(|file| file.damage.is_some()) { Vec::new() } else { losses_of(&facts) };
    let notes = if file.is_some_and(|file| file.has_remarked) { Vec::new() } else { notes_of(&facts) };
    Ok(answer.lines(lost.into_iter().chain(notes.into_iter().map(str::to_owned))).into())
}

fn totals(ask: &Ask, arguments: &Arguments) -> Result<Answer, QueryError> {
    let recording = ask.recording()?;
    let words = arguments.words();
    let has_processes = recording.has_processes();
    if (has_processes || recording.has_measurements()) && words.is_empty() && ask.snapshots()?.is_empty() {
        let none = Table { key: "snapshots", audience: Audience::Machines, columns: Vec::new(), rows: Vec::new() };
        let answer = Answer::default().table(none);
        return match has_processes {
            true => of_processes(ask, answer),
            false => Ok(trial_summary::add(answer, &*ask.trials()?, &recording.facts().unwrap_or_default()).exact()),
        };
    }
    let snapshots = match words.is_empty() {
        true => vec![ask.snapshot()?],
        false => selection::several(&words, &ask.snapshots()?)?,
    };
    let meter = ask.meter();
    // Statistics include excluded objects, so there is nothing to verify: everything is counted anyway.
    let is_verified = arguments.flags.verify && ask.away.is_empty();
    let summaries = match is_verified {
        true => verified_summaries(&recording, &snapshots, &meter)?,
        false => snapshots.iter().map(|&snapshot| summarized(ask, snapshot)).collect::<Result<Vec<_>, _>>()?,
    };
    let elapsed = is_verified.then(|| meter.elapsed());
    // References and roots are counted by a whole import only.
    let is_partial =
        snapshots.iter().any(|&snapshot| ask.counted(snapshot).is_some_and(|counted| counted.totals.is_none()));
    let one = words
        .first()
        .is_none_or(|word| summaries.len() == 1 && !word.contains("..") && word != "all" && word != "every");
    let off_heap = match &summaries[..] {
        [only] if one => off_heap(ask, only)?,
        _ => None,
    };
    let rows = rows(&recording, &summaries, is_partial, off_heap.as_ref())?;
    let answer = match &summaries[..] {
        [only] if one => {
            of_one(&recording, only, is_partial, off_heap.as_ref())?.table(rows.for_readers(Audience::Machines))
        }
        _ => lines(&summaries).table(rows),
    };
    let is_counted = ask.file().is_some_and(|file| file.counted.is_some());
    let answer = source_notes(answer, &summaries, elapsed);
    let answer = if has_processes && one { of_processes(ask, answer)? } else { answer };
    Ok(match is_partial {
        true if recording.has_unmanaged_sizes()? => answer.note(OF_COUNTS),
        true => answer.note(OF_COUNTS.replace("references and roots", "references, roots and off-heap bytes")),
        false if is_counted => answer.note("counted in the dump"),
        false => answer,
    })
}

/// The note on what a dump is counted for.
const OF_COUNTS: &str = "counted in the dump; references and roots are known after the import";

/// The memory of buffers outside the heap, where the recording tells no unmanaged sizes.
fn off_heap(ask: &Ask, summary: &Summary) -> Result<Option<OffHeap>, QueryError> {
    Ok(match (ask.recording()?.has_unmanaged_sizes()?, summary.source) {
        (true, _) => None,
        (false, Source::Counted) => Some(OffHeap::unknown()),
        (false, _) => Some(ask.heap(summary.snapshot)?.off_heap(&ask.meter())?),
    })
}

/// Adds the totals of the process tree.
fn of_processes(state: &State, answer: Answer) -> Result<Answer, QueryError> {
    Ok(process_summary::add(answer, &*state.process_tree()?, &*state.process_totals()?))
}

/// For people: the totals over the snapshots, if there are enough of them.
fn lines(summaries: &[Summary]) -> Answer {
    let mut answer = Answer::default();
    if summaries.len() < series::LEAST_DRAWN {
        return answer;
    }
    for (at, heading) in ["objects", "shallow", "unmanaged"].into_iter().enumerate() {
        let totals = summaries.iter().map(|summary| &summary.totals);
        let totals = totals.map(|of| [of.objects, of.heap_bytes, of.unmanaged_bytes][at]);
        let unit = if at == 0 { Unit::Count } else { Unit::Bytes };
        answer = answer.fact(Column::shown(heading, Unit::Picture), Value::series(totals, unit));
    }
    answer
}

/// From statistics alone, unless something is excluded.
fn summarized(state: &State, snapshot: SnapshotId) -> Result<Summary, QueryError> {
    if !state.away.is_empty() {
        return Ok(state.heap(snapshot)?.summary(&state.meter())?);
    }
    let recording = state.recording()?;
    let Some(counted) = state.counted(snapshot) else { return Ok(summary(&recording, snapshot)?) };
    let kinds = by_kind(&counted.types, recording.tables()?);
    Ok(Summary { snapshot, totals: counted.totals(), kinds, source: Source::Counted })
}

fn source_notes(answer: Answer, summaries: &[Summary], elapsed: Option<std::time::Duration>) -> Answer {
    let objects: u64 = summaries.iter().map(|summary| summary.totals.objects).sum();
    match elapsed {
        _ if summaries.is_empty() => answer.note("this recording holds no whole snapshot"),
        None if summaries[0].source == Source::Counted => answer,
        None => answer.note("from the recording's statistics"),
        Some(elapsed) => {
            let seconds = elapsed.as_secs_f64();
            let rate = units::rounded(objects as f64 / seconds.max(1e-6));
            answer.note("verified: object columns decoded").note(format!("took {seconds:.2} s: {rate} objects/s"))
        }
    }
}

/// For people: the totals, then a row per kind.
fn of_one(
    recording: &Recording,
    summary: &Summary,
    is_partial: bool,
    off_heap: Option<&OffHeap>,
) -> Result<Answer, QueryError> {
    let (info, tables, totals) = (recording.snapshot(summary.snapshot)?, recording.tables()?, &summary.totals);
    let kinds = table!("kinds", &summary.kinds, |kind| {
        Column::text("kind").names() => tables.kind_name(kind.kind),
        Column::count("objects") => kind.objects,
        Column::bytes("shallow_bytes") => kind.heap_bytes,
        Column::bytes("unmanaged_bytes") => kind.unmanaged_bytes,
        Column::share("share").for_people() => Value::share(kind.heap_bytes, totals.heap_bytes),
    });
    Ok(Answer::default()
        .fact(Column::shown("snapshot", Unit::Number), summary.snapshot.0)
        .fact(Column::shown("label", Unit::Text).names(), info.label)
        .fact(Column::shown("collection", Unit::Number), info.gc_number)
        .fact(Column::shown("time", Unit::Duration), info.time_ns)
        .fact(Column::shown("objects", Unit::Count), totals.objects)
        .fact(Column::shown("shallow", Unit::Bytes), totals.heap_bytes)
        .fact(Column::shown("unmanaged", Unit::Bytes), totals.unmanaged_bytes)
        .fact(Column::shown("direct buffers", Unit::Bytes), off_heap.map(|off_heap| off_heap.direct.bytes))
        .fact(Column::shown("mapped files", Unit::Bytes), off_heap.map(|off_heap| off_heap.mapped.bytes))
        .fact(Column::shown("buffers of native code", Unit::Bytes), off_heap.map(|off_heap| off_heap.native.bytes))
        .fact(Column::shown("references", Unit::Count), (!is_partial).then_some(totals.references))
        .fact(Column::shown("roots", Unit::Count), (!is_partial).then_some(totals.roots))
        .table(kinds.for_readers(Audience::People)))
}

/// A row per snapshot; for people with the change since the row before.
fn rows(
    recording: &Recording,
    summaries: &[Summary],
    is_partial: bool,
    off_heap: Option<&OffHeap>,
) -> Result<Table, QueryError> {
    Ok(table!("snapshots", summaries.iter().enumerate(), |(at, summary)| {
        let info = recording.snapshot(summary.snapshot)?;
        let totals = &summary.totals;
        let before = at.checked_sub(1).map(|at| &summaries[at].totals);
        let source = match summary.source {
            Source::Statistics => "statistics",
            Source::Verified => "verified",
            Source::Counted => "counted",
        };
        Column::number("snapshot") => summary.snapshot.0,
        Column::text("label").names().secondary() => info.label,
        Column::number("gc_number").called("collection").secondary() => info.gc_number,
        Column::duration("time_ns") => info.time_ns,
        Column::count("objects") => totals.objects,
        Column::count("objects_change").called("Δ objects").for_people()
            => before.map(|before| Value::change(before.objects, totals.objects)),
        Column::bytes("heap_bytes").called("shallow") => totals.heap_bytes,
        Column::bytes("heap_bytes_change").called("Δ shallow").for_people()
            => before.map(|before| Value::change(before.heap_bytes, totals.heap_bytes)),
        Column::bytes("unmanaged_bytes").secondary() => totals.unmanaged_bytes,
        ..off_heap.map(|_| Column::count("direct_buffers")) => off_heap.map(|off_heap| off_heap.direct.count),
        ..off_heap.map(|_| Column::bytes("direct_buffer_bytes")) => off_heap.map(|off_heap| off_heap.direct.bytes),
        ..off_heap.map(|_| Column::count("mapped_files")) => off_heap.map(|off_heap| off_heap.mapped.count),
        ..off_heap.map(|_| Column::bytes("mapped_file_bytes")) => off_heap.map(|off_heap| off_heap.mapped.bytes),
        ..off_heap.map(|_| Column::count("native_buffers")) => off_heap.map(|off_heap| off_heap.native.count),
        ..off_heap.map(|_| Column::bytes("native_buffer_bytes")) => off_heap.map(|off_heap| off_heap.native.bytes),
        Column::count("references") => (!is_partial).then_some(totals.references),
        Column::count("roots").secondary() => (!is_partial).then_some(totals.roots),
        Column::nested("kinds").for_machines() => kinds(recording.tables()?, summary),
        Column::text("source").own_words().for_machines() => source,
        Column::text("exactness").own_words().for_machines() => "exact",
    }))
}

/// `{NAME: {"objects": …, "heap_bytes": …, "unmanaged_bytes": …}}`
fn kinds(tables: &Tables, summary: &Summary) -> Value {
    let kinds = summary.kinds.iter().map(|kind| {
        let totals = record! {
            Column::count("objects") => kind.objects,
            Column::bytes("heap_bytes") => kind.heap_bytes,
            Column::bytes("unmanaged_bytes") => kind.unmanaged_bytes,
        };
        Fact::new(Column::named(tables.kind_name(kind.kind).to_owned(), Unit::Nested), totals)
    });
    Value::Record(kinds.collect())
}
