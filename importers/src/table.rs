//! The table of importers: one row per format. A new format is a folder and its row here.

use crate::error::ImportError;
use crate::format::Format;
use crate::heaps::{hprof, moarvm, python, ruby, v8};
use crate::other_kinds::other_kind;
use crate::processes::{bazel, kleknev, ninja, strace};
use crate::values::{
    benchmark_dotnet, criterion, csv_values, dhat, go_benchmarks, google_benchmark, hyperfine, jmh, massif, pyperf,
    pytest_benchmark,
};

/// All formats that can be imported, in the order in which users read them.
pub const FORMATS: &[Format] = &[
    Format(&hprof::IMPORTER),
    Format(&moarvm::IMPORTER_1),
    Format(&moarvm::IMPORTER_2),
    Format(&moarvm::IMPORTER_3),
    Format(&python::IMPORTER),
    Format(&ruby::IMPORTER),
    Format(&v8::IMPORTER),
    Format(&kleknev::IMPORTER),
    Format(&ninja::IMPORTER),
    Format(&bazel::IMPORTER),
    Format(&strace::IMPORTER),
    Format(&csv_values::IMPORTER),
    Format(&hyperfine::IMPORTER),
    Format(&criterion::MESSAGES),
    Format(&criterion::SAMPLES),
    Format(&google_benchmark::IMPORTER),
    Format(&benchmark_dotnet::IMPORTER),
    Format(&pytest_benchmark::IMPORTER),
    Format(&pyperf::IMPORTER),
    Format(&go_benchmarks::IMPORTER),
    Format(&jmh::IMPORTER),
    Format(&massif::IMPORTER),
    Format(&dhat::IMPORTER),
];

/// Recognises a dump by its first bytes, of which 4096 are enough.
#[must_use]
pub fn recognise(first_bytes: &[u8]) -> Option<Format> {
    FORMATS.iter().copied().find(|format| (format.0.recognises)(first_bytes))
}

/// The kind of a file with these first bytes, if it is known and cannot be imported, with advice on what to import
/// instead.
#[must_use]
pub fn named_otherwise(first_bytes: &[u8]) -> Option<String> {
    match unrecognised(first_bytes) {
        ImportError::Unrecognised { .. } => None,
        known => Some(known.to_string()),
    }
}

