//! Words: strings that stay when a recording is redacted, since they are not of the recorded program.
//!
//! The table WORDS of the recording marks those of its recorder. Only the format's own are known here.

use std::collections::{HashMap, HashSet};

use barrow_analyzer::raw::{PAIRED_KEY, SERIALS_FACT};
use barrow_analyzer::{Recording, Tables};
use barrow_format::rows::{WordPlace, WordValues};

use crate::error::Result;

/// What the value of a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nobody knows: the key may be anything, too.
    Unknown,
    /// The key is a word.
    Word(WordValues),
    /// The key is a word followed by a name.
    Name(WordValues),
}

/// The fact that says whether texts were replaced.
pub const TEXTS_FACT: &str = "redacted texts";
/// The same for names.
pub(crate) const NAMES_FACT: &str = "redacted names";
/// The fact that counts what was damaged or changed before redaction made new checksums.
pub(crate) const DAMAGED_FACT: &str = "redacted although damaged";
/// The facts that say by what a recording was redacted, and with which kind of key.
pub(crate) const REDACTED_BY_FACT: &str = "redacted by";
pub(crate) const KEY_FACT: &str = "redaction key";
/// As [`TEXTS_FACT`], for numbers.
pub(crate) use barrow_analyzer::REPLACED_NUMBERS as NUMBERS_FACT;

/// The keys to which `docs/recording-format.md` gives a meaning, with what their values are.
const KEYS: &[(WordValues, &[&str])] = &[
    (
        WordValues::Settings,
        &[
            "interchangeable",
            "killed by",
            "memory",
            "not waited for",
            "slot bytes",
            "system_ns including children",
            "user_ns including children",
            DAMAGED_FACT,
            KEY_FACT,
            NAMES_FACT,
            NUMBERS_FACT,
            PAIRED_KEY,
            REDACTED_BY_FACT,
            SERIALS_FACT,
            TEXTS_FACT,
        ],
    ),
    (
        WordValues::Names,
        &[
            "all elements",
            "class loader",
            "elements",
            "entries",
            "hash table",
            "heap",
            "implements",
            "keys",
            "label",
            "named by",
            "no key",
            "other keys",
            "reads as",
            "same elements",
            "slots",
            "text of",
            "value of",
        ],
    ),
    (WordValues::Texts, &["computed", "not traced", "null"]),
];

/// The units to which the document gives a meaning.
const UNITS: &[&str] = &["ns", "bytes"];
/// The name of the first row of STRENGTHS.
const STRONG: &str = "strong";

/// The most words before names, behind them, and before numbers. Each of them is compared with each name, so that a recording with
/// more of them would take long; those beyond are replaced.
const MOST_PARTS: usize = 16;

/// The words of a recording: those of the format and of its recorder.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Whether the recording marks any.
    are_marked: bool,
    whole: HashMap<String, WordValues>,
    kinds: HashSet<String>,
    /// The shortest first.
    before_names: Vec<(String, WordValues)>,
    behind_names: Vec<(String, WordValues)>,
    before_numbers: Vec<(String, WordValues)>,
}

impl Words {
    /// Those of a recording.
    ///
    /// # Errors
    /// A table cannot be read.
    pub(crate) fn of(recording: &Recording) -> Result<Self> {
        let (tables, rows) = (recording.tables()?, recording.words()?);
        let words = rows.iter().map(|row| (tables.string(row.text), row.place, row.values));
        Ok(Words { are_marked: !rows.is_empty(), ..Words::new(words) })
    }

