//! A snapshot compared with the one before: which rows its objects have, and what is to be written of each group.

use std::sync::Mutex;

use barrow_format::block::{BlockColumns, Encoder, MAX_REFERENCES, Patch, Wanted};
use barrow_format::commit::{Group, Patched};
use barrow_format::frame::{SectionType, encode_frame};

use super::changes::{Changes, Picks};
use super::comparison::{Compared, Comparing};
use super::contents::Contents;
use super::draft::{Draft, Made};
use super::living::Living;
use super::reader::Reader;
use super::{Before, MAX_ROWS, MAX_STORED, NOBODY, Patches, RowGroup, Spill, WORTHWHILE};
use crate::error::Result;
use crate::shared::lock;

/// What a snapshot is compared with, and where its difference goes.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) patches: &'a Patches,
    pub(super) before: &'a Before,
    pub(super) snapshot: u32,
    pub(super) spill: &'a Mutex<Spill>,
}

/// A snapshot that is being compared.
pub(super) struct Difference<'a> {
    context: Context<'a>,
    reader: Reader<'a>,
    /// For each object its row.
    row_of: Vec<u32>,
    /// Rows there are, new ones too.
    rows: u32,
    encoder: Encoder,
}

impl<'a> Difference<'a> {
    /// Finds the row of every object. `None` if not every object has a serial of its own, or if there would be
    /// too many rows.
    pub(super) fn begin(context: Context<'a>, mut reader: Reader<'a>) -> Result<Option<Self>> {
        let Some(row_of) = rows_of_serials(context.before, &mut reader)? else { return Ok(None) };
        let encoder = Encoder::new(context.patches.compression)?;
        let mut difference = Difference { context, reader, row_of, rows: context.before.rows.len(), encoder };
        difference.part_changed_giants()?;
        let is_possible = difference.number_new();
        Ok(is_possible.then_some(difference))
    }

    /// Gives rows to the objects that have none. False if there would be too many.
    fn number_new(&mut self) -> bool {
        let most = (MAX_ROWS * self.row_of.len() as f64).min(f64::from(NOBODY - 1));
        for row in self.row_of.iter_mut().filter(|row| **row == NOBODY) {
            if f64::from(self.rows) >= most {
                return false;
            }
            *row = self.rows;
            self.rows += 1;
        }
        f64::from(self.rows) <= most
    }

    /// Takes their rows from the objects with continuations that are not as they were: a patch stores no
    /// continuations, so such an object is stored as a new one.
    fn part_changed_giants(&mut self) -> Result<()> {
        let mut giants = self.giants();
        let mut contents = Contents::new(&self.context.patches.keys);
        // One that is parted may change another that refers to it.
        loop {
            let mut changed = Vec::new();
            for &giant in &giants {
                let row = self.row_of[giant as usize];
                if self.content(giant, &mut contents)? != self.context.before.rows.content(row) {
                    changed.push(giant);
                }
            }
            if changed.is_empty() {
                return Ok(());
            }
            changed.iter().for_each(|&giant| self.row_of[giant as usize] = NOBODY);
            giants.retain(|&giant| self.row_of[giant as usize] != NOBODY);
        }
    }

    /// The objects that were there before and have continuations, then or now.
    fn giants(&self) -> Vec<u32> {
        let blocks = self.reader.blocks();
        let now = blocks.iter().filter(|block| block.objects == 0).map(|block| block.first_object);
        let mut giants: Vec<u32> = now.filter(|&giant| self.row_of[giant as usize] != NOBODY).collect();
        let divisions = &self.context.before.divisions;
        if !divisions.is_empty() {
            giants.extend((0..).zip(&self.row_of).filter(|(_, row)| divisions.contains_key(row)).map(|(at, _)| at));
        }
        giants.sort_unstable();
        giants.dedup();
        giants
    }

    /// The content of one object, with the rows that are known now.
    fn content(&mut self, number: u32, contents: &mut Contents) -> Result<u128> {
        let row_of = |target: u32| self.row_of[target as usize];
        let (block, at) = self.reader.find(number);
        let is_last = at + 1 == self.reader.blocks()[block].objects as usize;
        for object in self.reader.read(block, Wanted::All)?.objects().skip(at).take(1) {
            contents.begin(&object, row_of);
        }
        let mut next = block + 1;
        while is_last && self.reader.is_continuation(next) {
            for part in self.reader.read(next, Wanted::All)?.objects() {
                contents.go_on(&part, row_of);
            }
            next += 1;
        }
        Ok(contents.end())
    }

    /// The snapshot as a patch; `None` if that does not pay.
    pub(super) fn draft(mut self) -> Result<Option<Draft>> {
        let mut living = Living::none(self.rows);
        for &row in &self.row_of {
            living.insert(row);
        }
        living.count();
        let Some(compared) = self.compare()? else { return Ok(None) };
        let Compared { changes, changed, new, made_of_new, addresses } = compared;
        let patched = Patched { base: self.context.before.snapshot, rows: self.rows, groups: Vec::new() };
        let (row_of, blocks) = (std::mem::take(&mut self.row_of), Vec::new());
        let mut draft = Draft { patched, blocks, row_of, living, changed, new, addresses, stored: 0 };
        let before = self.context.before;
        let mut picks = Picks::default();
        for (number, group) in before.groups.iter().enumerate() {
            if let Some(batch) = changes.batch(number) {
                picks.gather(&mut self.reader, &changes, batch, (before, &draft.row_of))?;
            }
            let Some(made) = self.group(group, &changes, number, &mut picks, &draft)? else { return Ok(None) };
            draft.add(made);
        }
        made_of_new.into_iter().for_each(|made| draft.add(made));
        let pays = draft.bytes() as f64 <= WORTHWHILE * self.reader.bytes() as f64;
        Ok(pays.then_some(draft))
    }

