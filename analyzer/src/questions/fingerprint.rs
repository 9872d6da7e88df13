//! Fingerprints of leak suspects: what tells one from another, run after run.
//!
//! ```text
//!   FNV-1a, 64 bits, of       "object" or "objects"         whether one object is suspected, or many of a type
//!                             the group of roots            if one group alone holds it
//!                             kind, type      ┐ of each object that dominates the accumulation point, from the
//!                             kind, type …    ┘ roots down to it; what repeats one above the other, once. A class or a
//!                                               module has its own name instead of its type's
//!                             kind, type                    of the many objects, if they are many
//! ```
//!
//! The dominators of an object are the same whatever its number and address, and whatever order references are met
//! in; a shortest path is not, where there are several. In the names of types numbers are left out, since runtimes
//! number classes that they make up (`$Proxy12`, `Main$$Lambda/0x7f0010`). So ids, addresses, sizes and the lengths of
//! lists are not in it. Another program, another way to hold the objects or another name of a type gives another
//! fingerprint.
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

/// What names a leak suspect in every run of a program. Written as 16 hexadecimal digits.
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
                    Holder::Roots(group) => hash.add(tables.string(group)),
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

    /// The types of the objects of a path, each with the class that the object stands for; what repeats, once.
    fn parts(
        &self,
        path: &[ObjectId],
        suspect: &Suspect,
        tables: &Tables,
        progress: &dyn Progress,
    ) -> Result<Vec<Part>> {
        let is_class = |type_id| tables.kind_role(tables.type_kind(type_id)) == KindRole::Type;
        let types = self.types_of(path, progress)?;
        let classes: Vec<ObjectId> =
            path.iter().zip(&types).filter(|&(_, &type_id)| is_class(type_id)).map(|(&object, _)| object).collect();
        let mut names = objects(self.recording(), self.snapshot(), &classes)?.into_iter().map(|object| object.name);
        let mut name = |type_id| if is_class(type_id) { names.next().flatten() } else { None };
        let mut parts: Vec<Part> = types.into_iter().map(|type_id| (type_id, name(type_id))).collect();
        parts.extend((suspect.objects > 1).then_some((suspect.type_id, None)));
        parts.dedup();
        Ok(parts)
    }
}

/// A type, and the name of the class that an object of it stands for.
type Part = (TypeId, Option<StringId>);

/// FNV-1a: the same for ever, unlike the hashes of the standard library.
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

    /// A text and its end, which no text contains.
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

/// A name with `#` for every number in it; letters up to `f` belong to one that begins with `0x`.
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
        let digits = hexadecimal.unwrap_or(rest);
        let is_digit = |c: char| if hexadecimal.is_some() { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
        rest = digits.trim_start_matches(is_digit);
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
