//! Served files and folders: names, links, dumps, files that grow, are replaced or cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::browser::{Page, encoded, server};
use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Options, SnapshotInfo, Writer};
use serde_json::Value;

fn copy(name: &str, to: &Path) -> PathBuf {
    fs::copy(barrow_testdata::path(name), to).unwrap();
    to.to_owned()
}

fn names(page: &Page) -> Vec<String> {
    page.files().iter().map(|file| file["name"].as_str().unwrap().to_owned()).collect()
}

/// Looks again until the first file is as wished.
fn wait(page: &Page, is_there: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let file = page.files().swap_remove(0);
        if is_there(&file) {
            return file;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{file}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn questions_may_name_other_served_files_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    copy("orders.barrow", &at("a.barrow"));
    copy("invoices.barrow", &at("b.barrow"));
    fs::create_dir(at("in")).unwrap();
    copy("invoices.barrow", &at("in/with blank.barrow"));
    let page = Page::of(&[folder.path().to_owned()]);
    assert_eq!(names(&page), ["a.barrow", "b.barrow", "in/with blank.barrow"]);

    // The objects of both sides are those that each file has.
    let objects = |line: &str, more: &str, side: usize| {
        let answer = page.answer(line, more);
        let facts = answer["facts"][side]["value"]["value"].as_array().unwrap().clone();
        let fact = facts.into_iter().find(|fact| fact["column"]["key"] == "objects").unwrap();
        fact["value"]["value"].as_u64().unwrap()
    };
    let count = |file: &str| {
        let answer = page.answer("count all", &format!("f={file}"));
        let facts = answer["facts"].as_array().unwrap().clone();
        let fact = facts.into_iter().find(|fact| fact["column"]["key"] == "objects").unwrap();
        fact["value"]["value"].as_u64().unwrap()
    };
    assert_ne!(count("0"), count("1"));
    for line in ["diff b.barrow", "diff 'in/with blank.barrow'", "diff last b.barrow:last by kind"] {
        assert_eq!([0, 1].map(|side| objects(line, "f=0", side)), [count("0"), count("1")], "{line}");
    }
    assert_eq!([0, 1].map(|side| objects("diff a.barrow", "f=1", side)), [count("1"), count("0")]);
    assert_eq!(page.get("/api/csv?f=0&q=diff+b.barrow").status, 200);

    // Neither is a path a name, nor does a flag read a served file.
    let path = at("b.barrow").display().to_string();
    for line in [format!("diff {path}"), "diff ./b.barrow".into(), "diff b.barrow --classes a.barrow".into()] {
        assert_eq!(page.ask(&line, "f=0").status, 403, "{line}");
    }
    let offered = |line: &str| {
        let found = page.get(&format!("/api/completions?f=0&q={}", encoded(line))).json();
        let choices = found["choices"].as_array().unwrap().clone();
        let files = choices.into_iter().filter(|choice| choice["what"] == "file");
        files.map(|choice| choice["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(offered("diff b"), ["b.barrow"]);
    assert_eq!(offered("diff in"), ["\"in/with blank.barrow\""]);
    assert!(offered("diff b.barrow --classes b").is_empty());
    assert!(offered("top b").is_empty());
}

#[test]
fn a_folder_is_what_can_be_read_below_it() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    copy("orders.barrow", &outside.path().join("secret.barrow"));
    fs::create_dir_all(at("a/b/c/d")).unwrap();
    for name in ["one.barrow", "a/one.barrow", "a/b/c/three", "a/b/c/d/four.barrow", ".hidden.barrow"] {
        copy("orders.barrow", &at(name));
    }
    fs::write(at("notes.txt"), "no recording").unwrap();
    fs::write(at("empty.barrow"), "").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(outside.path().join("secret.barrow"), at("link.barrow")).unwrap();
        symlink(outside.path(), at("links")).unwrap();
        symlink(at("one.barrow"), at("inside.barrow")).unwrap();
        symlink("..", at("a/up")).unwrap();
        symlink("gone", at("dangling")).unwrap();
    }
    let page = Page::of(&[folder.path().to_owned()]);
    let expected: &[&str] = match cfg!(unix) {
        true => &["a/b/c/three", "a/one.barrow", "inside.barrow", "one.barrow"],
        false => &["a/b/c/three", "a/one.barrow", "one.barrow"],
    };
    assert_eq!(names(&page), expected);
    assert!(page.get("/api/files").json()["folder"] == true);
    assert!(!page.get("/api/files").text().contains("secret"));
    // A new file appears, with a new number; the others keep theirs.
    copy("orders.barrow", &at("0.barrow"));
    let begun = Instant::now();
    while !names(&page).contains(&"0.barrow".to_owned()) {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(names(&page)[..expected.len()], *expected);
    page.answer("top", &format!("f={}", expected.len()));
}

#[test]
fn names_are_unique_and_any_text() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("x")).unwrap();
    let mut operands = vec![copy("orders.barrow", &folder.path().join("a.barrow"))];
    operands.push(copy("invoices.barrow", &folder.path().join("x/a.barrow")));
    if cfg!(unix) {
        operands.push(copy("orders.barrow", &folder.path().join("<script>\u{1b}[2J\n\u{202e}'\".barrow")));
    }
    let page = Page::of(&operands);
    assert_eq!(names(&page)[..2], ["a.barrow", "a.barrow (2)"]);
    if cfg!(unix) {
        assert_eq!(names(&page)[2], "<script>\u{1b}[2J\n\u{202e}'\".barrow");
        let refusal = page.ask("top | sh", "f=2").message();
        assert!(refusal.contains(r"'\''"), "{refusal}");
    }
}

#[test]
fn what_cannot_be_read_is_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(barrow_testdata::path("orders.barrow")).unwrap();
    let mut newer = whole.clone();
    newer[8..12].fill(0xff);
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (name, bytes) in [("text", &b"hello"[..]), ("nothing", b""), ("newer", &newer)] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    for name in ["missing", "empty", "text", "nothing", "newer"] {
        let error = server(&[folder.path().join(name)]).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(name), "{name}: {error}");
    }
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = server(&[pipe]).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("neither a file nor a folder"), "{error}");
        // In a folder it is passed over.
        assert!(server(&[folder.path().to_owned()]).is_ok_and(|_| true));
    }
}

