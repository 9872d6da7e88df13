//! The path of a dump before it is read: it is mapped, unpacked, recognised by its first bytes.

pub(crate) mod cursor;
pub(crate) mod dump;
pub(crate) mod first_bytes;
pub(crate) mod packing;
pub(crate) mod screen;
pub(crate) mod screening;
pub(crate) mod unpacking;
