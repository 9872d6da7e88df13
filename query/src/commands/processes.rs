//! `processes`: the images that used most.

use std::cmp::Reverse;
use std::sync::Arc;

use barrow_processes::{Amounts, Attribute, Classes, ImageId, ProcessTree};

use crate::answer::{Answer, Column, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::processes;
use crate::error::QueryError;
use crate::language::asked;
use crate::language::request::Request;
use crate::session::listed::Listed;
use crate::tables::known_in_part;
use crate::tables::process_rows::Rows;
use crate::tables::unit_labels::UnitLabels;

use super::{Command, Completion, Content, Group};

pub(super) const COMMAND: Command = Command {
    aliases: &["ps"],
    arguments: "[N] [EXPR] [by cpu|waiting|wall|memory|reads|writes|start|ATTRIBUTE] [--classes FILE]",
    example: "processes 5 by memory",
    flags: &["--classes"],
    completion: Completion::Expressions,
    orders,
    ..Command::new("processes", include_str!("../../verbs/processes.md"), Group::Processes, run)
};

/// The word for the order in which processes began, which `by began` turns around.
const START: &str = "start";
/// The order if none is asked for.
const USUAL: &str = "cpu";

/// The order of rows.
#[derive(Clone)]
enum Order {
    /// That in which they began.
    Start,
    /// The largest number first.
    Amount(Arc<Amounts>),
}

impl Order {
    /// The order that `word` names, or begins to name.
    fn named(word: &str, tree: &ProcessTree) -> Result<Self, QueryError> {
        if !word.is_empty() && START.starts_with(word) {
            return Ok(Order::Start);
        }
        let attribute = processes::ranking(word)?;
        Ok(Amounts::of_attribute(attribute, tree).map_or(Order::Start, |amounts| Order::Amount(Arc::new(amounts))))
    }

    /// The place of an image among others, the last one first; unknown numbers come last.
    fn rank(&self, tree: &ProcessTree, id: ImageId) -> Option<u64> {
        match self {
            Order::Start => Some(u64::MAX - (i128::from(tree.image(id).began_ns) - i128::from(i64::MIN)) as u64),
            Order::Amount(amounts) => amounts.of(tree, id),
        }
    }
}

/// What may follow `by`.
fn orders(_: &[Content]) -> Vec<&'static str> {
    processes::words(Attribute::ranks).into_iter().chain([START]).collect()
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let request = Request::of(&ask.arguments);
    let expression = asked::asked_processes(ask, &request.rest)?;
    let by = match &request.by[..] {
        [] => USUAL,
        [word] => word,
        [_, word, ..] => return Err(COMMAND.refuses(&format!("by {word}"))),
    };
    let (tree, wanted) = asked::select(ask, &expression, &ask.arguments.flags)?;
    let order = Order::named(by, &tree)?;
    let classes = ask.classes_in(&ask.arguments.flags, None)?;
    let mut ranked: Vec<(Option<u64>, Reverse<ImageId>)> =
        wanted.iter().map(|id| (order.rank(&tree, id), Reverse(id))).collect();
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
    let notes = asked::notes(ask, &expression, &ask.arguments.flags)?;
    let reply = Listing { tree, classes, units, order, images, shown: 0, piece }.answer(ask)?;
    Ok(reply.map(|answer| notes.on(answer)))
}

/// The images in their order, of which the first were shown.
#[derive(Clone)]
struct Listing {
    tree: Arc<ProcessTree>,
    classes: Arc<Classes>,
    units: Arc<UnitLabels>,
    order: Order,
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
        let by = if let Order::Amount(amounts) = &self.order { Some(&**amounts) } else { None };
        let rows = Rows { tree: &self.tree, classes: &self.classes, units: &self.units, by };
        let table = rows.table(&ask.context, page, |at| ask.row_number(first + at))?;
        let listed = Listed::of_images(page.iter().copied());
        self.shown = end;
        let left = (self.images.len() - end) as u64;
        let mut answer = Answer::default().table(table);
        answer = answer.fact(Column::text("complete").for_machines(), left == 0 || is_whole);
        answer.all_rows = is_whole.then_some(self.images.len() as u64);
        answer.goes_on = is_whole && left > 0;
        if left > 0 && !is_whole {
            let way = if ask.view.is_paged { "`more`" } else { "`processes N` lists N" };
            answer = answer.cut(format!("… {}: {way}", units::counted(left, "more row")));
        }
        let answer = known_in_part::rows_of(answer, &self.tree, page);
        let reply = Reply::from(answer).listing_page(ask, listed).skipping(skip.is_some());
        Ok(if left > 0 { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }
}
