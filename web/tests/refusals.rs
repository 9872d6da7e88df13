//! Questions that a page may not ask, and the answers to them.

use crate::browser::{Page, encoded};
use barrow_query::Touches;
use barrow_query::commands::{COMMANDS, Subject};
use serde_json::Value;

#[test]
fn lines_that_write_or_run_something_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let page = Page::bundled(&["orders.barrow"]);
    let file = folder.path().join("made").display().to_string();
    let ends = [format!("> {file}"), format!("| touch {file}"), format!("|touch {file}"), format!("> \"{file}\"")];
    for command in COMMANDS {
        for end in &ends {
            for name in command.names() {
                let reply = page.ask(&format!("{name} {end}"), "");
                assert!([400, 403].contains(&reply.status), "{name} {end}: {reply:?}");
            }
        }
    }
    for end in &ends {
        let reply = page.ask(&format!("top {end}"), "");
        assert_eq!(reply.status, 403, "{end}");
        assert!(reply.message().contains("only in a shell") && reply.message().contains("barrow "), "{reply:?}");
        for part in ["let=%24a+%3D+all", "w=size+%3E+1"] {
            let reply = page.get(&format!("/api/ask?q=top&{part}+{}", encoded(end)));
            assert_eq!(reply.status, 403, "{part} {end}: {reply:?}");
            assert_eq!(page.get(&format!("/api/csv?q=top&{part}+{}", encoded(end))).status, 403);
        }
        assert_eq!(page.get(&format!("/api/csv?q={}", encoded(&format!("top {end}")))).status, 403);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was written");
}

/// Every flag that takes a file, with every verb; and every verb that writes, with every flag.
#[test]
fn flags_that_name_files_are_refused_with_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let page = Page::bundled(&["orders.barrow"]);
    let file = folder.path().join("made").display().to_string();
    let recording = barrow_testdata::path("invoices.barrow").display().to_string();
    let mut refused = 0;
    for command in COMMANDS {
        for flag in ["-o", "--output", "--junit", "--from", "--allow", "--baseline", "--binary"] {
            for path in [&file, &recording] {
                let reply = page.ask(&format!("{} {flag} {path}", command.name), "");
                // A flag that the verb does not know is a fault of the question.
                let is_known = command.flags.contains(&if flag == "--output" { "-o" } else { flag });
                let expected = if is_known { 403 } else { 400 };
                assert!(reply.status == expected || reply.status == 403, "{} {flag}: {reply:?}", command.name);
                refused += u32::from(is_known);
            }
        }
        if command.writes() {
            assert_eq!(page.ask(&format!("{} -o {file}", command.name), "").status, 403, "{}", command.name);
        }
    }
    assert!(refused > 10, "{refused}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was written");
}

#[test]
fn only_verbs_that_read_the_recording_are_answered() {
    let page = Page::bundled(&["orders.barrow"]);
    let verbs = page.get("/api/verbs").json();
    let shown = |name: &str| -> Value {
        let all = verbs["verbs"].as_array().expect("verbs");
        all.iter().find(|verb| verb["name"] == name).expect("every verb is listed").clone()
    };
    for command in COMMANDS {
        let reads = command.touches.except(Touches::RECORDING | Touches::READS_FILES) == Touches::NOTHING;
        let is_asked = reads && matches!(command.subject, Subject::Recording | Subject::Nothing);
        let verb = shown(command.name);
        assert_eq!(verb["page"], is_asked, "{}", command.name);
        assert_eq!(verb["shell"].is_string(), command.subject != Subject::Session, "{}", command.name);
        let status = page.ask(command.example, "").status;
        // The example may need what this recording does not hold, or flags of a command line.
        let expected: &[u16] = if is_asked { &[200, 400] } else { &[400, 403] };
        assert!(expected.contains(&status), "{}: {status}", command.example);
        if !is_asked {
            let line = format!("{} --help", command.name);
            assert_eq!(page.ask(&line, "").status, 403, "{line}");
        }
    }
    for line in ["exit", "set rows 3", "snapshot 1", "let $a = all", "without size > 1", "more", "history"] {
        assert_eq!(page.ask(line, "").status, 403, "{line}");
    }
}

#[test]
fn words_that_are_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("other.barrow");
    std::fs::copy(barrow_testdata::path("invoices.barrow"), &inside).unwrap();
    let page = Page::of(&[barrow_testdata::path("orders.barrow"), folder.path().to_owned()]);
    for path in ["/etc/passwd", "../x", "./a:2", "a.barrow:last", "/dev/stdin", &inside.display().to_string()] {
        for line in [format!("diff {path}"), format!("diff 0 {path}"), format!("diff '{path}' 1")] {
            let status = page.ask(&line, "").status;
            assert!([400, 403].contains(&status), "{line}: {status}");
        }
        assert_eq!(page.ask(&format!("diff {path}"), "").status, 403, "{path}");
        assert_eq!(page.get(&format!("/api/ask?q=top&f={}", encoded(path))).status, 400, "{path}");
        assert_eq!(page.post(&format!("/api/import?f={}", encoded(path))).status, 404, "{path}");
    }
}

#[test]
fn faults_that_are_found_before_an_answer_are_statuses() {
    let page = Page::bundled(&["orders.barrow"]);
    let status = |path: &str| page.get(path).status;
    for path in ["q=", "q=%23+comment", "q=nosuchverb", "q=top+--nosuch", "q=find+size+%3E", "q=info+%40999999"] {
        assert_eq!(status(&format!("/api/ask?{path}")), 400, "{path}");
        assert_eq!(status(&format!("/api/csv?{path}")), 400, "{path}");
    }
    for more in ["s=99", "s=x", "s=-1", "f=x", "n=x", "n=-1", "from=1e3", "w=nosuch+%3D+1", "let=a+%3D+all", "w=%22"] {
        assert_eq!(status(&format!("/api/ask?q=top&{more}")), 400, "{more}");
    }
    assert_eq!(status("/api/ask?q=top&f=1"), 404);
    assert_eq!(status("/api/csv?q=top&f=99999999999999999999"), 400);
    assert_eq!(page.post("/api/import?f=1").status, 404);
    // Rows of another question have no names here.
    for line in ["info %1", "find $_", "count $a"] {
        page.answer("find", "");
        page.answer("count size > 1", "let=%24b+%3D+all");
        assert_eq!(page.ask(line, "").status, 400, "{line}");
    }
}

#[test]
fn an_expression_is_refused_with_its_place() {
    let page = Page::bundled(&["orders.barrow"]);
    let error = page.ask("find size > 1 and (refs < ", "").json()["error"].clone();
    let text = error["text"].as_str().expect("the expression");
    let column = error["column"].as_u64().expect("a column") as usize;
    assert_eq!(error["code"], 2);
    assert!(text.contains("refs <") && column <= text.chars().count(), "{error}");
    assert!(error["help"].is_string() && !error["message"].as_str().expect("a clause").is_empty(), "{error}");
}
