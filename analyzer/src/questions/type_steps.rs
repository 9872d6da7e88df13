//! Steps of paths of types: objects below one step of the dominator tree, grouped by type.
//!
//! ```text
//!   places of a step       Map ─┬─ Entry ── Entry ── Entry      Entry × 3 is one step: an object directly below one of
//!                               └─ String                       its own type belongs to the same step
//! ```

use std::collections::{BTreeMap, HashMap};

use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, StringId, TypeId};
use rayon::prelude::*;

use crate::error::Result;
use crate::file::tables::Tables;
use crate::file::type_identity::TypeIdentity;
use crate::graph::dominators::{Dominators, Holder, TreePlace};
use crate::heap::Heap;
use crate::progress::{Progress, check};

/// A type without a slot.
const NO_SLOT: u32 = u32::MAX;
/// Places whose children one thread groups at a time. Fewer are grouped without other threads: most steps are small.
const PIECE: usize = if cfg!(test) { 3 } else { 1 << 14 };
/// Places between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_PLACES: usize = 1 << 12;

/// A step of a path of types, by its numbers in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeStep {
    /// All reachable objects.
    Everything,
    /// The roots of the category of this name.
    Roots(StringId),
    /// Objects of a type: the first of all types with its identity.
    Type(TypeId),
    /// Objects of a type that represent the class or module of this name.
    Class(TypeId, StringId),
}

impl TypeStep {
    /// The display form.
    #[must_use]
    pub fn title(self, tables: &Tables) -> String {
        match self {
            TypeStep::Everything => "everything".to_owned(),
            TypeStep::Roots(name) => format!("[{}]", tables.string(name)),
            TypeStep::Type(id) => TypeIdentity::of(tables, id).title(),
            TypeStep::Class(id, name) => TypeIdentity::of_class(tables, id, tables.string(name)).title(),
        }
    }

    /// The type of its objects.
    #[must_use]
    pub fn type_id(self) -> Option<TypeId> {
        match self {
            TypeStep::Everything | TypeStep::Roots(_) => None,
            TypeStep::Type(id) | TypeStep::Class(id, _) => Some(id),
        }
    }
}

/// The topmost objects of one step: places in the dominator tree, of one type.
#[derive(Debug)]
pub(crate) struct Siblings {
    pub(crate) step: TypeStep,
    /// The number of objects and bytes that they retain together.
    pub(crate) retained: (u64, u64),
    /// The one that retains most, with its bytes; the first of several.
    pub(crate) largest: Option<(u64, TreePlace)>,
    /// The number of those that dominate nothing: most objects.
    leaves: u64,
    /// The others.
    places: Vec<TreePlace>,
}

impl Siblings {
    fn new(step: TypeStep) -> Self {
        Siblings { step, retained: (0, 0), largest: None, leaves: 0, places: Vec::new() }
    }

    fn add(&mut self, place: TreePlace, dominators: &Dominators) {
        let bytes = dominators.bytes_at(place);
        self.count(dominators.count_at(place), bytes, Some((bytes, place)));
        if dominators.has_children(place) {
            self.places.push(place);
        } else {
            self.leaves += 1;
        }
    }

    /// Adds others of the same step, which come later.
    fn append(&mut self, other: Siblings) {
        self.count(other.retained.0, other.retained.1, other.largest);
        self.leaves += other.leaves;
        self.places.extend(other.places);
    }

    fn count(&mut self, objects: u64, bytes: u64, largest: Option<(u64, TreePlace)>) {
        // The sizes in a hostile file may add up to more than 64 bits.
        self.retained = (self.retained.0 + objects, self.retained.1.wrapping_add(bytes));
        if largest.is_some_and(|(bytes, _)| self.largest.is_none_or(|(most, _)| bytes > most)) {
            self.largest = largest;
        }
    }
}

/// The steps below places of one step.
#[derive(Default)]
struct Children<'m> {
    /// The number of objects that belong to the step itself.
    same: u64,
    /// By name.
    roots: BTreeMap<&'m str, Siblings>,
    /// In the order in which types are met.
    types: Vec<Siblings>,
    /// By type and name.
    classes: BTreeMap<(u32, &'m str), Siblings>,
}

