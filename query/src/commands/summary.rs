//! `summary`: totals of one snapshot or of many.

use barrow_analyzer::{
    Recording, SnapshotId, SnapshotInfo, Source, Summary, Tables, by_kind, summary, verified_summaries,
};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::language::selection;
use crate::session::state::State;
use crate::sources::importing::{losses_of, notes_of};
use crate::sources::opening::OpenFile;
use crate::tables::process_summary;
use crate::tables::series;
use crate::tables::trials::summary as trial_summary;

use super::histogram::kind_columns;

use super::{Command, Completion, Group};

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
    let is_told = |is: fn(&OpenFile) -> bool| ask.file().is_some_and(is);
    let lost = if is_told(|file| file.damage.is_some()) { Vec::new() } else { losses_of(&facts) };
    let notes = if is_told(|file| file.has_remarked) { Vec::new() } else { notes_of(&facts) };
    Ok(answer.lines(lost.into_iter().chain(notes.into_iter().map(str::to_owned))).into())
}

fn totals(ask: &Ask, arguments: &Arguments) -> Result<Answer, QueryError> {
    let recording = ask.recording()?;
    let words = arguments.words();
    let has_processes = recording.has_processes();
    if has_processes && words.is_empty() && ask.snapshots()?.is_empty() {
        return of_processes(ask, Answer::default().table(no_snapshots()));
    }
    if recording.has_measurements() && words.is_empty() && ask.snapshots()?.is_empty() {
        let answer = Answer::default().table(no_snapshots());
        return Ok(trial_summary::add(answer, &*ask.trials()?, &recording.facts().unwrap_or_default()).exact());
    }
    let snapshots = match words.is_empty() {
        true => vec![ask.snapshot()?],
        false => selection::several(&words, &ask.snapshots()?)?,
    };
    let meter = ask.meter();
    // What is excluded cannot be compared with statistics: everything is counted anyway.
    let summaries = match arguments.flags.verify && ask.away.is_empty() {
        true => verified_summaries(&recording, &snapshots, &meter)?,
        false => snapshots.iter().map(|&snapshot| summarized(ask, snapshot)).collect::<Result<Vec<_>, _>>()?,
    };
    let elapsed = (arguments.flags.verify && ask.away.is_empty()).then(|| meter.elapsed());
    let tables = recording.tables()?;
    // What only a whole import counts.
    let is_partial = |snapshot| ask.counted(snapshot).is_some_and(|counted| counted.totals.is_none());
    let is_partial = snapshots.iter().any(|&snapshot| is_partial(snapshot));
    let one = words
        .first()
        .is_none_or(|word| summaries.len() == 1 && !word.contains("..") && word != "all" && word != "every");
    let answer = match &summaries[..] {
        [only] if one => {
            let rows = rows(&recording, tables, &summaries, is_partial, Audience::Machines)?;
            of_one(&recording, tables, only, is_partial)?.table(rows)
        }
        _ => lines(&summaries).table(rows(&recording, tables, &summaries, is_partial, Audience::Everyone)?),
    };
    let is_counted = ask.file().is_some_and(|file| file.counted.is_some());
    let answer = source_notes(answer, &summaries, elapsed);
    let answer = if has_processes && one { of_processes(ask, answer)? } else { answer };
    Ok(match is_partial {
        true => answer.note("counted in the dump; references and roots are known after the import"),
        false if is_counted => answer.note("counted in the dump"),
        false => answer,
    })
}

/// Adds the totals of the process tree.
fn of_processes(state: &State, answer: Answer) -> Result<Answer, QueryError> {
    Ok(process_summary::add(answer, &*state.process_tree()?, &*state.process_totals()?))
}

/// The rows of a recording without a heap.
fn no_snapshots() -> Table {
    Table { key: "snapshots", audience: Audience::Machines, columns: columns(), rows: Vec::new() }
}

/// For people: how the totals went, where there are enough of them.
fn lines(summaries: &[Summary]) -> Answer {
    let mut answer = Answer::default();
    if summaries.len() < series::LEAST_DRAWN {
        return answer;
    }
    let mut line = |heading, of: fn(&Summary) -> u64| {
        let values: Vec<f64> = summaries.iter().map(|summary| of(summary) as f64).collect();
        let column = Column::shown(heading, Unit::Text);
        answer = std::mem::take(&mut answer).fact(column, series::spark(&values));
    };
    line("objects", |summary| summary.totals.objects);
    line("shallow", |summary| summary.totals.heap_bytes);
    line("unmanaged", |summary| summary.totals.unmanaged_bytes);
    answer
}

