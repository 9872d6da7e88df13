//! Answers on a page are those of the prompt.

use std::collections::BTreeSet;

use crate::browser::{Page, encoded};
use barrow_query::answer::json::{self, Source};
use barrow_query::commands::COMMANDS;
use barrow_query::{Question, Session, Settings, Touches, Workspace};
use serde_json::{Map, Value, json};

const FILES: [&str; 9] = [
    "orders.barrow",
    "invoices.barrow",
    "raku.barrow",
    "orders-addresses.barrow",
    "threads.barrow",
    "smallest.barrow",
    "build.barrow",
    "trial.barrow",
    "jvm.barrow",
];

/// Lines besides the examples and the bare verbs.
const LINES: [&str; 35] = [
    "summary all",
    "find 20 objects size > 1",
    "info @1",
    "common size > 100",
    "entries @8113",
    "show @1",
    "inrefs @1",
    "inrefs @1 by type",
    "path @1 3",
    "paths size > 1000",
    "idom @1",
    "retained @1",
    "diff 0 1",
    "diff 0 last by type",
    "dominators --cells 50",
    "dominators @0 0..5",
    "dominators by type",
    "group by type,package",
    "group size > 100 by kind by retained",
    "list 5 size > 100 of type, size, retained, refs by retained",
    "list of name, package, loader, distance by name desc",
    "list elements > 3 of elements, fill by fill",
    "count length(text) > 3 or length(name) in 1..3",
    "histogram by type",
    "top by count",
    "top 3 by retained -s 0",
    "roots",
    "sites",
    "help top",
    "histogram wall scan",
    "modes pass scan-new",
    "values wall mode 2",
    "compare scan scan-new",
    "runs 99",
    "runs failed",
];

