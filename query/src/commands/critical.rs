//! `critical`: the chain of processes that makes up the time from start to end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use barrow_processes::{ImageId, LabelId, Plan, ProcessTree, Schema, Step, Totals, critical_path, idle_ns, most_jobs};
use rayon::prelude::*;

use crate::answer::{Answer, Column, Table, Value, table, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::flags::Least;
use crate::session::listed::Listed;
use crate::session::state::State;
use crate::tables::process_text;
use crate::tables::unit_labels::UnitLabels;

use super::what_if::has_waited;
use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[--min SHARE] [--classes FILE]",
    example: "critical --min 5%",
    flags: &["--min", "--classes"],
    ..Command::new("critical", include_str!("../../verbs/critical.md"), Group::Processes, run)
};

/// Programs with less than this share of the whole are not shown one by one. This is a judgement: a hundredth is what
/// people would still try to save.
const LEAST_SHARE: f64 = 0.01;

/// Nodes that all replays for drags visit: a few seconds.
const MOST_REPLAYED: usize = 4_000_000;
/// Number of the longest processes off the chain whose drag is measured: each takes a replay, and shorter ones can
/// delay less.
const OFF_THE_CHAIN: usize = 10;

/// A step of the chain, and the idle time of slots during it.
struct Link {
    step: Step,
    wall_ns: u64,
    idle_ns: u64,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    if let Some(word) = ask.arguments.words().first() {
        return Err(COMMAND.refuses(word));
    }
    let tree = ask.process_tree()?;
    let classes = ask.classes_in(&ask.arguments.flags, None)?;
    let least = match ask.arguments.flags.min {
        None if ask.context.settings.is_abridged => LEAST_SHARE,
        None => 0.0,
        Some(Least::Share(share)) => share,
        Some(Least::Amount(_)) => return Err(QueryError::usage("--min is a share of the whole, such as 1% or 0.1%")),
    };
    let (steps, slots) = rayon::join(|| critical_path(&tree), || most_jobs(&tree));
    let idle = idle_ns(&tree, &steps, slots);
    let chain = chain(&steps, &idle);
    let whole_ns = chain.iter().fold(0u64, |sum, link| sum.saturating_add(link.wall_ns));
    let idle_whole_ns = chain.iter().fold(0u64, |sum, link| sum.saturating_add(link.idle_ns));
    let shown: Vec<&Link> = chain.iter().filter(|link| link.wall_ns as f64 >= whole_ns as f64 * least).collect();
    let units = ask.unit_labels(&ask.arguments.flags)?;
    let mut drags = Drags::of(ask, &tree)?;
    let by_class = by_class(&chain, &tree, classes.first(), whole_ns, &mut drags);
    let mut longest: Vec<usize> = (0..shown.len()).collect();
    longest.sort_by_key(|&at| Reverse(shown[at].wall_ns));
    let mut of_shown = vec![None; shown.len()];
    for (at, drag) in longest.iter().zip(drags.of_each(longest.iter().map(|&at| shown[at].step.image).collect())) {
        of_shown[*at] = drag;
    }
    let least_ns = (whole_ns as f64 * least) as u64;
    let off_chain = off_chain(&tree, &chain, least_ns.max(1), &mut drags);
    let schema = classes.first();
    let mut answer = Answer::default()
        .fact(Column::duration("wall_ns"), whole_ns)
        .fact(Column::count("slots"), slots)
        .fact(Column::duration("idle_ns"), idle_whole_ns)
        .fact(Column::share("idle_share"), Value::share(idle_whole_ns, whole_ns.saturating_mul(slots)))
        .table(by_class)
        .table(rows(&tree, schema, &units, &shown, &of_shown, whole_ns)?);
    if !off_chain.is_empty() {
        answer = answer.table(others(&tree, schema, &units, &off_chain)?);
    }
    let listed = Listed::of_images(shown.iter().map(|link| link.step.image));
    let mut notes = Vec::new();
    let left_out = chain.len() - shown.len();
    if left_out > 0 {
        let shown_ns = shown.iter().fold(0u64, |sum, link| sum.saturating_add(link.wall_ns));
        let (programs, time) = (units::counted(left_out as u64, "program"), units::duration(whole_ns - shown_ns));
        notes.push(format!("left out: {programs} of the chain with {time} in all; --min 0% shows them"));
    }
    if has_waited(&drags.plan) {
        let waited = units::duration(drags.plan.waited_ns());
        notes.push(format!(
            "jobs waited {waited} of their time for processors in the recording: that is in the times of the chain, and \
             drags are without it"
        ));
    }
    if !drags.is_complete {
        notes.push("drags that are missing would take too long; --min leaves out more processes".to_owned());
    }
    let reply = more::first_page(ask, answer, ask.page_rows()).listing(listed);
    Ok(reply.map(|answer| answer.lines(notes)))
}

/// Measures drags, by which the whole would be shorter without some processes, until replays take too long.
struct Drags {
    tree: Arc<ProcessTree>,
    totals: Arc<Totals>,
    plan: Arc<Plan>,
    replayed_ns: u64,
    replays_left: usize,
    is_complete: bool,
}

impl Drags {
    fn of(state: &State, tree: &Arc<ProcessTree>) -> Result<Self, QueryError> {
        let (totals, plan) = (state.process_totals()?, state.process_plan()?);
        let replays_left = MOST_REPLAYED / plan.nodes().max(1);
        let replayed_ns = plan.replayed_ns();
        Ok(Drags { tree: Arc::clone(tree), totals, plan, replayed_ns, replays_left, is_complete: true })
    }

