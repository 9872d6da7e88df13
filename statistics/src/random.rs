//! Random numbers from a seed: the same on every machine and in every year.

/// SplitMix64 (Steele, Lea and Flood 2014): good enough for resampling, memory layouts and test data, not for secrets.
///
/// ```
/// let mut random = barrow_statistics::Random::new(1_234_567);
/// // The first number of Vigna's implementation in C.
/// assert_eq!(random.next(), 6_457_827_717_110_365_317);
/// ```
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Begins the sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Returns the next number.
    #[expect(clippy::should_implement_trait, reason = "an endless sequence needs no Option")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.next() % limit }
    }

    /// Returns a position in a slice of this length; 0 if it is empty.
    pub(crate) fn position(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Puts values into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.position(last + 1));
        }
    }
}
