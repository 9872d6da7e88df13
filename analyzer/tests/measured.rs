//! Compares questions about objects that read as numbers or times with their definition, on random heaps.

use std::cmp::Ordering;
use std::sync::Arc;

use barrow_analyzer::{
    AnalyzerError, Decimal, Expression, FieldPath, Heap, IndexPlace, Memory, Number, NumberTotals, ObjectSet,
    Recording, Silent, SnapshotId,
};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{
    Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value, Writer,
};

/// What an owner refers to.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Nothing,
    /// Hundredths.
    Money(i64),
    /// So far from the point that no sum has it.
    Tiny(i64),
    UnreadMoney,
    /// Milliseconds since 1970.
    Time(i64),
    UnreadTime,
    /// A text that looks like a number or a date.
    Name(&'static str),
}

const NAMES: [&str; 3] = ["5", "1.25", "1970-01-02"];

impl Kind {
    fn random(random: &mut Random) -> Self {
        let few = |random: &mut Random| random.below(600).cast_signed() - 300;
        match random.below(12) {
            0 => Kind::Nothing,
            1..=4 => Kind::Money(few(random)),
            5 => Kind::Tiny(few(random)),
            6 => Kind::UnreadMoney,
            7..=9 => Kind::Time(random.below(5 * 86_400_000).cast_signed() - 86_400_000),
            10 => Kind::UnreadTime,
            _ => Kind::Name(NAMES[random.below(3) as usize]),
        }
    }

    /// The order of the number that it is and some hundredths.
    fn against(self, hundredths: i64) -> Option<Ordering> {
        match self {
            Kind::Money(money) => Some(money.cmp(&hundredths)),
            Kind::Tiny(tiny) if hundredths == 0 => Some(tiny.cmp(&0)),
            Kind::Tiny(_) => Some(0.cmp(&hundredths)),
            _ => None,
        }
    }

    /// The order of the time that it is and some milliseconds, of which a typed day has many.
    fn at(self, first: i64, last: i64) -> Option<Ordering> {
        let Kind::Time(time) = self else { return None };
        Some(if time < first { Ordering::Less } else { time.cmp(&last).max(Ordering::Equal) })
    }
}

