//! From columns to the payload of a BLOCK frame.

#![expect(
    clippy::indexing_slicing,
    reason = "positions come from columns whose lengths are asserted when encoding begins"
)]

use super::labels::steps_from_labels;
use super::slots::{Slot, lay_out};
use super::{BlockColumns, Column, ColumnId, Directory, LocalShape, MAX_OBJECTS, MAX_REFERENCES, limit, local_shapes};
use crate::codec::{Compression, Compressor};
use crate::error::{FormatError, Result};
use crate::varint::{put, zigzag};

/// Encodes blocks one after the other; one per thread.
#[derive(Debug)]
pub struct Encoder {
    compressor: Compressor,
    pub(super) locals: Vec<LocalShape>,
    /// The slots of all shapes of a block.
    pub(super) slots: Vec<Slot>,
    /// The symbols of all references, slot by slot.
    pub(super) symbols: Vec<u64>,
    pub(super) raw: Vec<u8>,
    pub(super) body: Vec<u8>,
}

impl Encoder {
    /// An encoder with this compression for every column.
    ///
    /// # Errors
    /// [`FormatError::OutOfRange`] for a zstd level that does not exist.
    pub fn new(compression: Compression) -> Result<Self> {
        Ok(Encoder {
            compressor: Compressor::new(compression)?,
            locals: Vec::new(),
            slots: Vec::new(),
            symbols: Vec::new(),
            raw: Vec::new(),
            body: Vec::new(),
        })
    }

    /// The directory and the body of the block. The dictionary of `columns` is put in order of
    /// frequency on the way, so that common shapes take one byte.
    ///
    /// # Errors
    /// [`FormatError::OutOfRange`] for more than [`MAX_OBJECTS`] or [`MAX_REFERENCES`],
    /// [`FormatError::Mismatch`] if the lengths of the columns do not agree, or a codec's failure.
    pub fn encode(&mut self, columns: &mut BlockColumns) -> Result<(Vec<u8>, &[u8])> {
        let mut stored = Vec::new();
        self.body.clear();
        self.shapes_and_sizes(&mut stored, columns)?;
        let columns = &*columns;
        self.references(&mut stored, columns)?;
        self.labels(&mut stored, columns)?;
        for (id, values) in [(ColumnId::ADDRESS, &columns.addresses), (ColumnId::SERIAL, &columns.serials)] {
            self.column(&mut stored, id, differences(values))?;
        }
        self.sites_names_and_values(&mut stored, columns)?;

        let directory = Directory {
            first_object: columns.first_object,
            objects: u32::try_from(columns.shapes.len()).unwrap_or(u32::MAX),
            references: u32::try_from(columns.targets.len()).unwrap_or(u32::MAX),
            start_index: columns.start_index,
            columns: stored,
        };
        Ok((directory.encode(), &self.body))
    }

    /// Checks the lengths of all columns, puts the dictionary in order and appends what precedes references.
    pub(super) fn shapes_and_sizes(&mut self, stored: &mut Vec<Column>, columns: &mut BlockColumns) -> Result<()> {
        check_lengths(columns)?;
        sort_dictionary(columns);
        local_shapes(&columns.forms, &mut self.locals);
        self.column(stored, ColumnId::DICTIONARY, columns.dictionary.iter().map(|shape| shape.0.into()))?;
        self.column(stored, ColumnId::SHAPE, columns.shapes.iter().map(|&shape| shape.into()))?;
        let sizes = differences_by_shape(columns, &columns.shallow_bytes);
        self.column(stored, ColumnId::SIZE, sizes)?;
        if columns.unmanaged_bytes.iter().any(|&bytes| bytes != 0) {
            let sizes = differences_by_shape(columns, &columns.unmanaged_bytes);
            self.column(stored, ColumnId::UNMANAGED, sizes)?;
        }
        let tails = columns.shapes.iter().zip(&columns.counts).filter_map(|(&shape, &count)| {
            let form = columns.forms[shape as usize];
            form.has_tail.then(|| u64::from(count.saturating_sub(form.prefix)))
        });
        self.column(stored, ColumnId::COUNT, tails)
    }

