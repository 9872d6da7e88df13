//! Imports of strace's logs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use barrow_importers::{joined_strace, strace_siblings, taken_ns};

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
    assert_eq!(recorded.fact("time of day").as_deref(), Some("known"));
    // Seconds since the line before: nobody knows which day that was.
    let relative = "7 0.000000 execve(\"/bin/make\", [\"make\"], 0x7ffe) = 0\n7 0.000100 +++ exited with 0 +++\n";
    assert_eq!(record(relative).expect("a log").fact("time of day"), None);
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
    let expected =
        "500000us begin 0 (pid 3)\n600000us begin 1 (pid 4 of 0)\n700000us end 1 signal 11\n700000us end 0\n";
    assert_eq!(recorded.expect("a log").text(), expected);
}

#[test]
fn a_child_begins_once_where_its_birth_is_damaged() {
    let recorded = record(
        "3 1700000000.1 vfork( <unfinished ...>\n4 1700000000.2 execve(\"/bin/cc\", [\"cc\"], 0x7ffe) = 0\n3 1700000000.3 <... vfo?k resumed>) = 4\n4 1700000000.4 +++ exited with 0 +++\n",
    );
    let recorded = recorded.expect("a log");
    let begun: Vec<String> =
        recorded.text().lines().filter(|line| line.contains(" begin ")).map(str::to_owned).collect();
    assert_eq!(begun, ["200000us begin 0 (pid 4) /bin/cc: cc", "300000us begin 1 (pid 3)"]);
    assert_eq!(recorded.imported.processes, 2);
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
    let log: String = STRACE.lines().map(|line| line.replacen(line.split(' ').nth(1).unwrap(), "", 1) + "\n").collect();
    let error = record(&log).map(drop).expect_err("no time").to_string();
    assert!(error.contains("record it with `strace -f -ttt -o FILE COMMAND`"), "{error}");
}

/// The same log as strace 6.1 writes it with other options.
#[test]
fn options_of_strace_do_not_matter() {
    let each = |line: &dyn Fn(&str, &str, &str) -> String| -> String {
        let parts = |text: &'static str| {
            let (task, rest) = text.split_once(' ').expect("a task");
            let (time, rest) = rest.split_once(' ').expect("a time");
            line(task, time, rest) + "\n"
        };
        STRACE.lines().map(parts).collect()
    };
    let micros = |time: &str| time.rsplit_once('.').expect("a fraction").1.to_owned();
    // `-Y`, `-i`, `-n`, `-k`, and `-r` beside `-ttt`.
    for log in [
        each(&|task, time, rest| format!("{task}<make -> 2> {time} {rest}")),
        each(&|task, time, rest| format!("{task} {time} [00007f9803315ad7] {rest}")),
        each(&|task, time, rest| format!("{task} {time} [  59] [????????????????] {rest}")),
        each(&|task, time, rest| format!("{task} {time} {rest}\n > /usr/lib/libc.so.6(getcwd+0x7e) [0xf8cce]")),
        each(&|task, time, rest| format!("{task} {time} (+     0.000001) {rest}")),
    ] {
        let recorded = record(&log).expect("a log");
        assert_eq!((recorded.text().as_str(), recorded.lost()), (EXPECTED, None), "{log}");
    }
    // `-tt` past midnight: times count from the first line, which is at 1 µs of the other one.
    let later = EXPECTED.lines().map(|line| {
        let (at, rest) = line.split_once("us ").expect("a time");
        format!("{}us {rest}\n", at.parse::<u32>().expect("a number") - 1)
    });
    let later: String = later.collect();
    let day = each(&|task, time, rest| match micros(time).parse::<u32>().expect("a number") {
        at @ ..=9 => format!("{task} 23:59:59.{:06} {rest}", 999_990 + at),
        at => format!("{task} 00:00:00.{:06} {rest}", at - 10),
    });
    let recorded = record(&day).expect("a log");
    assert_eq!((recorded.text(), recorded.lost()), (later, None));
}

/// `-ff` writes a file for each process and thread, whose number is in its name only.
#[test]
fn logs_of_one_process_each_are_joined() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut logs: BTreeMap<&str, String> = BTreeMap::new();
    for line in STRACE.lines() {
        let (task, line) = line.split_once(' ').expect("a task");
        *logs.entry(task).or_default() += &format!("{line}\n");
    }
    let paths: Vec<PathBuf> = logs.keys().map(|task| folder.path().join(format!("make.v2.{task}"))).collect();
    paths.iter().zip(logs.values()).for_each(|(path, log)| std::fs::write(path, log).expect("written"));
    let sources: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    assert!(sources.len() > 3);
    let joined = joined_strace(&sources, folder.path()).expect("readable").expect("one log");
    let joined = std::fs::read_to_string(joined.path()).expect("a log");
    assert_eq!(record(&joined).expect("a log").text(), EXPECTED, "{joined}");

    assert_eq!(strace_siblings(&paths[0]), paths.len() - 1);
    let one = joined_strace(&sources[..1], folder.path()).expect("readable").expect("a log");
    let task = logs.keys().next().expect("a task");
    assert!(std::fs::read_to_string(one.path()).expect("a log").starts_with(&format!("{task} 17")));
    // Logs with numbers, of other names, or of nothing.
    std::fs::write(&paths[0], STRACE).expect("written");
    assert!(joined_strace(&sources, folder.path()).expect("readable").is_none());
    let other = folder.path().join("other.8");
    std::fs::copy(&paths[1], &other).expect("copied");
    assert_eq!(strace_siblings(&other), 0);
    assert!(joined_strace(&[&other, &paths[1]], folder.path()).expect("readable").is_none());
    assert!(joined_strace(&[], folder.path()).expect("nothing").is_none());
}

