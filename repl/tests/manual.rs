//! Man pages and completions: every verb and every flag of it is in them.

use crate::program::run;
use barrow_query::commands::{COMMANDS, Command, Subject};

/// The verbs that a shell can ask.
fn verbs() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().copied().filter(|command| command.subject != Subject::Session)
}

#[test]
fn the_page_of_the_program_names_every_verb() {
    let page = run(&["man"]);
    assert_eq!((page.code, page.stderr.as_str()), (0, ""));
    assert!(page.stdout.contains(".TH barrow 1"), "{}", page.stdout);
    for command in verbs() {
        assert!(page.stdout.contains(&format!("barrow\\-{}(1)", command.name.replace('-', "\\-"))), "{}", command.name);
    }
}

#[test]
fn the_page_of_a_verb_has_its_flags_and_no_others() {
    for command in verbs() {
        let page = run(&["man", command.name]).stdout;
        assert!(page.contains(&format!(".TH barrow-{} 1", command.name)), "{page}");
        for flag in command.flags {
            assert!(page.contains(&flag.replace('-', "\\-")), "{}: {flag}", command.name);
        }
        assert_eq!(page.contains("\\-\\-junit"), command.flags.contains(&"--junit"), "{}", command.name);
    }
}

#[test]
fn shells_complete_every_verb() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        assert_eq!((script.code, script.stderr.as_str()), (0, ""), "{shell}");
        for command in verbs() {
            assert!(script.stdout.contains(command.name), "{shell}: {}", command.name);
        }
    }
    let unknown = run(&["completions", "tcsh"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
    assert_eq!(unknown.stderr, "barrow: which shell? `barrow completions bash|zsh|fish`\n");
}

#[test]
fn bash_loads_its_script() {
    // The script is longer than an argument may be.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), run(&["completions", "bash"]).stdout).unwrap();
    let line = format!("source '{}' && complete -p barrow", file.path().display());
    let loaded = std::process::Command::new("bash").args(["--norc", "-c", &line]).output().expect("bash is there");
    let (out, errors) = (String::from_utf8_lossy(&loaded.stdout), String::from_utf8_lossy(&loaded.stderr));
    assert!(out.contains("-F _barrow") && out.ends_with(" barrow\n"), "{out}{errors}");
}
