//! The fill of all objects that have one, in columns that the index file keeps.
//!
//! ```text
//!   objects    ascending
//!   elements   of each: 0 is unknown, n + 1 is n
//!   slots      the same
//! ```

use barrow_format::ObjectId;

use super::{Heap, column};
use crate::columns::index_file::ColumnValues;
use crate::columns::memory::Memory;
use crate::columns::values::Values;
use crate::error::Result;
use crate::progress::Progress;
use crate::questions::fields::Filling;

/// The fill of all objects that have one, in their order: 12 bytes for each.
#[derive(Debug)]
pub(crate) struct KnownFillings {
    objects: Values<u32>,
    elements: Values<u32>,
    slots: Values<u32>,
}

impl KnownFillings {
    /// The fill of these objects, which ascend. `None` if a number has no room in 32 bits: no array of a real program has as
    /// many elements.
    ///
    /// # Errors
    /// Those of [`Memory`].
    pub(crate) fn of(sorted: &[(ObjectId, Filling)], memory: &Memory) -> Result<Option<Self>> {
        let mut columns = [memory.column(sorted.len())?, memory.column(sorted.len())?, memory.column(sorted.len())?];
        for (at, (object, Filling { elements, slots })) in sorted.iter().enumerate() {
            columns[0][at] = object.0;
            for (column, number) in columns[1..].iter_mut().zip([elements, slots]) {
                let stored = number.map_or(Some(0), |number| u32::try_from(number).ok()?.checked_add(1));
                let Some(stored) = stored else { return Ok(None) };
                column[at] = stored;
            }
        }
        let [objects, elements, slots] = columns.map(Values::from);
        Ok(Some(KnownFillings { objects, elements, slots }))
    }

    /// The objects, ascending.
    pub(crate) fn objects(&self) -> &[u32] {
        &self.objects
    }

    /// The fill of the object in this place.
    pub(crate) fn at(&self, place: usize) -> Filling {
        let number = |column: &[u32]| column[place].checked_sub(1).map(u64::from);
        Filling { elements: number(&self.elements), slots: number(&self.slots) }
    }
}

impl Heap {
    /// The fill of all objects, if the index file has it. An exclusion changes nothing in it: fields are read as they are.
    pub(crate) fn kept_fillings(&self) -> Option<KnownFillings> {
        let index = self.answers.as_ref()?;
        let column = |column| index.column::<u32>(self.snapshot, column, |_, _| true);
        let objects = column(column::FILLED)?;
        let are_objects = objects.is_sorted_by(|one, next| one < next)
            && objects.last().is_none_or(|&last| u64::from(last) < self.objects);
        let (elements, slots) = (column(column::ELEMENTS)?, column(column::SLOTS)?);
        let fit = [elements.len(), slots.len()] == [objects.len(); 2];
        (are_objects && fit).then_some(KnownFillings { objects, elements, slots })
    }

    /// Keeps the fill of all objects.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn keep_fillings(&self, known: &KnownFillings, progress: &dyn Progress) -> Result<()> {
        let Some(index) = &self.answers else { return Ok(()) };
        let columns = [
            (column::FILLED, ColumnValues::of(&known.objects)),
            (column::ELEMENTS, ColumnValues::of(&known.elements)),
            (column::SLOTS, ColumnValues::of(&known.slots)),
        ];
        self.keep_in(index, &columns, progress)
    }
}
