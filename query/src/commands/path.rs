//! `path`: why an object is alive.

use std::ops::Range;
use std::sync::Arc;

use barrow_analyzer::{Heap, ObjectDetails, ObjectId, Path, PathOptions, Step};

use crate::answer::{Answer, Column, Table, Unit, table, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::{found, held, label};

use super::more::OnDemand;
use super::{Command, Group};

pub(super) const COMMAND: Command = Command {
    aliases: &["path2gc", "gcroot"],
    arguments: "ID [COUNT]",
    example: "path @123",
    flags: &["--avoid", "--weak"],
    ..Command::new("path", include_str!("../../verbs/path.md"), Group::Alive, run)
};

/// Steps that a terminal shows of a longer path, at its beginning and at its end.
const SHOWN_STEPS: usize = 50;
/// The same for machines and files.
const MOST_STEPS: usize = 500_000;

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let (name, count) = match &words[..] {
        [] => return Err(QueryError::usage("to which object? `path @123`, or `path %3` for row 3 of the last table")),
        [name] => (name, 1),
        [name, count] => (name, count.parse().map_err(|_| COMMAND.refuses(count))?),
        [_, _, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let (snapshot, object) = ask.object(name)?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let (avoid, is_exact) = match &ask.arguments.flags.avoid {
        None => (None, true),
        Some(text) => {
            let around = Arguments::of_text(text)?;
            let (kinds, expression) = found::kinds_and_expression(ask, snapshot, &around, 0)?;
            (Some(heap.select(&kinds, &expression, &meter)?.0), heap.matches_exactly(&expression, &meter)?)
        }
    };
    let options = PathOptions { avoid, weak: ask.arguments.flags.weak, count };
    let paths = heap.paths(object, &options, &meter)?;
    drop(meter);
    let mut answer = Answer::default().of_snapshot(snapshot.0).fact(Column::object("object"), object.0);
    if paths.is_empty() {
        let around = if options.avoid.is_some() { " around these objects" } else { "" };
        answer = answer.note(format!("no root reaches it{around}"));
    } else if paths.len() < count {
        answer = answer.note(format!(
            "there {} only {}; every other way found shares an object with {}",
            if paths.len() == 1 { "is" } else { "are" },
            units::counted(paths.len() as u64, "such path"),
            if paths.len() == 1 { "it" } else { "them" },
        ));
    }
    let answer = found::said(answer, is_exact);
    // A list may be long: its ends tell most.
    let most = if ask.context.settings.short_paths { SHOWN_STEPS } else { MOST_STEPS };
    let rows = Rows { heap, paths: paths.into_iter().map(|path| Abridged { path, most }).collect() };
    let count = rows.paths.iter().map(Abridged::rows).sum();
    let make = Box::new(move |ask: &Ask, places: Range<usize>| rows.table(ask, places));
    OnDemand { answer, count, has_pages: false, make }.begin(ask)
}

/// A path of which only both ends are shown if it is long.
struct Abridged {
    path: Path,
    /// Steps that are shown from each end.
    most: usize,
}

impl Abridged {
    /// The steps that are left out.
    fn gap(&self) -> Range<usize> {
        gap(self.path.objects.len(), self.most)
    }

    /// One for each step that is shown, and one for those that are not.
    fn rows(&self) -> usize {
        self.path.objects.len() - self.gap().len() + usize::from(!self.gap().is_empty())
    }
}

/// The steps of a path that are left out, if `most` are shown from each end.
fn gap(length: usize, most: usize) -> Range<usize> {
    let first = most.min(length);
    first..length.saturating_sub(most).max(first)
}

/// A row: a step of a path, or the steps that are left out.
struct Line {
    /// The object of the step, or the next object that is shown.
    id: ObjectId,
    text: String,
    /// The group of roots, or the name of the reference.
    label: Option<String>,
    /// Number of the path.
    path: Option<usize>,
    /// Number of the step.
    step: Option<usize>,
    object: Option<ObjectDetails>,
}

/// The rows of all paths.
struct Rows {
    heap: Arc<Heap>,
    paths: Vec<Abridged>,
}

impl Rows {
    fn table(&self, ask: &Ask, places: Range<usize>) -> Result<(Table, Listed), QueryError> {
        let (heap, tables) = (&self.heap, self.heap.recording().tables()?);
        let lines = self.lines(places)?;
        let texts = held::lines_of(heap, lines.iter().filter_map(|line| line.object.as_ref()), &ask.meter())?;
        let mut listed = Listed::default();
        let table = table!("rows", lines, |Line { id, text, label, path, step, object }| {
            let row = listed.push((heap.snapshot(), id));
            let object = object.as_ref();
            let title = object.map(|object| {
                held::title_with_line(label::object(tables, object.type_id, object.name), &texts, object.id)
            });
            Column::row_number() => object.map(|_| ask.listed_before() + row),
            Column::number("path") => path,
            Column::number("step").for_machines() => step,
            Column::text("reference").called("") => text,
            Column::object("object") => object.map(|object| object.id.0),
            Column::shown("type", Unit::Text) => title,
            Column::text("type").names().for_machines() => object.map(|object| tables.type_title(object.type_id)),
            Column::text("name").for_machines() => object.map(|object| label::name(tables, object.name)),
            Column::text("kind").names().secondary() => object.map(|object| tables.kind_name(tables.type_kind(object.type_id))),
            Column::bytes("shallow_bytes").secondary() => object.map(|object| object.shallow_bytes),
            Column::text("label").for_machines() => label,
        });
        Ok((table, listed))
    }

    fn lines(&self, places: Range<usize>) -> Result<Vec<Line>, QueryError> {
        let (mut lines, mut before) = (Vec::new(), 0);
        for (number, path) in (1..).zip(&self.paths) {
            let here = places.start.max(before) - before..places.end.min(before + path.rows()).max(before) - before;
            before += path.rows();
            if here.is_empty() {
                continue;
            }
            let gap = path.gap();
            self.add_steps(&mut lines, number, &path.path, here.start..here.end.min(gap.start))?;
            if !gap.is_empty() && here.contains(&gap.start) {
                let text = format!("… {} …", units::counted(gap.len() as u64, "more step"));
                lines.push(Line {
                    id: path.path.objects[gap.end],
                    text,
                    label: None,
                    path: None,
                    step: None,
                    object: None,
                });
            }
            // The row of the gap stands for all of its steps.
            let [start, end] =
                [here.start, here.end].map(|row| (row + gap.len() - usize::from(!gap.is_empty())).max(gap.end));
            self.add_steps(&mut lines, number, &path.path, start..end)?;
        }
        Ok(lines)
    }

    fn add_steps(&self, lines: &mut Vec<Line>, number: usize, path: &Path, at: Range<usize>) -> Result<(), QueryError> {
        if at.is_empty() {
            return Ok(());
        }
        let tables = self.heap.recording().tables()?;
        for (at, Step { object, reference }) in at.clone().zip(self.heap.steps(path, at)?) {
            let (text, label) = match at {
                0 => {
                    let root = label::root(tables, &path.root);
                    (format!("--[ {root} ]-->"), Some(root))
                }
                _ => (label::arrow(tables, reference), label::reference(tables, reference)),
            };
            lines.push(Line { id: object.id, text, label, path: Some(number), step: Some(at), object: Some(object) });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_long_path_are_shown() {
        for (length, left_out) in [(0, 0..0), (5, 3..3), (6, 3..3), (7, 3..4), (20, 3..17)] {
            let gap = gap(length, 3);
            assert_eq!(gap.len(), left_out.len(), "{length}");
            assert!(gap.is_empty() || gap == left_out, "{length}: {gap:?}");
        }
    }
}
