//! The layout of one iteration, which follows from the seed of the run and the number of the iteration.

/// A large block has at least this many bytes: less than the 128 KiB from which glibc maps pages of their own.
const LARGE_BYTES: u64 = 85 << 10;
/// Sizes of the small block, and of what the large block has in addition.
const SMALL_BYTES: u64 = 32;
/// Positions are moved within a page.
const PAGE: u64 = 4096;
/// The alignment of stacks and of blocks.
const ALIGNMENT: u64 = 16;

/// The layout of one iteration, in bytes.
///
/// The libraries for C and Python compute the same numbers:
///
/// ```text
///   seed    = next(run_seed ^ next(iteration))     next(x): the first number of SplitMix64 with the seed x
///   numbers = SplitMix64 with this seed, in this order:
///     stack        (number mod 256) * 16
///     heap_small    number mod 32
///     heap_large    87040 + number mod 32
///     heap_offset  (number mod 256) * 16
/// ```
///
/// SplitMix64 is by Steele, Lea and Flood (2014).
///
/// ```
/// let layout = barrow_trial::Layout::of(1, 0);
/// assert_eq!(layout, barrow_trial::Layout::of(1, 0));
/// assert_ne!(layout, barrow_trial::Layout::of(1, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The seed that determines the numbers below.
    pub seed: u64,
    /// The block on the stack: 0 to 4,080, a multiple of 16.
    pub stack: u64,
    /// The small block on the heap: 0 to 31.
    pub heap_small: u64,
    /// The large block on the heap: 87,040 to 87,071.
    pub heap_large: u64,
    /// The block after them: 0 to 4,080, a multiple of 16.
    pub heap_offset: u64,
}

impl Layout {
    /// The layout of an iteration of a run.
    #[must_use]
    pub const fn of(run_seed: u64, iteration: u64) -> Self {
        let (_, of_iteration) = next(iteration);
        let (_, seed) = next(run_seed ^ of_iteration);
        let (state, stack) = next(seed);
        let (state, small) = next(state);
        let (state, large) = next(state);
        let (_, offset) = next(state);
        Layout {
            seed,
            stack: stack % (PAGE / ALIGNMENT) * ALIGNMENT,
            heap_small: small % SMALL_BYTES,
            heap_large: LARGE_BYTES + large % SMALL_BYTES,
            heap_offset: offset % (PAGE / ALIGNMENT) * ALIGNMENT,
        }
    }
}

/// The next state of SplitMix64, and its number.
const fn next(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, mixed ^ (mixed >> 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_split_mix() {
        // The first numbers of Vigna's implementation in C with the seed 1234567.
        let (state, first) = next(1_234_567);
        assert_eq!((first, next(state).1), (6_457_827_717_110_365_317, 3_203_168_211_198_807_973));
    }

    #[test]
    fn layouts_stay_within_their_limits_and_differ() {
        let mut offsets = std::collections::BTreeSet::new();
        for iteration in 0..1000 {
            let Layout { stack, heap_small, heap_large, heap_offset, .. } = Layout::of(7, iteration);
            assert!(stack <= 4080 && stack % 16 == 0 && heap_offset <= 4080 && heap_offset % 16 == 0);
            assert!(heap_small < 32 && (87_040..87_072).contains(&heap_large));
            offsets.insert((stack, heap_offset));
        }
        assert!(offsets.len() > 980, "{}", offsets.len());
    }
}
