//! The beginning and the end of a text that may be long.

/// The bytes that are kept of each end.
const END_BYTES: usize = 4096;

/// The first and the last bytes of what was printed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends {
    first: Vec<u8>,
    last: Vec<u8>,
    /// Bytes that are in neither.
    left_out: u64,
}

impl Ends {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.last.clear();
        self.left_out = 0;
    }

    /// Takes what follows.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(END_BYTES - self.first.len()));
        self.first.extend_from_slice(first);
        let skipped = rest.len().saturating_sub(END_BYTES);
        self.last.extend_from_slice(&rest[skipped..]);
        self.left_out += skipped as u64;
        // Not at each call: moving the bytes takes longer than to keep twice as many.
        if self.last.len() > 2 * END_BYTES {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let more = self.last.len().saturating_sub(END_BYTES);
        self.last.drain(..more);
        self.left_out += more as u64;
    }

    /// Both, and between them how much was left out.
    pub(crate) fn text(&mut self) -> String {
        self.shorten();
        let left_out = match self.left_out {
            0 => String::new(),
            bytes => format!("\n[barrow left out {bytes} bytes]\n"),
        };
        match left_out.is_empty() {
            true => String::from_utf8_lossy(&[self.first.as_slice(), &self.last].concat()).into_owned(),
            false => {
                let [first, last] = [&self.first, &self.last].map(|end| String::from_utf8_lossy(end));
                format!("{first}{left_out}{last}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_bytes_are_kept() {
        for part in [1, 7, 1000, 5000, 100_000] {
            for length in [0, 10, END_BYTES, 2 * END_BYTES, 2 * END_BYTES + 1, 50_000] {
                let text: Vec<u8> = (0..length).map(|at| b'a' + (at % 26) as u8).collect();
                let mut ends = Ends::default();
                text.chunks(part).for_each(|part| ends.take(part));
                let found = ends.text();
                if length <= 2 * END_BYTES {
                    assert_eq!(found.as_bytes(), text, "{part} {length}");
                    continue;
                }
                let told = format!("\n[barrow left out {} bytes]\n", length - 2 * END_BYTES);
                assert!(found.contains(&told), "{part} {length}");
                assert!(found.as_bytes().starts_with(&text[..END_BYTES]), "{part} {length}");
                assert!(found.as_bytes().ends_with(&text[length - END_BYTES..]), "{part} {length}");
            }
        }
    }
}
