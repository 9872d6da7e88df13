//! From the payload of a BLOCK frame to columns.

#![expect(
    clippy::indexing_slicing,
    reason = "the reference loop indexes tables whose lengths were checked against the block's dictionary"
)]

use super::labels::{is_step, labels_from_steps};
use super::slots::{Slot, lay_out};
use super::{BlockColumns, Column, ColumnId, Directory, LocalShape, ShapeForm, WIDE, agree, form_of, local_shapes};
use crate::codec::Decompressor;
use crate::error::{FormatError, Result};
use crate::frame::{Frame, checked};
use crate::ids::{ShapeId, StringId};
use crate::rows::MAX_LABEL_VALUE;
use crate::varint::{decode_u32, decode_u64, unzigzag};

/// A block of a file: its directory read and checked, its columns still encoded.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    directory: Directory,
    body: &'a [u8],
}

/// The columns to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnSelection {
    /// Shapes and sizes, for summaries.
    Sizes,
    /// Shapes, sizes, and the number of references of each object.
    Counts,
    /// The same, and the identity of objects: addresses, serials, sites and names.
    Identity,
    /// The same, and the values of their fields, without references.
    Values,
    /// Shapes, counts, and the targets and labels of references; no sizes.
    References,
    /// All columns.
    All,
}

impl ColumnSelection {
    /// Returns whether references are decoded.
    #[must_use]
    pub fn has_references(self) -> bool {
        matches!(self, ColumnSelection::References | ColumnSelection::All)
    }

    /// Returns whether the identity of objects is decoded.
    #[must_use]
    pub fn has_identity(self) -> bool {
        matches!(self, ColumnSelection::Identity | ColumnSelection::Values | ColumnSelection::All)
    }

    /// Returns whether the values of fields are decoded.
    #[must_use]
    pub fn has_values(self) -> bool {
        matches!(self, ColumnSelection::Values | ColumnSelection::All)
    }
}

impl<'a> Block<'a> {
    /// Reads the directory of a BLOCK frame.
    ///
    /// # Errors
    /// An invalid directory.
    pub fn parse(frame: &Frame<'a>) -> Result<Self> {
        Ok(Block { directory: Directory::parse(frame.directory()?)?, body: frame.unchecked_body() })
    }

    /// Objects that begin in the block; 0 in a continuation.
    #[must_use]
    pub fn objects(&self) -> u32 {
        self.directory.objects
    }

    /// References in the block.
    #[must_use]
    pub fn references(&self) -> u32 {
        self.directory.references
    }

    /// The first object; in a continuation the object that is continued.
    #[must_use]
    pub fn first_object(&self) -> u32 {
        self.directory.first_object
    }

    pub(super) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The column `id` and its bytes. Every call computes their checksum, so a decoder calls this once per column.
    pub(super) fn column(&self, id: ColumnId) -> Result<Option<(Column, &'a [u8])>> {
        let mut rest = self.body;
        for &column in &self.directory.columns {
            let (bytes, after) =
                rest.split_at_checked(column.stored_length as usize).ok_or(FormatError::Truncated {
                    what: column.id.what(),
                    offset: (self.body.len() - rest.len()) as u64,
                    needed: column.stored_length.into(),
                    available: rest.len() as u64,
                })?;
            if column.id == id {
                #[cfg(test)]
                super::tests::CHECKED.with_borrow_mut(|checked| checked.push(id));
                return Ok(Some((column, checked(id.what(), bytes, column.crc)?)));
            }
            rest = after;
        }
        Ok(None)
    }

    /// Checks the checksums of all columns, known or not, and that they fill the body.
    ///
    /// # Errors
    /// The first mismatch.
    pub fn check_columns(&self) -> Result<()> {
        let mut length = 0u64;
        for column in &self.directory.columns {
            self.column(column.id)?;
            length += u64::from(column.stored_length);
        }
        if length == self.body.len() as u64 {
            return Ok(());
        }
        Err(FormatError::Mismatch { what: "body of a block", stored: self.body.len() as u64, found: length })
    }
}

/// Decodes blocks one after the other; one per thread.
#[derive(Debug, Default)]
pub struct Decoder {
    decompressor: Decompressor,
    /// Decompressed bytes of the column at hand.
    raw: Vec<u8>,
    /// Its numbers.
    pub(super) narrow: Vec<u32>,
    pub(super) wide: Vec<u64>,
    pub(super) locals: Vec<LocalShape>,
    /// The slots of all shapes of a block.
    pub(super) slots: Vec<Slot>,
    /// The last name of every shape.
    last_names: Vec<u32>,
    /// The last value of every shape.
    last: Vec<u64>,
}

impl Decoder {
    /// A decoder without any memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Its decompressor, for tables.
    pub fn decompressor(&mut self) -> &mut Decompressor {
        &mut self.decompressor
    }

