//! `lanes`: what really ran at each time, in lanes.

use barrow_analyzer::parse_duration;
use barrow_processes::{Limits, ProcessTree, Window, memory_within};

use crate::answer::{Answer, Column, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::known_in_part;
use crate::tables::lane_tables::{self, LaneTables};
use crate::tables::process_text;
use crate::tables::unit_labels::UNITS;

use super::{Command, Group, classes};

pub(super) const COMMAND: Command = Command {
    arguments: "[FROM..TO] [SCHEMA] [--cells N] [--classes FILE]",
    example: "lanes 10s..1min",
    flags: &["--cells", "--classes"],
    ..Command::new("lanes", include_str!("../../verbs/lanes.md"), Group::Processes, run)
};

/// Cells by default: a line of 80 columns has room for them, for 22 columns of words before them, and for two edges.
const USUAL_CELLS: u32 = 56;
/// Lanes that are drawn. This is a judgement: a screen has no room for more. The answer says how many are left out.
const MOST_LANES: usize = 100;
/// Blocks that are drawn. This is a judgement: more cannot be told apart.
const MOST_BLOCKS: usize = 2000;
/// Blocks of the critical path. This is a judgement: it is one lane, on which more cannot be told apart.
const MOST_OF_PATH: usize = 300;
/// Samples of the memory. This is a judgement: a point for a few pixels of a screen.
const MOST_SAMPLES: u32 = 300;

/// Images of a tree whose blocks name units: that takes about 1 s for each million.
const MOST_NAMED: usize = 200_000;

#[derive(Debug, Default)]
struct Asked {
    /// In nanoseconds since the recording began.
    from: Option<i64>,
    to: Option<i64>,
    schema: Option<String>,
}

fn asked(words: &[String]) -> Result<Asked, QueryError> {
    let mut asked = Asked::default();
    let (mut has_window, mut words) = (false, words.iter());
    for word in &mut words {
        match word.split_once("..") {
            Some((from, to)) if !has_window => {
                (asked.from, asked.to) = (time(from)?, time(to)?);
                has_window = true;
            }
            None if asked.schema.is_none() => asked.schema = Some(word.clone()),
            _ => return Err(COMMAND.refuses(word)),
        }
    }
    Ok(asked)
}

/// A time, if there is one.
fn time(text: &str) -> Result<Option<i64>, QueryError> {
    match parse_duration(text).and_then(|time_ns| i64::try_from(time_ns).ok()) {
        _ if text.is_empty() => Ok(None),
        Some(time_ns) => Ok(Some(time_ns)),
        None => {
            let message = format!("`{text}` is no time: a time is a number with a unit, such as 10s or 1.5min");
            Err(QueryError::usage(message))
        }
    }
}

impl Asked {
    fn window(&self, tree: &ProcessTree) -> Result<Window, QueryError> {
        let all = Window::of(tree);
        let window = Window { from_ns: self.from.unwrap_or(all.from_ns), to_ns: self.to.unwrap_or(all.to_ns) };
        let is_whole = self.from.is_none() && self.to.is_none();
        if window.from_ns < window.to_ns || is_whole {
            return Ok(window);
        }
        let [from, to, first, last] = [window.from_ns, window.to_ns, all.from_ns, all.to_ns]
            .map(|time_ns| units::duration(u64::try_from(time_ns).unwrap_or(0)));
        let message = format!("{from} to {to} is no time; the recording has processes from {first} to {last}");
        Err(QueryError::usage(message))
    }
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let asked = asked(&ask.arguments.words())?;
    let (tree, lanes) = (ask.process_tree()?, ask.process_lanes()?);
    let classes = ask.classes_in(&ask.arguments.flags, asked.schema.as_deref())?;
    let schema = classes::schema_of(&classes, asked.schema.as_deref())?;
    let window = asked.window(&tree)?;
    let cells = ask.arguments.flags.cells.unwrap_or(USUAL_CELLS);
    let limits = Limits { cells, lanes: MOST_LANES, blocks: MOST_BLOCKS };
    let critical = ask.process_critical()?;
    let path = if critical.is_empty() { &[] } else { critical.lane(0) };
    let blocks = lanes.blocks(schema, path, window, limits);
    let path = critical.blocks(schema, &[], window, Limits { blocks: MOST_OF_PATH, ..limits });
    let is_named = tree.images().len() <= MOST_NAMED;
    let units = is_named.then(|| ask.classes_in(&ask.arguments.flags, Some(UNITS))).transpose()?;
    let units = units.as_ref().and_then(|classes| classes.schema(UNITS));
    let tables = LaneTables::new(&tree, &lanes, schema, window).named(units);
    let mut answer = Answer::default()
        .fact(Column::duration("from_ns"), process_text::time(window.from_ns))
        .fact(Column::duration("to_ns"), process_text::time(window.to_ns))
        .fact(Column::count("lanes"), lanes.len())
        .fact(Column::duration("running_ns"), tables.running_ns())
        .fact(Column::text("schema"), schema.name())
        .fact(Column::duration("cell_ns").for_machines(), blocks.cell_ns);
    let memory = memory_within(&tree, schema, window, cells.min(MOST_SAMPLES));
    answer = answer
        .table(tables.blocks("blocks", &blocks))
        .table(tables.blocks("critical_path", &path))
        .table(tables.memory(&memory))
        .table(tables.picture(&path, &blocks, cells as usize))
        .table(tables.classes());
    if lanes.len() > MOST_LANES {
        let left_out = units::counted((lanes.len() - MOST_LANES) as u64, "lane");
        let running = units::duration(blocks.left_out_ns);
        answer = answer.cut(format!("{left_out} more, in which processes ran for {running}, are not drawn"));
    }
    if tables.is_partial() {
        answer = answer.note(lane_tables::ESTIMATE);
    }
    answer.notes.extend(known_in_part::left_out(&tree));
    Ok(answer.into())
}
