//! Values in CSV: the trials that `export --to csv` writes, and tables of users.
//!
//! ```text
//!   metric,unit,direction,variant,run,iteration,seed,value
//!   wall,ns,lower,seq 10000,0,,7,1049959
//! ```
//!
//! Only `metric` and `value` are required; columns may have any order; `variant` may be named `program` or `name`.
//! `docs/imports.md` lists the use of each column.

use std::borrow::Cow;
use std::collections::HashMap;

use barrow_writer::Better;
use csv::ByteRecord;

use crate::error::ImportError;
use crate::format::Importer;
use crate::processes::process_logs::{UnreadableParts, readable, text};
use crate::values::measurements::{MetricText, ParsedValues, Values, import_reading, standard, without_mark};

/// The columns that are read.
const COLUMNS: [&str; 8] = ["metric", "unit", "direction", "variant", "run", "iteration", "seed", "value"];
/// Other names of columns, and their meaning.
const ALIASES: [(&str, &str); 2] = [("program", "variant"), ("name", "variant")];
/// The name of a variant without a name.
const UNNAMED: &str = "unnamed";

/// Values in CSV.
pub(crate) const IMPORTER: Importer = Importer {
    key: "csv",
    name: "values in CSV (metric, value)",
    heading: "CSV",
    sample: "values.csv",
    recognises: |first_bytes| heading(first_bytes).is_some(),
    import: |dump, context| {
        let text = if context.is_cut { whole_lines(dump) } else { dump };
        import_reading(dump, context, |reading| read(text, &mut |at| reading.reached(at)))
    },
    read: Some(|text, _| read(text, &mut |_| Ok(()))),
    ..Importer::OF_VALUES
};

/// The beginning of names of columns with parameters of the variant.
const PARAMETER: &str = "parameter_";

/// The place of each of [`COLUMNS`].
type ColumnPositions = [Option<usize>; COLUMNS.len()];

/// The columns of the first line.
struct Heading {
    places: ColumnPositions,
    /// The places of parameters, with their names.
    parameters: Vec<(usize, String)>,
    /// The names of unknown columns.
    unknown: Vec<String>,
    /// The first name of two columns that would both be read.
    twice: Option<String>,
}

fn heading(first_bytes: &[u8]) -> Option<Heading> {
    let file = without_mark(first_bytes);
    let line = &file[..memchr::memchr2(b'\n', b'\r', file)?];
    let mut record = ByteRecord::new();
    reader(line).read_byte_record(&mut record).ok()?;
    let mut places: ColumnPositions = [None; COLUMNS.len()];
    let (mut parameters, mut unknown) = (Vec::<(usize, String)>::new(), Vec::new());
    let mut twice = None;
    for (at, name) in record.iter().enumerate() {
        let alias = ALIASES.iter().find(|(alias, _)| alias.as_bytes().eq_ignore_ascii_case(name));
        let known_name = alias.map_or(name, |(_, name)| name.as_bytes());
        match COLUMNS.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(known_name)) {
            Some(column) => match places[column].and_then(|place| record.get(place)) {
                None => places[column] = Some(at),
                Some(before) if before.eq_ignore_ascii_case(name) => twice = twice.or_else(|| Some(readable(name))),
                // Another name of the same column: the first is read.
                Some(_) => unknown.push(readable(name)),
            },
            None => match name.strip_prefix(PARAMETER.as_bytes()) {
                Some(parameter) => {
                    let parameter = format!("{}{}", standard::PARAMETER.text(), text(parameter));
                    if parameters.iter().any(|(_, known)| *known == parameter) {
                        twice = twice.or_else(|| Some(readable(name)));
                    }
                    parameters.push((at, parameter));
                }
                None => unknown.push(readable(name)),
            },
        }
    }
    let has_both = places[0].is_some() && places[COLUMNS.len() - 1].is_some();
    has_both.then_some(Heading { places, parameters, unknown, twice })
}

/// The text up to its last newline: half of a number is another number.
fn whole_lines(text: &[u8]) -> &[u8] {
    &text[..memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1)]
}

fn reader(text: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text)
}

/// Reads all rows. Reports its position after each.
fn read(text: &[u8], reached: &mut dyn FnMut(usize) -> Result<(), ImportError>) -> Result<ParsedValues, ImportError> {
    let mut values = Values::default();
    values.word(standard::PARAMETER);
    values.word(UNNAMED);
    let Some(Heading { places, parameters, unknown, twice }) = heading(text) else {
        return Err(ImportError::NoValues {
            reason: "the first line is no heading with `metric` and `value`".to_owned(),
        });
    };
    if let Some(name) = twice {
        return Err(ImportError::NoValues { reason: format!("two columns are called {name}: which is meant?") });
    }
    if !unknown.is_empty() {
        values.note(format!("columns that are not read: {}", unknown.join(", ")));
    }
    let text = without_mark(text);
    let mut rows =
        Rows { columns: 0, places, parameters, values, left_out: UnreadableParts::new("row"), counts: HashMap::new() };
    let mut reader = reader(text);
    let mut record = ByteRecord::new();
    let mut is_heading = true;
    // Reading from memory does not fail, and any number of fields is a record.
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        if std::mem::take(&mut is_heading) {
            rows.columns = record.len();
        } else {
            rows.add(&record, reader.position().byte());
            reached(usize::try_from(reader.position().byte()).unwrap_or(usize::MAX).min(text.len()))?;
        }
    }
    let Rows { mut values, left_out, .. } = rows;
    values.share_seeds();
    Ok(ParsedValues { values, end: left_out.end() })
}