    /// What becomes of a group; `None` if a patch cannot hold its references.
    fn group(
        &mut self,
        group: &RowGroup,
        changes: &Changes,
        number: usize,
        picks: &mut Picks,
        draft: &Draft,
    ) -> Result<Option<Made>> {
        let before = self.context.before;
        if group.is_gone {
            return Ok(Some(Made::nothing(Group::Gone, group.part > 0, 0, 0)));
        }
        if group.part > 0 {
            let lives = draft.living.contains(group.rows.start);
            let references = if lives { before.divisions[&group.rows.start][group.part] } else { 0 };
            let fate = if lives { Group::Same } else { Group::Gone };
            return Ok(Some(Made::nothing(fate, true, 0, references)));
        }
        let (objects, references) = changes.living(number);
        if objects == 0 {
            return Ok(Some(Made::nothing(Group::Gone, false, 0, 0)));
        }
        let patch = self.patch(group, changes, picks.columns(group), draft);
        if references.max(patch.columns.targets.len() as u64) > MAX_REFERENCES.into() {
            return Ok(None);
        }
        let references = references as u32;
        if patch.dead.is_empty() && patch.changed.is_empty() && patch.moved.is_empty() {
            return Ok(Some(Made::nothing(Group::Same, false, objects, references)));
        }
        self.encode_patch(patch, objects, references).map(Some)
    }

    /// What died, changed and moved of a group; these are the columns of what changed.
    fn patch(&self, group: &RowGroup, changes: &Changes, columns: BlockColumns, draft: &Draft) -> Patch {
        let before = &self.context.before.rows;
        let address = |all: &[u64], row: u32| all.get(row as usize).copied().unwrap_or(0);
        let mut patch = Patch { columns, ..Patch::default() };
        for (position, row) in (0..).zip(group.rows.clone()).filter(|&(_, row)| before.is_alive(row)) {
            if !draft.living.contains(row) {
                patch.dead.push(position);
                continue;
            }
            if changes.contains(row) {
                patch.changed.push(position);
            }
            patch.moved.push(address(&draft.addresses, row).wrapping_sub(address(before.addresses(), row)));
        }
        if patch.moved.iter().all(|&by| by == 0) {
            patch.moved.clear();
        }
        patch
    }

    fn encode_patch(&mut self, mut patch: Patch, objects: u32, references: u32) -> Result<Made> {
        let stored = patch.changed.len() as u64 + patch.columns.targets.len() as u64;
        // What references led to before is not remembered, so they are never stored as differences to it: the
        // object itself, which stands for it then, is a base of its own with a smaller number.
        let (directory, body) = self.encoder.encode_patch(&mut patch, |_| &[])?;
        let frame = encode_frame(SectionType::PATCH, self.context.snapshot, 0, &directory, body);
        let (offset, length) = (lock(self.context.spill).append(&frame)?, frame.len() as u64);
        Ok(Made { group: Group::Patch, is_continuation: false, offset, length, objects, references, stored })
    }

    /// Compares all objects, and makes blocks of those that are new. `None` if too much would be stored.
    fn compare(&mut self) -> Result<Option<Compared>> {
        let before = self.context.before;
        let size = f64::from(self.reader.objects()) + self.reader.references() as f64;
        let most = (MAX_STORED * size) as u64;
        let Some(most) = most.checked_sub(before.stored) else { return Ok(None) };
        let mut comparing = Comparing::new(self.context, &self.row_of, self.reader.blocks().len(), &mut self.encoder);
        for block in 0..self.reader.blocks().len() {
            let read = self.reader.read(block, Wanted::All)?;
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

/// For each object its row, or [`NOBODY`]. `None` if not every object has a serial of its own, or too many are new.
fn rows_of_serials(before: &Before, reader: &mut Reader<'_>) -> Result<Option<Vec<u32>>> {
    let most_new = MAX_ROWS * f64::from(reader.objects()) - f64::from(before.rows.len());
    let mut row_of = Vec::with_capacity(reader.objects() as usize);
    let mut known = Living::none(before.rows.len());
    let (mut new, mut guess) = (Vec::new(), 0);
    let blocks = reader.blocks();
    for block in (0..blocks.len()).filter(|&block| blocks[block].objects > 0) {
        let columns = reader.read(block, Wanted::Identity)?.columns;
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
            row_of.push(row.unwrap_or(NOBODY));
        }
        if new.len() as f64 > most_new {
            return Ok(None);
        }
    }
    new.sort_unstable();
    let are_different = new.windows(2).all(|pair| pair[0] != pair[1]);
    Ok(are_different.then_some(row_of))
}