#[test]
fn a_dump_is_asked_after_its_import() {
    let folder = tempfile::tempdir().unwrap();
    let dump = copy("foreign/moarvm-3-cut.mvmheap", &folder.path().join("app.mvmheap"));
    let page = Page::of(std::slice::from_ref(&dump));
    assert_eq!(page.files()[0]["state"], "dump");
    for path in ["/api/ask?q=top", "/api/csv?q=top"] {
        let reply = page.get(path);
        assert!(reply.status == 409 && reply.message().contains("import"), "{reply:?}");
    }
    let lines = page.post("/api/import?f=0").lines();
    let last = lines.last().unwrap();
    assert_eq!(last["imported"]["file"]["state"], "ready", "{lines:?}");
    assert!(last["imported"]["file"]["lost"].as_str().is_some_and(|lost| lost.contains("1 whole snapshot")), "{last}");
    page.answer("top", "");
    drop(page);
    // It is in the cache now.
    let page = Page::of(&[dump]);
    assert_eq!(page.files()[0]["state"], "ready");
    page.answer("top", "");
}

#[test]
fn dumps_whose_names_differ_in_numbers_are_a_series() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["h-2.mvmheap", "h-10.mvmheap", "java_pid1.mvmheap", "java_pid2.mvmheap", "alone.mvmheap"] {
        copy("foreign/moarvm-1-tiny.mvmheap", &folder.path().join(name));
    }
    let page = Page::of(&[folder.path().to_owned()]);
    let series: Vec<Value> = page.files().into_iter().filter(|file| file["dumps"].is_u64()).collect();
    let [one] = &series[..] else { panic!("{series:?}") };
    assert_eq!((one["name"].as_str(), one["dumps"].as_u64()), (Some("h-*.mvmheap"), Some(2)));
    let lines = page.post(&format!("/api/import?f={}", one["id"])).lines();
    // Each of these dumps has two.
    assert_eq!(lines.last().unwrap()["imported"]["file"]["snapshots"], 4, "{lines:?}");
    for progress in lines.iter().filter_map(|line| line["progress"].as_object()) {
        assert!(
            progress["total"].as_u64().is_none_or(|total| progress["done"].as_u64() <= Some(total)),
            "{progress:?}"
        );
    }
}

