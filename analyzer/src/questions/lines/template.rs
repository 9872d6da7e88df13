//! Templates for the lines of objects.
//!
//! ```text
//!   {.protocol}:[//{.authority}]{.file}      texts, and the values of fields; a part in brackets may be left out
//!   [{.fileName}|Unknown Source]             the first part that is not left out
//!   {.seconds .nanos:time}                   numbers in a format
//!   {?.lineNumber=-2}                        nothing; the part around it is left out if the condition is false
//!   \[{.zone}\]                              brackets
//! ```
//!
//! Those of rules have more in braces, and say what is not there:
//!
//! ```text
//!   {.map["k"].name} {elements} {{}}         paths as people type them, attributes of the object, braces
//!   {.name}#{.id}                            null#?, if the name is null and the id is not known
//! ```

use barrow_format::rows::Value;

use super::format::{Format, Operand};
use super::{Line, MARK};
use crate::file::tables::READS_AS;
use crate::questions::expression::Attribute;
use crate::questions::fields::{FieldPath, Held};

/// The maximum length of a template in bytes, number of names in a path, and depth of brackets: a dump may hold any.
/// This is a judgement.
const MOST_BYTES: usize = 512;
/// Bytes of texts after which a line reads no further ones: those in brackets, too, that are left out.
const MOST_READ: usize = 4 * super::MOST_BYTES;
const MOST_NAMES: usize = 4;
const MOST_DEPTH: usize = 3;
/// The maximum number of steps of a path in a rule.
const MOST_STEPS: usize = 8;
/// All whole numbers up to this one are binary numbers of 64 bits.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// A template that makes a line from the values of fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Segment>,
    pub(super) origin: Origin,
}

/// The source of a template, which decides what it may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Recording,
    Rules,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Text(String),
    /// The text of the value of a field.
    Field(FieldPath),
    /// The text of an attribute of the object, in rules only.
    Attribute(&'static Attribute),
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

/// What is wrong with a template, as a clause.
type Mistake = String;

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// A clause that says what is wrong.
    pub(super) fn parse(text: &str, origin: Origin) -> Result<Self, Mistake> {
        if text.len() > MOST_BYTES {
            return Err(format!("a line has a template of at most {MOST_BYTES} bytes"));
        }
        let (parts, rest) = Syntax { origin }.parts(text, MOST_DEPTH)?;
        match rest.chars().next() {
            None => Ok(Template { parts, origin }),
            Some(end) => Err(format!("`{end}` ends nothing: write `\\{end}` for the character")),
        }
    }

    /// The fields that it needs, in the order in which [`Template::filled`] takes their values.
    pub(super) fn paths(&self) -> Vec<&FieldPath> {
        let mut paths = Vec::new();
        self.parts.iter().for_each(|part| part.add_paths(&mut paths));
        paths
    }

    /// The attributes that it needs, in the order in which [`Template::filled`] takes their values.
    pub(super) fn attributes(&self) -> Vec<&'static Attribute> {
        let mut attributes = Vec::new();
        self.parts.iter().for_each(|part| part.add_attributes(&mut attributes));
        attributes
    }

    /// Returns whether a line of it has a number or a time in a format.
    pub(super) fn measures(&self) -> bool {
        self.parts.iter().any(Segment::measures)
    }

    /// The line, from the values of the fields and the texts of the attributes. `text` returns the text of an object or a
    /// string. Replaced numbers are not formatted. It reads little more than a line has room for: what follows then is
    /// left out.
    pub(super) fn filled(
        &self,
        held: &[Held],
        attributes: &[Option<&str>],
        text: &dyn Fn(Held) -> Option<Line>,
        has_numbers: bool,
    ) -> Option<Line> {
        let mut filling = Filling { held, attributes, text, has_numbers, origin: self.origin, read: 0 };
        filling.all(&self.parts, false).ok()
    }
}

impl Segment {
    fn measures(&self) -> bool {
        match self {
            Segment::Numbers(_, format) => format.measures(),
            Segment::First(choices) => choices.iter().flatten().any(Segment::measures),
            Segment::Text(_) | Segment::Field(_) | Segment::Attribute(_) | Segment::If(..) => false,
        }
    }

    fn add_paths<'p>(&'p self, paths: &mut Vec<&'p FieldPath>) {
        match self {
            Segment::Text(_) | Segment::Attribute(_) => {}
            Segment::Field(path) => paths.push(path),
            Segment::Numbers(numbers, _) => paths.extend(numbers),
            Segment::If(path, Condition::Same(other)) => paths.extend([path, other]),
            Segment::If(path, _) => paths.push(path),
            Segment::First(choices) => choices.iter().flatten().for_each(|part| part.add_paths(paths)),
        }
    }

    fn add_attributes(&self, attributes: &mut Vec<&'static Attribute>) {
        match self {
            Segment::Attribute(attribute) => attributes.push(attribute),
            Segment::First(choices) => choices.iter().flatten().for_each(|part| part.add_attributes(attributes)),
            _ => {}
        }
    }

    /// Returns whether it is something that may be null or unknown.
    fn is_value(&self) -> bool {
        matches!(self, Segment::Field(_) | Segment::Attribute(_) | Segment::Numbers(..))
    }
}

