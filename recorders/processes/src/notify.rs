//! Follows a command and all processes that it starts by their system calls: a seccomp filter holds each call that executes a
//! program or ends a process until the recorder has seen it. Processes are not stopped otherwise, so tracers work as usual.
//!
//! The filter reports neither forks nor exit statuses. A process is known once it executes a program, starts a process that
//! does, ends, or is found among the children of another, when that ends or when memory is sampled. Its pidfd reports that it
//! ended and, where the system supports it, its status and whether its parent waited for it.

pub(crate) mod ends;
pub(crate) mod execution;
pub(crate) mod filter;
pub(crate) mod guardian;
pub(crate) mod listener;
mod programs;
#[cfg(test)]
mod tests;
pub(crate) mod usage;
pub(crate) mod watched;

use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use barrow_writer::{ProcessEnd, Usage, Word};
use foldhash::fast::RandomState;

use crate::files::{self, Program, Schedule, Stat, Transferred};
use crate::heaps;
use crate::kills::Kills;
use crate::ledger::{Begun, Ledger};
use crate::outcome::without_rights;
use crate::system::{self, Pid};
use ends::Ends;
use execution::Execution;
use filter::Calls;
use listener::{Listener, Request};
use programs::{Present, Programs};
use usage::{began_ns, used, used_as_copy};
use watched::{Faults, Last, Looks, Pending, Watched};

/// Interval between two looks for ended processes. Each look costs time, and the call that ends a process already gives the time.
const BETWEEN_LOOKS: Duration = Duration::from_millis(4);
/// Longest wait for an end before the thread checks whether the recording is over.
const MOST_PATIENCE: Duration = Duration::from_secs(1);
/// Longest time from the last call of a process to the report of its end for which the call counts as the end. Beyond that,
/// the system took long to free its memory, and the report counts.
const SHORT_END_NS: i64 = 8_000_000;
/// Time after which a call to execute has certainly succeeded or failed; the process shows which.
const SETTLED_NS: i64 = 20_000_000;
/// Largest number of processes for which `schedstat` stays open from their first program to their next call, which saves
/// 3 µs each.
const MOST_OPEN_SCHEDULES: usize = 256;
/// The number of files that can still be opened, to read what the system tells of processes: without them, nothing would be
/// known of a further one.
const FREE_FILES: u64 = 32;
/// Largest number of unknown ancestors that are looked up for a new process.
const MOST_ANCESTORS: usize = 64;

/// The state shared by the threads that receive calls and ends.
pub(crate) struct Watch {
    ledger: Arc<Ledger>,
    ends: Ends,
    /// The system reports that a parent waited for a process.
    are_noticed: bool,
    /// Setuid and setgid programs run without the rights of their owners.
    is_without_new_rights: bool,
    root: Pid,
    /// Descriptors of processes stay below this number.
    most_files: u64,
    tree: Mutex<Tree>,
    programs: Mutex<Programs>,
    /// There is a thread that hears of ends. Relaxed: it is only about that thread.
    hears_ends: AtomicBool,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Tree {
    processes: HashMap<Pid, Watched, RandomState>,
    /// Processes that began.
    begun: u32,
    /// The first program that asked for a seccomp listener, which it was refused.
    wants_listener: Option<String>,
    kills: Option<Kills>,
    /// Setuid and setgid programs that ran without the rights of their owners.
    without_rights: Vec<String>,
    /// Number of processes that are recorded incompletely because the limit of open files was reached.
    unwatched: u64,
    /// Number of processes that waited for others that are not recorded; of those that may have, since one is recorded that
    /// made no call either; and of those of which nothing else is known.
    with_unseen: u64,
    perhaps_with_unseen: u64,
    unchecked: u64,
    /// Page faults of processes whose parents ended before them: those of other processes that waited for them.
    adopted: Faults,
}

impl Tree {
    /// Returns true if a process is known and has not ended as far as known.
    fn runs(&self, process: Pid) -> bool {
        self.processes.get(&process).is_some_and(|known| known.last.is_none() && known.ended_ns.is_none())
    }

