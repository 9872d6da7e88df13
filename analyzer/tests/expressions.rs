//! Compares `select`, `count` and `find` with the simplest possible evaluation, for random expressions in the notation
//! of users, on small snapshots of random objects.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use barrow_analyzer::{
    AnalyzerError, Expression, Heap, IndexPlace, KindId, Memory, Names, ObjectId, ObjectSet, Page, Recording, Silent,
    SiteId, SnapshotId,
};
use barrow_testdata::Shelf;
use barrow_writer::{
    KindRole, Label, Object, Options, SiteDescription, SnapshotInfo, StrengthId, TypeDescription, Writer,
};
use proptest::prelude::*;

const SNAPSHOT: SnapshotId = SnapshotId(0);
/// The types; those with a dot are of the second kind.
const TYPES: [&str; 4] = ["Hash", "Hash::Node", "a b", "main.run"];
const KINDS: [&str; 2] = ["object", "frame"];

/// Sites with a row, from number 1 on: function, file and line. The third says nothing, the fifth has no row.
const SITES: [(Option<&str>, Option<&str>, Option<u32>); 4] = [
    (Some("Hash.parse"), Some("a b"), Some(3)),
    (None, Some("a b"), Some(7)),
    (None, None, None),
    (Some("frame"), None, None),
];

/// The texts that `site =` compares; the first is the one for patterns.
fn site_texts(site: u32) -> &'static [&'static str] {
    match site {
        1 => &["Hash.parse (a b:3)", "a b:3"],
        2 => &["a b:7"],
        4 => &["frame"],
        _ => &[],
    }
}

/// An object, with the values derived from the references of all objects.
#[derive(Debug, Clone)]
struct Sample {
    type_number: usize,
    size: u64,
    unmanaged: u64,
    refs: u64,
    address: Option<u64>,
    serial: Option<u64>,
    site: Option<u32>,
    name: Option<&'static str>,
    retained: u64,
    distance: Option<u32>,
    incoming: u64,
    root: bool,
}

#[derive(Debug, Clone)]
enum Term {
    Or(Vec<Term>),
    /// The first term, then the others, each with whether `-` precedes it.
    And(Box<Term>, Vec<(bool, Term)>),
    Not(Box<Term>),
    /// Attribute (type or kind), operator, text.
    Text(&'static str, &'static str, &'static str),
    Number(&'static str, &'static str, u64),
    In(&'static str, Option<u64>, Option<u64>),
    Is(&'static str),
    /// `$even`, `$low`.
    Set(&'static str),
    Object(u32),
    Row(usize),
}

/// The precedence of a term: higher binds more tightly.
fn level(term: &Term) -> u32 {
    match term {
        Term::Or(_) => 0,
        Term::And(..) => 1,
        _ => 2,
    }
}

/// Writes a term, in parentheses if it binds less tightly than required.
struct At<'t>(u32, &'t Term);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if level(self.1) < self.0 { write!(f, "({})", self.1) } else { self.1.fmt(f) }
    }
}

impl Display for Term {
    /// Alternates between words and signs, and omits unnecessary parentheses.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Term::Or(terms) => {
                write!(f, "{}", At(1, &terms[0]))?;
                terms[1..]
                    .iter()
                    .zip(["|", "or"].into_iter().cycle())
                    .try_for_each(|(term, or)| write!(f, " {or} {}", At(1, term)))
            }
            Term::And(first, rest) => {
                write!(f, "{}", At(2, first))?;
                rest.iter().zip(["and", "&"].into_iter().cycle()).try_for_each(|((minus, term), and)| {
                    write!(f, " {} {}", if *minus { "-" } else { and }, At(2, term))
                })
            }
            Term::Not(term) if matches!(**term, Term::Set(_) | Term::And(..)) => write!(f, "!{}", At(2, term)),
            Term::Not(term) => write!(f, "not {}", At(2, term)),
            Term::Text(attribute, operator, text) => write!(f, "{attribute} {operator} \"{text}\""),
            Term::Number("address", operator, value) => write!(f, "address {operator} {value:#x}"),
            Term::Number(attribute, operator, value) => write!(f, "{attribute}{operator}{value}"),
            Term::In(attribute, low, high) => {
                let end = |end: &Option<u64>| end.map_or(String::new(), |end| end.to_string());
                write!(f, "{attribute} in {}..{}", end(low), end(high))
            }
            Term::Is(property) => write!(f, "{property}"),
            Term::Set(name) => write!(f, "${name}"),
            Term::Object(id) => write!(f, "@{id}"),
            Term::Row(row) => write!(f, "%{row}"),
        }
    }
}

