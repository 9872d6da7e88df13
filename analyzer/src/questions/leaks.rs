//! Leak suspects: objects that hold an unusual part of the heap, the places where it accumulates, and their ranking.
//!
//! ```text
//!   class Orders        retains 21 MiB ┐
//!     └ HashMap         retains 21 MiB │ one child has nearly all of it: the search goes down
//!         └ Node[]      retains 21 MiB ┘
//!             ├ Node    retains  2 KiB ┐
//!             ├ Node    retains  2 KiB │ no child is large: 21 MiB *accumulate* in Node[], in many
//!             └ …                      ┘ similar parts
//! ```
//!
//! **Suspects.** An object *accumulates* what it retains, except its large children in the dominator tree, which are
//! those that retain at least the threshold. An object that accumulates the threshold is a suspect. So every byte
//! accumulates in one place, and every subtree that retains the threshold contains a suspect. Directly below the roots,
//! where no single object is the holder, the objects of one type form one suspect if together they retain the
//! threshold.
//!
//! **Chains.** A list, or a tree of nodes of one type, accumulates in its head: all objects of the head's type count as
//! its parts, one by one, whatever the length of the chain. Up to [`MOST_BETWEEN`] objects of other types may lie
//! between two links if each of them retains nearly all that the link above retains; once there is a chain, a fifth is enough.
//!
//! **Contents.** An entry of a hash table holds a key, a value and the next entry of its slot. The slots alone would be too
//! few, and say nothing of the values. So the parts of a type are counted with those of the type that they hold, and what
//! most of their bytes are is named, too.
//!
//! **Ranking.** A leak consists of many similar parts; the data of a runtime consists of few large ones. For parts of
//! one type with sizes `b`, the *effective number* is `(Σb)² / Σb²`: n for n parts of equal size, nearly 1 if one part
//! has nearly everything. The weight of their bytes is 1/2 for [`MANY`] effective parts, nearly 0 for one, and nearly 1
//! for thousands. Classes, code and frames describe the program rather than its data, so their weight is 0. Parts
//! without a single holder are weighted with [`WITHOUT_HOLDER`].
//!
//! References: the leak hunter of Eclipse MAT (accumulation point); A. O. Hirschman, *The Paternity of an Index*, 1964
//! (the inverse of Herfindahl's index as an effective number).

use std::cell::Cell;
use std::collections::BTreeMap;

use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, TypeId};

use crate::error::{AnalyzerError, Result};
use crate::file::tables::Tables;
use crate::graph::dominators::{Dominators, Holder, PIECE, TreePlace};
use crate::progress::Progress;

/// The default threshold: the share of all reachable bytes that a suspect must accumulate. So there are at most ten.
pub const LEAK_THRESHOLD: f64 = 0.1;
/// A child with this share of its parent's bytes continues the chain. The accumulation point must have this share of
/// the named object, so that both are the same suspect. The share is a judgement: the rest is less than half of it.
const CARRIED: f64 = 0.7;
/// The share with which a chain goes on after its first link. Little is left near its end: of equal objects of four types in
/// turn, what lies before the last link has 5 in 8 of the bytes of the link before. That this share is less where objects are
/// not equal makes a fifth a judgement.
const CARRIED_ON: f64 = 0.2;
/// An object that retains this share of all reachable bytes is too general to name a smaller suspect. This is a
/// judgement.
const NEARLY_ALL: f64 = 0.9;
/// The content of entries and links is named from this share of their bytes on. This is a judgement: below it, names of keys
/// may be as large as what they stand for.
const MOST_OF_THEM: f64 = 0.5;
/// The effective number of parts that gives a weight of 1/2. Data of a runtime has few large parts, a leak has many.
/// The number is a judgement.
const MANY: f64 = 32.0;
/// The weight of parts that no single object holds: they come after suspects that can be named. This is a judgement.
const WITHOUT_HOLDER: f64 = 0.25;
/// The maximum number of objects of other types between two links of a chain: a link of a list of maps has a map, its
/// table and an entry.
const MOST_BETWEEN: usize = 3;

