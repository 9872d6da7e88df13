//! Forms of values that the samples do not have.

use std::io::Write;

use barrow_analyzer::MeasurementRow;
use barrow_importers::{ImportOptions, Silent, import, read_values};

use crate::recorded::{record, recorded};

fn error(text: &str) -> String {
    record(text.as_bytes()).map(drop).expect_err("no values").to_string()
}

fn text(file: &str) -> String {
    record(file.as_bytes()).expect("values").text()
}

#[test]
fn csv_without_runs_counts_them() {
    let file = "value,metric\n1,a\n2,a\n3,b\n";
    let expected = "\
metric 0: a [] Unknown
metric 1: b [] Unknown
variant 0: unnamed
run 0 of 0
0 metric 0 = 1
0 metric 1 = 3
run 1 of 0
1 metric 0 = 2
";
    assert_eq!(text(file), expected);
    let iterations = "value,metric,iteration\n1,a,0\n2,a,1\n";
    assert!(text(iterations).ends_with("run 0 of 0\n0.0 metric 0 = 1\n0.1 metric 0 = 2\n"));
}

#[test]
fn csv_has_parameters_of_programs() {
    let file = "metric,value,variant,parameter_n,parameter_x\na,1,p,1,'-b\na,2,p,2,\n";
    let recorded = record(file.as_bytes()).expect("values");
    let text = recorded.text();
    let variants = "variant 0: p parameter n=1 parameter x=-b\nvariant 1: p parameter n=2\n";
    assert!(text.contains(variants) && recorded.imported.notes.is_empty(), "{text}");
}

#[test]
fn csv_with_two_columns_of_one_name_is_refused() {
    for heading in ["metric,value,value", "metric,value,Metric", "metric,value,parameter_n,parameter_n"] {
        let name = heading.rsplit(',').next().expect("a column");
        let expected = format!("no value: two columns are called `{name}`: which is meant?");
        assert_eq!(error(&format!("{heading}\n1,2,3,4\n")), expected);
    }
    // Other names of one column: the first is read, and the other is told.
    let recorded = record(b"metric,value,name,variant\na,1,x,y\n").expect("values");
    assert_eq!(recorded.imported.notes, ["columns that are not read: `variant`"]);
    assert!(recorded.text().contains("variant 0: x\n"));
}

/// `export` writes characters that a terminal would obey as escapes.
#[test]
fn csv_has_names_with_hidden_characters() {
    let recorded = record(
        br"metric,value,variant
a,1,x\u{1b}[0m \u{41} \u{zz} \u{
",
    )
    .expect("values");
    assert!(recorded.text().contains("variant 0: x\u{1b}[0m \\u{41} \\u{zz} \\u{\n"), "{}", recorded.text());
}

#[test]
fn csv_names_what_it_cannot_use() {
    let file = "metric,value,note,run\na,1,x,0\na,fast,x,1\na,nan,x,2\n,3,x,3\na,4,x,-1\na\n\"'=a,b\",5,,4\n";
    let recorded = record(file.as_bytes()).expect("values");
    let notes = [
        "columns that are not read: `note`",
        "2 values are no finite numbers and were left out; the first: `fast` in line 3",
    ];
    assert_eq!(recorded.imported.notes, notes);
    let lost =
        "3 rows were left out, 18 bytes in all; the first is at byte 51: it names no metric; 2 values were imported";
    assert_eq!(recorded.lost().as_deref(), Some(lost));
    assert!(recorded.text().contains("metric 1: =a,b [] Unknown\n"), "{}", recorded.text());
    assert_eq!(read_values(file.as_bytes()).expect("values").notes.len(), 3);
    assert_eq!(error("metric,value\n"), "no value: it lists none");
    assert_eq!(error("metric,value\na,\n"), "no value: 1 value is no finite number and was left out: `` in line 2");
}

/// A decimal comma makes two fields of a number, and a cut row has too few.
#[test]
fn rows_of_csv_have_as_many_fields_as_the_heading() {
    let file = "metric,value,unit\na,1,ns\na,2,5,ns\na,3,ns,\na,4";
    let recorded = record(file.as_bytes()).expect("values");
    let lost = "2 rows were left out, 12 bytes in all; the first is at byte 25: it has 4 fields, the heading has 3; 2 \
                values were imported";
    assert_eq!(recorded.lost().as_deref(), Some(lost));
    assert!(recorded.text().ends_with("0 metric 0 = 1\nrun 1 of 0\n1 metric 0 = 3\n"), "{}", recorded.text());
}

/// Half of a number is another number.
#[test]
fn the_last_row_of_a_cut_stream_is_not_read() {
    let text: String = (0..1000).map(|number| format!("wall,{}\n", 100_000 + number * 37)).collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(["metric,value\n", &text].concat().as_bytes()).expect("written to memory");
    let packed = packed.finish().expect("finished");
    let mut read = 0;
    for cut in (20..packed.len() - 8).step_by(7) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&packed[..cut]).expect("written");
        let options = ImportOptions::default();
        let Ok(recorded) = recorded(|writer| import(file.path(), writer, &options, &Silent)) else { continue };
        assert!(recorded.lost().is_some_and(|lost| lost.starts_with("the gzip stream is cut")), "{cut}");
        for row in recorded.rows() {
            if let MeasurementRow::Value { value, .. } = row {
                assert!(text.contains(&format!("wall,{value}\n")), "{value} with {cut} bytes");
                read += 1;
            }
        }
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn memory_and_signals_of_hyperfine() {
    let file = r#"{"results":[{"command":"a","times":[1.5,null],"memory_usage_byte":[4096,8192],"exit_codes":[0,null]},
        {"command":"b","mean":1}]}"#;
    let recorded = record(file.as_bytes()).expect("values");
    let expected = "\
metric 0: wall [ns] Lower
metric 1: peak_resident [bytes] Lower
variant 0: a
run 0 of 0
0 metric 0 = 1500000000
0 metric 1 = 4096
end 0 status 0
run 1 of 0
1 metric 1 = 8192
end 1 failed
";
    assert_eq!(recorded.text(), expected);
    assert_eq!(recorded.imported.notes[0], "commands that hold only means, without the times of their runs: 1");
    let lost = "1 value is no finite number and was left out: time 1 of `a`; 3 values were imported";
    assert_eq!(recorded.imported.lost.expect("a value").to_string(), lost);
}

