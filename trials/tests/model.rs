//! Trials as they are read from a recording.

use barrow_statistics::KnobValues;
use barrow_trials::{Series, Trials, TrialsError, knob_columns};
use barrow_writer::{MetricDescription, Options, RunDescription, RunEnd, ValueDescription, VariantDescription, Writer};

/// Two variants of ten runs; the first run of each is a warm-up and the last one fails. With several iterations, each
/// has a layout of its own.
fn recorded(iterations: u64) -> Trials {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trial.barrow");
    let writer = Writer::create(&path, Options::default()).unwrap();
    let wall = writer.metric(&MetricDescription { name: "wall", unit: "ns", ..MetricDescription::default() }).unwrap();
    let other = writer.metric(&MetricDescription { name: "wall", ..MetricDescription::default() }).unwrap();
    assert_ne!(wall, other);
    for name in ["sort", "sort -u", "sort"] {
        let variant = writer.variant(&VariantDescription { name, ..VariantDescription::default() }).unwrap();
        for number in 0..10_u64 {
            let begun = RunDescription { variant, time_ns: 5, seed: Some(number), warmup: number == 0 };
            let run = writer.begin_run(&begun).unwrap();
            writer.run_knobs(run, None, &[("env", &(number * 16).to_string()), ("aslr", "off")]).unwrap();
            for iteration in 0..iterations {
                let seed = (iterations > 1).then_some(iteration);
                let value = (number * 100 + iteration) as f64;
                let value =
                    ValueDescription { metric: wall, run, iteration: Some(iteration), seed, time_ns: None, value };
                if seed.is_some() {
                    writer
                        .run_knobs(run, Some(iteration), &[("heap", if iteration == 0 { "low" } else { "high" })])
                        .unwrap();
                }
                writer.value(&value).unwrap();
            }
            writer.end_run(run, &RunEnd { failed: number == 9, ..RunEnd::default() }).unwrap();
        }
    }
    writer.finish().unwrap();
    Trials::open(&path).unwrap()
}

#[test]
fn warm_ups_and_failed_runs_do_not_count() {
    let trials = recorded(1);
    let wall = trials.metric("wall").unwrap();
    assert_eq!((trials.runs().len(), trials.values(wall).len()), (30, 30));
    let series = Series::of_metric(&trials, wall);
    assert_eq!(series.len(), 3);
    for series in &series {
        let values: Vec<f64> = series.values().map(|value| value.value).collect();
        assert_eq!(values, [100., 200., 300., 400., 500., 600., 700., 800.]);
        assert_eq!(series.places(), Series::of(&trials, wall, series.variant()).places());
        assert_eq!((series.run_count(), series.sample().group_count()), (8, 8));
    }
    assert!(Series::of_metric(&trials, trials.metric("wall #2").unwrap()).is_empty());
}

#[test]
fn names_are_unique_and_may_be_shortened() {
    let trials = recorded(1);
    let names: Vec<&str> = trials.variants().iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["sort", "sort -u", "sort #2"]);
    assert_eq!(trials.variant("sort").unwrap().0, 0);
    assert_eq!(trials.variant("sort #").unwrap().0, 2);
    assert!(matches!(trials.variant("so"), Err(TrialsError::SeveralVariants { .. })));
    assert_eq!(
        trials.variant("x").unwrap_err().to_string(),
        "there is no variant `x`; the recording has sort, sort -u, sort #2"
    );
    assert_eq!(
        trials.metric("time").unwrap_err().to_string(),
        "there is no metric `time`; the recording has wall, wall #2"
    );
    assert_eq!(trials.metric("WALL").unwrap().0, 0);
    assert!(trials.run(29).is_ok() && matches!(trials.run(30), Err(TrialsError::NoRun { run: 30, count: 30 })));
}

#[test]
fn values_with_a_layout_of_their_own_are_groups() {
    let trials = recorded(3);
    let series = &Series::of_metric(&trials, trials.metric("wall").unwrap())[0];
    assert!(series.has_layout_per_value());
    assert_eq!((series.sample().group_count(), series.sample_by_run().group_count()), (24, 8));
    let columns = knob_columns(&trials, series);
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["env", "heap"]);
    let KnobValues::Names(heap) = &columns[1].values else { panic!("{columns:?}") };
    assert_eq!(heap[..6], [1, 0, 0, 1, 0, 0]);
    let KnobValues::Numbers(env) = &columns[0].values else { panic!("{columns:?}") };
    assert_eq!(*env, [16, 32, 48, 64, 80, 96, 112, 128], "a knob of the run counts once a run");
    assert_eq!(columns.iter().map(|column| column.is_of_run).collect::<Vec<_>>(), [true, false]);
}
