//! Contents of strings, symbols, arrays and hashes besides references.
//!
//! Ruby omits parts of a string's line that follow from the others:
//!
//! | not in the line | it is |
//! |---|---|
//! | `value`, and `bytesize` is 0 | the empty string, since Ruby 3.2 |
//! | `capacity`, of a string that is neither embedded nor shared | `bytesize` |
//! | `encoding`, of a string | `ASCII-8BIT`, which Ruby also calls `BINARY` |
//! | `bytesize` | unknown: the string shares the bytes of another one |

use super::line::Line;
use crate::heaps::json_lines::Text;

/// The encoding of bytes that are not characters.
const BINARY: &str = "ASCII-8BIT";

/// The text of a string, symbol or float.
pub(super) fn text<'a>(line: &Line<'a>) -> Option<Text<'a>> {
    line.value.or_else(|| (line.string.bytes == Some(0)).then(|| Text::plain("")))
}

/// The fields that are numbers, with their values if known.
pub(super) fn numbers(line: &Line<'_>) -> [(&'static str, Option<u64>); 3] {
    [("length", length(line)), ("bytesize", line.string.bytes), ("capacity", capacity(line))]
}

/// The encoding of a string.
pub(super) fn encoding<'a>(line: &Line<'a>) -> Option<Text<'a>> {
    (line.kind == b"STRING").then(|| line.string.encoding.unwrap_or_else(|| Text::plain(BINARY)))
}

/// Capacity of a string in bytes.
fn capacity(line: &Line<'_>) -> Option<u64> {
    let string = &line.string;
    let has_its_own = line.kind == b"STRING" && !string.is_embedded && !string.is_shared;
    string.capacity.or(string.bytes.filter(|_| has_its_own))
}

/// Number of elements of an array, entries of a hash, or characters of a string or symbol.
fn length(line: &Line<'_>) -> Option<u64> {
    let Some(bytes) = line.string.bytes else { return line.length };
    let is_ascii = line.string.code_range.is_some_and(|range| range.raw == b"7bit");
    let is_binary = encoding(line).is_some_and(|encoding| encoding.raw == BINARY.as_bytes());
    if is_ascii || is_binary {
        return Some(bytes);
    }
    // Ruby writes texts in ASCII and, since 3.2, in UTF-8.
    let text = text(line)?.decode();
    (text.len() as u64 == bytes).then(|| text.chars().count() as u64)
}
