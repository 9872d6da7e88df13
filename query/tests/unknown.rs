//! What is not known is neither false nor 0, and an answer that rests on it says so.

use barrow_query::answer::{Outcome, Value};
use barrow_query::{Answer, Session, Settings, Workspace};
use barrow_writer::{
    Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value as FieldValue, Writer,
};

use crate::asking::ask;

/// The first 120 of 302 characters, as importers write them.
fn shortened() -> String {
    format!("{}… (302 characters)", "P".repeat(120))
}

/// Five sessions, each with a tenant and a number:
///
/// ```text
///   0  kind a  "acme"              5
///   1  kind a  not recorded        not recorded
///   2  kind b  PPPP… of 302        7
///   3  kind b  PPPP… of 302        7
///   4  kind b  null                null
/// ```
fn sessions() -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.barrow");
    let writer = Writer::create(&path, Options::default()).unwrap();
    let object = writer.kind("object", KindRole::Object).unwrap();
    let declare = |name, attributes| {
        writer.declare_type(&TypeDescription { attributes, ..TypeDescription::new(object, name) }).unwrap()
    };
    let (session, text) = (declare("Session", &[]), declare("String", &[]));
    let number = declare("Number", &[("value of", "value")]);
    let kind = writer.field(session, "kind", Encoding::Text, false).unwrap();
    for name in ["tenant", "big"] {
        writer.field(session, name, Encoding::Reference, false).unwrap();
    }
    let value = writer.field(number, "value", Encoding::Signed, false).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    let name = |text: &str| writer.string(text).unwrap();
    let cut = shortened();
    let rows = [
        ("a", Some(Some("acme")), Some(Some(5))),
        ("a", Some(None), Some(None)),
        ("b", Some(Some(&cut[..])), Some(Some(7))),
        ("b", Some(Some(&cut[..])), Some(Some(7))),
        ("b", None, None),
    ];
    for (at, (of_kind, tenant, big)) in (0..).zip(rows) {
        let [own, of_tenant, of_big] = [at, 10 + at, 20 + at].map(place_of);
        shard.object(own, &Object::new(session, 16)).unwrap();
        shard.root(name("globals"), None, own).unwrap();
        shard.value(kind, FieldValue::Text(name(of_kind))).unwrap();
        for (label, target) in [("tenant", tenant.map(|_| of_tenant)), ("big", big.map(|_| of_big))] {
            if let Some(target) = target {
                shard.reference(Label::Name(name(label)), StrengthId::STRONG, target).unwrap();
            }
        }
        shard.object(of_tenant, &Object { name: tenant.flatten().map(name), ..Object::new(text, 24) }).unwrap();
        shard.object(of_big, &Object::new(number, 8)).unwrap();
        if let Some(big) = big.flatten() {
            shard.value(value, FieldValue::Signed(big)).unwrap();
        }
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let settings = Settings { no_index: true, is_abridged: false, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
    session.open(&path.display().to_string()).unwrap();
    (folder, session)
}

/// The number of an object among 15: five sessions, then their tenants, then their numbers.
fn place_of(place: u64) -> u64 {
    place / 10 * 5 + place % 10
}

/// The number of objects, and of those that the note says are left out.
fn counted(answer: &Answer) -> (u64, u64) {
    let fact = answer.facts.iter().find(|fact| fact.column.key == "objects").unwrap();
    let Value::Number(objects) = fact.value else { panic!("{:?}", fact.value) };
    let left_out = answer.notes.iter().find_map(|note| note.strip_prefix("this leaves out ")).map_or(0, |note| {
        assert_eq!(answer.exactness, Some("as far as values are known"));
        note.split(' ').next().unwrap().parse().unwrap()
    });
    assert_eq!(left_out == 0, answer.exactness == Some("exact"), "{:?}", answer.notes);
    (objects, left_out)
}

#[test]
fn what_is_unknown_passes_neither_a_test_nor_its_opposite() {
    let (_folder, mut session) = sessions();
    let (whole, longer) = ("P".repeat(302), "P".repeat(303));
    for (expression, expected) in [
        (".tenant = \"acme\"", (1, 1)),
        ("not .tenant = \"acme\"", (3, 1)),
        (".tenant != \"acme\"", (2, 1)),
        (".kind = \"a\" and .tenant = \"acme\"", (1, 1)),
        (".kind = \"b\" and .tenant = \"acme\"", (0, 0)),
        ("(.kind = \"a\" or .tenant = \"acme\")", (2, 0)),
        (".tenant = unknown", (1, 0)),
        (".tenant != unknown", (4, 0)),
        (".tenant = null", (1, 0)),
        (&format!(".tenant = \"{whole}\""), (0, 3)),
        (&format!(".tenant != \"{whole}\""), (1, 3)),
        (&format!(".tenant = \"{longer}\""), (0, 1)),
        (".tenant ~ /^PP/", (2, 1)),
        (".tenant ~ P*", (2, 1)),
        (".tenant ~ /P$/", (0, 3)),
        ("length(.tenant) > 100", (2, 1)),
        ("length(.tenant) = 302", (0, 3)),
        ("length(.tenant) > 302", (0, 1)),
        (".big > 5", (2, 1)),
        ("not .big > 5", (2, 1)),
        (".big = unknown", (1, 0)),
    ] {
        let answer = ask(&mut session, &format!("count type = Session and {expression}")).unwrap();
        assert_eq!(counted(&answer), expected, "{expression}");
    }
    for (expression, expected) in
        [("text = \"acme\"", (1, 2)), ("not text = \"acme\"", (2, 2)), ("length(text) > 100", (2, 2))]
    {
        let answer = ask(&mut session, &format!("count type = String and {expression}")).unwrap();
        assert_eq!(counted(&answer), expected, "{expression}");
    }
}

#[test]
fn sums_and_groups_say_what_they_do_not_know() {
    let (_folder, mut session) = sessions();
    let line = "count type = Session show sum(.big), max(.big), mean(.big), count(.big)";
    let answer = ask(&mut session, line).unwrap();
    let fact = |key: &str| answer.facts.iter().find(|fact| fact.column.key == key).unwrap().value.clone();
    assert_eq!([fact("sum(.big)"), fact("max(.big)"), fact("count(.big)")], [19, 7, 3].map(Value::Number));
    assert_eq!(answer.exactness, Some("as far as numbers are known"));
    let told = |answer: &Answer, end: &str| answer.notes.iter().any(|note| note.ends_with(end));
    assert!(told(&answer, "does not include 1 object of which it is not known"), "{:?}", answer.notes);
    assert!(told(&answer, "does not include 1 object that has no number"), "{:?}", answer.notes);
    let answer = ask(&mut session, "group type = Session by .kind show sum(.big)").unwrap();
    assert_eq!(answer.exactness, Some("as far as numbers are known"));
    for (line, ends) in [
        ("group type = Session by .tenant", &["of 2 objects, texts were shortened", "of 1 object, the text"][..]),
        ("group type = Session by .big", &["of 1 object, the text or the number"]),
        ("group type = String by text", &["of 2 objects, texts were shortened", "of 2 objects, the text"]),
    ] {
        let answer = ask(&mut session, line).unwrap();
        assert_eq!(answer.exactness, Some("as far as values are known"), "{line}");
        for end in ends {
            let is_told = answer.notes.iter().any(|note| note.contains(&format!("groups may be others: {end}")));
            assert!(is_told, "{line}: {end} in {:?}", answer.notes);
        }
    }
    let answer = ask(&mut session, "group type = Session by .kind").unwrap();
    assert_eq!(answer.exactness, Some("exact"));
}

#[test]
fn a_list_says_of_how_many_objects_the_place_is_not_known() {
    let (_folder, mut session) = sessions();
    let last = "1 object whose `.big` is not known comes last";
    for (line, expected) in [
        ("list type = Session of .kind by .big", Some(last)),
        ("list 2 type = Session of .kind by .big asc", Some(last)),
        ("list type = Session and .big > 1 of .kind by .big", None),
        ("list type = Session of .kind by .kind", None),
    ] {
        let answer = ask(&mut session, line).unwrap();
        let told = answer.notes.iter().find(|note| note.contains("come"));
        assert_eq!(told.map(String::as_str), expected, "{line}");
        let is_doubtful = expected.is_some() || line.contains("> 1");
        assert_eq!(answer.exactness == Some("as far as values are known"), is_doubtful, "{line}");
    }
}

#[test]
fn an_assertion_that_rests_on_what_is_unknown_is_undecided() {
    let (_folder, mut session) = sessions();
    let known = "type = Session and .kind = \"b\" and .tenant = \"acme\"";
    for (measure, expression, comparison, expected, exactness) in [
        ("count", ".tenant = \"acme\"", "= 1", Outcome::Undecided, "as far as values are known"),
        ("count", ".tenant = \"acme\"", "= 2", Outcome::Undecided, "as far as values are known"),
        ("count", ".tenant = \"acme\"", "= 3", Outcome::False, "as far as values are known"),
        ("count", ".tenant = \"acme\"", "!= 3", Outcome::Answered, "as far as values are known"),
        ("count", ".tenant = \"acme\"", "<= 1", Outcome::Undecided, "as far as values are known"),
        ("count", ".tenant = \"acme\"", "<= 2", Outcome::Answered, "as far as values are known"),
        ("count", ".tenant = \"acme\"", "< 1", Outcome::False, "as far as values are known"),
        ("count", ".tenant = \"acme\"", ">= 1", Outcome::Answered, "as far as values are known"),
        ("count", "not .tenant = \"acme\"", "= 3", Outcome::Undecided, "as far as values are known"),
        ("size", ".tenant = \"acme\"", "<= 16", Outcome::Undecided, "as far as values are known"),
        ("size", ".tenant = \"acme\"", "<= 32", Outcome::Answered, "as far as values are known"),
        ("retained", ".tenant = \"acme\"", "< 16", Outcome::False, "as far as values are known"),
        ("count", known, "= 0", Outcome::Answered, "exact"),
    ] {
        let line = format!("assert count_ type = Session and {expression}) {comparison}");
        let answer = ask(&mut session, &line.replace("count_ ", &format!("{measure}("))).unwrap();
        assert_eq!(answer.outcome, expected, "{measure} {expression} {comparison}: {:?}", answer.notes);
        assert_eq!(answer.exactness, Some(exactness), "{measure} {expression} {comparison}");
    }
}
