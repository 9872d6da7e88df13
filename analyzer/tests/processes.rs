//! The log of a process tree: written by the writer, read by the analyzer, cut anywhere.

use barrow_analyzer::{ProcessRow, Recording, Silent, StringId, Usage, verify};
use barrow_writer::{Options, ProcessDescription, ProcessEnd, ProgramDescription, SnapshotInfo, Usage as Used, Writer};

/// A recording of a small build, written row by row.
fn recorded() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("build.barrow");
    let writer = Writer::create(&path, Options { created_ns: Some(1), ..Options::without_threads() }).unwrap();
    let make =
        ProgramDescription { executable: Some("/usr/bin/make"), directory: Some("/src"), arguments: &["make", "-j2"] };
    let root = ProcessDescription { time_ns: 0, pid: 100, program: make, ..ProcessDescription::default() };
    let root = writer.begin_process(&root).unwrap();
    for number in 0..20 {
        let time = 1_000 * number;
        let forked =
            ProcessDescription { time_ns: time, pid: 101, parent: Some(root), ..ProcessDescription::default() };
        let child = writer.begin_process(&forked).unwrap();
        writer.flush().unwrap();
        let file = format!("part{number}.c");
        let cc = ProgramDescription {
            executable: Some("/usr/bin/cc"),
            directory: Some("/src"),
            arguments: &["cc", "-c", &file],
        };
        let used = Used { user_ns: Some(10), peak_bytes: Some(1 << 20), ..Used::default() };
        writer.process_image(child, time + 1, &cc, used).unwrap();
        writer.process_memory(time + 2, &[(root, 4096), (child, 1 << 22)]).unwrap();
        writer.process_attributes(child, &[("label", &file)]).unwrap();
        let used = Used { user_ns: Some(500), system_ns: Some(20), peak_bytes: Some(1 << 22), ..Used::default() };
        writer.end_process(child, time + 600, &ProcessEnd { exit_status: Some(0), signal: None, used }).unwrap();
        writer.flush().unwrap();
    }
    writer.process_heap(root, [7; 16]).unwrap();
    writer.begin_snapshot(SnapshotInfo::default()).unwrap().commit().unwrap();
    writer.end_process(root, 30_000, &ProcessEnd { signal: Some(9), ..ProcessEnd::default() }).unwrap();
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

fn rows(recording: &Recording) -> Vec<ProcessRow> {
    let mut rows = Vec::new();
    let read = recording.process_rows(|row| {
        rows.push(row);
        Ok(())
    });
    read.unwrap();
    rows
}

#[test]
fn a_tree_is_read_as_it_was_written() {
    let recording = Recording::from_bytes(recorded()).unwrap();
    assert!(recording.has_processes() && recording.damage().is_none());
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    let rows = rows(&recording);
    assert_eq!(rows.len(), 1 + 20 * 5 + 2);
    let text = |id: StringId| recording.tables().unwrap().string(id);
    let ProcessRow::Begin { pid: 100, parent: None, program, .. } = &rows[0] else { panic!("{:?}", rows[0]) };
    assert_eq!(program.arguments.iter().map(|&id| text(id)).collect::<Vec<_>>(), ["make", "-j2"]);
    let ProcessRow::Begin { parent: Some(parent), program, .. } = &rows[6] else { panic!("{:?}", rows[6]) };
    assert!(parent.0 == 0 && program.is_empty());
    let ProcessRow::Image { program, used, time_ns: 1_001, .. } = &rows[7] else { panic!("{:?}", rows[7]) };
    assert_eq!(program.executable.map(text), Some("/usr/bin/cc"));
    assert_eq!(*used, Usage { user_ns: Some(10), peak_bytes: Some(1 << 20), ..Usage::default() });
    let ProcessRow::End { exit_status: None, signal: Some(9), .. } = rows.last().unwrap() else { panic!() };
    assert!(rows.contains(&ProcessRow::Heap { process: barrow_analyzer::ProcessId(0), uuid: [7; 16] }));
}

#[test]
fn a_cut_tree_is_read_up_to_the_cut() {
    let whole = recorded();
    let all = rows(&Recording::from_bytes(whole.clone()).unwrap());
    let mut most = 0;
    for length in 64..whole.len() {
        let recording = Recording::from_bytes(whole[..length].to_vec()).unwrap();
        let found = rows(&recording);
        assert!(all.starts_with(&found) && found.len() >= most, "{length}");
        most = found.len();
        let damage = recording.damage().unwrap();
        let begun = found.iter().filter(|row| matches!(row, ProcessRow::Begin { .. })).count();
        assert_eq!(damage.processes as usize, begun);
        assert_eq!(recording.has_processes(), begun > 0);
        if begun > 0 && recording.snapshot_count() == 0 {
            assert!(
                damage.to_string().contains(&format!("what was recorded of {begun} processes is kept")),
                "{damage}"
            );
        }
    }
    assert_eq!(most, all.len());
}

#[test]
fn an_error_of_the_caller_ends_the_reading() {
    let recording = Recording::from_bytes(recorded()).unwrap();
    let mut seen = 0;
    let stopped = recording.process_rows(|_| {
        seen += 1;
        if seen == 3 { Err(barrow_analyzer::AnalyzerError::Cancelled) } else { Ok(()) }
    });
    assert!(matches!(stopped, Err(barrow_analyzer::AnalyzerError::Cancelled)) && seen == 3);
}
