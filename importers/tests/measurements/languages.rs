//! Forms of pyperf's, Go's and JMH's values that the samples do not have.

use crate::recorded::record;

fn error(text: &str) -> String {
    record(text.as_bytes()).map(drop).expect_err("no values").to_string()
}

/// Metadata of `pyperf command` and of `--track-memory`; a run overrides what holds for all.
#[test]
fn pyperf_has_units_and_the_memory_of_commands() {
    let file = r#"{"benchmarks":[
        {"runs":[{"metadata":{"calibrate_loops":4},"warmups":[[1,0.5]]},
                 {"metadata":{"command_max_rss":100,"mem_max_rss":7},"values":[0.5,NaN]},{"values":[]}]},
        {"metadata":{"name":"m","unit":"byte"},"runs":[{"values":[4096]}]},
        {"metadata":{"name":"n","unit":"integer"},"runs":[{"values":[3]}]}],
        "metadata":{"command":"true","name":"command","unit":"second"},"version":"1.0"}"#;
    let recorded = record(file.as_bytes()).expect("values");
    let expected = "\
metric 0: command [ns] Lower
metric 1: command peak_resident [bytes] Lower
metric 2: m [bytes] Lower
metric 3: n [] Unknown
variant 0: pyperf
run 0 of 0
0.0 metric 0 = 500000000
0 metric 1 = 100
run 1 of 0
1.0 metric 2 = 4096
run 2 of 0
2.0 metric 3 = 3
";
    assert_eq!(recorded.text(), expected);
    let lost = "1 value is no finite number and was left out: value 1 of `command`; 4 values were imported";
    assert_eq!(recorded.lost().as_deref(), Some(lost));
    let calibrated = r#"{"benchmarks":[{"runs":[{"warmups":[[1,0.5]]}]}]}"#;
    assert_eq!(error(calibrated), "no value: runs that only calibrated, without values: 1");
}

/// Lines that `go test -v -cpu 1,2` prints, outputs one after the other, and units with a direction.
#[test]
fn go_has_a_run_for_each_process() {
    let file = "\
=== RUN   TestSum
--- PASS: TestSum (0.00s)
goos: linux
goarch: amd64
pkg: a
BenchmarkSum
BenchmarkSum 200 28.5 ns/op
BenchmarkSum-2 200 33.5 ns/op 7 p99-ns/op
BenchmarkSum-2 200 34.5 ns/op 8 p99-ns/op
    --- SKIP: BenchmarkGpu
PASS
ok  \ta\t0.025s
Unit p99-ns/op better=lower
pkg: a
BenchmarkSum 200 29.5 ns/op
";
    let expected = "\
metric 0: BenchmarkSum [ns] Lower
metric 1: BenchmarkSum-2 [ns] Lower
metric 2: BenchmarkSum-2 p99-ns/op [p99-ns/op] Lower
variant 0: a
run 0 of 0
0.0 metric 0 = 28.5
0.0 metric 1 = 33.5
0.0 metric 2 = 7
0.1 metric 1 = 34.5
0.1 metric 2 = 8
run 1 of 0
1.0 metric 0 = 29.5
";
    let recorded = record(file.as_bytes()).expect("values");
    assert_eq!((recorded.text().as_str(), recorded.lost()), (expected, None));
    let note = "benchmarks that were skipped and have no values: 1; the first: `BenchmarkGpu`";
    assert_eq!(recorded.imported.notes, [note]);
}

/// A benchmark that prints breaks its own line, and half of a number is another number.
#[test]
fn go_names_the_lines_that_it_cannot_use() {
    let file = "BenchmarkA 10 5 ns/op\r\nBenchmarkB-2 \tthis is printed\r\nBenchmarkA 10 6 ns/op\nBenchmarkA 10 7";
    let recorded = record(file.as_bytes()).expect("values");
    assert!(recorded.text().ends_with("variant 0: go test\nrun 0 of 0\n0.0 metric 0 = 5\n0.1 metric 0 = 6\n"));
    let lost = "1 line was left out, 29 bytes in all; the first is at byte 23: `BenchmarkB-2 \\tthis is printed`; the dump \
                ends at byte 91 inside a line; 2 values were imported";
    assert_eq!(recorded.lost().as_deref(), Some(lost));
    assert_eq!(error("goos: linux\ngoarch: amd64\nPASS\n"), "no value: it lists none");
}

