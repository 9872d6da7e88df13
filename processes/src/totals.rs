//! Resource use of images and processes, alone and including the processes they started.
//!
//! *Exclusive* use is that of an image itself. *Inclusive* use adds the processes that it started, directly or not:
//! each processor second counts once, however deep the tree is.
//!
//! ```text
//!   position   0 make   1 sh   2 gcc   3 cc1   4 as   5 sh      images in the order of a walk from the roots down:
//!   subtree    ├──────────────────────────────────────┤         what an image started, directly or not, follows it
//!                       ├┤     ├───────────────┤
//! ```

use barrow_analyzer::{ProcessId, Usage};

use crate::tree::{ImageId, ProcessTree, duration};

/// A sum of counts, some of which may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    sum: u64,
    known: u32,
    unknown: u32,
}

impl Sum {
    /// The sum of the known counts; `None` if none is known.
    #[must_use]
    pub fn value(&self) -> Option<u64> {
        (self.known > 0).then_some(self.sum)
    }

    /// Number of unknown counts.
    #[must_use]
    pub fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Number of known counts.
    #[must_use]
    pub fn known(&self) -> u32 {
        self.known
    }

    /// Adds a count.
    pub fn add(&mut self, count: Option<u64>) {
        match count {
            Some(count) => {
                self.sum = self.sum.saturating_add(count);
                self.known = self.known.saturating_add(1);
            }
            None => self.unknown = self.unknown.saturating_add(1),
        }
    }

    /// Adds another sum.
    pub fn add_all(&mut self, other: Sum) {
        self.sum = self.sum.saturating_add(other.sum);
        self.known = self.known.saturating_add(other.known);
        self.unknown = self.unknown.saturating_add(other.unknown);
    }
}

/// Resource use of an image or a process, including all processes that it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inclusive {
    /// Processor time in user mode.
    pub user_ns: Sum,
    /// Processor time in the system.
    pub system_ns: Sum,
    /// Time without a processor that threads could have used.
    pub waiting_ns: Sum,
    /// Images.
    pub images: u32,
}

impl Inclusive {
    fn of(used: &Usage) -> Self {
        let mut own = Inclusive { images: 1, ..Inclusive::default() };
        own.user_ns.add(used.user_ns);
        own.system_ns.add(used.system_ns);
        own.waiting_ns.add(used.waiting_ns);
        own
    }

    fn add(&mut self, other: &Inclusive) {
        self.user_ns.add_all(other.user_ns);
        self.system_ns.add_all(other.system_ns);
        self.waiting_ns.add_all(other.waiting_ns);
        self.images = self.images.saturating_add(other.images);
    }

    /// Processor time; `None` if none of it is known.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        cpu_ns(self.user_ns.value(), self.system_ns.value())
    }

    /// Minimum number of images for which a part of the processor time is unknown.
    #[must_use]
    pub fn unknown(&self) -> u32 {
        self.user_ns.unknown().max(self.system_ns.unknown())
    }
}

/// Processor time in user mode and in the system. An unknown part counts as 0; `None` if both are unknown.
#[must_use]
pub fn cpu_ns(user_ns: Option<u64>, system_ns: Option<u64>) -> Option<u64> {
    known_sum(user_ns, system_ns)
}

/// Minor and major page faults. An unknown count adds nothing; `None` if both are unknown.
pub(crate) fn faults(used: &Usage) -> Option<u64> {
    known_sum(used.minor_faults, used.major_faults)
}

fn known_sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    }
}

/// The totals of all images of a tree.
#[derive(Debug)]
pub struct Totals {
    images: Vec<Inclusive>,
    /// Time that each image ran while no process it had started did.
    alone_ns: Vec<u64>,
    /// The images in the order of a walk from the roots down.
    walk: Vec<ImageId>,
    whole: Inclusive,
}

impl Totals {
    /// Adds up a tree. Takes time linear in its images.
    #[must_use]
    pub fn of(tree: &ProcessTree) -> Self {
        let mut images: Vec<Inclusive> = tree.images().iter().map(|image| Inclusive::of(&image.used)).collect();
        let mut whole = Inclusive::default();
        // A parent began before its children: in reverse order, all children of a process are complete.
        for id in (0..tree.processes().len() as u32).rev().map(ProcessId) {
            let mut sum = Inclusive::default();
            tree.images_of(id).for_each(|(image, _)| sum.add(&images[image.index()]));
            match tree.process(id).started_by {
                Some(starter) => images[starter.index()].add(&sum),
                None => whole.add(&sum),
            }
        }
        let walk = walk(tree, &images);
        Totals { alone_ns: alone(tree), walk, images, whole }
    }

    /// Resource use of an image, including all processes that it started.
    #[must_use]
    pub fn inclusive(&self, image: ImageId) -> &Inclusive {
        &self.images[image.index()]
    }

    /// Resource use of all images of a process, including all processes that they started.
    #[must_use]
    pub fn of_process(&self, tree: &ProcessTree, process: ProcessId) -> Inclusive {
        let mut sum = Inclusive::default();
        tree.images_of(process).for_each(|(image, _)| sum.add(self.inclusive(image)));
        sum
    }

    /// Resource use of the whole tree.
    #[must_use]
    pub fn whole(&self) -> &Inclusive {
        &self.whole
    }

    /// Time that an image ran while no process it had started did.
    #[must_use]
    pub fn alone_ns(&self, image: ImageId) -> u64 {
        self.alone_ns[image.index()]
    }

    /// All images from the roots down: images that an image started, directly or not, follow it without a gap. Their
    /// number, including the image itself, is `inclusive(image).images`.
    #[must_use]
    pub fn walk(&self) -> &[ImageId] {
        &self.walk
    }
}

fn walk(tree: &ProcessTree, inclusive: &[Inclusive]) -> Vec<ImageId> {
    let mut walk = vec![ImageId(0); inclusive.len()];
    // The position of the next process that an image starts, and that of the next root.
    let mut next = vec![0u32; inclusive.len()];
    let mut next_root = 0u32;
    for id in (0..tree.processes().len() as u32).map(ProcessId) {
        let starter = tree.process(id).started_by;
        for (image, _) in tree.images_of(id) {
            let free = match starter {
                Some(starter) => &mut next[starter.index()],
                None => &mut next_root,
            };
            let position = *free;
            *free += inclusive[image.index()].images;
            walk[position as usize] = image;
            next[image.index()] = position + 1;
        }
    }
    walk
}

fn alone(tree: &ProcessTree) -> Vec<u64> {
    let mut alone: Vec<u64> = tree.images().iter().map(|image| tree.wall_ns(image)).collect();
    let mut covered_until: Vec<i64> = tree.images().iter().map(|image| image.began_ns).collect();
    for id in in_order_of_start(tree) {
        let process = tree.process(id);
        let Some(starter) = process.started_by.map(ImageId::index) else { continue };
        let from = process.began_ns.max(covered_until[starter]);
        let to = tree.ended_ns(process).min(tree.image_ended_ns(&tree.images()[starter]));
        if to > from {
            alone[starter] = alone[starter].saturating_sub(duration(from, to));
            covered_until[starter] = to;
        }
    }
    alone
}

/// All processes, in order of start.
pub(crate) fn in_order_of_start(tree: &ProcessTree) -> Vec<ProcessId> {
    let mut order: Vec<ProcessId> = (0..tree.processes().len() as u32).map(ProcessId).collect();
    if !tree.processes().is_sorted_by_key(|process| process.began_ns) {
        order.sort_by_key(|&id| tree.process(id).began_ns);
    }
    order
}
