//! `growth`: what grows over the snapshots, by path of types.

use barrow_analyzer::{FALSE_ALARMS, Growth, GrowthRow, LEAST_POINTS, SURE_POINTS, SnapshotId, Verdict};

use crate::answer::series;
use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::growth_series;
use crate::tables::type_path;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

mod groups;

pub(super) const COMMAND: Command = Command {
    name: "growth",
    aliases: &[],
    group: Group::Series,
    arguments: "[A..B] [N] [--min SHARE] [[[KIND] EXPR] by KEY[,KEY].. [by size|unmanaged|retained]]",
    about: "What grows over the snapshots: paths of types, or groups by KEY",
    details: "A path is a group of roots and then types down the dominator tree. Objects of one type directly below \
              each other are one step. What a path retains is measured in every snapshot from A to B (default: all). \
              Paths that grow come first, sorted by the lower bound of their growth. A path is left out if a path \
              below it has nine tenths of its growth. Paths that never hold 0.5 % of the largest heap are left out \
              too; `--min 0.1%` changes that. A note counts the paths that stay the same, or change by less than a \
              fifth of that share. A slope is the median of the slopes between all pairs of snapshots, by their order \
              and not by their times. With 8 snapshots or more a path `grows` or it does not. If it only seemed to \
              grow, the answer gives the reason: it flattens like a warm-up, rises in steps, falls back like a \
              sawtooth, or is not sure. At most one of 100 series of noise, steps, warm-ups and sawteeth raises a \
              false alarm; sizes that wander without ever coming back can raise more. With 5 to 7 snapshots a path \
              may rise each time, which is too few to be sure. Growth needs at least five snapshots. `trend`, `leaks \
              A..B` and `assert growth(..)` judge in the same way. Objects that are on another path in each snapshot, \
              as the variables of a running function can be, are judged over all paths: `any path › TYPE`. An empty \
              cell means that the path was too small to track in that snapshot: under 1/16 of the `--min` threshold. \
              N is 15 by default. With `by KEY`, groups of objects are judged instead of paths: those that match the \
              expression, or all, by keys as for `group`. A group is what its keys say, in every snapshot; objects \
              without a text, a number or a line count by their type and name. Sizes are shallow ones, unless `by \
              retained` or `by unmanaged` follows. `--min` is then a share of the largest sum of all groups.",
    example: "growth",
    flags: &["--min"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Snapshots,
    run,
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
        .fact(Column::new("snapshots", "snapshots", Unit::Nested), numbers(&snapshots))
        .fact(Column::new("slope_per", "", Unit::Text).for_machines(), series::PER)
        .fact(Column::new("confidence", "", Unit::Share).for_machines(), Value::Share(1.0 - FALSE_ALARMS))
        .fact(Column::new("paths", "", Unit::Count).for_machines(), tested)
        .fact(Column::new("unchanged_paths", "", Unit::Count).for_machines(), still.len())
        .fact(Column::new("unknown_below_bytes", "", Unit::Nested).for_machines(), least(&growth))
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
