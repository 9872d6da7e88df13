//! A snapshot: what is live, as a tree of calls with the blocks below it.
//!
//! ```text
//!   heap ─ calls ─▶ main ─ calls ─▶ load ─┬─ calls ─▶ push ── allocated ─▶ block, 48 B, site: push ◀ load ◀ main
//!                                         └─ allocated ─▶ block, 96 B, site: load ◀ main
//! ```
//!
//! A frame has no size of its own: what it retains is what was allocated below it and is live. Its type is its return
//! address, that of a block its class of sizes. Only blocks have a site, so that the objects of a site are its blocks.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use barrow_writer::{
    Compression, KindId, KindRole, Label, Object, Options as WriterOptions, Shard, SiteDescription, SiteId,
    SnapshotInfo, StrengthId, StringId, TypeDescription, TypeId, Word, Writer,
};

use crate::classes;
use crate::code::Module;
use crate::options::{Blocks, Options};
use crate::sites::{ROOT, Sites, UNRECORDED};
use crate::{RecordError, Taken};
use crate::{state, threads};

/// The writer's limit on memory for objects in transit.
const BUDGET_BYTES: usize = 16 << 20;

/// A recording, and what was declared in it so far.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// `None` once it was finished.
    writer: Option<Writer>,
    began: Instant,
    heap: TypeId,
    names: Names,
    frame: KindId,
    block: KindId,
    /// By return address.
    frames: HashMap<u64, TypeId>,
    /// By class of sizes.
    blocks: HashMap<u32, TypeId>,
    /// By node.
    sites: Vec<Option<SiteId>>,
    /// Modules of which the recording knows.
    modules: Vec<Module>,
}

/// Strings that are used again and again.
#[derive(Debug)]
struct Names {
    live: StringId,
    calls: StringId,
    allocated: StringId,
}

/// The live blocks of one leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Live {
    node: u32,
    class: u32,
    blocks: u64,
    bytes: u64,
}

impl Recorded {
    /// Begins a recording.
    pub(crate) fn begin(path: &Path, options: &Options) -> Result<Self, RecordError> {
        // Threads of its own would be there in a program that may have none, and end before it does.
        let writer = WriterOptions {
            memory_budget_bytes: BUDGET_BYTES,
            compression: Compression::Zstd(3),
            threads: 0,
            ..WriterOptions::default()
        };
        let writer = Writer::create(path, writer)?;
        writer.own_fact(Word::of_settings("producer"), concat!("barrow-alloc ", env!("CARGO_PKG_VERSION")))?;
        writer.own_fact(Word::of_settings("runtime"), "Rust")?;
        writer.own_fact(Word::of_settings("pid"), &std::process::id().to_string())?;
        writer.own_fact(Word::of_settings("frames of a site, at most"), &options.depth.to_string())?;
        writer.own_fact(
            Word::of_settings("frames"),
            if state::follows(options) { "by frame pointers" } else { "by tables" },
        )?;
        let frame = writer.kind(writer.marked(Word::of_kind("frame"))?, KindRole::Frame)?;
        let block = writer.kind(writer.marked(Word::of_kind("block"))?, KindRole::Object)?;
        let root = writer.kind(writer.marked(Word::of_kind("root"))?, KindRole::Root)?;
        let heap = writer.declare_type(&TypeDescription::new(root, writer.marked("heap")?))?;
        let names =
            Names { live: writer.word("live")?, calls: writer.word("calls")?, allocated: writer.word("allocated")? };
        Ok(Recorded {
            writer: Some(writer),
            began: Instant::now(),
            heap,
            names,
            frame,
            block,
            frames: HashMap::new(),
            blocks: HashMap::new(),
            sites: Vec::new(),
            modules: Vec::new(),
        })
    }

    /// Takes a snapshot and commits it.
    pub(crate) fn take(&mut self, label: &str, options: &Options) -> Result<Taken, RecordError> {
        let sites = Sites::get().ok_or(RecordError::NoMemory)?;
        let live = live(sites);
        let tree = Tree::new(sites, &live);
        let taken = Taken {
            blocks: live.iter().map(|live| live.blocks).sum(),
            bytes: live.iter().map(|live| live.bytes).sum(),
        };
        let writer = self.writer.take().ok_or(RecordError::AlreadyRecording)?;
        let announced = self.announce(&writer, label, options, sites, &live, &tree, taken);
        self.writer = Some(writer);
        announced.map(|()| taken)
    }

