//! Counts the objects of a dump by type, without strings that name no type and without announcing anything.
//!
//! Nodes and edges are read as in an import, so that the same damage ends both.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::detached::Detached;
use super::ephemerons::WeakMapNodes;
use super::layout::Layout;
use super::locations::Locations;
use super::meta::UNNAMED;
use super::nodes::{Edge, Edges, Nodes, Unit, divide};
use super::parallel::for_each_unit;
use super::reference::has_name;
use super::traces::Traces;
use super::types::{TypeKey, Types};
use crate::context::Context;
use crate::counted::{Counted, TypeCount};
use crate::error::{Damage, ImportError, Stop};
use crate::tally::{Tally, by_type, counted};

/// Tallies by type.
type Tallies = HashMap<TypeKey, Tally, foldhash::fast::RandomState>;

/// Counts a dump as an import of it would.
pub(super) fn totals(dump: &[u8], context: &Context<'_>) -> Result<Counted, ImportError> {
    let mut notes = Vec::new();
    let (totals, lost) = match count(dump, &mut notes, context) {
        Ok((totals, end)) => (Ok(totals), end.err()),
        Err(stop) => (Err(stop), None),
    };
    Ok(Counted { notes, ..counted(totals, lost, dump.len() as u64)? })
}

/// The totals, and an error if the dump is incomplete.
fn count(
    dump: &[u8],
    notes: &mut Vec<String>,
    context: &Context<'_>,
) -> Result<(Vec<TypeCount>, Result<(), Damage>), Stop> {
    context.progress.begin("looking through", dump.len() as u64, "bytes");
    let layout = Layout::find(dump, context)?;
    if layout.nodes.len() == 0 {
        return Ok((Vec::new(), layout.end));
    }
    notes.extend(super::contradictions(&layout));
    notes.extend(super::rest(&layout));
    context.progress.begin("counting", dump.len() as u64, "bytes");
    let divided = divide(&layout.meta, &layout.nodes, &layout.edges, &WeakMapNodes::default(), context)?;
    let locations = Locations::read(&layout, context)?;
    let (traces, traced) = Traces::declare(&layout, context)?;
    let end = layout.end.clone().and(locations.as_ref().map(drop).map_err(Damage::clone)).and(traced);
    let detached = Detached::find(&layout, &divided.natives, context)?;
    let types = Types::new(context, &layout, (locations.unwrap_or_default(), traces, detached), false)?;
    let unnamed_edges = AtomicU64::new(0);
    let tallies = Counter::new(&types).count(&divided.units, &unnamed_edges, context)?;
    let unnamed = tallies
        .iter()
        .filter(|((type_, ..), _)| layout.meta.nodes.types.get(*type_ as usize).is_some_and(|name| name == UNNAMED));
    let unnamed_nodes = unnamed.map(|(_, tally)| tally.objects);
    let unnamed = [("nodes", unnamed_nodes.sum()), ("edges", unnamed_edges.into_inner())];
    notes.extend(super::unnamed_notes(unnamed));
    let mut tallies: Vec<(TypeKey, Tally)> = tallies.into_iter().collect();
    // The same numbers of types for any number of threads, on which the numbers of places depend.
    tallies.sort_unstable_by_key(|&((type_, name, place, is_detached), _)| {
        (
            type_,
            name,
            is_detached,
            types.locations.place(place).map(|place| (place.script_id, place.line, place.column)),
        )
    });
    let declared = tallies.into_iter().map(|(key, tally)| Ok((types.declare(key)?, tally)));
    let totals = by_type(declared.collect::<Result<Vec<_>, Stop>>()?);
    Ok((totals, end.map_err(|damage| super::incomplete(&layout, damage))))
}

/// The meaning of the second number of an edge.
#[derive(Debug, Clone, Copy)]
enum EdgeKind {
    Indexed,
    /// The number of a string.
    Named,
    /// Unknown: the snapshot does not name the type.
    Unnamed,
}

