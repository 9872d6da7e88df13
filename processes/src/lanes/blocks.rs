//! Lanes as drawn: long spans as they are, short ones merged where they are too small to see.

use crate::classes::{LabelId, Schema};
use crate::tree::{ImageId, duration};
use crate::window::Window;

use super::{Lanes, Span};

/// A part of a lane drawn in one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The lane.
    pub lane: u32,
    /// Start of its first span, in nanoseconds since the recording began.
    pub from_ns: i64,
    /// End of its last span.
    pub to_ns: i64,
    /// The class that ran longest in it; `None` if the schema ignores that.
    pub label: Option<LabelId>,
    /// Time that this class ran in it.
    pub label_ns: u64,
    /// Time that anything ran in it.
    pub running_ns: u64,
    /// Number of spans in it.
    pub spans: u32,
    /// Its image, if all its spans are of one image.
    pub image: Option<ImageId>,
    /// Time in it that is on the marked path.
    pub marked_ns: u64,
}

/// Limits of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Cells into which the window is divided: pixels. Spans shorter than a cell are merged.
    pub cells: u32,
    /// Maximum number of lanes; the first ones are drawn.
    pub lanes: usize,
    /// Maximum number of blocks. If there are more, cells are widened until there are not; wide cells have one or two
    /// blocks each, so a lane keeps a few.
    pub blocks: usize,
}

/// The blocks of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Lane by lane, each in order of time.
    pub blocks: Vec<Block>,
    /// The width of a cell: shorter spans are merged.
    pub cell_ns: u64,
    /// Time that anything ran in lanes left out.
    pub left_out_ns: u64,
}

/// Cells stop widening when the window has at most this many.
const LEAST_CELLS: u64 = 4;

impl Lanes {
    /// The blocks of a window. Spans of `path`, which are in order of time and do not overlap, are marked where they
    /// are drawn.
    #[must_use]
    pub fn blocks(&self, schema: &Schema, path: &[Span], window: Window, limits: Limits) -> Blocks {
        let length = window.length_ns();
        let mut cell_ns = length.div_ceil(limits.cells.max(1).into()).max(1);
        let shown = self.len().min(limits.lanes);
        let left_out = (shown..self.len()).flat_map(|lane| self.within(lane, window));
        let left_out_ns = left_out.fold(0, |sum: u64, span| sum.saturating_add(length_of(&span)));
        let mut merging = SpanMerger::new(schema, path, window.from_ns);
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

/// Merges spans lane by lane.
struct SpanMerger<'s> {
    schema: &'s Schema,
    path: &'s [Span],
    /// Number of pieces of the path that end before the current span.
    passed: usize,
    from_ns: i64,
    cell_ns: u64,
    blocks: Vec<Block>,
    /// Short spans of one cell that are not a block yet.
    open: Option<Block>,
    /// The cell they begin in.
    cell: u64,
    /// The running time of each class in the cell; `seen` lists the labels with a sum.
    sums: Vec<u64>,
    seen: Vec<usize>,
}

impl<'s> SpanMerger<'s> {
    fn new(schema: &'s Schema, path: &'s [Span], from_ns: i64) -> Self {
        let sums = vec![0; schema.labels().len() + 1];
        let (blocks, seen) = (Vec::new(), Vec::new());
        SpanMerger { schema, path, passed: 0, from_ns, cell_ns: 1, blocks, open: None, cell: 0, sums, seen }
    }

    /// Merges the first `shown` lanes. Returns whether the result has at most `most` blocks.
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

    /// The part of a span that is on the path. Spans of a lane come in order of time.
    fn marked_ns(&mut self, span: &Span) -> u64 {
        let left = &self.path[self.passed..];
        self.passed += left.partition_point(|piece| piece.ended_ns <= span.began_ns);
        let near = self.path[self.passed..].iter().take_while(|piece| piece.began_ns < span.ended_ns);
        let near = near.filter(|piece| piece.image == span.image);
        near.fold(0, |sum: u64, piece| {
            let common = duration(piece.began_ns.max(span.began_ns), piece.ended_ns.min(span.ended_ns));
            sum.saturating_add(common)
        })
    }

    /// Turns the short spans of a cell into a block, or extends the previous block if that has the same class and is
    /// near.
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let most = self.seen.iter().copied().max_by_key(|&slot| (self.sums[slot], std::cmp::Reverse(slot)));
        if let Some(slot) = most {
            open.label = (slot + 1 < self.sums.len()).then_some(LabelId(slot as u32));
            open.label_ns = self.sums[slot];
        }
        self.seen.drain(..).for_each(|slot| self.sums[slot] = 0);
        let cell_ns = self.cell_ns;
        match self.blocks.last_mut().filter(|last| open.extends(last, cell_ns)) {
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

impl Block {
    /// Whether it can be merged into the block before it: same lane, same class, merged itself, and near.
    fn extends(&self, last: &Block, cell_ns: u64) -> bool {
        let is_merged = duration(last.from_ns, last.to_ns) < cell_ns || last.spans > 1;
        last.lane == self.lane && last.label == self.label && is_merged && duration(last.to_ns, self.from_ns) < cell_ns
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
