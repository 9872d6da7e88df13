//! Lines that report values.
//!
//! ```text
//!   value <tab> METRIC <tab> UNIT <tab> lower|higher| <tab> ITERATION <tab> SEED <tab> VALUE [ <tab> knob=value … ]
//! ```

use std::fmt::Write;

use crate::metric::Metric;

/// Which iteration a value belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// Its number.
    pub(crate) iteration: Option<u64>,
    /// The seed of its own layout.
    pub(crate) seed: Option<u64>,
}

/// Appends a line without its end. Returns false and appends nothing unless the value is finite.
pub(crate) fn append(lines: &mut String, metric: Metric<'_>, place: Place, value: f64) -> bool {
    if !value.is_finite() {
        return false;
    }
    let [iteration, seed] =
        [place.iteration, place.seed].map(|number| number.map(|number| number.to_string()).unwrap_or_default());
    lines.push_str("value\t");
    clean(lines, metric.name);
    lines.push('\t');
    clean(lines, metric.unit);
    // Writing to a text cannot fail.
    let _ = write!(lines, "\t{}\t{iteration}\t{seed}\t{value:?}", metric.better.name());
    true
}

/// Appends a knob to a line.
pub(crate) fn append_knob(line: &mut String, name: &str, value: u64) {
    line.push('\t');
    clean(line, &name.replace('=', "_"));
    let _ = write!(line, "={value}");
}

/// Appends a name. Characters that would end a field or a line become spaces.
fn clean(line: &mut String, name: &str) {
    line.extend(name.chars().map(|character| if character.is_control() { ' ' } else { character }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Better;

    #[test]
    fn a_line_has_one_end_and_its_fields() {
        let mut line = String::new();
        let place = Place { iteration: Some(3), seed: None };
        assert!(append(&mut line, Metric::new("a\tb\nc", "B/s\r", Better::Higher), place, 1e300));
        append_knob(&mut line, "x=\ty", 5);
        assert_eq!(line, "value\ta b c\tB/s \thigher\t3\t\t1e300\tx_ y=5");
        assert!(!append(&mut line, Metric::time("t"), place, f64::NAN));
        assert!(line.ends_with("y=5"));
    }
}
