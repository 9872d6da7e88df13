//! Objects of a whole dump and of a damaged one, side by side.

use std::collections::{HashMap, HashSet};

use barrow_analyzer::{ObjectDetails, Silent, walk};

use super::recorded;

/// Imports both: every object of the damaged dump is in the whole one, with its size, and is there once. Its type is the
/// same, or one that no object of the whole dump has: names may be lost.
///
/// # Panics
/// If that is not so.
pub(super) fn assert_part(whole: &[u8], damaged: &[u8], identity: fn(&ObjectDetails) -> Option<u64>, input: &[u8]) {
    let whole = recorded(whole).expect("a whole dump");
    let mut held = HashMap::new();
    let mut names = HashSet::new();
    let types = whole.tables().expect("tables");
    for snapshot in whole.snapshot_ids() {
        let visit = |object: &ObjectDetails, _: &[_]| {
            let name = types.type_name(object.type_id).to_owned();
            names.insert(name.clone());
            held.insert(identity(object), (object.shallow_bytes, name));
            Ok(())
        };
        walk(&whole, snapshot, &Silent, visit).expect("a whole recording");
    }
    let Some(recording) = recorded(damaged) else { return };
    let types = recording.tables().expect("tables");
    for snapshot in recording.snapshot_ids() {
        let mut seen = HashSet::new();
        let visit = |object: &ObjectDetails, _: &[_]| {
            let (identity, bytes) = (identity(object), object.shallow_bytes);
            let name = types.type_name(object.type_id);
            let (held_bytes, held_name) =
                held.get(&identity).unwrap_or_else(|| panic!("{name} {identity:x?} was not there: {input:02x?}"));
            assert_eq!(bytes, *held_bytes, "{name} {identity:x?}: {input:02x?}");
            let is_right = name == held_name || !names.contains(name);
            assert!(is_right, "{name} {identity:x?} was {held_name}: {input:02x?}");
            assert!(seen.insert(identity), "{name} {identity:x?} twice: {input:02x?}");
            Ok(())
        };
        walk(&recording, snapshot, &Silent, visit).expect("a whole recording");
    }
}