/// Counts nodes, and checks the edges.
struct Counter<'t, 'a> {
    types: &'t Types<'t, 'a>,
    /// By type.
    edges: Vec<EdgeKind>,
    /// Numbers of strings are below this, unless strings were lost.
    strings: u64,
}

impl<'t, 'a> Counter<'t, 'a> {
    fn new(types: &'t Types<'t, 'a>) -> Self {
        let layout = types.layout;
        let edges = layout.meta.edges.types.iter().map(|name| match name.as_str() {
            UNNAMED => EdgeKind::Unnamed,
            name if has_name(name) => EdgeKind::Named,
            _ => EdgeKind::Indexed,
        });
        let edges = edges.collect();
        let strings = if layout.end.is_ok() { layout.strings.len() as u64 } else { u64::MAX };
        Counter { types, edges, strings }
    }

    /// Counts the nodes of all units, on all threads. Adds the edges of the type without a name to `unnamed_edges`.
    fn count(&self, units: &[Unit], unnamed_edges: &AtomicU64, context: &Context<'_>) -> Result<Tallies, Stop> {
        let all: Mutex<Tallies> = Mutex::default();
        for_each_unit(
            context,
            units.len(),
            || Ok(Tallies::default()),
            |tallies, unit| {
                let mut unnamed = 0;
                let read = self.unit(tallies, &units[unit], &mut unnamed)?;
                // Relaxed: a sum, read when all threads have ended.
                unnamed_edges.fetch_add(unnamed, Ordering::Relaxed);
                for bytes in read {
                    context.progress.advance(bytes.len() as u64);
                    context.release(bytes);
                }
                Ok(())
            },
            |tallies| {
                let mut all = all.lock();
                tallies.into_iter().for_each(|(key, tally)| all.entry(key).or_default().add(tally));
                Ok(())
            },
        )?;
        Ok(all.into_inner())
    }

    /// Counts one unit. Returns the ranges of its nodes and edges.
    fn unit(&self, tallies: &mut Tallies, unit: &Unit, unnamed: &mut u64) -> Result<[Range<usize>; 2], Damage> {
        let layout = self.types.layout;
        let mut nodes = Nodes::new(&layout.nodes, &layout.meta.nodes, unit.first_node);
        let mut edges = Edges::new(&layout.edges, &layout.meta.edges, unit.first_edge);
        let (nodes_start, edges_start) = (nodes.offset() as usize, edges.offset() as usize);
        // Many neighbours are of one type.
        let mut last = (TypeKey::default(), Tally::default());
        for row in unit.first_node..unit.first_node + unit.nodes {
            let offset = nodes.offset();
            let node = nodes.next()?;
            let (_, key) = self.types.key(&node, row);
            self.check_name(node.name, offset)?;
            if key != last.0 {
                tallies.entry(last.0).or_default().add(last.1);
                last = (key, Tally::default());
            }
            last.1.add(Tally::one(node.self_size, 0));
            for _ in 0..node.edge_count {
                let offset = edges.offset();
                *unnamed += u64::from(self.check(&edges.next()?, offset)?);
            }
        }
        tallies.entry(last.0).or_default().add(last.1);
        // The first key of a unit belongs to no node.
        tallies.retain(|_, tally| tally.objects > 0);
        Ok([nodes_start..nodes.offset() as usize, edges_start..edges.offset() as usize])
    }

    /// Returns whether the type of the edge has no name. Fails where an import fails.
    #[inline(always)]
    fn check(&self, edge: &Edge, offset: u64) -> Result<bool, Damage> {
        let kind = self.edges[edge.type_ as usize];
        self.types.layout.row(edge.to_node, offset)?;
        match kind {
            EdgeKind::Indexed => Ok(false),
            EdgeKind::Named => self.check_name(edge.name_or_index, offset).map(|()| false),
            EdgeKind::Unnamed => Ok(true),
        }
    }

    #[inline(always)]
    fn check_name(&self, value: u64, offset: u64) -> Result<(), Damage> {
        if value < self.strings {
            return Ok(());
        }
        Err(Damage::OutOfRange { what: "the number of a string", offset, value, limit: self.strings })
    }
}
