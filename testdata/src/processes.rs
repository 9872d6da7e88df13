//! Trees of processes: small ones at random, and large ones that look like a build.

use barrow_writer::{
    Options, ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Usage, Writer, WriterError,
};

use crate::shelf::Shelf;
use barrow_statistics::Random;

/// An event in a tree of processes, as in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// A process begins: its parent, its number, its arguments; without arguments it was forked.
    Begin(Option<u32>, u64, Vec<String>),
    /// It executes another program.
    Execute(u32, Vec<String>, Usage),
    /// It ends.
    End(u32, u64, Usage),
    /// The memory of processes.
    Memory(Vec<(u32, u64)>),
    /// Another fact about it: a key and a value.
    Attribute(u32, String, String),
}

/// The events of a tree, with their times.
#[derive(Debug, Clone, Default)]
pub struct ProcessLog {
    /// Times in nanoseconds, none before the one before it.
    pub rows: Vec<(i64, Happening)>,
}

impl ProcessLog {
    /// Up to `most` processes with forks, several images, unknown counts, processes that outlive their parents and processes
    /// that do not end.
    #[must_use]
    pub fn random(random: &mut Random, most: u64) -> Self {
        let mut log = ProcessLog::default();
        let mut running: Vec<(u32, Usage)> = Vec::new();
        let (mut time, mut begun) = (0, 0u32);
        for _ in 0..1 + random.below(most * 3) {
            time += random.below(5) as i64;
            let chosen = (!running.is_empty()).then(|| random.below(running.len() as u64) as usize);
            let happening = match (random.below(8), chosen) {
                (0..4, _) | (_, None) if u64::from(begun) < most => {
                    let parent = chosen.filter(|_| random.below(8) > 0).map(|at| running[at].0);
                    let words = if random.below(2) == 0 { words(random) } else { Vec::new() };
                    running.push((begun, Usage::default()));
                    begun += 1;
                    Happening::Begin(parent, random.below(6), words)
                }
                (4, Some(at)) => {
                    let (process, used) = &mut running[at];
                    *used = more(random, used);
                    Happening::Execute(*process, words(random), *used)
                }
                (5, Some(_)) => Happening::Memory(running.iter().map(|(id, _)| (*id, random.below(100))).collect()),
                (_, Some(at)) => {
                    let (process, used) = running.swap_remove(at);
                    Happening::End(process, random.below(3), more(random, &used))
                }
                (_, None) => break,
            };
            log.rows.push((time, happening));
        }
        log
    }

    /// A build by `make -j slots` of about `processes` processes: for each file `sh`, `gcc`, `cc1` and `as`, and after each
    /// folder an archive; a link at the end.
    #[must_use]
    pub fn build(random: &mut Random, processes: u32, slots: usize) -> Self {
        build(random, processes, slots)
    }

    /// The bytes of a recording.
    ///
    /// # Panics
    /// If it cannot be recorded: it is in memory.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.record().expect("memory takes everything")
    }

    fn record(&self) -> Result<Vec<u8>, WriterError> {
        let shelf = Shelf::default();
        let options = Options { uuid: Some([7; 16]), created_ns: Some(0), ..Options::without_threads() };
        let writer = Writer::to_stream(Box::new(shelf.clone()), options)?;
        writer.fact("recorded by", "barrow record")?;
        writer.fact("command", "make -j4")?;
        writer.fact("cores", "4")?;
        for (time_ns, happening) in &self.rows {
            write(&writer, *time_ns, happening)?;
        }
        writer.finish()?;
        Ok(shelf.take())
    }
}

