//! Words of the caller: texts that it says whatever program it records.

use barrow_format::rows::{WordPlace, WordValues};

/// A text that is part of the program that calls the writer, not of the program that is recorded: a kind, a category of
/// roots, a metric, a unit, a key. `barrow redact` keeps it.
///
/// It is static, so that no text of a recorded program becomes one by mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Word {
    text: &'static str,
    place: WordPlace,
    values: WordValues,
}

impl Word {
    /// A word; or a key whose values are any texts, such as `command`. A redaction replaces those.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Word { text, place: WordPlace::Whole, values: WordValues::Texts }
    }

    /// A key whose values are names of the program, such as `host`. A redaction replaces them as names.
    #[must_use]
    pub const fn of_names(text: &'static str) -> Self {
        Word { values: WordValues::Names, ..Word::new(text) }
    }

    /// A key whose values are versions, counts, settings or words, such as `pid`. A redaction keeps them.
    #[must_use]
    pub const fn of_settings(text: &'static str) -> Self {
        Word { values: WordValues::Settings, ..Word::new(text) }
    }

    /// The name of a kind or of a strength. Other names that read so are replaced.
    #[must_use]
    pub const fn of_kind(text: &'static str) -> Self {
        Word { place: WordPlace::Kind, ..Word::new(text) }
    }

    /// The same as the beginning of texts that go on with a name: `thread ` of `thread main`.
    #[must_use]
    pub const fn before_names(self) -> Self {
        Word { place: WordPlace::BeforeNames, ..self }
    }

    /// The same as the end of texts that begin with a name: ` allocated` of `sum/100 allocated`.
    #[must_use]
    pub const fn behind_names(self) -> Self {
        Word { place: WordPlace::BehindNames, ..self }
    }

    /// The same as the beginning of texts that go on with a number: `note ` of `note 2`.
    #[must_use]
    pub const fn before_numbers(self) -> Self {
        Word { place: WordPlace::BeforeNumbers, ..self }
    }

    /// Its text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        self.text
    }

    pub(crate) const fn place(self) -> WordPlace {
        self.place
    }

    pub(crate) const fn values(self) -> WordValues {
        self.values
    }
}

impl From<&'static str> for Word {
    fn from(text: &'static str) -> Self {
        Word::new(text)
    }
}
