//! Files of a crate depend on each other in one direction, except a folder's file and the files in the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates whose files are checked.
const CRATES: [&str; 16] = [
    "format",
    "progress",
    "expressions",
    "writer",
    "writer/capi",
    "analyzer",
    "statistics",
    "processes",
    "rewrite",
    "importers",
    "symbols",
    "recorders/processes",
    "recorders/rust",
    "recorders/python",
    "query",
    "repl",
];

/// A module as its path in the crate: `["heap", "flat"]`; the root is empty.
type Module = Vec<String>;

/// The text of every module below a folder, without comments and tests.
fn modules(folder: &Path, module: &Module, found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("the folder can be read").map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().into_string().expect("names are UTF-8");
        if entry.path().is_dir() {
            modules(&entry.path(), &[module.as_slice(), &[name]].concat(), found);
        } else if let Some(stem) = name.strip_suffix(".rs") {
            let text = fs::read_to_string(entry.path()).expect("sources are UTF-8");
            let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let is_root = module.is_empty() && ["lib", "main"].contains(&stem);
            let path = if is_root { Module::new() } else { [module.as_slice(), &[stem.to_owned()]].concat() };
            found.entry(path).or_default().push_str(&code.join("\n"));
        }
    }
}

/// The paths of a `use` tree: `a::{b, c::d}` has two.
fn leaves(tree: &str, prefix: &str, found: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        found.push(format!("{prefix}{tree}"));
        return;
    };
    let (prefix, body) = (format!("{prefix}{head}"), rest.trim_end().strip_suffix('}').unwrap_or(rest));
    let (mut depth, mut start) = (0, 0);
    for (at, c) in body.char_indices().chain([(body.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !body[start..at].trim().is_empty() {
                    leaves(&body[start..at], &prefix, found);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The modules that a module names.
fn named(module: &Module, text: &str, all: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let mut paths = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let tree = text[at + 4..].split(';').next().unwrap_or_default();
        if ["crate::", "super::", "self::"].iter().any(|root| tree.starts_with(root)) {
            leaves(tree, "", &mut paths);
        }
    }
    for (at, _) in text.match_indices("crate::") {
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        paths.push(text[at..].split(|c| !is_path(c)).next().unwrap_or_default().to_owned());
    }
    let module_of = |path: &String| {
        let mut base = module.clone();
        let mut words = path.split("::").map(|word| word.trim().split(' ').next().unwrap_or_default()).peekable();
        if words.peek() == Some(&"crate") {
            base.clear();
        }
        for word in words {
            match word {
                "crate" | "self" | "" => {}
                "super" => drop(base.pop()),
                word => base.push(word.to_owned()),
            }
        }
        while !all.contains_key(&base) {
            base.pop();
        }
        base
    };
    paths.iter().map(module_of).collect()
}

/// Returns whether one is an ancestor of the other, or the same.
fn are_related(one: &Module, other: &Module) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Modules that are left when those that depend on none of the others are taken away again and again: circles, and
/// what depends on them.
fn circles(folder: &Path) -> Vec<String> {
    let mut texts = BTreeMap::from([(Module::new(), String::new())]);
    modules(folder, &Module::new(), &mut texts);
    let mut arrows: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, text) in &texts {
        let to = named(module, text, &texts).into_iter().filter(|to| !are_related(module, to)).collect();
        arrows.insert(module.clone(), to);
    }
    loop {
        let left: BTreeSet<Module> = arrows.keys().cloned().collect();
        arrows.retain(|_, to| to.iter().any(|module| left.contains(module)));
        if arrows.len() == left.len() {
            return left.iter().map(|module| module.join("::")).collect();
        }
    }
}

#[test]
fn files_depend_on_each_other_in_one_direction() {
    for name in CRATES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        assert_eq!(circles(&folder), Vec::<String>::new(), "circles of files in {name}, and what depends on them");
    }
}

#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    write("lib.rs", "mod a;\nmod b;\nmod c;\n");
    write("a.rs", "mod part;\nuse part::Part;\nuse crate::b::{self, B};\n");
    write("a/part.rs", "use super::Whole;\n");
    write("b.rs", "/// [`crate::c::C`]\nfn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n");
    write("c.rs", "fn f() -> crate::a::A { loop {} }\n");
    assert_eq!(circles(folder.path()), Vec::<String>::new());
    write("b.rs", "use crate::{a::part::Part as P, c::{C, D}};\n");
    assert_eq!(circles(folder.path()), ["a", "b", "c"]);
}
