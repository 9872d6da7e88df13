//! Reads the JSON of benchmarks: elements of a list one by one, and numbers that may be invalid.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::Damage;

/// Calls `take` for each element of the list with the key `list` in the outermost object. Keeps no elements.
///
/// # Errors
/// The damage; all elements before it were taken.
pub(crate) fn each<'de, T: Deserialize<'de>>(
    text: &'de [u8],
    list: &'static str,
    take: impl FnMut(T),
) -> Result<(), Damage> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let visitor = Outermost { list, take, element: std::marker::PhantomData };
    let read = deserializer.deserialize_map(visitor).and_then(|()| deserializer.end());
    read.map_err(|error| damage_of(text, list, &error))
}

/// The same for a text that is a list itself, whose elements are named `what`.
///
/// # Errors
/// As for [`each`].
pub(crate) fn each_in_list<'de, T: Deserialize<'de>>(
    text: &'de [u8],
    what: &'static str,
    mut take: impl FnMut(T),
) -> Result<(), Damage> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let elements = Elements { take: &mut take, element: std::marker::PhantomData };
    let read = elements.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    read.map_err(|error| damage_of(text, what, &error))
}

/// The value of a key of the outermost object, if it is there and has the expected type, regardless of the text after
/// it.
pub(crate) fn field<'de, T: Deserialize<'de>>(text: &'de [u8], key: &'static str) -> Option<T> {
    let mut found = None;
    // Ends with an error as soon as the key is found.
    let _ = serde_json::Deserializer::from_slice(text).deserialize_map(Field { key, found: &mut found });
    found
}

/// The damage of a text in which `what` was expected.
pub(crate) fn damage_of(text: &[u8], what: &'static str, error: &serde_json::Error) -> Damage {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => memchr::memchr_iter(b'\n', text).nth(line - 2).map_or(text.len(), |newline| newline + 1),
    };
    let offset = (line_start + error.column()).min(text.len()) as u64;
    Damage::Json { what, offset, message: error.to_string() }
}

/// The text without the byte order mark that some programs write before UTF-8.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The same text with `null` for numbers that JSON lacks: Python and C++ write `NaN` and `Infinity`. `2%`, which
/// Google Benchmark wrote up to 1.5, is 2.
pub(crate) fn strict(text: &[u8]) -> Cow<'_, [u8]> {
    const WORDS: [&[u8]; 4] = [b"NaN", b"Infinity", b"nan", b"inf"];
    let text = without_mark(text);
    let has_words = WORDS.iter().any(|word| memchr::memmem::find(text, word).is_some());
    if !has_words && memchr::memchr(b'%', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut strict = Vec::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'%' | b'N' | b'I' | b'n' | b'i')) {
        strict.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let word = WORDS.iter().find(|word| rest.starts_with(word));
        let length = match (rest[0], word) {
            (b'"', _) => quoted_length(rest),
            (b'%', _) if strict.last().is_some_and(u8::is_ascii_digit) => {
                rest = &rest[1..];
                0
            }
            (_, Some(word)) => {
                if strict.last() == Some(&b'-') {
                    strict.pop();
                }
                strict.extend_from_slice(b"null");
                rest = &rest[word.len()..];
                0
            }
            _ => 1,
        };
        strict.extend_from_slice(&rest[..length]);
        rest = &rest[length..];
    }
    strict.extend_from_slice(rest);
    Cow::Owned(strict)
}

/// The length of the text in quotes that begins here, or of the rest.
fn quoted_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Reads the outermost object.
struct Outermost<T, F> {
    list: &'static str,
    take: F,
    element: std::marker::PhantomData<fn(T)>,
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for Outermost<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.list {
                map.next_value_seed(Elements { take: &mut self.take, element: self.element })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Reads the outermost object up to a key.
struct Field<'f, T> {
    key: &'static str,
    found: &'f mut Option<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Field<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.key {
                *self.found = Some(map.next_value()?);
                return Err(A::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Reads the list.
struct Elements<'f, T, F> {
    take: &'f mut F,
    element: std::marker::PhantomData<fn(T)>,
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> DeserializeSeed<'de> for Elements<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for Elements<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element()? {
            (self.take)(element);
        }
        Ok(())
    }
}

/// A number; NaN for any other value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(pub(crate) f64);

impl Default for Number {
    fn default() -> Self {
        Number(f64::NAN)
    }
}

