//! Processes with any choice of attributes, in any order.

use std::sync::Arc;

use barrow_processes::{Attribute, Classes, Expression, ImageId, ImageSet, ProcessTree};

use crate::answer::{Column, Value, table};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::processes;
use crate::error::QueryError;
use crate::language::asked;

use super::{Asked, COMMAND, Key, ListPage, ROW_BYTES};

/// A list that can go on.
#[derive(Clone)]
struct Listing {
    tree: Arc<ProcessTree>,
    classes: Arc<Classes>,
    columns: Arc<[&'static Attribute]>,
    images: Arc<[ImageId]>,
    /// Rows of a page, if given.
    rows: Option<usize>,
    /// Number of rows that were shown.
    shown: usize,
}

/// Lists the processes that match, a row for each program that one executed.
///
/// # Errors
/// A usage error for a column that processes do not have; those of the tree and its classes.
pub(super) fn listed(ask: &Ask, asked: &Asked, expression: &Expression) -> Result<Reply, QueryError> {
    let columns = asked.columns.iter().map(|name| processes::named(name)).collect::<Result<Vec<_>, _>>()?;
    let by = asked.by.as_ref().map(|(name, direction)| Ok::<_, QueryError>((processes::named(name)?, *direction)));
    let by = by.transpose()?;
    let flags = &ask.arguments.flags;
    let (tree, set) = asked::select(ask, expression, flags)?;
    let classes = asked::classes(ask, &tree, expression, flags)?;
    let notes = asked::notes(ask, expression, flags)?;
    let mut images: Vec<ImageId> = set.iter().collect();
    if let Some((attribute, direction)) = by {
        let keys = processes::cells(attribute, &tree, &classes, set.iter()).into_iter().map(Key::of_cell);
        let mut keyed: Vec<(Key, ImageId)> = keys.zip(images).collect();
        // Equal ones stay in the order in which they began.
        keyed.sort_by(|(one, _), (other, _)| one.order(other, direction));
        images = keyed.into_iter().map(|(_, image)| image).collect();
    }
    let (columns, images) = (columns.into(), images.into());
    let listing = Listing { tree, classes, columns, images, rows: asked.rows, shown: 0 };
    Ok(listing.answer(ask, Some(set))?.map(|answer| notes.on(answer)))
}

impl Listing {
    /// The next page. `all` are those that match, in the first page.
    fn answer(mut self, ask: &Ask, all: Option<Arc<ImageSet>>) -> Result<Reply, QueryError> {
        let page = ListPage::next(ask, self.rows, self.shown, self.images.len());
        let images = &self.images[page.rows.clone()];
        ask.context.require_rows_of(images.len(), ROW_BYTES + super::CELL_BYTES * self.columns.len() as u64)?;
        let is_named = !self.columns.iter().any(|column| column.key() == NAME);
        let cells_of =
            |column: &&'static Attribute| processes::cells(column, &self.tree, &self.classes, images.iter().copied());
        let cells: Vec<Vec<Value>> = self.columns.iter().map(cells_of).collect();
        let columns = self.columns.iter().map(|column| processes::column(column).secondary());
        let table = table!("rows", images.iter().enumerate(), |(at, &id)| {
            ask.context.check()?;
            Column::row_number() => ask.row_number(ask.listed_before() + 1 + at),
            ..is_named.then(|| Column::process(NAME))
                => is_named.then(|| Value::Text(self.tree.name(self.tree.image(id).process))),
            ..columns => cells.iter().map(|column| column[at].clone()),
        });
        let mut reply = page.of_processes(ask, &self.tree, table, images, COMMAND.name);
        self.shown = page.rows.end;
        if let Some(all) = all {
            reply = reply.with_last_images(all);
        }
        Ok(if page.has_more() { reply.with_more(move |ask| self.clone().answer(ask, None)) } else { reply })
    }
}

/// The column that names the process of a row.
const NAME: &str = "process";
