//! References to characters in a log.

use std::borrow::Cow;

/// Replaces references to characters by bytes, which a wrapper may have written as signed ones: `&#195;` and `&#-61;`
/// are the same. Other text is unchanged.
pub(super) fn unescape(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'&', text) else { return Cow::Borrowed(text) };
    let mut bytes = text[..first].to_vec();
    let mut rest = &text[first..];
    while let Some(&byte) = rest.first() {
        let (byte, after) = reference(rest).unwrap_or((byte, &rest[1..]));
        bytes.push(byte);
        let plain = memchr::memchr(b'&', after).unwrap_or(after.len());
        bytes.extend_from_slice(&after[..plain]);
        rest = &after[plain..];
    }
    Cow::Owned(bytes)
}

/// The byte of a reference at the beginning, and the text after it.
fn reference(text: &[u8]) -> Option<(u8, &[u8])> {
    const NAMES: [(&[u8], u8); 5] = [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];
    let inside = text.strip_prefix(b"&")?;
    let end = inside.iter().take(8).position(|&byte| byte == b';')?;
    let (name, after) = (&inside[..end], &inside[end + 1..]);
    if let Some(&(_, byte)) = NAMES.iter().find(|&&(known, _)| known == name) {
        return Some((byte, after));
    }
    let number: i16 = str::from_utf8(name.strip_prefix(b"#")?).ok()?.parse().ok()?;
    // Both ends are allowed: a signed byte, or an unsigned one.
    (-128..256).contains(&number).then_some((number.rem_euclid(256) as u8, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_bytes() {
        let text = |text: &str| String::from_utf8(unescape(text.as_bytes()).into_owned()).expect("text");
        assert_eq!(text("a &lt;b&gt; &amp;amp; c&#32;&#10;"), "a <b> &amp; c \n");
        assert_eq!(text("sp&#195;&#164;t, sp&#-61;&#-92;t"), "spät, spät");
        assert_eq!(text("&#127;&quot;&apos;"), "\u{7f}\"'");
        assert_eq!(unescape(b"&#-1;&#-128;").as_ref(), [0xff, 0x80]);
    }

    #[test]
    fn what_is_no_reference_stays() {
        for text in ["&", "a&b", "&;", "&#;", "&#256;", "&#-129;", "&unknown;", "&#1", "plain"] {
            assert_eq!(unescape(text.as_bytes()).as_ref(), text.as_bytes());
        }
    }
}
