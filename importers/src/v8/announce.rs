//! From nodes and edges to objects and references.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::classes::{Class, constructor};
use super::detached::Detached;
use super::ephemerons::{Entries, ValueEdge, ordered};
use super::layout::Layout;
use super::locations::{Locations, SourcePositionId};
use super::names::{Name, Names, Special};
use super::nodes::{Edge, Edges, Node, Nodes, Unit};
use super::parallel::for_each_unit;
use super::reference::Reference;
use super::traces::Traces;
use crate::context::Context;
use crate::error::{Damage, ImportError, Stop};
use barrow_writer::{
    KindId, KindRole, Label, Object, Shard, SiteDescription, SiteId, StrengthClass, StrengthId, StringId, Totals,
    TypeDescription, TypeId,
};

/// The name of a node whose name was lost.
const LOST: &str = "(name lost)";

/// The parts of a dump that announcing its objects needs.
pub(crate) struct DumpTables<'c, 'a> {
    pub(crate) layout: &'c Layout<'a>,
    pub(crate) names: &'c Names,
    pub(crate) locations: Locations,
    pub(crate) traces: Traces,
    pub(crate) entries: Entries,
    pub(crate) detached: Detached,
}

/// Announces the objects of a dump.
pub(crate) struct Announcer<'c, 'a> {
    context: &'c Context<'c>,
    known: DumpTables<'c, 'a>,
    node_count: u64,
    /// By type of node.
    classes: Vec<Class>,
    kinds: Vec<KindId>,
    /// By type of node: whether it is a function, whose allocation site is its position in the source.
    closures: Vec<bool>,
    /// By type of edge.
    edges: Vec<EdgeKind>,
    weak: StrengthId,
    ephemeron: StrengthId,
    key_of_value: StrengthId,
    /// The name of references to the values of WeakMaps.
    value: StringId,
    /// The empty string.
    empty: StringId,
    /// Allocation sites for the positions of functions.
    sites: Mutex<HashMap<SourcePositionId, SiteId>>,
    /// Bytes of the dump that were reported as progress.
    advanced: AtomicU64,
}

/// How edges of one type are announced.
#[derive(Debug, Clone, Copy)]
struct EdgeKind {
    labels: Labels,
    strength: StrengthId,
    /// Its strength at the first node, the root.
    from_root: StrengthId,
}

/// The meaning of `name_or_index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labels {
    Index,
    Name,
    /// A name, which may be a number or, of an internal edge, tell of an entry of a WeakMap.
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
}

/// What tells types apart: the type of the node, its name, its constructor's place, whether it is detached.
type TypeKey = (u64, u64, SourcePositionId, bool);

/// A type, and the name of its objects where the type does not say it.
type TypeAndName = (TypeId, Option<StringId>);

