//! A log like the one described by Kleknev's author: the same number of processes of each class, with the same sums,
//! extremes and times. Only sums and extremes were printed, so the values in between are distributed evenly.

use std::io::{self, Write};

/// The host of all processes.
const HOST: &str = "tsukurimashou";
/// When the first record was written, in seconds since 1970: 10 March 2013, 16:55:26.30, in a time zone of UTC−6.
const BEGIN_NS: u64 = 1_362_956_126_300_000_000;
/// The process ids of a system with the usual limit.
const FIRST_PID: u64 = 5535;
const MOST_PIDS: u64 = 32_768;
/// Arguments are padded to this length, so that the log is as long as the author's.
const ARGUMENT_BYTES: usize = 1620;

/// A class of processes; times in milliseconds.
struct Class {
    /// The beginning of the command.
    command: &'static str,
    count: u64,
    user: Spread,
    system: Spread,
    /// When the first begins, since the first of all.
    begin_ms: u64,
    /// From the beginning of the first to the end of the last.
    wall_ms: u64,
}

/// A distribution of which only these numbers were printed.
#[derive(Clone, Copy)]
struct Spread {
    total: u64,
    minimum: u64,
    maximum: u64,
}

/// A process around others, children included.
struct Around {
    user_ms: u64,
    system_ms: u64,
    begin_ms: u64,
    end_ms: u64,
}

const fn class(
    command: &'static str,
    count: u64,
    user: [u64; 3],
    system: [u64; 3],
    begin_ms: u64,
    wall_ms: u64,
) -> Class {
    Class { command, count, user: spread(user), system: spread(system), begin_ms, wall_ms }
}

const fn spread([total, minimum, maximum]: [u64; 3]) -> Spread {
    Spread { total, minimum, maximum }
}

/// The wall time of the build.
const BUILD_MS: u64 = 26_200_000;
/// The two processes around all others: a make, and in it one that the author's report calls UNKNOWN.
const MAKE: Around = Around { user_ms: 96_769_000, system_ms: 1_024_481, begin_ms: 55_000, end_ms: BUILD_MS };
const UNKNOWN: Around = Around { user_ms: 96_768_900, system_ms: 1_024_222, begin_ms: 55_100, end_ms: BUILD_MS - 20 };

/// All other processes, as in the tables of the report. "UNKNOWN" there has no command that is recognised.
const CLASSES: [Class; 17] = [
    class("test -n x | grep -q x", 7, [138, 18, 21], [54, 4, 11], 0, 18_180_000),
    class(": UNKNOWN", 806, [226_000, 1, 3_000], [7_448, 0, 50], 20, BUILD_MS - 3_020),
    class("perl tools/", 196, [48_219, 8, 3_475], [2_148, 2, 42], 45_000, 26_140_000),
    class("make -C tools all", 1, [7_039, 7_039, 7_039], [896, 896, 896], 100_000, 30_000),
    class("gzip -9 notes.txt", 2, [2_590, 1_027, 1_563], [39, 16, 23], 62_000, 18_500_000),
    class("fontforge -script ", 181, [10_739_635, 36, 478_814], [22_076, 9, 420], 66_000, 26_060_000),
    class("mt1 tsuku ", 4_896, [9_124_277, 221, 35_435], [232_341, 24, 264], 70_000, 18_160_000),
    class("mt1 jieub ", 2_628, [48_973_380, 222, 43_241], [322_202, 23, 267], 72_000, 14_700_000),
    class("mt1 bll ", 1_236, [2_813_437, 230, 41_915], [69_856, 27, 359], 1_570_000, 789_072),
    class("mt1 tsuita ", 2_448, [4_392_772, 228, 20_344], [115_808, 25, 145], 15_070_000, 1_268_706),
    class("rmo ", 11_310, [8_245_315, 47, 12_356], [157_911, 1, 69], 18_240_000, 2_210_419),
    class("assembly tsuku ", 49, [1_368_566, 18_061, 39_734], [16_126, 257, 382], 18_280_000, 3_867_689),
    class("assembly jieub ", 36, [4_033_729, 28_839, 267_252], [11_013, 163, 556], 20_480_000, 1_223_974),
    class("assembly bll ", 12, [341_362, 24_510, 32_111], [4_035, 292, 372], 20_560_000, 115_090),
    class("assembly tsuita ", 24, [749_072, 24_227, 38_318], [8_258, 301, 386], 21_630_000, 256_804),
    class("latex proof", 8, [19_777, 890, 7_475], [1_581, 71, 501], 18_325_000, 7_856_643),
    class("kerner ", 60, [5_117_562, 19_468, 585_799], [1_638, 3, 164], 22_700_000, 1_306_752),
];

/// A process of the log.
struct Process {
    begin_ms: u64,
    end_ms: u64,
    user_ms: u64,
    system_ms: u64,
    /// The position of its parent.
    parent: Option<usize>,
    command: String,
}

/// A record: of the beginning or the end of a process.
type Moment = (u64, bool, usize);

