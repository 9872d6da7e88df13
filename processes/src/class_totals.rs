//! Resource use of the classes of a schema: totals, and the minimum, mean and maximum per process.
//!
//! The images that a process ran in one class count as one process of the class. Inclusive totals count processes
//! nested in others of the same class once.

use crate::classes::{LabelId, Schema};
use crate::totals::{Sum, Totals};
use crate::tree::{ImageId, Process, ProcessTree, duration};

/// Minimum, mean and maximum of the known values of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spread {
    sum: Sum,
    least: u64,
    most: u64,
}

impl Spread {
    fn add(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.least = if self.sum.known() == 0 { value } else { self.least.min(value) };
            self.most = self.most.max(value);
        }
        self.sum.add(value);
    }

    /// The minimum; `None` if no value is known.
    #[must_use]
    pub fn minimum(&self) -> Option<u64> {
        self.sum.value().map(|_| self.least)
    }

    /// The mean, rounded down; `None` if no value is known.
    #[must_use]
    pub fn mean(&self) -> Option<u64> {
        self.sum.value().map(|sum| sum / u64::from(self.sum.known()))
    }

    /// The maximum; `None` if no value is known.
    #[must_use]
    pub fn maximum(&self) -> Option<u64> {
        self.sum.value().map(|_| self.most)
    }

    /// The sum of the known values, with the number of processes whose value is unknown.
    #[must_use]
    pub fn sum(&self) -> Sum {
        self.sum
    }
}

/// A time used by the processes of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Without the processes that they started.
    pub exclusive: Spread,
    /// Per process, including the processes it started; nested processes count several times.
    pub inclusive: Spread,
    /// Of all processes together, including those they started; nested processes count once.
    pub total: Sum,
}

/// Resource use of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassTotals {
    /// Processes that ran an image of the class.
    pub processes: u64,
    /// Images of the class.
    pub images: u64,
    /// Start of the first image.
    pub first_ns: i64,
    /// End of the last image, or of the recording.
    pub last_ns: i64,
    /// Time during which at least one of them ran.
    pub running_ns: u64,
    /// Processor time in user mode.
    pub user_ns: Figures,
    /// Processor time in the system.
    pub system_ns: Figures,
    /// Processor time.
    pub cpu_ns: Figures,
    /// Time without a processor that threads could have used.
    pub waiting_ns: Figures,
    /// Time from start to end; the exclusive time is that during which no started process ran.
    pub wall_ns: Figures,
    /// Peak resident memory of an image.
    pub peak_bytes: Spread,
}

impl ClassTotals {
    /// From the start of the first to the end of the last, in nanoseconds.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        duration(self.first_ns, self.last_ns)
    }
}

/// Resource use of a process in one class: exclusive and inclusive.
#[derive(Debug, Clone, Copy, Default)]
struct ClassUsage {
    label: usize,
    user: [Sum; 2],
    system: [Sum; 2],
    waiting: [Sum; 2],
    wall: [u64; 2],
    peak: Option<u64>,
}

impl ClassUsage {
    /// Processor time: exclusive if `of` is 0, inclusive if it is 1.
    fn cpu_ns(&self, of: usize) -> Option<u64> {
        crate::totals::cpu_ns(self.user[of].value(), self.system[of].value())
    }
}

/// The totals of all classes of a schema, by their labels.
#[must_use]
pub fn class_totals(tree: &ProcessTree, totals: &Totals, schema: &Schema) -> Vec<ClassTotals> {
    let mut classes =
        vec![ClassTotals { first_ns: i64::MAX, last_ns: i64::MIN, ..Default::default() }; schema.labels().len()];
    by_process(tree, totals, schema, &mut classes, |class, part| class.add(part));
    nested_once(tree, totals, schema, &mut classes);
    let group = |id| schema.label(id).map(LabelId::index);
    for_each_run(tree, classes.len(), group, |label, from, to| classes[label].running_ns += duration(from, to));
    classes
}

/// The time during which the processes of all classes of a schema ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WholeSpan {
    /// Processes that ran an image of any class.
    pub processes: u64,
    /// Start of the first image.
    pub first_ns: i64,
    /// End of the last image, or of the recording.
    pub last_ns: i64,
    /// Time during which at least one of them ran.
    pub running_ns: u64,
}

