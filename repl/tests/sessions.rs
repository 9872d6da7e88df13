//! Scripts of commands with their output: `scripts/NAME.barrow` and `scripts/NAME.expected`.
//!
//! The output of a line is what a run up to it prints more than a run up to the line before, so the
//! expected text shows every line with its answer. `BLESS=1` rewrites it. A first line like `# named.barrow` names the
//! recording of `testdata/` that is asked; without it, it is that of a Raku process.

mod program;

use std::fmt::Write;
use std::path::Path;

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
    // Nothing is left beside the bundled recording, and on a busy machine there is no progress either.
    let mut words = vec![recording.as_str(), "--no-index", "--quiet"];
    let mut transcript = String::new();
    let (mut stdout, mut stderr) = (0, 0);
    for line in script.lines().filter(|line| !line.trim().is_empty()) {
        words.extend(["-e", line]);
        let run = program::run(&words);
        let (answer, complaint) = (steady(&run.stdout, &recording), steady(&run.stderr, &recording));
        let _ = writeln!(transcript, "> {line}\n{}", &answer[stdout..]);
        if complaint.len() > stderr {
            let _ = writeln!(transcript, "stderr: {}", &complaint[stderr..]);
        }
        (stdout, stderr) = (answer.len(), complaint.len());
        if run.code != 0 {
            let _ = writeln!(transcript, "exit code {}", run.code);
        }
    }
    transcript
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
