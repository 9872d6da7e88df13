//! A random graph: references have no locality.

use barrow_statistics::Random;
use barrow_writer::{Snapshot, Writer, WriterError};

use super::Shape;
use super::announcer::Announcer;

/// Every object refers to the same number of random objects; object 0 is the root.
///
/// With four references, 98 % of the objects are reachable, nearly all of them along many paths.
#[derive(Debug, Clone, Copy)]
pub struct RandomGraph {
    /// The number of objects.
    pub objects: u64,
    /// The number of references of each object.
    pub references: u64,
    /// The seed; the same seed gives the same graph.
    pub seed: u64,
}

impl Shape for RandomGraph {
    fn announce(&self, writer: &Writer, snapshot: &Snapshot<'_>) -> Result<(), WriterError> {
        let mut random = Random::new(self.seed);
        let fields: Vec<String> = (0..self.references).map(|number| format!("field{number}")).collect();
        let mut announcer = Announcer::begin(writer, snapshot, fields.iter().map(String::as_str))?;
        announcer.root(0)?;
        for _ in 0..self.objects {
            announcer.node(std::iter::repeat_with(|| random.below(self.objects)))?;
        }
        announcer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::tests::written;

    #[test]
    fn references_lead_everywhere() {
        let shape = RandomGraph { objects: 1000, references: 4, seed: 1 };
        let graph = written(&shape);
        assert_eq!((graph.totals.objects, graph.totals.references), (1000, 4000));
        assert_eq!(graph.roots, [0]);
        assert!(graph.heap.nodes.iter().all(|node| node.edges.len() == 4));
        let far = |object: u32| graph.targets(object).iter().filter(|target| target.abs_diff(object) > 100).count();
        let far: usize = (0..1000).map(far).sum();
        // Of all pairs, 81 % are that far apart.
        assert!((3000..3500).contains(&far), "{far}");
        assert_eq!(written(&shape).heap, graph.heap, "the same seed");
        assert_ne!(written(&RandomGraph { seed: 2, ..shape }).heap, graph.heap, "another seed");
    }
}
