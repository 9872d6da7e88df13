//! Limits on the recorded contents of objects.

use barrow_writer::MAX_TEXT_BYTES;

/// The extent to which contents of objects are recorded: the characters of strings, and the values of numbers where a
/// dump has them.
///
/// Names are not contents: those of classes, functions, fields and threads are always recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Everything in the dump. Texts of more than [`MAX_TEXT_BYTES`], 1 MiB, are shortened.
    All,
    /// Texts of more than this number of bytes are shortened, and only the first [`Contents::FIRST_ELEMENTS`]
    /// elements of arrays of numbers are recorded.
    Texts(usize),
    /// No contents.
    None,
}

impl Default for Contents {
    fn default() -> Self {
        Contents::Texts(MAX_TEXT_BYTES)
    }
}

impl Contents {
    /// The smallest limit that [`Contents::Texts`] accepts, in bytes: the ending of a shortened text must fit.
    pub const LEAST_TEXT_BYTES: usize = 128;

    /// Number of elements recorded of an array of numbers, unless all are.
    pub const FIRST_ELEMENTS: usize = 64;

    /// Number of elements recorded of an array of numbers.
    pub(crate) fn most_elements(self) -> usize {
        match self {
            Contents::All => usize::MAX,
            Contents::Texts(_) => Self::FIRST_ELEMENTS,
            Contents::None => 0,
        }
    }

    /// Returns whether the values of numbers are recorded.
    pub(crate) fn has_values(self) -> bool {
        self != Contents::None
    }

    /// The longest text, in bytes; `None` if no text is recorded.
    pub(crate) fn longest_text(self) -> Option<usize> {
        match self {
            Contents::All => Some(MAX_TEXT_BYTES),
            Contents::Texts(bytes) => Some(bytes.clamp(Self::LEAST_TEXT_BYTES, MAX_TEXT_BYTES)),
            Contents::None => None,
        }
    }
}