impl<'m> Children<'m> {
    /// Adds the steps below later places of the same step.
    fn append(&mut self, later: Children<'m>, slots: &mut Slots) {
        self.same += later.same;
        for (name, siblings) in later.roots {
            self.roots.entry(name).or_insert_with(|| Siblings::new(siblings.step)).append(siblings);
        }
        for siblings in later.types {
            let type_id = siblings.step.type_id().map_or(0, |id| id.0);
            slots.of(type_id, &mut self.types).append(siblings);
        }
        for (class, siblings) in later.classes {
            self.classes.entry(class).or_insert_with(|| Siblings::new(siblings.step)).append(siblings);
        }
    }
}

/// For each type the index of its step among those of [`Children::types`], or [`NO_SLOT`].
#[derive(Default)]
struct Slots(Vec<u32>);

impl Slots {
    fn new(types: usize) -> Self {
        Slots(vec![NO_SLOT; types])
    }

    fn of<'s>(&mut self, type_id: u32, steps: &'s mut Vec<Siblings>) -> &'s mut Siblings {
        let slot = &mut self.0[type_id as usize];
        if *slot == NO_SLOT {
            *slot = steps.len() as u32;
            steps.push(Siblings::new(TypeStep::Type(TypeId(type_id))));
        }
        &mut steps[*slot as usize]
    }

    fn clear(&mut self, steps: &[Siblings]) {
        for type_id in steps.iter().filter_map(|siblings| siblings.step.type_id()) {
            self.0[type_id.index()] = NO_SLOT;
        }
    }
}

/// Groups places of one dominator tree by type.
pub(crate) struct Merge<'m> {
    tables: &'m Tables,
    dominators: &'m Dominators,
    types: &'m [u32],
    /// The names of objects that represent classes or modules,
    names: &'m HashMap<ObjectId, StringId>,
    /// and for each type whether its objects do.
    has_names: Vec<bool>,
    /// For each type the first type of the same identity.
    first_of: Vec<u32>,
    /// Reused from step to step.
    slots: Slots,
    progress: &'m dyn Progress,
}

impl<'m> Merge<'m> {
    /// # Errors
    /// As for [`Heap::types`].
    pub(crate) fn of(heap: &'m Heap, dominators: &'m Dominators, progress: &'m dyn Progress) -> Result<Self> {
        let tables = heap.recording().tables()?;
        let (types, names) = (heap.types(progress)?, heap.names_of_classes(progress)?);
        let mut firsts = HashMap::new();
        let ids = (0..tables.type_count() as u32).map(TypeId);
        let first_of: Vec<u32> = ids.map(|id| *firsts.entry(TypeIdentity::of(tables, id)).or_insert(id.0)).collect();
        let ids = (0..tables.type_count() as u32).map(TypeId);
        let has_names = ids.map(|id| tables.kind_role(tables.type_kind(id)) == KindRole::Type).collect();
        let slots = Slots::new(first_of.len());
        Ok(Merge { tables, dominators, types, names, has_names, first_of, slots, progress })
    }

    /// One place as a step.
    pub(crate) fn top(&self, place: TreePlace) -> Siblings {
        let step = match self.dominators.at(place) {
            Holder::Everything => TypeStep::Everything,
            Holder::Roots(name) => TypeStep::Roots(name),
            Holder::Object(object) => {
                let (type_id, name) = self.kind_of(object);
                name.map_or(TypeStep::Type(TypeId(type_id)), |name| TypeStep::Class(TypeId(type_id), name))
            }
        };
        let mut top = Siblings::new(step);
        top.add(place, self.dominators);
        top
    }