    /// Returns true if a process is known and no other one has its number, even if it is about to end or a zombie.
    fn has(&self, process: Pid) -> bool {
        let descriptor = self.processes.get(&process).and_then(|known| known.descriptor.as_ref());
        self.runs(process) || descriptor.is_some_and(ends::has_number)
    }
}

impl Watch {
    pub(crate) fn new(ledger: &Arc<Ledger>, root: Pid, is_without_new_rights: bool) -> std::io::Result<Arc<Self>> {
        let tree = Tree { kills: Some(Kills::new()), ..Tree::default() };
        let watch = Watch {
            ledger: Arc::clone(ledger),
            ends: Ends::new()?,
            are_noticed: ends::are_noticed(),
            is_without_new_rights,
            root,
            most_files: system::most_files().saturating_sub(FREE_FILES),
            tree: Mutex::new(tree),
            programs: Mutex::default(),
            hears_ends: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        };
        if let Some(stat) = files::stat(root) {
            watch.begin(&mut watch.tree(), root, &stat, None, None, watch.ledger.now());
            watch.ledger.flush();
        }
        Ok(Arc::new(watch))
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the calls of all processes until no process is left.
    pub(crate) fn hear_calls(self: &Arc<Self>, listener: &mut Listener) {
        while let Some(request) = listener.receive() {
            // Nothing can be read from a process that has ended, so everything is read before the answer.
            if let Some(seen) = self.look_at(&request) {
                self.take(seen);
            }
            // The command itself is waited for, so that a single program does without a thread.
            if request.thread != self.root {
                self.hear_ends_from_now_on();
            }
            listener.answer(&request);
        }
    }

    /// Starts the thread that hears of ends. Returns once it runs: an end that is heard of before would be dated late, on a busy
    /// machine by hundreds of milliseconds. Where no thread can be started, only the news so far are taken.
    pub(crate) fn hear_ends_from_now_on(self: &Arc<Self>) {
        if self.hears_ends.load(Ordering::Relaxed) || self.hears_ends.swap(true, Ordering::Relaxed) {
            return;
        }
        let (heard, (runs, is_running)) = (Arc::clone(self), channel());
        let started = Builder::new().name("ends".into()).spawn(move || {
            let _ = runs.send(());
            heard.hear_ends();
        });
        if started.is_ok() {
            let _ = is_running.recv();
        } else {
            self.hears_ends.store(false, Ordering::Relaxed);
            self.take_news(&mut self.tree(), self.ledger.now());
        }
    }

    /// Reads all facts that must be known before a call continues.
    fn look_at(&self, request: &Request) -> Option<Seen> {
        let time_ns = self.ledger.now();
        let (process, descriptor) = self.process_of(request.thread)?;
        let descriptor = match descriptor {
            Some(descriptor) => match self.meet_copy(process, descriptor, request, time_ns) {
                None => return None,
                Some(descriptor) => Some(descriptor),
            },
            None => None,
        };
        // It may have been killed in the meantime.
        let stat = files::stat(process)?;
        let Met { named, has_program, schedule } = self.meet(process, &stat, descriptor, time_ns);
        let present = named.map(|named| self.programs().present(process, named));
        let call = match Execution::read(process, request) {
            Some(execution) => Call::Execute(execution),
            None if is_end(request) => Call::End { status: request.arguments[0] as u8 },
            None => {
                // `barrow record` itself falls back to ptrace and says so.
                let name = files::executable(process);
                if name != files::executable(std::process::id() as Pid) {
                    self.tree().wants_listener.get_or_insert(name.unwrap_or_else(|| "a program".to_owned()));
                }
                return None;
            }
        };
        let is_end = matches!(call, Call::End { .. });
        let is_asked_for_all = is_end || has_program;
        let used = if is_asked_for_all { used(process, &stat, schedule) } else { used_as_copy(process, &stat) };
        let transferred = if is_asked_for_all { files::transferred(process) } else { None };
        let with_children = Transferred::without(transferred, Some(Transferred::default()));
        let may_have_heap = heaps::is_possible(&Usage { written_bytes: with_children[1], ..used });
        let heap = if is_end && may_have_heap { heaps::written_by(process) } else { None };
        Some(Seen { process, time_ns, stat, used, transferred, present, heap, call })
    }

    /// Registers a fork of a known process that executes its first program. This is the common case, and needs fewer queries than
    /// others. Returns the descriptor if the process or the call is of another kind.
    fn meet_copy(&self, process: Pid, descriptor: OwnedFd, request: &Request, time_ns: i64) -> Option<OwnedFd> {
        let Some(execution) = Execution::read(process, request) else { return Some(descriptor) };
        let mut tree = self.tree();
        // The sampler may have found it since this thread looked for it.
        if tree.processes.contains_key(&process) {
            return Some(descriptor);
        }
        let parent = ends::parent(&descriptor).filter(|&parent| tree.runs(parent));
        // It looks like its parent until it executes a program.
        let Some((parent, before)) = parent.and_then(|parent| Some((parent, self.looks_of(&mut tree, parent)?))) else {
            return Some(descriptor);
        };
        // Since it began it has only run or been runnable, unless it slept before this call.
        let schedule = Schedule::of(process);
        let times = schedule.as_ref().and_then(Schedule::times);
        let cpu_ns = times.map(|[ran_ns, _]| ran_ns).or_else(|| system::processor_ns(process));
        let waiting_ns = times.map_or(0, |[_, waiting_ns]| waiting_ns);
        let since_ns = i64::try_from(cpu_ns.unwrap_or(0).saturating_add(waiting_ns)).unwrap_or(0);
        let began_ns = time_ns.saturating_sub(since_ns);
        self.begin_at(&mut tree, process, began_ns, None, Some(descriptor), Some(parent));
        // User and system time are not divided here: the later usage of the process contains the difference.
        let used = Usage { user_ns: cpu_ns, ..Usage::default() };
        let are_few = tree.processes.len() <= MOST_OPEN_SCHEDULES;
        if let Some(known) = tree.processes.get_mut(&process) {
            known.pending = Some(Pending { time_ns, execution, used, before });
            known.schedule = schedule.filter(|schedule| are_few && self.leaves_files_free(schedule));
        }
        None
    }

    /// The looks of a process with its present program.
    fn looks_of(&self, tree: &mut Tree, process: Pid) -> Option<Looks> {
        self.settle_early(tree, process);
        let known = tree.processes.get_mut(&process)?;
        if known.looks.is_none() {
            known.looks = files::stat(process).as_ref().map(Looks::of);
        }
        known.looks.clone()
    }

    fn programs(&self) -> MutexGuard<'_, Programs> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the process of a call.
    fn meet(&self, process: Pid, stat: &Stat, descriptor: Option<OwnedFd>, now_ns: i64) -> Met {
        let mut tree = self.tree();
        self.know(&mut tree, process, stat, descriptor, now_ns);
        let Some(known) = tree.processes.get_mut(&process) else { return Met::default() };
        let named = known.pending.as_ref().map(Pending::named);
        let has_program = known.has_program || known.pending.is_some();
        Met { named, has_program, schedule: known.schedule.take() }
    }

    /// The process of a thread that waits in a call, with a pidfd if it is unknown.
    fn process_of(&self, thread: Pid) -> Option<(Pid, Option<OwnedFd>)> {
        if self.tree().processes.contains_key(&thread) {
            return Some((thread, None));
        }
        // Only the first thread of a process has a pidfd.
        match ends::descriptor(thread) {
            Ok(descriptor) => Some((thread, Some(descriptor))),
            Err(error) => {
                self.tree().unwatched += u64::from(is_for_lack_of_files(&error));
                files::family(thread).map(|(process, _)| (process, None))
            }
        }
    }

    fn take(&self, seen: Seen) {
        let mut tree = self.tree();
        let tree = &mut *tree;
        let Seen { process, time_ns, stat, used, transferred, present, heap, call } = seen;
        self.settle(tree, process, &stat, present);
        if tree.processes.get(&process).is_some_and(|known| !known.children.is_empty()) {
            self.take_news(tree, self.ledger.now());
        }
        let Some(known) = tree.processes.get_mut(&process) else { return };
        let [read_bytes, written_bytes] = Transferred::without(transferred, known.of_children);
        let used = Usage { read_bytes, written_bytes, ..known.without_fall(used) };
        match call {
            Call::Execute(execution) => {
                known.pending = Some(Pending { time_ns, execution, used, before: Looks::of(&stat) });
            }
            Call::End { status } => {
                // Once it has ended, the system no longer names it as the parent.
                let started = files::children(process, stat.threads == 1);
                known.last = Some(Last { time_ns, status, used, transferred, faults: Faults::of(&stat) });
                if let Some((id, heap)) = known.id.zip(heap) {
                    self.ledger.heap(id, heap.uuid, &heap.path);
                }
                let is_heard_of = known.descriptor.is_some();
                for child in started {
                    if !tree.processes.contains_key(&child)
                        && let Some(stat) = files::stat(child)
                    {
                        let began_ns = began_ns(child, &stat, time_ns);
                        self.begin(tree, child, &stat, None, Some(process), began_ns);
                    }
                }
                self.leave_children(tree, process);
                self.check_children(tree, process, &stat);
                if !is_heard_of && let Some(known) = tree.processes.remove(&process) {
                    self.write_end(tree, process, known, None);
                }
            }
        }
    }

    /// Marks the children that an ending process never waited for.
    fn leave_children(&self, tree: &mut Tree, process: Pid) {
        if !self.are_noticed {
            return;
        }
        let Some(known) = tree.processes.get_mut(&process) else { return };
        for child in std::mem::take(&mut known.children) {
            let Some(child) = tree.processes.get(&child).filter(|child| child.parent == Some(process)) else {
                continue;
            };
            let has_ended = child.ended_ns.is_some();
            if let Some(id) = child.id {
                self.ledger.attribute(
                    id,
                    Word::of_settings("not waited for"),
                    if has_ended { "never" } else { "parent ended" },
                );
            }
        }
    }

    /// Notes whether an ending process waited for others that are not recorded, which made no call: the system has page faults
    /// of its children that none of those has that are.
    fn check_children(&self, tree: &mut Tree, process: Pid, stat: &Stat) {
        let Some(known) = tree.processes.get(&process).filter(|_| self.are_noticed) else { return };
        let Faults { least, has_threads, lacks_some } = known.faults_of_children.plus(Some(tree.adopted));
        // The system does away with children whose ends are ignored, and then counts nothing of them.
        if stat.ignores_ends
            && stat.faults_of_children < known.faults_of_children.least
            && let Some(id) = known.id
        {
            self.ledger.attribute(id, Word::of_settings("ends of children"), "ignored");
        }
        if stat.faults_of_children == known.faults_of_children.least {
            return;
        }
        if has_threads || stat.faults_of_children <= least {
            tree.unchecked += 1;
            return;
        }
        if lacks_some {
            tree.perhaps_with_unseen += 1;
            return;
        }
        tree.with_unseen += 1;
        if let Some(id) = known.id {
            self.ledger.attribute(id, Word::of_settings("unseen children"), "it waited for at least one");
        }
    }

    /// Registers a process and its ancestors, unless they are known.
    fn know(&self, tree: &mut Tree, process: Pid, stat: &Stat, descriptor: Option<OwnedFd>, now_ns: i64) {
        if self.is_known(tree, process, stat) {
            return;
        }
        let mut unknown = Vec::new();
        let mut parent = stat.parent;
        while parent > 1 && unknown.len() < MOST_ANCESTORS && !tree.has(parent) {
            let Some(stat) = files::stat(parent) else { break };
            let above = stat.parent;
            unknown.push((parent, stat));
            parent = above;
        }
        // If no ancestor is known, its parent has ended, and the process that adopted it did not start it.
        let mut parent = if tree.has(parent) { Some(parent) } else { None };
        let began_ns = if process == self.root { now_ns } else { began_ns(process, stat, now_ns) };
        if parent.is_some() {
            // A process began before those that it started.
            let mut latest_ns = began_ns;
            let mut times = Vec::with_capacity(unknown.len());
            for (above, stat) in &unknown {
                latest_ns = latest_ns.min(usage::began_ns(*above, stat, now_ns));
                times.push(latest_ns);
            }
            for ((above, stat), began_ns) in unknown.into_iter().zip(times).rev() {
                self.begin(tree, above, &stat, None, parent, began_ns);
                parent = Some(above);
            }
        }
        self.begin(tree, process, stat, descriptor, parent, began_ns);
        if let Some(parent) = parent
            && tree.processes.get(&parent).is_some_and(|parent| parent.last.is_some())
        {
            self.leave_children(tree, parent);
        }
    }

    /// Returns true if a process is known. Ends the record of an earlier process with its number.
    fn is_known(&self, tree: &mut Tree, process: Pid, stat: &Stat) -> bool {
        let Some(known) = tree.processes.get(&process) else { return false };
        // A process makes a call after its last one only if another of its threads does so at the same time.
        let is_usual = known.began_ticks.is_none_or(|ticks| ticks == stat.began_ticks) && known.last.is_none();
        if is_usual || known.descriptor.as_ref().is_some_and(ends::has_number) {
            return true;
        }
        self.take_news(tree, self.ledger.now());
        if let Some(known) = tree.processes.remove(&process) {
            self.write_end(tree, process, known, None);
        }
        false
    }

    fn begin(
        &self,
        tree: &mut Tree,
        process: Pid,
        stat: &Stat,
        descriptor: Option<OwnedFd>,
        parent: Option<Pid>,
        began_ns: i64,
    ) {
        // Without reports that a parent waited, the end of a zombie is written when it ends.
        if stat.is_zombie && !self.are_noticed {
            return;
        }
        if let Some(parent) = parent {
            // The program that the parent executes now is the one that started this process.
            self.settle_early(tree, parent);
        }
        self.begin_at(tree, process, began_ns, Some(stat.began_ticks), descriptor, parent);
    }

    /// Returns true if enough files can be opened beside this one, of which the system gives each the lowest number that is free.
    fn leaves_files_free(&self, file: &impl AsRawFd) -> bool {
        u64::try_from(file.as_raw_fd()).is_ok_and(|number| number < self.most_files)
    }

    fn begin_at(
        &self,
        tree: &mut Tree,
        process: Pid,
        began_ns: i64,
        began_ticks: Option<u64>,
        descriptor: Option<OwnedFd>,
        parent: Option<Pid>,
    ) {
        let descriptor = descriptor.map_or_else(|| ends::descriptor(process), Ok);
        if descriptor.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ESRCH)) {
            // It ended between two queries without a call, or it was known and its end has been reported.
            return;
        }
        let known = parent.and_then(|parent| tree.processes.get(&parent));
        let above = parent.map(|parent| (parent, known.and_then(|parent| parent.id)));
        // Of a parent that was met late, it is known only within a tick when it began.
        let began_ns = known.map_or(began_ns, |parent| began_ns.max(parent.began_ns));
        let id = self.ledger.begin(began_ns, Begun { pid: process, parent: above, is_borrowing: false });
        tree.begun = tree.begun.wrapping_add(1);
        let key = key(process, tree.begun);
        let descriptor = descriptor.and_then(|descriptor| match self.leaves_files_free(&descriptor) {
            true => Ok(descriptor),
            false => Err(std::io::Error::from_raw_os_error(libc::EMFILE)),
        });
        let watched = descriptor.and_then(|descriptor| self.ends.watch(&descriptor, key).map(|()| descriptor));
        tree.unwatched += u64::from(watched.as_ref().is_err_and(is_for_lack_of_files));
        let descriptor = watched.ok();
        let watched = Watched {
            id,
            parent,
            began_ns,
            began_ticks,
            looks: None,
            key,
            descriptor,
            children: Vec::new(),
            of_children: Some(Transferred::default()),
            faults_of_children: Faults::default(),
            times: [0; 2],
            has_program: false,
            pending: None,
            last: None,
            seen: None,
            ended_ns: None,
            schedule: None,
        };
        tree.processes.insert(process, watched);
        if let Some(parent) = parent.and_then(|parent| tree.processes.get_mut(&parent)) {
            parent.children.push(process);
        }
    }

