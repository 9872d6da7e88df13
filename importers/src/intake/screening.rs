//! Screens the bytes of a dump while it is unpacked, before and after its format is known.
//!
//! Unpacking ends where the bytes make no sense; the importer then finds the damage and describes it.

use crate::intake::first_bytes::FIRST_BYTES;
use crate::intake::screen::Screen;
use crate::table::recognise;

/// Screens the unpacked bytes of one dump, piece by piece.
pub(crate) enum Screener {
    /// Fewer than [`FIRST_BYTES`] so far.
    Beginning(Vec<u8>),
    /// The format is known, and screens the rest.
    Recognised(Box<dyn Screen>),
    /// The bytes are not a dump, or damaged.
    Refused,
}

impl Screener {
    pub(crate) fn new() -> Self {
        Screener::Beginning(Vec::new())
    }

    /// Returns whether the dump can still be valid with these `bytes`, which follow those of the previous call.
    pub(crate) fn admits(&mut self, bytes: &[u8]) -> bool {
        let admits = match self {
            Screener::Beginning(first) => {
                first.extend_from_slice(bytes);
                if first.len() < FIRST_BYTES {
                    return true;
                }
                let first = std::mem::take(first);
                match recognise(&first).and_then(|format| (format.0.screen)(&first)) {
                    Some(mut screen) => {
                        let admits = screen.admits(&first);
                        *self = Screener::Recognised(screen);
                        admits
                    }
                    None => false,
                }
            }
            Screener::Recognised(screen) => screen.admits(bytes),
            Screener::Refused => false,
        };
        if !admits {
            *self = Screener::Refused;
        }
        admits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of `bytes` that are admitted, in pieces of `piece` bytes.
    fn admitted(bytes: &[u8], piece: usize) -> usize {
        let mut screen = Screener::new();
        bytes.chunks(piece).take_while(|piece| screen.admits(piece)).map(<[u8]>::len).sum()
    }

    fn hprof(records: &[u8]) -> Vec<u8> {
        [b"JAVA PROFILE 1.0.2\0\0\0\0\x08".as_slice(), &[0; 8], records].concat()
    }

    #[test]
    fn records_are_followed_by_their_lengths() {
        let record = [&[1, 0, 0, 0, 0, 0, 0, 0x10, 0][..], &[0; 0x1000]].concat();
        let whole = hprof(&record.repeat(5));
        let damaged = [&whole[..], &[0; 1 << 20]].concat();
        for piece in [1, 7, 1000, 1 << 16] {
            assert_eq!(admitted(&whole, piece), whole.len(), "pieces of {piece}");
            let admitted = admitted(&damaged, piece);
            assert!(admitted <= whole.len() && admitted + piece > whole.len(), "pieces of {piece}: {admitted}");
        }
        // Old virtual machines write no length of a heap of more than 4 GiB.
        let heap = hprof(&[&[0x0c, 0, 0, 0, 0, 0, 0, 0, 0, 0x21][..], &[0x55; 1 << 14]].concat());
        assert_eq!(admitted(&heap, 1000), heap.len());
        let empty = hprof(&[&[0x1c, 0, 0, 0, 0, 0, 0, 0, 0][..], &[0; 1 << 14]].concat());
        assert!(admitted(&empty, 1000) <= FIRST_BYTES);
    }

    #[test]
    fn text_has_no_zeros_and_lines_begin_as_objects() {
        let line = format!("{{\"address\":\"0x10\", \"type\":\"STRING\", \"value\":\"{}\"}}\n", "x".repeat(100));
        let whole = line.repeat(100);
        for piece in [1, 33, 5000] {
            assert_eq!(admitted(whole.as_bytes(), piece), whole.len());
            for damage in ["garbage\n", "\0\0\0\0"] {
                let damaged = whole.clone() + &damage.repeat(5000);
                let limit = whole.len() + damaged.len() / 2;
                assert!(admitted(damaged.as_bytes(), piece) <= limit, "{damage:?} in pieces of {piece}");
                // An import leaves out lines like these.
                let damaged = [&whole, damage, "\n", &whole].concat();
                assert_eq!(admitted(damaged.as_bytes(), piece), damaged.len(), "{damage:?} in pieces of {piece}");
            }
        }
        let v8 = "{\"snapshot\":{".to_owned() + &" ".repeat(5000);
        assert_eq!(admitted(v8.as_bytes(), 100), v8.len());
        assert_eq!(admitted((v8.clone() + "\0").as_bytes(), 100), v8.len() / 100 * 100);
    }

    #[test]
    fn what_begins_as_no_dump_is_refused_at_once() {
        for begin in
            ["nothing of the kind", "MoarHeapDumpv002", "MoarHeapDumpv003", "MoarHeapDumpv009", "JAVA PROFILE "]
        {
            let bytes = [begin.as_bytes(), &[0; 1 << 16]].concat();
            assert!(admitted(&bytes, 1000) <= FIRST_BYTES, "{begin}");
        }
    }
}