/// From statistics alone, unless something is excluded.
fn summarized(state: &State, snapshot: SnapshotId) -> Result<Summary, QueryError> {
    match state.away.is_empty() {
        true => match state.counted(snapshot) {
            Some(counted) => {
                let kinds = by_kind(&counted.types, state.recording()?.tables()?);
                Ok(Summary { snapshot, totals: counted.totals(), kinds, source: Source::Counted })
            }
            None => Ok(summary(&*state.recording()?, snapshot)?),
        },
        false => Ok(state.heap(snapshot)?.summary(&state.meter())?),
    }
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
fn of_one(recording: &Recording, tables: &Tables, summary: &Summary, is_partial: bool) -> Result<Answer, QueryError> {
    let info = recording.snapshot(summary.snapshot)?;
    let totals = &summary.totals;
    let fact = |heading, unit| Column::shown(heading, unit);
    let rows = summary.kinds.iter().map(|kind| {
        vec![
            Value::text(tables.kind_name(kind.kind)),
            kind.objects.into(),
            kind.heap_bytes.into(),
            kind.unmanaged_bytes.into(),
            Value::share(kind.heap_bytes, totals.heap_bytes),
        ]
    });
    let kinds = Table { key: "kinds", audience: Audience::People, columns: kind_columns(), rows: rows.collect() };
    Ok(Answer::default()
        .fact(fact("snapshot", Unit::Number), summary.snapshot.0)
        .fact(fact("label", Unit::Text), info.label)
        .fact(fact("collection", Unit::Number), info.gc_number)
        .fact(fact("time", Unit::Duration), info.time_ns)
        .fact(fact("objects", Unit::Count), totals.objects)
        .fact(fact("shallow", Unit::Bytes), totals.heap_bytes)
        .fact(fact("unmanaged", Unit::Bytes), totals.unmanaged_bytes)
        .fact(fact("references", Unit::Count), (!is_partial).then_some(totals.references))
        .fact(fact("roots", Unit::Count), (!is_partial).then_some(totals.roots))
        .table(kinds))
}

/// A row per snapshot; for people with the change since the row before.
fn rows(
    recording: &Recording,
    tables: &Tables,
    summaries: &[Summary],
    is_partial: bool,
    audience: Audience,
) -> Result<Table, QueryError> {
    let mut rows = Vec::with_capacity(summaries.len());
    let mut before: Option<&Summary> = None;
    for summary in summaries {
        let info = recording.snapshot(summary.snapshot)?;
        rows.push(row(tables, info, before, summary, is_partial));
        before = Some(summary);
    }
    Ok(Table { key: "snapshots", audience, columns: columns(), rows })
}

fn columns() -> Vec<Column> {
    vec![
        Column::number("snapshot"),
        Column::text("label").secondary(),
        Column::number("gc_number").called("collection").secondary(),
        Column::duration("time_ns"),
        Column::count("objects"),
        Column::count("objects_change").called("Δ objects").for_people(),
        Column::bytes("heap_bytes").called("shallow"),
        Column::bytes("heap_bytes_change").called("Δ shallow").for_people(),
        Column::bytes("unmanaged_bytes").secondary(),
        Column::count("references"),
        Column::count("roots").secondary(),
        Column::nested("kinds").for_machines(),
        Column::text("source").for_machines(),
        Column::text("exactness").for_machines(),
    ]
}

fn row(
    tables: &Tables,
    info: SnapshotInfo,
    before: Option<&Summary>,
    summary: &Summary,
    is_partial: bool,
) -> Vec<Value> {
    let SnapshotId(number) = summary.snapshot;
    let totals = &summary.totals;
    let source = match summary.source {
        Source::Statistics => "statistics",
        Source::Verified => "verified",
        Source::Counted => "counted",
    };
    let change = |of: fn(&Summary) -> u64| before.map(|before| Value::change(of(before), of(summary)));
    vec![
        number.into(),
        info.label.into(),
        info.gc_number.into(),
        info.time_ns.into(),
        totals.objects.into(),
        change(|summary| summary.totals.objects).into(),
        totals.heap_bytes.into(),
        change(|summary| summary.totals.heap_bytes).into(),
        totals.unmanaged_bytes.into(),
        (!is_partial).then_some(totals.references).into(),
        (!is_partial).then_some(totals.roots).into(),
        kinds(tables, summary),
        Value::text(source),
        Value::text("exact"),
    ]
}

/// `{NAME: {"objects": …, "heap_bytes": …, "unmanaged_bytes": …}}`
fn kinds(tables: &Tables, summary: &Summary) -> Value {
    let kinds = summary.kinds.iter().map(|kind| {
        let fields =
            [("objects", kind.objects), ("heap_bytes", kind.heap_bytes), ("unmanaged_bytes", kind.unmanaged_bytes)];
        let fields = fields.map(|(key, value)| (key.to_owned(), Value::Number(value)));
        (tables.kind_name(kind.kind).to_owned(), Value::Record(fields.into()))
    });
    Value::Record(kinds.collect())
}
