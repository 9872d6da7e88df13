//! Asks a session, and takes the answer where it should go.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use barrow_query::answer::{Answer, Outcome};
use barrow_query::error::code;
use barrow_query::{Flags, Format, OpenFile, QueryError, Question, Session, Settings, Sink, Workspace, replace_file};

use crate::complaint::complain;
use crate::error::ReplError;
use crate::interrupt::{self, Printer};
use crate::output::{Context, Drawing};
use crate::pipe::pipe;
use crate::progress::ProgressLine;

/// A session at a terminal.
pub(crate) struct Terminal {
    /// Answers questions.
    pub(crate) session: Session,
    /// Headings on a terminal are bold.
    pub(crate) colour: bool,
    progress: Arc<ProgressLine>,
}

impl Terminal {
    /// A session with nothing open.
    ///
    /// # Errors
    /// A usage error.
    pub(crate) fn new(flags: &Flags) -> Result<Self, ReplError> {
        let workspace = Workspace::new(flags.session.max_memory, flags.session.threads)?;
        workspace.keep_index_later();
        let settings = Settings::of(flags);
        settings.check_lines()?;
        let mut session = Session::new(workspace, settings);
        if let Some(snapshot) = flags.snapshot {
            session.select(snapshot);
        }
        let progress = Arc::new(ProgressLine::new(flags.session.quiet));
        session.watch_with(Arc::clone(&progress) as _);
        let colour = !flags.session.no_color && std::env::var_os("NO_COLOR").is_none();
        Ok(Terminal { session, colour, progress })
    }

    /// Opens the file and says what it lost.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn open(&mut self, name: &str) -> Result<(), ReplError> {
        self.session.open(name)?;
        self.tell_damage();
        Ok(())
    }

    /// Opens the file for one question: a dump is only counted if that is enough.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn open_for(&mut self, name: &str, question: &Question) -> Result<(), ReplError> {
        self.session.open_for(name, question)?;
        self.tell_damage();
        Ok(())
    }

    pub(crate) fn tell_damage(&self) {
        if let Some(OpenFile { name, damage: Some(sentence), .. }) = self.session.file() {
            complain(&format!("{name}: {sentence}"));
        }
    }

    /// Answers a line of the prompt or of a script. Returns the exit code.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) fn ask_line(&mut self, text: &str) -> Result<u8, ReplError> {
        match Question::of_line(text)? {
            Some(question) => self.ask(&question),
            None => Ok(code::ANSWERED),
        }
    }

    /// Answers a question. Returns the exit code.
    ///
    /// # Errors
    /// Why there is no answer, or why it cannot be printed.
    pub(crate) fn ask(&mut self, question: &Question) -> Result<u8, ReplError> {
        interrupt::clear();
        self.progress.begin_question();
        let file = self.session.file().cloned();
        let colour = self.colour;
        let format = question.format.unwrap_or(self.session.settings().format);
        let settings = self.session.settings_mut();
        settings.is_abridged = format == Format::Table;
        settings.short_paths = settings.is_abridged && io::stdout().is_terminal();
        // Pages are for people at a terminal, not for files, pipes and programs.
        let is_for_people = settings.short_paths || settings.has_set_rows;
        let is_whole = !is_for_people || question.sink != Sink::Stdout;
        let mut answers = self.session.pieces(question, is_whole)?;
        let first = answers.next().expect("an answer has a piece").map_err(ReplError::from);
        let printed = first.and_then(|first| {
            let damaged = answers.session().file().is_some_and(|file| file.damage.is_some());
            // `set` may just have changed it.
            let format = answers.format();
            let target = Target { file: file.as_ref(), format, colour, damaged };
            print(first, &mut answers, &target, &question.sink)
        });
        drop(answers);
        let kept = self.keep_index();
        let code = printed?;
        kept.map(|()| code)
    }

    /// Writes to the index file what the answer need not wait for.
    ///
    /// # Errors
    /// Ctrl-C.
    pub(crate) fn keep_index(&self) -> Result<(), ReplError> {
        self.progress.begin_question();
        match self.session.keep_index() {
            Err(error) if error.is_stopped() => return Err(ReplError::Unkept),
            Err(error) => complain(&format!("the index is not kept: {error}")),
            Ok(()) => {}
        }
        if let Some(sentence) = self.session.index_problem() {
            complain(&sentence);
        }
        Ok(())
    }

    /// Prints an answer that belongs to no line. Returns the exit code.
    ///
    /// # Errors
    /// It cannot be printed.
    pub(crate) fn print(&self, answer: Answer) -> Result<u8, ReplError> {
        let file = self.session.file();
        let damaged = file.is_some_and(|file| file.damage.is_some());
        let target = Target { file, format: self.session.settings().format, colour: self.colour, damaged };
        print(answer, &mut std::iter::empty(), &target, &Sink::Stdout)
    }
}

