//! Leak suspects: what holds an unusual part of the heap, where it piles up, and which of them looks most like a leak.
//!
//! ```text
//!   class Orders        retains 21 MiB ┐
//!     └ HashMap         retains 21 MiB │ one child has nearly all of it: the way down to the suspect
//!         └ Node[]      retains 21 MiB ┘
//!             ├ Node    retains  2 KiB ┐
//!             ├ Node    retains  2 KiB │ nothing below is large: 21 MiB *pile up* in Node[], in many
//!             └ …                      ┘ similar parts
//! ```
//!
//! **Suspects.** What an object *piles up* is what it retains without those of its children in the dominator tree that
//! retain the threshold themselves. An object is a suspect if it piles up the threshold. So every byte piles up in one
//! place, and there is a suspect in every subtree that retains the threshold. Below a place that stands for roots, where
//! no single object holds, the objects of one type are a suspect together if they retain the threshold.
//!
//! **Chains.** A list, or a tree of nodes of one type, piles up in its head: objects of the type of the head count as
//! its parts, one by one, however long the chain is. Up to [`MOST_BETWEEN`] objects of other types may lie between two
//! links, if each of them has nearly all that the link above retains.
//!
//! **Ranking.** A leak is made of many parts that resemble each other; what a runtime holds is made of few large ones. For
//! the parts of one type, of sizes `b`, `(Σb)² / Σb²` is their *effective number*: n for n parts of one size, nearly 1
//! if one of them has nearly everything. With [`MANY`] effective parts their bytes count by half, with one hardly at all, and
//! with thousands in full. Classes, code and frames describe a program, so their number says nothing of what it
//! does with its data: they do not count. What no single object holds counts [`WITHOUT_HOLDER`].
//!
//! References: the leak hunter of Eclipse MAT (accumulation point); A. O. Hirschman, *The Paternity of an Index*, 1964
//! (the inverse of Herfindahl's index as an effective number).

use std::collections::BTreeMap;

use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, TypeId};

use crate::file::tables::Tables;
use crate::graph::dominators::{Dominators, Holder, TreePlace};

/// A suspect must hold this part of all reachable bytes, unless told.
pub const LEAK_THRESHOLD: f64 = 0.1;
/// A child that holds this part of its parent's bytes carries the accumulation on.
const CARRIED: f64 = 0.7;
/// An object that holds this part of all reachable bytes says nothing of what holds less.
const NEARLY_ALL: f64 = 0.9;
/// So many parts of one size count by half.
const MANY: f64 = 32.0;
/// What parts count that no single object holds.
const WITHOUT_HOLDER: f64 = 0.25;
/// Objects of other types between two links of a chain.
const MOST_BETWEEN: usize = 3;

/// What holds an unusual part of the heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// The object that holds the accumulation point and little else; or the largest of several objects.
    pub object: ObjectId,
    /// Its type.
    pub type_id: TypeId,
    /// How many objects of the type it is.
    pub objects: u64,
    /// The bytes that are freed with it.
    pub retained_bytes: u64,
    /// Where it piles up; for several objects, the object they are right below, if there is one.
    pub accumulation: Option<ObjectId>,
    /// The bytes that are freed with the accumulation point.
    pub accumulation_bytes: u64,
    /// What piles up there, by type, the largest first; nothing for several objects, which are it.
    pub accumulated: Vec<Accumulated>,
    /// What ranks suspects, in bytes: those of many similar parts. See the module's text.
    pub ranking_bytes: u64,
}

/// Objects of one type that pile up at an accumulation point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accumulated {
    /// Their type.
    pub type_id: TypeId,
    /// How many.
    pub objects: u64,
    /// The bytes that are freed with them.
    pub retained_bytes: u64,
    /// Whether they are links of a chain or nodes of a tree, which begins with the accumulation point.
    pub is_chain: bool,
}

