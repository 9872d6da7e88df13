//! What a benchmark reports is in the recording of its trial.
#![cfg(target_os = "linux")]

mod programs;

use std::collections::BTreeSet;

use barrow_trial::Layout;
use barrow_trial_recorder::{
    Command, IgnoreFailure, Observer, OutputTo, Plan, Progress, Shell, Stop, VariantPlan, record,
};
use barrow_trials::{Better, Series, Trials, knob_columns};
use barrow_writer::{Options, Writer};
use programs::{ITERATIONS, example};

const RUNS: u64 = 3;

struct Silent;

impl Observer for Silent {
    fn run_ended(&self, _: &Progress<'_>) {}
    fn note(&self, text: &str) {
        assert!(!text.contains("no values"), "{text}");
    }
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A trial of the example.
fn trials(layout: &str) -> Trials {
    let plan = Plan {
        variants: vec![VariantPlan {
            name: "sum".to_owned(),
            command: Command::Words(vec![example().into()]),
            parameters: Vec::new(),
        }],
        shell: Shell::None,
        stop: Stop::Runs(RUNS),
        warmup: 1,
        layout: layout.parse().unwrap(),
        seed: 11,
        prepare: Vec::new(),
        conclude: Vec::new(),
        setup: None,
        cleanup: None,
        values: Vec::new(),
        files: Vec::new(),
        ignore_failure: IgnoreFailure::None,
        time_limit: None,
        count_heap: true,
        count_events: false,
        input: None,
        output: OutputTo::Null,
        show_output: false,
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    let create = || Ok(Writer::create(file.path(), Options::default())?);
    let outcome = record(&plan, create, &Silent).unwrap();
    assert_eq!((outcome.runs, outcome.failed), (RUNS, 0));
    Trials::open(file.path()).unwrap()
}

#[test]
fn iterations_have_their_values_seeds_and_knobs() {
    let trials = trials("random");
    let metric = trials.metric("sum").unwrap();
    let described = &trials.metrics()[metric.index()];
    assert_eq!((described.unit.as_str(), described.better), ("ns", Better::Lower));
    for (run, ran) in trials.runs().iter().enumerate() {
        let values: Vec<_> = trials.values(metric).iter().filter(|value| value.run.index() == run).collect();
        assert_eq!(values.len(), ITERATIONS);
        for (number, value) in (0..).zip(values) {
            let layout = Layout::of(ran.seed.unwrap(), number);
            assert_eq!((value.iteration, value.seed), (Some(number), Some(layout.seed)));
            assert!(value.value > 0.0);
            let knob = |name: &str| {
                let mut named = ran.knobs.iter().filter(|knob| knob.iteration == Some(number) && &*knob.name == name);
                named.next().unwrap_or_else(|| panic!("no knob {name}")).value.parse::<u64>().unwrap()
            };
            assert_eq!((knob("stack"), knob("heap_small")), (layout.stack, layout.heap_small));
            assert_eq!((knob("heap_large"), knob("heap_offset")), (layout.heap_large, layout.heap_offset));
            assert!(knob("input_address") < 4096 && knob("input_address").is_multiple_of(16));
        }
    }
    let series = Series::of(&trials, metric, trials.variant("sum").unwrap());
    assert!(series.has_layout_per_value());
    let columns = knob_columns(&trials, &series);
    let names: BTreeSet<&str> = columns.iter().map(|column| &*column.name).collect();
    for name in ["stack", "heap_small", "heap_large", "heap_offset", "input_address", "local_address"] {
        assert!(names.contains(name), "{names:?}");
    }
}

#[test]
fn a_fixed_layout_has_values_only() {
    let trials = trials("fixed");
    let metric = trials.metric("sum").unwrap();
    assert_eq!(trials.values(metric).len(), (RUNS as usize + 1) * ITERATIONS);
    assert!(trials.values(metric).iter().all(|value| value.seed.is_none() && value.iteration.is_some()));
    let own = trials.runs().iter().flat_map(|run| &run.knobs).filter(|knob| knob.iteration.is_some());
    assert!(own.map(|knob| &*knob.name).all(|name| name.ends_with("_address")));
}
