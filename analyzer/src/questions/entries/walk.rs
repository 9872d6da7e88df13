//! Walks over the objects that hold the entries of one.

mod elements;
mod table;

use barrow_format::ObjectId;
use foldhash::{HashMap, HashSet};

use super::key_predicate::{KeyMatch, KeyPredicate};
use super::parts::Contribution;
use super::reader::{ReadObject, Reader, slots};
use super::{Entries, Entry, EntryKey};
use crate::error::Result;
use crate::file::object::Reference;
use crate::progress::check;
use crate::questions::fields::Held;

/// The maximum number of arrays, and of possibly absent elements, that are read for one walk: each takes a lookup of
/// its own, and a dump may name any number. This is a judgement.
const MOST_ARRAYS: u32 = 1000;
/// The maximum number of lists whose null elements are counted, because each costs passes over blocks.
const MOST_LISTS: usize = 16;
/// The maximum number of copies of elements that are listed: an object of a few bytes may claim to hold billions.
const MOST_COPIES: u64 = 1 << 16;

/// A pending step of the walk; the next one is at the end of the list.
#[derive(Debug, Clone, Copy)]
enum Task {
    /// Adds the entries of an object, or only their keys.
    Visit(ObjectId, bool),
    Tell(Entry),
    /// Adds an element whose index is the number of elements before it.
    Count(Held),
    /// Adds an element this number of times.
    Repeat(Held, u64),
}

/// The value of a key in one entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryValue {
    None,
    /// By the key itself.
    Exact(Held),
    /// By what only reads like it.
    Alike(Held),
    /// By this object, if that is the key.
    Unread(ObjectId, Held),
}

/// A walk over the objects that hold the entries of one.
pub(super) struct Walk<'k> {
    limit: usize,
    /// The key whose value is looked for; other entries are not kept then.
    key: Option<&'k KeyPredicate<'k>>,
    waiting: Vec<Task>,
    seen: HashSet<ObjectId>,
    arrays_left: u32,
    copies_left: u64,
    counted: u64,
    /// The objects whose elements are those of an array, with the number of elements that are not null.
    lists: Vec<(ObjectId, u64)>,
    found: Entries,
    /// What the key leads to.
    value: Option<Held>,
    /// What keys lead to that read like the typed one, and are no texts.
    alike: Vec<Held>,
    /// Entries whose keys are still to be read.
    unread: Vec<(ObjectId, Held)>,
}

