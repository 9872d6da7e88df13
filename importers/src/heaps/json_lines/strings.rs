//! The numbers of strings that occur repeatedly in the part of one thread.

use super::FastMap;
use super::Text;
use crate::context::Vocabulary;
use crate::error::ImportError;
use barrow_writer::StringId;

/// Names are cut after about this many bytes.
pub(crate) const MAX_NAME_BYTES: usize = 256;
/// Maximum number of kept strings. When full, all are forgotten, which only costs time.
const MAX_KEPT: usize = 1 << 15;

/// Strings as they are written in the dump, with their numbers.
pub(crate) struct Strings<'v> {
    vocabulary: &'v Vocabulary<'v>,
    kept: FastMap<Box<[u8]>, StringId>,
}

impl<'v> Strings<'v> {
    pub(crate) fn new(vocabulary: &'v Vocabulary<'v>) -> Self {
        Strings { vocabulary, kept: FastMap::default() }
    }

    /// The number of a name, cut if it is long.
    pub(crate) fn id(&mut self, name: Text<'_>) -> Result<StringId, ImportError> {
        self.of_text(name, MAX_NAME_BYTES)
    }

    /// The number of a text, cut after about `longest` bytes.
    pub(crate) fn of_text(&mut self, text: Text<'_>, longest: usize) -> Result<StringId, ImportError> {
        if text.raw.len() > longest.min(MAX_NAME_BYTES) {
            return self.vocabulary.string(&text.decode_first(longest));
        }
        if let Some(&id) = self.kept.get(text.raw) {
            return Ok(id);
        }
        let id = self.vocabulary.string(&text.decode())?;
        if self.kept.len() >= MAX_KEPT {
            self.kept.clear();
        }
        self.kept.insert(text.raw.into(), id);
        Ok(id)
    }
}
