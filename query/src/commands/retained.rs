//! `retained`: what would be freed with a set of objects.

use std::sync::Arc;

use crate::answer::Answer;
use crate::answer::units;
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
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

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let words = arguments.words();
    let (snapshot, objects, retained, is_exact) = match &words[..] {
        [] => return Err(QueryError::usage("retained by what? `retained @123`, `retained type = \"Session\"`")),
        [name] if session.object(name).is_ok() => {
            let (snapshot, object) = session.object(name)?;
            (snapshot, 1, session.heap(snapshot)?.retained_set_of(object, &session.meter())?, true)
        }
        _ => {
            let snapshot = session.snapshot()?;
            let (kinds, expression) = found::kinds_and_expression(session, snapshot, arguments, 0)?;
            let (heap, meter) = (session.heap(snapshot)?, session.meter());
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
    let heap = session.heap(snapshot)?;
    let meter = session.meter();
    let types = heap.type_totals_of(&retained, &meter)?;
    drop(meter);
    session.sets.set_last(Arc::new(retained));
    session.listed.clear();
    let what = format!("would be freed with {}", units::counted(objects, "object"));
    let answer = without::by_type(heap.recording().tables()?, snapshot, &types, &what)?;
    let rows = session.page_rows();
    Ok(more::first_page(session, found::said(answer, is_exact), rows))
}
