//! Templates for the lines of objects.
//!
//! ```text
//!   {.protocol}:[//{.authority}]{.file}      texts, and the values of fields; a part in brackets may be left out
//!   [{.fileName}|Unknown Source]             the first part that is not left out
//!   {.seconds .nanos:time}                   numbers in a format
//!   {?.lineNumber=-2}                        nothing; the part around it is left out if the condition is false
//!   \[{.zone}\]                              brackets
//! ```

use barrow_format::rows::Value;

use super::format::{Format, Operand};
use crate::questions::fields::{FieldPath, Held};

/// The maximum length of a template in bytes, number of names in a path, and depth of brackets.
const MOST_BYTES: usize = 512;
const MOST_NAMES: usize = 4;
const MOST_DEPTH: usize = 3;

/// A template that makes a line from the values of fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Text(String),
    /// The text of the value of a field.
    Field(FieldPath),
    /// Numbers of fields in a format.
    Numbers(Vec<FieldPath>, Format),
    /// The part around it is left out unless the field passes.
    If(FieldPath, Condition),
    /// The first of several parts that is not left out, if there is one. A part is left out if something in it is null,
    /// empty, or a number that its format does not have, or if a condition in it is false.
    First(Vec<Vec<Segment>>),
}

/// A condition on the value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// True, or null on the way to it.
    True,
    Null,
    Number(i64),
    /// The same as another field.
    Same(FieldPath),
}

/// The reason why a part has no text. Of several reasons the greatest one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    /// A value is null or missing.
    Nothing,
    /// A value is unknown.
    Unknown,
    /// A condition is false, so unknown values do not matter.
    False,
}

impl Template {
    /// Parses a template; `None` if the syntax is wrong.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (parts, rest) = parts(Some(text).filter(|text| text.len() <= MOST_BYTES)?, MOST_DEPTH)?;
        rest.is_empty().then_some(Template(parts))
    }

    /// The fields that it needs, in the order in which [`Template::filled`] takes their values.
    pub(super) fn paths(&self) -> Vec<&FieldPath> {
        let mut paths = Vec::new();
        self.0.iter().for_each(|part| part.add_paths(&mut paths));
        paths
    }

    /// The line, from the values of the fields. `text` returns the text of an object or a string. Replaced numbers are not
    /// formatted.
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

impl Segment {
    fn add_paths<'p>(&'p self, paths: &mut Vec<&'p FieldPath>) {
        match self {
            Segment::Text(_) => {}
            Segment::Field(path) => paths.push(path),
            Segment::Numbers(numbers, _) => paths.extend(numbers),
            Segment::If(path, Condition::Same(other)) => paths.extend([path, other]),
            Segment::If(path, _) => paths.push(path),
            Segment::First(choices) => choices.iter().flatten().for_each(|part| part.add_paths(paths)),
        }
    }
}

/// Reads parts up to the end, or to the bar or the bracket that ends them, which begins the rest.
fn parts(mut text: &str, depth: usize) -> Option<(Vec<Segment>, &str)> {
    let (mut parts, mut plain) = (Vec::new(), String::new());
    loop {
        let end = text.find(['{', '}', '[', ']', '|', '\\']).unwrap_or(text.len());
        plain.push_str(&text[..end]);
        let rest = &text[end..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            let mut characters = escaped.chars();
            plain.push(characters.next()?);
            text = characters.as_str();
            continue;
        }
        if !plain.is_empty() {
            parts.push(Segment::Text(std::mem::take(&mut plain)));
        }
        match rest.chars().next() {
            None | Some(']' | '|') => return Some((parts, rest)),
            Some('{') => {
                let (field, after) = rest[1..].split_once('}')?;
                parts.push(field_part(field)?);
                text = after;
            }
            Some('[') => {
                let (choices, after) = choices(&rest[1..], depth.checked_sub(1)?)?;
                parts.push(Segment::First(choices));
                text = after;
            }
            Some(_) => return None,
        }
    }
}

/// Parses the contents of brackets. Returns the rest of the text after them.
fn choices(mut text: &str, depth: usize) -> Option<(Vec<Vec<Segment>>, &str)> {
    let mut choices = Vec::new();
    loop {
        let (choice, rest) = parts(text, depth)?;
        choices.push(choice);
        if let Some(after) = rest.strip_prefix(']') {
            return Some((choices, after));
        }
        text = rest.strip_prefix('|')?;
    }
}

fn path(text: &str) -> Option<FieldPath> {
    FieldPath::parse(text).filter(|path| path.steps().len() <= MOST_NAMES)
}

/// Parses the contents of braces.
fn field_part(text: &str) -> Option<Segment> {
    if let Some(condition) = text.strip_prefix('?') {
        let (field, value) = condition.split_once('=').map_or((condition, None), |(field, value)| (field, Some(value)));
        let condition = match value {
            None => Condition::True,
            Some("null") => Condition::Null,
            Some(other) if other.starts_with('.') => Condition::Same(path(other)?),
            Some(number) => Condition::Number(number.parse().ok()?),
        };
        return Some(Segment::If(path(field)?, condition));
    }
    match text.split_once(':') {
        None => path(text).map(Segment::Field),
        Some((fields, format)) => {
            let fields: Vec<FieldPath> = fields.split(' ').map(path).collect::<Option<_>>()?;
            let format = Format::named(format).filter(|format| format.takes(fields.len()))?;
            Some(Segment::Numbers(fields, format))
        }
    }
}

