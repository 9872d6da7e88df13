//! Depth-first numbering of the reachable objects.
//!
//! ```text
//!   number     by vertex (object or group of roots): its number, in the order of visits; 0 if it is unreachable
//!   parent     by number: the number it was visited from
//!   early      by number: the lowest number that refers to it from above in the tree
//!   late       for each number, ascending: the lower numbers that it refers to
//! ```
//!
//! When a vertex is visited, all its targets are examined. If a target has a number by then, the reference is *late*: the
//! target has been visited already. Otherwise the target will be visited below this vertex, now or later, and the
//! reference is *early*. Of the early references of a target, semidominators need only the lowest source. So no
//! reference is read twice, and the graph can be freed.
//!
//! Vertices are the objects, then the groups of roots, then the rows that objects share. A shared row is a vertex between
//! these objects and its targets, which changes no path between objects. Its references are looked at once.

use barrow_format::ObjectId;

use super::hubs::{Hubs, Notes};
use super::resident_bytes;
use crate::columns::memory::{Column, Growth, Memory, Scratch};
use crate::columns::packed::{MAX_BYTES, MaxLength, PADDING, Packer, unzigzag, zigzag};
use crate::columns::prefetch::prefetch;
use crate::error::Result;
use crate::graph::adjacency::{Adjacency, PackedTargets, Targets};
use crate::graph::ephemerons::Ephemeron;
use crate::graph::roots::{RootCategory, Roots};
use crate::graph::transposed::EachReference;
use crate::progress::{Progress, check};
use crate::run::Run;

/// The result of the search. Number 0 is the top, which all roots are children of.
pub(super) struct DepthFirst {
    /// The number of each object, and of each group of roots.
    pub(super) object_number: Column<u32>,
    pub(super) group_number: Vec<u32>,
    /// The numbers of shared rows.
    pub(super) row_number: Vec<u32>,
    pub(super) parent: Column<u32>,
    pub(super) early: Column<u32>,
    pub(super) late: LateLog,
    /// Objects with very many incoming references. Their late references are not in the log.
    pub(super) hubs: Hubs,
    /// The highest number.
    pub(super) last: u32,
}

/// Steps between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_STEPS: u32 = 1 << 16;

/// Prefetch distances in visits: for the numbers of pending vertices, and for the elements at these numbers. The first
/// changed nothing beyond noise when it was measured; both are judgements.
const FAR: usize = 16;
const NEAR: usize = 6;

/// A longer list of targets, in bytes, is that of an array. Its targets are sorted in portions of at most this many.
const ARRAY_BYTES: usize = 1 << 10;
const ARRAY_TARGETS: usize = 1 << 20;

/// The stack of vertices to visit.
struct Pending<'a> {
    /// Their ids. The targets of one source are adjacent.
    targets: &'a mut [u32],
    length: usize,
    /// For each source, where its targets begin, and its number. This is a column, because there may be as many sources
    /// as objects.
    sources: &'a mut [[u64; 2]],
    depth: usize,
}

impl Pending<'_> {
    /// Pushes a vertex if it is to be visited. Branch-free, because the condition is unpredictable.
    #[inline(always)]
    fn push_if(&mut self, target: u32, wanted: bool) {
        self.targets[self.length] = target;
        self.length += usize::from(wanted);
    }

    /// Makes the targets from `start` on those of one source, and reverses them, so that they are visited in their
    /// order. Heaps are usually built and laid out in this order, so the next object is near the last one.
    #[inline(always)]
    fn begin_source(&mut self, start: usize, number: u32) {
        if self.length > start {
            self.targets[start..self.length].reverse();
            self.sources[self.depth] = [start as u64, number.into()];
            self.depth += 1;
        }
    }

    /// The vertex that will be popped after `steps` steps, if none is pushed before.
    #[inline(always)]
    fn below(&self, steps: usize) -> Option<u32> {
        self.length.checked_sub(steps).map(|at| self.targets[at])
    }

    /// Prefetches the numbers of coming vertices, and the elements of `early` at these numbers. Most pending vertices have
    /// been visited meanwhile. Then the ones below them on the stack are next.
    #[inline(always)]
    fn prefetch_below(&self, state: &[[u32; 2]], early: &Column<u32>) {
        if let Some(far) = self.below(FAR) {
            prefetch(state, far as usize);
        }
        if let Some([_, known]) = self.below(NEAR).and_then(|near| state.get(near as usize)) {
            prefetch(early, *known as usize);
        }
    }

    /// Pops the next vertex and the number of its source.
    #[inline(always)]
    fn pop(&mut self) -> Option<(u32, u32)> {
        let [start, source] = self.sources[self.depth.checked_sub(1)?];
        self.length -= 1;
        // A source is popped together with its last target, so that long lists need no deep stack.
        self.depth -= usize::from(self.length == start as usize);
        Some((self.targets[self.length], source as u32))
    }
}

