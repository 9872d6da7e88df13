//! A snapshot made ready to be written: its frames, and the row of each object.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use barrow_analyzer::Tables;
use barrow_analyzer::raw::{Continued, LoadedSnapshot, NO_OBJECT, Own};
use barrow_format::block::{BlockColumns, Encoder, MAX_OBJECTS, MAX_REFERENCES, ShapeForm};
use barrow_format::codec::Compression;
use barrow_format::commit::Group;
use barrow_format::frame::{SectionType, encode_frame};
use barrow_format::{ShapeId, SnapshotId};

use super::made;
use crate::error::Result;

/// References after which a block ends.
const BLOCK_REFERENCES: usize = (MAX_REFERENCES / 4) as usize;

/// A snapshot made ready to be written.
pub(super) struct Draft {
    pub(super) snapshot: SnapshotId,
    pub(super) made: Vec<Made>,
    /// For each object its row.
    pub(super) row_of: Vec<u32>,
    /// Rows there are, dead ones too.
    pub(super) rows: u32,
    pub(super) groups: Vec<RowGroup>,
    /// How the references of each row that has continuations are divided into blocks.
    pub(super) divisions: HashMap<u32, Vec<u32>>,
    /// Rows and references that its frames store.
    pub(super) stored: u64,
}

/// Rows that began in one block.
#[derive(Debug, Clone)]
pub(super) struct RowGroup {
    /// In a continuation the row that is continued.
    pub(super) rows: Range<u32>,
    /// Which of its blocks this is: 0 is the first, others are continuations.
    pub(super) part: usize,
    pub(super) is_gone: bool,
}

/// What is written of a group.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) group: Group,
    pub(super) is_continuation: bool,
    /// Directory and body of its frame; empty if there is none.
    pub(super) frame: Vec<u8>,
    /// Living objects of the group.
    pub(super) objects: u32,
    /// Their references in it.
    pub(super) references: u32,
    /// Rows and references that it stores.
    pub(super) stored: u64,
}

impl Made {
    /// A group of which nothing is written.
    pub(super) fn nothing(group: Group, is_continuation: bool, objects: u32, references: u32) -> Self {
        Made { group, is_continuation, frame: Vec::new(), objects, references, stored: 0 }
    }
}

impl Draft {
    /// A draft with the rows that objects have; there are `rows` before it.
    pub(super) fn new(snapshot: SnapshotId, row_of: Vec<u32>, rows: u32) -> Self {
        Draft { snapshot, made: Vec::new(), row_of, rows, groups: Vec::new(), divisions: HashMap::new(), stored: 0 }
    }

    /// Bytes of all frames.
    pub(super) fn bytes(&self) -> u64 {
        self.made.iter().map(|made| made.frame.len() as u64).sum()
    }

    /// Gives these objects the next rows.
    pub(super) fn number(&mut self, objects: &[u32]) {
        for (row, &object) in (self.rows..).zip(objects) {
            self.row_of[object as usize] = row;
        }
    }

