//! Finds the values of patterns in a text that comes in parts, in bounded memory.
//!
//! ```text
//!   what was searched │ context │ window, searched when it is full │ bytes of a character that is not whole
//!        (gone)
//! ```
//!
//! A match that begins near the end of the window may continue in the next part, so the window keeps its end. Matches must be
//! shorter than that end: a longer one would depend on where windows end, so it is an error unless one window holds the text.

use crate::pattern::ValuePattern;

/// Size at which the window is searched, in bytes.
const WINDOW_BYTES: usize = 256 << 10;
/// Bytes at the end of the window that are searched again with the next part.
const OVERLAP_BYTES: usize = 32 << 10;
/// Bytes before a match that an anchor, such as `^`, may examine.
const CONTEXT_BYTES: usize = 64;
/// Largest number of values of one pattern in a run.
const MOST_VALUES: usize = 1_000_000;

/// Finds the values of patterns in a text that comes in parts.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    searches: Vec<Search>,
    window: String,
    /// The beginning of a character.
    pending: Vec<u8>,
    /// A part of the text is gone.
    is_cut: bool,
}

/// A pattern, and the position up to which the window was searched for it.
#[derive(Debug)]
struct Search {
    pattern: ValuePattern,
    from: usize,
    found: Result<Vec<f64>, String>,
}

impl Finder {
    /// Resets the finder to search for the values of `patterns`.
    pub(crate) fn begin(&mut self, patterns: &[ValuePattern]) {
        self.searches = patterns
            .iter()
            .map(|pattern| Search { pattern: pattern.clone(), from: 0, found: Ok(Vec::new()) })
            .collect();
        self.window.clear();
        self.pending.clear();
        self.is_cut = false;
    }

    /// Whether the text since [`Finder::begin`] was longer than one window.
    pub(crate) fn was_cut(&self) -> bool {
        self.is_cut
    }

    /// Takes the next part of the text.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if self.searches.is_empty() {
            return;
        }
        let joined;
        let bytes = if self.pending.is_empty() {
            bytes
        } else {
            joined = [&self.pending, bytes].concat();
            self.pending.clear();
            &joined
        };
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.window.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let may_go_on = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && may_go_on {
                self.pending = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.window.push(char::REPLACEMENT_CHARACTER);
            }
        }
        if self.window.len() >= WINDOW_BYTES {
            self.search(false);
        }
    }

    /// Ends the text. Returns the values of each pattern, or the reason for which it found no number.
    pub(crate) fn finish(&mut self) -> Vec<Result<Vec<f64>, String>> {
        if !std::mem::take(&mut self.pending).is_empty() {
            self.window.push(char::REPLACEMENT_CHARACTER);
        }
        self.search(true);
        self.window.clear();
        std::mem::take(&mut self.searches).into_iter().map(|search| search.found).collect()
    }

    fn search(&mut self, is_end: bool) {
        let end = if is_end { self.window.len() + 1 } else { self.window.len().saturating_sub(OVERLAP_BYTES) };
        self.is_cut |= !is_end;
        for search in &mut self.searches {
            search.find(&self.window, end, self.is_cut);
        }
        if is_end {
            return;
        }
        let least = self.searches.iter().map(|search| search.from).min().unwrap_or_default();
        let cut = boundary(&self.window, least.saturating_sub(CONTEXT_BYTES));
        self.window.drain(..cut);
        self.searches.iter_mut().for_each(|search| search.from -= cut);
    }
}

