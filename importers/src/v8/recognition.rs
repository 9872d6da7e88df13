//! How the first bytes of a file show that it is a heap snapshot of V8, or another file of V8 and its relatives.

use crate::error::ImportError;
use crate::first_bytes::FIRST_BYTES;

/// The first tokens of a heap snapshot, with any white space between them.
const TOKENS: &[&[u8]] = &[b"{", b"\"snapshot\"", b":", b"{"];
/// The first tokens of other files of V8 and its relatives, and what these files are.
const RELATIVES: &[(&[&[u8]], &str)] = &[
    (&[b"{", b"\"head\"", b":"], "a sampling heap profile of V8, which holds no objects"),
    (&[b"{", b"\"nodes\"", b":"], "a CPU profile of V8, which holds no objects"),
    (&[b"{", b"\"version\"", b":"], "a heap snapshot of JavaScriptCore or a file of another kind"),
];

/// Whether it is a heap snapshot.
pub(crate) fn recognises(first_bytes: &[u8]) -> bool {
    begins(first_bytes, TOKENS)
}

/// Says which other file it is, if that is known.
pub(crate) fn rejects(first_bytes: &[u8]) -> Option<ImportError> {
    let (_, found) = RELATIVES.iter().find(|(tokens, _)| begins(first_bytes, tokens))?;
    Some(ImportError::OtherKind { found, instead: "of V8, heap snapshots (*.heapsnapshot) can be imported" })
}

/// Whether these tokens come first.
fn begins(first_bytes: &[u8], tokens: &[&[u8]]) -> bool {
    let mut rest = first_bytes.get(..FIRST_BYTES).unwrap_or(first_bytes);
    tokens.iter().all(|token| {
        let after = rest.trim_ascii_start().strip_prefix(*token);
        rest = after.unwrap_or_default();
        after.is_some()
    })
}
