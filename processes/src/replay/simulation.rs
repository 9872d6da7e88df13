//! Runs a plan: a clock, slots, and processors that are shared.
//!
//! Jobs that together need more than all cores are all slowed down by the same factor. So there are two clocks: time, and
//! the work that each running job has done since the beginning, which is slower while there is too much to do. A job ends
//! when the second clock has gone on by its work, whatever begins or ends meanwhile: no other job has to be looked at.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use barrow_analyzer::ProcessId;

use super::schedule::Schedule;

/// What happens with other slots.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// From start to end, in nanoseconds.
    pub wall_ns: u64,
    /// The most memory of all jobs together, in bytes: the sum of what each holds then, with what they share once.
    pub peak_bytes: f64,
    /// The jobs and starters that hold it, with their bytes; what they share is in each.
    pub at_peak: Vec<(ProcessId, u64)>,
    /// Jobs that ran at the same time in slots, at most.
    pub most_jobs: u64,
}

/// Nanoseconds that can be compared.
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

/// What happens when a clock has come so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A node has all that it needs, and its starter had the time to start it.
    Begin(u32),
    /// A node ends.
    End(u32),
    /// A job has come so far that this need is met.
    Met(u32),
}

struct Simulation<'p> {
    schedule: &'p Schedule,
    now: f64,
    /// The second clock.
    work: f64,
    capacity: f64,
    /// Cores that all running jobs would use together.
    demand: f64,
    free_slots: u64,
    /// By time.
    timers: BinaryHeap<Reverse<(Time, Event)>>,
    /// By work.
    running: BinaryHeap<Reverse<(Time, Event)>>,
    /// Jobs that could begin if there was a slot; the ones that began earlier in the recording come first.
    ready: BinaryHeap<Reverse<u32>>,
    /// What each node still waits for; [`BEGUN`] if it has begun.
    missing: Vec<u32>,
    /// Children that each node still waits for before it ends.
    children_left: Vec<u32>,
    held: Held,
    outcome: Outcome,
}

/// A node has begun.
const BEGUN: u32 = u32::MAX;

pub(super) fn run(schedule: &Schedule, slots: u64, capacity: f64) -> Outcome {
    let nodes = &schedule.nodes;
    let mut missing: Vec<u32> = nodes.iter().map(|node| u32::from(node.starter.is_some())).collect();
    schedule.needs.iter().for_each(|need| missing[need.of as usize] += 1);
    let mut children_left = vec![0u32; nodes.len()];
    for node in nodes.iter().filter(|node| node.is_waited_for) {
        if let Some(starter) = node.starter {
            children_left[starter as usize] += 1;
        }
    }
    let mut simulation = Simulation {
        schedule,
        now: 0.0,
        work: 0.0,
        capacity,
        demand: 0.0,
        free_slots: slots,
        timers: BinaryHeap::new(),
        running: BinaryHeap::new(),
        ready: BinaryHeap::new(),
        missing,
        children_left,
        held: Held::new(nodes.len()),
        outcome: Outcome::default(),
    };
    simulation.run(slots);
    simulation.outcome
}

impl Simulation<'_> {
    fn run(&mut self, slots: u64) {
        for node in 0..self.schedule.nodes.len() as u32 {
            self.start_if_ready(node);
        }
        let mut next = 0;
        loop {
            while let Some(event) = self.next_event() {
                self.happen(event);
                while self.free_slots > 0
                    && let Some(Reverse(job)) = self.ready.pop()
                {
                    self.free_slots -= 1;
                    self.outcome.most_jobs = self.outcome.most_jobs.max(slots - self.free_slots);
                    self.run_job(job);
                }
            }
            // Times that contradict each other may leave nodes that wait for one another.
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

    /// The next event; the clocks go on to it.
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
            Event::Begin(node) => self.begin(node),
            Event::End(node) => self.end(node),
            Event::Met(need) => self.meet(self.schedule.needs[need as usize].of),
        }
    }

    fn start_if_ready(&mut self, node: u32) {
        if self.missing[node as usize] == 0 {
            self.missing[node as usize] = BEGUN;
            let lag = self.schedule.nodes[node as usize].lag_ns;
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
        let of = &self.schedule.nodes[node as usize];
        if of.takes_slot {
            self.ready.push(Reverse(node));
        } else if of.is_job {
            self.run_job(node);
        } else {
            self.held.begin_starter(node, of.peak_bytes);
            if self.children_left[node as usize] == 0 {
                self.timers.push(Reverse((Time(self.now + of.work_ns), Event::End(node))));
            }
            for child in self.schedule.children(node) {
                self.meet(child);
            }
        }
    }

    fn run_job(&mut self, node: u32) {
        let of = &self.schedule.nodes[node as usize];
        self.demand += of.demand;
        self.running.push(Reverse((Time(self.work + of.work_ns), Event::End(node))));
        for need in self.schedule.needs_on(node) {
            let part = self.schedule.needs[need].part;
            if part < 1.0 {
                self.running.push(Reverse((Time(self.work + of.work_ns * part), Event::Met(need as u32))));
            }
        }
        self.held.begin_job(node, self.work, of.shares);
    }

    fn end(&mut self, node: u32) {
        let of = &self.schedule.nodes[node as usize];
        self.held.look(self.schedule, self.work, &mut self.outcome);
        if of.is_job {
            self.demand -= of.demand;
            self.free_slots += u64::from(of.takes_slot);
            self.held.end_job(node, of.shares);
        } else {
            self.held.end_starter(node, of.peak_bytes);
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
                let tail = self.schedule.nodes[starter as usize].work_ns;
                self.timers.push(Reverse((Time(self.now + tail), Event::End(starter))));
            }
        }
    }
}

