//! Numbers of 32 bits in one or two bytes, with a list of exceptions that do not fit.
//!
//! ```text
//!   width 0, 1, 2 or 4 · shift · number of exceptions 2
//!   one number of `width` bytes per value: the value >> shift, or all ones for an exception
//!   exceptions: their places 2 each, ascending · their values 4 each
//! ```
//!
//! With width 0 all values are exceptions or 0, with width 4 none is. A number is read where it is, so a piece need not
//! be decoded for one of its values.

use byteorder::{ByteOrder, LittleEndian};

const HEAD_BYTES: usize = 4;
/// Sizes of objects are multiples of 8 in most runtimes.
const SHIFT: u32 = 3;

/// A stored piece of narrow numbers.
#[derive(Clone, Copy)]
pub(super) struct NarrowPiece<'p> {
    width: usize,
    shift: u32,
    numbers: &'p [u8],
    places: &'p [u8],
    values: &'p [u8],
}

/// Encodes at most 65,536 values.
pub(super) fn encode(values: &[[u8; 4]]) -> Vec<u8> {
    let values: Vec<u32> = values.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
    let (width, shift) = best(&values);
    let mut out = vec![width as u8, shift as u8, 0, 0];
    let mut exceptions = Vec::new();
    for (place, &value) in (0u16..).zip(&values) {
        let is_narrow = fits(value, width, shift);
        let number = if is_narrow { value >> shift } else { u32::MAX };
        out.extend_from_slice(&number.to_le_bytes()[..width]);
        if !is_narrow {
            exceptions.push((place, value));
        }
    }
    LittleEndian::write_u16(&mut out[2..], exceptions.len() as u16);
    exceptions.iter().for_each(|(place, _)| out.extend_from_slice(&place.to_le_bytes()));
    exceptions.iter().for_each(|(_, value)| out.extend_from_slice(&value.to_le_bytes()));
    out
}

/// The width and shift that make the piece shortest.
fn best(values: &[u32]) -> (usize, u32) {
    let settings = [0, 1, 2].into_iter().flat_map(|width| [(width, 0), (width, SHIFT)]);
    let sizes = settings.map(|(width, shift)| {
        let exceptions = values.iter().filter(|&&value| !fits(value, width, shift)).count();
        (width * values.len() + 6 * exceptions, width, shift)
    });
    match sizes.min_by_key(|&(bytes, ..)| bytes) {
        Some((bytes, width, shift)) if bytes < 4 * values.len() => (width, shift),
        _ => (4, 0),
    }
}

fn fits(value: u32, width: usize, shift: u32) -> bool {
    let number = value >> shift;
    match width {
        0 => value == 0,
        4 => true,
        _ => number << shift == value && number < (1 << (8 * width)) - 1,
    }
}

impl<'p> NarrowPiece<'p> {
    /// Parses a stored piece of `values` values; `None` if its length or settings are impossible.
    pub(super) fn parse(bytes: &'p [u8], values: usize) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let (width, shift) = (usize::from(head[0]), u32::from(head[1]));
        let exceptions = usize::from(LittleEndian::read_u16(&head[2..]));
        let is_possible = [0, 1, 2, 4].contains(&width) && shift < u32::BITS;
        let is_long_enough = rest.len() == width * values + 6 * exceptions;
        if !is_possible || !is_long_enough {
            return None;
        }
        let (numbers, rest) = rest.split_at(width * values);
        let (places, of_places) = rest.split_at(2 * exceptions);
        Some(NarrowPiece { width, shift, numbers, places, values: of_places })
    }

    /// The value at a place.
    ///
    /// # Panics
    /// If there is no such place.
    pub(super) fn get(&self, at: usize) -> u32 {
        let number = match self.width {
            0 => 0,
            1 => u32::from(self.numbers[at]),
            2 => u32::from(LittleEndian::read_u16(&self.numbers[2 * at..])),
            _ => return LittleEndian::read_u32(&self.numbers[4 * at..]),
        };
        if self.width > 0 && number != (1 << (8 * self.width)) - 1 {
            return number << self.shift;
        }
        let places = self.places.as_chunks::<2>().0;
        match places.binary_search_by_key(&at, |&place| u16::from_le_bytes(place).into()) {
            Ok(place) => LittleEndian::read_u32(&self.values[4 * place..]),
            Err(_) => number << self.shift,
        }
    }

    /// Writes all values; `None` if a place is wrong.
    pub(super) fn decode(&self, out: &mut [u32]) -> Option<()> {
        match self.width {
            0 => out.fill(0),
            1 => out.iter_mut().zip(self.numbers).for_each(|(out, &number)| *out = u32::from(number) << self.shift),
            2 => {
                for (out, &number) in out.iter_mut().zip(self.numbers.as_chunks().0) {
                    *out = u32::from(u16::from_le_bytes(number)) << self.shift;
                }
            }
            _ => LittleEndian::read_u32_into(self.numbers, out),
        }
        for (&place, &value) in self.places.as_chunks().0.iter().zip(self.values.as_chunks().0) {
            *out.get_mut(usize::from(u16::from_le_bytes(place)))? = u32::from_le_bytes(value);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_same(values: &[u32], most_bytes: usize) {
        let bytes = encode(&values.iter().map(|value| value.to_le_bytes()).collect::<Vec<_>>());
        assert!(bytes.len() <= most_bytes, "{} bytes", bytes.len());
        let piece = NarrowPiece::parse(&bytes, values.len()).unwrap();
        let mut found = vec![7; values.len()];
        piece.decode(&mut found).unwrap();
        assert_eq!(found, values);
        assert_eq!((0..values.len()).map(|at| piece.get(at)).collect::<Vec<_>>(), values);
        for length in 0..bytes.len() {
            assert!(NarrowPiece::parse(&bytes[..length], values.len()).is_none());
        }
    }

    #[test]
    fn values_are_read_back_from_few_bytes() {
        assert_same(&[], 4);
        assert_same(&[0; 1000], 4);
        assert_same(&[16, 24, 255 * 8, 254 * 8, 32, 48, 40, 40, 40, 40], 4 + 10 + 6);
        assert_same(&[1, 2, 3, 254, 255, 256, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], 4 + 16 + 12);
        assert_same(&(0..1000).map(|at| at % 300 + 60_000 / (at + 1)).collect::<Vec<_>>(), 4 + 2000);
        assert_same(&(0..1000).map(|at| at * 4_000_037).collect::<Vec<_>>(), 4 + 4000);
        assert_same(&[u32::MAX, 0, 0, 0, 0, 0, 0, u32::MAX - 1], 4 + 12);
    }

    #[test]
    fn wrong_places_are_noticed() {
        let mut bytes = encode(&[0, 0, 0, 70_000, 0, 0, 0, 0].map(u32::to_le_bytes));
        assert_eq!(bytes[0], 0);
        bytes[4] = 8;
        assert!(NarrowPiece::parse(&bytes, 8).unwrap().decode(&mut [0; 8]).is_none());
    }
}