/// The context for processing the targets of a vertex.
struct Visit<'l, 'd> {
    /// The number of the vertex.
    number: u32,
    /// The number that was logged last; initially that of the vertex.
    before: u32,
    state: &'l [[u32; 2]],
    /// The numbers of shared rows, and the first of their vertices.
    row_number: &'l [u32],
    first_row: u32,
    packed: PackedTargets<'l>,
    pending: &'l mut Pending<'d>,
    log: &'l mut Packer<'d>,
    hubs: &'l mut Notes<'d>,
    /// Buffer for sorting the targets of an array.
    array: &'l mut Vec<u32>,
    room: &'l mut GrowingColumns<'d>,
}

/// The columns that grow during the search, and for how many references they have room.
struct GrowingColumns<'r> {
    left: usize,
    targets: &'r mut Growth,
    sources: &'r mut Growth,
    log: &'r mut Growth,
}

/// The least number of references that room is made for at a time.
const ROOM_STEP: usize = 1 << 16;

impl Visit<'_, '_> {
    /// Makes room for the references of a vertex, of which there are at most `most`.
    #[inline(always)]
    fn expect(&mut self, most: usize) -> Result<()> {
        // The end of a list takes a byte of the log.
        if most >= self.room.left {
            self.make_room(most + 1)?;
        }
        self.room.left -= most + 1;
        Ok(())
    }

    #[cold]
    fn make_room(&mut self, least: usize) -> Result<()> {
        let more = least.max(ROOM_STEP);
        self.room.targets.reach(self.pending.length + more + 1)?;
        // Each vertex takes at least one of them.
        self.room.sources.reach(self.pending.depth + ROOM_STEP + 1)?;
        self.room.log.reach(self.log.position() + more * MAX_BYTES + PADDING)?;
        self.hubs.reach(more)?;
        self.room.left = more;
        Ok(())
    }

    /// Processes the targets of an object, with the values that it keeps alive as a key, of a group of roots, or of a
    /// shared row.
    #[inline(always)]
    fn at_vertex(&mut self, vertex: u32, groups: &[RootCategory], ephemerons: &[Ephemeron]) -> Result<()> {
        if let Some(&[start, _]) = self.state.get(vertex as usize) {
            self.at_object(vertex, start)?;
            if !ephemerons.is_empty() {
                self.expect(values_of(ephemerons, ObjectId(vertex)).count())?;
                self.at_each(values_of(ephemerons, ObjectId(vertex)).map(|value| value.0));
            }
            return Ok(());
        }
        if vertex >= self.first_row {
            return self.at_targets_of_row(vertex - self.first_row);
        }
        let targets = &groups[vertex as usize - self.state.len()].targets;
        self.expect(targets.len())?;
        self.at_each(targets.iter().map(|target| target.0));
        Ok(())
    }

    /// Processes the targets of an object with this start.
    #[inline(always)]
    fn at_object(&mut self, object: u32, start: u32) -> Result<()> {
        match self.packed.shared_row(object, start) {
            Some(row) => self.at_row(row),
            None => self.at_targets(self.packed.targets(object, |object| self.state[object][0])),
        }
    }

    /// Logs a shared row if it has a number, and pushes it otherwise.
    #[cold]
    fn at_row(&mut self, row: u32) -> Result<()> {
        self.expect(1)?;
        let known = self.row_number[row as usize];
        self.pending.push_if(self.first_row + row, known == 0);
        self.log_if(known, known != 0);
        Ok(())
    }

    /// Processes the targets of a shared row.
    #[cold]
    fn at_targets_of_row(&mut self, row: u32) -> Result<()> {
        self.at_targets(self.packed.targets_of_row(row))
    }

    /// Logs a number below that of the vertex.
    #[inline(always)]
    fn log_if(&mut self, known: u32, is_late: bool) {
        self.log.put_if(zigzag(i64::from(self.before) - i64::from(known)), is_late);
        self.before = if is_late { known } else { self.before };
    }

    /// Processes the targets of an object. The targets of an array may be anywhere, so they are sorted by memory
    /// location first.
    #[inline(always)]
    fn at_targets(&mut self, mut stored: Targets<'_>) -> Result<()> {
        self.expect(stored.bytes_left())?;
        if !stored.is_longer_than(ARRAY_BYTES) {
            self.at_each(stored);
            return Ok(());
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
        Ok(())
    }

    /// Logs the targets that have a number, and pushes the others.
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
            self.log_if(known, is_late);
            self.packed.prefetch(target, start);
        }
    }
}

