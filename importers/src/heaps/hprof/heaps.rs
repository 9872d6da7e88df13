//! The heap dumps of a file: each becomes a snapshot.
//!
//! ```text
//!   names, classes │ HEAP DUMP                    │ names, classes │ HEAP DUMP …                    one record each
//!   names, classes │ SEGMENT … SEGMENT · DUMP END │ names, classes │ SEGMENT … SEGMENT · DUMP END …
//! ```
//!
//! The JVM's `hprof` agent writes a heap dump at each signal and one at exit, all into one file. Names and classes
//! written before one dump are not written again before the next. A heap dump that has no class in common with the
//! one before continues it: some writers end the dump whenever other records come between.

use std::collections::{HashSet, VecDeque};
use std::sync::OnceLock;

use barrow_writer::Shortened;
use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::context::Context;
use crate::error::{Damage, ImportError};

use super::layout::ObjectLayout;
use super::outline::{JobOutline, Names, Outline, Purpose, find_layout, group};
use super::places::{RecordPlaces, Records, Segment};
use super::records::{Header, record, tag};
use super::recovery::{Recovered, recover};
use super::texts;

/// Goes from record to record by their lengths, and adds those before the end of the first heap dump to `names`.
/// Returns `None` if a length leads to no record.
fn find<'a, const ID: usize>(
    dump: &'a [u8],
    start: usize,
    names: &mut Names<'a>,
    context: &Context<'_>,
) -> Option<RecordPlaces<Segment<'a>>> {
    let mut places = RecordPlaces::new();
    let mut offset = start;
    while let Some(record) = record(dump, offset).ok()? {
        // The length of a class record is fixed; another one is damage.
        let is_class = record.tag != tag::LOAD_CLASS || record.body.len() == 8 + 2 * ID;
        if (record.body.len() as u64) < record.length || !is_class {
            return None;
        }
        let end = record.body_offset + record.body.len();
        // If the system maps pages by the megabyte, touching each segment maps the whole dump.
        context.progress.advance((end - offset) as u64);
        if matches!(record.tag, tag::HEAP_DUMP | tag::HEAP_DUMP_SEGMENT) {
            let heap = places.begin(record.tag);
            places.segments.push(Segment { bytes: record.body, heap });
            places.end(record.tag);
        } else if places.heap == 0 && record.tag != tag::HEAP_DUMP_END {
            let _ = names.add::<ID>(record.tag, record.body);
        } else {
            places.other(record.tag, offset, end);
        }
        offset = end;
    }
    Some(places)
}

/// Maximum number of heap dumps in one file. Each takes a pass over the names and classes of the file: a file of
/// nothing but tiny dumps would take hours. The JVM's agent writes one for each signal.
const MOST_HEAPS: u32 = 1000;

/// Sub-records that a damaged dump holds in parts, joined.
#[derive(Debug, Default)]
pub(super) struct JoinedSubRecords(OnceLock<Vec<Vec<u8>>>);

