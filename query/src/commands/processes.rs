//! `processes`: the images that used most.

use std::cmp::Reverse;
use std::sync::Arc;

use barrow_processes::{Classes, Image, ImageId, ProcessTree, cpu_ns};

use crate::answer::{Answer, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::language::asked;
use crate::language::request::Request;
use crate::session::listed::Listed;
use crate::tables::process_rows::Rows;
use crate::tables::unit_labels::UnitLabels;

use super::find;
use super::{Command, Completion, Group};

pub(super) const COMMAND: Command = Command {
    aliases: &["ps"],
    arguments: "[N] [EXPR] [by cpu|waiting|wall|memory|reads|writes|start|ATTRIBUTE] [--classes FILE]",
    example: "processes 5 by memory",
    flags: &["--classes"],
    completion: Completion::Expressions,
    ..Command::new("processes", include_str!("../../verbs/processes.md"), Group::Processes, run)
};

/// A number that ranks images; `None` if it is not known.
type Order = fn(&ProcessTree, &Image) -> Option<u64>;

const ORDERS: [(&str, Order); 7] = [
    ("cpu", |_, image| cpu_ns(image.used.user_ns, image.used.system_ns)),
    ("wall", |tree, image| Some(tree.wall_ns(image))),
    ("waiting", |_, image| image.used.waiting_ns),
    ("memory", |_, image| image.used.peak_bytes),
    ("reads", |_, image| image.used.read_bytes),
    ("writes", |_, image| image.used.written_bytes),
    // The first one has most.
    ("start", |_, image| Some(u64::MAX - (i128::from(image.began_ns) - i128::from(i64::MIN)) as u64)),
];

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let request = Request::of(&ask.arguments);
    let expression = asked::asked_processes(ask, &request.rest)?;
    let order = match &request.by[..] {
        [] => ORDERS[0].1,
        [word] => match ORDERS.into_iter().find(|(name, _)| !word.is_empty() && name.starts_with(word.as_str())) {
            Some((_, order)) => order,
            None => return find::found_processes(ask, &COMMAND, &expression, Some(word), request.rows),
        },
        [_, word, ..] => return Err(COMMAND.refuses(&format!("by {word}"))),
    };
    let (tree, wanted) = asked::select(ask, &expression, &ask.arguments.flags)?;
    let classes = ask.classes_in(&ask.arguments.flags, None)?;
    let mut ranked: Vec<(Option<u64>, Reverse<ImageId>)> =
        wanted.iter().map(|id| (order(&tree, tree.image(id)), Reverse(id))).collect();
    let known = ranked.len();
    let rows = request.rows.unwrap_or(if ask.view.is_whole { usize::MAX } else { ask.ranking_rows(None) });
    // Only what is shown is sorted; further pages sort the rest.
    if request.rows.is_some() && rows < known {
        ranked.select_nth_unstable_by(rows, |one, other| other.cmp(one));
        ranked.truncate(rows);
    }
    ranked.sort_unstable_by(|one, other| other.cmp(one));
    let images: Vec<ImageId> = ranked.into_iter().map(|(_, Reverse(id))| id).collect();
    let piece = if request.rows.is_some() { usize::MAX } else { rows };
    let (units, images) = (Arc::new(ask.unit_labels(&ask.arguments.flags)?), images.into());
    Listing { tree, classes, units, images, shown: 0, piece }.answer(ask)
}

/// The images in their order, of which the first were shown.
#[derive(Clone)]
struct Listing {
    tree: Arc<ProcessTree>,
    classes: Arc<Classes>,
    units: Arc<UnitLabels>,
    images: Arc<[ImageId]>,
    shown: usize,
    /// Rows of a page.
    piece: usize,
}

impl Listing {
    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let is_whole = ask.view.is_whole;
        let skip = ask.view.skip.filter(|_| is_whole);
        if let Some(skip) = skip {
            self.shown = usize::try_from(skip).unwrap_or(usize::MAX).min(self.images.len());
        }
        let piece = if is_whole { ask.view.piece } else { self.piece };
        let end = self.images.len().min(self.shown.saturating_add(piece));
        let page = &self.images[self.shown..end];
        let first = ask.listed_before() + 1;
        let rows = Rows { tree: &self.tree, classes: &self.classes, units: &self.units, by: None };
        let table = rows.table(&ask.context, page, |at| ask.row_number(first + at))?;
        let listed = Listed::of_images(page.iter().copied());
        self.shown = end;
        let left = (self.images.len() - end) as u64;
        let mut answer = Answer::default().table(table);
        answer.all_rows = is_whole.then_some(self.images.len() as u64);
        answer.goes_on = is_whole && left > 0;
        if left > 0 && !is_whole {
            let way = if ask.view.is_paged { "`more`" } else { "`processes N` lists N" };
            answer = answer.cut(format!("… {}: {way}", units::counted(left, "more row")));
        }
        let reply = Reply::from(answer.exact()).listing_page(ask, listed).skipping(skip.is_some());
        Ok(if left > 0 { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }
}
