//! Paths from a row to a value: `.owner."full name"`, `.attributes["tenant"].name`, `.["tenant"]`.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use crate::delimited::{delimited, ends_word};
use crate::error::ExpressionError;
use crate::field::Number;

/// A step from an object to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// `.name`: the field of this name.
    Field(String),
    /// `["key"]`: what the object, which is a map, holds under this key.
    Key(MapKey),
}

/// A key of a map, as people type it.
#[derive(Debug, Clone)]
pub enum MapKey {
    /// `[null]`.
    Null,
    /// `[true]`, `[false]`.
    Boolean(bool),
    /// `[42]`, `[-0.5]`, `[NaN]`.
    Number(Number),
    /// `["tenant"]`: a text, or the name of a constant of an enumeration.
    Text(String),
}

impl PartialEq for MapKey {
    fn eq(&self, other: &MapKey) -> bool {
        match (self, other) {
            (MapKey::Null, MapKey::Null) => true,
            (MapKey::Boolean(one), MapKey::Boolean(other)) => one == other,
            // In a map, too, NaN is one key.
            (MapKey::Number(one), MapKey::Number(other)) => one == other || one.is_nan() && other.is_nan(),
            (MapKey::Text(one), MapKey::Text(other)) => one == other,
            _ => false,
        }
    }
}

impl Eq for MapKey {}

impl Display for MapKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MapKey::Null => f.write_str("null"),
            MapKey::Boolean(truth) => truth.fmt(f),
            MapKey::Number(Number::Whole(whole)) => whole.fmt(f),
            MapKey::Number(Number::Real(real)) => real.fmt(f),
            MapKey::Number(Number::Decimal(decimal)) => decimal.fmt(f),
            MapKey::Text(text) => f.write_str(&quoted(text)),
        }
    }
}

/// A path as people type it.
#[must_use]
pub fn path_text(steps: &[PathStep]) -> String {
    let mut text = String::from(if matches!(steps.first(), Some(PathStep::Key(_))) { "." } else { "" });
    for step in steps {
        text += &match step {
            PathStep::Field(name) => format!(".{}", quoted_name(name)),
            PathStep::Key(key) => format!("[{key}]"),
        };
    }
    text
}

/// The name of a field as paths have it: in quotes if it needs them.
#[must_use]
pub fn quoted_name(name: &str) -> Cow<'_, str> {
    match name.is_empty() || name.contains(|c| ".,[".contains(c) || ends_word(c)) {
        true => Cow::Owned(quoted(name)),
        false => Cow::Borrowed(name),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Parses a text that is nothing but a path. Names with one of `. [` need quotes.
///
/// # Errors
/// [`ExpressionError`] with the position in the text.
pub fn parse_path(text: &str) -> Result<Vec<PathStep>, ExpressionError> {
    read(text, |_| false).map(|(steps, _)| steps)
}

/// Reads a path at the start of a text. Also returns its length: it goes up to a character that `ends` it.
pub(crate) fn read(text: &str, ends: impl Fn(char) -> bool) -> Result<(Vec<PathStep>, usize), ExpressionError> {
    let mut steps = Vec::new();
    let mut at = usize::from(text.starts_with(".["));
    loop {
        let rest = &text[at..];
        let (step, length) = match rest.chars().next() {
            Some('.') => name(&rest[1..], &ends),
            Some('[') => key(rest),
            Some(c) if steps.is_empty() || !ends(c) => Err((0, "expected `.` and a name, or a key in `[ ]`, here")),
            None if steps.is_empty() => Err((0, "expected `.` and the name of a field here")),
            _ => return Ok((steps, at)),
        }
        .map_err(|(place, message)| ExpressionError::new(at + place, message))?;
        steps.push(step);
        at += length;
    }
}

/// A mistake, and its place.
type Mistake = (usize, &'static str);

/// Reads the name of a field, which follows `.`. Returns its length with that.
fn name(text: &str, ends: impl Fn(char) -> bool) -> Result<(PathStep, usize), Mistake> {
    let (name, length) = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            delimited(text, quote).ok_or((1, "the quote that begins here is never closed"))?
        }
        _ => {
            let length = text.find(|c| c == '.' || c == '[' || ends(c)).unwrap_or(text.len());
            (text[..length].to_owned(), length)
        }
    };
    match name.is_empty() {
        true => Err((0, "expected the name of a field after each `.`, as in `.owner.name`")),
        false => Ok((PathStep::Field(name), 1 + length)),
    }
}

