//! Samples have the numbers that the tools computed themselves.

use serde_json::Value;

use crate::recorded::{Recorded, assert_close, min_mean_max, record_sample, sample};

fn json(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(sample(name)).expect("a sample")).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn counts(recorded: &Recorded) -> (u64, u64) {
    assert_eq!(recorded.lost(), None);
    (recorded.imported.runs, recorded.imported.values)
}

#[test]
fn hyperfine_has_its_own_means() {
    let recorded = record_sample("hyperfine-1.15.json");
    assert_eq!(counts(&recorded), (32, 32));
    let results = json("hyperfine-1.15.json");
    let wall = recorded.values("wall");
    for (result, times) in results["results"].as_array().expect("results").iter().zip(wall.chunks(8)) {
        let expected = ["min", "mean", "max"].map(|key| number(&result[key]) * 1e9);
        assert_close(&min_mean_max(times), &expected);
    }
    let text = recorded.text();
    assert!(
        text.contains("variant 0: seq 10000 parameter n=10000\nvariant 1: grep -c x /dev/null parameter n=10000\n"),
        "{text}"
    );
    assert!(text.contains("\nend 0 status 0\n") && text.contains("\nend 8 status 1 failed\n"), "{text}");
    assert_eq!(recorded.imported.notes, ["hyperfine writes `user` and `system` as means only; they were left out"]);
}

#[test]
fn criterion_has_its_own_means() {
    for (n, values) in [("100", 20), ("1000", 20)] {
        let folder = format!("criterion/sum/fold/{n}/new");
        let recorded = record_sample(&format!("{folder}/sample.json"));
        assert_eq!(counts(&recorded), (1, values));
        let mean = number(&json(&format!("{folder}/estimates.json"))["mean"]["point_estimate"]);
        let [_, found, _] = min_mean_max(&recorded.values(&format!("sum/fold/{n}")));
        assert_close(&[found], &[mean]);
        let throughput = format!("{n} elements per iteration");
        assert_eq!(recorded.fact(&format!("throughput of sum/fold/{n}")), Some(throughput));
    }
}

#[test]
fn cargo_criterion_has_its_own_means() {
    let recorded = record_sample("cargo-criterion-1.1.jsonl");
    assert_eq!(counts(&recorded), (2, 40));
    let text = std::fs::read_to_string(sample("cargo-criterion-1.1.jsonl")).expect("a sample");
    for line in text.lines().take(2) {
        let message: Value = serde_json::from_str(line).expect("JSON");
        let id = message["id"].as_str().expect("a name");
        let [_, found, _] = min_mean_max(&recorded.values(id));
        assert_close(&[found], &[number(&message["mean"]["estimate"])]);
    }
    let text = recorded.text();
    assert!(
        text.starts_with(
            "metric 0: sum/fold/100 [ns] Lower\nmetric 1: sum/fold/1000 [ns] Lower\nvariant 0: criterion\n"
        ),
        "{text}"
    );
}

#[test]
fn google_benchmark_has_its_own_aggregates() {
    let recorded = record_sample("google-benchmark-1.7.json");
    assert_eq!(counts(&recorded), (1, 15));
    let results = json("google-benchmark-1.7.json");
    let benchmarks = results["benchmarks"].as_array().expect("benchmarks");
    let mean = benchmarks.iter().find(|one| one["name"] == "BM_sum/1000_mean").expect("a mean");
    for (metric, key, factor) in [
        ("BM_sum/1000", "real_time", 1000.0),
        ("BM_sum/1000 cpu", "cpu_time", 1000.0),
        ("BM_sum/1000 bytes_per_second", "bytes_per_second", 1.0),
    ] {
        let [_, found, _] = min_mean_max(&recorded.values(metric));
        assert_close(&[found], &[number(&mean[key]) * factor]);
    }
    let text = recorded.text();
    assert!(text.contains("metric 2: BM_sum/1000 bytes_per_second [bytes/s] Higher\nvariant 0: sums\n"), "{text}");
    assert!(text.ends_with("0.4 metric 2 = 20957763466.01217\n"), "{text}");
    assert_eq!(recorded.fact("processors").as_deref(), Some("2"));
    let note = "repetitions that failed and have no values: 5; the first: `BM_fails`: no such file";
    assert_eq!(recorded.imported.notes, [note]);
}