fn number(attribute: &str, id: u32, object: &Sample) -> Option<u64> {
    match attribute {
        "size" | "shallow" => Some(object.size),
        "unmanaged" => Some(object.unmanaged),
        "refs" | "outrefs" => Some(object.refs),
        "inrefs" | "in" | "incoming" => Some(object.incoming),
        "id" => Some(id.into()),
        "retained" => Some(object.retained),
        "distance" => object.distance.map(u64::from),
        "address" => object.address,
        "serial" => object.serial,
        "site" => object.site.map(u64::from),
        _ => unreachable!("no other attribute is made"),
    }
}

fn holds(term: &Term, id: u32, object: &Sample) -> bool {
    match term {
        Term::Or(terms) => terms.iter().any(|term| holds(term, id, object)),
        Term::And(first, rest) => {
            holds(first, id, object) && rest.iter().all(|(minus, term)| holds(term, id, object) != *minus)
        }
        Term::Not(term) => !holds(term, id, object),
        Term::Text(attribute, operator, text) => {
            let name = TYPES[object.type_number];
            let found = match *attribute {
                "kind" => &[KINDS[usize::from(name.contains('.'))]][..],
                "name" => &[object.name.unwrap_or(name)],
                "site" => site_texts(object.site.unwrap_or(0)),
                _ => &[name],
            };
            let is_match = if operator.ends_with('~') {
                // The patterns are a prefix and `*`.
                found.first().is_some_and(|found| found.starts_with(text.trim_end_matches('*')))
            } else {
                found.contains(text)
            };
            is_match != operator.starts_with('!')
        }
        Term::Number(attribute, operator, value) => {
            number(attribute, id, object).is_some_and(|found| match *operator {
                "=" => found == *value,
                "!=" => found != *value,
                "<" => found < *value,
                "<=" => found <= *value,
                ">" => found > *value,
                _ => found >= *value,
            })
        }
        Term::In(attribute, low, high) => number(attribute, id, object)
            .is_some_and(|found| low.is_none_or(|low| found >= low) && high.is_none_or(|high| found <= high)),
        Term::Is("reachable") => object.distance.is_some(),
        Term::Is("unreachable") => object.distance.is_none(),
        Term::Is(_) => object.root,
        Term::Set("even") => id.is_multiple_of(2),
        Term::Set(_) => id < 5,
        Term::Object(number) => id == *number,
        Term::Row(row) => id as usize == row + 1,
    }
}

fn terms() -> impl Strategy<Value = Term> {
    let numbers = || {
        prop::sample::select(vec![
            "size",
            "shallow",
            "unmanaged",
            "refs",
            "outrefs",
            "inrefs",
            "in",
            "incoming",
            "id",
            "retained",
            "distance",
            "address",
            "serial",
            "site",
        ])
    };
    let texts = prop::sample::select(vec![
        "Hash",
        "Hash*",
        "a b",
        "main.run",
        "*",
        "frame",
        "fr*",
        "",
        "a b:3",
        "a b:7",
        "Hash.parse (a b:3)",
        "3",
    ]);
    let leaf = prop_oneof![
        (
            prop::sample::select(vec!["type", "name", "kind", "site"]),
            prop::sample::select(vec!["=", "!="]),
            texts.clone()
        )
            .prop_map(|(attribute, operator, text)| Term::Text(attribute, operator, text)),
        (
            prop::sample::select(vec!["type", "kind", "name", "site"]),
            prop::sample::select(vec!["~", "!~"]),
            prop::sample::select(vec!["Hash*", "a b*", "*"])
        )
            .prop_map(|(attribute, operator, text)| Term::Text(attribute, operator, text)),
        (numbers(), prop::sample::select(vec!["=", "!=", "<", "<=", ">", ">="]), 0..6u64)
            .prop_map(|(attribute, operator, value)| Term::Number(attribute, operator, value)),
        (numbers(), 0..4u64, 0..4u64).prop_map(|(attribute, low, more)| Term::In(
            attribute,
            Some(low),
            Some(low + more)
        )),
        (numbers(), 0..4u64).prop_map(|(attribute, low)| Term::In(attribute, Some(low), None)),
        (numbers(), 0..4u64).prop_map(|(attribute, high)| Term::In(attribute, None, Some(high))),
        prop::sample::select(vec!["reachable", "unreachable", "root"]).prop_map(Term::Is),
        prop::sample::select(vec!["even", "low"]).prop_map(Term::Set),
        (0..12u32).prop_map(Term::Object),
        (1..3usize).prop_map(Term::Row),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        let rest = prop::collection::vec((any::<bool>(), inner.clone()), 1..4);
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Term::Or),
            (inner.clone(), rest).prop_map(|(first, rest)| Term::And(Box::new(first), rest)),
            inner.prop_map(|term| Term::Not(Box::new(term))),
        ]
    })
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    // Where something is recorded it is recorded for a whole snapshot, and 0 means nothing.
    let origin = || prop::option::of(1..6u64);
    let names = prop::sample::select(vec!["Hash", "a b", "frame", "", "Hash.x"]);
    let identity = (prop::option::of(1..6u32), prop::option::of(names));
    let recorded = (0..TYPES.len(), 0..6u64, 0..6u64, 0..6u64, origin(), origin(), identity);
    let sample = (recorded, prop::bool::weighted(0.1)).prop_map(|(recorded, root)| {
        let (type_number, size, unmanaged, refs, address, serial, (site, name)) = recorded;
        let (retained, distance, incoming) = (0, None, 0);
        Sample { type_number, size, unmanaged, refs, address, serial, site, name, retained, distance, incoming, root }
    });
    prop::collection::vec(sample, 1..80)
}

