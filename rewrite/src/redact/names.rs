//! Replaces names identifier by identifier, so that composed names keep their structure.

use barrow_analyzer::TextPattern;

use super::cipher::{Digit, Domain, permute_digits};
use super::key::Key;
use super::texts;
use crate::contents::vocabulary::Words;

/// Joins the names of a thread and of a function, which are separate names.
const JOINT: &str = ": ";
/// The radices of letters and of decimal digits. No class of characters of a text has the same radix.
const LETTERS: u32 = 52;
const DECIMALS: u32 = 10;

/// Replaces names. Equal identifiers are replaced by equal ones, different identifiers by different ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'k> {
    pub(super) key: &'k Key,
    /// Names that are kept.
    pub(super) kept: &'k [TextPattern],
    pub(super) words: &'k Words,
}

impl Names<'_> {
    /// The replacement of a name. ASCII letters are replaced by letters, digits by digits, characters beyond ASCII by
    /// others with as many bytes. Everything else is kept.
    pub(super) fn replace(self, name: &str) -> String {
        let parts: Vec<String> = name.split(JOINT).map(|part| self.part(part)).collect();
        parts.join(JOINT)
    }

    /// Whether all parts of a name are kept.
    pub(super) fn stays(self, name: &str) -> bool {
        name.split(JOINT).all(|part| self.is_kept(part))
    }

    /// Whether a name is kept.
    fn is_kept(self, name: &str) -> bool {
        self.words.is_word(name) || self.kept.iter().any(|pattern| pattern.matches(name))
    }

    fn part(self, name: &str) -> String {
        if self.is_kept(name) {
            return name.to_owned();
        }
        let (before, own, behind) = self.words.split(name);
        if own.len() < name.len() && self.is_kept(own) {
            return name.to_owned();
        }
        // No name is replaced by one that stays. The circle of replacements leads back to the name at last.
        let mut new = own.to_owned();
        loop {
            new = self.replaced(&new);
            let whole = format!("{before}{new}{behind}");
            if !self.is_kept(&new) && !self.is_kept(&whole) && self.words.split(&whole) == (before, &new, behind) {
                return whole;
            }
        }
    }

    fn replaced(self, name: &str) -> String {
        let mut out = String::with_capacity(name.len());
        let mut rest = name;
        while let Some(first) = rest.chars().next() {
            let is_inside = is_of_identifier(first);
            let end = rest.find(|one| is_of_identifier(one) != is_inside).unwrap_or(rest.len());
            let (own, after) = rest.split_at(end);
            if is_inside {
                self.identifier(own, &mut out)
            } else {
                out.push_str(own)
            }
            rest = after;
        }
        out
    }

    fn identifier(self, identifier: &str, out: &mut String) {
        let mut digits: Vec<Digit> = identifier.chars().filter(|&one| one != '_').map(digit).collect();
        permute_digits(self.key, Domain::Names, &mut digits);
        let mut digits = digits.into_iter();
        let one = |old| if old == '_' { old } else { digits.next().map_or(old, character) };
        out.extend(identifier.chars().map(one));
    }
}

/// Any character beyond ASCII may replace another one, so all of them count.
fn is_of_identifier(one: char) -> bool {
    one.is_ascii_alphanumeric() || one == '_' || !one.is_ascii()
}

fn digit(one: char) -> Digit {
    let code = one as u32;
    match one {
        'a'..='z' => Digit { value: code - u32::from(b'a'), radix: LETTERS },
        'A'..='Z' => Digit { value: 26 + code - u32::from(b'A'), radix: LETTERS },
        '0'..='9' => Digit { value: code - u32::from(b'0'), radix: DECIMALS },
        _ => texts::digit(one),
    }
}

