//! `critical`: the chain of processes that makes up the time from start to end.

use std::cmp::Reverse;

use barrow_processes::{LabelId, ProcessTree, Schema, Step, critical_path, idle_ns, most_jobs};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value, units};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::flags::{Format, Least};
use crate::session::Session;
use crate::tables::process_text;
use crate::tables::unit_labels::UnitLabels;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "critical",
    aliases: &[],
    group: Group::Processes,
    arguments: "[--min SHARE] [--classes FILE]",
    about: "The chain of processes that makes up the time, and slots that were idle",
    details: "The chain is followed from the end to the start: before a process went on, it waited for the last of its \
              children that ended. So the whole takes less time only if something on the chain does. `time` is that of \
              a program on the chain, without the children that it waited for, and `unit` what it builds, where that is \
              known. Programs with less than --min of the whole are left out of the chain: 1% unless told, 0% for \
              machines. As many slots are counted as jobs ran at one time; `idle` adds up, over all slots, the time in \
              which nothing ran in them meanwhile: they waited for the chain.",
    example: "critical --min 5%",
    flags: &["--min", "--classes"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

/// Programs with less than this share of the whole are not shown one by one.
const LEAST_SHARE: f64 = 0.01;

/// A step of the chain with what was idle meanwhile.
struct Link {
    step: Step,
    wall_ns: u64,
    idle_ns: u64,
}

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    if let Some(word) = arguments.words().first() {
        return Err(COMMAND.refuses(word));
    }
    let tree = session.process_tree()?;
    let classes = session.classes_in(&arguments.flags, None)?;
    let is_for_people = session.context.settings.format == Format::Table;
    let least = match arguments.flags.min {
        None => {
            if is_for_people {
                LEAST_SHARE
            } else {
                0.0
            }
        }
        Some(Least::Share(share)) => share,
        Some(Least::Amount(_)) => return Err(QueryError::usage("--min is a share of the whole, such as 1% or 0.1%")),
    };
    let (steps, slots) = rayon::join(|| critical_path(&tree), || most_jobs(&tree));
    let idle = idle_ns(&tree, &steps, slots);
    let chain = chain(&steps, &idle);
    let whole_ns = chain.iter().fold(0u64, |sum, link| sum.saturating_add(link.wall_ns));
    let idle_whole_ns = chain.iter().fold(0u64, |sum, link| sum.saturating_add(link.idle_ns));
    let shown: Vec<&Link> = chain.iter().filter(|link| link.wall_ns as f64 >= whole_ns as f64 * least).collect();
    let units = session.unit_labels(&arguments.flags)?;
    session.listed.clear();
    let answer = Answer::default()
        .fact(Column::new("wall_ns", "wall", Unit::Duration), whole_ns)
        .fact(Column::new("slots", "slots", Unit::Count), slots)
        .fact(Column::new("idle_ns", "idle", Unit::Duration), idle_whole_ns)
        .fact(
            Column::new("idle_share", "idle share", Unit::Share),
            Value::share(idle_whole_ns, whole_ns.saturating_mul(slots)),
        )
        .table(by_class(&chain, classes.first(), whole_ns))
        .table(rows(&tree, (classes.first(), &units), &shown, whole_ns)?);
    let listed: Vec<_> = shown.iter().map(|link| link.step.image).collect();
    session.list_images(listed);
    let rows = session.page_rows();
    let mut answer = more::first_page(session, answer.exact(), rows);
    let left_out = chain.len() - shown.len();
    if left_out > 0 {
        let shown_ns = shown.iter().fold(0u64, |sum, link| sum.saturating_add(link.wall_ns));
        let (programs, time) = (units::counted(left_out as u64, "program"), units::duration(whole_ns - shown_ns));
        answer = answer.note(format!("{programs} of the chain with {time} in all are left out; --min 0% shows them"));
    }
    Ok(answer)
}

/// The steps of each image in the order in which it first is on the chain; what it waited for is between them.
fn chain(steps: &[Step], idle: &[u64]) -> Vec<Link> {
    let mut places = std::collections::HashMap::new();
    let mut chain: Vec<Link> = Vec::new();
    for (&step, &idle_ns) in steps.iter().zip(idle) {
        let place = *places.entry(step.image).or_insert_with(|| {
            chain.push(Link { step, wall_ns: 0, idle_ns: 0 });
            chain.len() - 1
        });
        let link = &mut chain[place];
        link.step.to_ns = step.to_ns;
        link.wall_ns = link.wall_ns.saturating_add(step.wall_ns());
        link.idle_ns = link.idle_ns.saturating_add(idle_ns);
    }
    chain
}

fn by_class(chain: &[Link], schema: &Schema, whole_ns: u64) -> Table {
    let columns = vec![
        Column::new("class", "class", Unit::Text),
        Column::new("images", "programs", Unit::Count),
        Column::new("wall_ns", "time", Unit::Duration),
        Column::new("wall_share", "share", Unit::Share),
        Column::new("idle_ns", "idle", Unit::Duration),
    ];
    let mut sums: std::collections::BTreeMap<Option<u32>, (u64, u64, u64)> = Default::default();
    for link in chain {
        let sum = sums.entry(schema.label(link.step.image).map(|LabelId(label)| label)).or_default();
        let (wall, idle) = (sum.1.saturating_add(link.wall_ns), sum.2.saturating_add(link.idle_ns));
        *sum = (sum.0 + 1, wall, idle);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (_, wall, _))| Reverse(*wall));
    let rows = sums.into_iter().map(|(label, (images, wall, idle))| {
        let class = label.map(|label| schema.text(LabelId(label)));
        vec![class.into(), images.into(), wall.into(), Value::share(wall, whole_ns), idle.into()]
    });
    Table { key: "classes", audience: Audience::Everyone, rows: rows.collect(), columns }
}

fn rows(
    tree: &ProcessTree,
    (schema, units): (&Schema, &UnitLabels),
    chain: &[&Link],
    whole_ns: u64,
) -> Result<Table, QueryError> {
    let columns = vec![
        Column::new("process", "process", Unit::Text),
        Column::new("image", "", Unit::Number).for_machines(),
        Column::new("class", "class", Unit::Text),
        Column::new("from_ns", "from", Unit::Duration),
        Column::new("to_ns", "to", Unit::Duration),
        Column::new("wall_ns", "time", Unit::Duration),
        Column::new("wall_share", "share", Unit::Share),
        Column::new("idle_ns", "idle", Unit::Duration),
        Column::new("unit", "unit", Unit::Text),
        Column::new("command", "command", Unit::Text),
    ];
    let images: Vec<_> = chain.iter().map(|link| link.step.image).collect();
    let rows = chain.iter().zip(units.of(tree, &images)?).map(|(link, unit)| {
        let image = tree.image(link.step.image);
        vec![
            Value::Text(tree.name(image.process)),
            image.number.into(),
            schema.class(link.step.image).into(),
            process_text::time(link.step.from_ns),
            process_text::time(link.step.to_ns),
            link.wall_ns.into(),
            Value::share(link.wall_ns, whole_ns),
            link.idle_ns.into(),
            unit.into(),
            Value::Text(process_text::command(tree, image)),
        ]
    });
    Ok(Table { key: "rows", audience: Audience::Everyone, rows: rows.collect(), columns })
}
