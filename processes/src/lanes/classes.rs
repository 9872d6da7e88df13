//! The use of resources by class in a part of the time.

use crate::classes::Schema;
use crate::memory::class_peaks_within;
use crate::totals::{Sum, cpu_ns};
use crate::tree::{ImageId, ProcessTree, duration};
use crate::window::Window;

use super::Lanes;

/// Resource use of a class in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassUse {
    /// Number of images that ran in it, however briefly.
    pub images: u32,
    /// Time they ran while no process they had started did, summed over all lanes.
    pub running_ns: u64,
    /// Estimated processor time in it: of the total of each image, the share of its time that is in the window.
    pub cpu_ns: Sum,
    /// Estimated time they waited for a processor in it, in the same way.
    pub waiting_ns: Sum,
    /// The largest sample of all images of the class together.
    pub peak_bytes: Option<u64>,
}

impl Lanes {
    /// Resource use of each class in a window, by label. Takes time linear in the images and samples of the tree.
    #[must_use]
    pub fn classes(&self, tree: &ProcessTree, schema: &Schema, window: Window) -> Vec<ClassUse> {
        let mut found = vec![ClassUse::default(); schema.labels().len()];
        for (id, image) in (0..).map(ImageId).zip(tree.images()) {
            let Some((label, part)) = schema.label(id).zip(window.part_of(tree, image)) else { continue };
            let of = &mut found[label.index()];
            of.images += 1;
            let wall_ns = tree.wall_ns(image);
            let cpu_ns = cpu_ns(image.used.user_ns, image.used.system_ns);
            of.cpu_ns.add(cpu_ns.map(|used| pro_rata(used, part, wall_ns)));
            of.waiting_ns.add(image.used.waiting_ns.map(|used| pro_rata(used, part, wall_ns)));
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

/// The share `part / whole` of `used`, rounded; all of it if `whole` is 0.
fn pro_rata(used: u64, part: u64, whole: u64) -> u64 {
    if part >= whole {
        return used;
    }
    let share = (u128::from(used) * u128::from(part) + u128::from(whole) / 2) / u128::from(whole);
    u64::try_from(share).unwrap_or(u64::MAX)
}
