//! The entries of maps, and the elements of lists and sets.
//!
//! The attribute `entries` of a type says where the entries of its objects are, see `parts`:
//!
//! ```text
//!   HashMap          .table[]              the entries of each object in the array
//!   HashMap$Node     .key=.value .next     an entry, then those of the next node
//!   HashSet          .map=                 the keys of the map are the elements
//!   ArrayList        =.elementData[]       the array holds the elements
//! ```
//!
//! Each object on the way is read once. Objects are read in batches, and after some time all objects of the same form are
//! read in one pass, so that a long list does not need an access to the file for each node.

mod parts;

use barrow_format::rows::{Label, Value};
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use crate::error::Result;
use crate::file::object::{Reference, objects, outgoing};
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::{Progress, check};
use crate::questions::fields::{FieldPath, Held};
use parts::{AbsentElement, Contribution};

/// The maximum number of different values of the attribute `entries` in a recording. Further ones are ignored.
const MOST_FORMS: usize = 128;
/// The maximum number of arrays, and of possibly absent elements, that are read one by one.
const MOST_ARRAYS: u32 = 1000;
/// The maximum number of lists whose null elements are counted, because each costs passes over blocks.
const MOST_LISTS: usize = 16;
/// The maximum number of copies of elements that are listed: an object of a few bytes may claim to hold billions.
const MOST_COPIES: u64 = 1 << 16;
/// The maximum number of objects that are read at once, and the minimum if more are waiting.
const MOST_AT_ONCE: usize = 1 << 16;
const LEAST_AT_ONCE: usize = 64;

/// The key of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EntryKey {
    /// An element of a set has none.
    None,
    /// The position in a list, counted from 0.
    Index(u64),
    /// The key in a map.
    Held(Held),
}

/// An entry of a map, or an element of a list or set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: EntryKey,
    /// The value or element.
    pub value: Held,
}

/// The entries of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries {
    /// The entries in the object's own order. Slots of arrays that hold null are left out.
    pub entries: Vec<Entry>,
    /// There are more than the requested number, or more copies of one element than 65,536.
    pub has_more: bool,
    /// All requested entries are known: false if the recording lacks some of the necessary data.
    pub are_known: bool,
    /// The number of elements of lists and arrays that are null, and left out. `None` if unknown.
    pub nulls: Option<u64>,
}

impl Heap {
    /// The first entries of an object, at most `limit`: of a map, of a list or of a set. `None` if its type does not
    /// say where they are.
    ///
    /// Time: that of at most two passes over the heap for each type of nodes, and less for few entries. Memory: 100
    /// bytes for each entry, and for each node of the types that are read as a whole.
    ///
    /// # Errors
    /// [`AnalyzerError::NoObject`](crate::AnalyzerError::NoObject),
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn entries(&self, object: ObjectId, limit: usize, progress: &dyn Progress) -> Result<Option<Entries>> {
        let details = objects(self.recording(), self.snapshot(), &[object])?;
        let Some(details) = details.first() else { return Ok(None) };
        let forms = Forms::find(self)?;
        if forms.of_type[details.type_id.index()].is_none() {
            return Ok(None);
        }
        let mut walk = Walk::new(self, &forms, limit, progress)?;
        walk.waiting.push(Task::Visit(object, false));
        walk.run().map(Some)
    }
}

/// The ways in which types say where entries are.
struct Forms {
    parts: Vec<Vec<Contribution>>,
    of_type: Vec<Option<u32>>,
}

impl Forms {
    fn find(heap: &Heap) -> Result<Self> {
        let tables = heap.recording().tables()?;
        let mut forms = Forms { parts: Vec::new(), of_type: Vec::with_capacity(tables.type_count()) };
        let mut number_of: HashMap<Vec<Contribution>, u32> = HashMap::default();
        for form in (0..tables.type_count() as u32).map(|id| parts::of_type(tables, TypeId(id))) {
            let known = form.as_ref().and_then(|form| number_of.get(form).copied());
            forms.of_type.push(match form {
                Some(form) if known.is_none() && forms.parts.len() < MOST_FORMS => {
                    let number = forms.parts.len() as u32;
                    forms.parts.push(form.clone());
                    number_of.insert(form, number);
                    Some(number)
                }
                _ => known,
            });
        }
        Ok(forms)
    }

