//! The TOML form of the file of rules, and the positions that errors refer to.

use std::collections::BTreeMap;
use std::ops::Range;

use regex::Regex;
use serde::Deserialize;
use toml::Spanned;

use super::patterns;
use crate::error::{ProcessError, Result};

/// A text with its position in the file.
pub(super) type Text = Spanned<String>;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Whether the default schemata follow those of the file.
    #[serde(default = "yes")]
    pub(super) default: bool,
    #[serde(default)]
    pub(super) schema: Vec<SchemaText>,
    #[serde(default)]
    pub(super) wrapper: Vec<WrapperText>,
    #[serde(default)]
    pub(super) shell: Vec<ShellText>,
    #[serde(default)]
    pub(super) interpreter: Vec<InterpreterText>,
}

fn yes() -> bool {
    true
}

/// `[[schema]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SchemaText {
    pub(super) name: Text,
    /// Images with other labels in these schemata are ignored.
    #[serde(default)]
    pub(super) only: BTreeMap<String, Text>,
    #[serde(default)]
    pub(super) rule: Vec<RuleText>,
    /// The label if no rule matches.
    pub(super) otherwise: Option<Text>,
}

/// `[[schema.rule]]`: every pattern it has must match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleText {
    pub(super) program: Option<Text>,
    pub(super) script: Option<Text>,
    pub(super) executable: Option<Text>,
    pub(super) directory: Option<Text>,
    pub(super) target: Option<Text>,
    pub(super) arguments: Option<Text>,
    #[serde(default)]
    pub(super) class: BTreeMap<String, Text>,
    pub(super) label: Text,
}

/// `[[wrapper]]`: a program that executes the one in its arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrapperText {
    pub(super) program: Text,
    /// Options that are followed by a value.
    #[serde(default)]
    pub(super) values: Vec<String>,
    /// Words before the command, such as the time of `timeout`.
    #[serde(default)]
    pub(super) operands: usize,
    /// Whether `NAME=VALUE` may come before the command.
    #[serde(default)]
    pub(super) assignments: bool,
}

/// `[[shell]]`: a program that runs the commands in the argument after `-c`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShellText {
    pub(super) program: Text,
    /// Commands that prepare for the one that matters, such as `cd`.
    #[serde(default)]
    pub(super) skip: Vec<String>,
}

/// `[[interpreter]]`: a program that runs the script or the module in its arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InterpreterText {
    pub(super) program: Text,
    /// Options that are followed by a value.
    #[serde(default)]
    pub(super) values: Vec<String>,
    /// Options that are followed by code: there is no script.
    #[serde(default)]
    pub(super) code: Vec<String>,
}

/// A file being read: its name and its text, for errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'s> {
    pub(super) name: &'s str,
    pub(super) text: &'s str,
}

impl Source<'_> {
    /// Reads the file.
    ///
    /// # Errors
    /// [`ProcessError::Rules`]: invalid TOML, or unknown keys.
    pub(super) fn parse(self) -> Result<File> {
        toml::from_str(self.text).map_err(|error| self.error(error.span(), error.message()))
    }

    /// Compiles a pattern of the file.
    pub(super) fn pattern(self, text: &Text) -> Result<Regex> {
        patterns::pattern(text.get_ref()).map_err(|what| self.error(Some(text.span()), what))
    }

    /// An error at a place.
    pub(super) fn error(self, place: Option<Range<usize>>, what: impl Into<String>) -> ProcessError {
        let what: String = what.into();
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        ProcessError::Rules { file: self.name.to_owned(), line: self.line(place.map_or(0, |place| place.start)), what }
    }

    /// The line of a place, counted from 1.
    pub(super) fn line(self, place: usize) -> usize {
        let before = &self.text.as_bytes()[..place.min(self.text.len())];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}