impl WholeSpan {
    /// The span of a schema; `None` if it has no class.
    #[must_use]
    pub fn of(tree: &ProcessTree, schema: &Schema, totals: &[ClassTotals]) -> Option<Self> {
        let first_ns = totals.iter().map(|class| class.first_ns).min()?;
        let last_ns = totals.iter().map(|class| class.last_ns).max()?;
        let processes = (tree.processes().iter()).filter(|process| has_label(tree, schema, process)).count() as u64;
        let mut running_ns = 0;
        let all = |id| schema.label(id).map(|_| 0);
        for_each_run(tree, 1, all, |_, from, to| running_ns += duration(from, to));
        Some(WholeSpan { processes, first_ns, last_ns, running_ns })
    }

    /// From the start of the first to the end of the last, in nanoseconds.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        duration(self.first_ns, self.last_ns)
    }
}

fn has_label(tree: &ProcessTree, schema: &Schema, process: &Process) -> bool {
    let mut images = std::iter::successors(Some(process.first_image), |&image| tree.image(image).next);
    images.any(|image| schema.label(image).is_some())
}

/// An attribute that classes add up: its row in [`ATTRIBUTES`](crate::ATTRIBUTES) names its measure. They have a list of
/// their own because each is another sum: what descendants used counts for some, and peaks of memory do not add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Processor time.
    Cpu,
    /// Processor time in user mode.
    User,
    /// Processor time in the system.
    System,
    /// Time without a processor that threads could have used.
    Waiting,
    /// Time from start to end.
    Wall,
    /// Peak resident memory.
    Memory,
}

/// Known exclusive values of `measure` for the processes of each class.
#[must_use]
pub fn class_values(tree: &ProcessTree, totals: &Totals, schema: &Schema, measure: Measure) -> Vec<Vec<u64>> {
    let mut classes = vec![ClassTotals::default(); schema.labels().len()];
    let mut values = vec![Vec::new(); classes.len()];
    by_process(tree, totals, schema, &mut classes, |_, part| {
        let value = match measure {
            Measure::Cpu => part.cpu_ns(0),
            Measure::User => part.user[0].value(),
            Measure::System => part.system[0].value(),
            Measure::Waiting => whole(part.waiting[0]),
            Measure::Wall => Some(part.wall[1]),
            Measure::Memory => part.peak,
        };
        values[part.label].extend(value);
    });
    values
}

/// The sum if all of its counts are known. A process's waiting time that is known of some images only may be most of it
/// or next to nothing, so it is unknown.
fn whole(sum: Sum) -> Option<u64> {
    sum.value().filter(|_| sum.unknown() == 0)
}

fn by_process(
    tree: &ProcessTree,
    totals: &Totals,
    schema: &Schema,
    classes: &mut [ClassTotals],
    mut take: impl FnMut(&mut ClassTotals, &ClassUsage),
) {
    let mut parts: Vec<ClassUsage> = Vec::new();
    // For each class: the last process that had a part in it, and the position of that part in `parts`.
    let mut place = vec![(usize::MAX, 0); classes.len()];
    for (at, process) in tree.processes().iter().enumerate() {
        parts.clear();
        for (id, image) in
            std::iter::successors(Some(process.first_image), |&id| tree.image(id).next).map(|id| (id, tree.image(id)))
        {
            let Some(label) = schema.label(id).map(LabelId::index) else { continue };
            if place[label].0 != at {
                place[label] = (at, parts.len());
                parts.push(ClassUsage { label, ..ClassUsage::default() });
            }
            let class = &mut classes[label];
            class.images += 1;
            class.first_ns = class.first_ns.min(image.began_ns);
            class.last_ns = class.last_ns.max(image.ended_ns.unwrap_or(tree.span_ns().1));
            let part = &mut parts[place[label].1];
            let inclusive = totals.inclusive(id);
            part.user[0].add(image.used.user_ns);
            part.user[1].add_all(inclusive.user_ns);
            part.system[0].add(image.used.system_ns);
            part.system[1].add_all(inclusive.system_ns);
            part.waiting[0].add(image.used.waiting_ns);
            part.waiting[1].add_all(inclusive.waiting_ns);
            part.wall[0] = part.wall[0].saturating_add(totals.alone_ns(id));
            part.wall[1] = part.wall[1].saturating_add(tree.wall_ns(image));
            part.peak = part.peak.max(image.used.peak_bytes);
        }
        parts.iter().for_each(|part| take(&mut classes[part.label], part));
    }
}

