//! Classes of sizes, so that a site whose blocks have any size needs a bounded number of counters.
//!
//! ```text
//!   class 0        any size
//!   class 1 + n    exactly n bytes, n below 256
//!   then           sixteen to an octave: 256–271, 272–287, … 496–511, 512–543, …
//! ```

/// Any size: where no counter was left for the right one.
pub(crate) const ANY: u32 = 0;
/// Sizes below have a class of their own.
const EXACT: usize = 256;
/// The first class of several sizes.
const FIRST_WIDE: u32 = 1 + EXACT as u32;
/// An octave (the sizes between two powers of two) is divided by the bits that follow the highest one.
const PART_BITS: u32 = 4;
/// Exponent of the first octave.
const FIRST_EXPONENT: u32 = EXACT.trailing_zeros();

/// The class of a size.
#[inline]
pub(crate) fn class_of(size: usize) -> u32 {
    if size < EXACT {
        return 1 + size as u32;
    }
    let exponent = usize::BITS - 1 - size.leading_zeros();
    let part = (size >> (exponent - PART_BITS)) as u32 & ((1 << PART_BITS) - 1);
    FIRST_WIDE + ((exponent - FIRST_EXPONENT) << PART_BITS) + part
}

/// The least and the largest size of a class.
pub(crate) fn bounds(class: u32) -> (u64, u64) {
    match class {
        ANY => (0, u64::MAX),
        _ if class < FIRST_WIDE => (u64::from(class - 1), u64::from(class - 1)),
        _ => {
            let step = class - FIRST_WIDE;
            let exponent = FIRST_EXPONENT + (step >> PART_BITS);
            let width = 1u64 << (exponent - PART_BITS);
            let least = (1u64 << exponent) + u64::from(step & ((1 << PART_BITS) - 1)) * width;
            (least, least + (width - 1))
        }
    }
}

/// A class as people read it: `48 B`, `256–271 B`.
pub(crate) fn title(class: u32) -> String {
    match bounds(class) {
        (0, u64::MAX) => "any size".to_owned(),
        (least, most) if least == most => format!("{least} B"),
        (least, most) => format!("{least}–{most} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_each_other_without_a_gap() {
        let mut next = 0;
        for class in 1..=class_of(1 << 40) {
            let (least, most) = bounds(class);
            assert_eq!(least, next);
            for size in [least, most] {
                assert_eq!(class_of(usize::try_from(size).unwrap()), class);
            }
            next = most + 1;
        }
        assert_eq!(bounds(class_of(usize::MAX)).1, u64::MAX);
    }

    #[test]
    fn titles_tell_the_sizes() {
        assert_eq!(title(class_of(48)), "48 B");
        assert_eq!(title(class_of(270)), "256–271 B");
        assert_eq!(title(ANY), "any size");
    }
}
