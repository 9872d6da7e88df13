//! The documents on crates agree with their manifests and sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

/// A member of the workspace, as cargo knows it.
struct Member {
    name: String,
    /// From the root of the repository, like `recorders/rust`.
    folder: String,
    is_published: bool,
    manifest: Value,
}

static MEMBERS: LazyLock<Vec<Member>> = LazyLock::new(|| {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let output = cargo.output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let root = root().canonicalize().expect("the repository is there");
    metadata["packages"].as_array().expect("packages").iter().map(|manifest| member(&root, manifest)).collect()
});

fn member(root: &Path, manifest: &Value) -> Member {
    let path = PathBuf::from(manifest["manifest_path"].as_str().expect("a path"));
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok()).expect("a folder");
    let folder = folder.strip_prefix(root).expect("members are in the repository").display().to_string();
    Member {
        name: manifest["name"].as_str().expect("a name").to_owned(),
        folder: folder.replace('\\', "/"),
        // `null` is any registry, an empty list none.
        is_published: manifest["publish"].is_null(),
        manifest: manifest.clone(),
    }
}

impl Member {
    /// Its dependencies of a kind on other members: `None` are the normal ones.
    fn dependencies(&self, kind: Option<&str>) -> Vec<(&Member, &Value)> {
        let all = self.manifest["dependencies"].as_array().expect("dependencies").iter();
        let of_kind = all.filter(|dependency| dependency["kind"].as_str() == kind);
        let member = |dependency: &Value| MEMBERS.iter().find(|member| dependency["name"] == *member.name);
        of_kind.filter_map(|dependency| Some((member(dependency)?, dependency))).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        root().join(&self.folder).join(name)
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cells of the rows below the headings of a table in a document.
fn table(document: &str, headings: &str) -> Vec<Vec<String>> {
    let text = read(&root().join("docs").join(document));
    let (_, rest) = text.split_once(headings).unwrap_or_else(|| panic!("{document} has no table {headings}"));
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The text between backticks.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(|text| text.trim_end_matches('/').to_owned()).collect()
}

/// The sources of all members, by path from the root, without comments and unit tests in files of their own.
fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    for member in MEMBERS.iter() {
        collect(&member.path("src"), &format!("{}/src", member.folder), &mut sources);
    }
    sources
}

fn collect(folder: &Path, name: &str, sources: &mut BTreeMap<String, String>) {
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{name}: {error}")).map(|entry| entry.expect("an entry"))
    {
        let path = entry.path();
        let name = format!("{name}/{}", entry.file_name().display());
        if path.is_dir() {
            collect(&path, &name, sources);
        } else if name.ends_with(".rs") && !name.ends_with("/tests.rs") {
            let text = read(&path);
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            sources.insert(name, code.map(|line| format!("{line}\n")).collect());
        }
    }
}

fn has_word(code: &str, word: &str) -> bool {
    // `unsafe-inline` is a word of its own.
    let is_part = |character: char| character.is_alphanumeric() || "_-".contains(character);
    code.split(|character| !is_part(character)).any(|found| found == word)
}

#[test]
fn every_module_with_unsafe_code_is_listed() {
    let sources = sources();
    let found: BTreeSet<&str> =
        sources.iter().filter(|(_, code)| has_word(code, "unsafe")).map(|(name, _)| name.as_str()).collect();
    let rows = table("architecture.md", "| modules | reason |");
    let listed: BTreeSet<String> = rows.iter().flat_map(|row| quoted(&row[0])).collect();
    let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    assert_eq!(listed, found, "docs/architecture.md lists the first; the sources have the second");
}

#[test]
fn the_table_of_crates_is_the_workspace() {
    let rows = table("architecture.md", "| folder | crate | depends on |");
    let one = |cell: &str| quoted(cell).into_iter().next().expect("a name in backticks");
    let told: BTreeMap<_, _> = rows.iter().map(|row| ((one(&row[0]), one(&row[1])), quoted(&row[2]))).collect();
    let folders = |member: &Member| member.dependencies(None).iter().map(|(other, _)| other.folder.clone()).collect();
    let found: BTreeMap<_, BTreeSet<String>> =
        MEMBERS.iter().map(|member| ((member.folder.clone(), member.name.clone()), folders(member))).collect();
    assert_eq!(told, found, "docs/architecture.md tells the first; the manifests have the second");
}

#[test]
fn every_published_crate_can_be_published() {
    assert!(MEMBERS.iter().any(|member| member.is_published));
    for member in MEMBERS.iter().filter(|member| member.is_published) {
        let name = &member.name;
        for key in ["description", "license", "rust_version"] {
            assert!(member.manifest[key].is_string(), "{name} has no {key}");
        }
        for key in ["keywords", "categories"] {
            let words = member.manifest[key].as_array().expect("a list");
            assert!((1..=5).contains(&words.len()), "{name} has {} {key}", words.len());
        }
        assert_eq!(member.manifest["readme"], "README.md", "{name}");
        assert!(read(&member.path("README.md")).contains("\n```"), "the README of {name} has no example");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(read(&member.path(licence)) == read(&root().join(licence)), "{name}: {licence} is another text");
        }
        assert!(
            read(&member.path("Cargo.toml")).contains("\ninclude = ["),
            "{name} does not say what its package holds"
        );
    }
}