/// The settings for printing an answer.
struct Target<'t> {
    file: Option<&'t OpenFile>,
    format: Format,
    colour: bool,
    damaged: bool,
}

/// Prints an answer and what follows it. Returns the exit code.
fn print(
    answer: Answer,
    rest: &mut dyn Iterator<Item = Result<Answer, QueryError>>,
    target: &Target<'_>,
    sink: &Sink,
) -> Result<u8, ReplError> {
    let mut context = Context {
        file: target.file.map(|file| file.name.as_str()),
        damage: target.file.and_then(|file| file.damage.as_deref()),
        ..Context::default()
    };
    let format = target.format;
    let (cut, lost, code) = (answer.cut.clone(), answer.lost.clone(), exit_code(target.damaged, &answer));
    // CSV has rows only, so that numbers that are not exact would look as if they were.
    let doubts = if format == Format::Csv && answer.is_inexact() { answer.notes.clone() } else { Vec::new() };
    let mut unanswered = None;
    let printed: Result<(), ReplError> = match sink {
        Sink::Stdout => {
            context.width = terminal_width();
            context.colour = context.width.is_some() && target.colour;
            let mut out = BufWriter::new(Printer(io::stdout().lock()));
            draw(answer, rest, Drawing::new(format, context), &mut unanswered, &mut out)?;
            out.flush().map_err(Into::into)
        }
        Sink::File(name) => {
            let drawing = Drawing::new(format, context);
            to_file(Path::new(name), |out| draw(answer, rest, drawing, &mut unanswered, out))
        }
        Sink::Command(command) => {
            let drawing = Drawing::new(format, context);
            pipe(command, |out| draw(answer, rest, drawing, &mut unanswered, out)).map_err(Into::into)
        }
    };
    unanswered.map_or(printed, |error| Err(ReplError::Query(error)))?;
    doubts.iter().for_each(|sentence| complain(sentence));
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
    answer: Answer,
    rest: &mut dyn Iterator<Item = Result<Answer, QueryError>>,
    mut drawing: Drawing<'_>,
    unanswered: &mut Option<QueryError>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut answer = Some(answer);
    while let Some(piece) = answer.take() {
        drawing.piece(&piece, out)?;
        if piece.goes_on {
            interrupt::check()?;
            drop(piece);
            answer = rest.next().transpose().map_err(|error| {
                *unanswered = Some(error);
                io::Error::other("there is no answer")
            })?;
        }
    }
    drawing.end(out)
}

/// The width in columns of the terminal that stdout is; `None` if it is not one.
fn terminal_width() -> Option<usize> {
    const UNKNOWN: usize = 80;
    if !io::stdout().is_terminal() {
        return None;
    }
    let known = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    Some(known.filter(|&width| width > 0).unwrap_or(UNKNOWN))
}

/// Writes a file that appears whole or not at all; what is no regular file, such as a device, is written into.
fn to_file(path: &Path, draw: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), ReplError> {
    let failed = |error: io::Error| {
        if interrupt::is_stop(&error) { QueryError::Stopped } else { QueryError::file(path, error) }
    };
    let write = |file: File| {
        let mut out = BufWriter::new(file);
        draw(&mut out)?;
        out.flush()
    };
    if path.exists() && !path.is_file() {
        return Ok(File::create(path).and_then(write).map_err(failed)?);
    }
    Ok(replace_file(path, |file| write(file).map_err(failed))?)
}

/// The exit code of an answer.
pub(crate) fn exit_code(damaged: bool, answer: &Answer) -> u8 {
    match answer.outcome {
        Outcome::DamageFound => code::DAMAGE_FOUND,
        Outcome::False => code::FALSE,
        Outcome::Undecided => code::USAGE,
        Outcome::Saved => code::ANSWERED,
        Outcome::Lost => code::DAMAGED_INPUT,
        Outcome::NothingKept => code::UNREADABLE,
        Outcome::Answered if damaged || answer.lost.is_some() => code::DAMAGED_INPUT,
        Outcome::Answered => code::ANSWERED,
    }
}
