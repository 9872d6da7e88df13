//! Processes that match an expression, in the order in which they began, or those with most first.

use std::sync::Arc;

use barrow_processes::{Amounts, Classes, Expression, ImageId, ImageSet, ProcessTree};

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::processes;
use crate::error::QueryError;
use crate::language::asked;
use crate::tables::process_rows::Rows;
use crate::tables::unit_labels::UnitLabels;

use super::COMMAND;
use super::page::ListPage;

/// Images that match, of which the first are shown.
#[derive(Clone)]
struct Found {
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

/// Finds the processes that match; `by` names the amount that ranks them.
///
/// # Errors
/// A usage error if there is no such order; those of the tree and its classes.
pub(super) fn found(
    ask: &Ask,
    expression: &Expression,
    by: Option<&str>,
    rows: Option<usize>,
) -> Result<Reply, QueryError> {
    let flags = &ask.arguments.flags;
    let (tree, set) = asked::select(ask, expression, flags)?;
    let by = by.map(processes::ranking).transpose()?;
    let by = by.and_then(|attribute| Amounts::of_attribute(attribute, &tree));
    let images = by.as_ref().map_or_else(|| set.iter().collect(), |by| by.ranked(&tree, &set));
    let classes = asked::classes(ask, &tree, expression, flags)?;
    let notes = asked::notes(ask, expression, flags)?;
    let units = Arc::new(ask.unit_labels(flags)?);
    let (by, images) = (by.map(Arc::new), images.into());
    let found = Found { tree, classes, units, by, images, shown: 0, rows };
    Ok(found.answer(ask, Some(set))?.map(|answer| notes.on(answer)))
}

impl Found {
    /// The next page. `all` are those that match, in the first page.
    fn answer(mut self, ask: &Ask, all: Option<Arc<ImageSet>>) -> Result<Reply, QueryError> {
        let page = ListPage::next(ask, self.rows, self.shown, self.images.len());
        let images = &self.images[page.rows.clone()];
        let first = ask.listed_before() + 1;
        let rows = Rows { tree: &self.tree, classes: &self.classes, units: &self.units, by: self.by.as_deref() };
        let table = rows.table(&ask.context, images, |at| ask.row_number(first + at))?;
        let last = if page.is_whole {
            all
        } else {
            let before = &ask.listed.images()[..ask.listed_before()];
            Some(Arc::new(before.iter().chain(images).copied().collect()))
        };
        let mut reply = page.of_processes(ask, &self.tree, table, images, COMMAND.name);
        self.shown = page.rows.end;
        if let Some(last) = last {
            reply = reply.with_last_images(last);
        }
        Ok(if page.has_more() { reply.with_more(move |ask| self.clone().answer(ask, None)) } else { reply })
    }
}
