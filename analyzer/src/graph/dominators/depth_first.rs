//! Numbering the reachable objects depth first.
//!
//! ```text
//!   number     vertex (object or group of roots) ─▶ its number, in the order of first visits; 0 if it is not reached
//!   parent     number ─▶ the number it was visited from
//!   early      number ─▶ the least number that refers to it from above in the tree
//!   late       for each number, ascending: the numbers it refers to that are less than its own
//! ```
//!
//! A vertex looks at all its targets when it is visited. Those that have a number by then are visited
//! for ever: the reference is a *late* one of its target. Those that have none will be visited below
//! this vertex, now or later: the reference is an *early* one, and of these only the least source
//! matters to semidominators. So no reference is looked at again, and the graph can go.

use barrow_format::ObjectId;

use super::hubs::{Hubs, Notes};
use super::resident_bytes;
use crate::columns::memory::{Column, Memory};
use crate::columns::packed::{Longest, MAX_BYTES, PADDING, Packer, unzigzag, zigzag};
use crate::columns::prefetch::prefetch;
use crate::error::Result;
use crate::graph::adjacency::{Adjacency, PackedTargets, Targets};
use crate::graph::ephemerons::Ephemeron;
use crate::graph::roots::Roots;
use crate::graph::transposed::EachReference;
use crate::progress::{Progress, check};
use crate::run::Run;

/// What the search leaves behind. Number 0 is the place that all roots are held from.
pub(super) struct DepthFirst {
    /// The number of each object, and of each group of roots.
    pub(super) object_number: Column<u32>,
    pub(super) group_number: Vec<u32>,
    pub(super) parent: Column<u32>,
    pub(super) early: Column<u32>,
    pub(super) late: LateLog,
    /// Objects that very many refer to: their late references are not in the log.
    pub(super) hubs: Hubs,
    /// The greatest number.
    pub(super) last: u32,
}

/// Steps between looks at whether to stop.
const CHECK_STEPS: u32 = 1 << 16;

/// How far ahead of their visits the memory of waiting vertices is asked for: of their numbers, then of
/// what stands at these numbers.
const FAR: usize = 16;
const NEAR: usize = 6;

/// A row of more bytes is that of an array. So many of its targets are put in order at a time.
const ARRAY_BYTES: usize = 1 << 10;
const ARRAY_TARGETS: usize = 1 << 20;

/// Vertices that are still to be visited.
struct Pending<'a> {
    /// Their ids, those of one source behind each other.
    targets: &'a mut [u32],
    length: usize,
    /// Where the targets of each source begin, and its number. A column, as there may be as many as objects.
    sources: &'a mut [[u64; 2]],
    depth: usize,
}

impl Pending<'_> {
    /// Puts a vertex there if it is to be visited; without a branch, since nobody can foresee it.
    #[inline(always)]
    fn push_if(&mut self, target: u32, wanted: bool) {
        self.targets[self.length] = target;
        self.length += usize::from(wanted);
    }

    /// Makes what stands behind `start` the targets of one source, to be visited in their order: that is
    /// how heaps are built and laid out, so it finds the next object near the last one.
    #[inline(always)]
    fn begin_source(&mut self, start: usize, number: u32) {
        if self.length > start {
            self.targets[start..self.length].reverse();
            self.sources[self.depth] = [start as u64, number.into()];
            self.depth += 1;
        }
    }

    /// What will be popped in so many steps, if nothing is put there before.
    #[inline(always)]
    fn below(&self, steps: usize) -> Option<u32> {
        self.length.checked_sub(steps).map(|at| self.targets[at])
    }

    /// The next vertex and the number it is visited from.
    #[inline(always)]
    fn pop(&mut self) -> Option<(u32, u32)> {
        let [start, source] = self.sources[self.depth.checked_sub(1)?];
        self.length -= 1;
        // A source whose last target is taken goes at once: long lists need no deep stack.
        self.depth -= usize::from(self.length == start as usize);
        Some((self.targets[self.length], source as u32))
    }
}

/// What a vertex needs to look at its targets.
struct Look<'l, 'd> {
    /// Its own number.
    number: u32,
    /// What was logged last; at first its own number.
    before: u32,
    state: &'l [[u32; 2]],
    packed: PackedTargets<'l>,
    pending: &'l mut Pending<'d>,
    log: &'l mut Packer<'d>,
    hubs: &'l mut Notes<'d>,
    /// Targets of an array, while they are put in order.
    array: &'l mut Vec<u32>,
}

impl Look<'_, '_> {
    /// Looks at the targets of an object; at those of an array, which may lie anywhere, as they lie in memory.
    #[inline(always)]
    fn at_targets(&mut self, mut stored: Targets<'_>) {
        if !stored.is_longer_than(ARRAY_BYTES) {
            return self.at_each(stored);
        }
        let state = self.state;
        let mut targets = std::mem::take(self.array);
        loop {
            targets.clear();
            targets.extend(stored.by_ref().take(ARRAY_TARGETS));
            if targets.is_empty() {
                break;
            }
            if !targets.is_sorted() {
                radsort::sort(&mut targets);
            }
            self.at_each(targets.iter().enumerate().map(|(at, &target)| {
                prefetch(state, targets.get(at + FAR).map_or(0, |&coming| coming as usize));
                target
            }));
        }
        *self.array = targets;
    }

    /// Logs those that have a number, and puts the others where they wait.
    #[inline(always)]
    fn at_each(&mut self, targets: impl Iterator<Item = u32>) {
        for target in targets {
            let [start, mut known] = self.state[target as usize];
            if let Some(hub) = Hubs::of_mark(known) {
                known = *self.hubs.number(hub);
                if known != 0 {
                    self.hubs.note(hub, self.number);
                    continue;
                }
            }
            self.pending.push_if(target, known == 0);
            let is_late = (known != 0) & (known != self.number) & (known != self.before);
            self.log.put_if(zigzag(i64::from(self.before) - i64::from(known)), is_late);
            self.before = if is_late { known } else { self.before };
            self.packed.prefetch(target, start);
        }
    }
}

