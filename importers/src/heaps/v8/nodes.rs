//! Nodes and edges, read in step: the edges are in the order of the nodes that have them.
//!
//! The nodes are divided into units. A first pass over the nodes adds up how many edges each unit has,
//! so that the second can read nodes and edges of several units at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::ephemerons::WeakMapNodes;
use super::meta::{EdgeFields, MAX_FIELDS, Meta, NodeFields};
use super::numbers::{Numbers, Reader};
use super::parallel::for_each_unit;
use crate::context::Context;
use crate::error::{Damage, Stop};

/// Number of nodes read at a time. Several blocks of a recording, so that few are left half full.
pub(crate) const UNIT_NODES: u64 = 1 << 17;

/// Maximum number of strings that are kept with the numbers of their texts, 8 bytes each: 24 MiB.
const MAX_FLAT_STRINGS: usize = 3 << 20;
/// Maximum number of strings of two parts that are kept, 24 bytes each: 24 MiB.
const MAX_CONCATENATED: usize = 1 << 20;

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
    /// The number of the type without a name.
    unnamed: u64,
}

impl<'m, 'a> Nodes<'m, 'a> {
    /// From the node `first` on.
    pub(crate) fn new(numbers: &Numbers<'a>, fields: &'m NodeFields, first: u64) -> Self {
        let unnamed = fields.types.len() as u64 - 1;
        Nodes { reader: numbers.from(first * fields.count as u64), fields, unnamed }
    }

    /// The offset of the next node.
    pub(crate) fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// The next node.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<Node, Damage> {
        let node = match self.usual(self.fields.usual) {
            Some(node) => node,
            None => self.next_slowly()?,
        };
        Ok(Node { type_: node.type_.min(self.unnamed), ..node })
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
        Ok(Node {
            type_: record[fields.type_],
            name: record[fields.name],
            id: record[fields.id],
            self_size: record[fields.self_size],
            edge_count: record[fields.edge_count],
            trace_node_id: fields.trace_node_id.map_or(0, |place| record[place]),
            detachedness: fields.detachedness.map_or(0, |place| record[place]),
        })
    }
}

/// Reads edges.
pub(crate) struct Edges<'m, 'a> {
    reader: Reader<'a>,
    fields: &'m EdgeFields,
    /// The number of the type without a name.
    unnamed: u64,
    next: u64,
}

/// Maximum number of edges skipped by counting commas; for more, a lookup of the offset is faster.
const EDGES_SKIPPED: u64 = 5000;

impl<'m, 'a> Edges<'m, 'a> {
    /// From the edge `first` on.
    pub(crate) fn new(numbers: &Numbers<'a>, fields: &'m EdgeFields, first: u64) -> Self {
        let reader = numbers.from(first * fields.count as u64);
        Edges { reader, fields, unnamed: fields.types.len() as u64 - 1, next: first }
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

    /// The offset of the next edge.
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
            return Ok(Edge { type_: type_.min(self.unnamed), name_or_index, to_node });
        }
        self.next_slowly()
    }

    #[cold]
    fn next_slowly(&mut self) -> Result<Edge, Damage> {
        let fields = self.fields;
        let mut record = [0; MAX_FIELDS];
        self.reader.record(&mut record[..fields.count])?;
        Ok(Edge {
            type_: record[fields.type_].min(self.unnamed),
            name_or_index: record[fields.name_or_index],
            to_node: record[fields.to_node],
        })
    }
}

/// The nodes of a dump in units.
pub(crate) struct Units {
    pub(crate) units: Vec<Unit>,
    /// The native nodes by row, if any of them is known to be attached or detached.
    pub(crate) natives: Vec<NodeEdges>,
    /// Strings that consist of two others, by row.
    pub(crate) concatenated: Vec<NodeEdges>,
    pub(crate) flat: FlatStrings,
    /// All strings were kept: there were not too many.
    pub(crate) is_whole: bool,
}

/// A node with the place of its edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeEdges {
    pub(crate) row: u32,
    pub(crate) edge_count: u32,
    pub(crate) first_edge: u64,
    /// 0 if it is unknown.
    pub(crate) detachedness: u8,
}

/// A run of nodes and their edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) first_node: u64,
    pub(crate) nodes: u64,
    pub(crate) first_edge: u64,
}

/// Number of records in an array.
pub(crate) fn record_count(numbers: &Numbers<'_>, fields: usize, what: &'static str) -> Result<u64, Damage> {
    let fields = fields as u64;
    let count = numbers.len() / fields;
    if count * fields == numbers.len() {
        return Ok(count);
    }
    let (offset, expected) = (numbers.offset(), (count + 1) * fields);
    Err(Damage::Mismatch { what, offset, expected, found: numbers.len() })
}

