//! For each type the number of objects of a snapshot, of births in it, and of deaths since the previous snapshot, by birth.
//!
//! ```text
//!   type     objects   born here   died since the previous snapshot
//!   Hash         900          40   3 that were born in snapshot 1, 12 in snapshot 4
//! ```
//!
//! The tables of a series give the fate of all objects of a type, over any range of it. A table depends on its own snapshot
//! and on earlier ones. It has thousands of rows at most, so it is kept in the index file.

use std::collections::BTreeMap;

use barrow_format::varint::put;

use crate::series::kept::parts::SnapshotPart;
use crate::series::kept::runs::take;
use crate::series::lives::LifeStep;

/// The maximum length of a row in bytes: four varints.
const MOST_ROW_BYTES: u64 = 40;

/// The numbers of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LifeTable {
    /// For each type that has objects: their number, and that of the objects born in the snapshot.
    pub(super) alive: BTreeMap<u32, (u64, u64)>,
    /// By type and place of birth: the number of objects of the previous snapshot that died. Those that the first
    /// snapshot has are left out, because their birth is unknown.
    pub(super) died: BTreeMap<(u32, usize), u64>,
}

impl LifeTable {
    /// The table of a step, which is number `place`. `types` are the types of its objects, `types_before` those of the
    /// previous snapshot.
    pub(super) fn of(step: &LifeStep, place: usize, types: &[u32], types_before: &[u32]) -> Self {
        let count = types.iter().max().map_or(0, |&most| most as usize + 1);
        let mut counts = vec![(0, 0); count];
        for (object, &type_id) in types.iter().enumerate() {
            let (objects, born) = &mut counts[type_id as usize];
            *objects += 1;
            *born += u64::from(step.is_born_at(object, place));
        }
        let alive = (0..).zip(counts).filter(|(_, (objects, _))| *objects > 0).collect();
        let mut died = BTreeMap::new();
        for &(object, born) in step.died.iter().filter(|(_, born)| *born > 0) {
            if let Some(&type_id) = types_before.get(object.index()) {
                *died.entry((type_id, born)).or_insert(0) += 1;
            }
        }
        LifeTable { alive, died }
    }

    pub(super) fn to_part(&self) -> SnapshotPart {
        let mut raw = Vec::new();
        put(&mut raw, self.alive.len() as u64);
        for (&type_id, &(objects, born)) in &self.alive {
            [type_id.into(), objects, born].into_iter().for_each(|number| put(&mut raw, number));
        }
        put(&mut raw, self.died.len() as u64);
        for (&(type_id, born), &died) in &self.died {
            [type_id.into(), born as u64, died].into_iter().for_each(|number| put(&mut raw, number));
        }
        SnapshotPart::of([0; 4], &raw)
    }

    /// Reads the table of a snapshot with `objects` objects, as number `place`; the previous one has `objects_before`.
    /// There are `types` types. `None` if it is not valid.
    pub(super) fn from_part(
        part: &SnapshotPart,
        place: usize,
        [objects_before, objects]: [u64; 2],
        types: usize,
    ) -> Option<Self> {
        let most_rows = objects.saturating_add(objects_before).saturating_add(1);
        let raw = part.raw(most_rows.saturating_mul(MOST_ROW_BYTES))?;
        let mut rest = &raw[..];
        let mut table = LifeTable::default();
        let mut all = 0u64;
        for _ in 0..take(&mut rest)? {
            let (id, objects, born) = (take_type(&mut rest, types)?, take(&mut rest)?, take(&mut rest)?);
            all = all.checked_add(objects).filter(|_| born <= objects)?;
            table.alive.insert(id, (objects, born));
        }
        let mut all_died = 0u64;
        for _ in 0..take(&mut rest)? {
            let (id, born, died) = (take_type(&mut rest, types)?, take(&mut rest)?, take(&mut rest)?);
            all_died = all_died.checked_add(died)?;
            let born = usize::try_from(born).ok().filter(|born| (1..place).contains(born))?;
            table.died.insert((id, born), died);
        }
        (rest.is_empty() && all == objects && all_died <= objects_before).then_some(table)
    }
}

/// Takes the id of one of `types` types.
fn take_type(bytes: &mut &[u8], types: usize) -> Option<u32> {
    u32::try_from(take(bytes)?).ok().filter(|&id| (id as usize) < types)
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    fn random_table(random: &mut Random, place: usize) -> LifeTable {
        let mut table = LifeTable::default();
        for _ in 0..random.below(6) {
            let objects = 1 + random.below(300);
            table.alive.insert(random.below(9) as u32, (objects, random.below(objects + 1)));
        }
        for _ in 0..random.below(6) {
            let born = 1 + random.below(place as u64 - 1) as usize;
            table.died.insert((random.below(9) as u32, born), random.below(300));
        }
        table
    }

    #[test]
    fn tables_are_read_as_they_were_and_wrong_ones_are_refused() {
        let mut random = Random::new(6);
        for _ in 0..300 {
            let place = 2 + random.below(5) as usize;
            let table = random_table(&mut random, place);
            let counts = [table.died.values().sum(), table.alive.values().map(|(objects, _)| objects).sum()];
            let part = table.to_part();
            assert_eq!(LifeTable::from_part(&part, place, counts, 9).as_ref(), Some(&table));
            assert_eq!(LifeTable::from_part(&part, place, [counts[0], counts[1] + 1], 9), None);
            if let Some(&(_, born)) = table.died.keys().max_by_key(|(_, born)| *born) {
                assert_eq!(LifeTable::from_part(&part, born, counts, 9), None);
                let fewer = counts[0].checked_sub(1);
                assert!(fewer.is_none_or(|fewer| LifeTable::from_part(&part, place, [fewer, counts[1]], 9).is_none()));
            }
            if let Some(&most) = table.alive.keys().max() {
                assert_eq!(LifeTable::from_part(&part, place, counts, most as usize), None);
            }
            let mut raw = part.raw(u64::MAX).unwrap();
            let at = random.below(raw.len() as u64) as usize;
            raw[at] = random.next() as u8;
            let read = LifeTable::from_part(&SnapshotPart::of([0; 4], &raw), place, counts, 9);
            assert!(read.is_none_or(|read| read.alive.values().all(|(objects, born)| born <= objects)));
        }
    }
}
