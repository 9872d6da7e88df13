//! `docs/commands.md` says what the table of commands says, and links between documents lead to files and headings.

mod program;

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files with documents.
const DOCUMENTS: [&str; 7] = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "benches", "fuzz", "testdata"];

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn the_document_is_made_from_the_table_of_commands() {
    program::compare(&repository().join("docs/commands.md"), &barrow_repl::document());
}

#[test]
fn links_between_documents_lead_to_files_and_headings() {
    let mut documents = Vec::new();
    for start in DOCUMENTS {
        documents_in(&repository().join(start), &mut documents);
    }
    let mut checked = 0;
    let mut broken = Vec::new();
    for document in &documents {
        let text = fs::read_to_string(document).expect("the document can be read");
        for link in prose(&text).flat_map(links).filter(|link| !link.contains("://")) {
            checked += 1;
            if !leads_somewhere(document, &text, link) {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
    assert!(checked > 50, "only {checked} links were found");
}

/// The Markdown files at or below a path, without what was built.
fn documents_in(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("the folder can be read").map(|entry| entry.unwrap().path());
        for entry in entries.filter(|entry| !entry.ends_with("target") && !entry.ends_with("corpus")) {
            documents_in(&entry, found);
        }
    } else if path.extension().is_some_and(|extension| extension == "md") {
        found.push(path.to_owned());
    }
}

/// The lines outside of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        is_code ^= line.starts_with("```");
        !is_code
    })
}

/// The targets of `[text](target)` in a line.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0))
}

fn leads_somewhere(document: &Path, text: &str, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    if file.is_empty() {
        return has_heading(text, heading);
    }
    let target = document.parent().expect("a file is in a folder").join(file);
    let is_document = target.extension().is_some_and(|extension| extension == "md");
    match heading {
        "" => target.exists(),
        _ if is_document => fs::read_to_string(target).is_ok_and(|text| has_heading(&text, heading)),
        _ => target.exists(),
    }
}

fn has_heading(text: &str, anchor: &str) -> bool {
    prose(text).filter(|line| line.starts_with('#')).any(|line| as_anchor(line.trim_start_matches('#')) == anchor)
}

/// A heading as links name it: letters, digits, hyphens and underscores, in lower case, with hyphens for blanks.
fn as_anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}
