//! Converts nodes and edges to objects and references.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::classes::{Class, constructor};
use super::concatenated::Concatenated;
use super::ephemerons::{Entries, ValueEdge, ordered};
use super::locations::SourcePositionId;
use super::meta::UNNAMED;
use super::names::{Name, Names, Special, WellKnown};
use super::nodes::{Edge, Edges, FlatStrings, Node, Nodes, Unit};
use super::parallel::for_each_unit;
use super::reference::{Reference, has_name};
use super::samples::Samples;
use super::structure::is_structure;
use super::types::{TIME_OF_DATE, TypeKey, Types, VALUE, from_one};
use crate::context::Context;
use crate::error::{Damage, ImportError, Stop};
use barrow_writer::{
    Encoding, FieldId, Label, Object, Shard, SiteDescription, SiteId, StrengthClass, StrengthId, StringId, Totals,
    TypeId, Value,
};
use parking_lot::Mutex;

/// The parts of a dump that announcing its objects needs.
pub(crate) struct DumpTables<'c, 'a> {
    pub(crate) types: Types<'c, 'a>,
    pub(crate) names: &'c Names,
    pub(crate) entries: Entries,
    pub(crate) flat: FlatStrings,
    pub(crate) concatenated: Concatenated,
    pub(crate) samples: Samples,
}

/// Announces the objects of a dump.
pub(crate) struct Announcer<'c, 'a> {
    context: &'c Context<'c>,
    known: DumpTables<'c, 'a>,
    /// By type of node: its special treatment.
    special: Vec<SpecialNode>,
    /// By type of edge.
    edges: Vec<EdgeKind>,
    weak: StrengthId,
    ephemeron: StrengthId,
    key_of_value: StrengthId,
    /// The name of references to the values of WeakMaps.
    value: StringId,
    /// The name of references from dates to the numbers that hold their time.
    time_of_date: StringId,
    /// The empty string.
    empty: StringId,
    /// The name of references from numbers to their texts.
    number: Option<StringId>,
    /// The name of nodes of constants of the language. Each refers first to its text.
    oddball: Option<StringId>,
    /// The texts of the constants that programs see, `false` and `true` first.
    constants: [Option<StringId>; 4],
    /// Allocation sites for the positions of functions.
    sites: Mutex<HashMap<SourcePositionId, SiteId>>,
    /// Bytes of the dump that were reported as progress.
    advanced: AtomicU64,
    /// Nodes and edges of types that the snapshot does not name.
    unnamed_nodes: AtomicU64,
    unnamed_edges: AtomicU64,
}

/// The special treatment of nodes of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecialNode {
    Nothing,
    /// A function, whose allocation site is its position in the source.
    Closure,
    /// Its text is that of its parts.
    Concatenated,
    /// A string, whose text may be empty.
    Text,
    /// It has no text, or none that is recorded.
    Nameless,
    /// A number, whose text is a string that it refers to.
    Number,
    /// Constants such as `true`: the first string that they refer to is their text.
    Hidden,
    /// A node of a type that the snapshot does not name.
    Unnamed,
}

impl SpecialNode {
    fn of(node_type: &str, has_contents: bool) -> Self {
        match node_type {
            "closure" => SpecialNode::Closure,
            UNNAMED => SpecialNode::Unnamed,
            _ if !has_contents && node_type != "symbol" && is_structure(node_type) => SpecialNode::Nothing,
            _ if !has_contents => SpecialNode::Nameless,
            "string" => SpecialNode::Text,
            "concatenated string" => SpecialNode::Concatenated,
            // The name of all symbols is `symbol`: they refer to their descriptions.
            "sliced string" | "bigint" | "symbol" => SpecialNode::Nameless,
            "number" => SpecialNode::Number,
            "hidden" => SpecialNode::Hidden,
            _ => SpecialNode::Nothing,
        }
    }
}