fn session(file: &str) -> Session {
    let settings = Settings { no_index: true, is_abridged: false, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
    session.open(&barrow_testdata::path(file).display().to_string()).unwrap();
    session.allow(Touches::READ_ONLY);
    session
}

/// The output of `--format json` for lines, of which the last is the question; `None` if one has no answer.
fn printed(session: &mut Session, lines: &[&str]) -> Option<Value> {
    let mut text = Vec::new();
    for line in lines {
        let question = Question::of_line(line).unwrap().expect("no comment");
        let answer = session.ask(&question).ok()?;
        text.clear();
        json::draw(&answer, Source::default(), &mut text).unwrap();
    }
    Some(serde_json::from_slice(&text).unwrap())
}

/// An answer of a page as `--format json` has it.
fn as_printed(answer: &Value) -> Map<String, Value> {
    let is_shown = |column: &Value| column["audience"] != "people";
    let mut map = Map::new();
    for fact in answer["facts"].as_array().unwrap().iter().filter(|fact| is_shown(&fact["column"])) {
        map.insert(fact["column"]["key"].as_str().unwrap().to_owned(), plain(&fact["value"]));
    }
    for table in answer["tables"].as_array().unwrap().iter().filter(|table| is_shown(table)) {
        let columns = table["columns"].as_array().unwrap();
        let row = |cells: &Value| -> Value {
            let cells = columns.iter().zip(cells.as_array().unwrap());
            let shown = cells.filter(|(column, _)| is_shown(column));
            shown.map(|(column, cell)| (column["key"].as_str().unwrap().to_owned(), plain(cell))).collect()
        };
        let rows = table["rows"].as_array().unwrap().iter().map(row).collect();
        map.insert(table["key"].as_str().unwrap().to_owned(), Value::Array(rows));
    }
    map
}

fn plain(value: &Value) -> Value {
    let content = &value["value"];
    match value["kind"].as_str().unwrap() {
        "none" => Value::Null,
        "path" => {
            let steps: Vec<&str> = content.as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
            Value::from(steps.join(" › "))
        }
        "list" => content.as_array().unwrap().iter().map(plain).collect(),
        "record" => {
            let fields = content.as_array().unwrap().iter();
            fields.map(|field| (field["column"]["key"].as_str().unwrap().to_owned(), plain(&field["value"]))).collect()
        }
        "measured" | "decimal" => content["value"].clone(),
        "series" => content["numbers"].clone(),
        "object" => content["text"].clone(),
        // JSON has six digits of shares.
        "share" | "estimated_share" => serde_json::from_str(&format!("{:.6}", content.as_f64().unwrap())).unwrap(),
        _ => content.clone(),
    }
}

/// Returns whether two values of JSON are the same; 1 and 1.0 are.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

fn compare(page: &Page, number: usize, session: &mut Session, line: &str, without: Option<&str>) -> bool {
    let more = without.map_or(String::new(), |words| format!("&w={}", encoded(words)));
    let exclude = without.map(|words| format!("without {words}"));
    let lines: Vec<&str> = exclude.iter().map(String::as_str).chain([line]).collect();
    let expected = printed(session, &lines);
    if without.is_some() {
        printed(session, &["without clear"]);
    }
    let reply = page.ask(line, &format!("f={number}{more}"));
    let last = reply.lines().pop().unwrap();
    let Some(mut expected) = expected else {
        assert!(last["error"].is_object(), "{line} {without:?} has an answer only on the page: {last}");
        return false;
    };
    assert!(last["answer"].is_object(), "{line} {without:?} has an answer only at the prompt: {last}");
    for (key, value) in as_printed(&last["answer"]) {
        let mut found = expected[&key].take();
        if let Some(rows) = found.as_array_mut().filter(|rows| rows.len() > 10_000) {
            rows.truncate(10_000);
            assert!(last["answer"]["cut"].is_string(), "{line}");
        }
        assert!(same(&value, &found), "{} {line} {without:?}: {key}\npage   {value}\nprompt {found}", FILES[number]);
    }
    true
}

/// The verbs of lines that have an answer about some file. Every answer is compared.
fn answered<'l>(page: &Page, lines: &[&'l str], without: Option<&str>) -> BTreeSet<&'l str> {
    let mut answered = BTreeSet::new();
    for (number, file) in FILES.iter().enumerate() {
        let mut session = session(file);
        for line in lines {
            if compare(page, number, &mut session, line, without) {
                answered.insert(line.split(' ').next().unwrap());
            }
        }
    }
    answered
}

#[test]
fn every_verb_answers_as_at_the_prompt() {
    let page = Page::bundled(&FILES);
    let asked = COMMANDS.iter().filter(|command| page.ask(&format!("{} --help", command.name), "").status == 200);
    let verbs: Vec<&str> = asked.map(|command| command.name).collect();
    assert!(verbs.len() > 30, "{verbs:?}");
    let examples = COMMANDS.iter().filter(|command| verbs.contains(&command.name)).map(|command| command.example);
    let lines: Vec<&str> = verbs.iter().copied().chain(examples).chain(LINES).collect();
    let answered: BTreeSet<&str> = std::thread::scope(|scope| {
        let asking = [None, Some("size > 100")].map(|without| {
            let (page, lines) = (&page, &lines);
            scope.spawn(move || answered(page, lines, without))
        });
        asking.into_iter().flat_map(|answered| answered.join().unwrap()).collect()
    });
    // `heap` asks another file; no bundled recording names one.
    let never: Vec<_> = verbs.iter().filter(|verb| **verb != "heap" && !answered.contains(*verb)).collect();
    assert!(never.is_empty(), "no answer of {never:?} was compared");
}