impl<'k> Walk<'k> {
    /// A walk over the first entries of an object.
    pub(super) fn new(object: ObjectId, limit: usize) -> Self {
        Walk {
            limit,
            key: None,
            waiting: vec![Task::Visit(object, false)],
            seen: HashSet::default(),
            arrays_left: MOST_ARRAYS,
            copies_left: MOST_COPIES,
            counted: 0,
            lists: Vec::new(),
            found: Entries { entries: Vec::new(), has_more: false, are_known: true, nulls: None },
            value: None,
            alike: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// A walk that ends at the second entry with a key: it is not known then which one is meant.
    pub(super) fn to_key(object: ObjectId, key: &'k KeyPredicate<'k>) -> Self {
        Walk { key: Some(key), ..Walk::new(object, usize::MAX) }
    }

    /// Visits the first object, which was read, and is an entry that leads to other objects. Returns what the key leads to in
    /// this entry, whether that is all it may lead to, and the other objects.
    pub(super) fn first(mut self, reader: &mut Reader<'_>) -> Result<(EntryValue, bool, Vec<ObjectId>)> {
        let mut next = Vec::new();
        if let Some(Task::Visit(object, only_keys)) = self.waiting.pop()
            && let Some(read) = reader.get(object)
        {
            reader.steps_left = reader.steps_left.saturating_sub(1);
            if reader.steps_left.is_multiple_of(1 << 16) {
                check(reader.progress)?;
            }
            self.visit(reader, object, read, only_keys)?;
        }
        while let Some(task) = self.waiting.pop() {
            match task {
                Task::Visit(object, _) => next.push(object),
                Task::Tell(entry) => _ = self.keep(entry),
                Task::Count(_) | Task::Repeat(..) => {}
            }
        }
        let value = match (self.value, self.alike.first(), self.unread.first()) {
            (Some(value), ..) => EntryValue::Exact(value),
            (None, Some(&value), _) => EntryValue::Alike(value),
            (None, None, Some(&(key, value))) => EntryValue::Unread(key, value),
            (None, None, None) => EntryValue::None,
        };
        Ok((value, self.found.are_known, next))
    }

    /// The number of entries that are still wanted.
    pub(super) fn wanted(&self) -> usize {
        self.limit.saturating_sub(self.found.entries.len())
    }

    /// The objects that come next and were not read yet.
    pub(super) fn next_objects(&self, reader: &Reader<'_>, most: usize) -> Vec<ObjectId> {
        let waiting = self.waiting.iter().rev().take(2 * most).filter_map(|task| match task {
            Task::Visit(next, _) if !self.seen.contains(next) && reader.get(*next).is_none() => Some(*next),
            _ => None,
        });
        waiting.take(most).collect()
    }

    /// The objects that come next.
    pub(super) fn next_visits(&self, most: usize) -> impl Iterator<Item = ObjectId> {
        let waiting = self.waiting.iter().rev().take(most);
        waiting.filter_map(|task| if let Task::Visit(next, _) = task { Some(*next) } else { None })
    }

    /// Goes on until the next object was not read yet. Returns whether there is one.
    pub(super) fn goes_on(&mut self, reader: &mut Reader<'_>) -> Result<bool> {
        while let Some(task) = self.waiting.pop() {
            reader.steps_left = reader.steps_left.saturating_sub(1);
            if reader.steps_left.is_multiple_of(1 << 16) {
                check(reader.progress)?;
            }
            if reader.steps_left == 0 {
                self.found.are_known = false;
                break;
            }
            let entry = match task {
                Task::Visit(object, _) if self.seen.contains(&object) => continue,
                Task::Visit(object, only_keys) => {
                    let Some(read) = reader.get(object) else {
                        self.waiting.push(task);
                        return Ok(true);
                    };
                    self.visit(reader, object, read, only_keys)?;
                    continue;
                }
                Task::Tell(entry) => entry,
                Task::Repeat(_, 0) => continue,
                Task::Repeat(value, left) => {
                    let Some(copies) = self.copies_left.checked_sub(1) else {
                        self.found.has_more = true;
                        self.found.are_known &= self.key.is_none();
                        break;
                    };
                    self.copies_left = copies;
                    self.waiting.push(Task::Repeat(value, left - 1));
                    self.waiting.push(Task::Count(value));
                    continue;
                }
                Task::Count(value) => {
                    self.counted += 1;
                    Entry { key: EntryKey::Index(self.counted - 1), value }
                }
            };
            if !self.keep(entry) {
                break;
            }
        }
        Ok(false)
    }

    /// Keeps an entry, or compares its key. Returns whether more are wanted.
    fn keep(&mut self, entry: Entry) -> bool {
        match (self.key, entry.key) {
            (None, _) if self.found.entries.len() == self.limit => {
                self.found.has_more = true;
                return false;
            }
            (None, _) => self.found.entries.push(entry),
            (Some(test), EntryKey::Held(key)) => match test.holds(key) {
                KeyMatch::Yes if self.value.is_some() => {
                    self.value = Some(Held::Unknown);
                    return false;
                }
                KeyMatch::Yes => self.value = Some(entry.value),
                KeyMatch::Alike => self.alike.push(entry.value),
                KeyMatch::No => {}
                KeyMatch::Unknown => self.found.are_known = false,
                KeyMatch::Unread(key) => self.unread.push((key, entry.value)),
            },
            (Some(test), EntryKey::Index(index)) if test.index() == Some(index) => {
                self.value = Some(if self.value.is_none() { entry.value } else { Held::Unknown });
                return false;
            }
            (Some(_), EntryKey::None | EntryKey::Index(_)) => {}
        }
        true
    }

    /// The entries, when the walk has ended.
    pub(super) fn entries(mut self, reader: &Reader<'_>) -> Result<Entries> {
        if self.found.are_known && !self.found.has_more {
            self.found.nulls = self.nulls(reader)?;
        }
        Ok(self.found)
    }

    /// The keys that are still to be read, when the walk has ended; none if it has found the key.
    pub(super) fn unread_keys(&self) -> impl Iterator<Item = ObjectId> {
        let unread = if self.value.is_none() { &self.unread[..] } else { &[] };
        unread.iter().map(|&(key, _)| key)
    }

    /// What the key leads to, when the walk has ended: missing if the object has no such key. `read` tells of the keys that
    /// were still to be read whether they are it. If several are, such as numbers of different types or equal texts in a map
    /// by identity, it is not known which one was meant.
    pub(super) fn value(&self, read: &HashMap<ObjectId, Option<bool>>) -> Held {
        if let Some(value) = self.value {
            return value;
        }
        let is_key = |(key, _): &&(ObjectId, Held)| read.get(key) == Some(&Some(true));
        let read_alike = self.unread.iter().filter(is_key).map(|&(_, value)| value);
        let mut same = self.alike.iter().copied().chain(read_alike);
        match (same.next(), same.next()) {
            (Some(value), None) => value,
            (Some(_), Some(_)) => Held::Unknown,
            // It is not known in which of several lists the index would be.
            _ if self.lists.len() > 1 => Held::Unknown,
            _ if self.found.are_known && self.unread.iter().all(|(key, _)| read.get(key) == Some(&Some(false))) => {
                Held::Missing
            }
            _ => Held::Unknown,
        }
    }

    /// The only list, if the walk has ended without an element at the index: the list is null there, or ends before.
    pub(super) fn searched_list(&self) -> Option<ObjectId> {
        if let (None, [(list, _)]) = (self.value, &self.lists[..]) { Some(*list) } else { None }
    }

    /// The number of null elements of the lists: the recorded number of elements less those found.
    fn nulls(&self, reader: &Reader<'_>) -> Result<Option<u64>> {
        if self.lists.len() > MOST_LISTS {
            return Ok(None);
        }
        let mut nulls = 0_u64;
        for &(list, found) in &self.lists {
            let elements = reader.heap.elements_of(list, reader.progress)?;
            match elements.and_then(|elements| nulls.checked_add(elements.checked_sub(found)?)) {
                Some(sum) => nulls = sum,
                None => return Ok(None),
            }
        }
        Ok(Some(nulls))
    }

    /// Puts the entries of an object before all pending tasks.
    fn visit(&mut self, reader: &mut Reader<'_>, object: ObjectId, read: ReadObject, only_keys: bool) -> Result<()> {
        self.seen.insert(object);
        let (before, mut is_missing) = (self.waiting.len(), true);
        let parts: Vec<(&Contribution, Vec<Held>)> =
            reader.parts(read).map(|(part, held)| (part, held.to_vec())).collect();
        for (part, held) in parts {
            let may_have_it =
                |key: &KeyPredicate<'_>| part.leads_to_keys() || key.index().is_some() && part.leads_to_indices();
            if self.key.is_some_and(|key| !may_have_it(key)) {
                is_missing = false;
                continue;
            }
            let missing = held.iter().filter(|held| **held == Held::Missing).count();
            is_missing &= missing > 0;
            if held.contains(&Held::Unknown) || missing > 0 && part.is_entry() {
                self.found.are_known = false;
            }
            // Not every version of a class has every field. Without declared fields those that hold null are missing.
            if missing == 0 || missing < held.len() && part.is_entry() {
                self.contribute(reader, object, part, &held, only_keys)?;
            }
        }
        if is_missing {
            self.found.are_known = false;
        }
        self.waiting[before..].reverse();
        Ok(())
    }

    /// Adds what a part of an object contributes.
    fn contribute(
        &mut self,
        reader: &mut Reader<'_>,
        object: ObjectId,
        part: &Contribution,
        held: &[Held],
        only_keys: bool,
    ) -> Result<()> {
        match (part, held) {
            (Contribution::Of { .. }, &[Held::Object(next)]) => self.waiting.push(Task::Visit(next, only_keys)),
            (Contribution::KeysOf(_), &[Held::Object(map)]) => self.waiting.push(Task::Visit(map, true)),
            (Contribution::OfEach(_), &[Held::Object(array)]) => {
                let slots = self.slots(reader, array)?;
                self.waiting.extend(slots.into_iter().filter_map(|(_, held)| match held {
                    Held::Object(object) => Some(Task::Visit(object, only_keys)),
                    _ => None,
                }));
            }
            (Contribution::Entry { unless_null: true, .. }, &[.., Held::Null]) => {}
            (Contribution::Entry { is_weak: true, .. }, &[Held::Null, _]) if self.key.is_some() => {}
            (Contribution::Entry { .. }, &[key, value]) => self.waiting.push(tell(key, value, only_keys)),
            (
                Contribution::Element { .. }
                | Contribution::Copies { .. }
                | Contribution::Elements { .. }
                | Contribution::Members { .. },
                _,
            ) => self.contribute_elements(reader, object, part, held)?,
            (Contribution::Turns(_), &[Held::Object(array)]) => {
                let slots = self.slots(reader, array)?;
                for pair in slots.chunk_by(|(one, _), (other, _)| one / 2 == other / 2) {
                    let [key, value] = [0, 1]
                        .map(|odd| pair.iter().find(|(slot, _)| slot % 2 == odd).map_or(Held::Null, |&(_, held)| held));
                    self.waiting.push(tell(key, value, only_keys));
                }
            }
            (&Contribution::Buckets { slots, .. }, &[Held::Object(table)]) => {
                self.contribute_table(reader, table, slots, only_keys)?;
            }
            (Contribution::Parallel { .. }, &[Held::Object(keys), Held::Object(values)]) => {
                let (keys, values) = (self.slots(reader, keys)?, self.slots(reader, values)?);
                for (slot, value) in values {
                    let key = keys.binary_search_by_key(&slot, |&(slot, _)| slot).map_or(Held::Null, |at| keys[at].1);
                    self.waiting.push(tell(key, value, only_keys));
                }
            }
            (Contribution::OwnElements | Contribution::OwnTurns(_) | Contribution::OwnUnnamed { .. }, _) => {
                self.contribute_own(reader, object, part, held, only_keys)?;
            }
            _ if held.contains(&Held::Null) => {}
            _ => self.found.are_known = false,
        }
        Ok(())
    }

    /// The contents of the slots of an array, in their order.
    fn slots(&mut self, reader: &mut Reader<'_>, array: ObjectId) -> Result<Vec<(u64, Held)>> {
        self.array(reader, array).map(slots)
    }

    /// The references of an array; none if too many arrays were read before.
    fn array<'r>(&mut self, reader: &'r mut Reader<'_>, array: ObjectId) -> Result<&'r [Reference]> {
        match self.arrays_left.checked_sub(1) {
            Some(left) => self.arrays_left = left,
            None => {
                self.found.are_known = false;
                return Ok(&[]);
            }
        }
        reader.array(array)
    }
}

fn tell(key: Held, value: Held, only_keys: bool) -> Task {
    Task::Tell(match only_keys {
        true => Entry { key: EntryKey::None, value: key },
        false => Entry { key: EntryKey::Held(key), value },
    })
}
