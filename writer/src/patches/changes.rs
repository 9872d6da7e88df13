//! The rows that changed, and their gathering group by group without holding all of them.

use std::ops::Range;

use barrow_format::FieldId;
use barrow_format::block::BlockColumns;
use barrow_format::patch::{ColumnFiller, ObjectFields, RowGroup};

use super::PreviousSnapshot;
use super::living::Living;
use super::reader::{BlockItem, Reader};
use crate::error::Result;

/// The changes of the groups of the snapshot before, once all objects were compared.
pub(super) struct Changes {
    /// The first row of each group that has rows of its own, and its number.
    starts: Vec<(u32, usize)>,
    /// The last group found: neighbouring objects often stay neighbours.
    last: usize,
    groups: Vec<Sums>,
    changed: Living,
    /// For each block of the snapshot, the groups whose rows changed in it.
    blocks: Vec<Range<usize>>,
    /// Maximum memory of rows gathered at once, in bytes.
    gathered_bytes: usize,
    /// Groups that begin a batch, whose changed rows are gathered together.
    batches: Vec<usize>,
}

/// The living objects of a group, and the memory of its changed rows when they are gathered.
#[derive(Debug, Clone, Default)]
struct Sums {
    objects: u32,
    references: u64,
    changed_bytes: usize,
}

impl Changes {
    pub(super) fn new(before: &PreviousSnapshot, gathered_bytes: usize, blocks: usize) -> Self {
        let own = before.groups.iter().enumerate().filter(|(_, group)| group.part == 0);
        Changes {
            starts: own.map(|(number, group)| (group.rows.start, number)).collect(),
            last: 0,
            groups: vec![Sums::default(); before.groups.len()],
            changed: Living::none(before.rows.len()),
            blocks: vec![0..0; blocks],
            gathered_bytes,
            batches: Vec::new(),
        }
    }

    /// Adds a living row with this number of references in its own group. Returns the group.
    pub(super) fn add(&mut self, row: u32, references: u64) -> usize {
        let next = self.starts.get(self.last + 1).map_or(u32::MAX, |next| next.0);
        if !self.starts.get(self.last).is_some_and(|start| (start.0..next).contains(&row)) {
            self.last = self.starts.partition_point(|start| start.0 <= row).saturating_sub(1);
        }
        let group = self.starts[self.last].1;
        self.groups[group].objects += 1;
        self.groups[group].references += references;
        group
    }

    /// Adds a row of this group that must be stored again; its object is in this block.
    pub(super) fn change(&mut self, row: u32, group: usize, block: usize, bytes: usize) {
        self.changed.insert(row);
        self.groups[group].changed_bytes += bytes;
        let groups = &mut self.blocks[block];
        *groups = if groups.start == groups.end {
            group..group + 1
        } else {
            groups.start.min(group)..groups.end.max(group + 1)
        };
    }

    /// Divides the groups into batches after all objects were compared.
    pub(super) fn end(&mut self) {
        let mut bytes = usize::MAX;
        for (number, group) in self.groups.iter().enumerate() {
            bytes = bytes.saturating_add(group.changed_bytes);
            if bytes > self.gathered_bytes {
                self.batches.push(number);
                bytes = group.changed_bytes;
            }
        }
    }

    /// Returns whether the row, one of the snapshot before, is stored anew.
    pub(super) fn contains(&self, row: u32) -> bool {
        self.changed.contains(row)
    }

    /// The living objects of a group, and their references in it.
    pub(super) fn living(&self, group: usize) -> (u32, u64) {
        (self.groups[group].objects, self.groups[group].references)
    }

    /// The groups of the batch that this one begins.
    pub(super) fn batch(&self, group: usize) -> Option<Range<usize>> {
        let at = self.batches.binary_search(&group).ok()?;
        Some(group..self.batches.get(at + 1).copied().unwrap_or(self.groups.len()))
    }
}

/// The changed rows of a batch of groups.
#[derive(Default)]
pub(super) struct Picks {
    /// By row; ranges refer to the lists below.
    picks: Vec<Pick>,
    targets: Vec<u32>,
    labels: Vec<u64>,
    fields: Vec<FieldId>,
    codes: Vec<u64>,
    /// The first that was not taken yet.
    next: usize,
    filler: ColumnFiller,
}

struct Pick {
    row: u32,
    fields: ObjectFields,
    targets: Range<usize>,
    labels: Range<usize>,
    /// The range in `fields` and in `codes`.
    values: Range<usize>,
}

impl Picks {
    /// Gathers the changed rows of a batch of groups from the blocks that have some.
    pub(super) fn gather(
        &mut self,
        reader: &mut Reader<'_>,
        changes: &Changes,
        batch: Range<usize>,
        (before, row_of): (&PreviousSnapshot, &[u32]),
    ) -> Result<()> {
        self.picks.clear();
        self.targets.clear();
        self.labels.clear();
        self.fields.clear();
        self.codes.clear();
        self.next = 0;
        let rows = before.groups[batch.start].rows.start..before.groups[batch.end - 1].rows.end;
        let blocks = changes.blocks.iter().enumerate();
        let blocks = blocks.filter(|(_, groups)| groups.start < batch.end && batch.start < groups.end);
        let blocks = blocks.map(|(block, _)| block);
        reader.walk(blocks, |part| {
            // A changed object has no continuations: it would be a new row.
            let BlockItem::Object(number, object) = part else { return Ok(()) };
            let row = row_of[number as usize];
            if rows.contains(&row) && changes.contains(row) {
                let (targets, labels, values) = (self.targets.len(), self.labels.len(), self.fields.len());
                self.targets.extend(object.targets.iter().map(|&target| row_of[target as usize]));
                self.labels.extend_from_slice(object.explicit);
                self.fields.extend_from_slice(object.values.0);
                self.codes.extend_from_slice(object.values.1);
                let (targets, labels) = (targets..self.targets.len(), labels..self.labels.len());
                let values = values..self.fields.len();
                self.picks.push(Pick { row, fields: object.fields(), targets, labels, values });
            }
            Ok(())
        })?;
        self.picks.sort_unstable_by_key(|pick| pick.row);
        Ok(())
    }

    /// The changed rows of the next group.
    pub(super) fn columns(&mut self, group: &RowGroup) -> BlockColumns {
        self.filler.begin(group.rows.start);
        let picks = self.picks[self.next..].iter().take_while(|pick| pick.row < group.rows.end);
        for pick in picks {
            let (targets, labels) = (&self.targets[pick.targets.clone()], &self.labels[pick.labels.clone()]);
            let values = (&self.fields[pick.values.clone()], &self.codes[pick.values.clone()]);
            self.filler.push(&pick.fields, labels, values, targets.iter().copied());
        }
        self.next += self.filler.columns.objects();
        self.filler.take()
    }
}

/// The memory of an object that is gathered, in bytes.
pub(super) fn gathered_bytes(object: &super::reader::DecodedObject<'_>) -> usize {
    size_of::<Pick>() + 4 * object.targets.len() + 8 * object.explicit.len() + 12 * object.values.0.len()
}
