//! Which dumps are known, and how their first bytes tell.

use crate::error::ImportError;
use crate::hprof;
use crate::python;
use std::fmt;

/// How many of a dump's first bytes [`recognise`] looks at.
const RECOGNISED_BYTES: usize = 4096;
/// What binary MoarVM dumps begin with; three digits follow.
const MOARVM_MAGIC: &[u8] = b"MoarHeapDumpv";
/// How many bytes magic and digits are.
pub(crate) const MOARVM_HEADER_BYTES: usize = MOARVM_MAGIC.len() + 3;

/// What V8's heap snapshots begin with, whatever space stands in between.
const V8_TOKENS: &[&[u8]] = &[b"{", b"\"snapshot\"", b":", b"{"];
/// What other files of V8 and its relatives begin with.
const V8_RELATIVES: &[(&[&[u8]], &str)] = &[
    (&[b"{", b"\"head\"", b":"], "a sampling heap profile of V8, which holds no objects"),
    (&[b"{", b"\"nodes\"", b":"], "a CPU profile of V8, which holds no objects"),
    (&[b"{", b"\"version\"", b":"], "a heap snapshot of JavaScriptCore or a file of another kind"),
];

/// A format of foreign dumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// The JVM's heap dumps, and Android's.
    Hprof,
    /// MoarVM's text format.
    MoarVm1,
    /// MoarVM's format of plain records.
    MoarVm2,
    /// MoarVM's format of compressed columns.
    MoarVm3,
    /// What our script for CPython writes.
    Python,
    /// What Ruby's `ObjectSpace.dump_all` writes.
    Ruby,
    /// V8's heap snapshots: Node.js, Deno, Chrome; Julia writes the same.
    V8,
}

/// All known formats.
pub const FORMATS: &[Format] =
    &[Format::Hprof, Format::MoarVm1, Format::MoarVm2, Format::MoarVm3, Format::Python, Format::Ruby, Format::V8];

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Hprof => "JVM heap dump (HPROF)",
            Format::MoarVm1 => "MoarVM heap dump, format 1",
            Format::MoarVm2 => "MoarVM heap dump, format 2",
            Format::MoarVm3 => "MoarVM heap dump, format 3",
            Format::Python => "CPython heap dump (recorders/python/dump_heap.py)",
            Format::Ruby => "Ruby heap dump (ObjectSpace.dump_all)",
            Format::V8 => "V8 heap snapshot",
        })
    }
}

/// Recognises a dump by its first bytes, of which 4096 are enough.
#[must_use]
pub fn recognise(first_bytes: &[u8]) -> Option<Format> {
    if first_bytes.starts_with(hprof::MAGIC) {
        return Some(Format::Hprof);
    }
    match moarvm_version(first_bytes) {
        Some(b"002") => Some(Format::MoarVm2),
        Some(b"003") => Some(Format::MoarVm3),
        Some(_) => None,
        None if begins(first_bytes, V8_TOKENS) => Some(Format::V8),
        None if is_moarvm_text(first_bytes) => Some(Format::MoarVm1),
        None if first_field(first_bytes) == Some((b"barrow", python::NAME)) => Some(Format::Python),
        None if is_ruby(first_bytes) => Some(Format::Ruby),
        None => None,
    }
}

/// Says why `dump` is not imported.
pub(crate) fn unrecognised(dump: &[u8]) -> ImportError {
    match moarvm_version(dump) {
        Some(digits) => ImportError::UnknownVersion { found: digits.escape_ascii().to_string() },
        None if let Some((_, found)) = V8_RELATIVES.iter().find(|(tokens, _)| begins(dump, tokens)) => {
            ImportError::OtherKind { found, instead: "of V8, heap snapshots (*.heapsnapshot) can be imported" }
        }
        None => ImportError::Unrecognised { found: dump.iter().take(16).copied().collect() },
    }
}

/// Whether these tokens come first.
fn begins(first_bytes: &[u8], tokens: &[&[u8]]) -> bool {
    let mut rest = first_bytes.get(..RECOGNISED_BYTES).unwrap_or(first_bytes);
    tokens.iter().all(|token| {
        let begins = rest.trim_ascii_start().strip_prefix(*token);
        rest = begins.unwrap_or_default();
        begins.is_some()
    })
}

fn moarvm_version(first_bytes: &[u8]) -> Option<&[u8]> {
    first_bytes.strip_prefix(MOARVM_MAGIC)?.get(..3)
}

