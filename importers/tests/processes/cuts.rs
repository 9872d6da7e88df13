//! Logs that are cut or changed anywhere.

use barrow_importers::{Damage, ImportError, import_bytes};
use barrow_testdata::LimitedProgress;
use barrow_writer::{Options, Writer};
use proptest::prelude::*;

use crate::logs::{BAZEL, NINJA, STRACE, kleknev};
use crate::recorded::{record, record_bytes};

fn logs() -> [String; 4] {
    [kleknev(), NINJA.to_owned(), BAZEL.to_owned(), STRACE.to_owned()]
}

#[test]
fn a_log_of_any_length_gives_what_is_whole() {
    for log in logs() {
        let whole = record(&log).expect("a log").text();
        let whole: Vec<&str> = whole.lines().collect();
        for cut in 0..log.len() {
            let Ok(recorded) = record(&log[..cut]) else { continue };
            let text = recorded.text();
            // Rows in the order of the log; those of ninja and Bazel are sorted when all are known.
            let is_in_order = log.starts_with('<');
            if is_in_order {
                assert!(whole.iter().zip(text.lines()).all(|(whole, cut)| *whole == cut), "{cut}: {text}");
            }
            let begun = text.lines().filter(|line| line.contains(" begin ")).count() as u64;
            assert_eq!(recorded.imported.processes, begun);
            assert!(begun > 0);
            let kept = &log[..cut];
            let is_whole = match () {
                () if log.starts_with('<') => kept.trim_end().ends_with("</e>"),
                () if log.starts_with('{') => cut > log.len() - "]\n}\n".len(),
                () => kept.ends_with('\n'),
            };
            assert_eq!(recorded.imported.lost.is_none(), is_whole, "{kept}");
        }
    }
}

#[test]
fn the_place_of_a_cut_is_told() {
    let log = kleknev();
    let cut = log.rfind("<exitStatus").expect("a status");
    let recorded = record(&log[..cut]).expect("a log");
    let damage = recorded.imported.lost.clone().expect("a loss").damage;
    assert_eq!(damage, Damage::Ends { length: cut as u64, inside: "a record" });
    let expected = format!("the dump ends at byte {cut} inside a record; 2 processes were imported");
    assert_eq!(recorded.lost(), Some(expected));
    let cut = STRACE.len() - 5;
    let expected = format!("the dump ends at byte {cut} inside a line; 3 processes were imported");
    assert_eq!(record(&STRACE[..cut]).expect("a log").lost(), Some(expected));
}

#[test]
fn progress_ends_at_the_total_and_an_import_can_be_cancelled() {
    for log in logs() {
        let import = |checks| {
            let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("a sink");
            let progress = LimitedProgress::new(checks);
            let imported = import_bytes(log.as_bytes(), &writer, &progress);
            (imported, progress.steps())
        };
        let (imported, advanced) = import(u64::MAX);
        imported.expect("a whole log");
        assert_eq!(advanced, log.len() as u64);
        for checks in 0..2 {
            assert!(matches!(import(checks).0, Err(ImportError::Cancelled)), "after {checks} checks");
        }
    }
}

/// One of the logs with some bytes replaced, some repeated, and perhaps its end cut.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let interesting = prop_oneof![any::<u8>(), prop::sample::select(b"\n\t\"\\<>&#;=()[]{},. 0189-+".to_vec())];
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), interesting), 1..5);
    (0..4_usize, changes, any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(
        |(log, changes, from, cut)| {
            let mut bytes = logs()[log].clone().into_bytes();
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            if cut.index(3) == 0 {
                bytes.truncate(cut.index(bytes.len()));
            } else if cut.index(3) == 1 {
                let again = bytes[from.index(bytes.len())..].to_vec();
                bytes.extend(again);
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mutation_is_an_answer(log in mutated()) {
        match record_bytes(&log) {
            Ok(recorded) => prop_assert!(recorded.imported.processes > 0),
            Err(error) => prop_assert!(!matches!(error, ImportError::Writer(_)), "{}", error),
        }
    }
}
