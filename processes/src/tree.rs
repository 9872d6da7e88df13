//! A process tree in memory: processes, the programs they executed, and their starters.
//!
//! ```text
//!   100:0 make ─┬─ 101:0 sh ──exec──▶ gcc ─┬─ 102:0 cc1        process 101:0 has two images
//!               │                          └─ 103:0 as         cc1 and as were started by its second image
//!               └─ 104:0 make (forked)                         executes what its parent executes
//! ```
//!
//! Processes are numbered in order of start, so a parent's number is smaller than its children's; likewise images. The
//! resources that a forked process used before its first exec count for its first image, except for the peak of its
//! memory, which was a copy of its parent's.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use barrow_analyzer::{
    AnalyzerError, ProcessId, ProcessRow, Program, Progress, Recording, Silent, StringId, Tables, Usage,
};
use foldhash::fast::RandomState;

use crate::error::Result;
use crate::knowledge::{Knowledge, MEASURED, is_at_least};

/// An image: one program that a process executed. Numbered from 0 in order of start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId(pub u32);

impl ImageId {
    /// The id as a position.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The number that the system gave it.
    pub pid: u64,
    /// Number of processes with the same number, on the same host, that began before it.
    pub serial: u32,
    /// The machine it ran on, if that was recorded.
    pub host: Option<StringId>,
    /// The process that started it.
    pub parent: Option<ProcessId>,
    /// The image of the parent that started it.
    pub started_by: Option<ImageId>,
    /// Start, in nanoseconds since the recording began.
    pub began_ns: i64,
    /// Its end; `None` if it was still running when the recording ended.
    pub end: Option<End>,
    /// Its first image.
    pub first_image: ImageId,
    /// Its last image.
    pub last_image: ImageId,
    /// Its time as a copy of its parent before its first exec; `None` if it was not forked, or never executed.
    pub before_exec: Option<BeforeExec>,
    /// The unique identifier of the recording of its heap, if it wrote one.
    pub heap: Option<[u8; 16]>,
    /// The target that it builds, if stated.
    pub label: Option<StringId>,
    /// Whether it is recorded that its parent never waited for it, or ignored all ends; see [`Knowledge::waits`].
    pub is_not_waited_for: bool,
    /// Whether it is recorded that the system killed it because memory was short; see [`Knowledge::memory_kills`].
    pub is_killed_for_memory: bool,
    /// Whether its last image used at least what is recorded of it: it ended without a call that tells.
    pub is_at_least: bool,
    /// Whether it ran untraced, with all that it started.
    pub is_untraced: bool,
    /// All attributes, including those of the last five fields: keys and values.
    pub attributes: Vec<(StringId, StringId)>,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Time, in nanoseconds since the recording began.
    pub time_ns: i64,
    /// Its exit status, unless a signal ended it.
    pub exit_status: Option<u64>,
    /// The signal that ended it.
    pub signal: Option<u64>,
}

impl End {
    /// Whether it failed: ended by a signal, or with an exit status other than 0.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.signal.is_some() || self.exit_status.is_some_and(|status| status != 0)
    }

    /// Whether its exit status or signal is known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.signal.is_some() || self.exit_status.is_some()
    }
}

/// The time of a process between its fork and its first exec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BeforeExec {
    /// Time of the first exec, in nanoseconds since the recording began.
    pub until_ns: i64,
    /// The peak of its memory as a copy of its parent.
    pub peak_bytes: Option<u64>,
}

/// One program that a process executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The process.
    pub process: ProcessId,
    /// Its number among the images of the process, from 0.
    pub number: u32,
    /// The next image of the process.
    pub next: Option<ImageId>,
    /// Start, in nanoseconds since the recording began.
    pub began_ns: i64,
    /// End; `None` if it was still running when the recording ended.
    pub ended_ns: Option<i64>,
    /// Whether the process was forked and has not executed a program: this is a copy of its parent. A process without a
    /// parent and without a known program may have executed one.
    pub is_forked: bool,
    /// The program; of a forked process, that of its parent.
    pub program: ProgramId,
    /// Its resource use, without its children.
    pub used: Usage,
}

/// A program with its arguments: a position among those of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramId(u32);

