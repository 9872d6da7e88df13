//! Comparing a snapshot with the one before, group of rows by group of rows.

use rayon::prelude::*;

use barrow_analyzer::Tables;
use barrow_analyzer::raw::{LoadedSnapshot, NO_OBJECT, Own};
use barrow_format::ShapeId;
use barrow_format::block::{Encoder, MAX_REFERENCES, Patch};
use barrow_format::codec::Compression;
use barrow_format::commit::Group;
use barrow_format::frame::{SectionType, encode_frame};
use barrow_progress::Progress;

use super::draft::{Draft, Filler, Made, RowGroup};
use super::{Written, made};
use crate::error::{Result, check};

impl Draft {
    /// Compares all groups of the snapshot before. False if a patch cannot hold the difference.
    pub(super) fn compare(
        &mut self,
        before: &Written,
        whole: &LoadedSnapshot,
        tables: &Tables,
        compression: Compression,
    ) -> Result<bool> {
        let comparison = Comparison::new(before, whole, self, tables);
        let encoder = || Encoder::new(compression).expect("tables were compressed at this level before");
        let compare = |encoder: &mut Encoder, group: &RowGroup| comparison.group(group, encoder);
        let compared: Vec<Result<Option<Made>>> = before.groups.par_iter().map_init(encoder, compare).collect();
        for (group, made) in before.groups.iter().zip(compared) {
            let Some(made) = made? else { return Ok(false) };
            self.groups.push(RowGroup { is_gone: made.group == Group::Gone, ..group.clone() });
            self.stored += made.stored;
            self.made.push(made);
        }
        Ok(true)
    }
}

/// Two snapshots side by side.
struct Comparison<'a> {
    snapshot: u32,
    before: &'a Written,
    after: &'a LoadedSnapshot,
    /// For each object of `after` its row.
    row_of: &'a [u32],
    /// For each row the object of `before` in it, and that of `after`.
    objects: Vec<(u32, u32)>,
    tables: &'a Tables,
}

impl<'a> Comparison<'a> {
    fn new(before: &'a Written, after: &'a LoadedSnapshot, draft: &'a Draft, tables: &'a Tables) -> Self {
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

    /// What becomes of a group; `None` if a patch cannot hold its references.
    fn group(&self, group: &RowGroup, encoder: &mut Encoder) -> Result<Option<Made>> {
        if group.is_gone {
            return Ok(Some(Made::nothing(Group::Gone, group.part > 0, 0, 0)));
        }
        if group.part > 0 {
            return Ok(Some(self.continuation(group)));
        }
        let mut filler = Filler::new(self.tables, group.rows.start);
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
            let division = self.before.divisions.get(&row);
            references += division.map_or(self.after.targets(new as usize).len(), |division| division[0] as usize);
            if division.is_none() && !self.is_same(old as usize, new as usize) {
                patch.changed.push(position);
                filler.push(self.after, new as usize, self.row_of);
            }
            patch.moved.push(self.moved(old as usize, new as usize));
        }
        patch.columns = filler.columns;
        if patch.moved.iter().all(|&by| by == 0) {
            patch.moved.clear();
        }
        if references.max(patch.columns.targets.len()) > MAX_REFERENCES as usize {
            return Ok(None);
        }
        let references = references as u32;
        if living == 0 || patch == (Patch { columns: patch.columns.clone(), ..Patch::default() }) {
            let fate = if living == 0 { Group::Gone } else { Group::Same };
            return Ok(Some(Made::nothing(fate, false, living, references)));
        }
        self.encode(group, patch, encoder, living, references).map(Some)
    }

    fn encode(
        &self,
        group: &RowGroup,
        mut patch: Patch,
        encoder: &mut Encoder,
        objects: u32,
        references: u32,
    ) -> Result<Made> {
        // The targets before, of the rows that changed only.
        let (mut starts, mut targets) = (vec![0], Vec::new());
        for &position in &patch.changed {
            let (old, _) = self.objects[(group.rows.start + position) as usize];
            let rows =
                self.before.whole.targets(old as usize).iter().map(|&target| self.before.row_of[target as usize]);
            targets.extend(rows);
            starts.push(targets.len());
        }
        let changed = patch.changed.clone();
        let old = |position: u32| match changed.binary_search(&position) {
            Ok(at) => &targets[starts[at]..starts[at + 1]],
            Err(_) => &[][..],
        };
        let stored = changed.len() as u64 + patch.columns.targets.len() as u64;
        let (directory, body) = encoder.encode_patch(&mut patch, old).map_err(made("PATCH"))?;
        let frame = encode_frame(SectionType::PATCH, self.snapshot, 0, &directory, body);
        Ok(Made { group: Group::Patch, is_continuation: false, frame, objects, references, stored })
    }

