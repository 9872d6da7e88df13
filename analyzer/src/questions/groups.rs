//! Objects grouped by common properties: their type, its package, its loader, their text.
//!
//! ```text
//!   objects ──▶ type ──▶ the values of the keys ─┐
//!          └──▶ text, if it is a key ────────────┴▶ group: objects, sizes, retained size
//! ```
//!
//! **Retained sizes.** All chosen objects together retain the objects that would be freed without them. Each object that
//! would be freed counts once: for the group from which references lead to it without entering another chosen object. If
//! such references come from several groups, it is shared. So the groups and the shared part add up to the whole.
//!
//! ```text
//!   root ──▶ a ──▶ x ──▶ b ──▶ y         a and b are chosen, of two groups: x belongs to that of a, y to that of b;
//!            └──────────▶ z ◀──┘         z is shared
//! ```
//!
//! To compute them, the chosen objects become roots, in a category for each group, and nothing else refers to them. The part
//! of a group is the set of objects that its category dominates.

use std::borrow::Cow;

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::{KindRole, Root, Value};
use barrow_format::{ObjectId, SiteId, StringId, TypeId};
use foldhash::HashMap;

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{map_blocks, places};
use crate::file::object::{dictionary_place, objects};
use crate::file::sites::Sites;
use crate::file::tables::Tables;
use crate::graph::adjacency::{Adjacency, Follow};
use crate::graph::dominators::{GroupRetained, resident_bytes};
use crate::graph::exclusion::Exclusion;
use crate::graph::object_set::ObjectSet;
use crate::graph::roots::Roots;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::expression::{Attribute, NumberAttribute, Operand, TextAttribute};
use crate::questions::fields::{FieldPath, Held};

/// Memory for a chosen object while it is a root, in bytes.
const ROOT_BYTES: u64 = 32;
/// The category of all other roots.
const OTHER_ROOTS: StringId = StringId(u32::MAX);

/// A property that objects are grouped by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupKey {
    /// The name of their type.
    Type,
    /// The name of their kind.
    Kind,
    /// An attribute that is another text of their type, see [`Attribute::of_type`].
    OfType(&'static Attribute),
    /// Their text, if they are data of the program.
    Text,
    /// Their lines, see [`Heap::lines`].
    Line,
    /// The number of their allocation site.
    Site,
    /// The garbage collection in which they were allocated, if their site has that attribute.
    Generation,
    /// The value of a field, see [`Heap::field_column`]. Objects with equal lines count as equal.
    Field(FieldPath),
}

impl GroupKey {
    /// The key that an attribute is; `None` if nearly each object has another value.
    #[must_use]
    pub fn of_attribute(attribute: &'static Attribute) -> Option<Self> {
        match attribute.operand() {
            Operand::Text(TextAttribute::Type) => Some(GroupKey::Type),
            Operand::Text(TextAttribute::Kind) => Some(GroupKey::Kind),
            Operand::Text(TextAttribute::OfType(_)) => Some(GroupKey::OfType(attribute)),
            Operand::Text(TextAttribute::Text) => Some(GroupKey::Text),
            Operand::Text(TextAttribute::Line) => Some(GroupKey::Line),
            Operand::Either(TextAttribute::Site, ..) => Some(GroupKey::Site),
            Operand::Number(NumberAttribute::Generation, _) => Some(GroupKey::Generation),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            GroupKey::Type => "type",
            GroupKey::Kind => "kind",
            GroupKey::OfType(attribute) => attribute.word(),
            GroupKey::Text => "text",
            GroupKey::Line => "line",
            GroupKey::Site => "site",
            GroupKey::Generation => "generation",
            GroupKey::Field(path) => return Cow::Owned(path.to_string()),
        })
    }

    /// Returns whether [`ObjectGroups::held`] has its value for a group. Otherwise [`ObjectGroup::key`] does.
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(self, GroupKey::Line | GroupKey::Site | GroupKey::Generation | GroupKey::Field(_))
    }

    /// Its value for the objects of a type; `None` for [`GroupKey::Text`], for keys of [`GroupKey::is_held`], and if the type
    /// has no such property.
    fn of_type<'t>(&self, tables: &'t Tables, id: TypeId) -> Option<&'t str> {
        match self {
            GroupKey::Type => Some(tables.type_name(id)),
            GroupKey::Kind => Some(tables.kind_name(tables.type_kind(id))),
            GroupKey::OfType(attribute) => attribute.of_type()?(tables, id),
            GroupKey::Text | GroupKey::Line | GroupKey::Site | GroupKey::Generation | GroupKey::Field(_) => None,
        }
    }
}

