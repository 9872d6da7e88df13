//! The words of attributes and the places that take them, for a client that helps to write lines.

use serde::Serialize;

use super::totals::{COUNT, Total};

/// An attribute of objects or of processes, as lines name it.
#[derive(Debug, Serialize)]
pub struct Word {
    /// The words for it, the usual one first.
    pub words: Vec<&'static str>,
    /// The meaning, for people.
    pub document: &'static str,
    /// The key of the column that shows it.
    pub key: &'static str,
    /// It is a column of `list`.
    pub lists: bool,
    /// It is a key of `group`.
    pub groups: bool,
    /// Groups may be in its order.
    pub totals: bool,
}

/// The attributes of objects in the order of `help expressions`, and their count after their size.
#[must_use]
pub fn objects() -> Vec<Word> {
    let attributes = super::OBJECTS.iter().map(|attribute| Word {
        words: attribute.of.words.to_vec(),
        document: attribute.of.document,
        key: attribute.of.key(),
        lists: true,
        groups: attribute.group.is_some(),
        totals: attribute.total.is_some(),
    });
    let mut words: Vec<Word> = attributes.collect();
    let size = super::OBJECTS.iter().position(|attribute| attribute.total == Some(Total::Size));
    words.insert(size.map_or(0, |size| size + 1), count("number of objects", "objects"));
    words
}

/// The attributes of processes in the order of `help expressions`, and the count of their programs.
#[must_use]
pub fn processes() -> Vec<Word> {
    let attributes = barrow_processes::ATTRIBUTES.iter().map(|attribute| Word {
        words: attribute.words().collect(),
        document: attribute.document(),
        key: attribute.key(),
        lists: true,
        groups: attribute.groups(),
        totals: attribute.aggregate().is_some(),
    });
    attributes.chain([count("number of programs", "programs")]).collect()
}

fn count(document: &'static str, key: &'static str) -> Word {
    Word { words: vec![COUNT], document, key, lists: false, groups: false, totals: true }
}