/// The objects and types that hold at least `threshold` of all reachable bytes; first those that most looks like a leak.
///
/// Time: linear in the children of what retains the threshold. Memory: in the number of types.
pub(crate) fn suspects(dominators: &Dominators, types: &[u32], tables: &Tables, threshold: f64) -> Vec<Suspect> {
    let least = (dominators.reachable_bytes() as f64 * threshold).max(1.0) as u64;
    let roles = (0..tables.type_count() as u32).map(|id| tables.kind_role(tables.type_kind(TypeId(id)))).collect();
    let mut search = Search { dominators, types, roles, least, open: holders_of_roots(dominators), found: Vec::new() };
    while let Some(place) = search.open.pop() {
        match search.object_that_holds(place) {
            Some(object) => search.look_at_object(object, place),
            None => search.look_below_roots(place),
        }
    }
    let mut suspects = search.found;
    suspects
        .sort_by_key(|suspect| (std::cmp::Reverse((suspect.ranking_bytes, suspect.retained_bytes)), suspect.object));
    suspects
}

/// A search for suspects from the roots down.
struct Search<'d> {
    dominators: &'d Dominators,
    types: &'d [u32],
    /// By type.
    roles: Vec<KindRole>,
    least: u64,
    /// Places that retain `least`, and were not looked at yet.
    open: Vec<TreePlace>,
    found: Vec<Suspect>,
}