/// Whether the first line that is neither blank nor a comment is one of format 1.
fn is_moarvm_text(first_bytes: &[u8]) -> bool {
    let looked_at = first_bytes.get(..RECOGNISED_BYTES).unwrap_or(first_bytes);
    let first_line = looked_at.split(|&byte| byte == b'\n').find(|line| !is_ignored(line));
    let keys: [&[u8]; 4] = [b"strings:", b"types:", b"static_frames:", b"snapshot "];
    first_line.is_some_and(|line| keys.iter().any(|key| line.starts_with(key)))
}

/// Whether the first line is an object with an address, or roots, as Ruby writes them.
fn is_ruby(first_bytes: &[u8]) -> bool {
    match first_field(first_bytes) {
        Some((b"address", value)) => value.starts_with(b"0x"),
        Some((b"type", value)) => value == b"ROOT",
        _ => false,
    }
}

/// The first field of a JSON object, if its value is a string: key and value.
fn first_field(first_bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, rest) = quoted(first_bytes.trim_ascii_start().strip_prefix(b"{")?)?;
    let (value, _) = quoted(rest.trim_ascii_start().strip_prefix(b":")?)?;
    Some((key, value))
}

/// A short string without escapes, and what follows it.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let length = text.iter().take(200).position(|&byte| byte == b'"')?;
    Some((&text[..length], &text[length + 1..]))
}

/// Whether a line of format 1 is blank or a comment.
pub(crate) fn is_ignored(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    text.is_empty() || text.starts_with(b"#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_the_format() {
        assert_eq!(recognise(b"MoarHeapDumpv002coll"), Some(Format::MoarVm2));
        assert_eq!(recognise(b"MoarHeapDumpv003filemeta"), Some(Format::MoarVm3));
        assert_eq!(recognise(b"JAVA PROFILE 1.0.2\0"), Some(Format::Hprof));
        assert_eq!(recognise(b"# a comment\n\r\n\nstrings: [\"a\"]\n"), Some(Format::MoarVm1));
        assert_eq!(recognise(b"snapshot 0\n"), Some(Format::MoarVm1));
        assert_eq!(recognise(b"{\"barrow\":\"python-heap\", "), Some(Format::Python));
        assert_eq!(recognise(b"{\"type\":\"ROOT\", \"root\":\"vm\""), Some(Format::Ruby));
        assert_eq!(recognise(b"\n { \"address\" : \"0x7f00\", "), Some(Format::Ruby));
    }

    #[test]
    fn other_bytes_are_not_recognised() {
        for bytes in [
            &b""[..],
            b"MoarHeapDumpv",
            b"MoarHeapDumpv004",
            b"JAVA PROFIL",
            b"# only a comment\n",
            b"{\"type\":\"x\"}",
        ] {
            assert_eq!(recognise(bytes), None, "{}", bytes.escape_ascii());
        }
        let late = [&b"#".repeat(RECOGNISED_BYTES)[..], b"\nstrings: []\n"].concat();
        assert_eq!(recognise(&late), None);
    }

    #[test]
    fn space_may_stand_anywhere_in_a_snapshot_of_v8() {
        assert_eq!(recognise(br#"{"snapshot":{"meta":{"#), Some(Format::V8));
        assert_eq!(recognise(b" {\n\t\"snapshot\" : { \"title\": \"\""), Some(Format::V8));
        assert_eq!(recognise(br#"{"snapshots":{"meta":{"#), None);
        assert_eq!(recognise(br#"{"snapshot""#), None);
    }

    #[test]
    fn relatives_of_v8s_snapshots_are_named() {
        assert_eq!(
            unrecognised(br#"{"head":{"callFrame":{"functionName":"(root)""#).to_string(),
            "a sampling heap profile of V8, which holds no objects; \
             of V8, heap snapshots (*.heapsnapshot) can be imported"
        );
        assert!(matches!(unrecognised(br#"{ "nodes" : [{"id":1"#), ImportError::OtherKind { .. }));
        assert!(matches!(unrecognised(br#"{ "what" : 1}"#), ImportError::Unrecognised { .. }));
    }

    #[test]
    fn a_newer_version_is_named() {
        assert_eq!(
            unrecognised(b"MoarHeapDumpv004...").to_string(),
            "a MoarVM heap dump of version 004; this importer knows 1, 2 and 3; update barrow"
        );
    }
}
