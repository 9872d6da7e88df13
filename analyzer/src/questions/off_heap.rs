//! Memory of a JVM outside its heap that buffers in the heap own.
//!
//! ```text
//!   java.nio.DirectByteBuffer
//!     .cleaner is an object ──────────────────────────▶ owns its memory, as `BufferPoolMXBean` counts it
//!     .att is null, and no .segment ──────────────────▶ memory of native code: that of JNI, of Netty
//!     otherwise ──────────────────────────────────────▶ a slice, a duplicate or another view: shares it
//!   of those with a cleaner
//!     .fd is an object ───────────────────────────────▶ a mapped file
//!     otherwise ──────────────────────────────────────▶ a direct buffer
//! ```
//!
//! Direct buffers of Android lie in the heap, and have no cleaner.

use super::fields::{FieldPath, Held};
use super::numbers::NumberTotals;
use super::summary::type_totals;
use crate::error::Result;
use crate::heap::Heap;
use crate::progress::Progress;

/// The type of direct buffers and of mapped files, and the base of their types.
const BUFFER: &str = "java.nio.DirectByteBuffer";

/// The bytes of buffers outside the heap.
#[derive(Debug, Clone, Default)]
pub struct OffHeap {
    /// Direct buffers.
    pub direct: NumberTotals,
    /// Mapped files.
    pub mapped: NumberTotals,
    /// Buffers over memory that the JVM neither allocated nor frees. It may be memory that another one counts.
    pub native: NumberTotals,
}

impl OffHeap {
    /// Whether there are buffers is unknown, too.
    #[must_use]
    pub fn unknown() -> Self {
        let mut unknown = NumberTotals::default();
        unknown.add_held(Held::Unknown);
        OffHeap { direct: unknown.clone(), mapped: unknown.clone(), native: unknown }
    }
}

impl Heap {
    /// The bytes outside the heap of all buffers that own them; unknown if fields were not recorded, or replaced.
    ///
    /// Time: if there are such buffers, a pass over the shapes of all objects.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn off_heap(&self, progress: &dyn Progress) -> Result<OffHeap> {
        let (recording, tables) = (self.recording(), self.recording().tables()?);
        if !recording.has_contents()? || recording.has_replaced_numbers()? {
            return Ok(OffHeap::unknown());
        }
        let is_buffer = |id| tables.type_and_bases(id).any(|id| tables.type_name(id) == BUFFER);
        if !type_totals(recording, self.snapshot())?.iter().any(|totals| is_buffer(totals.type_id)) {
            return Ok(OffHeap::default());
        }
        let set = self.objects_of_types(None, is_buffer, progress)?;
        let paths = ["capacity", "cleaner", "att", "segment", "fd"].map(FieldPath::named);
        let asked: Vec<_> = paths.iter().map(|path| (&set, path)).collect();
        let columns = self.paths_at_once(&asked, progress)?;
        let mut found = OffHeap::default();
        let rows = (0..set.len() as usize).map(|row| std::array::from_fn(|column| columns[column][row]));
        for [capacity, cleaner, att, segment, file] in rows {
            match (cleaner, att) {
                (Held::Object(_), _) if file.object().is_some() => found.mapped.add_held(capacity),
                (Held::Object(_), _) => found.direct.add_held(capacity),
                (Held::Unknown, _) | (_, Held::Unknown) => return Ok(OffHeap::unknown()),
                (_, Held::Null) if segment.object().is_none() => found.native.add_held(capacity),
                _ => {}
            }
        }
        Ok(found)
    }
}
