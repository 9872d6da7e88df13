//! The objects of which the last question did not know whether they match. A command asks for them after it has selected the
//! objects that do, and finding them takes the same columns.

use parking_lot::Mutex;

use crate::graph::object_set::ObjectSet;

/// The doubts about one expression.
#[derive(Debug, Clone)]
pub(crate) struct KnownDoubts {
    /// The expression and its kinds, with all that they mean.
    pub(crate) of: String,
    pub(crate) objects: ObjectSet,
    /// The number of these objects, their shallow bytes and their unmanaged bytes.
    pub(crate) totals: [u64; 3],
    /// What is not known of them, as it is typed.
    pub(crate) about: Vec<String>,
}

/// The doubts of the last question, if there was one.
#[derive(Debug, Default)]
pub(crate) struct LastDoubts(Mutex<Option<KnownDoubts>>);

impl LastDoubts {
    /// Remembers doubts instead of those before.
    pub(crate) fn remember(&self, doubts: KnownDoubts) {
        *self.0.lock() = Some(doubts);
    }

    /// The doubts about an expression, if the last ones were about it.
    pub(crate) fn about(&self, of: &str) -> Option<KnownDoubts> {
        self.0.lock().as_ref().filter(|known| known.of == of).cloned()
    }
}
