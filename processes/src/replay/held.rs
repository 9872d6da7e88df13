//! The memory of the running processes in a replay: its likely value and its bounds.
//!
//! The memory of each job moves along straight lines over the work clock, and so does the sum: its maximum is at the
//! end of one of the lines.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::node::Node;

/// The memory of the running nodes.
pub(super) struct RunningMemory {
    jobs: RunningNodes,
    starters: RunningNodes,
    /// The current line of each job: work and bytes at its start, and bytes per unit of work.
    lines: Vec<(f64, f64, f64)>,
    /// The work at which each job began, and the number of its next knot.
    began: Vec<f64>,
    next_knots: Vec<u16>,
    /// The sum of all lines at this work, and its slope.
    work: f64,
    bytes: f64,
    slope: f64,
    starter_bytes: f64,
    shared: SharedSavings,
    low: f64,
    low_shared: SharedSavings,
    high: f64,
    /// Number of times it was added up.
    looks: u64,
    pub(super) most: MemoryMaxima,
}

/// The maxima found so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MemoryMaxima {
    pub(super) low: f64,
    pub(super) likely: f64,
    pub(super) high: f64,
    /// The number of times it had been added up when the likely value was largest.
    pub(super) look: u64,
}

impl RunningMemory {
    pub(super) fn new(nodes: usize) -> Self {
        RunningMemory {
            jobs: RunningNodes::new(nodes),
            starters: RunningNodes::new(nodes),
            lines: vec![(0.0, 0.0, 0.0); nodes],
            began: vec![0.0; nodes],
            next_knots: vec![0; nodes],
            work: 0.0,
            bytes: 0.0,
            slope: 0.0,
            starter_bytes: 0.0,
            shared: SharedSavings::default(),
            low: 0.0,
            low_shared: SharedSavings::default(),
            high: 0.0,
            looks: 0,
            most: MemoryMaxima::default(),
        }
    }

    /// The number of the next knot of a job.
    pub(super) fn next_knot(&self, id: u32) -> usize {
        self.next_knots[id as usize].into()
    }

    /// The work done when a job began.
    pub(super) fn began(&self, id: u32) -> f64 {
        self.began[id as usize]
    }

    pub(super) fn begin_job(&mut self, id: u32, node: &Node, work: f64) {
        self.go_on(work);
        self.jobs.begin(id);
        self.began[id as usize] = work;
        self.lines[id as usize] = (work, 0.0, 0.0);
        self.high += node.memory.peak;
        if let Some((program, shared)) = node.memory.shares {
            self.shared.begin(program, shared.likely);
        }
        self.most.high = self.most.high.max(self.high);
    }

    /// A job reaches a knot, or begins. Its line continues to the next knot, if any, given as work and bytes.
    pub(super) fn turn(&mut self, id: u32, bytes: f64, work: f64, next: Option<(f64, f64)>) {
        self.go_on(work);
        let before = self.bytes_of(id, work);
        let slope = next.map_or(0.0, |(end, at_end)| if end > work { (at_end - bytes) / (end - work) } else { 0.0 });
        let line = &mut self.lines[id as usize];
        self.slope += slope - line.2;
        *line = (work, bytes, slope);
        self.bytes += bytes - before;
    }

    /// The line that just began leads to this knot.
    pub(super) fn comes_to(&mut self, id: u32, knot: usize) {
        self.next_knots[id as usize] = u16::try_from(knot).unwrap_or(u16::MAX);
    }

    pub(super) fn end_job(&mut self, id: u32, node: &Node, work: f64) {
        self.go_on(work);
        self.bytes -= self.bytes_of(id, work);
        self.slope -= self.lines[id as usize].2;
        self.high -= node.memory.peak;
        if let Some((program, shared)) = node.memory.shares {
            self.shared.end(program, shared.likely);
        }
        self.jobs.end(id);
        if self.jobs.ids.is_empty() {
            (self.bytes, self.slope) = (0.0, 0.0);
        }
    }

