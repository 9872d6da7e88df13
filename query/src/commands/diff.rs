//! `diff`: what changed between two snapshots.

use std::sync::Arc;

use barrow_analyzer::{Side, SnapshotId, TypeTotals, diff};
use barrow_processes::{ProcessTree, changes_by_class, changes_by_command, whole_wall_ns};

use crate::arguments::Arguments;
use crate::attributes;
use crate::flags::SnapshotName;
use crate::language::kinds;
use crate::language::operand::{self, Compared, Operand};
use crate::language::request::Request;
use crate::tables::comparison::{self, Choice, Grouping, Measure};
use crate::tables::known_in_part;
use crate::tables::object_change;
use crate::tables::path_change;
use crate::tables::process_change;

use super::{list, more, prelude::*};

mod groups;
mod merged_paths;
mod rows;

pub(super) const COMMAND: Command = Command {
    arguments: "[A] [B] [[KIND] EXPR] [by type|kind|path|object|KEY[,KEY]..|class|command] [by size|shallow|unmanaged|count|retained] [of COLUMN[, COLUMN]..] [--classes FILE]",
    orders,
    example: "diff 0 last objects by count",
    flags: &["--classes", "--min"],
    touches: Touches::RECORDING.with(Touches::READS_FILES),
    completion: Completion::Rankings,
    ..Command::new("diff", include_str!("../../verbs/diff.md"), Group::Series, run)
};

/// What may follow `by`.
fn orders(_: &[Content]) -> Vec<&'static str> {
    let keys = attributes::group_words().into_iter().filter(|word| !["type", "kind"].contains(word));
    ["path", "object", "type", "kind"].into_iter().chain(Measure::words()).chain(keys).collect()
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let operands = leading_operands(&words, &|name| ask.is_beside(name))?;
    if ask.recording()?.has_processes() && ask.snapshots()?.is_empty() {
        return of_processes(ask, &operands, &words[operands.len()..]);
    }
    let (before, after) = compared(ask, &operands)?;
    let rest = ask.arguments.only(&(operands.len()..words.len()).collect::<Vec<_>>()).divided();
    let reply = of_snapshots(ask, [&before, &after], &rest).map_err(|error| match error {
        QueryError::Usage { message } if operands.len() < 2 && message.contains("is no kind of this recording") => {
            let word = rest.words().into_iter().next().unwrap_or_default();
            QueryError::usage(format!("`{word}` names no snapshot and no file, and {message}"))
        }
        error => error,
    })?;
    Ok(reply.map(|answer| Answer { lost: lost(&[&before, &after]), ..answer }))
}

/// Compares two snapshots in the way that the words after them ask for.
fn of_snapshots(ask: &Ask, sides: [&Compared; 2], rest: &Arguments) -> Result<Reply, QueryError> {
    let flags = &rest.flags;
    let is_list = list::place_of_columns(rest).is_some();
    let request = Request::of(rest);
    let by: Vec<&str> = request.by.iter().map(String::as_str).collect();
    let answer = match by[..] {
        ["path"] if !is_list && request.rest.words().is_empty() => path_change::answer(ask, sides, rest)?,
        ["path"] if !is_list => merged_paths::answer(ask, sides, &request.rest)?,
        _ if flags.min.is_some() => return Err(QueryError::usage("--min is for `diff A B by path`")),
        _ if is_list => return rows::compare(ask, sides, rest),
        ["object"] if request.rest.words().is_empty() => object_change::answer(ask, sides)?,
        _ => match choice(&kind_names(sides)?, &request)? {
            Some(choice) => types(ask, sides, choice)?,
            None => groups::answer(ask, sides, &request)?,
        },
    };
    Ok(more::first_page(ask, answer, ask.page_rows()))
}

/// Compares types or kinds.
fn types(ask: &Ask, sides: [&Compared; 2], choice: Choice<'_>) -> Result<Answer, QueryError> {
    if choice.measure == Measure::RETAINED && choice.grouping == Grouping::Kind {
        return Err(QueryError::usage("what kinds retain overlaps; try `by retained` without `by kind`"));
    }
    let [old, new] = [sized(ask, sides[0], choice.measure)?, sized(ask, sides[1], choice.measure)?];
    let mut diff = diff(old.side(sides[0]), new.side(sides[1]))?;
    if let Some(kind) = choice.kind {
        diff = diff.of_kind(kind);
    }
    Ok(comparison::answer(sides, &diff, choice).with_exactness(old.is_exact && new.is_exact))
}

