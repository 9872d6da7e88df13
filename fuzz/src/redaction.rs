//! Redacting any recording.

use std::collections::HashMap;

use barrow_analyzer::{KindRole, Recording, Silent, SnapshotId, summary, verify, walk};
use barrow_rewrite::{Key, RedactOptions, audit};

use super::with_checksums;

/// Redacts the bytes as a recording, with every checksum made right first. What is whole stays so, with the same totals
/// and with the same names equal.
pub fn redact(bytes: &[u8]) {
    let Ok(recording) = Recording::from_bytes(with_checksums(bytes)) else { return };
    let found = verify(&recording, &Silent).expect("never cancelled");
    let is_whole = recording.damage().is_none() && found.problems.is_empty();
    let audited = audit(&recording, &Silent);
    assert!(!is_whole || audited.is_ok(), "verified, but {audited:?}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("redacted.barrow");
    let options = RedactOptions { key: Key::of_secret(b"a key for fuzzing"), ..RedactOptions::default() };
    match barrow_rewrite::redact(&recording, &path, &options, &Silent) {
        Ok(_) => {
            let redacted = Recording::open(&path).expect("a redacted recording");
            assert_eq!(redacted.damage(), None);
            if is_whole {
                assert_eq!(verify(&redacted, &Silent).expect("never cancelled").problems, []);
                assert_eq!(redacted.snapshot_count(), recording.snapshot_count());
                recording.snapshot_ids().for_each(|id| check_snapshot(&recording, &redacted, id));
            }
        }
        Err(error) => assert!(!is_whole, "verified, but {error}"),
    }
}

fn check_snapshot(recording: &Recording, redacted: &Recording, id: SnapshotId) {
    let totals = [recording, redacted].map(|recording| summary(recording, id).expect("it is whole").kinds);
    assert_eq!(totals[0], totals[1]);
    let [before, after] = [recording, redacted].map(|recording| names(recording, id));
    let (mut new_of, mut old_of) = (HashMap::new(), HashMap::new());
    for (old, new) in before.iter().zip(&after) {
        assert_eq!((old.0, old.1.len()), (new.0, new.1.len()), "{old:?} {new:?}");
        assert_eq!(new_of.entry(old).or_insert(new), &new, "{old:?}");
        assert_eq!(old_of.entry(new).or_insert(old), &old, "{new:?}");
    }
}

/// The names of all objects that have one, with whether they are texts: others are names of classes and functions.
fn names(recording: &Recording, id: SnapshotId) -> Vec<(bool, String)> {
    let tables = recording.tables().expect("it is whole");
    let mut names = Vec::new();
    walk(recording, id, &Silent, |object, _| {
        let is_text = tables.kind_role(tables.type_kind(object.type_id)) == KindRole::Object;
        names.extend(object.name.map(|name| (is_text, tables.string(name).to_owned())));
        Ok(())
    })
    .expect("it is whole");
    names
}