impl<'c, 'a> Announcer<'c, 'a> {
    /// Declares what every dump of this description has.
    pub(crate) fn new(context: &'c Context<'c>, known: DumpTables<'c, 'a>) -> Result<Self, ImportError> {
        let layout = known.layout;
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
            known,
            node_count: layout.node_count(),
            classes,
            kinds,
            edges,
            weak,
            ephemeron: vocabulary.strength("ephemeron", StrengthClass::Ephemeron)?,
            key_of_value: vocabulary.strength("key in WeakMap", StrengthClass::Weak)?,
            value: vocabulary.string("value in WeakMap")?,
            empty: vocabulary.string("")?,
            closures: types.iter().map(|name| name == "closure").collect(),
            sites: Mutex::default(),
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
            let shard = snapshot.shard();
            Ok(Worker { shard, types: HashMap::default(), last: None, sites: HashMap::default(), of_table: Vec::new() })
        };
        let work = |worker: &mut Worker<'_>, unit: usize| self.unit(worker, &units[unit]);
        for_each_unit(self.context, units.len(), begin, work, |worker| Ok(worker.shard.finish()?))?;
        Ok(snapshot.commit()?)
    }

    /// Bytes of the dump that were reported as progress.
    pub(crate) fn advanced(&self) -> u64 {
        self.advanced.load(Ordering::Relaxed)
    }

    fn unit(&self, worker: &mut Worker<'_>, unit: &Unit) -> Result<(), Stop> {
        let meta = &self.known.layout.meta;
        let mut nodes = Nodes::new(&self.known.layout.nodes, &meta.nodes, unit.first_node);
        let mut edges = Edges::new(&self.known.layout.edges, &meta.edges, unit.first_edge);
        let start = nodes.offset() + edges.offset();
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
    #[inline(always)]
    fn reference(&self, edge: &Edge, node: &Node, row: u64, offset: u64) -> Result<(Reference, Option<u64>), Stop> {
        let kind = usize::try_from(edge.type_).ok().and_then(|type_| self.edges.get(type_));
        let kind = kind.ok_or_else(|| {
            let limit = self.edges.len() as u64;
            Damage::OutOfRange { what: "the type of an edge", offset, value: edge.type_, limit }
        })?;
        let target = self.target(edge.to_node, offset)?;
        let strength = if row == 0 { kind.from_root } else { kind.strength };
        let plain = |label| Ok((Reference { label, strength, target }, None));
        if kind.labels == Labels::Index {
            return plain(Label::Index(edge.name_or_index));
        }
        if let Some(name) = self.known.names.plain(edge.name_or_index) {
            return plain(Label::Name(name));
        }
        self.special_reference(edge, kind, node, Reference { label: Label::Unknown, strength, target }, offset)
    }

    /// The reference of an edge whose name is more than a name, or lost.
    fn special_reference(
        &self,
        edge: &Edge,
        kind: &EdgeKind,
        node: &Node,
        unnamed: Reference,
        offset: u64,
    ) -> Result<(Reference, Option<u64>), Stop> {
        let plain = |label| Ok((Reference { label, ..unnamed }, None));
        match (self.name(edge.name_or_index, offset)?, kind.labels) {
            (Some(Name::Plain(name)), _) => plain(Label::Name(name)),
            (Some(Name::Special(_, Special::Number(index))), Labels::AnyName) => plain(Label::Index(index.into())),
            (Some(Name::Special(_, Special::EntryName(pair))), Labels::AnyName)
                if unnamed.strength == StrengthId::STRONG =>
            {
                let label = Label::Name(self.value);
                match self.known.entries.value_edge(pair, node.id) {
                    Some(ValueEdge::Table(key)) => Ok((Reference { label, ..unnamed }, Some(key))),
                    Some(ValueEdge::Key) => Ok((Reference { label, strength: self.key_of_value, ..unnamed }, None)),
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
        let fields = self.known.layout.meta.nodes.count;
        // The division of smaller numbers is faster.
        let target = match (u32::try_from(to_node), u32::try_from(fields)) {
            (Ok(to_node), Ok(fields)) => u64::from(to_node / fields),
            _ => to_node / fields as u64,
        };
        if target * fields as u64 == to_node && target < self.node_count {
            return Ok(target);
        }
        let limit = self.known.layout.nodes.len();
        Err(Damage::OutOfRange { what: "the node that an edge leads to", offset, value: to_node, limit })
    }

    /// The string of this number; `None` if it is lost.
    #[inline]
    fn name(&self, index: u64, offset: u64) -> Result<Option<Name>, Damage> {
        match self.known.names.get(index) {
            None if self.known.layout.end.is_ok() => {
                let limit = self.known.layout.strings.len() as u64;
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
        usize::try_from(index)
            .ok()
            .and_then(|index| self.known.layout.strings.text(index))
            .unwrap_or(Cow::Borrowed(LOST))
    }

    /// The type of a node, and its own name.
    #[inline]
    fn type_of(&self, worker: &mut Worker<'_>, node: &Node, row: u64, offset: u64) -> Result<TypeAndName, Stop> {
        let class = usize::try_from(node.type_).ok().and_then(|type_| self.classes.get(type_));
        let class = class.ok_or_else(|| {
            let limit = self.classes.len() as u64;
            Damage::OutOfRange { what: "the type of a node", offset, value: node.type_, limit }
        })?;
        let key = match class {
            Class::Fixed(_) => (node.type_, 0, 0, false),
            Class::Placed => (node.type_, node.name, self.known.locations.of(row as usize), false),
            Class::Named => (node.type_, node.name, 0, self.known.detached.contains(row)),
            Class::Group => (node.type_, node.name, 0, false),
        };
        let named = match worker.last {
            Some((last, named)) if last == key => named,
            _ => match worker.types.get(&key) {
                Some(&named) => named,
                None => {
                    let named = self.named(class, key, offset)?;
                    worker.types.insert(key, named);
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

    /// The name of an object whose type does not say it.
    #[inline]
    fn own_name(&self, index: u64, offset: u64) -> Result<Option<StringId>, Stop> {
        Ok(match self.name(index, offset)? {
            Some(Name::Plain(name) | Name::Special(Some(name), _)) => Some(name).filter(|&name| name != self.empty),
            Some(Name::Special(None, _)) => Some(self.rare_name(index)?),
            None => None,
        })
    }

    /// Where an object was allocated, if the program tracked allocations; for a function, its position in the source.
    #[inline]
    fn site(&self, worker: &mut Worker<'_>, node: &Node, row: u64) -> Result<Option<SiteId>, ImportError> {
        if node.trace_node_id != 0
            && let Some(site) = self.known.traces.site(node.trace_node_id)
        {
            return Ok(Some(site));
        }
        if !self.closures[node.type_ as usize] {
            return Ok(None);
        }
        let place = self.known.locations.of(row as usize);
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
        let Some(place) = self.known.locations.place(id) else { return Ok(None) };
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&site) = sites.get(&id) {
            return Ok(Some(site));
        }
        let file = self.known.traces.script(place.script_id, &self.known.layout.strings);
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
        let type_id = self.declare_type(class, key)?;
        // An element has attributes that its type does not name.
        let text = self.text(key.1);
        let is_named = *class == Class::Named && name.is_some() && *constructor(&text) != *text;
        Ok((type_id, if is_named { self.own_name(key.1, offset)? } else { None }))
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
        let Some(place) = self.known.locations.place(place) else {
            return self.context.vocabulary.declare_type(&description);
        };
        let file = self.known.traces.script(place.script_id, &self.known.layout.strings);
        let column = from_one(place.column).unwrap_or_default().to_string();
        let attributes = [("column", &*column)];
        description.file = Some(&file);
        description.line = from_one(place.line);
        description.attributes = &attributes;
        self.context.vocabulary.declare_type(&description)
    }
}

/// A line or column counted from 1, of one counted from 0.
fn from_one(number: u64) -> Option<u32> {
    u32::try_from(number.checked_add(1)?).ok()
}
