//! The tables that Kleknev's author printed, from a log with the same numbers.

use std::collections::HashMap;

use barrow_analyzer::{ProcessId, ProcessRow, StringId};
use barrow_testdata::kleknev_log;

use crate::recorded::{Recorded, record_bytes};

/// "User CPU time per process, including children", as printed.
const USER: &str = "\
grep               7   (0%)     0.138   (0%)     0.018    0.020    0.021
UNKNOWN          807   (3%)  9.70E+04  (33%)  1.00e-03  120.192 9.68E+04
perl             196   (0%)    48.219   (0%)  8.00e-03    0.246    3.475
make               2   (0%)  9.68E+04  (33%)     7.039 4.84E+04 9.68E+04
gzip               2   (0%)     2.590   (0%)     1.027    1.295    1.563
fontforge        181   (0%)  1.07E+04   (3%)     0.036   59.335  478.814
mt1            11208  (46%)  6.53E+04  (22%)     0.221    5.827   43.241
rmo            11310  (47%)  8245.315   (2%)     0.047    0.729   12.356
assembly         121   (0%)  6492.729   (2%)    18.061   53.659  267.252
latex              8   (0%)    19.777   (0%)     0.890    2.472    7.475
kerner            60   (0%)  5117.562   (1%)    19.468   85.293  585.799
TOTAL          23902 (100%)  2.90E+05 (100%)  1.00e-03   12.122 9.68E+04
";

/// "System CPU time per process, including children", as printed.
const SYSTEM: &str = "\
grep               7   (0%)     0.054   (0%)  4.00e-03 7.71e-03    0.011
UNKNOWN          807   (3%)  1031.670  (34%)     0        1.278 1024.222
perl             196   (0%)     2.148   (0%)  2.00e-03    0.011    0.042
make               2   (0%)  1025.377  (33%)     0.896  512.688 1024.481
gzip               2   (0%)     0.039   (0%)     0.016    0.019    0.023
fontforge        181   (0%)    22.076   (0%)  9.00e-03    0.122    0.420
mt1            11208  (46%)   740.207  (24%)     0.023    0.066    0.359
rmo            11310  (47%)   157.911   (5%)  1.00e-03    0.014    0.069
assembly         121   (0%)    39.432   (1%)     0.163    0.326    0.556
latex              8   (0%)     1.581   (0%)     0.071    0.198    0.501
kerner            60   (0%)     1.638   (0%)  3.00e-03    0.027    0.164
TOTAL          23902 (100%)  3022.133 (100%)     0        0.126 1024.481
";

/// "Overall real time (start of first to end of last)", as printed.
const REAL: [(&str, &str); 12] = [
    ("grep", "1.82E+04"),
    ("UNKNOWN", "2.62E+04"),
    ("perl", "2.61E+04"),
    ("make", "2.61E+04"),
    ("gzip", "1.85E+04"),
    ("fontforge", "2.61E+04"),
    ("mt1", "1.82E+04"),
    ("rmo", "2210.419"),
    ("assembly", "3867.689"),
    ("latex", "7856.643"),
    ("kerner", "1306.752"),
    ("TOTAL", "2.62E+04"),
];

/// The facts about a process.
#[derive(Default)]
struct Process {
    parent: Option<ProcessId>,
    class: String,
    began_ns: i64,
    ended_ns: i64,
    /// User and system time.
    exclusive_ns: [u64; 2],
    including_children_ns: [Option<u64>; 2],
}

