//! What the line of an object is made of.
//!
//! ```text
//!   {.protocol}:[//{.authority}]{.file}      texts, and fields with what they hold; a part in brackets may be left out
//!   {.seconds .nanos:time}                   numbers in a format
//!   {?.cdate.normalized}                     nothing; there is no line if that is false
//! ```

use barrow_format::rows::Value;

use super::format::Format;
use crate::questions::fields::{FieldPath, Held};

/// The most bytes of a template, names of a path, and brackets in brackets.
const MOST_BYTES: usize = 256;
const MOST_NAMES: usize = 4;
const MOST_DEPTH: usize = 3;

/// How lines are made of what fields hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The text of what a field holds.
    Field(FieldPath),
    /// Numbers of fields in a format.
    Numbers(Vec<FieldPath>, Format),
    /// No line if the field holds false.
    Unless(FieldPath),
    /// Left out if something in it is null, empty, or a number that its format does not have.
    Optional(Vec<Part>),
}

/// Why a part has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// There is nothing.
    Nothing,
    /// It is not known.
    Unknown,
}

impl Template {
    /// Reads a template; `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (parts, rest) = parts(Some(text).filter(|text| text.len() <= MOST_BYTES)?, MOST_DEPTH)?;
        rest.is_empty().then_some(Template(parts))
    }

    /// The fields that it needs, in the order in which [`Template::filled`] takes what they hold.
    pub(super) fn paths(&self) -> Vec<&FieldPath> {
        let mut paths = Vec::new();
        self.0.iter().for_each(|part| part.add_paths(&mut paths));
        paths
    }

    /// The line, from what the fields hold. `text` is what an object or a string is in it. Numbers that were replaced
    /// have no format.
    pub(super) fn filled(
        &self,
        held: &[Held],
        text: &dyn Fn(Held) -> Option<String>,
        has_numbers: bool,
    ) -> Option<String> {
        let mut filling = Filling { held, text, has_numbers };
        filling.all(&self.0, false).ok()
    }
}

impl Part {
    fn add_paths<'p>(&'p self, paths: &mut Vec<&'p FieldPath>) {
        match self {
            Part::Text(_) => {}
            Part::Field(path) | Part::Unless(path) => paths.push(path),
            Part::Numbers(numbers, _) => paths.extend(numbers),
            Part::Optional(parts) => parts.iter().for_each(|part| part.add_paths(paths)),
        }
    }
}

/// Reads parts up to the end, or to the bracket that closes them, which begins the rest.
fn parts(mut text: &str, depth: usize) -> Option<(Vec<Part>, &str)> {
    let mut parts = Vec::new();
    loop {
        let end = text.find(['{', '}', '[', ']']).unwrap_or(text.len());
        if end > 0 {
            parts.push(Part::Text(text[..end].to_owned()));
        }
        let rest = &text[end..];
        match rest.chars().next() {
            None | Some(']') => return Some((parts, rest)),
            Some('{') => {
                let (field, after) = rest[1..].split_once('}')?;
                parts.push(field_part(field)?);
                text = after;
            }
            Some('[') => {
                let (inner, after) = self::parts(&rest[1..], depth.checked_sub(1)?)?;
                text = after.strip_prefix(']')?;
                parts.push(Part::Optional(inner));
            }
            Some(_) => return None,
        }
    }
}

/// Reads what is in braces.
fn field_part(text: &str) -> Option<Part> {
    let path = |text| FieldPath::parse(text).filter(|path| path.names().len() <= MOST_NAMES);
    if let Some(condition) = text.strip_prefix('?') {
        return path(condition).map(Part::Unless);
    }
    match text.split_once(':') {
        None => path(text).map(Part::Field),
        Some((fields, format)) => {
            let fields: Vec<FieldPath> = fields.split(' ').map(path).collect::<Option<_>>()?;
            let format = Format::named(format).filter(|format| format.takes(fields.len()))?;
            Some(Part::Numbers(fields, format))
        }
    }
}

/// What fields hold, in the order of the parts that are left.
struct Filling<'h> {
    held: &'h [Held],
    text: &'h dyn Fn(Held) -> Option<String>,
    has_numbers: bool,
}