/// The syntax of templates of one origin.
#[derive(Clone, Copy)]
struct Syntax {
    origin: Origin,
}

impl Syntax {
    /// Reads parts up to the end, or to the bar or the bracket that ends them, which begins the rest.
    fn parts(self, mut text: &str, depth: usize) -> Result<(Vec<Segment>, &str), Mistake> {
        let (mut parts, mut plain) = (Vec::new(), String::new());
        loop {
            let end = text.find(['{', '}', '[', ']', '|', '\\']).unwrap_or(text.len());
            plain.push_str(&text[..end]);
            let rest = &text[end..];
            if let Some(escaped) = rest.strip_prefix('\\') {
                let mut characters = escaped.chars();
                plain.push(characters.next().ok_or("`\\` is before the character that it is about")?);
                text = characters.as_str();
                continue;
            }
            if self.origin == Origin::Rules && (rest.starts_with("{{") || rest.starts_with("}}")) {
                plain.push_str(&rest[..1]);
                text = &rest[2..];
                continue;
            }
            if !plain.is_empty() {
                parts.push(Segment::Text(std::mem::take(&mut plain)));
            }
            match rest.chars().next() {
                None | Some(']' | '|') => return Ok((parts, rest)),
                Some('{') => {
                    let (field, after) = self.braces(&rest[1..]).ok_or("the `{` is never closed; `{{` is a brace")?;
                    parts.push(self.in_braces(field)?);
                    text = after;
                }
                Some('[') => {
                    let depth = depth.checked_sub(1).ok_or("brackets are nested three times at most")?;
                    let (choices, after) = self.choices(&rest[1..], depth)?;
                    parts.push(Segment::First(choices));
                    text = after;
                }
                Some(_) => return Err("the `}` closes nothing; `}}` is a brace".to_owned()),
            }
        }
    }

    /// Parses the contents of brackets. Returns the rest of the text after them.
    fn choices(self, mut text: &str, depth: usize) -> Result<(Vec<Vec<Segment>>, &str), Mistake> {
        let mut choices = Vec::new();
        loop {
            let (choice, rest) = self.parts(text, depth)?;
            choices.push(choice);
            if let Some(after) = rest.strip_prefix(']') {
                return Ok((choices, after));
            }
            text = rest.strip_prefix('|').ok_or("the `[` is never closed; `\\[` is a bracket")?;
        }
    }

    /// Divides the text after a brace: what it holds, and what follows the brace that closes it.
    fn braces(self, text: &str) -> Option<(&str, &str)> {
        match self.origin {
            Origin::Recording => text.split_once('}'),
            Origin::Rules => outside_quotes(text, '}').map(|end| (&text[..end], &text[end + 1..])),
        }
    }

    /// Parses the contents of braces.
    fn in_braces(self, text: &str) -> Result<Segment, Mistake> {
        if let Some(condition) = text.strip_prefix('?') {
            let (field, value) =
                condition.split_once('=').map_or((condition, None), |(field, value)| (field, Some(value)));
            let condition = match value {
                None => Condition::True,
                Some("null") => Condition::Null,
                Some(other) if other.starts_with('.') => Condition::Same(self.path(other)?),
                Some(number) => {
                    let mistake = |_| format!("`{number}` is no number, no field and not `null`");
                    Condition::Number(number.parse().map_err(mistake)?)
                }
            };
            return Ok(Segment::If(self.path(field)?, condition));
        }
        let colon = match self.origin {
            Origin::Recording => text.find(':'),
            Origin::Rules => outside_quotes(text, ':'),
        };
        match colon {
            None => self.term(text),
            Some(colon) => {
                let (fields, word) = (&text[..colon], &text[colon + 1..]);
                let fields: Vec<FieldPath> =
                    fields.split(' ').map(|field| self.path(field)).collect::<Result<_, _>>()?;
                let format = Format::named(word).filter(|format| format.takes(fields.len()));
                let numbers = if fields.len() == 1 { "one number" } else { "that many numbers" };
                let format = format.ok_or_else(|| format!("`{word}` is no format of {numbers}"))?;
                Ok(Segment::Numbers(fields, format))
            }
        }
    }

