//! Screens lines of JSON objects while they are unpacked.

use crate::intake::screen::Screen;

/// Maximum number of lines that do not begin as objects, and of zero bytes: real dumps have had two, and an import
/// leaves such lines out.
const MOST_WRONG: usize = 256;

/// Admits text whose lines are blank or begin as JSON objects, with few exceptions.
pub(crate) struct LineStarts {
    /// The next byte begins a line.
    begins_line: bool,
    /// Number of other lines, and of zero bytes.
    wrong: usize,
}

impl LineStarts {
    /// The screen of a dump, from its first byte on.
    pub(crate) fn boxed(_first_bytes: &[u8]) -> Option<Box<dyn Screen>> {
        Some(Box::new(LineStarts { begins_line: true, wrong: 0 }))
    }
}

impl Screen for LineStarts {
    fn admits(&mut self, bytes: &[u8]) -> bool {
        let first = bytes.first().filter(|_| self.begins_line);
        let later = memchr::memchr_iter(b'\n', bytes).filter_map(|newline| bytes.get(newline + 1));
        let firsts = first.into_iter().chain(later);
        let lines = firsts.filter(|&&byte| byte != b'{' && !byte.is_ascii_whitespace()).count();
        self.wrong += lines + memchr::memchr_iter(0, bytes).count();
        self.begins_line = bytes.last() == Some(&b'\n');
        self.wrong <= MOST_WRONG
    }
}
