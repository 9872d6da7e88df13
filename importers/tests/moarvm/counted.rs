//! Counts without an import are those of the import.

use crate::dump::{DEBIAN, tiny};
use crate::recorded::record_with;
use crate::samples::{nqp, sample};
use crate::threads::large;
use barrow_analyzer::{SnapshotId, type_totals};
use barrow_importers::{CountedSnapshots, ImportError, ImportOptions, Silent, snapshot_totals};
use barrow_writer::{Options, Writer};
use proptest::prelude::*;
use std::num::NonZero;

const THREADS: NonZero<usize> = NonZero::new(2).unwrap();

fn count(dump: &[u8]) -> Result<CountedSnapshots, ImportError> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), dump).expect("written");
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::without_threads());
    let writer = writer.expect("writing to nowhere");
    let options = ImportOptions { threads: THREADS, ..ImportOptions::default() };
    snapshot_totals(file.path(), &writer, &options, &Silent).map(|counted| counted.expect("a dump of snapshots"))
}

/// Compares all that a count says with the recording of an import, or its error with that of the import.
fn assert_counted(dump: &[u8]) {
    let (recorded, counted) = match (record_with(dump, THREADS), count(dump)) {
        (Ok(recorded), Ok(counted)) => (recorded, counted),
        (recorded, counted) => {
            let (recorded, counted) = (recorded.map(drop).unwrap_err(), counted.map(drop).unwrap_err());
            return assert_eq!(counted.to_string(), recorded.to_string());
        }
    };
    assert_eq!(counted.lost, recorded.imported.lost);
    assert_eq!(counted.notes, recorded.imported.notes);
    let totals: Vec<_> = counted.snapshots.iter().map(|snapshot| snapshot.totals).collect();
    assert_eq!(totals, recorded.imported.snapshots);
    for (number, counted) in (0..).map(SnapshotId).zip(&counted.snapshots) {
        let info = recorded.recording.snapshot(number).expect("the snapshot");
        assert_eq!((counted.info.time_ns, counted.info.gc_number), (info.time_ns, info.gc_number));
        let types = counted.types.iter().map(|of| (of.type_id.0, of.objects, of.heap_bytes, of.unmanaged_bytes));
        let imported = type_totals(&recorded.recording, number).expect("totals");
        let imported = imported.iter().map(|of| (of.type_id.0, of.objects, of.heap_bytes, of.unmanaged_bytes));
        let imported = imported.filter(|of| of.1 > 0);
        assert_eq!(types.collect::<Vec<_>>(), imported.collect::<Vec<_>>());
    }
}

#[test]
fn counts_are_those_of_the_import() {
    let large = large();
    for dump in [
        tiny().format1(),
        tiny().format2(DEBIAN),
        tiny().format3(None),
        large.format1(),
        large.format2(DEBIAN),
        large.format3(None),
        nqp(),
        sample("moarvm-1-tiny.mvmheap"),
        sample("moarvm-3-cut.mvmheap"),
    ] {
        assert_counted(&dump);
    }
}

#[test]
fn equal_rows_are_one_type() {
    let mut dump = tiny();
    dump.types[1] = dump.types[0];
    for bytes in [dump.format1(), dump.format2(DEBIAN), dump.format3(None)] {
        assert_counted(&bytes);
        let counted = count(&bytes).expect("a whole dump");
        assert!(counted.snapshots[0].types.iter().any(|of| (of.objects, of.heap_bytes) == (2, 24 + 32)));
    }
}

#[test]
fn a_cut_dump_is_counted_up_to_the_cut() {
    for whole in [tiny().format1(), tiny().format2(DEBIAN), tiny().format3(None)] {
        (300..whole.len()).step_by(7).for_each(|length| assert_counted(&whole[..length]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_dump_is_counted_as_it_is_imported(
        format in 0..3_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = [tiny().format1(), tiny().format2(DEBIAN), tiny().format3(None)][format].clone();
        let header = 16;
        for (place, byte) in changes {
            let place = header + place.index(bytes.len() - header);
            bytes[place] = byte;
        }
        if barrow_importers::recognise(&bytes).is_some() {
            assert_counted(&bytes);
        }
    }
}