    /// A path without keys.
    fn path(self, text: &str) -> Result<FieldPath, Mistake> {
        let path = match self.origin {
            Origin::Recording => FieldPath::of_attribute(READS_AS, text),
            Origin::Rules => FieldPath::parse(text),
        };
        let path = path.filter(|path| path.steps().len() <= MOST_NAMES);
        path.ok_or_else(|| format!("`{text}` is no path of at most {MOST_NAMES} names, as `.owner.name` is"))
    }

    /// A field, or in rules also an attribute.
    fn term(self, text: &str) -> Result<Segment, Mistake> {
        if self.origin == Origin::Recording {
            return self.path(text).map(Segment::Field);
        }
        if text.starts_with('.') {
            let path = FieldPath::typed(text).map_err(|error| format!("`{text}`: {}", error.message))?;
            return match path.steps().len() {
                0..=MOST_STEPS => Ok(Segment::Field(path)),
                _ => Err(format!("`{text}` has more than {MOST_STEPS} names and keys")),
            };
        }
        match Attribute::named(text) {
            Some(attribute) if !["is", "line"].contains(&attribute.word()) => Ok(Segment::Attribute(attribute)),
            Some(attribute) => Err(format!("`{}` is no part of a line", attribute.word())),
            None => Err(format!("`{text}` is no field, as `.{text}` would be, and no attribute of objects")),
        }
    }
}

/// The place of a character in a text outside of quotes.
fn outside_quotes(text: &str, wanted: char) -> Option<usize> {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == wanted => return Some(at),
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => {}
        }
    }
    None
}

/// The values of fields that are left, in the order of the parts.
struct Filling<'h> {
    held: &'h [Held],
    attributes: &'h [Option<&'h str>],
    text: &'h dyn Fn(Held) -> Option<Line>,
    has_numbers: bool,
    origin: Origin,
    /// Bytes of texts that were read.
    read: usize,
}

impl Filling<'_> {
    fn next(&mut self) -> Held {
        let (first, rest) = self.held.split_first().unwrap_or((&Held::Unknown, &[]));
        self.held = rest;
        *first
    }

    /// The text of parts. All parts take their values, even after a gap. In brackets an empty text is a gap. Outside of
    /// them a rule says what is not there.
    fn all(&mut self, parts: &[Segment], in_brackets: bool) -> Result<Line, Gap> {
        let (mut line, mut gap) = (Line::default(), None);
        for part in parts {
            // Nothing that follows would be seen.
            if !in_brackets && line.text.len() > super::MOST_BYTES {
                break;
            }
            let next = self.held.first().filter(|_| !matches!(part, Segment::Attribute(_))).copied();
            match self.one(part) {
                Ok(told) if told.text.is_empty() && in_brackets && part.is_value() => {
                    gap = gap.max(Some(Gap::Nothing));
                }
                Ok(told) => line.push(&told),
                Err(_) if self.origin == Origin::Rules && !in_brackets && part.is_value() => {
                    line.push(&Line::of_template(match next {
                        Some(Held::Null) => "null",
                        Some(Held::Undefined) => "undefined",
                        _ => "?",
                    }));
                }
                Err(found) => gap = gap.max(Some(found)),
            }
        }
        gap.map_or(Ok(line), Err)
    }

    fn one(&mut self, part: &Segment) -> Result<Line, Gap> {
        match part {
            Segment::Text(text) => Ok(Line::of_template(text)),
            Segment::Field(_) => match self.next() {
                Held::Null | Held::Undefined | Held::Missing => Err(Gap::Nothing),
                Held::Value(value @ Value::Text(_)) => self.text(Held::Value(value)),
                Held::Value(value) => Line::of_value(value).ok_or(Gap::Unknown),
                held => self.text(held),
            },
            Segment::Attribute(_) => {
                let (first, rest) = self.attributes.split_first().unwrap_or((&None, &[]));
                self.attributes = rest;
                first.map(Line::of_text).ok_or(Gap::Nothing)
            }
            Segment::Numbers(paths, format) => {
                let held: Vec<Held> = paths.iter().map(|_| self.next()).collect();
                let operands: Option<Vec<Operand>> = held.iter().map(|held| self.operand(*held)).collect();
                match operands {
                    Some(operands) if self.has_numbers => {
                        format.text(&operands).map(Line::of_numbers).ok_or(Gap::Nothing)
                    }
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
                    _ if passes => Ok(Line::default()),
                    _ => Err(Gap::False),
                }
            }
            Segment::First(choices) => {
                // All choices take their values, so that the following parts find theirs.
                let told: Vec<Result<Line, Gap>> = choices.iter().map(|parts| self.all(parts, true)).collect();
                let first = told.into_iter().find(|told| !matches!(told, Err(Gap::Nothing | Gap::False)));
                first.unwrap_or(Ok(Line::default()))
            }
        }
    }

    /// The text of an object or a string. After too many the rest of a rule's line is not read.
    fn text(&mut self, held: Held) -> Result<Line, Gap> {
        if self.read >= MOST_READ {
            return if self.origin == Origin::Rules { Ok(Line::of_template(MARK)) } else { Err(Gap::Unknown) };
        }
        let line = (self.text)(held).ok_or(Gap::Unknown)?;
        self.read += line.text.len();
        Ok(line)
    }

    fn operand(&mut self, held: Held) -> Option<Operand> {
        match held {
            Held::Value(Value::Text(_)) => self.text(held).ok().map(|line| Operand::Text(line.text)),
            held => whole(held).map(Operand::Number),
        }
    }
}

