//! Names the addresses of a recording: for `resolve`.
//!
//! ```text
//!   recorded, by return address                 resolved, by call
//!
//!   heap ─ app+12 ─ app+90 ─ app+4 ─ block      heap ─ main ─ load ─ parse ─ block
//!          │        │        │                         │      │      │       │
//!          │        │        │ Vec::push               │      │      │       └ type: Vec::push
//!          │        │ load, with parse inlined         │      │      └ site: parse ◀ load ◀ main
//!          │ main
//! ```
//!
//! The blocks are counted by site, and the tree of calls is made anew above them: only sites, types and sizes of blocks
//! are taken from the recording.

mod calls;
mod modules;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use barrow_analyzer::{KindRole, Recording, SnapshotId, StringId, Tables, TypeId, walk};
use barrow_writer::{
    Finished, KindId, Label, Object, Options, SiteDescription, SiteId, SnapshotInfo, StrengthId, TypeDescription,
    Writer, WriterError,
};

use crate::context::Context;
use crate::error::QueryError;
use crate::progress::Meter;
use crate::sources::destination::Part;

use calls::{Calls, Node, Place, ROOT};
use modules::Modules;

/// What was resolved.
pub(crate) struct Done {
    /// Addresses of the recording.
    pub(crate) addresses: usize,
    /// Those of them that have a name now.
    pub(crate) named: usize,
    /// Sites there are now.
    pub(crate) sites: usize,
    /// What was written.
    pub(crate) finished: Finished,
    /// Modules that could not be used, a sentence each.
    pub(crate) problems: Vec<String>,
}

/// Blocks that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    place: Place,
    /// As recorded.
    type_id: TypeId,
    bytes: u64,
    /// As recorded: of a group of blocks.
    name: Option<StringId>,
}

/// How many blocks there are of each.
type Blocks = BTreeMap<Alike, u64>;

/// Writes `recording` anew, with names.
///
/// # Errors
/// That there is nothing to name, that `binary` is another program, what the analyzer and the writer meet, Ctrl-C.
pub(crate) fn resolve(
    recording: &Recording,
    part: &Part,
    binary: Option<&Path>,
    context: &Context,
    meter: &Meter,
) -> Result<Done, QueryError> {
    let mut modules = Modules::new(recording, binary)?;
    let calls = Calls::new(recording, &mut modules)?;
    if modules.addresses() == 0 {
        return Err(QueryError::usage(
            "this recording has no addresses to name: it is none of barrow-alloc, or resolved already",
        ));
    }
    let written = |source| QueryError::Write { path: part.shown().to_owned(), source };
    let options = Options {
        created_ns: Some(recording.created_ns()),
        threads: context
            .workspace
            .threads()
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
            - 1,
        ..Options::default()
    };
    let writer = Writer::to_file(part.file()?, options).map_err(written)?;
    for (key, value) in recording.facts()? {
        writer.fact(&key, &value).map_err(written)?;
    }
    writer.fact("resolved by", concat!("barrow ", env!("CARGO_PKG_VERSION"))).map_err(written)?;
    let mut resolved = Resolved::new(recording, &writer, &calls).map_err(written)?;
    for id in recording.snapshot_ids() {
        let blocks = count(recording, id, &calls, meter)?;
        resolved.snapshot(id, &blocks)?.map_err(written)?;
    }
    let sites = resolved.sites.len();
    let finished = writer.finish().map_err(written)?;
    let (addresses, named) = (modules.addresses(), modules.named());
    Ok(Done { addresses, named, sites, finished, problems: modules.problems() })
}

/// The blocks of a snapshot, by where they belong.
fn count(recording: &Recording, id: SnapshotId, calls: &Calls, meter: &Meter) -> Result<Blocks, QueryError> {
    let tables = recording.tables()?;
    let mut blocks = Blocks::new();
    walk(recording, id, meter, |object, _| {
        if tables.kind_role(tables.type_kind(object.type_id)) == KindRole::Object {
            let place = calls.of_site(object.site);
            let alike = Alike { place, type_id: object.type_id, bytes: object.shallow_bytes, name: object.name };
            *blocks.entry(alike).or_default() += 1;
        }
        Ok(())
    })?;
    Ok(blocks)
}

/// The recording with names, and what was declared in it so far.
struct Resolved<'r> {
    recording: &'r Recording,
    writer: &'r Writer,
    calls: &'r Calls,
    heap: TypeId,
    frame: KindId,
    block: KindId,
    /// Types of frames and of blocks, by name.
    frames: HashMap<String, TypeId>,
    blocks: HashMap<String, TypeId>,
    sites: HashMap<Node, SiteId>,
    names: Names,
}

/// Strings that are used again and again.
struct Names {
    live: StringId,
    calls: StringId,
    allocated: StringId,
}

impl<'r> Resolved<'r> {
    fn new(recording: &'r Recording, writer: &'r Writer, calls: &'r Calls) -> Result<Self, WriterError> {
        let root = writer.kind("root", KindRole::Root)?;
        Ok(Resolved {
            recording,
            writer,
            calls,
            heap: writer.declare_type(&TypeDescription::new(root, "heap"))?,
            frame: writer.kind("frame", KindRole::Frame)?,
            block: writer.kind("block", KindRole::Object)?,
            frames: HashMap::new(),
            blocks: HashMap::new(),
            sites: HashMap::new(),
            names: Names {
                live: writer.string("live")?,
                calls: writer.string("calls")?,
                allocated: writer.string("allocated")?,
            },
        })
    }

