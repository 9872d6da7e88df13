//! The unreadable parts of a log.

use crate::error::{Damage, Stop};

/// Counts the unreadable parts of a log.
#[derive(Debug)]
pub(crate) struct UnreadableParts {
    /// The expected parts, in the singular.
    what: &'static str,
    count: u64,
    bytes: u64,
    /// The offset of the first of them, and its defect.
    first: Option<(u64, String)>,
    /// Set if the log ends inside a part.
    cut: Option<Damage>,
}

impl UnreadableParts {
    /// No parts yet; `what` is the name of a part, in the singular.
    pub(crate) fn new(what: &'static str) -> Self {
        UnreadableParts { what, count: 0, bytes: 0, first: None, cut: None }
    }

    /// Adds an unreadable part.
    pub(crate) fn add(&mut self, offset: usize, bytes: usize, reason: impl FnOnce() -> String) {
        self.count += 1;
        self.bytes += bytes as u64;
        self.first.get_or_insert_with(|| (offset as u64, reason()));
    }

    /// Notes that the log ends inside a part.
    pub(crate) fn ends_inside(&mut self, length: usize, inside: &'static str) {
        self.cut = Some(Damage::Ends { length: length as u64, inside });
    }

    /// Converts the counts to the end of an import.
    pub(crate) fn end(self) -> Result<(), Stop> {
        let UnreadableParts { what, count, bytes, first, cut } = self;
        let left_out = first.map(|(offset, reason)| Damage::LeftOut { what, count, bytes, offset, reason });
        let damage = match (left_out, cut) {
            (Some(left_out), Some(cut)) => Some(left_out.and_ends(cut)),
            (left_out, cut) => left_out.or(cut),
        };
        damage.map_or(Ok(()), |damage| Err(damage.into()))
    }
}
