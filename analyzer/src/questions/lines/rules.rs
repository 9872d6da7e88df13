//! The file of rules: TOML, with a template for each class.
//!
//! ```text
//!   "com.acme.Key" = "{.name}#{.id}"
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use toml::{Spanned, Value};

use super::template::{Origin, Template};
use crate::error::{AnalyzerError, Result};
use crate::heap::LineRules;

/// The maximum number of rules of a file: each takes memory of its own while lines are made.
const MOST_RULES: usize = 1000;

impl LineRules {
    /// Reads the rules of a file; `name` is its name in errors.
    ///
    /// # Errors
    /// [`AnalyzerError::LineRules`] with the file, the line and the mistake.
    pub fn read(name: &str, text: &str) -> Result<Self> {
        let error = |place: Option<Range<usize>>, what: &str| {
            let before = &text.as_bytes()[..place.map_or(0, |place| place.start.min(text.len()))];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
            AnalyzerError::LineRules { file: name.to_owned(), line, what }
        };
        let table: BTreeMap<Spanned<String>, Spanned<Value>> =
            toml::from_str(text).map_err(|mistake| error(mistake.span(), mistake.message()))?;
        let mut rules: Vec<(usize, String, String)> = Vec::new();
        for (class, value) in table {
            let Some(template) = value.get_ref().as_str() else {
                let what = format!(
                    "`{}` is no text: a line of this file is \"com.acme.Key\" = \"{{.name}}\", with the whole name in quotes",
                    class.get_ref()
                );
                return Err(error(Some(class.span()), &what));
            };
            if let Err(what) = Template::parse(template, Origin::Rules) {
                return Err(error(Some(value.span()), &what));
            }
            rules.push((class.span().start, class.get_ref().clone(), template.to_owned()));
        }
        rules.sort_unstable();
        if let Some((place, ..)) = rules.get(MOST_RULES) {
            return Err(error(Some(*place..*place), &format!("there are more than {MOST_RULES} classes")));
        }
        let rules = rules.into_iter().map(|(_, class, template)| (class, template)).collect();
        Ok(LineRules { file: name.to_owned(), text: text.to_owned(), rules, uses: AtomicU64::new(0) })
    }
}
