//! A hub: one object that all others refer to.

use barrow_writer::{Snapshot, Writer, WriterError};

use super::Shape;
use super::announcer::Announcer;

/// An array, the root, refers to all objects except the last. Each of them refers to the last object, the hub.
#[derive(Debug, Clone, Copy)]
pub struct Hub {
    /// The number of objects, including the array and the hub; at least two.
    pub objects: u64,
}

impl Shape for Hub {
    fn announce(&self, writer: &Writer, snapshot: &Snapshot<'_>) -> Result<(), WriterError> {
        let hub = self.objects.saturating_sub(1);
        let mut announcer = Announcer::begin(writer, snapshot, ["hub"])?;
        announcer.root(0)?;
        announcer.array(hub.saturating_sub(1), 1..hub)?;
        for _ in 1..hub {
            announcer.node([hub])?;
        }
        announcer.node([])?;
        announcer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::tests::written;

    #[test]
    fn all_paths_lead_to_the_hub() {
        let hub = written(&Hub { objects: 1000 });
        assert_eq!((hub.totals.objects, hub.totals.references), (1000, 2 * 998));
        assert_eq!(hub.roots, [0]);
        assert_eq!(hub.targets(0), (1..999).collect::<Vec<u32>>());
        assert!((1..999).all(|object| hub.targets(object) == [999]));
        assert_eq!(hub.targets(999), []);
    }
}