    fn paths(&self, form: u32) -> Vec<&FieldPath> {
        self.parts[form as usize].iter().flat_map(Contribution::paths).collect()
    }
}

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

/// An object that was read: its form, and where in [`Walk::held`] its fields are.
#[derive(Debug, Clone, Copy)]
struct ReadObject {
    form: Option<u32>,
    at: usize,
}

/// A walk over the objects that hold the entries of one.
struct Walk<'h> {
    heap: &'h Heap,
    forms: &'h Forms,
    limit: usize,
    progress: &'h dyn Progress,
    waiting: Vec<Task>,
    seen: ObjectSet,
    read: HashMap<ObjectId, ReadObject>,
    held: Vec<Held>,
    /// The blocks that may be read before all objects of a form are.
    blocks_left: usize,
    blocks: usize,
    arrays_left: u32,
    copies_left: u64,
    /// Numbers are original, not replaced by redaction.
    has_numbers: bool,
    counted: u64,
    /// The objects whose elements are those of an array, with the number of elements that are not null.
    lists: Vec<(ObjectId, u64)>,
    found: Entries,
}

impl<'h> Walk<'h> {
    fn new(heap: &'h Heap, forms: &'h Forms, limit: usize, progress: &'h dyn Progress) -> Result<Self> {
        let blocks = heap.recording().commit(heap.snapshot())?.blocks.len();
        Ok(Walk {
            heap,
            forms,
            limit,
            progress,
            waiting: Vec::new(),
            seen: ObjectSet::new(heap.snapshot(), heap.object_count()),
            read: HashMap::default(),
            held: Vec::new(),
            blocks_left: blocks + 8,
            blocks,
            arrays_left: MOST_ARRAYS,
            copies_left: MOST_COPIES,
            has_numbers: !heap.recording().has_replaced_numbers()?,
            counted: 0,
            lists: Vec::new(),
            found: Entries { entries: Vec::new(), has_more: false, are_known: true, nulls: None },
        })
    }