    /// Writes the program of a process that makes another call, if its pending call to execute succeeded.
    fn settle(&self, tree: &mut Tree, process: Pid, stat: &Stat, present: Option<Present>) {
        let Some(known) = tree.processes.get_mut(&process) else { return };
        known.began_ticks = Some(stat.began_ticks);
        let now = Looks::of(stat);
        let succeeded = known.pending.take().filter(|pending| pending.has_succeeded(&now));
        known.looks = Some(now);
        let lost = succeeded.and_then(|pending| self.write_program(process, known, pending, present));
        tree.without_rights.extend(lost);
    }

    /// Writes the program of a process whose pending call to execute has succeeded, without waiting for its next call.
    fn settle_early(&self, tree: &mut Tree, process: Pid) {
        let Some(known) = tree.processes.get_mut(&process).filter(|known| known.pending.is_some()) else { return };
        let Some(now) = files::stat(process).as_ref().map(Looks::of) else { return };
        if let Some(pending) = known.pending.take_if(|pending| pending.has_succeeded(&now)) {
            let present = self.programs().present(process, pending.named());
            let lost = self.write_program(process, known, pending, Some(present));
            known.looks = Some(now);
            tree.without_rights.extend(lost);
        }
    }

    /// Writes a program. Returns its path if it runs without the rights of its owner.
    fn write_program(
        &self,
        process: Pid,
        known: &mut Watched,
        pending: Pending,
        present: Option<Present>,
    ) -> Option<String> {
        known.has_program = true;
        self.ledger.executed(process);
        let id = known.id?;
        let Present { executable, arguments } = present.unwrap_or_else(|| Present::named(pending.named()));
        let arguments = arguments.filter(|now| pending.execution.is_script_with(now));
        let arguments = arguments.unwrap_or(pending.execution.arguments);
        // The system turns an empty argument list into one empty argument.
        let arguments = if arguments.is_empty() { vec![0] } else { arguments };
        let program = Program { executable, directory: pending.execution.directory, arguments };
        self.ledger.image(pending.time_ns, id, &program, pending.used);
        let path = program.executable.filter(|_| self.is_without_new_rights)?;
        files::has_lost_rights(process, &path).then_some(path)
    }

