//! `barrow report FILE -o DST`: the usual answers as one HTML file.

use std::io::{self, Write};
use std::path::Path;

use barrow_query::answer::Answer;
use barrow_query::commands::Command;
use barrow_query::{Flags, Question, STDIN, write_file};
use barrow_report::{Options, make};

use crate::asking::{Terminal, exit_code};
use crate::error::ReplError;
use crate::interrupt;
use crate::version::version;

/// Makes the report that `words` and flags ask for. Returns the exit code.
///
/// # Errors
/// A usage error, those of questions, a file that cannot be written.
pub(crate) fn run(flags: &Flags, command: &'static Command, words: &[String]) -> Result<u8, ReplError> {
    let Some((name, rest)) = words.split_first() else {
        return Err(ReplError::usage(format!("which file? `barrow {}`", command.usage())));
    };
    if let Some(word) = rest.first() {
        return Err(command.refuses(word).into());
    }
    Question::of_words(command, words, false, flags).check()?;
    let asked = &flags.question;
    let to = asked.output.as_deref().ok_or_else(|| ReplError::usage("where to? add `-o report.html`"))?;
    let is_stdout = to == Path::new(STDIN);
    let place = (!is_stdout).then(|| write_file(to, asked.force, &[Path::new(name)])).transpose()?;
    let usual = Options::default();
    let options = Options {
        with_texts: asked.texts,
        most_bytes: asked.max_size.unwrap_or(usual.most_bytes),
        flags: asked.clone(),
        version: version().to_owned(),
    };
    let mut terminal = Terminal::new(flags)?;
    interrupt::listen();
    terminal.open(name)?;
    let made = make(&mut terminal.session, &options)?;
    match place {
        Some(place) => place.write(&made.html)?,
        None => io::stdout().write_all(&made.html)?,
    }
    terminal.keep_index()?;
    for line in &made.broken {
        crate::complaint::complain(line);
    }
    let damaged = terminal.session.file().is_some_and(|file| file.damage.is_some());
    Ok(exit_code(damaged, &Answer { outcome: made.outcome, ..Answer::default() }))
}
