//! The first keys of a JSON text, which distinguish formats.

use super::json::without_mark;
use crate::intake::first_bytes::FIRST_BYTES;

/// The keys in the first bytes of a JSON object, and in the objects directly inside it, including those in a list.
#[derive(Debug, Default)]
pub(crate) struct Head<'d> {
    /// Each key after that of its object, which is empty for the outermost.
    keys: Vec<(&'d [u8], &'d [u8])>,
}

impl<'d> Head<'d> {
    /// The head of a text; empty if the text is not an object.
    pub(crate) fn of(first_bytes: &'d [u8]) -> Head<'d> {
        let text = first_bytes.get(..FIRST_BYTES).unwrap_or(first_bytes);
        let mut rest = without_mark(text).trim_ascii_start();
        let mut head = Head::default();
        if !rest.starts_with(b"{") {
            return head;
        }
        let (mut depth, mut parent) = (0_usize, &b""[..]);
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b'"' => {
                    let Some(length) = text_length(rest) else { break };
                    let (text, after) = (&rest[..length], &rest[length + 1..]);
                    rest = after;
                    if !after.trim_ascii_start().starts_with(b":") {
                        continue;
                    }
                    match depth {
                        1 => {
                            parent = text;
                            head.keys.push((b"", text));
                        }
                        2 => head.keys.push((parent, text)),
                        _ => {}
                    }
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        head
    }

    /// The first key.
    pub(crate) fn first(&self) -> &'d [u8] {
        self.keys.first().map_or(b"", |&(_, key)| key)
    }

    /// Returns whether the object with the key `parent` has this key.
    pub(crate) fn has(&self, parent: &str, key: &str) -> bool {
        self.keys.contains(&(parent.as_bytes(), key.as_bytes()))
    }
}

/// The length of a text up to its closing quote.
fn text_length(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        from = at + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_at_two_depths() {
        let head = Head::of(br#" { "a" : [{"b\"": "x:", "c": {"d": 1}}, {"e": "f"}], "g":"a" "#);
        assert_eq!(head.first(), b"a");
        let found = [("", "a"), ("", "g"), ("a", "b\\\""), ("a", "c"), ("a", "e")];
        assert!(found.iter().all(|(parent, key)| head.has(parent, key)), "{head:?}");
        let others = [("", "x:"), ("a", "d"), ("c", "d"), ("a", "f"), ("g", "a")];
        assert!(!others.iter().any(|(parent, key)| head.has(parent, key)), "{head:?}");
    }

    #[test]
    fn any_bytes_have_a_head() {
        for text in [&b""[..], b"[", b"{", b"{\"", b"{\"\\", b"{\"a\"", b"}", b"{}{\"a\":1}", b"\xef\xbb\xbf{"] {
            assert_eq!(Head::of(text).first(), b"", "{}", text.escape_ascii());
        }
        assert_eq!(Head::of(b"\xef\xbb\xbf{\"a\":").first(), b"a");
    }
}
