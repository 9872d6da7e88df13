//! Files that are cut or changed anywhere.

use std::sync::OnceLock;

use barrow_importers::{FORMATS, Holds, ImportError, import_bytes, read_values};
use barrow_testdata::LimitedProgress;
use barrow_writer::{Options, Writer};
use proptest::prelude::*;

use crate::recorded::{record, sample};

/// The samples of all formats.
fn files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let of_values = FORMATS.iter().filter(|format| format.holds() == Holds::Values);
        of_values.map(|format| std::fs::read(sample(format.sample())).expect("a sample")).collect()
    })
}

#[test]
fn a_file_of_any_length_gives_what_is_whole() {
    for file in files() {
        let whole = record(file).expect("values").imported.values;
        for cut in (0..file.len()).step_by(file.len() / 200 + 1) {
            match record(&file[..cut]) {
                Ok(recorded) => assert!(recorded.imported.values > 0 && recorded.imported.values <= whole),
                Err(error) => assert!(!matches!(error, ImportError::Writer(_)), "{error}"),
            }
        }
    }
}

#[test]
fn the_place_of_a_cut_is_told() {
    let file = br#"{"results":[{"command":"a","times":[1]},{"command":"b","ti"#;
    let lost = record(file).expect("a value").lost();
    let expected =
        "results at byte 58 cannot be read: EOF while parsing a string at line 1 column 58; 1 value was imported";
    assert_eq!(lost.as_deref(), Some(expected));
    assert!(matches!(read_values(file), Err(ImportError::NoWholeValue { .. })));
    let cut = &file[..30];
    let expected = "no value: results at byte 30 cannot be read: EOF while parsing a string at line 1 column 30";
    assert_eq!(record(cut).map(drop).expect_err("no value").to_string(), expected);
}

#[test]
fn progress_ends_at_the_total_and_an_import_can_be_cancelled() {
    for file in files() {
        let import = |checks| {
            let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("a sink");
            let progress = LimitedProgress::new(checks);
            let imported = import_bytes(file, &writer, &progress);
            (imported, progress.steps())
        };
        let (imported, advanced) = import(u64::MAX);
        imported.expect("a whole file");
        assert_eq!(advanced, file.len() as u64);
        for checks in 0..2 {
            assert!(matches!(import(checks).0, Err(ImportError::Cancelled)), "after {checks} checks");
        }
    }
}

/// One of the files with some bytes replaced, some repeated, and perhaps its end cut.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let interesting = prop_oneof![any::<u8>(), prop::sample::select(b"\n\t\"\\:=[]{},. 0189-+eNI".to_vec())];
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), interesting), 1..5);
    (any::<prop::sample::Index>(), changes, any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(
        |(file, changes, from, cut)| {
            let mut bytes = files()[file.index(files().len())].clone();
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
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mutation_is_an_answer(file in mutated()) {
        match record(&file) {
            Ok(recorded) => prop_assert!(recorded.imported.values > 0),
            Err(error) => prop_assert!(!matches!(error, ImportError::Writer(_)), "{}", error),
        }
        if let Ok(read) = read_values(&file) {
            prop_assert!(!read.values.is_empty() && read.values.iter().all(|value| value.value.is_finite()));
        }
    }
}