/// Writes the log of that build `times` times over, one build after the other: 23,902 processes and 56 MB each.
///
/// # Errors
/// Those of `out`.
pub fn kleknev_log(out: &mut impl Write, times: u64) -> io::Result<()> {
    out.write_all(b"<kleknevMagicNumber />\n")?;
    let processes = processes();
    let moments = moments(&processes);
    let mut pids = vec![0; processes.len()];
    for build in 0..times {
        let mut next_pid = FIRST_PID;
        for &(time_ms, is_begin, at) in &moments {
            let wall_ns = BEGIN_NS + (build * (BUILD_MS + 10_000) + time_ms) * 1_000_000;
            let process = &processes[at];
            if is_begin {
                pids[at] = next_pid;
                // The two around all others keep theirs. Five processes run for each that is logged.
                next_pid = (next_pid + 5) % MOST_PIDS;
                next_pid = if next_pid < 1000 { next_pid + 1000 } else { next_pid };
                begin(out, pids[at], wall_ns, process.parent.map(|parent| pids[parent]), &process.command)?;
            } else {
                // Nothing was printed about the rest. The two around all others count its sum.
                let others = if at < 2 { processes.len() as u64 } else { 1 };
                end(out, pids[at], wall_ns, process.user_ms, process.system_ms, others)?;
            }
        }
    }
    Ok(())
}

fn processes() -> Vec<Process> {
    let around = |Around { user_ms, system_ms, begin_ms, end_ms }, parent, command: &str| Process {
        begin_ms,
        end_ms,
        user_ms,
        system_ms,
        parent,
        command: command.to_owned(),
    };
    let mut processes = vec![around(MAKE, None, "make all"), around(UNKNOWN, Some(0), "true; ./rebuild -j")];
    for class in &CLASSES {
        let (users, systems) = (values(class.user, class.count), values(class.system, class.count));
        for (number, (user_ms, system_ms)) in (0..).zip(users.into_iter().zip(systems)) {
            // Each takes a little more than its processor time; the last one ends when its class does.
            let took_ms = if class.count == 1 { class.wall_ms } else { user_ms + system_ms + 1 };
            let begin_ms = class.begin_ms + (class.wall_ms - took_ms) * number / (class.count - 1).max(1);
            let end_ms = begin_ms + took_ms;
            let parent = (begin_ms > UNKNOWN.begin_ms).then_some(1);
            processes.push(Process {
                begin_ms,
                end_ms,
                user_ms,
                system_ms,
                parent,
                command: format!("{}{number}", class.command),
            });
        }
    }
    processes
}

/// `count` values with this sum and these extremes: those in between are nearly equal.
fn values(spread: Spread, count: u64) -> Vec<u64> {
    let Spread { total, minimum, maximum } = spread;
    match count {
        1 => vec![total],
        2 => vec![maximum, minimum],
        _ => {
            let (rest, others) = (total - minimum - maximum, count - 2);
            let between = (0..others).map(|at| rest * (at + 1) / others - rest * at / others);
            [maximum].into_iter().chain(between).chain([minimum]).collect()
        }
    }
}

/// All beginnings and ends in the order of time; what began last ends first.
fn moments(processes: &[Process]) -> Vec<Moment> {
    let all = processes.iter().enumerate();
    let mut moments: Vec<Moment> =
        all.flat_map(|(at, process)| [(process.begin_ms, true, at), (process.end_ms, false, at)]).collect();
    moments.sort_by_key(|&(time_ms, is_begin, at)| (time_ms, is_begin, if is_begin { at } else { usize::MAX - at }));
    moments
}

fn begin(out: &mut impl Write, pid: u64, wall_ns: u64, parent: Option<u64>, command: &str) -> io::Result<()> {
    who(out, pid, wall_ns)?;
    if let Some(parent) = parent {
        writeln!(out, "  <parentPid value=\"{parent}\" />")?;
    }
    writeln!(out, "  <workingDir path=\"/home/mskala/tsukurimashou\" />")?;
    write!(out, "  <argv>\n    <a>/bin/sh</a>\n    <a>-c</a>\n    <a>{command} &amp;&amp; echo '")?;
    for number in 0..ARGUMENT_BYTES.saturating_sub(command.len()) / 12 {
        write!(out, " part-{number:06}")?;
    }
    writeln!(out, "' &gt;&#32;/dev/null</a>\n  </argv>\n</e>")
}

fn end(out: &mut impl Write, pid: u64, wall_ns: u64, user_ms: u64, system_ms: u64, others: u64) -> io::Result<()> {
    who(out, pid, wall_ns)?;
    writeln!(out, "  <exitStatus value=\"0\" />")?;
    let time = |ms: u64| (ms / 1000, ms % 1000 * 1000);
    let ((user, user_us), (system, system_us)) = (time(user_ms), time(system_ms));
    writeln!(
        out,
        "  <resourceUsage userSec=\"{user}\" userUSec=\"{user_us}\" systemSec=\"{system}\" systemUSec=\"{system_us}\" \
         maxRSS=\"0\" dataMemUsed=\"0\" stackMemUsed=\"0\" minorFaults=\"{}\" majorFaults=\"0\" nSwaps=\"0\" \
         blocksIn=\"0\" blocksOut=\"{}\" msgSent=\"0\" msgReceived=\"0\" signals=\"0\" voluntarySwitches=\"{}\" \
         involuntarySwitches=\"{}\" />\n</e>",
        1234 * others,
        8 * others,
        12 * others,
        3 * others
    )
}

fn who(out: &mut impl Write, pid: u64, wall_ns: u64) -> io::Result<()> {
    let (seconds, ns) = (wall_ns / 1_000_000_000, wall_ns % 1_000_000_000);
    writeln!(out, "<e>\n  <pid value=\"{pid}\" />\n  <wallTime sec=\"{seconds}\" nSec=\"{ns}\" />")?;
    writeln!(out, "  <hostName name=\"{HOST}\" />")
}