    /// Decodes the wanted columns of `block` into `out`, which is overwritten; the others are empty.
    ///
    /// `forms` are those of the snapshot's shape table, `objects` the number of objects in the
    /// snapshot, below which every target must lie. Labels are not interpreted.
    ///
    /// # Errors
    /// Any error in the wanted columns.
    pub fn decode(
        &mut self,
        block: &Block<'_>,
        forms: &[ShapeForm],
        objects: u32,
        wanted: ColumnSelection,
        out: &mut BlockColumns,
    ) -> Result<()> {
        out.clear();
        out.first_object = block.directory.first_object;
        out.start_index = block.directory.start_index;
        self.shapes_and_sizes(block, forms, wanted, out)?;
        if wanted == ColumnSelection::Sizes {
            return Ok(());
        }
        self.counts(block, out)?;
        if wanted == ColumnSelection::Counts {
            return Ok(());
        }
        if wanted.has_references() {
            self.references(block, objects, out)?;
            self.labels(block, out)?;
        }
        if wanted == ColumnSelection::References {
            return Ok(());
        }
        self.running(block, ColumnId::ADDRESS, &mut out.addresses)?;
        self.running(block, ColumnId::SERIAL, &mut out.serials)?;
        self.sites_and_names(block, out)?;
        if wanted.has_values() { self.values(block, &out.shapes, &mut out.values) } else { Ok(()) }
    }

    pub(super) fn shapes_and_sizes(
        &mut self,
        block: &Block<'_>,
        forms: &[ShapeForm],
        wanted: ColumnSelection,
        out: &mut BlockColumns,
    ) -> Result<()> {
        self.dictionary(block, forms, out)?;
        if wanted == ColumnSelection::References {
            return Ok(());
        }
        self.by_shape(block, ColumnId::SIZE, &out.shapes, out.dictionary.len(), &mut out.shallow_bytes)?;
        if out.shallow_bytes.len() != out.shapes.len() {
            return Err(FormatError::Missing { what: ColumnId::SIZE.what() });
        }
        self.by_shape(block, ColumnId::UNMANAGED, &out.shapes, out.dictionary.len(), &mut out.unmanaged_bytes)
    }

    pub(super) fn sites_and_names(&mut self, block: &Block<'_>, out: &mut BlockColumns) -> Result<()> {
        if self.narrow(block.column(ColumnId::SITE)?, block.directory.objects)? {
            std::mem::swap(&mut out.sites, &mut self.narrow);
        }
        self.names(block, out)
    }

    /// The shapes that the block uses, and the shape of each object.
    fn dictionary(&mut self, block: &Block<'_>, forms: &[ShapeForm], out: &mut BlockColumns) -> Result<()> {
        let found =
            block.column(ColumnId::DICTIONARY)?.ok_or(FormatError::Missing { what: ColumnId::DICTIONARY.what() })?;
        let count = block.directory.objects;
        super::limit("shapes in a block", found.0.values, count.max(1))?;
        self.narrow(Some(found), found.0.values)?;
        for &shape in &self.narrow {
            out.dictionary.push(ShapeId(shape));
            out.forms.push(form_of(forms, ShapeId(shape))?);
        }
        if count == 0 {
            return check_continuation(block, &out.forms);
        }
        if !self.narrow(block.column(ColumnId::SHAPE)?, count)? {
            return Err(FormatError::Missing { what: ColumnId::SHAPE.what() });
        }
        std::mem::swap(&mut out.shapes, &mut self.narrow);
        let known = out.dictionary.len() as u64;
        let highest = u64::from(out.shapes.iter().copied().max().unwrap_or(0));
        if highest < known {
            return Ok(());
        }
        Err(FormatError::OutOfRange { what: "shape in a block", value: highest, limit: known })
    }

    /// The number of references of each object: those of its prefix, and its tail's.
    pub(super) fn counts(&mut self, block: &Block<'_>, out: &mut BlockColumns) -> Result<()> {
        if block.directory.objects == 0 {
            out.counts.push(block.directory.references);
            return Ok(());
        }
        let found = block.column(ColumnId::COUNT)?;
        let tails = found.map_or(0, |(column, _)| column.values);
        self.narrow.clear();
        self.narrow(found, tails)?;
        let (mut used, mut total) = (0, 0u64);
        out.counts.reserve(out.shapes.len());
        for &shape in &out.shapes {
            let form = out.forms[shape as usize];
            let mut count = form.prefix;
            if form.has_tail {
                count = count.saturating_add(self.narrow.get(used).copied().unwrap_or(0));
                used += 1;
            }
            total += u64::from(count);
            out.counts.push(count);
        }
        agree("values of column COUNT", tails.into(), used as u64)?;
        agree("references in a block", block.directory.references.into(), total)
    }

