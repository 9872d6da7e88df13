//! `retained`: what would be freed with a set of objects.

use std::sync::Arc;

use crate::tables::found;

use super::{more, prelude::*, without};

pub(super) const COMMAND: Command = Command {
    arguments: "ID | [KIND] EXPR",
    example: "retained type = \"Session\"",
    completion: Completion::Expressions,
    ..Command::new("retained", include_str!("../../verbs/retained.md"), Group::Alive, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let mut asked = None;
    let (snapshot, objects, retained, is_exact) = match &words[..] {
        [] => return Err(QueryError::usage("retained by what? `retained @123`, `retained type = \"Session\"`")),
        [name] if !ask.names_group(name) && ask.object(name).is_ok() => {
            let (snapshot, object) = ask.object(name)?;
            (snapshot, 1, ask.heap(snapshot)?.retained_set_of(object, &ask.meter())?, true)
        }
        _ => {
            let snapshot = ask.snapshot()?;
            let (kinds, expression) = found::kinds_and_expression(ask, snapshot, &ask.arguments, 0)?;
            let (heap, meter) = (ask.heap(snapshot)?, ask.meter());
            let (set, _) = heap.select(&kinds, &expression, &meter)?;
            let is_exact = heap.matches_exactly(&expression, &meter)?;
            // The exact number takes a search.
            if meter.watcher().shows_bounds()
                && let Ok(Some(bytes)) = heap.known_to_be_dominated(&set, &meter)
            {
                meter.watcher().bound(&format!("≥ {}", units::size(bytes)), "what single objects dominate");
            }
            let retained = heap.retained_set(&set, &meter)?;
            asked = Some((kinds, expression));
            (snapshot, set.len(), retained, is_exact)
        }
    };
    let heap = ask.heap(snapshot)?;
    let types = heap.type_totals_of(&retained, &ask.meter())?;
    let what = format!("would be freed with {}", units::counted(objects, "object"));
    let answer = without::by_type(heap.recording().tables()?, snapshot, types, &what);
    let mut answer = found::said(answer, is_exact);
    if let Some((kinds, expression)) = &asked {
        answer = found::with_gaps(answer, ask, found::Wanted { snapshot, kinds, expression })?;
    }
    let reply = more::first_page(ask, answer, ask.page_rows());
    Ok(reply.with_last(Arc::new(retained)))
}
