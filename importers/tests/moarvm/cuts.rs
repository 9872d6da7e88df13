//! Dumps that are cut or damaged anywhere.

use crate::dump::{Build, DEBIAN, TablesAt, tiny};
use barrow_importers::{ImportError, Imported, Progress, Silent, import_bytes};
use barrow_testdata::LimitedProgress;
use barrow_writer::{Options, Writer};
use proptest::prelude::*;

/// Imports into nowhere: what counts is that it ends, and with what.
fn import(dump: &[u8], progress: &dyn Progress) -> Result<Imported, ImportError> {
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(std::io::sink()), options).expect("writing to nowhere");
    let imported = import_bytes(dump, &writer, progress);
    writer.finish().expect("the writer is usable after any import");
    imported
}

fn all_formats() -> [Vec<u8>; 4] {
    let at_the_end = Build { tables: TablesAt::TheEnd, ..DEBIAN };
    [tiny().format1(), tiny().format2(DEBIAN), tiny().format2(at_the_end), tiny().format3(None)]
}

#[test]
fn a_dump_cut_at_any_byte_says_so() {
    for whole in all_formats() {
        let totals = import(&whole, &Silent).expect("a whole dump").snapshots;
        let mut most = 0;
        for length in 0..whole.len() {
            match import(&whole[..length], &Silent) {
                Ok(imported) => {
                    let count = imported.snapshots.len();
                    assert_eq!(imported.snapshots, totals[..count], "cut at {length}");
                    assert!(count >= most, "{count} snapshots at {length}, but {most} of fewer bytes");
                    most = count;
                    // Text has no end mark: a cut between snapshots looks whole.
                    let is_text = whole.starts_with(b"#");
                    assert!(imported.lost.is_some() || is_text, "cut at {length} of {}", whole.len());
                }
                Err(ImportError::NoWholeSnapshot { .. } | ImportError::NoSnapshot { .. }) => assert_eq!(most, 0),
                Err(ImportError::Unrecognised { .. } | ImportError::UnknownVersion { .. }) => assert!(length < 300),
                Err(error) => panic!("cut at {length}: {error}"),
            }
        }
        assert!(most >= 1);
    }
}

#[test]
fn a_cut_inside_a_snapshot_names_it() {
    let whole = tiny().format2(DEBIAN);
    let second = whole.windows(4).rposition(|window| window == b"refs").expect("the second snapshot");
    assert_eq!(
        import(&whole[..second + 30], &Silent).expect("one whole snapshot").lost.expect("a loss").to_string(),
        format!(
            "the dump ends at byte {} inside the references, in snapshot 1; 1 whole snapshot was imported",
            second + 30
        )
    );
}

#[test]
fn progress_ends_at_the_total() {
    for whole in all_formats() {
        let progress = LimitedProgress::unlimited();
        import(&whole, &progress).expect("a whole dump");
        assert_eq!(progress.steps(), whole.len() as u64);
    }
}

#[test]
fn an_import_can_be_cancelled_anywhere() {
    for whole in all_formats() {
        for checks in 0..5 {
            let progress = LimitedProgress::new(checks);
            assert!(matches!(import(&whole, &progress), Err(ImportError::Cancelled)), "after {checks} checks");
        }
    }
}

/// One of the formats with some bytes replaced and perhaps its end cut.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let interesting = prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(b';'), Just(b',')];
    (
        0..4_usize,
        proptest::collection::vec((any::<prop::sample::Index>(), interesting), 1..6),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(format, changes, cut)| {
            let mut bytes = all_formats()[format].clone();
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            if cut.index(3) == 0 {
                bytes.truncate(cut.index(bytes.len()));
            }
            bytes
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mutation_is_an_answer(dump in mutated()) {
        match import(&dump, &Silent) {
            Ok(imported) => prop_assert!(!imported.snapshots.is_empty()),
            Err(error) => prop_assert!(!matches!(error, ImportError::Writer(_)), "{error}"),
        }
    }

    #[test]
    fn any_bytes_are_an_answer(format in 0..3_usize, tail in proptest::collection::vec(any::<u8>(), 0..300)) {
        let head: &[u8] = [&b"snapshot 0\n"[..], b"MoarHeapDumpv002", b"MoarHeapDumpv003"][format];
        let _ = import(&[head, &tail].concat(), &Silent);
    }
}