    /// For each object its number in the new file: its place among the living rows.
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
        };
        let encode = |encoder: &mut PieceEncoder<'_>, piece: &Range<usize>| {
            encoder.piece(&objects[piece.clone()], first + piece.start as u32)
        };
        let encoded: Vec<Result<Vec<Made>>> = pieces.par_iter().map_init(encoder, encode).collect();
        for (piece, encoded) in pieces.iter().zip(encoded) {
            let rows = first + piece.start as u32..first + piece.end as u32;
            for (part, made) in encoded?.into_iter().enumerate() {
                let rows = if part > 0 { rows.end - 1..rows.end } else { rows.clone() };
                self.groups.push(RowGroup { rows, part, is_gone: false });
                self.stored += made.stored;
                self.made.push(made);
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

/// Where to end blocks: when they are full, and behind an object that is continued.
fn pieces(whole: &LoadedSnapshot, objects: &[u32]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut references) = (0, 0);
    for (at, &object) in objects.iter().enumerate() {
        let count = whole.targets(object as usize).len();
        let is_full = at - start == MAX_OBJECTS as usize || references + count > BLOCK_REFERENCES;
        let follows_continued = at > 0 && !whole.continued(objects[at - 1] as usize).is_empty();
        if at > start && (is_full || follows_continued) {
            pieces.push(start..at);
            (start, references) = (at, 0);
        }
        references += count;
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
}

impl PieceEncoder<'_> {
    /// The block of some objects, and the continuations of the last.
    fn piece(&mut self, objects: &[u32], first_row: u32) -> Result<Vec<Made>> {
        let mut filler = Filler::new(self.tables, first_row);
        objects.iter().for_each(|&object| filler.push(self.whole, object as usize, self.row_of));
        filler.identify(self.whole, objects);
        let mut all = vec![self.encode(&mut filler.columns)?];
        let Some(&last) = objects.last() else { return Ok(all) };
        let row = first_row + objects.len() as u32 - 1;
        for continued in self.whole.continued(last as usize) {
            all.push(self.encode(&mut continuation(continued, row, self.row_of))?);
        }
        Ok(all)
    }

    fn encode(&mut self, columns: &mut BlockColumns) -> Result<Made> {
        let (objects, references) = (columns.objects() as u32, columns.targets.len() as u32);
        let (directory, body) = self.encoder.encode(columns).map_err(made("BLOCK"))?;
        let frame = encode_frame(SectionType::BLOCK, self.snapshot.0, 0, &directory, body);
        let is_continuation = objects == 0;
        Ok(Made {
            group: Group::Block,
            is_continuation,
            frame,
            objects,
            references,
            stored: u64::from(objects) + u64::from(references),
        })
    }
}

fn continuation(continued: &Continued, row: u32, row_of: &[u32]) -> BlockColumns {
    BlockColumns {
        first_object: row,
        start_index: continued.start_index,
        dictionary: vec![continued.shape],
        forms: vec![continued.form],
        counts: vec![continued.targets.len() as u32],
        targets: continued.targets.iter().map(|&target| row_of[target as usize]).collect(),
        labels: continued.labels.clone(),
        ..BlockColumns::default()
    }
}

/// Fills the columns of a block or patch with objects; targets become rows.
pub(super) struct Filler<'a> {
    tables: &'a Tables,
    /// For each shape its place in the dictionary.
    places: Vec<u32>,
    pub(super) columns: BlockColumns,
}

impl<'a> Filler<'a> {
    pub(super) fn new(tables: &'a Tables, first_row: u32) -> Self {
        let columns = BlockColumns { first_object: first_row, ..BlockColumns::default() };
        Filler { tables, places: vec![NO_OBJECT; tables.shape_count()], columns }
    }

    /// Appends an object but for address and serial, and but for references in continuations.
    pub(super) fn push(&mut self, whole: &LoadedSnapshot, object: usize, row_of: &[u32]) {
        let Own { shape, shallow_bytes, unmanaged_bytes, site, name } = whole.own(object);
        let place = self.place(shape);
        let columns = &mut self.columns;
        columns.shapes.push(place);
        columns.shallow_bytes.push(shallow_bytes);
        if !whole.unmanaged_bytes.is_empty() {
            columns.unmanaged_bytes.push(unmanaged_bytes);
        }
        if !whole.sites.is_empty() {
            columns.sites.push(site);
        }
        if !whole.names.is_empty() {
            columns.names.push(name);
        }
        let targets = whole.targets(object);
        columns.counts.push(targets.len() as u32);
        columns.targets.extend(targets.iter().map(|&target| row_of[target as usize]));
        columns.labels.extend_from_slice(whole.labels(object));
    }

    /// Adds what names all objects that were pushed.
    fn identify(&mut self, whole: &LoadedSnapshot, objects: &[u32]) {
        let pick = |column: &[u64]| objects.iter().filter_map(|&object| column.get(object as usize).copied()).collect();
        self.columns.addresses = pick(&whole.addresses);
        self.columns.serials = pick(&whole.serials);
    }

    fn place(&mut self, shape: ShapeId) -> u32 {
        let place = &mut self.places[shape.index()];
        if *place == NO_OBJECT {
            *place = self.columns.dictionary.len() as u32;
            self.columns.dictionary.push(shape);
            self.columns.forms.push(ShapeForm::from(self.tables.shape(shape)));
        }
        *place
    }
}
