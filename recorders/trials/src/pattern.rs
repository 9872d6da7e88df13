//! Values that a program prints: a name, a regular expression, and which values are better.

use std::str::FromStr;

use barrow_writer::Better;
use regex::{Captures, Regex, RegexBuilder};

use crate::metrics::is_measured;

/// A value that a program prints.
#[derive(Debug, Clone)]
pub struct ValuePattern {
    /// The name of the metric.
    pub name: String,
    /// The plain text that follows the number in the expression, if any.
    pub unit: String,
    /// Which values are better.
    pub better: Better,
    expression: Regex,
}

impl ValuePattern {
    /// The next match from a place on. `^` and `$` are the ends of a line.
    pub(crate) fn captures_at<'t>(&self, text: &'t str, from: usize) -> Option<Captures<'t>> {
        self.expression.captures_at(text, from)
    }

    /// The number of a match, or what is in its place, as a clause.
    pub(crate) fn number(&self, captures: &Captures<'_>) -> Result<f64, String> {
        // A group that took no part holds nothing.
        let group = captures.name("value").or_else(|| captures.get(1));
        let text = group.map_or("", |group| group.as_str()).trim();
        match number(text) {
            Some(number) => Ok(number),
            None if has_ambiguous_comma(text) => {
                Err(format!("`{text}`, whose comma may stand for a point or divide thousands"))
            }
            None => Err(format!("`{text}`, which is no finite number")),
        }
    }
}

/// A finite number; thousands may be divided, as in 1,234,567 and 1,234.5 and 1_234. A single comma may also stand for a point,
/// and then it is no number. One that is too small for a number that is not 0 is none.
fn number(text: &str) -> Option<f64> {
    let plain = match text.find([',', '_']) {
        None => text.to_owned(),
        Some(at) => {
            let divider = text[at..].chars().next()?;
            let Divided { digits, groups, rest } = divided(text, divider)?;
            let is_certain = divider == '_' || !digits.starts_with('0') && (groups > 1 || rest.starts_with('.'));
            if !is_certain {
                return None;
            }
            text[..text.len() - rest.len()].replace(divider, "") + rest
        }
    };
    let number: f64 = plain.parse().ok().filter(|number: &f64| number.is_finite())?;
    let mantissa = plain.split(['e', 'E']).next()?;
    (number != 0.0 || !mantissa.contains(|c| ('1'..='9').contains(&c))).then_some(number)
}

/// Whether the only comma of a number is followed by three digits, as a point may be.
fn has_ambiguous_comma(text: &str) -> bool {
    divided(text, ',').is_some_and(|divided| divided.groups == 1 && !divided.rest.starts_with('.'))
}

/// A number whose digits before the point are divided into groups.
struct Divided<'t> {
    /// The first group, of one to three digits.
    digits: &'t str,
    /// The groups of three digits after it.
    groups: usize,
    /// The part from the point or the exponent on.
    rest: &'t str,
}

/// A number that is divided so; `None` if it is not.
fn divided(text: &str, divider: char) -> Option<Divided<'_>> {
    let end = text.find(['.', 'e', 'E']).unwrap_or(text.len());
    let (whole, rest) = text.split_at(end);
    let mut groups = whole.split(divider);
    let digits = groups.next()?.trim_start_matches(['+', '-']);
    let is_group = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let is_divided = (1..=3).contains(&digits.len()) && is_group(digits);
    let groups = groups.map(|group| (group.len() == 3 && is_group(group)).then_some(()));
    let groups = groups.collect::<Option<Vec<()>>>()?.len();
    is_divided.then_some(Divided { digits, groups, rest })
}

impl FromStr for ValuePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no value; it is written like 'throughput=([0-9.]+) MB/s:higher'");
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        if name.trim().is_empty() || rest.is_empty() {
            return Err(wrong());
        }
        let name = name.trim();
        if is_measured(name) {
            return Err(format!("every run has a metric `{name}`; give these values another name"));
        }
        let (expression, better) = match rest.rsplit_once(':') {
            Some((expression, "higher")) => (expression, Better::Higher),
            Some((expression, "lower")) => (expression, Better::Lower),
            Some((_, other)) if !other.is_empty() && other.chars().all(|c| c.is_ascii_lowercase()) => {
                return Err(format!(
                    "`:{other}` is neither `:higher` nor `:lower`; write `[:]{other}` to match that text"
                ));
            }
            _ => (rest, Better::Unknown),
        };
        let compiled = RegexBuilder::new(expression)
            .multi_line(true)
            .build()
            .map_err(|error| format!("the expression of `{name}` is not valid: {}", last_line(&error.to_string())))?;
        let is_named = compiled.capture_names().any(|group| group == Some("value"));
        match compiled.captures_len() - 1 {
            0 => return Err(format!("which part of `{expression}` is the number? Write it as a group: ([0-9.]+)")),
            1 => {}
            _ if is_named => {}
            groups => {
                return Err(format!(
                    "`{expression}` has {groups} groups; name the one that holds the number: (?<value>[0-9.]+)"
                ));
            }
        }
        let unit = unit(expression);
        Ok(ValuePattern { name: name.to_owned(), unit, better, expression: compiled })
    }
}

