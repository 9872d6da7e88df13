//! Scripts of commands with their output: `scripts/NAME.barrow` and `scripts/NAME.expected`.
//!
//! A script is run once, and a mark follows the answer of each line. So the expected text shows every line with its
//! answer, and below the line that first raises it the exit code. `BLESS=1` rewrites it. A first line like `# named.barrow`
//! names the recording of `testdata/` that is asked; without it, it is that of a Raku process.

use crate::program;
use std::fmt::Write;
use std::path::Path;

/// Written to stdout and stderr after the answer of a line.
const MARK: &str = "--- the answer ends ---\n";

/// A line that writes the mark. `help` changes nothing that other lines refer to.
const MARKING: &str = "help exit | echo '--- the answer ends ---'; echo '--- the answer ends ---' >&2";

#[test]
fn scripts_answer_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut scripts: Vec<_> = std::fs::read_dir(folder)
        .expect("there are scripts")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "barrow"))
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    for script in scripts {
        let text = std::fs::read_to_string(&script).expect("the script can be read");
        program::compare(&script.with_extension("expected"), &transcript(&text));
    }
}

fn transcript(script: &str) -> String {
    let (named, script) = match script.strip_prefix("# ").and_then(|rest| rest.split_once('\n')) {
        Some((name, rest)) => (Some(name), rest),
        None => (None, script),
    };
    let recording = named.map_or_else(program::recording, |name| program::testdata(name).display().to_string());
    let lines: Vec<&str> = script.lines().filter(|line| !line.trim().is_empty()).collect();
    // Nothing is left beside the bundled recording, and on a busy machine there is no progress either.
    // Answers have the rows of a page, as at a terminal.
    let mut words = vec![recording.as_str(), "--no-index", "--quiet", "-e", "set rows 15", "-e", MARKING];
    lines.iter().for_each(|line| words.extend(["-e", line, "-e", MARKING]));
    let run = program::run(&words);
    let answers = steady(&run.stdout, &recording);
    let complaints = steady(&run.stderr, &recording);
    // A line that is not understood ends the run without a mark, and so without what would follow.
    let mut answers = answers.split(MARK).skip(1);
    let mut complaints = complaints.split(MARK).skip(1);
    let failing = (run.code != 0).then(|| first_failing(&recording, &lines));
    let mut transcript = String::new();
    for (at, line) in lines.iter().enumerate() {
        let _ = writeln!(transcript, "> {line}\n{}", answers.next().unwrap_or_default());
        match complaints.next() {
            None | Some("") => {}
            Some(complaint) => drop(writeln!(transcript, "stderr: {complaint}")),
        }
        if failing == Some(at) {
            let _ = writeln!(transcript, "exit code {}", run.code);
        }
    }
    transcript
}

/// The line that raises the exit code. No later line lowers it, so that a few runs find it.
fn first_failing(recording: &str, lines: &[&str]) -> usize {
    let (mut right, mut failing) = (0, lines.len());
    while failing - right > 1 {
        let middle = usize::midpoint(right, failing);
        let mut words = vec![recording, "--no-index", "--quiet", "-e", "set rows 15"];
        lines[..middle].iter().for_each(|line| words.extend(["-e", line]));
        *(if program::run(&words).code == 0 { &mut right } else { &mut failing }) = middle;
    }
    right
}

#[test]
fn history_lists_the_lines_before_it() {
    let run = program::run(&[&program::recording(), "-e", "set format csv", "-e", "set", "-e", "history"]);
    let printed: Vec<&str> = run.stdout.lines().collect();
    assert!(printed.ends_with(&["number,line", "1,set format csv", "2,set"]), "{}", run.stdout);
}

/// Without what differs from run to run and from place to place.
fn steady(text: &str, recording: &str) -> String {
    let name = recording.rsplit('/').next().unwrap_or(recording);
    let steady = text.lines().map(|line| match line.starts_with("took ") {
        true => "took …\n".to_owned(),
        false => format!("{}\n", line.replace(recording, &format!("testdata/{name}"))),
    });
    steady.collect()
}
