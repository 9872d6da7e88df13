//! The comparison of all objects of a snapshot, one after the other: unchanged, changed or new.

use barrow_format::block::Encoder;
use barrow_format::patch::{ColumnFiller, RowGroup, continuation, encode_block, is_full};

use super::changes::{Changes, gathered_bytes};
use super::contents::Contents;
use super::context::Context;
use super::draft::{ChangedRows, NewRows, SpilledGroup};
use super::reader::DecodedObject;
use crate::error::Result;

/// Compares objects with the remembered state, and makes blocks of those that are new.
pub(super) struct Comparer<'a> {
    context: Context<'a>,
    row_of: &'a [u32],
    contents: Contents,
    encoder: &'a mut Encoder,
    /// The block of new rows being filled.
    filler: ColumnFiller,
    /// The number of the next object.
    next: usize,
    /// The current object.
    object: Option<CurrentObject>,
    compared: ComparisonResult,
    /// Number of rows and references to be stored.
    stored: u64,
}

/// The object whose references are being compared.
struct CurrentObject {
    row: u32,
    /// The block it begins in.
    block: usize,
    /// The number of its references in that block, and in total so far.
    in_first: usize,
    references: usize,
    /// Its memory when it is gathered, in bytes.
    bytes: usize,
}

/// The result of a comparison.
pub(super) struct ComparisonResult {
    pub(super) changes: Changes,
    pub(super) changed: ChangedRows,
    pub(super) new: NewRows,
    /// The blocks of the new rows.
    pub(super) new_groups: Vec<SpilledGroup>,
    /// For each row, the address of its object; empty if none has one.
    pub(super) addresses: Vec<u64>,
}

impl<'a> Comparer<'a> {
    pub(super) fn new(context: Context<'a>, row_of: &'a [u32], blocks: usize, encoder: &'a mut Encoder) -> Self {
        let compared = ComparisonResult {
            changes: Changes::new(context.before, context.patches.gathered_bytes, blocks),
            changed: ChangedRows::default(),
            new: NewRows::default(),
            new_groups: Vec::new(),
            addresses: Vec::new(),
        };
        let (contents, filler) = (Contents::new(&context.patches.keys), ColumnFiller::default());
        Comparer { context, row_of, contents, encoder, filler, next: 0, object: None, compared, stored: 0 }
    }

    /// Number of rows and references to be stored so far.
    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    fn is_new(&self, row: u32) -> bool {
        row >= self.context.before.rows.len()
    }

    /// Begins the next object, with the references in its own block.
    pub(super) fn begin(&mut self, block: usize, object: &DecodedObject<'_>) -> Result<()> {
        let row_of = self.row_of;
        let row = row_of[self.next];
        self.next += 1;
        self.contents.begin(object, |target| row_of[target as usize]);
        if object.address != 0 {
            let addresses = &mut self.compared.addresses;
            addresses.resize(addresses.len().max(row as usize + 1), 0);
            addresses[row as usize] = object.address;
        }
        let references = object.targets.len();
        self.object =
            Some(CurrentObject { row, block, in_first: references, references, bytes: gathered_bytes(object) });
        if self.is_new(row) { self.add(row, object) } else { Ok(()) }
    }

    /// Adds further references of the current object.
    pub(super) fn go_on(&mut self, part: &DecodedObject<'_>) -> Result<()> {
        let row_of = self.row_of;
        self.contents.go_on(part, |target| row_of[target as usize]);
        let Some(object) = &mut self.object else { return Ok(()) };
        object.references += part.targets.len();
        let (row, in_first) = (object.row, object.in_first);
        if self.is_new(row) { self.add_part(row, in_first, part) } else { Ok(()) }
    }

    /// Ends the current object.
    pub(super) fn end(&mut self) {
        let Some(CurrentObject { row, block, references, bytes, .. }) = self.object.take() else { return };
        let (content, before) = (self.contents.end(), self.context.before);
        if self.is_new(row) {
            self.compared.new.contents.push(content);
            return;
        }
        // An object with continuations is unchanged, and divided as it was stored.
        let in_group = before.divisions.in_first_block(row).map_or(references as u64, u64::from);
        let group = self.compared.changes.add(row, in_group);
        if content != before.rows.content(row) {
            self.compared.changes.change(row, group, block, bytes);
            self.compared.changed.rows.push(row);
            self.compared.changed.contents.push(content);
            self.stored += 1 + references as u64;
        }
    }

    /// Ends the last block; there are `rows` rows in total.
    pub(super) fn finish(mut self, rows: u32) -> Result<ComparisonResult> {
        self.end();
        self.end_block()?;
        let mut compared = self.compared;
        if !compared.addresses.is_empty() {
            compared.addresses.resize(rows as usize, 0);
        }
        compared.changes.end();
        Ok(compared)
    }

    /// Adds a new row.
    fn add(&mut self, row: u32, object: &DecodedObject<'_>) -> Result<()> {
        let row_of = self.row_of;
        let columns = &self.filler.columns;
        let so_far = [columns.targets.len(), self.filler.values()];
        let is_full = is_full(columns.objects(), so_far, [object.targets.len(), object.values.0.len()]);
        if is_full || self.filler.bytes() > self.context.patches.gathered_bytes {
            self.end_block()?;
        }
        if self.filler.columns.objects() == 0 {
            self.filler.begin(row);
        }
        let targets = object.targets.iter().map(|&target| row_of[target as usize]);
        self.filler.push(&object.fields(), object.explicit, object.values, targets);
        self.filler.columns.addresses.push(object.address);
        self.filler.columns.serials.push(object.serial);
        self.compared.new.serials.push(object.serial);
        self.stored += 1 + object.targets.len() as u64;
        Ok(())
    }

    /// Adds a continuation of the row that was added last.
    fn add_part(&mut self, row: u32, in_first: usize, part: &DecodedObject<'_>) -> Result<()> {
        self.end_block()?;
        let targets = part.targets.iter().map(|&target| self.row_of[target as usize]).collect();
        let shape = (part.shape_id, part.form());
        let mut columns = continuation(row, part.start_index, shape, targets, part.explicit.to_vec());
        let new = &mut self.compared.new;
        let number = new.divisions.add(row, in_first as u32, part.targets.len() as u32);
        new.groups.push(RowGroup { rows: row..row + 1, part: number, is_gone: false });
        self.stored += part.targets.len() as u64;
        let encoded = encode_block(self.encoder, self.context.snapshot, &mut columns)?;
        self.compared.new_groups.push(self.context.spilled(encoded)?);
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        let columns = self.filler.end();
        if columns.objects() == 0 {
            return Ok(());
        }
        let first = columns.first_object;
        let encoded = encode_block(self.encoder, self.context.snapshot, columns)?;
        let end = first + encoded.objects;
        self.compared.new.groups.push(RowGroup { rows: first..end, part: 0, is_gone: false });
        self.compared.new_groups.push(self.context.spilled(encoded)?);
        self.filler.begin(end);
        Ok(())
    }
}
