//! The parts of a recorded tree when it is replayed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use barrow_analyzer::ProcessId;

use super::load;
use super::memory;
use super::needs;
use super::node::{Node, NodeMemory, duration_of};
use super::schedule::Schedule;
use super::simulation::{self, Limits, Outcome};
use super::slots;
use super::starters::Starters;
use super::times::times;
use crate::classes::{LabelId, Schema};
use crate::memory::{Peak, PeakKind, peak};
use crate::totals::{Totals, cpu_ns};
use crate::tree::{ImageId, ProcessTree};
use crate::window::Window;

/// A recorded tree as jobs, which can be replayed.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) schedule: Schedule,
    /// Maximum number of jobs of each pool that may run at the same time.
    pools: Vec<u64>,
    /// See [`Plan::recorded_slots`].
    slots: u64,
    /// Cores of the machine, if they were recorded.
    known_cores: Option<u64>,
    /// The same; the number of slots if that was not recorded.
    cores: u64,
    /// Cores that the jobs had: fewer if other programs used them, too.
    capacity: f64,
    waited_ns: u64,
    /// Whether the slots are also cores, which jobs with several threads share.
    slots_are_cores: bool,
    /// For each process, the node that it belongs to.
    pub(super) node_of: Vec<u32>,
    /// Whether only the number of slots was changed.
    is_as_recorded: bool,
    recorded_peak: Option<Peak>,
    recorded_ns: u64,
}

impl Plan {
    /// Splits a tree into jobs. Takes O(n log n) time for `n` images.
    #[must_use]
    pub fn of(tree: &ProcessTree, totals: &Totals) -> Self {
        let starters = Starters::of(tree);
        let (mut nodes, node_of) = nodes(tree, Some(totals), &starters);
        let known = nodes.clone();
        let measure = || memory::measure(tree, &mut nodes, &node_of);
        let (curves, mut needs) = rayon::join(measure, || needs::of(tree, &known, &node_of));
        needs.extend(needs::of_starters(tree, &nodes, &needs));
        let order = order_of_begin(tree, &nodes);
        let most = most_at_once(tree, &nodes, &order);
        let slots = most.max(slots::asked_for(tree));
        let facts = tree.recording().facts().unwrap_or_default();
        let cores = facts.iter().find(|(key, _)| key == "cores").and_then(|(_, cores)| cores.parse().ok());
        let known_cores = cores.filter(|&cores| cores > 0);
        let cores = known_cores.unwrap_or(slots);
        let load = load::take_off(tree, totals, &mut nodes, cores);
        times(tree, &mut nodes, &order, slots, &starters, &mut needs);
        let slots_are_cores = starters.has_cargo;
        let (recorded_peak, recorded_ns) = (peak(tree), Window::of(tree).length_ns());
        let schedule = Schedule::new(nodes, needs, curves);
        Plan {
            schedule,
            pools: Vec::new(),
            slots,
            known_cores,
            cores,
            capacity: load.capacity,
            waited_ns: load.waited_ns as u64,
            slots_are_cores,
            node_of,
            is_as_recorded: true,
            recorded_peak,
            recorded_ns,
        }
    }

    /// The slots of the recording: those that `-j` of a scheduler asked for, and at least as many as jobs ran at once.
    #[must_use]
    pub fn recorded_slots(&self) -> u64 {
        self.slots
    }

    /// Cores of the machine that was recorded, if they are known.
    #[must_use]
    pub fn known_cores(&self) -> Option<u64> {
        self.known_cores
    }

    /// The same, and if they are unknown the recorded slots: a guess, with which replays are made.
    #[must_use]
    pub fn cores(&self) -> u64 {
        self.cores
    }

