//! The steps that were met, by the step above them and their kind, and the places of them that still wait.

/// No step, no place.
pub(super) const NONE: u32 = u32::MAX;
/// The number of the step at the top.
pub(super) const TOP: u32 = 0;
/// The first size of the table of places, a power of two. It doubles when half of it is used.
const FEWEST_SLOTS: usize = 64;

/// What the topmost objects of a step add up to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepSums {
    /// The number of objects and bytes that they retain together.
    pub(crate) retained: (u64, u64),
    /// The bytes of the one that retains most,
    largest_bytes: u64,
    /// and its position; the first of several.
    largest: u32,
    /// The first of their positions.
    first: u32,
}

impl StepSums {
    /// Nothing yet.
    const NOTHING: StepSums = StepSums { retained: (0, 0), largest_bytes: 0, largest: NONE, first: NONE };

    /// One object.
    pub(super) fn one(position: u32, objects: u64, bytes: u64) -> Self {
        StepSums { retained: (objects, bytes), largest_bytes: bytes, largest: position, first: position }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, other: StepSums) {
        // The sizes in a hostile file may add up to more than 64 bits.
        self.retained = (self.retained.0 + other.retained.0, self.retained.1.wrapping_add(other.retained.1));
        self.first = self.first.min(other.first);
        if (other.largest_bytes, self.largest) > (self.largest_bytes, other.largest) {
            (self.largest_bytes, self.largest) = (other.largest_bytes, other.largest);
        }
    }

    /// The position of the object that retains most, the first of several.
    pub(crate) fn largest(&self) -> Option<u32> {
        // In a damaged tree there may be steps without objects.
        (self.largest != NONE).then_some(self.largest)
    }

    pub(super) fn first(&self) -> u32 {
        self.first
    }
}

/// A step.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) parent: u32,
    pub(super) kind: u32,
    /// The number of steps above it.
    pub(super) depth: u32,
    /// The number of objects counted so far, including those directly below others of it.
    pub(super) objects: u32,
    pub(super) sums: StepSums,
    /// What is below later objects of it is counted at once.
    pub(super) is_open: bool,
    /// The last of its places that wait.
    waiting: u32,
    /// The step below it that was met last, and the one with the same parent that was met before it.
    child: u32,
    sibling: u32,
}

/// All steps below one.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) steps: Vec<Record>,
    /// By hash of parent and kind: a step.
    slots: Vec<u32>,
    /// Places whose subtrees are not counted, and the one of the same step before it. Those of one step are one list;
    /// the free ones are one, too.
    waiting: Vec<(u32, u32)>,
    free: u32,
}

impl Table {
    /// A table with one step of this kind and number of steps above it.
    pub(super) fn new(kind: u32, depth: u32) -> Self {
        let mut table = Table { steps: Vec::new(), slots: vec![NONE; FEWEST_SLOTS], waiting: Vec::new(), free: NONE };
        table.push(NONE, kind, depth);
        table
    }

    fn push(&mut self, parent: u32, kind: u32, depth: u32) -> u32 {
        let step = self.steps.len() as u32;
        let sibling =
            self.steps.get_mut(parent as usize).map_or(NONE, |above| std::mem::replace(&mut above.child, step));
        let sums = StepSums::NOTHING;
        let (waiting, child, is_open) = (NONE, NONE, false);
        self.steps.push(Record { parent, kind, depth, objects: 0, sums, is_open, waiting, child, sibling });
        step
    }

    /// The step of a kind below another one.
    #[inline(always)]
    pub(super) fn child(&mut self, parent: u32, kind: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = hash(parent, kind) & mask;
        loop {
            let step = self.slots[slot];
            match self.steps.get(step as usize) {
                Some(record) if record.parent == parent && record.kind == kind => return step,
                Some(_) => slot = (slot + 1) & mask,
                None => return self.add(slot, parent, kind),
            }
        }
    }

    #[cold]
    fn add(&mut self, slot: usize, parent: u32, kind: u32) -> u32 {
        let depth = self.steps[parent as usize].depth + 1;
        let step = self.push(parent, kind, depth);
        self.slots[slot] = step;
        if self.steps.len() * 2 > self.slots.len() {
            let mask = self.slots.len() * 2 - 1;
            let mut slots = vec![NONE; mask + 1];
            for (step, record) in (0u32..).zip(&self.steps).skip(1) {
                let mut slot = hash(record.parent, record.kind) & mask;
                while slots[slot] != NONE {
                    slot = (slot + 1) & mask;
                }
                slots[slot] = step;
            }
            self.slots = slots;
        }
        step
    }

    /// The steps directly below one.
    pub(super) fn children(&self, step: u32) -> impl Iterator<Item = u32> {
        let first = Some(self.steps[step as usize].child).filter(|&child| child != NONE);
        std::iter::successors(first, |&child| {
            Some(self.steps[child as usize].sibling).filter(|&sibling| sibling != NONE)
        })
    }

    /// Lets a place of a step wait.
    pub(super) fn wait(&mut self, step: u32, place: u32) {
        let last = &mut self.steps[step as usize].waiting;
        let entry = (place, *last);
        if self.free == NONE {
            *last = self.waiting.len() as u32;
            self.waiting.push(entry);
        } else {
            *last = self.free;
            self.free = std::mem::replace(&mut self.waiting[*last as usize], entry).1;
        }
    }

    /// Takes one of the places of a step that wait.
    pub(super) fn take_waiting(&mut self, step: u32) -> Option<u32> {
        let last = &mut self.steps[step as usize].waiting;
        let &(place, before) = self.waiting.get(*last as usize)?;
        let entry = std::mem::replace(last, before);
        self.waiting[entry as usize].1 = std::mem::replace(&mut self.free, entry);
        Some(place)
    }

    /// Returns whether places of a step wait.
    pub(super) fn has_waiting(&self, step: u32) -> bool {
        self.steps[step as usize].waiting != NONE
    }

    /// The places of a step that wait.
    pub(super) fn waiting_of(&self, step: u32) -> impl Iterator<Item = u32> {
        let first = self.waiting.get(self.steps[step as usize].waiting as usize);
        std::iter::successors(first, |&&(_, before)| self.waiting.get(before as usize)).map(|&(place, _)| place)
    }

    /// Adds what was met below `step` in another part of the tree. The top of `other` is this step.
    pub(super) fn append(&mut self, step: u32, mut other: Table) {
        let mut own = vec![step];
        for at in 0..other.steps.len() {
            if at > 0 {
                let Record { parent, kind, .. } = other.steps[at];
                own.push(self.child(own[parent as usize], kind));
            }
            while let Some(place) = other.take_waiting(at as u32) {
                self.wait(own[at], place);
            }
            let (record, own) = (&other.steps[at], &mut self.steps[own[at] as usize]);
            own.objects = own.objects.wrapping_add(record.objects);
            own.sums.add(record.sums);
            own.is_open |= record.is_open;
        }
    }
}

#[inline(always)]
fn hash(parent: u32, kind: u32) -> usize {
    // Multiplied by the golden ratio, the upper bits depend on all bits.
    let product = ((u64::from(parent) << 32) | u64::from(kind)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product ^ (product >> 32)) as usize
}