#[test]
fn the_tables_of_the_article_are_those_of_the_import() {
    let mut log = Vec::new();
    kleknev_log(&mut log, 1).expect("written to memory");
    let recorded = record_bytes(&log).expect("a log");
    assert_eq!((recorded.imported.processes, recorded.lost()), (23_902, None));
    assert_eq!(recorded.imported.notes, [""; 0]);
    let processes = processes(&recorded);
    for (class, expected) in REAL {
        let of_class = || processes.iter().filter(|process| class == "TOTAL" || process.class == class);
        let first = of_class().map(|process| process.began_ns).min().expect("some");
        let last = of_class().map(|process| process.ended_ns).max().expect("some");
        assert_eq!(number((last - first) as f64 / 1e9), expected, "{class}");
    }
    for (at, expected) in [USER, SYSTEM].into_iter().enumerate() {
        let inclusive = |process: &Process| process.including_children_ns[at].unwrap_or(process.exclusive_ns[at]);
        let rows: Vec<(&str, u64)> =
            processes.iter().map(|process| (process.class.as_str(), inclusive(process))).collect();
        assert_eq!(table(&rows), expected);
        // The exclusive times of all processes add up to the inclusive times of those without a parent.
        let exclusive_ns: u64 = processes.iter().map(|process| process.exclusive_ns[at]).sum();
        let roots = processes.iter().filter(|process| process.parent.is_none());
        assert_eq!(exclusive_ns, roots.map(inclusive).sum::<u64>());
    }
}

fn processes(recorded: &Recorded) -> Vec<Process> {
    let tables = recorded.recording.tables().expect("tables");
    let text = |id: StringId| tables.string(id);
    let mut processes: Vec<Process> = Vec::new();
    for row in recorded.rows() {
        match row {
            ProcessRow::Begin { time_ns, parent, program, .. } => {
                let class = class(text(program.arguments[2])).to_owned();
                processes.push(Process { parent, class, began_ns: time_ns, ..Process::default() });
            }
            ProcessRow::End { process, time_ns, used, .. } => {
                processes[process.0 as usize].ended_ns = time_ns;
                let exclusive_ns = [used.user_ns, used.system_ns].map(|ns| ns.expect("known"));
                processes[process.0 as usize].exclusive_ns = exclusive_ns;
            }
            ProcessRow::Attributes { process, attributes } => {
                let value =
                    |key| attributes.iter().find(|&&(name, _)| text(name) == key).map(|&(_, value)| text(value));
                let keys = ["user_ns including children", "system_ns including children"];
                let values = keys.map(|key| value(key).map(|value| value.parse().expect("a number")));
                processes[process.0 as usize].including_children_ns = values;
            }
            other => panic!("{other:?}"),
        }
    }
    processes
}

/// The class of a command.
fn class(command: &str) -> &str {
    match command.split(' ').next().unwrap_or_default() {
        "test" => "grep",
        ":" | "true;" => "UNKNOWN",
        name => name,
    }
}

/// A table as Kleknev prints it.
fn table(rows: &[(&str, u64)]) -> String {
    let mut by_class: HashMap<&str, Vec<u64>> = HashMap::new();
    for &(class, ns) in rows {
        by_class.entry(class).or_default().push(ns);
        by_class.entry("TOTAL").or_default().push(ns);
    }
    let all: u64 = by_class["TOTAL"].iter().sum();
    let row = |class: &str| {
        let values = &by_class[class];
        let (count, total) = (values.len(), values.iter().sum::<u64>());
        let seconds = |ns: u64| number(ns as f64 / 1e9);
        let (minimum, maximum) = (values.iter().min().expect("some"), values.iter().max().expect("some"));
        let percent = |part: u64, all: u64| format!("({}%)", part * 100 / all);
        let mean = number(total as f64 / 1e9 / count as f64);
        format!(
            "{class:<14}{count:>6} {:>6}  {} {:>6}  {} {mean} {}\n",
            percent(count as u64, rows.len() as u64),
            seconds(total),
            percent(total, all),
            seconds(*minimum),
            seconds(*maximum)
        )
    };
    let order = USER.lines().map(|line| line.split(' ').next().expect("a class"));
    order.map(row).collect()
}

/// A number in eight columns, as Kleknev prints it.
fn number(value: f64) -> String {
    let scientific = |text: String| {
        let (digits, exponent) = text.split_once('e').expect("an exponent");
        let exponent: i32 = exponent.parse().expect("a number");
        let letter = if exponent < 0 { 'e' } else { 'E' };
        format!("{digits}{letter}{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    };
    let text = match value {
        0.0 => "0    ".to_owned(),
        value if (0.01..10_000.0).contains(&value) => format!("{value:.3}"),
        value => scientific(format!("{value:.2e}")),
    };
    format!("{text:>8}")
}
