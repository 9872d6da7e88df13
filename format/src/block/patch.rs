//! Patches: the changes of a group of rows since the previous snapshot.
//!
//! ```text
//!   rows of the group   0    1    2    3    4    5          in the base 1 is dead already
//!   DEAD                          ×                         row 2 has died since
//!   CHANGED                                 ↓               row 4 is stored anew: SHAPE, SIZE, REFERENCES …
//!   MOVED               +0             +0   −16  −16        differences of addresses, if any object moved
//! ```
//!
//! A PATCH frame is laid out like a block that holds the changed rows only. Its first object is the first row of the
//! group, and its targets are rows. Base 3 of a symbol is the target of the same reference in the base snapshot, or the
//! source if the base does not have that reference. An encoder that does not know the base never chooses it, because
//! base 1 is as short.

#![expect(clippy::indexing_slicing, reason = "as for blocks: lengths are checked before columns are walked")]

use super::agree;
use super::decode::{Numbers, next};
use super::encode::{differences, length};
use super::slots::{Slot, lay_out};
use super::{
    Block, BlockColumns, Column, ColumnId, ColumnSelection, Decoder, Directory, Encoder, LocalShape, ShapeForm,
    local_shapes,
};
use crate::error::{FormatError, Result};

/// The changes of a group of rows. Positions count the rows of the group, including dead ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// Positions of the rows that died, ascending.
    pub dead: Vec<u32>,
    /// Positions of the rows stored anew, ascending.
    pub changed: Vec<u32>,
    /// Those rows: shapes, sizes, counts, references, labels, sites, names and values. The first object is the first
    /// row of the group, targets are rows, and there are no addresses and serials.
    pub columns: BlockColumns,
    /// For each living row, the difference of its address to that in the base, modulo 2^64; empty if none moved.
    pub moved: Vec<u64>,
}

impl Patch {
    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.dead.clear();
        self.changed.clear();
        self.columns.clear();
        self.moved.clear();
    }
}

/// Limits that a patch is checked against.
#[derive(Debug, Clone, Copy)]
pub struct PatchLimits<'a> {
    /// The forms of the snapshot's shape table.
    pub forms: &'a [ShapeForm],
    /// The rows of the snapshot: every target is one of them.
    pub rows: u32,
    /// The rows of the group.
    pub group_rows: u32,
}

impl Encoder {
    /// The directory and the body of a PATCH frame. `old` returns the targets of the row at a position in the base.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub fn encode_patch<'o>(&mut self, patch: &mut Patch, old: impl Fn(u32) -> &'o [u32]) -> Result<(Vec<u8>, &[u8])> {
        let mut stored = Vec::new();
        self.body.clear();
        self.column(&mut stored, ColumnId::DEAD, runs(&patch.dead))?;
        self.column(&mut stored, ColumnId::CHANGED, gaps(&patch.changed))?;
        let columns = &mut patch.columns;
        if !patch.changed.is_empty() {
            agree("changed rows", patch.changed.len() as u64, columns.shapes.len() as u64)?;
            self.shapes_and_sizes(&mut stored, columns)?;
            self.patch_references(&mut stored, columns, &patch.changed, &old)?;
            self.labels(&mut stored, columns)?;
            self.sites_names_and_values(&mut stored, columns)?;
        }
        self.column(&mut stored, ColumnId::MOVED, differences(&patch.moved))?;
        let directory = Directory {
            first_object: columns.first_object,
            objects: length(patch.changed.len()),
            references: length(columns.targets.len()),
            start_index: 0,
            columns: stored,
        };
        Ok((directory.encode(), &self.body))
    }

    fn patch_references<'o>(
        &mut self,
        stored: &mut Vec<Column>,
        columns: &BlockColumns,
        changed: &[u32],
        old: impl Fn(u32) -> &'o [u32],
    ) -> Result<()> {
        let mut symbols = std::mem::take(&mut self.symbols);
        symbols.resize(columns.targets.len(), 0);
        let mut targets = columns.targets.iter();
        References { columns, changed, locals: &self.locals }.walk(&mut self.slots, old, |slot, bases| {
            let target = targets.next().copied().unwrap_or(bases.source);
            symbols[slot.place()] = slot.symbol_in_patch(target, bases.source, bases.previous, bases.before);
            target
        });
        let result = self.column(stored, ColumnId::REFERENCES, symbols.iter().copied());
        self.symbols = symbols;
        result
    }
}