/// The heap of these objects; fills in what follows from their references.
fn heap(samples: &mut [Sample]) -> Heap {
    let recording = Arc::new(record(samples));
    let heap = Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
    let (dominators, distances) = (heap.dominators(&Silent).unwrap(), heap.distances(&Silent).unwrap());
    for (id, sample) in (0..).map(ObjectId).zip(samples) {
        sample.retained = dominators.retained_bytes(id);
        sample.distance = distances.distance(id);
        sample.incoming = heap.incoming(&Silent).unwrap().count(id);
    }
    heap
}

/// `$even` and `$low`; rows 1 and 2 are objects 2 and 3.
struct SmallNames {
    snapshot: SnapshotId,
    objects: u64,
}

impl Names for SmallNames {
    fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    fn set(&self, name: &str) -> Option<Arc<ObjectSet>> {
        let ids = (0..self.objects as u32).filter(|id| if name == "even" { id.is_multiple_of(2) } else { *id < 5 });
        let set = ObjectSet::from_sorted(self.snapshot, self.objects, ids.map(ObjectId));
        self.set_names().iter().any(|known| known == name).then(|| Arc::new(set))
    }

    fn set_names(&self) -> Vec<String> {
        vec!["even".into(), "low".into()]
    }

    fn row(&self, row: usize) -> Option<(SnapshotId, ObjectId)> {
        (1..=2).contains(&row).then(|| (self.snapshot, ObjectId(row as u32 + 1)))
    }

    fn row_count(&self) -> usize {
        2
    }
}

