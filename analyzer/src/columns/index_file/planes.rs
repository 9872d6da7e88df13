//! The bytes of numbers, place by place.
//!
//! The first bytes of all numbers come first, then all second bytes, and so on. Numbers per object differ mostly in
//! their low bytes, so the planes of the high ones compress to nearly nothing.

/// A number of `W` bytes. All arithmetic wraps around.
trait Word<const W: usize>: Copy {
    const ZERO: Self;

    fn of_bytes(bytes: [u8; W]) -> Self;
    fn to_bytes(self) -> [u8; W];
    /// This number less `before`, as a natural number that is small if both are near each other.
    fn less(self, before: Self) -> Self;
    /// The inverse: the number of which this is the difference to `before`.
    fn and(self, before: Self) -> Self;
}

macro_rules! word {
    ($number:ty) => {
        impl Word<{ size_of::<$number>() }> for $number {
            const ZERO: Self = 0;

            #[inline(always)]
            fn of_bytes(bytes: [u8; size_of::<$number>()]) -> Self {
                <$number>::from_le_bytes(bytes)
            }

            #[inline(always)]
            fn to_bytes(self) -> [u8; size_of::<$number>()] {
                self.to_le_bytes()
            }

            #[inline(always)]
            fn less(self, before: Self) -> Self {
                let difference = self.wrapping_sub(before).cast_signed();
                (difference << 1 ^ difference >> (<$number>::BITS - 1)).cast_unsigned()
            }

            #[inline(always)]
            fn and(self, before: Self) -> Self {
                before.wrapping_add(self >> 1 ^ (self & 1).wrapping_neg())
            }
        }
    };
}

word!(u8);
word!(u16);
word!(u32);
word!(u64);

/// Splits numbers of `width` bytes into planes, which are as long; their differences if `differ`.
pub(super) fn split(width: usize, differ: bool, numbers: &[u8], planes: &mut [u8]) {
    match width {
        1 => split_words::<u8, 1>(differ, numbers, planes),
        2 => split_words::<u16, 2>(differ, numbers, planes),
        4 => split_words::<u32, 4>(differ, numbers, planes),
        _ => split_words::<u64, 8>(differ, numbers, planes),
    }
}

/// The inverse of [`split`].
pub(super) fn join(width: usize, differ: bool, planes: &[u8], numbers: &mut [u8]) {
    match width {
        1 => join_words::<u8, 1>(differ, planes, numbers),
        2 => join_words::<u16, 2>(differ, planes, numbers),
        4 => join_words::<u32, 4>(differ, planes, numbers),
        _ => join_words::<u64, 8>(differ, planes, numbers),
    }
}

fn split_words<T: Word<W>, const W: usize>(differ: bool, numbers: &[u8], planes: &mut [u8]) {
    let (numbers, length) = (numbers.as_chunks::<W>().0, numbers.len() / W);
    let planes = planes_of::<W>(planes, length);
    let mut before = T::ZERO;
    for (at, &bytes) in numbers.iter().enumerate() {
        let bytes = if differ {
            let number = T::of_bytes(bytes);
            number.less(std::mem::replace(&mut before, number)).to_bytes()
        } else {
            bytes
        };
        for plane in 0..W {
            planes[plane][at] = bytes[plane];
        }
    }
}

fn join_words<T: Word<W>, const W: usize>(differ: bool, planes: &[u8], numbers: &mut [u8]) {
    let (numbers, length) = (numbers.as_chunks_mut::<W>().0, planes.len() / W);
    let planes: [&[u8]; W] = std::array::from_fn(|plane| &planes[plane * length..][..length]);
    for (at, bytes) in numbers[..length].iter_mut().enumerate() {
        *bytes = std::array::from_fn(|plane| planes[plane][at]);
    }
    if differ {
        let mut before = T::ZERO;
        for bytes in numbers {
            before = T::of_bytes(*bytes).and(before);
            *bytes = before.to_bytes();
        }
    }
}

fn planes_of<const W: usize>(mut planes: &mut [u8], length: usize) -> [&mut [u8]; W] {
    std::array::from_fn(|_| {
        let (plane, rest) = std::mem::take(&mut planes).split_at_mut(length);
        planes = rest;
        plane
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_joined_again() {
        let bytes: Vec<u8> = (0..8 * 1000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> (at % 25)) as u8).collect();
        for width in [1, 2, 4, 8] {
            for differ in [false, true] {
                let (mut planes, mut found) = (vec![0; bytes.len()], vec![0; bytes.len()]);
                split(width, differ, &bytes, &mut planes);
                join(width, differ, &planes, &mut found);
                assert!(found == bytes, "{width} {differ}");
            }
        }
    }

    #[test]
    fn planes_are_bytes_of_one_place() {
        let numbers: Vec<u8> = [0x0102_u16, 0x0304].iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut planes = [0; 4];
        split(2, false, &numbers, &mut planes);
        assert_eq!(planes, [0x02, 0x04, 0x01, 0x03]);
        split(2, true, &numbers, &mut planes);
        assert_eq!(planes, [0x04, 0x04, 0x02, 0x04]);
    }
}
