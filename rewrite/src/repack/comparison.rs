//! Compares a snapshot with the one before, group by group.

use rayon::prelude::*;

use barrow_analyzer::Tables;
use barrow_analyzer::raw::{LoadedSnapshot, NO_OBJECT, ObjectColumns};
use barrow_format::ShapeId;
use barrow_format::block::{Encoder, Patch};
use barrow_format::codec::Compression;
use barrow_format::commit::Group;
use barrow_format::patch::{ColumnFiller, EncodedGroup, RowGroup, encode_difference, separate_changed};
use barrow_progress::Progress;

use super::draft::{Draft, FramedGroup, push};
use super::{WrittenSnapshot, encoding};
use crate::error::{Result, check};

impl Draft {
    /// Compares all groups of the snapshot before. False if a patch cannot hold the difference.
    pub(super) fn compare(
        &mut self,
        before: &WrittenSnapshot,
        whole: &LoadedSnapshot,
        tables: &Tables,
        compression: Compression,
    ) -> Result<bool> {
        let comparison = Comparison::new(before, whole, self, tables);
        let encoder = || {
            let encoder = Encoder::new(compression).expect("tables were compressed at this level before");
            (encoder, ColumnFiller::default())
        };
        let groups = before.groups.par_iter();
        let compared: Vec<Result<Option<FramedGroup>>> =
            groups.map_init(encoder, |(encoder, filler), group| comparison.group(group, encoder, filler)).collect();
        for (group, encoded) in before.groups.iter().zip(compared) {
            let Some(encoded) = encoded? else { return Ok(false) };
            self.add(RowGroup { is_gone: encoded.group == Group::Gone, ..group.clone() }, encoded);
        }
        Ok(true)
    }
}

/// Two snapshots side by side.
struct Comparison<'a> {
    snapshot: u32,
    before: &'a WrittenSnapshot,
    after: &'a LoadedSnapshot,
    /// For each object of `after`, its row.
    row_of: &'a [u32],
    /// For each row, the object of `before` in it, and that of `after`.
    objects: Vec<(u32, u32)>,
    tables: &'a Tables,
}

impl<'a> Comparison<'a> {
    fn new(before: &'a WrittenSnapshot, after: &'a LoadedSnapshot, draft: &'a Draft, tables: &'a Tables) -> Self {
        let (snapshot, row_of) = (draft.snapshot.0, draft.row_of.as_slice());
        let mut objects = vec![(NO_OBJECT, NO_OBJECT); draft.rows as usize];
        for (object, &row) in (0..).zip(&before.row_of) {
            objects[row as usize].0 = object;
        }
        for (object, &row) in (0..).zip(row_of) {
            if let Some(objects) = objects.get_mut(row as usize) {
                objects.1 = object;
            }
        }
        Comparison { snapshot, before, after, row_of, objects, tables }
    }

    /// The encoded group; `None` if a patch cannot hold its references.
    fn group(&self, group: &RowGroup, encoder: &mut Encoder, filler: &mut ColumnFiller) -> Result<Option<FramedGroup>> {
        if group.is_gone {
            return Ok(Some(EncodedGroup::still_gone(group)));
        }
        if group.part > 0 {
            let (old, new) = self.objects[group.rows.start as usize];
            let division = self.before.divisions.of(group.rows.start);
            let division = division.filter(|_| old != NO_OBJECT && new != NO_OBJECT);
            return Ok(Some(EncodedGroup::of_continuation(group, division)));
        }
        filler.begin(group.rows.start);
        let mut patch = Patch::default();
        let (mut living, mut references) = (0, 0);
        for (position, row) in (0..).zip(group.rows.clone()) {
            let (old, new) = self.objects[row as usize];
            if old == NO_OBJECT {
                continue;
            }
            if new == NO_OBJECT {
                patch.dead.push(position);
                continue;
            }
            living += 1;
            let in_first = self.before.divisions.in_first_block(row);
            references += in_first.map_or(self.after.targets(new as usize).len() as u64, u64::from);
            if in_first.is_none() && !self.is_same(old as usize, new as usize) {
                patch.changed.push(position);
                push(filler, self.after, new as usize, self.row_of, self.tables);
            }
            patch.moved.push(self.moved(old as usize, new as usize));
        }
        patch.columns = filler.take();
        self.encode(group, patch, encoder, (living, references))
    }

