//! Texts of which only the beginning was recorded. They end with a mark:
//!
//! ```text
//!   …                          of V8, which does not say how long they are
//!   … (5000 characters)        of HPROF: units of UTF-16
//!   ... (5000 characters)      of Python
//!   ... (5000 bytes)           of Python: the text is what `repr` says of bytes
//!   … (123 bytes left out)     longer than a recording holds
//! ```

use barrow_expressions::{Beginning, Pattern, TextTest};

/// Importers shorten no text that is shorter, in bytes.
const LEAST_SHORTENED: usize = 100;
/// Starts the mark.
const MARK: &str = "…";
/// Starts the mark of Python.
const MARK_OF_PYTHON: &str = "...";
/// The greatest number of bytes of a character.
const MOST_CHARACTER_BYTES: u64 = 4;

/// What is known of a text that ends with the mark of those that were shortened; `None` of other texts.
pub(crate) fn beginning(text: &str) -> Option<Beginning<'_>> {
    if text.len() < LEAST_SHORTENED {
        return None;
    }
    if let Some(known) = text.strip_suffix(MARK) {
        return Some(Beginning { text: known, characters: (known.chars().count() as u64, u64::MAX) });
    }
    let (start, count) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let (digits, unit) = count.split_once(' ')?;
    let number: u64 = digits.parse().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))?;
    let mark = if start.ends_with(MARK) { MARK } else { MARK_OF_PYTHON };
    let known = start.strip_suffix(mark)?;
    let characters = known.chars().count() as u64;
    let (least, most) = match (mark, unit) {
        (MARK_OF_PYTHON, "characters") => (number, number),
        (MARK_OF_PYTHON, "bytes") => (characters, u64::MAX),
        // A character beyond U+FFFF is two units. Half of one is written as several characters.
        (MARK, "characters") if known.contains("\\u") => (characters, u64::MAX),
        (MARK, "characters") => (number.div_ceil(2), number),
        (MARK, "bytes left out") => {
            (characters.saturating_add(number.div_ceil(MOST_CHARACTER_BYTES)), characters.saturating_add(number))
        }
        _ => return None,
    };
    (characters <= most).then_some(Beginning { text: known, characters: (least.max(characters), most) })
}

/// Returns whether a text ends with the mark of those that were shortened.
#[must_use]
pub fn is_shortened(text: &str) -> bool {
    beginning(text).is_some()
}

/// The number of places that importers write for half of a character, which no text can hold, or that a program wrote so:
/// `\uD83D`.
fn halves(text: &str) -> u64 {
    const DIGITS: usize = 4;
    let of_half = |digits: &str| u32::from_str_radix(digits, 16).is_ok_and(|unit| (0xd800..=0xdfff).contains(&unit));
    let is_half =
        |(at, escape): &(usize, &str)| text.get(at + escape.len()..at + escape.len() + DIGITS).is_some_and(of_half);
    text.match_indices("\\u").filter(is_half).count() as u64
}

/// Returns whether a text passes a test; `None` if that depends on what was left out of it, or on whether half of a character
/// is written as six.
pub(crate) fn tested(test: &TextTest, text: &str) -> Option<bool> {
    /// Characters of `\uD83D` beyond the one.
    const FURTHER: u64 = 5;
    match (beginning(text), &test.pattern) {
        (Some(beginning), _) => test.holds_for(&beginning),
        (None, Pattern::Length(range)) if halves(text) > 0 => {
            let most = text.chars().count() as u64;
            range.of_all(most - FURTHER * halves(text), most).map(|holds| holds != test.negated)
        }
        (None, _) => Some(test.holds(Some(text))),
    }
}

#[cfg(test)]
mod tests {
    use barrow_expressions::Range;

    use super::*;

    #[test]
    fn shortened_texts_end_with_a_mark() {
        let long = "x".repeat(1024);
        for (mark, characters) in [
            ("…", Some((1024, u64::MAX))),
            ("… (5000 characters)", Some((2500, 5000))),
            ("... (5000 characters)", Some((5000, 5000))),
            ("… (123 bytes left out)", Some((1055, 1147))),
            ("... (5000 bytes)", Some((1024, u64::MAX))),
            ("… (5000 bytes)", None),
            ("... (123 bytes left out)", None),
            ("...", None),
            ("... (5 characters)", None),
            ("", None),
            ("… (a few characters)", None),
            ("… and more", None),
        ] {
            let text = format!("{long}{mark}");
            let expected = characters.map(|characters| Beginning { text: &long, characters });
            assert_eq!(beginning(&text), expected, "{mark}");
            // A text of the program.
            assert_eq!(beginning(&format!("Loading{mark}")), None, "{mark}");
        }
    }

    #[test]
    fn half_of_a_character_may_be_one_or_six() {
        let holds = |operator, length| {
            let pattern = Pattern::Length(Range::compared(operator, length).unwrap());
            let test = |negated| TextTest { pattern: pattern.clone(), negated };
            let opposite = tested(&test(true), "ab\\uD83Dc").map(|holds| !holds);
            assert_eq!(tested(&test(false), "ab\\uD83Dc"), opposite);
            opposite
        };
        assert_eq!([holds(">", 9), holds("<", 10), holds(">", 3)], [Some(false), Some(true), Some(true)]);
        assert_eq!([holds("=", 4), holds("=", 9), holds(">", 4)], [None; 3]);
        assert_eq!(["\\uD83", "\\u0041", "\\ué𝄞x", "\\uDFFF\\ud800"].map(halves), [0, 0, 0, 2]);
    }

    #[test]
    fn a_shortened_text_equals_nothing_for_sure() {
        let shortened = format!("{}… (130 characters)", "x".repeat(100));
        let equals = |text: String, negated| tested(&TextTest { pattern: Pattern::Exact(text), negated }, &shortened);
        assert_eq!((equals("x".repeat(130), false), equals("x".repeat(130), true)), (None, None));
        assert_eq!((equals("x".repeat(131), false), equals("x".repeat(131), true)), (Some(false), Some(true)));
        assert_eq!((equals("y".repeat(130), false), equals("y".repeat(130), true)), (Some(false), Some(true)));
    }
}