/// The labels and strengths of references from edges of one type.
#[derive(Debug, Clone, Copy)]
struct EdgeKind {
    labels: Labels,
    strength: StrengthId,
    /// Its strength at the first node, the root.
    from_root: StrengthId,
    /// It leads to what V8 has no name for.
    is_hidden: bool,
}

impl EdgeKind {
    /// The strength of references from the node in this row.
    #[inline]
    fn strength_from(&self, row: u64) -> StrengthId {
        if row == 0 { self.from_root } else { self.strength }
    }
}

/// The meaning of `name_or_index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labels {
    Index,
    /// A name or an index: the snapshot does not tell which.
    Unknown,
    Name,
    /// A name, which may be a number or, for an internal edge, that of an entry of a WeakMap.
    AnyName,
}

/// The state of one thread.
struct Worker<'s> {
    shard: Shard<'s>,
    types: HashMap<TypeKey, TypeAndName, foldhash::fast::RandomState>,
    /// The last type looked up, since many neighbours have the same.
    last: Option<(TypeKey, TypeAndName)>,
    sites: HashMap<SourcePositionId, Option<SiteId>, foldhash::fast::RandomState>,
    of_table: Vec<(Reference, Option<u64>)>,
    /// The fields of types that hold the times of allocations.
    times: HashMap<TypeId, FieldId, foldhash::fast::RandomState>,
    /// The field of numbers, once there is one.
    value: Option<FieldId>,
    /// The type of the dates of the language, once there is one.
    date: Option<TypeId>,
}

/// A type, and the name of its objects if the type does not have it.
type TypeAndName = (TypeId, Option<StringId>);

impl<'c, 'a> Announcer<'c, 'a> {
    /// Declares the names and strengths of every dump with this description.
    pub(crate) fn new(context: &'c Context<'c>, known: DumpTables<'c, 'a>) -> Result<Self, ImportError> {
        let layout = known.types.layout;
        let vocabulary = context.vocabulary;
        let has_contents = context.options.contents.has_values();
        let weak = vocabulary.strength("weak", StrengthClass::Weak)?;
        let shortcut = vocabulary.strength("shortcut", StrengthClass::Weak)?;
        let edges = layout.meta.edges.types.iter().map(|name| {
            let (labels, strength) = match &**name {
                UNNAMED => (Labels::Unknown, StrengthId::STRONG),
                name if !has_name(name) => (Labels::Index, StrengthId::STRONG),
                "weak" => (Labels::AnyName, weak),
                "shortcut" => (Labels::AnyName, shortcut),
                "internal" => (Labels::AnyName, StrengthId::STRONG),
                _ => (Labels::Name, StrengthId::STRONG),
            };
            // At the root, shortcuts lead to the globals of the program.
            let from_root = if strength == shortcut { StrengthId::STRONG } else { strength };
            EdgeKind { labels, strength, from_root, is_hidden: name == "hidden" }
        });
        let edges = edges.collect();
        Ok(Announcer {
            context,
            edges,
            weak,
            ephemeron: vocabulary.strength("ephemeron", StrengthClass::Ephemeron)?,
            key_of_value: vocabulary.strength("key in WeakMap", StrengthClass::Weak)?,
            value: vocabulary.word("value in WeakMap")?,
            time_of_date: vocabulary.word(TIME_OF_DATE)?,
            empty: vocabulary.string("")?,
            special: layout.meta.nodes.types.iter().map(|name| SpecialNode::of(name, has_contents)).collect(),
            number: known.names.well_known(WellKnown::Value),
            oddball: known.names.well_known(WellKnown::Oddball),
            constants: [WellKnown::False, WellKnown::True, WellKnown::Null, WellKnown::Undefined]
                .map(|constant| known.names.well_known(constant)),
            known,
            sites: Mutex::default(),
            advanced: AtomicU64::new(0),
            unnamed_nodes: AtomicU64::new(0),
            unnamed_edges: AtomicU64::new(0),
        })
    }

