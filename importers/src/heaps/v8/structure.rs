//! The strings of a dump that name the structure of the program. They are recorded even without contents.
//!
//! Names and texts are in one list, so the meaning of a string depends on its uses: in an edge that has a name, in a
//! node whose name is not a text, or only in others.

use std::sync::atomic::{AtomicU64, Ordering};

use super::layout::Layout;
use super::nodes::{Edges, Nodes, Unit};
use super::parallel::for_each_unit;
use super::reference::has_name;
use crate::context::Context;
use crate::error::Stop;

/// Returns whether the names of nodes of this type describe the structure of a program: functions, scripts, parts of
/// V8. Those of other types are texts, are unknown, or name the type of the object, which is recorded in any case: an
/// element's type is `<div>`, and its attributes are texts.
pub(crate) fn is_structure(node_type: &str) -> bool {
    matches!(
        node_type,
        "hidden" | "array" | "code" | "closure" | "object shape" | "symbol"
            // Julia's.
            | "jl_task_t" | "jl_module_t" | "jl_array_t" | "jl_datatype_t" | "jl_svec_t"
    )
}

/// A bit for each string of a dump: whether it names structure.
pub(crate) struct StructureNames(Vec<AtomicU64>);

impl StructureNames {
    /// Examines all nodes and edges, on all threads.
    ///
    /// # Errors
    /// Damage of nodes and edges, and if the user cancels.
    pub(crate) fn find(layout: &Layout<'_>, units: &[Unit], context: &Context<'_>) -> Result<Self, Stop> {
        let Layout { meta, nodes, edges, strings, .. } = layout;
        let words = strings.len().div_ceil(64);
        let names = StructureNames(std::iter::repeat_with(AtomicU64::default).take(words).collect());
        let nodes_named: Vec<bool> = meta.nodes.types.iter().map(|name| is_structure(name)).collect();
        let edges_named: Vec<bool> = meta.edges.types.iter().map(|name| has_name(name)).collect();
        for_each_unit(
            context,
            units.len(),
            || Ok(()),
            |(), unit| {
                let unit = &units[unit];
                let mut of_nodes = Nodes::new(nodes, &meta.nodes, unit.first_node);
                let mut of_edges = Edges::new(edges, &meta.edges, unit.first_edge);
                let start = of_edges.offset();
                for _ in 0..unit.nodes {
                    let node = of_nodes.next()?;
                    if is_named(&nodes_named, node.type_) {
                        names.keep(node.name);
                    }
                    for _ in 0..node.edge_count {
                        let edge = of_edges.next()?;
                        if is_named(&edges_named, edge.type_) {
                            names.keep(edge.name_or_index);
                        }
                    }
                }
                context.progress.advance(of_edges.offset().saturating_sub(start));
                Ok(())
            },
            |()| Ok(()),
        )?;
        Ok(names)
    }

    /// Returns whether the string of this number names structure.
    pub(crate) fn contains(&self, string: usize) -> bool {
        self.0.get(string / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (string % 64) & 1 != 0)
    }

    #[inline]
    fn keep(&self, string: u64) {
        let word = usize::try_from(string / 64).ok().and_then(|word| self.0.get(word));
        let Some(word) = word else { return };
        let bit = 1 << (string % 64);
        // Most are set already. Relaxed: read after the threads have ended.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }
}

#[inline]
fn is_named(types: &[bool], type_: u64) -> bool {
    usize::try_from(type_).is_ok_and(|type_| types.get(type_) == Some(&true))
}
