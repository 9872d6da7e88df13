//! Announces the wrappers of a log to the writer.

use std::collections::HashMap;

use barrow_writer::{ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Usage, Word};

use super::clocks::{Bounds, Clocks};
use super::offsets::{ClockOffsets, seconds};
use super::record::{Event, Record};
use super::running::{EndedWrapper, Key, Wrapper, Wrappers};
use super::usage::Inclusive;
use crate::context::{Context, Outcome};
use crate::error::{ImportError, Stop};
use crate::processes::process_logs::{Clock, LogProgress, UnreadableParts, readable};

/// Attributes of wrappers that began others: their resources according to the log, children included.
const USER: &str = "user_ns including children";
const SYSTEM: &str = "system_ns including children";

/// Maximum number of hosts with a note on their clocks.
const MOST_NOTED: usize = 8;

/// The process that began another, and its wrapper if that still runs.
type Parent = (Option<ProcessId>, Option<(Key, ProcessId)>);

/// Announces records.
pub(super) struct Announcer<'c, 'w> {
    context: &'c Context<'w>,
    clock: Clock,
    reading: LogProgress<'c, 'w>,
    wrappers: Wrappers,
    hosts: HashMap<String, u32>,
    /// The offsets of hosts' clocks given by the user.
    offsets: ClockOffsets,
    clocks: Clocks,
    processes: u64,
    /// Number of wrappers that used less than those that they began.
    less_than_children: u64,
    /// The log has a field that only barrow-sh writes.
    is_of_barrow_sh: bool,
    pub(super) left_out: UnreadableParts,
}

impl<'c, 'w> Announcer<'c, 'w> {
    pub(super) fn new(context: &'c Context<'w>) -> Result<Self, ImportError> {
        context.writer.own_fact(Word::of_settings("clock"), "us")?;
        Ok(Announcer {
            context,
            clock: Clock::new(context.writer.created_ns()),
            reading: LogProgress::new(context)?,
            wrappers: Wrappers::default(),
            hosts: HashMap::new(),
            offsets: context.options.of_formats.get::<ClockOffsets>().cloned().unwrap_or_default(),
            clocks: Clocks::default(),
            processes: 0,
            less_than_children: 0,
            is_of_barrow_sh: false,
            left_out: UnreadableParts::new("record"),
        })
    }

    /// Reports that the log before `at` was read.
    pub(super) fn reached(&mut self, at: usize) -> Result<(), ImportError> {
        self.reading.reached(at)
    }

    /// Announces the record at `offset`, which is `bytes` long.
    pub(super) fn announce(&mut self, offset: usize, bytes: usize, record: &Record) -> Result<(), Stop> {
        let key = (self.host(record.host.as_deref()), record.pid);
        let wall_ns = record.wall_ns + i128::from(self.offsets.of(record.host.as_deref()));
        self.clocks.take(key.0, wall_ns);
        let time_ns = self.clock.since_created_ns(wall_ns);
        match &record.event {
            Event::Begin { parent, directory, arguments } => {
                let parent = parent.map(|parent| (key.0, parent));
                self.begin(key, time_ns, record.host.as_deref(), parent, directory.as_deref(), arguments)
            }
            &Event::End { exit_status, signal, used } => {
                self.is_of_barrow_sh |= signal.is_some() || used.is_some_and(|used| used.peak_bytes > 0);
                let end = ProcessEnd { exit_status, signal, used: Usage::default() };
                if self.end(key, time_ns, end, used)? {
                    return Ok(());
                }
                self.left_out.add(offset, bytes, || {
                    format!("the end of process {}, of which no beginning is there", record.pid)
                });
                Ok(())
            }
        }
    }

    /// The number of a host.
    fn host(&mut self, host: Option<&str>) -> u32 {
        let host = host.unwrap_or_default();
        if let Some(&number) = self.hosts.get(host) {
            return number;
        }
        let number = self.hosts.len() as u32;
        self.hosts.insert(host.to_owned(), number);
        number
    }

    fn begin(
        &mut self,
        key: Key,
        time_ns: i64,
        host: Option<&str>,
        parent: Option<Key>,
        directory: Option<&str>,
        arguments: &[String],
    ) -> Result<(), Stop> {
        let (parent_process, parent) = self.parent(parent)?;
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let executable = arguments.first().copied().filter(|program| program.contains('/'));
        let program = ProgramDescription { executable, directory, arguments: &arguments };
        let begun = ProcessDescription { time_ns, pid: key.1, parent: parent_process, host, program };
        let process = self.context.writer.begin_process(&begun)?;
        self.processes += 1;
        self.wrappers
            .begin(key, Wrapper { process, parent, children: Some(Inclusive::default()), has_children: false });
        Ok(())
    }

