//! The contents of a file: its strings and values by class, and its bytes by part.
//!
//! Every string of the file belongs to at least one class, and every byte to exactly one part.

use barrow_analyzer::Recording;
use barrow_analyzer::raw::Frames;
use barrow_format::StringId;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Encoding, Text};
use barrow_progress::Progress;

use crate::contents::vocabulary::{NAMES_FACT, NUMBERS_FACT, TEXTS_FACT, Words};
use crate::contents::{Class, Fields, FilePart, Treatment, Uses, file_parts, rows_of};
use crate::error::Result;

/// The contents of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Strings and values by class: all classes, also those without any.
    pub classes: Vec<ClassRow>,
    /// The bytes of the file. They add up to its length.
    pub parts: Vec<FilePart>,
    /// The facts of the recording about its redaction; empty if it was not redacted.
    pub redacted: Vec<(String, String)>,
}

/// Whether a class is unchanged since it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The recording has no members of the class.
    Absent,
    /// Nothing was replaced, or the recording does not say so.
    Recorded,
    /// Replaced, according to the recording: `replaced`, or `replaced, except` and the patterns of names that were
    /// kept.
    Replaced(String),
    /// Kept by a redaction: words of barrow and of runtimes, versions and counters.
    Word,
}

/// The strings or values of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRow {
    /// Its name for programs.
    pub key: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Number of different strings, or of values. A string counts in each of its classes.
    pub count: u64,
    /// Their bytes: those of the strings, or those of the values before compression.
    pub bytes: u64,
    /// Whether they are as recorded.
    pub state: State,
    /// One of the strings, the first with at least four characters if there is one.
    pub example: Option<String>,
}

/// Preferred minimum length of an example, in characters.
const EXAMPLE_CHARACTERS: usize = 4;
/// Maximum length of an example, in characters.
const MOST_CHARACTERS: usize = 60;

/// Reads every string, every block and every frame of a recording.
///
/// Time: one pass over the file. Memory: 4 bytes per string.
///
/// # Errors
/// A part cannot be read, or [`Cancelled`](crate::RewriteError::Cancelled).
pub fn audit(recording: &Recording, progress: &dyn Progress) -> Result<Audit> {
    if let Some(problem) = Frames::of(recording).table_problem() {
        return Err(problem.into());
    }
    let fields = Fields::of(recording)?;
    let uses = Uses::of(recording, &Words::of(recording)?, &fields, progress)?;
    let facts = recording.facts()?;
    let mut classes: Vec<ClassRow> = Class::ALL
        .iter()
        .map(|class| ClassRow {
            key: class.key(),
            title: class.title(),
            count: 0,
            bytes: 0,
            state: match class.treatment() {
                Treatment::Text => state_of(&facts, TEXTS_FACT),
                Treatment::Name => state_of(&facts, NAMES_FACT),
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
    classes.extend(values(&uses, &state_of(&facts, NUMBERS_FACT)));
    classes.iter_mut().filter(|class| class.count == 0).for_each(|class| class.state = State::Absent);
    let redacted = facts.iter().filter(|(key, _)| key.starts_with("redact")).cloned().collect();
    Ok(Audit { classes, parts: file_parts(recording)?, redacted })
}

/// Counts every string in all of its classes; `rows` are those, followed by that of unused strings.
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
        if self.example.as_deref().map_or(0, counted_length) < counted_length(text) {
            let shown: String = text.chars().take(MOST_CHARACTERS).collect();
            self.example = Some(if shown.len() < text.len() { format!("{shown}…") } else { shown });
        }
    }
}

/// The state of a class, according to a fact of the recording. The last value of a key counts.
fn state_of(facts: &[(String, String)], key: &str) -> State {
    let fact = facts.iter().rev().find(|(known, _)| known == key);
    fact.map_or(State::Recorded, |(_, value)| State::Replaced(value.clone()))
}

/// The length of a text in characters, up to [`EXAMPLE_CHARACTERS`].
fn counted_length(text: &str) -> usize {
    text.chars().take(EXAMPLE_CHARACTERS).count()
}

/// The values of fields other than texts, by encoding.
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