/// A histogram says how often there was a time; a file cannot ask for more values than memory holds.
#[test]
fn jmh_has_as_many_samples_as_a_histogram_counts() {
    let file = |count: &str| {
        format!(
            r#"[{{"jmhVersion":"1.36","benchmark":"a.B.c","mode":"sample","primaryMetric":{{"score":2,"scoreUnit":"us/op",
            "rawDataHistogram":[[[[1.5,2],[2.5,{count}]]],[]]}},"secondaryMetrics":{{"\u00b7gc.alloc.rate.norm":{{"scoreUnit":"B/op",
            "rawData":[[8.0],["NaN"]]}},"p0.50":{{"scoreUnit":"us/op","rawData":[[1.5]]}}}}}},
            {{"benchmark":"a.B.d","mode":"avgt","params":{{"x":"1","y":null}},"primaryMetric":{{"scoreUnit":"min/op","rawData":[[1]]}}}}]"#
        )
    };
    let expected = "\
metric 0: a.B.c sample [ns] Lower
metric 1: a.B.c sample allocated [bytes] Lower
metric 2: a.B.d(x=1) [ns] Lower
variant 0: JMH
run 0 of 0
0.0 metric 0 = 1500
0.1 metric 0 = 1500
0.2 metric 0 = 2500
0.0 metric 1 = 8
run 1 of 0
run 2 of 0
2.0 metric 2 = 60000000000
";
    assert_eq!(record(file("1").as_bytes()).expect("values").text(), expected);
    for many in ["1e300", "1000001", "18446744073709551615"] {
        let recorded = record(file(many).as_bytes()).expect("values");
        assert_eq!(recorded.imported.values, 1);
        let note = "benchmarks of mode `sample` that were left out: 1; a file may hold 1000000 samples";
        assert_eq!(recorded.imported.notes, [note]);
    }
    let without = r#"[{"jmhVersion":"1.36","benchmark":"a","primaryMetric":{"score":1,"rawData":[]}}]"#;
    assert_eq!(error(without), "no value: benchmarks without raw data: 1; `jmh.json.rawData` was false");
}

/// No time, throughput or memory is below 0; what a benchmark counts itself may be.
#[test]
fn what_cannot_be_is_named_and_left_out() {
    let told = |file: &str| {
        let recorded = record(file.as_bytes()).expect("values");
        let values = recorded.text().lines().filter(|line| line.contains(" metric ")).count();
        (values, recorded.imported.notes.join("; "), recorded.lost().unwrap_or_default())
    };
    let pyperf = r#"{"benchmarks":[{"metadata":{"name":"a"},"runs":[{"metadata":{"mem_max_rss":"7"},"values":[-0.5,true,2]}]},
        {"metadata":{"name":"b","unit":7.5},"runs":[{"values":[1]}]},
        {"metadata":{"name":"c","unit":[]},"runs":[{"values":[1]}]}],"version":"1.0"}"#;
    let (values, notes, lost) = told(pyperf);
    assert_eq!(values, 3);
    let unit = "the unit of `c` is no text, so its values are taken for seconds";
    assert_eq!(notes, format!("{unit}; 1 value cannot be and was left out: value 0 of `a` is -500000000"));
    let expected =
        "2 values are no finite numbers and were left out; the first: value 1 of `a`; 3 values were imported";
    assert_eq!(lost, expected);

    let go = "pkg: a\nBenchmarkA 10 -5 ns/op -3 delta -1 B/op\nBenchmarkA 10 6 ns/op -4 delta\n";
    let expected =
        "2 values cannot be and were left out; the first: result 0 of `BenchmarkA` is -5; 3 values were imported";
    assert_eq!(told(go), (3, String::new(), expected.to_owned()));

    let jmh = r#"[{"jmhVersion":"1.36","benchmark":"B","mode":"sample","primaryMetric":{"scoreUnit":"ns/op",
        "rawDataHistogram":[[[[1,2],[2,1.5],[3,-4],[4,"x"],[-5,1]]]]}}]"#;
    let expected = "4 values cannot be and were left out; the first: a count in the histogram of `B sample` is 1.5; 2 \
                    values were imported";
    assert_eq!(told(jmh), (2, String::new(), expected.to_owned()));
}
