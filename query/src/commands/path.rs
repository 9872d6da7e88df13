//! `path`: why an object is alive.

use std::ops::Range;
use std::sync::Arc;

use barrow_analyzer::{Heap, ObjectDetails, ObjectId, Path, PathOptions, Step};

use crate::answer::path::{self, Fold};
use crate::answer::{Answer, Column, Table, Unit, table, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::chain::{self, Part};
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

/// Lines that a terminal shows of a longer path, at its beginning and at its end: about two screens each. This is a
/// judgement.
const SHOWN_LINES: usize = 50;
/// Steps of it for machines and files. A linked list may have millions, and the answer is in memory as a whole.
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
    let mut around = None;
    let (avoid, is_exact) = match &ask.arguments.flags.avoid {
        None => (None, true),
        Some(text) => {
            let words = Arguments::of_text(text)?;
            let (kinds, expression) = found::kinds_and_expression(ask, snapshot, &words, 0)?;
            let avoid = heap.select(&kinds, &expression, &meter)?.0;
            let is_exact = heap.matches_exactly(&expression, &meter)?;
            around = Some((kinds, expression));
            (Some(avoid), is_exact)
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
    let mut answer = found::said(answer, is_exact);
    if let Some((kinds, expression)) = &around {
        answer = found::with_gaps(answer, ask, found::Wanted { snapshot, kinds, expression })?;
    }
    let rows = Rows::of(heap, paths, ask.context.settings.short_paths)?;
    let count = rows.paths.iter().flat_map(|(_, parts)| parts.iter().map(rows_of)).sum();
    let make = Box::new(move |ask: &Ask, places: Range<usize>| rows.table(ask, places));
    OnDemand { answer, count, rows: None, has_pages: false, make }.begin(ask)
}

/// The steps of a path of this length for machines and files, which have all but those in the middle of a very long one.
fn whole(length: usize, most: usize) -> Vec<Part> {
    let first = most.min(length);
    let gap = first..length.saturating_sub(most).max(first);
    let parts = [Part::Steps(0..first), Part::Gap(gap.clone()), Part::Steps(gap.end..length)];
    parts.into_iter().filter(|part| rows_of(part) > 0).collect()
}

/// The rows of a part: one for each step, and one for steps that repeat or are left out.
fn rows_of(part: &Part) -> usize {
    match part {
        Part::Steps(steps) => steps.len(),
        Part::Gap(steps) => usize::from(!steps.is_empty()),
        Part::Run(_) => 1,
    }
}

/// A row: a step of a path, or steps that repeat or are left out.
struct Line {
    /// The object of the step, the first of those that repeat, or the next object that is shown.
    id: ObjectId,
    text: String,
    /// The group of roots, or the name of the reference.
    label: Option<String>,
    /// Number of the path.
    path: Option<usize>,
    /// Number of the step.
    step: Option<usize>,
    object: Option<ObjectDetails>,
    /// The types of the steps that repeat, and how often.
    repeated: Option<String>,
}

/// The rows of all paths.
struct Rows {
    heap: Arc<Heap>,
    paths: Vec<(Path, Vec<Part>)>,
}

impl Rows {
    fn of(heap: Arc<Heap>, paths: Vec<Path>, are_short: bool) -> Result<Self, QueryError> {
        let mut rows = Rows { heap, paths: Vec::new() };
        for path in paths {
            // A list may be long: its ends tell most.
            let parts = match are_short {
                true => chain::parts(&rows.heap, &path, (SHOWN_LINES, SHOWN_LINES))?,
                false => whole(path.objects.len(), MOST_STEPS),
            };
            rows.paths.push((path, parts));
        }
        Ok(rows)
    }

    fn table(&self, ask: &Ask, places: Range<usize>) -> Result<(Table, Listed), QueryError> {
        let (heap, tables) = (&self.heap, self.heap.recording().tables()?);
        let lines = self.lines(places)?;
        let texts = held::lines_of(heap, lines.iter().filter_map(|line| line.object.as_ref()), &ask.meter())?;
        let mut listed = Listed::default();
        let table = table!("rows", lines, |Line { id, text, label, path, step, object, repeated }| {
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
            Column::shown("type", Unit::Text) => title.or(repeated),
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
        for (number, (path, parts)) in (1..).zip(&self.paths) {
            // The parts in these places, each with the steps that are shown of it.
            let mut here: Vec<(&Part, Range<usize>)> = Vec::new();
            for part in parts {
                let end = before + rows_of(part);
                let rows = places.start.max(before)..places.end.min(end);
                let first = std::mem::replace(&mut before, end);
                here.extend((!rows.is_empty()).then(|| match part {
                    Part::Steps(steps) => (part, steps.start + rows.start - first..steps.start + rows.end - first),
                    part => (part, part.shown()),
                }));
            }
            // Read at once: neighbours of the path are in many blocks in turn.
            let ranges: Vec<Range<usize>> = here.iter().map(|(_, steps)| steps.clone()).collect();
            let mut read = self.heap.steps_of(path, &ranges)?.into_iter();
            for (part, steps) in here {
                let told = read.by_ref().take(steps.len());
                match part {
                    Part::Steps(_) => self.add_steps(&mut lines, number, path, steps.zip(told))?,
                    Part::Run(fold) => lines.push(self.run(number, path, *fold, told)?),
                    Part::Gap(steps) => {
                        let text = format!("… {} …", units::counted(steps.len() as u64, "more step"));
                        let id = path.objects[steps.end.min(path.objects.len() - 1)];
                        let (label, path, step, object, repeated) = (None, None, None, None, None);
                        lines.push(Line { id, text, label, path, step, object, repeated });
                    }
                }
            }
        }
        Ok(lines)
    }

    /// The row of steps that repeat, from those of the first round.
    fn run(
        &self,
        number: usize,
        path: &Path,
        fold: Fold,
        steps: impl Iterator<Item = Step>,
    ) -> Result<Line, QueryError> {
        let tables = self.heap.recording().tables()?;
        let (mut arrows, mut types) = (Vec::new(), Vec::new());
        for Step { object, reference } in steps {
            arrows.push(label::arrow(tables, reference));
            types.push(tables.type_title(object.type_id));
        }
        Ok(Line {
            id: path.objects[fold.start],
            text: arrows.join(" "),
            label: None,
            path: Some(number),
            step: Some(fold.start),
            object: None,
            repeated: Some(path::repeated(&types, fold.rounds as u64)),
        })
    }

    /// Adds the rows of steps with their positions.
    fn add_steps(
        &self,
        lines: &mut Vec<Line>,
        number: usize,
        path: &Path,
        steps: impl Iterator<Item = (usize, Step)>,
    ) -> Result<(), QueryError> {
        let tables = self.heap.recording().tables()?;
        for (at, Step { object, reference }) in steps {
            let (text, label) = match at {
                0 => {
                    let root = label::root(tables, &path.root);
                    (format!("--[ {root} ]-->"), Some(root))
                }
                _ => (label::arrow(tables, reference), label::reference(tables, reference)),
            };
            lines.push(Line {
                id: object.id,
                text,
                label,
                path: Some(number),
                step: Some(at),
                object: Some(object),
                repeated: None,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_long_path_are_shown() {
        for (length, left_out) in [(0, 0), (5, 0), (6, 0), (7, 1), (20, 14)] {
            let parts = whole(length, 3);
            let gap: usize = parts.iter().map(|part| if let Part::Gap(steps) = part { steps.len() } else { 0 }).sum();
            let shown: usize =
                parts.iter().map(|part| if let Part::Steps(steps) = part { steps.len() } else { 0 }).sum();
            assert_eq!((gap, shown), (left_out, length - left_out), "{length}");
        }
    }
}