#[test]
fn files_with_only_means_are_refused() {
    let means = std::fs::read_to_string(crate::recorded::sample("pytest-benchmark-5.3-means.json")).expect("a sample");
    let expected =
        "no value: benchmarks that hold only means: 2; record with `--benchmark-save-data` or `--benchmark-json`";
    assert_eq!(error(&means), expected);
    let aggregates =
        r#"{"context":{"num_cpus":2},"benchmarks":[{"name":"a_mean","run_type":"aggregate","real_time":1}]}"#;
    assert!(error(aggregates).starts_with("no value: it holds only aggregates; run without"));
    let dotnet = r#"{"HostEnvironmentInfo":{"BenchmarkDotNetVersion":"0.13"},"Benchmarks":[{"FullName":"a","Statistics":{"Mean":1}}]}"#;
    assert!(error(dotnet).starts_with("no value: benchmarks without single values: 1;"));
}

#[test]
fn google_benchmark_without_repetitions_and_with_numbers_that_are_none() {
    let file = r#"{"benchmarks":[{"name":"a","real_time":NaN,"cpu_time":2,"time_unit":"ms"},{"name":"a","real_time":-Infinity,"cpu_time":3,"time_unit":"s"}],
        "context":{"executable":"C:\\bin\\a.exe"}}"#;
    let recorded = record(file.as_bytes()).expect("values");
    let expected = "\
metric 0: a [ns] Lower
metric 1: a cpu [ns] Lower
variant 0: a.exe
run 0 of 0
0.0 metric 1 = 2000000
0.1 metric 1 = 3000000000
";
    assert_eq!(recorded.text(), expected);
    let lost =
        "2 values are no finite numbers and were left out; the first: repetition 0 of `a`; 2 values were imported";
    assert_eq!(recorded.imported.lost.expect("two values").to_string(), lost);
}

/// `skipped` since 1.8 (`SkipWithMessage`); the report has zeros for such a benchmark.
#[test]
fn google_benchmark_has_no_values_of_what_was_skipped() {
    let file = r#"{"context":{"num_cpus":2},"benchmarks":[
        {"name":"BM_a","run_type":"iteration","repetition_index":0,"real_time":100.0,"time_unit":"ns"},
        {"name":"BM_gpu","run_type":"iteration","repetition_index":0,"skipped":true,"skip_message":"no device",
         "iterations":0,"real_time":0.0,"cpu_time":0.0,"time_unit":"ns"}]}"#;
    let recorded = record(file.as_bytes()).expect("values");
    assert!(recorded.text().ends_with("run 0 of 0\n0.0 metric 0 = 100\n"), "{}", recorded.text());
    let note = "repetitions that were skipped and have no values: 1; the first: `BM_gpu`: no device";
    assert_eq!(recorded.imported.notes, [note]);
}