impl Search {
    /// Takes the values of all matches that begin before `end`.
    fn find(&mut self, text: &str, end: usize, is_cut: bool) {
        while self.from <= text.len() {
            let Some(captures) = self.pattern.captures_at(text, self.from) else { break };
            let whole = captures.get(0).map(|whole| whole.range()).unwrap_or_default();
            if whole.start >= end {
                break;
            }
            self.from = if whole.is_empty() { boundary_after(text, whole.end) } else { whole.end };
            if let Ok(found) = &mut self.found {
                match self.pattern.number(&captures) {
                    _ if is_cut && whole.len() > OVERLAP_BYTES => {
                        self.found = Err(format!("a match that is longer than {} KiB", OVERLAP_BYTES >> 10));
                    }
                    Ok(_) if found.len() >= MOST_VALUES => self.found = Err(format!("more than {MOST_VALUES} values")),
                    Ok(number) => found.push(number),
                    Err(wrong) => self.found = Err(wrong),
                }
            }
        }
        self.from = self.from.max(boundary(text, end.min(text.len())));
    }
}

/// The last place that begins a character, up to this one.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}

fn boundary_after(text: &str, at: usize) -> usize {
    (at + 1..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(patterns: &[&str], text: &[u8], part: usize) -> Vec<Result<Vec<f64>, String>> {
        let patterns: Vec<ValuePattern> = patterns.iter().map(|text| text.parse().unwrap()).collect();
        let mut finder = Finder::default();
        finder.begin(&patterns);
        for part in text.chunks(part) {
            finder.take(part);
            assert!(finder.window.len() < 2 * WINDOW_BYTES + part.len());
        }
        finder.finish()
    }

    #[test]
    fn values_are_found_wherever_the_text_is_divided() {
        let text = "x=1 µ\n y=2\nx=3\ny=4 \u{1F600} x=55".as_bytes();
        for part in 1..text.len() {
            let found = found(&["x=x=([0-9]+)", "line=^x=([0-9]+)$", "n=^ ?y=([0-9]+)"], text, part);
            assert_eq!(found, [Ok(vec![1.0, 3.0, 55.0]), Ok(vec![3.0]), Ok(vec![2.0, 4.0])], "{part}");
        }
    }

    #[test]
    fn a_long_output_is_searched_from_its_beginning() {
        // A number at each end, and one at each place where a window may end.
        let mut text = b"early=7\n".to_vec();
        let mut expected = Vec::new();
        let mut number = 0_u32;
        while text.len() < 5 * WINDOW_BYTES {
            number += 1;
            expected.push(f64::from(number));
            text.extend_from_slice(format!("\nn={number};{}", "x".repeat(1000 + number as usize % 977)).as_bytes());
        }
        for part in [4096, 65_536, 500_000] {
            let found = found(&["early=early=([0-9]+)", "n=^n=([0-9]+);"], &text, part);
            assert_eq!(found, [Ok(vec![7.0]), Ok(expected.clone())], "{part}");
        }
    }

    #[test]
    fn a_match_that_is_too_long_is_said() {
        let text = |length: usize| [b"x=1 ", vec![b'y'; length].as_slice(), b"\n"].concat();
        let too_long = [Err("a match that is longer than 32 KiB".to_owned())];
        assert_eq!(found(&["x=x=([0-9]+) y+"], &text(40_000), 4096), [Ok(vec![1.0])], "all of it is there");
        let long = [text(20_000), text(300_000)].concat();
        for part in [4096, 500_000] {
            assert_eq!(found(&["x=x=([0-9]+) y+"], &long, part), too_long, "{part}");
            assert_eq!(found(&["x=x=([0-9]+) "], &long, part), [Ok(vec![1.0, 1.0])], "{part}");
        }
    }

    #[test]
    fn what_is_no_number_is_said() {
        let told = found(&["x=x=(.*)"], b"x=1\nx=NaN\nx=2", 3);
        assert_eq!(told, [Err("`NaN`, which is no finite number".to_owned())]);
        assert_eq!(
            found(&["x=x=(.*)"], b"x=\xff\xc3", 2),
            [Err("`\u{fffd}\u{fffd}`, which is no finite number".to_owned())]
        );
        assert_eq!(found(&["x=x=([0-9]*)"], b"none", 2), [Ok(vec![])]);
    }
}
