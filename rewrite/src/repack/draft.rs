//! A snapshot ready to be written: its frames, and the row of each object.

use std::ops::Range;

use rayon::prelude::*;

use barrow_analyzer::Tables;
use barrow_analyzer::raw::{Continuation, LoadedSnapshot, NO_OBJECT, ObjectColumns};
use barrow_format::SnapshotId;
use barrow_format::block::{BlockColumns, Encoder, ShapeForm};
use barrow_format::codec::Compression;
use barrow_format::patch::{
    ColumnFiller, Divisions, EncodedGroup, ObjectFields, RowGroup, continuation, encode_block, is_full,
};

use super::encoding;
use crate::error::Result;

/// A group whose frame is in memory.
pub(super) type FramedGroup = EncodedGroup<Vec<u8>>;

/// A snapshot that is ready to be written.
pub(super) struct Draft {
    pub(super) snapshot: SnapshotId,
    /// The storage of each group.
    pub(super) encoded: Vec<FramedGroup>,
    /// For each object, its row.
    pub(super) row_of: Vec<u32>,
    /// The number of rows, living and dead.
    pub(super) rows: u32,
    pub(super) groups: Vec<RowGroup>,
    pub(super) divisions: Divisions,
    /// Number of rows and references that its frames store.
    pub(super) stored: u64,
}

impl Draft {
    /// A draft in which objects have these rows; `rows` rows exist before it.
    pub(super) fn new(snapshot: SnapshotId, row_of: Vec<u32>, rows: u32) -> Self {
        Draft {
            snapshot,
            encoded: Vec::new(),
            row_of,
            rows,
            groups: Vec::new(),
            divisions: Divisions::default(),
            stored: 0,
        }
    }

    /// Adds a group and its storage.
    pub(super) fn add(&mut self, group: RowGroup, encoded: FramedGroup) {
        self.groups.push(group);
        self.stored += encoded.stored;
        self.encoded.push(encoded);
    }

    /// Bytes of all frames.
    pub(super) fn bytes(&self) -> u64 {
        self.encoded.iter().filter_map(|group| group.frame.as_ref()).map(|frame| frame.len() as u64).sum()
    }

    /// Gives these objects the next rows.
    pub(super) fn number(&mut self, objects: &[u32]) {
        for (row, &object) in (self.rows..).zip(objects) {
            self.row_of[object as usize] = row;
        }
    }

    /// For each object, its number in the new file: its position among the living rows.
    pub(super) fn objects_of_rows(&self) -> Vec<u32> {
        let mut object_at = vec![NO_OBJECT; self.rows as usize];
        for (object, &row) in (0..).zip(&self.row_of) {
            object_at[row as usize] = object;
        }
        let mut number_of = vec![NO_OBJECT; self.row_of.len()];
        for (number, &object) in (0..).zip(object_at.iter().filter(|object| **object != NO_OBJECT)) {
            number_of[object as usize] = number;
        }
        number_of
    }

    /// Makes blocks of objects, which get the next rows in this order.
    pub(super) fn add_rows(
        &mut self,
        whole: &LoadedSnapshot,
        objects: &[u32],
        tables: &Tables,
        compression: Compression,
    ) -> Result<()> {
        self.number(objects);
        let pieces = pieces(whole, objects);
        let first = self.rows;
        let row_of = &self.row_of;
        let encoder = || PieceEncoder {
            snapshot: self.snapshot,
            whole,
            row_of,
            tables,
            encoder: Encoder::new(compression).expect("tables were compressed at this level before"),
            filler: ColumnFiller::default(),
        };
        let encoded: Vec<Result<Vec<FramedGroup>>> = pieces
            .par_iter()
            .map_init(encoder, |encoder, piece| encoder.piece(&objects[piece.clone()], first + piece.start as u32))
            .collect();
        for (piece, encoded) in pieces.iter().zip(encoded) {
            let rows = first + piece.start as u32..first + piece.end as u32;
            for (part, encoded) in encoded?.into_iter().enumerate() {
                let rows = if part > 0 { rows.end - 1..rows.end } else { rows.clone() };
                self.add(RowGroup { rows, part, is_gone: false }, encoded);
            }
            let last = objects[piece.end - 1] as usize;
            if !whole.continued(last).is_empty() {
                self.divisions.insert(rows.end - 1, whole.division(last));
            }
            self.rows = rows.end;
        }
        Ok(())
    }
}

/// Divides objects into blocks: a block ends when it is full, and after an object that has continuations.
fn pieces(whole: &LoadedSnapshot, objects: &[u32]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut so_far) = (0, [0; 2]);
    for (at, &object) in objects.iter().enumerate() {
        let [references, values] = [whole.targets(object as usize).len(), whole.values(object as usize).0.len()];
        let follows_giant = at > 0 && !whole.continued(objects[at - 1] as usize).is_empty();
        if at > start && (is_full(at - start, so_far, [references, values]) || follows_giant) {
            pieces.push(start..at);
            (start, so_far) = (at, [0; 2]);
        }
        so_far = [so_far[0] + references, so_far[1] + values];
    }
    if start < objects.len() {
        pieces.push(start..objects.len());
    }
    pieces
}

/// Encodes pieces of a snapshot; one per thread.
struct PieceEncoder<'a> {
    snapshot: SnapshotId,
    whole: &'a LoadedSnapshot,
    row_of: &'a [u32],
    tables: &'a Tables,
    encoder: Encoder,
    filler: ColumnFiller,
}

impl PieceEncoder<'_> {
    /// The block of some objects, and the continuations of the last.
    fn piece(&mut self, objects: &[u32], first_row: u32) -> Result<Vec<FramedGroup>> {
        self.filler.begin(first_row);
        for &object in objects {
            push(&mut self.filler, self.whole, object as usize, self.row_of, self.tables);
        }
        self.filler.columns.addresses = picked(&self.whole.addresses, objects);
        self.filler.columns.serials = picked(&self.whole.serials, objects);
        let snapshot = self.snapshot.0;
        let mut encode =
            |columns: &mut BlockColumns| encode_block(&mut self.encoder, snapshot, columns).map_err(encoding("BLOCK"));
        let mut all = vec![encode(self.filler.end())?];
        let Some(&last) = objects.last() else { return Ok(all) };
        let row = first_row + objects.len() as u32 - 1;
        for continued in self.whole.continued(last as usize) {
            let Continuation { start_index, shape, form, targets, labels } = continued;
            let targets = targets.iter().map(|&target| self.row_of[target as usize]).collect();
            all.push(encode(&mut continuation(row, *start_index, (*shape, *form), targets, labels.clone()))?);
        }
        Ok(all)
    }
}

/// The values of objects in a column that may be empty.
fn picked(column: &[u64], objects: &[u32]) -> Vec<u64> {
    objects.iter().filter_map(|&object| column.get(object as usize).copied()).collect()
}

/// Appends an object of a snapshot, without its address and serial, and without references in continuations.
pub(super) fn push(filler: &mut ColumnFiller, whole: &LoadedSnapshot, object: usize, row_of: &[u32], tables: &Tables) {
    let ObjectColumns { shape, shallow_bytes, unmanaged_bytes, site, name } = whole.own(object);
    let form = ShapeForm::from(tables.shape(shape));
    let fields = ObjectFields { shape, form, shallow_bytes, unmanaged_bytes, site, name };
    let targets = whole.targets(object).iter().map(|&target| row_of[target as usize]);
    filler.push(&fields, whole.labels(object), whole.values(object), targets);
}
