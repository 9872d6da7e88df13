//! Nodes and edges, read in step: the edges are in the order of the nodes that have them.
//!
//! The nodes are divided into units. A first pass over the nodes adds up how many edges each unit has,
//! so that the second can read nodes and edges of several units at once.

use std::sync::Mutex;
use std::sync::PoisonError;

use super::ephemerons::WeakMapNodes;
use super::meta::{EdgeFields, MAX_FIELDS, Meta, NodeFields};
use super::numbers::{Numbers, Reader};
use super::parallel::for_each_unit;
use crate::context::Context;
use crate::error::{Damage, Stop};

/// How many nodes are read at a time. Several blocks of a recording, so that few are left half full.
pub(crate) const UNIT_NODES: u64 = 1 << 17;

/// A node, as the dump has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) type_: u64,
    pub(crate) name: u64,
    pub(crate) id: u64,
    pub(crate) self_size: u64,
    pub(crate) edge_count: u64,
    pub(crate) trace_node_id: u64,
    pub(crate) detachedness: u64,
}

/// An edge, as the dump has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) type_: u64,
    pub(crate) name_or_index: u64,
    pub(crate) to_node: u64,
}

/// Reads nodes.
pub(crate) struct Nodes<'m, 'a> {
    reader: Reader<'a>,
    fields: &'m NodeFields,
}

impl<'m, 'a> Nodes<'m, 'a> {
    /// From the node `first` on.
    pub(crate) fn new(numbers: &Numbers<'a>, fields: &'m NodeFields, first: u64) -> Self {
        Nodes { reader: numbers.from(first * fields.count as u64), fields }
    }

    /// Where the next node is.
    pub(crate) fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// The next node.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<Node, Damage> {
        match self.usual(self.fields.usual) {
            Some(node) => Ok(node),
            None => self.next_slowly(),
        }
    }

    /// The next node, if the snapshot has the first `fields` of V8's fields in V8's order. Values are destructured
    /// at once, so that they can stay in registers.
    #[inline(always)]
    fn usual(&mut self, fields: usize) -> Option<Node> {
        let (first, trace_node_id, detachedness) = match fields {
            7 => {
                let [type_, name, id, self_size, edge_count, trace, detachedness] = self.reader.quick_array()?;
                ([type_, name, id, self_size, edge_count], trace, detachedness)
            }
            6 => {
                let [type_, name, id, self_size, edge_count, trace] = self.reader.quick_array()?;
                ([type_, name, id, self_size, edge_count], trace, 0)
            }
            5 => (self.reader.quick_array()?, 0, 0),
            _ => return None,
        };
        let [type_, name, id, self_size, edge_count] = first;
        Some(Node { type_, name, id, self_size, edge_count, trace_node_id, detachedness })
    }

    #[cold]
    fn next_slowly(&mut self) -> Result<Node, Damage> {
        let fields = self.fields;
        let mut record = [0; MAX_FIELDS];
        self.reader.record(&mut record[..fields.count])?;
        let optional = |place: Option<usize>| place.map_or(0, |place| record[place]);
        Ok(Node {
            type_: record[fields.type_],
            name: record[fields.name],
            id: record[fields.id],
            self_size: record[fields.self_size],
            edge_count: record[fields.edge_count],
            trace_node_id: optional(fields.trace_node_id),
            detachedness: optional(fields.detachedness),
        })
    }
}

/// Reads edges.
pub(crate) struct Edges<'m, 'a> {
    reader: Reader<'a>,
    fields: &'m EdgeFields,
    next: u64,
}

/// The most edges that are skipped by counting commas; for more, a lookup of the offset is faster.
const EDGES_SKIPPED: u64 = 5000;

impl<'m, 'a> Edges<'m, 'a> {
    /// From the edge `first` on.
    pub(crate) fn new(numbers: &Numbers<'a>, fields: &'m EdgeFields, first: u64) -> Self {
        let reader = numbers.from(first * fields.count as u64);
        Edges { reader, fields, next: first }
    }

    /// Goes on to a later edge.
    pub(crate) fn go_to(&mut self, numbers: &Numbers<'a>, edge: u64) {
        let fields = self.fields.count;
        match edge - self.next {
            0 => {}
            edges @ 1..=EDGES_SKIPPED => self.reader.skip(edges as usize * fields),
            _ => self.reader = numbers.from(edge * fields as u64),
        }
        self.next = edge;
    }

    /// Where the next edge is.
    pub(crate) fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// The next edge.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<Edge, Damage> {
        self.next += 1;
        if self.fields.is_usual
            && let Some([type_, name_or_index, to_node]) = self.reader.quick_array()
        {
            return Ok(Edge { type_, name_or_index, to_node });
        }
        self.next_slowly()
    }

    #[cold]
    fn next_slowly(&mut self) -> Result<Edge, Damage> {
        let fields = self.fields;
        let mut record = [0; MAX_FIELDS];
        self.reader.record(&mut record[..fields.count])?;
        Ok(Edge {
            type_: record[fields.type_],
            name_or_index: record[fields.name_or_index],
            to_node: record[fields.to_node],
        })
    }
}

