//! The elements of lists and sets, and what an object's own references lead to.

use barrow_format::ObjectId;
use barrow_format::rows::{Label, Value};

use super::super::parts::{AbsentElement, Contribution};
use super::super::reader::Reader;
use super::super::{Entry, EntryKey};
use super::{MOST_LISTS, Task, Walk, tell};
use crate::error::Result;
use crate::file::object::objects;
use crate::questions::fields::{FieldPath, Held};

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

impl Walk<'_> {
    /// Adds the elements of a list or a set.
    pub(super) fn contribute_elements(
        &mut self,
        reader: &mut Reader<'_>,
        object: ObjectId,
        part: &Contribution,
        held: &[Held],
    ) -> Result<()> {
        match (part, held) {
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
            _ if held.contains(&Held::Null) => {}
            _ => self.found.are_known = false,
        }
        Ok(())
    }

    /// Adds the entries that the object's own references lead to.
    pub(super) fn contribute_own(
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
}

/// The order of a ring that begins at `head`; `None` if that is not in the array, or if its length is not known.
fn ring(reader: &Reader<'_>, array: ObjectId, head: Value) -> Result<Option<Order>> {
    let length = FieldPath::named("length");
    let length = reader.heap.paths_at_once(&[(&reader.heap.set_of(&[array]), &length)], reader.progress)?.concat();
    let length = if let [Held::Value(length)] = length[..] { reader.number(length) } else { None };
    let order = reader.number(head).zip(length).map(|(head, length)| Order { head, length });
    Ok(order.filter(|order| order.head <= order.length))
}
