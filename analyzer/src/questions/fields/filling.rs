//! The numbers of elements of objects, and of slots for them.
//!
//! The attributes `elements` and `slots` of types say where these numbers are, see `count`.
//!
//! An array is always full: both attributes are the same. A type without the attribute `elements` has the attributes of its
//! nearest base with one. The attribute `hash table` is the path to the array in whose slots chains of entries begin, and
//! `slot bytes` is the size of a slot in an object that contains its slots itself.

use barrow_expressions::{Number, NumberTest};
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use super::count::{Count, ELEMENTS, number, path};
use super::{FieldPath, Held, Tested};
use crate::error::{AnalyzerError, Result};
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

/// The maximum number of collections around one, such as those that forbid changes.
const MOST_WRAPPERS: usize = 8;

/// The fill of an object. Unknown numbers are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filling {
    /// The number of its elements.
    pub elements: Option<u64>,
    /// The number of its slots: 0 if it has no array for them.
    pub slots: Option<u64>,
}

impl Filling {
    /// The elements for each slot; `None` without slots.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        let slots = self.slots.filter(|&slots| slots > 0)?;
        #[expect(clippy::cast_precision_loss, reason = "no object has 2^53 slots")]
        self.elements.map(|elements| elements as f64 / slots as f64)
    }
}

/// A number that follows from a filling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The number of elements.
    Elements,
    /// The elements for each slot.
    Fill,
}

/// The places of the numbers of a type's objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FillingFields {
    elements: Option<Count>,
    pub(crate) slots: Option<FieldPath>,
    pub(crate) hash_table: Option<FieldPath>,
    /// The bytes of a slot, for objects that have their slots in themselves.
    pub(crate) slot_bytes: Option<u64>,
}

impl FillingFields {
    /// Returns whether a type says where the number of elements is.
    pub(crate) fn are_known(tables: &Tables, id: TypeId) -> bool {
        Self::of(tables, id).elements.is_some()
    }

    /// Reads the attributes of the type, or of its nearest base with the attribute `elements`.
    fn of(tables: &Tables, id: TypeId) -> Self {
        let declaring =
            tables.type_and_bases(id).find(|&id| tables.type_attribute(id, ELEMENTS).is_some()).unwrap_or(id);
        let [elements, slots, hash_table, slot_bytes] =
            [ELEMENTS, "slots", "hash table", "slot bytes"].map(|key| tables.type_attribute(declaring, key));
        FillingFields {
            elements: elements.and_then(Count::parse),
            slots: slots.and_then(path),
            hash_table: hash_table.and_then(path),
            slot_bytes: slot_bytes.and_then(|bytes| bytes.parse().ok()),
        }
    }

    /// Returns whether the elements are in the object or its own parts, not in another collection.
    pub(crate) fn are_own(&self) -> bool {
        matches!(self.elements, Some(Count::Field(_) | Count::Unless(..) | Count::Ring { .. }))
    }

    /// Returns whether objects always have as many elements as slots.
    pub(crate) fn is_array(&self) -> bool {
        matches!((&self.elements, &self.slots), (Some(Count::Field(elements)), Some(slots)) if elements == slots)
    }

    /// Returns whether `slots` slots can have `elements` elements. A hash table can have more, because they are
    /// chained, but each is an object then.
    fn may_hold(&self, elements: u64, slots: Option<u64>, objects: u64) -> bool {
        let chained = if self.hash_table.is_some() { objects } else { 0 };
        self.is_array() || slots.is_none_or(|slots| elements <= slots.max(chained))
    }

    /// The fields from which the numbers follow: those of the elements, then that of the slots.
    fn numbers(&self) -> Vec<&FieldPath> {
        self.elements.iter().flat_map(Count::paths).chain(&self.slots).collect()
    }

    /// The array whose length is the number of slots, if it is the object's own: that is one reference away.
    pub(crate) fn own_array(&self) -> Option<FieldPath> {
        let slots = self.slots.as_ref().filter(|slots| slots.steps().len() == 2)?;
        slots.first()
    }
}

/// Objects whose numbers are at the same places, and the fill of each, in their order.
pub(crate) struct Filled {
    pub(crate) places: FillingFields,
    pub(crate) set: ObjectSet,
    pub(crate) fillings: Vec<Filling>,
    /// The array that is each object's own, if there is one.
    pub(crate) arrays: Vec<Option<ObjectId>>,
}

impl Filled {
    /// The fill of each object. Arrays have no slots to fill.
    pub(super) fn own_slots(&self) -> impl Iterator<Item = Filling> {
        let has_slots = !self.places.is_array();
        self.fillings.iter().map(move |filling| Filling { slots: filling.slots.filter(|_| has_slots), ..*filling })
    }
}

