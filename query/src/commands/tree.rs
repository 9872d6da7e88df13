//! `tree`: who started whom, and what that used.

use std::cmp::Reverse;

use barrow_processes::{ImageId, Inclusive, ProcessId, ProcessTree, Totals, cpu_ns};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::flags::Least;
use crate::tables::process_text;

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    aliases: &["pstree"],
    arguments: "[PID] [--depth N] [--min SHARE]",
    example: "tree --depth 3",
    flags: &["--depth", "--min"],
    ..Command::new("tree", include_str!("../../verbs/tree.md"), Group::Processes, run)
};

/// Processes with less than this share of the whole are not shown one by one.
const LEAST_SHARE: f64 = 0.01;
/// Levels that are drawn as branches; deeper ones say their level.
const MOST_BRANCHES: u32 = 12;
/// Rows of an answer.
const MOST_ROWS: usize = 100_000;

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let tree = ask.process_tree()?;
    let totals = ask.process_totals()?;
    let top = match &ask.arguments.words()[..] {
        [] => None,
        [name] => Some(tree.named(name)?),
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let share = match ask.arguments.flags.min {
        None => LEAST_SHARE,
        Some(Least::Share(share)) => share,
        Some(Least::Amount(_)) => return Err(QueryError::usage("--min is a share of the whole, such as 1% or 0.1%")),
    };
    let has_cpu = totals.whole().cpu_ns().is_some_and(|cpu| cpu > 0);
    let mut drawing = Drawing {
        tree: &tree,
        totals: &totals,
        children: children(&tree),
        least: 0,
        depth: ask.arguments.flags.depth.unwrap_or(u32::MAX),
        has_cpu,
        rows: Vec::new(),
    };
    let tops: Vec<ProcessId> = match top {
        Some(process) => vec![process],
        None => drawing.started_by(None).collect(),
    };
    let whole: u64 = tops.iter().fold(0, |sum, &process| sum.saturating_add(drawing.measure(process)));
    drawing.least = (whole as f64 * share).ceil() as u64;
    drawing.draw(tops, whole);
    let is_cut = drawing.rows.len() >= MOST_ROWS;
    let unknown = totals.whole().unknown();
    let table = Table { key: "rows", audience: Audience::Everyone, columns: columns(has_cpu), rows: drawing.rows };
    let mut answer = Answer::default().table(table);
    if unknown > 0 && has_cpu {
        let images = units::counted(unknown.into(), "program");
        answer = answer.note(format!("the processor time of {images} is not known and counts as nothing"));
    }
    if is_cut {
        answer =
            answer.cut(format!("only the first {} rows; a larger --min shows less", units::grouped(MOST_ROWS as u64)));
    }
    Ok(more::first_page(ask, answer.exact(), ask.page_rows()))
}

fn columns(has_cpu: bool) -> Vec<Column> {
    let share = Column::share("share");
    vec![
        Column::duration("total_ns"),
        if has_cpu { share } else { Column { audience: Audience::Machines, ..share } },
        Column::duration("own_ns"),
        Column::duration("wall_ns"),
        Column::number("level").for_machines(),
        Column::text("process").for_machines(),
        Column::number("image").for_machines(),
        Column::count("images").for_machines(),
        Column::text("command").for_machines(),
        Column::shown("process", Unit::Text),
    ]
}

/// The processes that each image started: their ends in one list, and the list.
struct Children {
    ends: Vec<u32>,
    processes: Vec<ProcessId>,
}

fn children(tree: &ProcessTree) -> Children {
    // Roots are those of an image after the last one.
    let last = tree.images().len();
    let starter = |id: u32| tree.process(ProcessId(id)).started_by.map_or(last, ImageId::index);
    let mut ends = vec![0u32; last + 2];
    let count = tree.processes().len() as u32;
    (0..count).for_each(|id| ends[starter(id) + 1] += 1);
    (1..ends.len()).for_each(|at| ends[at] += ends[at - 1]);
    let mut processes = vec![ProcessId(0); count as usize];
    let mut next = ends.clone();
    for id in 0..count {
        let free = &mut next[starter(id)];
        processes[*free as usize] = ProcessId(id);
        *free += 1;
    }
    Children { ends, processes }
}

struct Drawing<'t> {
    tree: &'t ProcessTree,
    totals: &'t Totals,
    children: Children,
    /// Less is not shown one by one.
    least: u64,
    depth: u32,
    has_cpu: bool,
    rows: Vec<Vec<Value>>,
}

/// What waits to be drawn: an image, or the rest of its siblings.
enum Waiting {
    Image { image: ImageId, prefix: String, level: u32, is_last: bool },
    Rest { processes: u64, sum: u64, wall: u64, prefix: String, level: u32 },
}

