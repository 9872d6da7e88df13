//! The only place that writes markup. Tags and names of attributes are part of this program; every other text is escaped.

use barrow_query::answer::visible;

/// The most characters of a text from a recording: about two lines, so that no name fills the page. This is a
/// judgement.
const LONGEST: usize = 200;

/// Markup that grows. Every element that is opened is closed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Html(String);

impl Html {
    /// An element with what `content` adds to it.
    pub(crate) fn element(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        content: impl FnOnce(&mut Html),
    ) {
        self.open(tag, attributes);
        content(self);
        self.close(tag);
    }

    /// An element that holds only this text.
    pub(crate) fn leaf(&mut self, tag: &'static str, attributes: &[(&'static str, &str)], text: &str) {
        self.element(tag, attributes, |html| html.text(text));
    }

    /// The beginning of an element.
    pub(crate) fn open(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.escaped(value);
            self.0.push('"');
        }
        self.0.push('>');
    }

    /// The end of an element.
    pub(crate) fn close(&mut self, tag: &'static str) {
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
        if matches!(tag, "tr" | "p" | "section" | "div" | "summary" | "details" | "svg" | "table" | "h1" | "h2" | "h3")
        {
            self.0.push('\n');
        }
    }

    /// Text of a recording, or of our own: hidden characters are written out, and what is very long is cut.
    pub(crate) fn text(&mut self, text: &str) {
        match text.char_indices().nth(LONGEST) {
            None => self.escaped(&visible::line(text)),
            Some((end, _)) => {
                self.escaped(&visible::line(&text[..end]));
                self.0.push('…');
            }
        }
    }

    /// Our own text, of any length.
    pub(crate) fn prose(&mut self, text: &str) {
        self.escaped(&visible::line(text));
    }

    /// Markup that was made before.
    pub(crate) fn append(&mut self, other: &Html) {
        self.0.push_str(&other.0);
    }

    /// A part of the document that is no markup of a recording: the beginning, the style.
    pub(crate) fn constant(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_never_markup() {
        let mut html = Html::default();
        html.leaf("td", &[("title", "\" onload=\"x")], "</script><img onerror='x'>&\u{202e}\u{7}");
        let text = String::from_utf8(html.into_bytes()).unwrap();
        assert_eq!(
            text,
            "<td title=\"&quot; onload=&quot;x\">&lt;/script&gt;&lt;img onerror=&#39;x&#39;&gt;&amp;\\u{202e}\\u{7}</td>"
        );
    }

    #[test]
    fn long_texts_are_cut() {
        let mut html = Html::default();
        html.text(&"é".repeat(1_000_000));
        assert_eq!(html.0.chars().count(), LONGEST + 1);
    }
}