    /// Handles the ends of processes until the recording is over.
    pub(crate) fn hear_ends(&self) {
        let schedule = Schedule::own();
        while !self.is_over.load(Ordering::Relaxed) {
            let mut before_ns = waited_ns(schedule.as_ref());
            std::thread::sleep(BETWEEN_LOOKS);
            if !self.ends.wait(Duration::ZERO) {
                before_ns = waited_ns(schedule.as_ref());
                self.ends.wait(MOST_PATIENCE);
            }
            // While other programs use all processors this thread is late: the ends happened when it became runnable.
            let late_ns = waited_ns(schedule.as_ref()).saturating_sub(before_ns);
            self.take_news(&mut self.tree(), self.ledger.now().saturating_sub_unsigned(late_ns));
        }
    }

    /// Handles all pending reports of ends. `heard_ns` is the latest time at which these processes can have ended.
    fn take_news(&self, tree: &mut Tree, heard_ns: i64) {
        loop {
            let news = self.ends.news();
            let is_all = news.len() < ends::MOST;
            self.take_all(tree, news, heard_ns);
            if is_all {
                return;
            }
        }
    }

    fn take_all(&self, tree: &mut Tree, news: Vec<(u64, bool)>, heard_ns: i64) {
        for (key, is_noticed) in news {
            let process = process_with(key);
            let Some(known) = tree.processes.get_mut(&process).filter(|known| known.key == key) else { continue };
            if known.ended_ns.is_none() {
                let last_ns = known.last.map(|last| last.time_ns).filter(|last| heard_ns - last <= SHORT_END_NS);
                known.ended_ns = Some(last_ns.unwrap_or(heard_ns));
                known.seen = self.ledger.forget(process);
                // Until its parent waited for it, the system knows its name. After a last call, the next settles it.
                if let Some(pending) = known.pending.take_if(|_| known.last.is_none()) {
                    let name = files::stat(process).filter(|stat| stat.is_zombie).map(|stat| stat.name);
                    known.pending = Some(pending).filter(|pending| pending.may_have_succeeded(name.as_deref()));
                }
                // Its last call gave its usage.
                if known.last.is_none()
                    && let Some(seen) = &mut known.seen
                    && let Some(cpu_ns) = system::processor_ns(process)
                {
                    seen.cpu_ns = seen.cpu_ns.max(Some(cpu_ns));
                }
            }
            if (is_noticed || !self.are_noticed)
                && let Some(known) = tree.processes.remove(&process)
            {
                let status = known.descriptor.as_ref().and_then(ends::status);
                self.write_end(tree, process, known, status);
            }
        }
    }