/// The values of the keys of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Keys {
    /// One of their types. All of these have the same keys.
    type_id: TypeId,
    text: Option<StringId>,
    /// The index of a combination in [`ObjectGroups::held`]; 0 without such keys.
    held: u32,
}

impl Keys {
    /// A recording may hold equal texts under several ids, so texts are compared by content.
    fn identity(self, tables: &Tables) -> (TypeId, Option<&str>, u32) {
        (self.type_id, self.text.map(|text| tables.string(text)), self.held)
    }
}

/// Objects that have the same keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectGroup {
    keys: Keys,
    /// The number of objects.
    pub objects: u64,
    /// Their shallow sizes, summed, in bytes.
    pub heap_bytes: u64,
    /// Their unmanaged sizes, summed, in bytes.
    pub unmanaged_bytes: u64,
}

impl ObjectGroup {
    /// The value of a key for these objects, if they have one.
    #[must_use]
    pub fn key<'t>(&self, key: &GroupKey, tables: &'t Tables) -> Option<&'t str> {
        match key {
            GroupKey::Text => self.keys.text.map(|text| tables.string(text)),
            _ => key.of_type(tables, self.keys.type_id),
        }
    }

    fn add(&mut self, other: &ObjectGroup) {
        self.keys.text = self.keys.text.min(other.keys.text);
        self.keys.type_id = self.keys.type_id.min(other.keys.type_id);
        self.objects += other.objects;
        self.heap_bytes = self.heap_bytes.wrapping_add(other.heap_bytes);
        self.unmanaged_bytes = self.unmanaged_bytes.wrapping_add(other.unmanaged_bytes);
    }
}

/// The retained sizes of groups, in objects and bytes, shallow and unmanaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedByGroups {
    /// For each group the objects that belong to it alone.
    pub groups: Vec<GroupRetained>,
    /// The objects that several groups retain together, and none alone.
    pub shared: GroupRetained,
    /// The groups are exact. Otherwise they are lower bounds, and the shared part is an upper bound, see
    /// [`crate::Dominators::is_exact`]. The sum is exact.
    pub are_exact: bool,
}

/// The objects of a set by keys.
#[derive(Debug)]
pub struct ObjectGroups<'h> {
    heap: &'h Heap,
    set: &'h ObjectSet,
    keys: Vec<GroupKey>,
    /// For each type the first type with the same keys.
    classes: Vec<TypeId>,
    /// The combinations of values of the keys of [`GroupKey::is_held`], each in the order of these keys.
    held: Vec<Vec<Held>>,
    /// For each object of the set, in order, its combination; empty without such keys.
    held_by: Vec<u32>,
    /// The groups, in no order.
    pub groups: Vec<ObjectGroup>,
}

