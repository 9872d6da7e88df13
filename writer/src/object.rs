//! The announcement of one object.

use barrow_format::{SiteId, StringId, TypeId};

/// The announced properties of an object, apart from its number and its references.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// Its type.
    pub type_id: TypeId,
    /// Its own size on the managed heap, in bytes.
    pub shallow_bytes: u64,
    /// Memory outside the managed heap that it owns, in bytes.
    pub unmanaged_bytes: u64,
    /// Its address, if recorded. Not 0.
    pub address: Option<u64>,
    /// Its identity across snapshots, if the runtime has one. Not 0.
    pub serial: Option<u64>,
    /// Its allocation site: a number from [`Writer::site`](crate::Writer::site), or one with a meaning only for the
    /// runtime. Not 0.
    pub site: Option<SiteId>,
    /// Its own name or text, if it has one: a string's content, the name of the class that a class
    /// object represents.
    pub name: Option<StringId>,
}

impl Object {
    /// An object with only a type and a shallow size.
    #[must_use]
    pub fn new(type_id: TypeId, shallow_bytes: u64) -> Self {
        Object { type_id, shallow_bytes, unmanaged_bytes: 0, address: None, serial: None, site: None, name: None }
    }
}
