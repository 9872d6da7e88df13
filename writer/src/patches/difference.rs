//! The comparison of a snapshot with the one before: the rows of its objects, and the frames of each group.

use barrow_format::block::{BlockColumns, ColumnSelection, Encoder, Patch};
use barrow_format::patch::{
    EncodedGroup, Layout, NO_ROW, RowGroup, encode_difference, is_worthwhile, most_rows, most_stored, separate_changed,
};

use super::PreviousSnapshot;
use super::changes::{Changes, Picks};
use super::comparison::{Comparer, ComparisonResult};
use super::contents::Contents;
use super::context::Context;
use super::draft::{Draft, SpilledGroup};
use super::living::Living;
use super::reader::Reader;
use crate::error::{Result, WriterError};

/// A snapshot being compared.
pub(super) struct Difference<'a> {
    context: Context<'a>,
    reader: Reader<'a>,
    /// For each object, its row.
    row_of: Vec<u32>,
    /// Number of rows, including new ones.
    rows: u32,
    encoder: Encoder,
}

impl<'a> Difference<'a> {
    /// Finds the row of every object. `None` if not every object has a unique serial, or if there would be too many
    /// rows.
    pub(super) fn begin(context: Context<'a>, mut reader: Reader<'a>) -> Result<Option<Self>> {
        let Some(row_of) = rows_of_serials(context.before, &mut reader)? else { return Ok(None) };
        let encoder = Encoder::new(context.patches.compression)?;
        let mut difference = Difference { context, reader, row_of, rows: context.before.rows.len(), encoder };
        difference.part_changed_giants()?;
        let is_possible = difference.number_new();
        Ok(is_possible.then_some(difference))
    }

    /// Gives rows to the objects without one. False if there would be too many.
    fn number_new(&mut self) -> bool {
        let most = most_rows(self.row_of.len() as u64);
        for row in self.row_of.iter_mut().filter(|row| **row == NO_ROW) {
            if u64::from(self.rows) >= most {
                return false;
            }
            *row = self.rows;
            self.rows += 1;
        }
        u64::from(self.rows) <= most
    }

    /// Removes the rows of giants that have changed: a patch stores no continuations, so such an object is stored as a
    /// new one.
    fn part_changed_giants(&mut self) -> Result<()> {
        let giants = self.giants();
        let contents = Contents::new(&self.context.patches.keys);
        let mut state = (self, contents);
        let is_same = |(difference, contents): &mut (&mut Self, Contents), giant: u32| {
            let row = difference.row_of[giant as usize];
            Ok::<_, WriterError>(difference.content(giant, contents)? == difference.context.before.rows.content(row))
        };
        separate_changed(&mut state, giants, is_same, |(difference, _), giant| {
            difference.row_of[giant as usize] = NO_ROW;
        })
    }

    /// The objects that existed before and have continuations, then or now.
    fn giants(&self) -> Vec<u32> {
        let blocks = self.reader.blocks();
        let now = blocks.iter().filter(|block| block.objects == 0).map(|block| block.first_object);
        let mut giants: Vec<u32> = now.filter(|&giant| self.row_of[giant as usize] != NO_ROW).collect();
        let divisions = &self.context.before.divisions;
        if !divisions.is_empty() {
            giants.extend((0..).zip(&self.row_of).filter(|(_, row)| divisions.of(**row).is_some()).map(|(at, _)| at));
        }
        giants.sort_unstable();
        giants.dedup();
        giants
    }

    /// The content of one object, with the rows known now.
    fn content(&mut self, number: u32, contents: &mut Contents) -> Result<u128> {
        let row_of = |target: u32| self.row_of[target as usize];
        let (block, at) = self.reader.find(number);
        let is_last = at + 1 == self.reader.blocks()[block].objects as usize;
        for object in self.reader.read(block, ColumnSelection::All)?.objects().skip(at).take(1) {
            contents.begin(&object, row_of);
        }
        let mut next = block + 1;
        while is_last && self.reader.is_continuation(next) {
            for part in self.reader.read(next, ColumnSelection::All)?.objects() {
                contents.go_on(&part, row_of);
            }
            next += 1;
        }
        Ok(contents.end())
    }

    /// The snapshot as a patch; `None` if that is not worthwhile.
    pub(super) fn draft(mut self) -> Result<Option<Draft>> {
        let mut living = Living::none(self.rows);
        for &row in &self.row_of {
            living.insert(row);
        }
        living.count();
        let Some(compared) = self.compare()? else { return Ok(None) };
        let ComparisonResult { changes, changed, new, new_groups, addresses } = compared;
        let (base, rows, row_of) = (self.context.before.snapshot, self.rows, std::mem::take(&mut self.row_of));
        let mut draft = Draft { base, rows, layout: Layout::default(), row_of, living, changed, new, addresses };
        let before = self.context.before;
        let mut picks = Picks::default();
        for (number, group) in before.groups.iter().enumerate() {
            if let Some(batch) = changes.batch(number) {
                picks.gather(&mut self.reader, &changes, batch, (before, &draft.row_of))?;
            }
            let Some(stored) = self.group(group, &changes, number, &mut picks, &draft)? else { return Ok(None) };
            draft.layout.add(&stored);
        }
        new_groups.iter().for_each(|stored| draft.layout.add(stored));
        let pays = is_worthwhile(draft.layout.bytes, self.reader.bytes() as f64);
        Ok(pays.then_some(draft))
    }

