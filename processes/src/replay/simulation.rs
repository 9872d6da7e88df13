//! Runs a plan: a clock, slots, and processors that are shared.
//!
//! Jobs that together need more than all cores are all slowed down by the same factor. So there are two clocks: time,
//! and the work that each running job has done since the start, which is slower under overload. A job ends when the
//! second clock has advanced by its work, whatever begins or ends in between: no other job has to be updated.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use barrow_analyzer::ProcessId;

use super::held::RunningMemory;
use super::lent_slots::{Ended, LentSlots};
use super::node::Node;
use super::queue::Queue;
use super::range::MemoryRange;
use super::schedule::Schedule;

/// The outcome with other slots.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// From start to end, in nanoseconds.
    pub wall_ns: u64,
    /// Maximum memory of all jobs together; `None` if nothing is known of it.
    pub memory: Option<MemoryRange>,
    /// Maximum number of jobs that ran at the same time in slots.
    pub most_jobs: u64,
    /// The number of times the memory had been added up when its likely value was largest.
    pub(super) look: u64,
}

/// Limits of what may run at the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits<'l> {
    /// Jobs.
    pub(super) slots: u64,
    /// Jobs of each pool.
    pub(super) pools: &'l [u64],
    /// Cores.
    pub(super) capacity: f64,
}

/// The result wanted from a replay.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ReplayGoal {
    Time,
    Memory,
    /// The nodes that run when the memory is added up for this time.
    Holders(u64),
}

/// A comparable number of nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An event at a time of one of the clocks. Simultaneous events happen in the order of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The memory of a job reaches the next knot of its curve.
    Knot(u32),
    /// A job that is a little early may have ended.
    Unsure(u32),
    /// A node has all its needs, and its starter had the time to start it.
    Begin(u32),
    /// A node ends.
    End(u32),
    /// A job has progressed far enough to meet this need.
    Met(u32),
    /// A job that is a little late has begun as well.
    Sure(u32),
}

/// The part of its time in which a job surely runs: the times of a replay differ from those of the next recording.
const SURE: (f64, f64) = (0.25, 0.75);

/// Shorter jobs never surely run at the same time as others, in nanoseconds: half of them is the time between two samples of
/// several processes, and the recorded peak is the largest sample. Of 50 recordings of jobs of up to 0.3 s, six had a lower
/// peak than without this.
const LEAST_SURE_NS: f64 = 300e6;

struct Simulation<'p> {
    schedule: &'p Schedule,
    nodes: &'p [Node],
    asked: ReplayGoal,
    now: f64,
    /// The second clock.
    work: f64,
    capacity: f64,
    /// Cores that all running jobs need together.
    demand: f64,
    queue: Queue,
    lent: LentSlots,
    /// Whether a node has a slot, or had one.
    had_slot: Vec<bool>,
    /// By time.
    timers: BinaryHeap<Reverse<(Time, Event)>>,
    /// By work.
    running: BinaryHeap<Reverse<(Time, Event)>>,
    /// Number of needs that each node still waits for; [`BEGUN`] if it has begun.
    missing: Vec<u32>,
    /// Children that each node still waits for before it ends.
    children_left: Vec<u32>,
    held: RunningMemory,
    holders: Vec<(ProcessId, u64)>,
    outcome: Outcome,
}

/// A node has begun.
const BEGUN: u32 = u32::MAX;

/// The duration of a replay.
pub(super) fn time(schedule: &Schedule, nodes: &[Node], limits: Limits<'_>) -> u64 {
    let mut simulation = Simulation::new(schedule, nodes, limits, ReplayGoal::Time);
    simulation.run_all();
    simulation.outcome.wall_ns
}

/// The duration and memory of a replay.
pub(super) fn outcome(schedule: &Schedule, limits: Limits<'_>) -> Outcome {
    let mut simulation = Simulation::new(schedule, &schedule.nodes, limits, ReplayGoal::Memory);
    simulation.run_all();
    let most = simulation.held.most;
    let likely = most.likely.max(0.0);
    // A double holds bytes exactly; rounding outwards keeps the order.
    let memory = (most.high > 0.0).then(|| MemoryRange {
        low: most.low.max(schedule.again_bytes).min(likely) as u64,
        likely: likely as u64,
        high: most.high.max(likely).ceil() as u64,
    });
    Outcome { memory, look: most.look, ..simulation.outcome }
}

/// The holders of the peak memory of an outcome with these limits, with bytes; shared memory counts in each.
pub(super) fn holders(schedule: &Schedule, limits: Limits<'_>, outcome: &Outcome) -> Vec<(ProcessId, u64)> {
    let mut simulation = Simulation::new(schedule, &schedule.nodes, limits, ReplayGoal::Holders(outcome.look));
    simulation.run_all();
    simulation.holders
}