/// The error for `dump`, which no importer recognises.
pub(crate) fn unrecognised(dump: &[u8]) -> ImportError {
    let rejected = FORMATS.iter().find_map(|format| format.0.rejects?(dump)).or_else(|| other_kind(dump));
    rejected.unwrap_or_else(|| ImportError::Unrecognised { found: dump.iter().take(16).copied().collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::first_bytes::FIRST_BYTES;

    fn key(first_bytes: &[u8]) -> Option<&'static str> {
        recognise(first_bytes).map(Format::key)
    }

    #[test]
    fn first_bytes_tell_the_format() {
        assert_eq!(key(b"MoarHeapDumpv002coll"), Some("moarvm-2"));
        assert_eq!(key(b"MoarHeapDumpv003filemeta"), Some("moarvm-3"));
        assert_eq!(key(b"JAVA PROFILE 1.0.2\0"), Some("hprof"));
        assert_eq!(key(b"# a comment\n\r\n\nstrings: [\"a\"]\n"), Some("moarvm-1"));
        assert_eq!(key(b"snapshot 0\n"), Some("moarvm-1"));
        assert_eq!(key(b"{\"barrow\":\"python-heap\", "), Some("python"));
        assert_eq!(key(b"{\"type\":\"ROOT\", \"root\":\"vm\""), Some("ruby"));
        assert_eq!(key(b"\n { \"address\" : \"0x7f00\", "), Some("ruby"));
        assert_eq!(key(b"<kleknevMagicNumber />\n<e>\n"), Some("kleknev"));
        assert_eq!(key(b"# ninja log v7\n"), Some("ninja"));
        assert_eq!(key(b"{\"otherData\":{\"build_id\":\"\",\"output_base\":\"\"},\"traceEv"), Some("bazel"));
        assert_eq!(key(b"{\"otherData\":{\"build_id\":\"\",\"date\":\"2026\"},\"traceEvents\":["), Some("bazel"));
        assert_eq!(key(b"strace: Process 7 attached\n[pid 7] 1795429206.86 fork() = 8\n"), Some("strace"));
        assert_eq!(key(b"7 1795429206.866250 +++ exited with 0 +++\n"), Some("strace"));
        assert_eq!(key(b"7      0.866250 fork() = 8\n"), Some("strace"));
    }

    #[test]
    fn first_keys_tell_files_of_values_apart() {
        assert_eq!(key(b"metric,unit,run,iteration,seed,value\n"), Some("csv"));
        assert_eq!(key(b"\xef\xbb\xbfvalue,metric\r\n1,a\r\n"), Some("csv"));
        assert_eq!(key(br#"{ "results": [ { "command": "a", "mean""#), Some("hyperfine"));
        assert_eq!(key(br#"{"reason":"benchmark-complete","id":"a""#), Some("cargo-criterion"));
        assert_eq!(key(br#"{"reason":"group-complete","group_name":"#), Some("cargo-criterion"));
        assert_eq!(key(br#"{"sampling_mode":"Linear","iters":[1.0,"#), Some("criterion"));
        assert_eq!(key(br#"{"iters":[1.0,2.0],"times":["#), Some("criterion"));
        assert_eq!(key(br#"{"context":{"date":"","num_cpus":2,"#), Some("google-benchmark"));
        assert_eq!(key(br#"{"benchmarks":[{"name":"a","real_time":1"#), Some("google-benchmark"));
        assert_eq!(key(br#"{"benchmarks":[{"fullname":"a","stats":{"#), Some("pytest-benchmark"));
        assert_eq!(key(br#"{"machine_info":{"node":"a","python_version":"3"#), Some("pytest-benchmark"));
        assert_eq!(key(br#"{"Title":"a","HostEnvironmentInfo":{"BenchmarkDotNetCaption":"#), Some("benchmark-dotnet"));
        assert_eq!(key(br#"{"benchmarks":[{"metadata":{"name":"a"},"runs":[{"#), Some("pyperf"));
        assert_eq!(key(br#"{"benchmarks":[{"runs":[{"metadata":{"#), Some("pyperf"));
        // Other programs write keys in another order.
        assert_eq!(key(br#"{"metadata":{"name":"a"},"benchmarks":[{"runs":[{"#), Some("pyperf"));
        assert_eq!(key(br#"{"version":"1.0","benchmarks":[{"metadata":{},"runs":[{"#), Some("pyperf"));
        assert_eq!(key(b"goos: linux\ngoarch: amd64\npkg: a\n"), Some("go"));
        assert_eq!(key(b"# a note\nBenchmarkSum/n=1-8 \t 20\t 24.88 ns/op\n"), Some("go"));
        assert_eq!(
            key(b"[\n    {\n        \"jmhVersion\" : \"1.37\",\n        \"benchmark\" : \"a.B.c\","),
            Some("jmh")
        );
        assert_eq!(key(br#"[{"benchmark":"a.B.c","mode":"thrpt","#), Some("jmh"));
        assert_eq!(key(b"desc: (none)\ncmd: ./a\ntime_unit: i\n"), Some("massif"));
        assert_eq!(key(b"{\"dhatFileVersion\":2\n,\"mode\""), Some("dhat"));
    }

    #[test]
    fn other_texts_are_no_files_of_values() {
        for bytes in [
            &b"metric;value\n"[..],
            br#"{"results":[{"name":"a"}]}"#,
            br#"{"results":{}}"#,
            br#"{"reason":"compiler-artifact"}"#,
            br#"{"context":{"date":""},"benchmarks":[]}"#,
            br#"{"machine_info":{}}"#,
            br#"[{"results":[{"command":"a"}]}]"#,
            br#"{"a":{"dhatFileVersion":2}}"#,
            b"desc: a\nother\n",
            br#"{"benchmarks":[{"name":"a"}]}"#,
            br#"[{"benchmark":"a","value":1}]"#,
            b"Benchmarks 5 4 ns/op\n",
            b"goos: linux\nother\n",
        ] {
            assert_eq!(key(bytes), None, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn other_bytes_are_not_recognised() {
        for bytes in [
            &b""[..],
            b"MoarHeapDumpv",
            b"MoarHeapDumpv004",
            b"JAVA PROFIL",
            b"# only a comment\n",
            b"{\"type\":\"x\"}",
            b"<kleknevMagic",
            b"# ninja log v4\n",
            b"# ninja log v55\n",
            b"{\"otherData\":{},\"traceEvents\":[]}",
            b"7 1795429206.866250 a line of another log\n",
        ] {
            assert_eq!(key(bytes), None, "{}", bytes.escape_ascii());
        }
        let late = [&b"#".repeat(FIRST_BYTES)[..], b"\nstrings: []\n"].concat();
        assert_eq!(key(&late), None);
    }

    #[test]
    fn space_may_stand_anywhere_in_a_snapshot_of_v8() {
        assert_eq!(key(br#"{"snapshot":{"meta":{"#), Some("v8"));
        assert_eq!(key(b" {\n\t\"snapshot\" : { \"title\": \"\""), Some("v8"));
        assert_eq!(key(br#"{"snapshots":{"meta":{"#), None);
        assert_eq!(key(br#"{"snapshot""#), None);
    }

    #[test]
    fn relatives_of_v8s_snapshots_are_named() {
        assert_eq!(
            unrecognised(br#"{"head":{"callFrame":{"functionName":"(root)""#).to_string(),
            "a sampling heap profile of V8, which holds no objects; \
             of V8, heap snapshots (*.heapsnapshot) can be imported"
        );
        assert!(matches!(unrecognised(br#"{ "nodes" : [{"id":1"#), ImportError::OtherKind { .. }));
        assert!(matches!(unrecognised(br#"{ "what" : 1}"#), ImportError::Unrecognised { .. }));
    }

    #[test]
    fn a_newer_version_is_named() {
        assert_eq!(
            unrecognised(b"MoarHeapDumpv004...").to_string(),
            "a MoarVM heap dump of version 004; this importer knows 1, 2 and 3; update barrow"
        );
    }
}
