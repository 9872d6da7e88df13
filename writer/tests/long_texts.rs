//! Texts of any length are recorded, shortened to what a recording can hold.

use barrow_analyzer::{Recording, Silent, SnapshotId, Threads, verify};
use barrow_testdata::Shelf;
use barrow_writer::{
    KindRole, MAX_TEXT_BYTES, Object, Options, SiteDescription, SnapshotInfo, StrengthClass, ThreadDescription,
    TypeDescription, Writer,
};

/// A text of 50 MB that begins with `begin`, and does not compress to next to nothing.
fn long(begin: &str) -> String {
    let mut state = begin.len() as u64 + 1;
    let letters = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + (state >> 60) as u8)
    });
    begin.chars().chain(letters.take(2_000_000)).collect::<String>() + &"ä".repeat(24_000_000)
}

fn assert_shortened(text: &str, begin: &str) {
    assert!(text.len() <= MAX_TEXT_BYTES && text.len() > MAX_TEXT_BYTES - 100, "{} bytes", text.len());
    assert!(text.starts_with(begin) && text.ends_with(" bytes left out)"), "{begin}");
}

#[test]
fn every_text_may_have_any_length() {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind(&long("kind"), KindRole::Object).unwrap();
    writer.strength(&long("strength"), StrengthClass::Weak).unwrap();
    // Together longer than a chunk of a table may be.
    let keys: Vec<String> = (0..6).map(|number| long(&format!("key {number}"))).collect();
    let attributes: Vec<(&str, &str)> = keys.iter().map(|key| (&**key, &**key)).collect();
    let (name, file) = (long("name"), long("file"));
    let (layout, file) = (Some(&*name), Some(&*file));
    let type_id = writer
        .declare_type(&TypeDescription { layout, file, attributes: &attributes, ..TypeDescription::new(kind, &name) })
        .unwrap();
    let site = SiteDescription { function: layout, file, attributes: &attributes, ..SiteDescription::default() };
    let site = writer.site(&site).unwrap();
    writer.fact(&long("fact"), &long("value")).unwrap();
    let info = SnapshotInfo {
        label: Some(long("label")),
        key_values: vec![(long("snapshot's key"), long("snapshot's value"))],
        ..SnapshotInfo::default()
    };
    let snapshot = writer.begin_snapshot(info).unwrap();
    let (thread, state) = (long("thread"), long("state"));
    let thread = ThreadDescription { name: Some(&thread), state: Some(&state), ..ThreadDescription::new(1) };
    snapshot.thread(&thread).unwrap();
    let mut shard = snapshot.shard();
    let name = Some(writer.string(&long("object")).unwrap());
    shard.object(0, &Object { site: Some(site), name, ..Object::new(type_id, 8) }).unwrap();
    shard.root(writer.string(&long("category")).unwrap(), name, 0).unwrap();
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    let shortened = writer.shortened();
    assert_eq!(shortened.texts, 19);
    assert!(shortened.bytes > 19 * 48_000_000, "{} bytes", shortened.bytes);
    writer.finish().unwrap();

    let recording = Recording::from_bytes(shelf.bytes()).unwrap();
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    let tables = recording.tables().unwrap();
    assert_shortened(tables.type_name(type_id), "name");
    let threads = Threads::read(&recording, SnapshotId(0)).unwrap();
    assert_shortened(tables.string(threads.rows()[0].name.unwrap()), "thread");
}

#[test]
fn equal_long_texts_have_one_number() {
    let writer = Writer::to_stream(Box::new(Shelf::default()), Options::default()).unwrap();
    let number = writer.string(&long("one")).unwrap();
    assert_eq!(writer.string(&long("one")).unwrap(), number);
    assert_ne!(writer.string(&long("another")).unwrap(), number);
    assert_eq!(writer.shortened().texts, 2);
}
