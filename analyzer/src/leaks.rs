//! Leak suspects: what holds an unusual part of the heap, and where it piles up.
//!
//! ```text
//!   suspect              a single object that dominates at least the threshold, or the objects of one
//!      │                 type that do so together, right below one place of the dominator tree
//!      ▼ the child that holds most of it, again and again
//!   accumulation point   here no child holds most of it any more: it piled up in many
//! ```
//!
//! After the leak hunter of Eclipse MAT, as its documentation describes it.

use std::collections::BTreeMap;

use barrow_format::{ObjectId, TypeId};

use crate::dominators::{Dominators, Holder, TreePlace};

/// A suspect must hold this part of all reachable bytes, unless told.
pub const LEAK_THRESHOLD: f64 = 0.1;
/// A child that holds this part of its parent's bytes carries the accumulation on.
const CARRIED: f64 = 0.7;

/// An object that holds this part of all reachable bytes says nothing: what is below it is looked at.
const NEARLY_ALL: f64 = 0.9;

/// What holds an unusual part of the heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// One object, or the largest of those of a type.
    pub object: ObjectId,
    /// The type.
    pub type_id: TypeId,
    /// How many objects of the type it is.
    pub objects: u64,
    /// The bytes that are freed with it.
    pub retained_bytes: u64,
    /// Where it piles up: for a single object, the last on the way down that holds most of it; for several,
    /// the object they are right below, if there is one.
    pub accumulation: Option<ObjectId>,
    /// The bytes that are freed with the accumulation point.
    pub accumulation_bytes: u64,
    /// What piles up there, by type, the largest first; nothing for several objects, which are it.
    pub accumulated: Vec<Accumulated>,
}

/// Objects of one type that an accumulation point dominates immediately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accumulated {
    /// Their type.
    pub type_id: TypeId,
    /// How many.
    pub objects: u64,
    /// The bytes that are freed with them.
    pub retained_bytes: u64,
}

/// The objects and types that hold at least `threshold` of all reachable bytes, the largest first.
pub(crate) fn suspects(dominators: &Dominators, types: &[u32], threshold: f64) -> Vec<Suspect> {
    let least = (dominators.reachable_bytes() as f64 * threshold).max(1.0) as u64;
    let nearly_all = (dominators.reachable_bytes() as f64 * NEARLY_ALL) as u64;
    let mut suspects = Vec::new();
    let mut open: Vec<TreePlace> = holders_of_roots(dominators);
    while let Some(place) = open.pop() {
        let before = suspects.len() + open.len();
        let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
        for child in dominators.children(place) {
            let Holder::Object(object) = dominators.at(child) else { continue };
            let bytes = dominators.bytes_at(child);
            if bytes >= nearly_all {
                open.push(child);
            } else if bytes >= least {
                suspects.push(single(dominators, types, object));
            } else {
                groups.entry(types[object.index()]).or_default().add(object, bytes);
            }
        }
        for (type_id, group) in groups.into_iter().filter(|(_, group)| group.retained_bytes >= least) {
            suspects.push(group.suspect(dominators, place, TypeId(type_id)));
        }
        if let Holder::Object(object) = dominators.at(place)
            && suspects.len() + open.len() == before
        {
            suspects.push(single(dominators, types, object));
        }
    }
    suspects.sort_by_key(|suspect| (std::cmp::Reverse(suspect.retained_bytes), suspect.object));
    suspects
}

/// Suspects as an index file keeps them.
pub(crate) fn to_column(suspects: &[Suspect]) -> Vec<u64> {
    let mut column = Vec::new();
    for suspect in suspects {
        let Suspect { object, type_id, objects, retained_bytes, accumulation, accumulation_bytes, accumulated } =
            suspect;
        let accumulation = accumulation.map_or(NOWHERE, |object| object.0.into());
        column.extend([
            object.0.into(),
            type_id.0.into(),
            *objects,
            *retained_bytes,
            accumulation,
            *accumulation_bytes,
        ]);
        column.push(accumulated.len() as u64);
        column.extend(accumulated.iter().flat_map(|sum| [sum.type_id.0.into(), sum.objects, sum.retained_bytes]));
    }
    column
}

/// In place of an object: it piled up right below the roots.
const NOWHERE: u64 = u64::MAX;

