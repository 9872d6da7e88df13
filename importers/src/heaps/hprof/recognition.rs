//! Recognises heap dumps of JVMs, and related dumps, by their first bytes.

use crate::error::ImportError;
use crate::intake::first_bytes::FIRST_BYTES;

use super::records::MAGIC;

/// The bytes after the version in text written by the HPROF agent (JDK 8 and before). Heap dumps have a zero byte
/// there.
const OF_TEXT: &[u8] = b", created ";
/// The beginning of dumps of OpenJ9, a text of Java's `DataOutput.writeUTF`: two bytes with the length, then the
/// characters.
const OF_PHD: &[u8] = b"\0\x12portable heap dump";

/// Advice for files that hold too little.
const INSTEAD_OF_TEXT: &str = "binary heap dumps can be imported: `-agentlib:hprof=heap=dump,format=b`, or `jcmd PID \
                               GC.heap_dump FILE`";
const INSTEAD_OF_PHD: &str = "of JVMs, HPROF heap dumps can be imported";

/// Returns whether it is a heap dump.
pub(super) fn recognises(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(MAGIC) && !is_text(first_bytes)
}

/// The error for related dumps that cannot be imported.
pub(super) fn rejects(first_bytes: &[u8]) -> Option<ImportError> {
    if is_text(first_bytes) {
        let found = "a profile that the JVM's HPROF agent wrote as text";
        return Some(ImportError::OtherKind { found, instead: INSTEAD_OF_TEXT });
    }
    let found = "a heap dump of OpenJ9 (PHD), which holds no names of fields and no values";
    first_bytes.starts_with(OF_PHD).then_some(ImportError::OtherKind { found, instead: INSTEAD_OF_PHD })
}

/// Returns whether the HPROF agent wrote the file as text.
fn is_text(first_bytes: &[u8]) -> bool {
    let first_bytes = first_bytes.get(..FIRST_BYTES).unwrap_or(first_bytes);
    let Some(rest) = first_bytes.strip_prefix(MAGIC) else { return false };
    let version_end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(rest.len());
    rest[version_end..].starts_with(OF_TEXT)
}