fn write(writer: &Writer, time_ns: i64, happening: &Happening) -> Result<(), WriterError> {
    match happening {
        Happening::Begin(parent, pid, words) => {
            let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
            let program = if words.is_empty() { ProgramDescription::default() } else { program(&arguments) };
            let parent = parent.map(ProcessId);
            writer.begin_process(&ProcessDescription { time_ns, pid: *pid, parent, host: None, program }).map(drop)
        }
        Happening::Execute(process, words, used) => {
            let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
            writer.process_image(ProcessId(*process), time_ns, &program(&arguments), *used)
        }
        Happening::End(process, status, used) => {
            let end = ProcessEnd { exit_status: Some(*status), signal: None, used: *used };
            writer.end_process(ProcessId(*process), time_ns, &end)
        }
        Happening::Memory(bytes) => {
            let bytes: Vec<(ProcessId, u64)> = bytes.iter().map(|&(id, bytes)| (ProcessId(id), bytes)).collect();
            writer.process_memory(time_ns, &bytes)
        }
        Happening::Attribute(process, key, value) => {
            writer.process_attributes(ProcessId(*process), &[(key.as_str(), value.as_str())])
        }
    }
}

fn program<'a>(arguments: &'a [&'a str]) -> ProgramDescription<'a> {
    ProgramDescription { executable: Some(arguments[0]), directory: Some("/src/project"), arguments }
}

fn words(random: &mut Random) -> Vec<String> {
    let lines =
        ["make", "sh -c x", "gcc -c a.c", "cc1 a.c", "as -o a.o", "ld -o a", "env gcc -c a.c", "python3 -m pytest"];
    lines[random.below(lines.len() as u64) as usize].split(' ').map(str::to_owned).collect()
}

/// Counts that are not less; some become unknown.
fn more(random: &mut Random, used: &Usage) -> Usage {
    let mut count = |before: Option<u64>, most: u64| {
        let more = random.below(most);
        (random.below(8) > 0).then(|| before.unwrap_or(0) + more)
    };
    Usage {
        user_ns: count(used.user_ns, 50),
        system_ns: count(used.system_ns, 9),
        peak_bytes: count(None, 1000),
        read_bytes: count(used.read_bytes, 20),
        written_bytes: count(used.written_bytes, 20),
        waiting_ns: count(used.waiting_ns, 30),
        ..Usage::default()
    }
}

const MILLISECOND: i64 = 1_000_000;

/// A build that is being made up: what will happen, not yet in order.
struct Build {
    /// Time, order at the same time, and what happens to the process that is numbered when the log is in order.
    rows: Vec<(i64, Happening)>,
    begun: u32,
}

impl Build {
    fn begin(&mut self, time: i64, parent: Option<u32>) -> u32 {
        let id = self.begun;
        self.begun += 1;
        self.rows.push((time, Happening::Begin(parent, 1000 + u64::from(id % 30_000), Vec::new())));
        id
    }

    fn execute(&mut self, time: i64, process: u32, line: &str) {
        let used = usage(0, 100_000, 1 << 20);
        self.rows.push((time, Happening::Execute(process, line.split(' ').map(str::to_owned).collect(), used)));
    }

    fn end(&mut self, time: i64, process: u32, user: i64, peak: u64) {
        self.rows.push((time, Happening::End(process, 0, usage(user, 2 * MILLISECOND, peak))));
    }
}

fn usage(user: i64, system: i64, peak: u64) -> Usage {
    Usage {
        user_ns: Some(user.unsigned_abs()),
        system_ns: Some(system.unsigned_abs()),
        peak_bytes: Some(peak),
        minor_faults: Some(peak / 4096),
        major_faults: Some(0),
        read_bytes: Some(0),
        written_bytes: Some(peak / 100),
        voluntary_switches: Some(3),
        involuntary_switches: Some(1),
        waiting_ns: None,
    }
}

fn build(random: &mut Random, processes: u32, slots: usize) -> ProcessLog {
    let mut build = Build { rows: Vec::new(), begun: 0 };
    let make = build.begin(0, None);
    build.execute(MILLISECOND, make, "make -j4");
    let mut free = vec![2 * MILLISECOND; slots.max(1)];
    let mut file = 0;
    while build.begun + 6 < processes {
        let slot = (0..free.len()).min_by_key(|&slot| free[slot]).unwrap_or(0);
        let start = free[slot];
        free[slot] = compile(&mut build, random, make, start, file) + MILLISECOND / 10;
        file += 1;
    }
    let end = free.iter().copied().max().unwrap_or(0);
    let link = build.begin(end, Some(make));
    build.execute(end + 300_000, link, "ld -o program --start-group a.o b.o --end-group");
    build.end(end + 900 * MILLISECOND, link, 800 * MILLISECOND, 900 << 20);
    build.end(end + 901 * MILLISECOND, make, 50 * MILLISECOND, 12 << 20);
    in_order(build.rows)
}

/// One file; returns when it is done.
fn compile(build: &mut Build, random: &mut Random, make: u32, start: i64, file: u32) -> i64 {
    let source = format!("src/part{}/file{file}.c", file / 40);
    let length = (20 + random.below(200)) as i64 * MILLISECOND;
    let shell = build.begin(start, Some(make));
    build.execute(start + 200_000, shell, &format!("/bin/sh -c gcc -O2 -Iinclude -c {source}"));
    let driver = build.begin(start + 500_000, Some(shell));
    build.execute(
        start + 700_000,
        driver,
        &format!("gcc -O2 -Iinclude -I/usr/include/x -DNDEBUG -c {source} -o {file}.o"),
    );
    let compiler = build.begin(start + MILLISECOND, Some(driver));
    build.execute(
        start + MILLISECOND + 200_000,
        compiler,
        &format!("/usr/libexec/gcc/cc1 -quiet {source} -o /tmp/cc{file}.s"),
    );
    let done = start + MILLISECOND + length;
    build.end(done, compiler, length * 9 / 10, (30 << 20) + random.below(200 << 20));
    let assembler = build.begin(done + 200_000, Some(driver));
    build.execute(done + 400_000, assembler, &format!("as --64 -o {file}.o /tmp/cc{file}.s"));
    build.end(done + 10 * MILLISECOND, assembler, 8 * MILLISECOND, 9 << 20);
    build.end(done + 11 * MILLISECOND, driver, MILLISECOND, 3 << 20);
    build.end(done + 12 * MILLISECOND, shell, MILLISECOND, 2 << 20);
    done + 12 * MILLISECOND
}

/// The rows in the order of time, with processes numbered in the order in which they begin, and samples of memory.
fn in_order(mut rows: Vec<(i64, Happening)>) -> ProcessLog {
    let mut ids = Vec::new();
    let begins = rows.iter().filter(|(_, what)| matches!(what, Happening::Begin(..)));
    let mut begins: Vec<(i64, usize)> = begins.enumerate().map(|(id, (time, _))| (*time, id)).collect();
    begins.sort_unstable();
    ids.resize(begins.len(), 0);
    (0..).zip(&begins).for_each(|(new, &(_, old))| ids[old] = new);
    rows.sort_by_key(|(time, _)| *time);
    let renamed = |id: u32| ids[id as usize];
    let mut log = ProcessLog::default();
    let mut running: Vec<u32> = Vec::new();
    let mut begun = 0;
    for (time, what) in rows {
        let what = match what {
            Happening::Begin(parent, pid, words) => {
                running.push(begun);
                begun += 1;
                Happening::Begin(parent.map(renamed), pid, words)
            }
            Happening::Execute(id, words, used) => Happening::Execute(renamed(id), words, used),
            Happening::End(id, status, used) => {
                running.retain(|&one| one != renamed(id));
                Happening::End(renamed(id), status, used)
            }
            other => other,
        };
        log.rows.push((time, what));
        if log.rows.len() % 50 == 0 {
            let bytes = running.iter().map(|&id| (id, 1_000_000 * u64::from(1 + id % 60))).collect();
            log.rows.push((time, Happening::Memory(bytes)));
        }
    }
    log
}