    /// The process that began another, and its wrapper if that still runs.
    fn parent(&mut self, parent: Option<Key>) -> Result<Parent, Stop> {
        let Some(key) = parent else { return Ok((None, None)) };
        if let Some(parent) = self.wrappers.running(key) {
            parent.has_children = true;
            return Ok((Some(parent.process), Some((key, parent.process))));
        }
        let Some(&mut EndedWrapper { process, ref mut used }) = self.wrappers.ended(key) else {
            return Ok((None, None));
        };
        let used = used.take();
        if let Some(used) = used {
            self.including_children(process, &used)?;
        }
        Ok((Some(process), None))
    }

    /// Ends a process. Returns whether it had begun.
    fn end(&mut self, key: Key, time_ns: i64, end: ProcessEnd, used: Option<Inclusive>) -> Result<bool, Stop> {
        let Some(wrapper) = self.wrappers.end(key, used) else { return Ok(false) };
        let own = used.zip(wrapper.children).map_or_else(Usage::default, |(used, children)| used - children);
        self.context.writer.end_process(wrapper.process, time_ns, &ProcessEnd { used: own, ..end })?;
        if let Some(used) = used.filter(|_| wrapper.has_children) {
            self.including_children(wrapper.process, &used)?;
            self.less_than_children += u64::from(wrapper.children.is_some_and(|children| used.is_less_than(&children)));
        }
        Ok(true)
    }

    /// Records the resources of a process that began others, which need not be the sum of those of all of them.
    fn including_children(&self, process: ProcessId, used: &Inclusive) -> Result<(), Stop> {
        let (user, system) = (used.user_ns.to_string(), used.system_ns.to_string());
        Ok(self.context.writer.process_attributes(process, &[(USER, &user), (SYSTEM, &system)])?)
    }

    /// The outcome of the import of a log of `length` bytes.
    pub(super) fn finish(self, length: usize, read: Result<(), Stop>) -> Result<Outcome, ImportError> {
        let mut notes = self.clock_notes();
        let Announcer { context, hosts, processes, less_than_children, .. } = self;
        let writer = context.writer;
        writer
            .own_fact(Word::of_settings("recorded by"), if self.is_of_barrow_sh { "barrow-sh" } else { "Kleknev" })?;
        let mut names = hosts.keys().filter(|host| !host.is_empty());
        if let (Some(host), None) = (names.next(), names.next()) {
            writer.own_fact(Word::of_names("host"), host)?;
        }
        if less_than_children > 0 {
            notes.push(format!(
                "processes that used less than those they began, since they did not wait for all of them: \
                 {less_than_children}; what they used themselves is not known"
            ));
        }
        let end = match read {
            Ok(()) => {
                self.reading.ended(length)?;
                self.left_out.end()
            }
            stopped => stopped,
        };
        Ok(Outcome { processes, notes, end, ..Outcome::default() })
    }

    /// Notes for the user on the clocks of hosts.
    fn clock_notes(&self) -> Vec<String> {
        let moved = self.offsets.0.iter().map(|(host, &offset_ns)| match self.hosts.contains_key(host) {
            true => format!("the times of host {} were moved by {}", quoted(host), seconds(offset_ns.into())),
            false => format!("no process ran on host {}, whose clock was given", quoted(host)),
        });
        let mut names: Vec<&str> = vec![""; self.hosts.len()];
        self.hosts.iter().for_each(|(name, &number)| names[number as usize] = name);
        let contradictions: Vec<(u32, Bounds)> = self.clocks.contradictions().collect();
        let more = contradictions.len().saturating_sub(MOST_NOTED);
        let noted = contradictions.iter().take(MOST_NOTED);
        let mut notes: Vec<String> =
            moved.chain(noted.map(|&(host, bounds)| contradiction(names[host as usize], names[0], bounds))).collect();
        if more > 0 {
            notes.push(format!("more hosts whose clocks contradict that of the first one: {more}"));
        }
        notes
    }
}

/// Note that the clock of a host contradicts that of the first one.
fn contradiction(host: &str, first: &str, bounds: Bounds) -> String {
    let hosts = format!("the clocks of hosts {} and {} contradict the order of the log", quoted(first), quoted(host));
    let Some(estimate_ns) = bounds.estimate_ns() else {
        return format!("{hosts}, and no offset makes them fit; times are as they were logged");
    };
    let [least, most] = [bounds.least_ns, bounds.most_ns].map(|ns| ns.map_or_else(|| "unknown".to_owned(), seconds));
    // A name that a shell would interpret is not repeated.
    let is_plain = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let name = if is_plain { host } else { "HOST" };
    format!(
        "{hosts}; times are as they were logged. `barrow import --clock {name}={}` would move those of the second host: an \
         estimate, the least that fits is {least}, the most is {most}",
        seconds(estimate_ns)
    )
}

/// The name of a host in a sentence.
fn quoted(host: &str) -> String {
    readable(host.as_bytes())
}