/// An object, or several of one type, that holds an unusual part of the heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// The object that holds the accumulation point and little else. For several objects it is the largest of them.
    pub object: ObjectId,
    /// Its type.
    pub type_id: TypeId,
    /// The number of objects: 1, or that of several objects of the type.
    pub objects: u64,
    /// The bytes that are freed with them.
    pub retained_bytes: u64,
    /// The accumulation point. For several objects it is the object directly above them, if there is one.
    pub accumulation: Option<ObjectId>,
    /// The bytes that are freed with the accumulation point.
    pub accumulation_bytes: u64,
    /// The parts that accumulate there, by type, the largest first. It is empty for several objects, which are the
    /// parts themselves.
    pub accumulated: Vec<Accumulated>,
    /// The key to rank by, in bytes: the weighted bytes of the parts. The module documentation defines the weights.
    pub ranking_bytes: u64,
}

/// The parts of one type that accumulate at an accumulation point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accumulated {
    /// Their type.
    pub type_id: TypeId,
    /// Their number, with those of the type that they hold: an entry of a hash table holds the next of its slot.
    pub objects: u64,
    /// The bytes that are freed with them.
    pub retained_bytes: u64,
    /// They are links of a chain or nodes of a tree whose head is the accumulation point.
    pub is_chain: bool,
    /// What most of their bytes are, if they hold each other.
    pub content: Option<Content>,
}

/// What entries or links hold most of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// The type of these objects.
    pub type_id: TypeId,
    /// Their number.
    pub objects: u64,
    /// The bytes that are freed with them.
    pub retained_bytes: u64,
}

/// The suspects that accumulate at least `threshold` of all reachable bytes, the likeliest leak first.
///
/// Time: linear in the number of children of all objects that retain the threshold. Memory: linear in the number of
/// types.
///
/// # Errors
/// [`AnalyzerError::Cancelled`].
pub(crate) fn suspects(
    dominators: &Dominators,
    types: &[u32],
    tables: &Tables,
    threshold: f64,
    progress: &dyn Progress,
) -> Result<Vec<Suspect>> {
    let least = (dominators.reachable_bytes() as f64 * threshold).max(1.0) as u64;
    let roles = (0..tables.type_count() as u32).map(|id| tables.kind_role(tables.type_kind(TypeId(id)))).collect();
    let (open, found, is_cancelled) = (holders_of_roots(dominators), Vec::new(), &Cell::new(false));
    let mut search = Search { dominators, types, roles, least, open, found, progress, is_cancelled };
    while let Some(place) = search.open.pop() {
        match search.object_that_holds(place) {
            Some(object) => search.look_at_object(object, place),
            None => search.look_below_roots(place),
        }
        if search.is_cancelled.get() {
            return Err(AnalyzerError::Cancelled);
        }
    }
    let mut suspects = search.found;
    suspects
        .sort_by_key(|suspect| (std::cmp::Reverse((suspect.ranking_bytes, suspect.retained_bytes)), suspect.object));
    Ok(suspects)
}

/// A search for suspects from the roots down.
struct Search<'d> {
    dominators: &'d Dominators,
    types: &'d [u32],
    /// The role of each type.
    roles: Vec<KindRole>,
    least: u64,
    /// Places that retain at least `least` and were not visited yet.
    open: Vec<TreePlace>,
    found: Vec<Suspect>,
    progress: &'d dyn Progress,
    /// Children were left out, because the search is cancelled: nothing that was found counts.
    is_cancelled: &'d Cell<bool>,
}

impl<'d> Search<'d> {
    fn role(&self, type_id: u32) -> KindRole {
        self.roles[type_id as usize]
    }

    /// The object at a place, unless it represents roots.
    fn object_that_holds(&self, place: TreePlace) -> Option<ObjectId> {
        let object = self.dominators.at(place).object()?;
        (self.role(self.types[object.index()]) != KindRole::Root).then_some(object)
    }