impl Drawing<'_> {
    fn started_by(&self, image: Option<ImageId>) -> impl Iterator<Item = ProcessId> + use<'_> {
        let at = image.map_or(self.tree.images().len(), ImageId::index);
        let (start, end) = (self.children.ends[at] as usize, self.children.ends[at + 1] as usize);
        self.children.processes[start..end].iter().copied()
    }

    /// What ranks processes: processor time, or how long they ran.
    fn measure(&self, process: ProcessId) -> u64 {
        if self.has_cpu {
            return self.totals.of_process(self.tree, process).cpu_ns().unwrap_or(0);
        }
        let of = self.tree.process(process);
        self.tree.ended_ns(of).saturating_sub(of.began_ns).max(0).unsigned_abs()
    }

    fn draw(&mut self, tops: Vec<ProcessId>, whole: u64) {
        let mut waiting = Vec::new();
        self.push(&mut waiting, tops, "", 0);
        while let Some(next) = waiting.pop() {
            if self.rows.len() >= MOST_ROWS {
                return;
            }
            match next {
                Waiting::Image { image, prefix, level, is_last } => {
                    let row = self.row(image, &prefix, level, is_last, whole);
                    self.rows.push(row);
                    if level + 1 < self.depth {
                        let below = below(&prefix, level, is_last);
                        let started: Vec<ProcessId> = self.started_by(Some(image)).collect();
                        self.push(&mut waiting, started, &below, level + 1);
                    }
                }
                Waiting::Rest { processes, sum, wall, prefix, level } => {
                    let text = format!("{}({} more)", branch(&prefix, level, true), units::grouped(processes));
                    let (total, own) =
                        if self.has_cpu { (sum.into(), Value::None) } else { (Value::None, Value::None) };
                    self.rows.push(vec![
                        total,
                        Value::share(sum, whole),
                        own,
                        if self.has_cpu { Value::None } else { wall.into() },
                        level.into(),
                        Value::None,
                        Value::None,
                        processes.into(),
                        Value::None,
                        Value::Text(text),
                    ]);
                }
            }
        }
    }

    /// Puts processes on the stack, the last one first.
    fn push(&self, waiting: &mut Vec<Waiting>, processes: Vec<ProcessId>, prefix: &str, level: u32) {
        let measured = processes.into_iter().map(|process| (self.measure(process), Reverse(process)));
        let (mut shown, rest): (Vec<_>, Vec<_>) = measured.partition(|(measure, _)| *measure >= self.least);
        shown.sort_unstable_by(|one, other| other.cmp(one));
        let mut lines: Vec<ImageId> = Vec::new();
        for (_, Reverse(process)) in shown {
            lines.extend(self.tree.images_of(process).map(|(image, _)| image));
        }
        if !rest.is_empty() {
            let sum = rest.iter().fold(0u64, |sum, (measure, _)| sum.saturating_add(*measure));
            let processes = rest.iter().map(|&(_, Reverse(process))| self.processes_in(process)).sum();
            waiting.push(Waiting::Rest { processes, sum, wall: sum, prefix: prefix.to_owned(), level });
        }
        let last = lines.len().checked_sub(1).filter(|_| rest.is_empty());
        for (at, image) in lines.into_iter().enumerate().rev() {
            waiting.push(Waiting::Image { image, prefix: prefix.to_owned(), level, is_last: last == Some(at) });
        }
    }

    /// Images of a process and of all that it started.
    fn processes_in(&self, process: ProcessId) -> u64 {
        self.totals.of_process(self.tree, process).images.into()
    }

    fn row(&self, id: ImageId, prefix: &str, level: u32, is_last: bool, whole: u64) -> Vec<Value> {
        let image = self.tree.image(id);
        let inclusive: &Inclusive = self.totals.inclusive(id);
        let command = process_text::command(self.tree, image);
        let name = self.tree.name(image.process);
        let text = format!("{}{name} {command}", branch(prefix, level, is_last));
        let total = inclusive.cpu_ns().filter(|_| self.has_cpu);
        vec![
            total.into(),
            total.map_or(Value::None, |total| Value::share(total, whole)),
            cpu_ns(image.used.user_ns, image.used.system_ns).into(),
            self.tree.wall_ns(image).into(),
            level.into(),
            name.into(),
            image.number.into(),
            inclusive.images.into(),
            command.into(),
            text.into(),
        ]
    }
}

/// What comes before the name of a process.
fn branch(prefix: &str, level: u32, is_last: bool) -> String {
    match level {
        0 => String::new(),
        level if level > MOST_BRANCHES => format!("{prefix}[{level}] "),
        _ => format!("{prefix}{}", if is_last { "`- " } else { "|- " }),
    }
}

/// What comes before the branches below it.
fn below(prefix: &str, level: u32, is_last: bool) -> String {
    match level {
        0 => String::new(),
        level if level >= MOST_BRANCHES => prefix.to_owned(),
        _ => format!("{prefix}{}", if is_last { "   " } else { "|  " }),
    }
}