/// Numbers the objects that the roots reach.
///
/// Time: each reference is decoded once. Memory: 8 bytes per vertex, the log, and the stack with 4 bytes per target and
/// 16 per source. Numbers are written to the marks of the adjacency, which is consumed. Sequential.
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
    let first_row = objects + groups.len();
    let vertices = first_row + adjacency.shared_rows();
    progress.begin("numbering objects", objects as u64, "objects");
    let references = adjacency.stored_references() as usize + ephemerons.len() + group_targets(roots);
    let mut parent: Column<u32> = memory.with_room(vertices + 1, reserved_bytes)?;
    let mut early: Column<u32> = memory.with_room(vertices + 1, 0)?;
    let mut late = LateLog::new(references, vertices, memory)?;
    let (mut group_number, mut row_number) = (vec![0; groups.len()], vec![0; adjacency.shared_rows()]);
    // One more, because a vertex is written before it is known whether it stays.
    let mut targets: Scratch<u32> = memory.scratch(references + groups.len() + 1)?;
    let mut sources: Scratch<[u64; 2]> = memory.scratch(vertices + 1)?;
    let ((targets, targets_growth), (sources, sources_growth)) = (targets.parts(), sources.parts());
    let (log, log_growth) = late.bytes.parts();
    targets_growth.reach(groups.len() + 1)?;
    sources_growth.reach(1)?;
    let mut room = GrowingColumns { left: 0, targets: targets_growth, sources: sources_growth, log: log_growth };
    let mut pending = Pending { targets, length: 0, sources, depth: 0 };
    (objects..first_row).for_each(|group| pending.push_if(group as u32, true));
    pending.begin_source(0, 0);
    let mut log = Packer::new(log, late.longest);
    let (packed, state) = adjacency.marked();
    let mut hubs = Hubs::find(packed, state, vertices, references, memory)?;
    let mut notes = hubs.notes();
    let mut last = 0;
    let mut array = Vec::new();
    while let Some((vertex, source)) = pending.pop() {
        pending.prefetch_below(state, &early);
        let number = number_of(vertex as usize, state, &mut notes, &mut group_number, &mut row_number);
        if *number != 0 {
            // It was visited below `source` after it had been pushed.
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
        let mut visit = Visit {
            number: last,
            before: last,
            state,
            row_number: &row_number,
            first_row: first_row as u32,
            packed,
            pending: &mut pending,
            log: &mut log,
            hubs: &mut notes,
            array: &mut array,
            room: &mut room,
        };
        visit.at_vertex(vertex, groups, ephemerons)?;
        log.put(0);
        pending.begin_source(before, last);
    }
    late.lists = last;
    hubs.unmark(state);
    let object_number = adjacency.into_marks();
    Ok(DepthFirst { object_number, group_number, row_number, parent, early, late, hubs, last })
}

/// The number of a vertex; 0 until it is visited.
#[inline(always)]
fn number_of<'n>(
    vertex: usize,
    state: &'n mut [[u32; 2]],
    hubs: &'n mut Notes<'_>,
    group_number: &'n mut [u32],
    row_number: &'n mut [u32],
) -> &'n mut u32 {
    let first_group = state.len();
    let first_row = first_group + group_number.len();
    match state.get_mut(vertex) {
        Some([_, mark]) => match Hubs::of_mark(*mark) {
            Some(hub) => hubs.number(hub),
            None => mark,
        },
        None if vertex < first_row => &mut group_number[vertex - first_group],
        None => &mut row_number[vertex - first_row],
    }
}

fn group_targets(roots: &Roots) -> usize {
    roots.categories().iter().map(|group| group.targets.len()).sum()
}

/// The values that a key keeps alive. The ephemerons are sorted by key.
fn values_of(ephemerons: &[Ephemeron], key: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
    let first = ephemerons.partition_point(|ephemeron| ephemeron.key < key);
    ephemerons[first..].iter().take_while(move |ephemeron| ephemeron.key == key).map(|ephemeron| ephemeron.value)
}

/// For each number in ascending order, the numbers it refers to. Each is stored as its difference to the one before it,
/// the first to the number itself, in packed zigzag form. A 0 ends the list.
pub(super) struct LateLog {
    bytes: Scratch<u8>,
    longest: MaxLength,
    /// The number of lists.
    lists: u32,
}

impl LateLog {
    fn new(references: usize, vertices: usize, memory: &Memory) -> Result<Self> {
        let bytes = memory.scratch(references * MAX_BYTES + vertices + PADDING)?;
        Ok(LateLog { bytes, longest: MaxLength::of(2 * vertices as u64), lists: 0 })
    }
}

impl EachReference for LateLog {
    #[inline(always)]
    fn for_each(&self, progress: &dyn Progress, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        let bytes = &self.bytes[..];
        let mut at = 0;
        for source in 1..=self.lists {
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
