//! `path`: why an object is alive.

use barrow_analyzer::{Heap, ObjectDetails, Path, PathOptions, Step};

use crate::answer::label;
use crate::answer::text::text;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::flags::Format;
use crate::session::Session;
use crate::tables::{found, held};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "path",
    aliases: &["path2gc", "gcroot"],
    group: Group::Alive,
    arguments: "ID [COUNT]",
    about: "A shortest path from a root to an object",
    details: "With COUNT, up to COUNT paths. They share no object except the last and those that represent groups of \
              roots. A terminal shows 50 steps of a longer path from each end; a pipe or file gets all. `--avoid \
              EXPR` finds paths around these objects, and `--weak` also follows references that keep nothing alive. \
              In a shell put EXPR in quotes.",
    example: "path @123",
    flags: &["--avoid", "--weak"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

/// Steps that a terminal shows of a longer path, at its beginning and at its end.
const SHOWN_STEPS: usize = 50;
/// The same for machines and files.
const MOST_STEPS: usize = 500_000;

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let words = arguments.words();
    let (name, count) = match &words[..] {
        [] => return Err(QueryError::usage("to which object? `path @123`, or `path %3` for row 3 of the last table")),
        [name] => (name, 1),
        [name, count] => (name, count.parse().map_err(|_| COMMAND.refuses(count))?),
        [_, _, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let (snapshot, object) = session.object(name)?;
    let heap = session.heap(snapshot)?;
    let meter = session.meter();
    let (avoid, is_exact) = match &arguments.flags.avoid {
        None => (None, true),
        Some(text) => {
            let around = Arguments::of_text(text)?;
            let (kinds, expression) = found::kinds_and_expression(session, snapshot, &around, 0)?;
            (Some(heap.select(&kinds, &expression, &meter)?.0), heap.matches_exactly(&expression, &meter)?)
        }
    };
    let options = PathOptions { avoid, weak: arguments.flags.weak, count };
    let paths = heap.paths(object, &options, &meter)?;
    drop(meter);
    session.listed.clear();
    let mut answer =
        Answer::default().of_snapshot(snapshot).fact(Column::new("object", "object", Unit::Object), object.0);
    let mut rows = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        rows.extend(rows_of(&heap, session, number + 1, path)?);
    }
    if paths.is_empty() {
        let around = if options.avoid.is_some() { " around these objects" } else { "" };
        answer = answer.note(format!("no root reaches it{around}"));
    } else if paths.len() < count {
        answer = answer.note(format!(
            "there {} only {}; every other way found shares an object with {}",
            if paths.len() == 1 { "is" } else { "are" },
            crate::answer::units::counted(paths.len() as u64, "such path"),
            if paths.len() == 1 { "it" } else { "them" },
        ));
    }
    let table = Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows };
    Ok(found::said(answer.table(table), is_exact))
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::new("path", "path", Unit::Number),
        Column::new("step", "step", Unit::Number).for_machines(),
        Column::new("reference", "", Unit::Text),
        Column::new("object", "object", Unit::Object),
        Column::new("", "type", Unit::Text).for_people(),
        Column::new("type", "type", Unit::Text).for_machines(),
        Column::new("name", "name", Unit::Text).for_machines(),
        Column::new("kind", "kind", Unit::Text).secondary(),
        Column::new("shallow_bytes", "shallow", Unit::Bytes).secondary(),
    ]
}

fn rows_of(heap: &Heap, session: &mut Session, number: usize, path: &Path) -> Result<Vec<Vec<Value>>, QueryError> {
    let tables = heap.recording().tables()?;
    // A list may be long: its ends tell most.
    let length = path.objects.len();
    let is_for_people = session.context.settings.format == Format::Table && session.context.settings.short_paths;
    let shown = if is_for_people { SHOWN_STEPS } else { MOST_STEPS };
    let (first, last) = (shown.min(length), length.saturating_sub(shown).max(shown.min(length)));
    let mut steps = heap.steps(path, 0..first)?;
    steps.extend(heap.steps(path, last..length)?);
    let lines = held::lines_of(heap, steps.iter().map(|step| &step.object), &session.meter())?;
    let title = |object: &ObjectDetails| {
        let title = label::object(tables, object.type_id, object.name);
        match lines.get(&object.id) {
            Some(line) => format!("{title}: {}", text(line, Unit::Text)),
            None => title,
        }
    };
    let root = label::root(tables, &path.root);
    let mut rows = Vec::new();
    for (at, Step { object, reference }) in (0..first).chain(last..length).zip(steps) {
        if at == last && first < last {
            let mut gap = vec![Value::None; columns().len()];
            gap[3] = Value::text(format!("… {} …", crate::answer::units::counted((last - first) as u64, "more step")));
            rows.push(gap);
            session.listed.push((heap.snapshot(), object.id));
        }
        let arrow = match at {
            0 => format!("--[ {root} ]-->"),
            _ => label::arrow(tables, reference),
        };
        session.listed.push((heap.snapshot(), object.id));
        rows.push(vec![
            Value::from(session.listed.len()),
            number.into(),
            at.into(),
            Value::Text(arrow),
            object.id.0.into(),
            Value::Text(title(&object)),
            Value::text(tables.type_title(object.type_id)),
            Value::name(tables, object.name),
            Value::text(tables.kind_name(tables.type_kind(object.type_id))),
            object.shallow_bytes.into(),
        ]);
    }
    Ok(rows)
}