    /// Writes one snapshot.
    fn snapshot(&mut self, id: SnapshotId, blocks: &Blocks) -> Result<Result<(), WriterError>, QueryError> {
        let info = self.recording.snapshot(id)?;
        let info = SnapshotInfo {
            time_ns: info.time_ns,
            gc_number: info.gc_number,
            label: info.label,
            key_values: info.key_values,
        };
        Ok(self.announce(info, blocks, self.recording.tables()?))
    }

    fn announce(&mut self, info: SnapshotInfo, blocks: &Blocks, tables: &Tables) -> Result<(), WriterError> {
        let tree = self.tree(blocks);
        let writer = self.writer;
        let snapshot = writer.begin_snapshot(info)?;
        let mut shard = snapshot.shard();
        shard.root(self.names.live, None, 0)?;
        // Frames come first, then blocks, both in the order of nodes.
        let first_block = tree.len() as u64;
        let mut block = first_block;
        let mut runs = blocks.iter().peekable();
        for (object, (&node, children)) in (0u64..).zip(&tree) {
            shard.object(object, &self.frame(node)?)?;
            for &child in children {
                shard.reference(Label::Name(self.names.calls), StrengthId::STRONG, child)?;
            }
            while let Some((_, &count)) = runs.next_if(|(alike, _)| alike.place.node == node) {
                for target in block..block + count {
                    shard.reference(Label::Name(self.names.allocated), StrengthId::STRONG, target)?;
                }
                block += count;
            }
        }
        block = first_block;
        for (alike, &count) in blocks {
            let through = alike.place.through.and_then(|frame| self.calls.function(frame));
            let type_id = self.block_type(through.unwrap_or_else(|| tables.type_name(alike.type_id)))?;
            let mut object = Object::new(type_id, alike.bytes);
            object.site = self.site(alike.place.node)?;
            object.name = alike.name.map(|name| writer.string(tables.string(name))).transpose()?;
            for number in block..block + count {
                shard.object(number, &object)?;
            }
            block += count;
        }
        shard.finish()?;
        snapshot.commit()?;
        Ok(())
    }

    /// The nodes with blocks below them, each with the objects of its children; nodes become objects in their order.
    fn tree(&self, blocks: &Blocks) -> BTreeMap<Node, Vec<u64>> {
        let mut tree = BTreeMap::from([(ROOT, Vec::new())]);
        for alike in blocks.keys() {
            let mut node = alike.place.node;
            while !tree.contains_key(&node) {
                tree.insert(node, Vec::new());
                node = self.calls.caller(node);
            }
        }
        let objects: HashMap<Node, u64> = tree.keys().copied().zip(0..).collect();
        for (&node, &object) in objects.iter().filter(|&(&node, _)| node != ROOT) {
            tree.entry(self.calls.caller(node)).or_default().push(object);
        }
        tree.values_mut().for_each(|children| children.sort_unstable());
        tree
    }

    /// A frame as an object: its type is the function, its name the place of the call.
    fn frame(&mut self, node: Node) -> Result<Object, WriterError> {
        if node == ROOT {
            return Ok(Object::new(self.heap, 0));
        }
        let frame = self.calls.frame(node);
        let function = frame.function.as_deref().unwrap_or("unknown");
        let type_id = match self.frames.get(function) {
            Some(&type_id) => type_id,
            None => {
                let type_id = self.writer.declare_type(&TypeDescription::new(self.frame, function))?;
                *self.frames.entry(function.to_owned()).or_insert(type_id)
            }
        };
        let mut object = Object::new(type_id, 0);
        if let (Some(file), Some(line)) = (&frame.file, frame.line) {
            object.name = Some(self.writer.string(&format!("{file}:{line}"))?);
        }
        Ok(object)
    }

    fn block_type(&mut self, name: &str) -> Result<TypeId, WriterError> {
        if let Some(&type_id) = self.blocks.get(name) {
            return Ok(type_id);
        }
        let type_id = self.writer.declare_type(&TypeDescription::new(self.block, name))?;
        Ok(*self.blocks.entry(name.to_owned()).or_insert(type_id))
    }

    /// The site of a node, with those of its callers.
    fn site(&mut self, node: Node) -> Result<Option<SiteId>, WriterError> {
        let mut undeclared = Vec::new();
        let mut above = node;
        while above != ROOT && !self.sites.contains_key(&above) {
            undeclared.push(above);
            above = self.calls.caller(above);
        }
        let mut caller = self.sites.get(&above).copied();
        for node in undeclared.into_iter().rev() {
            let frame = self.calls.frame(node);
            let site = self.writer.site(&SiteDescription {
                function: frame.function.as_deref(),
                file: frame.file.as_deref(),
                line: frame.line,
                column: frame.column,
                caller,
                ..SiteDescription::default()
            })?;
            self.sites.insert(node, site);
            caller = Some(site);
        }
        Ok(caller)
    }
}
