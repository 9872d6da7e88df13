//! Parameters of programs: scans and lists of values, and their combinations.

use barrow_query::QueryError;
use barrow_query::flags::TrialFlags;

/// The most programs that parameters may make: more are a mistake in a list, as each runs many times.
const MOST_PROGRAMS: usize = 10_000;

/// A parameter with its values.
pub(super) struct Parameter {
    pub(super) name: String,
    values: Vec<String>,
}

/// The parameters of the flags.
pub(super) fn parameters(flags: &TrialFlags) -> Result<Vec<Parameter>, QueryError> {
    let mut parameters = Vec::new();
    let step = flags.parameter_step_size.as_deref().unwrap_or("1");
    for scan in flags.parameter_scan.chunks(3) {
        let [name, from, to] = scan else { continue };
        parameters.push(Parameter { name: name.clone(), values: scanned(from, to, step)? });
    }
    if flags.parameter_step_size.is_some() && flags.parameter_scan.is_empty() {
        return Err(QueryError::usage("`--parameter-step-size` is the step of `--parameter-scan`"));
    }
    for list in flags.parameter_list.chunks(2) {
        let [name, values] = list else { continue };
        parameters.push(Parameter { name: name.clone(), values: listed(values) });
    }
    let mut names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(QueryError::usage(format!("two parameters have the name `{}`", pair[0]))),
        None => Ok(parameters),
    }
}

/// The numbers of a scan. As hyperfine writes them: the first has as many decimals as were given, the others also those of
/// the step.
fn scanned(from: &str, to: &str, step: &str) -> Result<Vec<String>, QueryError> {
    let wrong =
        || QueryError::usage(format!("`--parameter-scan` goes from a number to a larger one, not {from} to {to}"));
    let (first, last) = (finite(from).ok_or_else(wrong)?, finite(to).ok_or_else(wrong)?);
    let steps = finite(step).filter(|step| *step > 0.0);
    let steps = steps.ok_or_else(|| QueryError::usage("the step of a parameter is a number above 0"))?;
    if first > last {
        return Err(wrong());
    }
    // A last value that rounding alone keeps out is meant.
    let count = ((last - first) / steps + 1e-9).floor() + 1.0;
    if count > MOST_PROGRAMS as f64 {
        return Err(too_many());
    }
    let of_first = decimals(from, first);
    let others = of_first.max(decimals(step, steps));
    let values = (0..count as usize).map(|at| {
        let places = if at == 0 { of_first } else { others };
        format!("{:.places$}", first + at as f64 * steps)
    });
    Ok(values.collect())
}

fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// The number of decimals of a number as it was written; of one with an exponent, the number that it needs.
fn decimals(text: &str, number: f64) -> usize {
    let needed = number.to_string();
    let text = if text.contains(['e', 'E']) { &needed } else { text };
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The values of a list; `\,` is a comma in one of them.
fn listed(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let value = values.last_mut().expect("there is a first value");
        match c {
            '\\' if characters.peek() == Some(&',') => value.extend(characters.next()),
            ',' => values.push(String::new()),
            c => value.push(c),
        }
    }
    values
}

/// All combinations of values, the first parameter slowest; one without any if there are no parameters.
pub(super) fn combinations(parameters: &[Parameter]) -> Result<Vec<Vec<(String, String)>>, QueryError> {
    let mut all = vec![Vec::new()];
    for Parameter { name, values } in parameters {
        if all.len() * values.len() > MOST_PROGRAMS {
            return Err(too_many());
        }
        let extended = all.iter().flat_map(|before: &Vec<(String, String)>| {
            values.iter().map(move |value| {
                let mut next = before.clone();
                next.push((name.clone(), value.clone()));
                next
            })
        });
        all = extended.collect();
    }
    Ok(all)
}

fn too_many() -> QueryError {
    QueryError::usage(format!("these parameters make more than {MOST_PROGRAMS} programs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_reaches_its_end_in_spite_of_rounding() {
        assert_eq!(scanned("0.1", "0.5", "0.1").unwrap(), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(scanned("1", "4", "1").unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(scanned("1", "4", "2").unwrap(), ["1", "3"]);
        for (from, to, step) in [("4", "1", "1"), ("a", "1", "1"), ("0", "1", "0"), ("0", "1", "x"), ("0", "1e9", "1")]
        {
            assert!(scanned(from, to, step).is_err(), "{from} {to} {step}");
        }
    }

    /// The numbers that hyperfine 1.15 makes from the same flags.
    #[test]
    fn numbers_are_written_as_hyperfine_writes_them() {
        let cases: [(&str, &str, &str, &[&str]); 6] = [
            ("0", "1", "0.5", &["0", "0.5", "1.0"]),
            ("0.0", "1", "0.5", &["0.0", "0.5", "1.0"]),
            ("0.0", "1.0", "0.25", &["0.0", "0.25", "0.50", "0.75", "1.00"]),
            ("0", "2.00", "1", &["0", "1", "2"]),
            ("1", "3", "1.0", &["1", "2.0", "3.0"]),
            ("0.10", "0.3", "0.1", &["0.10", "0.20", "0.30"]),
        ];
        for (from, to, step, expected) in cases {
            assert_eq!(scanned(from, to, step).unwrap(), expected, "{from} {to} {step}");
        }
        // Numbers that hyperfine does not read.
        assert_eq!(scanned("1e0", "2", "5e-1").unwrap(), ["1", "1.5", "2.0"]);
    }

    #[test]
    fn values_of_a_list_may_hold_commas() {
        assert_eq!(listed(r"a,b\,c,,d\e"), ["a", "b,c", "", r"d\e"]);
    }

    #[test]
    fn parameters_are_combined() {
        let flags = TrialFlags {
            parameter_scan: ["n", "1", "2"].map(String::from).to_vec(),
            parameter_list: ["x", "a,b"].map(String::from).to_vec(),
            ..TrialFlags::default()
        };
        let all = combinations(&parameters(&flags).unwrap()).unwrap();
        let texts: Vec<String> = all.iter().map(|one| one.iter().map(|(_, value)| value.as_str()).collect()).collect();
        assert_eq!(texts, ["1a", "1b", "2a", "2b"]);
    }
}