impl ProgramId {
    /// The id as a position.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The memory of processes at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<'t> {
    /// Time, in nanoseconds since the recording began.
    pub time_ns: i64,
    /// The image that each measured process was running, and its memory in bytes. Shared pages are divided among those that
    /// share them.
    pub bytes: &'t [(ImageId, u64)],
}

impl Sample<'_> {
    /// The memory of all of them, in bytes.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.bytes.iter().fold(0, |sum, &(_, bytes)| sum.saturating_add(bytes))
    }
}

/// All processes of a recording.
#[derive(Debug)]
pub struct ProcessTree {
    recording: Arc<Recording>,
    processes: Vec<Process>,
    images: Vec<Image>,
    programs: Vec<Program>,
    /// The end of each sample in `sampled`, and its time.
    samples: Vec<(i64, usize)>,
    sampled: Vec<(ImageId, u64)>,
    /// The earliest and the latest time of any row.
    span: Option<(i64, i64)>,
    has_several_hosts: bool,
    knowledge: Knowledge,
}

/// Number of rows between two checks for cancellation: a cancelled question ends within milliseconds.
const ROWS: u64 = 1 << 12;

impl ProcessTree {
    /// Reads the process tree of a recording; it is empty if the recording has none.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub fn read(recording: Arc<Recording>) -> Result<Self> {
        Self::read_with(recording, &Silent)
    }

    /// The same, unless `progress` cancels it. Its steps are rows.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub fn read_with(recording: Arc<Recording>, progress: &dyn Progress) -> Result<Self> {
        let recorder = Knowledge::of_recorder(&recording);
        let mut reading = TreeBuilder::of(recording.tables()?);
        reading.knows_forks = recorder.is_some_and(|knows| knows.forks);
        let mut rows = 0_u64;
        progress.begin("reading processes", recording.process_row_count(), "rows");
        recording.process_rows(|row| {
            rows += 1;
            if rows.is_multiple_of(ROWS) {
                progress.advance(ROWS);
                if progress.cancelled() {
                    return Err(AnalyzerError::Cancelled);
                }
            }
            reading.take(row);
            Ok(())
        })?;
        let TreeBuilder { mut processes, images, programs, samples, sampled, span, ignoring, .. } = reading;
        // What an earlier program of the parent started, that may have waited for.
        let is_ignored = |process: &Process| {
            let parent = process.parent.filter(|parent| process.end.is_some() && ignoring.contains(parent));
            parent.is_some_and(|parent| process.started_by == Some(processes[parent.index()].last_image))
        };
        let ignored: Vec<bool> = processes.iter().map(is_ignored).collect();
        for (process, is_ignored) in processes.iter_mut().zip(ignored) {
            process.is_not_waited_for |= is_ignored;
        }
        let has_several_hosts = false;
        let knowledge = recorder.unwrap_or_else(|| {
            let has_waits = processes.iter().any(|process| process.is_not_waited_for);
            Knowledge::of_rows(has_waits, processes.iter().any(|process| process.is_killed_for_memory))
        });
        let tree = ProcessTree {
            recording,
            processes,
            images,
            programs,
            samples,
            sampled,
            span,
            has_several_hosts,
            knowledge,
        };
        Ok(ProcessTree { has_several_hosts: tree.hosts_differ(), ..tree })
    }

    /// The facts that the recording states about its processes.
    #[must_use]
    pub fn knowledge(&self) -> Knowledge {
        self.knowledge
    }

    /// Whether two of its processes ran on different machines.
    #[must_use]
    pub fn has_several_hosts(&self) -> bool {
        self.has_several_hosts
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Arc<Recording> {
        &self.recording
    }

    /// All processes, in the order in which they began.
    #[must_use]
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// All images, in the order in which they began.
    #[must_use]
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// A process.
    #[must_use]
    pub fn process(&self, id: ProcessId) -> &Process {
        &self.processes[id.index()]
    }

    /// An image.
    #[must_use]
    pub fn image(&self, id: ImageId) -> &Image {
        &self.images[id.index()]
    }

    /// The images of a process, one after the other.
    pub fn images_of(&self, process: ProcessId) -> impl Iterator<Item = (ImageId, &Image)> {
        let first = self.process(process).first_image;
        let ids = std::iter::successors(Some(first), |&id| self.image(id).next);
        ids.map(|id| (id, self.image(id)))
    }

    /// The image that started the process of `image`.
    #[must_use]
    pub fn started_by(&self, image: ImageId) -> Option<ImageId> {
        self.process(self.image(image).process).started_by
    }

    /// The samples of memory, in the order of the recording.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = Sample<'_>> {
        (0..self.samples.len()).map(|at| {
            let start = at.checked_sub(1).map_or(0, |before| self.samples[before].1);
            let (time_ns, end) = self.samples[at];
            Sample { time_ns, bytes: &self.sampled[start..end] }
        })
    }

    /// The first and the last recorded moment, in nanoseconds since the recording began; both 0 if there is none.
    #[must_use]
    pub fn span_ns(&self) -> (i64, i64) {
        self.span.unwrap_or_default()
    }

    /// The end of a process, or of the recording if it was still running then.
    #[must_use]
    pub fn ended_ns(&self, process: &Process) -> i64 {
        process.end.map_or(self.span_ns().1, |end| end.time_ns)
    }

    /// The end of an image, or of the recording if it was still running then.
    #[must_use]
    pub fn image_ended_ns(&self, image: &Image) -> i64 {
        image.ended_ns.unwrap_or(self.span_ns().1)
    }

    /// The time that an image ran, up to the end of the recording if it was still running then, in nanoseconds.
    #[must_use]
    pub fn wall_ns(&self, image: &Image) -> u64 {
        duration(image.began_ns, self.image_ended_ns(image))
    }

    /// A text of the recording.
    #[must_use]
    pub fn text(&self, id: StringId) -> &str {
        self.recording.tables().map_or("", |tables| tables.string(id))
    }

    /// Path of the program of an image, if that was recorded.
    #[must_use]
    pub fn executable(&self, image: &Image) -> Option<&str> {
        self.program(image).executable.map(|text| self.text(text))
    }

    /// The working directory in which an image began, if that was recorded.
    #[must_use]
    pub fn directory(&self, image: &Image) -> Option<&str> {
        self.program(image).directory.map(|text| self.text(text))
    }

    /// The arguments of an image, beginning with the name of the program.
    pub fn arguments(&self, image: &Image) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.program(image).arguments.iter().map(|&text| self.text(text))
    }

    /// The program of an image, with ids of texts.
    #[must_use]
    pub fn program(&self, image: &Image) -> &Program {
        &self.programs[image.program.index()]
    }

    /// All programs, each with its arguments. Images of forked processes share that of their parent.
    pub fn programs(&self) -> impl Iterator<Item = (ProgramId, &Program)> {
        (0..).map(ProgramId).zip(&self.programs)
    }

    /// Returns whether the recording of a command ends before the command did: it was cut, or its recorder was killed.
    #[must_use]
    pub fn ends_early(&self) -> bool {
        self.knowledge().one_command && self.processes().first().is_some_and(|command| command.end.is_none())
    }

    /// Returns whether an image used at least what is recorded of it.
    #[must_use]
    pub fn used_at_least(&self, id: ImageId) -> bool {
        let process = self.process(self.image(id).process);
        process.is_at_least && process.last_image == id
    }

    /// The ids of all images, in order of start.
    pub fn image_ids(&self) -> impl DoubleEndedIterator<Item = ImageId> + ExactSizeIterator {
        let count = u32::try_from(self.images().len()).unwrap_or(u32::MAX);
        (0..count).map(ImageId)
    }

    /// The value of an attribute of a process.
    #[must_use]
    pub fn attribute(&self, process: &Process, key: &str) -> Option<&str> {
        let found = process.attributes.iter().find(|&&(name, _)| self.text(name) == key);
        found.map(|&(_, value)| self.text(value))
    }

    pub(crate) fn program_of(&self, id: ProgramId) -> &Program {
        &self.programs[id.index()]
    }
}