impl<'p> Simulation<'p> {
    fn new(schedule: &'p Schedule, nodes: &'p [Node], limits: Limits<'_>, asked: ReplayGoal) -> Self {
        let mut missing: Vec<u32> = nodes.iter().map(|node| u32::from(node.starter.is_some())).collect();
        schedule.needs.iter().for_each(|need| missing[need.of as usize] += 1);
        let mut children_left = vec![0u32; nodes.len()];
        for node in nodes.iter().filter(|node| node.is_waited_for) {
            if let Some(starter) = node.starter {
                children_left[starter as usize] += 1;
            }
        }
        Simulation {
            schedule,
            nodes,
            asked,
            now: 0.0,
            work: 0.0,
            capacity: limits.capacity,
            demand: 0.0,
            queue: Queue::new(limits.slots, limits.pools),
            lent: LentSlots::new(nodes),
            had_slot: vec![false; nodes.len()],
            timers: BinaryHeap::new(),
            running: BinaryHeap::new(),
            missing,
            children_left,
            held: RunningMemory::new(if asked == ReplayGoal::Time { 0 } else { nodes.len() }),
            holders: Vec::new(),
            outcome: Outcome::default(),
        }
    }

    fn run_all(&mut self) {
        for node in 0..self.nodes.len() as u32 {
            self.start_if_ready(node);
        }
        let mut next = 0;
        while self.holders.is_empty() {
            while let Some(event) = self.next_event() {
                self.happen(event);
                self.fill_slots();
                if !self.holders.is_empty() {
                    break;
                }
            }
            // The jobs of a make may need those of another one, which has no slot.
            if self.queue.widen() {
                self.fill_slots();
                continue;
            }
            // Contradictory times may leave nodes that wait for one another.
            while self.missing.get(next).is_some_and(|&missing| missing == BEGUN) {
                next += 1;
            }
            if next == self.missing.len() {
                break;
            }
            self.missing[next] = 0;
            self.start_if_ready(next as u32);
        }
        self.outcome.wall_ns = self.now as u64;
    }

    fn fill_slots(&mut self) {
        while let Some(node) = self.queue.take() {
            if self.had_slot[node as usize] {
                // It has begun in that of its starter.
                self.queue.give_back_slot();
                self.queue.give_back_place(self.nodes[node as usize].pool);
                continue;
            }
            self.outcome.most_jobs = self.outcome.most_jobs.max(self.queue.used());
            self.lent.begin_elsewhere(node);
            self.begin_in_slot(node);
        }
    }

