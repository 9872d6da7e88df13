//! `retained`: what would be freed with a set of objects.

use std::sync::Arc;

use crate::answer::units;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::found;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more, without};

pub(super) const COMMAND: Command = Command {
    name: "retained",
    aliases: &[],
    group: Group::Alive,
    arguments: "ID | [KIND] EXPR",
    about: "The retained set of objects: everything that would be freed with them",
    details: "This is exactly what the roots reach now, and would not reach without any of these objects. For several \
              objects it includes what they only hold together. Afterwards `$_` is the set.",
    example: "retained type = \"Session\"",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Expressions,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let (snapshot, objects, retained, is_exact) = match &words[..] {
        [] => return Err(QueryError::usage("retained by what? `retained @123`, `retained type = \"Session\"`")),
        [name] if ask.object(name).is_ok() => {
            let (snapshot, object) = ask.object(name)?;
            (snapshot, 1, ask.heap(snapshot)?.retained_set_of(object, &ask.meter())?, true)
        }
        _ => {
            let snapshot = ask.snapshot()?;
            let (kinds, expression) = found::kinds_and_expression(ask, snapshot, &ask.arguments, 0)?;
            let (heap, meter) = (ask.heap(snapshot)?, ask.meter());
            let (set, _) = heap.select(&kinds, &expression, &meter)?;
            let is_exact = heap.matches_exactly(&expression, &meter)?;
            // What they hold together takes a search.
            if meter.watcher().shows_bounds()
                && let Ok(Some(bytes)) = heap.known_to_be_dominated(&set, &meter)
            {
                meter.watcher().bound(&format!("≥ {}", units::size(bytes)), "what single objects dominate");
            }
            (snapshot, set.len(), heap.retained_set(&set, &meter)?, is_exact)
        }
    };
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let types = heap.type_totals_of(&retained, &meter)?;
    drop(meter);
    let what = format!("would be freed with {}", units::counted(objects, "object"));
    let answer = without::by_type(heap.recording().tables()?, snapshot, &types, &what)?;
    let reply = more::first_page(ask, found::said(answer, is_exact), ask.page_rows());
    Ok(reply.with_last(Arc::new(retained)))
}