impl Filling<'_> {
    fn next(&mut self) -> Held {
        let (first, rest) = self.held.split_first().unwrap_or((&Held::Unknown, &[]));
        self.held = rest;
        *first
    }

    /// The text of parts, all of which are looked at. In brackets an empty text is nothing.
    fn all(&mut self, parts: &[Part], in_brackets: bool) -> Result<String, Gap> {
        let (mut line, mut gap) = (String::new(), None);
        for part in parts {
            match self.one(part) {
                Ok(text) if text.is_empty() && in_brackets && matches!(part, Part::Field(_)) => {
                    gap = gap.or(Some(Gap::Nothing));
                }
                Ok(text) => line.push_str(&text),
                Err(Gap::Unknown) => gap = Some(Gap::Unknown),
                Err(Gap::Nothing) => gap = gap.or(Some(Gap::Nothing)),
            }
        }
        gap.map_or(Ok(line), Err)
    }

    fn one(&mut self, part: &Part) -> Result<String, Gap> {
        match part {
            Part::Text(text) => Ok(text.clone()),
            Part::Field(_) => match self.next() {
                Held::Null => Err(Gap::Nothing),
                Held::Value(value @ Value::Text(_)) => (self.text)(Held::Value(value)).ok_or(Gap::Unknown),
                Held::Value(value) => plain(value).ok_or(Gap::Unknown),
                held => (self.text)(held).ok_or(Gap::Unknown),
            },
            Part::Numbers(paths, format) => {
                let held: Vec<Held> = paths.iter().map(|_| self.next()).collect();
                let numbers: Option<Vec<i64>> = held.iter().map(|held| whole(*held)).collect();
                match numbers {
                    Some(numbers) if self.has_numbers => format.text(&numbers).ok_or(Gap::Nothing),
                    None if held.contains(&Held::Null) => Err(Gap::Nothing),
                    _ => Err(Gap::Unknown),
                }
            }
            Part::Unless(_) => match self.next() {
                Held::Null | Held::Value(Value::Boolean(true)) => Ok(String::new()),
                _ => Err(Gap::Unknown),
            },
            Part::Optional(parts) => match self.all(parts, true) {
                Err(Gap::Nothing) => Ok(String::new()),
                told => told,
            },
        }
    }
}

/// A value that is no text, as it is written.
pub(super) fn plain(value: Value) -> Option<String> {
    Some(match value {
        Value::Unsigned(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Character(code) => char::from_u32(code)?.to_string(),
        Value::Text(_) => return None,
    })
}

fn whole(held: Held) -> Option<i64> {
    match held {
        Held::Value(Value::Signed(number)) => Some(number),
        Held::Value(Value::Unsigned(number)) => i64::try_from(number).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(template: &str, held: &[Held]) -> Option<String> {
        let text =
            |held| if let Held::Object(id) = held { Some(["", "one", "two"][id.0 as usize].to_owned()) } else { None };
        Template::parse(template).expect("a template").filled(held, &text, true)
    }

    const fn number(number: i64) -> Held {
        Held::Value(Value::Signed(number))
    }

    const EMPTY: Held = Held::Object(barrow_format::ObjectId(0));
    const ONE: Held = Held::Object(barrow_format::ObjectId(1));
    const TWO: Held = Held::Object(barrow_format::ObjectId(2));

    #[test]
    fn lines_are_texts_and_fields() {
        assert_eq!(line("{.a}://{.b}", &[ONE, TWO]).as_deref(), Some("one://two"));
        assert_eq!(line("{.a}: {.b}", &[ONE, number(-7)]).as_deref(), Some("one: -7"));
        for gap in [Held::Null, Held::Unknown, Held::Missing] {
            assert_eq!(line("{.a}{.b}", &[ONE, gap]), None);
        }
    }

    #[test]
    fn brackets_are_left_out_where_something_is_null_or_empty() {
        let template = "{.a}[({.b}[:{.c:natural}])]";
        assert_eq!(line(template, &[ONE, TWO, number(3)]).as_deref(), Some("one(two:3)"));
        assert_eq!(line(template, &[ONE, TWO, number(-2)]).as_deref(), Some("one(two)"));
        assert_eq!(line(template, &[ONE, Held::Null, number(3)]).as_deref(), Some("one"));
        assert_eq!(line(template, &[ONE, EMPTY, number(3)]).as_deref(), Some("one"));
        assert_eq!(line(template, &[ONE, Held::Null, Held::Unknown]), None);
        assert_eq!(line(template, &[EMPTY, Held::Null, number(3)]).as_deref(), Some(""));
    }

    #[test]
    fn conditions_are_null_or_true() {
        let truth = |truth| Held::Value(Value::Boolean(truth));
        for (held, expected) in
            [(Held::Null, Some("one")), (truth(true), Some("one")), (truth(false), None), (Held::Unknown, None)]
        {
            assert_eq!(line("{.a}{?.b.c}", &[ONE, held]).as_deref(), expected, "{held:?}");
        }
    }

    #[test]
    fn what_is_no_template_is_refused() {
        let deep = format!("{}x{}", "[".repeat(4), "]".repeat(4));
        let long = "x".repeat(257);
        for wrong in [
            "{",
            "}",
            "{a}",
            "{.a",
            "[",
            "]",
            "[{.a}",
            "{.a:}",
            "{.a:day}",
            "{.a .b:natural}",
            "{}",
            "{.a.b.c.d.e}",
            &deep,
            &long,
        ] {
            assert_eq!(Template::parse(wrong), None, "{wrong}");
        }
    }
}
