//! Reads the numbers that a line shows of several objects or processes together.
//!
//! ```text
//!   group type = "Session" by .state show sum(.hits), max(size), count 5
//!                                         ─────────  ─────────   ───── ─
//!                                                 aggregates          rows
//! ```
//!
//! After an operator `show` is a value of the expression.

use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::language::line::unquoted;
use crate::language::quotes::scan;
use crate::language::request::is_operator;

/// The word before aggregates.
pub(crate) const SHOW: &str = "show";

/// A way to make one number of those of several objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    /// How many have a number; without a number in parentheses how many there are.
    Count,
    Sum,
    Mean,
    Min,
    Max,
}

/// The functions by name.
const FUNCTIONS: [(&str, Function); 5] = [
    ("sum", Function::Sum),
    ("mean", Function::Mean),
    ("min", Function::Min),
    ("max", Function::Max),
    ("count", Function::Count),
];

/// The beginnings of aggregates, as completion offers them.
#[must_use]
pub(crate) fn aggregate_beginnings() -> Vec<String> {
    FUNCTIONS.iter().map(|(name, _)| format!("{name}(")).collect()
}

/// One number of several objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aggregate {
    pub(crate) function: Function,
    /// The field or the attribute whose numbers it is made of; `None` of [`Function::Count`] without parentheses.
    pub(crate) operand: Option<String>,
    /// Its key in answers: `sum(.hits)`.
    pub(crate) key: String,
}

/// The aggregates of a line, and its other words.
#[derive(Debug)]
pub(crate) struct ShowClause {
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) rest: Arguments,
}

impl ShowClause {
    /// Takes `show AGGREGATE[, AGGREGATE]..` out of the words.
    ///
    /// # Errors
    /// A usage error for what is no aggregate.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self, QueryError> {
        let arguments = arguments.divided();
        let count = arguments.words().len();
        let Some(show) = (0..count).find(|&at| match at.checked_sub(1) {
            _ if arguments.typed(at) != SHOW => false,
            Some(before) => arguments.ends_quoted(before) || !is_operator(arguments.typed(before)),
            // A kind of objects may have this name.
            None => count > 1,
        }) else {
            return Ok(ShowClause { aggregates: Vec::new(), rest: arguments });
        };
        let mut end = show + 1;
        let mut text = String::new();
        while end < count && (end == show + 1 || goes_on_after(&text)? || arguments.typed(end).starts_with(',')) {
            text.push_str(arguments.typed(end));
            end += 1;
        }
        let mut aggregates: Vec<Aggregate> = Vec::new();
        for part in parts(&text)? {
            let aggregate = Aggregate::parse(part)?;
            if !aggregates.contains(&aggregate) {
                aggregates.push(aggregate);
            }
        }
        let rest: Vec<usize> = (0..show).chain(end..count).collect();
        Ok(ShowClause { aggregates, rest: arguments.only(&rest) })
    }

    /// Takes the aggregate that orders groups out of the words after `by`.
    ///
    /// # Errors
    /// A usage error for an aggregate that is not shown.
    pub(crate) fn take_order(&self, by: &mut [String]) -> Result<Option<usize>, QueryError> {
        let mut order = None;
        for words in by {
            let (aggregates, others): (Vec<&str>, Vec<&str>) = words.split(',').partition(|word| is_aggregate(word));
            for word in aggregates {
                let shown = self.aggregates.iter().position(|one| unquoted(&one.key) == unquoted(word));
                let missing = || QueryError::usage(format!("groups have no order `{word}` unless they `show {word}`"));
                order = Some(shown.ok_or_else(missing)?);
            }
            *words = others.join(",");
        }
        Ok(order)
    }
}

