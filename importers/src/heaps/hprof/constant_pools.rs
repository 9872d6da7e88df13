//! The constant pools of a dump that does not mark them as roots, as dumps of `jhsdb jmap`.
//!
//! For each class, HotSpot keeps the objects to which its constant pool refers, such as string literals, in an
//! `Object[]` that only the class refers to, from outside of the heap:
//!
//! ```text
//!   class Jobs (metaspace) ──▶ Object[]   "started"   null   MethodType   CallSite
//! ```
//!
//! In the dump nothing refers to such an array, so it is recognised by that and by its contents. Garbage may look
//! alike.
//!
//! If classes come from an archive, as those of the JDK usually do (class data sharing), their pools and some objects
//! of the JDK are in another `Object[]`, to which only the JVM refers:
//!
//! ```text
//!   archive (metaspace) ──▶ Object[]   Object[] "started" …   Object[] …   ArchivedModuleGraph   Short[]
//! ```

use std::collections::HashSet;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::context::Context;
use crate::error::ImportError;

use super::classes::Classes;
use super::outline::{Chunk, Outline, for_each_object};
use super::records::{FieldType, SubRecord, id};

/// Classes whose instances, and those of their subclasses, constant pools refer to.
const CONSTANTS: [&str; 4] =
    ["java.lang.String", "java.lang.invoke.MethodType", "java.lang.invoke.MethodHandle", "java.lang.invoke.CallSite"];

/// Class files have constants up to this number (JVMS 4.1).
const MOST_CONSTANTS: usize = u16::MAX as usize;

/// Minimum number of objects in the array of an archive: a JVM that prints a line has 198.
const LEAST_ARCHIVED: usize = 32;

/// Addresses of arrays.
type Arrays = HashSet<u64, RandomState>;

/// Returns the addresses of the arrays that look like constant pools and to which nothing refers, in ascending order.
/// Makes two passes over the dump, on all threads of the current pool.
pub(super) fn find<const ID: usize>(
    outline: &Outline<'_>,
    classes: &Classes<'_, '_, ID>,
    context: &Context<'_>,
) -> Result<Vec<u64>, ImportError> {
    let Some(array_class) = classes.find("java.lang.Object[]") else { return Ok(Vec::new()) };
    let search = Search {
        outline,
        classes,
        array_class: outline.classes[array_class].address,
        is_constant: (0..outline.classes.len()).map(|number| is_constant(classes, number)).collect(),
    };
    let alike = search.in_chunks(context, |chunk, found| search.add_alike(chunk, found))?;
    let of_statics = outline.classes.iter().flat_map(|class| class.statics::<ID>());
    let of_statics = of_statics.filter(|(_, kind, _)| *kind == FieldType::Reference);
    let mut referred_to: Arrays = of_statics.map(|(_, _, value)| id::<ID>(value)).collect();
    referred_to.extend(search.in_chunks(context, |chunk, found| search.add_referred_to(chunk, &alike, found))?);
    let mut pools: Vec<u64> = alike.difference(&referred_to).copied().collect();
    pools.sort_unstable();
    Ok(pools)
}

fn is_constant<const ID: usize>(classes: &Classes<'_, '_, ID>, number: usize) -> bool {
    classes.chain(number).any(|number| CONSTANTS.contains(&classes.name(number)))
}

struct Search<'s, 'o, 'a, const ID: usize> {
    outline: &'s Outline<'a>,
    classes: &'s Classes<'o, 'a, ID>,
    /// The class of `Object[]`.
    array_class: u64,
    /// By number of the class.
    is_constant: Vec<bool>,
}

impl<const ID: usize> Search<'_, '_, '_, ID> {
    fn in_chunks(
        &self,
        context: &Context<'_>,
        add: impl Fn(&Chunk<'_>, &mut Arrays) -> Result<(), ImportError> + Sync,
    ) -> Result<Arrays, ImportError> {
        context.progress.begin("looking for constant pools", self.outline.dump.len() as u64, "bytes");
        let of_chunks = self.outline.chunks.par_iter().map(|chunk| {
            context.check_cancelled()?;
            let mut found = Arrays::default();
            add(chunk, &mut found)?;
            context.progress.advance(chunk.bytes.len() as u64);
            Ok(found)
        });
        of_chunks.try_reduce(Arrays::default, |mut one, other| {
            one.extend(other);
            Ok(one)
        })
    }

    /// Adds the arrays of a chunk that hold nothing but constants, and those that mostly hold such arrays.
    fn add_alike(&self, chunk: &Chunk<'_>, found: &mut Arrays) -> Result<(), ImportError> {
        for_each_object::<ID>(chunk, |address, part| {
            if self.is_pool(&part) || self.is_archive(&part) {
                found.insert(address);
            }
        });
        Ok(())
    }

    /// The addresses to which an `Object[]` refers; `None` for other objects and for arrays longer than constant
    /// pools.
    fn elements<'p>(&self, part: &SubRecord<'p>) -> Option<impl Iterator<Item = u64> + use<'p, ID>> {
        let SubRecord::ObjectArray { class, elements, .. } = *part else { return None };
        let is_one = class == self.array_class && elements.len() / ID <= MOST_CONSTANTS;
        is_one.then(|| elements.chunks_exact(ID).map(id::<ID>).filter(|&element| element != 0))
    }

    fn is_pool(&self, part: &SubRecord<'_>) -> bool {
        self.elements(part).is_some_and(|mut elements| elements.all(|element| self.holds_constant(element)))
    }

    fn is_archive(&self, part: &SubRecord<'_>) -> bool {
        let Some(elements) = self.elements(part) else { return false };
        let (mut all, mut pools) = (0, 0);
        for element in elements {
            // Pools of classes that were not loaded are not in the dump.
            let element = self.outline.addresses.number(element).and_then(|number| self.outline.object::<ID>(number));
            let Some(element) = element else { continue };
            (all, pools) = (all + 1, pools + usize::from(self.is_pool(&element)));
            // The objects of the JDK come first or last.
            if all >= 4 * LEAST_ARCHIVED && pools * 4 < all {
                return false;
            }
        }
        all >= LEAST_ARCHIVED && pools * 2 >= all
    }

    fn holds_constant(&self, address: u64) -> bool {
        let part = self.outline.addresses.number(address).and_then(|number| self.outline.object::<ID>(number));
        let Some(SubRecord::Instance { class, .. }) = part else { return false };
        self.classes.number(class).is_some_and(|number| self.is_constant[number])
    }

    /// Adds the arrays of `alike` to which an object of a chunk refers.
    fn add_referred_to(&self, chunk: &Chunk<'_>, alike: &Arrays, found: &mut Arrays) -> Result<(), ImportError> {
        let mut result = Ok(());
        for_each_object::<ID>(chunk, |_, part| match part {
            SubRecord::Instance { class, fields, .. } => {
                let Some(number) = self.classes.number(class) else { return };
                match self.classes.instances(number, fields.len()) {
                    Ok(instances) => {
                        let places = instances.references.iter().map(|field| field.offset);
                        let addresses = places.filter_map(|at| fields.get(at..at + ID)).map(id::<ID>);
                        found.extend(addresses.filter(|address| alike.contains(address)));
                    }
                    Err(error) => result = Err(error),
                }
            }
            SubRecord::ObjectArray { elements, .. } => {
                let addresses = elements.chunks_exact(ID).map(id::<ID>);
                found.extend(addresses.filter(|address| alike.contains(address)));
            }
            _ => {}
        });
        result
    }
}
