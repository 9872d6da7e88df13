//! Process trees whose rows contradict each other: times before their beginning, counts that overflow, processes that
//! execute after their end. Every question has an answer or a clear error.

use barrow_query::commands::COMMANDS;
use barrow_query::{Question, Session, Settings, Workspace};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{Options, ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Usage, Writer};

const TIMES: [i64; 8] = [i64::MIN, i64::MIN + 1, -1, 0, 1, 1_000_000_000, i64::MAX - 1, i64::MAX];
const COUNTS: [Option<u64>; 6] = [None, Some(0), Some(1), Some(1 << 40), Some(u64::MAX - 1), Some(u64::MAX)];
const WORDS: [&str; 10] =
    ["", "make", "-j0", "-j99999999999999999999", "sh", "-c", "gcc -c \u{202e}x.c", "\x1b[2J\r\n", "\"'`$(", "cc1"];
const KEYS: [&str; 5] = ["label", "not waited for", "killed by", "heap", "user_ns including children"];

/// Questions besides the examples of all verbs.
const LINES: [&str; 22] = [
    "summary",
    "tree",
    "tree --depth 3",
    "processes 100 by wall",
    "processes by memory",
    "classes by memory",
    "classes by wall histogram log",
    "classes program",
    "classes unit histogram",
    "info 1:0",
    "find wall > 1s by total.cpu",
    "find class != a or peak > 1 or memory >= 0",
    "count total.reads > 5 and began < 1s and depth >= 0",
    "assert memory() < 1G",
    "assert wall() < 1s and cpu() < 1s and peak() < 1G and failed() = 0",
    "critical --min 0%",
    "what-if --memory 1G",
    "what-if compiler 2x -j 3",
    "what-if --slots compiler=1 --slots linker=2",
    "lanes 0s..1s",
    "lanes program --cells 7",
    "count running or failed or forked or waited or outofmemory",
];

fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len() as u64) as usize]
}

fn usage(random: &mut Random) -> Usage {
    let mut count = || pick(random, &COUNTS);
    Usage {
        user_ns: count(),
        system_ns: count(),
        peak_bytes: count(),
        minor_faults: count(),
        major_faults: count(),
        read_bytes: count(),
        written_bytes: count(),
        voluntary_switches: count(),
        involuntary_switches: count(),
        waiting_ns: count(),
    }
}

fn lies(random: &mut Random) -> Vec<u8> {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::without_threads()).unwrap();
    for key in ["cores", "memory", "recorded by", "command"] {
        writer.fact(key, pick(random, &["0", "1", "-3", "18446744073709551615", "x", "barrow-sh", ""])).unwrap();
    }
    let mut begun: Vec<ProcessId> = Vec::new();
    for _ in 0..1 + random.below(40) {
        let time_ns = pick(random, &TIMES);
        let words: Vec<&str> = (0..random.below(4)).map(|_| pick(random, &WORDS)).collect();
        let executable = (random.below(2) == 0).then(|| pick(random, &WORDS));
        let program = ProgramDescription { executable, directory: executable, arguments: &words };
        let Some(&process) = begun.get(random.below(begun.len().max(1) as u64) as usize) else {
            let first = ProcessDescription { time_ns, pid: 1, program, ..ProcessDescription::default() };
            begun.push(writer.begin_process(&first).unwrap());
            continue;
        };
        match random.below(6) {
            0 | 1 => {
                let parent = (random.below(4) > 0).then_some(process);
                let host = (random.below(3) == 0).then(|| pick(random, &WORDS));
                let pid = pick(random, &[0, 1, 2, u64::MAX]);
                begun.push(writer.begin_process(&ProcessDescription { time_ns, pid, parent, host, program }).unwrap());
            }
            2 => writer.process_image(process, time_ns, &program, usage(random)).unwrap(),
            3 => {
                let end = ProcessEnd {
                    exit_status: pick(random, &COUNTS),
                    signal: pick(random, &COUNTS),
                    used: usage(random),
                };
                writer.end_process(process, time_ns, &end).unwrap();
            }
            4 => {
                let bytes: Vec<_> = begun.iter().map(|&id| (id, pick(random, &COUNTS).unwrap_or(7))).collect();
                writer.process_memory(time_ns, &bytes).unwrap();
            }
            _ => {
                writer.process_attributes(process, &[(pick(random, &KEYS), pick(random, &WORDS))]).unwrap();
                writer.process_heap(process, [random.below(256) as u8; 16]).unwrap();
            }
        }
    }
    writer.finish().unwrap();
    shelf.take()
}

#[test]
fn trees_that_contradict_themselves_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lies.barrow");
    let examples = COMMANDS.iter().filter(|command| !command.writes()).map(|command| command.example);
    let lines: Vec<&str> = examples.chain(LINES).collect();
    let mut answered = 0;
    for seed in 0..300 {
        std::fs::write(&path, lies(&mut Random::new(seed))).unwrap();
        let settings = Settings { no_index: true, ..Settings::default() };
        let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
        session.open(&path.display().to_string()).unwrap();
        for line in &lines {
            // Some examples are for a shell.
            let Ok(Some(question)) = Question::of_line(line) else { continue };
            match session.ask(&question) {
                Ok(answer) => {
                    assert!(!serde_json::to_string(&answer).unwrap().is_empty());
                    answered += 1;
                }
                Err(error) => assert!(!error.to_string().is_empty(), "{line}"),
            }
        }
    }
    assert!(answered > 300 * 20, "{answered}");
}
