//! Values that cannot be are left out as damage, in every format, and lists that do not match are told.

use crate::recorded::record;

/// The last lines of what was recorded, which are the values, and what was lost.
fn kept(file: &str) -> (Vec<String>, String) {
    let recorded = record(file.as_bytes()).expect("values");
    let text = recorded.text();
    let values = text.lines().filter(|line| line.contains(" = ")).map(str::to_owned).collect();
    (values, recorded.lost().expect("some are left out"))
}

#[test]
fn impossible_values_are_left_out() {
    let cases = [
        (
            r#"{"results":[{"command":"a","times":[1,-1],"memory_usage_byte":[-4096,1e30]},{"command":"b","times":[1],"memory_usage_byte":[0.5]}]}"#,
            "4 values cannot be and were left out; the first: memory 0 of `a` is -4096; 2 values were imported",
        ),
        (
            r#"{"reason":"benchmark-complete","id":"a","iteration_count":[0,1.5,2,4,-1],"measured_values":[8,8,-8,8,8],"unit":"ns"}
"#,
            "4 values cannot be and were left out; the first: the count of iterations in sample 0 of `a` is 0; 1 value was imported",
        ),
        (
            r#"{"HostEnvironmentInfo":{"BenchmarkDotNetVersion":"0.13"},"Benchmarks":[{"FullName":"a","Memory":{"BytesAllocatedPerOperation":-8},
            "Measurements":[{"IterationMode":"Workload","IterationStage":"Result","LaunchIndex":1,"IterationIndex":1,"Operations":2,"Nanoseconds":-8},
            {"IterationMode":"Workload","IterationStage":"Result","LaunchIndex":1,"IterationIndex":2,"Operations":0.5,"Nanoseconds":8},
            {"IterationMode":"Workload","IterationStage":"Result","LaunchIndex":1,"IterationIndex":3,"Operations":2,"Nanoseconds":8}]}]}"#,
            "3 values cannot be and were left out; the first: iteration 0 of `a` is -4; 1 value was imported",
        ),
        (
            r#"{"machine_info":{"python_version":"3"},"benchmarks":[{"fullname":"a","stats":{"data":[1,-1]}}],"version":"5"}"#,
            "1 value cannot be and was left out: round 1 of `a` is -1000000000; 1 value was imported",
        ),
        (
            r#"{"context":{"num_cpus":2},"benchmarks":[{"name":"a","real_time":-1,"cpu_time":2,"time_unit":"ns","bytes_per_second":-3}]}"#,
            "2 values cannot be and were left out; the first: repetition 0 of `a` is -1; 1 value was imported",
        ),
        (
            "metric,unit,value\nblocks,,-1\nallocated,bytes,0.5\npage_faults,,7\nwall,ns,-2\nwall,s,-2\nown,,-2.5\n",
            "3 values cannot be and were left out; the first: `blocks` in line 2 is -1; 3 values were imported",
        ),
    ];
    for (file, expected) in cases {
        let (values, lost) = kept(file);
        assert_eq!(lost, expected, "{values:?}");
    }
}

#[test]
fn a_value_that_is_left_out_gives_its_seed_to_no_other() {
    let file = "metric,unit,run,iteration,seed,value\nblocks,,0,0,7,1\nblocks,,0,1,8,2\nblocks,,0,2,9,-1\n";
    let (values, _) = kept(file);
    assert_eq!(values, ["0.0 metric 0 = 1 seed 7", "0.1 metric 0 = 2 seed 8"]);
}

#[test]
fn lists_of_hyperfine_that_differ_in_length_are_told() {
    let file = r#"{"results":[{"command":"a","times":[1,2,3],"memory_usage_byte":[4096],"exit_codes":[0]},
        {"command":"b","times":[1],"exit_codes":[0,0]}]}"#;
    let recorded = record(file.as_bytes()).expect("values");
    let notes = [
        "`a`: the number of times is 3, that of exit codes 1: a run without one has failed",
        "`a`: the number of times is 3, that of figures of memory 1: a run without one has none",
        "`b`: the number of times is 1, that of exit codes 2: the surplus was left out",
    ];
    assert_eq!(recorded.imported.notes[..3], notes);
    let ends: Vec<String> = recorded.text().lines().filter(|line| line.starts_with("end")).map(str::to_owned).collect();
    assert_eq!(ends, ["end 0 status 0", "end 1 failed", "end 2 failed", "end 3 status 0"]);
}
