//! Detection of changed objects: a hash of all their recorded properties.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};

use super::reader::DecodedObject;

/// Bytes hashed at once; the division of a long array into blocks makes no difference.
const PIECE_BYTES: usize = 12 << 10;

/// Hashes objects: type, sizes, site, name, values, and for each reference its label, its strength and its target's
/// row. Not the address, which a patch stores separately, nor the serial, by which objects are matched.
///
/// The hash is twice 64 bits of SipHash, with two random keys of this writer. An object's old hash is compared only
/// with its new one, so a change stays unnoticed once in 2^128 changes, whatever a program does.
#[derive(Debug)]
pub(super) struct Contents {
    keys: [RandomState; 2],
    hashers: [DefaultHasher; 2],
    bytes: Vec<u8>,
}

/// The keys of a writer: contents can be compared only under the same keys.
#[derive(Debug, Default)]
pub(super) struct Keys([RandomState; 2]);

impl Contents {
    pub(super) fn new(keys: &Keys) -> Self {
        let keys = keys.0.clone();
        let hashers = [keys[0].build_hasher(), keys[1].build_hasher()];
        Contents { keys, hashers, bytes: Vec::new() }
    }

    /// Begins with an object and the references in its own block.
    pub(super) fn begin(&mut self, object: &DecodedObject<'_>, row_of: impl Fn(u32) -> u32) {
        self.bytes.clear();
        self.hashers = [self.keys[0].build_hasher(), self.keys[1].build_hasher()];
        self.bytes.extend_from_slice(&object.shape.type_id.0.to_le_bytes());
        self.bytes.extend_from_slice(&object.shallow_bytes.to_le_bytes());
        self.bytes.extend_from_slice(&object.unmanaged_bytes.to_le_bytes());
        self.bytes.extend_from_slice(&object.site.to_le_bytes());
        let name = object.name.map_or(0, |name| u64::from(name.0) + 1);
        self.bytes.extend_from_slice(&name.to_le_bytes());
        let (fields, codes) = object.values;
        self.bytes.extend_from_slice(&(fields.len() as u64).to_le_bytes());
        for (field, code) in fields.iter().zip(codes) {
            self.bytes.extend_from_slice(&field.0.to_le_bytes());
            self.bytes.extend_from_slice(&code.to_le_bytes());
        }
        self.go_on(object, row_of);
    }

    /// Continues with the references of a continuation.
    pub(super) fn go_on(&mut self, part: &DecodedObject<'_>, row_of: impl Fn(u32) -> u32) {
        for (label, &target) in part.labels().zip(part.targets) {
            self.bytes.extend_from_slice(&label.to_le_bytes());
            self.bytes.extend_from_slice(&row_of(target).to_le_bytes());
            if self.bytes.len() >= PIECE_BYTES {
                self.hash_bytes();
            }
        }
    }

    fn hash_bytes(&mut self) {
        self.hashers.iter_mut().for_each(|hasher| hasher.write(&self.bytes));
        self.bytes.clear();
    }

    /// The hash of the object begun last.
    pub(super) fn end(&mut self) -> u128 {
        self.hash_bytes();
        let [low, high] = [&self.hashers[0], &self.hashers[1]].map(|hasher| u128::from(hasher.finish()));
        high << 64 | low
    }
}