/// Divides the nodes into units, and checks that the number of edges matches. Also finds the rows of the wanted
/// nodes.
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
    let (native, string) = (type_number(meta, "native"), type_number(meta, "string"));
    let concatenated = type_number(meta, "concatenated string");
    let (flat_count, concatenated_count) = (AtomicUsize::new(0), AtomicUsize::new(0));
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
                if node.type_ == string {
                    sums.flat.push((number(row), number(node.name)));
                } else if node.type_ == native {
                    sums.natives.push(NodeEdges::new(row, &node, sums.edges));
                } else if node.type_ == concatenated {
                    sums.concatenated.push(NodeEdges::new(row, &node, sums.edges));
                }
                sums.add(&node, edge_count, offset)?;
                wanted.see(node.id, row);
            }
            limit(&mut sums.flat, &flat_count, MAX_FLAT_STRINGS);
            limit(&mut sums.concatenated, &concatenated_count, MAX_CONCATENATED);
            context.progress.advance(reader.offset() - start);
            context.release(start as usize..reader.offset() as usize);
            counted.lock().push((first_node, in_unit, sums));
            Ok(())
        },
        |()| Ok(()),
    )?;
    let mut counted = counted.into_inner();
    counted.sort_unstable_by_key(|&(first_node, ..)| first_node);
    let mut sums = UnitTotals::default();
    let (mut divided, mut flat) = (Vec::with_capacity(counted.len()), Vec::with_capacity(counted.len()));
    for (first_node, nodes_in_unit, more) in counted {
        divided.push(Unit { first_node, nodes: nodes_in_unit, first_edge: sums.edges });
        let before = sums.edges;
        let placed = |node: NodeEdges| NodeEdges { first_edge: before + node.first_edge, ..node };
        sums.natives.extend(more.natives.into_iter().map(placed));
        sums.concatenated.extend(more.concatenated.into_iter().map(placed));
        flat.push(more.flat);
        sums.edges += more.edges;
        sums.bytes = add_bytes(sums.bytes, more.bytes, nodes.offset())?;
        sums.has_states |= more.has_states;
    }
    if sums.edges != edge_count {
        let (offset, expected) = (edges.offset(), sums.edges);
        return Err(Damage::Mismatch { what: "the edges of all nodes", offset, expected, found: edge_count }.into());
    }
    // Most snapshots do not record the states of nodes.
    let natives = if sums.has_states { sums.natives } else { Vec::new() };
    let is_whole = flat_count.into_inner() <= MAX_FLAT_STRINGS && concatenated_count.into_inner() <= MAX_CONCATENATED;
    let (concatenated, flat) = if is_whole { (sums.concatenated, flat) } else { Default::default() };
    Ok(Units { units: divided, natives, concatenated, flat: FlatStrings { units: flat }, is_whole })
}

/// The number of a type of nodes; `u64::MAX` if the dump has no such type.
fn type_number(meta: &Meta, wanted: &str) -> u64 {
    meta.nodes.types.iter().position(|name| name == wanted).map_or(u64::MAX, |number| number as u64)
}

/// Drops the strings of a unit if all units together have too many.
fn limit<T>(found: &mut Vec<T>, count: &AtomicUsize, most: usize) {
    // Relaxed: a sum. Once it is too large, nothing of it is used.
    if count.fetch_add(found.len(), Ordering::Relaxed) + found.len() > most {
        *found = Vec::new();
    }
    found.shrink_to_fit();
}

/// A number of a row or string. Larger ones are refused by the writer.
fn number(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Strings that have characters of their own.
#[derive(Debug, Default)]
pub(crate) struct FlatStrings {
    /// For each unit, rows in ascending order, with the numbers of their texts.
    units: Vec<Vec<(u32, u32)>>,
}

impl FlatStrings {
    /// The number of the string in a row; `None` if the node is not a flat string.
    pub(crate) fn name(&self, row: u64) -> Option<u64> {
        let unit = self.units.get(usize::try_from(row / UNIT_NODES).ok()?)?;
        let place = unit.binary_search_by_key(&row, |&(row, _)| row.into()).ok()?;
        Some(unit[place].1.into())
    }
}

impl NodeEdges {
    fn new(row: u64, node: &Node, first_edge: u64) -> Self {
        let detachedness = node.detachedness.min(u8::MAX.into()) as u8;
        NodeEdges { row: number(row), edge_count: number(node.edge_count), first_edge, detachedness }
    }
}

#[derive(Default)]
struct UnitTotals {
    edges: u64,
    bytes: u64,
    natives: Vec<NodeEdges>,
    concatenated: Vec<NodeEdges>,
    flat: Vec<(u32, u32)>,
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

/// Adds sizes; the sum must fit an `i64`, like all sizes in one address space.
fn add_bytes(sum: u64, size: u64, offset: u64) -> Result<u64, Damage> {
    let limit = i64::MAX as u64;
    let sum = sum.checked_add(size).filter(|&sum| sum <= limit);
    sum.ok_or(Damage::OutOfRange { what: "the size of a node", offset, value: size, limit })
}