/// The units are those of `GetTimeUnitString` in `benchmark.h`. A name may end as that of another metric does.
#[test]
fn google_benchmark_keeps_benchmarks_apart_and_knows_its_units() {
    let line = |name: &str, time: u32, unit: &str| {
        format!(
            r#"{{"name":"{name}","run_type":"iteration","real_time":{time},"cpu_time":{},"time_unit":"{unit}"}}"#,
            time / 2
        )
    };
    let benchmarks =
        [line("BM_a", 10, "ns"), line("BM_a cpu", 70, "ns"), line("BM_b", 4, "s"), line("BM_c", 10, "min")];
    let file = format!(r#"{{"context":{{"num_cpus":2}},"benchmarks":[{}]}}"#, benchmarks.join(","));
    let recorded = record(file.as_bytes()).expect("values");
    assert_eq!(recorded.values("BM_a cpu"), [5.0]);
    assert_eq!(recorded.values("BM_a cpu #2"), [70.0]);
    assert_eq!(recorded.values("BM_a cpu cpu"), [35.0]);
    assert_eq!(recorded.values("BM_b"), [4e9]);
    assert!(!recorded.text().contains("BM_c"), "{}", recorded.text());
    let note = "repetitions whose times are in no known unit and left out: 1; the first: `BM_c`: min";
    assert_eq!(recorded.imported.notes, [note]);
}

/// As version 1.4 wrote them, by `json_reporter.cc` and `complexity.cc` of that version.
#[test]
fn google_benchmark_of_before_1_5_does_not_say_what_is_an_aggregate() {
    let line =
        |name: &str, time: u32| format!(r#"{{"name":"{name}","iterations":10,"real_time":{time},"time_unit":"us"}}"#);
    let benchmarks = [
        line("BM_sum/8/repeats:2", 3),
        line("BM_sum/8/repeats:2", 5),
        line("BM_sum/8/repeats:2_mean", 4),
        line("BM_sum/8/repeats:2_median", 4),
        line("BM_sum/8/repeats:2_stddev", 1),
        line("BM_geo_mean", 7),
        r#"{"name":"BM_sum_BigO","cpu_coefficient":1.5,"real_coefficient":1.5,"big_o":"N","time_unit":"us"}"#
            .to_owned(),
        "{\"name\":\"BM_sum_RMS\",\"rms\": 2%\n}".to_owned(),
        line("BM_only_mean", 8),
        line("BM_only_stddev", 1),
    ];
    let file = format!(r#"{{"context":{{"num_cpus":2}},"benchmarks":[{}]}}"#, benchmarks.join(","));
    let recorded = record(file.as_bytes()).expect("values");
    assert_eq!(recorded.imported.lost, None);
    assert_eq!(recorded.values("BM_sum/8/repeats:2"), [3000.0, 5000.0]);
    assert_eq!(recorded.values("BM_geo_mean"), [7000.0]);
    let text = recorded.text();
    assert_eq!(text.lines().filter(|line| line.starts_with("metric ")).count(), 2, "{text}");
}

/// Massif marks a peak within 1 % of the true one (`--peak-inaccuracy`), and a later snapshot may be larger.
#[test]
fn the_peak_of_massif_is_no_smaller_than_any_snapshot() {
    let file = b"desc: (none)\ncmd: a\nmem_heap_B=900\nheap_tree=peak\nmem_heap_B=905\nheap_tree=empty\n";
    let recorded = record(file).expect("a value");
    assert_eq!(recorded.values("peak_heap"), [905.0]);
    let note = "a snapshot is larger than the one that is marked as the peak, 900 bytes; the largest one is taken";
    assert_eq!(recorded.imported.notes, [note]);
}

/// Criterion up to 0.3.2 wrote two lists without names.
#[test]
fn old_samples_of_criterion_are_two_lists() {
    let recorded = record(b"[[2.0,4.0],[3.0,8.0]]").expect("values");
    assert!(recorded.text().ends_with("metric 0 = 1.5\n0.1 metric 0 = 2\n"), "{}", recorded.text());
}

#[test]
fn samples_without_a_description_are_named() {
    let recorded = record(br#"{"iters":[2,4,0],"times":[3,8,1,5]}"#).expect("values");
    assert!(recorded.text().ends_with("metric 0 = 1.5\n0.1 metric 0 = 2\n"), "{}", recorded.text());
    let notes = [
        "no `benchmark.json` with the name of the benchmark is beside the samples; it is called `benchmark` here",
        "benchmark has 3 counts of iterations and 4 times; the shorter list holds",
    ];
    assert_eq!(recorded.imported.notes, notes);
    let lost = "1 value cannot be and was left out: the count of iterations in sample 2 of `benchmark` is 0; 2 values were \
                imported";
    assert_eq!(recorded.imported.lost.expect("a value").to_string(), lost);
}

#[test]
fn massif_of_pages_and_without_a_peak() {
    let recorded =
        record(b"desc: --pages-as-heap=yes\ncmd: a\nmem_heap_B=7\nmem_heap_B=9\nmem_heap_B=8\n").expect("a value");
    assert!(recorded.text().starts_with("metric 0: peak_mapped [bytes] Lower\n"), "{}", recorded.text());
    assert_eq!(recorded.values("peak_mapped"), [9.0]);
    assert_eq!(recorded.imported.notes, ["no snapshot is marked as the peak; the largest one is taken"]);
    assert_eq!(error("desc:\ncmd: a\n"), "no value: it lists none");
}

#[test]
fn dhat_without_lifetimes_and_of_other_kinds() {
    let file = r#"{"dhatFileVersion":2,"mode":"heap","bklt":false,"cmd":"a","pps":[{"tb":5,"tbk":1,"fs":[]}]}"#;
    assert_eq!(record(file.as_bytes()).expect("values").imported.values, 2);
    let copies = file.replace("\"heap\"", "\"copy\"");
    assert!(error(&copies).starts_with("a file of DHAT that is not about a heap; record with"));
    assert_eq!(error(r#"{"dhatFileVersion":2,"pps":[]}"#), "no value: it lists no program point");
}
