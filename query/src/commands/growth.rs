//! `growth`: what grows over the snapshots, by path of types.

use barrow_analyzer::{FALSE_ALARMS, Growth, GrowthRow, LEAST_POINTS, ObjectId, SURE_POINTS, SnapshotId, Verdict};

use crate::answer::{Answer, Column, Table, Unit, Value, table, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::growth_series;
use crate::tables::series;
use crate::tables::type_path;

use super::{Command, Completion, Group, more};

mod groups;
mod moved;

pub(super) const COMMAND: Command = Command {
    arguments: "[A..B] [N] [--min SHARE] [[[KIND] EXPR] by KEY[,KEY].. [by size|unmanaged|retained]]",
    orders: groups::orders,
    flags: &["--min"],
    completion: Completion::Snapshots,
    ..Command::new("growth", include_str!("../../verbs/growth.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    if groups::are_asked(&ask.arguments) {
        return groups::answer(ask, &ask.arguments);
    }
    let recording = ask.recording()?;
    let mut words = &ask.arguments.words()[..];
    let mut page = ask.ranking_rows(None);
    if let Some(rows) = words.last().and_then(|word| word.parse().ok()) {
        (page, words) = (rows, &words[..words.len() - 1]);
    }
    let (snapshots, is_repeated) = growth_series::snapshots(ask, &recording, words)?;
    let least_share = type_path::least_share(&ask.arguments)?;
    let growth = growth_series::folded(ask, &recording, &snapshots, least_share)?;
    let (rows, tested) = (growth.rows(), growth.large().count());
    let (carried, rows): (Vec<GrowthRow>, Vec<GrowthRow>) = rows.into_iter().partition(|row| row.is_carried);
    let (mut rows, still): (Vec<GrowthRow>, Vec<GrowthRow>) =
        rows.into_iter().partition(|row| growth.changes(row.node));
    let last = snapshots[snapshots.len() - 1];
    let mut moved = 0;
    // Where nothing is judged, what has only moved must not stand above what grows.
    if snapshots.len() < LEAST_POINTS {
        let nodes = moved::moved(ask, &recording, [snapshots[0], last], &growth, &rows)?;
        rows.sort_by_key(|row| nodes.contains(&row.node));
        moved = nodes.len();
    }
    let nodes: Vec<usize> = rows.iter().map(|row| row.node).collect();
    let are_alike = |one: usize, other: usize| rows[one].judgement.verdict == rows[other].judgement.verdict;
    let deeper = type_path::deeper_rounds(&growth, &nodes, are_alike);
    let verdicts = rows.iter().map(|row| row.judgement.verdict);
    let mut listed = Listed::default();
    let shown = rows.iter().zip(&deeper).filter(|(_, is_deeper)| !**is_deeper).map(|(row, _)| row);
    let table = table(&growth, shown.clone(), |object| listed.push((last, object)));
    let mut answer = about(&snapshots)
        .fact(Column::count("paths").for_machines(), tested)
        .fact(Column::count("unchanged_paths").for_machines(), still.len())
        .fact(Column::nested("unknown_below_bytes").for_machines(), list(growth.least_bytes().iter().copied()))
        .table(table)
        .note(verdict(verdicts, &units::counted(tested as u64, "path"), snapshots.len()))
        .with_exactness(growth.is_exact());
    if is_repeated {
        answer = answer.note(growth_series::REPEATED);
    }
    if moved > 0 {
        let paths = units::counted(moved as u64, "path");
        answer = answer
            .note(format!("{paths} listed last: their objects came from other paths: the types have hardly more"));
    }
    if !carried.is_empty() {
        let paths = units::counted(carried.len() as u64, "path");
        answer = answer.note(format!("{paths} left out: paths below have nine tenths of the growth"));
    }
    let deeper = deeper.iter().filter(|is_deeper| **is_deeper).count();
    answer = type_path::told(answer, &growth, deeper, shown.map(|row| row.deepest));
    if !still.is_empty() {
        let (paths, percent) = (units::counted(still.len() as u64, "path"), (least_share * 20_000.0).round() / 1000.0);
        answer = answer.note(format!("{paths} not shown: they changed by less than {percent} % of the heap"));
    }
    Ok(more::first_page(ask, answer, page.max(1)).listing(listed))
}

/// Says in a sentence how many series grow. `tested` are all that were judged, as `7 paths`.
fn verdict(verdicts: impl Iterator<Item = Verdict>, tested: &str, snapshots: usize) -> String {
    let there = units::counted(snapshots as u64, "snapshot");
    let sought = if snapshots < SURE_POINTS { Verdict::RisesEachTime } else { Verdict::Grows };
    let found = verdicts.filter(|verdict| *verdict == sought).count() as u64;
    match (snapshots, found) {
        (0..LEAST_POINTS, _) => format!("{there} are too few to say what grows"),
        (LEAST_POINTS..SURE_POINTS, 0) => format!("none of {tested} rises each time"),
        (LEAST_POINTS..SURE_POINTS, 1) => format!("1 of {tested} rises each time; {}", series::few(snapshots)),
        (LEAST_POINTS..SURE_POINTS, _) => {
            format!("{} of {tested} rise each time; {}", units::grouped(found), series::few(snapshots))
        }
        _ => format!(
            "{} of {tested} {}; at most {:.0} % false alarms a series of noise, steps, warm-ups or sawteeth",
            units::grouped(found),
            if found == 1 { "grows" } else { "grow" },
            FALSE_ALARMS * 100.0
        ),
    }
}

/// An answer about the growth over these snapshots.
fn about(snapshots: &[SnapshotId]) -> Answer {
    Answer::default()
        .fact(Column::nested("snapshots"), list(snapshots.iter().map(|snapshot| snapshot.0)))
        .fact(Column::text("slope_per").own_words().for_machines(), series::PER)
        .fact(Column::share("confidence").for_machines(), Value::Share(1.0 - FALSE_ALARMS))
}

fn list<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Value {
    Value::List(values.into_iter().map(Into::into).collect())
}

/// A row for each path. `numbered` returns the number of the row of an object.
fn table<'r>(
    growth: &Growth<'_>,
    rows: impl Iterator<Item = &'r GrowthRow>,
    mut numbered: impl FnMut(ObjectId) -> usize,
) -> Table {
    table!("rows", rows, |row| {
        let node = &growth.nodes()[row.node];
        let (bytes, objects) = (&node.retained_bytes, &node.objects);
        let numbers = bytes.iter().map(|bytes| bytes.map(|bytes| bytes as f64)).collect();
        Column::row_number() => node.largest.map(&mut numbered),
        Column::text("path").names().for_machines() => type_path::whole(growth, row.node),
        Column::text("deepest_path").names().for_machines() => type_path::whole(growth, row.deepest),
        Column::nested("steps").for_machines() => type_path::steps(growth, row.node),
        Column::text("shown_path").names().called("path").for_people() => type_path::shown(growth, row.deepest),
        Column::nested("retained_bytes").for_machines() => list(bytes.iter().copied()),
        Column::nested("objects").for_machines() => list(objects.iter().copied()),
        Column::bytes("first_retained_bytes").called("first").secondary() => bytes.first().copied().flatten(),
        Column::bytes("last_retained_bytes").called("last") => bytes.last().copied().flatten(),
        Column::count("first_objects").for_machines() => objects.first().copied().flatten(),
        Column::count("last_objects").called("objects").secondary() => objects.last().copied().flatten(),
        Column::picture("series").for_people().secondary() => Value::Series { numbers, unit: Unit::Bytes },
        ..series::trend_columns() => series::trend_cells(&row.judgement),
        Column::object("example").called("largest").secondary() => node.largest.map(|largest| largest.0),
    })
}
