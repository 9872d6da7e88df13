//! Reports of the bundled recordings: complete, escaped, the same each time, as small as asked, without texts.

use std::collections::BTreeSet;
use std::path::Path;

use barrow_query::answer::{Outcome, Value};
use barrow_query::flags::QuestionFlags;
use barrow_query::{Question, Session, Settings, Workspace};
use barrow_report::{Options, Report, make};
use barrow_writer::{
    KindRole, Label, Object, Options as WriterOptions, SnapshotInfo, StrengthId, TypeDescription, Writer, WriterError,
};

const FILES: [&str; 6] =
    ["invoices.barrow", "orders.barrow", "named.barrow", "threads.barrow", "smallest.barrow", "raku.barrow"];

fn options() -> Options {
    Options { version: "0".to_owned(), ..Options::default() }
}

fn session(file: &str, threads: usize) -> Session {
    let settings = Settings { no_index: true, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(threads)).unwrap(), settings);
    session.open(&barrow_testdata::path(file).display().to_string()).unwrap();
    session
}

fn report(file: &str, options: &Options) -> Report {
    make(&mut session(file, 2), options).unwrap()
}

fn text(made: &Report) -> String {
    String::from_utf8(made.html.clone()).unwrap()
}

#[test]
fn the_same_recording_gives_the_same_bytes() {
    for file in ["invoices.barrow", "orders.barrow"] {
        let [one, other] = [1, 3].map(|threads| make(&mut session(file, threads), &options()).unwrap());
        assert_eq!(one.html, other.html, "{file}");
    }
}

#[test]
fn elements_are_closed_and_lead_nowhere() {
    for file in FILES {
        let html = text(&report(file, &options()));
        for tag in ["section", "details", "summary", "table", "svg", "div", "ul", "ol", "li", "p", "main", "figure"] {
            let opened = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag} in {file}");
        }
        assert!(!html.contains("<script") && !html.contains("http:") && !html.contains("https:"), "{file}");
        let links = html.split("href=\"").skip(1);
        assert!(links.clone().count() > 2 && links.into_iter().all(|link| link.starts_with('#')), "{file}");
        assert!(!html.contains(" src=") && !html.contains("url(") && !html.contains("@import"), "{file}");
        let folder = barrow_testdata::path(file).parent().unwrap().display().to_string();
        assert!(!html.contains(&folder), "{file}");
    }
}