fn whole(held: Held) -> Option<i64> {
    match held {
        Held::Value(Value::Signed(number)) => Some(number),
        Held::Value(Value::Unsigned(number)) => i64::try_from(number).ok(),
        // As in JavaScript, where all numbers are such.
        Held::Value(Value::Double(number)) => {
            let is_whole = number.fract() == 0.0 && number.abs() <= MOST_WHOLE;
            is_whole.then_some(number as i64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(template: &str, held: &[Held]) -> Option<String> {
        let text = |held| {
            if let Held::Object(id) = held { Some(Line::of_text(["", "one", "two"][id.0 as usize])) } else { None }
        };
        let line = Template::parse(template, Origin::Recording).expect("a template").filled(held, &[], &text, true);
        line.map(|line| line.text)
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
            assert!(Template::parse(wrong, Origin::Recording).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rules_have_attributes_keys_and_braces_and_say_what_is_not_there() {
        let parsed = |text: &str| Template::parse(text, Origin::Rules);
        let line = |template: &str, held: &[Held], attributes: &[Option<&str>]| {
            let text = |held| if held == ONE { Some(Line::of_text("one")) } else { None };
            parsed(template).expect("a template").filled(held, attributes, &text, true).map(|line| line.text)
        };
        assert_eq!(line("{{{.a}}}{elements}", &[ONE], &[Some("7")]).as_deref(), Some("{one}7"));
        let gaps = [Held::Null, Held::Undefined, Held::Missing, Held::Unknown];
        assert_eq!(line("{.a}#{.b}/{.c}/{.d}{size}", &gaps, &[None]).as_deref(), Some("null#undefined/?/??"));
        // In brackets and conditions as in a recording.
        assert_eq!(line("a[#{.a}{fill}]", &[ONE], &[None]).as_deref(), Some("a"));
        assert_eq!(line("a{?.a}", &[ONE], &[]), None);
        let keyed = parsed(r#"{.map["}:"].name}{.ms:ms}"#).expect("a template");
        assert_eq!(keyed.paths().iter().map(ToString::to_string).collect::<Vec<_>>(), [r#".map["}:"].name"#, ".ms"]);
        for (wrong, said) in [
            ("{", "never closed"),
            ("a}", "closes nothing"),
            ("{name", "never closed"),
            ("{nme}", "`nme` is no field, as `.nme` would be"),
            ("{line}", "`line` is no part"),
            ("{is}", "`is` is no part"),
            ("{}", "is no field"),
            ("{.a..b}", "expected the name of a field"),
            ("{.a[}", "never closed"),
            ("{.a:day}", "`day` is no format of one number"),
            ("{.a.a.a.a.a.a.a.a.a}", "more than 8"),
            ("a]", "ends nothing"),
        ] {
            let found = parsed(wrong).unwrap_err();
            assert!(found.contains(said), "{wrong}: {found}");
        }
        // None of it is in a template of a recording.
        for text in ["{elements}", "{{", "a}}", r#"{.map["k"]}"#] {
            let recorded = Template::parse(text, Origin::Recording);
            assert!(recorded.is_err() || recorded.is_ok_and(|one| one.paths().iter().all(|path| !path.has_keys())));
        }
    }

    #[test]
    fn any_text_is_a_template_or_a_mistake() {
        let pieces = ["{", "}", "[", "]", "|", "\\", ".a", ":ms", "?", "=", "\"", "'", "ä", "size", " ", "\0", "[0]"];
        let (mut random, mut parsed) = (barrow_testdata::Random::new(8), 0);
        for _ in 0..20_000 {
            let length = random.below(12);
            let text: String = (0..length).map(|_| pieces[random.below(pieces.len() as u64) as usize]).collect();
            for origin in [Origin::Recording, Origin::Rules] {
                let Ok(template) = Template::parse(&text, origin) else { continue };
                let held = vec![Held::Unknown; template.paths().len()];
                let attributes = vec![None; template.attributes().len()];
                template.filled(&held, &attributes, &|_| None, true);
                parsed += 1;
            }
        }
        assert!(parsed > 1000, "{parsed}");
    }
}
