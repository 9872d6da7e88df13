//! Fingerprints of leak suspects, which identify the same leak in every run of a program.
//!
//! ```text
//!   FNV-1a, 64 bits, of       "object" or "objects"         whether the suspect is one object or several of a type
//!                             the root category             if a single category holds it
//!                             kind, type      ┐ of each object that dominates the accumulation point, from the
//!                             kind, type …    ┘ roots down to it; consecutive repetitions count once. A class or a
//!                                               module has its own name instead of its type's
//!                             kind, type                    of the several objects, if there are several
//! ```
//!
//! The dominators of an object do not depend on ids, addresses or the order of references; a shortest path does if
//! there are several. Numbers in type names are replaced, because runtimes number generated classes (`$Proxy12`,
//! `Main$$Lambda/0x7f0010`). So a fingerprint does not depend on ids, addresses, sizes or the lengths of lists. It
//! changes if the program, the way the objects are held, or the name of a type changes.
//!
//! Reference: G. Fowler, L. C. Noll, K.-P. Vo, FNV hash (RFC 9923).

use std::fmt;

use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, StringId, TypeId};

use crate::error::{AnalyzerError, Result};
use crate::file::object::objects;
use crate::file::tables::Tables;
use crate::graph::dominators::Holder;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::leaks::Suspect;

/// The identity of a leak suspect in every run of a program, written as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Heap {
    /// The fingerprint of a suspect of this heap.
    ///
    /// # Errors
    /// As for [`Heap::leak_suspects`].
    pub fn fingerprint(&self, suspect: &Suspect, progress: &dyn Progress) -> Result<Fingerprint> {
        let tables = self.recording().tables()?;
        let mut hash = Hash::default();
        hash.add(if suspect.objects == 1 { "object" } else { "objects" });
        let mut path: Vec<ObjectId> = Vec::new();
        if let Some(point) = suspect.accumulation {
            path.push(point);
            let holders = self.ask_dominators(progress, |dominators| {
                Ok::<Vec<Holder>, AnalyzerError>(dominators.holders(point).collect())
            })?;
            for holder in holders {
                match holder {
                    Holder::Object(object) => path.push(object),
                    Holder::Roots(category) => hash.add(tables.string(category)),
                    Holder::Everything => {}
                }
            }
        }
        path.reverse();
        for (type_id, class) in self.parts(&path, suspect, tables, progress)? {
            hash.add_type(tables, type_id, class);
        }
        Ok(Fingerprint(hash.0))
    }

    /// The types of the objects of a path, each with the name of the class that the object represents. Consecutive
    /// repetitions are removed.
    fn parts(
        &self,
        path: &[ObjectId],
        suspect: &Suspect,
        tables: &Tables,
        progress: &dyn Progress,
    ) -> Result<Vec<NamedType>> {
        let types = self.types_of(path, progress)?;
        let mut parts: Vec<NamedType> = types.iter().map(|&type_id| (type_id, None)).collect();
        let is_class = types.iter().map(|&type_id| tables.kind_role(tables.type_kind(type_id)) == KindRole::Type);
        let classes = path.iter().zip(&mut parts).zip(is_class).filter(|(_, is_class)| *is_class);
        let (classes, of_classes): (Vec<ObjectId>, Vec<&mut NamedType>) =
            classes.map(|((&object, part), _)| (object, part)).unzip();
        for (part, object) in of_classes.into_iter().zip(objects(self.recording(), self.snapshot(), &classes)?) {
            part.1 = object.name;
        }
        parts.extend((suspect.objects > 1).then_some((suspect.type_id, None)));
        parts.dedup();
        Ok(parts)
    }
}

/// A type, and the name of the class that an object of it represents.
type NamedType = (TypeId, Option<StringId>);

/// FNV-1a, which never changes, unlike the hashes of the standard library.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    /// Adds a text and a terminator byte that no text contains.
    fn add(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
        self.byte(0xff);
    }

    fn add_type(&mut self, tables: &Tables, type_id: TypeId, class: Option<StringId>) {
        self.add(tables.kind_name(tables.type_kind(type_id)));
        let name = class.map_or_else(|| tables.type_name(type_id), |class| tables.string(class));
        self.add(&without_numbers(name));
    }
}

/// A name with every number replaced by `#`. A number that starts with `0x` is hexadecimal.
fn without_numbers(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if !c.is_ascii_digit() {
            text.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let hexadecimal = rest.strip_prefix("0x");
        rest = match hexadecimal {
            Some(digits) => digits.trim_start_matches(|c: char| c.is_ascii_hexdigit()),
            None => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        };
        text.push('#');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_left_out() {
        for (name, expected) in [
            ("Cache", "Cache"),
            ("$Proxy12", "$Proxy#"),
            ("Main$$Lambda/0x00007f0010ab", "Main$$Lambda/#"),
            ("é3a4", "é#a#"),
            ("0x", "#"),
        ] {
            assert_eq!(without_numbers(name), expected);
        }
    }

    #[test]
    fn the_hash_is_that_of_the_reference() {
        let mut hash = Hash::default();
        "foobar".bytes().for_each(|byte| hash.byte(byte));
        assert_eq!(hash.0, 0x85944171f73967e8);
        assert_eq!(Fingerprint(0x1a).to_string(), "000000000000001a");
    }
}