impl Search<'_> {
    fn role(&self, type_id: u32) -> KindRole {
        self.roles[type_id as usize]
    }

    /// The object at a place, unless it only stands for roots.
    fn object_that_holds(&self, place: TreePlace) -> Option<ObjectId> {
        let object = self.dominators.at(place).object()?;
        (self.role(self.types[object.index()]) != KindRole::Root).then_some(object)
    }

    /// Looks below a place where no single object holds: objects of one type may be a suspect together.
    fn look_below_roots(&mut self, place: TreePlace) {
        let mut groups: BTreeMap<u32, Parts> = BTreeMap::new();
        let mut below = 0u64;
        for child in self.dominators.children(place) {
            let bytes = self.dominators.bytes_at(child);
            below = below.wrapping_add(bytes);
            let Holder::Object(object) = self.dominators.at(child) else { continue };
            match bytes >= self.least {
                true => self.open.push(child),
                false => groups.entry(self.types[object.index()]).or_default().add(object, bytes),
            }
        }
        for (type_id, group) in groups.into_iter().filter(|(_, group)| group.bytes >= self.least) {
            let suspect = self.several(place, type_id, &group);
            self.found.push(suspect);
        }
        let own = self.dominators.bytes_at(place).wrapping_sub(below);
        if let Some(object) = self.dominators.at(place).object().filter(|_| own >= self.least) {
            let suspect = self.single(object, own, &BTreeMap::new());
            self.found.push(suspect);
        }
    }

    /// Adds up what piles up in an object, and makes it a suspect if that is enough.
    fn look_at_object(&mut self, object: ObjectId, head: TreePlace) {
        let own_type = self.types[object.index()];
        let mut parts: BTreeMap<u32, Parts> = BTreeMap::new();
        let first = self.link(head, own_type);
        // Large children are looked at on their own; what is left are the object itself and its small parts.
        let mut own = first.bytes;
        for child in first.others {
            let bytes = self.dominators.bytes_at(child);
            own = own.wrapping_sub(bytes);
            if bytes >= self.least {
                self.open.push(child);
            } else if let Holder::Object(part) = self.dominators.at(child) {
                parts.entry(self.types[part.index()]).or_default().add(part, bytes);
            }
        }
        let mut links = first.next;
        let nearest = links.len() as u64;
        while let Some(place) = links.pop() {
            let link = self.link(place, own_type);
            if link.bytes >= self.least {
                // It holds so much besides the rest of the chain that it is no part of it.
                self.open.push(place);
                continue;
            }
            if let Holder::Object(part) = self.dominators.at(place) {
                parts.entry(own_type).or_default().add(part, link.bytes);
            }
            links.extend(link.next);
        }
        if let Some(same) = parts.get_mut(&own_type) {
            same.is_chain = same.objects > nearest;
        }
        if parts.values().fold(own, |sum, parts| sum.wrapping_add(parts.bytes)) >= self.least {
            let suspect = self.single(object, own, &parts);
            self.found.push(suspect);
        }
    }

    /// A place as a link of a chain of objects of a type.
    fn link(&self, place: TreePlace, own_type: u32) -> Link {
        let bytes = self.dominators.bytes_at(place);
        let carried = ((bytes as f64 * CARRIED) as u64).max(1);
        let (mut next, others) = self.children(place, own_type);
        let mut between = Vec::new();
        for step in 0..MOST_BETWEEN {
            let here = if step == 0 { &others } else { &between };
            let heaviest = (0..here.len()).max_by_key(|&at| self.dominators.bytes_at(here[at]));
            let carrier = heaviest.filter(|&at| next.is_empty() && self.dominators.bytes_at(here[at]) >= carried);
            let Some(carrier) = carrier else { break };
            if step == 0 {
                between.clone_from(&others);
            }
            let (same, more) = self.children(between.swap_remove(carrier), own_type);
            between.extend(more);
            next = same;
            if !next.is_empty() {
                return self.link_of(bytes, next, between);
            }
        }
        self.link_of(bytes, next, others)
    }

    fn link_of(&self, bytes: u64, next: Vec<TreePlace>, others: Vec<TreePlace>) -> Link {
        let of_next = next.iter().fold(0u64, |sum, &place| sum.wrapping_add(self.dominators.bytes_at(place)));
        Link { bytes: bytes.wrapping_sub(of_next), next, others }
    }

    /// What is right below a place: objects of this type, and others.
    fn children(&self, place: TreePlace, own_type: u32) -> (Vec<TreePlace>, Vec<TreePlace>) {
        self.dominators.children(place).partition(|&child| {
            let object = self.dominators.at(child).object();
            object.is_some_and(|object| self.types[object.index()] == own_type)
        })
    }

    /// Several objects of one type as a suspect.
    fn several(&self, place: TreePlace, type_id: u32, group: &Parts) -> Suspect {
        Suspect {
            object: group.largest.map_or(ObjectId(0), |(_, object)| object),
            type_id: TypeId(type_id),
            objects: group.objects,
            retained_bytes: group.bytes,
            accumulation: self.dominators.at(place).object(),
            accumulation_bytes: self.dominators.bytes_at(place),
            accumulated: Vec::new(),
            ranking_bytes: (self.ranking(type_id, group) * WITHOUT_HOLDER) as u64,
        }
    }

    /// One object as a suspect: `own` bytes and these parts pile up in it.
    fn single(&self, point: ObjectId, own: u64, parts: &BTreeMap<u32, Parts>) -> Suspect {
        let object = self.holder_of(point);
        let sum = |(&type_id, parts): (&u32, &Parts)| Accumulated {
            type_id: TypeId(type_id),
            objects: parts.objects,
            retained_bytes: parts.bytes,
            is_chain: parts.is_chain,
        };
        let mut accumulated: Vec<Accumulated> = parts.iter().map(sum).collect();
        accumulated.sort_by_key(|sum| (std::cmp::Reverse(sum.retained_bytes), sum.type_id));
        let ranking: f64 = parts.iter().map(|(&type_id, parts)| self.ranking(type_id, parts)).sum();
        Suspect {
            object,
            type_id: TypeId(self.types[object.index()]),
            objects: 1,
            retained_bytes: self.dominators.retained_bytes(object),
            accumulation: Some(point),
            accumulation_bytes: self.dominators.retained_bytes(point),
            accumulated,
            ranking_bytes: (ranking + own as f64 / (1.0 + MANY)) as u64,
        }
    }

    /// The farthest dominator of which a point has most, or the point itself.
    fn holder_of(&self, point: ObjectId) -> ObjectId {
        let bytes = self.dominators.retained_bytes(point) as f64;
        let nearly_all = self.dominators.reachable_bytes() as f64 * NEARLY_ALL;
        let holds_little_else = |holder: &ObjectId| {
            let whole = self.dominators.retained_bytes(*holder) as f64;
            let is_root = self.role(self.types[holder.index()]) == KindRole::Root;
            !is_root && bytes >= whole * CARRIED && (whole < nearly_all || bytes >= nearly_all)
        };
        let holders = self.dominators.holders(point).map_while(Holder::object);
        holders.take_while(holds_little_else).last().unwrap_or(point)
    }

    /// What the parts of one type count.
    fn ranking(&self, type_id: u32, parts: &Parts) -> f64 {
        match self.role(type_id) {
            KindRole::Type | KindRole::Frame => 0.0,
            KindRole::Object | KindRole::Root => parts.bytes as f64 * counted(parts.effective_number()),
        }
    }
}