    /// Number of jobs that need a slot.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.schedule.nodes.iter().filter(|node| node.takes_slot).count()
    }

    /// Sum of the times that jobs waited for processors in the recording, where the system reported it, in nanoseconds.
    /// Replays leave it out: in a replay, jobs wait if they need more than all cores.
    #[must_use]
    pub fn waited_ns(&self) -> u64 {
        self.waited_ns
    }

    /// The time from start to end that was recorded.
    #[must_use]
    pub fn recorded_ns(&self) -> u64 {
        self.recorded_ns
    }

    /// The most memory that was recorded.
    #[must_use]
    pub fn recorded_peak(&self) -> Option<Peak> {
        self.recorded_peak
    }

    /// The outcome with `slots` slots, at least one. For the recorded slots, the memory range includes the sampled
    /// peak.
    #[must_use]
    pub fn replay(&self, slots: u64) -> Outcome {
        let mut outcome = simulation::outcome(&self.schedule, self.limits(slots));
        let recorded = self.recorded_peak.filter(|peak| peak.kind == PeakKind::Sampled);
        if let Some((memory, recorded)) = outcome.memory.as_mut().zip(recorded)
            && self.is_as_recorded
            && slots.max(1) == self.slots
        {
            (memory.low, memory.high) = (memory.low.min(recorded.bytes), memory.high.max(recorded.bytes));
        }
        outcome
    }

    pub(super) fn limits(&self, slots: u64) -> Limits<'_> {
        let slots = slots.max(1);
        let capacity = if self.slots_are_cores { self.capacity.min(slots as f64) } else { self.capacity };
        Limits { slots, pools: &self.pools, capacity }
    }

    /// The holders of the peak memory of an outcome with `slots` slots: the image of each job or starter with the
    /// largest recorded peak, and its bytes; shared memory counts in each.
    #[must_use]
    pub fn at_peak(&self, tree: &ProcessTree, slots: u64, outcome: &Outcome) -> Vec<(ImageId, u64)> {
        let holders = simulation::holders(&self.schedule, self.limits(slots), outcome);
        let mut heaviest: HashMap<u32, (Option<u64>, ImageId)> = HashMap::new();
        for &(process, _) in &holders {
            let first_image = tree.process(process).first_image;
            heaviest.insert(self.node_of[process.index()], (None, first_image));
        }
        for (id, image) in (0..).map(ImageId).zip(tree.images()) {
            let heaviest = heaviest.get_mut(&self.node_of[image.process.index()]);
            if let Some(heaviest) = heaviest.filter(|most| most.0 < image.used.peak_bytes) {
                *heaviest = (image.used.peak_bytes, id);
            }
        }
        let images = holders.into_iter().map(|(process, bytes)| (heaviest[&self.node_of[process.index()]].1, bytes));
        images.collect()
    }

    /// The same tree if at most `most` jobs of a class may run at the same time, besides the limit of slots, as in a
    /// pool of ninja. The class of a job is that of its image with most processor time. Jobs that are in a pool already
    /// stay in it.
    #[must_use]
    pub fn with_pool(&self, tree: &ProcessTree, totals: &Totals, class: (&Schema, LabelId), most: u64) -> Self {
        let mut plan = Plan { is_as_recorded: false, ..self.clone() };
        let pool = plan.pools.len() as u32;
        plan.pools.push(most);
        for (node, main) in plan.schedule.nodes.iter_mut().zip(self.main_images(tree, totals)) {
            let is_of_class = main.is_some_and(|image| class.0.label(image) == Some(class.1));
            if node.takes_slot && node.pool.is_none() && is_of_class {
                node.pool = Some(pool);
            }
        }
        plan
    }

    /// Number of jobs in each pool, in the order in which the pools were added.
    #[must_use]
    pub fn jobs_in_pools(&self) -> Vec<usize> {
        let mut counts = vec![0; self.pools.len()];
        self.schedule.nodes.iter().filter_map(|node| node.pool).for_each(|pool| counts[pool as usize] += 1);
        counts
    }

    /// The image of each node with most processor time; of equal ones, the one that ran longest alone.
    fn main_images(&self, tree: &ProcessTree, totals: &Totals) -> Vec<Option<ImageId>> {
        let mut main: Vec<Option<((u64, u64), ImageId)>> = vec![None; self.schedule.nodes.len()];
        for (id, image) in (0..).map(ImageId).zip(tree.images()) {
            let cpu = cpu_ns(image.used.user_ns, image.used.system_ns).unwrap_or(0);
            let (weight, of) = ((cpu, totals.alone_ns(id)), &mut main[self.node_of[image.process.index()] as usize]);
            if of.is_none_or(|(most, _)| weight > most) {
                *of = Some((weight, id));
            }
        }
        main.into_iter().map(|main| main.map(|(_, image)| image)).collect()
    }

    /// The same tree if the images of a class need `1 / factor` of their processor time. The own work of schedulers and
    /// scripts takes as long as before.
    #[must_use]
    pub fn faster(&self, tree: &ProcessTree, totals: &Totals, class: (&Schema, LabelId), factor: f64) -> Self {
        let (schema, label) = class;
        let mut plan = Plan { is_as_recorded: false, ..self.clone() };
        for (id, image) in (0..).map(ImageId).zip(tree.images()) {
            let node = &mut plan.schedule.nodes[self.node_of[image.process.index()] as usize];
            if !node.is_job || schema.label(id) != Some(label) {
                continue;
            }
            let cpu = cpu_ns(image.used.user_ns, image.used.system_ns).unwrap_or(0) as f64;
            let saved = 1.0 - 1.0 / factor;
            let cores = node.demand * node.work_ns - cpu * saved;
            let wall = duration_of(tree, tree.process(node.process)) as f64;
            let share = if wall > 0.0 { node.work_ns / wall } else { 1.0 };
            let alone = (totals.alone_ns(id) as f64).min(cpu.max(1.0));
            node.work_ns = (node.work_ns - alone * share.min(1.0) * saved).max(0.0);
            node.demand =
                if node.work_ns > 0.0 { (cores / node.work_ns).clamp(0.0, node.demand.max(1.0)) } else { 0.0 };
        }
        plan
    }
}

