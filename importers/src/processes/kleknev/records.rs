//! The places of the records of a log.

use memchr::memmem;

use super::MAGIC;

const BEGIN: &[u8] = b"<e>";
const END: &[u8] = b"</e>";

/// A part of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogPart<'d> {
    /// The text between the tags of a whole record.
    Record { offset: usize, body: &'d [u8] },
    /// Bytes that are not a record, or a record without an end.
    Torn { offset: usize, bytes: &'d [u8] },
}

impl LogPart<'_> {
    /// Its end; that of a record's content.
    pub(super) fn end(&self) -> usize {
        match self {
            LogPart::Record { offset, body } => offset + BEGIN.len() + body.len(),
            LogPart::Torn { offset, bytes } => offset + bytes.len(),
        }
    }
}

/// Iterates over the records of a log and the bytes between them.
#[derive(Debug)]
pub(super) struct Records<'d> {
    log: &'d [u8],
    at: usize,
}

impl<'d> Records<'d> {
    pub(super) fn new(log: &'d [u8]) -> Self {
        Records { log, at: 0 }
    }

    /// Skips bytes allowed between records: blanks, and the magic number, which occurs repeatedly if logs were
    /// joined.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.log[self.at..];
            self.at += rest.len() - rest.trim_ascii_start().len();
            let Some(after) = self.log[self.at..].strip_prefix(MAGIC) else { return };
            let Some(after) = after.trim_ascii_start().strip_prefix(b"/>") else { return };
            self.at = self.log.len() - after.len();
        }
    }

    /// Takes everything up to the beginning of the next record after `from`, or to the end.
    fn torn(&mut self, from: usize) -> LogPart<'d> {
        let (offset, rest) = (self.at, &self.log[from..]);
        self.at = memmem::find(rest, BEGIN).map_or(self.log.len(), |next| from + next);
        LogPart::Torn { offset, bytes: &self.log[offset..self.at] }
    }
}

impl<'d> Iterator for Records<'d> {
    type Item = LogPart<'d>;

    fn next(&mut self) -> Option<LogPart<'d>> {
        self.skip_blanks();
        let (log, offset) = (self.log, self.at);
        let rest = log.get(offset..).filter(|rest| !rest.is_empty())?;
        let Some(content) = rest.strip_prefix(BEGIN) else { return Some(self.torn(offset)) };
        let begin = offset + BEGIN.len();
        // A record never contains the beginning of another: the wrapper that wrote it was killed.
        let mut from = 0;
        loop {
            let Some(tag) = memchr::memchr(b'<', &content[from..]).map(|found| from + found) else {
                return Some(self.torn(begin));
            };
            if content[tag..].starts_with(END) {
                self.at = begin + tag + END.len();
                return Some(LogPart::Record { offset, body: &content[..tag] });
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
            LogPart::Record { offset, body } => (true, offset, body),
            LogPart::Torn { offset, bytes } => (false, offset, bytes),
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
