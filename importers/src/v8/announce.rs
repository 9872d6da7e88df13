//! From nodes and edges to objects and references.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::classes::{Class, constructor};
use super::detached::Detached;
use super::ephemerons::{Entries, Half, ordered};
use super::layout::Layout;
use super::locations::{Locations, PlaceId};
use super::nodes::{Edge, Edges, Node, Nodes, Reference, Unit};
use super::parallel::for_each_unit;
use super::strings::{Name, Names, Special};
use crate::context::Context;
use crate::error::{Damage, ImportError, Stop};
use barrow_writer::{
    KindId, KindRole, Label, Object, Shard, StrengthClass, StrengthId, StringId, Totals, TypeDescription, TypeId,
};

/// The name of what has lost its own.
const LOST: &str = "(name lost)";

/// What is known of a dump when its objects are announced.
pub(crate) struct Announcer<'c, 'a> {
    context: &'c Context<'c>,
    layout: &'c Layout<'a>,
    names: &'c Names,
    locations: &'c Locations,
    entries: &'c Entries,
    detached: &'c Detached,
    node_count: u64,
    /// By type of node.
    classes: Vec<Class>,
    kinds: Vec<KindId>,
    /// By type of edge.
    edges: Vec<EdgeKind>,
    weak: StrengthId,
    ephemeron: StrengthId,
    key_of_value: StrengthId,
    /// What the references to the values of WeakMaps are called.
    value: StringId,
    /// Bytes of the dump that were announced.
    advanced: AtomicU64,
}

/// What edges of one type are.
#[derive(Debug, Clone, Copy)]
struct EdgeKind {
    labels: Labels,
    strength: StrengthId,
    /// Its strength at the first node, the root.
    from_root: StrengthId,
}

/// What stands in `name_or_index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labels {
    Index,
    Name,
    /// A name, which may be a number or, of an internal edge, tell of an entry of a WeakMap.
    AnyName,
}

/// What one thread works with.
struct Worker<'s> {
    shard: Shard<'s>,
    types: HashMap<TypeKey, TypeId, foldhash::fast::RandomState>,
    /// The last type looked up, since many neighbours have the same.
    last: Option<(TypeKey, TypeId)>,
    of_table: Vec<(Reference, Option<u64>)>,
}

/// What tells types apart: the type of the node, its name, its constructor's place, whether it is detached.
type TypeKey = (u64, u64, PlaceId, bool);

impl<'c, 'a> Announcer<'c, 'a> {
    /// Declares what every dump of this description has.
    pub(crate) fn new(
        context: &'c Context<'c>,
        layout: &'c Layout<'a>,
        names: &'c Names,
        locations: &'c Locations,
        entries: &'c Entries,
        detached: &'c Detached,
    ) -> Result<Self, ImportError> {
        let vocabulary = context.vocabulary;
        let types = &layout.meta.nodes.types;
        let classes: Vec<Class> = types.iter().map(|name| Class::of(name)).collect();
        let kinds = types.iter().zip(&classes).map(|(name, class)| {
            vocabulary.kind(name, if *class == Class::Group { KindRole::Root } else { KindRole::Object })
        });
        let kinds = kinds.collect::<Result<_, _>>()?;
        let weak = vocabulary.strength("weak", StrengthClass::Weak)?;
        let shortcut = vocabulary.strength("shortcut", StrengthClass::Weak)?;
        let edges = layout.meta.edges.types.iter().map(|name| {
            let (labels, strength) = match &**name {
                "element" | "hidden" => (Labels::Index, StrengthId::STRONG),
                "weak" => (Labels::AnyName, weak),
                "shortcut" => (Labels::AnyName, shortcut),
                "internal" => (Labels::AnyName, StrengthId::STRONG),
                _ => (Labels::Name, StrengthId::STRONG),
            };
            // At the root, shortcuts lead to the globals of the program.
            let from_root = if strength == shortcut { StrengthId::STRONG } else { strength };
            EdgeKind { labels, strength, from_root }
        });
        let edges = edges.collect();
        Ok(Announcer {
            context,
            layout,
            names,
            locations,
            entries,
            detached,
            node_count: layout.nodes.len() / layout.meta.nodes.count as u64,
            classes,
            kinds,
            edges,
            weak,
            ephemeron: vocabulary.strength("ephemeron", StrengthClass::Ephemeron)?,
            key_of_value: vocabulary.strength("key in WeakMap", StrengthClass::Weak)?,
            value: vocabulary.string("value in WeakMap")?,
            advanced: AtomicU64::new(0),
        })
    }