    /// Writes the trailing index.
    pub(crate) fn finish(mut self) -> Result<(), RecordError> {
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "all of one snapshot, used once")]
    fn announce(
        &mut self,
        writer: &Writer,
        label: &str,
        options: &Options,
        sites: &Sites,
        live: &[Live],
        tree: &Tree,
        taken: Taken,
    ) -> Result<(), RecordError> {
        self.declare(writer, sites, live, tree)?;
        let facts = [
            ("live blocks", taken.blocks.to_string()),
            ("threads", threads::count().to_string()),
            ("chains and sizes met so far", (sites.leaves_end() - 1).to_string()),
        ];
        let mut key_values = Vec::with_capacity(facts.len());
        for (key, value) in facts {
            key_values.push((writer.marked(Word::of_settings(key))?.to_owned(), value));
        }
        let info = SnapshotInfo {
            time_ns: u64::try_from(self.began.elapsed().as_nanos()).ok(),
            label: Some(label.to_owned()),
            key_values,
            ..SnapshotInfo::default()
        };
        let objects_of = |live: &Live| if options.blocks == Blocks::Each { live.blocks } else { 1 };
        let snapshot = writer.begin_snapshot(info)?;
        let mut shard = snapshot.shard();
        shard.root(self.names.live, None, 0)?;
        self.announce_tree(&mut shard, sites, live, tree, objects_of)?;
        let mut next = tree.nodes.len() as u64;
        for live in live {
            let mut object = Object::new(self.blocks[&live.class], live.bytes);
            object.site = self.sites[live.node as usize];
            if options.blocks == Blocks::Grouped {
                object.name = Some(writer.string(&format!("{} blocks", live.blocks))?);
                shard.object(next, &object)?;
                next += 1;
                continue;
            }
            // Sizes of one class differ somewhat: all get the mean, some a byte more, so that the sum is right.
            let (mean, more) = (live.bytes / live.blocks, live.bytes % live.blocks);
            for block in 0..live.blocks {
                object.shallow_bytes = mean + u64::from(block < more);
                shard.object(next, &object)?;
                next += 1;
            }
        }
        shard.finish()?;
        snapshot.commit()?;
        Ok(())
    }

    /// Announces the frames, each with those that it called and with its blocks.
    fn announce_tree(
        &self,
        shard: &mut Shard<'_>,
        sites: &Sites,
        live: &[Live],
        tree: &Tree,
        objects_of: impl Fn(&Live) -> u64,
    ) -> Result<(), RecordError> {
        let (calls, allocated) = (Label::Name(self.names.calls), Label::Name(self.names.allocated));
        let mut block = tree.nodes.len() as u64;
        // Leaves are in the order of their nodes, as the nodes are.
        let mut leaves = live.iter().peekable();
        for (object, &node) in tree.nodes.iter().enumerate() {
            let frame = match node {
                ROOT => self.heap,
                _ => self.frames[&sites.address_and_parent(node).0],
            };
            shard.object(object as u64, &Object::new(frame, 0))?;
            for &child in tree.children(object) {
                shard.reference(calls, StrengthId::STRONG, child.into())?;
            }
            while let Some(leaf) = leaves.next_if(|leaf| leaf.node == node) {
                for _ in 0..objects_of(leaf) {
                    shard.reference(allocated, StrengthId::STRONG, block)?;
                    block += 1;
                }
            }
        }
        Ok(())
    }

    /// Declares types, sites and modules that the recording does not have yet.
    fn declare(&mut self, writer: &Writer, sites: &Sites, live: &[Live], tree: &Tree) -> Result<(), RecordError> {
        for module in sites.modules() {
            if !self.modules.contains(&module) {
                let path = module.path.to_string_lossy();
                let of_module = writer.marked(Word::new("module ").before_names())?;
                writer.fact(&format!("{of_module}{path}"), &module.build_id_digits())?;
                self.modules.push(module);
            }
        }
        for live in live {
            if let std::collections::hash_map::Entry::Vacant(entry) = self.blocks.entry(live.class) {
                let name = classes::title(live.class);
                entry.insert(writer.declare_type(&TypeDescription::new(self.block, &name))?);
            }
        }
        self.sites.resize(sites.nodes_end() as usize, None);
        // Parents have smaller numbers, so that they come first.
        for &node in &tree.nodes {
            if node == ROOT || self.sites[node as usize].is_some() {
                continue;
            }
            let (address, parent) = sites.address_and_parent(node);
            // The call lies before the address to which it returns.
            let at = self.modules.iter().find(|module| module.contains(address));
            let place = at.map(|module| (module.path.to_string_lossy(), address.wrapping_sub(module.base)));
            let (module, offset) = place.unwrap_or_else(|| ("".into(), address));
            let name = format!("{}+{offset:#x}", module.rsplit('/').next().unwrap_or_default());
            let offset = format!("{offset:#x}");
            let description = SiteDescription {
                function: Some(&name),
                caller: self.sites[parent as usize],
                attributes: &[
                    (writer.marked(Word::of_names("module"))?, &module),
                    (writer.marked(Word::of_settings("return address"))?, &offset),
                ],
                ..SiteDescription::default()
            };
            self.sites[node as usize] = Some(writer.site(&description)?);
            if let std::collections::hash_map::Entry::Vacant(entry) = self.frames.entry(address) {
                entry.insert(writer.declare_type(&TypeDescription::new(self.frame, &name))?);
            }
        }
        Ok(())
    }
}