#[test]
fn pytest_benchmark_has_its_own_statistics() {
    let recorded = record_sample("pytest-benchmark-5.3.json");
    assert_eq!(counts(&recorded), (1, 24));
    for benchmark in json("pytest-benchmark-5.3.json")["benchmarks"].as_array().expect("benchmarks") {
        let expected = ["min", "mean", "max"].map(|key| number(&benchmark["stats"][key]) * 1e9);
        let name = benchmark["fullname"].as_str().expect("a name");
        assert_close(&min_mean_max(&recorded.values(name)), &expected);
    }
    assert_eq!(recorded.fact("version of Python").as_deref(), Some("3.11.7"));
}

/// The expected numbers are those of pyperf itself: `min`, `mean()` and `max` of `get_values()`.
#[test]
fn pyperf_has_its_own_statistics() {
    let recorded = record_sample("pyperf-2.11.json");
    assert_eq!(counts(&recorded), (6, 30));
    let known = [
        ("sum 100", [4.370964813427136e-07, 5.073821595554436e-07, 6.040768547044273e-07]),
        ("join", [1.5405282020528044e-08, 1.9044331421247975e-08, 2.2225267886505362e-08]),
    ];
    for (name, expected) in known {
        assert_close(&min_mean_max(&recorded.values(name)), &expected.map(|seconds| seconds * 1e9));
    }
    assert_eq!(recorded.values("sum 100 peak_resident").len(), 3);
    let text = recorded.text();
    let head = "metric 0: sum 100 [ns] Lower\nmetric 1: sum 100 peak_resident [bytes] Lower\n";
    assert!(text.starts_with(head) && text.contains("\n0 metric 1 = 19415040\n"), "{text}");
    assert_eq!(recorded.fact("version of Python").as_deref(), Some("3.11.7 (64-bit)"));
    assert_eq!(recorded.imported.notes, [""; 0]);
}

/// The means are those that awk computes of the columns.
#[test]
fn go_has_the_values_that_it_prints() {
    let recorded = record_sample("go-1.19.txt");
    assert_eq!(counts(&recorded), (2, 84));
    for (metric, mean) in [
        ("BenchmarkSum/n=1000-2", 511.225),
        ("BenchmarkJoin-2", 131.545),
        ("BenchmarkJoin-2 allocated", 32.0),
        ("BenchmarkJoin-2 blocks", 1.0),
        ("BenchmarkSum/n=1000-2 items/s", 2e6),
    ] {
        let values = recorded.values(metric);
        assert_eq!(values.len(), 4, "{metric}");
        assert_close(&min_mean_max(&values)[1..2], &[mean]);
    }
    let text = recorded.text();
    assert!(text.contains("\nvariant 0: example.com/sums\nvariant 1: example.com/sums/other\n"), "{text}");
    assert!(text.contains("metric 1: BenchmarkSum/n=100-2 MB/s [MB/s] Higher\n"), "{text}");
    assert!(text.contains("metric 2: BenchmarkSum/n=100-2 items/op [items/op] Unknown\n"), "{text}");
    assert_eq!(recorded.fact("architecture").as_deref(), Some("amd64"));
    let notes = ["benchmarks that failed and have no values: 1; the first: `BenchmarkFails`"];
    assert_eq!(recorded.imported.notes, notes);
}