    /// Visits a place without a single holder, below which several objects of one type may be a suspect.
    fn look_below_roots(&mut self, place: TreePlace) {
        let mut small: BTreeMap<u32, SmallObjects> = BTreeMap::new();
        let mut below = 0u64;
        for child in self.all_children(place) {
            let bytes = self.dominators.bytes_at(child);
            below = below.wrapping_add(bytes);
            let Holder::Object(object) = self.dominators.at(child) else { continue };
            match bytes >= self.least {
                true => self.open.push(child),
                false => small.entry(self.types[object.index()]).or_default().add(object, bytes),
            }
        }
        for (type_id, parts) in small.into_iter().filter(|(_, parts)| parts.bytes >= self.least) {
            let suspect = self.several(place, type_id, &parts);
            self.found.push(suspect);
        }
        let own = self.dominators.bytes_at(place).wrapping_sub(below);
        if let Some(object) = self.dominators.at(place).object().filter(|_| own >= self.least) {
            let suspect = self.single(object, own, &BTreeMap::new());
            self.found.push(suspect);
        }
    }

    /// Adds up the bytes that accumulate in an object. It is a suspect if these reach the threshold.
    fn look_at_object(&mut self, object: ObjectId, head: TreePlace) {
        let own_type = self.types[object.index()];
        let mut parts: BTreeMap<u32, SmallObjects> = BTreeMap::new();
        let first = self.link(head, own_type, CARRIED);
        // Large children are visited on their own. The object itself and its small parts remain.
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
            let link = self.link(place, own_type, CARRIED_ON);
            if link.bytes >= self.least {
                // Without the rest of the chain it is still large, so it is visited on its own.
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
            let mut suspect = self.single(object, own, &parts);
            let mut nested = self.nested(head, own_type);
            for sum in &mut suspect.accumulated {
                let Some(nested) = nested.remove(&sum.type_id.0).filter(|nested| nested.is_nested) else { continue };
                sum.objects = sum.objects.max(nested.objects);
                sum.content = nested.most(sum.retained_bytes);
            }
            self.found.push(suspect);
        }
    }

    /// The parts that accumulate at a place, by type, with what they hold.
    fn nested(&self, head: TreePlace, own_type: u32) -> BTreeMap<u32, Nested> {
        let mut all: BTreeMap<u32, Nested> = BTreeMap::new();
        let first = self.link(head, own_type, CARRIED);
        for part in first.others.into_iter().filter(|&part| self.dominators.bytes_at(part) < self.least) {
            let Some(part_type) = self.dominators.at(part).object().map(|object| self.types[object.index()]) else {
                continue;
            };
            let nested = all.entry(part_type).or_default();
            let mut open = vec![part];
            while let Some(place) = open.pop() {
                let (same, others) = self.children(place, part_type);
                nested.add(self, others);
                nested.is_nested |= !same.is_empty();
                open.extend(same);
            }
        }
        let mut links = first.next;
        while let Some(place) = links.pop() {
            let link = self.link(place, own_type, CARRIED_ON);
            if link.bytes < self.least {
                let nested = all.entry(own_type).or_default();
                nested.is_nested = true;
                nested.add(self, link.others);
                links.extend(link.next);
            }
        }
        all
    }

    /// A place as a link of a chain of objects of a type. What lies between it and the next has `share` of its bytes.
    fn link(&self, place: TreePlace, own_type: u32, share: f64) -> Link {
        let bytes = self.dominators.bytes_at(place);
        let carried = ((bytes as f64 * share) as u64).max(1);
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

    /// The children of a place, until the search is cancelled.
    fn all_children(&self, place: TreePlace) -> impl Iterator<Item = TreePlace> + use<'d> {
        let Search { dominators, progress, is_cancelled, .. } = *self;
        dominators.children(place).enumerate().map_while(move |(number, child)| {
            if number.is_multiple_of(PIECE) && progress.cancelled() {
                is_cancelled.set(true);
            }
            (!is_cancelled.get()).then_some(child)
        })
    }