    /// Announces everything, on all threads, and commits it.
    pub(crate) fn announce(&self, units: &[Unit]) -> Result<Totals, Stop> {
        let snapshot = self.context.writer.begin_snapshot(self.context.info.clone())?;
        let mut shard = snapshot.shard();
        shard.root(self.context.vocabulary.string("root")?, None, 0)?;
        shard.finish()?;
        let begin = || {
            let (types, of_table) = (HashMap::default(), Vec::new());
            Ok(Worker { shard: snapshot.shard(), types, last: None, of_table })
        };
        let work = |worker: &mut Worker<'_>, unit: usize| self.unit(worker, &units[unit]);
        for_each_unit(self.context, units.len(), begin, work, |worker| Ok(worker.shard.finish()?))?;
        Ok(snapshot.commit()?)
    }

    /// Bytes of the dump that were announced.
    pub(crate) fn advanced(&self) -> u64 {
        self.advanced.load(Ordering::Relaxed)
    }

    fn unit(&self, worker: &mut Worker<'_>, unit: &Unit) -> Result<(), Stop> {
        let meta = &self.layout.meta;
        let mut nodes = Nodes::new(&self.layout.nodes, &meta.nodes, unit.first_node);
        let mut edges = Edges::new(&self.layout.edges, &meta.edges, unit.first_edge);
        let start = nodes.offset() + edges.offset();
        let mut tables = self.entries.tables_from(unit.first_node);
        let mut next_table = tables.next();
        for row in unit.first_node..unit.first_node + unit.nodes {
            let offset = nodes.offset();
            let node = nodes.next()?;
            let mut object = Object::new(self.type_of(worker, &node, row, offset)?, node.self_size);
            object.serial = Some(node.id).filter(|&id| id != 0);
            worker.shard.object(row, &object)?;
            if next_table == Some(row) {
                next_table = tables.next();
                self.table(worker, &node, row, &mut edges)?;
                continue;
            }
            for _ in 0..node.edge_count {
                let offset = edges.offset();
                let (reference, _) = self.reference(&edges.next()?, &node, row, offset)?;
                worker.shard.reference(reference.label, reference.strength, reference.target)?;
            }
        }
        let bytes = (nodes.offset() + edges.offset()).saturating_sub(start);
        self.advanced.fetch_add(bytes, Ordering::Relaxed);
        self.context.progress.advance(bytes);
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

    /// What an edge of `node` is; and the row of the key, if it leads from a table to a value.
    #[inline]
    fn reference(&self, edge: &Edge, node: &Node, row: u64, offset: u64) -> Result<(Reference, Option<u64>), Stop> {
        let limit = self.edges.len() as u64;
        let kind = usize::try_from(edge.type_).ok().and_then(|type_| self.edges.get(type_));
        let kind = kind.ok_or(Damage::OutOfRange { what: "the type of an edge", offset, value: edge.type_, limit })?;
        let target = self.target(edge.to_node, offset)?;
        let strength = if row == 0 { kind.from_root } else { kind.strength };
        let plain = |label| Ok((Reference { label, strength, target }, None));
        if kind.labels == Labels::Index {
            return plain(Label::Index(edge.name_or_index));
        }
        match (self.name(edge.name_or_index, offset)?, kind.labels) {
            (Some(Name::Plain(name)), _) => plain(Label::Name(name)),
            (Some(Name::Special(_, Special::Number(index))), Labels::AnyName) => plain(Label::Index(index.into())),
            (Some(Name::Special(_, Special::Pair(pair))), Labels::AnyName) if strength == StrengthId::STRONG => {
                let label = Label::Name(self.value);
                match self.entries.half(pair, node.id) {
                    Some(Half::Table(key)) => Ok((Reference { label, strength, target }, Some(key))),
                    Some(Half::Key) => Ok((Reference { label, strength: self.key_of_value, target }, None)),
                    None => plain(label),
                }
            }
            (Some(Name::Special(Some(name), _)), _) => plain(Label::Name(name)),
            (Some(Name::Special(None, _)), _) => plain(Label::Name(self.rare_name(edge.name_or_index)?)),
            (None, _) => plain(Label::Unknown),
        }
    }

    /// The row of the node that begins at this number of the array.
    #[inline]
    fn target(&self, to_node: u64, offset: u64) -> Result<u64, Damage> {
        let fields = self.layout.meta.nodes.count;
        // The division of smaller numbers is faster.
        let target = match (u32::try_from(to_node), u32::try_from(fields)) {
            (Ok(to_node), Ok(fields)) => u64::from(to_node / fields),
            _ => to_node / fields as u64,
        };
        if target * fields as u64 == to_node && target < self.node_count {
            return Ok(target);
        }
        let limit = self.layout.nodes.len();
        Err(Damage::OutOfRange { what: "the node that an edge leads to", offset, value: to_node, limit })
    }

    /// The string of this number; `None` if it is lost.
    #[inline]
    fn name(&self, index: u64, offset: u64) -> Result<Option<Name>, Damage> {
        match self.names.get(index) {
            None if self.layout.end.is_ok() => {
                let limit = self.layout.strings.len() as u64;
                Err(Damage::OutOfRange { what: "the number of a string", offset, value: index, limit })
            }
            name => Ok(name),
        }
    }

    /// The name of something whose name was thought to tell of an entry of a WeakMap.
    #[cold]
    fn rare_name(&self, index: u64) -> Result<StringId, ImportError> {
        self.context.vocabulary.string(&self.text(index))
    }

    fn text(&self, index: u64) -> Cow<'_, str> {
        usize::try_from(index).ok().and_then(|index| self.layout.strings.text(index)).unwrap_or(Cow::Borrowed(LOST))
    }

