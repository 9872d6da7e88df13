//! Incoming references: which objects refer to an object.
//!
//! ```text
//!   counts    by object: number of references to it                    1 byte per object
//!   many      the objects with MANY references or more                 object, count, length of its list in bytes
//!   lists     by object: sources, packed                               1 to 2 bytes per reference
//!             the first as the difference to the object, the others as differences to the one before
//!   starts    for every GROUP objects, where their lists start
//! ```
//!
//! A list is found from the start of its group by passing the lists before it.

mod transposing;

use std::ops::Range;

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::{ObjectId, SnapshotId};

use crate::columns::lookup::Lookup;
use crate::columns::packed::{MaxLength, PADDING, unzigzag};
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, map_blocks, places};
use crate::file::object::Cursor;
use crate::file::recording::Recording;
use crate::graph::exclusion::Exclusion;
use crate::progress::Progress;

/// Objects with at least this number of references have a row in `many`.
const MANY: u64 = u8::MAX as u64;
/// Objects that share one start of 8 bytes, a quarter for each; up to 31 lists are passed on the way to one. This is a
/// judgement.
const GROUP: usize = 32;
/// Objects whose references are transposed together. Their numbers within a part take 16 bits.
const PART: usize = 1 << 16;
/// Starts of a part: one for each group, and its end.
const STARTS: usize = PART / GROUP + 1;

/// The incoming references of all objects.
#[derive(Debug)]
pub struct Incoming {
    counts: Lookup<u8>,
    /// Ascending by object.
    many: Vec<[u64; 3]>,
    starts: Lookup<u64>,
    lists: Lookup<u8>,
    longest: MaxLength,
}

/// The columns that an index file keeps.
pub(crate) struct IncomingColumns<'s> {
    pub(crate) counts: &'s [u8],
    pub(crate) many: &'s [[u64; 3]],
    pub(crate) starts: &'s [u64],
    pub(crate) lists: &'s [u8],
}

impl Incoming {
    /// The columns as slices. Those that are checked only where they are read are empty.
    pub(crate) fn columns(&self) -> IncomingColumns<'_> {
        // Parts are in no particular order.
        let bytes = self.starts.whole().iter().max().map_or(0, |&end| end as usize + PADDING);
        let lists = self.lists.whole().get(..bytes).unwrap_or_default();
        IncomingColumns { counts: self.counts.whole(), many: &self.many, starts: self.starts.whole(), lists }
    }

    /// From columns of an index file, if their lengths fit. Their values are checked where they are used.
    pub(crate) fn of_columns(
        objects: u64,
        counts: Lookup<u8>,
        many: Vec<[u64; 3]>,
        starts: Lookup<u64>,
        lists: Lookup<u8>,
    ) -> Option<Self> {
        let objects = usize::try_from(objects).ok()?;
        let fits = counts.len() == objects && starts.len() == objects.div_ceil(PART) * STARTS;
        fits.then(|| Incoming { counts, many, starts, lists, longest: longest(objects) })
    }

    /// Returns whether damaged values were read.
    pub(crate) fn are_damaged(&self) -> bool {
        self.counts.is_damaged() || self.starts.is_damaged() || self.lists.is_damaged()
    }

    /// The number of references to an object.
    #[must_use]
    pub fn count(&self, object: ObjectId) -> u64 {
        match u64::from(self.counts.at(object.index())) {
            MANY => self.many_of(object.index()).map_or(MANY, |[_, count, _]| count),
            count => count,
        }
    }

    /// The objects that refer to an object, ascending, without duplicates.
    #[must_use]
    pub fn sources(&self, object: ObjectId) -> Vec<ObjectId> {
        let mut sources: Vec<ObjectId> = self.each_source(object).into_iter().map(ObjectId).collect();
        sources.dedup();
        sources
    }

    /// The source of every reference to an object, ascending. Fewer if the columns are damaged.
    pub(crate) fn each_source(&self, object: ObjectId) -> Vec<u32> {
        self.read(object.index()).unwrap_or_default()
    }

    fn read(&self, object: usize) -> Option<Vec<u32>> {
        let first = object / GROUP * GROUP;
        let lists = self.lists.slice(self.group(object)?)?;
        let mut at = 0;
        for before in first..object {
            self.pass(before, lists, &mut at)?;
        }
        let mut sources = Vec::new();
        let mut source = object as u64;
        let mut each = |number: u64| {
            let difference = if sources.is_empty() { unzigzag(number).cast_unsigned() } else { number };
            source = source.wrapping_add(difference);
            let is_object = source < self.counts.len() as u64;
            is_object.then(|| sources.push(source as u32))
        };
        for _ in 0..self.count(ObjectId(object as u32)) {
            each(self.number(lists, &mut at)?)?;
        }
        Some(sources)
    }

    /// The range of the lists of an object's group, with padding.
    fn group(&self, object: usize) -> Option<Range<usize>> {
        let at = object / PART * STARTS + object % PART / GROUP;
        let start = usize::try_from(self.starts.at(at)).ok()?;
        let end = usize::try_from(self.starts.at(at + 1)).ok()?;
        Some(start..end.checked_add(PADDING)?)
    }

    /// Advances `at` over the list of an object.
    fn pass(&self, object: usize, lists: &[u8], at: &mut usize) -> Option<()> {
        let count = u64::from(self.counts.at(object));
        if count == MANY {
            let [_, _, bytes] = self.many_of(object)?;
            *at = at.checked_add(usize::try_from(bytes).ok()?)?;
            return Some(());
        }
        (0..count).try_for_each(|_| self.number(lists, at).map(drop))
    }

    #[inline(always)]
    fn number(&self, lists: &[u8], at: &mut usize) -> Option<u64> {
        (at.checked_add(PADDING)? <= lists.len()).then(|| self.longest.get(lists, at))
    }

    fn many_of(&self, object: usize) -> Option<[u64; 3]> {
        let at = self.many.binary_search_by_key(&(object as u64), |&[object, ..]| object).ok()?;
        Some(self.many[at])
    }
}