/// Reads row by row.
struct Rows {
    /// Fields of the heading.
    columns: usize,
    places: ColumnPositions,
    parameters: Vec<(usize, String)>,
    values: Values,
    left_out: UnreadableParts,
    /// Number of values without a run, for each metric of a variant.
    counts: HashMap<(usize, usize), u64>,
}

impl Rows {
    fn add(&mut self, record: &ByteRecord, end: u64) {
        let [metric, unit, direction, variant, run, iteration, seed, value] =
            self.places.map(|place| place.and_then(|at| record.get(at)).unwrap_or_default());
        let (offset, line) = record.position().map_or((0, 0), |position| (position.byte(), position.line()));
        let surplus = record.iter().skip(self.columns).any(|field| !field.is_empty());
        if record.len() < self.columns || surplus {
            let (fields, columns) = (record.len(), self.columns);
            return self.leave_out(offset, end, || format!("it has {fields} fields, the heading has {columns}"));
        }
        let numbers = [run, iteration, seed].map(number);
        let [Ok(run), Ok(iteration), Ok(seed)] = numbers else {
            return self.leave_out(offset, end, || "run, iteration or seed is no whole number".to_owned());
        };
        if metric.is_empty() {
            return self.leave_out(offset, end, || "it names no metric".to_owned());
        }
        let variant = if variant.is_empty() { UNNAMED.into() } else { unguarded(variant) };
        let parameters = self.parameters.iter().filter_map(|(at, name)| {
            let value = record.get(*at).filter(|value| !value.is_empty())?;
            Some((name.clone(), unguarded(value).into_owned()))
        });
        let parameters: Vec<(String, String)> = parameters.collect();
        let parameters: Vec<(&str, &str)> =
            parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let variant = self.values.variant(&variant, &parameters);
        let (name, unit) = (unguarded(metric), unguarded(unit));
        let better = match direction {
            b"lower" => Better::Lower,
            b"higher" => Better::Higher,
            _ => Better::Unknown,
        };
        self.values.mark_known(&name, &standard::NAMES);
        let exact = standard::is_exact(&name, &unit);
        let metric = self.values.metric(&MetricText { name: &name, unit: &unit, better, exact });
        let run = match (run, iteration) {
            (Some(run), _) => run,
            (None, Some(_)) => 0,
            (None, None) => {
                let count = self.counts.entry((variant, metric)).or_default();
                *count += 1;
                *count - 1
            }
        };
        let run = self.values.numbered_run(variant, run);
        let number = str::from_utf8(value).ok().and_then(|value| value.parse().ok()).unwrap_or(f64::NAN);
        let range = standard::range(&name, &unit);
        let place = || {
            let named = if number.is_finite() { name.as_bytes() } else { value };
            format!("{} in line {line}", readable(named))
        };
        self.values.value_in(range, (metric, run, iteration), number, place);
        if let Some(seed) = seed.filter(|_| number.is_finite() && range.has(number)) {
            self.values.seed(seed);
        }
    }

    fn leave_out(&mut self, offset: u64, end: u64, reason: impl FnOnce() -> String) {
        let (offset, end) = (usize::try_from(offset).unwrap_or(0), usize::try_from(end).unwrap_or(0));
        self.left_out.add(offset, end.saturating_sub(offset), reason);
    }
}

/// The whole number in a cell; `None` if the cell is empty.
fn number(cell: &[u8]) -> Result<Option<u64>, ()> {
    if cell.is_empty() {
        return Ok(None);
    }
    str::from_utf8(cell).ok().and_then(|cell| cell.parse().ok()).map(Some).ok_or(())
}

/// The text of a cell without the apostrophe that guards spreadsheets against formulas, and with the control
/// characters that `export` escapes to protect terminals.
fn unguarded(cell: &[u8]) -> Cow<'_, str> {
    let text = match cell {
        [b'\'', b'=' | b'+' | b'-' | b'@', ..] => text(&cell[1..]),
        _ => text(cell),
    };
    if !text.contains(ESCAPE) {
        return text;
    }
    let mut parts = text.split(ESCAPE);
    let mut unescaped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}').and_then(|(code, rest)| Some((hidden(code)?, rest))) {
            Some((hidden, rest)) => {
                unescaped.push(hidden);
                unescaped += rest;
            }
            None => {
                unescaped += ESCAPE;
                unescaped += part;
            }
        }
    }
    Cow::Owned(unescaped)
}

/// The beginning of an escape.
const ESCAPE: &str = "\\u{";

/// The character of an escape, if `export` would escape it; other text is that of a program.
fn hidden(code: &str) -> Option<char> {
    let is_hexadecimal = code.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let character = is_hexadecimal.then(|| u32::from_str_radix(code, 16).ok().and_then(char::from_u32)).flatten()?;
    character.is_control().then_some(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_may_have_another_name() {
        let Heading { places, parameters, unknown, .. } = heading(b"Program,metric,value,other,parameter_n\n").unwrap();
        assert_eq!((places[3], unknown), (Some(0), vec!["`other`".to_owned()]));
        assert_eq!(parameters, [(4, "parameter n".to_owned())]);
    }

    #[test]
    fn a_heading_names_metric_and_value() {
        for text in
            ["metric,value\n", "\u{feff}Value , x,metric\r\n", "\"value\",\"metric\"\n", "run,value,metric\n1,2,3"]
        {
            assert!(heading(text.as_bytes()).is_some(), "{text:?}");
        }
        for text in [
            "",
            "metric,value",
            "metric\n",
            "value,metrics\n",
            "\nmetric,value\n",
            "metric;value\n",
            "{\"metric\",\"value\"\n",
        ] {
            assert!(heading(text.as_bytes()).is_none(), "{text:?}");
        }
    }
}
