//! Asks: finds the command, lets it answer, and takes the answer where it should go.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use crate::answer::{Answer, Column, Outcome, Unit};
use crate::args::{Flags, Format};
use crate::commands::{self, Command, Subject};
use crate::destination::{Access, Destination};
use crate::error::{ReplError, code};
use crate::interrupt::{self, Printer};
use crate::line::{Line, Sink};
use crate::output::{Context, Drawing};
use crate::pipe::pipe;
use crate::session::{Arguments, Session};
use crate::visible;

/// A question: a command and what it was given.
pub(crate) struct Question<'a> {
    /// The command.
    pub(crate) command: &'static Command,
    /// The words behind the verb.
    pub(crate) words: &'a [String],
    /// Whether the words still have their quotes.
    pub(crate) quoted: bool,
    /// The flags beside them.
    pub(crate) flags: &'a Flags,
    /// Where the answer goes.
    pub(crate) sink: Sink,
}

/// Answers a line of the prompt or of a script. Returns the exit code.
///
/// # Errors
/// Why there is no answer.
pub(crate) fn ask_line(session: &mut Session, text: &str) -> Result<u8, ReplError> {
    let line = Line::parse(text)?;
    if line.words.is_empty() {
        return Ok(code::ANSWERED);
    }
    let flags = Flags::of_line(&line.words)?;
    let (command, words) = command_of(&flags)?;
    if flags.help {
        return print(session, Answer::text(commands::page(command)), line.sink);
    }
    ask(session, Question { command, words, quoted: true, flags: &flags, sink: line.sink })
}

/// Fails where a line can never be answered, since nobody knows its verb or its flags.
pub(crate) fn check_line(text: &str) -> Result<(), ReplError> {
    let line = Line::parse(text)?;
    if line.words.is_empty() {
        return Ok(());
    }
    let flags = Flags::of_line(&line.words)?;
    let (command, _) = command_of(&flags)?;
    if flags.help { Ok(()) } else { check_flags(command, &flags) }
}

/// The command that the first word names, and the words behind it.
fn command_of(flags: &Flags) -> Result<(&'static commands::Command, &[String]), ReplError> {
    let verb = flags.words.split_first();
    let (verb, words) = verb.ok_or_else(|| ReplError::usage("which verb? `help` lists them"))?;
    Ok((commands::named(verb)?, words))
}

/// Answers a question. Returns the exit code.
///
/// # Errors
/// Why there is no answer.
pub(crate) fn ask(session: &mut Session, question: Question<'_>) -> Result<u8, ReplError> {
    let Question { command, words, quoted, flags, sink } = question;
    check_flags(command, flags)?;
    let before = (session.settings.format, session.selected);
    session.settings.format = flags.format.unwrap_or(before.0);
    session.selected = flags.snapshot.unwrap_or(before.1);
    interrupt::clear();
    // Pages are for who looks at them, not for files and commands.
    let paged = session.paged;
    session.whole = sink != Sink::Stdout;
    session.paged = paged && !session.whole;
    let answer = (command.run)(session, &Arguments::new(words, quoted, flags));
    let about_heap = command.subject == Subject::Recording && !session.away.is_empty();
    let printed = answer.and_then(|mut answer| {
        if answer.outcome != Outcome::DamageFound
            && let Some(file) = session.file()
        {
            file.recording.check_strings()?;
        }
        if about_heap {
            let away = session.away_text();
            answer = answer.fact(Column::new("without", "", Unit::Text).for_machines(), away.as_str()).note(away);
        }
        print(session, answer, sink)
    });
    (session.whole, session.paged) = (false, paged);
    if let Some(sentence) = session.index_problem() {
        complain(&sentence);
    }
    if flags.format.is_some() {
        session.settings.format = before.0;
    }
    if flags.snapshot.is_some() {
        session.selected = before.1;
    }
    printed
}

/// Refuses flags that this verb does not know.
///
/// # Errors
/// A usage error.
pub(crate) fn check_flags(command: &Command, flags: &Flags) -> Result<(), ReplError> {
    let mut given = flags.of_verbs().into_iter().filter(|(_, given)| *given);
    match given.find(|(flag, _)| !command.flags.contains(flag)) {
        Some((flag, _)) => Err(command.refuses(flag)),
        None => Ok(()),
    }
}