/// The memory of what runs.
struct Held {
    /// The jobs that run, where each is among them, and the work that had been done when each began.
    jobs: Vec<u32>,
    places: Vec<u32>,
    began: Vec<f64>,
    starters: Vec<u32>,
    starter_bytes: f64,
    /// Jobs that run, by the program that they share, and what is in memory once instead of several times.
    sharing: HashMap<u32, u32>,
    shared_bytes: f64,
    /// Ends since the last look.
    unseen: usize,
}

impl Held {
    fn new(nodes: usize) -> Self {
        let (places, began) = (vec![0; nodes], vec![0.0; nodes]);
        Held {
            jobs: Vec::new(),
            places,
            began,
            starters: Vec::new(),
            starter_bytes: 0.0,
            sharing: HashMap::new(),
            shared_bytes: 0.0,
            unseen: 0,
        }
    }

    fn begin_job(&mut self, node: u32, work: f64, shares: Option<(u32, f64)>) {
        if let Some((program, bytes)) = shares {
            let others = self.sharing.entry(program).or_default();
            self.shared_bytes += if *others > 0 { bytes } else { 0.0 };
            *others += 1;
        }
        self.places[node as usize] = self.jobs.len() as u32;
        self.began[node as usize] = work;
        self.jobs.push(node);
    }

    fn end_job(&mut self, node: u32, shares: Option<(u32, f64)>) {
        if let Some((program, bytes)) = shares {
            let others = self.sharing.entry(program).or_insert(1);
            *others = others.saturating_sub(1);
            self.shared_bytes -= if *others > 0 { bytes } else { 0.0 };
        }
        let place = self.places[node as usize] as usize;
        self.jobs.swap_remove(place);
        if let Some(&moved) = self.jobs.get(place) {
            self.places[moved as usize] = place as u32;
        }
    }

    fn begin_starter(&mut self, node: u32, bytes: f64) {
        self.places[node as usize] = self.starters.len() as u32;
        self.starters.push(node);
        self.starter_bytes += bytes;
    }

    fn end_starter(&mut self, node: u32, bytes: f64) {
        let place = self.places[node as usize] as usize;
        self.starters.swap_remove(place);
        if let Some(&moved) = self.starters.get(place) {
            self.places[moved as usize] = place as u32;
        }
        self.starter_bytes -= bytes;
    }

    /// Adds up what is held now. With very many jobs only now and then, so that it takes no longer than all else.
    fn look(&mut self, schedule: &Schedule, work: f64, outcome: &mut Outcome) {
        const JOBS_PER_LOOK: usize = 256;
        self.unseen += 1;
        if self.unseen * JOBS_PER_LOOK < self.jobs.len() {
            return;
        }
        self.unseen = 0;
        let bytes_of = |&node: &u32| {
            let of = &schedule.nodes[node as usize];
            let done = work - self.began[node as usize];
            of.peak_bytes
                * schedule.curves.at(node, if of.work_ns > 0.0 { (done / of.work_ns).clamp(0.0, 1.0) } else { 1.0 })
        };
        let bytes = self.starter_bytes - self.shared_bytes + self.jobs.iter().map(bytes_of).sum::<f64>();
        if bytes > outcome.peak_bytes {
            let process = |&node: &u32| schedule.nodes[node as usize].process;
            let starters =
                self.starters.iter().map(|node| (process(node), schedule.nodes[*node as usize].peak_bytes as u64));
            outcome.peak_bytes = bytes;
            outcome.at_peak =
                self.jobs.iter().map(|node| (process(node), bytes_of(node) as u64)).chain(starters).collect();
        }
    }
}
