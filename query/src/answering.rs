//! The way from a question to its answer: permission, memory, pieces, and changes of the session.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::answer::{Answer, Column, Outcome};
use crate::ask::reply::{Change, Reply, Rows};
use crate::ask::{Ask, MOST_LISTED, PIECE_ROWS, View};
use crate::command::{Content, Subject};
use crate::commands;
use crate::error::QueryError;
use crate::pieces::Pieces;
use crate::question::Question;
use crate::removal;
use crate::session::Session;
use crate::session::state::State;
use crate::sources::background::Background;
use crate::sources::dump_order::DumpOrder;
use crate::sources::opening::OpenFile;
use crate::sources::{cache, counting, opening, recognition};
use crate::tables::found;
use crate::touches::Touches;
use crate::unmanaged;

/// Time between two checks whether it is a question's turn: people notice no delay.
const TURN: Duration = Duration::from_millis(20);
/// Time that the system may take to give memory back. This is a judgement: the question has failed once and begins
/// again, so the wait matters little.
const SETTLING: Duration = Duration::from_secs(2);

impl Session {
    /// Opens the file of this name: a recording, or a dump, which is imported first. `-` is the standard input.
    ///
    /// # Errors
    /// A file that cannot be read; what is wrong with a dump.
    pub fn open(&mut self, name: &str) -> Result<(), QueryError> {
        let context = self.state.context.clone();
        context.ceiling.begin(false);
        let file = self.state.context.workspace.run(|| opening::open(name, &context));
        self.take_file(file.map_err(|error| if error.is_stopped() { context.why_stopped() } else { error })?);
        Ok(())
    }

    /// Opens heap dumps of one process as the snapshots of one recording; imports them first, unless that was done. They
    /// are in the order of the times that they hold, or else in the natural order of their names.
    ///
    /// # Errors
    /// Those of [`Session::open`]; dumps of several formats.
    pub fn open_series(&mut self, name: &str, dumps: &[PathBuf]) -> Result<(), QueryError> {
        let context = self.state.context.clone();
        context.ceiling.begin(false);
        let order = DumpOrder::untyped(dumps)?;
        let file = self.state.context.workspace.run(|| opening::open_dumps(name, &order.sources, &context));
        self.take_file(file.map_err(|error| if error.is_stopped() { context.why_stopped() } else { error })?);
        Ok(())
    }

    /// Counts the objects of dumps that would be the snapshots of one recording, without an import. What it returns
    /// answers [questions for totals](Question::asks_for_totals) only. `None`: they cannot be counted much sooner.
    ///
    /// # Errors
    /// What is wrong with a dump.
    pub fn count(&self, name: &str, dumps: &[PathBuf]) -> Result<Option<OpenFile>, QueryError> {
        let context = &self.state.context;
        let order = DumpOrder::untyped(dumps)?;
        context.workspace.run(|| counting::open(name, &order.sources, context))
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
        let import = Background::begin(name, &self.state.context)?;
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

    /// Returns whether the import of a dump goes on.
    #[must_use]
    pub fn is_importing(&self) -> bool {
        self.import.as_ref().is_some_and(|import| !import.has_ended())
    }

    /// Takes the result of the import of the open dump, if it has ended. Returns whether it was taken.
    ///
    /// # Errors
    /// A fault of the dump.
    pub fn take_import(&mut self) -> Result<bool, QueryError> {
        match self.import.take_if(|import| import.has_ended()) {
            None => Ok(false),
            Some(import) => {
                let again = self.select_again.take();
                self.state.file = None;
                self.state.file = Some(import.into_result()?);
                // `$_` is what was counted last.
                again.map_or(Ok(()), |again| again(self))?;
                Ok(true)
            }
        }
    }

    /// Returns whether dumps are in no cache as one recording, so that [`Session::open_series`] takes an import.
    #[must_use]
    pub fn is_new_series(&self, dumps: &[PathBuf]) -> bool {
        DumpOrder::untyped(dumps).is_ok_and(|order| !cache::holds(&order.sources, &self.state.context))
    }

    /// Returns whether a file is a dump that is in no cache, so that opening it takes an import.
    #[must_use]
    pub fn is_new_dump(&self, name: &str) -> bool {
        let path = Path::new(name);
        let is_dump =
            || recognition::first_bytes(path).is_ok_and(|bytes| barrow_importers::recognise(&bytes).is_some());
        path.is_file() && is_dump() && !cache::holds(&[path], &self.state.context)
    }

    /// Opens a dump whose objects are only counted. Returns whether that is possible.
    fn open_counted(&mut self, name: &str) -> Result<bool, QueryError> {
        let context = self.state.context.clone();
        let counted = self.state.context.workspace.run(|| counting::open(name, &[Path::new(name)], &context))?;
        let is_counted = counted.is_some();
        if let Some(file) = counted {
            self.state.file = Some(file);
        }
        Ok(is_counted)
    }

    /// Opens what a question needs of a dump that is being imported: what is counted sooner, or all of it.
    fn settle(&mut self, question: &Question) -> Result<(), QueryError> {
        let needs_file = question.command.subject == Subject::Recording;
        if !needs_file || self.import.is_none() || self.take_import()? {
            return Ok(());
        }
        let Some(OpenFile { name, counted, .. }) = self.state.file.clone() else { return Ok(()) };
        let is_early = question.asks_for_totals() && self.state.away.is_empty();
        if is_early && (counted.is_some() || self.open_counted(&name)?) {
            return Ok(());
        }
        self.open_whole()
    }

    /// Returns whether a dump that is only counted may be imported for a question.
    fn can_open_whole(&self) -> bool {
        self.import.is_some() || self.state.allowed.contains(Touches::READS_FILES)
    }

    /// Waits for the import of the open dump, or imports it.
    fn open_whole(&mut self) -> Result<(), QueryError> {
        if let Some(import) = &self.import {
            import.wait(&self.state.context.watcher)?;
            return self.take_import().map(drop);
        }
        match self.state.file.as_ref().filter(|file| file.counted.is_some()).map(|file| file.name.clone()) {
            Some(name) => self.open(&name),
            None => Ok(()),
        }
    }

    /// Answers a question with one answer: its first page if answers come in pages.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ask(&mut self, question: &Question) -> Result<Answer, QueryError> {
        let view = View { is_paged: self.paged, ..View::default() };
        self.pieces_of(question, view)?.next().unwrap_or_else(|| Ok(Answer::default()))
    }

