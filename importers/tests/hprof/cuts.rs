//! Dumps that are cut or damaged anywhere.

use crate::dump::{Dump, tiny};
use crate::read::record;
use barrow_importers::{ImportError, Imported, Silent, import_bytes};
use barrow_writer::{Options, Writer};
use proptest::prelude::*;

/// Imports into nowhere: what counts is that it ends, and with what.
fn import(dump: &[u8]) -> Result<Imported, ImportError> {
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(std::io::sink()), options).expect("writing to nowhere");
    let imported = import_bytes(dump, &writer, &Silent);
    writer.finish().expect("the writer is usable after any import");
    imported
}

#[test]
fn a_cut_dump_gives_everything_before_the_cut() {
    for id_bytes in [4, 8] {
        let whole = tiny(id_bytes);
        let (mut most, mut damaged) = (0, 0);
        for length in 0..whole.len() {
            match import(&whole[..length]) {
                Ok(imported) => {
                    let objects = imported.snapshots[0].objects;
                    assert!(objects >= most, "{objects} objects at {length}, but {most} of fewer bytes");
                    most = objects;
                    if let Some(lost) = imported.lost {
                        damaged += 1;
                        assert!(lost.to_string().contains(&format!("byte {length}")), "{lost}");
                        assert!(lost.to_string().ends_with("everything before that was imported"), "{lost}");
                    }
                }
                Err(ImportError::NoWholeSnapshot { .. } | ImportError::NoSnapshot { .. }) => {
                    assert_eq!(most, 0, "cut at {length}")
                }
                Err(ImportError::Unrecognised { .. }) => assert!(length < 13),
                Err(error) => panic!("cut at {length}: {error}"),
            }
        }
        // A cut between two records looks whole.
        assert_eq!(most, 16);
        assert!(damaged > 100, "{damaged}");
    }
}

#[test]
fn references_to_what_is_lost_are_left_out() {
    let whole = tiny(8);
    let recorded = record(&whole[..whole.len() - 200]).expect("the beginning of a heap");
    assert!(recorded.imported.lost.is_some());
    assert!(
        recorded.imported.notes.iter().any(|note| note.contains("lead to nothing")),
        "{:?}",
        recorded.imported.notes
    );
}

/// HotSpot writes the length of a segment last.
#[test]
fn a_segment_without_length_is_read_to_the_end() {
    let mut dump = Dump::new("1.0.2", 8);
    dump.primitive_array(0x1000, 8, 3, b"abc");
    dump.primitive_array(0x1020, 8, 3, b"def");
    let heap = std::mem::take(&mut dump.heap);
    for tag in [0x0c, 0x1c] {
        let bytes = [&dump.bytes[..], &[tag, 0, 0, 0, 0, 0, 0, 0, 0], &heap, &[0x23, 0, 0]].concat();
        let imported = import(&bytes).expect("two arrays");
        assert_eq!(imported.snapshots[0].objects, 2);
        assert!(imported.lost.is_some());
    }
}

#[test]
fn lengths_that_lie_take_no_memory() {
    for tag in [0x20, 0x21, 0x22, 0x23] {
        let mut dump = Dump::new("1.0.2", 8);
        dump.primitive_array(0x1000, 8, 3, b"abc");
        dump.heap.push(tag);
        dump.heap.extend([0xff; 60]);
        let imported = import(&dump.end()).expect("an array");
        assert_eq!(imported.snapshots[0].objects, 1);
        assert!(imported.lost.is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_damage_ends(at in 0_usize..10_000, bytes in proptest::collection::vec(any::<u8>(), 1..8), wide: bool) {
        let mut dump = tiny(if wide { 8 } else { 4 });
        let start = at % dump.len();
        for (place, byte) in dump[start..].iter_mut().zip(bytes) {
            *place = byte;
        }
        let _ = import(&dump);
    }

    #[test]
    fn any_bytes_end(tail in proptest::collection::vec(any::<u8>(), 0..300)) {
        let head = Dump::new("1.0.2", 8).bytes;
        let _ = import(&[head, tail].concat());
    }
}
