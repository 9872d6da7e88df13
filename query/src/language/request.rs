//! Reads a ranking from a line: the number of rows, the order, and the kind or expression, in any order.
//!
//! ```text
//!   top by retained 3      top 3 $_ by retained      find type = "Foo" by size 10      histogram by kind size > 1K
//!          ──────── ─          ─    ───────────           ─────────── ─────── ──                 ─────── ─────────
//!            by    rows       rows      by                    rest      by   rows                  by      rest
//! ```
//!
//! `by NAME` and a number are taken out wherever they cannot belong to an expression: a number is one of rows as the
//! first or the last word, unless an operator comes before it.

use crate::arguments::Arguments;

/// A ranking as a line requests it.
#[derive(Debug)]
pub(crate) struct Request {
    /// Number of rows.
    pub(crate) rows: Option<usize>,
    /// The word after each `by`.
    pub(crate) by: Vec<String>,
    /// The other words: a kind, an expression, or both.
    pub(crate) rest: Arguments,
}

impl Request {
    /// Divides the words of `arguments`.
    pub(crate) fn of(arguments: &Arguments) -> Self {
        let arguments = arguments.divided();
        let words = arguments.words();
        let mut left: Vec<usize> = (0..words.len()).collect();
        let goes_on = |at: usize| !arguments.ends_quoted(at) && is_operator(&words[at]);
        let mut by = Vec::new();
        let mut at = 0;
        while at + 1 < left.len() {
            let is_by = words[left[at]] == "by" && !(at > 0 && goes_on(left[at - 1]));
            if is_by {
                let mut named = words[left[at + 1]].clone();
                left.drain(at..at + 2);
                // `by a, b` is `by a,b`.
                while named.ends_with(',') && at < left.len() {
                    named.push_str(&words[left.remove(at)]);
                }
                by.push(named);
            } else {
                at += 1;
            }
        }
        let number = |at: usize| words[left[at]].parse::<usize>().ok();
        let mut rows = None;
        if !left.is_empty() {
            let last = left.len() - 1;
            if let Some(first) = number(0) {
                rows = Some(first);
                left.remove(0);
            } else if let Some(number) = number(last).filter(|_| !goes_on(left[last - 1])) {
                rows = Some(number);
                left.pop();
            }
        }
        Request { rows, by, rest: arguments.only(&left) }
    }
}

/// Returns whether the next word belongs to this one.
pub(crate) fn is_operator(word: &str) -> bool {
    word.ends_with(['=', '~', '<', '>', '!', '&', '|', '(', '-'])
        || ["and", "or", "not", "in"].iter().any(|operator| word.eq_ignore_ascii_case(operator))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(line: &str) -> (Option<usize>, Vec<String>, String) {
        let request = Request::of(&Arguments::of_text(line).unwrap());
        (request.rows, request.by, request.rest.text())
    }

    #[test]
    fn words_come_in_any_order() {
        let expected = (Some(3), vec!["retained".to_owned()], "objects".to_owned());
        for line in ["3 objects by retained", "objects by retained 3", "by retained objects 3", "objects 3 by retained"]
        {
            assert_eq!(divided(line), expected, "{line}");
        }
        assert_eq!(divided("by kind by size"), (None, vec!["kind".to_owned(), "size".to_owned()], String::new()));
        assert_eq!(divided(""), (None, Vec::new(), String::new()));
        assert_eq!(divided("7"), (Some(7), Vec::new(), String::new()));
    }

    #[test]
    fn numbers_of_an_expression_stay_in_it() {
        assert_eq!(divided("size > 5").2, "size > 5");
        assert_eq!(divided("size > 5 3"), (Some(3), Vec::new(), "size > 5".to_owned()));
        assert_eq!(divided("5 size >5 and refs = 2"), (Some(5), Vec::new(), "size >5 and refs = 2".to_owned()));
        assert_eq!(divided("type = by and refs=2").1, Vec::<String>::new());
        assert_eq!(divided("$_ by retained"), (None, vec!["retained".to_owned()], "$_".to_owned()));
        assert_eq!(divided(r#"type = "by size" by size"#).2, r#"type = "by size""#);
        // Quoted characters are no operators.
        let (rows, by, rest) = divided(r#"type = "Vec<int>" by retained 5"#);
        assert_eq!((rows, &*by, &*rest), (Some(5), &["retained".to_owned()][..], r#"type = "Vec<int>""#));
        assert_eq!(divided("type ~ /x|/ 5").0, Some(5));
    }
}
