//! `growth`: what grows over the snapshots, by path of types.

use barrow_analyzer::{FALSE_ALARMS, Growth, GrowthRow, LEAST_POINTS, SURE_POINTS, SnapshotId, Verdict};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::growth_series;
use crate::tables::series;
use crate::tables::type_path;

use super::{Command, Completion, Group, more};

mod groups;

pub(super) const COMMAND: Command = Command {
    arguments: "[A..B] [N] [--min SHARE] [[[KIND] EXPR] by KEY[,KEY].. [by size|unmanaged|retained]]",
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
    let growth = growth_series::folded(ask, &recording, &snapshots, type_path::least_share(&ask.arguments)?)?;
    let (rows, tested) = (growth.rows(), growth.large().count());
    let (carried, rows): (Vec<GrowthRow>, Vec<GrowthRow>) = rows.into_iter().partition(|row| row.is_carried);
    let (rows, still): (Vec<GrowthRow>, Vec<GrowthRow>) = rows.into_iter().partition(|row| growth.changes(row.node));
    let are = |verdict: Verdict| rows.iter().filter(|row| row.judgement.verdict == verdict).count() as u64;
    let note = verdict(are, &units::counted(tested as u64, "path"), snapshots.len());
    let answer = Answer::default()
        .fact(Column::nested("snapshots"), numbers(&snapshots))
        .fact(Column::text("slope_per").for_machines(), series::PER)
        .fact(Column::share("confidence").for_machines(), Value::Share(1.0 - FALSE_ALARMS))
        .fact(Column::count("paths").for_machines(), tested)
        .fact(Column::count("unchanged_paths").for_machines(), still.len())
        .fact(Column::nested("unknown_below_bytes").for_machines(), least(&growth))
        .table(table(&growth, &rows))
        .note(note)
        .with_exactness(growth.is_exact());
    let answer = if is_repeated { answer.note(growth_series::REPEATED) } else { answer };
    let answer = match carried.len() as u64 {
        0 => answer,
        count => answer
            .note(format!("{} left out: paths below have nine tenths of the growth", units::counted(count, "path"))),
    };
    let answer = match still.len() {
        0 => answer,
        count => answer.note(format!(
            "{} not shown: they changed by less than {} % of the heap",
            units::counted(count as u64, "path"),
            (type_path::least_share(&ask.arguments)? * 20_000.0).round() / 1000.0
        )),
    };
    Ok(more::first_page(ask, answer, page.max(1)))
}

/// What is said of all rows, in a sentence: `tested` are all that were judged, as `7 paths`.
fn verdict(are: impl Fn(Verdict) -> u64, tested: &str, snapshots: usize) -> String {
    let there = units::counted(snapshots as u64, "snapshot");
    match snapshots {
        0..LEAST_POINTS => format!("{there} are too few to say what grows"),
        LEAST_POINTS..SURE_POINTS => match are(Verdict::RisesEachTime) {
            0 => format!("none of {tested} rises each time"),
            1 => format!("1 of {tested} rises each time; {}", series::few(snapshots)),
            rise => format!("{} of {tested} rise each time; {}", units::grouped(rise), series::few(snapshots)),
        },
        _ => format!(
            "{} of {tested} {}; at most {:.0} % false alarms a series of noise, steps, warm-ups or sawteeth",
            units::grouped(are(Verdict::Grows)),
            if are(Verdict::Grows) == 1 { "grows" } else { "grow" },
            FALSE_ALARMS * 100.0
        ),
    }
}

/// A number that is missing in a series is less than this, for each snapshot.
fn least(growth: &Growth<'_>) -> Value {
    Value::List(growth.least_bytes().iter().map(|&bytes| bytes.into()).collect())
}

fn numbers(snapshots: &[SnapshotId]) -> Value {
    Value::List(snapshots.iter().map(|snapshot| Value::from(snapshot.0)).collect())
}

fn table(growth: &Growth<'_>, rows: &[GrowthRow]) -> Table {
    let mut columns = vec![
        Column::number("rank").called("#").for_people(),
        Column::text("path").for_machines(),
        Column::text("shown_path").called("path").for_people(),
        Column::nested("retained_bytes").for_machines(),
        Column::nested("objects").for_machines(),
        Column::bytes("first_retained_bytes").called("first").secondary(),
        Column::bytes("last_retained_bytes").called("last"),
        Column::count("first_objects").for_machines(),
        Column::count("last_objects").called("objects").secondary(),
        Column::text("series").for_people().secondary(),
    ];
    columns.extend(series::trend_columns());
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
    cells.extend(series::trend_cells(&row.judgement));
    cells
}