impl ClassTotals {
    fn add(&mut self, part: &ClassUsage) {
        self.processes += 1;
        for (figures, values) in [
            (&mut self.user_ns, part.user.map(|sum| sum.value())),
            (&mut self.system_ns, part.system.map(|sum| sum.value())),
            (&mut self.cpu_ns, [part.cpu_ns(0), part.cpu_ns(1)]),
            (&mut self.waiting_ns, part.waiting.map(whole)),
            (&mut self.wall_ns, part.wall.map(Some)),
        ] {
            figures.exclusive.add(values[0]);
            figures.inclusive.add(values[1]);
        }
        self.peak_bytes.add(part.peak);
    }
}

/// Adds the use of images that are not in a subtree of another image of their class.
fn nested_once(tree: &ProcessTree, totals: &Totals, schema: &Schema, classes: &mut [ClassTotals]) {
    // The end of the last subtree of each class, as a position in the walk.
    let mut until = vec![0usize; classes.len()];
    for (position, &id) in totals.walk().iter().enumerate() {
        let Some(label) = schema.label(id).map(LabelId::index) else { continue };
        if position < until[label] {
            continue;
        }
        let inclusive = totals.inclusive(id);
        until[label] = position + inclusive.images as usize;
        let class = &mut classes[label];
        class.user_ns.total.add_all(inclusive.user_ns);
        class.system_ns.total.add_all(inclusive.system_ns);
        class.cpu_ns.total.add(inclusive.cpu_ns());
        class.waiting_ns.total.add_all(inclusive.waiting_ns);
        class.wall_ns.total.add(Some(tree.wall_ns(tree.image(id))));
    }
}

/// Calls `visit` for the times in which images of a group ran, without overlaps, in order of start. There are `count`
/// groups; images without a group are skipped.
fn for_each_run(
    tree: &ProcessTree,
    count: usize,
    group: impl Fn(ImageId) -> Option<usize>,
    mut visit: impl FnMut(usize, i64, i64),
) {
    let mut order: Vec<ImageId> = (0..tree.images().len() as u32).map(ImageId).collect();
    if !tree.images().is_sorted_by_key(|image| image.began_ns) {
        order.sort_by_key(|&id| tree.image(id).began_ns);
    }
    let mut until = vec![i64::MIN; count];
    for id in order {
        let Some(group) = group(id) else { continue };
        let image = tree.image(id);
        let to = image.ended_ns.unwrap_or(tree.span_ns().1);
        let from = image.began_ns.max(until[group]);
        if to > from {
            visit(group, from, to);
            until[group] = to;
        }
    }
}

/// For the first `classes` classes of a schema: the share of each of `columns` equal spans of the recording during
/// which a process of the class ran.
#[must_use]
pub fn running_shares(tree: &ProcessTree, schema: &Schema, classes: usize, columns: usize) -> Vec<Vec<f64>> {
    let classes = classes.min(schema.labels().len());
    shares(tree, classes, columns, |id| schema.label(id).map(LabelId::index).filter(|&label| label < classes))
}

/// The same for all classes of a schema together.
#[must_use]
pub fn running_shares_of_all(tree: &ProcessTree, schema: &Schema, columns: usize) -> Vec<f64> {
    shares(tree, 1, columns, |id| schema.label(id).map(|_| 0)).pop().unwrap_or_default()
}

fn shares(tree: &ProcessTree, count: usize, columns: usize, group: impl Fn(ImageId) -> Option<usize>) -> Vec<Vec<f64>> {
    let (start, end) = tree.span_ns();
    let width = (duration(start, end) as f64 / columns as f64).max(1.0);
    let mut shares = vec![vec![0.0; columns]; count];
    for_each_run(tree, count, group, |group, from, to| {
        let (from, to) = (duration(start, from) as f64 / width, duration(start, to) as f64 / width);
        let reached = from as usize..columns.min(to.ceil() as usize);
        let first = reached.start;
        for (at, share) in (first..).zip(shares[group].get_mut(reached).into_iter().flatten()) {
            *share += to.min(at as f64 + 1.0) - from.max(at as f64);
        }
    });
    shares
}
