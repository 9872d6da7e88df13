//! What an input decides.

use barrow_testdata::Random;

/// Decisions: the bytes of an input, then numbers that follow from them.
pub(super) struct Choices<'b> {
    bytes: &'b [u8],
    random: Random,
}

impl<'b> Choices<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        let seed = bytes
            .iter()
            .fold(0x9e37_79b9_7f4a_7c15, |seed: u64, &byte| (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Choices { bytes, random: Random::new(seed) }
    }

    pub(super) fn byte(&mut self) -> u8 {
        if let Some((&first, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            return first;
        }
        self.random.next() as u8
    }

    /// A number below `limit`, which is not 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let number = u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]);
        number as usize % limit
    }

    pub(super) fn up_to(&mut self, most: usize) -> usize {
        self.below(most + 1)
    }
}
