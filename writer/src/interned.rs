//! The strings that have a number already, so that equal ones get the same one.

use std::hash::BuildHasher;

use barrow_format::StringId;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Maximum size of the remembered strings; then they are cleared: later equal strings get new numbers, which costs only
/// space in the file.
const MAX_BYTES: usize = 16 << 20;

/// Strings and their numbers: 17 bytes each besides the text, and no separate allocation.
#[derive(Default)]
pub(crate) struct Interned {
    /// All texts, concatenated.
    texts: String,
    entries: HashTable<Entry>,
    hasher: RandomState,
}

struct Entry {
    hash: u32,
    /// Start of its text in `texts`, in bytes.
    start: u32,
    length: u32,
    id: StringId,
}

impl Entry {
    fn is(&self, text: &str, texts: &str) -> bool {
        let start = self.start as usize;
        self.length as usize == text.len() && texts.as_bytes()[start..start + text.len()] == *text.as_bytes()
    }
}

impl Interned {
    /// The number of `text`, if it has one.
    pub(crate) fn get(&self, text: &str) -> Option<StringId> {
        let hash = self.hash(text);
        let entry = self.entries.find(spread(hash), |entry| entry.hash == hash && entry.is(text, &self.texts));
        entry.map(|entry| entry.id)
    }

    /// Remembers the number of a text that has none yet.
    pub(crate) fn insert(&mut self, text: &str, id: StringId) {
        if self.texts.len() + self.entries.len() * (size_of::<Entry>() + 1) + text.len() > MAX_BYTES {
            self.texts.clear();
            self.entries.clear();
        }
        let hash = self.hash(text);
        // Both are below the limit, or a single text is longer, which the format excludes.
        let (start, length) = (self.texts.len() as u32, text.len() as u32);
        self.texts.push_str(text);
        let entry = Entry { hash, start, length, id };
        self.entries.insert_unique(spread(hash), entry, |entry| spread(entry.hash));
    }

    fn hash(&self, text: &str) -> u32 {
        self.hasher.hash_one(text) as u32
    }
}

/// A table looks at the highest and the lowest bits of a hash.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_has_its_own_number_until_all_are_forgotten() {
        let mut interned = Interned::default();
        let text = |number: u32| format!("{}{number}", "x".repeat(number as usize % 100));
        // Far more than there is room for.
        for number in 0..300_000 {
            assert_eq!(interned.get(&text(number)), None);
            interned.insert(&text(number), StringId(number));
            assert_eq!(interned.get(&text(number)), Some(StringId(number)));
            assert!(interned.texts.len() <= MAX_BYTES);
            let earlier = number / 2;
            assert!(interned.get(&text(earlier)).is_none_or(|id| id.0 == earlier));
        }
        assert!(interned.get(&text(0)).is_none(), "forgotten");
        assert!(interned.get(&text(299_000)).is_some());
    }
}