    /// Announces everything, on all threads, and commits it.
    pub(crate) fn announce(&self, units: &[Unit]) -> Result<Totals, Stop> {
        let snapshot = self.context.writer.begin_snapshot(self.context.info.clone())?;
        let mut shard = snapshot.shard();
        shard.root(self.context.vocabulary.word("root")?, None, 0)?;
        shard.finish()?;
        for_each_unit(
            self.context,
            units.len(),
            || {
                let shard = snapshot.shard();
                Ok(Worker {
                    shard,
                    types: HashMap::default(),
                    last: None,
                    sites: HashMap::default(),
                    of_table: Vec::new(),
                    times: HashMap::default(),
                    value: None,
                    date: None,
                })
            },
            |worker: &mut Worker<'_>, unit| self.unit(worker, &units[unit]),
            |worker| Ok(worker.shard.finish()?),
        )?;
        Ok(snapshot.commit()?)
    }

    /// Numbers of nodes and edges of types that the snapshot does not name.
    pub(crate) fn unnamed(&self) -> [(&'static str, u64); 2] {
        [("nodes", &self.unnamed_nodes), ("edges", &self.unnamed_edges)]
            .map(|(what, count)| (what, count.load(Ordering::Relaxed)))
    }

    /// Bytes of the dump that were reported as progress.
    pub(crate) fn advanced(&self) -> u64 {
        self.advanced.load(Ordering::Relaxed)
    }

    fn unit(&self, worker: &mut Worker<'_>, unit: &Unit) -> Result<(), Stop> {
        let meta = &self.known.types.layout.meta;
        let mut nodes = Nodes::new(&self.known.types.layout.nodes, &meta.nodes, unit.first_node);
        let mut edges = Edges::new(&self.known.types.layout.edges, &meta.edges, unit.first_edge);
        let (nodes_start, edges_start) = (nodes.offset(), edges.offset());
        let mut tables = self.known.entries.tables_from(unit.first_node);
        let mut next_table = tables.next();
        for row in unit.first_node..unit.first_node + unit.nodes {
            let offset = nodes.offset();
            let node = nodes.next()?;
            let (type_id, name) = self.type_of(worker, &node, row, offset)?;
            let mut object = Object::new(type_id, node.self_size);
            object.serial = Some(node.id).filter(|&id| id != 0);
            object.name = name;
            object.site = self.site(worker, &node, row)?;
            // Checked first: a text can name any node as a table, even one handled below.
            let is_table = next_table == Some(row);
            if is_table {
                next_table = tables.next();
            }
            match self.special[node.type_ as usize] {
                SpecialNode::Nothing | SpecialNode::Closure => {}
                SpecialNode::Concatenated => object.name = self.known.concatenated.text(row),
                SpecialNode::Text if name.is_none() && self.known.types.text(node.name).is_empty() => {
                    object.name = Some(self.empty);
                }
                SpecialNode::Text => {}
                SpecialNode::Nameless => object.name = None,
                SpecialNode::Unnamed => {
                    self.unnamed_nodes.fetch_add(1, Ordering::Relaxed);
                    if !self.context.options.contents.has_values() {
                        object.name = None;
                    }
                }
                SpecialNode::Hidden if name.is_none() || name != self.oddball => {}
                special @ (SpecialNode::Number | SpecialNode::Hidden) => {
                    self.described(worker, special, &node, object, row, &mut edges)?;
                    continue;
                }
            }
            worker.shard.object(row, &object)?;
            self.time(worker, &node, type_id)?;
            if is_table {
                self.table(worker, &node, row, &mut edges)?;
                continue;
            }
            if worker.date == Some(type_id) {
                self.date(worker, &node, row, &mut edges)?;
                continue;
            }
            for _ in 0..node.edge_count {
                let offset = edges.offset();
                let edge = edges.next()?;
                let kind = &self.edges[edge.type_ as usize];
                // A call of its own for the usual edge: its parts stay in registers then.
                if let Some(label) = self.plain_label(&edge, kind) {
                    let target = self.known.types.layout.row(edge.to_node, offset)?;
                    worker.shard.reference(label, kind.strength_from(row), target)?;
                } else {
                    let (reference, _) = self.reference(&edge, &node, row, offset)?;
                    worker.shard.reference(reference.label, reference.strength, reference.target)?;
                }
            }
        }
        for (start, end) in [(nodes_start, nodes.offset()), (edges_start, edges.offset())] {
            let bytes = end.saturating_sub(start);
            self.advanced.fetch_add(bytes, Ordering::Relaxed);
            self.context.progress.advance(bytes);
            self.context.release(start as usize..end as usize);
        }
        Ok(())
    }

    /// Announces a node with its references, one of which leads to a string that describes it.
    #[cold]
    fn described(
        &self,
        worker: &mut Worker<'_>,
        special: SpecialNode,
        node: &Node,
        mut object: Object,
        row: u64,
        edges: &mut Edges<'_, '_>,
    ) -> Result<(), Stop> {
        let mut references = std::mem::take(&mut worker.of_table);
        references.clear();
        for _ in 0..node.edge_count {
            let offset = edges.offset();
            references.push(self.reference(&edges.next()?, node, row, offset)?);
        }
        let is_number = special == SpecialNode::Number;
        let label = if is_number { self.number.map(Label::Name) } else { Some(Label::Index(0)) };
        let described = references.iter().find(|(reference, _)| Some(reference.label) == label);
        let text = described.and_then(|(reference, _)| self.known.flat.name(reference.target));
        let mut value = None;
        if is_number {
            object.name = None;
            value = text.and_then(|text| self.number(text));
        } else if let Some(text) = text.and_then(|text| self.known.names.plain(text))
            && self.constants.contains(&Some(text))
        {
            object.name = Some(text);
        }
        worker.shard.object(row, &object)?;
        if let Some(value) = value {
            let field = match worker.value {
                Some(field) => field,
                None => self.context.vocabulary.field(object.type_id, VALUE, Encoding::Double, false)?,
            };
            worker.value = Some(field);
            worker.shard.value(field, Value::Double(value))?;
        } else if let Some(is_true) =
            self.constants[..2].iter().position(|&known| known.is_some() && object.name == known)
        {
            let field = self.context.vocabulary.field(object.type_id, VALUE, Encoding::Boolean, true)?;
            worker.shard.value(field, Value::Boolean(is_true == 1))?;
        }
        self.time(worker, node, object.type_id)?;
        for (reference, _) in &references {
            worker.shard.reference(reference.label, reference.strength, reference.target)?;
        }
        worker.of_table = references;
        Ok(())
    }

    /// Parses the number in a string.
    fn number(&self, name: u64) -> Option<f64> {
        match self.known.names.get(name)? {
            Name::Special(_, Special::Number(number)) => Some(number.into()),
            _ => self.known.types.layout.strings.text(usize::try_from(name).ok()?)?.parse().ok(),
        }
    }

    /// Announces the allocation time of the object announced last, if known.
    #[inline]
    fn time(&self, worker: &mut Worker<'_>, node: &Node, type_id: TypeId) -> Result<(), Stop> {
        let Some(time) = self.known.samples.allocated_us(node.id) else { return Ok(()) };
        let field = match worker.times.get(&type_id) {
            Some(&field) => field,
            None => self.context.vocabulary.field(type_id, "allocated_us", Encoding::Unsigned, true)?,
        };
        worker.times.insert(type_id, field);
        Ok(worker.shard.value(field, Value::Unsigned(time))?)
    }

    /// Announces the references of a date, one of which leads to its time.
    #[cold]
    fn date(&self, worker: &mut Worker<'_>, node: &Node, row: u64, edges: &mut Edges<'_, '_>) -> Result<(), Stop> {
        for _ in 0..node.edge_count {
            let offset = edges.offset();
            let edge = edges.next()?;
            let (mut reference, _) = self.reference(&edge, node, row, offset)?;
            // The time is the only number of a date that V8 keeps as an object.
            if self.edges[edge.type_ as usize].is_hidden {
                reference.label = Label::Name(self.time_of_date);
            }
            worker.shard.reference(reference.label, reference.strength, reference.target)?;
        }
        Ok(())
    }

    /// Announces the references of a WeakMap's table.
    fn table(&self, worker: &mut Worker<'_>, node: &Node, row: u64, edges: &mut Edges<'_, '_>) -> Result<(), Stop> {
        worker.of_table.clear();
        for _ in 0..node.edge_count {
            let offset = edges.offset();
            worker.of_table.push(self.reference(&edges.next()?, node, row, offset)?);
        }
        let Worker { shard, of_table, .. } = worker;
        ordered(of_table, self.weak, self.ephemeron, |reference| {
            Ok(shard.reference(reference.label, reference.strength, reference.target)?)
        })
    }

    /// Converts an edge of `node` to a reference. Also returns the row of the key, if the edge leads from a table to
    /// a value.
    fn reference(&self, edge: &Edge, node: &Node, row: u64, offset: u64) -> Result<(Reference, Option<u64>), Stop> {
        let kind = &self.edges[edge.type_ as usize];
        let target = self.known.types.layout.row(edge.to_node, offset)?;
        let unnamed = Reference { label: Label::Unknown, strength: kind.strength_from(row), target };
        if let Some(label) = self.plain_label(edge, kind) {
            return Ok((unnamed.with_label(label), None));
        }
        if kind.labels == Labels::Unknown {
            self.unnamed_edges.fetch_add(1, Ordering::Relaxed);
            return Ok((unnamed, None));
        }
        self.special_reference(edge, kind, node, unnamed, offset)
    }

    /// The label of an edge with an index, or with a name that is a number or no more than a name.
    #[inline(always)]
    fn plain_label(&self, edge: &Edge, kind: &EdgeKind) -> Option<Label> {
        if kind.labels == Labels::Unknown {
            return None;
        }
        if kind.labels == Labels::Index {
            return Some(Label::Index(edge.name_or_index));
        }
        if let Some(name) = self.known.names.plain(edge.name_or_index) {
            return Some(Label::Name(name));
        }
        let number = Some(edge.name_or_index).filter(|_| kind.labels == Labels::AnyName);
        number.and_then(|name| self.known.names.number(name)).map(|number| Label::Index(number.into()))
    }

    /// The reference of an edge whose name is lost or more than a name.
    fn special_reference(
        &self,
        edge: &Edge,
        kind: &EdgeKind,
        node: &Node,
        unnamed: Reference,
        offset: u64,
    ) -> Result<(Reference, Option<u64>), Stop> {
        let mut key = None;
        let reference = match (self.name(edge.name_or_index, offset)?, kind.labels) {
            (Some(Name::Plain(name)), _) => unnamed.with_label(Label::Name(name)),
            (Some(Name::Special(_, Special::EntryName(pair))), Labels::AnyName)
                if unnamed.strength == StrengthId::STRONG =>
            {
                let mut reference = unnamed.with_label(Label::Name(self.value));
                match self.known.entries.value_edge(pair, node.id) {
                    Some(ValueEdge::Table(row)) => key = Some(row),
                    Some(ValueEdge::Key) => reference.strength = self.key_of_value,
                    None => {}
                }
                reference
            }
            (Some(Name::Special(Some(name), _)), _) => unnamed.with_label(Label::Name(name)),
            (Some(Name::Special(None, _)), _) => unnamed.with_label(Label::Name(self.rare_name(edge.name_or_index)?)),
            (None, _) => unnamed,
        };
        Ok((reference, key))
    }

    /// The string of this number; `None` if it is lost.
    #[inline]
    fn name(&self, index: u64, offset: u64) -> Result<Option<Name>, Damage> {
        match self.known.names.get(index) {
            None if self.known.types.layout.end.is_ok() => {
                let limit = self.known.types.layout.strings.len() as u64;
                Err(Damage::OutOfRange { what: "the number of a string", offset, value: index, limit })
            }
            name => Ok(name),
        }
    }

    /// The name of an object whose name looks like that of an entry of a WeakMap.
    #[cold]
    fn rare_name(&self, index: u64) -> Result<StringId, ImportError> {
        self.context.vocabulary.string(&self.known.types.text(index))
    }

    /// The type of a node, and its own name.
    #[inline]
    fn type_of(&self, worker: &mut Worker<'_>, node: &Node, row: u64, offset: u64) -> Result<TypeAndName, Stop> {
        let (class, key) = self.known.types.key(node, row);
        let named = match worker.last {
            Some((last, named)) if last == key => named,
            _ => match worker.types.get(&key) {
                Some(&named) => named,
                None => {
                    let named = self.named(class, key, offset)?;
                    worker.types.insert(key, named);
                    if self.known.types.is_date(key) {
                        worker.date = Some(named.0);
                    }
                    named
                }
            },
        };
        worker.last = Some((key, named));
        match class {
            Class::Fixed(_) => Ok((named.0, self.own_name(node.name, offset)?)),
            _ => Ok(named),
        }
    }

    /// The name of an object whose type does not have it.
    #[inline]
    fn own_name(&self, index: u64, offset: u64) -> Result<Option<StringId>, Stop> {
        Ok(match self.name(index, offset)? {
            Some(Name::Plain(name) | Name::Special(Some(name), _)) => Some(name).filter(|&name| name != self.empty),
            Some(Name::Special(None, _)) => Some(self.rare_name(index)?),
            None => None,
        })
    }

    /// The allocation site of an object, if the program tracked allocations; for a function, its position in the
    /// source.
    #[inline]
    fn site(&self, worker: &mut Worker<'_>, node: &Node, row: u64) -> Result<Option<SiteId>, ImportError> {
        if node.trace_node_id != 0
            && let Some(site) = self.known.types.traces.site(node.trace_node_id)
        {
            return Ok(Some(site));
        }
        if self.special[node.type_ as usize] != SpecialNode::Closure {
            return Ok(None);
        }
        let place = self.known.types.locations.of(row as usize);
        if place == 0 {
            return Ok(None);
        }
        if let Some(&site) = worker.sites.get(&place) {
            return Ok(site);
        }
        let site = self.site_of_place(place)?;
        worker.sites.insert(place, site);
        Ok(site)
    }

    /// The site of a place, which all threads share.
    #[cold]
    fn site_of_place(&self, id: SourcePositionId) -> Result<Option<SiteId>, ImportError> {
        let Some(place) = self.known.types.locations.place(id) else { return Ok(None) };
        let mut sites = self.sites.lock();
        if let Some(&site) = sites.get(&id) {
            return Ok(Some(site));
        }
        let file = self.known.types.traces.script(place.script_id, &self.known.types.layout.strings);
        let site = self.context.vocabulary.site(&SiteDescription {
            file: Some(&file),
            line: from_one(place.line),
            column: from_one(place.column),
            ..SiteDescription::default()
        })?;
        sites.insert(id, site);
        Ok(Some(site))
    }

    /// Declares the type of this key.
    #[cold]
    fn named(&self, class: &Class, key: TypeKey, offset: u64) -> Result<TypeAndName, Stop> {
        let name = self.name(key.1, offset)?;
        let type_id = self.known.types.declare(key)?;
        // An element has attributes that its type does not name.
        let text = self.known.types.text(key.1);
        let is_named = *class == Class::Named && name.is_some() && *constructor(&text) != *text;
        Ok((type_id, if is_named { self.own_name(key.1, offset)? } else { None }))
    }
}
