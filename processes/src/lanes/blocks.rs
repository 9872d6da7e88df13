//! What is drawn of lanes: long spans as they are, short ones merged where they are too small to be seen.

use crate::classes::{LabelId, Schema};
use crate::tree::{ImageId, duration};
use crate::window::Window;

use super::{Lanes, Span};

/// A part of a lane that is drawn in one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The lane.
    pub lane: u32,
    /// When its first span begins, in nanoseconds since the recording began.
    pub from_ns: i64,
    /// When its last span ends.
    pub to_ns: i64,
    /// The class that ran longest in it; `None` if the schema ignores that.
    pub label: Option<LabelId>,
    /// How long that class ran in it.
    pub label_ns: u64,
    /// How long anything ran in it.
    pub running_ns: u64,
    /// How many spans it has.
    pub spans: u32,
    /// Its image, if all of it is of one.
    pub image: Option<ImageId>,
    /// How much of it is on the path that is marked.
    pub marked_ns: u64,
}

/// How much is drawn at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Cells into which the window is divided: pixels. What is shorter than one is merged.
    pub cells: u32,
    /// Lanes, the first ones.
    pub lanes: usize,
    /// Blocks. If there are more, cells are made wider until there are not; wide cells have one or two blocks each, so a
    /// lane keeps a few.
    pub blocks: usize,
}

/// What is drawn of lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Lane by lane, each in the order of time.
    pub blocks: Vec<Block>,
    /// The width of a cell: spans that are shorter are merged.
    pub cell_ns: u64,
    /// How long anything ran in lanes that are left out.
    pub left_out_ns: u64,
}

/// The cells of a window after which merging ends anyway.
const LEAST_CELLS: u64 = 4;

impl Lanes {
    /// What is drawn of a window. A path is marked where it is drawn: pieces of time of images in the order of time, of which
    /// none overlaps another.
    #[must_use]
    pub fn blocks(&self, schema: &Schema, path: &[Span], window: Window, limits: Limits) -> Blocks {
        let length = window.length_ns();
        let mut cell_ns = length.div_ceil(limits.cells.max(1).into()).max(1);
        let shown = self.len().min(limits.lanes);
        let left_out = (shown..self.len()).flat_map(|lane| self.within(lane, window));
        let left_out_ns = left_out.fold(0, |sum: u64, span| sum.saturating_add(length_of(&span)));
        let mut merging = Merging::new(schema, path, window.from_ns);
        loop {
            let is_widest = length / cell_ns <= LEAST_CELLS;
            let most = if is_widest { usize::MAX } else { limits.blocks };
            if merging.merge(self, shown, window, cell_ns, most) {
                return Blocks { blocks: merging.blocks, cell_ns, left_out_ns };
            }
            cell_ns = cell_ns.saturating_mul(2);
        }
    }
}

fn length_of(span: &Span) -> u64 {
    duration(span.began_ns, span.ended_ns)
}

/// Merges spans of one lane after the other.
struct Merging<'s> {
    schema: &'s Schema,
    path: &'s [Span],
    /// The pieces of the path that end before the lane has come to them.
    passed: usize,
    from_ns: i64,
    cell_ns: u64,
    blocks: Vec<Block>,
    /// Short spans of one cell that are not a block yet.
    open: Option<Block>,
    /// The cell that they begin in.
    cell: u64,
    /// How long each class ran in it; labels in `seen` have something.
    sums: Vec<u64>,
    seen: Vec<usize>,
}

impl<'s> Merging<'s> {
    fn new(schema: &'s Schema, path: &'s [Span], from_ns: i64) -> Self {
        let sums = vec![0; schema.labels().len() + 1];
        let (blocks, seen) = (Vec::new(), Vec::new());
        Merging { schema, path, passed: 0, from_ns, cell_ns: 1, blocks, open: None, cell: 0, sums, seen }
    }

