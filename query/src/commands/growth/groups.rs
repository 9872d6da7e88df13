//! `growth EXPR by KEY`: which groups of objects grow.

use barrow_analyzer::{GroupKey, Judgement};

use crate::answer::{Column, Table, Unit, Value, table, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::{self, totals::Total};
use crate::command::Content;
use crate::commands::more;
use crate::error::QueryError;
use crate::language::request::Request;
use crate::language::selection;
use crate::tables::each_snapshot::EachSnapshot;
use crate::tables::group_series::{self, GroupSeries};
use crate::tables::{found, group_keys, growth_series, series, type_path};

use super::{COMMAND, about, list};

/// A group over the snapshots. Where it is not there, it has nothing.
struct Group {
    keys: Vec<Value>,
    bytes: Vec<u64>,
    objects: Vec<u64>,
}

/// What may follow `by`.
pub(super) fn orders(_: &[Content]) -> Vec<&'static str> {
    let totals = Total::usual_words().into_iter().filter(|word| Total::named(word) != Some(Total::Count));
    attributes::group_words().into_iter().chain(totals).collect()
}

/// Returns whether the line asks for groups.
pub(super) fn are_asked(arguments: &Arguments) -> bool {
    arguments.divided().words().iter().any(|word| word == "by")
}

pub(super) fn answer(ask: &Ask, arguments: &Arguments) -> Result<Reply, QueryError> {
    let arguments = arguments.divided();
    let words = arguments.words();
    let ranges = usize::from(words.first().is_some_and(|word| selection::is_range(word)));
    let (snapshots, is_repeated) = growth_series::snapshots(ask, &*ask.recording()?, &words[..ranges])?;
    let request = Request::of(&arguments.only(&(ranges..words.len()).collect::<Vec<_>>()));
    let (keys, order) = group_keys::keys_and_order(&COMMAND, &request.by, Total::named)?;
    if order == Total::Count {
        return Err(QueryError::usage("growth is one of bytes: `by size`, `by unmanaged` or `by retained`"));
    }
    let (kinds, expression) = found::kinds_and_expression_or_all(ask, snapshots[0], &request.rest, 0)?;
    if let Some(only) = expression.snapshot() {
        let message = format!("it names objects of snapshot {only}, and growth is about all snapshots");
        return Err(QueryError::usage(message));
    }
    let each = EachSnapshot::of_recording(&ask.recording()?, &snapshots, kinds, expression);
    let mut of_all = group_series::group_series(ask, &each, &keys, order == Total::Retained)?;
    let groups = std::mem::take(&mut of_all.series).into_iter().map(|GroupSeries { keys, amounts }| {
        let (bytes, objects) = amounts.iter().map(|amounts| (order.of_amounts(amounts), amounts.objects)).unzip();
        Group { keys, bytes, objects }
    });
    let groups: Vec<Group> = groups.collect();
    let sums = (0..snapshots.len()).map(|at| groups.iter().map(|group| group.bytes[at]).fold(0, u64::wrapping_add));
    let least = sums.max().unwrap_or(0) as f64 * type_path::least_share(&arguments)?;
    let (all, mut unchanged, mut small) = (groups.len(), 0_u64, 0_u64);
    let mut judged = Vec::new();
    for group in groups {
        let low = group.bytes.iter().copied().min().unwrap_or(u64::MAX);
        let high = group.bytes.iter().copied().max().unwrap_or(0);
        if (high as f64) < least.max(1.0) {
            small += 1;
        } else if high == low || ((high - low) as f64) < LEAST_CHANGE * least {
            unchanged += 1;
        } else {
            let values: Vec<f64> = group.bytes.iter().map(|&bytes| bytes as f64).collect();
            judged.push((Judgement::of(&values), group));
        }
    }
    judged.sort_by(|(one, _), (other, _)| {
        let ((class, value), (other_class, other_value)) = (one.rank(), other.rank());
        let by_slope = other.trend.slope.total_cmp(&one.trend.slope);
        other_class.cmp(&class).then(other_value.total_cmp(&value)).then(by_slope)
    });
    let verdicts = judged.iter().map(|(judgement, _)| judgement.verdict);
    let note = super::verdict(verdicts, &units::counted(judged.len() as u64, "group"), snapshots.len());
    let mut answer = about(&snapshots)
        .fact(Column::count("groups"), all)
        .fact(Column::count("small_groups").for_machines(), small)
        .fact(Column::count("unchanged_groups").for_machines(), unchanged)
        .table(table(&keys, order, &judged))
        .note(note);
    for (count, why) in [(small, "were always small (`--min`)"), (unchanged, "hardly changed")] {
        if count > 0 {
            answer = answer.note(format!("{} not shown: they {why}", units::counted(count, "group")));
        }
    }
    if order == Total::Retained {
        answer = answer.note("what several groups hold together is part of none");
    }
    if is_repeated {
        answer = answer.note(growth_series::REPEATED);
    }
    answer = each.with_gaps(of_all.said(answer), ask)?;
    Ok(more::first_page(ask, answer, ask.ranking_rows(request.rows).max(1)))
}

/// A group is not shown if its bytes change by less than this fraction of the size needed to be shown: the same as for
/// paths.
const LEAST_CHANGE: f64 = 0.2;

fn table(keys: &[GroupKey], order: Total, judged: &[(Judgement, Group)]) -> Table {
    let cells: Vec<Vec<Value>> = judged.iter().map(|(_, group)| group.keys.clone()).collect();
    let (key, first, last) = match order {
        Total::Retained => ("retained_bytes", "first_retained_bytes", "last_retained_bytes"),
        Total::Unmanaged => ("unmanaged_bytes", "first_unmanaged_bytes", "last_unmanaged_bytes"),
        _ => ("shallow_bytes", "first_shallow_bytes", "last_shallow_bytes"),
    };
    table!("rows", judged, |(judgement, group)| {
        ..group_keys::columns(keys, &cells) => group.keys.clone(),
        Column::nested(key).for_machines() => list(group.bytes.iter().copied()),
        Column::nested("objects").for_machines() => list(group.objects.iter().copied()),
        Column::bytes(first).called("first").secondary() => group.bytes.first().copied(),
        Column::bytes(last).called("last") => group.bytes.last().copied(),
        Column::count("last_objects").called("objects").secondary() => group.objects.last().copied(),
        Column::picture("series").for_people().secondary() => {
            Value::series(group.bytes.iter().copied(), Unit::Bytes)
        },
        ..series::trend_columns() => series::trend_cells(judgement),
    })
}
