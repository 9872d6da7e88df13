//! Small graphs: for comparing answers with their definitions.

use barrow_analyzer::Recording;
use barrow_writer::{
    Compression, KindRole, Label, Object, Options, SnapshotInfo, StrengthClass, StrengthId, StringId, TypeDescription,
    TypeId, Writer, WriterError,
};

use crate::shelf::Shelf;
use barrow_statistics::Random;

/// A graph: objects with sizes, references with strengths, roots in groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// The type of each object, below [`Graph::TYPES`]; there are as many objects.
    pub types: Vec<u8>,
    /// Shallow and unmanaged size of each object.
    pub sizes: Vec<(u64, u64)>,
    /// The outgoing references of each object: targets and strengths. The key of an ephemeron is the
    /// target before it.
    pub references: Vec<Vec<(u32, StrengthClass)>>,
    /// Roots: group and target.
    pub roots: Vec<(u8, u32)>,
}

impl Graph {
    /// The names of the types.
    pub const TYPES: [&'static str; 4] = ["Pair", "List", "Map", "Leaf"];
    /// The names of the groups of roots.
    pub const GROUPS: [&'static str; 3] = ["stack", "globals", "handles"];
    /// The names of the first references of every object; the others are numbered.
    pub const NAMES: [&'static str; 3] = ["first", "second", "third"];

    /// A graph of up to `most` objects with cycles, references to itself and several to the same object,
    /// several roots, unreachable parts, and, if requested, weak references and ephemerons.
    #[must_use]
    pub fn random(random: &mut Random, most: u64, strengths: bool) -> Self {
        let size = 1 + random.below(most);
        let mut graph = Graph::default();
        let density = 1 + random.below(4);
        for object in 0..size {
            graph.types.push(random.below(4) as u8);
            graph.sizes.push((random.below(100), if random.below(4) == 0 { random.below(50) } else { 0 }));
            let mut references = Vec::new();
            for _ in 0..random.below(2 * density) {
                let near = (object + 1 + random.below(3)) % size;
                let target = if random.below(2) == 0 { near } else { random.below(size) } as u32;
                let strength = match random.below(10) {
                    0 if strengths => StrengthClass::Weak,
                    1 if strengths => StrengthClass::Soft,
                    2 | 3 if strengths => StrengthClass::Ephemeron,
                    _ => StrengthClass::Strong,
                };
                references.push((target, strength));
            }
            graph.references.push(references);
        }
        for _ in 0..random.below(4) {
            graph.roots.push((random.below(3) as u8, random.below(size) as u32));
        }
        graph
    }

    /// Parses a graph in words: `root -> a(16) -> b(24); a -> c(8)`. Names are numbered in order of appearance; a size
    /// follows a name once; the targets of `root` are held by the group "globals".
    ///
    /// # Panics
    /// If a size is not a number.
    #[must_use]
    pub fn of_words(text: &str) -> (Self, Vec<String>) {
        let (mut graph, mut names) = (Graph::default(), Vec::<String>::new());
        for chain in text.split(';') {
            let mut before: Option<Option<u32>> = None;
            for word in chain.split("->").map(str::trim).filter(|word| !word.is_empty()) {
                let (name, size) = word.trim_end_matches(')').split_once('(').unwrap_or((word, ""));
                let id = (name != "root").then(|| {
                    let known = names.iter().position(|known| known == name);
                    known.unwrap_or_else(|| {
                        names.push(name.to_owned());
                        graph.types.push(0);
                        graph.sizes.push((0, 0));
                        graph.references.push(Vec::new());
                        names.len() - 1
                    }) as u32
                });
                if let (Some(id), false) = (id, size.is_empty()) {
                    graph.sizes[id as usize].0 = size.parse().expect("a size is a number");
                }
                match (before, id) {
                    (Some(None), Some(id)) => graph.roots.push((1, id)),
                    (Some(Some(source)), Some(id)) => {
                        graph.references[source as usize].push((id, StrengthClass::Strong))
                    }
                    _ => {}
                }
                before = Some(id);
            }
        }
        (graph, names)
    }

    /// The graph as a recording of one snapshot, in memory.
    ///
    /// # Panics
    /// If it cannot be recorded: it is in memory.
    #[must_use]
    pub fn recording(&self) -> Recording {
        Recording::from_bytes(Self::bytes_of(&[self], None)).expect("what was written is read")
    }

    /// The bytes of a recording with the snapshots `graphs`, and with this identifier if one is given.
    ///
    /// # Panics
    /// If they cannot be recorded: they are in memory.
    #[must_use]
    pub fn bytes_of(graphs: &[&Graph], uuid: Option<[u8; 16]>) -> Vec<u8> {
        Self::record_all(graphs, uuid).expect("memory takes everything")
    }

    fn record_all(graphs: &[&Graph], uuid: Option<[u8; 16]>) -> Result<Vec<u8>, WriterError> {
        let shelf = Shelf::default();
        let (compression, memory_budget_bytes) = (Compression::None, 4 << 20);
        let options = Options { compression, threads: 0, memory_budget_bytes, uuid, ..Options::default() };
        let writer = Writer::to_stream(Box::new(shelf.clone()), options)?;
        let words = Words::declare(&writer)?;
        for graph in graphs {
            graph.record(&writer, &words)?;
        }
        writer.finish()?;
        Ok(shelf.take())
    }

    fn record(&self, writer: &Writer, words: &Words) -> Result<(), WriterError> {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        let mut shard = snapshot.shard();
        for &(group, target) in &self.roots {
            shard.root(words.groups[usize::from(group)], None, target.into())?;
        }
        for (object, references) in self.references.iter().enumerate() {
            let (shallow_bytes, unmanaged_bytes) = self.sizes[object];
            let type_id = words.types[usize::from(self.types[object])];
            shard.object(object as u64, &Object { unmanaged_bytes, ..Object::new(type_id, shallow_bytes) })?;
            for (index, &(target, class)) in references.iter().enumerate() {
                let label = words.names.get(index).map_or(Label::Index(index as u64), |&name| Label::Name(name));
                shard.reference(label, words.strength(class), target.into())?;
            }
        }
        shard.finish()?;
        snapshot.commit()?;
        Ok(())
    }

    /// The objects that the roots reach without those of `removed`, by the definition: everything that a reachable
    /// object refers to strongly, and the value of an ephemeron whose source and key are reachable, until nothing more
    /// is found.
    #[must_use]
    pub fn reachable_without(&self, removed: &[bool]) -> Vec<bool> {
        let mut reached = vec![false; self.types.len()];
        self.roots.iter().for_each(|&(_, target)| reached[target as usize] = !removed[target as usize]);
        loop {
            let mut found = Vec::new();
            for (object, references) in self.references.iter().enumerate().filter(|(object, _)| reached[*object]) {
                for (at, &(target, class)) in references.iter().enumerate() {
                    let key = at.checked_sub(1).map_or(object, |before| references[before].0 as usize);
                    let holds = match class {
                        StrengthClass::Strong => true,
                        StrengthClass::Weak | StrengthClass::Soft => false,
                        StrengthClass::Ephemeron => reached[key],
                    };
                    if holds && !reached[target as usize] && !removed[target as usize] {
                        found.push(target as usize);
                    }
                }
            }
            if found.is_empty() {
                return reached;
            }
            found.into_iter().for_each(|object| reached[object] = true);
        }
    }

    /// Shallow and unmanaged size of an object.
    #[must_use]
    pub fn bytes(&self, object: usize) -> u64 {
        self.sizes[object].0 + self.sizes[object].1
    }
}

/// The declarations that graphs are recorded with.
struct Words {
    types: Vec<TypeId>,
    groups: Vec<StringId>,
    names: Vec<StringId>,
    weak: StrengthId,
    soft: StrengthId,
    ephemeron: StrengthId,
}

impl Words {
    fn declare(writer: &Writer) -> Result<Self, WriterError> {
        let kind = writer.kind("object", KindRole::Object)?;
        let declare = |name| writer.declare_type(&TypeDescription::new(kind, name));
        Ok(Words {
            types: Graph::TYPES.into_iter().map(declare).collect::<Result<_, _>>()?,
            weak: writer.strength("weak", StrengthClass::Weak)?,
            soft: writer.strength("soft", StrengthClass::Soft)?,
            ephemeron: writer.strength("ephemeron", StrengthClass::Ephemeron)?,
            groups: Graph::GROUPS.into_iter().map(|name| writer.string(name)).collect::<Result<_, _>>()?,
            names: Graph::NAMES.into_iter().map(|name| writer.string(name)).collect::<Result<_, _>>()?,
        })
    }

    fn strength(&self, class: StrengthClass) -> StrengthId {
        match class {
            StrengthClass::Strong => StrengthId::STRONG,
            StrengthClass::Weak => self.weak,
            StrengthClass::Soft => self.soft,
            StrengthClass::Ephemeron => self.ephemeron,
        }
    }
}