impl Decoder {
    /// Decodes the changes of a group of rows into `out`, which is overwritten.
    ///
    /// `old` returns the targets of the row at a position in the base; it is called only if references are wanted. The
    /// caller checks that the number of living rows equals the length of [`Patch::moved`].
    ///
    /// # Errors
    /// Any error in the wanted columns.
    pub fn decode_patch<'o>(
        &mut self,
        block: &Block<'_>,
        limits: PatchLimits<'_>,
        wanted: ColumnSelection,
        old: impl Fn(u32) -> &'o [u32],
        out: &mut Patch,
    ) -> Result<()> {
        let PatchLimits { forms, rows, group_rows } = limits;
        out.clear();
        let columns = &mut out.columns;
        columns.first_object = block.first_object();
        self.decode_dead(block, group_rows, &mut out.dead)?;
        let count = block.objects();
        if self.whole_column(block, ColumnId::CHANGED)? {
            gaps_back(ColumnId::CHANGED, &self.wide, group_rows, &mut out.changed)?;
        }
        agree("changed rows", count.into(), out.changed.len() as u64)?;
        if count > 0 {
            self.shapes_and_sizes(block, forms, wanted, columns)?;
            if wanted == ColumnSelection::Sizes {
                return Ok(());
            }
            self.counts(block, columns)?;
            if wanted.has_references() {
                self.patch_references(block, rows, &out.changed, old, columns)?;
                self.labels(block, columns)?;
            }
            if wanted.has_identity() {
                self.sites_and_names(block, columns)?;
            }
            if wanted.has_values() {
                self.values(block, &columns.shapes, &mut columns.values)?;
            }
        }
        if wanted.has_identity() && self.whole_column(block, ColumnId::MOVED)? {
            let mut last = 0;
            out.moved.extend(self.wide.iter().map(|&value| next(&mut last, value)));
        }
        Ok(())
    }

    /// The positions of the rows of a group that died, ascending.
    ///
    /// # Errors
    /// Any error in the column.
    pub fn decode_dead(&mut self, block: &Block<'_>, group_rows: u32, out: &mut Vec<u32>) -> Result<()> {
        out.clear();
        if self.whole_column(block, ColumnId::DEAD)? {
            runs_back(&self.wide, group_rows, out)?;
        }
        Ok(())
    }

    /// Decodes a column with any number of values into `wide`. False if there is none.
    fn whole_column(&mut self, block: &Block<'_>, id: ColumnId) -> Result<bool> {
        let Some(found) = block.column(id)? else { return Ok(false) };
        self.numbers_u64(found, found.0.values)?;
        Ok(true)
    }

    fn patch_references<'o>(
        &mut self,
        block: &Block<'_>,
        rows: u32,
        changed: &[u32],
        old: impl Fn(u32) -> &'o [u32],
        out: &mut BlockColumns,
    ) -> Result<()> {
        let count = block.references();
        if count == 0 {
            return Ok(());
        }
        match self.numbers(block.column(ColumnId::REFERENCES)?, count)? {
            Numbers::Absent => return Err(FormatError::Missing { what: ColumnId::REFERENCES.what() }),
            Numbers::Wide => {}
            Numbers::Narrow => {
                self.wide.clear();
                self.wide.extend(self.narrow.iter().map(|&symbol| u64::from(symbol)));
            }
        }
        local_shapes(&out.forms, &mut self.locals);
        let (symbols, mut targets) = (&self.wide, Vec::with_capacity(count as usize));
        References { columns: out, changed, locals: &self.locals }.walk(&mut self.slots, old, |slot, bases| {
            let symbol = symbols[slot.place()];
            let target = slot.target_in_patch(symbol, bases.source, bases.previous, bases.before);
            targets.push(target);
            target
        });
        match targets.iter().copied().max() {
            Some(highest) if highest >= rows => {
                let (value, limit) = (highest.into(), rows.into());
                Err(FormatError::OutOfRange { what: "target of a reference", value, limit })
            }
            _ => {
                out.targets = targets;
                Ok(())
            }
        }
    }
}

/// The references of changed rows.
struct References<'a> {
    columns: &'a BlockColumns,
    changed: &'a [u32],
    locals: &'a [LocalShape],
}

/// The possible bases of a symbol, besides those that its slot knows.
struct Bases {
    /// The row that holds the reference.
    source: u32,
    /// The target of the reference before it.
    previous: u32,
    /// The target of the same reference in the base; the source if the base has no such reference.
    before: u32,
}

impl References<'_> {
    /// Calls `step` for each reference with its slot and its bases; `step` returns the target.
    fn walk<'o>(
        &self,
        slots: &mut Vec<Slot>,
        old: impl Fn(u32) -> &'o [u32],
        mut step: impl FnMut(&mut Slot, Bases) -> u32,
    ) {
        let columns = self.columns;
        lay_out(self.locals, &columns.shapes, &columns.counts, columns.first_object, slots);
        let mut previous = columns.first_object;
        for ((&shape, &count), &position) in columns.shapes.iter().zip(&columns.counts).zip(self.changed) {
            let source = columns.first_object.wrapping_add(position);
            let old = old(position);
            let local = &self.locals[shape as usize];
            let last_slot = local.last_slot as usize;
            let slots = &mut slots[local.first_slot as usize..][..=last_slot];
            for number in 0..count as usize {
                let slot = &mut slots[number.min(last_slot)];
                let before = old.get(number).copied().unwrap_or(source);
                let target = step(slot, Bases { source, previous, before });
                slot.follow(target);
                previous = target;
            }
        }
    }
}

