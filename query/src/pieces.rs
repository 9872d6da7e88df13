//! The pieces of an answer that is too long to be made at once.

use crate::answer::Answer;
use crate::ask::View;
use crate::error::QueryError;
use crate::flags::Format;
use crate::question::Question;
use crate::session::Session;

/// The pieces of an answer, in order. Each is made on demand; dropping the iterator gives up the rest.
pub struct Pieces<'s> {
    session: &'s mut Session,
    question: Question,
    /// Which rows are wanted. What is made at a time may change from piece to piece.
    pub(crate) view: View,
    progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    First,
    GoesOn,
    Done,
}

impl Iterator for Pieces<'_> {
    type Item = Result<Answer, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reply = match self.progress {
            Progress::First => self.session.first(&self.question, self.view),
            Progress::GoesOn => self.session.next(&self.question, self.view),
            Progress::Done => return None,
        };
        let answer = reply.map(|reply| {
            self.view.skip = self.view.skip.filter(|_| !reply.has_skipped);
            self.session.apply(reply, self.view)
        });
        let goes_on = answer.as_ref().is_ok_and(|answer| answer.goes_on);
        self.progress = if goes_on { Progress::GoesOn } else { Progress::Done };
        Some(answer)
    }
}

impl<'s> Pieces<'s> {
    /// Nothing is made yet.
    pub(crate) fn new(session: &'s mut Session, question: Question, view: View) -> Self {
        Pieces { session, question, view, progress: Progress::First }
    }

    /// The format of its answers: that of the question, else the current one of the session.
    #[must_use]
    pub fn format(&self) -> Format {
        self.question.format.unwrap_or(self.session.settings().format)
    }

    /// The session that answers.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.session
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        if self.progress == Progress::GoesOn {
            // No page of an answer that was given up waits for `more`.
            self.session.more = None;
        }
    }
}
