//! `docs/guides/{leaks,sessions,node,rust,python}.md`, `docs/recording-builds.md`, `docs/trials.md`: their programs are run, and
//! their commands typed, as they are written there.
//!
//! Answers about bundled recordings stay the same. Sizes, numbers and times of others differ from run to run, so of these only
//! the lines are compared that name what leaks, how a command ended, and what an assertion came to, without their numbers.
//! `BLESS=1` rewrites all answers. A section whose runtime is not there is left out.

mod program;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What sections about bundled files need: whoever runs this test has it.
const BUNDLED: &str = "cargo";
/// Lines with one of these are compared.
const TELLING: [&str; 18] = [
    "orders::",
    "Invoice",
    "lru_cache",
    "Session",
    "Castellan",
    "Connection",
    "Shop",
    "Metrics",
    "Quotes",
    "listeners",
    "gauges",
    "exit code",
    "snapshots",
    "testsuites",
    "compiler",
    "wall",
    "slots",
    "zstd_opt.c",
];

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn the_leak_in_python_is_found() {
    replay(
        "docs/guides/leaks.md",
        "## Python",
        "python3",
        &["docs/guides/leaks/shop.py", "recorders/python/dump_heap.py"],
    );
}

#[test]
fn the_leak_in_javascript_is_found() {
    replay("docs/guides/leaks.md", "## Node.js", "node", &["docs/guides/leaks/chat.js"]);
}

#[test]
fn sessions_that_leak_are_found_by_what_they_hold() {
    replay("docs/guides/node.md", "## Sessions that have ended", "node", &["docs/guides/leaks/sessions.js"]);
}

#[test]
fn the_leak_in_java_is_found() {
    // The dumps are bundled: nothing but a shell is needed. How long the import takes differs from run to run.
    let dumps = [1, 2, 3, 4, 5].map(|hour| format!("testdata/leaks/quotes-{hour}.hprof.zst"));
    replay("docs/guides/leaks.md", "## Java", "rustc", &dumps.each_ref().map(String::as_str));
}

#[test]
fn a_leak_is_found_by_what_fields_hold() {
    // The recordings are bundled, here too.
    let recordings = ["testdata/leaks/storefront.barrow", "testdata/leaks/fixed.barrow"];
    let sections = ["## What grows", "## Whose is it", "## In CI"];
    sections.iter().for_each(|section| replay("docs/guides/sessions.md", section, BUNDLED, &recordings));
}

#[test]
fn the_leak_in_rust_is_found() {
    // The recording is bundled: nothing but a shell is needed.
    replay("docs/guides/rust.md", "## A leak", BUNDLED, &["testdata/orders.barrow"]);
}

#[test]
fn the_leak_in_a_recorded_python_is_found() {
    // The recording is bundled, here too.
    replay("docs/guides/python.md", "## Finding a leak", BUNDLED, &["testdata/invoices.barrow"]);
}

#[test]
fn the_cost_of_a_build_is_found() {
    // The recordings are bundled: nothing but a shell is needed, and all answers stay the same.
    let builds = ["ninja-j1", "ninja-j2", "make-j2-loaded"].map(|name| format!("testdata/builds/{name}.barrow"));
    let builds: Vec<&str> = builds.iter().map(String::as_str).collect();
    let sections = [
        "## What costs most",
        "## How many jobs",
        "## On a busy machine",
        "## In CI",
        "## A page, a drawing, other viewers",
    ];
    sections.iter().for_each(|section| replay("docs/recording-builds.md", section, BUNDLED, &builds));
}

#[test]
fn a_benchmark_that_misleads_is_mended() {
    let recordings = ["trials/before", "trials/after", "trials/random", "trials/fixed", "trial"];
    let recordings = recordings.map(|name| format!("testdata/{name}.barrow"));
    let recordings: Vec<&str> = recordings.iter().map(String::as_str).collect();
    let sections =
        ["## A benchmark that misleads", "## All layouts at once", "## The fix", "## In CI", "## The rare slower mode"];
    sections.iter().for_each(|section| replay("docs/trials.md", section, BUNDLED, &recordings));
}

/// Types the commands of a section of a document in a folder with these files.
fn replay(document: &str, heading: &str, runtime: &str, files: &[&str]) {
    let document = repository().join(document);
    let there = Command::new(runtime).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("{heading}: skipped, since there is no {runtime}");
        return;
    }
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    for file in files.iter().map(|file| repository().join(file)) {
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).expect("the file can be copied");
    }
    let text = std::fs::read_to_string(&document).expect("the document can be read");
    let section = section(&text, heading);
    let mut now = String::new();
    let mut is_console = false;
    for line in section.lines() {
        is_console = if line.starts_with("```") { line == "```console" } else { is_console };
        match line.strip_prefix("$ ").filter(|_| is_console) {
            Some(command) => {
                let _ = write!(now, "{line}\n{}", answer(folder.path(), command));
            }
            // An answer of the last time.
            None if is_console && line != "```console" => {}
            None => now += &format!("{line}\n"),
        }
    }
    if std::env::var_os("BLESS").is_some() {
        // The other section may have been rewritten meanwhile.
        let _lock = LOCK.lock();
        let text = std::fs::read_to_string(&document).expect("the document can be read");
        std::fs::write(&document, text.replace(section, &now)).expect("the document can be written");
        return;
    }
    if runtime == BUNDLED {
        assert_eq!(now, section, "BLESS=1 rewrites the answers");
    }
    assert_eq!(telling(&now), telling(section), "BLESS=1 rewrites the answers, which now are\n{now}");
}

static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// From a heading to the next of its rank.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let start = text.find(&format!("{heading}\n")).expect("the section is there");
    let length = text[start + 1..].find("\n## ").map_or(text.len() - start, |length| length + 2);
    &text[start..start + length]
}

/// The standard output of a command.
fn answer(folder: &Path, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_barrow")).parent().unwrap().to_owned();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(program).chain(std::env::split_paths(&inherited))).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", path).env("BARROW_CACHE", folder.join("cache"));
    let output = shell.output().expect("there is a shell");
    String::from_utf8(output.stdout).expect("answers are UTF-8")
}

/// The lines that are compared, without numbers and how wide their columns are.
fn telling(section: &str) -> Vec<String> {
    let lines = section.lines().filter(|line| TELLING.iter().any(|word| line.contains(word)));
    lines.map(without_numbers).collect()
}

fn without_numbers(line: &str) -> String {
    if line.starts_with("exit code ") {
        return line.to_owned();
    }
    let words = line.split_whitespace().filter(|word| !["B", "KiB", "MiB"].contains(word));
    let plain = words.map(|word| {
        let is_number = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
        let mut text = word.replace(is_number, "#");
        while text.contains("##") {
            text = text.replace("##", "#");
        }
        // Noise goes either way.
        text.replace(['+', '-'], "")
    });
    plain.collect::<Vec<_>>().join(" ")
}
