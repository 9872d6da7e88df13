//! The facts of an import: the settings it was made with, losses of the dumps, and notes of the importers.

use std::path::{Path, PathBuf};

use barrow_importers::{Contents, Imported};
use barrow_rewrite::REPLACED_TEXTS;
use barrow_writer::{Word, Writer, WriterError};

/// The fact that says what a dump had lost.
pub(crate) const LOST: &str = "lost";
/// The same of one of several dumps, whose name follows.
const LOST_OF: Word = Word::new("lost of ").before_names();
/// The facts that say what an import remarked: `note`, `note 2` and so on.
const NOTE: &str = "note";
const FURTHER_NOTE: Word = Word::new("note ").before_numbers();

/// The fact that says which contents of objects were imported, if not the usual ones.
pub(super) fn contents(contents: Contents) -> Option<String> {
    match contents {
        contents if contents == Contents::default() => None,
        Contents::All => Some("all".to_owned()),
        Contents::Texts(bytes) => Some(format!("texts of at most {bytes} bytes")),
        Contents::None => Some("none".to_owned()),
    }
}

/// Writes the facts of an import: the settings, those of the caller, losses and notes.
pub(super) fn write(
    writer: &Writer,
    contents: Option<String>,
    facts: &[(&'static str, &str)],
    imported: &[(PathBuf, Imported)],
) -> Result<(), WriterError> {
    if let Some(contents) = contents {
        writer.own_fact(Word::of_settings("contents"), &contents)?;
    }
    for &(key, value) in facts {
        writer.own_fact(key, value)?;
    }
    for word in [Word::new(LOST), LOST_OF, Word::new(NOTE), FURTHER_NOTE] {
        writer.word(word)?;
    }
    for (key, sentence) in losses(imported) {
        writer.fact(&key, &sentence)?;
    }
    for (key, note) in note_facts(&notes(imported)) {
        writer.fact(&key, note)?;
    }
    Ok(())
}

/// The notes of the importers; of several dumps, each with its name.
pub(super) fn notes(imported: &[(PathBuf, Imported)]) -> Vec<String> {
    let is_one = imported.len() == 1;
    let said = |source: &Path, note: &String| match is_one {
        true => note.clone(),
        false => format!("{}: {note}", source.file_name().unwrap_or_default().to_string_lossy()),
    };
    imported.iter().flat_map(|(source, one)| one.notes.iter().map(move |note| said(source, note))).collect()
}

/// The notes of an import, as facts.
pub(crate) fn note_facts<'n>(notes: impl IntoIterator<Item = &'n String>) -> impl Iterator<Item = (String, &'n str)> {
    let key = |number| if number == 1 { NOTE.to_owned() } else { format!("{}{number}", FURTHER_NOTE.text()) };
    (1..).zip(notes).map(move |(number, note)| (key(number), note.as_str()))
}

/// The notes of an import among the facts of its recording; none once redaction has replaced them.
pub(crate) fn notes_of(facts: &[(String, String)]) -> Vec<&str> {
    if facts.iter().any(|(key, _)| key == REPLACED_TEXTS) {
        return Vec::new();
    }
    let is_note = |key: &str| key.strip_prefix(NOTE).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    facts.iter().filter(|(key, _)| is_note(key)).map(|(_, note)| note.as_str()).collect()
}

/// The losses of an import among the facts of its recording; none once redaction has replaced them.
pub(crate) fn losses_of(facts: &[(String, String)]) -> Vec<String> {
    if facts.iter().any(|(key, _)| key == REPLACED_TEXTS) {
        return Vec::new();
    }
    let of_dump = |key: &str| match key.strip_prefix(LOST)?.strip_prefix(" of ") {
        Some(dump) => Some(format!("lost when {dump} was imported")),
        None => (key == LOST).then(|| "lost when it was imported".to_owned()),
    };
    facts.iter().filter_map(|(key, lost)| Some(format!("{}: {lost}", of_dump(key)?))).collect()
}

/// The losses of the dumps, as facts; of several dumps, the key names the dump.
fn losses(imported: &[(PathBuf, Imported)]) -> Vec<(String, String)> {
    let lost = imported.iter().filter_map(|(source, one)| Some((source, one.lost.as_ref()?.to_string())));
    let key = |source: &Path| match imported.len() {
        1 => LOST.to_owned(),
        _ => format!("{}{}", LOST_OF.text(), source.file_name().unwrap_or_default().to_string_lossy()),
    };
    lost.map(|(source, sentence)| (key(source), sentence)).collect()
}