    /// The drag of all images of each set; `None` for sets after the last affordable replay.
    fn of_sets(&mut self, sets: &[Vec<ImageId>]) -> Vec<Option<u64>> {
        let count = sets.len().min(self.replays_left);
        self.replays_left -= count;
        self.is_complete &= count == sets.len();
        let of_set = sets[..count].par_iter();
        let of_set = of_set.map(|set| Some(self.plan.drag_ns(&self.tree, &self.totals, set, self.replayed_ns)));
        let mut drags: Vec<Option<u64>> = of_set.collect();
        drags.resize(sets.len(), None);
        drags
    }

    fn of_each(&mut self, images: Vec<ImageId>) -> Vec<Option<u64>> {
        let sets: Vec<Vec<ImageId>> = images.into_iter().map(|image| vec![image]).collect();
        self.of_sets(&sets)
    }
}

/// The longest images that are not on the chain, with a drag of `least_ns` or more; the largest drag first.
fn off_chain(tree: &ProcessTree, chain: &[Link], least_ns: u64, drags: &mut Drags) -> Vec<(ImageId, u64)> {
    let mut is_on_chain = vec![false; tree.images().len()];
    chain.iter().for_each(|link| is_on_chain[link.step.image.index()] = true);
    let off = (0..).map(ImageId).zip(&is_on_chain).filter(|(_, is_on)| !**is_on).map(|(image, _)| image);
    let mut off: Vec<ImageId> = off.filter(|&image| drags.totals.alone_ns(image) >= least_ns).collect();
    off.sort_by_key(|&image| Reverse(drags.totals.alone_ns(image)));
    off.truncate(OFF_THE_CHAIN);
    let found = drags.of_each(off.clone());
    let mut off: Vec<(ImageId, u64)> =
        off.into_iter().zip(found).filter_map(|(image, drag)| Some((image, drag?))).collect();
    off.retain(|&(_, drag)| drag >= least_ns);
    off.sort_by_key(|&(image, drag)| (Reverse(drag), image));
    off
}

fn others(
    tree: &ProcessTree,
    schema: &Schema,
    units: &UnitLabels,
    off_chain: &[(ImageId, u64)],
) -> Result<Table, QueryError> {
    let images: Vec<_> = off_chain.iter().map(|&(image, _)| image).collect();
    Ok(table!("off_chain", off_chain.iter().zip(units.of(tree, &images)?), |(&(id, drag), unit)| {
        let image = tree.image(id);
        Column::process("process").called("off the chain") => tree.name(image.process),
        Column::number("image").for_machines() => image.number,
        Column::text("class") => schema.class(id),
        Column::duration("from_ns") => process_text::time(image.began_ns),
        Column::duration("to_ns").secondary() => process_text::time(image.ended_ns.unwrap_or(tree.span_ns().1)),
        Column::duration("drag_ns") => Value::Estimate(drag),
        Column::text("unit") => unit,
        Column::text("command") => process_text::command(tree, image),
    }))
}

/// The steps of each image as one link, in the order of first steps; steps of other images may be between them.
fn chain(steps: &[Step], idle: &[u64]) -> Vec<Link> {
    let mut places = HashMap::new();
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

fn by_class(chain: &[Link], tree: &ProcessTree, schema: &Schema, whole_ns: u64, drags: &mut Drags) -> Table {
    let mut sums: BTreeMap<Option<u32>, (u64, u64, u64)> = BTreeMap::new();
    for link in chain {
        let (images, wall, idle) = sums.entry(schema.label(link.step.image).map(|LabelId(label)| label)).or_default();
        *images += 1;
        *wall = wall.saturating_add(link.wall_ns);
        *idle = idle.saturating_add(link.idle_ns);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (_, wall, _))| Reverse(*wall));
    let mut of_label: HashMap<Option<u32>, Vec<ImageId>> = HashMap::new();
    for image in (0..tree.images().len() as u32).map(ImageId) {
        of_label.entry(schema.label(image).map(|LabelId(label)| label)).or_default().push(image);
    }
    let sets: Vec<Vec<ImageId>> = sums.iter().map(|(label, _)| of_label.remove(label).unwrap_or_default()).collect();
    table!("classes", sums.into_iter().zip(drags.of_sets(&sets)), |((label, (images, wall, idle)), drag)| {
        Column::text("class") => label.map(|label| schema.text(LabelId(label))),
        Column::count("images").called("programs") => images,
        Column::duration("wall_ns").called("time") => wall,
        Column::share("wall_share").called("share") => Value::share(wall, whole_ns),
        Column::duration("idle_ns") => idle,
        Column::duration("drag_ns") => drag.map(Value::Estimate),
    })
}

/// A row for each link of the chain with its drag.
fn rows(
    tree: &ProcessTree,
    schema: &Schema,
    units: &UnitLabels,
    chain: &[&Link],
    drags: &[Option<u64>],
    whole_ns: u64,
) -> Result<Table, QueryError> {
    let images: Vec<_> = chain.iter().map(|link| link.step.image).collect();
    Ok(table!("rows", chain.iter().zip(drags).zip(units.of(tree, &images)?), |((link, drag), unit)| {
        let image = tree.image(link.step.image);
        Column::process("process") => tree.name(image.process),
        Column::number("image").for_machines() => image.number,
        Column::text("class") => schema.class(link.step.image),
        Column::duration("from_ns") => process_text::time(link.step.from_ns),
        Column::duration("to_ns").secondary() => process_text::time(link.step.to_ns),
        Column::duration("wall_ns").called("time") => link.wall_ns,
        Column::share("wall_share").called("share").secondary() => Value::share(link.wall_ns, whole_ns),
        Column::duration("idle_ns") => link.idle_ns,
        Column::duration("drag_ns") => drag.map(Value::Estimate),
        Column::text("unit") => unit,
        Column::text("command") => process_text::command(tree, image),
    }))
}
