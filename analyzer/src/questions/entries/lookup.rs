//! What many maps hold under one key, and lists at one index.
//!
//! Each map is walked up to the second entry with the key. The walks take turns: each goes on until it needs an object that
//! was not read, and then the next objects of all are read at once.

use barrow_expressions::MapKey;
use barrow_format::rows::Value;
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use super::chains;
use super::forms::Forms;
use super::key_predicate::{KeyPredicate, index_of};
use super::named::has_named_keys;
use super::parts::Contribution;
use super::reader::Reader;
use super::starts::{Start, Starts};
use super::walk::Walk;
use super::{LEAST_AT_ONCE, MOST_AT_ONCE};
use crate::error::{AnalyzerError, Result};
use crate::file::object::objects;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::{Filling, FillingFields, Held, are_texts};

/// Maps that are walked together: what is read of each takes 100 bytes for each entry until all of them have ended.
pub(super) const MAPS_AT_ONCE: usize = 1 << 14;
/// The maximum number of objects that stay in memory for the next maps, of about 100 bytes. This is a judgement.
const MOST_KEPT: usize = 1 << 20;
/// The steps of all walks together, for each object of the heap: each object belongs to few maps, unless many share a long
/// chain. Further maps are unknown.
pub(super) const STEPS_PER_OBJECT: u64 = 16;
pub(super) const LEAST_STEPS: u64 = 1 << 22;

impl Heap {
    /// What each object of the set, which is a map or a list, holds under a key or at an index, in their order: missing if it
    /// has no such key or is shorter, unknown if not all of its keys are known or several are equal. A text goes before
    /// what only reads like it. An object whose type does not say where its entries are is unknown, unless it is a text, a
    /// number or null. A map that finds its keys by an order of the
    /// program is unknown where it seems to lack one.
    ///
    /// Time: that of [`Heap::entries`] of one of them whose nodes are the nodes of all, and of [`Heap::lines`] of the keys that
    /// have lines. Memory: 100 bytes for each entry of 16,384 maps and of a million objects before, and 20 bytes for each object
    /// that only leads to another one.
    ///
    /// # Errors
    /// [`AnalyzerError::NoKeys`], [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub(crate) fn values_under(&self, set: &ObjectSet, key: &MapKey, progress: &dyn Progress) -> Result<Vec<Held>> {
        let forms = self.forms_with_keys(key)?;
        if !self.recording().has_contents()? {
            return Ok(vec![Held::Unknown; set.len() as usize]);
        }
        let maps = self.objects_of_types(Some(set), |id| forms.of(id).is_some(), progress)?;
        let has_keys = |id| forms.of(id).is_some_and(|form| forms.parts(form).iter().any(Contribution::leads_to_keys));
        let keyed = self.objects_of_types(Some(&maps), has_keys, progress)?;
        let is_text = matches!(key, MapKey::Text(_));
        let mut others = set.clone();
        others.difference_with(&maps);
        let tables = self.recording().tables()?;
        let named = self.objects_of_types(Some(&others), |id| has_named_keys(tables, id), progress)?;
        let of_named = self.values_by_name(&named, key, progress)?;
        others.difference_with(&named);
        let of_others = if others.is_empty() { Vec::new() } else { self.stand_for(&others, progress)? };
        // Functions have a name, and are no texts.
        let texts = self.objects_of_types(Some(&others), |id| are_texts(tables, id), progress)?;
        // Where objects have their properties as keys, so have collections.
        let is_property = is_text && (0..tables.type_count() as u32).any(|id| has_named_keys(tables, TypeId(id)));
        let key = KeyPredicate::new(self, key, progress)?;
        let starts = Starts::find(self, &forms, &maps, key.index().is_some(), progress)?;
        let at_starts = look_up_all(self, &forms, starts.walks(&maps), &key, progress)?;
        let of_map = |map| match starts.of(map) {
            (Start::Unknown, _) => Held::Unknown,
            (Start::NoKey, false) => Held::Missing,
            (Start::NoKey, true) => Held::Unknown,
            (Start::At(object), is_ordered) => match at_starts.get(&object).copied().unwrap_or(Held::Unknown) {
                Held::Missing if is_ordered => Held::Unknown,
                held => held,
            },
        };
        tables.check_strings()?;
        let (mut of_named, mut of_others) = (of_named.into_iter(), of_others.into_iter());
        let values = set.iter().map(|object| match object {
            map if maps.contains(map) => match of_map(map) {
                Held::Missing if is_property && !keyed.contains(map) => Held::Unknown,
                held => held,
            },
            map if named.contains(map) => of_named.next().unwrap_or(Held::Unknown),
            _ => match of_others.next() {
                Some(Held::Value(Value::Text(_))) if !texts.contains(object) => Held::Unknown,
                Some(Held::Value(_)) => Held::Missing,
                Some(null @ (Held::Null | Held::Undefined)) => null,
                _ => Held::Unknown,
            },
        });
        Ok(values.collect())
    }

    /// The objects whose types say where their entries are.
    pub(crate) fn with_entries(&self, progress: &dyn Progress) -> Result<ObjectSet> {
        let forms = Forms::find(self)?;
        self.objects_of_types(None, |id| forms.of(id).is_some(), progress)
    }

    /// The objects whose types say where what they hold under a key, or at an index, is.
    ///
    /// # Errors
    /// As for [`Heap::values_under`].
    pub(crate) fn maps(&self, key: &MapKey, progress: &dyn Progress) -> Result<ObjectSet> {
        let (forms, tables) = (self.forms_with_keys(key)?, self.recording().tables()?);
        let is_index = index_of(key).is_some();
        let leads_to_it = |part: &Contribution| part.leads_to_keys() || is_index && part.leads_to_indices();
        let is_map = |id| {
            forms.of(id).is_some_and(|form| forms.parts(form).iter().any(leads_to_it)) || has_named_keys(tables, id)
        };
        self.objects_of_types(None, is_map, progress)
    }

    /// The ways in which types say where entries are.
    ///
    /// # Errors
    /// [`AnalyzerError::NoKeys`] if none has keys or, if the key may be an index, elements; [`AnalyzerError::Section`].
    fn forms_with_keys(&self, key: &MapKey) -> Result<Forms> {
        let (forms, tables) = (Forms::find(self)?, self.recording().tables()?);
        let mut types = (0..tables.type_count() as u32).map(TypeId);
        let has_lists = index_of(key).is_some() && forms.len() > 0;
        match has_lists || forms.have_keys() || types.any(|id| has_named_keys(tables, id)) {
            true => Ok(forms),
            false => Err(AnalyzerError::NoKeys),
        }
    }
}