#[test]
fn dumps_of_a_series_are_in_the_order_that_people_count() {
    let folder = tempfile::tempdir().unwrap();
    for (number, at) in [(1, 2), (2, 10)] {
        let name = format!("h-{at}.heapsnapshot.zst");
        copy(&format!("foreign/v8/node20-cards-{number}.heapsnapshot.zst"), &folder.path().join(name));
    }
    let page = Page::of(&[folder.path().to_owned()]);
    let file = page.files().into_iter().find(|file| file["dumps"].is_u64()).expect("a series");
    page.post(&format!("/api/import?f={}", file["id"]));
    let answer = page.answer("snapshots", &format!("f={}", file["id"]));
    let text = answer.to_string();
    assert!(
        text.find("h-2.heapsnapshot").expect("a label") < text.find("h-10.heapsnapshot").expect("a label"),
        "{text}"
    );
}

#[test]
fn the_words_that_can_follow_a_line_are_those_of_its_file() {
    let page = Page::bundled(&["orders.barrow"]);
    let found = page.get("/api/completions?f=0&q=top+by+re").json();
    assert_eq!(found.to_string(), r#"{"choices":[{"text":"retained","what":"order"}],"replaces":2}"#);
    assert_eq!(page.get("/api/completions?f=0&q=repac").json()["choices"].as_array().map(Vec::len), Some(0));
    assert_eq!(page.get("/api/completions?f=7&q=top").status, 404);
}

#[test]
fn a_dump_that_cannot_be_imported_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("cut.mvmheap");
    let whole = fs::read(barrow_testdata::path("foreign/moarvm-3-cut.mvmheap")).unwrap();
    fs::write(&dump, &whole[..60]).unwrap();
    let page = Page::of(&[dump]);
    let lines = page.post("/api/import?f=0").lines();
    let error = &lines.last().unwrap()["error"];
    assert!(error["code"] == 3 && error["message"].as_str().is_some_and(|text| text.contains("no whole snapshot")));
    assert_eq!(page.files()[0]["state"], "unreadable");
    assert_eq!(page.ask("top", "").status, 422);
}

fn record(writer: &Writer, vocabulary: &Vocabulary, number: u64) {
    let heap = Heap::random(&mut Random::new(number), 100 + 10 * number as u32, vocabulary);
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    heap.announce(&snapshot, 0..heap.nodes.len()).unwrap();
    snapshot.commit().unwrap();
}

#[test]
fn a_growing_file_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.barrow");
    let writer = Writer::create(&path, Options { threads: 1, ..Options::default() }).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    record(&writer, &vocabulary, 0);
    let page = Page::of(&[path]);
    let events = page.open(&format!("GET /api/events HTTP/1.1\r\n{}\r\n", page.own()));
    let mut revisions = Vec::new();
    for number in 0..4 {
        let file = wait(&page, |file| file["snapshots"] == number + 1);
        assert!(file["growing"] == true && file["lost"].is_null() && file["replaced"] == false, "{file}");
        let answer = page.answer("summary all", "");
        assert_eq!(answer["tables"][0]["rows"].as_array().unwrap().len() as u64, number + 1);
        assert_eq!(answer["revision"], file["revision"]);
        revisions.push(file["revision"].clone());
        record(&writer, &vocabulary, number + 1);
    }
    revisions.dedup();
    assert_eq!(revisions.len(), 4);
    writer.finish().unwrap();
    wait(&page, |file| file["growing"] == false && file["snapshots"] == 5);
    let text = events_until(events, "\"snapshots\":5");
    assert!(text.contains("event: files\ndata: {"), "{text}");
}