/// The heap dumps of a file, one after the other.
pub(super) struct Heaps<'a> {
    dump: &'a [u8],
    names: Names<'a>,
    layout: (ObjectLayout, bool),
    purpose: Purpose,
    /// The class of strings, if a record before the heap names it.
    string_class: Option<u64>,
    records: VecDeque<Records>,
    /// The outline of each job, and the number of its heap dump.
    found: VecDeque<(u32, JobOutline<'a>)>,
    /// Number of heap dumps returned.
    given: u32,
    /// The damage to the file, if any.
    pub(super) damage: Option<Damage>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

impl<'a> Heaps<'a> {
    /// Scans the whole file, on all threads of the current pool.
    pub(super) fn read<const ID: usize>(
        dump: &'a [u8],
        header: &Header<'_>,
        purpose: Purpose,
        joined: &'a JoinedSubRecords,
        context: &Context<'_>,
    ) -> Result<Self, ImportError> {
        context.progress.begin("looking through", dump.len() as u64, "bytes");
        let given_layout = context.options.of_formats.get::<ObjectLayout>().copied();
        let mut heaps = Heaps {
            dump,
            names: Names::default(),
            layout: (given_layout.unwrap_or_else(|| find_layout::<ID>(&[]).0), given_layout.is_some()),
            purpose,
            string_class: None,
            records: VecDeque::new(),
            found: VecDeque::new(),
            given: 0,
            damage: None,
            notes: Vec::new(),
        };
        if let Some(places) = find::<ID>(dump, header.length, &mut heaps.names, context)
            && heaps.look::<ID>(&places.segments, context)?
        {
            heaps.damage = places.missing(dump.len());
            heaps.records = places.records.into();
            return Ok(heaps);
        }
        heaps.names = Names::default();
        let Recovered { places, joined: parts, damage, notes } = recover::<ID>(dump, header.length, context)?;
        let parts = joined.0.get_or_init(|| parts);
        let segments: Vec<Segment<'a>> = places.segments.iter().map(|piece| piece.segment(dump, parts)).collect();
        heaps.look::<ID>(&segments, context)?;
        (heaps.damage, heaps.notes) = (damage, notes);
        heaps.records = places.records.into();
        Ok(heaps)
    }

    /// Reads the outlines of the segments. Returns whether all are whole.
    fn look<const ID: usize>(&mut self, segments: &[Segment<'a>], context: &Context<'_>) -> Result<bool, ImportError> {
        if context.options.of_formats.get::<ObjectLayout>().is_none() {
            self.layout = find_layout::<ID>(segments);
        }
        self.string_class = self.names.class_named(texts::STRING_FILE_NAME);
        let (layout, purpose, string_class) = (self.layout.0, self.purpose, self.string_class);
        let phase = match purpose {
            Purpose::Totals => "counting",
            Purpose::Numbers => "finding objects",
        };
        context.progress.begin(phase, self.dump.len() as u64, "bytes");
        let found = group(segments).into_par_iter().map(|job| {
            context.check_cancelled()?;
            let found = JobOutline::read::<ID>(job, purpose, &layout, string_class);
            context.progress.advance(job.iter().map(|segment| segment.bytes.len() as u64).sum());
            Ok((job[0].heap, found))
        });
        self.found = found.collect::<Result<VecDeque<_>, ImportError>>()?;
        Ok(self.found.iter().all(|(_, found)| found.is_whole))
    }

    /// The next heap dump; `None` after the last one.
    pub(super) fn next<const ID: usize>(&mut self) -> Result<Option<Outline<'a>>, ImportError> {
        if self.given == MOST_HEAPS {
            self.leave_rest_out();
        }
        let mut jobs = self.take_jobs();
        let Some(mut heap) = jobs.first().map(|&(heap, _)| heap) else { return Ok(None) };
        if !self.found.is_empty() {
            let mut dumped: HashSet<u64, RandomState> = HashSet::default();
            let mut last = 0;
            while let Some(&(next, _)) = self.found.front() {
                dumped.extend(jobs[last..].iter().flat_map(|(_, job)| job.classes.iter().map(|class| class.address)));
                last = jobs.len();
                let of_next = self.found.iter().take_while(|&&(of, _)| of == next);
                if of_next.flat_map(|(_, job)| &job.classes).any(|class| dumped.contains(&class.address)) {
                    break;
                }
                heap = next;
                jobs.extend(self.take_jobs());
            }
        }
        self.given += 1;
        let is_last = self.found.is_empty();
        let mut names = std::mem::take(&mut self.names);
        while let Some(records) = self.records.pop_front_if(|records| is_last || records.heap <= heap) {
            names.read::<ID>(self.dump, &records);
        }
        let jobs = jobs.into_iter().map(|(_, job)| job).collect();
        Outline::new::<ID>(self.dump, names, self.layout, self.purpose, self.string_class, jobs).map(Some)
    }

    /// Drops the remaining heap dumps, which is damage.
    fn leave_rest_out(&mut self) {
        let Some(&(last, _)) = self.found.back() else { return };
        self.found.clear();
        let (value, limit) = (u64::from(last) + 1, MOST_HEAPS.into());
        self.damage =
            Some(Damage::OutOfRange { what: "the number of heap dumps in the file", offset: 0, value, limit });
    }

    /// The jobs of the next heap dump.
    fn take_jobs(&mut self) -> Vec<(u32, JobOutline<'a>)> {
        let next = self.found.front().map(|&(heap, _)| heap);
        let count = self.found.iter().take_while(|&&(heap, _)| Some(heap) == next).count();
        self.found.drain(..count).collect()
    }

    /// Returns whether more heap dumps follow.
    pub(super) fn has_more(&self) -> bool {
        !self.found.is_empty()
    }

    /// The names that were shortened.
    pub(super) fn shortened(&self) -> Shortened {
        self.names.shortened()
    }

    /// Ends the current heap dump. Its names and classes remain valid for the next one.
    pub(super) fn done(&mut self, outline: Outline<'a>) {
        self.names = outline.names;
        self.names.were_dumped(&outline.classes[..outline.dumped_classes]);
    }
}