#[test]
fn csv_has_every_row() {
    let page = Page::bundled(&FILES);
    for (number, file) in FILES.iter().enumerate() {
        for line in ["find", "top", "histogram", "summary all", "growth", "dominators", "info", "find 3", "strings"] {
            let mut session = session(file);
            let question = Question::of_line(line).unwrap().unwrap();
            let mut expected = Vec::new();
            let mut pieces = session.pieces(&question, true).unwrap();
            let Some(Ok(first)) = pieces.next() else { continue };
            barrow_query::answer::csv::begin(&first, &|| Ok(()), &mut expected).unwrap();
            for piece in pieces {
                barrow_query::answer::csv::go_on(&piece.unwrap(), &|| Ok(()), &mut expected).unwrap();
            }
            let reply = page.get(&format!("/api/csv?f={number}&q={}", encoded(line)));
            assert_eq!(reply.status, 200, "{file} {line}");
            assert!(reply.headers["content-disposition"].starts_with("attachment"), "{reply:?}");
            assert!(reply.body == expected, "{file} {line}: {} and {} bytes", reply.body.len(), expected.len());
        }
    }
    // More than are in memory at once.
    let rows = page.get("/api/csv?f=2&q=find").text().lines().count();
    assert!(rows > 100_000, "{rows}");
}

#[test]
fn windows_are_parts_of_the_whole() {
    let page = Page::bundled(&["raku.barrow"]);
    let rows =
        |answer: &Value| answer["tables"].as_array().unwrap().last().unwrap()["rows"].as_array().unwrap().clone();
    let whole = page.answer("histogram", "");
    let (all, count) = (rows(&whole), rows(&whole).len());
    for (from, n) in [(0, 7), (3, 10), (count - 2, 10), (count, 5), (count + 50, 5), (0, 1000)] {
        let window = page.answer("histogram", &format!("from={from}&n={n}"));
        let expected: Vec<Value> = all.iter().skip(from).take(n).cloned().collect();
        assert_eq!(rows(&window), expected, "{from} {n}");
        assert_eq!((&window["from"], &window["rows_total"]), (&json!(from), &json!(count)), "{from} {n}");
    }
    let far = page.answer("find", &format!("from={}&n=3", u64::MAX));
    assert!(rows(&far).is_empty(), "{far}");
    assert_eq!(rows(&page.answer("find", "from=0&n=999999")).len(), 1000);
    // The number of rows that an answer leaves out is unknown, so it is not given.
    let first = page.answer("top", "");
    assert!(rows(&first).len() < count && first["rows_total"].is_null(), "{}", first["rows_total"]);
}

#[test]
fn requests_depend_on_nothing_but_themselves() {
    let page = Page::bundled(&["invoices.barrow"]);
    let expected: Vec<Value> =
        (0..6).map(|snapshot| page.answer("top 5", &format!("s={snapshot}"))["tables"].clone()).collect();
    let excluded = page.answer("count", "s=2&w=size+%3E+50")["facts"].clone();
    let named = page.answer("count $a", "s=3&let=%24a+%3D+size+%3E+50")["facts"].clone();
    assert_ne!(expected[0], expected[5]);
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let (page, expected, excluded, named) = (&page, &expected, &excluded, &named);
            scope.spawn(move || {
                for round in 0..20 {
                    let snapshot = (worker + round) % 6;
                    assert_eq!(page.answer("top 5", &format!("s={snapshot}"))["tables"], expected[snapshot]);
                    assert_eq!(page.answer("count", "s=2&w=size+%3E+50")["facts"], *excluded);
                    assert_eq!(page.answer("count $a", "s=3&let=%24a+%3D+size+%3E+50")["facts"], *named);
                }
            });
        }
    });
}

#[test]
fn large_answers_are_compressed() {
    let page = Page::bundled(&["raku.barrow"]);
    let headers = page.own() + "Accept-Encoding: br, gzip\r\n";
    let packed = page.request("GET", "/api/ask?q=histogram", &headers);
    let plain = page.get("/api/ask?q=histogram");
    assert_eq!(packed.headers["content-encoding"], "gzip");
    assert!(!plain.headers.contains_key("content-encoding"));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed.body[..]), &mut text).unwrap();
    let tables = |text: &str| serde_json::from_str::<Value>(text).unwrap()["answer"]["tables"].clone();
    assert!(packed.body.len() * 4 < plain.body.len());
    assert_eq!(tables(&text), tables(&plain.text()));
}

