//! The checksum chain: one number that identifies all frames of a recording up to a position.
//!
//! ```text
//!   0 ─▶ frame ─▶ frame ─▶ … ─▶ COMMIT ─▶ frame ─▶ … ─▶ COMMIT
//!        header   header        fields    header        fields
//!                                 └─ its checksum         └─ its checksum
//! ```
//!
//! Each arrow is XXH64 of the part named below it, with the number before it as the seed. A frame header holds the CRCs
//! of directory and body, and the directory of a block those of its columns, so 40 bytes per frame cover all content.

use twox_hash::XxHash64;

/// The number that identifies everything in a recording before the next frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chain(u64);

impl Chain {
    /// The chain of a recording that has no frame yet.
    #[must_use]
    pub fn new() -> Self {
        Chain::default()
    }

    /// The chain right after a COMMIT with this checksum.
    #[must_use]
    pub fn after_commit(checksum: u64) -> Self {
        Chain(checksum)
    }

    /// Adds a link: the header of the next frame, or the fields of a COMMIT after its checksum.
    pub fn add(&mut self, link: &[u8]) {
        self.0 = XxHash64::oneshot(self.0, link);
    }

    /// The number itself.
    #[must_use]
    pub fn checksum(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The function is XXH64: values of the reference implementation.
    #[test]
    fn links_are_xxh64() {
        let mut chain = Chain::new();
        chain.add(b"");
        assert_eq!(chain.checksum(), 0xef46_db37_51d8_e999);
        let mut chain = Chain::new();
        chain.add(b"a");
        assert_eq!(chain.checksum(), 0xd24e_c4f1_a98c_6e5b);
    }

    #[test]
    fn order_and_every_link_matter() {
        let of = |links: &[&[u8]]| {
            let mut chain = Chain::new();
            links.iter().for_each(|link| chain.add(link));
            chain
        };
        let (one, other) = (&[1; 40][..], &[2; 40][..]);
        let all = [of(&[]), of(&[one]), of(&[other]), of(&[one, other]), of(&[other, one]), of(&[one, one])];
        for (number, chain) in all.iter().enumerate() {
            assert!(!all[..number].contains(chain), "{number}");
        }
        assert_eq!(Chain::after_commit(of(&[one]).checksum()), of(&[one]));
    }
}
