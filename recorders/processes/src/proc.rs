//! What `/proc` says of a process.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use barrow_writer::Usage;

use crate::system;

/// What a process executes.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    pub(crate) executable: Option<String>,
    pub(crate) directory: Option<String>,
    pub(crate) arguments: Vec<String>,
}

/// Reads files of processes into one buffer.
#[derive(Default)]
pub(crate) struct Proc {
    buffer: Vec<u8>,
}

impl Proc {
    /// The program that a process executes now.
    pub(crate) fn executed(&mut self, pid: i32, with_arguments: bool) -> Executed {
        let link = |name: &str| {
            let target = std::fs::read_link(format!("/proc/{pid}/{name}")).ok()?;
            Some(target.to_string_lossy().into_owned())
        };
        let arguments = if with_arguments { self.file(pid, "cmdline") } else { "" };
        let arguments = arguments.strip_suffix('\0').unwrap_or(arguments);
        let arguments =
            if arguments.is_empty() { Vec::new() } else { arguments.split('\0').map(str::to_owned).collect() };
        Executed { executable: link("exe"), directory: link("cwd"), arguments }
    }

    /// What a process has used so far; the peak is that of its image.
    pub(crate) fn used(&mut self, pid: i32, tick_ns: u64) -> Usage {
        let mut used = Usage::default();
        // The name, in parentheses, may contain anything.
        let stat = self.file(pid, "stat");
        let fields: Vec<u64> = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest.split_ascii_whitespace().map(|field| field.parse().unwrap_or(0)).collect())
            .unwrap_or_default();
        // Numbered as in proc(5), where the state, the first of these, is field 3.
        let field = |number: usize| fields.get(number - 3).copied();
        (used.minor_faults, used.major_faults) = (field(10), field(12));
        let ticks = (field(14), field(15));
        let all = system::cpu_ns(pid);
        (used.user_ns, used.system_ns) = divided(all, ticks, tick_ns);
        for line in self.file(pid, "status").lines() {
            match line.split_once(':') {
                Some(("VmHWM", size)) => used.peak_bytes = kib(size),
                Some(("voluntary_ctxt_switches", count)) => used.voluntary_switches = count.trim().parse().ok(),
                Some(("nonvoluntary_ctxt_switches", count)) => used.involuntary_switches = count.trim().parse().ok(),
                _ => {}
            }
        }
        for line in self.file(pid, "io").lines() {
            match line.split_once(": ") {
                Some(("read_bytes", count)) => used.read_bytes = count.parse().ok(),
                Some(("write_bytes", count)) => used.written_bytes = count.parse().ok(),
                _ => {}
            }
        }
        used
    }

    /// The process that a thread belongs to.
    pub(crate) fn process_of(&mut self, thread: i32) -> Option<i32> {
        let status = self.file(thread, "status");
        status.lines().find_map(|line| line.strip_prefix("Tgid:")).and_then(|number| number.trim().parse().ok())
    }

    /// Whether a process ended and was not waited for.
    pub(crate) fn is_zombie(&mut self, pid: i32) -> bool {
        self.file(pid, "stat").rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
    }

    /// The memory of a process in bytes, where pages that several share are divided among them.
    pub(crate) fn proportional_bytes(&mut self, pid: i32) -> Option<u64> {
        let rollup = self.file(pid, "smaps_rollup");
        rollup.lines().find_map(|line| line.strip_prefix("Pss:")).and_then(kib)
    }

    /// How many processes the system has killed because memory ran out.
    pub(crate) fn killed_for_memory(&mut self) -> u64 {
        let counts = self.read(Path::new("/proc/vmstat"));
        counts.lines().find_map(|line| line.strip_prefix("oom_kill ")).and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    /// A variable of the environment that a process began with.
    pub(crate) fn variable(&mut self, pid: i32, name: &str) -> Option<String> {
        let environment = self.file(pid, "environ");
        let value = |entry: &str| Some(entry.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        environment.split('\0').find_map(value)
    }

    fn file(&mut self, pid: i32, name: &str) -> &str {
        self.read(Path::new(&format!("/proc/{pid}/{name}")))
    }

    /// The text of a file; empty if it cannot be read.
    fn read(&mut self, path: &Path) -> &str {
        self.buffer.clear();
        let read = File::open(path).and_then(|mut file| file.read_to_end(&mut self.buffer));
        if read.is_err() {
            self.buffer.clear();
        }
        if std::str::from_utf8(&self.buffer).is_err() {
            self.buffer = String::from_utf8_lossy(&self.buffer).into_owned().into_bytes();
        }
        std::str::from_utf8(&self.buffer).unwrap_or_default()
    }
}

/// All processor time, divided as the ticks are that the system counted in the program and in the system.
fn divided(all: Option<u64>, ticks: (Option<u64>, Option<u64>), tick_ns: u64) -> (Option<u64>, Option<u64>) {
    match (all, ticks) {
        (Some(all), (Some(user), Some(system))) => {
            let (user, system) = parts(all, user, system);
            (Some(user), Some(system))
        }
        (Some(all), _) => (Some(all), Some(0)),
        (None, (user, system)) => {
            (user.map(|ticks| ticks.saturating_mul(tick_ns)), system.map(|ticks| ticks.saturating_mul(tick_ns)))
        }
    }
}

/// `all` in two parts that are to each other as `user` to `system`. Of what is shorter than a tick, half is each.
pub(crate) fn parts(all: u64, user: u64, system: u64) -> (u64, u64) {
    let (user, whole) = if user + system == 0 { (1, 2) } else { (user, user + system) };
    let user = u64::try_from(u128::from(all) * u128::from(user) / u128::from(whole)).unwrap_or(all);
    (user, all - user)
}

fn kib(size: &str) -> Option<u64> {
    let number: u64 = size.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}
