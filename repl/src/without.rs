//! What is thought away: `without EXPR`, `without references NAME [from EXPR]`.

use barrow_analyzer::{Cut, Exclusion, Expression, Heap, KindId, ObjectSet, SnapshotId};

use crate::error::ReplError;
use crate::found;
use crate::progress::Meter;
use crate::session::{Arguments, Session};

/// What one `without` thinks away. Sets and rows in it are those that were meant when it was typed.
#[derive(Debug)]
pub(crate) struct Removal {
    /// As it was typed, but for rows.
    text: String,
    what: What,
}

#[derive(Debug)]
enum What {
    Objects(Objects),
    References { name: String, from: Option<Objects> },
}

/// Objects of some kinds, or of any, that match an expression.
#[derive(Debug)]
struct Objects {
    kinds: Vec<KindId>,
    expression: Expression,
}

impl Removal {
    /// Reads the words behind `without`.
    ///
    /// # Errors
    /// A usage error that points at its place in the words.
    pub(crate) fn parse(session: &Session, snapshot: SnapshotId, text: &str) -> Result<Self, ReplError> {
        let arguments = Arguments::of_text(text)?;
        let words = arguments.words();
        let objects = |first| {
            let (kinds, expression) = found::kinds_and_expression(session, snapshot, &arguments, first)?;
            Ok::<_, ReplError>(Objects { kinds, expression })
        };
        // Another object may be in that row later.
        let lasting = |word: &str| match session.object(word) {
            Ok((_, object)) => format!("@{object}"),
            Err(_) => word.to_owned(),
        };
        let text: Vec<String> =
            text.split(' ').map(|word| if word.starts_with('%') { lasting(word) } else { word.to_owned() }).collect();
        let text = text.join(" ");
        if !words.first().is_some_and(|word| matches!(word.as_str(), "references" | "reference")) {
            return Ok(Removal { text, what: What::Objects(objects(0)?) });
        }
        let form = || ReplError::usage("which references? `without references cache`, or `… from type = \"Session\"`");
        let from = match words.get(2).map(String::as_str) {
            None => None,
            Some("from") => Some(objects(3)?),
            Some(_) => return Err(form()),
        };
        let name = words.get(1).ok_or_else(form)?.clone();
        Ok(Removal { text, what: What::References { name, from } })
    }

    /// What it is, in the words of `without`.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// A heap without it, besides what that is without already.
    ///
    /// # Errors
    /// Those of the analyzer: it may name objects of one snapshot only.
    pub(crate) fn applied(&self, heap: &Heap, meter: &Meter) -> Result<Heap, ReplError> {
        let select = |objects: &Objects| heap.select(&objects.kinds, &objects.expression, meter);
        let (removed, cut) = match &self.what {
            What::Objects(objects) => (select(objects)?.0, None),
            What::References { name, from } => {
                let sources = from.as_ref().map(select).transpose()?.map(|(set, _)| set);
                let cut = Cut::named(heap.recording().tables()?, name, sources);
                let cut = cut.map_err(|error| ReplError::usage(error.message))?;
                (ObjectSet::new(heap.snapshot(), heap.object_count()), Some(cut))
            }
        };
        Ok(heap.excluding(Exclusion::new(heap, &removed, cut, meter)?))
    }

    /// Whether it is exact what it thinks away: not if retained sizes that are lower bounds decide.
    ///
    /// # Errors
    /// Those of [`Heap::matches_exactly`].
    pub(crate) fn is_exact(&self, heap: &Heap, meter: &Meter) -> Result<bool, ReplError> {
        match &self.what {
            What::Objects(objects) | What::References { from: Some(objects), .. } => {
                Ok(heap.matches_exactly(&objects.expression, meter)?)
            }
            What::References { from: None, .. } => Ok(true),
        }
    }
}
