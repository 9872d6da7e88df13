//! One run of a program: its environment, its layout, and what it used.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use crate::child::{Child, Waited};
use crate::ended::Ended;
use crate::environment::{Environment, padded_path};
use crate::error::TrialError;
use crate::events::{Counter, Event};
use crate::heap::Heap;
use crate::how::How;
use crate::layout::{Knobs, LayoutKind};
use crate::order::Start;
use crate::output::Output;
use crate::plan::OutputTo;
use crate::program::Program;
use crate::shim::{Counters, Shim};
use crate::starter::Starter;

/// Interval between checks for a request to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// The measurements of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) ended: Ended,
    pub(crate) used: Waited,
    pub(crate) heap: Heap,
    pub(crate) events: Vec<(&'static str, u64)>,
}

/// The state shared by all runs.
pub(crate) struct Runner {
    pub(crate) output: Output,
    pub(crate) shim: Option<Shim>,
    pub(crate) events: Vec<Event>,
    pub(crate) starter: Starter,
    input: File,
    environment: Environment,
}

/// A program that is ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) program: Program,
    pub(crate) words: Vec<OsString>,
    /// Knobs that do nothing for it.
    pub(crate) missing: Knobs,
}

impl Runner {
    /// Everything that runs need. `input` is what programs read; `output` is where [`Route::File`](super::output::Route::File) leads.
    pub(crate) fn new(input: File, output: &OutputTo, events: Vec<Event>) -> Result<Self, TrialError> {
        let output = Output::new(output).map_err(TrialError::io("open what programs print to"))?;
        // After all that programs are to have is open.
        let starter = Starter::new().map_err(TrialError::io("start the process that starts programs"))?;
        Ok(Runner {
            output,
            shim: Shim::unpack().map_err(TrialError::io("unpack the shim"))?,
            events,
            starter,
            input,
            environment: Environment::inherited(),
        })
    }

