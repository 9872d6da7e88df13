//! What is thought away: `without EXPR`, `without references NAME [from EXPR]`.

use barrow_analyzer::{Cut, Heap, ObjectSet, Without};

use crate::error::ReplError;
use crate::found;
use crate::session::{Arguments, Session};

/// A heap without what the words of `without` describe, besides what it is without already.
///
/// # Errors
/// A usage error that points at its place in the words; those of the analyzer.
pub(crate) fn applied(session: &Session, heap: &Heap, text: &str) -> Result<Heap, ReplError> {
    let arguments = Arguments::of_text(text)?;
    let words = arguments.words();
    let meter = session.meter();
    let is_cut = words.first().is_some_and(|word| matches!(word.as_str(), "references" | "reference"));
    if !is_cut {
        let (kinds, expression) = found::kinds_and_expression(session, heap.snapshot(), &arguments, 0)?;
        let (removed, _) = heap.select(&kinds, &expression, &meter)?;
        return Ok(heap.without(Without::new(heap, &removed, None, &meter)?));
    }
    let form = || ReplError::usage("which references? `without references cache`, or `… from type = \"Session\"`");
    let sources = match words.get(2).map(String::as_str) {
        None => None,
        Some("from") => {
            let (kinds, expression) = found::kinds_and_expression(session, heap.snapshot(), &arguments, 3)?;
            Some(heap.select(&kinds, &expression, &meter)?.0)
        }
        Some(_) => return Err(form()),
    };
    let name = words.get(1).ok_or_else(form)?;
    let cut = Cut::named(heap.recording().tables()?, name, sources).map_err(|error| ReplError::usage(error.message))?;
    let nothing = ObjectSet::new(heap.snapshot(), heap.object_count());
    Ok(heap.without(Without::new(heap, &nothing, Some(cut), &meter)?))
}
