//! Objects counted by type, without numbers and references.

use super::{FastMap, add_bytes};
use crate::counted::TypeCount;
use crate::error::{Damage, Stop};
use crate::tally::{Tally, by_type};
use barrow_writer::TypeId;

/// Tallies by type. `K` describes a type as its lines do; the types are declared after all lines were read.
#[derive(Debug)]
pub(crate) struct Tallies<K> {
    /// By the key of the type.
    types: FastMap<Box<[u8]>, (K, Tally)>,
    /// All sizes, summed.
    bytes: u64,
}

impl<K> Default for Tallies<K> {
    fn default() -> Self {
        Tallies { types: FastMap::default(), bytes: 0 }
    }
}

impl<K> Tallies<K> {
    /// Adds an object, whose line is at `offset`. `describe` describes its type; it is called for the first object
    /// with this `key`.
    ///
    /// # Errors
    /// If the sizes of all objects exceed the limit.
    pub(crate) fn add(
        &mut self,
        key: &[u8],
        one: Tally,
        offset: u64,
        describe: impl FnOnce() -> K,
    ) -> Result<(), Damage> {
        self.bytes = add_bytes(self.bytes, one.heap_bytes, offset)?;
        self.bytes = add_bytes(self.bytes, one.unmanaged_bytes, offset)?;
        match self.types.get_mut(key) {
            Some((_, tally)) => tally.add(one),
            None => {
                self.types.insert(key.into(), (describe(), one));
            }
        }
        Ok(())
    }

    /// Adds the tallies of another thread.
    ///
    /// # Errors
    /// As for [`Tallies::add`].
    pub(crate) fn merge(&mut self, other: Tallies<K>) -> Result<(), Damage> {
        self.bytes = add_bytes(self.bytes, other.bytes, 0)?;
        for (key, (type_, tally)) in other.types {
            self.types.entry(key).or_insert_with(|| (type_, Tally::default())).1.add(tally);
        }
        Ok(())
    }

    /// Declares the types. Different keys can be of one type.
    pub(crate) fn declare(self, declare: impl Fn(&K) -> Result<TypeId, Stop>) -> Result<Vec<TypeCount>, Stop> {
        let mut keyed: Vec<_> = self.types.into_iter().collect();
        // The same numbers of types for any number of threads.
        keyed.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let declared = keyed.iter().map(|(_, (type_, tally))| Ok((declare(type_)?, *tally)));
        Ok(by_type(declared.collect::<Result<Vec<_>, Stop>>()?))
    }
}
