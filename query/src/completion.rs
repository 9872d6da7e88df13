//! Completion of lines: the words that can follow, each with what it is.
//!
//! ```text
//!   fi                                        verbs
//!   find type = "java.util.Ha                 types of the recording
//!   find type = "Session" and .us             fields of this type
//!   stack "job                                threads of the snapshot
//!   top by                                    orders
//!   find so, and unlike these:                attributes, kinds, sets
//! ```
//!
//! Words with characters that a terminal obeys, or that people do not see, are left out: text that is inserted into a
//! line is shown.

use std::collections::HashSet;

use barrow_analyzer::{Expression, FieldPath, KindId, KindRole, Recording, SnapshotId, Tables, Threads, TypeId};

use crate::answer::visible;
use crate::assertion::measure;
use crate::commands::{self, COMMANDS, Command, Completion, Content, SETTINGS};
use crate::flags::{question_flags, shown};
use crate::language::line::unquoted;
use crate::language::{aggregates, quotes};
use crate::touches::Touches;

/// More choices of a kind than this do not help: they do not fit a screen.
const MOST: usize = 100;
/// A longer word is no choice, in bytes: a line has to hold it.
const LONGEST: usize = 1000;
/// Values of flags that are names of files, as help calls them.
const FILE_VALUES: [&str; 4] = ["DST", "FILE", "OTHER", "PATH"];

/// What lines are about.
pub struct Known<'r> {
    /// The recording that is open.
    pub recording: &'r Recording,
    /// The snapshot whose threads are offered.
    pub snapshot: Option<SnapshotId>,
    /// The sets of the session, like `$large`.
    pub sets: &'r [String],
    /// The names of files that are open beside it.
    pub beside: &'r [String],
}

/// A word that can follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The word as the line has it, with its quotes.
    pub text: String,
    /// What it is: `verb`, `type`, `field`, `thread` and so on.
    pub what: &'static str,
}

/// The words that can follow a line.
#[derive(Debug, Default)]
pub struct Completions {
    /// Where the word begins that they replace, in bytes.
    pub start: usize,
    /// The words.
    pub choices: Vec<Choice>,
    /// Names of files can follow as well.
    pub has_files: bool,
}

