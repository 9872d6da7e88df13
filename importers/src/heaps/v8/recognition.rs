//! Recognises heap snapshots of V8, and related files, by their first bytes.

use crate::error::ImportError;
use crate::intake::first_bytes::FIRST_BYTES;

/// The bytes that editors and PowerShell write before UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first tokens of a heap snapshot as V8 writes it, with any white space between them.
const TOKENS: &[&[u8]] = &[b"{", b"\"snapshot\"", b":", b"{"];
/// The same with the keys in another order, as after sorting by a tool; then a number or a string follows.
const REORDERED: &[&[&[u8]]] =
    &[&[b"{", b"\"edges\"", b":", b"["], &[b"{", b"\"nodes\"", b":", b"["], &[b"{", b"\"strings\"", b":", b"[", b"\""]];
/// The first tokens of related files, and the kinds of these files.
const RELATIVES: &[(&[&[u8]], &str)] = &[
    (&[b"{", b"\"head\"", b":"], "a sampling heap profile of V8, which holds no objects"),
    (&[b"{", b"\"nodes\"", b":"], "a CPU profile of V8, which holds no objects"),
    (&[b"{", b"\"version\"", b":"], "a heap snapshot of JavaScriptCore or a file of another kind"),
];

/// Returns whether it is a heap snapshot.
pub(crate) fn recognises(first_bytes: &[u8]) -> bool {
    after(first_bytes, TOKENS).is_some()
        || REORDERED.iter().any(|tokens| {
            after(first_bytes, tokens).is_some_and(|rest| {
                tokens.last() == Some(&&b"\""[..]) || rest.trim_ascii_start().first().is_some_and(u8::is_ascii_digit)
            })
        })
}

/// The error for related files that cannot be imported.
pub(crate) fn rejects(first_bytes: &[u8]) -> Option<ImportError> {
    let (_, found) = RELATIVES.iter().find(|(tokens, _)| after(first_bytes, tokens).is_some())?;
    Some(ImportError::OtherKind { found, instead: "of V8, heap snapshots (*.heapsnapshot) can be imported" })
}

/// The bytes after these tokens, if they come first.
fn after<'a>(first_bytes: &'a [u8], tokens: &[&[u8]]) -> Option<&'a [u8]> {
    let mut rest = first_bytes.get(..FIRST_BYTES).unwrap_or(first_bytes);
    rest = rest.strip_prefix(BYTE_ORDER_MARK).unwrap_or(rest);
    for token in tokens {
        rest = rest.trim_ascii_start().strip_prefix(*token)?;
    }
    Some(rest)
}