    /// The children of a place: objects of the type `own_type`, and others.
    fn children(&self, place: TreePlace, own_type: u32) -> (Vec<TreePlace>, Vec<TreePlace>) {
        self.all_children(place).partition(|&child| {
            let object = self.dominators.at(child).object();
            object.is_some_and(|object| self.types[object.index()] == own_type)
        })
    }

    /// Several objects of one type as a suspect.
    fn several(&self, place: TreePlace, type_id: u32, parts: &SmallObjects) -> Suspect {
        Suspect {
            object: parts.largest.map_or(ObjectId(0), |(_, object)| object),
            type_id: TypeId(type_id),
            objects: parts.objects,
            retained_bytes: parts.bytes,
            accumulation: self.dominators.at(place).object(),
            accumulation_bytes: self.dominators.bytes_at(place),
            accumulated: Vec::new(),
            ranking_bytes: (self.ranking(type_id, parts) * WITHOUT_HOLDER) as u64,
        }
    }

    /// One object as a suspect: `own` bytes and these parts accumulate in it.
    fn single(&self, point: ObjectId, own: u64, parts: &BTreeMap<u32, SmallObjects>) -> Suspect {
        let object = self.holder_of(point);
        let sums = parts.iter().map(|(&type_id, parts)| Accumulated {
            type_id: TypeId(type_id),
            objects: parts.objects,
            retained_bytes: parts.bytes,
            is_chain: parts.is_chain,
            content: None,
        });
        let mut accumulated: Vec<Accumulated> = sums.collect();
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

    /// The topmost dominator of which the point has most bytes, or the point itself.
    fn holder_of(&self, point: ObjectId) -> ObjectId {
        let bytes = self.dominators.retained_bytes(point) as f64;
        let nearly_all = self.dominators.reachable_bytes() as f64 * NEARLY_ALL;
        let holders = self.dominators.holders(point).map_while(Holder::object);
        let holders_of_little_else = holders.take_while(|&holder| {
            let whole = self.dominators.retained_bytes(holder) as f64;
            let is_root = self.role(self.types[holder.index()]) == KindRole::Root;
            !is_root && bytes >= whole * CARRIED && (whole < nearly_all || bytes >= nearly_all)
        });
        holders_of_little_else.last().unwrap_or(point)
    }

    /// The weighted bytes of the parts of one type.
    fn ranking(&self, type_id: u32, parts: &SmallObjects) -> f64 {
        match self.role(type_id) {
            KindRole::Type | KindRole::Frame => 0.0,
            KindRole::Object | KindRole::Root => parts.bytes as f64 * weight(parts.effective_number()),
        }
    }
}

/// The weight of this effective number of parts.
fn weight(number: f64) -> f64 {
    number / (number + MANY)
}

/// A link of a chain.
struct Link {
    /// The bytes that it retains, without the links directly below it.
    bytes: u64,
    /// The links directly below it.
    next: Vec<TreePlace>,
    /// All other children of it, or of the objects between it and the next links.
    others: Vec<TreePlace>,
}

/// Small objects of one type that accumulate in one place.
#[derive(Default)]
struct SmallObjects {
    objects: u64,
    bytes: u64,
    /// The sum of the squares of their sizes.
    squares: f64,
    largest: Option<(u64, ObjectId)>,
    is_chain: bool,
}

impl SmallObjects {
    fn add(&mut self, object: ObjectId, bytes: u64) {
        self.objects += 1;
        self.bytes = self.bytes.wrapping_add(bytes);
        self.squares += bytes as f64 * bytes as f64;
        if self.largest.is_none_or(|(most, _)| bytes > most) {
            self.largest = Some((bytes, object));
        }
    }