/// The time from `from_ns` to `to_ns`; 0 if `to_ns` is earlier.
pub(crate) fn duration(from_ns: i64, to_ns: i64) -> u64 {
    if to_ns > from_ns { to_ns.abs_diff(from_ns) } else { 0 }
}

/// An attribute that questions look at.
#[derive(Debug, Clone, Copy)]
enum Attribute {
    Label,
    NotWaitedFor,
    EndsOfChildren,
    KilledBy,
    Measured,
    NotTraced,
    Other,
}

/// Takes rows one after the other.
struct TreeBuilder<'t> {
    tables: &'t Tables,
    /// The meaning of each key of attributes.
    keys: HashMap<StringId, Attribute, RandomState>,
    processes: Vec<Process>,
    images: Vec<Image>,
    programs: Vec<Program>,
    samples: Vec<(i64, usize)>,
    sampled: Vec<(ImageId, u64)>,
    span: Option<(i64, i64)>,
    /// Number of processes of each host and number.
    serials: HashMap<(Option<StringId>, u64), u32, RandomState>,
    /// Processes that ignore the ends of their children.
    ignoring: HashSet<ProcessId, RandomState>,
    /// The resources that processes with several images had used when the last image began.
    used: HashMap<ProcessId, Usage, RandomState>,
    /// Whether a process without a parent and without a program is a fork.
    knows_forks: bool,
}

