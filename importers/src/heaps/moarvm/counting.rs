//! Counts the snapshots of a dump without importing them: the first of an import's two passes.

use super::announcer::Announcer;
use super::collectables::Collectables;
use super::reading::{CheckedSnapshot, ReadContext, Snapshots};
use super::tables::Tables;
use crate::context::Context;
use crate::counted::{CountedSnapshot, CountedSnapshots, TypeCount};
use crate::error::{ImportError, Kept, Loss, Stop};
use barrow_writer::Totals;

/// Counts the snapshots that `find` finds, on all threads. They are checked as in an import, so that the counts are
/// those that an import would commit.
pub(crate) fn count<'a, S: Snapshots<'a>>(
    dump: &[u8],
    context: &Context<'a>,
    find: impl FnOnce(&mut ReadContext<'a>) -> Result<S, Stop> + Send,
) -> Result<CountedSnapshots, ImportError> {
    context.progress.begin("counting", dump.len() as u64, "bytes");
    let mut announcer = Announcer::new(context)?;
    let mut reading = ReadContext::new(context);
    let (mut counted, mut notes) = (Vec::new(), Vec::new());
    let end = context.pool()?.install(|| {
        let mut snapshots = find(&mut reading)?;
        while let Some(checked) = snapshots.next(&mut reading)? {
            counted.push(snapshot(&checked, &mut announcer, &reading.tables)?);
            context.progress.advance(checked.collectables.unreported_bytes());
            notes.extend(checked.notes);
        }
        Ok(())
    });
    notes.extend(reading.tables.notes());
    let lost = Loss::of(end, Kept::Snapshots(counted.len() as u64), dump.len() as u64)?;
    Ok(CountedSnapshots { snapshots: counted, notes, lost })
}

/// Counts a snapshot, and declares its types.
fn snapshot<C, R>(
    checked: &CheckedSnapshot<C, R>,
    announcer: &mut Announcer<'_>,
    tables: &Tables<'_>,
) -> Result<CountedSnapshot, ImportError> {
    let census = &checked.census;
    for (kind, row) in census.types() {
        announcer.type_id(kind, row, tables)?;
    }
    let mut types = Vec::new();
    for (kind, row, of_type) in census.of_types() {
        let type_id = announcer.type_id(kind, row, tables)?;
        let (objects, heap_bytes) = (of_type.objects, of_type.heap_bytes);
        types.push(TypeCount { type_id, objects, heap_bytes, unmanaged_bytes: of_type.unmanaged_bytes });
    }
    types.sort_unstable_by_key(|count| count.type_id);
    // Equal rows of a table are one type.
    types.dedup_by(|row, before| {
        let is_same = row.type_id == before.type_id;
        if is_same {
            before.objects += row.objects;
            before.heap_bytes += row.heap_bytes;
            before.unmanaged_bytes += row.unmanaged_bytes;
        }
        is_same
    });
    let counts = census.counts();
    let totals = Totals {
        objects: counts.collectables.iter().sum(),
        references: counts.references.iter().sum(),
        roots: census.roots().len() as u64,
        heap_bytes: counts.heap_bytes,
        unmanaged_bytes: counts.unmanaged_bytes,
    };
    Ok(CountedSnapshot { info: checked.info.clone(), totals, types })
}
