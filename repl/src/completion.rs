//! What Tab offers: verbs, kinds, types, attributes of expressions, sets, settings.

use std::sync::Arc;

use barrow_analyzer::{ATTRIBUTES, KindId, Recording, Tables, TypeId};
use rustyline::completion::Pair;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use crate::commands::{self, COMMANDS, Completion, SETTINGS};
use crate::visible;

/// More choices than this help nobody.
const MOST_TYPES: usize = 100;
const ORDERS: [&str; 6] = ["by size", "by count", "by unmanaged", "by type", "by kind", "types"];

/// Completes lines about one recording.
pub(crate) struct Completer {
    recording: Arc<Recording>,
    /// The sets of the session, like `$large`.
    pub(crate) sets: Vec<String>,
}

impl Completer {
    /// Completes lines about `recording`.
    pub(crate) fn new(recording: Arc<Recording>) -> Self {
        Completer { recording, sets: Vec::new() }
    }

    /// What may follow `verb` and begins like `word`.
    fn choices(&self, verb: &str, word: &str) -> Vec<String> {
        let Ok(command) = commands::named(verb) else { return Vec::new() };
        let fixed: Vec<String> = match command.completion {
            Completion::Nothing => Vec::new(),
            Completion::Verbs => verbs(),
            Completion::Settings => SETTINGS.map(str::to_owned).into(),
            Completion::Snapshots => ["all", "every", "last", "0"].map(str::to_owned).into(),
            Completion::Rankings => ORDERS.map(str::to_owned).into_iter().chain(self.kinds()).collect(),
            Completion::Expressions => {
                let attributes = ATTRIBUTES.map(|(name, _)| name.to_owned());
                attributes.into_iter().chain(self.kinds()).chain(self.sets.iter().cloned()).collect()
            }
        };
        let mut choices: Vec<String> = fixed.into_iter().filter(|choice| begins(choice, word)).collect();
        if command.completion == Completion::Expressions {
            choices.extend(self.recording.tables().map(|tables| types(tables, word)).unwrap_or_default());
        }
        choices
    }

    fn kinds(&self) -> Vec<String> {
        let Ok(tables) = self.recording.tables() else { return Vec::new() };
        (0..tables.kind_count()).map(|kind| tables.kind_name(KindId(kind as u32)).to_owned()).collect()
    }
}

fn verbs() -> Vec<String> {
    COMMANDS.iter().map(|command| command.name.to_owned()).collect()
}

/// Types that begin like `word`, in quotes, as an expression takes them.
fn types(tables: &Tables, word: &str) -> Vec<String> {
    let wanted = word.trim_start_matches('"');
    if wanted.is_empty() {
        return Vec::new();
    }
    let names = (0..tables.type_count()).map(|id| tables.type_name(TypeId(id as u32)));
    let found = names.filter(|name| begins(name, wanted)).take(MOST_TYPES);
    let mut types: Vec<String> = found.map(|name| format!("\"{}\"", name.replace('"', "\\\""))).collect();
    types.sort_unstable();
    types.dedup();
    types
}

fn begins(choice: &str, word: &str) -> bool {
    let beginning = choice.get(..word.len());
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(word))
}

/// Where the word begins that ends at the end of `line`: after a blank or an operator, or at a quote
/// that is still open.
fn word_start(line: &str) -> usize {
    if line.matches('"').count() % 2 == 1 {
        return line.rfind('"').unwrap_or(0);
    }
    let last = line.rfind(|c: char| c.is_whitespace() || "=~<>(!&|".contains(c));
    last.map_or(0, |at| at + line[at..].chars().next().map_or(0, char::len_utf8))
}

impl rustyline::completion::Completer for Completer {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = &line[..position];
        let start = word_start(line);
        let word = &line[start..];
        let choices = match line[..start].split_whitespace().next() {
            None => verbs().into_iter().filter(|verb| begins(verb, word)).collect::<Vec<_>>(),
            Some(verb) => self.choices(verb, word),
        };
        // What is inserted is drawn, too: a name with hidden characters is not offered.
        let choices = choices.into_iter().filter(|choice: &String| !choice.contains(visible::is_hidden));
        let pair = |choice: String| Pair { display: choice.clone(), replacement: choice };
        Ok((start, choices.map(pair).collect()))
    }
}

impl Hinter for Completer {
    type Hint = String;
}

impl Highlighter for Completer {}
impl Validator for Completer {}
impl Helper for Completer {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_after_a_blank_an_operator_or_at_a_quote() {
        let word = |line: &'static str| &line[word_start(line)..];
        assert_eq!(word("su"), "su");
        assert_eq!(word("find obj"), "obj");
        assert_eq!(word("find object type=In"), "In");
        assert_eq!(word("find object type=\"Foo B"), "\"Foo B");
        assert_eq!(word("find !$la"), "$la");
        assert_eq!(word("find $a|$b"), "$b");
        assert_eq!(word("top "), "");
    }

    #[test]
    fn choices_begin_like_the_word_in_any_case() {
        assert!(begins("STable", "st") && begins("type", "") && !begins("a", "ab") && !begins("ä", "a"));
    }
}
