//! Texts in the arguments of calls, as strace quotes them.

/// The mark of strace after a text that it cut, or at the end of a list.
const CUT: &[u8] = b"...";
/// The mark of cut texts in the recording.
pub(super) const MARK: &str = "…";

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuotedText {
    /// Ends with `…` if strace cut it.
    pub(super) text: String,
    pub(super) is_cut: bool,
}

/// The text at the beginning, and the rest after it.
pub(super) fn quoted(text: &[u8]) -> Option<(QuotedText, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut bytes = Vec::new();
    loop {
        let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        bytes.extend_from_slice(&rest[..plain]);
        let (escaped, after) = rest[plain..].split_first()?;
        if *escaped == b'"' {
            let mut text = crate::processes::process_logs::text(&bytes).into_owned();
            let after_mark = after.strip_prefix(CUT);
            if after_mark.is_some() {
                text.push_str(MARK);
            }
            return Some((QuotedText { text, is_cut: after_mark.is_some() }, after_mark.unwrap_or(after)));
        }
        let (byte, after) = escape(after)?;
        bytes.push(byte);
        rest = after;
    }
}

/// The byte of an escape, and the rest after it.
fn escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, after) = text.split_first()?;
    Some(match first {
        b'n' => (b'\n', after),
        b't' => (b'\t', after),
        b'r' => (b'\r', after),
        b'v' => (0x0b, after),
        b'f' => (0x0c, after),
        b'x' => (byte(after.get(..2)?, 16)?, &after[2..]),
        b'0'..=b'7' => {
            let length = text.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(*byte)).count();
            // Three digits may exceed a byte; strace never writes that.
            (byte(&text[..length], 8)?, &text[length..])
        }
        other => (other, after),
    })
}

fn byte(digits: &[u8], radix: u32) -> Option<u8> {
    u8::from_str_radix(str::from_utf8(digits).ok()?, radix).ok()
}

/// The list of texts at the beginning, and whether strace cut it or one of them.
pub(super) fn list(text: &[u8]) -> Option<(Vec<String>, bool)> {
    let mut rest = text.strip_prefix(b"[")?;
    let (mut texts, mut is_cut) = (Vec::new(), false);
    loop {
        if rest.starts_with(b"]") {
            return Some((texts, is_cut));
        }
        if rest.starts_with(CUT) {
            texts.push(MARK.to_owned());
            return Some((texts, true));
        }
        let (one, after) = quoted(rest)?;
        texts.push(one.text);
        is_cut |= one.is_cut;
        rest = after.strip_prefix(b", ").unwrap_or(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_bytes() {
        let read =
            |text: &'static str| quoted(text.as_bytes()).map(|(quoted, rest)| (quoted.text, quoted.is_cut, rest));
        assert_eq!(read(r#""a\n\"\\\t" x"#), Some(("a\n\"\\\t".to_owned(), false, &b" x"[..])));
        assert_eq!(read(r#""sp\303\244t\x21\0011""#), Some(("spät!\u{1}1".to_owned(), false, &b""[..])));
        assert_eq!(read(r#""cut"..., 3"#), Some(("cut…".to_owned(), true, &b", 3"[..])));
        for text in ["", "a", "\"", "\"a", "\"a\\", "\"\\x1\"", "\"\\777\""] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn lists_may_be_cut() {
        let read = |text: &'static str| list(text.as_bytes());
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(read(r#"["a", "b"], 0x1"#), Some((texts(&["a", "b"]), false)));
        assert_eq!(read(r#"["a"..., "b"]"#), Some((texts(&["a…", "b"]), true)));
        assert_eq!(read(r#"["a", ...]"#), Some((texts(&["a", "…"]), true)));
        assert_eq!(read("[]"), Some((Vec::new(), false)));
        for text in ["", "NULL", "[", "[\"a\"", "[\"a\", ", "[x]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