    /// A job is now sure to run: it would even if it began or ended somewhat earlier or later.
    pub(super) fn is_sure(&mut self, node: &Node) {
        self.low += node.memory.mean;
        if let Some((program, shared)) = node.memory.shares {
            self.low_shared.begin(program, shared.most);
        }
        self.most.low = self.most.low.max(self.low - self.low_shared.bytes);
    }

    pub(super) fn is_unsure(&mut self, node: &Node) {
        self.low -= node.memory.mean;
        if let Some((program, shared)) = node.memory.shares {
            self.low_shared.end(program, shared.most);
        }
    }

    pub(super) fn begin_starter(&mut self, id: u32, node: &Node) {
        self.starters.begin(id);
        self.starter_bytes += node.memory.usual;
        self.high += node.memory.peak;
        self.low += node.memory.mean;
        self.most.high = self.most.high.max(self.high);
    }

    pub(super) fn end_starter(&mut self, id: u32, node: &Node) {
        self.starters.end(id);
        self.starter_bytes -= node.memory.usual;
        self.high -= node.memory.peak;
        self.low -= node.memory.mean;
    }

    /// Adds up the memory held now. Returns the number of times that was done.
    pub(super) fn look(&mut self, work: f64) -> u64 {
        self.go_on(work);
        self.looks += 1;
        let bytes = self.bytes + self.starter_bytes - self.shared.bytes;
        if bytes > self.most.likely {
            (self.most.likely, self.most.look) = (bytes, self.looks);
        }
        self.looks
    }

    /// The running jobs and starters with their bytes; shared memory counts in each.
    pub(super) fn holders(&self, nodes: &[Node]) -> impl Iterator<Item = (u32, f64)> {
        let jobs = self.jobs.ids.iter().map(|&id| (id, self.bytes_of(id, self.work)));
        jobs.chain(self.starters.ids.iter().map(|&id| (id, nodes[id as usize].memory.usual)))
    }

    fn go_on(&mut self, work: f64) {
        if work > self.work {
            self.bytes += self.slope * (work - self.work);
            self.work = work;
        }
    }

    fn bytes_of(&self, id: u32, work: f64) -> f64 {
        let (from, bytes, slope) = self.lines[id as usize];
        bytes + slope * (work - from)
    }
}

/// Running nodes, and the position of each among them.
struct RunningNodes {
    ids: Vec<u32>,
    places: Vec<u32>,
}

impl RunningNodes {
    fn new(nodes: usize) -> Self {
        RunningNodes { ids: Vec::new(), places: vec![0; nodes] }
    }

    fn begin(&mut self, id: u32) {
        self.places[id as usize] = self.ids.len() as u32;
        self.ids.push(id);
    }

    fn end(&mut self, id: u32) {
        let place = self.places[id as usize] as usize;
        self.ids.swap_remove(place);
        if let Some(&moved) = self.ids.get(place) {
            self.places[moved as usize] = place as u32;
        }
    }
}

/// Memory that is held once instead of several times: with `k` jobs of a program, `1 - 1/k` of the sum of what each
/// shares.
#[derive(Default)]
struct SharedSavings {
    programs: HashMap<u32, (u32, f64), RandomState>,
    bytes: f64,
}

impl SharedSavings {
    fn begin(&mut self, program: u32, bytes: f64) {
        self.change(program, |(jobs, sum)| (jobs + 1, sum + bytes));
    }

    fn end(&mut self, program: u32, bytes: f64) {
        self.change(program, |(jobs, sum)| if jobs > 1 { (jobs - 1, sum - bytes) } else { (0, 0.0) });
    }

    fn change(&mut self, program: u32, change: impl FnOnce((u32, f64)) -> (u32, f64)) {
        let of = self.programs.entry(program).or_default();
        let before = saved(*of);
        *of = change(*of);
        self.bytes += saved(*of) - before;
    }
}

fn saved((jobs, sum): (u32, f64)) -> f64 {
    if jobs > 1 { sum * (1.0 - 1.0 / f64::from(jobs)) } else { 0.0 }
}