impl Aggregate {
    fn parse(text: &str) -> Result<Self, QueryError> {
        let (name, operand) = match text.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.strip_suffix(')').map(str::trim)),
            None => (text, Some("")),
        };
        let function = FUNCTIONS.iter().find(|(known, _)| *known == name).map(|&(_, function)| function);
        let (Some(function), Some(operand)) = (function, operand) else {
            let told = if text.is_empty() { "show what?".to_owned() } else { format!("`{text}` cannot be shown;") };
            return Err(QueryError::usage(format!(
                "{told} there are `count`, `sum`, `mean`, `min` and `max` of a field or an attribute: \
                 `show sum(.count), max(size)`"
            )));
        };
        match (operand, function) {
            ("", Function::Count) => Ok(Aggregate { function, operand: None, key: name.to_owned() }),
            ("", _) => Err(QueryError::usage(format!("`{name}` of which numbers? `{name}(size)`, `{name}(.count)`"))),
            _ => Ok(Aggregate { function, operand: Some(operand.to_owned()), key: format!("{name}({operand})") }),
        }
    }
}

fn is_aggregate(word: &str) -> bool {
    word.split_once('(').is_some_and(|(name, _)| FUNCTIONS.iter().any(|(known, _)| *known == name))
}

/// Returns whether the next word belongs to these aggregates.
fn goes_on_after(text: &str) -> Result<bool, QueryError> {
    let mut depth = 0_i64;
    scan(text, |_, c| match c {
        '(' => depth += 1,
        ')' => depth -= 1,
        _ => {}
    })?;
    Ok(depth > 0 || text.ends_with(','))
}

/// The parts between commas that are not in parentheses.
fn parts(text: &str) -> Result<Vec<&str>, QueryError> {
    let (mut depth, mut start, mut parts) = (0_i64, 0, Vec::new());
    scan(text, |position, c| match c {
        '(' => depth += 1,
        ')' => depth -= 1,
        ',' if depth == 0 => {
            parts.push(text[start..position].trim());
            start = position + 1;
        }
        _ => {}
    })?;
    parts.push(text[start..].trim());
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Result<(Vec<String>, String), QueryError> {
        let shown = ShowClause::of(&Arguments::of_text(line)?)?;
        Ok((shown.aggregates.into_iter().map(|one| one.key).collect(), shown.rest.text()))
    }

    #[test]
    fn aggregates_end_where_no_comma_follows() {
        for (line, keys, rest) in [
            ("size > 5 show sum(.hits)", &["sum(.hits)"][..], "size > 5"),
            (
                "type = A by .b show sum( .hits ), max(size) ,count 5",
                &["sum(.hits)", "max(size)", "count"],
                "type = A by .b 5",
            ),
            ("show count", &["count"], ""),
            ("show count(.a),count(.a),min(.\"a, b (c\") by size", &["count(.a)", "min(.\"a, b (c\")"], "by size"),
            ("type = show and name != show", &[], "type = show and name != show"),
            ("type = \"a\" and not name ~ /=/ show sum(id)", &["sum(id)"], "type = \"a\" and not name ~ /=/"),
            ("show", &[], "show"),
            ("", &[], ""),
        ] {
            assert_eq!(
                shown(line).unwrap(),
                (keys.iter().map(|&key| key.to_owned()).collect(), rest.to_owned()),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_no_aggregate_is_refused() {
        for (line, message) in [
            ("type = A show", "show what?"),
            ("type = A show capacity", "`capacity` cannot be shown"),
            ("type = A show sum", "`sum` of which numbers?"),
            ("type = A show sum()", "`sum` of which numbers?"),
            ("type = A show sum(.a", "`sum(.a` cannot be shown"),
            ("type = A show sum(.a),", "show what?"),
            ("type = A show total(.a)", "`total(.a)` cannot be shown"),
        ] {
            let error = shown(line).unwrap_err().to_string();
            assert!(error.contains(message), "{line}: {error}");
        }
    }

    #[test]
    fn an_order_is_an_aggregate_that_is_shown() {
        let shown = ShowClause::of(&Arguments::of_text("show sum(.a), max(.\"b c\")").unwrap()).unwrap();
        let order = |words: &str| {
            let mut by = vec![words.to_owned()];
            shown.take_order(&mut by).map(|order| (order, by.remove(0))).ok()
        };
        assert_eq!(order(".k,sum(.a)"), Some((Some(0), ".k".to_owned())));
        assert_eq!(order("max(.b c)"), Some((Some(1), String::new())));
        assert_eq!(order(".k,size"), Some((None, ".k,size".to_owned())));
        assert_eq!(order("max(.a)"), None);
    }
}
