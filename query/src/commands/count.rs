//! `count`: how many objects match an expression.

use barrow_analyzer::{Counted, SnapshotId};
use barrow_processes::{Expression, ProcessTree, Selection, Sum};

use crate::answer::{Answer, Column, Value, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::language::aggregates::{Aggregate, ShowClause};
use crate::language::asked::{self, Asked};
use crate::tables::aggregates::{ObjectNumbers, ProcessNumbers};
use crate::tables::found;
use crate::tables::known_in_part;

use super::{Command, Completion, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "[KIND] [EXPR] [show AGGREGATE[, AGGREGATE]..]",
    example: "count objects size > 1K",
    flags: &["--classes"],
    asks_for_totals: Some(asks_for_totals),
    completion: Completion::Expressions,
    ..Command::new("count", include_str!("../../verbs/count.md"), Group::Objects, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let ShowClause { aggregates, rest } = ShowClause::of(&ask.arguments)?;
    let (snapshot, kinds, expression) = match asked::asked(ask, &rest, 0)? {
        Asked::Objects(snapshot, kinds, expression) => {
            found::refuse_wide(&*ask.recording()?, &ask.arguments.text())?;
            (snapshot, kinds, expression)
        }
        Asked::Processes(expression) => return of_processes(ask, &expression, &aggregates),
    };
    let numbers = ObjectNumbers::of(&aggregates)?;
    if let Some(counted) = ask.counted(snapshot) {
        let types = expression.matching_types(&*ask.recording()?, &kinds)?;
        let types = types.ok_or_else(|| QueryError::usage("this needs the whole dump"))?;
        let mut sum = Counted::default();
        for row in counted.types.iter().filter(|row| types.binary_search(&row.type_id).is_ok()) {
            sum.objects += row.objects;
            sum.heap_bytes = sum.heap_bytes.wrapping_add(row.heap_bytes);
            sum.unmanaged_bytes = sum.unmanaged_bytes.wrapping_add(row.unmanaged_bytes);
        }
        return Ok(Reply::aside(found::said(with_totals(Answer::default(), snapshot, sum), true)));
    }
    let (set, counted) = found::select(ask, snapshot, &kinds, &expression)?;
    let answer = with_totals(Answer::default(), snapshot, counted);
    let mut answer =
        found::with_exactness(answer, ask, found::Wanted { snapshot, kinds: &kinds, expression: &expression })?;
    if !aggregates.is_empty() {
        let heap = ask.heap(snapshot)?;
        let shown = numbers.aggregates(&aggregates, &heap, &set, 1, |_| 0, &ask.meter())?;
        answer = numbers.with_exactness(shown.told(shown.facts(answer), "object"), &heap, &ask.meter())?;
    }
    Ok(Reply::aside(answer).with_last(set))
}

fn of_processes(ask: &Ask, expression: &Expression, aggregates: &[Aggregate]) -> Result<Reply, QueryError> {
    let (numbers, flags) = (ProcessNumbers::of(aggregates)?, &ask.arguments.flags);
    let (tree, images) = asked::select(ask, expression, flags)?;
    let answer = with_selection(Answer::default(), &tree, &Selection::of(&tree, &images));
    let mut answer = asked::notes(ask, expression, flags)?.on(answer);
    if !aggregates.is_empty() {
        let classes = asked::classes(ask, &tree, expression, flags)?;
        let shown = numbers.aggregates(aggregates, &tree, &classes, &[images.iter().collect()]);
        answer = shown.told(shown.facts(answer), "program");
    }
    Ok(Reply::aside(answer).with_last_images(images))
}

/// Returns whether types alone decide which objects match.
fn asks_for_totals(arguments: &Arguments) -> bool {
    let arguments = arguments.divided();
    // The first word may be a kind.
    let words = arguments.words();
    let may_be_kind = words.first().is_some_and(|word| word.chars().all(|c| c.is_alphanumeric() || c == '-'));
    (0..=usize::from(may_be_kind)).any(|first| {
        barrow_analyzer::Expression::parse(&arguments.expression(first))
            .is_ok_and(|expression| expression.is_of_types())
    })
}

/// Adds the totals of objects.
pub(super) fn with_totals(answer: Answer, snapshot: SnapshotId, counted: Counted) -> Answer {
    answer
        .of_snapshot(snapshot.0)
        .fact(Column::count("objects"), counted.objects)
        .fact(Column::bytes("shallow_bytes"), counted.heap_bytes)
        .fact(Column::bytes("unmanaged_bytes"), counted.unmanaged_bytes)
}

/// Adds the sums over processes. A sum is unknown if nothing of it is known; notes name the parts that are missing.
pub(super) fn with_selection(answer: Answer, tree: &ProcessTree, selection: &Selection) -> Answer {
    // Of no programs at all, the sum is 0.
    let programs = selection.images - selection.unknown_programs;
    let programs = (programs > 0 || selection.images == 0).then_some(programs);
    let answer = answer
        .fact(Column::count("processes"), selection.processes)
        .fact(Column::count("images").for_machines(), selection.images)
        .fact(Column::count("programs"), programs)
        .fact(Column::count("failed"), tree.knowledge().failures.then_some(selection.failed))
        .fact(Column::duration("user_ns"), sum(selection, selection.user_ns))
        .fact(Column::duration("system_ns"), sum(selection, selection.system_ns))
        .fact(Column::duration("wall_ns").called("first to last"), selection.wall_ns())
        .fact(Column::bytes("peak_bytes").called("largest peak of memory"), selection.peak_bytes)
        .fact(Column::bytes("read_bytes").called("reads"), sum(selection, selection.read_bytes))
        .fact(Column::bytes("written_bytes").called("writes"), sum(selection, selection.written_bytes));
    let missing = [
        ("processor time", selection.unknown_cpu().saturating_sub(selection.at_least)),
        ("peak of memory", selection.unknown_peaks),
        ("bytes read", selection.read_bytes.unknown()),
        ("bytes written", selection.written_bytes.unknown()),
    ];
    let missing: Vec<_> = missing.into_iter().filter(|&(_, unknown)| unknown > 0).collect();
    let failures = known_in_part::failures_not_counted(tree, selection.unknown_failures);
    let at_least = known_in_part::used_at_least(selection.at_least.into());
    if missing.is_empty() && failures.is_none() && at_least.is_none() {
        return answer.exact();
    }
    let mut answer = missing.into_iter().fold(answer.at_least(), |answer, (what, unknown)| {
        let programs = units::counted(unknown.into(), "program");
        answer.note(format!("the {what} of {programs} was not recorded and is not included"))
    });
    answer.notes.extend(failures.into_iter().chain(at_least));
    answer
}

fn sum(selection: &Selection, sum: Sum) -> Value {
    if selection.images == 0 { Value::Number(0) } else { sum.value().into() }
}
