//! A line, and the number or the time that it is.

use std::fmt::{self, Display, Formatter};

use barrow_expressions::{Decimal, Moment, Number, Zone};
use barrow_format::rows::Value;

/// A line to read instead of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub text: String,
    /// Something in it is a number of the program.
    has_numbers: bool,
    /// Something in it is a text of the program.
    has_texts: bool,
}

impl Line {
    /// A text of a template.
    pub(super) fn of_template(text: &str) -> Self {
        Line { text: text.to_owned(), has_numbers: false, has_texts: false }
    }

    /// A text of the program.
    pub(super) fn of_text(text: &str) -> Self {
        Line { text: text.to_owned(), has_numbers: false, has_texts: true }
    }

    /// What a format has made of numbers.
    pub(super) fn of_numbers(text: String) -> Self {
        Line { text, has_numbers: true, has_texts: false }
    }

    /// The written form of a value that is not a text.
    pub(super) fn of_value(value: Value) -> Option<Self> {
        Some(match value {
            Value::Unsigned(number) => Line::of_numbers(number.to_string()),
            Value::Signed(number) => Line::of_numbers(number.to_string()),
            Value::Float(number) => Line::of_numbers(number.to_string()),
            Value::Double(number) => Line::of_numbers(number.to_string()),
            Value::Boolean(truth) => Line::of_text(if truth { "true" } else { "false" }),
            Value::Character(code) => Line::of_text(char::from_u32(code)?.encode_utf8(&mut [0; 4])),
            Value::Text(_) => return None,
        })
    }

    /// Adds another one at the end.
    pub(super) fn push(&mut self, part: &Line) {
        self.text.push_str(&part.text);
        self.has_numbers |= part.has_numbers;
        self.has_texts |= part.has_texts;
    }

    /// The number that it is. A text of the program is none, whatever it says.
    #[must_use]
    pub fn number(&self) -> Option<Number> {
        let decimal = Decimal::parse(&self.text).filter(|_| self.has_numbers && !self.has_texts)?;
        Some(decimal.whole().map_or(Number::Decimal(decimal), Number::Whole))
    }

    /// The date or the time that it is. Only its zone may be a text of the program.
    #[must_use]
    pub fn time(&self) -> Option<Moment> {
        let is_sure = |time: &Moment| self.has_numbers && (!self.has_texts || time.zone == Zone::Known);
        Moment::parse(&self.text).filter(is_sure)
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_program_are_neither_numbers_nor_times() {
        let line = |text: &str, zone: &str, is_text: bool| {
            let mut line = if is_text { Line::of_text(text) } else { Line::of_numbers(text.to_owned()) };
            if !zone.is_empty() {
                line.push(&Line::of_text(zone));
            }
            (line.number().is_some(), line.time().is_some())
        };
        assert_eq!(line("412.50", "", false), (true, false));
        assert_eq!(line("412.50", "", true), (false, false));
        assert_eq!(line("412", ".50", false), (false, false));
        assert_eq!(line("2020-02-10", "", false), (false, true));
        assert_eq!(line("2020-02-10", "", true), (false, false));
        assert_eq!(line("2020-02-10T12:00", "+02:00[Europe/Berlin]", false), (false, true));
        assert_eq!(line("2020-02-10T12:00", ":30", false), (false, false));
        assert_eq!(line("12", ":30", false), (false, false));
    }
}
