//! Serials that are assigned to objects whose runtime gives none.

/// Assigns serials.
#[derive(Debug, Default)]
pub struct Serials {
    /// The largest serial assigned so far.
    last: u64,
}

impl Serials {
    /// Continues after the serial `last`.
    pub(crate) fn after(last: u64) -> Self {
        Serials { last }
    }

    /// The largest serial assigned so far.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// The serials of the partners, and new serials for objects without a partner. `partners` holds for each object its
    /// partner in the previous snapshot, or [`NO_OBJECT`](crate::raw::NO_OBJECT); `serials_before` are the serials of
    /// that snapshot.
    pub fn inherit(&mut self, partners: &[u32], serials_before: &[u64]) -> Vec<u64> {
        let serials = partners.iter().map(|&partner| {
            serials_before.get(partner as usize).copied().unwrap_or_else(|| {
                self.last += 1;
                self.last
            })
        });
        serials.collect()
    }
}
