//! A heap as plain data.

use barrow_analyzer::{AnalyzerError, Recording, Reference, Silent, SnapshotId, walk};
use barrow_writer::{
    KindId, KindRole, Label, Object, SiteDescription, SiteId, Snapshot, SnapshotInfo, StrengthClass, StrengthId,
    StringId, Totals, TypeDescription, TypeId, Writer, WriterError,
};

use barrow_statistics::Random;

/// An outgoing reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Its label.
    pub label: Label,
    /// Its strength.
    pub strength: StrengthId,
    /// Its target.
    pub target: u32,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its type.
    pub type_id: TypeId,
    /// Its shallow size.
    pub shallow_bytes: u64,
    /// Its unmanaged size.
    pub unmanaged_bytes: u64,
    /// Its address, serial and site, where it has them.
    pub identity: (Option<u64>, Option<u64>, Option<SiteId>),
    /// Its own name, if it has one.
    pub name: Option<StringId>,
    /// Its references.
    pub edges: Vec<Edge>,
}

/// A heap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heap {
    /// Its objects, by number.
    pub nodes: Vec<Node>,
}

/// The declarations that random heaps use.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    /// Kinds: object, frame.
    pub kinds: Vec<KindId>,
    /// Types of both kinds.
    pub types: Vec<TypeId>,
    /// Names of references.
    pub names: Vec<StringId>,
    /// Strong and weak.
    pub strengths: Vec<StrengthId>,
}

impl Vocabulary {
    /// Declares two kinds, six types, some names, a weak strength and four sites.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn declare(writer: &Writer) -> Result<Self, WriterError> {
        let kinds = vec![writer.kind("object", KindRole::Object)?, writer.kind("frame", KindRole::Frame)?];
        let mut types = Vec::new();
        for (number, name) in ["Pair", "List", "Größe", "Map", "main", "worker"].into_iter().enumerate() {
            let kind = kinds[usize::from(number > 3)];
            types.push(writer.declare_type(&TypeDescription {
                layout: Some("boxed"),
                file: (number > 3).then_some("app.x"),
                line: (number > 3).then_some(7),
                ..TypeDescription::new(kind, name)
            })?);
        }
        let names = ["head", "tail", "next", "left", "right", "key", "value", "parent"];
        let names = names.into_iter().map(|name| writer.string(name)).collect::<Result<_, _>>()?;
        let strengths = vec![StrengthId::STRONG, writer.strength("weak", StrengthClass::Weak)?];
        let mut caller = None;
        for (number, (key, value)) in (1..).zip([("unit", "main"), ("tier", "1"), ("tier", "2")]) {
            caller = Some(writer.site(&SiteDescription {
                function: (number > 1).then_some("work"),
                file: Some("app.x"),
                line: Some(10 * number),
                column: (number == 3).then_some(4),
                caller,
                attributes: &[(key, value)],
            })?);
        }
        writer.site(&SiteDescription::default())?;
        Ok(Vocabulary { kinds, types, names, strengths })
    }
}

impl Heap {
    /// A heap of `size` objects of all forms: fixed fields, arrays, maps with keys of their own, unlabelled references,
    /// weak ones, huge sizes, with and without identity.
    #[must_use]
    pub fn random(random: &mut Random, size: u32, vocabulary: &Vocabulary) -> Self {
        let has = [random.below(3), random.below(3), random.below(3), random.below(3)];
        let nodes = (0..size).map(|number| {
            let mut optional = |has: u64| (has == 0 && random.below(4) > 0).then(|| random.next() >> 20 | 1);
            let (address, serial) = (optional(has[0]), optional(has[1]));
            // Some of the sites have a row, most are mere numbers.
            let site =
                optional(has[2]).map(|site| SiteId((site & if site & 1 << 20 == 0 { 0xffff } else { 7 }) as u32));
            let name = optional(has[3]).map(|name| vocabulary.names[name as usize % vocabulary.names.len()]);
            Node { name, ..Self::random_node(random, number, size, vocabulary, (address, serial, site)) }
        });
        Heap { nodes: nodes.collect() }
    }

    fn random_node(
        random: &mut Random,
        number: u32,
        size: u32,
        vocabulary: &Vocabulary,
        identity: (Option<u64>, Option<u64>, Option<SiteId>),
    ) -> Node {
        let form = random.below(6);
        let type_id = vocabulary.types[form as usize];
        let count = match form {
            0 => 2,
            4 => 5,
            _ => random.below(7),
        };
        let mut edges = Vec::new();
        for position in 0..count {
            let name = match form {
                0 | 4 => position,
                _ => random.below(vocabulary.names.len() as u64),
            };
            let label = match form {
                1 => Label::Index(position),
                2 => Label::Unknown,
                5 if position > 0 => Label::Index(position - 1 + random.below(2)),
                _ => Label::Name(vocabulary.names[name as usize]),
            };
            let near = u64::from(number) + random.below(4);
            let target = if random.below(2) == 0 { near } else { random.below(size.into()) };
            let strength = vocabulary.strengths[usize::from(form == 3 && random.below(3) == 0)];
            edges.push(Edge { label, strength, target: (target % u64::from(size)) as u32 });
        }
        let shallow_bytes = if random.below(50) == 0 { random.next() >> 8 } else { 16 + 8 * random.below(4) };
        let unmanaged_bytes = if random.below(3) == 0 { random.below(1000) } else { 0 };
        Node { type_id, shallow_bytes, unmanaged_bytes, identity, name: None, edges }
    }

    /// Announces the objects `range` to a new shard of `snapshot`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn announce(&self, snapshot: &Snapshot<'_>, range: std::ops::Range<usize>) -> Result<(), WriterError> {
        let mut shard = snapshot.shard();
        for (number, node) in (range.start as u64..).zip(&self.nodes[range]) {
            let (address, serial, site) = node.identity;
            shard.object(
                number,
                &Object {
                    unmanaged_bytes: node.unmanaged_bytes,
                    address,
                    serial,
                    site,
                    name: node.name,
                    ..Object::new(node.type_id, node.shallow_bytes)
                },
            )?;
            for edge in &node.edges {
                shard.reference(edge.label, edge.strength, edge.target.into())?;
            }
        }
        shard.finish()
    }

    /// Records the heap as one snapshot, with object 0 as its root.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn record(&self, writer: &Writer) -> Result<Totals, WriterError> {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        let mut shard = snapshot.shard();
        shard.root(writer.string("globals")?, None, 0)?;
        shard.finish()?;
        self.announce(&snapshot, 0..self.nodes.len())?;
        snapshot.commit()
    }

    /// Reads a snapshot back.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub fn read(recording: &Recording, snapshot: SnapshotId) -> Result<Self, AnalyzerError> {
        let mut heap = Heap::default();
        walk(recording, snapshot, &Silent, |details, references| {
            assert_eq!(details.references, references.len() as u64, "references of {}", details.id);
            let edge = |reference: &Reference| Edge {
                label: reference.label,
                strength: reference.strength,
                target: reference.target.0,
            };
            heap.nodes.push(Node {
                type_id: details.type_id,
                shallow_bytes: details.shallow_bytes,
                unmanaged_bytes: details.unmanaged_bytes,
                identity: (details.address, details.serial, details.site),
                name: details.name,
                edges: references.iter().map(edge).collect(),
            });
            Ok(())
        })?;
        Ok(heap)
    }
}