impl Known<'_> {
    /// The words that can follow `line`, which is the part before the cursor.
    #[must_use]
    pub fn complete(&self, line: &str) -> Completions {
        if is_before_file(&line[..file_start(line)]) {
            return Completions { start: file_start(line), choices: Vec::new(), has_files: true };
        }
        let start = word_start(line);
        let (before, word) = (&line[..start], &line[start..]);
        let Some(verb) = before.split_whitespace().next() else {
            return Completions { start, choices: offered("verb", begin(verbs(), word)), has_files: false };
        };
        let Ok(command) = commands::named(verb) else { return Completions { start, ..Completions::default() } };
        if command.completion == Completion::Threads {
            return self.after_threads(line, verb);
        }
        let mut choices = self.choices(command, before, word);
        let has_files = command.touches.contains(Touches::READS_FILES);
        if has_files {
            choices.extend(offered("file", self.files(word)));
        }
        Completions { start, choices, has_files }
    }

    /// The threads that can follow a verb: the rest of the line is the name of one.
    fn after_threads(&self, line: &str, verb: &str) -> Completions {
        let start = line.find(verb).map_or(line.len(), |at| at + verb.len());
        let start = line.len() - line[start..].trim_start().len();
        Completions { start, choices: offered("thread", self.threads(&line[start..])), has_files: false }
    }

    /// The words that a command accepts after `before` and that begin with `word`.
    fn choices(&self, command: &Command, before: &str, word: &str) -> Vec<Choice> {
        let is_field = word.rsplit(',').next().is_some_and(|last| last.starts_with('.'));
        if is_field && takes_fields(command) {
            return offered("field", self.fields(before, word));
        }
        match before.split_whitespace().next_back() {
            Some("by") => {
                return offered("order", begin((command.orders)(&Content::of(self.recording)), word));
            }
            Some("show") => return offered("aggregate", begin(aggregates::aggregate_beginnings(), word)),
            _ => {}
        }
        match command.completion {
            Completion::Nothing | Completion::Threads => Vec::new(),
            Completion::Verbs => offered("verb", begin(verbs(), word)),
            Completion::Settings => offered("setting", begin(SETTINGS, word)),
            Completion::Snapshots => offered("snapshots", begin(["all", "every", "last", "0"], word)),
            Completion::Rankings => {
                let words = offered("word", begin(["by", "types"], word));
                words.into_iter().chain(offered("kind", begin(self.kinds(), word))).collect()
            }
            Completion::Expressions => {
                let mut choices = offered("attribute", begin(commands::attributes(&Content::of(self.recording)), word));
                choices.extend(offered("word", begin(special(command), word)));
                choices.extend(offered("kind", begin(self.kinds(), word)));
                choices.extend(offered("set", begin(self.sets.iter().cloned(), word)));
                choices.extend(offered("type", self.types(word)));
                choices
            }
        }
    }

    fn kinds(&self) -> Vec<String> {
        let Ok(tables) = self.recording.tables() else { return Vec::new() };
        (0..tables.kind_count()).map(|kind| tables.kind_name(KindId(kind as u32)).to_owned()).collect()
    }

    /// Files open beside the recording that begin like `word`.
    fn files(&self, word: &str) -> Vec<String> {
        let wanted = unquoted(word);
        let names = begin(self.beside, &wanted).into_iter();
        names.map(|name| if is_plain(name) { name.clone() } else { quoted(name) }).collect()
    }

    /// Types that begin like `word`, in quotes, as an expression takes them.
    fn types(&self, word: &str) -> Vec<String> {
        let wanted = unquoted(word);
        let Ok(tables) = self.recording.tables() else { return Vec::new() };
        if wanted.is_empty() {
            return Vec::new();
        }
        let names = type_ids(tables).map(|id| tables.type_name(id));
        let mut names: Vec<&str> = begin(names, &wanted).into_iter().filter(|name| is_typed(name)).take(MOST).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(quoted).collect()
    }

    /// Fields at the end of a path that begins like `word`: of the types that `before` names, if it is their own field.
    fn fields(&self, before: &str, word: &str) -> Vec<String> {
        let first = word.rfind(',').map_or(0, |at| at + 1);
        let Some(last) = word[first..].rfind('.').map(|at| first + at) else { return Vec::new() };
        let named = if last == first { types_named(before) } else { Vec::new() };
        let Ok(tables) = self.recording.tables() else { return Vec::new() };
        let is_wanted = |id: TypeId| named.is_empty() || named.iter().any(|name| name == tables.type_name(id));
        // Fields of classes are their static ones: few objects have them.
        let is_class = |id: TypeId| tables.kind_role(tables.type_kind(id)) == KindRole::Type;
        let mut names = self.recording.field_names(|id| is_wanted(id) && !is_class(id)).unwrap_or_default();
        let of_classes = self.recording.field_names(|id| is_wanted(id) && is_class(id)).unwrap_or_default();
        let wanted = word[last + 1..].trim_start_matches('"');
        let known: HashSet<&str> = names.iter().copied().collect();
        names.extend(of_classes.into_iter().filter(|name| !known.contains(name)));
        let names = begin(names, wanted).into_iter().filter(|name| is_typed(name)).take(MOST);
        names.map(|name| format!("{}{}", &word[..last], FieldPath::named(name))).collect()
    }

    /// Threads of the snapshot that begin like `word`; one whose name others have is its number.
    fn threads(&self, word: &str) -> Vec<String> {
        let snapshot = self.snapshot.or_else(|| self.recording.snapshot_ids().next_back());
        let read = snapshot.map(|snapshot| Threads::read(self.recording, snapshot));
        let (Some(Ok(threads)), Ok(tables)) = (read, self.recording.tables()) else { return Vec::new() };
        let rows = threads.rows();
        let name = |row: &barrow_analyzer::Thread| row.name.or(row.root_label).map(|name| tables.string(name));
        let names = rows.iter().map(|row| {
            let own = name(row);
            let is_one = rows.iter().filter(|other| name(other) == own).take(2).count() == 1;
            own.filter(|_| is_one).map_or_else(|| row.id.to_string(), str::to_owned)
        });
        let wanted = unquoted(word);
        let names = begin(names.take(MOST), &wanted).into_iter().filter(|name| is_typed(name));
        names.map(|name| if is_plain(&name) { name } else { quoted(&name) }).collect()
    }
}

/// Returns whether words of a command can be paths of fields.
fn takes_fields(command: &Command) -> bool {
    matches!(command.completion, Completion::Expressions | Completion::Rankings | Completion::Snapshots)
}

