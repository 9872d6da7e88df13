//! Writes a recording of a synthetic build with many processes: `large_tree 1000000 build.barrow`.
//!
//! Recipes run one after the other: a shell that runs a compiler, which runs a compiler proper and an assembler.

use std::path::Path;

use barrow_processes::Usage;
use barrow_testdata::Random;
use barrow_writer::{Options, ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Writer, WriterError};

const MILLISECOND: i64 = 1_000_000;

struct Build {
    writer: Writer,
    random: Random,
    time_ns: i64,
    pid: u64,
}

impl Build {
    fn begin(&mut self, parent: Option<ProcessId>, arguments: &[&str]) -> Result<ProcessId, WriterError> {
        self.time_ns += MILLISECOND;
        self.pid = 2 + (self.pid + 1) % 4_000_000;
        let program =
            ProgramDescription { executable: Some(arguments[0]), directory: Some("/home/user/build"), arguments };
        let begun = ProcessDescription { time_ns: self.time_ns, pid: self.pid, parent, host: None, program };
        self.writer.begin_process(&begun)
    }

    fn end(&mut self, process: ProcessId) -> Result<(), WriterError> {
        self.time_ns += MILLISECOND;
        let mut up_to = |limit| Some(self.random.below(limit));
        let used = Usage {
            user_ns: up_to(1_000_000_000),
            system_ns: up_to(100_000_000),
            peak_bytes: up_to(1 << 30),
            minor_faults: up_to(10_000),
            major_faults: up_to(10),
            read_bytes: up_to(1 << 20),
            written_bytes: up_to(1 << 20),
            ..Usage::default()
        };
        let exit_status = Some(u64::from(self.random.below(1000) == 0));
        self.writer.end_process(process, self.time_ns, &ProcessEnd { exit_status, signal: None, used })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, path] = &arguments[..] else { return Err("large_tree COUNT FILE".into()) };
    let count: usize = count.parse()?;
    let writer = Writer::create(Path::new(path), Options::default())?;
    let mut build = Build { writer, random: Random::new(5), time_ns: 0, pid: 1000 };
    let make = build.begin(None, &["/usr/bin/make", "-j4"])?;
    let mut written = 1;
    while written < count {
        let (source, object) = (format!("src/module{written}/file.c"), format!("build/module{written}/file.o"));
        let command = format!("gcc -O2 -Wall -Iinclude -c {source} -o {object}");
        let shell = build.begin(Some(make), &["/bin/sh", "-c", &command])?;
        let flags = ["-O2", "-Wall", "-Iinclude"];
        let driver =
            build.begin(Some(shell), &[&["/usr/bin/gcc"], &flags[..], &["-c", &source, "-o", &object]].concat())?;
        let proper = build.begin(
            Some(driver),
            &[&["/usr/lib/gcc/x86_64-linux-gnu/14/cc1"], &flags[..], &["-quiet", &source]].concat(),
        )?;
        build.end(proper)?;
        let assembler = build.begin(Some(driver), &["/usr/bin/as", "-o", &object])?;
        for process in [assembler, driver, shell] {
            build.end(process)?;
        }
        written += 4;
    }
    build.end(make)?;
    build.writer.finish()?;
    Ok(())
}