/// What part of their bytes so many similar parts count.
fn counted(number: f64) -> f64 {
    number / (number + MANY)
}

/// A link of a chain.
struct Link {
    /// What it retains, without the links right below it.
    bytes: u64,
    /// The links right below it.
    next: Vec<TreePlace>,
    /// All else right below it, or below what is between it and them.
    others: Vec<TreePlace>,
}

/// Objects of one type that pile up in one place, none of which is large.
#[derive(Default)]
struct Parts {
    objects: u64,
    bytes: u64,
    /// The squares of their sizes, summed.
    squares: f64,
    largest: Option<(u64, ObjectId)>,
    is_chain: bool,
}

impl Parts {
    fn add(&mut self, object: ObjectId, bytes: u64) {
        self.objects += 1;
        self.bytes = self.bytes.wrapping_add(bytes);
        self.squares += bytes as f64 * bytes as f64;
        if self.largest.is_none_or(|(most, _)| bytes > most) {
            self.largest = Some((bytes, object));
        }
    }

    /// How many parts of one size would be as uneven: 1 to [`Parts::objects`].
    fn effective_number(&self) -> f64 {
        if self.squares == 0.0 { 0.0 } else { self.bytes as f64 * self.bytes as f64 / self.squares }
    }
}

/// The place all roots are held from, and the groups of roots.
fn holders_of_roots(dominators: &Dominators) -> Vec<TreePlace> {
    let groups = dominators.children(dominators.top());
    let mut places: Vec<TreePlace> = groups.filter(|&at| matches!(dominators.at(at), Holder::Roots(_))).collect();
    places.push(dominators.top());
    places
}

/// Suspects as an index file keeps them.
pub(crate) fn to_column(suspects: &[Suspect]) -> Vec<u64> {
    let mut column = Vec::new();
    for suspect in suspects {
        let accumulation = suspect.accumulation.map_or(NOWHERE, |object| object.0.into());
        column.extend([
            suspect.object.0.into(),
            suspect.type_id.0.into(),
            suspect.objects,
            suspect.retained_bytes,
            accumulation,
            suspect.accumulation_bytes,
            suspect.ranking_bytes,
            suspect.accumulated.len() as u64,
        ]);
        let sum = |sum: &Accumulated| [sum.type_id.0.into(), sum.objects, sum.retained_bytes, sum.is_chain.into()];
        column.extend(suspect.accumulated.iter().flat_map(sum));
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
    while let Some((
        &[object, type_id, count, retained_bytes, accumulation, accumulation_bytes, ranking_bytes, sums],
        rest,
    )) = column.split_first_chunk()
    {
        let (sums, rest) = rest.split_at_checked(usize::try_from(sums).ok()?.checked_mul(4)?)?;
        let (sums, _) = sums.as_chunks::<4>();
        let sum = |&[type_id, objects, retained_bytes, is_chain]: &[u64; 4]| {
            Some(Accumulated { type_id: type_of(type_id)?, objects, retained_bytes, is_chain: is_chain != 0 })
        };
        suspects.push(Suspect {
            object: object_of(object)?,
            type_id: type_of(type_id)?,
            objects: count,
            retained_bytes,
            accumulation: if accumulation == NOWHERE { None } else { Some(object_of(accumulation)?) },
            accumulation_bytes,
            accumulated: sums.iter().map(sum).collect::<Option<Vec<_>>>()?,
            ranking_bytes,
        });
        column = rest;
    }
    column.is_empty().then_some(suspects)
}
