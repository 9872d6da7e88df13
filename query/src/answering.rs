//! How a session answers a question: permission, settings for its own time, pieces.

use std::sync::Arc;

use crate::answer::{Answer, Column, Outcome, Unit};
use crate::command::Subject;
use crate::commands;
use crate::error::QueryError;
use crate::flags::{Format, SnapshotName};
use crate::question::Question;
use crate::session::Session;
use crate::sources::{counting, opening};
use crate::touches::Touches;

impl Session {
    /// Opens the file of this name: a recording, or a dump, which is imported first. `-` is the standard input.
    ///
    /// # Errors
    /// A file that cannot be read; what is wrong with a dump.
    pub fn open(&mut self, name: &str) -> Result<(), QueryError> {
        let context = self.context.clone();
        let file = self.context.workspace.run(|| opening::open(name, &context))?;
        self.open_file(file);
        Ok(())
    }

    /// Opens a dump for one question, which asks only how many objects of each type there are. They are counted without
    /// an import. Returns whether that is possible.
    ///
    /// # Errors
    /// Those of [`Session::open`].
    pub fn open_counted(&mut self, name: &str, question: &Question) -> Result<bool, QueryError> {
        let asks_for_totals = question.command.asks_for_totals.is_some_and(|asks| asks(&question.arguments));
        if question.snapshot.is_some() || !asks_for_totals {
            return Ok(false);
        }
        let context = self.context.clone();
        let counted = self.context.workspace.run(|| counting::open(name, &context))?;
        let is_counted = counted.is_some();
        if let Some(file) = counted {
            self.open_file(file);
        }
        Ok(is_counted)
    }

    /// Answers a question with one answer: its first page if answers come in pages.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ask(&mut self, question: &Question) -> Result<Answer, QueryError> {
        self.pieces(question, false)?.next().unwrap_or_else(|| Ok(Answer::default()))
    }

    /// Answers a question piece by piece: the first answer, then answers with further rows of its last table. If
    /// `whole`, every row is made unless the question says how many; else there is one piece.
    ///
    /// # Errors
    /// What the question may not touch, or a flag that its verb does not know.
    pub fn pieces(&mut self, question: &Question, whole: bool) -> Result<Pieces<'_>, QueryError> {
        question.check()?;
        let more = question.touches().except(self.allowed);
        if more != Touches::NOTHING {
            return Err(QueryError::NotAllowed { verb: question.command.name, touches: more });
        }
        let before = Before {
            format: question.format.map(|_| self.context.settings.format),
            selected: question.snapshot.map(|_| self.selected),
            paged: self.paged,
        };
        self.context.settings.format = question.format.unwrap_or(self.context.settings.format);
        self.selected = question.snapshot.unwrap_or(self.selected);
        self.whole = whole;
        self.paged = self.paged && !whole;
        Ok(Pieces { session: self, question: question.clone(), before, state: State::First })
    }

    /// Runs a command, with more memory if that is too little.
    fn run(&mut self, question: &Question) -> Result<Answer, QueryError> {
        let workspace = Arc::clone(&self.context.workspace);
        let answer = workspace.run(|| (question.command.run)(self, &question.arguments));
        match answer {
            Err(error) if error.is_ceiling() && workspace.drop_idle() => {
                workspace.run(|| (question.command.run)(self, &question.arguments))
            }
            answer => answer,
        }
    }

    fn first(&mut self, question: &Question) -> Result<Answer, QueryError> {
        if question.is_help {
            return Ok(Answer::text(commands::page(question.command)));
        }
        let mut answer = self.run(question)?;
        if answer.outcome != Outcome::DamageFound
            && let Some(file) = self.file()
        {
            file.recording.check_strings()?;
        }
        if question.command.subject == Subject::Recording && !self.away.is_empty() {
            let away = self.away_text();
            answer = answer.fact(Column::new("without", "", Unit::Text).for_machines(), away.as_str()).note(away);
        }
        Ok(answer)
    }
}

/// What a question changed for its own time.
struct Before {
    format: Option<Format>,
    selected: Option<SnapshotName>,
    paged: bool,
}

/// The pieces of an answer, in order. Each is made on demand; dropping the iterator gives up the rest.
pub struct Pieces<'s> {
    session: &'s mut Session,
    question: Question,
    before: Before,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    GoesOn,
    Done,
}

impl Iterator for Pieces<'_> {
    type Item = Result<Answer, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let answer = match self.state {
            State::First => self.session.first(&self.question),
            State::GoesOn => {
                let workspace = Arc::clone(&self.session.context.workspace);
                let session = &mut *self.session;
                workspace.run(|| session.next_page())
            }
            State::Done => return None,
        };
        let goes_on = answer.as_ref().is_ok_and(|answer| answer.goes_on);
        self.state = if goes_on { State::GoesOn } else { State::Done };
        Some(answer)
    }
}

impl Pieces<'_> {
    /// The session that answers.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.session
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        let session = &mut *self.session;
        if self.state == State::GoesOn {
            // No page of an answer that was given up waits for `more`.
            session.more = None;
        }
        (session.whole, session.paged) = (false, self.before.paged);
        session.context.settings.format = self.before.format.unwrap_or(session.context.settings.format);
        session.selected = self.before.selected.unwrap_or(session.selected);
    }
}
