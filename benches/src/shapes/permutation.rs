//! Numbers in disorder, without a table of them.

use crate::random::Random;

/// Rounds of the cipher: enough for disorder, which is all that is asked of it.
const ROUNDS: usize = 4;

/// A pseudo-random permutation of the numbers below a limit, in constant memory.
///
/// A Feistel network (Luby and Rackoff 1988) permutes the numbers of an even count of bits; what falls outside
/// of the limit is sent through again until it falls inside (cycle walking: Black and Rogaway 2002).
/// There are at most four times as many numbers as needed, so it is sent through four times at most, on average.
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

    /// The number at a place.
    pub(super) fn number(&self, place: u64) -> u64 {
        self.walk(place, |value| {
            self.keys.iter().fold(value, |value, &key| {
                let (left, right) = self.halves(value);
                right << self.half_bits | (left ^ self.mixed(right, key))
            })
        })
    }

    /// The place of a number.
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
