//! Processes that match an expression, in the order in which they began, or those with most first.

use std::sync::Arc;

use barrow_processes::{Amounts, Classes, Expression, ImageId, ImageSet, ProcessTree};

use crate::answer::units;
use crate::answer::{Answer, Column, Unit, Value};
use crate::error::QueryError;
use crate::flags::QuestionFlags;
use crate::language::asked;
use crate::session::Session;
use crate::tables::process_rows::Rows;
use crate::tables::unit_labels::UnitLabels;

/// Images that match, of which the first are shown.
pub(crate) struct Found {
    tree: Arc<ProcessTree>,
    classes: Arc<Classes>,
    units: UnitLabels,
    by: Option<Amounts>,
    /// In their order.
    images: Vec<ImageId>,
    shown: usize,
    /// Rows of a page, if given.
    rows: Option<usize>,
}

/// Looks for the processes that match; `by` names what ranks them.
///
/// # Errors
/// A usage error if there is no such order; those of the tree and its classes.
pub(crate) fn found(
    session: &mut Session,
    expression: &Expression,
    by: Option<&str>,
    rows: Option<usize>,
    flags: &QuestionFlags,
) -> Result<Answer, QueryError> {
    let (tree, set) = asked::select(session, expression, flags)?;
    let by = by.map(|name| Amounts::named(name, &tree).ok_or_else(|| no_order(name))).transpose()?;
    let images = by.as_ref().map_or_else(|| set.iter().collect(), |by| by.ranked(&tree, &set));
    let classes = asked::classes(session, &tree, expression, flags)?;
    session.listed.clear();
    let notes = asked::notes(session, expression, flags)?;
    let units = session.unit_labels(flags)?;
    Ok(Found { tree, classes, units, by, images, shown: 0, rows }.answer(session, Some(set))?.lines(notes))
}

fn no_order(name: &str) -> QueryError {
    let orders: Vec<&str> = Amounts::names().collect();
    QueryError::usage(format!("processes have no order `{name}`; there are {}", orders.join(", ")))
}

impl Found {
    /// The next page. `all` are those that match, in the first page.
    fn answer(mut self, session: &mut Session, all: Option<Arc<ImageSet>>) -> Result<Answer, QueryError> {
        let is_whole = session.whole && self.rows.is_none();
        if is_whole && let Some(skip) = session.take_skip() {
            self.shown = usize::try_from(skip).unwrap_or(usize::MAX).min(self.images.len());
        }
        let piece = if is_whole { session.piece } else { session.ranking_rows(self.rows) };
        let end = self.images.len().min(self.shown.saturating_add(piece));
        let page = &self.images[self.shown..end];
        let first = session.listed.images().len() + 1;
        let number = |at| session.row_number(first + at);
        let rows = Rows { tree: &self.tree, classes: &self.classes, units: &self.units, by: self.by.as_ref() };
        let table = rows.table(&session.context, page, number)?;
        session.list_images(page.iter().copied());
        match all {
            Some(all) if is_whole => session.sets.set_last_images(all),
            _ if is_whole => {}
            _ => session.sets.set_last_images(Arc::new(session.listed.images().iter().copied().collect())),
        }
        self.shown = end;
        let left = self.images.len() - end;
        let complete = Column::new("complete", "", Unit::Text).for_machines();
        let mut answer = Answer::default().fact(complete, Value::Flag(left == 0 || is_whole)).table(table).exact();
        answer.goes_on = is_whole && left > 0;
        answer.all_rows = Some(self.images.len() as u64).filter(|_| is_whole);
        if self.images.is_empty() {
            answer = answer.note("no process matches");
        } else if left > 0 && !is_whole {
            let way = if session.paged { "`more`" } else { "`find N …` lists N" };
            let all = units::counted(self.images.len() as u64, "row");
            let note = format!("… {} of {all} that match: {way}", units::grouped(end as u64));
            answer = if self.rows.is_none() { answer.cut(note) } else { answer.note(note) };
        }
        if left > 0 {
            session.more = Some(Box::new(move |session| self.answer(session, None)));
        }
        Ok(answer)
    }
}
