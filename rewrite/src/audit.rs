//! What is in a file: its strings and values by class, and its bytes by part.
//!
//! Every string of the file belongs to at least one class, and every byte to exactly one part.

use barrow_analyzer::Recording;
use barrow_analyzer::raw::Frames;
use barrow_format::StringId;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Encoding, Text};
use barrow_progress::Progress;

use crate::contents::vocabulary::{NAMES_FACT, NUMBERS_FACT, TEXTS_FACT};
use crate::contents::{Class, Fields, FilePart, Treatment, Uses, file_parts, rows_of};
use crate::error::Result;

/// What is in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Strings and values by class: all classes, also those without any.
    pub classes: Vec<ClassRow>,
    /// The bytes of the file. They add up to its length.
    pub parts: Vec<FilePart>,
    /// What the recording says of how it was redacted; empty if it was not.
    pub redacted: Vec<(String, String)>,
}

/// Whether something is as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There is nothing of the class.
    Absent,
    /// Nothing was replaced, or the recording does not say so.
    Recorded,
    /// Replaced, as the recording says: `replaced`, or `replaced, except` and the patterns of names that were kept.
    Replaced(String),
    /// A redaction keeps it: words of barrow and of runtimes, versions and counters.
    Word,
}

/// The strings or values of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRow {
    /// Its name for programs.
    pub key: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// How many different strings, or how many values. A string counts in each of its classes.
    pub count: u64,
    /// Their bytes: those of the strings, or those of the values before compression.
    pub bytes: u64,
    /// Whether they are as recorded.
    pub state: State,
    /// One of the strings, the first of at least four characters if there is one.
    pub example: Option<String>,
}

/// What an example should have at least, in characters.
const EXAMPLE_CHARACTERS: usize = 4;
/// The longest example, in characters.
const MOST_CHARACTERS: usize = 60;

/// Looks at every string, every block and every frame of a recording, and changes nothing.
///
/// Time: one pass over the file. Memory: 4 bytes a string.
///
/// # Errors
/// Something cannot be read, or [`Cancelled`](crate::RewriteError::Cancelled).
pub fn audit(recording: &Recording, progress: &dyn Progress) -> Result<Audit> {
    if let Some(problem) = Frames::of(recording).table_problem() {
        return Err(problem.into());
    }
    let fields = Fields::of(recording)?;
    let uses = Uses::of(recording, &fields, progress)?;
    let facts = recording.facts()?;
    let fact = |key: &str| facts.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    let state_of = |fact: Option<String>| fact.map_or(State::Recorded, State::Replaced);
    let mut classes: Vec<ClassRow> = Class::ALL
        .iter()
        .map(|class| ClassRow {
            key: class.key(),
            title: class.title(),
            count: 0,
            bytes: 0,
            state: match class.treatment() {
                Treatment::Text => state_of(fact(TEXTS_FACT)),
                Treatment::Name => state_of(fact(NAMES_FACT)),
                Treatment::Word => State::Word,
            },
            example: None,
        })
        .collect();
    let unnamed = ClassRow {
        key: "unnamed",
        title: "strings that nothing names",
        count: 0,
        bytes: 0,
        state: State::Recorded,
        example: None,
    };
    classes.push(unnamed);
    count_strings(recording, &uses, &mut classes)?;
    classes.extend(values(&uses, &state_of(fact(NUMBERS_FACT))));
    classes.iter_mut().filter(|class| class.count == 0).for_each(|class| class.state = State::Absent);
    let redacted = facts.iter().filter(|(key, _)| key.starts_with("redact")).cloned().collect();
    Ok(Audit { classes, parts: file_parts(recording)?, redacted })
}

/// Counts every string in all of its classes; `rows` are those, and at last what nothing names.
fn count_strings(recording: &Recording, uses: &Uses, rows: &mut [ClassRow]) -> Result<()> {
    let chunks = Frames::of(recording).tables().iter().filter(|(section, _)| *section == SectionType::STRINGS);
    for &(_, offset) in chunks {
        let (first, texts) = rows_of::<Text>(recording, offset)?;
        // Strings are numbered by 32 bits: a reader of chunks refuses more.
        for (id, Text(text)) in (first as u32..).map(StringId).zip(&texts) {
            let classes = uses.classes(id);
            for (at, row) in rows.iter_mut().enumerate() {
                let is_in =
                    Class::ALL.get(at).map_or(classes == 0 && !text.is_empty(), |class| class.bit() & classes != 0);
                if is_in {
                    row.add(text);
                }
            }
        }
    }
    Ok(())
}

impl ClassRow {
    fn add(&mut self, text: &str) {
        self.count += 1;
        self.bytes += text.len() as u64;
        let length = |text: &str| text.chars().take(EXAMPLE_CHARACTERS).count();
        if self.example.as_deref().map_or(0, length) < length(text) {
            let shown: String = text.chars().take(MOST_CHARACTERS).collect();
            self.example = Some(if shown.len() < text.len() { format!("{shown}…") } else { shown });
        }
    }
}

/// The values of fields that are no texts, by encoding.
fn values(uses: &Uses, state: &State) -> Vec<ClassRow> {
    let titles = [
        ("unsigned", "unsigned numbers in fields"),
        ("signed", "signed numbers in fields"),
        ("booleans", "true and false in fields"),
        ("characters", "characters in fields"),
        ("floats", "32-bit floats in fields"),
        ("doubles", "64-bit floats in fields"),
        // Texts are counted as strings, and references are no values.
        ("", ""),
        ("", ""),
        ("unknown_values", "values of unknown fields"),
    ];
    debug_assert_eq!(Encoding::Text.number(), 6);
    let rows = titles.into_iter().zip(uses.values).filter(|((key, _), _)| !key.is_empty());
    rows.map(|((key, title), values)| {
        let (count, bytes, state) = (values.count, values.bytes, state.clone());
        ClassRow { key, title, count, bytes, state, example: None }
    })
    .collect()
}
