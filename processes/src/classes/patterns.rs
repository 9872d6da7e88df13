//! Patterns of the rules of a schema: all patterns on one field are matched at once.

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// Maximum size of one compiled pattern, in bytes: a file of a user must not fill the memory with `(.{1000}){1000}`.
const PATTERN_BYTES: usize = 1 << 20;
/// Maximum size of all patterns on a field together, compiled, in bytes.
const SET_BYTES: usize = 16 << 20;

/// Compiles a pattern.
///
/// # Errors
/// A description of the mistake.
pub(super) fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).size_limit(PATTERN_BYTES).build().map_err(|error| told(text, &error))
}

fn told(text: &str, error: &regex::Error) -> String {
    match error {
        regex::Error::Syntax(message) => {
            // The last line is the message; those before it show the place.
            let what = message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("the pattern `{text}` is no regular expression: {what}")
        }
        _ => format!("the pattern `{text}` is too large"),
    }
}

/// A set of rules, one bit per rule.
pub(super) type RuleBits = Box<[u64]>;

/// The patterns of the rules of a schema on one field.
#[derive(Debug)]
pub(super) struct FieldPatterns {
    set: RegexSet,
    /// The rule of each pattern.
    rules: Vec<usize>,
    /// Every rule.
    all: RuleBits,
    /// The rules without a pattern on this field.
    indifferent: RuleBits,
}

impl FieldPatterns {
    /// `patterns` has one entry for each rule that tests the field; there are `count` rules.
    ///
    /// # Errors
    /// The compiled patterns are too large together.
    pub(super) fn new(patterns: &[(usize, &str)], count: usize) -> Result<Self, String> {
        let set = RegexSetBuilder::new(patterns.iter().map(|(_, text)| text)).size_limit(SET_BYTES).build();
        let set = set.map_err(|_| "the patterns of this schema are too large together".to_owned())?;
        let mut indifferent = vec![u64::MAX; count.div_ceil(64)].into_boxed_slice();
        (count..indifferent.len() * 64).for_each(|rule| indifferent[rule / 64] &= !(1 << (rule % 64)));
        let all = indifferent.clone();
        let rules: Vec<usize> = patterns.iter().map(|&(rule, _)| rule).collect();
        rules.iter().for_each(|&rule| indifferent[rule / 64] &= !(1 << (rule % 64)));
        Ok(FieldPatterns { set, rules, all, indifferent })
    }

    /// Whether no rule tests the field.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Every rule.
    pub(super) fn all(&self) -> RuleBits {
        self.all.clone()
    }

    /// The rules whose pattern on this field a text satisfies, and those without one.
    pub(super) fn satisfied(&self, text: &str) -> RuleBits {
        let mut bits = self.indifferent.clone();
        if !self.is_empty() {
            self.set.matches(text).into_iter().map(|at| self.rules[at]).for_each(|rule| {
                bits[rule / 64] |= 1 << (rule % 64);
            });
        }
        bits
    }
}

/// The rules of a set, in ascending order.
pub(super) fn rules_of(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        std::iter::successors(Some(bits), |&bits| Some(bits & bits.wrapping_sub(1)))
            .take_while(|&bits| bits != 0)
            .map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_selects_rules() {
        let count = 70;
        let field = FieldPatterns::new(&[(0, "^a"), (65, "b")], count).unwrap();
        let satisfied = |text: &str| rules_of(&field.satisfied(text)).collect::<Vec<_>>();
        let all_but = |left_out: &[usize]| (0..count).filter(|rule| !left_out.contains(rule)).collect::<Vec<_>>();
        assert_eq!(satisfied("ab"), all_but(&[]));
        assert_eq!(satisfied("b"), all_but(&[0]));
        assert_eq!(satisfied(""), all_but(&[0, 65]));
        assert_eq!(rules_of(&FieldPatterns::new(&[], 64).unwrap().satisfied("x")).count(), 64);
        assert_eq!(rules_of(&FieldPatterns::new(&[], 0).unwrap().satisfied("x")).count(), 0);
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_one_line() {
        assert_eq!(pattern("a(b").unwrap_err(), "the pattern `a(b` is no regular expression: unclosed group");
        assert_eq!(pattern("(a{1000}){1000}").unwrap_err(), "the pattern `(a{1000}){1000}` is too large");
    }
}