/// What a line may hold is tried, not looked up.
#[test]
fn words_of_attributes_are_taken_where_they_say() {
    for (file, all) in [("orders.barrow", "objects"), ("build.barrow", "processes")] {
        let page = Page::bundled(&[file]);
        let told = page.get("/api/verbs").json();
        let attributes: Vec<&Value> = told["attributes"][all].as_array().expect("attributes").iter().collect();
        let part = |attribute: &Value, part: &str| attribute[part].as_bool().expect("yes or no");
        let key = attributes.iter().find(|one| part(one, "groups")).expect("a key")["words"][0].as_str().unwrap();
        for attribute in attributes {
            assert!(!attribute["document"].as_str().unwrap().is_empty());
            for word in attribute["words"].as_array().expect("words").iter().map(|word| word.as_str().unwrap()) {
                // The recording of objects does not say how many elements they have.
                if ["elements", "fill"].contains(&word) {
                    continue;
                }
                let shown = |line: String| {
                    let reply = page.ask(&line, "");
                    let answer = (reply.status == 200).then(|| page.answer(&line, ""))?;
                    let columns = answer["tables"].as_array()?.last()?["columns"].as_array()?.clone();
                    Some(columns.iter().map(|column| column["key"].clone()).collect::<Vec<_>>())
                };
                let list = shown(format!("list 1 {all} of {word}"));
                assert_eq!(list.is_some(), part(attribute, "lists"), "list of {word}");
                assert!(list.is_none_or(|keys| keys.contains(&attribute["key"])), "list of {word}");
                let group = shown(format!("group {all} by {word}"));
                assert_eq!(group.is_some(), part(attribute, "groups"), "group by {word}");
                let ordered = shown(format!("group {all} by {key} by {word}"));
                let (groups, totals) = (part(attribute, "groups"), part(attribute, "totals"));
                assert_eq!(ordered.is_some(), groups || totals, "group by {key} by {word}");
                assert!(!totals || ordered.is_some_and(|keys| keys.contains(&attribute["key"])), "{word}");
            }
        }
    }
}

/// Names of types with which a dump attacks a page, a terminal, or the memory.
#[test]
fn hostile_names_are_data() {
    use barrow_testdata::{Heap, Node, Vocabulary};
    use barrow_writer::{Options, SnapshotInfo, TypeDescription, Writer};
    let names = [
        "</script><script>alert(1)</script>",
        "\u{1b}[2J\u{7}\0\r\n\u{202e}x",
        "=HYPERLINK(1)",
        &"n".repeat(1_000_000),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.barrow");
    let writer = Writer::create(&path, Options { threads: 1, ..Options::default() }).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let node = |name: &str| {
        let type_id = writer.declare_type(&TypeDescription::new(vocabulary.kinds[0], name)).unwrap();
        let identity = (None, None, None);
        Node { type_id, shallow_bytes: 1 << 60, unmanaged_bytes: 0, identity, name: None, edges: Vec::new() }
    };
    let heap = Heap { nodes: names.iter().copied().cycle().take(8).map(node).collect() };
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    heap.announce(&snapshot, 0..8).unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let page = Page::of(&[path]);
    let answer = page.answer("histogram", "");
    let found = answer["tables"][0]["rows"].to_string();
    for name in names {
        // As JSON has it, so no byte of it is outside of a string.
        assert!(found.contains(&serde_json::to_string(name).unwrap()), "{:.40}", name);
    }
    for line in ["top", "top by retained", "summary", "find", "strings", "dominators --cells 20", "growth", "info @1"] {
        let reply = page.ask(line, "");
        assert!([200, 400].contains(&reply.status), "{line}: {}", reply.status);
        assert!(!reply.text().contains("barrow failed"), "{line}");
        assert!(!reply.body.iter().any(|&byte| byte < b' ' && byte != b'\n'), "{line}: a control character");
    }
    let csv = page.get("/api/csv?q=top").text();
    assert!(csv.contains("'=HYPERLINK(1)") && !csv.contains(['\u{1b}', '\u{202e}', '\0']));
}