/// Compares this recording of processes with another one.
fn of_processes(ask: &Ask, operands: &[Operand], words: &[String]) -> Result<Reply, QueryError> {
    let [Operand::Other(name, SnapshotName::Last)] = operands else {
        return Err(QueryError::usage("name the other recording: `diff FILE`, with `by class` or `by command`"));
    };
    let is_by_command = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["by", "class"] => false,
        ["by", "command"] => true,
        [word, ..] => return Err(COMMAND.refuses(word)),
    };
    let before = ask.process_tree()?;
    let other = ask.other(name, COMMAND.name)?;
    if !other.recording.has_processes() {
        return Err(QueryError::unreadable(name, "it holds no processes"));
    }
    let after = Arc::new(ProcessTree::read_with(Arc::clone(&other.recording), &ask.meter())?);
    let table = if is_by_command {
        process_change::table("command", "command", &changes_by_command([&before, &after]))
    } else {
        let flags = &ask.arguments.flags;
        let (old, new) = (ask.classes_in(flags, None)?, ask.first_classes(&after, 1, flags)?);
        process_change::table("class", "class", &changes_by_class([&before, &after], [old.first(), new.first()]))
    };
    let mut answer = Answer::default()
        .fact(Column::duration("before_wall_ns").called("wall before"), whole_wall_ns(&before))
        .fact(Column::duration("after_wall_ns").called("wall after"), whole_wall_ns(&after))
        .table(table);
    answer = answer.exact();
    if before.knowledge().by_calls != after.knowledge().by_calls {
        let by_calls = if before.knowledge().by_calls { "before" } else { "after" };
        answer = answer.inexact("estimate", &format!(
            "{by_calls} is recorded via notify: cpu is that until the last call of each process, and on the other side there \
             is also the end in which its memory is given back"
        ));
    }
    for (side, tree) in [("before", &before), ("after", &after)] {
        if let Some(note) = known_in_part::some_used_at_least(tree) {
            answer = answer.inexact("estimate", &format!("{side}: {note}"));
        }
    }
    answer.lost = other.damage.map(|damage| format!("{name}: {damage}"));
    Ok(more::first_page(ask, answer, ask.page_rows()))
}

/// Totals of the types of one side, beyond its statistics.
struct SideTotals {
    /// Totals without excluded objects.
    types: Option<Vec<TypeTotals>>,
    /// Retained sizes of the types.
    retained_bytes: Option<Vec<u64>>,
    is_exact: bool,
}

impl SideTotals {
    fn side<'a>(&'a self, side: &'a Compared) -> Side<'a> {
        let (types, retained_bytes) = (self.types.as_deref(), self.retained_bytes.as_deref());
        Side { recording: &side.recording, snapshot: side.snapshot, types, retained_bytes }
    }
}

/// Computes the totals that the statistics of a side lack.
fn sized(state: &State, side: &Compared, measure: Measure) -> Result<SideTotals, QueryError> {
    let meter = state.meter();
    let is_open = Arc::ptr_eq(&state.recording()?, &side.recording);
    let is_whole = !is_open || state.away.is_empty();
    if is_whole && measure != Measure::RETAINED {
        return Ok(SideTotals { types: None, retained_bytes: None, is_exact: true });
    }
    let heap = match is_open {
        true => state.heap(side.snapshot)?,
        false => Arc::new(state.context.heap_of(Arc::clone(&side.recording), side.snapshot)?),
    };
    let types = if is_whole { None } else { Some(heap.type_totals(&meter)?) };
    let is_wanted = measure == Measure::RETAINED;
    let retained_bytes = is_wanted.then(|| heap.retained_by_identity(&meter)).transpose()?;
    let is_exact = !is_wanted || heap.largest(&meter)?.is_exact();
    Ok(SideTotals { types, retained_bytes, is_exact })
}

/// The snapshots that the first words name, at most two.
fn leading_operands(words: &[String], is_open: &dyn Fn(&str) -> bool) -> Result<Vec<Operand>, QueryError> {
    let range = words.first().and_then(|word| word.split_once(".."));
    if let Some((first, last)) = range
        && [first, last].iter().all(|name| name.parse::<SnapshotName>().is_ok())
    {
        return Err(QueryError::usage(format!(
            "diff takes two snapshots, not all between them: `diff {first} {last}`"
        )));
    }
    let operands = Operand::leading(words, is_open);
    match operands.len() {
        0..=2 => Ok(operands),
        _ => Err(COMMAND.refuses(&words[2])),
    }
}

/// The two snapshots, with those that were not named.
fn compared(state: &State, operands: &[Operand]) -> Result<(Compared, Compared), QueryError> {
    match operands {
        [] => Ok((operand::open(state, before_selected(state)?)?, selected(state)?)),
        [first @ Operand::Open(_)] => Ok((first.look_up(state, COMMAND.name)?, selected(state)?)),
        [other] => Ok((selected(state)?, other.look_up(state, COMMAND.name)?)),
        [first, second, ..] => Ok((first.look_up(state, COMMAND.name)?, second.look_up(state, COMMAND.name)?)),
    }
}

fn selected(state: &State) -> Result<Compared, QueryError> {
    operand::open(state, state.snapshot()?)
}

