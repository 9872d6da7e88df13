//! `trend`: a type, or whatever matches an expression, over the snapshots.

use barrow_analyzer::{Expression, Judgement, KindId, Moment, SnapshotId, TypeId, trend, without_repeated};

use crate::answer::{Answer, Column, Curve, Form, Table, Unit, Value, table};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::language::{names, selection};
use crate::session::state::State;
use crate::tables::each_snapshot::EachSnapshot;
use crate::tables::{found, growth_series, series, type_path};

use super::{Command, Completion, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "[A..B] TYPE | [KIND] EXPR",
    example: "trend type ~ /Session/",
    completion: Completion::Expressions,
    ..Command::new("trend", include_str!("../../verbs/trend.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let known = ask.snapshots()?;
    let is_range = words.first().is_some_and(|word| selection::is_range(word));
    let snapshots = if is_range { selection::several(&words[..1], &known)? } else { known };
    if words.len() == usize::from(is_range) {
        return Err(QueryError::usage("the trend of what? `trend Session`, `trend type ~ /Session/`"));
    }
    let recording = ask.recording()?;
    let apart = series::seconds_apart(&recording, &snapshots)?;
    let first = *snapshots.first().ok_or(QueryError::NoSnapshot)?;
    let (kinds, expression) = asked(ask, &ask.arguments, usize::from(is_range), first)?;
    let moments = moments(ask, &snapshots, &kinds, &expression)?;
    let retained: Vec<u64> = moments.iter().map(|moment| moment.retained_bytes).collect();
    let (judged, is_repeated) = without_repeated(&recording, &snapshots)?;
    let judgement = Judgement::of(&retained[..judged.len()].iter().map(|&bytes| bytes as f64).collect::<Vec<_>>());
    let mut answer = Answer::default().fact(Column::text("slope_per").own_words().for_machines(), series::PER);
    for (column, cell) in series::trend_columns().into_iter().zip(series::trend_cells(&judgement)) {
        answer = answer.fact(column.for_machines(), cell);
    }
    let per_second = apart.map(|apart| Value::Rate(judgement.trend.slope / apart));
    answer = answer.fact(Column::bytes("slope_bytes_per_second").for_machines(), per_second);
    let is_exact = moments.iter().all(|moment| moment.is_exact);
    answer = found::said(answer.table(table(ask, &snapshots, &moments)?), is_exact);
    answer = EachSnapshot::of_recording(&recording, &snapshots, kinds, expression).with_gaps(answer, ask)?;
    if snapshots.len() >= series::LEAST_DRAWN {
        let numbers = retained.iter().map(|&bytes| bytes as f64).collect();
        answer = answer.curve(Curve { heading: "retained", numbers, unit: Unit::Bytes, form: Form::Chart });
    }
    if is_repeated {
        answer = answer.note(growth_series::REPEATED);
    }
    Ok(answer.note(series::sentence("retained", &judgement, apart)).into())
}

/// The name of a type, or an expression.
pub(super) fn asked(
    state: &State,
    arguments: &Arguments,
    first: usize,
    snapshot: SnapshotId,
) -> Result<(Vec<KindId>, Expression), QueryError> {
    let recording = state.recording()?;
    let tables = recording.tables()?;
    let name = arguments.words()[first..].join(" ");
    let is_type = (0..tables.type_count() as u32).any(|id| tables.type_name(TypeId(id)) == name);
    // A name that contains a quote can be requested by an expression.
    if is_type
        && !name.contains(['"', '\\'])
        && let Ok(expression) = Expression::parse(&format!("type = \"{name}\""))
    {
        return Ok((Vec::new(), expression));
    }
    if let Some(word) = arguments.words()[first..].iter().find(|word| word.starts_with(['@', '%'])) {
        return Err(QueryError::usage(format!(
            "`{word}` is an object of one snapshot, and says nothing about the others"
        )));
    }
    let found = found::kinds_and_expression(state, snapshot, arguments, first);
    let (kinds, expression) = found.map_err(|error| match arguments.words().len() - first {
        1 if name.starts_with('$') => QueryError::usage(format!(
            "`{name}` is no type of this recording, and a set is of one snapshot: it says nothing about the others"
        )),
        1 if !found::is_comparison(&name) => QueryError::usage(format!(
            "`{name}` is no type of this recording, and no expression; try {}",
            match names::nearest_type(&name, tables) {
                Some(near) => format!("`trend {near}`"),
                None => format!("`trend type ~ /{name}/`"),
            }
        )),
        _ => error,
    })?;
    if let Some(only) = expression.snapshot() {
        return Err(QueryError::usage(format!(
            "it names objects of snapshot {only}, and a trend is about all snapshots"
        )));
    }
    Ok((kinds, expression))
}

/// The requested objects in each snapshot. Where something is excluded, the heaps of the session are searched.
fn moments(
    state: &State,
    snapshots: &[SnapshotId],
    kinds: &[KindId],
    expression: &Expression,
) -> Result<Vec<Moment>, QueryError> {
    let (recording, meter) = (state.recording()?, state.meter());
    if state.away.is_empty() {
        return Ok(trend(&recording, snapshots, (kinds, expression), &state.context.series_options(), &meter)?);
    }
    let moments = snapshots
        .iter()
        .map(|&snapshot| Ok(Moment::of(&*type_path::heap(state, &recording, snapshot)?, kinds, expression, &meter)?));
    moments.collect()
}

fn table(state: &State, snapshots: &[SnapshotId], moments: &[Moment]) -> Result<Table, QueryError> {
    let recording = state.recording()?;
    Ok(table!("snapshots", snapshots.iter().zip(moments), |(&snapshot, moment)| {
        let info = recording.snapshot(snapshot)?;
        Column::number("snapshot") => snapshot.0,
        Column::text("label").names() => info.label,
        Column::duration("time_ns") => info.time_ns,
        Column::count("objects") => moment.objects,
        Column::bytes("shallow_bytes") => moment.shallow_bytes,
        Column::bytes("unmanaged_bytes") => moment.unmanaged_bytes,
        Column::bytes("retained_bytes") => moment.retained_bytes,
    }))
}