fn record(samples: &[Sample]) -> Recording {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::without_threads()).unwrap();
    let kinds = [(KINDS[0], KindRole::Object), (KINDS[1], KindRole::Frame)];
    let kinds = kinds.map(|(name, role)| writer.kind(name, role).unwrap());
    let types = TYPES
        .map(|name| writer.declare_type(&TypeDescription::new(kinds[usize::from(name.contains('.'))], name)).unwrap());
    for (function, file, line) in SITES {
        writer.site(&SiteDescription { function, file, line, ..SiteDescription::default() }).unwrap();
    }
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    // Shards make blocks of their own, so that there are several.
    for (part, first) in samples.chunks(30).zip((0u64..).step_by(30)) {
        let mut shard = snapshot.shard();
        for (sample, id) in part.iter().zip(first..) {
            let object = Object {
                unmanaged_bytes: sample.unmanaged,
                address: sample.address,
                serial: sample.serial,
                site: sample.site.map(SiteId),
                name: sample.name.map(|name| writer.string(name).unwrap()),
                ..Object::new(types[sample.type_number], sample.size)
            };
            shard.object(id, &object).unwrap();
            if sample.root {
                shard.root(writer.string("globals").unwrap(), None, id).unwrap();
            }
            for index in 0..sample.refs {
                let target = (5 * id + 3 * index + 1) % samples.len() as u64;
                shard.reference(Label::Index(index), StrengthId::STRONG, target).unwrap();
            }
        }
        shard.finish().unwrap();
    }
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let bytes = shelf.take();
    Recording::from_bytes(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn expressions_mean_what_they_say(
        mut samples in samples(),
        expressions in prop::collection::vec(terms(), 1..8),
        limit in 0..10usize,
    ) {
        let heap = heap(&mut samples);
        let objects = samples.len() as u64;
        for term in expressions {
            let text = term.to_string();
            let expression = Expression::parse_with(&text, &SmallNames { snapshot: SNAPSHOT, objects }).unwrap();
            // Row 1 is object 2, which small heaps do not have.
            if let Err(AnalyzerError::NoObject { object, .. }) = heap.count(&[], &expression, &Silent) {
                prop_assert!(u64::from(object.0) >= objects && text.contains(['@', '%']), "{}", text);
                continue;
            }
            for kinds in [&[][..], &[KindId(1)]] {
                let matching = (0u32..).zip(&samples).filter(|(id, sample)| {
                    holds(&term, *id, sample) && (kinds.is_empty() || TYPES[sample.type_number].contains('.'))
                });
                let expected: Vec<ObjectId> = matching.clone().map(|(id, _)| ObjectId(id)).collect();
                let (set, counted) = heap.select(kinds, &expression, &Silent).unwrap();
                prop_assert_eq!(set.iter().collect::<Vec<_>>(), expected.clone(), "{}", text);
                prop_assert_eq!(counted.objects, expected.len() as u64);
                prop_assert_eq!(counted.heap_bytes, matching.clone().map(|(_, sample)| sample.size).sum::<u64>());
                prop_assert_eq!(counted.unmanaged_bytes, matching.map(|(_, sample)| sample.unmanaged).sum::<u64>());
                prop_assert_eq!(heap.count(kinds, &expression, &Silent).unwrap(), counted);
                let page = Page { from: ObjectId(7), limit };
                let found = heap.find(kinds, &expression, page, &Silent).unwrap();
                let mut later: Vec<ObjectId> = expected.into_iter().filter(|id| *id >= page.from).collect();
                prop_assert_eq!(found.next, later.get(limit).copied());
                later.truncate(limit);
                prop_assert_eq!(found.objects.iter().map(|object| object.id).collect::<Vec<_>>(), later);
            }
        }
    }

    #[test]
    fn any_text_is_an_expression_or_an_error(text in any_text()) {
        match Expression::parse_with(&text, &SmallNames { snapshot: SNAPSHOT, objects: 9 }) {
            Ok(expression) => prop_assert!(expression.snapshot().is_none_or(|snapshot| snapshot == SNAPSHOT)),
            Err(error) => prop_assert!(text.is_char_boundary(error.position) && !error.message.is_empty()),
        }
    }
}

/// Pieces of expressions in random order, and a few invalid ones.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = [
        "(", ")", "!", "&", "|", "-", " - ", "and", "or", "not", "in", "type", "size", "root", "=", "!=", "~", "!~",
        "<", ">=", "1K", "0x7f", "1..2", "..", "\"a\"", "'", "/a/", "/(/", "$even", "$", "@3", "@", "%1", "%", " ",
        "\u{3000}", "ä", "\\", "*",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn sets_belong_to_their_snapshot() {
    let sample = Sample {
        type_number: 0,
        size: 1,
        unmanaged: 0,
        refs: 0,
        address: None,
        serial: None,
        site: None,
        name: None,
        retained: 0,
        distance: None,
        incoming: 0,
        root: false,
    };
    let heap = heap(&mut vec![sample; 3]);
    let expression = Expression::parse_with("$low", &SmallNames { snapshot: SNAPSHOT, objects: 3 }).unwrap();
    assert_eq!(expression.snapshot(), Some(SNAPSHOT));
    let (set, _) = heap.select(&[], &expression, &Silent).unwrap();
    assert_eq!((set.snapshot(), set.snapshot_objects(), set.len()), (SNAPSHOT, 3, 3));
    let other = SmallNames { snapshot: SnapshotId(1), objects: 3 };
    let expression = Expression::parse_with("$low", &other).unwrap();
    match heap.select(&[], &expression, &Silent) {
        Err(AnalyzerError::OtherSnapshot { named, asked }) => assert_eq!((named, asked), (SnapshotId(1), SNAPSHOT)),
        other => panic!("{other:?}"),
    }
}