/// The live blocks by leaf, in the order of nodes and classes.
fn live(sites: &Sites) -> Vec<Live> {
    let sums = threads::live(sites.leaves_end());
    let mut all = Vec::new();
    for (leaf, (blocks, bytes)) in (0u32..).zip(sums) {
        // Threads go on while the sums are taken: a block may have been seen to go, and not to come.
        if leaf != UNRECORDED && blocks > 0 {
            let (node, class) = sites.node_and_class(leaf);
            let (blocks, (least, most)) = (blocks as u64, classes::bounds(class));
            let bytes = (bytes.max(0) as u64).clamp(blocks.saturating_mul(least), blocks.saturating_mul(most));
            all.push(Live { node, class, blocks, bytes });
        }
    }
    all.sort_unstable_by_key(|live| (live.node, live.class));
    all
}

/// The nodes with something live below them, as objects.
struct Tree {
    /// By object: the root first, then in the order of their numbers, so that callers come before what they call.
    nodes: Vec<u32>,
    /// The index of the first child of each object among all children.
    starts: Vec<u32>,
    children: Vec<u32>,
}

impl Tree {
    fn new(sites: &Sites, live: &[Live]) -> Self {
        let end = live.iter().map(|live| live.node + 1).max().unwrap_or(1) as usize;
        let mut is_live = vec![false; end];
        is_live[ROOT as usize] = true;
        for live in live {
            is_live[live.node as usize] = true;
        }
        for node in (1..end as u32).rev() {
            if is_live[node as usize] {
                is_live[sites.address_and_parent(node).1 as usize] = true;
            }
        }
        let nodes: Vec<u32> = (0..end as u32).filter(|&node| is_live[node as usize]).collect();
        let mut object_of = vec![0u32; end];
        for (object, &node) in (0u32..).zip(&nodes) {
            object_of[node as usize] = object;
        }
        let parents: Vec<u32> =
            nodes[1..].iter().map(|&node| object_of[sites.address_and_parent(node).1 as usize]).collect();
        let mut starts = vec![0u32; nodes.len() + 1];
        for &parent in &parents {
            starts[parent as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut children) = (starts.clone(), vec![0u32; parents.len()]);
        for (child, &parent) in (1u32..).zip(&parents) {
            children[next[parent as usize] as usize] = child;
            next[parent as usize] += 1;
        }
        Tree { nodes, starts, children }
    }

    fn children(&self, object: usize) -> &[u32] {
        &self.children[self.starts[object] as usize..self.starts[object + 1] as usize]
    }
}
