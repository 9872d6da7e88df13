//! Counts the objects of a dump by type: one pass over the lines, without addresses and references.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::FREE_SLOT;
use super::announcer::{assumed_sizes, has_size, sizes};
use super::classes::{ClassLine, Classes};
use super::groups::Groups;
use super::line::{Line, LineBuffers};
use super::types::{LineType, put_key};
use crate::context::Context;
use crate::counted::{Counted, TypeCount};
use crate::error::{ImportError, Stop};
use crate::heaps::json_lines::{Lines, Tallies, unexpected};
use crate::tally::{Tally, counted};

/// Counts a dump as an import of it would. Each line is read whole, so that the same damage ends both. `None` for
/// several dumps in one file.
pub(super) fn totals(dump: &[u8], context: &Context<'_>) -> Result<Option<Counted>, ImportError> {
    let mut lines = Lines::new(dump);
    let unsized_objects = AtomicU64::new(0);
    let mut are_several = false;
    let totals = lines.read(context, super::check_line, |lines| {
        let (totals, starts) = count(lines, &unsized_objects, context)?;
        are_several = starts.len() > 1;
        Ok(totals)
    });
    if are_several {
        return Ok(None);
    }
    let notes = assumed_sizes(unsized_objects.into_inner()).into_iter().collect();
    Ok(Some(Counted { notes, ..counted(totals, lines.lost(), dump.len() as u64)? }))
}

fn count(
    lines: &Lines<'_>,
    unsized_objects: &AtomicU64,
    context: &Context<'_>,
) -> Result<(Vec<TypeCount>, Vec<usize>), Stop> {
    // Objects counted before a damaged line is found are counted again.
    unsized_objects.store(0, Ordering::Relaxed);
    let all: Mutex<Tallies<LineType>> = Mutex::default();
    let chunks = lines.in_parallel(
        "counting",
        context,
        || Ok(Counter::default()),
        |counter, chunk| {
            lines.for_each_line(chunk, |text, offset| counter.line(text, offset))?;
            Ok((std::mem::take(&mut counter.classes), std::mem::take(&mut counter.groups)))
        },
        |counter| {
            // Relaxed: it is read when all threads have ended.
            unsized_objects.fetch_add(counter.unsized_objects, Ordering::Relaxed);
            Ok(all.lock().merge(counter.tallies)?)
        },
    )?;
    let (mut classes, mut groups) = (Vec::new(), Groups::default());
    for (of_chunk, groups_of_chunk) in chunks {
        classes.extend(of_chunk);
        groups.append(groups_of_chunk);
    }
    let classes = Classes::new(classes);
    let all = all.into_inner();
    let has_values = context.options.contents.has_values();
    let totals = all.declare(|type_| Ok(type_.declare(&classes, context.vocabulary, has_values)?))?;
    Ok((totals, groups.starts()))
}

/// Counts the lines of one thread.
#[derive(Default)]
struct Counter {
    tallies: Tallies<LineType>,
    /// The classes of the current chunk.
    classes: Vec<ClassLine>,
    groups: Groups,
    unsized_objects: u64,
    // Kept for their memory.
    key: Vec<u8>,
    reading: LineBuffers,
}

impl Counter {
    fn line(&mut self, text: &[u8], offset: u64) -> Result<(), Stop> {
        let line = Line::read(text, offset, &mut self.reading)?;
        self.groups.add(line.address.is_some(), offset);
        match (line.address, line.root) {
            (Some(_), _) if line.kind == FREE_SLOT => return Ok(()),
            (Some(_), _) => {}
            (None, Some(_)) => return Ok(()),
            (None, None) => return Err(unexpected(text, offset)),
        }
        let (heap_bytes, unmanaged_bytes) = sizes(&line);
        self.unsized_objects += u64::from(!has_size(&line));
        put_key(&line, &mut self.key);
        self.tallies.add(&self.key, Tally::one(heap_bytes, unmanaged_bytes), offset, || LineType::of(&line))?;
        self.classes.extend(ClassLine::of(&line, &self.reading.references));
        Ok(())
    }
}