/// Reads a key in brackets.
fn key(text: &str) -> Result<(PathStep, usize), Mistake> {
    const NEVER: &str =
        "the [ that begins here is never closed: a key is as in `.attributes[\"tenant\"]` or `.items[42]`";
    let (key, length) = match text[1..].chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let (key, length) =
                delimited(&text[1..], quote).ok_or((1, "the quote that begins here is never closed"))?;
            (MapKey::Text(key), length)
        }
        _ => {
            let word = text[1..].split_once(']').ok_or((0, NEVER))?.0;
            let key = match word {
                "null" => Some(MapKey::Null),
                "true" | "false" => Some(MapKey::Boolean(word == "true")),
                "NaN" => Some(MapKey::Number(Number::Real(f64::NAN))),
                _ => Number::exact(word).map(MapKey::Number),
            };
            let message = "expected a number such as 42 or a text in quotes here: a key is as in \
                           `.attributes[\"tenant\"]` or `.items[42]`";
            (key.ok_or((1, message))?, word.len())
        }
    };
    match text[1 + length..].chars().next() {
        Some(']') => Ok((PathStep::Key(key), length + 2)),
        Some(_) => Err((1 + length, "expected `]` after the key, as in `.attributes[\"tenant\"]`")),
        None => Err((0, NEVER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys_may_have_quotes() {
        let path = |text: &str| parse_path(text).map(|steps| path_text(&steps)).ok();
        for (text, expected) in [
            (".owner.name", ".owner.name"),
            (r#".x."a.b".'c "d"'"#, r#".x."a.b"."c \"d\"""#),
            (".content type", r#"."content type""#),
            (r#".attributes['tenant'].name"#, r#".attributes["tenant"].name"#),
            (r#".["a]b"]['"'][-3]"#, r#".["a]b"]["\""][-3]"#),
            (".m[0x10][0.5].x[null][true]", ".m[16][0.5].x[null][true]"),
            (r#"."a[0]"[0]"#, r#"."a[0]"[0]"#),
            (".m[NaN]", ".m[NaN]"),
        ] {
            assert_eq!(path(text).as_deref(), Some(expected), "{text}");
            assert_eq!(path(expected).as_deref(), Some(expected), "{text}");
            assert_eq!(parse_path(text), parse_path(expected), "{text}");
        }
        for name in ["plain", "größe", "this$0", "a.b", "a b", "a,b", r#"a\"b\\"'"#, "<x>", "\t", "x[1]"] {
            for steps in [PathStep::Field(name.to_owned()), PathStep::Key(MapKey::Text(name.to_owned()))] {
                let steps = vec![PathStep::Field("x".to_owned()), steps];
                assert_eq!(parse_path(&path_text(&steps)), Ok(steps), "{name}");
            }
        }
    }

    #[test]
    fn mistakes_are_pointed_at() {
        for (text, position, message) in [
            ("", 0, "the name of a field"),
            ("x", 0, "expected `.`"),
            (".", 0, "after each `.`"),
            ("..x", 0, "after each `.`"),
            (".x.", 2, "after each `.`"),
            (r#".x."a"#, 3, "quote"),
            (r#"."a"b"#, 4, "expected `.`"),
            (".m[", 2, "never closed"),
            (".m[42", 2, "never closed"),
            (r#".m["x""#, 2, "never closed"),
            (r#".m["x"#, 3, "quote"),
            (".m[]", 3, "in quotes"),
            (".m[tenant]", 3, "in quotes"),
            (".m[nan]", 3, "in quotes"),
            (r#".m["x"y]"#, 6, "expected `]`"),
            (r#".m["x"]y"#, 7, "expected `.`"),
            (r#".m.["x"]"#, 2, "after each `.`"),
        ] {
            let error = parse_path(text).unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }
}
