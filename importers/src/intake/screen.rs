//! Screens: cheap checks of a dump while it is unpacked.
//!
//! An importer reads a dump only after all of it has been unpacked. A few kilobytes can unpack to gigabytes that are
//! not a dump, so the bytes are screened on their way to the temporary file. Each format names its screen in its row
//! of the table; a screen makes only cheap checks.

/// Screens the unpacked bytes of one dump, piece by piece.
pub(crate) trait Screen {
    /// Returns whether the dump can still be valid with these `bytes`, which follow those of the previous call.
    fn admits(&mut self, bytes: &[u8]) -> bool;
}

/// Admits any text: bytes other than 0. Text contains no zero byte, and JSON escapes it.
pub(crate) struct Text;

impl Screen for Text {
    fn admits(&mut self, bytes: &[u8]) -> bool {
        memchr::memchr(0, bytes).is_none()
    }
}

/// Admits everything.
pub(crate) struct Anything;

impl Screen for Anything {
    fn admits(&mut self, _: &[u8]) -> bool {
        true
    }
}