/// A text, or a number as text; `None` for any other value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text(pub(crate) Option<String>);

/// A type that a lenient reader makes from any scalar of JSON.
trait Scalar: Default {
    fn number(number: f64) -> Self;
    fn text(text: &str) -> Self;
}

impl Scalar for Number {
    fn number(number: f64) -> Self {
        Number(number)
    }

    fn text(_: &str) -> Self {
        Number::default()
    }
}

impl Scalar for Text {
    fn number(number: f64) -> Self {
        Text(Some(number.to_string()))
    }

    fn text(text: &str) -> Self {
        Text(Some(text.to_owned()))
    }
}

/// Reads any value as a scalar.
struct Anything<S>(std::marker::PhantomData<fn() -> S>);

impl<'de, S: Scalar> Visitor<'de> for Anything<S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_f64<E>(self, number: f64) -> Result<S, E> {
        Ok(S::number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<S, E> {
        Ok(S::number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<S, E> {
        Ok(S::number(number as f64))
    }

    fn visit_str<E>(self, text: &str) -> Result<S, E> {
        Ok(S::text(text))
    }

    fn visit_bool<E>(self, _: bool) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_unit<E>(self) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<S, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(S::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<S, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(S::default())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_before_the_damage_are_taken() {
        let taken = |text: &str| {
            let mut numbers = Vec::new();
            let end = each(text.as_bytes(), "a", |Number(number)| numbers.push(number));
            (numbers, end)
        };
        assert_eq!(taken(r#"{"b":{"a":[5]}, "a":[1,2], "c":[3]}"#), (vec![1.0, 2.0], Ok(())));
        let (numbers, end) = taken("{\"a\":\n[1,2,");
        assert_eq!(numbers, [1.0, 2.0]);
        let message = "EOF while parsing a value at line 2 column 5".to_owned();
        assert_eq!(end, Err(Damage::Json { what: "a", offset: 11, message }));
        assert!(taken("[1]").1.is_err());
        assert!(taken(r#"{"a":1}"#).1.is_err());
        assert!(taken(r#"{"a":[1]}x"#).1.is_err());
        let mut numbers = Vec::new();
        let end = each_in_list(b"[1,\n2,", "a", |Number(number)| numbers.push(number));
        assert_eq!(numbers, [1.0, 2.0]);
        let message = "EOF while parsing a value at line 2 column 2".to_owned();
        assert_eq!(end, Err(Damage::Json { what: "a", offset: 6, message }));
        assert!(each_in_list(b"{}", "a", |_: Number| ()).is_err());
    }

    #[test]
    fn a_field_is_found_whatever_follows() {
        let text = |text: &'static str| field::<Text>(text.as_bytes(), "a").and_then(|text| text.0);
        assert_eq!(text(r#"{"b":{"a":1}, "a":"x", "#).as_deref(), Some("x"));
        assert_eq!(text(r#"{"b":["#), None);
        assert_eq!(text("[]"), None);
    }

    #[test]
    fn numbers_and_texts_are_lenient() {
        let numbers: Vec<Number> =
            serde_json::from_str(r#"[1, -2.5, "3", null, true, [4], {"a": 5}]"#).expect("a list");
        let finite: Vec<f64> = numbers.iter().map(|number| number.0).filter(|number| number.is_finite()).collect();
        assert_eq!((numbers.len(), finite), (7, vec![1.0, -2.5]));
        let texts: Vec<Text> = serde_json::from_str(r#"["a", 2, null]"#).expect("a list");
        let texts: Vec<Option<&str>> = texts.iter().map(|text| text.0.as_deref()).collect();
        assert_eq!(texts, [Some("a"), Some("2"), None]);
    }

    #[test]
    fn numbers_that_json_does_not_know_become_null() {
        let strict = |text: &str| String::from_utf8(strict(text.as_bytes()).into_owned()).expect("text");
        assert_eq!(strict(r#"[NaN,-Infinity,Infinity, -nan, inf, 1]"#), "[null,null,null, null, null, 1]");
        assert_eq!(strict(r#"{"NaN\"NaN": "Infinity", "a":NaN}"#), r#"{"NaN\"NaN": "Infinity", "a":null}"#);
        assert_eq!(strict("\u{feff}[null, \"n\"]"), "[null, \"n\"]");
        for torn in ["NaN\"", "\"NaN\\", "NaN\"\\\"", "In", "-NaN"] {
            strict(torn);
        }
    }
}