    /// Writes the end of a process that was removed from the tree. `status` is encoded as by `wait`.
    fn write_end(&self, tree: &mut Tree, process: Pid, mut known: Watched, status: Option<i32>) {
        let seen = known.seen.take().or_else(|| self.ledger.forget(process));
        let faults = known.last.map(|last| last.faults);
        tree.unchecked += u64::from(faults.is_none());
        let parent = known.parent.and_then(|parent| tree.processes.get_mut(&parent));
        if process != self.root && parent.as_ref().is_none_or(|parent| parent.last.is_some()) {
            tree.adopted = tree.adopted.plus(faults);
        }
        if let Some(parent) = parent {
            parent.children.retain(|&child| child != process);
            parent.faults_of_children = parent.faults_of_children.plus(faults);
            // The system adds the transferred bytes of a process to those of the process that waited for it.
            let last = known.last.and_then(|last| last.transferred).filter(|_| self.are_noticed);
            parent.of_children = parent.of_children.zip(last).map(|(sum, last)| sum.plus(last));
        }
        // It ended before its next call.
        let pending = known.pending.take();
        let is_looked_at = known.ended_ns.is_some();
        if let Some(pending) = pending.filter(|pending| is_looked_at || pending.may_have_succeeded(None)) {
            self.write_program(process, &mut known, pending, None);
        }
        let Some(id) = known.id else { return };
        let last = known.last;
        let (exit_status, signal) = match status {
            Some(status) if status & 0x7f == 0 => (Some(((status >> 8) & 0xff) as u64), None),
            Some(status) => (None, Some((status & 0x7f) as u64)),
            None => (last.map(|last| last.status.into()), None),
        };
        // If a signal ended it after its last call, its usage is slightly too low.
        let used = match last {
            Some(last) => last.used,
            None => seen.map_or_else(Usage::default, |seen| {
                // A signal or the end of its last thread ended it, so there was no last call.
                if seen.peak_bytes.is_some() || seen.cpu_ns.is_some() {
                    self.ledger.attribute(
                        id,
                        Word::of_settings("measured"),
                        "at least: as in its samples, user and system time together",
                    );
                }
                // A sample that was taken before it ran tells nothing of its time.
                let user_ns = seen.cpu_ns.filter(|&cpu_ns| cpu_ns > 0);
                Usage { peak_bytes: seen.peak_bytes, user_ns, ..Usage::default() }
            }),
        };
        let end = ProcessEnd { exit_status, signal, used };
        let ended_ns = known.ended_ns.or(last.map(|last| last.time_ns)).unwrap_or_else(|| self.ledger.now());
        // Its end may be reported before the sample that finds it.
        self.ledger.end(ended_ns.max(known.began_ns), id, &end);
        if signal == Some(9)
            && let Some(reason) = tree.kills.as_mut().and_then(|kills| kills.reason(process))
        {
            self.ledger.attribute(id, Word::of_settings("killed by"), reason);
        }
    }

