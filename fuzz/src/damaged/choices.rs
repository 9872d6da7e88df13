//! What an input decides.

/// Decisions: the bytes of an input, then numbers that follow from them.
pub(super) struct Choices<'b> {
    bytes: &'b [u8],
    state: u64,
}

impl<'b> Choices<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        let state = bytes
            .iter()
            .fold(0x9e37_79b9_7f4a_7c15, |state: u64, &byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Choices { bytes, state }
    }

    pub(super) fn byte(&mut self) -> u8 {
        if let Some((&first, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            return first;
        }
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as u8
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