/// The words that only this command knows beside those of expressions.
fn special(command: &Command) -> Vec<String> {
    match command.name {
        "find" => vec!["by".to_owned()],
        "count" | "group" => vec!["show".to_owned()],
        "assert" => measure::measures().into_iter().map(|measure| format!("{measure}(")).collect(),
        _ => Vec::new(),
    }
}

/// The types that `type = "NAME"` and `is NAME` name in a part of a line.
fn types_named(before: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut first = 0;
    // A quote that does not end is in the last word.
    let scanned = quotes::scan(before, |at, c| {
        if c.is_whitespace() || "=(),&|!".contains(c) {
            tokens.extend([&before[first..at], if c == '=' { "=" } else { "" }]);
            first = at + c.len_utf8();
        }
    });
    scanned.unwrap_or_default();
    tokens.push(&before[first..]);
    tokens.retain(|token| !token.is_empty());
    let of_type = tokens.windows(3).filter(|words| words[..2] == ["type", "="]).map(|words| words[2]);
    let of_base = tokens.windows(2).filter(|words| words[0] == "is").map(|words| words[1]);
    of_type.chain(of_base).map(unquoted).collect()
}

/// Returns whether only the name of a file can follow these words.
fn is_before_file(before: &str) -> bool {
    let before = before.trim_end();
    if let Some(compared) = before.strip_suffix('>') {
        let word = compared.split_whitespace().last().unwrap_or_default();
        return !Expression::is_attribute(word) && !word.starts_with('.');
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

/// The start of the name of a file that ends at the end of `line`: after a blank or a `>`, or at a quote that is open.
#[must_use]
pub fn file_start(line: &str) -> usize {
    start_after(line, |c| c.is_whitespace() || c == '>')
}

/// The start of the word that ends at the end of `line`: after a blank or an operator, or at a quote that is still
/// open.
fn word_start(line: &str) -> usize {
    start_after(line, |c| c.is_whitespace() || "=~<>(!&|".contains(c))
}

fn start_after(line: &str, is_end: impl Fn(char) -> bool) -> usize {
    open_quote(line).unwrap_or_else(|| {
        let last = line.rfind(is_end);
        last.map_or(0, |at| at + line[at..].chars().next().map_or(0, char::len_utf8))
    })
}

/// The place of the quote that is open at the end of `line`, in bytes.
fn open_quote(line: &str) -> Option<usize> {
    let (mut open, mut is_escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match open {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(_) if c == '"' => open = None,
            None if c == '"' => open = Some(at),
            _ => {}
        }
    }
    open
}

fn verbs() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

fn type_ids(tables: &Tables) -> impl Iterator<Item = TypeId> {
    (0..tables.type_count() as u32).map(TypeId)
}

/// The words that begin with `word`, in any case.
fn begin<W: AsRef<str>>(words: impl IntoIterator<Item = W>, word: &str) -> Vec<W> {
    let begins = |choice: &W| choice.as_ref().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    words.into_iter().filter(begins).collect()
}

/// Words as choices, without those that cannot be shown or typed.
fn offered<W: Into<String>>(what: &'static str, words: impl IntoIterator<Item = W>) -> Vec<Choice> {
    let choices = words.into_iter().map(|word| Choice { text: word.into(), what });
    choices.filter(|choice| is_typed(&choice.text)).collect()
}

/// Returns whether a line can hold this text so that people see it.
fn is_typed(text: &str) -> bool {
    text.len() < LONGEST && !text.contains(visible::is_hidden)
}

/// Returns whether a text is a word without quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
}

/// A text as a word of a line.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

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
        assert_eq!(word(r#"find type = "a \"b c"#), r#""a \"b c"#);
        assert_eq!(word("find !$la"), "$la");
        assert_eq!(word("find $a|$b"), "$b");
        assert_eq!(word("top "), "");
        let name = |line: &'static str| &line[file_start(line)..];
        assert_eq!(name("import a=b"), "a=b");
        assert_eq!(name("top >out"), "out");
        assert_eq!(name("top > \"out of"), "\"out of");
    }

    #[test]
    fn types_that_a_line_names() {
        let named = |line: &'static str| types_named(line).join("|");
        assert_eq!(named("find type = \"A \\\"B\\\"\" and "), "A \"B\"");
        assert_eq!(named("list 5 type=A of "), "A");
        assert_eq!(named("find (is java.util.Map or type = B) and "), "B|java.util.Map");
        assert_eq!(named("find kind = \"type = C\" and "), "");
    }
}
