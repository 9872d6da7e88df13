//! The elements inside a record.
//!
//! Kleknev writes the names of hosts and folders without escapes, so a value may hold quotes: it ends where another
//! attribute or the end of the tag follows.

/// An element: one of attributes, or one of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element<'d> {
    pub(super) name: &'d [u8],
    /// Its attributes and the end of its tag, which ends the last value.
    attributes: &'d [u8],
    /// The bytes between its tags; empty if it has one tag.
    pub(super) content: &'d [u8],
}

impl<'d> Element<'d> {
    /// Its attributes: names and values.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&'d [u8], &'d [u8])> {
        let mut rest = self.attributes;
        std::iter::from_fn(move || {
            let (name, value, after) = attribute(rest.trim_ascii_start())?;
            rest = after;
            Some((name, value))
        })
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &[u8]) -> Option<&'d [u8]> {
        self.attributes().find(|&(found, _)| found == name).map(|(_, value)| value)
    }
}

/// Iterates over the elements of a text. An error holds the text that is not an element.
#[derive(Debug, Clone)]
pub(super) struct Elements<'d> {
    rest: &'d [u8],
}

impl<'d> Elements<'d> {
    pub(super) fn new(text: &'d [u8]) -> Self {
        Elements { rest: text }
    }

    /// The next element, and the text after it.
    fn read(text: &'d [u8]) -> Option<(Element<'d>, &'d [u8])> {
        let tag = text.strip_prefix(b"<")?;
        let (name, mut rest) = tag.split_at(name_length(tag).filter(|&length| length > 0)?);
        let begin = rest;
        loop {
            let next = rest.trim_ascii_start();
            if let Some(after) = next.strip_prefix(b"/>") {
                let attributes = &begin[..begin.len() - after.len()];
                return Some((Element { name, attributes, content: &[] }, after));
            }
            if let Some(inside) = next.strip_prefix(b">") {
                let attributes = &begin[..begin.len() - inside.len()];
                let end = closing(name, inside)?;
                let after = &inside[end + name.len() + b"</>".len()..];
                return Some((Element { name, attributes, content: &inside[..end] }, after));
            }
            (_, _, rest) = attribute(next)?;
        }
    }
}

impl<'d> Iterator for Elements<'d> {
    type Item = Result<Element<'d>, &'d [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.rest.trim_ascii_start();
        self.rest = &[];
        if text.is_empty() {
            return None;
        }
        let Some((element, after)) = Self::read(text) else { return Some(Err(text)) };
        self.rest = after;
        Some(Ok(element))
    }
}

/// The position of `</name>`.
fn closing(name: &[u8], text: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(text, b"</").find(|&at| {
        let tag = &text[at + 2..];
        tag.strip_prefix(name).is_some_and(|after| after.starts_with(b">"))
    })
}

/// The name and value of an attribute, and the text after it.
fn attribute(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let name = &text[..name_length(text).filter(|&length| length > 0)?];
    let value = text[name.len()..].strip_prefix(b"=\"")?;
    let end = memchr::memchr_iter(b'"', value).find(|&at| ends_value(&value[at + 1..]))?;
    Some((name, &value[..end], &value[end + 1..]))
}

/// Returns whether a quote before `after` ends a value.
fn ends_value(after: &[u8]) -> bool {
    let next = after.trim_ascii_start();
    next.starts_with(b"/>")
        || next.starts_with(b">")
        || next.len() < after.len()
            && name_length(next).is_some_and(|length| length > 0 && next[length..].starts_with(b"=\""))
}

/// The length of the name that a text begins with.
fn name_length(text: &[u8]) -> Option<usize> {
    text.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-' && *byte != b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_attributes_or_content() {
        let text = b"\n<pid value=\"12\" />\n <u a=\"1\" b=\"2\"/><argv>\n <a>x</a></argv>";
        let elements: Result<Vec<_>, _> = Elements::new(text).collect();
        let elements = elements.expect("elements");
        assert_eq!(elements.iter().map(|element| element.name).collect::<Vec<_>>(), [&b"pid"[..], b"u", b"argv"]);
        assert_eq!(elements[0].attribute(b"value"), Some(&b"12"[..]));
        assert_eq!(elements[1].attribute(b"b"), Some(&b"2"[..]));
        assert_eq!(elements[1].attribute(b"c"), None);
        assert_eq!(Elements::new(elements[2].content).next().expect("one").expect("an element").content, b"x");
    }

    #[test]
    fn quotes_in_a_value_do_not_end_it() {
        let element = Elements::new(b"<dir path=\"/a \"b\" /c\" />").next().expect("one").expect("an element");
        assert_eq!(element.attribute(b"path"), Some(&b"/a \"b\" /c"[..]));
    }

    #[test]
    fn what_is_no_element_is_an_error() {
        for text in ["x", "<", "<a", "<a>", "<a></b>", "<a b=\"", "<a b=c/>", "<>", "< a/>"] {
            assert_eq!(Elements::new(text.as_bytes()).next(), Some(Err(text.as_bytes())), "{text}");
        }
    }
}
