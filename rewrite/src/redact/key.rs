//! The key of a redaction.

use blake3::Hasher;

/// Minimum length of a secret in bytes: shorter ones can be guessed.
const LEAST_BYTES: usize = 16;
/// The purpose of keys; different purposes have different keys.
const PURPOSE: &str = "barrow 2026-11-25 redaction of a recording";

/// A secret that determines all replacements. Its bytes are never shown or stored.
#[derive(Clone, Copy)]
pub struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// A new unique key, from the system's source of random numbers.
    ///
    /// # Errors
    /// The system's error.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(Key(bytes))
    }

    /// The key of a secret, such as the contents of a file. `None` if it has fewer than 16 bytes.
    #[must_use]
    pub fn of_secret(secret: &[u8]) -> Option<Self> {
        (secret.len() >= LEAST_BYTES).then(|| Key(blake3::derive_key(PURPOSE, secret)))
    }

    #[cfg(test)]
    pub(super) const fn from_bytes(bytes: [u8; 32]) -> Self {
        Key(bytes)
    }

    /// A keyed hash function: its results reveal nothing without the key.
    pub(super) fn hasher(&self) -> Hasher {
        Hasher::new_keyed(&self.0)
    }

    /// 64 bits of the keyed hash of some bytes.
    pub(super) fn number(&self, input: &[u8]) -> u64 {
        let hash = blake3::keyed_hash(&self.0, input);
        let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        u64::from_le_bytes(*first)
    }

    /// The replacement of the identifier of a recording.
    pub(super) fn uuid(&self, uuid: [u8; 16]) -> [u8; 16] {
        let hash = self.hasher().update(b"uuid").update(&uuid).finalize();
        let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        *first
    }
}
