//! The first bytes of MoarVM heap dumps: magic and version of formats 2 and 3, the first line of format 1.

use crate::error::ImportError;
use crate::intake::first_bytes::FIRST_BYTES;

/// The first bytes of binary dumps; three digits follow.
const MAGIC: &[u8] = b"MoarHeapDumpv";
/// The length of magic and digits.
pub(crate) const HEADER_BYTES: usize = MAGIC.len() + 3;

/// The digits of a binary dump's version.
pub(crate) fn version(first_bytes: &[u8]) -> Option<&[u8]> {
    first_bytes.strip_prefix(MAGIC)?.get(..3)
}

/// Names the version of a binary dump that is not known.
pub(crate) fn reject_version(first_bytes: &[u8]) -> Option<ImportError> {
    let digits = version(first_bytes)?;
    Some(ImportError::UnknownVersion { found: digits.escape_ascii().to_string() })
}

/// Returns whether the first line that is neither blank nor a comment is one of format 1.
pub(crate) fn is_text(first_bytes: &[u8]) -> bool {
    let first_bytes = first_bytes.get(..FIRST_BYTES).unwrap_or(first_bytes);
    let first_line = first_bytes.split(|&byte| byte == b'\n').find(|line| !is_ignored(line));
    let keys: [&[u8]; 4] = [b"strings:", b"types:", b"static_frames:", b"snapshot "];
    first_line.is_some_and(|line| keys.iter().any(|key| line.starts_with(key)))
}

/// Returns whether a line of format 1 is blank or a comment.
pub(crate) fn is_ignored(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    text.is_empty() || text.starts_with(b"#")
}
