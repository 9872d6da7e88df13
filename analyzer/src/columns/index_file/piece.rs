//! The storage of a column: pieces that are encoded and read independently of each other.
//!
//! ```text
//!   Plain        as in memory: mapped, never copied                        small tables
//!   Narrow       u32 in as few bytes as most values of a piece need        a number of each object
//!   Differences  each value less the one before, in planes, compressed     ids and positions
//!   Planes       in planes, compressed                                     everything else that is large
//! ```
//!
//! A piece of the last two forms has to be decoded to be read. It is so small that this takes less than 0.1 ms.

use barrow_format::codec::{Codec, Compression, Compressor, Decompressor};
use bytemuck::{Pod, cast_slice_mut};

use super::{narrow, planes};

/// Values in a piece of narrow numbers: their places fit 16 bits.
pub(super) const NARROW_VALUES: usize = 1 << 12;
/// The fastest level that finds repeated bytes. Higher ones gain little on planes.
const LEVEL: i32 = 1;

/// The encoding of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Form {
    Plain,
    Narrow,
    Differences,
    Planes,
}

impl Form {
    /// The number that represents it in a file.
    pub(super) fn number(self) -> u8 {
        self as u8
    }

    pub(super) fn of_number(number: u8) -> Option<Self> {
        [Form::Plain, Form::Narrow, Form::Differences, Form::Planes].into_iter().find(|form| form.number() == number)
    }

    /// The length of a piece before it is encoded, in bytes.
    pub(super) fn piece_bytes(self) -> usize {
        match self {
            Form::Plain => 1 << 18,
            Form::Narrow => NARROW_VALUES * size_of::<u32>(),
            Form::Differences | Form::Planes => 1 << 16,
        }
    }
}

/// Encodes pieces; one per thread.
pub(super) struct Encoder {
    compressor: Compressor,
    planes: Vec<u8>,
}

impl Encoder {
    pub(super) fn new() -> Self {
        let compressor = Compressor::new(Compression::Zstd(LEVEL)).expect("the level exists");
        Encoder { compressor, planes: Vec::new() }
    }

    /// Encodes the values of a piece, each of which has `width` bytes.
    pub(super) fn encode(&mut self, form: Form, width: usize, values: &[u8]) -> Vec<u8> {
        match form {
            Form::Plain => values.to_vec(),
            Form::Narrow => narrow::encode(values.as_chunks().0),
            Form::Differences | Form::Planes => {
                self.planes.resize(values.len(), 0);
                planes::split(width, form == Form::Differences, values, &mut self.planes);
                let mut out = vec![Codec::None.number() as u8];
                match self.compressor.append(&self.planes, &mut out) {
                    Ok(codec) => out[0] = codec.number() as u8,
                    // Out of memory: they are stored as they are.
                    Err(_) => out.extend_from_slice(&self.planes),
                }
                out
            }
        }
    }
}

/// Decodes pieces; one per thread.
#[derive(Default)]
pub(super) struct Decoder {
    decompressor: Decompressor,
    planes: Vec<u8>,
}

impl Decoder {
    /// Decodes a piece into `values`, which have the length that it was encoded from; `None` if it is damaged.
    pub(super) fn decode<T: Pod>(&mut self, form: Form, stored: &[u8], values: &mut [T]) -> Option<()> {
        match form {
            Form::Plain => {
                let values: &mut [u8] = cast_slice_mut(values);
                (stored.len() == values.len()).then(|| values.copy_from_slice(stored))
            }
            Form::Narrow => {
                let values = bytemuck::try_cast_slice_mut(values).ok()?;
                narrow::NarrowPiece::parse(stored, values.len())?.decode(values)
            }
            Form::Differences | Form::Planes => {
                let (&codec, stored) = stored.split_first()?;
                let codec = Codec::from_number(codec.into()).ok()?;
                let length = size_of_val(values);
                let planes = self.decompressor.decompress("a piece", codec, stored, length, &mut self.planes).ok()?;
                planes::join(size_of::<T>(), form == Form::Differences, planes, cast_slice_mut(values));
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::cast_slice;

    use super::*;

    fn assert_same<T: Pod + PartialEq + std::fmt::Debug>(form: Form, values: &[T]) {
        let stored = Encoder::new().encode(form, size_of::<T>(), cast_slice(values));
        let mut found = vec![T::zeroed(); values.len()];
        Decoder::default().decode(form, &stored, &mut found).unwrap();
        assert_eq!(found, values);
        for length in 0..stored.len() {
            let found = Decoder::default().decode(form, &stored[..length], &mut found);
            assert_eq!(found, None, "{form:?} cut after {length} bytes");
        }
    }

    #[test]
    fn values_are_read_back() {
        let values: Vec<u32> =
            (0..1000u32).map(|at| if at % 7 == 0 { at.wrapping_mul(40_000_003) } else { at / 3 }).collect();
        for form in [Form::Plain, Form::Narrow, Form::Differences, Form::Planes] {
            assert_same(form, &values);
            assert_same(form, &[5u32]);
        }
        for form in [Form::Plain, Form::Differences, Form::Planes] {
            assert_same(form, &values.iter().map(|&value| u64::from(value) << 20).collect::<Vec<_>>());
            assert_same(form, &values.iter().map(|&value| value as u8).collect::<Vec<_>>());
            assert_same(form, &values.iter().map(|&value| [value as u8, 1]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn forms_have_numbers() {
        for form in [Form::Plain, Form::Narrow, Form::Differences, Form::Planes] {
            assert_eq!(Form::of_number(form.number()), Some(form));
        }
        assert_eq!(Form::of_number(4), None);
    }
}