fn before_selected(state: &State) -> Result<SnapshotId, QueryError> {
    let (selected, known) = (state.snapshot()?, state.snapshots()?);
    known.iter().copied().rfind(|&snapshot| snapshot < selected).ok_or_else(|| {
        QueryError::usage(match known.len() {
            1 => "this recording holds one snapshot; name another file: `diff FILE`".to_owned(),
            _ => format!("there is no snapshot before {selected}; name two, like `diff {selected} last`"),
        })
    })
}

/// The kinds of both recordings, each name once.
fn kind_names([before, after]: [&Compared; 2]) -> Result<Vec<&str>, QueryError> {
    let mut names = kinds::names(before.recording.tables()?);
    if !Arc::ptr_eq(&before.recording, &after.recording) {
        let more = kinds::names(after.recording.tables()?);
        let new: Vec<&str> = more.into_iter().filter(|name| !names.contains(name)).collect();
        names.extend(new);
    }
    Ok(names)
}

/// Reads `[KIND] [by type|kind] [by MEASURE]`. `None` if the words are an expression, or name other keys.
fn choice<'a>(kinds: &[&'a str], request: &Request) -> Result<Option<Choice<'a>>, QueryError> {
    let mut choice = Choice::default();
    let words = request.rest.words();
    if let Some(rows) = request.rows {
        return Err(COMMAND.refuses(&rows.to_string()));
    }
    if words.last().is_some_and(|word| word == "by") {
        return Err(COMMAND.refuses("by"));
    }
    if !words.is_empty() {
        match kinds::leading_name(kinds, &words) {
            Ok((kind, count)) if count == words.len() => choice.kind = kind,
            _ => return Ok(None),
        }
    }
    let (mut grouping, mut measure) = (None, None);
    for name in &request.by {
        match (name.as_str(), Measure::named(name)) {
            ("type", _) if grouping.is_none() => grouping = Some(Grouping::Type),
            ("kind", _) if grouping.is_none() => grouping = Some(Grouping::Kind),
            (_, Some(named)) if measure.is_none() => measure = Some(named),
            ("type" | "kind", _) | (_, Some(_)) => return Err(COMMAND.refuses(&format!("by {name}"))),
            (_, None) => return Ok(None),
        }
    }
    choice.grouping = grouping.unwrap_or_default();
    choice.measure = measure.unwrap_or_default();
    Ok(Some(choice))
}

/// Says which files that were opened for this are damaged.
fn lost(sides: &[&Compared]) -> Option<String> {
    let told = sides.iter().filter_map(|side| Some(format!("{}: {}", side.file, side.damage.as_ref()?)));
    let mut sentences: Vec<String> = told.collect();
    sentences.dedup();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::totals::Total;

    type Chosen = (Option<&'static str>, Grouping, Measure);

    fn chosen(line: &str) -> Result<Option<Chosen>, String> {
        let request = Request::of(&Arguments::of_text(line).unwrap());
        let choice = choice(&["object", "type object", "frame"], &request).map_err(|error| error.to_string())?;
        Ok(choice.map(|choice| (choice.kind, choice.grouping, choice.measure)))
    }

    #[test]
    fn kind_grouping_and_measure_may_all_be_named() {
        let chosen = |line| chosen(line).unwrap().unwrap();
        assert_eq!(chosen(""), (None, Grouping::Type, Measure::BothSizes));
        assert_eq!(chosen("frames by count"), (Some("frame"), Grouping::Type, Measure::Of(Total::Count)));
        assert_eq!(chosen("type objects by kind by shallow"), {
            (Some("type object"), Grouping::Kind, Measure::Of(Total::Size))
        });
        assert_eq!(chosen("by unm by type"), (None, Grouping::Type, Measure::Of(Total::Unmanaged)));
        assert_eq!(chosen("all by kind"), (None, Grouping::Kind, Measure::BothSizes));
    }

    #[test]
    fn expressions_and_other_keys_are_no_choice_of_types() {
        for line in ["size > 5", "frames size > 5 by type", "by loader", "frames by .state by count", "widgets"] {
            assert_eq!(chosen(line), Ok(None), "{line}");
        }
    }

    #[test]
    fn other_words_are_told() {
        for (line, told) in [
            ("by kind by type", "diff does not take `by type`"),
            ("by size by count", "diff does not take `by count`"),
            ("frames 3", "diff does not take `3`"),
            ("by", "diff does not take `by`"),
        ] {
            assert!(chosen(line).unwrap_err().starts_with(told), "{line}: {:?}", chosen(line));
        }
    }

    #[test]
    fn two_snapshots_are_named_and_no_third() {
        let operands = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            leading_operands(&words, &|_| false).map(|operands| operands.len()).map_err(|error| error.to_string())
        };
        assert_eq!(["", "frames", "0", "0 frames 1", "0 last by kind", "a.barrow:1 2"].map(operands), {
            [0, 0, 1, 1, 2, 2].map(Ok)
        });
        assert!(operands("0 1 2").unwrap_err().starts_with("diff does not take `2`"));
        assert!(operands("0..last").unwrap_err().ends_with("`diff 0 last`"));
    }
}
