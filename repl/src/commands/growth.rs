//! `growth`: what grows over the snapshots, by path of types.

use std::sync::Arc;

use barrow_analyzer::{Axis, CONFIDENCE, Growth, GrowthRow, LEAST_POINTS, Recording, SnapshotId};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::session::{Arguments, Session};
use crate::{selection, series, type_path, units};

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "growth",
    aliases: &[],
    group: Group::Series,
    arguments: "[A..B] [N] [--min SHARE]",
    about: "What grows over the snapshots, by path of types from the roots",
    details: "A path is a group of roots and types down the dominator tree; objects of one type below each other \
              are one step. What it retains is counted in every snapshot from A to B, all of them unless told. \
              Paths that grow for sure come first, those by how much they grow at least; a path is left out for the one below \
              it that has nine tenths of its growth, and so are paths that never hold 0.5 % of the largest heap; \
              `--min 0.1%` changes that. Slopes are medians of the slopes between all pairs of snapshots, by \
              their times if all have one. A path `grows` if that is sure among all paths at 95 % and lasts: a warm-up, \
              a single step and a sawtooth do not. With less than five snapshots nobody can say. A number is missing where a path was new and held less than a sixteenth of \
              what it needs to be shown. N is 15 unless told.",
    example: "growth",
    flags: &["--min"],
    subject: Subject::Recording,
    completion: Completion::Snapshots,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let recording = session.recording()?;
    let mut words = &arguments.words()[..];
    let mut page = session.ranking_rows(None);
    if let Some(rows) = words.last().and_then(|word| word.parse().ok()) {
        (page, words) = (rows, &words[..words.len() - 1]);
    }
    let snapshots = snapshots(session, words)?;
    let axis = series::axis(&recording, &snapshots)?;
    let growth = folded(session, &recording, &snapshots, type_path::least_share(arguments)?)?;
    session.listed.clear();
    let rows = growth.rows(&axis);
    let tested = rows.len();
    let growing = rows.iter().filter(|row| row.grows && !row.is_carried).count();
    let rows: Vec<GrowthRow> = rows.into_iter().filter(|row| !row.is_carried).collect();
    let note = match snapshots.len() < LEAST_POINTS {
        true => {
            format!("{} are too few to say what grows for sure", units::counted(snapshots.len() as u64, "snapshot"))
        }
        false => format!(
            "{} of {} grow for sure, {:.0} %",
            units::grouped(growing as u64),
            units::counted(tested as u64, "path"),
            CONFIDENCE * 100.0
        ),
    };
    let answer = Answer::default()
        .fact(Column::new("snapshots", "snapshots", Unit::Nested), numbers(&snapshots))
        .fact(Column::new("slope_per", "", Unit::Text).for_machines(), series::per(&axis))
        .fact(Column::new("confidence", "", Unit::Share).for_machines(), Value::Share(CONFIDENCE))
        .fact(Column::new("paths", "", Unit::Count).for_machines(), tested)
        .fact(Column::new("unknown_below_bytes", "", Unit::Nested).for_machines(), least(&growth))
        .table(table(&growth, &axis, &rows))
        .note(note)
        .with_exactness(growth.is_exact());
    Ok(more::first_page(session, answer, page.max(1)))
}

/// The snapshots that are asked for: two at least.
pub(crate) fn snapshots(session: &Session, words: &[String]) -> Result<Vec<SnapshotId>, ReplError> {
    let known = session.snapshots()?;
    let snapshots = if words.is_empty() { known } else { selection::several(words, &known)? };
    match snapshots.len() {
        0 | 1 => Err(ReplError::usage("growth needs two snapshots at least; `snapshots` lists what there are")),
        _ => Ok(snapshots),
    }
}

/// Goes through the snapshots, the last one first: what has grown has a path from the beginning.
pub(crate) fn folded<'a>(
    session: &Session,
    recording: &'a Arc<Recording>,
    snapshots: &[SnapshotId],
    least_share: f64,
) -> Result<Growth<'a>, ReplError> {
    let meter = session.meter();
    let mut growth = Growth::new(snapshots.len(), least_share);
    for (column, &snapshot) in snapshots.iter().enumerate().rev() {
        growth.fold(column, recording, &*type_path::heap(session, recording, snapshot)?, &meter)?;
    }
    Ok(growth)
}

/// A number that is missing in a series is less than this, for each snapshot.
fn least(growth: &Growth<'_>) -> Value {
    Value::List(growth.least_bytes().iter().map(|&bytes| bytes.into()).collect())
}

fn numbers(snapshots: &[SnapshotId]) -> Value {
    Value::List(snapshots.iter().map(|snapshot| Value::from(snapshot.0)).collect())
}

fn table(growth: &Growth<'_>, axis: &Axis, rows: &[GrowthRow]) -> Table {
    let mut columns = vec![
        Column::new("rank", "#", Unit::Number).for_people(),
        Column::new("path", "", Unit::Text).for_machines(),
        Column::new("shown_path", "path", Unit::Text).for_people(),
        Column::new("retained_bytes", "", Unit::Nested).for_machines(),
        Column::new("objects", "", Unit::Nested).for_machines(),
        Column::new("first_retained_bytes", "first", Unit::Bytes).secondary(),
        Column::new("last_retained_bytes", "last", Unit::Bytes),
        Column::new("first_objects", "", Unit::Count).for_machines(),
        Column::new("last_objects", "objects", Unit::Count).secondary(),
        Column::new("series", "series", Unit::Text).for_people().secondary(),
    ];
    columns.extend(series::trend_columns(axis));
    let cells = |(at, row): (usize, &GrowthRow)| cells(growth, at + 1, row);
    Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.iter().enumerate().map(cells).collect() }
}

fn cells(growth: &Growth<'_>, rank: usize, row: &GrowthRow) -> Vec<Value> {
    let node = &growth.nodes()[row.node];
    let list = |values: &[Option<u64>]| Value::List(values.iter().map(|&value| value.into()).collect());
    let end = |values: &[Option<u64>]| [values.first(), values.last()].map(|value| value.copied().flatten().into());
    let [first_bytes, last_bytes] = end(&node.retained_bytes);
    let [first_objects, last_objects] = end(&node.objects);
    let drawn: Vec<f64> = node.retained_bytes.iter().map(|bytes| bytes.unwrap_or(0) as f64).collect();
    let mut cells = vec![
        rank.into(),
        Value::Text(type_path::whole(growth, row.node)),
        type_path::shown(growth, row.node),
        list(&node.retained_bytes),
        list(&node.objects),
        first_bytes,
        last_bytes,
        first_objects,
        last_objects,
        Value::Text(series::spark(&drawn)),
    ];
    cells.extend(series::trend_cells(&row.trend, row.grows));
    cells
}