    pub(crate) fn new<'w>(words: impl Iterator<Item = (&'w str, WordPlace, WordValues)>) -> Self {
        let mut found = Words::default();
        for (word, place, values) in words {
            match place {
                WordPlace::Whole => {
                    let known = found.whole.entry(word.to_owned()).or_insert(values);
                    *known = if known.number() < values.number() { values } else { *known };
                }
                WordPlace::Kind => drop(found.kinds.insert(word.to_owned())),
                _ if word.is_empty() => {}
                WordPlace::BeforeNames => found.before_names.push((word.to_owned(), values)),
                WordPlace::BehindNames => found.behind_names.push((word.to_owned(), values)),
                WordPlace::BeforeNumbers => found.before_numbers.push((word.to_owned(), values)),
            }
        }
        for parts in [&mut found.before_names, &mut found.behind_names, &mut found.before_numbers] {
            parts.truncate(MOST_PARTS);
            parts.sort_by_key(|(word, _)| word.len());
        }
        found
    }

    /// Whether a name is a word, or arrays of one: `int`, `int[]`.
    pub(crate) fn is_word(&self, name: &str) -> bool {
        let name = name.trim_end_matches("[]");
        self.whole.contains_key(name) || UNITS.contains(&name)
    }

    /// Whether the name of a kind or of a strength is a word. Where nothing is marked, all of them are.
    pub(crate) fn is_kind(&self, name: &str) -> bool {
        !self.are_marked || name == STRONG || self.kinds.contains(name)
    }

    /// What the values of a key are.
    pub(crate) fn meaning_of_key(&self, key: &str) -> Meaning {
        let of_format = KEYS.iter().find(|(_, keys)| keys.contains(&key)).map(|&(values, _)| values);
        if let Some(values) = of_format.or(self.whole.get(key).copied()) {
            return Meaning::Word(values);
        }
        let is_numbered = |(word, _): &&(String, WordValues)| key.strip_prefix(word.as_str()).is_some_and(is_number);
        if let Some(&(_, values)) = self.before_numbers.iter().find(is_numbered) {
            return Meaning::Word(values);
        }
        let of_name = self.before_names.iter().find(|(word, _)| key.starts_with(word.as_str()));
        of_name.map_or(Meaning::Unknown, |&(_, values)| Meaning::Name(values))
    }

    /// What a value of a knob is: of a known one a number or a switch, or else a text.
    pub(crate) fn meaning_of_knob(&self, knob: &str, value: &str) -> Meaning {
        let is_setting = ["on", "off"].contains(&value) || value.bytes().all(|byte| byte.is_ascii_digit());
        match self.whole.get(knob) {
            Some(WordValues::Settings) if is_setting => Meaning::Word(WordValues::Settings),
            Some(_) => Meaning::Word(WordValues::Texts),
            None => Meaning::Unknown,
        }
    }

    /// A name without the words before and behind it: these, and the name between them. Of several words the shortest counts, so
    /// that another name between them changes nothing.
    pub(crate) fn split<'n>(&self, name: &'n str) -> (&'n str, &'n str, &'n str) {
        let before = self.before_names.iter().find(|(word, _)| name.starts_with(word.as_str()));
        let (before, rest) = name.split_at(before.map_or(0, |(word, _)| word.len()));
        let behind = self.behind_names.iter().find(|(word, _)| rest.ends_with(word.as_str()));
        let (own, behind) = rest.split_at(rest.len() - behind.map_or(0, |(word, _)| word.len()));
        (before, own, behind)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The tables of a recording, with its words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vocabulary<'r> {
    pub(crate) tables: &'r Tables,
    pub(crate) words: &'r Words,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_their_keys_say() {
        let words = Words::new(
            [
                ("pid", WordPlace::Whole, WordValues::Settings),
                ("host", WordPlace::Whole, WordValues::Names),
                ("note", WordPlace::Whole, WordValues::Texts),
                ("note ", WordPlace::BeforeNumbers, WordValues::Texts),
                ("thread ", WordPlace::BeforeNames, WordValues::Names),
                ("env", WordPlace::Whole, WordValues::Settings),
                ("frames", WordPlace::Whole, WordValues::Settings),
                ("frames", WordPlace::Whole, WordValues::Texts),
                ("int", WordPlace::Whole, WordValues::Texts),
            ]
            .into_iter(),
        );
        for (key, meaning) in [
            ("pid", Meaning::Word(WordValues::Settings)),
            ("host", Meaning::Word(WordValues::Names)),
            ("frames", Meaning::Word(WordValues::Settings)),
            ("note", Meaning::Word(WordValues::Texts)),
            ("note 12", Meaning::Word(WordValues::Texts)),
            ("note of Smith", Meaning::Unknown),
            ("thread main", Meaning::Name(WordValues::Names)),
            // These are the format's.
            ("class loader", Meaning::Word(WordValues::Names)),
            ("serials", Meaning::Word(WordValues::Settings)),
            ("password", Meaning::Unknown),
        ] {
            assert_eq!(words.meaning_of_key(key), meaning, "{key}");
        }
        assert_eq!(words.meaning_of_knob("env", "128"), Meaning::Word(WordValues::Settings));
        assert_eq!(words.meaning_of_knob("env", "PASSWORD=x"), Meaning::Word(WordValues::Texts));
        assert_eq!(words.meaning_of_knob("hue", "1"), Meaning::Unknown);
        assert!(words.is_word("int[][]") && !words.is_word("int[]x") && !words.is_word("[]") && words.is_word("ns"));
    }

    #[test]
    fn names_are_split_at_the_shortest_words_around_them() {
        let behind = |word| (word, WordPlace::BehindNames, WordValues::Texts);
        let before = |word| (word, WordPlace::BeforeNames, WordValues::Texts);
        let words = [before("thread of "), before("thread "), before(""), behind(" cpu"), behind(""), behind("u")];
        let words = Words::new(words.into_iter());
        assert_eq!(words.split("thread of sum cpu"), ("thread ", "of sum cp", "u"));
        assert_eq!(words.split("thread u"), ("thread ", "", "u"));
        assert_eq!(words.split("main"), ("", "main", ""));
        let many = Words::new((0..1000).map(|_| before("a")));
        assert_eq!(many.before_names.len(), MOST_PARTS);
    }
}