    /// The encoded group; `None` if a patch cannot hold its references.
    fn group(
        &mut self,
        group: &RowGroup,
        changes: &Changes,
        number: usize,
        picks: &mut Picks,
        draft: &Draft,
    ) -> Result<Option<SpilledGroup>> {
        if group.is_gone {
            return Ok(Some(EncodedGroup::still_gone(group)));
        }
        if group.part > 0 {
            let row = group.rows.start;
            let division = self.context.before.divisions.of(row).filter(|_| draft.living.contains(row));
            return Ok(Some(EncodedGroup::of_continuation(group, division)));
        }
        let patch = self.patch(group, changes, picks.columns(group), draft);
        // The previous targets are not remembered, so no reference is stored as a difference to them.
        let snapshot = self.context.snapshot;
        let encoded = encode_difference(&mut self.encoder, snapshot, patch, changes.living(number), |_| &[])?;
        encoded.map(|encoded| self.context.spilled(encoded)).transpose()
    }

    /// The dead, changed and moved rows of a group; `columns` are those of the changed ones.
    fn patch(&self, group: &RowGroup, changes: &Changes, columns: BlockColumns, draft: &Draft) -> Patch {
        let before = &self.context.before.rows;
        let mut patch = Patch { columns, ..Patch::default() };
        for (position, row) in (0..).zip(group.rows.clone()).filter(|&(_, row)| before.is_alive(row)) {
            if !draft.living.contains(row) {
                patch.dead.push(position);
                continue;
            }
            if changes.contains(row) {
                patch.changed.push(position);
            }
            patch.moved.push(address_of(&draft.addresses, row).wrapping_sub(address_of(before.addresses(), row)));
        }
        patch
    }

    /// Compares all objects, and makes blocks of new ones. `None` if too much would be stored.
    fn compare(&mut self) -> Result<Option<ComparisonResult>> {
        let before = self.context.before;
        let most = most_stored(self.reader.objects().into(), self.reader.references());
        let Some(most) = most.checked_sub(before.stored) else { return Ok(None) };
        let mut comparing = Comparer::new(self.context, &self.row_of, self.reader.blocks().len(), &mut self.encoder);
        for block in 0..self.reader.blocks().len() {
            let read = self.reader.read(block, ColumnSelection::All)?;
            let is_continuation = read.columns.shapes.is_empty();
            for object in read.objects() {
                if is_continuation {
                    comparing.go_on(&object)?;
                } else {
                    comparing.end();
                    comparing.begin(block, &object)?;
                }
            }
            if comparing.stored() > most {
                return Ok(None);
            }
        }
        comparing.finish(self.rows).map(Some)
    }
}

fn address_of(addresses: &[u64], row: u32) -> u64 {
    addresses.get(row as usize).copied().unwrap_or(0)
}

/// For each object its row, or [`NO_ROW`]. `None` if not every object has a unique serial, or too many are new.
fn rows_of_serials(before: &PreviousSnapshot, reader: &mut Reader<'_>) -> Result<Option<Vec<u32>>> {
    let most_new = most_rows(reader.objects().into()).saturating_sub(before.rows.len().into());
    let mut row_of = Vec::with_capacity(reader.objects() as usize);
    let mut known = Living::none(before.rows.len());
    let (mut new, mut guess) = (Vec::new(), 0);
    let blocks = reader.blocks();
    for block in (0..blocks.len()).filter(|&block| blocks[block].objects > 0) {
        let columns = reader.read(block, ColumnSelection::Identity)?.columns;
        if columns.serials.is_empty() {
            return Ok(None);
        }
        for &serial in &columns.serials {
            let row = if serial == 0 { None } else { before.rows.find_near(serial, guess) };
            if serial == 0 || row.is_some_and(|row| !known.insert(row)) {
                return Ok(None);
            }
            match row {
                Some(row) => guess = row + 1,
                None => new.push(serial),
            }
            row_of.push(row.unwrap_or(NO_ROW));
        }
        if new.len() as u64 > most_new {
            return Ok(None);
        }
    }
    new.sort_unstable();
    let are_different = new.windows(2).all(|pair| pair[0] != pair[1]);
    Ok(are_different.then_some(row_of))
}
