//! How the first bytes of a file show that it is a heap snapshot of V8, or another file of V8 and its relatives.

use crate::error::ImportError;
use crate::intake::first_bytes::FIRST_BYTES;

/// What editors and PowerShell write before UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first tokens of a heap snapshot as V8 writes it, with any white space between them.
const TOKENS: &[&[u8]] = &[b"{", b"\"snapshot\"", b":", b"{"];
/// Those of one whose keys are in another order, as after a tool has sorted them; then a number or a string follows.
const REORDERED: &[&[&[u8]]] =
    &[&[b"{", b"\"edges\"", b":", b"["], &[b"{", b"\"nodes\"", b":", b"["], &[b"{", b"\"strings\"", b":", b"[", b"\""]];
/// The first tokens of other files of V8 and its relatives, and what these files are.
const RELATIVES: &[(&[&[u8]], &str)] = &[
    (&[b"{", b"\"head\"", b":"], "a sampling heap profile of V8, which holds no objects"),
    (&[b"{", b"\"nodes\"", b":"], "a CPU profile of V8, which holds no objects"),
    (&[b"{", b"\"version\"", b":"], "a heap snapshot of JavaScriptCore or a file of another kind"),
];

/// Whether it is a heap snapshot.
pub(crate) fn recognises(first_bytes: &[u8]) -> bool {
    let is_number = |rest: &[u8]| rest.trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
    let goes_on = |tokens: &&[&[u8]]| {
        after(first_bytes, tokens).is_some_and(|rest| tokens.last() == Some(&&b"\""[..]) || is_number(rest))
    };
    after(first_bytes, TOKENS).is_some() || REORDERED.iter().any(goes_on)
}

/// Says which other file it is, if that is known.
pub(crate) fn rejects(first_bytes: &[u8]) -> Option<ImportError> {
    let (_, found) = RELATIVES.iter().find(|(tokens, _)| after(first_bytes, tokens).is_some())?;
    Some(ImportError::OtherKind { found, instead: "of V8, heap snapshots (*.heapsnapshot) can be imported" })
}

/// What comes after these tokens, if they come first.
fn after<'a>(first_bytes: &'a [u8], tokens: &[&[u8]]) -> Option<&'a [u8]> {
    let mut rest = first_bytes.get(..FIRST_BYTES).unwrap_or(first_bytes);
    rest = rest.strip_prefix(BYTE_ORDER_MARK).unwrap_or(rest);
    for token in tokens {
        rest = rest.trim_ascii_start().strip_prefix(*token)?;
    }
    Some(rest)
}
