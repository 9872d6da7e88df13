//! Values as people read them, in one line.

use crate::{Fact, Mark, Unit, Value, path, units, visible};

/// A value of this unit: hidden characters are written out, estimates have a `~`, and nothing is empty.
#[must_use]
pub fn text(value: &Value, unit: Unit) -> String {
    match value {
        Value::None => String::new(),
        Value::Text(text) => visible::cell(text).into_owned(),
        Value::Line(text) | Value::Object { text, .. } => visible::line(text).into_owned(),
        Value::Name(name) => quoted(name, usize::MAX),
        Value::Path(steps) => path::fitted(steps, usize::MAX),
        Value::Number(number) => number_text(*number, unit),
        Value::Signed(number) => number.to_string(),
        Value::Estimate(number) => format!("~{}", number_text(*number, unit)),
        Value::Change(difference) if unit == Unit::Bytes => units::change(*difference, units::size),
        Value::Change(difference) => units::change(*difference, units::grouped),
        Value::Share(share) => format!("{:.1} %", share * 100.0),
        Value::EstimatedShare(share) => format!("~{:.1} %", share * 100.0),
        Value::Rate(rate) if unit == Unit::Bytes => units::rate(*rate),
        Value::Rate(rate) => units::real(*rate),
        Value::Measured(measured) => visible::cell(&measured.text()).into_owned(),
        Value::Decimal { value, decimals } => format!("{value:.*}", usize::from(*decimals)),
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Truth(truth) => truth.to_string(),
        Value::Absent(absence) => absence.word().to_owned(),
        Value::Series { numbers, unit } => {
            let texts = numbers.iter().map(|number| number.map_or_else(String::new, |number| amount(number, *unit)));
            texts.collect::<Vec<_>>().join(", ")
        }
        Value::Bar { length, .. } => units::grouped(*length),
        Value::Load(shares) => {
            let shares = shares.iter().map(|share| text(&Value::Share(*share), unit));
            shares.collect::<Vec<_>>().join(", ")
        }
        Value::Lane(marks) => marks.iter().map(|mark| text(&Value::Mark(*mark), unit)).collect::<Vec<_>>().join(", "),
        Value::Moment(moment) => {
            let classes = moment.running.iter().filter_map(|process| process.class.as_deref().map(visible::cell));
            classes.collect::<Vec<_>>().join(", ")
        }
        Value::Mark(Mark::Nothing) => String::new(),
        Value::Mark(Mark::Rank(rank)) => rank.to_string(),
        Value::Mark(Mark::Other) => "other".to_owned(),
        Value::List(values) => values.iter().map(|value| text(value, unit)).collect::<Vec<_>>().join(", "),
        Value::Record(fields) => {
            let fields = fields.iter().map(|Fact { column, value }| {
                format!("{}: {}", visible::cell(&column.heading), text(value, column.unit))
            });
            fields.collect::<Vec<_>>().join(", ")
        }
    }
}

/// A text in quotes, to set it off from the text around it; hidden characters are escaped. Of a
/// longer one the first `most` characters.
#[must_use]
pub fn quoted(text: &str, most: usize) -> String {
    format!("\"{}\"", shortened(text, most))
}

/// The first `most` characters of a text, in which hidden characters are escaped.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    let (mut shown, mut length) = (String::new(), 0);
    for c in text.chars() {
        let escaped = if c == '\'' { "'".to_owned() } else { c.escape_debug().to_string() };
        length += escaped.chars().count();
        if length > most {
            shown.push('…');
            break;
        }
        shown.push_str(&escaped);
    }
    shown
}

/// A number of a series.
fn amount(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => text(&Value::Share(number), unit),
        // What is counted is whole.
        Unit::Count | Unit::Bytes | Unit::Duration => number_text(number as u64, unit),
        _ => number.to_string(),
    }
}

fn number_text(number: u64, unit: Unit) -> String {
    match unit {
        Unit::Count => units::grouped(number),
        Unit::Bytes => units::size(number),
        Unit::Object => format!("@{number}"),
        Unit::Address => format!("{number:#x}"),
        Unit::Duration => units::duration(number),
        Unit::Text | Unit::Process | Unit::Number | Unit::Share | Unit::Nested | Unit::Picture => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_titles_are_escaped_and_cut() {
        assert_eq!(shortened("it's \"so\"\n", 40), r#"it's \"so\"\n"#);
        assert_eq!(shortened(&"\u{1b}".repeat(9), 40), format!("{}…", r"\u{1b}".repeat(6)));
        assert_eq!(shortened(&"x".repeat(40), 40), "x".repeat(40));
    }
}