#[test]
fn the_verdict_comes_first_and_the_file_last() {
    for (file, expected) in [
        ("invoices.barrow", &["suspects", "growth", "series", "types", "difference", "map", "file"][..]),
        ("jvm.barrow", &["suspects", "series", "types", "map", "file"]),
    ] {
        let html = text(&report(file, &options()));
        let sections = html.split("<section id=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        assert_eq!(sections.collect::<Vec<_>>(), expected, "{file}");
        let verdict = html.find("<ul class=\"verdict\">").expect("a verdict");
        assert!(verdict < html.find("<section").unwrap() && html[verdict..].contains("of what is reachable"), "{file}");
    }
}

#[test]
fn nothing_is_empty() {
    for file in FILES {
        let html = text(&report(file, &options()));
        for tag in ["dd", "tr", "ul", "ol", "tbody", "section", "p", "li"] {
            assert!(!html.contains(&format!("<{tag}></{tag}>")), "{file}: {tag}");
        }
    }
}

/// Six snapshots of 20 rounds of three types below a root, and 2,000 nodes one below the other, each with a leak at its
/// end that grows.
fn record_chains(path: &Path, rounds: u64) -> Result<(), WriterError> {
    let writer = Writer::create(path, WriterOptions::default())?;
    let kind = writer.kind("object", KindRole::Object)?;
    let declare = |name: &str| writer.declare_type(&TypeDescription::new(kind, name));
    let cycle = [declare("Context")?, declare("Object")?, declare("Function")?];
    let (node, leak, end) = (declare("Node")?, declare("Leak")?, declare("LastOfList")?);
    let mut types: Vec<_> = (0..3 * rounds as usize).map(|at| cycle[at % 3]).collect();
    types.push(leak);
    types.extend([node; 2000]);
    types.push(end);
    let next = writer.string("next")?;
    for number in 1..7 {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        let mut shard = snapshot.shard();
        let globals = writer.string("globals")?;
        shard.root(globals, None, 0)?;
        shard.root(globals, None, 3 * rounds + 1)?;
        for (id, &of) in (0..).zip(&types) {
            let size = if of == leak || of == end { number * 1_000_000 } else { 16 };
            shard.object(id, &Object::new(of, size))?;
            if of != leak && of != end {
                shard.reference(Label::Name(next), StrengthId::STRONG, id + 1)?;
            }
        }
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish().map(drop)
}

#[test]
fn what_repeats_is_folded_and_both_ends_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chains.barrow");
    record_chains(&path, 20).unwrap();
    let settings = Settings { no_index: true, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
    session.open(&path.display().to_string()).unwrap();
    let html = text(&make(&mut session, &options()).unwrap());
    assert!(html.contains("[globals] › (Context › Object › Function) × 20 › Leak"), "{html}");
    assert!(html.contains("<td class=\"text path\">[globals] › Node › LastOfList"), "{html}");
    // The rank of a row is for a prompt.
    assert!(!html.contains(">#</th>"), "{html}");
    // The path of a suspect has its objects: the first and the last round, and the others once.
    assert!(
        html.contains("<span>Node × 1,998</span> → <span>Node @2060</span> → <span>LastOfList @2061</span>"),
        "{html}"
    );
    assert!(html.contains("<span>(Context › Object › Function) × 18</span> → <span>Context @57</span>"), "{html}");
    assert!(html.len() < 60_000, "{}", html.len());
}

#[test]
fn paths_that_are_followed_no_further_say_so() {
    let folder = tempfile::tempdir().unwrap();
    for (rounds, is_cut) in [(20, false), (40, true)] {
        let path = folder.path().join(format!("{rounds}.barrow"));
        record_chains(&path, rounds).unwrap();
        let settings = Settings { no_index: true, ..Settings::default() };
        let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
        session.open(&path.display().to_string()).unwrap();
        for line in ["growth", "diff 0 last by path"] {
            let answer = session.ask(&Question::of_line(line).unwrap().unwrap()).unwrap();
            let says_so = answer.notes.iter().any(|note| note.contains("may go on"));
            assert_eq!(says_so, is_cut, "{line}: {:?}", answer.notes);
        }
    }
}

/// All texts and names of objects, as `strings` lists them.
fn texts(file: &str) -> BTreeSet<String> {
    let mut session = session(file, 2);
    let question = Question::of_line("strings").unwrap().unwrap();
    let pieces = session.pieces(&question, true).unwrap();
    let rows = pieces.flat_map(|piece| piece.unwrap().tables.pop().map(|table| table.rows).unwrap_or_default());
    let text = |row: Vec<Value>| match &row[0] {
        Value::Name(text) => Some(text.clone()),
        _ => None,
    };
    rows.filter_map(text).collect()
}

#[test]
fn texts_of_objects_are_shown_only_on_request() {
    let mut shown = 0;
    for file in FILES {
        let with = text(&report(file, &Options { with_texts: true, ..options() }));
        let without = text(&report(file, &options()));
        // Names of types, functions and modules are no texts of the program, nor are short words of our own.
        let types: Vec<String> = {
            let mut session = session(file, 2);
            let question = Question::of_line("histogram").unwrap().unwrap();
            let answer = session.ask(&question).unwrap();
            answer.tables[0].rows.iter().map(|row| format!("{:?}", row[1])).collect()
        };
        let style = include_str!("../src/style.css");
        for text in texts(file) {
            let is_told = text.chars().count() < 8
                || types.iter().any(|name| name.contains(&text))
                || style.contains(&text)
                // The identifier of a section.
                || text == "difference"
                || with_no_recording().contains(&text);
            if !is_told {
                assert!(!without.contains(&text), "{file}: {text:?}");
                shown += usize::from(with.contains(&text));
            }
        }
    }
    assert!(shown > 0, "some recording has texts that a report could show");
}

/// The headings of the columns that reports without texts show. A column that is new here must not hold texts of the
/// program.
const SHOWN: [&str; 27] = [
    "95 % interval",
    "after",
    "collection",
    "first",
    "grows",
    "kind",
    "label",
    "largest",
    "last",
    "layout",
    "objects",
    "objects before",
    "path",
    "per snapshot",
    "references",
    "relative",
    "roots",
    "series",
    "shallow",
    "share",
    "snapshot",
    "time",
    "type",
    "unmanaged",
    "Δ objects",
    "Δ shallow",
    "Δ unmanaged",
];

#[test]
fn no_other_column_is_shown_without_texts() {
    let mut shown = BTreeSet::new();
    for file in FILES {
        let html = text(&report(file, &options()));
        let headings = html.split("<th ").skip(1).filter_map(|rest| rest.split_once('>')?.1.split('<').next());
        shown.extend(headings.map(str::to_owned));
    }
    assert_eq!(shown, SHOWN.map(str::to_owned).into());
}

/// A report about nearly nothing: words of our own.
fn with_no_recording() -> &'static str {
    use std::sync::OnceLock;
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| text(&report("smallest.barrow", &options())))
}

#[test]
fn each_line_can_be_asked() {
    for file in FILES {
        let html = text(&report(file, &options()));
        let lines = html.split("<code>").skip(1).filter_map(|rest| rest.split("</code>").next());
        let mut session = session(file, 2);
        let mut asked = 0;
        for line in lines.filter(|line| line.starts_with("barrow ")) {
            let line = line.replace("&#39;", "'").replace("&gt;", ">").replace("&lt;", "<").replace("&quot;", "\"");
            let words = line.strip_prefix("barrow ").unwrap().replacen(&format!(" {file}"), "", 1);
            let question = Question::of_line(&words).unwrap().unwrap();
            match session.ask(&question) {
                Ok(_) => asked += 1,
                // One snapshot is too few for some; the report says why.
                Err(error) => assert!(html.contains(error.to_string().split('`').next().unwrap()), "{line}: {error}"),
            }
        }
        assert!(asked >= 4, "{file}: {asked}");
    }
}