    /// Whether there are at most so many blocks.
    fn merge(&mut self, lanes: &Lanes, shown: usize, window: Window, cell_ns: u64, most: usize) -> bool {
        self.cell_ns = cell_ns;
        self.blocks.clear();
        for lane in 0..shown {
            self.passed = 0;
            for span in lanes.within(lane, window) {
                self.add(lane as u32, &span);
                if self.blocks.len() > most {
                    self.close();
                    return false;
                }
            }
            self.close();
        }
        self.blocks.len() <= most
    }

    fn add(&mut self, lane: u32, span: &Span) {
        let (label, length) = (self.schema.label(span.image), length_of(span));
        let marked_ns = self.marked_ns(span);
        if length >= self.cell_ns {
            self.close();
            self.blocks.push(Block { marked_ns, ..block(lane, span, label) });
            return;
        }
        let cell = duration(self.from_ns, span.began_ns) / self.cell_ns;
        if self.open.is_some() && cell != self.cell {
            self.close();
        }
        let slot = label.map_or(self.sums.len() - 1, LabelId::index);
        if self.sums[slot] == 0 {
            self.seen.push(slot);
        }
        self.sums[slot] = self.sums[slot].saturating_add(length);
        self.cell = cell;
        match &mut self.open {
            Some(open) => {
                open.to_ns = span.ended_ns;
                open.running_ns = open.running_ns.saturating_add(length);
                open.spans = open.spans.saturating_add(1);
                open.marked_ns = open.marked_ns.saturating_add(marked_ns);
                open.image = open.image.filter(|&image| image == span.image);
            }
            None => self.open = Some(Block { marked_ns, ..block(lane, span, label) }),
        }
    }

    /// How much of a span is on the path. Spans of a lane come in the order of time.
    fn marked_ns(&mut self, span: &Span) -> u64 {
        let left = &self.path[self.passed..];
        self.passed += left.partition_point(|piece| piece.ended_ns <= span.began_ns);
        let near = self.path[self.passed..].iter().take_while(|piece| piece.began_ns < span.ended_ns);
        let common = |piece: &Span| duration(piece.began_ns.max(span.began_ns), piece.ended_ns.min(span.ended_ns));
        near.filter(|piece| piece.image == span.image).map(common).fold(0, u64::saturating_add)
    }

    /// Makes a block of the short spans of a cell, or a part of the one before if that is of the same class and near.
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let most = self.seen.iter().copied().max_by_key(|&slot| (self.sums[slot], std::cmp::Reverse(slot)));
        if let Some(slot) = most {
            open.label = (slot + 1 < self.sums.len()).then_some(LabelId(slot as u32));
            open.label_ns = self.sums[slot];
        }
        self.seen.drain(..).for_each(|slot| self.sums[slot] = 0);
        let cell_ns = self.cell_ns;
        let goes_on = |last: &&mut Block| {
            let is_merged = duration(last.from_ns, last.to_ns) < cell_ns || last.spans > 1;
            last.lane == open.lane
                && last.label == open.label
                && is_merged
                && duration(last.to_ns, open.from_ns) < cell_ns
        };
        match self.blocks.last_mut().filter(goes_on) {
            Some(last) => {
                last.to_ns = open.to_ns;
                last.label_ns = last.label_ns.saturating_add(open.label_ns);
                last.running_ns = last.running_ns.saturating_add(open.running_ns);
                last.spans = last.spans.saturating_add(open.spans);
                last.marked_ns = last.marked_ns.saturating_add(open.marked_ns);
                last.image = last.image.filter(|&image| open.image == Some(image));
            }
            None => self.blocks.push(open),
        }
    }
}

fn block(lane: u32, span: &Span, label: Option<LabelId>) -> Block {
    let length = length_of(span);
    Block {
        lane,
        from_ns: span.began_ns,
        to_ns: span.ended_ns,
        label,
        label_ns: length,
        running_ns: length,
        spans: 1,
        image: Some(span.image),
        marked_ns: 0,
    }
}
