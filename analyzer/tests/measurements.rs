//! Measurements: written by the writer, read by the analyzer, cut anywhere.

use barrow_analyzer::{Failure, MeasurementRow, MetricId, Recording, RunId, Silent, verify};
use barrow_writer::{
    Better, MetricDescription, Options, RunDescription, RunEnd, ValueDescription, VariantDescription, Writer,
};

/// A recording of twenty runs, written row by row.
fn recorded() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trial.barrow");
    let writer = Writer::create(&path, Options { created_ns: Some(1), ..Options::without_threads() }).unwrap();
    let wall = MetricDescription { name: "wall", unit: "ns", better: Better::Lower, exact: false };
    let wall = writer.metric(&wall).unwrap();
    let sort = VariantDescription {
        name: "sort",
        command: &["sort", "words"],
        directory: Some("/tmp"),
        attributes: &[("shell", "none")],
    };
    let variant = writer.variant(&sort).unwrap();
    for number in 0..20_u32 {
        let time_ns = i64::from(number) * 1_000;
        let described = RunDescription { variant, time_ns, seed: Some(u64::MAX - 3), warmup: number == 0 };
        let run = writer.begin_run(&described).unwrap();
        writer.run_knobs(run, None, &[("heap_offset", "64")]).unwrap();
        let value = f64::from(number) + 0.5;
        let value =
            ValueDescription { metric: wall, run, value, time_ns: Some(time_ns), ..ValueDescription::default() };
        writer.value(&value).unwrap();
        let failed = number == 7;
        let output = failed.then_some("no space left");
        let end = RunEnd { time_ns, exit_status: Some(failed.into()), failed, output, ..RunEnd::default() };
        writer.end_run(run, &end).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

fn rows(recording: &Recording) -> Vec<MeasurementRow> {
    let mut rows = Vec::new();
    let read = recording.measurement_rows(|row| {
        rows.push(row);
        Ok(())
    });
    read.unwrap();
    rows
}

#[test]
fn measurements_are_read_as_they_were_written() {
    let recording = Recording::from_bytes(recorded()).unwrap();
    assert!(recording.has_measurements() && recording.damage().is_none());
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    let rows = rows(&recording);
    assert_eq!(rows.len(), 2 + 20 * 4);
    let text = |id| recording.tables().unwrap().string(id).to_owned();
    let MeasurementRow::Variant { command, .. } = &rows[1] else { panic!("{:?}", rows[1]) };
    assert_eq!(command.iter().map(|&id| text(id)).collect::<Vec<_>>(), ["sort", "words"]);
    let expected = MeasurementRow::Value {
        metric: MetricId(0),
        run: RunId(3),
        iteration: None,
        seed: None,
        time_ns: Some(3_000),
        value: 3.5,
    };
    assert!(rows.contains(&expected));
    let failures: Vec<&Failure> = rows
        .iter()
        .filter_map(|row| if let MeasurementRow::End { failure, .. } = row { failure.as_ref() } else { None })
        .collect();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].output.map(text).as_deref(), Some("no space left"));
}

#[test]
fn cut_measurements_are_read_up_to_the_cut() {
    let whole = recorded();
    let all = rows(&Recording::from_bytes(whole.clone()).unwrap());
    let mut most = 0;
    for length in 64..whole.len() {
        let recording = Recording::from_bytes(whole[..length].to_vec()).unwrap();
        let found = rows(&recording);
        assert!(all.starts_with(&found) && found.len() >= most, "{length}");
        most = found.len();
        let damage = recording.damage().unwrap();
        let begun = found.iter().filter(|row| matches!(row, MeasurementRow::Begin { .. })).count();
        assert_eq!(damage.runs as usize, begun);
        if begun > 0 {
            assert!(damage.to_string().contains(&format!("what was recorded of {begun} runs is kept")), "{damage}");
        }
    }
    assert_eq!(most, all.len());
}

#[test]
fn changed_bytes_are_an_answer_or_an_error() {
    let whole = recorded();
    for at in (0..whole.len()).step_by(3) {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        let Ok(recording) = Recording::from_bytes(changed) else { continue };
        let _ = recording.measurement_rows(|_| Ok(()));
        verify(&recording, &Silent).unwrap();
    }
}
