//! Changes between two recordings of a build: by class, and by command.
//!
//! Commands are the same if their arguments are, except for parts that differ between runs: names below a folder for
//! temporary files, hashes, and process numbers.

use std::collections::HashMap;

use crate::classes::{LabelId, Schema};
use crate::totals::{Sum, cpu_ns};
use crate::tree::{Image, ImageId, ProcessTree, duration};

/// Resource use of one side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SideUse {
    /// Images.
    pub images: u64,
    user_ns: Sum,
    system_ns: Sum,
    /// Sum of their times from start to end.
    pub wall_ns: u64,
    /// Peak resident memory of one of them.
    pub peak_bytes: Option<u64>,
}

impl SideUse {
    fn add(&mut self, tree: &ProcessTree, image: &Image) {
        self.images += 1;
        self.user_ns.add(image.used.user_ns);
        self.system_ns.add(image.used.system_ns);
        self.wall_ns = self.wall_ns.saturating_add(tree.wall_ns(image));
        self.peak_bytes = self.peak_bytes.max(image.used.peak_bytes);
    }

    /// Exclusive processor time; `None` if none of it is known.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        cpu_ns(self.user_ns.value(), self.system_ns.value())
    }

    /// The processor time, or the time from start to end if that is unknown.
    fn time_ns(&self) -> u64 {
        self.cpu_ns().unwrap_or(self.wall_ns)
    }
}

/// The change of a class or a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseChange {
    /// The class, or the command.
    pub name: String,
    /// Use in the first recording; `None` if the name is new.
    pub before: Option<SideUse>,
    /// Use in the second recording; `None` if the name is gone.
    pub after: Option<SideUse>,
}

impl UseChange {
    /// The change of the processor time, or of the time from start to end where that is unknown.
    #[must_use]
    pub fn amount_ns(&self) -> u64 {
        let [before, after] = [self.before, self.after].map(|side| side.map_or(0, |side| side.time_ns()));
        before.abs_diff(after)
    }
}

/// Changes by class, the largest first. The schemata have the same rules.
#[must_use]
pub fn changes_by_class(trees: [&ProcessTree; 2], schemata: [&Schema; 2]) -> Vec<UseChange> {
    changes([0, 1].map(|side| {
        let (tree, schema) = (trees[side], schemata[side]);
        let mut uses = vec![SideUse::default(); schema.labels().len()];
        for (id, image) in (0..).map(ImageId).zip(tree.images()) {
            if let Some(label) = schema.label(id) {
                uses[label.index()].add(tree, image);
            }
        }
        let named = (0..).map(LabelId).zip(uses).map(|(label, uses)| (schema.text(label).to_owned(), uses));
        named.collect()
    }))
}

/// Changes by command, the largest first.
#[must_use]
pub fn changes_by_command(trees: [&ProcessTree; 2]) -> Vec<UseChange> {
    changes(trees.map(|tree| {
        let mut uses: HashMap<String, SideUse> = HashMap::new();
        for image in tree.images() {
            uses.entry(normal_command(tree, image)).or_default().add(tree, image);
        }
        uses
    }))
}

fn changes([before, mut after]: [HashMap<String, SideUse>; 2]) -> Vec<UseChange> {
    let mut changes: Vec<UseChange> = Vec::with_capacity(before.len().max(after.len()));
    for (name, before) in before {
        let after = after.remove(&name);
        changes.push(UseChange { name, before: Some(before), after });
    }
    changes.extend(after.into_iter().map(|(name, after)| UseChange { name, before: None, after: Some(after) }));
    changes.sort_by(|one, other| other.amount_ns().cmp(&one.amount_ns()).then_with(|| one.name.cmp(&other.name)));
    changes
}

/// The duration of a recording, from its first to its last known moment.
#[must_use]
pub fn whole_wall_ns(tree: &ProcessTree) -> u64 {
    let (start, end) = tree.span_ns();
    duration(start, end)
}

/// The command of an image, without the parts that differ between runs.
fn normal_command(tree: &ProcessTree, image: &Image) -> String {
    let process = tree.process(image.process);
    let parent = process.parent.map(|parent| tree.process(parent).pid);
    let mut command = String::new();
    for argument in tree.arguments(image) {
        if !command.is_empty() {
            command.push(' ');
        }
        push_normal(&mut command, argument, [Some(process.pid), parent]);
    }
    match (command.is_empty(), tree.executable(image)) {
        (true, Some(executable)) => executable.to_owned(),
        (true, None) => "UNKNOWN".to_owned(),
        (false, _) => command,
    }
}

fn push_normal(command: &mut String, argument: &str, pids: [Option<u64>; 2]) {
    let mut rest = argument;
    while !rest.is_empty() {
        let begin = ["/tmp/", "/var/tmp/", "/private/tmp/"].into_iter().find(|folder| rest.starts_with(folder));
        if let Some(folder) = begin {
            let name = &rest[folder.len()..];
            let end = name.find(|c: char| "/,:;'\" )".contains(c)).unwrap_or(name.len());
            let extension = name[..end].rfind('.').map_or("", |dot| &name[dot..end]);
            command.extend([folder, "*", extension]);
            rest = &name[end..];
            continue;
        }
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(if word == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { word });
        command.push_str(if differs(word, pids) { "*" } else { word });
        rest = after;
    }
}

/// Whether a word is a hash, or the number of the process or of its parent.
fn differs(word: &str, pids: [Option<u64>; 2]) -> bool {
    let is_hash = word.len() >= 12
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit());
    is_hash || word.parse().is_ok_and(|number: u64| number > 99 && pids.contains(&Some(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        for (argument, normal) in [
            ("/tmp/ccAbC123.s", "/tmp/*.s"),
            ("-o/tmp/x/y.o", "-o/tmp/*/y.o"),
            ("a:/tmp/q,b", "a:/tmp/*,b"),
            ("libfoo-0123456789abcdef.rlib", "libfoo-*.rlib"),
            ("file1234.c", "file1234.c"),
            ("conf.1234/x", "conf.*/x"),
            ("conf.1235/x", "conf.*/x"),
            ("größe-12", "größe-12"),
            ("deadbeefdead", "deadbeefdead"),
        ] {
            let mut found = String::new();
            push_normal(&mut found, argument, [Some(1234), Some(1235)]);
            assert_eq!(found, normal);
        }
    }
}