fn character(digit: Digit) -> char {
    // Letters and digits have values below 52.
    let letter = |first: u8, value: u32| char::from(first + value as u8);
    match digit.radix {
        LETTERS if digit.value < 26 => letter(b'a', digit.value),
        LETTERS => letter(b'A', digit.value - 26),
        DECIMALS => letter(b'0', digit.value),
        _ => texts::character(digit),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};
    use std::sync::LazyLock;

    use barrow_format::rows::{WordPlace, WordValues};
    use proptest::prelude::*;

    use super::*;

    const KEY: Key = Key::from_bytes([5; 32]);
    static WORDS: LazyLock<Words> = LazyLock::new(|| {
        let words = [
            ("int", WordPlace::Whole),
            ("byte", WordPlace::Whole),
            ("thread a", WordPlace::Whole),
            ("thread ", WordPlace::BeforeNames),
            ("Z", WordPlace::BeforeNames),
            (" cpu", WordPlace::BehindNames),
            ("1", WordPlace::BehindNames),
        ];
        Words::new(words.into_iter().map(|(word, place)| (word, place, WordValues::Texts)))
    });

    fn keeping(kept: &[TextPattern]) -> Names<'_> {
        Names { key: &KEY, kept, words: &WORDS }
    }

    fn patterns(patterns: &[&str]) -> Vec<TextPattern> {
        patterns.iter().map(|pattern| TextPattern::parse(pattern).unwrap()).collect()
    }

    fn plain(name: &str) -> String {
        keeping(&[]).replace(name)
    }

    #[test]
    fn structure_stays() {
        let name = plain("com.acme.Order$Item_7[]");
        let shape: String = name.chars().map(|one| if one.is_ascii_alphabetic() { 'x' } else { one }).collect();
        assert!(shape.starts_with("xxx.xxxx.xxxxx$xxxx_") && shape.ends_with("[]"), "{name}");
        assert!(shape.as_bytes()[20].is_ascii_digit(), "{name}");
        // The same package, and the same identifier elsewhere.
        let package = &name[..9];
        assert!(plain("com.acme.Customer").starts_with(package) && plain("com.acme") == package[..8]);
        assert!(plain("(acme)").contains(&package[4..8]));
        assert_ne!(plain("com.acme"), "com.acme");
        assert_eq!(plain("<[ ]>"), "<[ ]>");
        assert_eq!(plain("größe").len(), "größe".len());
        assert!(plain("thread main7 cpu").starts_with("thread ") && plain("thread main7 cpu").ends_with(" cpu"));
        assert_eq!(plain("thread int cpu"), "thread int cpu");
        assert_eq!(plain("main7: run (job.rb:3)"), format!("{}: {}", plain("main7"), plain("run (job.rb:3)")));
    }

    #[test]
    fn kept_names_stay_and_replace_no_other() {
        let kept = patterns(&["java.*", "??", "x*"]);
        let names = keeping(&kept);
        for name in ["java.lang.String[]", "ab", "x-ray", "int", "byte[]"] {
            assert_eq!(names.replace(name), name);
        }
        assert_ne!(names.replace("com.java.List"), "com.java.List");
        let letters = || ('a'..='z').chain('A'..='Z');
        let one_letter: BTreeSet<String> = letters().map(String::from).collect();
        let most: Vec<TextPattern> = patterns(&["/^[a-y]$/"]);
        let names = keeping(&most);
        let replaced: BTreeSet<String> = one_letter.iter().map(|name| names.replace(name)).collect();
        assert_eq!(replaced, one_letter);
        assert!(('a'..='y').all(|one| names.replace(&one.to_string()) == one.to_string()));
    }

    #[test]
    fn all_short_names_stay_different() {
        let alphabet = ['a', 'b', 'Z', '1', '_', '.', ' ', 'é', ':'];
        let mut names = vec![String::new()];
        for _ in 0..4 {
            names = names.iter().flat_map(|name| alphabet.iter().map(move |one| format!("{name}{one}"))).collect();
        }
        let kept = patterns(&["a*", "?.?1"]);
        for kept in [&[][..], &kept] {
            let replaced: HashSet<String> = names.iter().map(|name| keeping(kept).replace(name)).collect();
            assert_eq!(replaced.len(), names.len());
        }
    }

    proptest! {
        #[test]
        fn lengths_stay_and_different_names_stay_different(one in any::<String>(), other in any::<String>()) {
            let (new, new_other) = (plain(&one), plain(&other));
            prop_assert_eq!(new.len(), one.len());
            prop_assert_eq!(new.encode_utf16().count(), one.encode_utf16().count());
            prop_assert_eq!(one == other, new == new_other);
        }
    }
}