    /// The targets of all references.
    fn references(&mut self, block: &Block<'_>, objects: u32, out: &mut BlockColumns) -> Result<()> {
        let count = block.directory.references;
        if count == 0 {
            return Ok(());
        }
        let is_wide = match self.numbers(block.column(ColumnId::REFERENCES)?, count)? {
            Numbers::Absent => return Err(FormatError::Missing { what: ColumnId::REFERENCES.what() }),
            numbers => numbers == Numbers::Wide,
        };
        local_shapes(&out.forms, &mut self.locals);
        out.targets.resize(count as usize, 0);
        let shapes = if out.shapes.is_empty() { &[0][..] } else { &out.shapes };
        lay_out(&self.locals, shapes, &out.counts, out.first_object, &mut self.slots);
        let mut predictor =
            Predictor { locals: &self.locals, slots: &mut self.slots, first_object: out.first_object, highest: 0 };
        if is_wide {
            predictor.decode(shapes, &out.counts, &self.wide, &mut out.targets);
        } else {
            predictor.decode(shapes, &out.counts, &self.narrow, &mut out.targets);
        }
        if predictor.highest < objects {
            return Ok(());
        }
        Err(FormatError::OutOfRange {
            what: "target of a reference",
            value: predictor.highest.into(),
            limit: objects.into(),
        })
    }

    /// The labels of explicit tails.
    pub(super) fn labels(&mut self, block: &Block<'_>, out: &mut BlockColumns) -> Result<()> {
        let shapes = if out.shapes.is_empty() { &[0][..] } else { &out.shapes };
        let tails = shapes.iter().zip(&out.counts).filter_map(|(&shape, &count)| {
            let form = out.forms[shape as usize];
            form.is_explicit.then(|| count - form.prefix)
        });
        let explicit: u64 = tails.clone().map(u64::from).sum();
        let found = block.column(ColumnId::LABELS)?;
        let stored = found.map_or(0, |(column, _)| column.values);
        agree("values of column LABELS", stored.into(), explicit)?;
        let Some(found) = found.filter(|_| stored > 0) else { return Ok(()) };
        self.numbers_u64(found, stored)?;
        if self.wide.iter().any(|&stored| is_step(stored)) {
            labels_from_steps(tails, &mut self.wide);
        }
        std::mem::swap(&mut out.labels, &mut self.wide);
        Ok(())
    }

    /// A column of differences to the last value of the same shape; stays empty if it is absent.
    fn by_shape(
        &mut self,
        block: &Block<'_>,
        id: ColumnId,
        shapes: &[u32],
        known: usize,
        out: &mut Vec<u64>,
    ) -> Result<()> {
        let count = block.directory.objects;
        if count == 0 {
            return Ok(());
        }
        let is_wide = match self.numbers(block.column(id)?, count)? {
            Numbers::Absent => return Ok(()),
            numbers => numbers == Numbers::Wide,
        };
        self.last.clear();
        self.last.resize(known, 0);
        let last = self.last.as_mut_slice();
        if is_wide {
            out.extend(shapes.iter().zip(&self.wide).map(|(&shape, &value)| next(&mut last[shape as usize], value)));
        } else {
            out.extend(
                shapes.iter().zip(&self.narrow).map(|(&shape, &value)| next(&mut last[shape as usize], value.into())),
            );
        }
        Ok(())
    }

    /// A column of differences to the value before; stays empty if it is absent.
    fn running(&mut self, block: &Block<'_>, id: ColumnId, out: &mut Vec<u64>) -> Result<()> {
        let Some(found) = block.column(id)? else { return Ok(()) };
        self.numbers_u64(found, block.directory.objects)?;
        let mut last = 0;
        out.extend(self.wide.iter().map(|&value| next(&mut last, value)));
        Ok(())
    }

    /// The objects' own names; stays empty if there are none.
    pub(super) fn names(&mut self, block: &Block<'_>, out: &mut BlockColumns) -> Result<()> {
        let Some(found) = block.column(ColumnId::NAME)? else { return Ok(()) };
        self.numbers_u64(found, block.directory.objects)?;
        self.last_names.clear();
        self.last_names.resize(out.dictionary.len(), 0);
        out.names.reserve(self.wide.len());
        for (&code, &shape) in self.wide.iter().zip(&out.shapes) {
            let mut name = None;
            if let Some(difference) = code.checked_sub(1) {
                let last = &mut self.last_names[shape as usize];
                *last = name_after(*last, difference)?;
                name = Some(StringId(*last));
            }
            out.names.push(name);
        }
        Ok(())
    }

    /// Decodes a column of `count` numbers of 32 bits into `narrow`. False if it is absent.
    fn narrow(&mut self, found: Option<(Column, &[u8])>, count: u32) -> Result<bool> {
        let what = found.map_or("", |(column, _)| column.id.what());
        match self.numbers(found, count)? {
            Numbers::Absent => Ok(false),
            Numbers::Narrow => Ok(true),
            Numbers::Wide => Err(FormatError::OutOfRange { what, value: WIDE, limit: 0 }),
        }
    }