/// Prints an answer. Returns the exit code.
///
/// # Errors
/// It cannot be printed.
pub(crate) fn print(session: &mut Session, answer: Answer, sink: Sink) -> Result<u8, ReplError> {
    let file = session.file().map(|file| (file.name.clone(), file.damage.clone()));
    let (name, damage) = file.unzip();
    let damage = damage.flatten();
    let mut context = Context { file: name.as_deref(), damage: damage.as_deref(), ..Context::default() };
    let format = session.settings.format;
    let (cut, lost, code) = (answer.cut.clone(), answer.lost.clone(), exit_code(session, &answer));
    let mut unanswered = None;
    let printed = match sink {
        Sink::Stdout => {
            context.width = terminal_width();
            context.colour = context.width.is_some() && session.settings.colour;
            let mut out = BufWriter::new(Printer(io::stdout().lock()));
            draw(session, answer, Drawing::new(format, context), &mut unanswered, &mut out)?;
            out.flush().map_err(Into::into)
        }
        Sink::File(name) => {
            let drawing = Drawing::new(format, context);
            to_file(Path::new(&name), |out| draw(session, answer, drawing, &mut unanswered, out))
        }
        Sink::Command(command) => {
            let drawing = Drawing::new(format, context);
            pipe(&command, |out| draw(session, answer, drawing, &mut unanswered, out)).map_err(Into::into)
        }
    };
    unanswered.map_or(printed, Err)?;
    if let Some(sentence) = cut.filter(|_| format != Format::Table) {
        complain(&sentence);
    }
    if let Some(sentence) = &lost {
        complain(sentence);
    }
    Ok(code)
}

/// Draws an answer, and what follows it while it goes on: each piece is drawn before the next is made.
fn draw(
    session: &mut Session,
    mut answer: Answer,
    mut drawing: Drawing<'_>,
    unanswered: &mut Option<ReplError>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut drawn = drawing.piece(&answer, out);
    while answer.goes_on {
        if let Err(error) = drawn.and_then(|()| interrupt::check()) {
            // Nothing of an answer that was given up waits for `more`.
            session.more = None;
            return Err(error);
        }
        answer = commands::next(session).map_err(|error| {
            *unanswered = Some(error);
            io::Error::other("there is no answer")
        })?;
        drawn = drawing.piece(&answer, out);
    }
    drawn?;
    drawing.end(out)
}

/// How many columns the terminal has that stdout is; `None` if it is none.
fn terminal_width() -> Option<usize> {
    const UNKNOWN: usize = 80;
    let known = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    io::stdout().is_terminal().then(|| known().filter(|&width| width > 0).unwrap_or(UNKNOWN))
}

/// Writes a file that appears whole or not at all; what is no regular file, such as a device, is written into.
fn to_file(path: &Path, draw: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), ReplError> {
    let failed =
        |error: io::Error| if interrupt::is_stop(&error) { ReplError::Stopped } else { ReplError::file(path, error) };
    let write = |file: File| {
        let mut out = BufWriter::new(file);
        draw(&mut out)?;
        out.flush()
    };
    if path.exists() && !path.is_file() {
        return File::create(path).and_then(write).map_err(failed);
    }
    // Behind a symbolic link, where that leads.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let part = Destination::replacing(&target).begin(Access::Usual)?;
    write(part.file()?).map_err(failed)?;
    if let Ok(before) = target.metadata() {
        // A file that is replaced may still be read by whom it was before.
        let _ = std::fs::set_permissions(part.path(), before.permissions());
    }
    part.commit().map(drop)
}

/// The exit code of an answer.
pub(crate) fn exit_code(session: &Session, answer: &Answer) -> u8 {
    let damaged = answer.lost.is_some() || session.file().is_some_and(|file| file.damage.is_some());
    match answer.outcome {
        Outcome::DamageFound => code::DAMAGE_FOUND,
        Outcome::False => code::FALSE,
        Outcome::Undecided => code::USAGE,
        Outcome::Saved => code::ANSWERED,
        Outcome::Lost => code::DAMAGED_INPUT,
        Outcome::NothingKept => code::UNREADABLE,
        Outcome::Answered if damaged => code::DAMAGED_INPUT,
        Outcome::Answered => code::ANSWERED,
    }
}

/// Says something on stderr, in one line. That nothing reads stderr is no fault.
pub(crate) fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "barrow: {}", visible::line(sentence));
}
