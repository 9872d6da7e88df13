//! The lines of a log.

/// A line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'d> {
    pub(crate) text: &'d [u8],
    /// Its offset.
    pub(crate) offset: usize,
    /// The log ends before the end of the line.
    pub(crate) is_cut: bool,
}

/// Iterates over the lines of a log.
#[derive(Debug, Clone)]
pub(crate) struct Lines<'d> {
    log: &'d [u8],
    at: usize,
}

impl<'d> Lines<'d> {
    pub(crate) fn new(log: &'d [u8]) -> Self {
        Lines { log, at: 0 }
    }
}

impl<'d> Iterator for Lines<'d> {
    type Item = Line<'d>;

    fn next(&mut self) -> Option<Line<'d>> {
        let offset = self.at;
        let rest = self.log.get(offset..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest);
        let text = &rest[..end.unwrap_or(rest.len())];
        self.at = offset + text.len() + usize::from(end.is_some());
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        Some(Line { text, offset, is_cut: end.is_none() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_place_and_whether_they_end() {
        let lines: Vec<_> = Lines::new(b"a\n\nbc\r\nd").map(|line| (line.text, line.offset, line.is_cut)).collect();
        assert_eq!(lines, [(&b"a"[..], 0, false), (b"", 2, false), (b"bc", 3, false), (b"d", 7, true)]);
        assert_eq!(Lines::new(b"").next(), None);
    }
}
