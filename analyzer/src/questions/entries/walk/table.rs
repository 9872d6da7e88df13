//! The hash tables of V8.

use barrow_format::ObjectId;

use super::super::key_predicate::KeyPredicate;
use super::super::reader::Reader;
use super::{Walk, tell};
use crate::error::Result;
use crate::questions::fields::Held;

impl Walk<'_> {
    /// Adds the entries in a hash table of V8: behind three numbers and one for each bucket there is room for twice as many
    /// entries as there are buckets. Slots without a reference hold small numbers, `true`, `false`, `null`, `undefined`, or
    /// nothing. Texts and fractions always are objects, so no such key is missed.
    pub(super) fn contribute_table(
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
        let is_object = self.key.is_some_and(KeyPredicate::is_object);
        let placed = slots.iter().filter_map(|&(slot, held)| Some((slot.checked_sub(3 + buckets)?, held)));
        let placed: Vec<(u64, Held)> = placed.collect();
        let mut entries = 0;
        for entry in placed.chunk_by(|(one, _), (other, _)| one / of_entry == other / of_entry) {
            entries += 1;
            let [key, value] = [0, 1].map(|at| {
                entry.iter().find(|(slot, _)| slot % of_entry == at).map_or(Held::Unknown, |&(_, held)| held)
            });
            match of_entry {
                3 if is_object && key == Held::Unknown => {}
                3 => self.waiting.push(tell(key, value, only_keys)),
                _ => self.waiting.push(tell(key, key, true)),
            }
        }
        if !is_object && (entries < 2 * buckets || placed.len() as u64 != entries * (of_entry - 1)) {
            self.found.are_known = false;
        }
        Ok(())
    }
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
