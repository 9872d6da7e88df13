//! Large tables, through C: what was committed can be read, and what could not be read is refused with a code.

mod library;

use barrow_analyzer::{Recording, Silent, SnapshotId, StringId, summary, verify};
use library::{Build, build, command, crate_folder, run};

#[test]
fn large_tables_are_read_and_larger_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program = build(Build::Static, &crate_folder().join("tests/tables.c"), folder.path(), "tables");
    let (large, too_large) = (folder.path().join("large.barrow"), folder.path().join("too_large.barrow"));
    let types = run(command(&[], &program).arg(&large).arg(&too_large));
    let open = |path| {
        let recording = Recording::open(path).unwrap();
        assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
        assert_eq!(summary(&recording, SnapshotId(0)).unwrap().totals.objects, 0);
        recording
    };
    let recording = open(&large);
    let tables = recording.tables().unwrap();
    assert_eq!(tables.type_count(), 400_000);
    assert!(tables.string(StringId(80_000)).ends_with("00079999"));
    assert_eq!(open(&too_large).tables().unwrap().type_count().to_string(), types);
}
