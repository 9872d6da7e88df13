//! `docs/recipes.md`: each line for the prompt is asked of the recording that its section names, and has an answer.

use crate::program;
use std::path::Path;
use std::process::Command;

#[test]
fn every_recipe_has_an_answer() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/recipes.md");
    let text = std::fs::read_to_string(document).expect("the document can be read");
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    make_recordings(&text, folder.path());
    let mut recording = "";
    let mut rows = 0;
    for row in text.lines() {
        if row.starts_with("Recording") {
            recording = codes(row)[0];
        }
        let cells: Vec<&str> = row.split('|').collect();
        let [_, foreign, lines, ..] = cells[..] else { continue };
        let lines = codes(lines);
        // No bundled snapshot tells when its objects were allocated.
        if lines.is_empty() || row.contains(".allocated_us") {
            continue;
        }
        let file = if foreign.contains("`node.barrow`") { "node.barrow" } else { recording };
        let mut command = program::program(folder.path());
        command.current_dir(folder.path()).args([file, "--quiet"]);
        for line in &lines {
            command.arg("-e").arg(line);
        }
        let run = program::finished(command.output().expect("the program starts"));
        assert_eq!(run.stderr, "", "{file}: {lines:?}");
        assert!(!run.stdout.contains("no object matches"), "{file}: {lines:?}");
        rows += 1;
    }
    assert!(rows > 100, "only {rows} rows have a line");
}

/// Makes the recordings by the commands at the beginning of the document.
fn make_recordings(text: &str, folder: &Path) {
    let block = text.split("```").nth(1).and_then(|block| block.strip_prefix("sh\n"));
    let commands = block.expect("the document begins with commands");
    let commands = commands.replace("testdata/", &program::testdata("").display().to_string());
    let program = Path::new(env!("CARGO_BIN_EXE_barrow")).parent().expect("a program is in a folder").to_owned();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(program).chain(std::env::split_paths(&inherited)))
        .expect("no folder has a colon in its name");
    let output = Command::new("sh")
        .args(["-e", "-c", &commands])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .expect("there is a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What stands between backquotes.
fn codes(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}
