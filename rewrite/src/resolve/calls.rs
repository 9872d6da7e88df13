//! The calls of a program, as a tree built from the chains of return addresses of a recording.

use std::collections::HashMap;

use barrow_analyzer::{Recording, SiteId};
use barrow_symbols::Frame;

use crate::error::Result;

use super::modules::Modules;

/// A chain of calls: a node of the tree. Callers have smaller numbers.
pub(super) type Node = u32;
/// The chain of no calls.
pub(super) const ROOT: Node = 0;

/// The function of Rust that calls the program's own code: everything outside of it is the runtime.
const RUNTIME: &str = "__rust_begin_short_backtrace";
/// Parts of paths of Rust's own library, as it is distributed and as it is built.
const LIBRARY_PATHS: [&str; 5] = ["/library/alloc/", "/library/core/", "/library/std/", "/rust/deps/", "/rustc/"];
/// Prefixes of functions between the program and the allocator.
const ALLOCATOR: [&str; 6] = ["barrow_alloc::", "<barrow_alloc::", "__rust_", "__rustc::", "__rdl_", "__rg_"];

/// The place of blocks: calls of Rust's library are not nodes of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CallPlace {
    /// The innermost call of the program itself.
    pub(super) node: Node,
    /// The call of Rust's library made by that call, as the number of a frame.
    pub(super) through: Option<u32>,
}

/// Chains of calls that share their beginnings.
struct Tree {
    /// Caller and frame of each node.
    nodes: Vec<(Node, u32)>,
    known: HashMap<(Node, u32), Node>,
}

impl Tree {
    fn new() -> Self {
        Tree { nodes: vec![(ROOT, 0)], known: HashMap::new() }
    }

    /// The chain extended by one call.
    fn call(&mut self, caller: Node, frame: u32) -> Node {
        let next = self.nodes.len() as Node;
        *self.known.entry((caller, frame)).or_insert_with(|| {
            self.nodes.push((caller, frame));
            next
        })
    }
}

/// The calls of the program itself, as a tree.
pub(super) struct Calls {
    tree: Tree,
    frames: Vec<Frame>,
    numbers: HashMap<Frame, u32>,
    /// By site of the recording.
    places: Vec<CallPlace>,
}

impl Calls {
    /// The calls of all sites of a recording.
    ///
    /// # Errors
    /// Errors of the analyzer.
    pub(super) fn new(recording: &Recording, modules: &mut Modules) -> Result<Self> {
        let none = CallPlace { node: ROOT, through: None };
        let mut calls = Calls {
            tree: Tree::new(),
            frames: vec![Frame { function: None, file: None, line: None, column: None }],
            numbers: HashMap::new(),
            places: vec![none],
        };
        // All calls, including those that places leave out, and the chain of each site.
        let (mut all, mut whole) = (Tree::new(), vec![ROOT]);
        let mut named: HashMap<(String, u64), Vec<u32>> = HashMap::new();
        for id in 1..=u32::try_from(recording.site_count()?).unwrap_or(u32::MAX) {
            let site = recording.site(SiteId(id))?.unwrap_or_default();
            let caller = site.caller.and_then(|caller| whole.get(caller.0 as usize)).copied().unwrap_or(ROOT);
            let attribute = |key| site.attributes.iter().find(|(known, _)| *known == key).map(|&(_, value)| value);
            let address =
                attribute("return address").and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
            let node = match (attribute("module"), address) {
                (Some(module), Some(address)) => {
                    let key = (module.to_owned(), address);
                    if !named.contains_key(&key) {
                        let frames = modules.frames(module, address, site.function.unwrap_or("unknown"));
                        named.insert(key.clone(), frames.into_iter().map(|frame| calls.number(frame)).collect());
                    }
                    // The outermost is called first.
                    named[&key].iter().rev().fold(caller, |caller, &frame| match calls.function(frame) {
                        Some(function) if function.contains(RUNTIME) => ROOT,
                        _ => all.call(caller, frame),
                    })
                }
                _ => caller,
            };
            whole.push(node);
            let place = calls.place(&all, node);
            calls.places.push(place);
        }
        Ok(calls)
    }

    /// The place of the blocks of a site.
    pub(super) fn of_site(&self, site: Option<SiteId>) -> CallPlace {
        self.places[site.map(|site| site.0 as usize).filter(|&site| site < self.places.len()).unwrap_or(0)]
    }

    /// The caller of a node; the root is its own caller.
    pub(super) fn caller(&self, node: Node) -> Node {
        self.tree.nodes[node as usize].0
    }

    /// The frame of a node other than the root.
    pub(super) fn frame(&self, node: Node) -> &Frame {
        &self.frames[self.tree.nodes[node as usize].1 as usize]
    }

    /// The name of a function of Rust's library.
    pub(super) fn function(&self, frame: u32) -> Option<&str> {
        self.frames[frame as usize].function.as_deref()
    }

    fn number(&mut self, frame: Frame) -> u32 {
        let next = self.frames.len() as u32;
        *self.numbers.entry(frame).or_insert_with_key(|frame| {
            self.frames.push(frame.clone());
            next
        })
    }

    /// The place where a chain of calls ends in the program itself, without the calls of Rust's library on the way. A
    /// chain of library calls only is kept.
    fn place(&mut self, all: &Tree, whole: Node) -> CallPlace {
        let (mut chain, mut node) = (Vec::new(), whole);
        while node != ROOT {
            let (caller, frame) = all.nodes[node as usize];
            chain.push(frame);
            node = caller;
        }
        let is_own = |frame: &u32| !is_library(&self.frames[*frame as usize]);
        let innermost = chain.iter().position(is_own);
        let own: Vec<u32> = match innermost {
            Some(_) => chain.iter().copied().filter(is_own).collect(),
            None => chain.clone(),
        };
        let through = innermost.and_then(|at| chain[..at].last().copied());
        let through = through.filter(|&frame| !is_allocator(&self.frames[frame as usize]));
        let node = own.iter().rev().fold(ROOT, |caller, &frame| self.tree.call(caller, frame));
        CallPlace { node, through }
    }
}

fn is_allocator(frame: &Frame) -> bool {
    frame.function.as_ref().is_some_and(|name| ALLOCATOR.iter().any(|begin| name.starts_with(begin)))
}

/// Whether a call is in Rust's library, or in the recorder.
fn is_library(frame: &Frame) -> bool {
    is_allocator(frame) || frame.file.as_ref().is_some_and(|file| LIBRARY_PATHS.iter().any(|part| file.contains(part)))
}