impl<'t> TreeBuilder<'t> {
    fn of(tables: &'t Tables) -> Self {
        TreeBuilder {
            tables,
            keys: HashMap::default(),
            processes: Vec::new(),
            images: Vec::new(),
            programs: Vec::new(),
            samples: Vec::new(),
            sampled: Vec::new(),
            span: None,
            serials: HashMap::default(),
            ignoring: HashSet::default(),
            used: HashMap::default(),
            knows_forks: false,
        }
    }

    /// Adds a row. Ids in the row were checked by the analyzer.
    fn take(&mut self, row: ProcessRow) {
        match row {
            ProcessRow::Begin { process, time_ns, pid, parent, host, program } => {
                self.at(time_ns);
                self.begin(process, time_ns, pid, parent, host, program);
            }
            ProcessRow::Image { process, time_ns, program, used } => {
                self.at(time_ns);
                self.execute(process, time_ns, program, used);
            }
            ProcessRow::End { process, time_ns, exit_status, signal, used } => {
                self.at(time_ns);
                self.end(process, End { time_ns, exit_status, signal }, &used);
            }
            ProcessRow::Heap { process, uuid } => self.processes[process.index()].heap = Some(uuid),
            ProcessRow::Attributes { process, attributes } => self.describe(process, attributes),
            ProcessRow::Memory { time_ns, bytes } => {
                self.at(time_ns);
                let running = bytes.iter().map(|&(process, bytes)| (self.processes[process.index()].last_image, bytes));
                self.sampled.extend(running);
                self.samples.push((time_ns, self.sampled.len()));
            }
            ProcessRow::Unknown => {}
        }
    }

    fn at(&mut self, time_ns: i64) {
        let (first, last) = self.span.unwrap_or((time_ns, time_ns));
        self.span = Some((first.min(time_ns), last.max(time_ns)));
    }

    /// Adds attributes to a process. If one is given twice, the first value counts.
    fn describe(&mut self, process: ProcessId, attributes: Vec<(StringId, StringId)>) {
        let of = &mut self.processes[process.index()];
        for &(key, value) in &attributes {
            let meant = *self.keys.entry(key).or_insert_with(|| match self.tables.string(key) {
                "label" => Attribute::Label,
                "not waited for" => Attribute::NotWaitedFor,
                "ends of children" => Attribute::EndsOfChildren,
                "killed by" => Attribute::KilledBy,
                MEASURED => Attribute::Measured,
                "not traced" => Attribute::NotTraced,
                _ => Attribute::Other,
            });
            match meant {
                Attribute::Label => of.label = of.label.or(Some(value)),
                Attribute::NotWaitedFor => of.is_not_waited_for = true,
                Attribute::EndsOfChildren if self.tables.string(value) == "ignored" => {
                    _ = self.ignoring.insert(process)
                }
                Attribute::EndsOfChildren => {}
                Attribute::KilledBy => of.is_killed_for_memory |= self.tables.string(value) == "out of memory",
                Attribute::Measured => of.is_at_least |= is_at_least(self.tables.string(value)),
                Attribute::NotTraced => of.is_untraced = true,
                Attribute::Other => {}
            }
        }
        if of.attributes.is_empty() {
            of.attributes = attributes;
        } else {
            of.attributes.extend(attributes);
        }
    }

