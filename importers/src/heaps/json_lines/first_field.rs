//! The first field of a JSON object, which tells the formats of JSON lines apart.

/// Key and value of the first field of the JSON object that begins here, if the value is a string.
pub(crate) fn first_field(first_bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, rest) = quoted(first_bytes.trim_ascii_start().strip_prefix(b"{")?)?;
    let (value, _) = quoted(rest.trim_ascii_start().strip_prefix(b":")?)?;
    Some((key, value))
}

/// A string of at most 199 bytes without escapes, and what follows it.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let length = text.iter().take(200).position(|&byte| byte == b'"')?;
    Some((&text[..length], &text[length + 1..]))
}