/// The nodes of a dump in units.
pub(crate) struct Units {
    pub(crate) units: Vec<Unit>,
    /// The native nodes by row, if any says that it is attached or detached.
    pub(crate) natives: Vec<Native>,
}

/// A native node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Native {
    pub(crate) row: u32,
    pub(crate) edge_count: u32,
    pub(crate) first_edge: u64,
    /// 0 if the dump does not say.
    pub(crate) detachedness: u8,
}

/// A run of nodes and their edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) first_node: u64,
    pub(crate) nodes: u64,
    pub(crate) first_edge: u64,
}

/// How many records an array holds.
pub(crate) fn record_count(numbers: &Numbers<'_>, fields: usize, what: &'static str) -> Result<u64, Damage> {
    let fields = fields as u64;
    let count = numbers.len() / fields;
    if count * fields == numbers.len() {
        return Ok(count);
    }
    let (offset, expected) = (numbers.offset(), (count + 1) * fields);
    Err(Damage::Mismatch { what, offset, expected, found: numbers.len() })
}

/// Divides the nodes into units and checks that their edges are all there, no more and no less. Finds
/// the rows of the wanted nodes on the way.
pub(crate) fn divide(
    meta: &Meta,
    nodes: &Numbers<'_>,
    edges: &Numbers<'_>,
    wanted: &WeakMapNodes,
    context: &Context<'_>,
) -> Result<Units, Stop> {
    let node_count = record_count(nodes, meta.nodes.count, "the numbers of the nodes")?;
    let edge_count = record_count(edges, meta.edges.count, "the numbers of the edges")?;
    let units = usize::try_from(node_count.div_ceil(UNIT_NODES)).unwrap_or(usize::MAX);
    let native = meta.nodes.types.iter().position(|name| name == "native").map_or(u64::MAX, |place| place as u64);
    let counted = Mutex::new(Vec::new());
    for_each_unit(
        context,
        units,
        || Ok(()),
        |(), unit| {
            let first_node = unit as u64 * UNIT_NODES;
            let in_unit = UNIT_NODES.min(node_count - first_node);
            let mut reader = Nodes::new(nodes, &meta.nodes, first_node);
            let start = reader.offset();
            let mut sums = UnitTotals::default();
            for row in first_node..first_node + in_unit {
                let offset = reader.offset();
                let node = reader.next()?;
                if node.type_ == native {
                    sums.natives.push(Native::new(row, &node, sums.edges));
                }
                sums.add(&node, edge_count, offset)?;
                wanted.see(node.id, row);
            }
            context.progress.advance(reader.offset() - start);
            context.release(start as usize..reader.offset() as usize);
            counted.lock().unwrap_or_else(PoisonError::into_inner).push((first_node, in_unit, sums));
            Ok(())
        },
        |()| Ok(()),
    )?;
    let mut counted = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
    counted.sort_unstable_by_key(|&(first_node, ..)| first_node);
    let mut sums = UnitTotals::default();
    let mut divided = Vec::with_capacity(counted.len());
    for (first_node, nodes_in_unit, more) in counted {
        divided.push(Unit { first_node, nodes: nodes_in_unit, first_edge: sums.edges });
        let natives = more.natives.into_iter();
        sums.natives.extend(natives.map(|native| Native { first_edge: sums.edges + native.first_edge, ..native }));
        sums.edges += more.edges;
        sums.bytes = add_bytes(sums.bytes, more.bytes, nodes.offset())?;
        sums.has_states |= more.has_states;
    }
    if sums.edges != edge_count {
        let (offset, expected) = (edges.offset(), sums.edges);
        return Err(Damage::Mismatch { what: "the edges of all nodes", offset, expected, found: edge_count }.into());
    }
    // Most snapshots tell of no node whether it is attached.
    let natives = if sums.has_states { sums.natives } else { Vec::new() };
    Ok(Units { units: divided, natives })
}

impl Native {
    fn new(row: u64, node: &Node, first_edge: u64) -> Self {
        // A recording has no more rows, nor does any text have more edges: the writer will say so.
        let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let detachedness = node.detachedness.min(u8::MAX.into()) as u8;
        Native { row: number(row), edge_count: number(node.edge_count), first_edge, detachedness }
    }
}

#[derive(Default)]
struct UnitTotals {
    edges: u64,
    bytes: u64,
    natives: Vec<Native>,
    has_states: bool,
}

impl UnitTotals {
    fn add(&mut self, node: &Node, edge_count: u64, offset: u64) -> Result<(), Damage> {
        self.edges = self.edges.saturating_add(node.edge_count);
        if self.edges > edge_count {
            let (value, limit) = (node.edge_count, edge_count);
            return Err(Damage::OutOfRange { what: "the edges of a node", offset, value, limit });
        }
        self.bytes = add_bytes(self.bytes, node.self_size, offset)?;
        self.has_states |= node.detachedness != 0;
        Ok(())
    }
}

/// Adds sizes; together they must fit an `i64`, as any sizes in one address space do.
fn add_bytes(sum: u64, size: u64, offset: u64) -> Result<u64, Damage> {
    let limit = i64::MAX as u64;
    let sum = sum.checked_add(size).filter(|&sum| sum <= limit);
    sum.ok_or(Damage::OutOfRange { what: "the size of a node", offset, value: size, limit })
}