    /// The number of equal parts that would be as concentrated, between 1 and [`SmallObjects::objects`].
    fn effective_number(&self) -> f64 {
        if self.squares == 0.0 { 0.0 } else { self.bytes as f64 * self.bytes as f64 / self.squares }
    }
}

/// Parts of one type with those that they hold, and the other objects right below all of them.
#[derive(Default)]
struct Nested {
    objects: u64,
    is_nested: bool,
    /// Their number and their bytes, by type.
    held: BTreeMap<u32, (u64, u64)>,
}

impl Nested {
    /// Adds one with the other objects that it holds.
    fn add(&mut self, search: &Search<'_>, others: Vec<TreePlace>) {
        self.objects += 1;
        for place in others {
            let Some(object) = search.dominators.at(place).object() else { continue };
            let (objects, bytes) = self.held.entry(search.types[object.index()]).or_default();
            *objects += 1;
            *bytes = bytes.wrapping_add(search.dominators.bytes_at(place));
        }
    }

    /// The type that has most of these bytes.
    fn most(&self, of_bytes: u64) -> Option<Content> {
        let (&type_id, &(objects, retained_bytes)) = self.held.iter().max_by_key(|(_, (_, bytes))| bytes)?;
        let content = Content { type_id: TypeId(type_id), objects, retained_bytes };
        (retained_bytes as f64 >= MOST_OF_THEM * of_bytes as f64).then_some(content)
    }
}

/// The top of the dominator tree, and the root categories.
fn holders_of_roots(dominators: &Dominators) -> Vec<TreePlace> {
    let categories = dominators.children(dominators.top());
    let mut places: Vec<TreePlace> = categories.filter(|&at| matches!(dominators.at(at), Holder::Roots(_))).collect();
    places.push(dominators.top());
    places
}

/// Encodes suspects as a column of an index file.
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
        for sum in &suspect.accumulated {
            let content = sum
                .content
                .map_or([NOWHERE, 0, 0], |content| [content.type_id.0.into(), content.objects, content.retained_bytes]);
            column.extend([sum.type_id.0.into(), sum.objects, sum.retained_bytes, sum.is_chain.into()]);
            column.extend(content);
        }
    }
    column
}

/// The encoded accumulation point of suspects directly below the roots, and the type of a content, where there is none.
const NOWHERE: u64 = u64::MAX;
/// The numbers of an encoded [`Accumulated`].
const SUM_NUMBERS: usize = 7;

/// Decodes suspects from a column of an index file; `None` if it is not valid.
pub(crate) fn from_column(mut column: &[u64], objects: u64, types: u64) -> Option<Vec<Suspect>> {
    let mut suspects = Vec::new();
    while let Some((
        &[object, type_id, count, retained_bytes, accumulation, accumulation_bytes, ranking_bytes, sums],
        rest,
    )) = column.split_first_chunk()
    {
        let (sums, rest) = rest.split_at_checked(usize::try_from(sums).ok()?.checked_mul(SUM_NUMBERS)?)?;
        let mut accumulated = Vec::with_capacity(sums.len() / SUM_NUMBERS);
        for &[type_id, count, retained_bytes, is_chain, held_type, held, held_bytes] in
            sums.as_chunks::<SUM_NUMBERS>().0
        {
            let content = match held_type {
                NOWHERE => None,
                id => Some(Content { type_id: TypeId(below(id, types)?), objects: held, retained_bytes: held_bytes }),
            };
            let type_id = TypeId(below(type_id, types)?);
            accumulated.push(Accumulated { type_id, objects: count, retained_bytes, is_chain: is_chain != 0, content });
        }
        suspects.push(Suspect {
            object: ObjectId(below(object, objects)?),
            type_id: TypeId(below(type_id, types)?),
            objects: count,
            retained_bytes,
            accumulation: match accumulation {
                NOWHERE => None,
                object => Some(ObjectId(below(object, objects)?)),
            },
            accumulation_bytes,
            accumulated,
            ranking_bytes,
        });
        column = rest;
    }
    column.is_empty().then_some(suspects)
}

fn below(id: u64, count: u64) -> Option<u32> {
    if id < count { u32::try_from(id).ok() } else { None }
}
