//! Shuffles numbers without a table.

use barrow_statistics::Random;

/// The number of rounds of the cipher, which suffices for shuffling.
const ROUNDS: usize = 4;

/// A pseudo-random permutation of the numbers below a limit, in constant memory.
///
/// A Feistel network (Luby and Rackoff 1988) permutes the numbers with an even count of bits. Results at or above the
/// limit are permuted again until they are below it (cycle walking, Black and Rogaway 2002). The network permutes at
/// most four times the numbers needed, so the average number of passes is at most four.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    limit: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// One of the numbers below `limit`, which is at most 2^62.
    pub(super) fn new(limit: u64, random: &mut Random) -> Self {
        let bits = u64::BITS - limit.saturating_sub(1).leading_zeros();
        Permutation { limit, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| random.next()) }
    }

    /// The number at a position.
    pub(super) fn number(&self, place: u64) -> u64 {
        self.walk(place, |value| {
            self.keys.iter().fold(value, |value, &key| {
                let (left, right) = self.halves(value);
                right << self.half_bits | (left ^ self.mixed(right, key))
            })
        })
    }

    /// The position of a number.
    pub(super) fn place(&self, number: u64) -> u64 {
        self.walk(number, |value| {
            self.keys.iter().rev().fold(value, |value, &key| {
                let (right, mixed) = self.halves(value);
                (mixed ^ self.mixed(right, key)) << self.half_bits | right
            })
        })
    }

    fn walk(&self, start: u64, step: impl Fn(u64) -> u64) -> u64 {
        let mut value = step(start);
        while value >= self.limit {
            value = step(value);
        }
        value
    }

    fn halves(&self, value: u64) -> (u64, u64) {
        (value >> self.half_bits, value & self.mask())
    }

    fn mixed(&self, half: u64, key: u64) -> u64 {
        Random::new(half ^ key).next() & self.mask()
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_place() {
        for limit in [1, 2, 3, 4, 5, 16, 17, 1000, 4097] {
            let permutation = Permutation::new(limit, &mut Random::new(limit));
            let mut numbers: Vec<u64> = (0..limit).map(|place| permutation.number(place)).collect();
            assert!((0..).zip(&numbers).all(|(place, &number)| permutation.place(number) == place), "below {limit}");
            numbers.sort_unstable();
            assert_eq!(numbers, (0..limit).collect::<Vec<u64>>());
        }
    }
}
