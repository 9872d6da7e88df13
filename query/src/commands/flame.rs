//! `flame`: the dominator tree merged by type.

use std::collections::HashMap;

use barrow_analyzer::{Dominators, NoStep, SnapshotId, Tables, TreePlace, TypeNode, TypeStep, WantedTypes, nearest};

use crate::language::object_name::ObjectName;
use crate::language::tree_top::TreeTop;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "[ID] [STEP]... [--depth N] [--min SHARE|SIZE] [--cells N]",
    example: "flame --min 5%",
    flags: &["--depth", "--min", "--cells"],
    ..Command::new("flame", include_str!("../../verbs/flame.md"), Group::Alive, run)
};

/// Steps that retain less than this part of the first one are left out by default: a hundredth is about a character of
/// a line.
const LEAST_PART: u64 = 100;
/// The number of levels by default: that of paths in `growth`. A list of two types in turn has a level for each object.
const LEVELS: u32 = 64;
/// The maximum number of steps of an answer, which is in memory as a whole. The number is a judgement; a larger
/// `--min` shows fewer.
const MOST_STEPS: usize = 100_000;

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let flags = &ask.arguments.flags;
    if flags.min.is_some() && flags.cells.is_some() {
        return Err(QueryError::usage("`--min` and `--cells` both say what is left out; give one of them"));
    }
    let words = ask.arguments.words();
    let (snapshot, top, path) = top(ask, &words)?;
    let heap = ask.heap(snapshot)?;
    let tables = heap.recording().tables()?;
    let least = |whole: u64| match (flags.min, flags.cells) {
        (Some(min), _) => min.of(whole),
        (None, Some(_)) => 0,
        (None, None) => whole / LEAST_PART,
    };
    let wanted = WantedTypes {
        path,
        most: flags.cells.map_or(MOST_STEPS, |cells| cells as usize),
        levels: flags.depth.unwrap_or(LEVELS),
        least: &least,
    };
    let place = |dominators: &Dominators| -> Option<TreePlace> { top.place(dominators) };
    let Some(found) = heap.type_tree(place, &wanted, &ask.meter())? else {
        return Ok(Answer::default().note("no root reaches it: it keeps nothing alive").exact().into());
    };
    let tree = found.map_err(|missing| no_step(tables, path, &missing))?;
    let is_cut = flags.cells.is_none() && tree.nodes.len() >= MOST_STEPS;
    let mut listed = Listed::default();
    let mut answer = Answer::default()
        .of_snapshot(snapshot.0)
        .table(table(tables, snapshot, &tree.nodes, &mut listed))
        .with_exactness(tree.is_exact);
    if is_cut {
        let steps = units::grouped(MOST_STEPS as u64);
        answer = answer.cut(format!("only the {steps} largest steps; a larger `--min`, or STEP words, show less"));
    }
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

/// The place that the first word names, and the steps after it.
fn top<'w>(state: &State, words: &'w [String]) -> Result<(SnapshotId, TreeTop, &'w [String]), QueryError> {
    match words {
        [word, path @ ..] if word.contains(['@', '%']) && word.parse::<ObjectName>().is_ok() => {
            let (snapshot, object) = state.object(word)?;
            Ok((snapshot, TreeTop::Object(object), path))
        }
        _ => Ok((state.snapshot()?, TreeTop::Everything, words)),
    }
}

fn no_step(tables: &Tables, path: &[String], missing: &NoStep) -> QueryError {
    let step = &path[missing.index];
    let titles: Vec<String> = missing.choices.iter().map(|choice| choice.title(tables)).collect();
    let hint = match (nearest(step, titles.iter().map(String::as_str)), titles.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "nothing is there".to_owned(),
        (None, false) => "`flame` without it shows what is there".to_owned(),
    };
    let above = missing.index.checked_sub(1).map_or("the top", |above| &path[above]);
    QueryError::usage(format!("there is no step `{step}` directly below {above}; {hint}"))
}

fn table(tables: &Tables, snapshot: SnapshotId, nodes: &[TypeNode], listed: &mut Listed) -> Table {
    let whole = nodes.first().map_or(0, |top| top.retained.1);
    let words = words(tables, nodes);
    table!("rows", nodes.iter().zip(words), |(node, word)| {
        let type_id = node.step.type_id();
        let roots = match node.step {
            TypeStep::Roots(name) => Some(tables.string(name)),
            _ => None,
        };
        let many = if node.objects > 1 { format!(" × {}", units::grouped(node.objects)) } else { String::new() };
        let left_out = (node.left_out.0 > 0).then_some(node.left_out);
        Column::row_number() => node.largest.map(|largest| listed.push((snapshot, largest))),
        Column::depth() => node.depth,
        Column::bytes("retained_bytes") => node.retained.1,
        Column::share("share") => Value::share(node.retained.1, whole),
        Column::bytes("own_bytes") => node.own_bytes,
        Column::count("retained_objects").called("retains objects").secondary() => node.retained.0,
        Column::text("step").names().for_machines() => word,
        Column::text("roots").for_machines() => roots,
        Column::shown("step", Unit::Text) => {
            format!("{}{}{many}", "  ".repeat((node.depth as usize).min(60)), node.step.title(tables))
        },
        Column::text("title").names().for_machines() => node.step.title(tables),
        Column::text("type").names().for_machines() => type_id.map(|id| tables.type_title(id)),
        Column::text("kind").names().secondary() => type_id.map(|id| tables.kind_name(tables.type_kind(id))),
        Column::count("objects").for_machines() => type_id.map(|_| node.objects),
        Column::object("example").called("largest") => node.largest.map(|largest| largest.0),
        Column::count("left_out").called("smaller steps").secondary() => left_out.map(|(count, _)| count),
        Column::bytes("left_out_bytes").called("they retain").secondary() => left_out.map(|(_, bytes)| bytes),
    })
}

/// The words that name steps in a path: their titles, with `#2` for the second largest of one title below one step.
fn words(tables: &Tables, nodes: &[TypeNode]) -> Vec<String> {
    let mut above: Vec<usize> = Vec::new();
    let mut seen: HashMap<(usize, String), u64> = HashMap::new();
    let word = |(number, node): (usize, &TypeNode)| {
        above.truncate(node.depth as usize);
        let title = node.step.title(tables);
        let rank = seen.entry((above.last().copied().unwrap_or(usize::MAX), title.clone())).or_default();
        above.push(number);
        *rank += 1;
        if *rank == 1 { title } else { format!("{title}#{rank}") }
    };
    nodes.iter().enumerate().map(word).collect()
}