/// Numbers what the roots reach.
///
/// Time: each reference is decoded once. Memory: 8 bytes a vertex, what the log takes, and what waits: 4 bytes a
/// target and 16 a source of some. Numbers stand in the marks of the rows, which are taken.
/// Sequential.
///
/// # Errors
/// [`crate::AnalyzerError::Cancelled`], those of [`Memory`].
pub(super) fn number_depth_first(
    adjacency: Adjacency,
    roots: &Roots,
    ephemerons: &[Ephemeron],
    run: Run<'_>,
) -> Result<DepthFirst> {
    let Run { memory, progress } = run;
    let mut adjacency = adjacency.bring_in(memory)?;
    let objects = adjacency.objects();
    let reserved_bytes = resident_bytes(objects as u64);
    let groups = roots.categories();
    let vertices = objects + groups.len();
    progress.begin("numbering objects", objects as u64, "objects");
    let references = adjacency.references() as usize + ephemerons.len() + group_targets(roots);
    let mut parent: Column<u32> = memory.with_room(vertices + 1, reserved_bytes)?;
    let mut early: Column<u32> = memory.with_room(vertices + 1, 0)?;
    let mut late = LateLog::new(references, vertices, memory)?;
    let mut group_number = vec![0; groups.len()];
    // One more, as vertices are put there before it is known whether they stay.
    let mut targets = memory.scratch(references + groups.len() + 1)?;
    let mut sources = memory.scratch(vertices + 1)?;
    let mut pending = Pending { targets: &mut targets, length: 0, sources: &mut sources, depth: 0 };
    (objects..vertices).for_each(|group| pending.push_if(group as u32, true));
    pending.begin_source(0, 0);
    let mut log = Packer::new(&mut late.bytes, late.longest);
    let (packed, state) = adjacency.marked();
    let mut hubs = Hubs::find(packed, state, vertices, references, memory)?;
    let mut notes = hubs.notes();
    let mut last = 0;
    let mut array = Vec::new();
    while let Some((vertex, source)) = pending.pop() {
        // Most of what waits was visited meanwhile: then this one's neighbours below are next.
        if let Some(far) = pending.below(FAR) {
            prefetch(state, far as usize);
        }
        if let Some([_, known]) = pending.below(NEAR).and_then(|near| state.get(near as usize)) {
            prefetch(&early, *known as usize);
        }
        let number = match state.get_mut(vertex as usize) {
            Some([_, mark]) => match Hubs::of_mark(*mark) {
                Some(hub) => notes.number(hub),
                None => mark,
            },
            None => &mut group_number[vertex as usize - objects],
        };
        if *number != 0 {
            // Visited below `source` since it was put there.
            early[*number as usize] = early[*number as usize].min(source);
            continue;
        }
        last += 1;
        *number = last;
        parent[last as usize] = source;
        early[last as usize] = source;
        if last % CHECK_STEPS == 0 {
            check(progress)?;
            progress.advance(CHECK_STEPS.into());
        }
        let before = pending.length;
        let mut look = Look {
            number: last,
            before: last,
            state,
            packed,
            pending: &mut pending,
            log: &mut log,
            hubs: &mut notes,
            array: &mut array,
        };
        if (vertex as usize) < objects {
            look.at_targets(packed.targets(vertex, |object| state[object][0]));
            if !ephemerons.is_empty() {
                look.at_each(values_of(ephemerons, ObjectId(vertex)).map(|value| value.0));
            }
        } else {
            look.at_each(groups[vertex as usize - objects].targets.iter().map(|target| target.0));
        }
        log.put(0);
        pending.begin_source(before, last);
    }
    late.rows = last;
    hubs.unmark(state);
    Ok(DepthFirst { object_number: adjacency.into_marks(), group_number, parent, early, late, hubs, last })
}

fn group_targets(roots: &Roots) -> usize {
    roots.categories().iter().map(|group| group.targets.len()).sum()
}

/// What a key keeps alive, of ephemerons that are sorted by key.
fn values_of(ephemerons: &[Ephemeron], key: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
    let first = ephemerons.partition_point(|ephemeron| ephemeron.key < key);
    ephemerons[first..].iter().take_while(move |ephemeron| ephemeron.key == key).map(|ephemeron| ephemeron.value)
}

/// For each number, ascending: the numbers it refers to, each as what it is less than the one before it, the first than the
/// number itself; zigzag, packed; then a 0.
pub(super) struct LateLog {
    bytes: Column<u8>,
    longest: Longest,
    /// Numbers that have a row.
    rows: u32,
}

impl LateLog {
    fn new(references: usize, vertices: usize, memory: &Memory) -> Result<Self> {
        let bytes = memory.scratch(references * MAX_BYTES + vertices + PADDING)?;
        Ok(LateLog { bytes, longest: Longest::of(2 * vertices as u64), rows: 0 })
    }
}

impl EachReference for LateLog {
    #[inline(always)]
    fn for_each(&self, progress: &dyn Progress, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        let bytes = &self.bytes[..];
        let mut at = 0;
        for source in 1..=self.rows {
            if source % CHECK_STEPS == 0 {
                check(progress)?;
            }
            let mut target = source;
            loop {
                let difference = unzigzag(self.longest.get(bytes, &mut at)) as u32;
                if difference == 0 {
                    break;
                }
                target = target.wrapping_sub(difference);
                visit(source, target);
            }
        }
        Ok(())
    }
}
