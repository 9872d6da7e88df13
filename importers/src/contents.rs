//! How much of the contents of objects is recorded.

use barrow_writer::MAX_TEXT_BYTES;

/// How much of the contents of objects is recorded: what strings say, and the values of numbers where a dump shows them.
///
/// Names are no contents: those of classes, functions, fields and threads are always recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// All that is in the dump. What takes more than [`MAX_TEXT_BYTES`], 1 MiB, is shortened.
    All,
    /// The same, but texts of more bytes are shortened, and of arrays of numbers only the first
    /// [`Contents::FIRST_ELEMENTS`] elements are recorded.
    Texts(usize),
    /// None.
    None,
}

impl Default for Contents {
    fn default() -> Self {
        Contents::Texts(MAX_TEXT_BYTES)
    }
}

impl Contents {
    /// The least that [`Contents::Texts`] accepts, in bytes: what a shortened text ends with must fit.
    pub const LEAST_TEXT_BYTES: usize = 128;

    /// How many elements of an array of numbers are recorded unless all are.
    pub const FIRST_ELEMENTS: usize = 64;

    /// How many elements of an array of numbers are recorded.
    pub(crate) fn most_elements(self) -> usize {
        match self {
            Contents::All => usize::MAX,
            Contents::Texts(_) => Self::FIRST_ELEMENTS,
            Contents::None => 0,
        }
    }

    /// Whether the values of numbers are recorded.
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