/// Maximum number of jobs that ran at the same time; 1 if nothing ran jobs in slots.
#[must_use]
pub fn most_jobs(tree: &ProcessTree) -> u64 {
    let (nodes, _) = nodes(tree, None, &Starters::of(tree));
    most_at_once(tree, &nodes, &order_of_begin(tree, &nodes))
}

/// Without totals, the processor time of jobs is unknown.
fn nodes(tree: &ProcessTree, totals: Option<&Totals>, starters: &Starters) -> (Vec<Node>, Vec<u32>) {
    let mut nodes: Vec<Node> = Vec::new();
    let mut node_of: Vec<u32> = Vec::with_capacity(tree.processes().len());
    let mut is_orphaned = vec![false; tree.processes().len()];
    for (at, process) in tree.processes().iter().enumerate() {
        let id = ProcessId(at as u32);
        // Nothing tells which job an orphan is of: it and its children belong to the command. A parent has a smaller
        // number.
        let command = starters.command_of_orphan(id);
        is_orphaned[at] = match process.parent {
            Some(parent) => command.is_some() && is_orphaned[parent.index()],
            None => command.is_some(),
        };
        let starter = process.parent.or(command).map(|parent| node_of[parent.index()]);
        if let Some(starter) = starter.filter(|&starter| is_orphaned[at] || nodes[starter as usize].is_job) {
            node_of.push(starter);
            continue;
        }
        node_of.push(nodes.len() as u32);
        let is_job = !starters.has_scheduler[at];
        let wall = duration_of(tree, process) as f64;
        let cpu = totals.and_then(|totals| totals.of_process(tree, id).cpu_ns()).unwrap_or(0) as f64;
        let ended_with_starter =
            process.parent.is_none_or(|parent| tree.ended_ns(process) <= tree.ended_ns(tree.process(parent)));
        nodes.push(Node {
            process: id,
            starter,
            is_job,
            takes_slot: is_job && starters.are_slots_of(process.parent),
            holds_slot: !is_job && process.parent.is_some() && starters.are_slots_of(process.parent),
            is_waited_for: ended_with_starter,
            lag_ns: 0.0,
            work_ns: if is_job { wall } else { 0.0 },
            demand: if is_job && wall > 0.0 { cpu / wall } else { 0.0 },
            memory: NodeMemory::default(),
            pool: None,
        });
    }
    (nodes, node_of)
}

fn order_of_begin(tree: &ProcessTree, nodes: &[Node]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_by_key(|&node| tree.process(nodes[node as usize].process).began_ns);
    order
}

/// Maximum number of jobs that ran at the same time, for at least a thousandth of the time in all: the recorder may learn
/// late that a job ended. In a `go build -p 2` of 37 s, three ran at once for 2.7 ms by the recording.
fn most_at_once(tree: &ProcessTree, nodes: &[Node], order: &[u32]) -> u64 {
    let mut ends = BinaryHeap::new();
    // For each number of jobs, the time during which so many ran.
    let mut times = Vec::new();
    let (mut since, end_of_all) = tree.span_ns();
    let mut run = |running: usize, until: i64| {
        times.resize(times.len().max(running + 1), 0);
        times[running] = i64::saturating_add(times[running], until.saturating_sub(since).max(0));
        since = since.max(until);
    };
    for node in order.iter().map(|&node| &nodes[node as usize]).filter(|node| node.takes_slot) {
        let process = tree.process(node.process);
        while let Some(&Reverse(end)) = ends.peek().filter(|&&Reverse(end)| end <= process.began_ns) {
            run(ends.len(), end);
            ends.pop();
        }
        run(ends.len(), process.began_ns);
        if tree.ended_ns(process) > process.began_ns {
            ends.push(Reverse(tree.ended_ns(process)));
        }
    }
    while let Some(&Reverse(end)) = ends.peek() {
        run(ends.len(), end);
        ends.pop();
    }
    let mut left = end_of_all.saturating_sub(tree.span_ns().0) / 1000;
    let most = times.iter().rposition(|&time| {
        left = i64::saturating_sub(left, time);
        left < 0
    });
    most.unwrap_or(1).max(1) as u64
}
