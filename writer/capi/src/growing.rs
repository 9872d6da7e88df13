//! Structures of the C side that get fields in later versions of the ABI.

/// A structure that can grow: its first field is the size that the caller's header gives it.
///
/// # Safety
/// It is `repr(C)`, its first field is a `usize`, it has no padding, and zero is a value of every field.
pub(crate) unsafe trait Growing: Copy {
    /// Its name in messages.
    const NAME: &'static str;
    /// Its size in version 1.0 of the ABI.
    const FIRST_BYTES: usize;
}
