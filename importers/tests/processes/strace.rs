//! What becomes of strace's logs.

use barrow_importers::taken_ns;

use crate::logs::STRACE;
use crate::recorded::{CREATED_NS, record};

const EXPECTED: &str = "\
1us begin 0 (pid 7) /bin/make: make -j2
4us begin 1 (pid 8 of 0)
8us image 1 /bin/gcc in /srv/cards/sub: gcc spät.c cut…
10us begin 2 (pid 10 of 1)
11us end 2 status 1
15us image 1 /bin/ld in /srv/cards/sub: ld
16us end 1 signal 9
18us end 0 status 2
";

#[test]
fn processes_threads_and_programs_are_told_apart() {
    let recorded = record(STRACE).expect("a log");
    assert_eq!(recorded.text(), EXPECTED);
    assert_eq!((recorded.imported.processes, recorded.lost()), (3, None));
    assert_eq!(recorded.fact("command").as_deref(), Some("make -j2"));
    assert!(recorded.imported.notes[0].contains("end with `…` here: 1;"), "{:?}", recorded.imported.notes);
}

#[test]
fn a_log_of_a_terminal_says_the_same() {
    // Numbers from the second process on, and messages in the middle of lines.
    let mut log =
        STRACE.replace("\n8 ", "\n[pid     8] ").replace("\n9 ", "\n[pid     9] ").replace("\n10 ", "\n[pid    10] ");
    let child = log.find("\n[pid").expect("a child");
    let (before, after) = log.split_at(child);
    let before = before.replace("\n7 ", "\n")[2..].to_owned();
    let before = before.replace("<unfinished ...>", "strace: Process 8 attached\n <unfinished ...>");
    let after = after.replace("(\"sub\") = 0", "(\"sub\"strace: Process 8 attached\n) = 0");
    let last = after.find("7 1700000000.000017").expect("the end");
    let after = format!("{}{}", after[..last].replace("\n7 ", "\n[pid     7] "), after[last..].replace("7 17", "17"));
    log = before + &after;
    let recorded = record(&log).expect("a log");
    assert_eq!(recorded.text(), EXPECTED, "{log}");
    assert_eq!(recorded.lost(), None);
}

#[test]
fn a_log_may_begin_in_the_middle() {
    let recorded = record(
        "3 1700000000.5 read(0, \"\", 1) = 0\n3 1700000000.6 fork() = 4\n4 1700000000.7 +++ killed by SIGSEGV (core dumped) +++\n",
    );
    let expected = "500000us begin 0 (pid 3)\n600000us begin 1 (pid 4 of 0)\n700000us end 1 signal 11\n";
    assert_eq!(recorded.expect("a log").text(), expected);
}

#[test]
fn what_the_program_printed_is_left_out() {
    let log = STRACE.replacen("\n8 ", "\nmake: warning\nx\n8 ", 1);
    let recorded = record(&log).expect("a log");
    assert_eq!(recorded.text(), EXPECTED);
    let lost = recorded.lost().expect("a loss");
    assert!(lost.starts_with("2 lines were left out, 14 bytes in all; "), "{lost}");
    assert!(lost.ends_with(": `make: warning` is no line of strace; 3 processes were imported"), "{lost}");
}

#[test]
fn logs_without_times_are_refused() {
    for time in ["", "10:20:30 ", "10:20:30.123456 ", "0.000012 "] {
        let log = STRACE.replace("1700000000.000001 ", time);
        let error = record(&log).map(drop).expect_err("no time").to_string();
        assert!(error.contains("record it with `strace -f -ttt -o FILE COMMAND`"), "{time}: {error}");
    }
}

#[test]
fn the_recording_begins_with_the_log() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), STRACE).expect("written");
    assert_eq!(taken_ns(file.path()).expect("readable"), Some(CREATED_NS + 1000));
}
