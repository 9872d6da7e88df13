//! Screens lines of JSON objects while they are unpacked.

use crate::screen::{Screen, Text};

/// Admits text in which every line is blank or begins as a JSON object.
pub(crate) struct LineStarts {
    /// Whether the next byte begins a line.
    begins_line: bool,
}

impl LineStarts {
    /// The screen of a dump, from its first byte on.
    pub(crate) fn boxed(_first_bytes: &[u8]) -> Option<Box<dyn Screen>> {
        Some(Box::new(LineStarts { begins_line: true }))
    }
}

impl Screen for LineStarts {
    fn admits(&mut self, bytes: &[u8]) -> bool {
        if !Text.admits(bytes) {
            return false;
        }
        let can_begin = |byte: u8| byte == b'{' || byte.is_ascii_whitespace();
        if let (true, Some(&first)) = (self.begins_line, bytes.first())
            && !can_begin(first)
        {
            return false;
        }
        self.begins_line = bytes.last() == Some(&b'\n');
        memchr::memchr_iter(b'\n', bytes).all(|newline| bytes.get(newline + 1).is_none_or(|&first| can_begin(first)))
    }
}
