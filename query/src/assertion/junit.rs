//! JUnit XML, as CI servers read it: a suite with a case for each assertion. Its subset of XML needs no library.

use std::fmt::Write;

use crate::answer::visible;

/// The result of one assertion.
pub(crate) struct Case {
    /// The assertion.
    pub(crate) name: String,
    /// The time that it took.
    pub(crate) seconds: f64,
    /// The reason why it does not hold.
    pub(crate) problem: Option<Problem>,
    /// Notes, which are printed in any case.
    pub(crate) notes: String,
}

/// The reason why an assertion does not hold.
pub(crate) enum Problem {
    /// It is false.
    Failure {
        /// The numbers, in a line.
        message: String,
        /// The witness.
        text: String,
    },
    /// It is undecided.
    Error {
        /// The reason.
        message: String,
    },
}

/// A document with a suite of this name.
pub(crate) fn document(suite: &str, cases: &[Case]) -> String {
    let failures = cases.iter().filter(|case| matches!(case.problem, Some(Problem::Failure { .. }))).count();
    let errors = cases.iter().filter(|case| matches!(case.problem, Some(Problem::Error { .. }))).count();
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    let counts = format!(r#"tests="{}" failures="{failures}" errors="{errors}" time="{seconds:.3}""#, cases.len());
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(xml, "<testsuites {counts}>\n  <testsuite name=\"{}\" {counts}>", escaped(suite));
    for case in cases {
        let name = escaped(&case.name);
        let _ = write!(xml, "    <testcase classname=\"barrow\" name=\"{name}\" time=\"{:.3}\">", case.seconds);
        match &case.problem {
            None => {}
            Some(Problem::Failure { message, text }) => {
                let _ = write!(xml, "<failure message=\"{}\">{}</failure>", escaped(message), escaped(text));
            }
            Some(Problem::Error { message }) => {
                let _ = write!(xml, "<error message=\"{}\"/>", escaped(message));
            }
        }
        if !case.notes.is_empty() {
            let _ = write!(xml, "<system-out>{}</system-out>", escaped(&case.notes));
        }
        xml.push_str("</testcase>\n");
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

/// Escapes a text for an element or an attribute. Control characters, most of which XML cannot contain, are made visible.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for c in visible::lines(text).chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            c => xml.push(c),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_a_case_for_each_assertion() {
        let case = |name: &str, problem| Case { name: name.into(), seconds: 0.25, problem, notes: String::new() };
        let failure = Problem::Failure { message: "7, not < 5".into(), text: "A & B\u{0}\u{1b}[1m]]>".into() };
        let error = Problem::Error { message: "\"too few\"".into() };
        let xml = document("a<b>.barrow", &[case("x < 5", Some(failure)), case("y", None), case("z", Some(error))]);
        let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites tests=\"3\" failures=\"1\" errors=\"1\" time=\"0.750\">
  <testsuite name=\"a&lt;b&gt;.barrow\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"0.750\">
    <testcase classname=\"barrow\" name=\"x &lt; 5\" time=\"0.250\"><failure message=\"7, not &lt; 5\">\
A &amp; B\\u{0}\\u{1b}[1m]]&gt;</failure></testcase>
    <testcase classname=\"barrow\" name=\"y\" time=\"0.250\"></testcase>
    <testcase classname=\"barrow\" name=\"z\" time=\"0.250\"><error message=\"&quot;too few&quot;\"/></testcase>
  </testsuite>
</testsuites>
";
        assert_eq!(xml, expected);
    }
}
