//! Processes that match an expression, in the order in which they began, or those with most first.

use std::sync::Arc;

use barrow_processes::{Amounts, Classes, Expression, ImageId, ImageSet, ProcessTree};

use crate::answer::units;
use crate::answer::{Answer, Column, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::command::Command;
use crate::error::QueryError;
use crate::language::asked;
use crate::session::listed::Listed;
use crate::tables::process_rows::Rows;
use crate::tables::unit_labels::UnitLabels;

/// Images that match, of which the first are shown.
#[derive(Clone)]
pub(crate) struct Found {
    command: &'static Command,
    tree: Arc<ProcessTree>,
    classes: Arc<Classes>,
    units: Arc<UnitLabels>,
    by: Option<Arc<Amounts>>,
    /// In their order.
    images: Arc<[ImageId]>,
    shown: usize,
    /// Rows of a page, if given.
    rows: Option<usize>,
}

/// Looks for the processes that match; `by` names what ranks them.
///
/// # Errors
/// A usage error if there is no such order; those of the tree and its classes.
pub(crate) fn found(
    ask: &Ask,
    command: &'static Command,
    expression: &Expression,
    by: Option<&str>,
    rows: Option<usize>,
) -> Result<Reply, QueryError> {
    let flags = &ask.arguments.flags;
    let (tree, set) = asked::select(ask, expression, flags)?;
    let by = by.map(|name| Amounts::named(name, &tree).ok_or_else(|| no_order(name))).transpose()?;
    let images = by.as_ref().map_or_else(|| set.iter().collect(), |by| by.ranked(&tree, &set));
    let classes = asked::classes(ask, &tree, expression, flags)?;
    let notes = asked::notes(ask, expression, flags)?;
    let units = Arc::new(ask.unit_labels(flags)?);
    let (by, images) = (by.map(Arc::new), images.into());
    let found = Found { command, tree, classes, units, by, images, shown: 0, rows };
    Ok(found.answer(ask, Some(set))?.map(|answer| answer.lines(notes)))
}

fn no_order(name: &str) -> QueryError {
    let orders: Vec<&str> = Amounts::names().collect();
    QueryError::usage(format!("processes have no order `{name}`; there are {}", orders.join(", ")))
}

impl Found {
    /// The next page. `all` are those that match, in the first page.
    fn answer(mut self, ask: &Ask, all: Option<Arc<ImageSet>>) -> Result<Reply, QueryError> {
        let is_whole = ask.view.is_whole && self.rows.is_none();
        let skip = ask.view.skip.filter(|_| is_whole);
        if let Some(skip) = skip {
            self.shown = usize::try_from(skip).unwrap_or(usize::MAX).min(self.images.len());
        }
        let piece = if is_whole { ask.view.piece } else { ask.ranking_rows(self.rows) };
        let end = self.images.len().min(self.shown.saturating_add(piece));
        let page = &self.images[self.shown..end];
        let first = ask.listed_before() + 1;
        let number = |at| ask.row_number(first + at);
        let rows = Rows { tree: &self.tree, classes: &self.classes, units: &self.units, by: self.by.as_deref() };
        let table = rows.table(&ask.context, page, number)?;
        let listed = Listed::of_images(page.iter().copied());
        let last = if is_whole {
            all
        } else {
            let before = &ask.listed.images()[..ask.listed_before()];
            Some(Arc::new(before.iter().chain(page).copied().collect()))
        };
        self.shown = end;
        let left = self.images.len() - end;
        let complete = Column::text("complete").for_machines();
        let mut answer = Answer::default().fact(complete, Value::Flag(left == 0 || is_whole)).table(table).exact();
        answer.goes_on = is_whole && left > 0;
        answer.all_rows = Some(self.images.len() as u64).filter(|_| is_whole);
        if self.images.is_empty() {
            answer = answer.note("no process matches");
        } else if left > 0 && !is_whole {
            let verb = self.command.name;
            let way = if ask.view.is_paged { "`more`".to_owned() } else { format!("`{verb} N …` lists N") };
            let all = units::counted(self.images.len() as u64, "row");
            let note = format!("… {} of {all} that match: {way}", units::grouped(end as u64));
            answer = if self.rows.is_none() { answer.cut(note) } else { answer.note(note) };
        }
        let mut reply = Reply::from(answer).listing_page(ask, listed).skipping(skip.is_some());
        if let Some(last) = last {
            reply = reply.with_last_images(last);
        }
        Ok(if left > 0 { reply.with_more(move |ask| self.clone().answer(ask, None)) } else { reply })
    }
}