    pub(super) fn sites_names_and_values(&mut self, stored: &mut Vec<Column>, columns: &BlockColumns) -> Result<()> {
        self.column(stored, ColumnId::SITE, columns.sites.iter().map(|&site| site.into()))?;
        self.names_and_values(stored, columns)
    }

    pub(super) fn names_and_values(&mut self, stored: &mut Vec<Column>, columns: &BlockColumns) -> Result<()> {
        if columns.names.iter().any(Option::is_some) {
            self.column(stored, ColumnId::NAME, name_codes(columns))?;
        }
        self.values(stored, &columns.shapes, &columns.values)
    }

    /// Appends one column; none if it has no values.
    pub(super) fn column(
        &mut self,
        stored: &mut Vec<Column>,
        id: ColumnId,
        values: impl Iterator<Item = u64>,
    ) -> Result<()> {
        self.raw.clear();
        let (mut count, mut all) = (0u32, 0u64);
        for value in values {
            put(&mut self.raw, value);
            count += 1;
            all |= value;
        }
        self.store(stored, id, count, all > u64::from(u32::MAX))
    }

    fn references(&mut self, stored: &mut Vec<Column>, columns: &BlockColumns) -> Result<()> {
        // A continuation has one run of references and no objects.
        let shapes = if columns.shapes.is_empty() { &[0][..] } else { &columns.shapes };
        lay_out(&self.locals, shapes, &columns.counts, columns.first_object, &mut self.slots);
        let mut symbols = std::mem::take(&mut self.symbols);
        symbols.resize(columns.targets.len(), 0);
        let mut previous = columns.first_object;
        let mut targets = columns.targets.as_slice();
        for ((&shape, &count), source) in shapes.iter().zip(&columns.counts).zip(columns.first_object..) {
            let local = &self.locals[shape as usize];
            let slots = &mut self.slots[local.first_slot as usize..=(local.first_slot + local.last_slot) as usize];
            let (own, rest) = targets.split_at(count as usize);
            targets = rest;
            for (position, &target) in own.iter().enumerate() {
                let slot = &mut slots[position.min(local.last_slot as usize)];
                symbols[slot.place()] = slot.symbol(target, source, previous);
                slot.follow(target);
                previous = target;
            }
        }
        let result = self.column(stored, ColumnId::REFERENCES, symbols.iter().copied());
        self.symbols = symbols;
        result
    }

    pub(super) fn labels(&mut self, stored: &mut Vec<Column>, columns: &BlockColumns) -> Result<()> {
        // A continuation has one tail and no objects.
        let shapes = if columns.shapes.is_empty() { &[0][..] } else { &columns.shapes };
        let tails = shapes.iter().zip(&columns.counts).filter_map(|(&shape, &count)| {
            let form = columns.forms[shape as usize];
            form.is_explicit.then(|| count.saturating_sub(form.prefix) as usize)
        });
        let labels = steps_from_labels(tails, &columns.labels)?;
        self.column(stored, ColumnId::LABELS, labels.into_iter())
    }

    /// Compresses the bytes in `raw` as one column.
    pub(super) fn store(&mut self, stored: &mut Vec<Column>, id: ColumnId, values: u32, wide: bool) -> Result<()> {
        if values == 0 {
            return Ok(());
        }
        let start = self.body.len();
        let codec = self.compressor.append(&self.raw, &mut self.body)?;
        let bytes = &self.body[start..];
        stored.push(Column {
            id,
            codec,
            wide,
            values,
            raw_length: length(self.raw.len()),
            stored_length: length(bytes.len()),
            crc: crc32c::crc32c(bytes),
        });
        Ok(())
    }
}