impl Heap {
    /// The fill of the objects of a set, or of all, whose types describe it and whose places are wanted.
    ///
    /// Time: a pass over the shapes of all objects, and one over the blocks with such objects for each step of the longest
    /// path to a number. Memory: 100 bytes for each such object.
    ///
    /// # Errors
    /// [`AnalyzerError::NoElements`] if no type describes it, [`AnalyzerError::ReplacedNumbers`],
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub(crate) fn filled(
        &self,
        within: Option<&ObjectSet>,
        is_wanted: impl Fn(&FillingFields) -> bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Filled>> {
        self.filled_around(within, &is_wanted, MOST_WRAPPERS, progress)
    }

    /// The same; collections around collections are followed to a depth of `wrappers`.
    fn filled_around(
        &self,
        within: Option<&ObjectSet>,
        is_wanted: &dyn Fn(&FillingFields) -> bool,
        wrappers: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<Filled>> {
        let tables = self.recording().tables()?;
        if self.recording().has_replaced_numbers()? {
            return Err(AnalyzerError::ReplacedNumbers);
        }
        let mut classes: Vec<FillingFields> = Vec::new();
        let mut class_of = Vec::new();
        for id in (0..tables.type_count() as u32).map(TypeId) {
            let places = FillingFields::of(tables, id);
            let is_one = places.elements.is_some() && is_wanted(&places);
            class_of.push(is_one.then(|| match classes.iter().position(|known| *known == places) {
                Some(class) => class as u32,
                None => {
                    classes.push(places);
                    classes.len() as u32 - 1
                }
            }));
        }
        if classes.is_empty() {
            return Err(AnalyzerError::NoElements { has_contents: self.recording().has_contents()? });
        }
        let sets = self.objects_by_class(within, &class_of, classes.len(), progress)?;
        let mut filled = self.filled_sets(classes, sets, progress)?;
        for of in filled.iter_mut().filter(|of| of.places.elements == Some(Count::Entries)) {
            let numbers = self.numbers_of_entries(&of.set, progress)?;
            of.fillings.iter_mut().zip(numbers).for_each(|(filling, number)| filling.elements = number);
        }
        self.fill_as_others(&mut filled, wrappers, progress)?;
        Ok(filled)
    }

    /// The fill of these objects, whose numbers are in their fields.
    fn filled_sets(
        &self,
        classes: Vec<FillingFields>,
        sets: Vec<ObjectSet>,
        progress: &dyn Progress,
    ) -> Result<Vec<Filled>> {
        let numbers: Vec<Vec<&FieldPath>> = classes.iter().map(FillingFields::numbers).collect();
        let own_arrays: Vec<Option<FieldPath>> = classes.iter().map(FillingFields::own_array).collect();
        // First the numbers of all classes, then the arrays of all.
        let mut asked: Vec<(&ObjectSet, &FieldPath)> = Vec::new();
        asked.extend(sets.iter().zip(&numbers).flat_map(|(set, paths)| paths.iter().map(move |&path| (set, path))));
        let number_columns = asked.len();
        asked.extend(sets.iter().zip(&own_arrays).filter_map(|(set, path)| Some((set, path.as_ref()?))));
        let mut columns = self.paths_at_once(&asked, progress)?;
        let mut arrays = columns.split_off(number_columns).into_iter();
        // An object in place of a number may be a boxed one.
        let objects = Held::objects(&columns.concat());
        let standing = self.stand_for(&self.set_of(&objects), progress)?;
        for held in columns.iter_mut().flatten() {
            if let Held::Object(id) = *held
                && let Ok(at) = objects.binary_search(&id)
                && standing[at] != Held::Missing
            {
                *held = standing[at];
            }
        }
        let mut columns = columns.into_iter();
        let mut filled = Vec::new();
        for (((places, set), paths), array) in classes.iter().zip(&sets).zip(&numbers).zip(&own_arrays) {
            let own: Vec<Vec<Held>> = columns.by_ref().take(paths.len()).collect();
            let counted = places.elements.as_ref().map_or(0, |count| count.paths().len());
            let fillings = (0..set.len() as usize).map(|row| {
                let held: Vec<Held> = own[..counted].iter().map(|column| column[row]).collect();
                let slots = places.slots.as_ref().and_then(|_| room(own[counted][row]));
                let elements = places.elements.as_ref().and_then(|count| count.of(&held));
                let elements = elements.filter(|&elements| places.may_hold(elements, slots, self.object_count()));
                Filling { elements, slots }
            });
            let fillings = fillings.collect();
            let arrays = match array.as_ref().and_then(|_| arrays.next()) {
                Some(column) => column.iter().map(|held| held.object()).collect(),
                None => vec![None; set.len() as usize],
            };
            filled.push(Filled { places: places.clone(), set: set.clone(), fillings, arrays });
        }
        Ok(filled)
    }

    /// Gives objects around another collection the number of its elements, which are looked for together: the time is that of
    /// one more pass for each depth.
    fn fill_as_others(&self, filled: &mut [Filled], wrappers: usize, progress: &dyn Progress) -> Result<()> {
        let Some(wrappers) = wrappers.checked_sub(1) else { return Ok(()) };
        let asked = filled.iter().filter_map(|of| match &of.places.elements {
            Some(Count::Of(path)) => Some((&of.set, path)),
            _ => None,
        });
        let asked: Vec<(&ObjectSet, &FieldPath)> = asked.collect();
        let leading = self.paths_at_once(&asked, progress)?;
        let others = self.set_of(&Held::objects(&leading.concat()));
        if others.is_empty() {
            return Ok(());
        }
        let mut numbers: HashMap<ObjectId, u64> = HashMap::default();
        for of in self.filled_around(Some(&others), &|_| true, wrappers, progress)? {
            let known = of.set.iter().zip(&of.fillings).filter_map(|(id, filling)| Some((id, filling.elements?)));
            numbers.extend(known);
        }
        let around = filled.iter_mut().filter(|of| matches!(of.places.elements, Some(Count::Of(_))));
        for (of, leading) in around.zip(leading) {
            for (filling, held) in of.fillings.iter_mut().zip(leading) {
                filling.elements = held.object().and_then(|id| numbers.get(&id).copied());
            }
        }
        Ok(())
    }

    /// The number of elements of an object; `None` if it is unknown.
    ///
    /// # Errors
    /// [`AnalyzerError::NoObject`], [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub(crate) fn elements_of(&self, object: ObjectId, progress: &dyn Progress) -> Result<Option<u64>> {
        let type_id = crate::file::object::object(self.recording(), self.snapshot(), object)?.type_id;
        let places = FillingFields::of(self.recording().tables()?, type_id);
        let are_own = places.are_own() && !matches!(self.recording().has_replaced_numbers(), Ok(true));
        let Some(count) = places.elements.filter(|_| are_own) else { return Ok(None) };
        let set = self.set_of(&[object]);
        let asked: Vec<(&ObjectSet, &FieldPath)> = count.paths().into_iter().map(|path| (&set, path)).collect();
        Ok(count.of(&self.paths_at_once(&asked, progress)?.concat()))
    }

    /// The objects whose filling passes a test, and those whose filling is not known.
    ///
    /// # Errors
    /// As for [`Heap::filled`].
    pub(crate) fn filling_matches(
        &self,
        measure: Measure,
        test: &NumberTest,
        progress: &dyn Progress,
    ) -> Result<Tested> {
        let mut tested = Tested::none(self);
        if measure == Measure::Elements
            && let Some(all) = self.all_fillings(self.object_count(), progress)?
        {
            for (place, &object) in all.objects().iter().enumerate() {
                let elements = all.at(place).elements;
                tested.add(ObjectId(object), elements.map(|elements| test.holds(&Number::Whole(elements.into()))));
            }
            return Ok(tested);
        }
        let filled = self.filled(
            None,
            |places| measure == Measure::Elements || places.slots.is_some() && !places.is_array(),
            progress,
        )?;
        for filled in filled {
            for (object, filling) in filled.set.iter().zip(filled.fillings) {
                let number = match measure {
                    Measure::Elements => filling.elements.map(|elements| Number::Whole(elements.into())),
                    Measure::Fill => filling.share().map(Number::Real),
                };
                let has_none = measure == Measure::Fill && filling.slots == Some(0);
                let without = has_none.then_some(false);
                tested.add(object, number.map_or(without, |number| Some(test.holds(&number))));
            }
        }
        Ok(tested)
    }
}

/// A number of slots: none if there is no array.
fn room(held: Held) -> Option<u64> {
    if held == Held::Null { Some(0) } else { number(held) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_elements_than_there_is_room_for_are_unknown() {
        let list = FillingFields {
            elements: Count::parse(".size"),
            slots: path(".elements.length"),
            hash_table: None,
            slot_bytes: None,
        };
        assert!(list.may_hold(3, Some(3), 0) && !list.may_hold(4, Some(3), 100) && list.may_hold(4, None, 0));
        let table = FillingFields { hash_table: path(".table"), ..list };
        assert!(table.may_hold(100, Some(3), 100) && !table.may_hold(u64::MAX / 3, Some(3), 100));
    }
}