    /// Decodes a column of `count` numbers, as [`Block::column`] returned it, into `narrow` or into `wide`.
    pub(super) fn numbers(&mut self, found: Option<(Column, &[u8])>, count: u32) -> Result<Numbers> {
        let Some((column, stored)) = found else { return Ok(Numbers::Absent) };
        let what = column.id.what();
        agree(what, column.values.into(), count.into())?;
        if column.wide {
            self.numbers_u64((column, stored), count)?;
            return Ok(Numbers::Wide);
        }
        let raw =
            self.decompressor.decompress(what, column.codec, stored, column.raw_length as usize, &mut self.raw)?;
        decode_u32(what, raw, count as usize, &mut self.narrow)?;
        Ok(Numbers::Narrow)
    }

    /// Decodes a column of `count` numbers into `wide`.
    pub(super) fn numbers_u64(&mut self, (column, stored): (Column, &[u8]), count: u32) -> Result<()> {
        let what = column.id.what();
        agree(what, column.values.into(), count.into())?;
        let raw =
            self.decompressor.decompress(what, column.codec, stored, column.raw_length as usize, &mut self.raw)?;
        decode_u64(what, raw, count as usize, &mut self.wide)
    }
}

/// The place where [`Decoder::numbers`] put the numbers of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// The block has no such column.
    Absent,
    /// In `narrow`: each fits 32 bits.
    Narrow,
    /// In `wide`.
    Wide,
}

/// Checks that a continuation has one shape, consisting of a tail only, and that its indexes fit a label.
fn check_continuation(block: &Block<'_>, forms: &[ShapeForm]) -> Result<()> {
    agree("shapes of a continuation", 1, forms.len() as u64)?;
    if forms.iter().any(|form| form.prefix > 0 || !form.has_tail) {
        return Err(FormatError::Missing { what: "tail of a continuation" });
    }
    let (start, limit) = (block.directory.start_index, MAX_LABEL_VALUE + 1 - u64::from(block.directory.references));
    if start <= limit {
        return Ok(());
    }
    Err(FormatError::OutOfRange { what: "start index of a continuation", value: start, limit })
}

pub(super) fn next(last: &mut u64, difference: u64) -> u64 {
    *last = last.wrapping_add(unzigzag(difference).cast_unsigned());
    *last
}

/// The string at a zigzag difference from the last one.
fn name_after(last: u32, difference: u64) -> Result<u32> {
    let name = i64::from(last).checked_add(unzigzag(difference));
    name.and_then(|name| u32::try_from(name).ok()).ok_or(FormatError::OutOfRange {
        what: "difference of names",
        value: difference,
        limit: u32::MAX.into(),
    })
}

/// Turns symbols into targets.
struct Predictor<'a> {
    locals: &'a [LocalShape],
    slots: &'a mut [Slot],
    first_object: u32,
    /// The largest target so far.
    highest: u32,
}

/// A symbol of either width: the number of the base, and the difference modulo 2^32.
trait Symbol: Copy {
    fn parts(self) -> (u32, u32);
}

impl Symbol for u32 {
    #[inline]
    fn parts(self) -> (u32, u32) {
        let folded = self >> 2;
        (self & 3, (folded >> 1) ^ (folded & 1).wrapping_neg())
    }
}

impl Symbol for u64 {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "arithmetic of targets is modulo 2^32")]
    fn parts(self) -> (u32, u32) {
        ((self & 3) as u32, unzigzag(self >> 2) as u32)
    }
}

impl Predictor<'_> {
    /// Decodes the symbols. The caller has checked that `symbols` and `targets` are as long as the counts require, that
    /// shapes are in the dictionary, and that the slots are laid out.
    #[inline]
    fn decode<S: Symbol>(&mut self, shapes: &[u32], counts: &[u32], symbols: &[S], targets: &mut [u32]) {
        let (mut previous, mut highest) = (self.first_object, 0);
        let mut rest = targets;
        for ((&shape, &count), source) in shapes.iter().zip(counts).zip(self.first_object..) {
            let local = &self.locals[shape as usize];
            let last_slot = local.last_slot as usize;
            let slots = &mut self.slots[local.first_slot as usize..][..=last_slot];
            let (own, others) = rest.split_at_mut(count as usize);
            rest = others;
            for (position, target) in own.iter_mut().enumerate() {
                let slot = &mut slots[position.min(last_slot)];
                let (which, difference) = symbols[slot.place()].parts();
                let value = slot.target(which, difference, source, previous);
                slot.follow(value);
                (*target, previous) = (value, value);
                highest = highest.max(value);
            }
        }
        self.highest = highest;
    }
}
