//! Completion with Tab: verbs, kinds, types, attributes of expressions, orders, sets, settings, names of files.

mod files;

use std::sync::Arc;

use barrow_analyzer::{Expression, KindId, Recording, Tables, TypeId};
use rustyline::completion::Pair;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use barrow_query::Touches;
use barrow_query::answer::visible;
use barrow_query::commands::{self, COMMANDS, Completion, Content, SETTINGS};
use barrow_query::flags::{question_flags, shown};

/// More choices than this do not help.
const MOST_TYPES: usize = 100;
/// Values of flags that are names of files, as help calls them.
const FILE_VALUES: [&str; 4] = ["DST", "FILE", "OTHER", "PATH"];

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

    /// The start of the last word of a line, and its completions.
    fn offered(&self, line: &str) -> (usize, Vec<String>) {
        let file = files::start(line);
        if is_before_file(&line[..file]) {
            return (file, files::beginning(&line[file..]));
        }
        let start = word_start(line);
        let word = &line[start..];
        let mut words = line[..start].split_whitespace();
        let Some(verb) = words.next() else {
            return (start, verbs().into_iter().filter(|verb| begins(verb, word)).collect());
        };
        match words.next_back() {
            Some("by") => {
                let orders = self.orders(verb).into_iter().filter(|order| begins(order, word));
                return (start, orders.map(str::to_owned).collect());
            }
            Some("show") => {
                let aggregates = barrow_query::aggregate_beginnings().into_iter();
                return (start, aggregates.filter(|aggregate| begins(aggregate, word)).collect());
            }
            _ => {}
        }
        let choices = self.choices(verb, word);
        let has_files = commands::named(verb).is_ok_and(|command| command.touches.contains(Touches::READS_FILES));
        match has_files && choices.is_empty() {
            true => (file, files::beginning(&line[file..])),
            false => (start, choices),
        }
    }

    /// The orders that `by` accepts.
    fn orders(&self, verb: &str) -> Vec<&'static str> {
        commands::named(verb).map(|command| (command.orders)(&Content::of(&self.recording))).unwrap_or_default()
    }

    /// The words that `verb` accepts and that begin with `word`.
    fn choices(&self, verb: &str, word: &str) -> Vec<String> {
        let Ok(command) = commands::named(verb) else { return Vec::new() };
        let fixed: Vec<String> = match command.completion {
            Completion::Nothing => Vec::new(),
            Completion::Verbs => verbs(),
            Completion::Settings => SETTINGS.map(str::to_owned).into(),
            Completion::Snapshots => ["all", "every", "last", "0"].map(str::to_owned).into(),
            Completion::Rankings => ["by", "types"].map(str::to_owned).into_iter().chain(self.kinds()).collect(),
            Completion::Expressions => {
                let special: Vec<String> = match command.name {
                    "find" => vec!["by".to_owned()],
                    "count" | "group" => vec!["show".to_owned()],
                    "assert" => barrow_query::measures().into_iter().map(|measure| format!("{measure}(")).collect(),
                    _ => Vec::new(),
                };
                self.attributes().chain(special).chain(self.kinds()).chain(self.sets.iter().cloned()).collect()
            }
        };
        let mut choices: Vec<String> = fixed.into_iter().filter(|choice| begins(choice, word)).collect();
        if command.completion == Completion::Expressions {
            choices.extend(self.recording.tables().map(|tables| types(tables, word)).unwrap_or_default());
        }
        choices
    }

    /// The attributes of what the recording holds.
    fn attributes(&self) -> impl Iterator<Item = String> + use<> {
        commands::attributes(&Content::of(&self.recording)).into_iter().map(str::to_owned)
    }

    fn kinds(&self) -> Vec<String> {
        let Ok(tables) = self.recording.tables() else { return Vec::new() };
        (0..tables.kind_count()).map(|kind| tables.kind_name(KindId(kind as u32)).to_owned()).collect()
    }
}

/// Returns whether only the name of a file can follow these words.
fn is_before_file(before: &str) -> bool {
    let before = before.trim_end();
    if let Some(compared) = before.strip_suffix('>') {
        let word = compared.split_whitespace().last().unwrap_or_default();
        return !Expression::is_attribute(word);
    }
    before.split_whitespace().last().is_some_and(takes_file)
}

/// Returns whether a file follows this flag.
fn takes_file(word: &str) -> bool {
    question_flags().iter().filter(|flag| shown(flag) == word).any(|flag| {
        let values = flag.get_value_names().unwrap_or_default();
        values.iter().any(|value| FILE_VALUES.contains(&value.as_str()))
    })
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

/// The start of the word that ends at the end of `line`: after a blank or an operator, or at a quote that is still
/// open.
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
        let (start, choices) = self.offered(&line[..position]);
        // Inserted text is drawn, too: a name with hidden characters is not offered.
        let choices = choices.into_iter().filter(|choice: &String| !choice.contains(visible::is_hidden));
        Ok((start, choices.map(|choice| Pair { display: choice.clone(), replacement: choice }).collect()))
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
    use std::path::Path;

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
    fn orders_follow_by_and_names_of_files_what_asks_for_one() {
        let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/orders.barrow");
        let completer = Completer::new(Arc::new(Recording::open(&recording).unwrap()));
        let offered = |line: &str| completer.offered(line).1;
        assert_eq!(offered("top by "), ["size", "count", "unmanaged", "retained"]);
        assert_eq!(offered("top 5 objects by re"), ["retained"]);
        assert_eq!(offered("find size > 5 by re"), ["retained", "refs"]);
        assert_eq!(offered("assert med"), ["median("]);
        assert_eq!(offered("count size > 5 sh"), ["show"]);
        assert_eq!(offered("count size > 5 show m"), ["mean(", "min(", "max("]);
        assert_eq!(offered("group all by type show sum(si"), ["size", "site"]);
        assert!(offered("histogram by ").contains(&"generation".to_owned()));
        // Tests run in the folder of the crate.
        for line in ["top > Car", "import Car", "diff Car", "repair -o Car", "repack -o Car", "assert --from Car"] {
            assert_eq!(offered(line), ["Cargo.toml"], "{line}");
        }
        assert_eq!(offered("find size > Car"), Vec::<String>::new());
    }

    #[test]
    fn choices_begin_like_the_word_in_any_case() {
        assert!(begins("STable", "st") && begins("type", "") && !begins("a", "ab") && !begins("ä", "a"));
    }
}
