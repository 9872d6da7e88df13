//! What classes did in a part of the time.

use crate::classes::Schema;
use crate::memory::class_peaks_within;
use crate::totals::{Sum, cpu_ns};
use crate::tree::{ImageId, ProcessTree, duration};
use crate::window::Window;

use super::Lanes;

/// What a class did in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassUse {
    /// Images that ran in it, for however short a time.
    pub images: u32,
    /// How long they ran while nothing that they had started did, in all lanes together.
    pub running_ns: u64,
    /// An estimate of their processor time in it: of what each used, as much as the part of its time that is in the window.
    pub cpu_ns: Sum,
    /// An estimate of how long they waited for a processor in it, in the same way.
    pub waiting_ns: Sum,
    /// The largest sample of all images of the class together.
    pub peak_bytes: Option<u64>,
}

impl Lanes {
    /// What each class did in a window, by label. Takes time in proportion to the images and samples of the tree.
    #[must_use]
    pub fn classes(&self, tree: &ProcessTree, schema: &Schema, window: Window) -> Vec<ClassUse> {
        let mut found = vec![ClassUse::default(); schema.labels().len()];
        for (id, image) in (0..).map(ImageId).zip(tree.images()) {
            let Some((label, part)) = schema.label(id).zip(window.part_of(tree, image)) else { continue };
            let of = &mut found[label.index()];
            of.images += 1;
            let in_window = |used: Option<u64>| used.map(|used| pro_rata(used, part, tree.wall_ns(image)));
            of.cpu_ns.add(in_window(cpu_ns(image.used.user_ns, image.used.system_ns)));
            of.waiting_ns.add(in_window(image.used.waiting_ns));
        }
        for span in (0..self.len()).flat_map(|lane| self.within(lane, window)) {
            if let Some(label) = schema.label(span.image) {
                let running_ns = &mut found[label.index()].running_ns;
                *running_ns = running_ns.saturating_add(duration(span.began_ns, span.ended_ns));
            }
        }
        for (of, peak) in found.iter_mut().zip(class_peaks_within(tree, schema, window)) {
            of.peak_bytes = peak.map(|(_, bytes)| bytes);
        }
        found
    }
}

/// As much of `used` as `part` is of `whole`, rounded; all of it if that is nothing.
fn pro_rata(used: u64, part: u64, whole: u64) -> u64 {
    if part >= whole {
        return used;
    }
    let share = (u128::from(used) * u128::from(part) + u128::from(whole) / 2) / u128::from(whole);
    u64::try_from(share).unwrap_or(u64::MAX)
}