/// The values of fields that are left, in the order of the parts.
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

    /// The text of parts. All parts take their values, even after a gap. In brackets an empty text is a gap.
    fn all(&mut self, parts: &[Segment], in_brackets: bool) -> Result<String, Gap> {
        let (mut line, mut gap) = (String::new(), None);
        for part in parts {
            match self.one(part) {
                Ok(text) if text.is_empty() && in_brackets && matches!(part, Segment::Field(_)) => {
                    gap = gap.max(Some(Gap::Nothing));
                }
                Ok(text) => line.push_str(&text),
                Err(found) => gap = gap.max(Some(found)),
            }
        }
        gap.map_or(Ok(line), Err)
    }

    fn one(&mut self, part: &Segment) -> Result<String, Gap> {
        match part {
            Segment::Text(text) => Ok(text.clone()),
            Segment::Field(_) => match self.next() {
                Held::Null | Held::Undefined | Held::Missing => Err(Gap::Nothing),
                Held::Value(value @ Value::Text(_)) => (self.text)(Held::Value(value)).ok_or(Gap::Unknown),
                Held::Value(value) => plain(value).ok_or(Gap::Unknown),
                held => (self.text)(held).ok_or(Gap::Unknown),
            },
            Segment::Numbers(paths, format) => {
                let held: Vec<Held> = paths.iter().map(|_| self.next()).collect();
                let operands: Option<Vec<Operand>> = held.iter().map(|held| self.operand(*held)).collect();
                match operands {
                    Some(operands) if self.has_numbers => format.text(&operands).ok_or(Gap::Nothing),
                    None if held.iter().any(|held| matches!(held, Held::Null | Held::Missing)) => Err(Gap::Nothing),
                    _ => Err(Gap::Unknown),
                }
            }
            Segment::If(_, condition) => {
                let held = self.next();
                let passes = match condition {
                    Condition::True => matches!(held, Held::Null | Held::Value(Value::Boolean(true))),
                    Condition::Null => held == Held::Null,
                    Condition::Number(_) if !self.has_numbers => return Err(Gap::Unknown),
                    Condition::Number(number) => whole(held) == Some(*number),
                    Condition::Same(_) => match self.next() {
                        Held::Unknown => return Err(Gap::Unknown),
                        other => held == other,
                    },
                };
                match held {
                    Held::Unknown => Err(Gap::Unknown),
                    _ if passes => Ok(String::new()),
                    _ => Err(Gap::False),
                }
            }
            Segment::First(choices) => {
                // All choices take their values, so that the following parts find theirs.
                let told: Vec<Result<String, Gap>> = choices.iter().map(|parts| self.all(parts, true)).collect();
                let first = told.into_iter().find(|told| !matches!(told, Err(Gap::Nothing | Gap::False)));
                first.unwrap_or(Ok(String::new()))
            }
        }
    }

    fn operand(&self, held: Held) -> Option<Operand> {
        match held {
            Held::Value(Value::Text(_)) => (self.text)(held).map(Operand::Text),
            held => whole(held).map(Operand::Number),
        }
    }
}

/// The written form of a value that is not a text.
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
    fn the_first_part_that_is_not_left_out_counts() {
        let template = "[{?.a=-2}native|{.b}[:{.a:natural}]|somewhere]{.c}";
        let filled = |a: Held, b: Held| line(template, &[a, b, a, TWO]);
        assert_eq!(filled(number(-2), ONE).as_deref(), Some("nativetwo"));
        assert_eq!(filled(number(-1), ONE).as_deref(), Some("onetwo"));
        assert_eq!(filled(number(7), ONE).as_deref(), Some("one:7two"));
        assert_eq!(filled(number(7), Held::Null).as_deref(), Some("somewheretwo"));
        assert_eq!(filled(Held::Missing, Held::Missing).as_deref(), Some("somewheretwo"));
        // An unknown part may be the one that counts, unless an earlier part counts.
        assert_eq!(filled(number(7), Held::Unknown), None);
        assert_eq!(filled(Held::Unknown, ONE), None);
        assert_eq!(filled(number(-2), Held::Unknown).as_deref(), Some("nativetwo"));
        // Nor where a condition is false.
        assert_eq!(line("[{?.a=null}{.b}|{.a}]", &[ONE, Held::Unknown, ONE]).as_deref(), Some("one"));
        assert_eq!(line("[{?.a=null}{.b}|{.a}]", &[Held::Null, TWO, Held::Null]).as_deref(), Some("two"));
    }

    #[test]
    fn fields_are_compared_and_brackets_are_written() {
        let template = "{.a}[{?.a=.b}|\\[{.b}\\]]";
        assert_eq!(line(template, &[ONE, ONE, ONE, ONE]).as_deref(), Some("one"));
        assert_eq!(line(template, &[ONE, ONE, TWO, TWO]).as_deref(), Some("one[two]"));
        assert_eq!(line(template, &[ONE, ONE, Held::Unknown, TWO]), None);
        assert_eq!(line("\\{\\|\\}\\\\", &[]).as_deref(), Some("{|}\\"));
    }

    #[test]
    fn what_is_no_template_is_refused() {
        let deep = format!("{}x{}", "[".repeat(4), "]".repeat(4));
        let long = "x".repeat(513);
        for wrong in [
            "{",
            "}",
            "{a}",
            "{.a",
            "[",
            "]",
            "[{.a}",
            "[{.a}|",
            "{.a}|{.b}",
            "\\",
            "{?.a=}",
            "{?.a=b}",
            "{?a}",
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
