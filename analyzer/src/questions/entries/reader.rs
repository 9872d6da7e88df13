//! Reads the objects that hold entries, many at a time.

use barrow_format::ObjectId;
use barrow_format::rows::{Label, Value};
use foldhash::HashMap;

use super::forms::Forms;
use super::parts::Contribution;
use crate::error::Result;
use crate::file::object::{Reference, objects, outgoing};
use crate::file::references::references_of;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::{Progress, check};
use crate::questions::fields::{FieldPath, Held};

/// An object that was read: its form, and where in [`Reader::held`] its fields are.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadObject {
    pub(super) form: Option<u32>,
    at: usize,
}

/// The objects and arrays that were read so far.
pub(super) struct Reader<'h> {
    pub(super) heap: &'h Heap,
    pub(super) forms: &'h Forms,
    pub(super) progress: &'h dyn Progress,
    read: HashMap<ObjectId, ReadObject>,
    held: Vec<Held>,
    arrays: HashMap<ObjectId, Vec<Reference>>,
    /// The shallow sizes of hash tables.
    bytes: HashMap<ObjectId, u64>,
    /// The blocks that may be read before all objects of a form are.
    blocks_left: usize,
    blocks: usize,
    /// Numbers are original, not replaced by redaction.
    has_numbers: bool,
    /// The objects and slots that walks may still pass.
    pub(super) steps_left: u64,
}

impl<'h> Reader<'h> {
    pub(super) fn new(heap: &'h Heap, forms: &'h Forms, progress: &'h dyn Progress) -> Result<Self> {
        let blocks = heap.recording().commit(heap.snapshot())?.blocks.len();
        Ok(Reader {
            heap,
            forms,
            progress,
            read: HashMap::default(),
            held: Vec::new(),
            arrays: HashMap::default(),
            bytes: HashMap::default(),
            blocks_left: blocks + 8,
            blocks,
            has_numbers: !heap.recording().has_replaced_numbers()?,
            steps_left: u64::MAX,
        })
    }

    /// The number of objects that were read.
    pub(super) fn len(&self) -> usize {
        self.read.len()
    }

    /// An object, if it was read.
    pub(super) fn get(&self, object: ObjectId) -> Option<ReadObject> {
        self.read.get(&object).copied()
    }

    /// The parts of an object, each with the values of its fields.
    pub(super) fn parts(&self, object: ReadObject) -> impl Iterator<Item = (&'h Contribution, &[Held])> {
        let (forms, mut at) = (self.forms, object.at);
        object.form.map_or(&[][..], |form| forms.parts(form)).iter().map(move |part| {
            let start = at;
            at += part.paths().len();
            (part, &self.held[start..at])
        })
    }

    /// Reads objects with the fields of their parts.
    pub(super) fn read(&mut self, mut ids: Vec<ObjectId>) -> Result<()> {
        ids.retain(|id| !self.read.contains_key(id));
        ids.sort_unstable();
        ids.dedup();
        let details = objects(self.heap.recording(), self.heap.snapshot(), &ids)?;
        let mut by_form: Vec<Vec<ObjectId>> = vec![Vec::new(); self.forms.len()];
        for details in details {
            match self.forms.of(details.type_id) {
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
                true => heap.objects_of_types(None, |id| forms.of(id) == Some(form), progress)?,
                false => heap.set_of(&ids),
            };
            sets.push((form, set));
        }
        self.read_fields(&sets)
    }

    /// Reads the fields of the objects of each form.
    fn read_fields(&mut self, sets: &[(u32, ObjectSet)]) -> Result<()> {
        let (heap, forms, progress) = (self.heap, self.forms, self.progress);
        let asked = sets.iter().flat_map(|(form, set)| forms.paths(*form).map(move |path| (set, path)));
        let asked: Vec<(&ObjectSet, &FieldPath)> = asked.collect();
        let mut columns = heap.paths_at_once(&asked, progress)?.into_iter();
        for (form, set) in sets {
            let mut own: Vec<Vec<Held>> = columns.by_ref().take(forms.paths(*form).count()).collect();
            let mut at = 0;
            for part in forms.parts(*form) {
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
        Ok(())
    }

    /// Reads the arrays with the keys and values of objects, which were read, all at once.
    pub(super) fn read_arrays_of(&mut self, ids: &[ObjectId]) -> Result<()> {
        let (mut arrays, mut tables) = (Vec::new(), Vec::new());
        for (&id, read) in ids.iter().filter_map(|id| Some((id, self.get(*id)?))) {
            for (part, held) in self.parts(read) {
                match part {
                    Contribution::OfEach(_) | Contribution::Turns(_) | Contribution::Parallel { .. } => {
                        arrays.extend(held.iter().filter_map(|held| held.object()));
                    }
                    Contribution::OwnTurns(_) => arrays.push(id),
                    Contribution::Buckets { .. } => tables.extend(held.iter().filter_map(|held| held.object())),
                    _ => {}
                }
            }
        }
        let details = objects(self.heap.recording(), self.heap.snapshot(), &tables)?;
        self.bytes.extend(details.iter().map(|table| (table.id, table.shallow_bytes)));
        arrays.extend(tables);
        arrays.retain(|array| !self.arrays.contains_key(array));
        arrays.sort_unstable();
        arrays.dedup();
        let found = references_of(self.heap.recording(), self.heap.snapshot(), &arrays)?;
        self.arrays.extend(arrays.into_iter().zip(found));
        Ok(())
    }

    /// The references of an array.
    pub(super) fn array(&mut self, array: ObjectId) -> Result<&[Reference]> {
        check(self.progress)?;
        if !self.arrays.contains_key(&array) {
            let found = outgoing(self.heap.recording(), self.heap.snapshot(), array)?;
            self.arrays.insert(array, found);
        }
        let found = &self.arrays[&array];
        self.steps_left = self.steps_left.saturating_sub(found.len() as u64);
        Ok(found)
    }

    /// The shallow size of an array.
    pub(super) fn bytes_of(&self, array: ObjectId) -> Result<Option<u64>> {
        if let Some(&bytes) = self.bytes.get(&array) {
            return Ok(Some(bytes));
        }
        let details = objects(self.heap.recording(), self.heap.snapshot(), &[array])?;
        Ok(details.first().map(|table| table.shallow_bytes))
    }

    pub(super) fn number(&self, value: Value) -> Option<u64> {
        match value {
            _ if !self.has_numbers => None,
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// A number as its bits.
    pub(super) fn bits(&self, value: Value) -> Option<u64> {
        match value {
            _ if !self.has_numbers => None,
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) => Some(number.cast_unsigned()),
            _ => None,
        }
    }
}

/// The contents of the slots of an array, in their order, without those that hold null.
pub(super) fn slots(references: &[Reference]) -> Vec<(u64, Held)> {
    let slots = references.iter().filter_map(|reference| match reference.label {
        Label::Index(index) => Some((index, Held::Object(reference.target))),
        _ => None,
    });
    let mut slots: Vec<(u64, Held)> = slots.collect();
    slots.sort_by_key(|&(slot, _)| slot);
    slots
}