    /// The number of objects of a step, including those directly below others of the same type and name; and the steps
    /// below it: root categories by name, then types as they are met, then classes by type and name.
    ///
    /// Time: linear in the number of objects of the step and of their children, in parallel. Memory: 4 bytes for each
    /// child that dominates others.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn below(&mut self, siblings: Siblings) -> Result<(u64, Vec<Siblings>)> {
        let Siblings { step, leaves, places, .. } = siblings;
        let mut below = if places.len() <= PIECE {
            let mut slots = std::mem::take(&mut self.slots);
            let below = self.below_places(step, places, &mut slots);
            self.slots = slots;
            below?
        } else {
            let pieces = places
                .par_chunks(PIECE)
                .map(|piece| self.below_places(step, piece.to_vec(), &mut Slots::new(self.first_of.len())));
            let pieces = pieces.collect::<Result<Vec<_>>>()?;
            let mut below = Children::default();
            for piece in pieces {
                below.append(piece, &mut self.slots);
            }
            self.slots.clear(&below.types);
            below
        };
        below.same += leaves;
        Ok((below.same, below.roots.into_values().chain(below.types).chain(below.classes.into_values()).collect()))
    }

    /// The children of places of the step `own`, and of those below them that belong to it.
    fn below_places(&self, own: TypeStep, mut open: Vec<TreePlace>, slots: &mut Slots) -> Result<Children<'m>> {
        let (dominators, tables) = (self.dominators, self.tables);
        let mut below = Children::default();
        let mut at = 0;
        while let Some(&place) = open.get(at) {
            if at.is_multiple_of(CHECK_PLACES) {
                check(self.progress)?;
            }
            at += 1;
            for child in dominators.children(place) {
                let object = match dominators.at(child) {
                    Holder::Object(object) => object,
                    Holder::Roots(name) => {
                        let siblings = below.roots.entry(tables.string(name));
                        siblings.or_insert_with(|| Siblings::new(TypeStep::Roots(name))).add(child, dominators);
                        continue;
                    }
                    Holder::Everything => continue,
                };
                let (type_id, name) = self.kind_of(object);
                if self.is_same(own, type_id, name) {
                    if dominators.has_children(child) {
                        open.push(child);
                    } else {
                        below.same += 1;
                    }
                    continue;
                }
                let siblings = match name {
                    Some(name) => below
                        .classes
                        .entry((type_id, tables.string(name)))
                        .or_insert_with(|| Siblings::new(TypeStep::Class(TypeId(type_id), name))),
                    None => slots.of(type_id, &mut below.types),
                };
                siblings.add(child, dominators);
            }
        }
        slots.clear(&below.types);
        below.same += open.len() as u64;
        Ok(below)
    }

    /// The one of some steps that a word names: a title, or a title with `#` and its rank by retained bytes.
    pub(crate) fn named(&self, mut steps: Vec<Siblings>, word: &str) -> Option<Siblings> {
        steps.sort_by_key(|siblings| std::cmp::Reverse(siblings.retained.1));
        let place = |title: &str, rank: usize| {
            let alike = steps.iter().enumerate().filter(|(_, siblings)| siblings.step.title(self.tables) == title);
            alike.map(|(place, _)| place).nth(rank)
        };
        let ranked = || {
            let (title, rank) = word.rsplit_once('#')?;
            place(title, rank.parse::<usize>().ok()?.checked_sub(1)?)
        };
        let place = place(word, 0).or_else(ranked)?;
        Some(steps.swap_remove(place))
    }

    /// The type of an object, and the name of the class or module that it represents.
    fn kind_of(&self, object: ObjectId) -> (u32, Option<StringId>) {
        let type_id = self.types[object.index()] as usize;
        let name = if self.has_names[type_id] { self.names.get(&object).copied() } else { None };
        (self.first_of[type_id], name)
    }

    /// Returns whether an object of this type and name belongs to the step `own`.
    fn is_same(&self, own: TypeStep, type_id: u32, name: Option<StringId>) -> bool {
        match (own, name) {
            (TypeStep::Type(own), None) => own.0 == type_id,
            (TypeStep::Class(own, class), Some(name)) => {
                own.0 == type_id && (class == name || self.tables.string(class) == self.tables.string(name))
            }
            _ => false,
        }
    }
}