    fn begin(
        &mut self,
        process: ProcessId,
        began_ns: i64,
        pid: u64,
        parent: Option<ProcessId>,
        host: Option<StringId>,
        program: Program,
    ) {
        let next = self.serials.entry((host, pid)).or_default();
        let serial = *next;
        *next = next.saturating_add(1);
        let started_by = parent.map(|parent| self.processes[parent.index()].last_image);
        let is_forked = program.is_empty() && (parent.is_some() || self.knows_forks);
        let program = match started_by {
            Some(starter) if is_forked => self.images[starter.index()].program,
            _ => self.add_program(program),
        };
        let image = self.next_image();
        self.images.push(Image {
            process,
            number: 0,
            next: None,
            began_ns,
            ended_ns: None,
            is_forked,
            program,
            used: Usage::default(),
        });
        self.processes.push(Process {
            pid,
            serial,
            host,
            parent,
            started_by,
            began_ns,
            end: None,
            first_image: image,
            last_image: image,
            before_exec: None,
            heap: None,
            label: None,
            is_not_waited_for: false,
            is_killed_for_memory: false,
            is_at_least: false,
            is_untraced: false,
            attributes: Vec::new(),
        });
    }

    fn execute(&mut self, process: ProcessId, time_ns: i64, program: Program, used: Usage) {
        let program = self.add_program(program);
        let next = self.next_image();
        let before = self.processes[process.index()].last_image;
        let running = &mut self.images[before.index()];
        let is_unknown = running.number == 0 && self.programs[running.program.index()].is_empty();
        // The use of a copy of its parent, or of an unknown program, belongs to the program that it executes first.
        if running.is_forked || is_unknown {
            running.is_forked = false;
            running.program = program;
            self.processes[process.index()].before_exec =
                Some(BeforeExec { until_ns: time_ns, peak_bytes: used.peak_bytes });
            return;
        }
        running.ended_ns = Some(time_ns);
        running.next = Some(next);
        running.used = since(&self.used.insert(process, used).unwrap_or_default(), &used);
        let number = running.number.saturating_add(1);
        self.processes[process.index()].last_image = next;
        let began_ns = time_ns;
        self.images.push(Image {
            process,
            number,
            next: None,
            began_ns,
            ended_ns: None,
            is_forked: false,
            program,
            used: Usage::default(),
        });
    }

    fn end(&mut self, process: ProcessId, end: End, used: &Usage) {
        let before = self.used.remove(&process).unwrap_or_default();
        let of = &mut self.processes[process.index()];
        of.end = Some(end);
        let image = &mut self.images[of.last_image.index()];
        image.ended_ns = Some(end.time_ns);
        image.used = since(&before, used);
    }

    fn add_program(&mut self, program: Program) -> ProgramId {
        let id = ProgramId(u32::try_from(self.programs.len()).unwrap_or(u32::MAX));
        self.programs.push(program);
        id
    }

    fn next_image(&self) -> ImageId {
        // Rows of the table are fewer than 2^32.
        ImageId(u32::try_from(self.images.len()).unwrap_or(u32::MAX))
    }
}

fn difference(before: Option<u64>, now: Option<u64>) -> Option<u64> {
    now.map(|now| now.saturating_sub(before.unwrap_or(0)))
}

/// The difference of two counts. The peak is that of the second.
fn since(before: &Usage, now: &Usage) -> Usage {
    Usage {
        user_ns: difference(before.user_ns, now.user_ns),
        system_ns: difference(before.system_ns, now.system_ns),
        peak_bytes: now.peak_bytes,
        minor_faults: difference(before.minor_faults, now.minor_faults),
        major_faults: difference(before.major_faults, now.major_faults),
        read_bytes: difference(before.read_bytes, now.read_bytes),
        written_bytes: difference(before.written_bytes, now.written_bytes),
        voluntary_switches: difference(before.voluntary_switches, now.voluntary_switches),
        involuntary_switches: difference(before.involuntary_switches, now.involuntary_switches),
        waiting_ns: difference(before.waiting_ns, now.waiting_ns),
    }
}