    /// References of one object that go on: as before, or gone with it.
    fn continuation(&self, group: &RowGroup) -> Made {
        let (old, new) = self.objects[group.rows.start as usize];
        if old == NO_OBJECT || new == NO_OBJECT {
            return Made::nothing(Group::Gone, true, 0, 0);
        }
        let references = self.before.divisions[&group.rows.start][group.part];
        Made::nothing(Group::Same, true, 0, references)
    }

    /// Whether an object is as before: everything but its address, which has a column of its own. Which of the shapes that
    /// give its references the same labels it has does not count.
    fn is_same(&self, old: usize, new: usize) -> bool {
        let (before, after) = (&self.before.whole, self.after);
        let (old_targets, new_targets) = (before.targets(old), after.targets(new));
        let row_before = |target: u32| self.before.row_of[target as usize];
        is_same_alone(before, after, self.tables, old, new)
            && old_targets.len() == new_targets.len()
            && old_targets.iter().zip(new_targets).all(|(&old, &new)| row_before(old) == self.row_of[new as usize])
            && self.are_labels_same(old, new)
    }

    fn are_labels_same(&self, old: usize, new: usize) -> bool {
        let (before, after) = (&self.before.whole, self.after);
        if before.own(old).shape == after.own(new).shape {
            return before.labels(old) == after.labels(new);
        }
        let label = |whole: &LoadedSnapshot, object, position| whole.label(object, position, self.tables);
        (0..after.targets(new).len()).all(|position| label(before, old, position) == label(after, new, position))
    }

    fn moved(&self, old: usize, new: usize) -> u64 {
        let address = |whole: &LoadedSnapshot, object: usize| whole.addresses.get(object).copied().unwrap_or(0);
        address(self.after, new).wrapping_sub(address(&self.before.whole, old))
    }
}

/// Takes from their partners the objects with continuations that are not as they were: a patch stores no
/// continuations, so such an object is stored as a new one. In which blocks its references stand does not count.
pub(super) fn part_changed_giants(
    before: &Written,
    after: &LoadedSnapshot,
    tables: &Tables,
    partners: &mut [u32],
    progress: &dyn Progress,
) -> Result<()> {
    let was_giant = |old: usize| before.divisions.contains_key(&before.row_of[old]);
    let pairs =
        partners.iter().enumerate().filter(|(_, old)| **old != NO_OBJECT).map(|(new, &old)| (old as usize, new));
    let mut giants: Vec<(usize, usize)> =
        pairs.filter(|&(old, new)| was_giant(old) || !after.continued(new).is_empty()).collect();
    // One that is parted may change another that refers to it.
    loop {
        check(progress)?;
        let is_same = |&(old, new): &(usize, usize)| is_same_giant(before, after, tables, partners, old, new);
        let (same, changed): (Vec<_>, Vec<_>) = giants.into_iter().partition(is_same);
        if changed.is_empty() {
            return Ok(());
        }
        changed.iter().for_each(|&(_, new)| partners[new] = NO_OBJECT);
        giants = same;
    }
}

/// Whether an object that has continuations, before or after, is as it was.
fn is_same_giant(
    before: &Written,
    after: &LoadedSnapshot,
    tables: &Tables,
    partners: &[u32],
    old: usize,
    new: usize,
) -> bool {
    let new_references = after.references_from(new, 0, tables);
    is_same_alone(&before.whole, after, tables, old, new)
        && before.divisions.contains_key(&before.row_of[old])
        && before
            .whole
            .references_from(old, 0, tables)
            .eq(new_references.map(|(label, new)| (label, partners[new as usize])))
}

/// Whether two objects are the same apart from their references, serials and addresses.
fn is_same_alone(before: &LoadedSnapshot, after: &LoadedSnapshot, tables: &Tables, old: usize, new: usize) -> bool {
    // Beside the type a shape says no more than labels.
    let own = |whole: &LoadedSnapshot, object| {
        let own = whole.own(object);
        (tables.shape(own.shape).type_id, Own { shape: ShapeId(0), ..own })
    };
    own(before, old) == own(after, new)
}
