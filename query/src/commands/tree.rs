//! `tree`: the processes below those that started them, with what they used.

use std::cmp::Reverse;

use barrow_processes::{ImageId, ProcessId, ProcessTree, Totals, cpu_ns};

use crate::flags::Least;
use crate::tables::process_text;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    aliases: &["pstree"],
    arguments: "[PID] [--depth N] [--min SHARE]",
    example: "tree --depth 3",
    flags: &["--depth", "--min"],
    ..Command::new("tree", include_str!("../../verbs/tree.md"), Group::Processes, run)
};

/// Processes with less than this share of the whole are not shown one by one. The share is a judgement, the same as
/// that of `critical`.
const LEAST_SHARE: f64 = 0.01;
/// Levels that are drawn as branches; deeper ones say their level, which leaves room for a command. This is a
/// judgement.
const MOST_BRANCHES: u32 = 12;
/// Rows of an answer, which is in memory as a whole. Nobody reads more; a larger `--min` shows fewer.
const MOST_ROWS: usize = 100_000;

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let tree = ask.process_tree()?;
    let totals = ask.process_totals()?;
    let [name] = COMMAND.words(&ask.arguments)?;
    let top = name.map(|name| tree.named(&name)).transpose()?;
    let share = match ask.arguments.flags.min {
        None => LEAST_SHARE,
        Some(Least::Share(share)) => share,
        Some(Least::Amount(_)) => return Err(QueryError::usage("--min is a share of the whole, such as 1% or 0.1%")),
    };
    let has_cpu = totals.whole().cpu_ns().is_some_and(|cpu| cpu > 0);
    let depth = ask.arguments.flags.depth.unwrap_or(u32::MAX);
    let mut drawing = Drawing { tree: &tree, totals: &totals, children: children(&tree), least: 0, depth, has_cpu };
    let tops = top.map_or_else(|| drawing.started_by(None).to_vec(), |process| vec![process]);
    let whole: u64 = tops.iter().fold(0, |sum, &process| sum.saturating_add(drawing.measure(process)));
    drawing.least = (whole as f64 * share).ceil() as u64;
    let lines = drawing.lines(&tops);
    let is_cut = lines.len() >= MOST_ROWS;
    let unknown = totals.whole().unknown();
    let mut answer = Answer::default().table(drawing.table(lines, whole));
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

/// All processes, by the image that started them.
fn children(tree: &ProcessTree) -> Vec<ProcessId> {
    let mut processes: Vec<ProcessId> = (0..tree.processes().len() as u32).map(ProcessId).collect();
    processes.sort_by_key(|&process| tree.process(process).started_by);
    processes
}

struct Drawing<'t> {
    tree: &'t ProcessTree,
    totals: &'t Totals,
    /// All processes, by the image that started them.
    children: Vec<ProcessId>,
    /// Less is not shown one by one.
    least: u64,
    depth: u32,
    has_cpu: bool,
}

/// A row: an image, or the rest of its siblings.
struct Line {
    what: Node,
    /// Number of images, with those that they started.
    images: u64,
    prefix: String,
    level: u32,
    is_last: bool,
}

enum Node {
    Image(ImageId),
    /// The sum of the numbers that rank them.
    Rest(u64),
}