/// A score is the mean that JMH computed.
#[test]
fn jmh_has_its_own_scores() {
    let recorded = record_sample("jmh-1.38.json");
    assert_eq!(recorded.lost(), None);
    let names = [
        ("cards.Sums.fold(n=100)", 1e3),
        ("cards.Sums.fold(n=1000)", 1e3),
        ("cards.Sums.copy(n=100) thrpt", 1e3),
        ("cards.Sums.once(n=100) ss", 1e6),
        ("cards.Sums.fold_sampled(n=100) sample", 1.0),
    ];
    let benchmarks = json("jmh-1.38.json");
    for ((name, factor), benchmark) in names.into_iter().zip(benchmarks.as_array().expect("benchmarks")) {
        let [_, mean, _] = min_mean_max(&recorded.values(name));
        assert_close(&[mean], &[number(&benchmark["primaryMetric"]["score"]) * factor]);
        let Some(secondary) = benchmark["secondaryMetrics"].get("gc.alloc.rate.norm") else { continue };
        let [_, mean, _] = min_mean_max(&recorded.values(&format!("{name} allocated")));
        assert_close(&[mean], &[number(&secondary["score"])]);
    }
    let text = recorded.text();
    assert!(text.contains(": cards.Sums.copy(n=100) thrpt [ops/s] Higher\n"), "{text}");
    assert!(text.contains(": cards.Sums.copy(n=100) thrpt gc.time [ms] Unknown\n"), "{text}");
    assert!(!text.contains("p0.50"), "{text}");
    // Forks are runs, of which each benchmark has two.
    assert_eq!(recorded.imported.runs, 10);
    assert_eq!(recorded.fact("version of JMH").as_deref(), Some("1.38-SNAPSHOT"));
}

#[test]
fn benchmark_dotnet_has_its_own_statistics() {
    let full = record_sample("benchmark-dotnet-full.json");
    assert_eq!(counts(&full), (3, 14));
    let brief = record_sample("benchmark-dotnet-brief.json");
    assert_eq!(counts(&brief), (2, 14));
    let name = "Cards.Sums.Fold(N: 100)";
    let statistics = json("benchmark-dotnet-full.json");
    for recorded in [&full, &brief] {
        let values = recorded.values(name);
        for (benchmark, values) in [(0, &values[..8]), (1, &values[8..])] {
            let statistics = &statistics["Benchmarks"][benchmark]["Statistics"];
            let expected = ["Min", "Mean", "Max"].map(|key| number(&statistics[key]));
            assert_close(&min_mean_max(values), &expected);
        }
        assert_eq!(recorded.values(&format!("{name} allocated")), [0.0, 24.0]);
    }
    let text = full.text();
    assert!(text.contains("metric 1: Cards.Sums.Fold(N: 100) allocated [bytes] Lower, exact\nvariant 0: DefaultJob\nvariant 1: Job-WQZLYC(Runtime=.NET 6.0)\n"), "{text}");
    assert!(text.contains("run 1 of 0\n1.0 metric 0 = "), "{text}");
}

#[test]
fn massif_has_the_peak_that_ms_print_shows() {
    let recorded = record_sample("heap.massif");
    let expected = "\
metric 0: peak_heap [bytes] Lower, exact
variant 0: ./heap arg
run 0 of 0
0 metric 0 = 20001
";
    assert_eq!(recorded.text(), expected);
    assert_eq!(recorded.imported.notes, [""; 0]);
}

#[test]
fn dhat_has_the_totals_that_it_prints() {
    for (name, totals) in
        [("heap.dhat.json", [26005.0, 25.0, 20001.0, 8000.0]), ("dhat-rust.json", [26485.0, 26.0, 20481.0, 16480.0])]
    {
        let recorded = record_sample(name);
        assert_eq!(counts(&recorded), (1, 4));
        let found = ["allocated", "blocks", "peak_heap", "live_at_end"].map(|metric| recorded.values(metric)[0]);
        assert_eq!(found, totals);
    }
}

#[test]
fn csv_keeps_runs_iterations_and_seeds() {
    let recorded = record_sample("values.csv");
    let expected = "\
metric 0: wall [ns] Lower
metric 1: peak_heap [bytes] Lower, exact
metric 2: frame [ns] Lower
variant 0: sort a
variant 1: sort b
run 0 of 0 seed 17
0 metric 0 = 1503000
0 metric 1 = 81920
0.0 metric 2 = 16.25 seed 101
0.1 metric 2 = 18.5 seed 102
run 1 of 0 seed 18
1 metric 0 = 1497000
1 metric 1 = 81920
1.0 metric 2 = 16.75 seed 103
run 2 of 1 seed 17
2 metric 0 = 1210000
run 3 of 1 seed 18
3 metric 0 = 1214000
";
    assert_eq!(recorded.text(), expected);
}