/// The value of each of these objects, in the order of their numbers, under a key.
fn look_up_all(
    heap: &Heap,
    forms: &Forms,
    objects: Vec<ObjectId>,
    key: &KeyPredicate<'_>,
    progress: &dyn Progress,
) -> Result<HashMap<ObjectId, Held>> {
    let mut found = HashMap::with_capacity_and_hasher(objects.len(), Default::default());
    let mut steps_left = LEAST_STEPS.max(heap.object_count().saturating_mul(STEPS_PER_OBJECT));
    let mut reader = Reader::new(heap, forms, progress)?;
    for part in objects.chunks(MAPS_AT_ONCE) {
        if reader.len() > MOST_KEPT {
            reader = Reader::new(heap, forms, progress)?;
        }
        reader.steps_left = steps_left;
        found.extend(look_up(&mut reader, part, key)?);
        steps_left = reader.steps_left;
    }
    Ok(found)
}

/// The value of each of these objects under a key.
fn look_up(reader: &mut Reader<'_>, objects: &[ObjectId], key: &KeyPredicate<'_>) -> Result<HashMap<ObjectId, Held>> {
    let mut objects = objects.to_vec();
    let of_chains = chains::look_up(reader, &mut objects, key)?;
    let mut ended: Vec<(ObjectId, Walk<'_>)> = Vec::new();
    let mut walks: Vec<(ObjectId, Walk<'_>)> = objects.iter().map(|&map| (map, Walk::to_key(map, key))).collect();
    // Most keys are found soon, so a walk that goes on reads ever more at once.
    let mut most = LEAST_AT_ONCE;
    loop {
        let next: Vec<ObjectId> = walks.iter().flat_map(|(_, walk)| walk.next_objects(reader, most)).collect();
        reader.read(next)?;
        let next: Vec<ObjectId> = walks.iter().flat_map(|(_, walk)| walk.next_visits(most)).collect();
        reader.read_arrays_of(&next)?;
        let mut going = Vec::new();
        for (map, mut walk) in walks {
            match walk.goes_on(reader)? {
                true => going.push((map, walk)),
                false => ended.push((map, walk)),
            }
        }
        walks = going;
        if walks.is_empty() {
            break;
        }
        most = (most * 2).min(LEAST_AT_ONCE.max(MOST_AT_ONCE / walks.len()));
    }
    let read = key.read(reader.heap, ended.iter().flat_map(|(_, walk)| walk.unread_keys()), reader.progress)?;
    let mut found: HashMap<ObjectId, Held> = ended.iter().map(|(map, walk)| (*map, walk.value(&read))).collect();
    if let Some(index) = key.index() {
        beyond_slots(reader, &ended, index, &mut found)?;
    }
    found.extend(of_chains);
    Ok(found)
}

/// Tells of lists whose slots with objects do not have the index whether they are null there, or end before. It is not known
/// of a list without a number of elements; but a type of own elements that has no such numbers at all holds no more than
/// its references.
fn beyond_slots(
    reader: &Reader<'_>,
    ended: &[(ObjectId, Walk<'_>)],
    index: u64,
    found: &mut HashMap<ObjectId, Held>,
) -> Result<()> {
    let mut searched: Vec<(ObjectId, ObjectId)> =
        ended.iter().filter_map(|(map, walk)| Some((walk.searched_list()?, *map))).collect();
    searched.retain(|(_, map)| found.get(map) == Some(&Held::Missing));
    searched.sort_unstable();
    let mut lists: Vec<ObjectId> = searched.iter().map(|&(list, _)| list).collect();
    lists.dedup();
    let fillings = match reader.heap.fillings(&reader.heap.set_of(&lists), reader.progress) {
        Err(AnalyzerError::NoElements { .. } | AnalyzerError::ReplacedNumbers) => vec![Filling::default(); lists.len()],
        fillings => fillings?,
    };
    let tables = reader.heap.recording().tables()?;
    let details = objects(reader.heap.recording(), reader.heap.snapshot(), &lists)?;
    let is_own = |list: ObjectId| {
        reader.get(list).is_some_and(|read| reader.parts(read).all(|(part, _)| *part == Contribution::OwnElements))
    };
    for (list, map) in searched {
        let Ok(at) = lists.binary_search(&list) else { continue };
        let held = match fillings[at].elements {
            Some(elements) if index < elements => Held::Null,
            Some(_) => Held::Missing,
            None if is_own(list) && !FillingFields::are_known(tables, details[at].type_id) => Held::Missing,
            None => Held::Unknown,
        };
        found.insert(map, held);
    }
    Ok(())
}
