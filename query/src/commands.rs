//! The one table of commands. It feeds the prompt, `help`, completion, the one-shot command line
//! and `docs/commands.md`.

mod age;
mod assert;
mod audit;
mod born;
mod classes;
mod collections;
mod common;
mod compare;
mod completions;
mod count;
mod critical;
mod died;
mod diff;
mod dominators;
mod dups;
mod entries;
mod exit;
mod export;
mod find;
mod flame;
mod group;
mod growth;
mod heap;
mod help;
mod histogram;
mod history;
mod idom;
mod import;
mod info;
mod inrefs;
mod lanes;
mod leaks;
mod list;
mod loaders;
mod man;
mod modes;
mod more;
mod naming;
mod path;
mod paths;
mod prelude;
mod processes;
mod record;
mod redact;
mod repack;
mod repair;
mod report;
mod resolve;
mod retained;
mod roots;
mod runs;
mod serve;
mod set;
mod set_references;
mod show;
mod site;
mod sites;
mod snapshot;
mod snapshots;
mod stack;
mod strings;
mod summary;
mod survival;
mod survived;
mod threads;
mod timeline;
mod top;
mod tree;
mod trend;
mod trial;
mod trials;
mod unreachable;
mod values;
mod verify;
mod waste;
mod watch;
mod what_if;
mod without;

pub use help::{expressions, from_shell, overview, page, usage_from_shell};
pub use set::KEYS as SETTINGS;

pub(crate) use compare::{file_of_variant, is_recording_by_name};
pub(crate) use more::next_page;

pub use crate::command::{Command, Completion, Content, Group, Subject};

use barrow_analyzer::nearest;
use barrow_processes::Attribute;

use crate::arguments::Arguments;
use crate::attributes::totals::Total;
use crate::error::QueryError;
use crate::language::names::{self, Match};
use crate::language::request::Request;

/// The words of the attributes that expressions know in a recording that holds this.
#[must_use]
pub fn attributes(held: &[Content]) -> Vec<&'static str> {
    let has_processes = held.contains(&Content::Processes);
    let has_objects = !has_processes || held.contains(&Content::Heap);
    let of_objects = barrow_analyzer::ATTRIBUTES.iter().filter(|_| has_objects).map(|attribute| attribute.words[0]);
    let of_processes = barrow_processes::ATTRIBUTES.iter().filter(|_| has_processes).map(Attribute::word);
    of_objects.chain(of_processes).collect()
}

/// Returns whether the words of a ranking ask only for totals by type.
fn asks_for_totals(arguments: &Arguments) -> bool {
    let is_total =
        |by: &String| Total::named(by).is_some_and(|total| total != Total::Retained) || by == "type" || by == "kind";
    // A word that can begin an expression asks for single objects.
    let is_kind = |word: &String| {
        let is_attribute = barrow_analyzer::Expression::is_attribute(word);
        word.chars().all(|c| c.is_alphanumeric() || c == '-') && !is_attribute && !top::is_sites(word)
    };
    let request = Request::of(arguments);
    request.by.iter().all(is_total) && request.rest.words().iter().all(is_kind)
}

/// The commands of modules.
macro_rules! commands_of {
    ($($verb:ident)*) => { &[$(&$verb::COMMAND),*] };
}

/// Every command, in the order of `help`.
pub const COMMANDS: &[&Command] = commands_of! {
    snapshots snapshot summary top histogram sites site
    diff growth trend born died survived age survival
    find list count naming info entries show inrefs
    path paths roots threads stack dominators flame idom common retained without leaks assert unreachable
    strings group dups waste collections loaders
    processes tree classes timeline lanes critical what_if export heap
    trials runs values modes compare trial
    record watch serve report verify audit redact repack repair resolve import
    more history set help man completions exit
};

/// All names with the place of their command.
fn names() -> impl Iterator<Item = (&'static str, usize)> + Clone {
    let commands = COMMANDS.iter().enumerate();
    commands.flat_map(|(index, command)| command.names().map(move |name| (name, index)).collect::<Vec<_>>())
}

/// The command of exactly this name.
pub fn exactly(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().copied().find(|command| command.names().any(|known| known == name))
}

