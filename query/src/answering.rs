//! How a session answers a question: permission, settings for its own time, pieces.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::answer::{Answer, Column, Outcome, Unit};
use crate::command::{Content, Subject};
use crate::commands;
use crate::error::QueryError;
use crate::flags::{Format, SnapshotName};
use crate::question::Question;
use crate::session::{PIECE_ROWS, Session};
use crate::sources::background::Background;
use crate::sources::opening::OpenFile;
use crate::sources::{cache, counting, opening, recognition};
use crate::tables::found;
use crate::touches::Touches;

/// How often a question asks whether it is its turn.
const TURN: Duration = Duration::from_millis(20);
/// How long it may take until memory is given back.
const SETTLING: Duration = Duration::from_secs(2);

impl Session {
    /// Opens the file of this name: a recording, or a dump, which is imported first. `-` is the standard input.
    ///
    /// # Errors
    /// A file that cannot be read; what is wrong with a dump.
    pub fn open(&mut self, name: &str) -> Result<(), QueryError> {
        let context = self.context.clone();
        context.ceiling.begin(false);
        let file = self.context.workspace.run(|| opening::open(name, &context));
        self.take_file(file.map_err(|error| if error.is_stopped() { self.why_stopped() } else { error })?);
        Ok(())
    }

    /// Opens the file of this name for several questions. If it is a dump that was never imported, this returns at once
    /// and the import goes on. Questions that it takes less to answer are answered meanwhile; others wait for it.
    ///
    /// # Errors
    /// Those of [`Session::open`]. What is wrong with a dump is the error of the first question that needs all of it.
    pub fn open_soon(&mut self, name: &str) -> Result<(), QueryError> {
        if !self.is_new_dump(name) {
            return self.open(name);
        }
        let file = OpenFile { counted: None, ..OpenFile::of(name, Arc::new(counting::nothing()?)) };
        let import = Background::begin(name, &self.context)?;
        self.open_file(file);
        self.import = Some(import);
        Ok(())
    }

    /// Opens the file of this name for one question. If it is a dump that was never imported, and the question asks only
    /// for totals, they are counted without an import.
    ///
    /// # Errors
    /// Those of [`Session::open`].
    pub fn open_for(&mut self, name: &str, question: &Question) -> Result<(), QueryError> {
        if question.asks_for_totals() && self.is_new_dump(name) && self.open_counted(name)? {
            return Ok(());
        }
        self.open(name)
    }

    /// Whether the import of a dump goes on.
    #[must_use]
    pub fn is_importing(&self) -> bool {
        self.import.as_ref().is_some_and(|import| !import.has_ended())
    }

    /// Takes the result of the import of the open dump, if it has ended. Returns whether it was taken.
    ///
    /// # Errors
    /// What is wrong with the dump.
    pub fn take_import(&mut self) -> Result<bool, QueryError> {
        match self.import.take_if(|import| import.has_ended()) {
            None => Ok(false),
            Some(import) => {
                let again = self.select_again.take();
                self.file = None;
                self.file = Some(import.into_result()?);
                // `$_` is what was counted last.
                again.map_or(Ok(()), |select| select(self).map(drop))?;
                Ok(true)
            }
        }
    }

    /// Whether a file is a dump that is in no cache, so that opening it takes an import.
    #[must_use]
    pub fn is_new_dump(&self, name: &str) -> bool {
        let path = Path::new(name);
        let is_dump =
            || recognition::first_bytes(path).is_ok_and(|bytes| barrow_importers::recognise(&bytes).is_some());
        path.is_file() && is_dump() && !cache::holds(path, &self.context)
    }

    /// Opens a dump whose objects are only counted. Returns whether that is possible.
    fn open_counted(&mut self, name: &str) -> Result<bool, QueryError> {
        let context = self.context.clone();
        let counted = self.context.workspace.run(|| counting::open(name, &context))?;
        let is_counted = counted.is_some();
        if let Some(file) = counted {
            self.file = Some(file);
        }
        Ok(is_counted)
    }