/// Zigzag differences, each to the last value of the same shape.
fn differences_by_shape<'a>(columns: &'a BlockColumns, values: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    let mut last = vec![0u64; columns.dictionary.len()];
    columns.shapes.iter().zip(values).map(move |(&shape, &value)| {
        let last = &mut last[shape as usize];
        let difference = value.wrapping_sub(*last).cast_signed();
        *last = value;
        zigzag(difference)
    })
}

/// Zigzag differences, each to the value before.
pub(super) fn differences(values: &[u64]) -> impl Iterator<Item = u64> + '_ {
    let mut last = 0u64;
    values.iter().map(move |&value| {
        let difference = value.wrapping_sub(last).cast_signed();
        last = value;
        zigzag(difference)
    })
}

/// For each name 1 + the zigzag difference to the last name of the same shape; 0 for none.
fn name_codes(columns: &BlockColumns) -> impl Iterator<Item = u64> + '_ {
    let mut last = vec![0i64; columns.dictionary.len()];
    columns.shapes.iter().zip(&columns.names).map(move |(&shape, name)| {
        let Some(name) = name.map(|name| i64::from(name.0)) else { return 0 };
        let last = &mut last[shape as usize];
        let difference = name - *last;
        *last = name;
        1 + zigzag(difference)
    })
}

/// Renumbers the dictionary by descending frequency; equal ones keep their order. Shapes without objects are removed.
fn sort_dictionary(columns: &mut BlockColumns) {
    let mut uses = vec![0u32; columns.dictionary.len()];
    columns.shapes.iter().for_each(|&shape| uses[shape as usize] += 1);
    let is_continuation = columns.shapes.is_empty();
    let mut order: Vec<usize> = (0..uses.len()).filter(|&old| is_continuation || uses[old] > 0).collect();
    order.sort_by_key(|&old| std::cmp::Reverse(uses[old]));
    let mut renumbered = vec![0u32; uses.len()];
    for (new, &old) in (0u32..).zip(&order) {
        renumbered[old] = new;
    }
    columns.dictionary = order.iter().map(|&old| columns.dictionary[old]).collect();
    columns.forms = order.iter().map(|&old| columns.forms[old]).collect();
    columns.shapes.iter_mut().for_each(|shape| *shape = renumbered[*shape as usize]);
}

/// A length as it is stored; the limits of blocks exclude larger ones.
pub(super) fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn check_lengths(columns: &BlockColumns) -> Result<()> {
    let objects = columns.shapes.len();
    limit("objects in a block", length(objects), MAX_OBJECTS)?;
    limit("references in a block", length(columns.targets.len()), MAX_REFERENCES)?;
    let runs = if objects == 0 { 1 } else { objects };
    let references: u64 = columns.counts.iter().map(|&count| u64::from(count)).sum();
    let known = columns.dictionary.len();
    let pairs = [
        ("forms of shapes", known, columns.forms.len()),
        ("shallow sizes in a block", objects, columns.shallow_bytes.len()),
        ("unmanaged sizes in a block", objects, columns.unmanaged_bytes.len().max(objects)),
        ("reference counts in a block", runs, columns.counts.len()),
        ("targets in a block", columns.targets.len(), usize::try_from(references).unwrap_or(usize::MAX)),
        ("addresses in a block", objects, columns.addresses.len().max(objects)),
        ("serials in a block", objects, columns.serials.len().max(objects)),
        ("sites in a block", objects, columns.sites.len().max(objects)),
        ("names in a block", objects, columns.names.len().max(objects)),
        ("shapes of a continuation", 1, if objects == 0 { known } else { 1 }),
    ];
    for (what, stored, found) in pairs {
        if stored != found {
            return Err(FormatError::Mismatch { what, stored: stored as u64, found: found as u64 });
        }
    }
    match columns.shapes.iter().find(|&&shape| shape as usize >= known) {
        Some(&shape) => {
            Err(FormatError::OutOfRange { what: "shape in a block", value: shape.into(), limit: known as u64 })
        }
        None => Ok(()),
    }
}