impl Heap {
    /// The objects of a set, grouped by the values of `keys`.
    ///
    /// Time: a pass over the objects of the set, on all threads. Memory: with [`GroupKey::Text`] 100 bytes for each
    /// different text.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`],
    /// [`AnalyzerError::Cancelled`].
    pub fn groups<'h>(
        &'h self,
        set: &'h ObjectSet,
        keys: &[GroupKey],
        progress: &dyn Progress,
    ) -> Result<ObjectGroups<'h>> {
        let tables = self.recording().tables()?;
        let (held, held_by) = self.combinations(set, keys, progress)?;
        let (keys_of_groups, classes) = (keys.to_vec(), Vec::new());
        let mut groups =
            ObjectGroups { heap: self, set, keys: keys_of_groups, classes, held, held_by, groups: Vec::new() };
        let mut first_of = HashMap::default();
        for id in (0..tables.type_count() as u32).map(TypeId) {
            let of_type: Vec<Option<&str>> = keys.iter().map(|key| key.of_type(tables, id)).collect();
            groups.classes.push(*first_of.entry(of_type).or_insert(id));
        }
        let have_types_only = !groups.have_texts() && groups.held_by.is_empty();
        let found = if have_types_only { groups.by_type(progress)? } else { groups.by_object(progress)? };
        self.memory().require_more(found.len() as u64 * GROUP_BYTES)?;
        let mut by_keys: HashMap<(TypeId, Option<&str>, u32), ObjectGroup> = HashMap::default();
        for (at, group) in found.into_iter().enumerate() {
            check(at, progress)?;
            by_keys.entry(group.keys.identity(tables)).and_modify(|known| known.add(&group)).or_insert(group);
        }
        tables.check_strings()?;
        groups.groups = by_keys.into_values().collect();
        Ok(groups)
    }

    /// The combinations of values of the keys of [`GroupKey::is_held`], and for each object of the set the index of its own.
    fn combinations(
        &self,
        set: &ObjectSet,
        keys: &[GroupKey],
        progress: &dyn Progress,
    ) -> Result<(Vec<Vec<Held>>, Vec<u32>)> {
        let tables = self.recording().tables()?;
        let columns = keys.iter().filter_map(|key| match key {
            GroupKey::Field(path) => Some(self.column_of_alike(set, path, progress)),
            GroupKey::Line => Some(self.column_of_lines(set, progress)),
            GroupKey::Site => Some(self.column_of_sites(set, |sites, id| Some(sites.place_of(id).0.into()), progress)),
            GroupKey::Generation => Some(self.column_of_sites(set, |sites, id| sites.generation(id, tables), progress)),
            _ => None,
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        if columns.is_empty() {
            return Ok(Default::default());
        }
        // A recording may hold equal texts under several ids.
        let mut texts: HashMap<&str, StringId> = HashMap::default();
        let mut known_texts: HashMap<StringId, StringId> = HashMap::default();
        // The combinations of the columns so far, and the index of that of each object. Each column divides them further.
        let (mut held, mut held_by) = (vec![Vec::new()], vec![0; columns[0].len()]);
        for column in columns {
            let (before, mut numbers) = (std::mem::take(&mut held), HashMap::default());
            // Neighbours often have equal values.
            let mut last = None;
            for (mut own, combination) in column.into_iter().zip(&mut held_by) {
                if let Held::Value(Value::Text(id)) = &mut own {
                    *id = *known_texts.entry(*id).or_insert_with(|| *texts.entry(tables.string(*id)).or_insert(*id));
                }
                let key = (*combination, own.identity());
                *combination = match last {
                    Some((last, number)) if last == key => number,
                    _ => *numbers.entry(key).or_insert_with(|| {
                        let so_far: &Vec<Held> = &before[*combination as usize];
                        held.push(so_far.iter().copied().chain([own]).collect());
                        held.len() as u32 - 1
                    }),
                };
                last = Some((key, *combination));
            }
        }
        Ok((held, held_by))
    }

    /// The value of a field of each object of the set. For objects with equal lines it is the first of these.
    fn column_of_alike(&self, set: &ObjectSet, path: &FieldPath, progress: &dyn Progress) -> Result<Vec<Held>> {
        let mut column = self.field_column(set, path, progress)?;
        let targets = Held::objects(&column);
        if !targets.is_empty() {
            let first = self.same_lines(&self.set_of(&targets), progress)?;
            for held in &mut column {
                if let Held::Object(object) = held {
                    *object = first.get(object).copied().unwrap_or(*object);
                }
            }
        }
        Ok(column)
    }

    /// For each object of the set a number of its allocation site.
    fn column_of_sites(
        &self,
        set: &ObjectSet,
        number: impl Fn(&Sites, SiteId) -> Option<u64>,
        progress: &dyn Progress,
    ) -> Result<Vec<Held>> {
        let (sites, mut column) = (self.recording().sites()?, Vec::new());
        let ids: Vec<ObjectId> = set.iter().collect();
        for (at, part) in ids.chunks(PART_OBJECTS).enumerate() {
            if at > 0 && progress.cancelled() {
                return Err(AnalyzerError::Cancelled);
            }
            let found = objects(self.recording(), self.snapshot(), part)?;
            let numbers = found.iter().map(|object| object.site.and_then(|site| number(sites, site)));
            column.extend(numbers.map(|number| number.map_or(Held::Missing, |it| Held::Value(Value::Unsigned(it)))));
        }
        Ok(column)
    }

    /// For each object of the set the first one with the same line.
    fn column_of_lines(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<Held>> {
        let first = self.same_lines(set, progress)?;
        Ok(set.iter().map(|object| first.get(&object).map_or(Held::Missing, |&first| Held::Object(first))).collect())
    }
}

/// Bytes per group in a table that doubles when it is full, and in the list of all. Measured with 416,438 groups.
const GROUP_BYTES: u64 = 300;

/// Objects whose sites are read at once: the details of each take 100 bytes.
const PART_OBJECTS: usize = 1 << 16;

/// Ends the work if it is cancelled. This is checked once every 4096 groups.
fn check(at: usize, progress: &dyn Progress) -> Result<()> {
    if at.is_multiple_of(4096) && progress.cancelled() { Err(AnalyzerError::Cancelled) } else { Ok(()) }
}

impl ObjectGroups<'_> {
    /// The values of the keys of [`GroupKey::is_held`] for the objects of a group, in their order. An object with a line
    /// represents all objects with that line.
    #[must_use]
    pub fn held(&self, group: &ObjectGroup) -> &[Held] {
        self.held.get(group.keys.held as usize).map_or(&[], Vec::as_slice)
    }

    fn have_texts(&self) -> bool {
        self.keys.contains(&GroupKey::Text)
    }

    /// A group for each class of types.
    fn by_type(&self, progress: &dyn Progress) -> Result<Vec<ObjectGroup>> {
        let totals = self.heap.type_totals_of(self.set, progress)?;
        let groups = totals.into_iter().map(|totals| ObjectGroup {
            keys: Keys { type_id: self.classes[totals.type_id.index()], text: None, held: 0 },
            objects: totals.objects,
            heap_bytes: totals.heap_bytes,
            unmanaged_bytes: totals.unmanaged_bytes,
        });
        Ok(groups.collect())
    }

    /// A group for each class of types, id of a text and combination of values.
    fn by_object(&self, progress: &dyn Progress) -> Result<Vec<ObjectGroup>> {
        let parts = self.map_objects("grouping", progress, |rows, columns| {
            let mut of_block: HashMap<Keys, ObjectGroup> = HashMap::default();
            for (row, keys) in rows {
                let [heap_bytes, unmanaged_bytes] = [&columns.shallow_bytes, &columns.unmanaged_bytes]
                    .map(|column| column.get(row).copied().unwrap_or(0));
                let one = ObjectGroup { keys, objects: 1, heap_bytes, unmanaged_bytes };
                of_block.entry(keys).and_modify(|known| known.add(&one)).or_insert(one);
            }
            of_block
        })?;
        let mut all: HashMap<Keys, ObjectGroup> = HashMap::default();
        for (at, (key, group)) in parts.into_iter().flatten().enumerate() {
            check(at, progress)?;
            all.entry(key).and_modify(|known| known.add(&group)).or_insert(group);
        }
        Ok(all.into_values().collect())
    }

    /// Calls `work` for each block that may hold objects of the set, with these objects: their row and their keys.
    fn map_objects<T: Send>(
        &self,
        phase: &str,
        progress: &dyn Progress,
        work: impl Fn(&mut dyn Iterator<Item = (usize, Keys)>, &BlockColumns) -> T + Sync,
    ) -> Result<Vec<T>> {
        let (recording, tables) = (self.heap.recording(), self.heap.recording().tables()?);
        let mut places = places(recording, &[self.heap.snapshot()])?;
        places.retain(|place| self.set.may_hold_any(ObjectId(place.entry.first_object), place.entry.objects));
        progress.begin(phase, places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
        let have_texts = self.have_texts();
        let wanted = if have_texts { ColumnSelection::Identity } else { ColumnSelection::Sizes };
        // For each block the number of objects of the set before it.
        let mut before = HashMap::default();
        let mut count = 0;
        for place in places.iter().filter(|place| !self.held_by.is_empty() && place.entry.objects > 0) {
            before.insert(place.entry.first_object, count);
            let (first, objects) = (place.entry.first_object, place.entry.objects);
            count += self.set.within(first..first + objects).count();
        }
        map_blocks(recording, &places, wanted, progress, |place, _, columns| {
            let mut rank = before.get(&place.entry.first_object).copied().unwrap_or(0);
            // The number of objects that a block's columns are about.
            let rows = 0..place.entry.objects as usize;
            let chosen = rows.filter(|&row| self.set.contains(ObjectId(columns.first_object + row as u32)));
            let mut chosen = chosen.map(|row| {
                let type_id = tables.shape(columns.dictionary[dictionary_place(columns, row)]).type_id;
                let text = columns
                    .names
                    .get(row)
                    .copied()
                    .flatten()
                    .filter(|_| have_texts && tables.kind_role(tables.type_kind(type_id)) == KindRole::Object);
                let held = self.held_by.get(rank).copied().unwrap_or(0);
                rank += 1;
                (row, Keys { type_id: self.classes[type_id.index()], text, held })
            });
            Ok(work(&mut chosen, columns))
        })
    }

    /// For each object of the set, in order, the index of its group in [`ObjectGroups::groups`].
    ///
    /// Time: a pass over the objects of the set, on all threads. Memory: 4 bytes for each.
    ///
    /// # Errors
    /// Those of [`Heap::groups`].
    pub fn numbers(&self, progress: &dyn Progress) -> Result<Vec<u32>> {
        let tables = self.heap.recording().tables()?;
        let number_of: HashMap<_, u32> = self.groups.iter().map(|group| group.keys.identity(tables)).zip(0..).collect();
        let parts = self.map_objects("finding groups", progress, |rows, _| {
            // Neighbours often have the same keys.
            let mut last = None;
            let numbers = rows.map(|(_, keys)| {
                let number = match last {
                    Some((last, number)) if last == keys => number,
                    _ => number_of[&keys.identity(tables)],
                };
                last = Some((keys, number));
                number
            });
            numbers.collect::<Vec<_>>()
        })?;
        Ok(parts.concat())
    }

    /// The retained size of each group, in the order of [`ObjectGroups::groups`].
    ///
    /// Time and memory: those of computing dominators, and 32 bytes for each object of the set.
    ///
    /// # Errors
    /// Those of [`Heap::groups`], [`AnalyzerError::MemoryCeiling`].
    pub fn retained(&self, progress: &dyn Progress) -> Result<RetainedByGroups> {
        let heap = self.heap;
        let mut reached = heap.all_reachable(progress)?;
        reached.intersect_with(self.set);
        heap.memory().require(resident_bytes(heap.object_count()) + ROOT_BYTES * reached.len())?;
        let numbered = self.set.iter().zip(self.numbers(progress)?).filter(|(target, _)| reached.contains(*target));
        let chosen: Vec<Root> =
            numbered.map(|(target, number)| Root { category: StringId(number), label: None, target }).collect();
        let others = heap.roots()?.rows().iter().filter(|root| !reached.contains(root.target));
        let others = others.map(|root| Root { category: OTHER_ROOTS, label: None, ..*root });
        let roots = Roots::of(chosen.into_iter().chain(others).collect());
        let all = heap.retained_set(&reached, progress)?;
        let all =
            heap.type_totals_of(&all, progress)?.iter().fold(GroupRetained::default(), |all, totals| GroupRetained {
                objects: all.objects + totals.objects,
                bytes: all.bytes.wrapping_add(totals.heap_bytes).wrapping_add(totals.unmanaged_bytes),
            });
        let exclusion = Exclusion::referred_to_by_roots_only(heap.exclusion().map(|exclusion| &**exclusion), reached);
        let references = Adjacency::build(
            heap.recording(),
            heap.snapshot(),
            Follow::Retaining,
            Some(&exclusion),
            heap.run(progress),
        )?;
        let dominators = heap.find_dominators(references, &roots, progress)?;
        let mut groups = vec![GroupRetained::default(); self.groups.len()];
        let mut shared = all;
        for (category, retained) in dominators.retained_by_groups() {
            if let Some(group) = groups.get_mut(category.index()) {
                *group = retained;
                shared.objects = shared.objects.saturating_sub(retained.objects);
                shared.bytes = shared.bytes.saturating_sub(retained.bytes);
            }
        }
        Ok(RetainedByGroups { groups, shared, are_exact: dominators.is_exact() })
    }
}
