//! Sites: chains of return addresses as a prefix tree, and the counters below them.
//!
//! ```text
//!   node 0 ── 3: main+12 ── 7: load+90 ── 8: push+4 ─┬─ leaf 5: blocks of 48 B
//!                                └─ 9: read+31 ─ …    └─ leaf 6: blocks of 96 B
//! ```
//!
//! A block knows its leaf; a leaf its node and the class of its sizes; a node its return address and the node that
//! called it. Both tables only ever grow, so that numbers mean the same as long as the process lives.

use std::sync::atomic::Ordering;
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::classes;
use crate::code::{self, Module};
use crate::pairs::Pairs;
use crate::region::Pair;

/// At most `1 << BITS` leaves, and as many nodes.
pub(crate) const BITS: u32 = 20;
/// No leaf: a block that is not recorded.
pub(crate) const UNRECORDED: u32 = 0;
/// The leaf of blocks for which no other was left.
const FULL: u32 = 1;
/// The node of which all chains begin.
pub(crate) const ROOT: u32 = 0;

/// The prefix tree.
#[derive(Debug)]
pub(crate) struct Sites {
    /// Return address and parent.
    nodes: Pairs,
    /// Class and node.
    leaves: Pairs,
    code: RwLock<Code>,
}

/// The modules that are known, and how many there had been loaded then.
#[derive(Debug, Default)]
struct Code {
    modules: Vec<Module>,
    loads: u64,
}

impl Sites {
    /// The tree of this process; `None` if the system has no room for it.
    pub(crate) fn get() -> Option<&'static Sites> {
        static SITES: OnceLock<Option<Sites>> = OnceLock::new();
        SITES.get_or_init(Sites::new).as_ref()
    }

    pub(crate) fn new() -> Option<Self> {
        let sites = Sites { nodes: Pairs::new(BITS)?, leaves: Pairs::new(BITS)?, code: RwLock::default() };
        let full = sites.leaves.number(classes::ANY.into(), ROOT);
        debug_assert_eq!(full, Some(FULL));
        Some(sites)
    }

    /// The leaf for a chain of return addresses, the innermost first, and a class of sizes. What is no code ends
    /// the chain.
    ///
    /// `last` is the calling thread's last chain, the outermost frame first, each with its node: as far as this one
    /// begins alike, nothing is looked up. It is written anew; an address of 0 ends it.
    pub(crate) fn leaf(&self, chain: &[u64], class: u32, last: &[Pair]) -> u32 {
        let (mut chain, mut alike) = (chain, alike(chain, last));
        let unknown = &chain[..chain.len() - alike];
        if let Some(end) = unknown.iter().position(|&address| !self.is_code(address)) {
            chain = &chain[..end];
            alike = self::alike(chain, last);
        }
        let mut node = if alike > 0 { last[alike - 1].narrow.load(Ordering::Relaxed) } else { ROOT };
        let mut rows = last[alike..].iter();
        for &address in chain[..chain.len() - alike].iter().rev() {
            // A full table makes chains shorter.
            let Some(next) = self.nodes.number(address, node) else { break };
            node = next;
            if let Some(row) = rows.next() {
                row.wide.store(address, Ordering::Relaxed);
                row.narrow.store(node, Ordering::Relaxed);
            }
        }
        if let Some(row) = rows.next() {
            row.wide.store(0, Ordering::Relaxed);
        }
        let leaf = self.leaves.number(class.into(), node);
        leaf.or_else(|| self.leaves.number(classes::ANY.into(), node)).unwrap_or(FULL)
    }

    /// The number after the last leaf.
    pub(crate) fn leaves_end(&self) -> u32 {
        self.leaves.end()
    }

    /// The number after the last node.
    pub(crate) fn nodes_end(&self) -> u32 {
        self.nodes.end()
    }

    /// Node and class of a leaf.
    pub(crate) fn node_and_class(&self, leaf: u32) -> (u32, u32) {
        let (class, node) = self.leaves.get(leaf);
        (node, class as u32)
    }

    /// Return address and parent of a node other than the root; the parent has a smaller number.
    pub(crate) fn address_and_parent(&self, node: u32) -> (u64, u32) {
        self.nodes.get(node)
    }

    /// The modules that are known.
    pub(crate) fn modules(&self) -> Vec<Module> {
        self.code.read().unwrap_or_else(PoisonError::into_inner).modules.clone()
    }

    /// Whether something may return there: garbage on the stack is recognised by that.
    ///
    /// No lock is held while the loader is asked: a thread that is loading a library has the loader's own.
    fn is_code(&self, address: u64) -> bool {
        let known = |code: &Code| code.modules.iter().any(|module| module.contains(address));
        let (found, loads) = {
            let code = self.code.read().unwrap_or_else(PoisonError::into_inner);
            (known(&code), code.loads)
        };
        let loaded = if found { loads } else { code::loads() };
        if loaded == loads {
            return found;
        }
        let modules = code::modules();
        let mut code = self.code.write().unwrap_or_else(PoisonError::into_inner);
        code.loads = loaded;
        // Modules that went stay: blocks may come from them.
        for module in modules {
            if !code.modules.contains(&module) {
                code.modules.push(module);
            }
        }
        known(&code)
    }
}

/// The number of frames that two chains have in common, from the outermost on.
fn alike(chain: &[u64], last: &[Pair]) -> usize {
    // Relaxed, as everywhere here: only the calling thread uses its last chain.
    let pairs = chain.iter().rev().zip(last);
    pairs.take_while(|&(&address, row)| row.wide.load(Ordering::Relaxed) == address).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::zeroed;
    use crate::stack::MAX_DEPTH;

    #[test]
    fn chains_share_their_beginnings() {
        let sites = Sites::new().unwrap();
        let code = |n: u64| chains_share_their_beginnings as fn() as usize as u64 + n;
        let last = zeroed(MAX_DEPTH).unwrap();
        let one = sites.leaf(&[code(3), code(2), code(1)], 49, last);
        assert_eq!(sites.leaf(&[code(3), code(2), code(1)], 49, last), one);
        let other = sites.leaf(&[code(4), code(2), code(1)], 49, last);
        assert_ne!(one, other);
        assert_eq!(sites.nodes_end(), 5);
        let (node, class) = sites.node_and_class(other);
        assert_eq!((class, sites.address_and_parent(node)), (49, (code(4), 2)));
        assert_eq!(sites.address_and_parent(1), (code(1), ROOT));
        // An address outside of code ends the chain.
        let short = sites.leaf(&[code(1), 7, code(2)], 9, last);
        assert_eq!(sites.leaf(&[code(1)], 9, last), short);
        assert_eq!(sites.leaf(&[], 9, last), sites.leaf(&[7], 9, last));
        // Whatever the last chain was, the answer is the same.
        for chain in [&[code(3), code(2), code(1)][..], &[code(1)], &[], &[code(9), code(1)]] {
            let anew = sites.leaf(chain, 9, zeroed(MAX_DEPTH).unwrap());
            assert_eq!(sites.leaf(chain, 9, last), anew);
        }
    }
}