    fn run(mut self) -> Result<Entries> {
        let mut tasks = 0_u64;
        while let Some(task) = self.waiting.pop() {
            tasks += 1;
            if tasks.is_multiple_of(1 << 16) {
                check(self.progress)?;
            }
            let entry = match task {
                Task::Visit(object, only_keys) => {
                    self.visit(object, only_keys)?;
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
            if self.found.entries.len() == self.limit {
                self.found.has_more = true;
                break;
            }
            self.found.entries.push(entry);
        }
        self.heap.recording().tables()?.check_strings()?;
        if self.found.are_known && !self.found.has_more {
            self.found.nulls = self.nulls()?;
        }
        Ok(self.found)
    }

    /// The number of null elements of the lists: the recorded number of elements less those found.
    fn nulls(&self) -> Result<Option<u64>> {
        if self.lists.len() > MOST_LISTS {
            return Ok(None);
        }
        let mut nulls = 0_u64;
        for &(list, found) in &self.lists {
            let elements = self.heap.elements_of(list, self.progress)?;
            match elements.and_then(|elements| nulls.checked_add(elements.checked_sub(found)?)) {
                Some(sum) => nulls = sum,
                None => return Ok(None),
            }
        }
        Ok(Some(nulls))
    }

    /// Puts the entries of an object before all pending tasks.
    fn visit(&mut self, object: ObjectId, only_keys: bool) -> Result<()> {
        if !self.seen.insert(object) {
            return Ok(());
        }
        let read = self.read(object)?;
        let Some(form) = read.form else {
            self.found.are_known = false;
            return Ok(());
        };
        let forms = self.forms;
        let (mut at, before) = (read.at, self.waiting.len());
        let mut is_missing = true;
        for part in &forms.parts[form as usize] {
            let count = part.paths().len();
            let held: Vec<Held> = self.held[at..at + count].to_vec();
            at += count;
            let missing = held.iter().filter(|held| **held == Held::Missing).count();
            is_missing &= missing > 0;
            if held.contains(&Held::Unknown) || missing > 0 && part.is_entry() {
                self.found.are_known = false;
            }
            // Not every version of a class has every field. Without declared fields those that hold null are missing.
            if missing == 0 || missing < count && part.is_entry() {
                self.contribute(object, part, &held, only_keys)?;
            }
        }
        if is_missing {
            self.found.are_known = false;
        }
        self.waiting[before..].reverse();
        Ok(())
    }

    fn contribute(&mut self, object: ObjectId, part: &Contribution, held: &[Held], only_keys: bool) -> Result<()> {
        match (part, held) {
            (Contribution::Of { .. }, &[Held::Object(next)]) => self.waiting.push(Task::Visit(next, only_keys)),
            (Contribution::KeysOf(_), &[Held::Object(map)]) => self.waiting.push(Task::Visit(map, true)),
            (Contribution::OfEach(_), &[Held::Object(array)]) => {
                let slots = slots(&self.array(array)?);
                self.waiting.extend(slots.into_iter().filter_map(|(_, held)| match held {
                    Held::Object(object) => Some(Task::Visit(object, only_keys)),
                    _ => None,
                }));
            }
            (Contribution::Entry { unless_null: true, .. }, &[.., Held::Null]) => {}
            (Contribution::Entry { .. }, &[key, value]) => self.waiting.push(tell(key, value, only_keys)),
            (Contribution::Element { unless, .. }, &[value]) if self.is_none(object, value, unless)? => {}
            (Contribution::Element { is_ordered: true, .. }, &[value]) => self.waiting.push(Task::Count(value)),
            (Contribution::Element { .. }, &[value]) => self.waiting.push(tell(value, value, true)),
            (Contribution::Copies { .. }, &[value, Held::Value(count)]) => match self.number(count) {
                Some(count) => self.waiting.push(Task::Repeat(value, count)),
                None => self.found.are_known = false,
            },
            (Contribution::Elements { head: None, .. }, &[Held::Object(array)]) => {
                let slots = slots(&self.array(array)?);
                self.push_elements(object, slots);
            }
            (Contribution::Elements { .. }, &[Held::Object(array), Held::Value(head)]) => {
                match self.ring(array, head)? {
                    Some(order) => {
                        let mut slots = slots(&self.array(array)?);
                        slots.iter_mut().for_each(|(slot, _)| *slot = order.index(*slot));
                        slots.sort_by_key(|&(slot, _)| slot);
                        self.push_elements(object, slots);
                    }
                    None => self.found.are_known = false,
                }
            }
            (Contribution::Elements { .. }, &[Held::Object(array), Held::Value(from), Held::Value(count)]) => {
                match self.number(from).zip(self.number(count)) {
                    Some((from, count)) => {
                        let slots = slots(&self.array(array)?).into_iter();
                        let slots = slots.filter_map(|(slot, held)| Some((slot.checked_sub(from)?, held)));
                        self.push_elements(object, slots.filter(|&(slot, _)| slot < count).collect());
                    }
                    None => self.found.are_known = false,
                }
            }
            (Contribution::Members { bits: None, .. }, &[Held::Object(array)]) => {
                let slots = slots(&self.array(array)?);
                self.waiting.extend(slots.into_iter().map(|(_, value)| tell(value, value, true)));
            }
            (Contribution::Members { .. }, &[Held::Object(array), Held::Value(bits)]) => match self.bits(bits) {
                Some(bits) => {
                    let slots =
                        slots(&self.array(array)?).into_iter().filter(|(slot, _)| *slot < 64 && bits >> slot & 1 == 1);
                    self.waiting.extend(slots.map(|(_, value)| tell(value, value, true)));
                }
                None => self.found.are_known = false,
            },
            (Contribution::Turns(_), &[Held::Object(array)]) => {
                let slots = slots(&self.array(array)?);
                for pair in slots.chunk_by(|(one, _), (other, _)| one / 2 == other / 2) {
                    let [key, value] = [0, 1]
                        .map(|odd| pair.iter().find(|(slot, _)| slot % 2 == odd).map_or(Held::Null, |&(_, held)| held));
                    self.waiting.push(tell(key, value, only_keys));
                }
            }
            (Contribution::Parallel { .. }, &[Held::Object(keys), Held::Object(values)]) => {
                let (keys, values) = (slots(&self.array(keys)?), slots(&self.array(values)?));
                for (slot, value) in values {
                    let key = keys.binary_search_by_key(&slot, |&(slot, _)| slot).map_or(Held::Null, |at| keys[at].1);
                    self.waiting.push(tell(key, value, only_keys));
                }
            }
            (Contribution::OwnElements | Contribution::OwnTurns(_) | Contribution::OwnUnnamed { .. }, _) => {
                self.contribute_own(object, part, held, only_keys)?;
            }
            _ if held.contains(&Held::Null) => {}
            _ => self.found.are_known = false,
        }
        Ok(())
    }

    /// Adds the entries that the object's own references lead to.
    fn contribute_own(&mut self, object: ObjectId, part: &Contribution, held: &[Held], only_keys: bool) -> Result<()> {
        match (part, held) {
            (Contribution::OwnElements, _) => {
                let slots = slots(&self.array(object)?);
                self.push_elements(object, slots);
            }
            (Contribution::OwnTurns(_), &[Held::Value(count)]) => {
                let references = self.array(object)?;
                let pairs = self.number(count).and_then(|count| usize::try_from(count.checked_mul(2)?).ok());
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
                let mut references = self.array(object)?;
                references.retain(|reference| reference.label == Label::Unknown);
                if self.number(count) == Some(references.len() as u64) {
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

    /// The order of a ring that begins at `head`; `None` if that is not in the array, or if its length is not known.
    fn ring(&self, array: ObjectId, head: Value) -> Result<Option<Order>> {
        let length = FieldPath::of(vec!["length".to_owned()]);
        let length = self.heap.paths_at_once(&[(&self.set_of(&[array]), &length)], self.progress)?.concat();
        let length = if let [Held::Value(length)] = length[..] { self.number(length) } else { None };
        let order = self.number(head).zip(length).map(|(head, length)| Order { head, length });
        Ok(order.filter(|order| order.head <= order.length))
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
    fn is_none(&mut self, object: ObjectId, value: Held, unless: &AbsentElement) -> Result<bool> {
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
        let tables = self.heap.recording().tables()?;
        let details = objects(self.heap.recording(), self.heap.snapshot(), &[target])?;
        Ok(target == object || details.iter().any(|details| tables.type_name(details.type_id) == name))
    }

    /// The references of an array; none if too many arrays were read before.
    fn array(&mut self, array: ObjectId) -> Result<Vec<Reference>> {
        check(self.progress)?;
        match self.arrays_left.checked_sub(1) {
            Some(left) => self.arrays_left = left,
            None => {
                self.found.are_known = false;
                return Ok(Vec::new());
            }
        }
        outgoing(self.heap.recording(), self.heap.snapshot(), array)
    }

    /// Reads an object, with those that are waiting after it.
    fn read(&mut self, object: ObjectId) -> Result<ReadObject> {
        if let Some(read) = self.read.get(&object) {
            return Ok(*read);
        }
        let most = self.limit.saturating_sub(self.found.entries.len()).clamp(LEAST_AT_ONCE, MOST_AT_ONCE);
        let waiting = self.waiting.iter().rev().take(2 * most).filter_map(|task| match task {
            Task::Visit(next, _) if !self.seen.contains(*next) && !self.read.contains_key(next) => Some(*next),
            _ => None,
        });
        let mut ids: Vec<ObjectId> = std::iter::once(object).chain(waiting).take(most).collect();
        ids.sort_unstable();
        ids.dedup();
        let details = objects(self.heap.recording(), self.heap.snapshot(), &ids)?;
        let mut by_form: Vec<Vec<ObjectId>> = vec![Vec::new(); self.forms.parts.len()];
        for details in details {
            match self.forms.of_type[details.type_id.index()] {
                Some(form) => by_form[form as usize].push(details.id),
                None => {
                    self.read.insert(details.id, ReadObject { form: None, at: 0 });
                }
            }
        }
        // Few objects are in few blocks. When this has taken as long as a pass over all blocks, all objects of the form are
        // read in one pass.
        let is_long = self.blocks_left == 0;
        self.blocks_left = self.blocks_left.saturating_sub(ids.len().min(self.blocks));
        let (heap, forms, progress) = (self.heap, self.forms, self.progress);
        let mut sets: Vec<(u32, ObjectSet)> = Vec::new();
        for (form, ids) in (0..).zip(by_form).filter(|(_, ids)| !ids.is_empty()) {
            let set = match is_long {
                true => heap.objects_of_types(None, |id| forms.of_type[id.index()] == Some(form), progress)?,
                false => self.set_of(&ids),
            };
            sets.push((form, set));
        }
        let asked = sets.iter().flat_map(|(form, set)| forms.paths(*form).into_iter().map(move |path| (set, path)));
        let asked: Vec<(&ObjectSet, &FieldPath)> = asked.collect();
        let mut columns = heap.paths_at_once(&asked, progress)?.into_iter();
        for (form, set) in &sets {
            let mut own: Vec<Vec<Held>> = columns.by_ref().take(forms.paths(*form).len()).collect();
            let mut at = 0;
            for part in &forms.parts[*form as usize] {
                if let Contribution::Of { path, is_any: true } = part
                    && own[at].contains(&Held::Unknown)
                {
                    own[at] = heap.any_field(set, path, progress)?;
                }
                at += part.paths().len();
            }
            for (row, id) in set.iter().enumerate() {
                self.read.insert(id, ReadObject { form: Some(*form), at: self.held.len() });
                self.held.extend(own.iter().map(|column| column[row]));
            }
        }
        // Every object has a type.
        Ok(self.read.get(&object).copied().unwrap_or(ReadObject { form: None, at: 0 }))
    }

    fn number(&self, value: Value) -> Option<u64> {
        match value {
            _ if !self.has_numbers => None,
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// A number as its bits.
    fn bits(&self, value: Value) -> Option<u64> {
        match value {
            _ if !self.has_numbers => None,
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) => Some(number.cast_unsigned()),
            _ => None,
        }
    }

    fn set_of(&self, ids: &[ObjectId]) -> ObjectSet {
        ObjectSet::from_sorted(self.heap.snapshot(), self.heap.object_count(), ids.iter().copied())
    }
}

fn tell(key: Held, value: Held, only_keys: bool) -> Task {
    Task::Tell(match only_keys {
        true => Entry { key: EntryKey::None, value: key },
        false => Entry { key: EntryKey::Held(key), value },
    })
}

/// The contents of the slots of an array, in their order, without those that hold null.
fn slots(references: &[Reference]) -> Vec<(u64, Held)> {
    let slots = references.iter().filter_map(|reference| match reference.label {
        Label::Index(index) => Some((index, Held::Object(reference.target))),
        _ => None,
    });
    let mut slots: Vec<(u64, Held)> = slots.collect();
    slots.sort_by_key(|&(slot, _)| slot);
    slots
}
