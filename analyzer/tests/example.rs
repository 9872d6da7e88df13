//! The example of this crate runs, and finds what the recording was made to hold.

use barrow_writer::{KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Writer};

#[path = "../examples/why.rs"]
#[allow(dead_code, reason = "`main` reads the command line, and calls what the test calls")]
mod why;

/// Roots are `Small` and `Registry`. The registry refers to a session by name, and the session to a buffer at index 7.
#[test]
fn the_example_says_why_an_object_is_alive() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("registry.barrow");
    let writer = Writer::create(&file, Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let [small, registry, session, buffer] = ["Small", "Registry", "Session", "Buffer"]
        .map(|name| writer.declare_type(&TypeDescription::new(kind, name)).unwrap());
    let [globals, current] = ["globals", "current"].map(|text| writer.string(text).unwrap());
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    shard.root(globals, None, 0).unwrap();
    shard.root(globals, None, 1).unwrap();
    shard.object(0, &Object::new(small, 32)).unwrap();
    shard.object(1, &Object::new(registry, 16)).unwrap();
    shard.reference(Label::Name(current), StrengthId::STRONG, 2).unwrap();
    shard.object(2, &Object::new(session, 16)).unwrap();
    shard.reference(Label::Index(7), StrengthId::STRONG, 3).unwrap();
    shard.object(3, &Object::new(buffer, 4096)).unwrap();
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();

    let lines = why::why(&file, "type = \"Session\"").unwrap();
    assert_eq!(lines, "@2 retains 4112 bytes\nglobals → Registry @1\ncurrent → Session @2\n");
    let lines = why::why(&file, "size > 1K").unwrap();
    assert_eq!(lines, "@3 retains 4096 bytes\nglobals → Registry @1\ncurrent → Session @2\n[7] → Buffer @3\n");
    assert!(why::why(&file, "type = \"Small\" and size > 1K").is_err());
}