    /// A program with what it can do; `missing` are knobs that the system does not have.
    pub(crate) fn prepare(&self, words: Vec<OsString>, missing: Knobs) -> Result<Prepared, TrialError> {
        let program = Program::find(words.first().map_or(OsStr::new(""), OsString::as_os_str))?;
        let mut missing = missing;
        if program.kind.reason().is_some() || self.shim.is_none() {
            missing = missing.and(Knobs::HEAP).and(Knobs::STACK);
        }
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            missing = missing.and(Knobs::STACK);
        }
        Ok(Prepared { program, words, missing })
    }

    /// Runs a program once. `None` if `is_stopped` said so before its end.
    pub(crate) fn run(
        &mut self,
        prepared: &Prepared,
        how: How<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Measured>, TrialError> {
        let counters = match &mut self.shim {
            Some(shim) if needs_shim(prepared, how) => Some(shim.counters().map_err(TrialError::io("make counters"))?),
            _ => None,
        };
        self.run_with(prepared, how, counters, is_stopped)
    }

    fn run_with(
        &mut self,
        prepared: &Prepared,
        how: How<'_>,
        counters: Option<Counters>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Measured>, TrialError> {
        let begun = self.output.begin(how.output, how.patterns, how.keeps_all);
        begun.map_err(TrialError::io("clear the output"))?;
        let shim = self.shim.as_ref().map(Shim::library).zip(counters.as_ref());
        let start = Start {
            path: padded_path(&prepared.program.path, how),
            words: &prepared.words,
            environment: self.environment.of_run(how, shim),
            input: if how.has_terminal { 0 } else { self.input.as_raw_fd() },
            output: self.output.descriptor(how.output),
            errors: (!how.shows_errors).then(|| self.output.errors()),
            aslr: how.round.aslr,
            thp: how.round.thp,
            has_group: !how.has_terminal,
        };
        let mut opened = Vec::new();
        let events = self.events.clone();
        let mut open = |pid| opened.extend(events.iter().filter_map(|event| Counter::of(*event, pid).ok()));
        let before: Option<&mut dyn FnMut(_)> = if events.is_empty() { None } else { Some(&mut open) };
        rewind(&self.input).map_err(TrialError::io("read the input again"))?;
        let child = Child::start(&mut self.starter, &start, before).map_err(TrialError::io("start a process"))?;
        let began = Instant::now();
        let mut timed_out = false;
        let readers = self.output.readers();
        while !how.has_terminal && !child.has_ended_within(patience(how.time_limit, began), readers) {
            self.output.read().map_err(TrialError::io("read the output"))?;
            if is_stopped() {
                return Ok(None);
            }
            if how.time_limit.is_some_and(|limit| began.elapsed() >= limit) {
                timed_out = true;
                // Each time, since the child may not have begun before.
                child.kill();
            }
        }
        let cannot = |cause| TrialError::CannotRun { program: prepared.program.path.display().to_string(), cause };
        let used = child.wait().map_err(cannot)?;
        self.output.finish().map_err(TrialError::io("read the output"))?;
        let ended = Ended { exit_status: used.exit_status, signal: used.signal, timed_out };
        let heap = match counters {
            Some(counters) => match counters.read(used.pid as u64).map_err(TrialError::io("read counters"))? {
                // The library only moved memory.
                Heap::Counted(_) if !how.counts_heap => Heap::NotAsked,
                heap => heap,
            },
            None => Heap::NotAsked,
        };
        let events = opened.into_iter().filter_map(|counter| Some((counter.event.name, counter.read()?))).collect();
        Ok(Some(Measured { ended, used, heap, events }))
    }
}

/// Whether a program must load the shim, which counts allocations and moves memory.
fn needs_shim(prepared: &Prepared, how: How<'_>) -> bool {
    let has_knobs = how.round.heap.is_some() || how.round.stack.is_some();
    // A fixed layout has no blocks.
    let moves = has_knobs && how.layout.kind == LayoutKind::Random;
    prepared.program.kind.reason().is_none() && (how.counts_heap || moves)
}

/// Time to wait for the end before checking other conditions.
fn patience(limit: Option<Duration>, began: Instant) -> Duration {
    let left = limit.map_or(PATIENCE, |limit| limit.saturating_sub(began.elapsed()));
    left.clamp(Duration::from_millis(1), PATIENCE)
}

fn rewind(mut input: &File) -> io::Result<()> {
    // A pipe cannot be read again; each run reads on.
    match io::Seek::rewind(&mut input) {
        Err(error) if error.raw_os_error() != Some(libc::ESPIPE) => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::output::Route;
    use crate::round::Round;
    use crate::starter::PEAK_STEP;
    use crate::system;

    pub(crate) fn how(text: &str) -> How<'static> {
        let layout: Layout = text.parse().unwrap();
        How {
            layout,
            round: Round::of(layout, 7),
            seed: 7,
            values: None,
            counts_heap: true,
            output: Route::Pipe,
            shows_errors: false,
            patterns: &[],
            keeps_all: false,
            time_limit: None,
            has_terminal: false,
        }
    }

    #[test]
    fn a_run_is_measured() {
        let mut runner = Runner::new(File::open("/dev/null").unwrap(), &OutputTo::Pipe, Vec::new()).unwrap();
        let run = |runner: &mut Runner, script: &str, limit| {
            let words = ["sh", "-c", script].map(OsString::from).to_vec();
            let prepared = runner.prepare(words, Knobs::NONE).unwrap();
            runner.run(&prepared, How { time_limit: limit, ..how("fixed") }, &|| false).unwrap().unwrap()
        };
        let measured = run(&mut runner, "echo out; echo err >&2; exit 3", None);
        assert_eq!(measured.ended, Ended { exit_status: Some(3), ..Ended::default() });
        assert_eq!(runner.output.printed(Route::Pipe).text(), "out\nerr\n");
        assert!(measured.used.wall_ns > 0 && measured.used.peak_bytes > 100_000, "{measured:?}");
        assert!(matches!(measured.heap, Heap::Counted(counted) if counted.blocks > 0), "{measured:?}");
        assert_eq!(run(&mut runner, "kill -9 $$", None).ended.signal, Some(9));
        let late = run(&mut runner, "sleep 30 & sleep 30", Some(Duration::from_millis(50)));
        assert!(late.ended.timed_out && late.used.wall_ns < 5_000_000_000, "{late:?}");
        assert_eq!(late.ended.to_string(), "took longer than permitted");
    }

    #[test]
    fn the_memory_of_the_process_that_measures_is_not_measured() {
        let mut runner = Runner::new(File::open("/dev/null").unwrap(), &OutputTo::Pipe, Vec::new()).unwrap();
        let own = std::hint::black_box(vec![1_u8; 64 << 20]);
        let prepared = runner.prepare(["true"].map(OsString::from).to_vec(), Knobs::NONE).unwrap();
        // Each of the two peaks may lack a step of each processor.
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as i64);
        let steps = 2 * processors * PEAK_STEP;
        for _ in 0..2 {
            let measured = runner.run(&prepared, how("as-is"), &|| false).unwrap().unwrap();
            let peak = measured.used.peak_bytes;
            assert!(peak > 100_000 && peak < own.len() as i64 / 2, "{peak}");
            assert!(peak + steps >= runner.starter.peak_bytes(), "{measured:?} of {}", runner.starter.peak_bytes());
        }
    }

    #[test]
    fn a_program_may_run_on_all_processors_that_barrow_may_run_on() {
        let mut runner = Runner::new(File::open("/dev/null").unwrap(), &OutputTo::Pipe, Vec::new()).unwrap();
        let words = ["grep", "Cpus_allowed_list", "/proc/self/status"].map(OsString::from).to_vec();
        let prepared = runner.prepare(words, Knobs::NONE).unwrap();
        runner.run(&prepared, how("as-is"), &|| false).unwrap().unwrap();
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        let own = own.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap();
        assert_eq!(runner.output.printed(Route::Pipe).text().trim_end(), own);
    }

    /// The system switches randomised addresses on again when a program gains rights.
    #[test]
    fn what_becomes_a_program_with_other_rights_has_addresses_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let cat = Program::find(OsStr::new("cat")).unwrap().path;
        std::fs::copy(cat, &program).unwrap();
        let mut runner = Runner::new(File::open("/dev/null").unwrap(), &OutputTo::Pipe, Vec::new()).unwrap();
        let mut run = |layout| {
            let words = vec!["env".into(), program.clone().into(), "/proc/self/personality".into()];
            let prepared = runner.prepare(words, Knobs::NONE).unwrap();
            let measured = runner.run(&prepared, how(layout), &|| false).unwrap().unwrap();
            (measured.used.has_own_addresses, runner.output.printed(Route::Pipe).text())
        };
        let without_rights = run("fixed");
        assert!(!without_rights.0 && without_rights.1.contains("00040000"), "{without_rights:?}");
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o4755)).unwrap();
        if !system::forbids_new_rights(&program) {
            let with_rights = run("fixed");
            assert!(with_rights.0 && with_rights.1.contains("00000000"), "{with_rights:?}");
            assert!(!run("as-is").0);
        }
    }

    #[test]
    fn what_is_too_long_is_an_error_and_the_next_program_runs() {
        let mut runner = Runner::new(File::open("/dev/null").unwrap(), &OutputTo::Pipe, Vec::new()).unwrap();
        let words = |text: String| vec!["true".into(), OsString::from(text)];
        for bytes in [1 << 20, 9 << 20] {
            let prepared = runner.prepare(words("x".repeat(bytes)), Knobs::NONE).unwrap();
            assert!(runner.run(&prepared, how("as-is"), &|| false).is_err(), "{bytes}");
            let prepared = runner.prepare(words("x".to_owned()), Knobs::NONE).unwrap();
            let measured = runner.run(&prepared, how("as-is"), &|| false).unwrap().unwrap();
            assert_eq!(measured.ended.exit_status, Some(0));
        }
    }

    #[test]
    fn a_run_can_be_stopped() {
        let mut runner = Runner::new(File::open("/dev/null").unwrap(), &OutputTo::Pipe, Vec::new()).unwrap();
        let prepared = runner.prepare(["sleep", "30"].map(OsString::from).to_vec(), Knobs::NONE).unwrap();
        assert_eq!(runner.run(&prepared, how("as-is"), &|| true).unwrap(), None);
    }
}
