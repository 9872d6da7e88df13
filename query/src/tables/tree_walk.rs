//! A walk down the dominator tree that can go on: a line for each place, children by falling bytes.
//!
//! Of millions of children a part is selected at a time, so a page costs one look at all of them and no sorting.

use std::collections::VecDeque;

use barrow_analyzer::{Chain, Holder, Rank, Tree, WantedBelow};

/// Children that are selected at a time: a pass over millions of children has a part in memory, and a list needs few
/// passes.
const PART: usize = 1 << 14;

/// A place of the tree, how deep it is, what it retains, and what is left out below it: counts and bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeLine {
    pub(crate) holder: Holder,
    pub(crate) depth: u32,
    pub(crate) retained: (u64, u64),
    pub(crate) left_out: (u64, u64),
    /// The chain that begins with the holder, if chains are one place.
    pub(crate) chain: Option<Chain>,
}

/// The part of a tree that is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// Levels.
    pub(crate) levels: u32,
    /// Only places that retain at least this number of bytes.
    pub(crate) least: u64,
    /// Children of the top that are passed over,
    pub(crate) skip: usize,
    /// besides all up to the one of this rank.
    pub(crate) after: Option<Rank>,
}

/// A walk, between two lines.
#[derive(Debug, Clone)]
pub(crate) struct Walk<P> {
    shown: Shown,
    top: Option<P>,
    /// A stack of its own: the tree may be as deep as a list is long.
    open: Vec<Open<P>>,
    /// The number of children of the top.
    pub(crate) children: u64,
    /// The rank of the last child of the top that was passed over.
    pub(crate) before: Option<Rank>,
}

/// A place whose children are being walked.
#[derive(Debug, Clone)]
struct Open<P> {
    place: P,
    depth: u32,
    ready: VecDeque<P>,
    /// Where those that are not ready begin; `None` if all are.
    after: Option<Rank>,
}

impl<P: Copy> Walk<P> {
    /// A walk that begins at `top`.
    pub(crate) fn new(top: P, shown: Shown) -> Self {
        Walk { shown, top: Some(top), open: Vec::new(), children: 0, before: None }
    }

    /// The next line.
    pub(crate) fn next<T: Tree<Place = P>>(&mut self, tree: &T) -> Option<TreeLine> {
        if let Some(top) = self.top.take() {
            return Some(self.enter(tree, top, 0));
        }
        loop {
            let open = self.open.last_mut()?;
            if let Some(child) = open.ready.pop_front() {
                let depth = open.depth + 1;
                return Some(self.enter(tree, child, depth));
            }
            match open.after {
                None => drop(self.open.pop()),
                after => {
                    let wanted = WantedBelow { least: self.shown.least, skip: 0, most: PART, after };
                    let below = tree.below(open.place, &wanted);
                    open.after = below.last.filter(|_| below.places.len() == PART);
                    open.ready = below.places.into();
                }
            }
        }
    }

    fn enter<T: Tree<Place = P>>(&mut self, tree: &T, place: P, depth: u32) -> TreeLine {
        let is_top = depth == 0;
        let (skip, after) = if is_top { (self.shown.skip, self.shown.after) } else { (0, None) };
        let is_open = depth + 1 < self.shown.levels;
        let wanted = if is_open {
            WantedBelow { least: self.shown.least, skip, most: PART, after }
        } else {
            WantedBelow::NOTHING
        };
        let below = tree.below(place, &wanted);
        if is_top {
            (self.children, self.before) = (below.all.0, below.before);
        }
        let shown = if is_open { below.large } else { (0, 0) };
        let after = below.last.filter(|_| below.places.len() == PART);
        if !below.places.is_empty() {
            self.open.push(Open { place, depth, ready: below.places.into(), after });
        }
        let left_out = (below.all.0 - shown.0, below.all.1.wrapping_sub(shown.1));
        let chain = tree.chain(place);
        TreeLine { holder: tree.holder(place), depth, retained: tree.retained(place), left_out, chain }
    }
}
