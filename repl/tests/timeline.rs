//! `timeline` as people see it: its lines fit, names are harmless, what had no room is said.

mod program;

use std::path::Path;

use barrow_testdata::{ProcessLog, Random};
use barrow_writer::{Options, ProcessDescription, ProcessEnd, ProgramDescription, Usage, Writer};
use program::run;

/// Clears the screen, reverses, and begins a line that GitHub obeys.
const HOSTILE: &str = "\x1b[2J\u{202e}\n::error::injected\r";

/// Writes a recording, and asks for its timeline.
fn timeline(write: impl FnOnce(&Writer), words: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    let writer = Writer::create(&path, Options::without_threads()).unwrap();
    write(&writer);
    writer.finish().unwrap();
    ask(&path, words)
}

fn ask(path: &Path, words: &[&str]) -> String {
    let path = path.display().to_string();
    let run = run(&[&["timeline", path.as_str()], words].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run.stdout
}

fn begun<'a>(time_ns: i64, pid: u64, arguments: &'a [&'a str]) -> ProcessDescription<'a> {
    let program = ProgramDescription { executable: None, directory: None, arguments };
    ProcessDescription { time_ns, pid, program, ..ProcessDescription::default() }
}

fn ended(exit_status: Option<u64>, signal: Option<u64>) -> ProcessEnd {
    ProcessEnd { exit_status, signal, used: Usage { user_ns: Some(2_000_000), ..Usage::default() } }
}

#[test]
fn a_block_tells_how_its_process_ended() {
    let drawn = timeline(
        |writer| {
            let make = writer.begin_process(&begun(0, 10, &["make"])).unwrap();
            let child = |time, pid, word| {
                let words = [word];
                writer.begin_process(&ProcessDescription { parent: Some(make), ..begun(time, pid, &words) }).unwrap()
            };
            let (gcc, ld) = (child(1_000_000, 11, "gcc"), child(2_000_000, 12, "ld"));
            writer.end_process(gcc, 6_000_000, &ended(Some(1), None)).unwrap();
            writer.end_process(ld, 65_000_000_000, &ended(None, Some(9))).unwrap();
            // Its parent has ended before it.
            let sh = writer
                .begin_process(&ProcessDescription { parent: Some(make), ..begun(65_100_000_000, 11, &["sh"]) })
                .unwrap();
            writer.end_process(make, 65_200_000_000, &ended(Some(0), None)).unwrap();
            let _still_runs = sh;
        },
        &[],
    );
    let expected = r"      time processes
  0:00.000 >=10:0
           | build-tool
  0:00.001 +-<=11:0
  0:00.002 +-----------------<=12:0
           | | compiler      | linker
           | | 0.0020u       | linker
           | | exit 1        | linker
  0:00.006 | \=5.00ms        | linker
           | build-tool      | 0.0020u
           | build-tool      | interrupted!
           | build-tool      | by SIGKILL
  1:05.000 | build-tool      \=65.00s
  1:05.100 +-<=11:1
  1:05.200 \-------------------------------------=build-tool, 0.0020u, 65.20s
             | shell
  1:05.200   \=interrupted!
";
    let shifted: String =
        expected.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect();
    assert_eq!(drawn, shifted);
}

#[test]
fn names_are_written_out() {
    let words = |format: &'static str| {
        timeline(
            |writer| {
                let (host, name) = (format!("host{HOSTILE}"), format!("x{HOSTILE}"));
                let arguments = [name.as_str()];
                for (pid, host) in [(1, None), (2, Some(host.as_str()))] {
                    writer.begin_process(&ProcessDescription { host, ..begun(0, pid, &arguments) }).unwrap();
                }
            },
            &["--format", format],
        )
    };
    for format in ["table", "json", "csv"] {
        let drawn = words(format);
        let is_hidden = |c: char| c != '\n' && c != '\r' && barrow_query::answer::visible::is_hidden(c);
        assert!(!drawn.contains(is_hidden) && drawn.contains("host"), "{drawn}");
        assert!(format == "csv" || !drawn.lines().any(|line| line.starts_with("::")), "{drawn}");
    }
}

#[test]
fn lines_are_as_wide_as_they_may_be_and_what_has_no_room_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..40 {
        let log = ProcessLog::random(&mut Random::new(seed), 100);
        let path = folder.path().join(format!("{seed}.barrow"));
        std::fs::write(&path, log.bytes()).unwrap();
        for width in [40, 80, 400] {
            let drawn = ask(&path, &["--width", &width.to_string()]);
            let lines: Vec<&str> = drawn.lines().collect();
            let (notes, lines): (Vec<&str>, Vec<&str>) = lines.into_iter().partition(|line| line.contains("left out"));
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{seed}: {drawn}");
            let shown = lines.iter().filter(|line| line.contains("<=") || line.contains(">=")).count();
            let left_out: usize = notes.first().map_or(0, |note| note.split(' ').next().unwrap().parse().unwrap());
            let begun = log.rows.iter().filter(|(_, what)| matches!(what, barrow_testdata::Happening::Begin(..)));
            assert_eq!(shown + left_out, begun.count(), "{seed}: {drawn}");
            let ended = lines.iter().filter(|line| line.contains("\\=") || line.contains("\\-")).count();
            assert_eq!(shown, ended, "{seed}: {drawn}");
        }
    }
}

