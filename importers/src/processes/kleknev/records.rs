//! Where the records of a log begin and end.

use memchr::memmem;

use super::MAGIC;

const BEGIN: &[u8] = b"<e>";
const END: &[u8] = b"</e>";

/// A part of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'d> {
    /// A whole record: what is between its tags.
    Record { offset: usize, body: &'d [u8] },
    /// What is no record, or a record without an end.
    Torn { offset: usize, bytes: &'d [u8] },
}

impl Part<'_> {
    /// Where it ends; of a record, its content.
    pub(super) fn end(&self) -> usize {
        match self {
            Part::Record { offset, body } => offset + BEGIN.len() + body.len(),
            Part::Torn { offset, bytes } => offset + bytes.len(),
        }
    }
}

/// The records of a log and what is between them, one after the other.
#[derive(Debug)]
pub(super) struct Records<'d> {
    log: &'d [u8],
    at: usize,
}

impl<'d> Records<'d> {
    pub(super) fn new(log: &'d [u8]) -> Self {
        Records { log, at: 0 }
    }

    /// Passes what may be between records: blanks, and the magic number, of which there are several if logs were joined.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.log[self.at..];
            self.at += rest.len() - rest.trim_ascii_start().len();
            let Some(after) = self.log[self.at..].strip_prefix(MAGIC) else { return };
            let Some(after) = after.trim_ascii_start().strip_prefix(b"/>") else { return };
            self.at = self.log.len() - after.len();
        }
    }

    /// Everything up to the next beginning of a record after `from`, or to the end.
    fn torn(&mut self, from: usize) -> Part<'d> {
        let (offset, rest) = (self.at, &self.log[from..]);
        self.at = memmem::find(rest, BEGIN).map_or(self.log.len(), |next| from + next);
        Part::Torn { offset, bytes: &self.log[offset..self.at] }
    }
}

impl<'d> Iterator for Records<'d> {
    type Item = Part<'d>;

    fn next(&mut self) -> Option<Part<'d>> {
        self.skip_blanks();
        let (log, offset) = (self.log, self.at);
        let rest = log.get(offset..).filter(|rest| !rest.is_empty())?;
        let Some(content) = rest.strip_prefix(BEGIN) else { return Some(self.torn(offset)) };
        let begin = offset + BEGIN.len();
        // A record never holds the beginning of another: the wrapper that wrote it was killed meanwhile.
        let mut from = 0;
        loop {
            let Some(tag) = memchr::memchr(b'<', &content[from..]).map(|found| from + found) else {
                return Some(self.torn(begin));
            };
            if content[tag..].starts_with(END) {
                self.at = begin + tag + END.len();
                return Some(Part::Record { offset, body: &content[..tag] });
            }
            if content[tag..].starts_with(BEGIN) {
                return Some(self.torn(begin));
            }
            from = tag + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(log: &[u8]) -> Vec<(bool, usize, &[u8])> {
        let part = |part| match part {
            Part::Record { offset, body } => (true, offset, body),
            Part::Torn { offset, bytes } => (false, offset, bytes),
        };
        Records::new(log).map(part).collect()
    }

    #[test]
    fn records_are_found_between_what_is_torn() {
        assert_eq!(parts(b"<kleknevMagicNumber />\n<e>a</e>\n<e></e>"), [(true, 23, &b"a"[..]), (true, 32, b"")]);
        assert_eq!(
            parts(b"x<e>a<e>b</e><kleknevMagicNumber/>  <e>c</e>y\n"),
            [(false, 0, &b"x"[..]), (false, 1, b"<e>a"), (true, 5, b"b"), (true, 36, b"c"), (false, 44, b"y\n"),]
        );
        assert_eq!(parts(b"<e>a</e"), [(false, 0, &b"<e>a</e"[..])]);
        assert_eq!(parts(b"<kleknevMagicNum"), [(false, 0, &b"<kleknevMagicNum"[..])]);
        assert_eq!(parts(b"<kleknevMagicNumber  \n"), [(false, 0, &b"<kleknevMagicNumber  \n"[..])]);
        assert_eq!(parts(b" \n"), []);
    }
}
