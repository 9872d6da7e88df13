//! Tables fit a terminal of 80 columns.

use barrow_present::{Drawing, Style};
use barrow_query::{Question, Session, Settings, Workspace};

const COLUMNS: usize = 80;

/// Lines of people, which no shell shortens.
const LINES: &[&str] = &[
    "snapshots",
    "summary",
    "top by retained",
    "top objects by retained",
    "histogram by retained",
    "find size > 100",
    "count size > 10 show sum(size)",
    "inrefs @100",
    "show @100",
    "path @500",
    "paths size > 1000",
    "roots",
    "dominators",
    "flame",
    "common size > 500",
    "leaks",
    "unreachable",
    "strings",
    "group all by type by retained",
    "group all by type,kind show sum(size), max(size)",
    "dups",
    "dups by group",
    "waste",
    "collections",
    "loaders",
    "diff 0 last",
    "born 0..last",
    "survival size > 10",
];

#[test]
fn tables_fit_a_terminal_of_80_columns() {
    let mut drawn = 0;
    for name in ["jvm.barrow", "leaks/storefront.barrow", "raku.barrow", "orders.barrow", "threads.barrow"] {
        let settings = Settings { no_index: true, is_abridged: true, ..Settings::default() };
        let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
        session.open(&barrow_testdata::path(name).display().to_string()).unwrap();
        for line in LINES {
            // Some files have nothing that a line is about.
            let Ok(answer) = session.ask(&Question::of_line(line).unwrap().unwrap()) else { continue };
            let mut out = Vec::new();
            let mut drawing = Drawing::new(Style { width: Some(COLUMNS), has_colour: false }, &|| Ok(()));
            drawing.piece(&answer, &mut out).unwrap();
            drawing.end(&mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            let widest = out.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
            assert!(widest.chars().count() <= COLUMNS, "`{line}` of {name}: {widest}\n{out}");
            drawn += 1;
        }
    }
    assert!(drawn > 100, "{drawn}");
}