#[test]
fn a_report_is_as_small_as_asked() {
    let whole = report("raku.barrow", &options()).html.len();
    assert!(whole < 300 << 10, "{whole}");
    for most_bytes in [150 << 10, 60 << 10, 20 << 10] {
        let made = report("raku.barrow", &Options { most_bytes, ..options() });
        assert!(made.html.len() as u64 <= most_bytes && made.html.len() as u64 > most_bytes / 8, "{}", made.html.len());
        assert!(text(&made).contains("Tables are shorter than usual") && text(&made).contains("left out here"));
    }
    let error = make(&mut session("raku.barrow", 2), &Options { most_bytes: 1000, ..options() }).unwrap_err();
    assert!(error.to_string().contains("--max-size"), "{error}");
}

#[test]
fn assertions_decide_the_outcome() {
    let with = |assertions: &[&str]| {
        let assertions = assertions.iter().map(|&text| text.to_owned()).collect();
        report(
            "orders.barrow",
            &Options { flags: QuestionFlags { assertions, ..QuestionFlags::default() }, ..options() },
        )
    };
    let holds = with(&["count() > 0"]);
    assert_eq!(holds.outcome, Outcome::Answered);
    let fails = with(&["count() > 0", "count() < 2"]);
    assert_eq!(fails.outcome, Outcome::False);
    let html = text(&fails);
    assert!(html.contains("<strong>FALSE</strong>") && html.contains("count() &lt; 2") && html.contains("limit 2"));
    assert!(!text(&report("orders.barrow", &options())).contains("Assertions"));
}

#[test]
fn a_baseline_is_compared_by_type_and_by_path() {
    let baseline = Some(format!("{}:0", barrow_testdata::path("invoices.barrow").display()));
    let flags = QuestionFlags { baseline, ..QuestionFlags::default() };
    let html = text(&report("invoices.barrow", &Options { flags, ..options() }));
    assert!(html.contains("id=\"baseline\"") && html.contains("id=\"baseline-paths\""));
    assert!(html.contains("__main__.Invoice"));
    let folder = barrow_testdata::path("").display().to_string();
    assert!(!html.contains(folder.trim_end_matches('/')), "the folder of the baseline says nothing about it");
}

#[test]
fn names_are_hostile() {
    let names = [
        "</script></style><img src=x onerror=alert(1)>".to_owned(),
        "\" onmouseover=\"alert(1)".to_owned(),
        "'><svg onload=alert(1)>".to_owned(),
        "\u{202e}txt.exe\u{1b}[2J\u{0}".to_owned(),
        "x".repeat(1_000_000),
        "&lt;blink&gt;]]>-->".to_owned(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("<i>\"'hostile\u{202e}.barrow");
    record(&names, &path).unwrap();
    let settings = Settings { no_index: true, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
    session.open(&path.display().to_string()).unwrap();
    for with_texts in [false, true] {
        let made = make(&mut session, &Options { with_texts, ..options() }).unwrap();
        let html = text(&made);
        assert!(made.html.len() < 400 << 10, "{}", made.html.len());
        for wrong in
            ["<img", "<i>", "<svg onload", "</script", "\u{202e}", "\u{1b}", "\u{0}", "<blink>", &"x".repeat(300)]
        {
            assert!(!html.contains(wrong), "{wrong:?}");
        }
        assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"));
        assert_eq!(html.matches("\" onmouseover").count(), 0);
    }
}

/// Five snapshots of growing lists, whose types, names, labels and groups of roots are these names.
fn record(names: &[String], path: &Path) -> Result<(), WriterError> {
    let writer = Writer::create(path, WriterOptions::default())?;
    let object = writer.kind(&names[0], KindRole::Object)?;
    let types: Result<Vec<_>, WriterError> =
        names.iter().map(|name| writer.declare_type(&TypeDescription::new(object, name))).collect();
    let types = types?;
    let strings: Result<Vec<_>, WriterError> = names.iter().map(|name| writer.string(name)).collect();
    let strings = strings?;
    writer.fact(&names[1], &names[2])?;
    for number in 0..5u64 {
        let info = SnapshotInfo { label: Some(names[0].clone()), ..SnapshotInfo::default() };
        let snapshot = writer.begin_snapshot(info)?;
        let mut shard = snapshot.shard();
        shard.root(strings[1], Some(strings[3]), 0)?;
        let count = 100 * (number + 1);
        shard.object(0, &Object { name: Some(strings[0]), ..Object::new(types[0], 64) })?;
        for target in 1..=count {
            shard.reference(Label::Name(strings[target as usize % names.len()]), StrengthId::STRONG, target)?;
        }
        for id in 1..=count {
            let at = id as usize % names.len();
            shard.object(id, &Object { name: Some(strings[at]), ..Object::new(types[at], 1000) })?;
        }
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish().map(drop)
}