#[test]
fn a_part_is_drawn_and_wrong_times_are_refused() {
    let build = program::testdata("build.barrow");
    let part = ask(&build, &["from", "200ms", "to", "220ms"]);
    assert!(part.lines().count() > 5 && part.ends_with("processes were running then\n"), "{part}");
    assert_eq!(ask(&build, &["from", "1h"]), "nothing happened in this part\n");
    let path = build.display().to_string();
    for (words, told) in [
        (&["from", "soon"][..], "`from soon` is no time"),
        (&["from"], "`from ` is no time"),
        (&["from", "2s", "to", "1s"], "the part would end before it begins"),
        (&["nothing"], "there is no schema `nothing`; there are category"),
        (&["--width", "3"], "3 is not in 40..=400"),
    ] {
        let run = run(&[&["timeline", path.as_str()], words].concat());
        assert!(run.code == 2 && run.stderr.contains(told), "{words:?}: {}", run.stderr);
    }
    let heap = program::testdata("orders.barrow").display().to_string();
    let run = run(&["timeline", &heap]);
    assert!(run.code == 3 && run.stderr.contains("holds no processes"), "{}", run.stderr);
}

/// A recording that began on 31 December 2025 at 23:59:58 UTC, which `date -u -d @1767225598` says, too.
fn at_new_year(by: &str, words: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.barrow");
    let options = Options { created_ns: Some(1_767_225_598_000_000_000), ..Options::without_threads() };
    let writer = Writer::create(&path, options).unwrap();
    writer.fact("recorded by", by).unwrap();
    let on = |host, time_ns, pid, parent| ProcessDescription { host, parent, ..begun(time_ns, pid, &["make"]) };
    let used = Usage { user_ns: Some(2_000_000), system_ns: Some(1_000_000), ..Usage::default() };
    let end = ProcessEnd { exit_status: Some(0), used, ..ProcessEnd::default() };
    let first = writer.begin_process(&on(Some("a"), 0, 7, None)).unwrap();
    let second = writer.begin_process(&on(Some("b"), 3_000_000_000, 7, Some(first))).unwrap();
    writer.end_process(second, 4_500_000_000, &end).unwrap();
    writer.end_process(first, 4_600_000_000, &end).unwrap();
    writer.finish().unwrap();
    ask(&path, words)
}

#[test]
fn dates_times_of_day_and_hosts_are_told_where_they_are_known() {
    let expected = "     time processes
   *2025*
   Dec 31
23:59:58Z
 0:00.000 >=7:0 a
   *2026* | build-tool
   Jan 01 | build-tool
00:00:01Z | build-tool
 0:03.000 +-<=7:0 b
          | | build-tool
          | | 0.0020u 0.0010s
 0:04.500 | \\=1.50s
          | 0.0020u 0.0010s
 0:04.600 \\=4.60s
";
    assert_eq!(at_new_year("Kleknev", &[]), expected);
    // Such a log has no time of day: the recording was created by the import.
    assert!(!at_new_year("ninja", &[]).contains("2025"));
    let csv = at_new_year("Kleknev", &["--format", "csv"]);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let at = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    let last = rows.last().unwrap();
    let found = ["unix_ns", "cpu_ns", "user_ns", "system_ns"].map(|name| last[at(name)]);
    assert_eq!(found, ["1767225602600000000", "3000000", "2000000", "1000000"]);
    let csv = at_new_year("ninja", &["--format", "csv"]);
    assert_eq!(csv.lines().nth(1).unwrap().split(',').nth(at("unix_ns")), Some(""));
}
