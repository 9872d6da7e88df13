//! A hash for keys that a dump holds by the million: two multiplications for each eight bytes.
//!
//! Seeded at random for each process, so that no dump can be made whose keys all collide.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map with this hash.
pub(crate) type FastMap<K, V> = HashMap<K, V, Seed>;

/// Two random numbers, one of them odd.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(u64, u64);

impl Default for Seed {
    fn default() -> Self {
        let random = RandomState::new();
        Seed(random.hash_one(0), random.hash_one(1) | 1)
    }
}

impl BuildHasher for Seed {
    type Hasher = Folding;

    fn build_hasher(&self) -> Folding {
        Folding { state: self.0, multiplier: self.1 }
    }
}

/// Multiplies to 128 bits and folds the halves together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folding {
    state: u64,
    multiplier: u64,
}

impl Folding {
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.multiplier);
        self.state = (product as u64) ^ (product >> 64) as u64;
    }
}

impl Hasher for Folding {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|&word| self.fold(u64::from_le_bytes(word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.fold(u64::from_le_bytes(last));
    }

    fn write_u64(&mut self, word: u64) {
        self.fold(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.fold(word as u64);
    }

    fn finish(&self) -> u64 {
        let mut last = *self;
        last.fold(self.multiplier);
        last.state
    }
}