/// The text that follows the first group, if it is only a unit: `MB/s`, `%`, `ns`.
fn unit(expression: &str) -> String {
    let Some((_, after)) = expression.split_once(')') else { return String::new() };
    let unit = after.trim();
    let is_plain = unit.chars().all(|c| c.is_alphanumeric() || "/%µ".contains(c));
    if is_plain && unit.chars().count() <= 16 { unit.to_owned() } else { String::new() }
}

fn last_line(text: &str) -> &str {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> ValuePattern {
        text.parse().unwrap()
    }

    fn numbers(pattern: &ValuePattern, text: &str) -> Result<Vec<f64>, String> {
        pattern.expression.captures_iter(text).map(|captures| pattern.number(&captures)).collect()
    }

    #[test]
    fn a_value_has_a_name_a_unit_and_a_direction() {
        let throughput = pattern("throughput=([0-9.]+) MB/s:higher");
        assert_eq!((throughput.name.as_str(), throughput.unit.as_str()), ("throughput", "MB/s"));
        assert_eq!(throughput.better, Better::Higher);
        assert_eq!(numbers(&throughput, "x 1.5 MB/s\n2000 MB/s, 3.25 MB/s").unwrap(), [1.5, 2000.0, 3.25]);
        let time = pattern("t=time: (?<value>[^ ]+) s.*");
        assert_eq!((time.unit.as_str(), time.better), ("", Better::Unknown));
        assert_eq!(numbers(&time, "time: 1_000.5 s").unwrap(), [1000.5]);
        assert_eq!(numbers(&time, "time: soon s").unwrap_err(), "`soon`, which is no finite number");
        assert_eq!(numbers(&time, "time: 0.0e-400 s").unwrap(), [0.0]);
        assert!(numbers(&time, "time: NaN s").is_err() && numbers(&time, "time: inf s").is_err());
        assert_eq!(numbers(&pattern("n=^n ([0-9]+)$"), "n 7\nn 8 x\nn 9\n").unwrap(), [7.0, 9.0]);
        assert_eq!(numbers(&pattern("n=(a|b) (?<value>[0-9]+)"), "a 7 b 8").unwrap(), [7.0, 8.0]);
    }

    #[test]
    fn a_comma_divides_thousands_only_where_it_can_be_no_point() {
        let time = pattern("t=time: (.+) s");
        let divided = "time: -1,234,567.5e1 s\ntime: 12,345,678 s\ntime: 1,234.5 s\ntime: 12_345 s";
        assert_eq!(numbers(&time, divided).unwrap(), [-12_345_675.0, 12_345_678.0, 1234.5, 12_345.0]);
        for wrong in [
            "1,5",
            "1234,567",
            "1,234,56",
            "1,,234",
            ",123",
            "1,234_567",
            "1.5,000",
            "1_0",
            "1e-400",
            "0,123,456",
            "0,123.4",
        ] {
            let said = format!("`{wrong}`, which is no finite number");
            assert_eq!(numbers(&time, &format!("time: {wrong} s")).unwrap_err(), said);
        }
        for wrong in ["0,123", "12,345", "-1,234", "1,234e3"] {
            let said = format!("`{wrong}`, whose comma may stand for a point or divide thousands");
            assert_eq!(numbers(&time, &format!("time: {wrong} s")).unwrap_err(), said);
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for wrong in ["", "x", "=1", "x=", "x=(", "x=:higher", "x=[0-9]+", "x=([0-9]+) ([0-9]+)", "x=([0-9]+):sideways"]
        {
            assert!(wrong.parse::<ValuePattern>().is_err(), "{wrong}");
        }
        assert!("wall=([0-9]+)".parse::<ValuePattern>().unwrap_err().contains("another name"));
    }
}