    /// Answers a question piece by piece: the first answer, then answers with further rows of its last table. If
    /// `whole`, every row is made unless the question says how many; else there is one piece.
    ///
    /// # Errors
    /// Something that the question may not touch, or a flag that its verb does not know.
    pub fn pieces(&mut self, question: &Question, whole: bool) -> Result<Pieces<'_>, QueryError> {
        let is_paged = self.paged && !whole;
        self.pieces_of(question, View { is_paged, is_whole: whole, in_pieces: true, ..View::default() })
    }

    fn pieces_of(&mut self, question: &Question, view: View) -> Result<Pieces<'_>, QueryError> {
        question.check()?;
        let more = question.touches_beside(|name| self.state.is_beside(name)).except(self.state.allowed);
        if more != Touches::NOTHING {
            return Err(QueryError::NotAllowed { verb: question.command.name, touches: more });
        }
        Ok(Pieces::new(self, question.clone(), view))
    }

    /// Answers a question with rows `from` to `from + rows` of its last table, which has every row unless the question
    /// says how many. Returns how many rows the table has, if that is known.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn window(&mut self, question: &Question, from: u64, rows: usize) -> Result<(Answer, Option<u64>), QueryError> {
        let (piece, skip) = (rows.clamp(1, PIECE_ROWS), Some(from));
        let view = View { is_whole: true, in_pieces: true, piece, skip, ..View::default() };
        let mut pieces = self.pieces_of(question, view)?;
        let mut answer = pieces.next().unwrap_or_else(|| Ok(Answer::default()))?;
        let all = answer.all_rows;
        // Commands that can pass over rows have done so. Others make them, many at a time.
        let mut before = pieces.view.skip.unwrap_or(0);
        if before > 0 {
            pieces.view.piece = PIECE_ROWS;
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
    fn run(&mut self, question: &Question, view: View) -> Result<Reply, QueryError> {
        self.settle(question)?;
        let is_counted = self.state.file.as_ref().is_some_and(|file| file.counted.is_some());
        match self.run_command(question, view) {
            Err(error) if error.is_ceiling() && self.has_more_room(question) => self.run_first(question, view, error),
            // Counts alone may be too little for a message that helps.
            Err(error) if is_counted && !error.is_stopped() && self.can_open_whole() => {
                self.open_whole()?;
                self.run_command(question, view)
            }
            reply => {
                if is_counted && self.import.is_some() && question.command.name == "count" {
                    let question = question.clone();
                    self.select_again = Some(Box::new(move |session| {
                        let reply = session.run_command(&question, View::default())?;
                        session.apply(reply, View::default());
                        Ok(())
                    }));
                }
                reply
            }
        }
    }

    /// Drops heaps and results that no question uses. Returns whether a question that found too little memory may find
    /// more now.
    fn has_more_room(&mut self, question: &Question) -> bool {
        // Pages that were not turned hold their rows.
        let had_pages = self.more.take_if(|_| question.command.name != "more").is_some();
        let workspace = &self.state.context.workspace;
        let was_shared = workspace.is_shared();
        let [dropped, forgot] = [workspace.drop_idle(), workspace.forget()];
        was_shared || had_pages || dropped || forgot
    }

    /// Runs a command again that found too little memory, when it is its turn. `error` said so.
    fn run_first(&self, question: &Question, view: View, error: QueryError) -> Result<Reply, QueryError> {
        let workspace = Arc::clone(&self.state.context.workspace);
        let _turn = loop {
            if let Some(turn) = workspace.turn() {
                break turn;
            }
            if self.state.context.watcher.is_stopped() {
                return Err(QueryError::Stopped);
            }
            std::thread::sleep(TURN);
        };
        workspace.forget();
        // The memory of the questions that ended must be given back first.
        if !workspace.memory().settles(SETTLING) && !workspace.runs_several() {
            return Err(error);
        }
        self.run_in_turn(question, view, true)
    }

    pub(crate) fn run_command(&self, question: &Question, view: View) -> Result<Reply, QueryError> {
        self.run_in_turn(question, view, false)
    }

    fn run_in_turn(&self, question: &Question, view: View, goes_first: bool) -> Result<Reply, QueryError> {
        self.check_content(question)?;
        let ask = self.asking(question, view);
        self.answered(&ask, goes_first, question.command.run)
    }

    /// The arguments of a command's function: the state of the session, with the format and the snapshot of the question.
    fn asking(&self, question: &Question, view: View) -> Ask {
        let mut state = self.state.clone();
        state.context.settings.format = question.format.unwrap_or(state.context.settings.format);
        state.selected = question.snapshot.unwrap_or(state.selected);
        // Each question that runs meets the ceiling for itself.
        state.context.ceiling = Arc::new(state.context.workspace.ceiling());
        Ask { state, arguments: question.arguments.clone(), view, more: self.more.clone() }
    }

    /// Answers with the threads and the memory of the workspace.
    fn answered(
        &self,
        ask: &Ask,
        goes_first: bool,
        run: impl FnOnce(&Ask) -> Result<Reply, QueryError> + Send,
    ) -> Result<Reply, QueryError> {
        ask.context.ceiling.begin(goes_first);
        let reply = ask.context.workspace.run(|| {
            let reply = run(ask)?;
            // A command that makes its rows at once may not have checked.
            ask.context.check().map(|()| reply)
        });
        reply.map_err(|error| match error {
            QueryError::Stopped => ask.context.why_stopped(),
            QueryError::NoSnapshot if self.content().iter().any(|content| *content != Content::Heap) => {
                QueryError::NoHeap
            }
            QueryError::Analyzer(error) => found::with_place(error, &ask.arguments.text()),
            error => error,
        })
    }

    /// Keeps what a reply leaves, and gives its answer.
    pub(crate) fn apply(&mut self, reply: Reply, view: View) -> Answer {
        let reply = if self.has_unmanaged_sizes() { reply } else { reply.map(unmanaged::without) };
        let State { listed, sets, selected, away, context, .. } = &mut self.state;
        let most = if view.is_whole { MOST_LISTED } else { usize::MAX };
        match reply.rows {
            Rows::Kept => {}
            Rows::Of(mut rows) => {
                rows.truncate(most);
                *listed = Arc::new(rows);
                self.more = reply.more;
            }
            Rows::Further(rows) => {
                let listed = Arc::make_mut(listed);
                listed.append(rows);
                listed.truncate(most);
                self.more = reply.more;
            }
        }
        for (name, set) in reply.sets {
            sets.name(&name, set);
        }
        match reply.change {
            None => {}
            Some(Change::Selected(snapshot)) => *selected = snapshot,
            Some(Change::Format(format)) => context.settings.format = format,
            Some(Change::Rows(rows)) => {
                context.settings.rows = rows;
                context.settings.has_set_rows = true;
            }
            Some(Change::Away(removals)) => *away = removals,
            Some(Change::Ended) => self.ended = true,
        }
        reply.answer
    }

    /// The contents of the open recording.
    fn content(&self) -> Vec<Content> {
        self.state.recording().map(|recording| Content::of(&recording)).unwrap_or_default()
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

    pub(crate) fn first(&mut self, question: &Question, view: View) -> Result<Reply, QueryError> {
        if question.is_help {
            return Ok(Reply::aside(Answer::text(commands::page(question.command))));
        }
        if question.command.subject == Subject::Recording && !self.has_unmanaged_sizes() {
            unmanaged::require_other_order(&question.arguments)?;
        }
        let is_about_recording = question.command.subject == Subject::Recording;
        if is_about_recording {
            self.state.context.lines = self.state.line_rules()?;
        }
        let uses = self.state.context.lines.as_ref().map_or(0, |rules| rules.uses());
        let reply = self.run(question, view)?;
        let reply = reply.try_map(|answer| self.state.with_line_note(answer, uses))?;
        if reply.answer.outcome != Outcome::DamageFound
            && let Some(file) = self.state.file()
        {
            file.recording.check_strings()?;
        }
        let away = match &reply.change {
            Some(Change::Away(away)) => away,
            _ => &self.state.away,
        };
        if !is_about_recording || away.is_empty() {
            return Ok(reply);
        }
        let away = removal::text(away);
        let without = Column::text("without").for_machines();
        Ok(reply.map(|answer| answer.fact(without, away.as_str()).note(away)))
    }

    pub(crate) fn next(&self, question: &Question, view: View) -> Result<Reply, QueryError> {
        let ask = self.asking(question, View { is_next_page: true, skip: None, ..view });
        self.answered(&ask, false, commands::next_page)
    }

    /// Returns whether the open recording, if there is one, tells unmanaged sizes. One that cannot be read says so itself.
    fn has_unmanaged_sizes(&self) -> bool {
        let known = self.state.recording().ok().and_then(|recording| recording.has_unmanaged_sizes().ok());
        known.unwrap_or(true)
    }
}