/// A day of three shifts: no line for hours is not a step back. In autumn the clock is: then time goes on, and a note says
/// so.
#[test]
fn hours_without_a_line_pass_and_a_clock_that_is_set_back_is_told() {
    let program = |task: u32, time: &str, name: &str| {
        format!("{task} {time} execve(\"/usr/bin/{name}\", [\"{name}\"], 0x7ffc /* 10 vars */) = 0\n")
    };
    let log = program(100, "10:00:00.500000", "make")
        + "100 23:00:00.500000 getpid() = 100\n100 05:00:00.500000 vfork() = 101\n"
        + &program(101, "09:00:00.500000", "gcc")
        + "101 09:30:00.500000 +++ exited with 0 +++\n100 11:00:01.500000 +++ exited with 0 +++\n";
    let recorded = record(&log).expect("a log");
    let text = recorded.text();
    // From 10:00 to 11:00:01 the next day; gcc from 5:00 to 9:30.
    assert!(text.contains("90001000000us end 0") && text.contains("84600000000us end 1"), "{text}");
    assert!(text.contains("68400000000us begin 1"), "{text}");
    assert_eq!(recorded.imported.notes, [""; 0]);
    let log = program(100, "02:30:00.100000", "make")
        + "100 02:30:01.200000 vfork() = 101\n"
        + &program(101, "02:30:01.300000", "gcc")
        + "101 02:59:59.300000 +++ exited with 0 +++\n100 02:00:00.400000 vfork() = 102\n"
        + &program(102, "02:00:00.500000", "ld")
        + "102 02:10:00.600000 +++ exited with 0 +++\n100 02:10:01.600000 +++ exited with 0 +++\n";
    let recorded = record(&log).expect("a log");
    // The second between the two hours is lost: 1,799.2 s before it, 601.2 after it.
    assert!(recorded.text().contains("2400400000us end 0"), "{}", recorded.text());
    assert!(recorded.imported.notes[0].contains("set back during the log: 1;"), "{:?}", recorded.imported.notes);
    // A step of NTP: what comes after it counts from there.
    let log = program(7, "1700000005.500000", "gcc")
        + "7 1700000003.500000 getpid() = 7\n7 1700000004.750000 +++ exited with 0 +++\n";
    let recorded = record(&log).expect("a log");
    assert!(recorded.text().contains("6750000us end 0"), "{}", recorded.text());
    assert!(recorded.imported.notes[0].contains("set back"), "{:?}", recorded.imported.notes);
}

/// `cat build.strace.*` has lost the numbers: what follows the first process is of nobody known.
#[test]
fn logs_of_one_process_each_one_after_another_are_refused() {
    let of = |task: &str| -> String {
        STRACE.lines().filter_map(|line| Some(format!("{}\n", line.strip_prefix(task)?.strip_prefix(' ')?))).collect()
    };
    let mut tasks: Vec<&str> = STRACE.lines().filter_map(|line| Some(line.split_once(' ')?.0)).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let first = of(tasks[0]);
    let joined: String = tasks.iter().map(|task| of(task)).collect();
    let recorded = record(&joined).expect("a log");
    let lost = recorded.lost().expect("something is lost");
    assert!(lost.contains(&format!("at byte {}", first.len())) && lost.contains("barrow import LOG.*"), "{lost}");
    assert!(recorded.text().lines().all(|line| !line.contains("cc1")), "{}", recorded.text());
    // Two logs of `strace -A`, of one command after the other, are no such thing.
    let run = |at: u32, name: &str| {
        format!(
            "17000000{at}.5 execve(\"/bin/{name}\", [\"{name}\"], 0x1 /* 0 vars */) = 0\n17000000{at}.6 +++ exited with 0 +++\n"
        )
    };
    let recorded = record(&(run(10, "a") + &run(20, "b"))).expect("a log");
    assert_eq!((recorded.text().matches("begin").count(), recorded.lost()), (2, None));
}

/// `-q` leaves out how processes end; a log that is cut does not have it.
#[test]
fn processes_without_an_end_are_told() {
    let log = "7 1700000000.5 execve(\"/bin/a\", [\"a\"], 0x1 /* 0 vars */) = 0\n7 1700000010.5 read(0, \"\", 1) = 0\n";
    let recorded = record(log).expect("a log");
    assert_eq!(recorded.text(), "500000us begin 0 (pid 7) /bin/a: a\n10500000us end 0\n");
    assert!(recorded.imported.notes[0].starts_with("processes whose end is not in the log: 1;"));
    let quiet = log.to_owned() + "7 1700000011.5 exit_group(-1)        = ?\n";
    let recorded = record(&quiet).expect("a log");
    assert_eq!(recorded.text(), "500000us begin 0 (pid 7) /bin/a: a\n11500000us end 0 status 255\n");
    assert!(recorded.imported.notes.is_empty());
    // Another process runs before strace sees the end.
    let unfinished = log.to_owned()
        + "7 1700000011.5 exit_group(3 <unfinished ...>\n9 1700000012.5 getpid() = 9\n\
           7 1700000012.7 <... exit_group resumed>) = ?\n9 1700000014.5 exit_group(0) = ?\n";
    let text = record(&unfinished).expect("a log").text();
    assert!(text.contains("11500000us end 0 status 3\n"), "{text}");
}

#[test]
fn the_recording_begins_with_the_log() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), STRACE).expect("written");
    assert_eq!(taken_ns(file.path()).expect("readable"), Some(CREATED_NS + 1000));
}