#[test]
fn no_published_crate_needs_one_that_stays_here() {
    for member in MEMBERS.iter().filter(|member| member.is_published) {
        for (other, dependency) in member.dependencies(None).into_iter().chain(member.dependencies(Some("build"))) {
            assert!(other.is_published, "{} needs {}, which is not published", member.name, other.name);
            assert_ne!(dependency["req"], "*", "{} names no version of {}", member.name, other.name);
        }
        // With a version, two crates that test each other would each have to be published before the other.
        for (other, dependency) in member.dependencies(Some("dev")) {
            let way_out = format!("write {} = {{ path = \"…\" }} there", other.name);
            assert_eq!(dependency["req"], "*", "{} tests with a version of {}: {way_out}", member.name, other.name);
        }
    }
}

/// Words for features that only some systems have.
const SYSTEM_WORDS: [&str; 7] = ["unix", "target_os", "target_family", "libc", "rustix", "Advice", "UncheckedAdvice"];

#[test]
fn every_module_for_some_systems_is_listed() {
    let sources = sources();
    let is_special = |code: &str| {
        code.contains("std::os::")
            || code.contains("cfg(windows")
            || SYSTEM_WORDS.iter().any(|word| has_word(code, word))
    };
    let found: BTreeSet<&str> =
        sources.iter().filter(|(_, code)| is_special(code)).map(|(name, _)| name.as_str()).collect();
    let rows = table("platforms.md", "| module | needs | elsewhere |");
    let listed: BTreeSet<String> = rows.iter().flat_map(|row| quoted(&row[0])).collect();
    let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    assert_eq!(listed, found, "docs/platforms.md lists the first; the sources have the second");
}

/// A file that is neither a module of `suite` nor a program of its own would never run.
#[test]
fn every_file_of_tests_is_run() {
    let mut suites = 0;
    for member in MEMBERS.iter() {
        let Ok(suite) = fs::read_to_string(member.path("tests/suite.rs")) else { continue };
        suites += 1;
        let targets = member.manifest["targets"].as_array().expect("targets").iter();
        let programs = targets.filter(|target| target["kind"][0] == "test");
        let programs: BTreeSet<&str> = programs.filter_map(|program| program["src_path"].as_str()).collect();
        let modules: BTreeSet<&str> =
            suite.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
        for entry in fs::read_dir(member.path("tests")).expect("the folder of its tests") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_str().expect("letters");
            let source = format!("/{}/tests/{name}.rs", member.folder);
            let is_run = modules.contains(name) || programs.iter().any(|program| program.ends_with(&source));
            assert!(is_run || path.extension().is_none_or(|extension| extension != "rs"), "{}", path.display());
        }
    }
    assert!(suites > 0);
}
