//! Snapshots that are cut or damaged anywhere.

use crate::dump::{VERSIONS, Version, tiny};
use crate::recorded::record;
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

#[test]
fn a_snapshot_cut_at_any_byte_says_so() {
    for version in VERSIONS {
        let whole = tiny().text(version);
        let totals = import(whole.as_bytes(), &Silent).expect("a whole snapshot").snapshots;
        let behind_all = whole.trim_end().len();
        let mut partial = 0;
        for length in 0..behind_all {
            match import(&whole.as_bytes()[..length], &Silent) {
                Ok(imported) => {
                    partial += 1;
                    assert_eq!(imported.snapshots, totals, "cut at {length}: objects and references are whole");
                    let lost = imported.lost.expect("a loss").to_string();
                    assert!(lost.starts_with(&format!("the dump ends at byte {length} ")), "{lost}");
                    assert!(lost.contains("of their names are there; everything before that was imported"), "{lost}");
                }
                Err(ImportError::NoWholeSnapshot { damage }) => {
                    assert_eq!(partial, 0, "fewer bytes were enough");
                    assert!(damage.to_string().contains(&format!("ends at byte {length} ")), "{damage}");
                }
                Err(ImportError::Unrecognised { .. }) => assert!(length < 20),
                Err(error) => panic!("cut at {length}: {error}"),
            }
        }
        let least = if version == Version::Later { 1 } else { 300 };
        assert!(partial >= least, "{partial}");
    }
}

#[test]
fn what_has_lost_its_name_says_so() {
    let whole = tiny().text(Version::Now);
    let cut = whole.find("\"Card\",").expect("a name");
    let recorded = record(&whole.as_bytes()[..cut + 3]).expect("most of it");
    assert_eq!(
        recorded.imported.lost.as_ref().expect("a loss").to_string(),
        format!(
            "the dump ends at byte {} inside a string; objects and references are whole, 5 of their names are there; \
             everything before that was imported",
            cut + 3
        )
    );
    let objects = recorded.objects();
    assert_eq!(objects[2].name, "Window");
    assert_eq!(objects[4].name, "(name lost)");
    assert_eq!(objects[6].name, "(string)", "some types need no names");
    assert_eq!(objects[2].references[0].0, "?");
}

#[test]
fn progress_ends_at_the_total() {
    for version in VERSIONS {
        let whole = tiny().text(version);
        let progress = LimitedProgress::unlimited();
        import(whole.as_bytes(), &progress).expect("a whole snapshot");
        assert_eq!(progress.steps(), whole.len() as u64);
    }
}

#[test]
fn an_import_can_be_cancelled_anywhere() {
    let whole = tiny().text(Version::Now);
    for checks in 0..5 {
        let progress = LimitedProgress::new(checks);
        let cancelled = import(whole.as_bytes(), &progress);
        assert!(matches!(cancelled, Err(ImportError::Cancelled)), "after {checks} checks");
    }
}

/// One of the versions with some bytes replaced and perhaps its end cut.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let interesting = prop_oneof![
        any::<u8>(),
        Just(b'9'),
        Just(b','),
        Just(b']'),
        Just(b'['),
        Just(b'"'),
        Just(b'\\'),
        Just(b' '),
        Just(b'-')
    ];
    (
        0..3_usize,
        proptest::collection::vec((any::<prop::sample::Index>(), interesting), 1..6),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(version, changes, cut)| {
            let mut bytes = tiny().text(VERSIONS[version]).into_bytes();
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
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_damage_is_survived(bytes in mutated()) {
        match import(&bytes, &Silent) {
            Ok(imported) => assert_eq!(imported.snapshots.len(), 1),
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
}