    /// Finds processes that were forked and made no call yet, and settles old calls to execute. Called by the sampler. Returns
    /// whether there are others than the command.
    pub(crate) fn look_around(&self) -> bool {
        let now_ns = self.ledger.now();
        let living: Vec<Pid> = self.ledger.living().into_iter().map(|(pid, _)| pid).collect();
        let children: Vec<Pid> = living.iter().flat_map(|&process| files::children(process, false)).collect();
        let mut tree = self.tree();
        for child in children {
            if !tree.processes.contains_key(&child)
                && let Some(stat) = files::stat(child)
            {
                self.know(&mut tree, child, &stat, None, now_ns);
            }
        }
        self.settle_all(&mut tree, now_ns - SETTLED_NS);
        tree.processes.len() > 1
    }

    /// Writes the programs of all processes whose last call executed a program, at `before_ns` or earlier.
    fn settle_all(&self, tree: &mut Tree, before_ns: i64) {
        let mut old = Vec::new();
        for (&process, known) in &tree.processes {
            if known.pending.as_ref().is_some_and(|pending| pending.time_ns <= before_ns) {
                old.push(process);
            }
        }
        for process in old {
            self.settle_early(tree, process);
        }
    }

    /// Hears of no more ends: the command did not begin.
    pub(crate) fn give_up(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Writes the rest of the recording once the command has ended with `status`, encoded as by `wait`.
    pub(crate) fn finish(&self, status: i32) {
        let mut tree = self.tree();
        self.is_over.store(true, Ordering::Relaxed);
        self.take_news(&mut tree, self.ledger.now());
        self.settle_all(&mut tree, i64::MAX);
        // No parent waited for these, so their status is that of their last call. The listener may report that no process is
        // left before the end of the last one is reported; its last call is its end.
        let mut ended = Vec::new();
        for (&process, known) in &tree.processes {
            // Of one without a descriptor no end is reported, so nobody knows when it ended.
            let is_gone = known.descriptor.is_none() && !system::exists(process);
            if known.ended_ns.is_some() || known.last.is_some() || is_gone {
                ended.push(process);
            }
        }
        for process in ended {
            if let Some(known) = tree.processes.remove(&process) {
                self.write_end(&mut tree, process, known, None);
            }
        }
        if let Some(known) = tree.processes.remove(&self.root) {
            self.write_end(&mut tree, self.root, known, Some(status));
        }
        if tree.unwatched > 0 {
            self.ledger.fact(Word::of_settings("processes not watched"), &tree.unwatched.to_string());
        }
        if self.are_noticed {
            self.ledger.fact(Word::of_settings("parents of unseen processes"), &tree.with_unseen.to_string());
            let perhaps = tree.perhaps_with_unseen.to_string();
            self.ledger.fact(Word::of_settings("parents of processes that may be unseen"), &perhaps);
            self.ledger.fact(Word::of_settings("parents not checked"), &tree.unchecked.to_string());
        }
    }

    /// One sentence for each thing that programs were denied or that was not recorded.
    pub(crate) fn notes(&self) -> Vec<String> {
        let tree = self.tree();
        let mut notes = Vec::new();
        notes.extend(without_rights(&tree.without_rights));
        if tree.unwatched > 0 {
            notes.push(format!(
                "not everything is known of the processes: too few files may be open (`ulimit -Hn`), which happened {} times",
                tree.unwatched
            ));
        }
        notes.extend(tree.wants_listener.as_ref().map(|program| {
            format!(
                "{program} asked for a listener of calls, which it does not get inside a recording by notify; `--via ptrace` \
                 leaves it that"
            )
        }));
        notes
    }
}

/// The state of a process before its call.
#[derive(Default)]
struct Met {
    /// The program that its pending call to execute named, if there is a pending call.
    named: Option<Option<String>>,
    /// It has executed a program, or has a pending call to.
    has_program: bool,
    schedule: Option<Schedule>,
}

/// The facts read while a call waits.
struct Seen {
    process: Pid,
    time_ns: i64,
    stat: Stat,
    /// Usage of the process until now.
    used: Usage,
    /// Includes the children that the process waited for.
    transferred: Option<Transferred>,
    /// The program that it executes, if an earlier call to execute is pending.
    present: Option<Present>,
    heap: Option<heaps::Heap>,
    call: Call,
}

enum Call {
    Execute(Execution),
    End { status: u8 },
}

/// Time that a thread was runnable without a processor; 0 if unknown.
fn waited_ns(schedule: Option<&Schedule>) -> u64 {
    schedule.and_then(Schedule::times).map_or(0, |[_, waiting_ns]| waiting_ns)
}

/// Identifies a process in reports of ends. A later process with the same number has another key, until 2³² have begun.
fn key(process: Pid, begun: u32) -> u64 {
    u64::from(begun) << 32 | u64::from(process.cast_unsigned())
}

/// The process of a [`key`].
fn process_with(key: u64) -> Pid {
    (key as u32).cast_signed()
}

fn is_for_lack_of_files(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn is_end(request: &Request) -> bool {
    let number = u32::try_from(request.number).ok();
    Calls::of(request.architecture).is_some_and(|calls| number == Some(calls.exit_group))
}
