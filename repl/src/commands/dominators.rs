//! `dominators`: the dominator tree.

use std::cmp::Reverse;

use barrow_analyzer::{Heap, Holder, Tree, objects};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::label;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "dominators",
    aliases: &["dom"],
    group: Group::Alive,
    arguments: "[ID]",
    about: "The dominator tree: what is freed with what",
    details: "From the roots, or from an object down. A line is what would be freed with everything below it, \
              its children are what it alone keeps alive. `--depth N` shows so many levels, 5 unless told; \
              `--min 1%` or `--min 1M` leaves out less, 1% unless told.",
    example: "dominators @123 --depth 2",
    flags: &["--depth", "--min"],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

/// Levels that are shown unless told.
const DEPTH: u32 = 5;
/// Lines of one answer.
const MOST_LINES: usize = 10_000;

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let words = arguments.words();
    let named = match &words[..] {
        [] => None,
        [name] => Some(session.object(name)?),
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let snapshot = named.map_or_else(|| session.snapshot(), |(snapshot, _)| Ok(snapshot))?;
    let heap = session.heap(snapshot)?;
    let meter = session.meter();
    let depth = arguments.depth.unwrap_or(DEPTH);
    let least = |bytes: u64| arguments.min.map_or(bytes / 100, |_| arguments.least(bytes));
    let canopy = if named.is_none() { heap.kept_canopy()? } else { None };
    let canopy = canopy.filter(|canopy| canopy.covers(least(canopy.retained(canopy.top()).1)));
    let (lines, is_exact) = match (canopy, named) {
        (Some(canopy), _) => (lines(&canopy, canopy.top(), depth, least), heap.largest(&meter)?.is_exact()),
        (None, named) => {
            let asked = heap.ask_dominators(&meter, |dominators| {
                let top = named.map_or(Some(dominators.top()), |(_, object)| dominators.place(object));
                let lines = top.map(|top| lines(dominators, top, depth, least));
                Ok::<_, ReplError>((lines, dominators.is_exact()))
            });
            let (Some(lines), is_exact) = asked? else {
                return Ok(Answer::default().note("no root reaches it: it keeps nothing alive").exact());
            };
            (lines, is_exact)
        }
    };
    drop(meter);
    session.listed.clear();
    let rows = rows(&heap, session, &lines)?;
    let answer = Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), snapshot.0)
        .table(Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows })
        .with_exactness(is_exact);
    let page = session.page_rows();
    Ok(more::first_page(session, answer, page))
}

/// A place of the tree, how deep it is, what it retains, and what is left out below it: counts and bytes.
struct TreeLine {
    holder: Holder,
    depth: u32,
    retained: (u64, u64),
    left_out: (u64, u64),
}

/// Lines of the tree from `top` down, children by falling bytes. `least` says of what `top` retains what is shown.
fn lines<T: Tree>(tree: &T, top: T::Place, levels: u32, least: impl Fn(u64) -> u64) -> Vec<TreeLine> {
    let least = least(tree.retained(top).1);
    let mut lines = Vec::new();
    // A stack of its own: the tree may be as deep as a list is long.
    let mut open = vec![(top, 0)];
    while let Some((place, depth)) = open.pop().filter(|_| lines.len() < MOST_LINES) {
        let (mut children, (count, bytes)) = tree.below(place, if depth + 1 < levels { least } else { u64::MAX });
        // Sizes of a hostile file may add up to more than 64 bits.
        let shown = children.iter().map(|&child| tree.retained(child).1).fold(0, u64::wrapping_add);
        let left_out = (count - children.len() as u64, bytes.wrapping_sub(shown));
        children.sort_by_key(|&child| (tree.retained(child).1, Reverse(tree.holder(child))));
        lines.push(TreeLine { holder: tree.holder(place), depth, retained: tree.retained(place), left_out });
        open.extend(children.into_iter().map(|child| (child, depth + 1)));
    }
    lines
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("row", "%", Unit::Number).for_people(),
        Column::new("depth", "depth", Unit::Number).for_machines(),
        Column::new("object", "object", Unit::Object),
        Column::new("", "type", Unit::Text).for_people(),
        Column::new("type", "type", Unit::Text).for_machines(),
        Column::new("name", "name", Unit::Text).for_machines(),
        Column::new("kind", "kind", Unit::Text),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
        Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes),
        Column::new("retained_objects", "retains objects", Unit::Count),
        Column::new("retained_bytes", "retained", Unit::Bytes),
        Column::new("left_out", "smaller ones", Unit::Count),
        Column::new("left_out_bytes", "they retain", Unit::Bytes),
    ]
}

fn rows(heap: &Heap, session: &mut Session, lines: &[TreeLine]) -> Result<Vec<Vec<Value>>, ReplError> {
    let tables = heap.recording().tables()?;
    let ids: Vec<_> = lines.iter().filter_map(|line| line.holder.object()).collect();
    let mut details = objects(heap.recording(), heap.snapshot(), &ids)?.into_iter();
    let mut rows = Vec::new();
    for line in lines {
        let object = line.holder.object().and_then(|_| details.next());
        let title = match (line.holder, &object) {
            (Holder::Roots(name), _) => format!("roots: {}", tables.string(name)),
            (_, Some(object)) => label::object(tables, object.type_id, object.name),
            _ => "all roots".to_owned(),
        };
        let row = object.map(|object| {
            session.listed.push((heap.snapshot(), object.id));
            session.listed.len()
        });
        let left_out = |value: u64| if line.left_out.0 == 0 { Value::None } else { Value::Number(value) };
        rows.push(vec![
            row.map(Value::from).unwrap_or(Value::None),
            line.depth.into(),
            object.map(|object| object.id.0).into(),
            Value::Text(format!("{}{title}", "  ".repeat((line.depth as usize).min(60)))),
            Value::Text(object.map_or(title, |object| tables.type_title(object.type_id))),
            Value::name(tables, object.and_then(|object| object.name)),
            object.map(|object| tables.kind_name(tables.type_kind(object.type_id))).into(),
            object.map(|object| object.shallow_bytes).into(),
            object.map(|object| object.unmanaged_bytes).into(),
            line.retained.0.into(),
            line.retained.1.into(),
            left_out(line.left_out.0),
            left_out(line.left_out.1),
        ]);
    }
    Ok(rows)
}