    #[inline]
    fn type_of(&self, worker: &mut Worker<'_>, node: &Node, row: u64, offset: u64) -> Result<TypeId, Stop> {
        let limit = self.classes.len() as u64;
        let class = usize::try_from(node.type_).ok().and_then(|type_| self.classes.get(type_));
        let class = class.ok_or(Damage::OutOfRange { what: "the type of a node", offset, value: node.type_, limit })?;
        let key = match class {
            Class::Fixed(_) => (node.type_, 0, 0, false),
            Class::Placed => (node.type_, node.name, self.locations.of(row as usize), false),
            Class::Named => (node.type_, node.name, 0, self.detached.contains(row)),
            Class::Group => (node.type_, node.name, 0, false),
        };
        match worker.last {
            Some((last, type_id)) if last == key => return Ok(type_id),
            _ => {}
        }
        let type_id = match worker.types.get(&key) {
            Some(&type_id) => type_id,
            None => {
                self.name(node.name, offset)?;
                let type_id = self.declare_type(class, key)?;
                worker.types.insert(key, type_id);
                type_id
            }
        };
        worker.last = Some((key, type_id));
        Ok(type_id)
    }

    #[cold]
    fn declare_type(&self, class: &Class, (type_, name, place, is_detached): TypeKey) -> Result<TypeId, ImportError> {
        let kind = self.kinds[type_ as usize];
        if let Class::Fixed(name) = class {
            return self.context.vocabulary.declare_type(&TypeDescription::new(kind, name));
        }
        let text = self.text(name);
        let text = match class {
            Class::Group if text.is_empty() => Cow::Borrowed("(root)"),
            Class::Group => text,
            _ if is_detached => Cow::Owned(format!("Detached {text}")),
            _ => text,
        };
        let name = if *class == Class::Group { Cow::Borrowed(&*text) } else { constructor(&text) };
        let mut description = TypeDescription::new(kind, &name);
        let Some(place) = self.locations.place(place) else {
            return self.context.vocabulary.declare_type(&description);
        };
        let (file, column) = (format!("script {}", place.script_id), (place.column + 1).to_string());
        let attributes = [("column", &*column)];
        description.file = Some(&file);
        description.line = u32::try_from(place.line + 1).ok();
        description.attributes = &attributes;
        self.context.vocabulary.declare_type(&description)
    }
}