impl Drawing<'_> {
    fn started_by(&self, image: Option<ImageId>) -> &[ProcessId] {
        let start = self.children.partition_point(|&process| self.tree.process(process).started_by < image);
        let rest = &self.children[start..];
        &rest[..rest.partition_point(|&process| self.tree.process(process).started_by == image)]
    }

    /// The number that ranks processes: processor time, or the time from begin to end, in nanoseconds.
    fn measure(&self, process: ProcessId) -> u64 {
        if self.has_cpu {
            return self.totals.of_process(self.tree, process).cpu_ns().unwrap_or(0);
        }
        let of = self.tree.process(process);
        self.tree.ended_ns(of).saturating_sub(of.began_ns).max(0).unsigned_abs()
    }

    fn lines(&self, tops: &[ProcessId]) -> Vec<Line> {
        let (mut lines, mut waiting) = (Vec::new(), Vec::new());
        self.push(&mut waiting, tops, "", 0);
        while let Some(line) = waiting.pop().filter(|_| lines.len() < MOST_ROWS) {
            if let Node::Image(image) = line.what
                && line.level + 1 < self.depth
            {
                let below = below(&line.prefix, line.level, line.is_last);
                self.push(&mut waiting, self.started_by(Some(image)), &below, line.level + 1);
            }
            lines.push(line);
        }
        lines
    }

    /// Puts processes on the stack, the last one first.
    fn push(&self, waiting: &mut Vec<Line>, processes: &[ProcessId], prefix: &str, level: u32) {
        let measured = processes.iter().map(|&process| (self.measure(process), Reverse(process)));
        let (mut shown, rest): (Vec<_>, Vec<_>) = measured.partition(|(measure, _)| *measure >= self.least);
        shown.sort_unstable_by(|one, other| other.cmp(one));
        let mut images: Vec<ImageId> = Vec::new();
        for (_, Reverse(process)) in shown {
            images.extend(self.tree.images_of(process).map(|(image, _)| image));
        }
        if !rest.is_empty() {
            let sum = rest.iter().fold(0u64, |sum, (measure, _)| sum.saturating_add(*measure));
            let images = rest.iter().map(|&(_, Reverse(process))| self.totals.of_process(self.tree, process).images);
            let images = images.map(u64::from).sum();
            waiting.push(Line { what: Node::Rest(sum), images, prefix: prefix.to_owned(), level, is_last: true });
        }
        let last = images.len().checked_sub(1).filter(|_| rest.is_empty());
        for (at, image) in images.into_iter().enumerate().rev() {
            waiting.push(Line {
                what: Node::Image(image),
                images: self.totals.inclusive(image).images.into(),
                prefix: prefix.to_owned(),
                level,
                is_last: last == Some(at),
            });
        }
    }

    fn table(&self, lines: Vec<Line>, whole: u64) -> Table {
        let share = Column::share("share");
        let share = if self.has_cpu { share } else { Column { audience: Audience::Machines, ..share } };
        table!("rows", lines, |Line { what, images, prefix, level, is_last }| {
            let image = match what {
                Node::Image(id) => Some(self.tree.image(id)),
                Node::Rest(_) => None,
            };
            let total = match what {
                Node::Image(id) => self.totals.inclusive(id).cpu_ns(),
                Node::Rest(sum) => Some(sum),
            };
            let cpu = total.filter(|_| self.has_cpu);
            let wall = image.map_or(total.filter(|_| !self.has_cpu), |image| Some(self.tree.wall_ns(image)));
            let name = image.map(|image| self.tree.name(image.process));
            let command = image.map(|image| process_text::command(self.tree, image));
            let text = match (&name, &command) {
                (Some(name), Some(command)) => format!("{name} {command}"),
                _ => format!("({} more)", units::grouped(images)),
            };
            Column::duration("total_ns") => cpu,
            share => if image.is_none() { total } else { cpu }.map(|part| Value::share(part, whole)),
            Column::duration("own_ns") => image.and_then(|image| cpu_ns(image.used.user_ns, image.used.system_ns)),
            Column::duration("wall_ns") => wall,
            Column::number("level").for_machines() => level,
            Column::process("process").for_machines() => name,
            Column::number("image").for_machines() => image.map(|image| image.number),
            Column::count("images").for_machines() => images,
            Column::text("command").for_machines() => command,
            Column::shown("process", Unit::Text) => format!("{}{text}", branch(&prefix, level, is_last)),
        })
    }
}

/// The text before the name of a process.
fn branch(prefix: &str, level: u32, is_last: bool) -> String {
    match level {
        0 => String::new(),
        level if level > MOST_BRANCHES => format!("{prefix}[{level}] "),
        _ => format!("{prefix}{}", if is_last { "`- " } else { "|- " }),
    }
}

/// The text before the branches below it.
fn below(prefix: &str, level: u32, is_last: bool) -> String {
    match level {
        0 => String::new(),
        level if level >= MOST_BRANCHES => prefix.to_owned(),
        _ => format!("{prefix}{}", if is_last { "   " } else { "|  " }),
    }
}