    /// The next event. Advances the clocks to it.
    fn next_event(&mut self) -> Option<Event> {
        let rate = if self.demand > self.capacity { self.capacity / self.demand } else { 1.0 };
        let timer = self.timers.peek().map(|Reverse((time, _))| time.0);
        let job = self.running.peek().map(|Reverse((work, _))| self.now + (work.0 - self.work).max(0.0) / rate);
        let is_timer = match (timer, job) {
            (None, None) => return None,
            (Some(timer), Some(job)) => timer <= job,
            (timer, _) => timer.is_some(),
        };
        if is_timer {
            let Reverse((Time(time), event)) = self.timers.pop()?;
            self.work += (time - self.now).max(0.0) * rate;
            self.now = self.now.max(time);
            return Some(event);
        }
        let Reverse((Time(work), event)) = self.running.pop()?;
        self.now = job.unwrap_or(self.now);
        self.work = self.work.max(work);
        Some(event)
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Knot(node) => self.turn(node),
            Event::Unsure(node) => self.held.is_unsure(&self.nodes[node as usize]),
            Event::Begin(node) => self.begin(node),
            Event::End(node) => self.end(node),
            Event::Met(need) => self.meet(self.schedule.needs[need as usize].of),
            Event::Sure(node) => self.held.is_sure(&self.nodes[node as usize]),
        }
    }

    fn start_if_ready(&mut self, node: u32) {
        if self.missing[node as usize] == 0 {
            self.missing[node as usize] = BEGUN;
            let lag = self.nodes[node as usize].lag_ns;
            self.timers.push(Reverse((Time(self.now + lag), Event::Begin(node))));
        }
    }

    fn meet(&mut self, node: u32) {
        let missing = &mut self.missing[node as usize];
        if *missing != BEGUN {
            *missing = missing.saturating_sub(1);
            self.start_if_ready(node);
        }
    }

    fn begin(&mut self, node: u32) {
        let nodes = self.nodes;
        let of = &nodes[node as usize];
        if of.takes_slot || of.holds_slot {
            let has_place = self.queue.take_place(of.pool);
            if has_place && self.lent.ask(node) {
                return self.begin_in_slot(node);
            }
            if has_place {
                self.queue.give_back_place(of.pool);
            }
            self.queue.put(node, of.pool);
        } else {
            self.run(node);
        }
    }

    fn begin_in_slot(&mut self, node: u32) {
        self.had_slot[node as usize] = true;
        self.lent.hold(node);
        self.run(node);
    }

    /// A node that has all that it needs runs.
    fn run(&mut self, node: u32) {
        let nodes = self.nodes;
        let of = &nodes[node as usize];
        if of.is_job {
            self.run_job(node);
        } else {
            if self.asked != ReplayGoal::Time {
                self.held.begin_starter(node, of);
                self.look();
            }
            if self.children_left[node as usize] == 0 {
                self.timers.push(Reverse((Time(self.now + of.work_ns), Event::End(node))));
            }
            let schedule = self.schedule;
            for child in schedule.children(node) {
                self.meet(child);
            }
        }
    }

    fn run_job(&mut self, node: u32) {
        let nodes = self.nodes;
        let of = &nodes[node as usize];
        self.demand += of.demand;
        self.when_done(of, 1.0, Event::End(node));
        for need in self.schedule.needs_on(node) {
            let part = self.schedule.needs[need].part;
            if part < 1.0 {
                self.when_done(of, part, Event::Met(need as u32));
            }
        }
        if self.asked != ReplayGoal::Time {
            self.held.begin_job(node, of, self.work);
            self.lead(node, 0.0, 0);
            if of.memory.mean > 0.0 && of.work_ns >= LEAST_SURE_NS {
                self.when_done(of, SURE.0, Event::Sure(node));
                self.when_done(of, SURE.1, Event::Unsure(node));
            }
        }
    }

    /// Schedules an event for when this part of a job that begins now is done.
    fn when_done(&mut self, of: &Node, part: f64, event: Event) {
        self.running.push(Reverse((Time(self.work + of.work_ns * part), event)));
    }

    /// The memory of a job reaches a knot of its curve.
    fn turn(&mut self, node: u32) {
        let knot = self.held.next_knot(node);
        let of = &self.nodes[node as usize];
        let bytes = self.schedule.curves.knot(node, of, knot).map_or(0.0, |(_, bytes)| bytes.into());
        self.lead(node, bytes, knot + 1);
        self.look();
    }

    /// Leads the memory of a job from these bytes to a knot of its curve.
    fn lead(&mut self, node: u32, bytes: f64, knot: usize) {
        let of = &self.nodes[node as usize];
        let next = self.schedule.curves.knot(node, of, knot).map(|(part, bytes)| {
            let began = self.held.began(node);
            (began + of.work_ns * f64::from(part), f64::from(bytes))
        });
        self.held.turn(node, bytes, self.work, next);
        if let Some((work, _)) = next {
            self.held.comes_to(node, knot);
            self.running.push(Reverse((Time(work), Event::Knot(node))));
        }
    }

    fn look(&mut self) {
        if self.asked == ReplayGoal::Time {
            return;
        }
        let look = self.held.look(self.work);
        if self.asked == ReplayGoal::Holders(look) {
            let holder = |(id, bytes): (u32, f64)| (self.nodes[id as usize].process, bytes as u64);
            self.holders = self.held.holders(self.nodes).map(holder).collect();
        }
    }

    fn end(&mut self, node: u32) {
        let nodes = self.nodes;
        let of = &nodes[node as usize];
        self.look();
        if of.is_job {
            self.demand -= of.demand;
        }
        if self.asked != ReplayGoal::Time {
            if of.is_job {
                self.held.end_job(node, of, self.work);
            } else {
                self.held.end_starter(node, of);
            }
        }
        if self.had_slot[node as usize] {
            self.queue.give_back_place(of.pool);
            let (queue, had_slot) = (&mut self.queue, &self.had_slot);
            let may_begin = |other: u32| !had_slot[other as usize] && queue.take_place(nodes[other as usize].pool);
            match self.lent.end(node, may_begin) {
                Ended::Slot => self.queue.give_back_slot(),
                Ended::Next(next) => self.begin_in_slot(next),
                Ended::Kept => {}
            }
        }
        for need in self.schedule.needs_on(node) {
            if self.schedule.needs[need].part >= 1.0 || !of.is_job {
                self.meet(self.schedule.needs[need].of);
            }
        }
        if let Some(starter) = of.starter.filter(|_| of.is_waited_for) {
            let left = &mut self.children_left[starter as usize];
            *left = left.saturating_sub(1);
            if *left == 0 {
                let tail = nodes[starter as usize].work_ns;
                self.timers.push(Reverse((Time(self.now + tail), Event::End(starter))));
            }
        }
    }
}
