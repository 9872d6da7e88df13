//! The entries of maps, and the elements of lists and sets.
//!
//! The attribute `entries` of a type says where the entries of its objects are, see `parts`:
//!
//! ```text
//!   HashMap          .table[]              the entries of each object in the array
//!   HashMap$Node     .key=.value .next     an entry, then those of the next node
//!   HashSet          .map=                 the keys of the map are the elements
//!   ArrayList        =.elementData[]       the array holds the elements
//! ```
//!
//! Each object on the way is read once. Objects are read in batches, and after some time all objects of the same form are
//! read in one pass, so that a long list does not need an access to the file for each node.

mod chains;
mod forms;
mod key_predicate;
mod lookup;
mod named;
mod number;
mod parts;
mod reader;
mod starts;
mod walk;

use barrow_format::ObjectId;

use crate::error::Result;
use crate::file::object::objects;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::Held;
use forms::Forms;
use reader::Reader;
use walk::Walk;

/// The maximum number of objects that are read at once, and the minimum if more are waiting: fewer would take a pass
/// over their blocks each. This is a judgement.
const MOST_AT_ONCE: usize = 1 << 16;
const LEAST_AT_ONCE: usize = 64;

/// The key of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EntryKey {
    /// An element of a set has none.
    None,
    /// The position in a list, counted from 0.
    Index(u64),
    /// The key in a map.
    Held(Held),
}

/// An entry of a map, or an element of a list or set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: EntryKey,
    /// The value or element.
    pub value: Held,
}

/// The entries of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries {
    /// The entries in the object's own order. Slots of arrays that hold null are left out.
    pub entries: Vec<Entry>,
    /// There are more than the requested number, or more copies of one element than 65,536.
    pub has_more: bool,
    /// All requested entries are known: false if the recording lacks some of the necessary data.
    pub are_known: bool,
    /// The number of elements of lists and arrays that are null, and left out. `None` if unknown.
    pub nulls: Option<u64>,
}

impl Heap {
    /// The first entries of an object, at most `limit`: of a map, of a list or of a set. `None` if its type does not
    /// say where they are.
    ///
    /// Time: that of at most two passes over the heap for each type of nodes, and less for few entries. Memory: 100
    /// bytes for each entry, and for each node of the types that are read as a whole.
    ///
    /// # Errors
    /// [`AnalyzerError::NoObject`](crate::AnalyzerError::NoObject),
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn entries(&self, object: ObjectId, limit: usize, progress: &dyn Progress) -> Result<Option<Entries>> {
        let details = objects(self.recording(), self.snapshot(), &[object])?;
        let Some(details) = details.first() else { return Ok(None) };
        let forms = Forms::find(self)?;
        if forms.of(details.type_id).is_none() {
            return Ok(None);
        }
        let mut reader = Reader::new(self, &forms, progress)?;
        let mut walk = Walk::new(object, limit);
        while walk.goes_on(&mut reader)? {
            reader.read(walk.next_objects(&reader, walk.wanted().clamp(LEAST_AT_ONCE, MOST_AT_ONCE)))?;
        }
        self.recording().tables()?.check_strings()?;
        walk.entries(&reader).map(Some)
    }
}
