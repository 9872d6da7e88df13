//! Dumps that are cut or changed anywhere.

use crate::dumps::{PYTHON, RUBY_31};
use crate::recorded::{record, record_bytes};
use barrow_importers::{Damage, ImportError, import_bytes};
use barrow_testdata::LimitedProgress;
use barrow_writer::{Options, Writer};
use proptest::prelude::*;

#[test]
fn a_cut_dump_gives_its_whole_lines() {
    let whole = record(RUBY_31).expect("a whole dump").totals();
    for cut in 0..RUBY_31.len() {
        let kept = &RUBY_31[..cut];
        let whole_lines = kept.rfind('\n').map_or(0, |newline| newline + 1);
        // A line that lacks only its newline is whole.
        let is_whole = whole_lines == cut || RUBY_31.as_bytes()[cut] == b'\n';
        let kept_lines = if is_whole { kept } else { &kept[..whole_lines] };
        let objects =
            kept_lines.lines().filter(|line| line.starts_with("{\"address\"") && !line.contains("NONE")).count();
        match record(kept) {
            Ok(recorded) => {
                assert_eq!(recorded.totals().objects, objects as u64, "{cut}");
                assert!(recorded.totals().references <= whole.references);
                let lost = recorded.imported.lost.map(|loss| loss.to_string());
                let sentence =
                    format!("the dump ends at byte {cut} inside a line; everything before that was imported");
                assert_eq!(lost, (!is_whole).then_some(sentence));
            }
            Err(_) => assert_eq!(objects, 0, "{cut}"),
        }
    }
}

#[test]
fn a_dump_of_python_knows_its_end() {
    let last = PYTHON.trim_end().rfind('\n').expect("lines") + 1;
    let recorded = record(&PYTHON[..last]).expect("objects");
    let lost = recorded.imported.lost.expect("no end").to_string();
    let expected = format!("the dump ends at byte {last} without its last line, as after a kill");
    assert_eq!(lost, format!("{expected}; everything before that was imported"));
    let wrong = PYTHON.replace("\"objects\":9", "\"objects\":10");
    let damage = record(&wrong).expect("objects").imported.lost.expect("a wrong end").damage;
    assert!(matches!(damage, Damage::Mismatch { expected: 10, found: 9, .. }), "{damage}");
}

#[test]
fn a_dump_without_objects_is_an_error() {
    let no_objects = "{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[\"0x10\"]}\n";
    assert!(matches!(record(no_objects).map(drop), Err(ImportError::NoSnapshot { .. })));
    let header = PYTHON.lines().next().expect("a header");
    assert!(matches!(record(&format!("{header}\n")).map(drop), Err(ImportError::NoWholeSnapshot { .. })));
    assert!(matches!(record(&header[..40]).map(drop), Err(ImportError::NoWholeSnapshot { .. })));
}

#[test]
fn progress_ends_at_the_total_and_an_import_can_be_cancelled() {
    for dump in [RUBY_31, PYTHON] {
        let import = |checks| {
            let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("a sink");
            let progress = LimitedProgress::new(checks);
            let imported = import_bytes(dump.as_bytes(), &writer, &progress);
            (imported, progress.steps())
        };
        let (imported, advanced) = import(u64::MAX);
        imported.expect("a whole dump");
        assert_eq!(advanced, dump.len() as u64);
        for checks in 0..4 {
            assert!(matches!(import(checks).0, Err(ImportError::Cancelled)), "after {checks} checks");
        }
    }
}

/// One of the dumps with some bytes replaced and perhaps its end cut.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let interesting =
        prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), Just(b'\n'), Just(b'0'), Just(b'9'), Just(b',')];
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), interesting), 1..4);
    (any::<bool>(), changes, any::<prop::sample::Index>()).prop_map(|(is_ruby, changes, cut)| {
        let mut bytes = (if is_ruby { RUBY_31 } else { PYTHON }).as_bytes().to_vec();
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
    fn any_mutation_is_an_answer(dump in mutated(), threads in 1..3_usize) {
        match record_bytes(&dump, threads) {
            Ok(recorded) => prop_assert_eq!(recorded.imported.snapshots.len(), 1),
            Err(error) => prop_assert!(!matches!(error, ImportError::Writer(_)), "{}", error),
        }
    }
}
