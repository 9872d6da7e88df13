//! The rules for the lines of objects: those of `--lines`, or of the file beside the recording.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barrow_analyzer::LineRules;

use super::state::State;
use crate::answer::Answer;
use crate::context::Settings;
use crate::error::QueryError;
use crate::sources::spool;

/// The file of lines beside a recording.
const LINES: &str = "barrow-lines.toml";
/// A file of lines is not longer: a thousand rules of 64 bytes, which is the most that are read.
const MOST_BYTES: u64 = 64 << 10;
/// Classes that a note names: more would hide what it says.
const NAMED: usize = 5;

impl Settings {
    /// Reads the file of lines that the settings name, if they do.
    ///
    /// # Errors
    /// A usage error with the file, the line and the mistake.
    pub fn check_lines(&self) -> Result<(), QueryError> {
        let Some(file) = &self.lines else { return Ok(()) };
        let (name, text) = read(file)?;
        Ok(LineRules::read(&name, &text).map(drop)?)
    }
}

impl State {
    /// The rules for the lines of objects of the open file.
    ///
    /// # Errors
    /// A usage error for a file that cannot be read.
    pub(crate) fn line_rules(&self) -> Result<Option<Arc<LineRules>>, QueryError> {
        let Some(file) = self.context.settings.lines.clone().or_else(|| self.lines_beside()) else { return Ok(None) };
        let (name, text) = read(&file)?;
        let read = || Ok(LineRules::read(&name, &text)?);
        self.context.workspace.line_rules((&name, &text), read).map(Some)
    }

    fn lines_beside(&self) -> Option<PathBuf> {
        let name = &self.file()?.name;
        let file = Path::new(name).parent()?.join(LINES);
        (!spool::is_pipe(name) && file.is_file()).then_some(file)
    }

    /// Adds a note if lines were looked up by rules that nobody asked for, or that name what is not there.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn with_line_note(&self, answer: Answer, uses_before: u64) -> Result<Answer, QueryError> {
        let Some(rules) = self.context.lines.as_ref().filter(|rules| rules.uses() > uses_before) else {
            return Ok(answer);
        };
        let recording = self.recording()?;
        let unknown = rules.unknown_classes(recording.tables()?);
        let (file, count) = (rules.file(), unknown.len());
        let named: Vec<&str> = unknown.into_iter().take(NAMED).collect();
        let named = named.join(", ");
        let unknown = match count {
            0 => String::new(),
            1..=NAMED => format!("there is no class {named}"),
            _ => format!("there are no {count} of its classes, such as {named}"),
        };
        let is_beside = self.context.settings.lines.is_none();
        Ok(match (is_beside, count) {
            (true, 0) => answer.note(format!("lines of objects are those of {file}")),
            (true, _) => answer.note(format!("lines of objects are those of {file}; {unknown}")),
            (false, 0) => answer,
            (false, _) => answer.note(format!("{file}: {unknown}")),
        })
    }
}

/// The name and the text of a file of lines.
fn read(file: &Path) -> Result<(String, String), QueryError> {
    let name = file.display().to_string();
    let system = |error: std::io::Error| QueryError::usage(format!("{name}: {error}"));
    let mut text = String::new();
    // Each file that is opened reads it again, and a pipe without a writer would be waited for.
    if !file.metadata().map_err(system)?.is_file() {
        return Err(QueryError::usage(format!("{name}: a file of lines is a regular file, and no pipe")));
    }
    File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text)).map_err(system)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(QueryError::usage(format!("{name}: a file of lines is at most 64 KiB long")));
    }
    Ok((name, text))
}
