//! A part of the time of a tree.

use crate::tree::{Image, ProcessTree, duration};

/// A part of the time of a recording, in nanoseconds since it began. It includes its first moment, not its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its start.
    pub from_ns: i64,
    /// Its end, not before the start.
    pub to_ns: i64,
}

impl Window {
    /// All that was recorded.
    #[must_use]
    pub fn of(tree: &ProcessTree) -> Self {
        let (from_ns, to_ns) = tree.span_ns();
        Window { from_ns, to_ns }
    }

    /// Its length in nanoseconds.
    #[must_use]
    pub fn length_ns(self) -> u64 {
        duration(self.from_ns, self.to_ns)
    }

    /// Whether it contains a sample of memory; one at its very end counts.
    #[must_use]
    pub fn has_sample(self, time_ns: i64) -> bool {
        (self.from_ns..=self.to_ns).contains(&time_ns)
    }

    /// The part of an image's time that is in it; `None` if the image did not run in it. An image that took no time is in
    /// it if its moment is.
    #[must_use]
    pub fn part_of(self, tree: &ProcessTree, image: &Image) -> Option<u64> {
        let end = image.ended_ns.unwrap_or(tree.span_ns().1);
        let part = duration(image.began_ns.max(self.from_ns), end.min(self.to_ns));
        let is_moment = end <= image.began_ns && self.has_sample(image.began_ns);
        (part > 0 || is_moment).then_some(part)
    }
}
