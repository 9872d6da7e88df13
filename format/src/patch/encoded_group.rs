//! The storage of a group of rows: nothing, a PATCH frame, or a BLOCK frame.

use crate::block::{BlockColumns, Encoder, MAX_REFERENCES, MAX_VALUES, Patch};
use crate::commit::Group;
use crate::error::Result;
use crate::frame::{SectionType, encode_frame};

use super::RowGroup;

/// A group that is ready to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedGroup<F> {
    /// The storage of its rows.
    pub group: Group,
    /// It holds references of a row that began in another group.
    pub is_continuation: bool,
    /// Its frame, if it has one: the bytes, or their position.
    pub frame: Option<F>,
    /// Its living objects.
    pub objects: u32,
    /// Their references in it.
    pub references: u32,
    /// Number of rows and references that its frame stores.
    pub stored: u64,
}

impl<F> EncodedGroup<F> {
    /// A group without a frame: [`Group::Gone`] or [`Group::Same`].
    fn without_frame(group: Group, is_continuation: bool, objects: u32, references: u32) -> Self {
        EncodedGroup { group, is_continuation, frame: None, objects, references, stored: 0 }
    }

    /// A group without living rows before.
    #[must_use]
    pub fn still_gone(group: &RowGroup) -> Self {
        Self::without_frame(Group::Gone, group.part > 0, 0, 0)
    }

    /// A continuation. `division` has the references of its row in each block, if the row lives: then they are
    /// unchanged, since a giant that changed is a new row.
    #[must_use]
    pub fn of_continuation(group: &RowGroup, division: Option<&[u32]>) -> Self {
        match division.and_then(|division| division.get(group.part)) {
            Some(&references) => Self::without_frame(Group::Same, true, 0, references),
            None => Self::without_frame(Group::Gone, true, 0, 0),
        }
    }

    /// The same with its frame elsewhere.
    ///
    /// # Errors
    /// Those of `store`.
    pub fn try_map<G, E>(
        self,
        store: impl FnOnce(F) -> std::result::Result<G, E>,
    ) -> std::result::Result<EncodedGroup<G>, E> {
        let EncodedGroup { group, is_continuation, frame, objects, references, stored } = self;
        let frame = frame.map(store).transpose()?;
        Ok(EncodedGroup { group, is_continuation, frame, objects, references, stored })
    }
}

/// Encodes new rows, or a continuation of one, as a BLOCK frame.
///
/// # Errors
/// As for [`Encoder::encode`].
pub fn encode_block(encoder: &mut Encoder, snapshot: u32, columns: &mut BlockColumns) -> Result<EncodedGroup<Vec<u8>>> {
    let (objects, references) = (count(columns.objects()), count(columns.targets.len()));
    let (directory, body) = encoder.encode(columns)?;
    let frame = Some(encode_frame(SectionType::BLOCK, snapshot, 0, &directory, body));
    let stored = u64::from(objects) + u64::from(references);
    Ok(EncodedGroup { group: Group::Block, is_continuation: objects == 0, frame, objects, references, stored })
}

/// Encodes the changes of a group: gone if no row lives, the same if none changed, or a PATCH frame. `objects` live in
/// it and have `references` in it; `old` returns the targets that a changed row had before, none if they are unknown.
///
/// `None` if the group has more references or values than a patch can hold: then the snapshot is stored whole.
///
/// # Errors
/// As for [`Encoder::encode_patch`].
pub fn encode_difference<'o>(
    encoder: &mut Encoder,
    snapshot: u32,
    mut patch: Patch,
    (objects, references): (u32, u64),
    old: impl Fn(u32) -> &'o [u32],
) -> Result<Option<EncodedGroup<Vec<u8>>>> {
    if patch.moved.iter().all(|&by| by == 0) {
        patch.moved.clear();
    }
    let in_patch = patch.columns.targets.len() as u64;
    // Half of the maximum: layouts may take as much as the values.
    let has_too_many_values = patch.columns.values.len() > (MAX_VALUES / 2) as usize;
    if references.max(in_patch) > u64::from(MAX_REFERENCES) || has_too_many_values {
        return Ok(None);
    }
    let references = u32::try_from(references).unwrap_or(u32::MAX);
    if objects == 0 {
        return Ok(Some(EncodedGroup::without_frame(Group::Gone, false, 0, 0)));
    }
    if patch.dead.is_empty() && patch.changed.is_empty() && patch.moved.is_empty() {
        return Ok(Some(EncodedGroup::without_frame(Group::Same, false, objects, references)));
    }
    let stored = patch.changed.len() as u64 + in_patch;
    let (directory, body) = encoder.encode_patch(&mut patch, old)?;
    let frame = Some(encode_frame(SectionType::PATCH, snapshot, 0, &directory, body));
    Ok(Some(EncodedGroup { group: Group::Patch, is_continuation: false, frame, objects, references, stored }))
}

/// A count that the limits of blocks keep below 2^32.
fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Compression;

    #[test]
    fn a_group_is_gone_the_same_or_a_patch() {
        let mut encoder = Encoder::new(Compression::None).unwrap();
        let mut fate = |patch: Patch, objects| {
            let group = encode_difference(&mut encoder, 0, patch, (objects, 5), |_| &[]).unwrap().unwrap();
            (group.group, group.frame.is_some())
        };
        let dead = Patch { dead: vec![1], ..Patch::default() };
        assert_eq!(fate(dead.clone(), 0), (Group::Gone, false));
        assert_eq!(fate(dead, 2), (Group::Patch, true));
        let still = Patch { moved: vec![0, 0], ..Patch::default() };
        assert_eq!(fate(still, 2), (Group::Same, false));
        let moved = Patch { moved: vec![0, 16], ..Patch::default() };
        assert_eq!(fate(moved, 2), (Group::Patch, true));
        let many = encode_difference(&mut encoder, 0, Patch::default(), (1, 1 << 21), |_| &[]).unwrap();
        assert_eq!(many, None);
    }

    #[test]
    fn a_continuation_lives_and_dies_with_its_row() {
        let group = RowGroup { rows: 7..8, part: 2, is_gone: false };
        let lives = EncodedGroup::<()>::of_continuation(&group, Some(&[100, 50, 20]));
        assert_eq!((lives.group, lives.references, lives.is_continuation), (Group::Same, 20, true));
        assert_eq!(EncodedGroup::<()>::of_continuation(&group, None).group, Group::Gone);
    }
}
