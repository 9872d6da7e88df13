//! The metadata of the file and of each snapshot in format 3, in JSON.

use crate::error::{Damage, ImportError};
use crate::heaps::moarvm::census::Counts;
use crate::heaps::moarvm::kinds::{CALL_STACK_ROOTS, FRAME, OBJECT, STABLE, TYPE_OBJECT};
use barrow_writer::{SnapshotInfo, Word, Writer};
use serde_json::Value;

/// The section `filemeta`.
#[derive(Debug, Default)]
pub(super) struct FileMeta {
    /// Microseconds of a monotonic clock.
    start_time: Option<u64>,
    process_id: Option<u64>,
    subversion: Option<u64>,
}

impl FileMeta {
    pub(super) fn parse(json: &[u8], offset: u64) -> Result<Self, Damage> {
        let meta = parse(json, offset, "the metadata of the file")?;
        Ok(FileMeta {
            start_time: meta["start_time"].as_u64(),
            process_id: meta["pid"].as_u64(),
            subversion: meta["subversion"].as_u64(),
        })
    }

    /// Adds what it knows to the recording's facts.
    pub(super) fn announce(&self, writer: &Writer) -> Result<(), ImportError> {
        for total in TOTALS {
            writer.word(Word::of_settings(total))?;
        }
        if let Some(process_id) = self.process_id {
            writer.own_fact(Word::of_settings("pid"), &process_id.to_string())?;
        }
        if let Some(subversion) = self.subversion {
            writer.own_fact(Word::of_settings("source subversion"), &subversion.to_string())?;
        }
        Ok(())
    }
}

/// The section `snapmeta`.
#[derive(Debug)]
pub(super) struct SnapshotMeta {
    /// The offset of the section.
    pub(super) offset: u64,
    /// Microseconds of the clock of [`FileMeta::start_time`].
    snap_time: Option<u64>,
    gc_seq_num: Option<u64>,
    totals: Vec<(&'static str, u64)>,
}

/// MoarVM's own totals of a snapshot, by its names.
const TOTALS: [&str; 6] =
    ["total_heap_size", "total_objects", "total_typeobjects", "total_stables", "total_frames", "total_refs"];

impl SnapshotMeta {
    pub(super) fn parse(json: &[u8], offset: u64) -> Result<Self, Damage> {
        let meta = parse(json, offset, "the metadata of a snapshot")?;
        Ok(SnapshotMeta {
            offset,
            snap_time: meta["snap_time"].as_u64(),
            gc_seq_num: meta["gc_seq_num"].as_u64(),
            totals: TOTALS.iter().filter_map(|&name| Some((name, meta[name].as_u64()?))).collect(),
        })
    }

    /// The description of the snapshot in the recording.
    pub(super) fn info(&self, file: &FileMeta) -> SnapshotInfo {
        let elapsed = self.snap_time.zip(file.start_time).and_then(|(now, start)| now.checked_sub(start));
        SnapshotInfo {
            time_ns: elapsed.and_then(|microseconds| microseconds.checked_mul(1000)),
            gc_number: self.gc_seq_num,
            label: None,
            key_values: self.totals.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        }
    }

    /// Notes on totals of MoarVM that differ from the contents of the dump.
    ///
    /// `total_heap_size` includes unmanaged memory. `total_frames` leaves out the frames that MoarVM
    /// finds by walking a thread's call stack, each of which the call stack roots refer to.
    pub(super) fn compare(&self, number: u64, counts: &Counts, reference_count: u64) -> Vec<String> {
        let differences = self.totals.iter().filter_map(|&(name, stated)| {
            let found = match name {
                "total_heap_size" => counts.heap_bytes.saturating_add(counts.unmanaged_bytes),
                "total_objects" => counts.collectables[OBJECT.index()],
                "total_typeobjects" => counts.collectables[TYPE_OBJECT.index()],
                "total_stables" => counts.collectables[STABLE.index()],
                "total_frames" => counts.collectables[FRAME.index()],
                _ => reference_count,
            };
            let on_call_stack = counts.references[CALL_STACK_ROOTS.index()];
            let explained = name == "total_frames" && stated.checked_add(on_call_stack) == Some(found);
            let reason = if explained { " (it leaves out those reached from call stacks)" } else { "" };
            (stated != found)
                .then(|| format!("snapshot {number}: MoarVM states {name} {stated}, the dump holds {found}{reason}"))
        });
        differences.collect()
    }
}

fn parse(json: &[u8], offset: u64, what: &'static str) -> Result<Value, Damage> {
    serde_json::from_slice(json).map_err(|error| Damage::Json { what, offset, message: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(json: &str) -> SnapshotMeta {
        SnapshotMeta::parse(json.as_bytes(), 0).expect("JSON")
    }

    #[test]
    fn times_are_nanoseconds_since_the_start() {
        let file = FileMeta::parse(br#"{"start_time": 1000}"#, 0).expect("JSON");
        let info = meta(r#"{"snap_time": 1025, "gc_seq_num": 7}"#).info(&file);
        assert_eq!((info.time_ns, info.gc_number), (Some(25_000), Some(7)));
        assert_eq!(meta(r#"{"snap_time": 999}"#).info(&file).time_ns, None);
    }

    #[test]
    fn totals_are_compared() {
        let mut counts = Counts { heap_bytes: 60, unmanaged_bytes: 40, ..Counts::default() };
        counts.collectables[FRAME.index()] = 5;
        counts.references[CALL_STACK_ROOTS.index()] = 2;
        assert_eq!(meta(r#"{"total_heap_size": 100, "total_refs": 9}"#).compare(0, &counts, 9), Vec::<String>::new());
        assert_eq!(
            meta(r#"{"total_frames": 3, "total_objects": 1}"#).compare(4, &counts, 9),
            [
                "snapshot 4: MoarVM states total_objects 1, the dump holds 0",
                "snapshot 4: MoarVM states total_frames 3, the dump holds 5 (it leaves out those reached from call stacks)",
            ]
        );
    }

    #[test]
    fn bad_json_is_damage() {
        assert!(matches!(SnapshotMeta::parse(b"{", 5), Err(Damage::Json { offset: 5, .. })));
    }
}
