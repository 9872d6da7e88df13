//! The fill of all objects that have one, as the index file keeps it.
//!
//! ```text
//!   object, as the difference to the one before · elements · slots      one varint each; 0 is unknown, n + 1 is n
//! ```

use barrow_format::ObjectId;
use barrow_format::varint::{decode_u64, put};

use super::{Heap, KnownFilling, column};
use crate::columns::index_file::ColumnValues;
use crate::error::Result;
use crate::progress::Progress;

/// The numbers of each object.
const WIDTH: usize = 3;

impl Heap {
    /// The fill of all objects, in their order, if the index file has it.
    pub(crate) fn kept_fillings(&self) -> Option<Vec<KnownFilling>> {
        let bytes = self.answers.as_ref()?.column::<u8>(self.snapshot, column::FILLINGS, |_, _| true)?;
        // The last byte of a varint has no mark.
        let count = bytes.iter().filter(|&&byte| byte < 0x80).count();
        let mut numbers = Vec::with_capacity(count);
        decode_u64("fill of objects", &bytes, count, &mut numbers).ok()?;
        let rows = numbers.as_chunks::<WIDTH>();
        let mut next = 0u64;
        let known = rows.0.iter().map(|&[difference, elements, slots]| {
            let object = next.checked_add(difference).filter(|&object| object < self.objects)?;
            next = object + 1;
            Some((ObjectId(u32::try_from(object).ok()?), elements.checked_sub(1), slots.checked_sub(1)))
        });
        known.collect::<Option<Vec<_>>>().filter(|_| rows.1.is_empty())
    }

    /// Keeps the fill of all objects.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn keep_fillings(&self, all: &[KnownFilling], progress: &dyn Progress) -> Result<()> {
        let Some(index) = &self.answers else { return Ok(()) };
        let mut bytes = Vec::with_capacity(all.len() * (WIDTH + 1));
        let mut next = 0;
        for &(object, elements, slots) in all {
            put(&mut bytes, u64::from(object.0 - next));
            for number in [elements, slots] {
                // The largest number there is means nothing: no object has as many elements.
                put(&mut bytes, number.map_or(0, |number| number.wrapping_add(1)));
            }
            next = object.0 + 1;
        }
        self.keep_in(index, &[(column::FILLINGS, ColumnValues::of(&bytes))], progress)
    }
}
