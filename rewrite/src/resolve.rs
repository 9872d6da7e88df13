//! Resolving: names the addresses of a recording.
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
//! The blocks are counted by site, and the tree of calls is built anew above them: only sites, types and sizes of
//! blocks are taken from the recording.

mod calls;
mod modules;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::PathBuf;
use std::thread;

use barrow_analyzer::{KindRole, Recording, SnapshotId, StringId, Tables, TypeId, walk};
use barrow_progress::Progress;
use barrow_writer::{
    Finished, KindId, Label, Object, Options, SiteDescription, SiteId, SnapshotInfo, StrengthId, TypeDescription, Word,
    Writer, WriterError,
};

use crate::error::{Result, RewriteError};

use calls::{CallPlace, Calls, Node, ROOT};
use modules::Modules;

/// Options of resolving.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolveOptions {
    /// The present location of the program or of one of its libraries. `None`: all files are where they were when the
    /// program ran.
    pub binary: Option<PathBuf>,
    /// Maximum number of writing threads. `None`: the number of cores.
    pub threads: Option<usize>,
}

/// The result of resolving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Number of addresses of the recording.
    pub addresses: usize,
    /// Number of addresses with a name.
    pub named: usize,
    /// Number of sites of the new recording.
    pub sites: usize,
    /// The totals of the new recording.
    pub finished: Finished,
    /// Modules that could not be used, a sentence each.
    pub problems: Vec<String>,
}

/// The key of equivalent blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BlockKey {
    place: CallPlace,
    /// The recorded type.
    type_id: TypeId,
    bytes: u64,
    /// The recorded name, of a group of blocks.
    name: Option<StringId>,
}

/// The number of equivalent blocks.
type Blocks = BTreeMap<BlockKey, u64>;

/// Writes `recording` again to `destination`, an empty file, with names instead of addresses.
///
/// # Errors
/// [`RewriteError::NoAddresses`]; [`RewriteError::Symbols`] and [`RewriteError::OtherProgram`] for the given program;
/// [`RewriteError::Writer`], [`RewriteError::Cancelled`], or the recording cannot be read.
pub fn resolve(
    recording: &Recording,
    destination: File,
    options: &ResolveOptions,
    progress: &dyn Progress,
) -> Result<Resolved> {
    let mut modules = Modules::new(recording, options.binary.as_deref())?;
    let calls = Calls::new(recording, &mut modules)?;
    if modules.addresses() == 0 {
        return Err(RewriteError::NoAddresses);
    }
    let threads = options.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into));
    let options = Options {
        created_ns: Some(recording.created_ns()),
        // This thread is one of them.
        threads: threads.saturating_sub(1),
        ..Options::default()
    };
    let writer = Writer::to_file(destination, options)?;
    for word in recording.words()? {
        writer.copy_word(recording.tables()?.string(word.text), word.place, word.values)?;
    }
    for (key, value) in recording.facts()? {
        writer.fact(&key, &value)?;
    }
    writer.own_fact(Word::of_settings("resolved by"), concat!("barrow ", env!("CARGO_PKG_VERSION")))?;
    let mut resolving = Resolver::new(recording, &writer, &calls)?;
    for id in recording.snapshot_ids() {
        let blocks = count(recording, id, &calls, progress)?;
        resolving.snapshot(id, &blocks)?;
    }
    let sites = resolving.sites.len();
    let finished = writer.finish()?;
    let (addresses, named) = (modules.addresses(), modules.named());
    Ok(Resolved { addresses, named, sites, finished, problems: modules.problems() })
}

/// The blocks of a snapshot, by place.
fn count(recording: &Recording, id: SnapshotId, calls: &Calls, progress: &dyn Progress) -> Result<Blocks> {
    let tables = recording.tables()?;
    let mut blocks = Blocks::new();
    walk(recording, id, progress, |object, _| {
        if tables.kind_role(tables.type_kind(object.type_id)) == KindRole::Object {
            let place = calls.of_site(object.site);
            let alike = BlockKey { place, type_id: object.type_id, bytes: object.shallow_bytes, name: object.name };
            *blocks.entry(alike).or_default() += 1;
        }
        Ok(())
    })?;
    Ok(blocks)
}

/// The recording with names, and its declarations so far.
struct Resolver<'r> {
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

/// Frequently used strings.
struct Names {
    live: StringId,
    calls: StringId,
    allocated: StringId,
}

impl<'r> Resolver<'r> {
    fn new(recording: &'r Recording, writer: &'r Writer, calls: &'r Calls) -> Result<Self, WriterError> {
        let root = writer.kind(writer.marked(Word::of_kind("root"))?, KindRole::Root)?;
        Ok(Resolver {
            recording,
            writer,
            calls,
            heap: writer.declare_type(&TypeDescription::new(root, writer.marked("heap")?))?,
            frame: writer.kind(writer.marked(Word::of_kind("frame"))?, KindRole::Frame)?,
            block: writer.kind(writer.marked(Word::of_kind("block"))?, KindRole::Object)?,
            frames: HashMap::new(),
            blocks: HashMap::new(),
            sites: HashMap::new(),
            names: Names {
                live: writer.word("live")?,
                calls: writer.word("calls")?,
                allocated: writer.word("allocated")?,
            },
        })
    }

    /// Writes one snapshot.
    fn snapshot(&mut self, id: SnapshotId, blocks: &Blocks) -> Result<()> {
        let info = self.recording.snapshot(id)?;
        let info = SnapshotInfo {
            time_ns: info.time_ns,
            gc_number: info.gc_number,
            label: info.label,
            key_values: info.key_values,
        };
        Ok(self.announce(info, blocks, self.recording.tables()?)?)
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
