//! Steps of paths of types: objects below one step of the dominator tree, grouped by type.
//!
//! ```text
//!   places of a step       Map ─┬─ Entry ── Entry ── Entry      Entry × 3 is one step: an object directly below one of
//!                               └─ String                       its own type belongs to the same step
//! ```

use std::collections::{BTreeMap, HashMap};

use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, StringId, TypeId};

use crate::error::Result;
use crate::file::tables::Tables;
use crate::file::type_identity::TypeIdentity;
use crate::graph::dominators::{Dominators, Holder, TreePlace};
use crate::heap::Heap;
use crate::progress::{Progress, check};

/// A type without a slot.
const NO_SLOT: u32 = u32::MAX;
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
    places: Vec<TreePlace>,
}

impl Siblings {
    fn new(step: TypeStep) -> Self {
        Siblings { step, retained: (0, 0), largest: None, places: Vec::new() }
    }

    fn add(&mut self, place: TreePlace, dominators: &Dominators) {
        let bytes = dominators.bytes_at(place);
        // The sizes in a hostile file may add up to more than 64 bits.
        self.retained = (self.retained.0 + dominators.count_at(place), self.retained.1.wrapping_add(bytes));
        if self.largest.is_none_or(|(most, _)| bytes > most) {
            self.largest = Some((bytes, place));
        }
        self.places.push(place);
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
    /// For each type the index of its group among those of the current step, or [`NO_SLOT`]. Reused from step to step.
    slots: Vec<u32>,
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
        let slots = vec![NO_SLOT; first_of.len()];
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
    /// Time: linear in the number of objects of the step and of their children. Memory: 4 bytes for each.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn below(&mut self, siblings: Siblings) -> Result<(u64, Vec<Siblings>)> {
        let (dominators, tables) = (self.dominators, self.tables);
        let (mut open, own) = (siblings.places, siblings.step);
        if own.type_id().is_some() && siblings.retained.0 == open.len() as u64 {
            return Ok((siblings.retained.0, Vec::new()));
        }
        let mut roots: BTreeMap<&str, Siblings> = BTreeMap::new();
        let mut classes: BTreeMap<(u32, &str), Siblings> = BTreeMap::new();
        let mut children: Vec<Siblings> = Vec::new();
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
                        let siblings = roots.entry(tables.string(name));
                        siblings.or_insert_with(|| Siblings::new(TypeStep::Roots(name))).add(child, dominators);
                        continue;
                    }
                    Holder::Everything => continue,
                };
                let (type_id, name) = self.kind_of(object);
                if self.is_same(own, type_id, name) {
                    open.push(child);
                    continue;
                }
                if let Some(name) = name {
                    let class = classes.entry((type_id, tables.string(name)));
                    let step = TypeStep::Class(TypeId(type_id), name);
                    class.or_insert_with(|| Siblings::new(step)).add(child, dominators);
                    continue;
                }
                let slot = &mut self.slots[type_id as usize];
                if *slot == NO_SLOT {
                    *slot = children.len() as u32;
                    children.push(Siblings::new(TypeStep::Type(TypeId(type_id))));
                }
                children[*slot as usize].add(child, dominators);
            }
        }
        for type_id in children.iter().filter_map(|child| child.step.type_id()) {
            self.slots[type_id.index()] = NO_SLOT;
        }
        Ok((open.len() as u64, roots.into_values().chain(children).chain(classes.into_values()).collect()))
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