/// The bytes that are sent, up to `end`.
fn events_until(mut events: std::net::TcpStream, end: &str) -> String {
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    while !text.contains(end) {
        let read = std::io::Read::read(&mut events, &mut piece).expect("an event in time");
        assert!(read > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    text
}

#[test]
fn a_file_that_is_replaced_or_cut_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(barrow_testdata::path("invoices.barrow")).unwrap();
    type Change = fn(&Path, &[u8]);
    let changes: [(&str, Change); 5] = [
        ("another", |path, _| drop(copy("orders.barrow", path))),
        ("renamed", |path, _| {
            let other = copy("orders.barrow", &path.with_extension("other"));
            fs::rename(other, path).unwrap();
        }),
        ("half", |path, whole| {
            fs::File::options().write(true).open(path).unwrap().set_len(whole.len() as u64 / 2).unwrap()
        }),
        ("nothing", |path, _| fs::File::options().write(true).open(path).unwrap().set_len(0).unwrap()),
        ("zeros", |path, whole| fs::write(path, vec![0; whole.len()]).unwrap()),
    ];
    for (name, change) in changes {
        let path = copy("invoices.barrow", &folder.path().join(format!("{name}.barrow")));
        let page = Page::of(std::slice::from_ref(&path));
        page.answer("top by retained", "");
        change(&path, &whole);
        for line in ["top", "dominators", "verify", "find"] {
            let reply = page.ask(line, "");
            assert!(reply.status == 409 && reply.message().contains("not the file"), "{name} {line}: {reply:?}");
        }
        assert_eq!(page.files()[0]["replaced"], true, "{name}");
        let opened = page.post("/api/open?f=0").json();
        if matches!(name, "another" | "renamed") {
            assert_eq!(opened["file"]["replaced"], false, "{name}");
            page.answer("top", "");
        }
    }
}

#[test]
fn damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.barrow");
    let whole = fs::read(barrow_testdata::path("orders.barrow")).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).unwrap();
    let page = Page::of(&[path]);
    let file = &page.files()[0];
    assert!(file["lost"].as_str().is_some_and(|lost| lost.contains("not whole")), "{file}");
    assert!(file["growing"] == false && file["state"] == "ready", "{file}");
    page.answer("summary all", "");
}

#[cfg(unix)]
#[test]
fn what_takes_the_place_of_a_file_is_not_opened() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let secret = copy("invoices.barrow", &outside.path().join("secret.barrow"));
    fs::create_dir(outside.path().join("below")).unwrap();
    copy("orders.barrow", &outside.path().join("below/a.barrow"));
    type Change<'a> = &'a dyn Fn(&Path);
    let link = |path: &Path| symlink(&secret, path).unwrap();
    let pipe = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let folder = |path: &Path| fs::create_dir(path).unwrap();
    let above = |path: &Path| {
        let below = path.parent().unwrap();
        fs::remove_dir(below).unwrap();
        symlink(outside.path().join("below"), below).unwrap();
    };
    let changes: [(&str, Change); 4] = [("link", &link), ("pipe", &pipe), ("folder", &folder), ("above", &above)];
    for (name, change) in changes {
        for original in ["orders.barrow", "foreign/moarvm-3-cut.mvmheap"] {
            let served = tempfile::tempdir().unwrap();
            fs::create_dir(served.path().join("below")).unwrap();
            let path = copy(original, &served.path().join("below/a.barrow"));
            let page = Page::of(&[served.path().to_owned()]);
            let is_dump = page.files()[0]["state"] == "dump";
            fs::remove_file(&path).unwrap();
            change(&path);
            for path in ["/api/ask?q=top", "/api/csv?q=top"] {
                assert_eq!(page.get(path).status, 409, "{name} {original}");
            }
            assert_eq!(page.files()[0]["replaced"], true, "{name} {original}");
            let lines = page.post("/api/import?f=0").lines();
            assert!(lines.last().unwrap()["error"].is_object(), "{name} {original}: {lines:?}");
            let opened = &page.post("/api/open?f=0").json()["file"];
            assert!(opened["state"] == "unreadable" && opened["snapshots"].is_null(), "{name} {is_dump}: {opened}");
            let reply = page.ask("top", "");
            assert!(reply.status == 422 && reply.message().starts_with("this is"), "{name} {original}: {reply:?}");
            // The file is there again.
            if name != "above" {
                fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).unwrap();
                copy("orders.barrow", &path);
                page.post("/api/open?f=0");
                page.answer("top", "");
            }
        }
    }
}

#[test]
fn only_dumps_are_imported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.barrow");
    let writer = Writer::create(&path, Options { threads: 1, ..Options::default() }).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let page = Page::of(std::slice::from_ref(&path));
    let lines = page.post("/api/import?f=0").lines();
    assert!(lines[0]["error"]["message"].as_str().is_some_and(|text| text.contains("no dump")), "{lines:?}");
    record(&writer, &vocabulary, 0);
    page.answer("summary", "");
    assert_eq!(page.post("/api/import?f=0").lines()[0]["imported"]["file"]["state"], "ready");
}