/// The length of the longest numbers: a zigzag difference takes one bit more than an object number.
fn longest(objects: usize) -> MaxLength {
    MaxLength::of(2 * objects as u64)
}

/// The source of every reference to `target`, ascending. Scans all references, in parallel on the current pool.
pub(crate) fn scan(
    recording: &Recording,
    snapshot: SnapshotId,
    target: ObjectId,
    exclusion: Option<&Exclusion>,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let places = places(recording, &[snapshot])?;
    begin_scan(&places, progress);
    let found = map_blocks(recording, &places, ColumnSelection::References, progress, |place, _, columns| {
        let mut sources = Vec::new();
        each_hit(recording, place, columns, target, exclusion, |hit| {
            sources.extend(std::iter::repeat_n(hit.source.0, hit.count as usize));
        })?;
        Ok(sources)
    })?;
    Ok(found.concat())
}

/// Reports the start of a scan over the references of these blocks.
pub(crate) fn begin_scan(places: &[BlockPlace], progress: &dyn Progress) {
    let references = places.iter().map(|place| u64::from(place.entry.references)).sum();
    progress.begin("looking at all references", references, "references");
}

/// The references from one object, within one block, to the target of a scan.
pub(crate) struct Hit {
    /// The row of the object in the block; 0 in a continuation.
    pub(crate) row: usize,
    /// The object that refers to the target.
    pub(crate) source: ObjectId,
    /// The number of its references to the target.
    pub(crate) count: u64,
}

/// Calls `visit` for every object of a block that refers to `target`.
pub(crate) fn each_hit(
    recording: &Recording,
    place: &BlockPlace,
    columns: &BlockColumns,
    target: ObjectId,
    exclusion: Option<&Exclusion>,
    mut visit: impl FnMut(Hit),
) -> Result<()> {
    // Most blocks contain no reference to it.
    if !columns.targets.contains(&target.0) {
        return Ok(());
    }
    let tables = recording.tables()?;
    let (mut cursor, mut references) = (Cursor::default(), Vec::new());
    for row in 0..columns.counts.len() {
        let source = ObjectId(columns.first_object + row as u32);
        let mut count = cursor.targets(columns, row).iter().filter(|&&other| other == target.0).count() as u64;
        if let Some(exclusion) = exclusion.filter(|_| count > 0) {
            references.clear();
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            cursor.push_references(columns, row, tables, &mut references).map_err(at)?;
            references.retain(|reference| reference.target == target && !exclusion.cuts(source, reference));
            count = references.len() as u64;
        }
        if count > 0 {
            visit(Hit { row, source, count });
        }
        cursor.step(columns, row);
    }
    Ok(())
}
