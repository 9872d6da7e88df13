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

use barrow_expressions::Number;

use super::fields::{FieldPath, Held};
use super::numbers::NumberTotals;
use super::summary::type_totals;
use crate::error::Result;
use crate::heap::{Heap, QuestionKind};
use crate::progress::Progress;

/// The type of direct buffers and of mapped files, and the base of their types.
const BUFFER: &str = "java.nio.DirectByteBuffer";

/// In a heap of fewer objects, buffers are found within milliseconds: an index file is not worth it.
const FEW_OBJECTS: u64 = 1 << 20;

/// Buffers of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Their number; `None` if it is unknown.
    pub count: Option<u64>,
    /// Their bytes; `None` if they are unknown.
    pub bytes: Option<u64>,
}

/// The buffers outside the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffHeap {
    /// Direct buffers.
    pub direct: Buffers,
    /// Mapped files.
    pub mapped: Buffers,
    /// Buffers over memory that the JVM neither allocated nor frees. It may be memory that another one counts.
    pub native: Buffers,
}

impl OffHeap {
    /// Whether there are buffers is unknown, too.
    #[must_use]
    pub fn unknown() -> Self {
        Self::of([Buffers { count: None, bytes: None }; 3])
    }

    fn of([direct, mapped, native]: [Buffers; 3]) -> Self {
        OffHeap { direct, mapped, native }
    }

    /// As the index file keeps it: for each number whether it is known, and the number.
    fn numbers(&self) -> [u64; 12] {
        let Self { direct, mapped, native } = self;
        let all = [direct, mapped, native].map(|buffers| [buffers.count, buffers.bytes]);
        let numbers = all.as_flattened().iter().flat_map(|number| [number.is_some().into(), number.unwrap_or(0)]);
        let mut kept = [0; 12];
        kept.iter_mut().zip(numbers).for_each(|(kept, number)| *kept = number);
        kept
    }

    fn of_numbers(numbers: &[u64]) -> Option<Self> {
        let numbers: &[u64; 12] = numbers.try_into().ok()?;
        let [direct, mapped, native] = numbers.as_chunks().0 else { return None };
        let known = |is_known, number| (is_known == 1).then_some(number);
        Some(Self::of([*direct, *mapped, *native].map(|[has_count, count, has_bytes, bytes]| Buffers {
            count: known(has_count, count),
            bytes: known(has_bytes, bytes),
        })))
    }
}

impl From<&NumberTotals> for Buffers {
    fn from(totals: &NumberTotals) -> Self {
        let are_known = totals.unknown == 0;
        let bytes = match totals.sum() {
            Some(Number::Whole(bytes)) if are_known => u64::try_from(bytes).ok(),
            _ => None,
        };
        Buffers { count: are_known.then_some(totals.known), bytes }
    }
}

impl Heap {
    /// The bytes outside the heap of all buffers that own them; unknown if fields were not recorded, or replaced. The
    /// index file of a large heap keeps them.
    ///
    /// Time: if there are such buffers, a pass over the shapes of all objects.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn off_heap(&self, progress: &dyn Progress) -> Result<OffHeap> {
        let recording = self.recording();
        if !recording.has_contents()? || recording.has_replaced_numbers()? {
            return Ok(OffHeap::unknown());
        }
        let question = self.asked(QuestionKind::OffHeap, &[]);
        if let Some(kept) = self.kept_answer_numbers(&question).and_then(|kept| OffHeap::of_numbers(&kept)) {
            return Ok(kept);
        }
        let found = self.find_off_heap(progress)?;
        if self.object_count() > FEW_OBJECTS {
            self.keep_answer(&question, bytemuck::cast_slice(&found.numbers()), progress)?;
        }
        Ok(found)
    }

    fn find_off_heap(&self, progress: &dyn Progress) -> Result<OffHeap> {
        let (recording, tables) = (self.recording(), self.recording().tables()?);
        let is_buffer = |id| tables.type_and_bases(id).any(|id| tables.type_name(id) == BUFFER);
        let mut found: [NumberTotals; 3] = Default::default();
        let [direct, mapped, native] = &mut found;
        if type_totals(recording, self.snapshot())?.iter().any(|totals| is_buffer(totals.type_id)) {
            let set = self.objects_of_types(None, is_buffer, progress)?;
            let paths = ["capacity", "cleaner", "att", "segment", "fd"].map(|name| FieldPath::of_library(&[name]));
            let asked: Vec<_> = paths.iter().map(|path| (&set, path)).collect();
            let columns = self.paths_at_once(&asked, progress)?;
            let rows = (0..set.len() as usize).map(|row| std::array::from_fn(|column| columns[column][row]));
            for [capacity, cleaner, att, segment, file] in rows {
                match (cleaner, att) {
                    (Held::Object(_), _) if file.object().is_some() => mapped.add_held(capacity),
                    (Held::Object(_), _) => direct.add_held(capacity),
                    (Held::Unknown, _) | (_, Held::Unknown) => return Ok(OffHeap::unknown()),
                    (_, Held::Null) if segment.object().is_none() => native.add_held(capacity),
                    _ => {}
                }
            }
        }
        Ok(OffHeap::of(found.each_ref().map(Buffers::from)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_kept_as_they_are() {
        let [none, some] = [(None, None), (Some(0), Some(7))].map(|(count, bytes)| Buffers { count, bytes });
        for all in [[none; 3], [some; 3], [Buffers { count: Some(2), bytes: None }, some, none]] {
            let off_heap = OffHeap::of(all);
            assert_eq!(OffHeap::of_numbers(&off_heap.numbers()), Some(off_heap));
            assert_eq!(OffHeap::of_numbers(&off_heap.numbers()[..11]), None);
        }
    }
}