/// Suspects from what was kept, if that can be.
pub(crate) fn from_column(mut column: &[u64], objects: u64, types: u64) -> Option<Vec<Suspect>> {
    let object_of = |id: u64| (id < objects).then_some(ObjectId(id as u32));
    let type_of = |id: u64| (id < types).then_some(TypeId(id as u32));
    let mut suspects = Vec::new();
    while let Some((&[object, type_id, count, retained_bytes, accumulation, accumulation_bytes, sums], rest)) =
        column.split_first_chunk()
    {
        let (sums, rest) = rest.split_at_checked(usize::try_from(sums).ok()?.checked_mul(3)?)?;
        let (sums, _) = sums.as_chunks::<3>();
        let sum = |&[type_id, objects, retained_bytes]: &[u64; 3]| {
            Some(Accumulated { type_id: type_of(type_id)?, objects, retained_bytes })
        };
        suspects.push(Suspect {
            object: object_of(object)?,
            type_id: type_of(type_id)?,
            objects: count,
            retained_bytes,
            accumulation: if accumulation == NOWHERE { None } else { Some(object_of(accumulation)?) },
            accumulation_bytes,
            accumulated: sums.iter().map(sum).collect::<Option<Vec<_>>>()?,
        });
        column = rest;
    }
    column.is_empty().then_some(suspects)
}

/// Objects of one type below one place, none of which is a suspect alone.
#[derive(Default)]
struct Group {
    objects: u64,
    retained_bytes: u64,
    largest: Option<(u64, ObjectId)>,
}

impl Group {
    fn add(&mut self, object: ObjectId, bytes: u64) {
        self.objects += 1;
        self.retained_bytes += bytes;
        if self.largest.is_none_or(|(most, _)| bytes > most) {
            self.largest = Some((bytes, object));
        }
    }

    fn suspect(&self, dominators: &Dominators, place: TreePlace, type_id: TypeId) -> Suspect {
        let accumulation = dominators.at(place).object();
        Suspect {
            object: self.largest.map_or(ObjectId(0), |(_, object)| object),
            type_id,
            objects: self.objects,
            retained_bytes: self.retained_bytes,
            accumulation,
            accumulation_bytes: dominators.bytes_at(place),
            accumulated: Vec::new(),
        }
    }
}

/// The place all roots are held from, and the groups of roots.
fn holders_of_roots(dominators: &Dominators) -> Vec<TreePlace> {
    let groups = dominators.children(dominators.top());
    let mut places: Vec<TreePlace> = groups.filter(|&at| matches!(dominators.at(at), Holder::Roots(_))).collect();
    places.push(dominators.top());
    places
}

/// One object as a suspect.
fn single(dominators: &Dominators, types: &[u32], object: ObjectId) -> Suspect {
    let (mut accumulation, mut place) = (object, dominators.place(object));
    while let Some(at) = place {
        let largest =
            dominators.children(at).max_by_key(|&child| (dominators.bytes_at(child), std::cmp::Reverse(child)));
        let carried = (dominators.bytes_at(at) as f64 * CARRIED) as u64;
        place = largest.filter(|&child| dominators.bytes_at(child) >= carried.max(1));
        if let Some(Holder::Object(object)) = place.map(|place| dominators.at(place)) {
            accumulation = object;
        }
    }
    Suspect {
        object,
        type_id: TypeId(types[object.index()]),
        objects: 1,
        retained_bytes: dominators.retained_bytes(object),
        accumulation: Some(accumulation),
        accumulation_bytes: dominators.retained_bytes(accumulation),
        accumulated: accumulated(dominators, types, accumulation),
    }
}

fn accumulated(dominators: &Dominators, types: &[u32], object: ObjectId) -> Vec<Accumulated> {
    let mut by_type: BTreeMap<u32, Accumulated> = BTreeMap::new();
    for child in dominators.place(object).into_iter().flat_map(|place| dominators.children(place)) {
        let Holder::Object(object) = dominators.at(child) else { continue };
        let type_id = types[object.index()];
        let nothing = Accumulated { type_id: TypeId(type_id), objects: 0, retained_bytes: 0 };
        let sum = by_type.entry(type_id).or_insert(nothing);
        sum.objects += 1;
        sum.retained_bytes += dominators.bytes_at(child);
    }
    let mut sums: Vec<Accumulated> = by_type.into_values().collect();
    sums.sort_by_key(|sum| (std::cmp::Reverse(sum.retained_bytes), sum.type_id));
    sums
}
