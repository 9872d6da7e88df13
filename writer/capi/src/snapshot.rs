//! The functions of a snapshot.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError};

use barrow_writer::{Snapshot, ThreadDescription, WriterError};

use crate::codes::{Code, Failure, guarded};
use crate::pointers::{optional_text, pairs, place, structure};
use crate::process::Process;
use crate::shard::ShardHandle;
use crate::values::{Known, SnapshotInfo, Thread, ThreadKnown, Totals};
use crate::writer::{WriterHandle, free, handle, outside_of_streams};

/// A snapshot that is being recorded. Any thread may use it, several at once.
pub struct SnapshotHandle {
    process: Process,
    /// None once it is committed or has failed to be.
    snapshot: Mutex<Option<Snapshot<'static>>>,
}

impl SnapshotHandle {
    fn lock(&self) -> Result<MutexGuard<'_, Option<Snapshot<'static>>>, Failure> {
        self.process.check()?;
        outside_of_streams()?;
        Ok(self.snapshot.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn ended() -> Failure {
    Failure::new(Code::Ended, "the snapshot was committed, or failed to be")
}

/// Converts the description of a snapshot; NULL is empty.
///
/// # Safety
/// As for [`structure`], and what it leads to is readable.
unsafe fn info(info: *const SnapshotInfo) -> Result<barrow_writer::SnapshotInfo, Failure> {
    if info.is_null() {
        return Ok(barrow_writer::SnapshotInfo::default());
    }
    // SAFETY: the caller's.
    let given = unsafe { structure(info) }?;
    if given.known > Known::Time as u32 | Known::GcNumber as u32 {
        return Err(crate::values::meaningless("known", given.known));
    }
    let known = |what: Known, value: u64| (given.known & what as u32 != 0).then_some(value);
    // SAFETY: the caller's.
    let (label, key_values) = unsafe { (optional_text(given.label)?, pairs(given.key_values, given.key_value_count)?) };
    Ok(barrow_writer::SnapshotInfo {
        time_ns: known(Known::Time, given.time_ns),
        gc_number: known(Known::GcNumber, given.gc_number),
        label: label.map(Into::into),
        key_values: key_values.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
    })
}

/// Begins a snapshot; one can be open at a time. `info` may be NULL.
///
/// # Safety
/// `writer` is NULL or a handle; `info` and what it leads to are readable, `snapshot` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_snapshot_begin(
    writer: Option<&WriterHandle>,
    info: *const SnapshotInfo,
    snapshot: Option<&mut MaybeUninit<Option<Box<SnapshotHandle>>>>,
) -> Code {
    guarded(|| {
        let place = place("snapshot", snapshot)?;
        // SAFETY: the caller's.
        let info = unsafe { self::info(info) }?;
        let snapshot = handle(writer)?.with(|writer| Ok(writer.begin_owned_snapshot(info)?))?;
        let snapshot = Mutex::new(Some(snapshot));
        *place = Some(Box::new(SnapshotHandle { process: Process::current(), snapshot }));
        Ok(())
    })
}

/// Opens a shard, in which one thread at a time announces objects. Several may announce at once, each in a
/// shard of its own.
///
/// # Safety
/// `snapshot` is NULL or a handle; `shard` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_snapshot_shard(
    snapshot: Option<&SnapshotHandle>,
    shard: Option<&mut MaybeUninit<Option<Box<ShardHandle>>>>,
) -> Code {
    guarded(|| {
        let place = place("shard", shard)?;
        let snapshot = handle(snapshot)?.lock()?;
        let shard = RefCell::new(Some(snapshot.as_ref().ok_or_else(ended)?.owned_shard()));
        *place = Some(Box::new(ShardHandle { process: Process::current(), shard }));
        Ok(())
    })
}

/// Announces a thread of the recorded program, each once in a snapshot. Any thread may do so, in any order.
///
/// # Safety
/// `snapshot` is NULL or a handle; `description` and what it leads to are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_snapshot_thread(snapshot: Option<&SnapshotHandle>, description: *const Thread) -> Code {
    guarded(|| {
        // SAFETY: the caller's.
        let given = unsafe { structure(description) }?;
        let all =
            ThreadKnown::AllocatedBytes as u32 | ThreadKnown::AllocatedObjects as u32 | ThreadKnown::CpuTime as u32;
        if given.known > all {
            return Err(crate::values::meaningless("known", given.known));
        }
        let known = |what: ThreadKnown, value: u64| (given.known & what as u32 != 0).then_some(value);
        // SAFETY: the caller's.
        let (name, state, root_label, attributes) = unsafe {
            let attributes = pairs(given.attributes, given.attribute_count)?;
            (optional_text(given.name)?, optional_text(given.state)?, optional_text(given.root_label)?, attributes)
        };
        let attributes: Vec<_> = attributes.iter().map(|(key, value)| (&**key, &**value)).collect();
        let thread = ThreadDescription {
            id: given.id,
            name: name.as_deref(),
            state: state.as_deref(),
            allocated_bytes: known(ThreadKnown::AllocatedBytes, given.allocated_bytes),
            allocated_objects: known(ThreadKnown::AllocatedObjects, given.allocated_objects),
            cpu_time_ns: known(ThreadKnown::CpuTime, given.cpu_time_ns),
            root_label: root_label.as_deref(),
            attributes: &attributes,
        };
        let snapshot = handle(snapshot)?.lock()?;
        Ok(snapshot.as_ref().ok_or_else(ended)?.thread(&thread)?)
    })
}

/// Commits the snapshot: the recording keeps it, even if the process dies. `totals` may be NULL. All shards must be
/// finished. Waits for the encoders. If this fails the snapshot is abandoned, except with
/// BARROW_CODE_COMMITTED_NOT_SYNCED: then it counts.
///
/// # Safety
/// `snapshot` is NULL or a handle; `totals` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_snapshot_commit(
    snapshot: Option<&SnapshotHandle>,
    totals: Option<&mut MaybeUninit<Totals>>,
) -> Code {
    guarded(|| {
        let place = totals.map(|place| place.write(Totals::default()));
        let committed = handle(snapshot)?.lock()?.take().ok_or_else(ended)?.commit();
        if let (Some(place), Ok(totals) | Err(WriterError::CommittedNotSynced { totals, .. })) = (place, &committed) {
            *place = (*totals).into();
        }
        Ok(committed.map(drop)?)
    })
}

/// Frees the handle. A snapshot that was not committed is abandoned: the file keeps the snapshots committed before, and
/// calls of its open shards return BARROW_CODE_ENDED.
///
/// # Safety
/// `snapshot` is NULL or a handle that no other thread uses and that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_snapshot_free(snapshot: Option<Box<SnapshotHandle>>) {
    free(snapshot, |snapshot| snapshot.process);
}
