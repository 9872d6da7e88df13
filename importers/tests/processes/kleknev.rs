//! Imports of Kleknev's logs.

use barrow_importers::{ClockOffsets, ImportOptions};

use crate::logs::{begin, end, kleknev};
use crate::recorded::{record, record_with};

const MAGIC: &str = "<kleknevMagicNumber />\n";

#[test]
fn what_children_used_is_not_counted_twice() {
    let recorded = record(&kleknev()).expect("a log");
    let expected = "\
1us begin 0 (pid 7, on a) /bin/sh in /srv/cards: /bin/sh -c make  'spät' > <x> && y
2us begin 1 (pid 9 of 0, on a) /bin/sh in /srv/cards: /bin/sh -c gcc a.c
5us end 1 status 1 user 30000 system 1000 minor 10 major 0 read 512 written 1024 voluntary 3 involuntary 4
8us end 0 status 2 user 10000 system 0 minor 0 major 0 read 0 written 0 voluntary 0 involuntary 0
attributes 0: user_ns including children=40000 system_ns including children=1000
";
    assert_eq!(recorded.text(), expected);
    assert_eq!((recorded.imported.processes, recorded.lost()), (2, None));
    assert_eq!(recorded.imported.notes, [""; 0]);
    let facts = ["recorded by", "clock", "host"].map(|key| recorded.fact(key).unwrap_or_default());
    assert_eq!(facts, ["Kleknev", "us", "a"]);
}

#[test]
fn process_ids_are_used_again_and_on_several_hosts() {
    let log = [
        MAGIC.to_owned(),
        begin(7, 1, "a", None, &["x"]),
        begin(7, 2, "b", None, &["x"]),
        begin(9, 3, "b", Some(7), &["x"]),
        end(7, 4, "a", 0, 1, 0),
        begin(7, 5, "a", None, &["x"]),
        begin(8, 6, "a", Some(7), &["x"]),
        end(7, 7, "b", 0, 1, 0),
        begin(11, 8, "b", Some(7), &["x"]),
        begin(12, 9, "b", Some(99), &["x"]),
        MAGIC.to_owned(),
    ];
    let recorded = record(&log.concat()).expect("a log");
    let text = recorded.text();
    let begun: Vec<&str> = text.lines().filter(|line| line.contains("begin")).collect();
    let expected = [
        "1us begin 0 (pid 7, on a) in /srv/cards: x",
        "2us begin 1 (pid 7, on b) in /srv/cards: x",
        "3us begin 2 (pid 9 of 1, on b) in /srv/cards: x",
        "5us begin 3 (pid 7, on a) in /srv/cards: x",
        "6us begin 4 (pid 8 of 3, on a) in /srv/cards: x",
        // In the background of what ended.
        "8us begin 5 (pid 11 of 1, on b) in /srv/cards: x",
        "9us begin 6 (pid 12, on b) in /srv/cards: x",
    ];
    assert_eq!(begun, expected);
    assert_eq!(recorded.fact("host"), None);
    assert_eq!(recorded.lost(), None);
}

#[test]
fn children_that_nobody_waited_for_do_not_make_times_negative() {
    let log = [
        MAGIC.to_owned(),
        begin(7, 1, "a", None, &["x"]),
        begin(8, 2, "a", Some(7), &["x"]),
        end(8, 3, "a", 0, 50, 0),
        end(7, 4, "a", 0, 20, 0),
        begin(9, 5, "a", Some(8), &["late"]),
        end(9, 6, "a", 0, 5, 0),
    ];
    let recorded = record(&log.concat()).expect("a log");
    let text = recorded.text();
    // 20 ms without 50 ms is unknown: some of the 50 are not in the 20.
    assert!(text.contains("4us end 0 status 0\n"), "{text}");
    assert!(text.contains("attributes 0: user_ns including children=20000 "), "{text}");
    // Its own use was announced before it was known that there is a child.
    assert!(text.contains("attributes 1: user_ns including children=50000 "), "{text}");
    assert!(
        recorded.imported.notes[0].ends_with("did not wait for all of them: 1; what they used themselves is not known")
    );
}

#[test]
fn what_is_left_without_a_child_that_tells_nothing_is_unknown() {
    let silent = end(8, 3, "a", 0, 50, 0);
    let silent = [silent.split("  <resourceUsage").next().expect("the beginning"), "</e>\n"].concat();
    let log = [
        MAGIC.to_owned(),
        begin(7, 1, "a", None, &["x"]),
        begin(8, 2, "a", Some(7), &["x"]),
        silent,
        end(7, 4, "a", 0, 70, 0),
    ];
    let text = record(&log.concat()).expect("a log").text();
    assert!(text.contains("3us end 1 status 0\n") && text.contains("4us end 0 status 0\n"), "{text}");
    assert!(text.contains("attributes 0: user_ns including children=70000 "), "{text}");
}

