//! Numbers of several objects: their count, and the attributes of single objects that add up.

use barrow_analyzer::{Amounts, Attribute, GroupRetained, TypeTotals};

/// A number that ranks types, kinds, sites and other groups of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Total {
    /// Shallow size.
    #[default]
    Size,
    /// Number of objects.
    Count,
    /// Unmanaged size.
    Unmanaged,
    /// Retained size.
    Retained,
}

/// The word for the number of objects or programs, which a single one does not have.
pub(crate) const COUNT: &str = "count";

/// The attributes of single objects that add up, by their words.
const OF_ATTRIBUTES: [(&str, Total); 3] =
    [("size", Total::Size), ("unmanaged", Total::Unmanaged), ("retained", Total::Retained)];

impl Total {
    /// The total of an attribute; `None` if it does not add up.
    pub(super) fn of_attribute(attribute: &Attribute) -> Option<Self> {
        OF_ATTRIBUTES.into_iter().find(|(word, _)| *word == attribute.word()).map(|(_, total)| total)
    }

    /// The words for each, the usual one first.
    pub(crate) fn words() -> impl Iterator<Item = (&'static str, Total)> {
        let rows = super::OBJECTS.iter().filter_map(|attribute| Some((attribute.of.words, attribute.total?)));
        let mut words: Vec<_> = rows.flat_map(|(words, total)| words.iter().map(move |word| (*word, total))).collect();
        let after_sizes = words.partition_point(|(_, total)| *total == Total::Size);
        words.insert(after_sizes, (COUNT, Total::Count));
        words.into_iter()
    }

    /// The total that a word names or begins to name.
    pub(crate) fn named(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        Self::words().find(|(name, _)| !word.is_empty() && name.starts_with(&word)).map(|(_, total)| total)
    }

    /// The usual word for each.
    pub(crate) fn usual_words() -> Vec<&'static str> {
        let mut words: Vec<_> = Self::words().collect();
        words.dedup_by_key(|(_, total)| *total);
        words.into_iter().map(|(word, _)| word).collect()
    }

    /// The number, of these totals.
    pub(crate) fn of(self, totals: &TypeTotals, retained: Option<GroupRetained>) -> u64 {
        match self {
            Total::Size => totals.heap_bytes,
            Total::Count => totals.objects,
            Total::Unmanaged => totals.unmanaged_bytes,
            Total::Retained => retained.map_or(0, |retained| retained.bytes),
        }
    }

    /// The number, of these amounts. An unknown one counts as 0.
    pub(crate) fn of_amounts(self, amounts: &Amounts) -> u64 {
        match self {
            Total::Size => amounts.heap_bytes,
            Total::Count => amounts.objects,
            Total::Unmanaged => amounts.unmanaged_bytes,
            Total::Retained => amounts.retained_bytes.unwrap_or(0),
        }
    }
}