/// The command that `word` names, by its name, an alias or a unique prefix of one. A command that writes files is named
/// in full: a slip of the finger must not start one.
///
/// # Errors
/// A usage error with the choices, or with the nearest name.
pub fn named(word: &str) -> Result<&'static Command, QueryError> {
    // The beginning of one verb is that verb, whatever aliases begin so too.
    let lower = word.to_ascii_lowercase();
    let mut verbs =
        COMMANDS.iter().filter(|command| !command.writes() && !lower.is_empty() && command.name.starts_with(&lower));
    if let (Some(only), None, None) = (verbs.next(), verbs.next(), exactly(word)) {
        return Ok(only);
    }
    if let Some(command) = exactly(word) {
        return Ok(command);
    }
    match names::find(word, names().filter(|(_, index)| !COMMANDS[*index].writes())) {
        Match::One(index) => Ok(COMMANDS[index]),
        Match::Several(found) => {
            let choices: Vec<&str> = found.iter().map(|&index| COMMANDS[index].name).collect();
            Err(QueryError::usage(format!("`{word}` may be {}", choices.join(", "))))
        }
        Match::None => Err(unknown(word)),
    }
}

fn unknown(word: &str) -> QueryError {
    let mut writing = COMMANDS.iter().filter(|command| command.writes());
    if let Some(command) = writing.find(|command| command.name.starts_with(&word.to_ascii_lowercase())) {
        let name = command.name;
        return QueryError::usage(format!("`{word}` may be `{name}`, which writes a file: type its name in full"));
    }
    QueryError::usage(match nearest(word, names().map(|(name, _)| name)) {
        Some(near) => format!("there is no verb `{word}`; did you mean `{near}`?"),
        None => format!("there is no verb `{word}`; `help all` lists them"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut all: Vec<&str> = names().map(|(name, _)| name).collect();
        all.sort_unstable();
        let before = all.len();
        all.dedup();
        assert_eq!(all.len(), before);
    }

    #[test]
    fn prefixes_and_aliases_name_commands() {
        for (word, name) in [("sum", "summary"), ("histo", "histogram"), ("p", "info"), ("ve", "verify"), ("q", "exit")]
        {
            assert_eq!(named(word).map(|command| command.name).ok(), Some(name), "{word}");
        }
        assert_eq!(
            named("s").err().unwrap().to_string(),
            "`s` may be snapshots, snapshot, summary, sites, site, survived, survival, show, stack, leaks, strings, serve, \
             set"
        );
        assert_eq!(named("sumary").err().unwrap().to_string(), "there is no verb `sumary`; did you mean `summary`?");
    }

    #[test]
    fn what_writes_files_is_named_in_full() {
        for word in ["im", "expo", "impor", "redac", "repai", "repac", "resol", "IMPO"] {
            let told = named(word).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(told.contains("type its name in full"), "{word}: {told}");
        }
        for word in ["import", "redact", "repair", "repack", "resolve"] {
            assert_eq!(named(word).map(|command| command.name).ok(), Some(word));
        }
        // An abbreviation does not depend on commands that it cannot mean.
        assert_eq!(named("ret").map(|command| command.name).ok(), Some("retained"));
        assert_eq!(named("r").err().unwrap().to_string(), "`r` may be show, inrefs, roots, retained, runs");
    }

    #[test]
    fn the_grammar_says_whether_there_are_words() {
        let without: Vec<&str> = COMMANDS.iter().filter(|command| !command.takes_words()).map(|one| one.name).collect();
        let expected = [
            "snapshots",
            "waste",
            "collections",
            "loaders",
            "critical",
            "export",
            "record",
            "watch",
            "verify",
            "audit",
            "redact",
            "repack",
            "repair",
            "resolve",
            "more",
            "exit",
        ];
        assert_eq!(without, expected);
    }

    #[test]
    fn the_grammar_names_only_flags_that_the_command_knows() {
        for command in COMMANDS {
            let tokens = command.arguments.split([' ', '[', ']', '.']).filter(|token| token.starts_with('-'));
            for flag in tokens.filter(|flag| !["-e", "-", "--"].contains(flag)) {
                assert!(command.flags.contains(&flag), "{}: {flag}", command.name);
            }
        }
    }

    #[test]
    fn the_grammar_names_the_orders() {
        let words_of = |verb: &str| {
            let command = exactly(verb).expect("a verb");
            let words: Vec<&str> = command.arguments.split([' ', '[', ']', '|']).collect();
            (words, (command.orders)(&[Content::Heap, Content::Processes]))
        };
        for verb in ["top", "sites", "histogram", "threads", "classes", "age", "unreachable", "show", "inrefs"] {
            let (words, orders) = words_of(verb);
            assert!(!orders.is_empty() && orders.iter().all(|order| words.contains(order)), "{verb}: {orders:?}");
        }
        // Each total is one of `diff`, too, though its `size` is another.
        let (_, of_diff) = words_of("diff");
        assert!(Total::usual_words().iter().all(|word| of_diff.contains(word)));
    }

    #[test]
    fn examples_begin_with_their_verb() {
        for command in COMMANDS {
            assert!(command.example.starts_with(command.name), "{}", command.name);
            assert!(!command.about.ends_with('.') && command.about.len() < 72, "{}", command.name);
        }
    }
}