#[test]
fn barrow_sh_says_more() {
    let killed = end(8, 3, "a", 0, 5, 300).replace("<exitStatus", "<signal value=\"9\"/>\n  <exitStatus");
    let log = [
        MAGIC.to_owned(),
        begin(7, 1, "a", None, &["x"]),
        begin(8, 2, "a", Some(7), &["x"]),
        killed,
        end(7, 4, "a", 1, 5, 300),
        begin(8, 5, "a", None, &["x"]),
        end(8, 6, "a", 1, 5, 200),
    ];
    let recorded = record(&log.concat()).expect("a log");
    let text = recorded.text();
    assert!(text.contains("3us end 1 signal 9 user 5000 system 1000 peak 307200 "), "{text}");
    // The largest of its processes was the child's.
    assert!(text.contains("4us end 0 status 1 user 0 system 0 minor "), "{text}");
    assert!(text.contains("6us end 2 status 1 user 5000 system 1000 peak 204800 "), "{text}");
    assert_eq!(recorded.fact("recorded by").as_deref(), Some("barrow-sh"));
}

#[test]
fn what_is_torn_is_counted_and_the_rest_is_imported() {
    let whole = [begin(7, 1, "a", None, &["x"]), end(7, 4, "a", 0, 1, 0)];
    let torn = &begin(8, 2, "a", None, &["x"])[..70];
    let log = [MAGIC, &whole[0], "garbage\n", torn, "\n", &whole[1], &end(99, 5, "a", 0, 1, 0)].concat();
    let recorded = record(&log).expect("a log");
    assert_eq!(recorded.imported.processes, 1);
    assert!(recorded.text().contains("4us end 0"));
    let at = MAGIC.len() + whole[0].len();
    let lost = recorded.lost().expect("a loss");
    assert!(lost.starts_with("3 records were left out, "), "{lost}");
    let place = format!("; the first is at byte {at}: `garbage\\n`; 1 process was imported");
    assert!(lost.ends_with(&place), "{lost}");

    let alone = [MAGIC, &end(99, 5, "a", 0, 1, 0)].concat();
    let error = record(&alone).map(drop).expect_err("nothing is there").to_string();
    let expected = format!(
        "no process: 1 record was left out, {} bytes in all; the first is at byte 23: the end of process 99, of which no \
         beginning is there",
        alone.len() - MAGIC.len() - "<e></e>\n".len()
    );
    assert_eq!(error, expected);
    let error = record(MAGIC).map(drop).expect_err("nothing is there").to_string();
    assert_eq!(error, "the log of 23 bytes holds no process");
}

/// A record of a wrapper on a host whose clock says these seconds.
fn at(seconds: u64, record: &str) -> String {
    record.replace("sec=\"1700000000\"", &format!("sec=\"{seconds}\""))
}

/// A build on hosts a and b: the clock of b is an hour and a bit ahead.
fn two_hosts(ahead: u64) -> String {
    [
        MAGIC.to_owned(),
        at(1000, &begin(10, 0, "a", None, &["make"])),
        at(1001 + ahead, &begin(10, 0, "b", None, &["gcc"])),
        at(1002, &begin(11, 0, "a", Some(10), &["gcc"])),
        at(1003, &end(11, 0, "a", 0, 1, 0)),
        at(1003 + ahead, &end(10, 0, "b", 1, 1, 0)),
        at(1004, &end(10, 0, "a", 0, 1, 0)),
    ]
    .concat()
}

#[test]
fn clocks_that_contradict_the_order_of_the_log_are_told_and_not_moved() {
    // Between 1000 and 1002, and between 1003 and 1004: 4601 lacks 3601 to 3599, 4603 lacks 3600 to 3599.
    let recorded = record(&two_hosts(3600)).expect("a log");
    let expected = "the clocks of hosts `a` and `b` contradict the order of the log; times are as they were logged. \
                    `barrow import --clock b=-3599.500s` would move those of the second host: an estimate, the least that \
                    fits is -3600s, the most is -3599s";
    assert_eq!(recorded.imported.notes, [expected]);
    let began = |process: &str| {
        let text = recorded.text();
        let line = text.lines().find(|line| line.contains(process)).expect("it is there").to_owned();
        let us: i64 = line.split("us ").next().expect("a time").parse().expect("a number");
        us
    };
    assert_eq!(began("begin 1 ") - began("begin 0 "), 3_601_000_000);
    // Half a second proves nothing, and names of hosts are data.
    assert_eq!(record(&two_hosts(0)).expect("a log").imported.notes, [""; 0]);
    let strange = record(&two_hosts(60).replace("\"b\"", "\"b; rm&#27;\"")).expect("a log");
    assert!(strange.imported.notes[0].contains("--clock HOST=-59.500s"), "{:?}", strange.imported.notes);
    assert!(!strange.imported.notes[0].contains('\u{1b}'));
}

#[test]
fn offsets_move_the_times_of_a_host() {
    let mut options = ImportOptions::default();
    let offsets = [("b".to_owned(), -3_600_000_000_000), ("c".to_owned(), 5)];
    options.of_formats.set(ClockOffsets(offsets.into()));
    let recorded = record_with(two_hosts(3600).as_bytes(), &options).expect("a log");
    assert_eq!(
        recorded.imported.notes,
        ["the times of host `b` were moved by -3600s", "no process ran on host `c`, whose clock was given"]
    );
    let text = recorded.text();
    let times: Vec<i64> =
        text.lines().filter_map(|line| line.split_once("us ")?.0.parse().ok()).map(|us: i64| us / 1_000_000).collect();
    let begun = times[0];
    assert_eq!(times.iter().map(|time| time - begun).collect::<Vec<_>>(), [0, 1, 2, 3, 3, 4]);
}