/// Ascending positions as pairs: the gap between the previous run and this one, and the length of the run − 1.
fn runs(positions: &[u32]) -> impl Iterator<Item = u64> + '_ {
    let mut end = 0;
    positions.chunk_by(|one, other| other - one == 1).flat_map(move |run| {
        let (first, last) = (run[0], run[run.len() - 1]);
        let gap = first - end;
        end = last + 1;
        [gap.into(), (last - first).into()]
    })
}

fn runs_back(values: &[u64], limit: u32, out: &mut Vec<u32>) -> Result<()> {
    let (pairs, rest) = values.as_chunks::<2>();
    agree("half a run of dead rows", 0, rest.len() as u64)?;
    let mut end = 0u64;
    for &[gap, more] in pairs {
        let first = end.saturating_add(gap);
        end = first.saturating_add(more).saturating_add(1);
        check_position(ColumnId::DEAD, end - 1, limit)?;
        // Both are below `limit`, which is a u32.
        out.extend((first..end).filter_map(|position| u32::try_from(position).ok()));
    }
    Ok(())
}

/// Ascending positions, each as the gap between it and the previous one.
fn gaps(positions: &[u32]) -> impl Iterator<Item = u64> + '_ {
    let mut end = 0;
    positions.iter().map(move |&position| {
        let gap = position - end;
        end = position + 1;
        gap.into()
    })
}

fn gaps_back(id: ColumnId, values: &[u64], limit: u32, out: &mut Vec<u32>) -> Result<()> {
    let mut end = 0u64;
    for &gap in values {
        let position = end.saturating_add(gap);
        check_position(id, position, limit)?;
        out.push(u32::try_from(position).unwrap_or(u32::MAX));
        end = position + 1;
    }
    Ok(())
}

fn check_position(id: ColumnId, position: u64, limit: u32) -> Result<()> {
    if position < limit.into() {
        return Ok(());
    }
    Err(FormatError::OutOfRange { what: id.what(), value: position, limit: limit.into() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::columns;
    use super::*;
    use crate::codec::Compression;
    use crate::frame::{Frame, NO_SNAPSHOT, SectionType, encode_frame};

    fn ascending(below: u32) -> impl Strategy<Value = Vec<u32>> {
        prop::collection::btree_set(0..below, 0..40).prop_map(|set| set.into_iter().collect())
    }

    proptest! {
        #[test]
        fn a_patch_is_read_back(
            (forms, columns) in columns(),
            dead in ascending(300),
            moved in prop::collection::vec(any::<u64>(), 0..20),
            old in prop::collection::vec(0..1000u32, 0..50),
        ) {
            let changed = (0..columns.shapes.len() as u32).map(|row| row * 3).collect();
            let columns = BlockColumns { addresses: Vec::new(), serials: Vec::new(), ..columns };
            let mut patch = Patch { dead, changed, columns, moved };
            let old = |position: u32| &old[old.len().min(position as usize)..];
            let mut encoder = Encoder::new(Compression::Zstd(1)).unwrap();
            let (directory, body) = encoder.encode_patch(&mut patch, old).unwrap();
            let bytes = encode_frame(SectionType::PATCH, NO_SNAPSHOT, 0, &directory, body);
            let block = Block::parse(&Frame::parse(&bytes, 0).unwrap()).unwrap();
            block.check_columns().unwrap();
            let mut found = Patch::default();
            let mut decoder = Decoder::new();
            let limits = |group_rows| PatchLimits { forms: &forms, rows: 1000, group_rows };
            decoder.decode_patch(&block, limits(300), ColumnSelection::All, old, &mut found).unwrap();
            prop_assert_eq!(&found, &patch);
            if let Some(&last) = patch.changed.last().max(patch.dead.last()) {
                let result = decoder.decode_patch(&block, limits(last), ColumnSelection::All, old, &mut found);
                let is_refused = matches!(result, Err(FormatError::OutOfRange { .. }));
                prop_assert!(is_refused);
            }
        }
    }

    #[test]
    fn nothing_but_deaths_is_a_patch() {
        let mut patch = Patch { dead: vec![0, 1, 2, 7], ..Patch::default() };
        patch.columns.first_object = 65_536;
        let mut encoder = Encoder::new(Compression::None).unwrap();
        let (directory, body) = encoder.encode_patch(&mut patch, |_| &[]).unwrap();
        assert_eq!(body, [0, 2, 4, 0]);
        let bytes = encode_frame(SectionType::PATCH, NO_SNAPSHOT, 0, &directory, body);
        let block = Block::parse(&Frame::parse(&bytes, 0).unwrap()).unwrap();
        let mut found = Patch::default();
        let limits = PatchLimits { forms: &[], rows: 9, group_rows: 8 };
        Decoder::new().decode_patch(&block, limits, ColumnSelection::All, |_| &[], &mut found).unwrap();
        assert_eq!(found, patch);
    }
}