    /// Opens what a question needs of a dump that is being imported: what is counted sooner, or all of it.
    fn settle(&mut self, question: &Question) -> Result<(), QueryError> {
        let needs_file = question.command.subject == Subject::Recording;
        if !needs_file || self.import.is_none() || self.take_import()? {
            return Ok(());
        }
        let Some(OpenFile { name, counted, .. }) = self.file.clone() else { return Ok(()) };
        let is_early = question.asks_for_totals() && self.away.is_empty();
        if is_early && (counted.is_some() || self.open_counted(&name)?) {
            return Ok(());
        }
        self.open_whole()
    }

    /// Waits for the import of the open dump, or imports it.
    fn open_whole(&mut self) -> Result<(), QueryError> {
        if let Some(import) = &self.import {
            import.wait(&self.context.watcher)?;
            return self.take_import().map(drop);
        }
        match self.file.as_ref().filter(|file| file.counted.is_some()).map(|file| file.name.clone()) {
            Some(name) => self.open(&name),
            None => Ok(()),
        }
    }

    /// Answers a question with one answer: its first page if answers come in pages.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ask(&mut self, question: &Question) -> Result<Answer, QueryError> {
        let mut pieces = self.pieces(question, false)?;
        pieces.session.in_pieces = false;
        pieces.next().unwrap_or_else(|| Ok(Answer::default()))
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
        self.in_pieces = true;
        self.paged = self.paged && !whole;
        Ok(Pieces { session: self, question: question.clone(), before, state: State::First })
    }

    /// Answers a question with rows `from` to `from + rows` of its last table, which has every row unless the question
    /// says how many. Returns how many rows the table has, if that is known.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn window(&mut self, question: &Question, from: u64, rows: usize) -> Result<(Answer, Option<u64>), QueryError> {
        (self.skip, self.piece) = (Some(from), rows.clamp(1, PIECE_ROWS));
        let answer = self.window_of(question, from, rows);
        (self.skip, self.piece) = (None, PIECE_ROWS);
        answer
    }

    fn window_of(&mut self, question: &Question, from: u64, rows: usize) -> Result<(Answer, Option<u64>), QueryError> {
        let mut pieces = self.pieces(question, true)?;
        let mut answer = pieces.next().unwrap_or_else(|| Ok(Answer::default()))?;
        let all = answer.all_rows;
        // Commands that can pass over rows have done so. Others make them, many at a time.
        let mut before = pieces.session.take_skip().unwrap_or(0);
        if before > 0 {
            pieces.session.piece = PIECE_ROWS;
        }
        let (mut made, mut goes_on) = (from - before, answer.goes_on);
        let mut found = Vec::new();
        let mut piece = answer.tables.last_mut().map(|table| std::mem::take(&mut table.rows)).unwrap_or_default();
        loop {
            made += piece.len() as u64;
            let passed = before.min(piece.len() as u64);
            before -= passed;
            let wanted = piece.into_iter().skip(passed as usize).take(rows - found.len());
            found.extend(wanted);
            if found.len() >= rows || !goes_on {
                break;
            }
            let Some(next) = pieces.next() else { break };
            let mut next = next?;
            goes_on = next.goes_on;
            piece = next.tables.pop().map(|table| table.rows).unwrap_or_default();
        }
        let all = all.or((!goes_on).then_some(made));
        if let Some(table) = answer.tables.last_mut() {
            table.rows = found;
        }
        Ok((Answer { goes_on: false, ..answer }, all))
    }

    /// Runs a command, with more memory if that is too little.
    fn run(&mut self, question: &Question) -> Result<Answer, QueryError> {
        self.settle(question)?;
        let is_counted = self.file.as_ref().is_some_and(|file| file.counted.is_some());
        match self.run_command(question) {
            Err(error) if error.is_ceiling() && self.has_more_room() => self.run_first(question, error),
            // What was counted may be too little for a message that helps.
            Err(error) if is_counted && !error.is_stopped() => {
                self.open_whole()?;
                self.run_command(question)
            }
            answer => {
                if is_counted && self.import.is_some() && question.command.name == "count" {
                    let question = question.clone();
                    self.select_again = Some(Box::new(move |session| session.run_command(&question)));
                }
                answer
            }
        }
    }

    /// Whether there may be more memory for a question that found too little: what nobody uses is dropped.
    fn has_more_room(&mut self) -> bool {
        let workspace = &self.context.workspace;
        // Pages that were not turned hold their rows.
        let (was_shared, had_pages) = (workspace.is_shared(), self.more.take().is_some());
        let [dropped, forgot] = [workspace.drop_idle(), workspace.forget()];
        was_shared || had_pages || dropped || forgot
    }

    /// Runs a command again that found too little memory, when it is its turn. `error` said so.
    fn run_first(&mut self, question: &Question, error: QueryError) -> Result<Answer, QueryError> {
        let workspace = Arc::clone(&self.context.workspace);
        let _turn = loop {
            if let Some(turn) = workspace.turn() {
                break turn;
            }
            if self.context.watcher.is_stopped() {
                return Err(QueryError::Stopped);
            }
            std::thread::sleep(TURN);
        };
        workspace.forget();
        // What was held when the others ended is given back.
        if !workspace.memory().settles(SETTLING) && !workspace.runs_several() {
            return Err(error);
        }
        self.run_in_turn(question, true)
    }

    fn run_command(&mut self, question: &Question) -> Result<Answer, QueryError> {
        self.run_in_turn(question, false)
    }

    fn run_in_turn(&mut self, question: &Question, goes_first: bool) -> Result<Answer, QueryError> {
        let workspace = Arc::clone(&self.context.workspace);
        self.check_content(question)?;
        // A refused line leaves the rows on the screen, and `%1` names one of them; `$_` is what it was.
        let (listed, sets) = (self.listed.clone(), self.sets.clone());
        self.context.ceiling.begin(goes_first);
        let answer = workspace.run(|| {
            let answer = (question.command.run)(self, &question.arguments)?;
            // What makes its rows at once may not have looked.
            self.context.check().map(|()| answer)
        });
        if answer.is_err() {
            (self.listed, self.sets) = (listed, sets);
        }
        answer.map_err(|error| match error {
            QueryError::Stopped => self.why_stopped(),
            QueryError::NoSnapshot if self.content().iter().any(|content| *content != Content::Heap) => {
                QueryError::NoHeap
            }
            QueryError::Analyzer(error) => found::with_place(error, &question.arguments.text()),
            error => error,
        })
    }

    /// Why a question ended without an answer: it was stopped, or the process held too much memory.
    fn why_stopped(&self) -> QueryError {
        let is_stopped = self.context.watcher.is_stopped();
        self.context.ceiling.take_error().filter(|_| !is_stopped).unwrap_or(QueryError::Stopped)
    }

    /// What the open recording holds.
    fn content(&self) -> Vec<Content> {
        self.recording().map(|recording| Content::of(&recording)).unwrap_or_default()
    }

    /// Fails if the recording holds something, and nothing that the question is about.
    fn check_content(&self, question: &Question) -> Result<(), QueryError> {
        let (held, needs) = (self.content(), question.command.needs());
        if held.is_empty() || needs.is_empty() || needs.iter().any(|content| held.contains(content)) {
            return Ok(());
        }
        Err(match needs[0] {
            Content::Heap => QueryError::NoHeap,
            Content::Processes => QueryError::NoProcesses,
            Content::Trials => QueryError::NoTrials,
        })
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
                session.context.ceiling.begin(false);
                let answer = workspace.run(|| session.next_page());
                answer.map_err(|error| if error.is_stopped() { session.why_stopped() } else { error })
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
        (session.whole, session.in_pieces, session.paged) = (false, false, self.before.paged);
        session.context.settings.format = self.before.format.unwrap_or(session.context.settings.format);
        session.selected = self.before.selected.unwrap_or(session.selected);
    }
}
