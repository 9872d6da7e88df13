//! Real dumps: `testdata/foreign/README.md` tells where they come from.

use crate::dump::{DEBIAN, Dump};
use crate::recorded::{Recorded, record};
use std::path::Path;

pub(crate) fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/foreign").join(name);
    std::fs::read(path).expect("a sample")
}

pub(crate) fn nqp() -> Vec<u8> {
    zstd::stream::decode_all(&sample("moarvm-2-nqp.mvmheap.zst")[..]).expect("a sample")
}

fn counts(recorded: &Recorded) -> Vec<(u64, u64)> {
    recorded.imported.snapshots.iter().map(|totals| (totals.objects, totals.references)).collect()
}

#[test]
fn nqp_in_format_2() {
    let recorded = record(&nqp()).expect("a whole dump");
    assert_eq!(recorded.imported.lost, None);
    assert_eq!(recorded.imported.notes, Vec::<String>::new());
    assert_eq!(counts(&recorded), [(39_513, 172_433), (39_478, 172_086)]);
    let root = &recorded.objects(0, 1_000_000)[0];
    assert_eq!((root.name.as_str(), root.references[0].0.as_str()), ("root", "Permanent Roots"));
}

#[test]
fn nqp_is_the_same_in_every_format() {
    /// Every how many objects references are compared.
    const STEP: usize = 499;
    let original = nqp();
    let dump = Dump::from_format2(&original);
    assert!(dump.format2(DEBIAN).len() == original.len(), "written as it was read");
    let recorded = record(&original).expect("a whole dump");
    for (bytes, format) in [(dump.format1(), "moarvm-1"), (dump.format3(None), "moarvm-3")] {
        let converted = record(&bytes).expect("a whole dump");
        assert_eq!(converted.imported.format.key(), format);
        assert_eq!(converted.imported.lost, None);
        assert_eq!(converted.imported.snapshots, recorded.imported.snapshots);
        for snapshot in 0..2 {
            let (expected, found) = (recorded.objects(snapshot, STEP), converted.objects(snapshot, STEP));
            let differing = expected.iter().zip(&found).position(|(expected, found)| expected != found);
            assert_eq!(differing, None, "an object of snapshot {snapshot}, {format}");
        }
    }
}

#[test]
fn format_3_cut_after_its_first_snapshot() {
    let recorded = record(&sample("moarvm-3-cut.mvmheap")).expect("one whole snapshot");
    assert_eq!(counts(&recorded), [(521_172, 1_999_107)]);
    // MoarVM's total_heap_size is 50,615,000; without a note, all of its totals agree.
    let totals = recorded.totals(0);
    assert_eq!(totals.heap_bytes + totals.unmanaged_bytes, 50_615_000);
    assert_eq!(recorded.imported.notes, Vec::<String>::new());
    assert_eq!(
        recorded.imported.lost.expect("no final table of contents").to_string(),
        "the dump ends at byte 2867722 without its final table of contents, as after a kill; \
         1 whole snapshot was imported"
    );
}
