//! Needs of jobs for files that others make, derived from their arguments.

use std::collections::HashMap;

use barrow_analyzer::StringId;
use foldhash::fast::RandomState;

use super::node::{Need, Node};
use crate::tree::{Image, ProcessTree};

/// A file named by an argument: the directory that it is relative to, and its name.
type Name = (Option<StringId>, u32);

/// Arguments that look like files, by their names without `./`.
struct Files<'t> {
    tree: &'t ProcessTree,
    /// The file that each argument names in a directory.
    named: HashMap<(Option<StringId>, StringId), Name, RandomState>,
    names: HashMap<String, u32, RandomState>,
}

/// The needs of all nodes that begin after the node they need has ended, or while it runs.
pub(super) fn of(tree: &ProcessTree, nodes: &[Node], node_of: &[u32]) -> Vec<Need> {
    let mut files = Files { tree, named: HashMap::default(), names: HashMap::default() };
    let mut makers: HashMap<Name, u32, RandomState> = HashMap::default();
    let (mut used, mut made) = (Vec::new(), Vec::new());
    let mut needs = Vec::new();
    for image in tree.images() {
        let node = node_of[image.process.index()];
        if !nodes[node as usize].is_job || image.is_forked {
            continue;
        }
        used.clear();
        made.clear();
        files.look(image, &mut used, &mut made);
        needs.extend(used.iter().filter_map(|file| need(tree, nodes, node, *makers.get(file)?)));
        makers.extend(made.iter().map(|&file| (file, node)));
    }
    needs.sort_unstable_by_key(|need| (need.of, need.node));
    needs.dedup_by_key(|need| (need.of, need.node));
    needs
}

/// The needs of makes that a make started: they began once there was what one of their jobs needs, and the make that made it had
/// ended.
pub(super) fn of_starters(tree: &ProcessTree, nodes: &[Node], needs: &[Need]) -> Vec<Need> {
    let above = |node: u32| std::iter::successors(nodes[node as usize].starter, |&node| nodes[node as usize].starter);
    let process = |node: u32| tree.process(nodes[node as usize].process);
    let mut found = Vec::new();
    for need in needs {
        let ended_before = |node: u32, starter: u32| tree.ended_ns(process(node)) <= process(starter).began_ns;
        for starter in above(need.of).take_while(|&starter| ended_before(need.node, starter)) {
            let makers = above(need.node).take_while(|&maker| ended_before(maker, starter));
            let node = makers.last().unwrap_or(need.node);
            if nodes[starter as usize].holds_slot {
                found.push(Need { of: starter, node, part: 1.0 });
            }
        }
    }
    found
}

/// The need of one node for another one that made a file, unless it began before that.
fn need(tree: &ProcessTree, nodes: &[Node], of: u32, maker: u32) -> Option<Need> {
    let [user, made_by] = [of, maker].map(|node| tree.process(nodes[node as usize].process));
    if of == maker || user.began_ns <= made_by.began_ns {
        return None;
    }
    let work = (tree.ended_ns(made_by) as f64) - made_by.began_ns as f64;
    let waited = user.began_ns as f64 - made_by.began_ns as f64;
    let part = if work > 0.0 { (waited / work).min(1.0) } else { 1.0 };
    Some(Need { of, node: maker, part })
}

impl Files<'_> {
    /// Collects the files that an image names, and those of them that it makes.
    fn look(&mut self, image: &Image, used: &mut Vec<Name>, made: &mut Vec<Name>) {
        let tree = self.tree;
        let program = tree.program(image);
        let command = tree.command(image).unwrap_or_default();
        if command.ends_with("rustc") {
            return self.look_at_rustc(image, used, made);
        }
        if command.starts_with("build-script") || command.starts_with("build_script") {
            made.push((None, self.id(&build_script(tree.directory(image).unwrap_or_default()))));
        }
        let is_archiver = command == "ar" || command.ends_with("-ar") || command.ends_with("ranlib");
        let mut is_output = false;
        let mut is_first = true;
        for &argument in program.arguments.iter().skip(1) {
            if tree.text(argument) == "-o" {
                is_output = true;
                continue;
            }
            let Some(file) = self.file(program.directory, argument, is_output) else { continue };
            // An archiver names its archive first, and updates it if it exists.
            let is_archive = is_archiver && is_first;
            is_first = false;
            if is_output || is_archive {
                made.push(file);
            }
            if !is_output {
                used.push(file);
            }
            is_output = false;
        }
        // Programs that were built may be executed.
        used.extend(program.executable.and_then(|path| self.file(program.directory, path, false)));
    }

    /// `rustc` makes `libNAME-HASH.rlib` in a folder, and `--extern` names those that it needs.
    fn look_at_rustc(&mut self, image: &Image, used: &mut Vec<Name>, made: &mut Vec<Name>) {
        let tree = self.tree;
        let words: Vec<&str> = tree.arguments(image).collect();
        let extra = words.iter().find_map(|word| word.strip_prefix("extra-filename=")).unwrap_or_default();
        let name = word_after(&words, "--crate-name").unwrap_or_default();
        let folder = word_after(&words, "--out-dir").unwrap_or_default();
        made.push((None, self.id(&format!("lib{name}{extra}"))));
        if name.starts_with("build_script") {
            made.push((None, self.id(&format!("{folder}/build-script-build"))));
            made.push((None, self.id(&format!("{folder}/build-script-main"))));
        } else {
            // The results of the build script of the package are passed as arguments or variables.
            used.push((None, self.id(&build_script(tree.directory(image).unwrap_or_default()))));
        }
        for (flag, crate_) in words.iter().zip(words.iter().skip(1)) {
            let path = if *flag == "--extern" { crate_.split_once('=').map(|(_, path)| path) } else { None };
            let Some(file) = path.and_then(|path| path.rsplit('/').next()) else { continue };
            let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            used.push((None, self.id(stem)));
        }
    }

    /// The file that an argument names, if it looks like a file or was named before.
    fn file(&mut self, directory: Option<StringId>, argument: StringId, is_output: bool) -> Option<Name> {
        if let Some(&found) = self.named.get(&(directory, argument)) {
            return Some(found);
        }
        let (name, looks_like_a_file) = name(self.tree.text(argument))?;
        // A path below the directory has the same name as the relative path.
        let below = directory.and_then(|directory| name.strip_prefix(self.tree.text(directory))?.strip_prefix('/'));
        let of = directory.filter(|_| below.is_some() || !name.starts_with('/'));
        let name = below.unwrap_or(name);
        let id = match self.names.get(name) {
            Some(&id) => id,
            None if is_output || looks_like_a_file => self.id(name),
            None => return None,
        };
        self.named.insert((directory, argument), (of, id));
        Some((of, id))
    }

    fn id(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.names.get(name) {
            return id;
        }
        let id = self.names.len() as u32;
        self.names.insert(name.to_owned(), id);
        id
    }
}

fn word_after<'t>(words: &[&'t str], flag: &str) -> Option<&'t str> {
    words.iter().zip(words.iter().skip(1)).find(|(word, _)| **word == flag).map(|(_, next)| *next)
}

/// The name that stands for the results of the build script of a package.
fn build_script(package: &str) -> String {
    format!("build script in {package}")
}

/// The file name in an argument, and whether it looks like one; `None` for flags and scripts.
fn name(argument: &str) -> Option<(&str, bool)> {
    let may_be = !argument.is_empty()
        && !argument.starts_with('-')
        && !argument.contains(|c: char| c.is_whitespace() || "=;|<>\"'".contains(c));
    may_be.then(|| (argument.trim_start_matches("./"), argument.contains(['.', '/'])))
}