/// A heap in which each object with an even number owns the next one, or nothing.
fn heap(kinds: &[Kind]) -> Heap {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let declare = |name, attributes| {
        writer.declare_type(&TypeDescription { attributes, ..TypeDescription::new(kind, name) }).unwrap()
    };
    let owner = declare("Owner", &[]);
    writer.field(owner, "held", Encoding::Reference, false).unwrap();
    let money = declare("Money", &[("reads as", "{.units .scale:decimal}")]);
    let [units, scale] = ["units", "scale"].map(|name| writer.field(money, name, Encoding::Signed, false).unwrap());
    let time = declare("Time", &[("reads as", "{.ms:ms}")]);
    let ms = writer.field(time, "ms", Encoding::Signed, false).unwrap();
    let named = declare("Named", &[("reads as", "{.text}")]);
    let text = writer.field(named, "text", Encoding::Text, false).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for (at, kind) in (0..).step_by(2).zip(kinds) {
        shard.object(at, &Object::new(owner, 16)).unwrap();
        if !matches!(kind, Kind::Nothing) {
            let label = Label::Name(writer.string("held").unwrap());
            shard.reference(label, StrengthId::STRONG, at + 1).unwrap();
        }
        let type_id = match kind {
            Kind::Nothing | Kind::Money(_) | Kind::Tiny(_) | Kind::UnreadMoney => money,
            Kind::Time(_) | Kind::UnreadTime => time,
            Kind::Name(_) => named,
        };
        shard.object(at + 1, &Object::new(type_id, 16)).unwrap();
        let values = match *kind {
            Kind::Money(money) => vec![(units, Value::Signed(money)), (scale, Value::Signed(2))],
            Kind::Tiny(tiny) => vec![(units, Value::Signed(tiny)), (scale, Value::Signed(i32::MAX.into()))],
            Kind::Nothing | Kind::UnreadMoney => vec![(units, Value::Signed(7))],
            Kind::Time(time) => vec![(ms, Value::Signed(time))],
            Kind::UnreadTime => Vec::new(),
            Kind::Name(name) => vec![(text, Value::Text(writer.string(name).unwrap()))],
        };
        values.into_iter().for_each(|(field, value)| shard.value(field, value).unwrap());
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
    Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

/// The objects that match; `None` if no object holds anything comparable.
fn select(heap: &Heap, text: &str) -> Option<ObjectSet> {
    match heap.select(&[], &Expression::parse(text).unwrap(), &Silent) {
        Err(AnalyzerError::OtherValues { .. }) => None,
        found => Some(found.unwrap().0),
    }
}

type Operator = (&'static str, fn(Ordering) -> bool);

const OPERATORS: [Operator; 6] = [
    ("=", Ordering::is_eq),
    ("!=", Ordering::is_ne),
    ("<", Ordering::is_lt),
    ("<=", Ordering::is_le),
    (">", Ordering::is_gt),
    (">=", Ordering::is_ge),
];

#[test]
fn numbers_and_times_are_compared_by_their_definition() {
    const DAY: i64 = 86_400_000;
    let mut matches = 0;
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let kinds: Vec<Kind> = (0..1 + random.below(60)).map(|_| Kind::random(&mut random)).collect();
        let heap = heap(&kinds);
        let typed = random.below(600).cast_signed() - 300;
        let day = random.below(4).cast_signed();
        let hour = random.below(24).cast_signed();
        for (operator, holds) in OPERATORS {
            let mut check = |text: String, order: &dyn Fn(Kind) -> Option<Ordering>| {
                let expected: Vec<u32> = (0..)
                    .step_by(2)
                    .zip(&kinds)
                    .filter_map(|(at, kind)| Some((at, order(*kind)?)))
                    .filter(|&(_, order)| holds(order))
                    .map(|(at, _)| at)
                    .collect();
                let found = select(&heap, &text).map_or(Vec::new(), |set| set.iter().map(|id| id.0).collect());
                assert_eq!(found, expected, "{text}, seed {seed}: {kinds:?}");
                matches += expected.len();
            };
            let sign = if typed < 0 { "-" } else { "" };
            let number = format!("{sign}{}.{:02}", typed.abs() / 100, typed.abs() % 100);
            check(format!(".held {operator} {number}"), &|kind| kind.against(typed));
            check(format!(".held {operator} 0"), &|kind| kind.against(0));
            check(format!(".held {operator} 1970-01-{:02}T{hour:02}:00Z", day + 1), &|kind| match kind {
                // Texts are compared as such, but have no order.
                Kind::Name(_) => (operator == "!=").then_some(Ordering::Less),
                kind => kind.at(day * DAY + hour * 3_600_000, day * DAY + hour * 3_600_000),
            });
            if !["=", "!="].contains(&operator) {
                check(format!(".held {operator} 1970-01-{:02}", day + 1), &|kind| {
                    kind.at(day * DAY, day * DAY + DAY - 1)
                });
            }
        }
    }
    assert!(matches > 3000, "{matches}");
}

#[test]
fn numbers_add_up_exactly_and_what_cannot_be_read_is_unknown() {
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let kinds: Vec<Kind> = (0..1 + random.below(60)).map(|_| Kind::random(&mut random)).collect();
        let heap = heap(&kinds);
        let path = FieldPath::parse(".held").unwrap();
        let owners = select(&heap, "type = Owner").unwrap();
        let mut totals = NumberTotals::default();
        heap.field_numbers(&owners, &path, &Silent, &mut |_, found| totals.add_found(found)).unwrap();
        let money: Vec<i64> =
            kinds.iter().filter_map(|kind| if let Kind::Money(money) = kind { Some(*money) } else { None }).collect();
        let tiny = |kind: &&Kind| matches!(kind, Kind::Tiny(tiny) if *tiny != 0);
        let zeros = kinds.iter().filter(|kind| matches!(kind, Kind::Tiny(0))).count();
        let unread = kinds.iter().filter(|kind| matches!(kind, Kind::UnreadMoney | Kind::UnreadTime)).count();
        let unadded = kinds.iter().filter(tiny).count();
        assert_eq!(totals.known as usize, money.len() + zeros, "seed {seed}: {kinds:?}");
        assert_eq!(totals.unknown as usize, unread + unadded, "seed {seed}: {kinds:?}");
        let sum = Decimal::parse(&format!("{}e-2", money.iter().sum::<i64>())).unwrap();
        let found = match totals.sum() {
            Some(Number::Whole(whole)) => Some(Decimal::from(whole)),
            Some(Number::Decimal(decimal)) => Some(decimal),
            other => {
                assert_eq!(other, None);
                None
            }
        };
        assert_eq!(found, (money.len() + zeros > 0).then_some(sum), "seed {seed}: {kinds:?}");
        // Neither a comparison nor its opposite holds for them, and `= unknown` does.
        let doubts = heap.doubts(&[], &Expression::parse(".held > 0").unwrap(), &Silent).unwrap();
        assert_eq!(doubts.objects.len() as usize, unread, "seed {seed}: {kinds:?}");
        assert_eq!(select(&heap, ".held = unknown").unwrap(), doubts.objects, "seed {seed}: {kinds:?}");
        let mut either = select(&heap, ".held > 0 or not .held > 0").unwrap();
        either.intersect_with(&doubts.objects);
        assert!(either.is_empty(), "seed {seed}: {kinds:?}");
    }
}