    fn encode(
        &self,
        group: &RowGroup,
        patch: Patch,
        encoder: &mut Encoder,
        living: (u32, u64),
    ) -> Result<Option<FramedGroup>> {
        // The previous targets of the changed rows.
        let (mut starts, mut targets) = (vec![0], Vec::new());
        for &position in &patch.changed {
            let (old, _) = self.objects[(group.rows.start + position) as usize];
            let old = self.before.whole.targets(old as usize);
            targets.extend(old.iter().map(|&target| self.before.row_of[target as usize]));
            starts.push(targets.len());
        }
        let changed = patch.changed.clone();
        let old = |position: u32| match changed.binary_search(&position) {
            Ok(at) => &targets[starts[at]..starts[at + 1]],
            Err(_) => &[][..],
        };
        encode_difference(encoder, self.snapshot, patch, living, old).map_err(encoding("PATCH"))
    }

    /// Whether an object is unchanged in everything but its address, which has a column of its own. Shapes that give
    /// its references the same labels are equivalent.
    fn is_same(&self, old: usize, new: usize) -> bool {
        let (before, after) = (&self.before.whole, self.after);
        let (old_targets, new_targets) = (before.targets(old), after.targets(new));
        is_same_alone(before, after, self.tables, old, new)
            && old_targets.len() == new_targets.len()
            && (old_targets.iter().zip(new_targets))
                .all(|(&old, &new)| self.before.row_of[old as usize] == self.row_of[new as usize])
            && self.are_labels_same(old, new)
    }

    fn are_labels_same(&self, old: usize, new: usize) -> bool {
        let (before, after) = (&self.before.whole, self.after);
        if before.own(old).shape == after.own(new).shape {
            return before.labels(old) == after.labels(new);
        }
        (0..after.targets(new).len())
            .all(|position| before.label(old, position, self.tables) == after.label(new, position, self.tables))
    }

    fn moved(&self, old: usize, new: usize) -> u64 {
        let new = self.after.addresses.get(new).copied().unwrap_or(0);
        new.wrapping_sub(self.before.whole.addresses.get(old).copied().unwrap_or(0))
    }
}

/// Removes the partners of changed objects with continuations: a patch stores no continuations, so such an object is
/// stored as a new one. The division of its references into blocks does not count.
pub(super) fn part_changed_giants(
    before: &WrittenSnapshot,
    after: &LoadedSnapshot,
    tables: &Tables,
    partners: &mut [u32],
    progress: &dyn Progress,
) -> Result<()> {
    let pairs = partners.iter().enumerate().filter(|(_, old)| **old != NO_OBJECT);
    let giants = pairs.filter(|&(new, &old)| {
        before.divisions.of(before.row_of[old as usize]).is_some() || !after.continued(new).is_empty()
    });
    let giants = giants.map(|(new, _)| new as u32).collect();
    let is_same = |partners: &mut &mut [u32], new: u32| {
        check(progress)?;
        let old = partners[new as usize];
        Ok(is_same_giant(before, after, tables, partners, old as usize, new as usize))
    };
    separate_changed(&mut &mut *partners, giants, is_same, |partners, new| partners[new as usize] = NO_OBJECT)
}

/// Whether an object that has continuations, before or after, is unchanged.
fn is_same_giant(
    before: &WrittenSnapshot,
    after: &LoadedSnapshot,
    tables: &Tables,
    partners: &[u32],
    old: usize,
    new: usize,
) -> bool {
    let new_references = after.references_from(new, 0, tables);
    is_same_alone(&before.whole, after, tables, old, new)
        && before.divisions.of(before.row_of[old]).is_some()
        && before
            .whole
            .references_from(old, 0, tables)
            .eq(new_references.map(|(label, new)| (label, partners[new as usize])))
}

/// Whether two objects are the same apart from their references, serials and addresses.
fn is_same_alone(before: &LoadedSnapshot, after: &LoadedSnapshot, tables: &Tables, old: usize, new: usize) -> bool {
    own_of(before, tables, old) == own_of(after, tables, new) && before.values(old) == after.values(new)
}

/// The type and the other properties of an object. Apart from the type, a shape only says what labels say.
fn own_of(whole: &LoadedSnapshot, tables: &Tables, object: usize) -> (barrow_analyzer::TypeId, ObjectColumns) {
    let own = whole.own(object);
    (tables.shape(own.shape).type_id, ObjectColumns { shape: ShapeId(0), ..own })
}
