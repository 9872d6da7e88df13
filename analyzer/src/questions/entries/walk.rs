//! Walks over the objects that hold the entries of one.

use barrow_format::ObjectId;
use barrow_format::rows::{Label, Value};
use foldhash::HashSet;

use super::key_test::KeyTest;
use super::parts::{AbsentElement, Contribution};
use super::reader::{ReadObject, Reader, slots};
use super::{Entries, Entry, EntryKey};
use crate::error::Result;
use crate::file::object::{Reference, objects};
use crate::progress::check;
use crate::questions::fields::{FieldPath, Held};

/// The maximum number of arrays, and of possibly absent elements, that are read for one walk.
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

/// The order of an array's elements: it begins in the middle if the array is a ring.
#[derive(Debug, Clone, Copy)]
struct Order {
    head: u64,
    length: u64,
}

impl Order {
    fn index(self, slot: u64) -> u64 {
        if slot >= self.head { slot - self.head } else { slot.wrapping_add(self.length.wrapping_sub(self.head)) }
    }
}

/// A walk over the objects that hold the entries of one.
pub(super) struct Walk<'k> {
    limit: usize,
    /// The key whose value is looked for; other entries are not kept then.
    key: Option<&'k KeyTest<'k>>,
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
        }
    }

    /// A walk that ends at the first entry with a key.
    pub(super) fn to_key(object: ObjectId, key: &'k KeyTest<'k>) -> Self {
        Walk { key: Some(key), ..Walk::new(object, usize::MAX) }
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
                Some(true) => {
                    self.value = Some(entry.value);
                    return false;
                }
                Some(false) => {}
                None => self.found.are_known = false,
            },
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

    /// What the key leads to, when the walk has ended: missing if the object has no such key.
    pub(super) fn value(&self) -> Held {
        self.value.unwrap_or(if self.found.are_known { Held::Missing } else { Held::Unknown })
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
            if self.key.is_some() && !part.leads_to_keys() {
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
            (Contribution::Entry { .. }, &[key, value]) => self.waiting.push(tell(key, value, only_keys)),
            (Contribution::Element { unless, .. }, &[value]) if self.is_none(reader, object, value, unless)? => {}
            (Contribution::Element { is_ordered: true, .. }, &[value]) => self.waiting.push(Task::Count(value)),
            (Contribution::Element { .. }, &[value]) => self.waiting.push(tell(value, value, true)),
            (Contribution::Copies { .. }, &[value, Held::Value(count)]) => match reader.number(count) {
                Some(count) => self.waiting.push(Task::Repeat(value, count)),
                None => self.found.are_known = false,
            },
            (Contribution::Elements { head: None, .. }, &[Held::Object(array)]) => {
                let slots = self.slots(reader, array)?;
                self.push_elements(object, slots);
            }
            (Contribution::Elements { .. }, &[Held::Object(array), Held::Value(head)]) => {
                match ring(reader, array, head)? {
                    Some(order) => {
                        let mut slots = self.slots(reader, array)?;
                        slots.iter_mut().for_each(|(slot, _)| *slot = order.index(*slot));
                        slots.sort_by_key(|&(slot, _)| slot);
                        self.push_elements(object, slots);
                    }
                    None => self.found.are_known = false,
                }
            }
            (Contribution::Elements { .. }, &[Held::Object(array), Held::Value(from), Held::Value(count)]) => {
                match reader.number(from).zip(reader.number(count)) {
                    Some((from, count)) => {
                        let slots = self.slots(reader, array)?.into_iter();
                        let slots = slots.filter_map(|(slot, held)| Some((slot.checked_sub(from)?, held)));
                        self.push_elements(object, slots.filter(|&(slot, _)| slot < count).collect());
                    }
                    None => self.found.are_known = false,
                }
            }
            (Contribution::Members { bits: None, .. }, &[Held::Object(array)]) => {
                let slots = self.slots(reader, array)?;
                self.waiting.extend(slots.into_iter().map(|(_, value)| tell(value, value, true)));
            }
            (Contribution::Members { .. }, &[Held::Object(array), Held::Value(bits)]) => match reader.bits(bits) {
                Some(bits) => {
                    let slots =
                        self.slots(reader, array)?.into_iter().filter(|(slot, _)| *slot < 64 && bits >> slot & 1 == 1);
                    self.waiting.extend(slots.map(|(_, value)| tell(value, value, true)));
                }
                None => self.found.are_known = false,
            },
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

    /// Adds the entries that the object's own references lead to.
    fn contribute_own(
        &mut self,
        reader: &mut Reader<'_>,
        object: ObjectId,
        part: &Contribution,
        held: &[Held],
        only_keys: bool,
    ) -> Result<()> {
        match (part, held) {
            (Contribution::OwnElements, _) => {
                let slots = self.slots(reader, object)?;
                self.push_elements(object, slots);
            }
            (Contribution::OwnTurns(_), &[Held::Value(count)]) => {
                let references = self.array(reader, object)?.to_vec();
                let pairs = reader.number(count).and_then(|count| usize::try_from(count.checked_mul(2)?).ok());
                let first = references.iter().position(|reference| reference.label == Label::Unknown);
                let pairs = pairs.and_then(|twice| references[first.unwrap_or(0)..].get(..twice));
                match pairs.map(|pairs| pairs.as_chunks::<2>().0) {
                    Some(pairs) if pairs.iter().all(|[key, _]| key.label == Label::Unknown) => {
                        self.waiting.extend(
                            pairs.iter().map(|[key, value]| {
                                tell(Held::Object(key.target), Held::Object(value.target), only_keys)
                            }),
                        );
                    }
                    _ => self.found.are_known = false,
                }
            }
            (&Contribution::OwnUnnamed { is_ordered, .. }, &[Held::Value(count)]) => {
                let mut references = self.array(reader, object)?.to_vec();
                references.retain(|reference| reference.label == Label::Unknown);
                if reader.number(count) == Some(references.len() as u64) {
                    self.waiting.extend(references.iter().map(|reference| {
                        let value = Held::Object(reference.target);
                        if is_ordered { Task::Count(value) } else { tell(value, value, true) }
                    }));
                } else {
                    self.found.are_known = false;
                }
            }
            _ if held.contains(&Held::Null) => {}
            _ => self.found.are_known = false,
        }
        Ok(())
    }

    /// Adds the entries in a hash table of V8: behind three numbers and one for each bucket there is room for twice as many
    /// entries as there are buckets. Slots without a reference hold small numbers, `true`, `false`, `null`, `undefined`, or
    /// nothing. Texts always are objects, so that all keys that are texts are known.
    fn contribute_table(
        &mut self,
        reader: &mut Reader<'_>,
        table: ObjectId,
        of_entry: u64,
        only_keys: bool,
    ) -> Result<()> {
        let slots = self.slots(reader, table)?;
        let buckets = reader.bytes_of(table)?.and_then(|bytes| buckets(bytes, of_entry));
        let Some(buckets) = buckets else {
            self.found.are_known = false;
            return Ok(());
        };
        let is_text = self.key.is_some_and(KeyTest::is_of_texts);
        let placed = slots.iter().filter_map(|&(slot, held)| Some((slot.checked_sub(3 + buckets)?, held)));
        let placed: Vec<(u64, Held)> = placed.collect();
        let mut entries = 0;
        for entry in placed.chunk_by(|(one, _), (other, _)| one / of_entry == other / of_entry) {
            entries += 1;
            let [key, value] = [0, 1].map(|at| {
                entry.iter().find(|(slot, _)| slot % of_entry == at).map_or(Held::Unknown, |&(_, held)| held)
            });
            match of_entry {
                3 if is_text && key == Held::Unknown => {}
                3 => self.waiting.push(tell(key, value, only_keys)),
                _ => self.waiting.push(tell(key, key, true)),
            }
        }
        if !is_text && (entries < 2 * buckets || placed.len() as u64 != entries * (of_entry - 1)) {
            self.found.are_known = false;
        }
        Ok(())
    }

    /// Puts the elements of a list before all pending tasks, in order.
    fn push_elements(&mut self, list: ObjectId, elements: Vec<(u64, Held)>) {
        if self.lists.len() <= MOST_LISTS {
            self.lists.push((list, elements.len() as u64));
        }
        let elements = elements.into_iter();
        self.waiting.extend(elements.map(|(slot, value)| Task::Tell(Entry { key: EntryKey::Index(slot), value })));
    }

    /// Returns whether the value of a field of an object represents the absence of an element.
    fn is_none(&mut self, reader: &Reader<'_>, object: ObjectId, value: Held, unless: &AbsentElement) -> Result<bool> {
        if *unless == AbsentElement::Never {
            return Ok(false);
        }
        let (Held::Object(target), AbsentElement::OfType(name)) = (value, unless) else {
            return Ok(value == Held::Null || value == Held::Object(object));
        };
        match self.arrays_left.checked_sub(1) {
            Some(left) => self.arrays_left = left,
            None => {
                self.found.are_known = false;
                return Ok(target == object);
            }
        }
        let tables = reader.heap.recording().tables()?;
        let details = objects(reader.heap.recording(), reader.heap.snapshot(), &[target])?;
        Ok(target == object || details.iter().any(|details| tables.type_name(details.type_id) == name))
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

/// The order of a ring that begins at `head`; `None` if that is not in the array, or if its length is not known.
fn ring(reader: &Reader<'_>, array: ObjectId, head: Value) -> Result<Option<Order>> {
    let length = FieldPath::named("length");
    let length = reader.heap.paths_at_once(&[(&reader.heap.set_of(&[array]), &length)], reader.progress)?.concat();
    let length = if let [Held::Value(length)] = length[..] { reader.number(length) } else { None };
    let order = reader.number(head).zip(length).map(|(head, length)| Order { head, length });
    Ok(order.filter(|order| order.head <= order.length))
}

/// The number of buckets of a hash table of V8 with this many bytes and slots for each entry; `None` if it is none. A slot has
/// 8 bytes, or 4 where pointers are compressed, and the header of the array two slots.
fn buckets(bytes: u64, of_entry: u64) -> Option<u64> {
    let of_bucket = 1 + 2 * of_entry;
    let sizes = [8, 4].into_iter().filter(|slot| bytes.is_multiple_of(*slot));
    let mut found = sizes.filter_map(|slot| {
        let slots = (bytes / slot).checked_sub(2 + 3)?;
        (slots.is_multiple_of(of_bucket) && (slots / of_bucket).is_power_of_two()).then_some(slots / of_bucket)
    });
    found.next()
}

fn tell(key: Held, value: Held, only_keys: bool) -> Task {
    Task::Tell(match only_keys {
        true => Entry { key: EntryKey::None, value: key },
        false => Entry { key: EntryKey::Held(key), value },
    })
}
