//! A recording of objects with names and allocation sites: `testdata/named.barrow` as the writer writes it, and as
//! the analyzer reads it. `BLESS=1` rewrites the file.

use std::path::Path;

use barrow_analyzer::{ObjectId, Recording, Silent, SnapshotId, objects, verify};
use barrow_writer::{
    Compression, KindRole, Label, Object, Options, Result, SiteDescription, SiteId, SnapshotInfo, StrengthId,
    TypeDescription, Writer,
};

const SNAPSHOT: SnapshotId = SnapshotId(0);

/// The type of each object, its size, name, site and what it refers to. Object 0 is the root.
type Row = (usize, u64, Option<&'static str>, Option<u32>, &'static [u64]);

const TYPES: [&str; 4] = ["Class", "String", "Array", "Order"];

/// A line with everything that must not reach a terminal as it is, and more than a table has room for.
const LONG: &str =
    "first line\nsecond line\t\u{1b}[31mred\u{1b}[0m and \"quotes\", and a good deal more than forty characters";

const OBJECTS: [Row; 12] = [
    (2, 96, None, Some(1), &[3, 4, 5, 6]),
    (0, 64, Some("Order"), None, &[]),
    (0, 64, Some("Object"), None, &[1]),
    (3, 40, None, Some(3), &[1, 7]),
    (3, 40, None, Some(3), &[1, 8]),
    (3, 40, None, Some(4), &[1, 9]),
    (3, 40, None, Some(99), &[1, 10, 11]),
    (1, 32, Some("apples"), Some(3), &[]),
    (1, 32, Some("apples"), Some(3), &[]),
    (1, 32, Some("pears"), Some(5), &[]),
    (1, 160, Some(LONG), Some(4), &[]),
    (1, 24, Some(""), None, &[]),
];

fn declare_sites(writer: &Writer) -> Result<()> {
    let site = |function, line, caller: Option<SiteId>| SiteDescription {
        function: Some(function),
        file: Some("shop.rb"),
        line: Some(line),
        caller,
        ..SiteDescription::default()
    };
    let main = writer.site(&site("main", 30, None))?;
    let load = writer.site(&site("Shop#load", 12, Some(main)))?;
    writer.site(&SiteDescription { column: Some(9), ..site("Order.parse", 4, Some(load)) })?;
    let attributes = &[("unit", "Order.parse"), ("tier", "2")];
    writer.site(&SiteDescription { attributes, ..site("Order.parse", 5, Some(load)) })?;
    writer.site(&SiteDescription { file: Some("<internal:kernel>"), ..SiteDescription::default() })?;
    Ok(())
}

fn record(path: &Path) -> Result<()> {
    let options = Options {
        compression: Compression::None,
        threads: 0,
        uuid: Some(*b"names and sites!"),
        created_ns: Some(0),
        ..Options::default()
    };
    let writer = Writer::create(path, options)?;
    let kind = writer.kind("object", KindRole::Object)?;
    let mut types = Vec::new();
    for name in TYPES {
        types.push(writer.declare_type(&TypeDescription::new(kind, name))?);
    }
    declare_sites(&writer)?;
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = snapshot.shard();
    shard.root(writer.string("stack")?, None, 0)?;
    for (id, (type_number, size, name, site, targets)) in (0..).zip(OBJECTS) {
        let name = name.map(|name| writer.string(name)).transpose()?;
        let object = Object { name, site: site.map(SiteId), ..Object::new(types[type_number], size) };
        shard.object(id, &object)?;
        for (index, &target) in (0..).zip(targets) {
            shard.reference(Label::Index(index), StrengthId::STRONG, target)?;
        }
    }
    shard.finish()?;
    snapshot.commit()?;
    writer.finish().map(drop)
}

#[test]
fn the_golden_file_is_what_the_writer_writes() {
    barrow_testdata::assert_golden("named.barrow", |path| record(path).unwrap());
}

#[test]
fn names_and_sites_are_read_back() {
    let recording = Recording::open(&barrow_testdata::path("named.barrow")).unwrap();
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    let tables = recording.tables().unwrap();
    let ids: Vec<ObjectId> = (0..OBJECTS.len() as u32).map(ObjectId).collect();
    let found = objects(&recording, SNAPSHOT, &ids).unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.name.map(|name| tables.string(name)), one.site)).collect();
    let expected: Vec<_> = OBJECTS.iter().map(|&(_, _, name, site, _)| (name, site.map(SiteId))).collect();
    assert_eq!(found, expected);

    assert_eq!(recording.site_count().unwrap(), 5);
    let title = |id| recording.site(SiteId(id)).unwrap().and_then(|site| site.title());
    let titles = (0..7).map(title);
    let expected = [
        None,
        Some("main (shop.rb:30)"),
        Some("Shop#load (shop.rb:12)"),
        Some("Order.parse (shop.rb:4)"),
        Some("Order.parse (shop.rb:5)"),
        Some("<internal:kernel>"),
        None,
    ];
    assert_eq!(titles.collect::<Vec<_>>(), expected.map(|title| title.map(str::to_owned)));
    let parse = recording.site(SiteId(4)).unwrap().unwrap();
    assert_eq!(parse.attributes, [("unit", "Order.parse"), ("tier", "2")]);
    assert_eq!(parse.caller, Some(SiteId(2)));
    assert_eq!(recording.site(SiteId(3)).unwrap().unwrap().column, Some(9));
}
