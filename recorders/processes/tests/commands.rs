//! Real commands, recorded and read back.

#![cfg(target_os = "linux")]

use std::cell::Cell;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use barrow_analyzer::Recording;
use barrow_process_recorder::{Ended, Options, RecorderError, Via, record};
use barrow_processes::{Image, Process, ProcessTree};
use barrow_writer::Writer;
use regex::Regex;

/// The recorder hears of every child of this process: one recording at a time.
static TURN: Mutex<()> = Mutex::new(());

thread_local! {
    /// The way in which a test records.
    static VIA: Cell<Via> = const { Cell::new(Via::Auto) };
}

/// Each of these tests for both ways to record.
macro_rules! in_both_ways {
    ($($test:ident,)*) => {
        mod by_notify {
            $(#[test] fn $test() { super::VIA.set(super::Via::Notify); super::$test(); })*
        }
        mod by_ptrace {
            $(#[test] fn $test() { super::VIA.set(super::Via::Ptrace); super::$test(); })*
        }
    };
}

in_both_ways! {
    a_chain_of_programs_is_one_process,
    a_signal_that_ends_the_command_is_named,
    a_stopped_process_goes_on_when_it_is_told_to,
    a_command_that_stops_itself_is_continued_by_its_child,
    a_command_that_is_not_there_is_not_recorded,
    nothing_of_the_command_runs_if_there_is_no_recording,
    the_times_of_all_processes_add_up,
    each_program_that_strace_sees_is_recorded,
    the_peak_of_a_program_is_what_the_system_says,
    arguments_are_what_the_program_was_given,
    what_is_to_be_left_out_is_nowhere_in_the_file,
    only_names_of_programs_are_kept_without_arguments,
    processes_that_nobody_waits_for_are_marked,
    processes_whose_ends_are_ignored_are_not_waited_for,
    how_long_a_process_waited_for_a_processor_is_known,
    threads_that_end_with_their_process_waited_too,
    processes_in_turn_do_not_overlap_while_others_use_all_processors,
    a_process_that_outlives_the_command_is_running_at_the_end,
    a_number_that_is_used_again_is_another_process,
    memory_that_a_child_borrows_counts_once,
    a_process_that_is_killed_had_as_much_memory_as_its_samples,
    threads_fork_and_execute,
    a_thread_with_a_name_executes_what_it_finds,
    a_process_with_threads_has_a_peak_when_it_ends,
    a_process_whose_first_thread_has_ended_has_its_memory,
    memory_over_time_is_that_of_the_program,
    what_a_process_wrote_is_not_what_its_children_wrote,
}

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn recorded(words: &[&str]) -> (Ended, ProcessTree) {
    recorded_with(Options::default(), words)
}

fn recorded_with(options: Options, words: &[&str]) -> (Ended, ProcessTree) {
    let _turn = turn();
    recorded_now(options, words)
}

fn recorded_now(options: Options, words: &[&str]) -> (Ended, ProcessTree) {
    let options = Options { via: VIA.get(), ..options };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.barrow");
    let command = words.join(" ");
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let create = || Ok(Writer::create(&path, barrow_writer::Options::default())?);
    let outcome = record(&words, &command, options, create).unwrap();
    assert!(outcome.failure.is_none());
    (outcome.ended, read(&path))
}

fn read(path: &Path) -> ProcessTree {
    ProcessTree::read(Arc::new(Recording::open(path).unwrap())).unwrap()
}

/// Runs a command that is not recorded; `None` if it is not there.
fn run(program: &str, words: &[&str]) -> Option<std::process::Output> {
    let _turn = turn();
    Command::new(program).args(words).output().ok()
}

fn line(tree: &ProcessTree, image: &Image) -> String {
    tree.arguments(image).collect::<Vec<_>>().join(" ")
}

/// The image whose arguments are these.
fn image<'t>(tree: &'t ProcessTree, arguments: &str) -> &'t Image {
    let mut found = tree.images().iter().filter(|image| !image.is_forked && line(tree, image) == arguments);
    found.next().unwrap_or_else(|| panic!("no `{arguments}` in {:?}", lines(tree)))
}

fn process<'t>(tree: &'t ProcessTree, arguments: &str) -> &'t Process {
    tree.process(image(tree, arguments).process)
}

fn lines(tree: &ProcessTree) -> Vec<String> {
    let mut lines: Vec<String> =
        tree.images().iter().filter(|image| !image.is_forked).map(|image| line(tree, image)).collect();
    lines.sort_unstable();
    lines
}

/// The processor time of all children of this process that were waited for, with theirs, in nanoseconds.
fn children_ns() -> u64 {
    // SAFETY: the system fills in the structure.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used);
        used
    };
    let ns = |time: libc::timeval| time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000;
    ns(used.ru_utime) + ns(used.ru_stime)
}

/// A folder with a Makefile of this many targets, each with this recipe.
fn makefile(targets: usize, recipe: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..targets).map(|number| format!("t{number}")).collect();
    let names = names.join(" ");
    std::fs::write(folder.path().join("Makefile"), format!("all: {names}\n{names}:\n\t{recipe}\n")).unwrap();
    folder
}

fn a_chain_of_programs_is_one_process() {
    let (ended, tree) = recorded(&["sh", "-c", "true & wait; exec env sh -c 'exit 7'"]);
    assert_eq!(ended, Ended::Status(7));
    assert_eq!(tree.processes().len(), 2);
    // Of the command: sh, env, sh. Of the other: a copy of sh, or nothing at all if `true` is built in.
    assert!(tree.images().len() >= 4, "{}", tree.images().len());
}

fn a_signal_that_ends_the_command_is_named() {
    let (ended, _) = recorded(&["sh", "-c", "kill -TERM $$"]);
    assert_eq!(ended, Ended::Signal(15));
}

fn a_stopped_process_goes_on_when_it_is_told_to() {
    let script = "sleep 0.2 & kill -STOP $!; sleep 0.1; kill -CONT $!; wait $!";
    let (ended, tree) = recorded(&["sh", "-c", script]);
    assert_eq!(ended, Ended::Status(0));
    assert_eq!(tree.processes().len(), 3);
}

fn a_command_that_stops_itself_is_continued_by_its_child() {
    let (ended, _) = recorded(&["sh", "-c", "(sleep 0.2; kill -CONT $$) & kill -STOP $$; exit 3"]);
    assert_eq!(ended, Ended::Status(3));
}

fn a_command_that_is_not_there_is_not_recorded() {
    let _turn = turn();
    for (word, is_missing) in [("no-such-command", true), ("/", false)] {
        let options = Options { via: VIA.get(), ..Options::default() };
        let refused = record(&[word.into()], "", options, || panic!("nothing may be created"));
        let refused = refused.unwrap_err();
        assert_eq!(matches!(refused, RecorderError::NotFound(_)), is_missing, "{refused}");
        assert_eq!(matches!(refused, RecorderError::CannotRun(..)), !is_missing, "{refused}");
    }
}

fn nothing_of_the_command_runs_if_there_is_no_recording() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let words: Vec<OsString> = vec!["touch".into(), made.clone().into()];
    let refused = record(&words, "", Options { via: VIA.get(), ..Options::default() }, || {
        Err(RecorderError::Destination("no room".to_owned()))
    })
    .unwrap_err();
    assert_eq!(refused.to_string(), "no room");
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!made.exists());
}

fn the_times_of_all_processes_add_up() {
    let folder = makefile(40, "@i=0; while [ $$i -lt 3000 ]; do i=$$((i+1)); done; /bin/true; env sh -c /bin/true");
    let _turn = turn();
    let before = children_ns();
    let command = ["make", "-s", "-j2", "-C", folder.path().to_str().unwrap()];
    let (ended, tree) = recorded_now(Options::default(), &command);
    let all = children_ns() - before;
    assert_eq!(ended, Ended::Status(0));
    // Of each recipe: a shell, true, env that becomes a shell, and true.
    let forked: Vec<&Process> = tree.processes().iter().filter(|one| tree.image(one.last_image).is_forked).collect();
    assert_eq!(tree.processes().len(), 1 + 40 * 4, "{forked:?} {:?}", lines(&tree));
    let sum: u64 = tree.images().iter().map(|image| image.used.user_ns.unwrap() + image.used.system_ns.unwrap()).sum();
    match VIA.get() {
        // Processes that do next to nothing give their memory back after their last call, which takes a part of their time.
        Via::Notify => assert!(sum < all + all / 50 && sum > all - all / 6, "{sum} of {all}"),
        _ => assert!(sum.abs_diff(all) * 50 < all, "{sum} of {all}"),
    }
}

/// The programs that were executed according to a log of `strace`.
fn executed_in(log: &str) -> Vec<String> {
    let word = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    // Of calls that were interrupted by others, arguments are in the first half and the result is in the second.
    let mut unfinished = std::collections::HashMap::new();
    let mut lines = Vec::new();
    for text in log.lines() {
        let (pid, text) = text.split_once(' ').unwrap();
        let text = text.trim_start();
        let whole = match text.strip_prefix("<... execve resumed>") {
            Some(rest) => format!("{}{rest}", unfinished.remove(pid).unwrap_or_default()),
            None if text.ends_with("<unfinished ...>") => {
                unfinished.insert(pid, text.to_owned());
                continue;
            }
            None => text.to_owned(),
        };
        if !whole.starts_with("execve(") || !whole.ends_with("= 0") {
            continue;
        }
        let list = &whole[whole.find('[').unwrap()..];
        let list = &list[..list.find("], ").unwrap()];
        let words: Vec<String> = word.captures_iter(list).map(|found| found[1].replace("\\\"", "\"")).collect();
        lines.push(words.join(" "));
    }
    lines.sort_unstable();
    lines
}

fn each_program_that_strace_sees_is_recorded() {
    let folder = makefile(20, "@env A=1 sh -c '/bin/true a$$0; /bin/echo x'; /bin/true & wait");
    let command = ["make", "-s", "-j3", "-C", folder.path().to_str().unwrap()];
    let log = folder.path().join("log");
    let strace = ["-f", "-qq", "-s", "1000", "-e", "trace=execve", "-e", "signal=none", "-o", log.to_str().unwrap()];
    if !run("strace", &[&strace[..], &command].concat()).is_some_and(|traced| traced.status.success()) {
        eprintln!("not compared: there is no strace here");
        return;
    }
    let (ended, tree) = recorded(&command);
    assert_eq!(ended, Ended::Status(0));
    let seen = executed_in(&std::fs::read_to_string(log).unwrap());
    assert!(seen.len() >= 20 * 6, "{}", seen.len());
    assert_eq!(lines(&tree), seen);
}

fn the_peak_of_a_program_is_what_the_system_says() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, said) = (folder.path().join("bytes"), folder.path().join("said"));
    std::fs::write(&bytes, vec![b'x'; 30 << 20]).unwrap();
    let time = Path::new("/usr/bin/time");
    if !time.exists() {
        eprintln!("not compared: there is no /usr/bin/time here");
        return;
    }
    let (said, bytes) = (said.to_str().unwrap(), bytes.to_str().unwrap());
    // `tail` keeps all that comes through a pipe.
    let script = format!("cat {bytes} | /usr/bin/time -f %M -o {said} tail -c 20000000 > /dev/null");
    let (_, tree) = recorded(&["sh", "-c", &script]);
    let kib: u64 = std::fs::read_to_string(said).unwrap().trim().parse().unwrap();
    let tail = image(&tree, "tail -c 20000000").used.peak_bytes.unwrap();
    assert!(tail > 20_000_000 && tail.abs_diff(kib * 1024) <= 64 << 10, "{tail}, {kib} KiB");
    // Its parent, which waited for it, has not its peak.
    let parent = image(&tree, &format!("/usr/bin/time -f %M -o {said} tail -c 20000000")).used.peak_bytes.unwrap();
    assert!(parent < 10_000_000, "{parent}");
}

fn arguments_are_what_the_program_was_given() {
    let long = "x".repeat(100_000);
    for arguments in [vec![""], vec!["", "a b", "\n", "ä"], vec![long.as_str()], vec!["y"; 3000], vec![&long; 5]] {
        let words: Vec<&str> = std::iter::once("/bin/true").chain(arguments).collect();
        let (_, tree) = recorded(&words);
        assert!(tree.arguments(&tree.images()[0]).eq(words.iter().copied()), "{} words", words.len());
    }
    // Without an environment, the list of arguments is found in another way.
    let (_, tree) = recorded(&["env", "-i", "/bin/echo", "-n", ""]);
    let echo: Vec<&str> = tree.arguments(&tree.images()[1]).collect();
    assert_eq!(echo, ["/bin/echo", "-n", ""]);
}

fn what_is_to_be_left_out_is_nowhere_in_the_file() {
    let folder = tempfile::Builder::new().prefix("secret").tempdir().unwrap();
    let program = folder.path().join("secret-tool");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    run("chmod", &["+x", program.to_str().unwrap()]).unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("sh")).unwrap();
    let script = format!(
        "cd {0} && cp /bin/echo secret-echo && ./secret-echo secret1 && ./secret-tool",
        folder.path().display()
    );
    let options = Options { redact: vec![Regex::new("secret[a-z0-9]*").unwrap()], ..Options::default() };
    let (ended, tree) = recorded_with(options, &["sh", "-c", &script]);
    assert_eq!(ended, Ended::Status(0));
    let facts = tree.recording().facts().unwrap();
    assert!(facts.iter().any(|(key, value)| key == "command" && value.contains('…')), "{facts:?}");
    let texts = facts.into_iter().flat_map(|(key, value)| [key, value]);
    let texts = texts.chain(tree.images().iter().flat_map(|image| {
        let path = tree.executable(image).unwrap_or_default().to_owned();
        [path, tree.directory(image).unwrap_or_default().to_owned(), line(&tree, image)]
    }));
    let texts: Vec<String> = texts.collect();
    assert!(texts.iter().any(|text| text.ends_with("/…-echo")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("secret")), "{texts:?}");
}

fn only_names_of_programs_are_kept_without_arguments() {
    let options = Options { arguments: false, ..Options::default() };
    let (_, tree) = recorded_with(options, &["sh", "-c", "/bin/echo hidden > /dev/null; :"]);
    assert_eq!(lines(&tree), ["/bin/echo", "sh"]);
}

fn processes_that_nobody_waits_for_are_marked() {
    let options = Options { wait_all: true, ..Options::default() };
    // The shell in parentheses ends before its child.
    let (_, tree) = recorded_with(options, &["sh", "-c", "(sleep 0.3 &); sleep 0.1"]);
    assert_eq!(tree.attribute(process(&tree, "sleep 0.3"), "not waited for"), Some("parent ended"));
    assert_eq!(tree.attribute(process(&tree, "sleep 0.1"), "not waited for"), None);
    assert!(process(&tree, "sleep 0.3").end.is_some());
    // The shell becomes a program that knows of no child.
    let (_, tree) = recorded(&["sh", "-c", "/bin/true & exec sleep 0.2"]);
    assert_eq!(tree.attribute(process(&tree, "/bin/true"), "not waited for"), Some("never"));
}

fn processes_whose_ends_are_ignored_are_not_waited_for() {
    let script = |ignore| {
        format!(
            "import os, signal
{ignore}
for _ in range(3):
    child = os.fork()
    if child == 0: os.execv('/bin/true', ['/bin/true'])
    try: os.waitpid(child, 0)
    except ChildProcessError: pass
"
        )
    };
    let waited = |script: &str| {
        let (_, tree) = python(script)?;
        let all = tree.processes().iter().filter(|process| line(&tree, tree.image(process.last_image)) == "/bin/true");
        Some(all.map(|process| process.is_not_waited_for).collect::<Vec<_>>())
    };
    let Some(ignored) = waited(&script("signal.signal(signal.SIGCHLD, signal.SIG_IGN)")) else { return };
    assert_eq!(ignored, [true; 3]);
    assert_eq!(waited(&script("")), Some(vec![false; 3]));
    // What ignores ends in the end may have waited before.
    let late = script("") + "signal.signal(signal.SIGCHLD, signal.SIG_IGN)";
    assert_eq!(waited(&late), Some(vec![false; 3]));
}

fn how_long_a_process_waited_for_a_processor_is_known() {
    // Two shells share one processor, and each prints what the system counts of it at its end.
    let folder = tempfile::tempdir().unwrap();
    let count = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; cat /proc/$$/schedstat > ";
    let path = |number: u32| folder.path().join(number.to_string()).display().to_string();
    let script = format!("sh -c '{count}{}' & sh -c '{count}{}' & wait", path(1), path(2));
    if run("taskset", &["-V"]).is_none() {
        eprintln!("not tested: there is no taskset here");
        return;
    }
    let (_, tree) = recorded(&["taskset", "-c", "0", "sh", "-c", &script]);
    for number in [1, 2] {
        let said = std::fs::read_to_string(path(number)).unwrap();
        let said: u64 = said.split(' ').nth(1).unwrap().parse().unwrap();
        let found = image(&tree, &format!("sh -c {count}{}", path(number))).used.waiting_ns.unwrap();
        // The turn that the shell before it waited for is not in it, and the last ones after `cat` are.
        assert!(said > 50_000_000 && found.abs_diff(said) < said / 10, "{found} {said}");
    }
}

fn threads_that_end_with_their_process_waited_too() {
    // Threads that compress run beside each other, and are there when their process ends. It adds up what the system counts.
    let script = "
import glob, os, sys, threading, time, zlib
def compress():
    while True: zlib.compress(bytes(1_000_000))
for _ in range(3): threading.Thread(target=compress, daemon=True).start()
time.sleep(1.5)
waited = sum(int(open(path).read().split()[1]) for path in glob.glob('/proc/self/task/*/schedstat'))
open(sys.argv[1], 'w').write(str(waited))
os._exit(0)
";
    if run("taskset", &["-V"]).and(run("python3", &["-V"])).is_none() {
        eprintln!("not tested: there is no taskset or Python here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waited").display().to_string();
    let (_, tree) = recorded(&["taskset", "-c", "0", "python3", "-c", script, &path]);
    let said: u64 = std::fs::read_to_string(&path).unwrap().parse().unwrap();
    // The wait of `taskset`, before it became Python, is in the count.
    let found: u64 = tree.images().iter().map(|image| image.used.waiting_ns.unwrap()).sum();
    // The count at the end is higher by a few turns, each as long as those of all others on the machine.
    assert!(said > 500_000_000 && found >= said && found - said < said / 4, "{found} {said}");
}

fn processes_in_turn_do_not_overlap_while_others_use_all_processors() {
    // Eight loops for each processor: whoever records has to wait for its turn before it hears of an end.
    let _turn = turn();
    let loops = 8 * std::thread::available_parallelism().unwrap().get();
    let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let mut busy: Vec<_> = (0..loops).map(|_| busy()).collect();
    let script = "for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do ls -d $number; done";
    let (_, tree) = recorded_now(Options::default(), &["sh", "-c", script]);
    busy.iter_mut().for_each(|child| child.kill().and_then(|()| child.wait()).map(drop).unwrap());
    let times = |number: u32| {
        let process = process(&tree, &format!("ls -d {number}"));
        (process.began_ns, process.end.unwrap().time_ns)
    };
    // The shell waits for each before it starts the next one. A fork is dated within some milliseconds.
    let overlaps: Vec<i64> = (1..16).map(|number| times(number).1 - times(number + 1).0).collect();
    assert!(overlaps.iter().all(|&ns| ns < 10_000_000), "{overlaps:?}");
}

fn a_process_that_outlives_the_command_is_running_at_the_end() {
    let (ended, tree) = recorded(&["sh", "-c", "sleep 20 & sleep 0.1; exit 4"]);
    assert_eq!(ended, Ended::Status(4));
    assert!(process(&tree, "sleep 20").end.is_none());
}

/// Runs a script of Python; `None` if there is no Python.
fn python(script: &str) -> Option<(Ended, ProcessTree)> {
    let _ = run("python3", &["-V"])?;
    Some(recorded(&["python3", "-c", script]))
}

fn threads_fork_and_execute() {
    let script = "
import os, subprocess, threading, time
def fork():
    pid = os.fork()
    if not pid: os._exit(5)
    os.waitpid(pid, 0)
    subprocess.run(['/bin/echo', '-n'])
def execute(): os.execv('/bin/sh', ['sh', '-c', '/bin/true last; exit 6'])
for act in fork, execute:
    for other in range(3): threading.Thread(target=time.sleep, args=(0.3,), daemon=True).start()
    thread = threading.Thread(target=act); thread.start(); thread.join()
";
    let Some((ended, tree)) = python(script) else { return };
    assert_eq!(ended, Ended::Status(6));
    let root = tree.process(barrow_processes::ProcessId(0));
    assert_eq!(process(&tree, "sh -c /bin/true last; exit 6"), root);
    assert_eq!(process(&tree, "/bin/echo -n").parent, Some(barrow_processes::ProcessId(0)));
    assert_eq!(process(&tree, "/bin/true last").started_by, Some(root.last_image));
    let ended_with_5 = tree
        .images()
        .iter()
        .filter(|image| image.is_forked && tree.process(image.process).end.and_then(|end| end.exit_status) == Some(5));
    assert_eq!(ended_with_5.count(), 1);
    // Those with several threads have a peak too.
    assert!(tree.images().iter().all(|image| image.used.peak_bytes.is_some() || image.next.is_some()));
}

fn a_thread_with_a_name_executes_what_it_finds() {
    let source = "
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *unused) {
    prctl(PR_SET_NAME, \"worker\");
    pid_t child = vfork();
    if (!child) {
        execl(\"/no/such/true\", \"fails\", (char *)0);
        execl(\"/bin/true\", \"true\", (char *)0);
        _exit(1);
    }
    waitpid(child, 0, 0);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}";
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), source) else { return };
    let (_, tree) = recorded(&[&program]);
    assert_eq!(lines(&tree), [&program, "true"]);
}

fn a_process_with_threads_has_a_peak_when_it_ends() {
    let script = "
import os, subprocess, threading, time
for other in range(5): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
held = bytearray(60_000_000)
subprocess.run(['python3', '-c', 'bytearray(90_000_000)'])
os._exit(0)
";
    let Some((_, tree)) = python(script) else { return };
    let peak = tree.image(tree.processes()[0].last_image).used.peak_bytes.unwrap();
    // Its child had more.
    assert!((60_000_000..85_000_000).contains(&peak), "{peak}");
}

fn memory_over_time_is_that_of_the_program() {
    let script = "
import time
time.sleep(0.3); held = bytearray(60_000_000); time.sleep(1.5); del held; time.sleep(1.5)
";
    let Some((_, tree)) = python(script) else { return };
    let curve: Vec<(i64, u64)> = tree.samples().map(|sample| (sample.time_ns, sample.total_bytes())).collect();
    // Its samples are low, then high, then low again; how many there are is up to the machine. The sampler waits a hundred times
    // as long as a sample took: for 60 MB less than the program sleeps, also if other programs use all processors.
    let is_high = |&(_, bytes): &(i64, u64)| bytes > 58_000_000;
    let from = curve.iter().position(is_high).expect("a sample while the memory is held");
    let last = curve.iter().rposition(is_high).unwrap();
    assert!(curve[from..last].iter().all(is_high), "{curve:?}");
    assert!(curve.iter().all(|&(_, bytes)| bytes < 100_000_000), "{curve:?}");
    assert!(curve.first().unwrap().1 < 30_000_000 && curve.last().unwrap().1 < 30_000_000, "{curve:?}");
}

#[test]
fn a_program_that_traces_runs_untraced() {
    VIA.set(Via::Ptrace);
    let script = "strace -f -o /dev/null sh -c 'exit 9'; exit $?";
    if run("strace", &["-V"]).is_none() {
        eprintln!("not tested: there is no strace here");
        return;
    }
    let (ended, tree) = recorded(&["sh", "-c", script]);
    assert_eq!(ended, Ended::Status(9));
    let strace = process(&tree, "strace -f -o /dev/null sh -c exit 9");
    assert_eq!(tree.attribute(strace, "not traced"), Some("it traces processes itself"));
    // And if it is the command itself, which stops, continues and ends.
    let (ended, _) =
        recorded(&["strace", "-o", "/dev/null", "sh", "-c", "(sleep 0.1; kill -CONT $$) & kill -STOP $$; exit 8"]);
    assert_eq!(ended, Ended::Status(8));
}

fn what_a_process_wrote_is_not_what_its_children_wrote() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let script = format!("dd if=/dev/zero of={}/x bs=64k count=64 2> /dev/null; :", folder.path().display());
    let (_, tree) = recorded(&["sh", "-c", &script]);
    let written = |at: usize| tree.images()[at].used.written_bytes.unwrap();
    // The description of the file may count as well; a file system in memory writes nothing to devices.
    assert!(written(1) == 0 || written(1).wrapping_sub(4 << 20) <= 64 << 10, "{}", written(1));
    assert!(written(0) <= 64 << 10, "{}", written(0));
}

/// The path of a program in C; `None` if no compiler is there.
fn compiled(folder: &Path, source: &str) -> Option<String> {
    let (program, file) = (folder.join("program").display().to_string(), folder.join("program.c"));
    std::fs::write(&file, source).unwrap();
    let compiled = run("cc", &["-w", "-pthread", "-o", &program, file.to_str().unwrap()])?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(program)
}

fn a_number_that_is_used_again_is_another_process() {
    // The first child is waited for, and another process gets its number: what 32,768 forks may also lead to.
    let source = "
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    pid_t first = fork();
    if (!first) { for (volatile int i = 0; i < 50000000; i++); _exit(0); }
    waitpid(first, 0, 0);
    struct clone_args clone;
    memset(&clone, 0, sizeof clone);
    clone.exit_signal = SIGCHLD; clone.set_tid = (unsigned long)&first; clone.set_tid_size = 1;
    pid_t second = syscall(SYS_clone3, &clone, sizeof clone);
    if (second < 0) return 1;
    if (!second) { usleep(300000); _exit(0); }
    usleep(150000);
    return 0;
}";
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), source) else { return };
    let (ended, tree) = recorded(&[&program]);
    if ended == Ended::Status(1) {
        eprintln!("not tested: only root gives a process a number");
        return;
    }
    let [_, first, second] = tree.processes() else { panic!("{:?}", tree.processes()) };
    assert_eq!(first.pid, second.pid);
    assert_eq!(tree.attribute(first, "not waited for"), None);
    assert_eq!(tree.attribute(second, "not waited for"), Some("parent ended"));
}

fn memory_that_a_child_borrows_counts_once() {
    let source = "
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    size_t bytes = 50u << 20;
    memset(malloc(bytes), 1, bytes);
    pid_t child = vfork();
    if (!child) { usleep(1500000); execl(\"/bin/true\", \"true\", (char *)0); _exit(1); }
    waitpid(child, 0, 0);
    return 0;
}";
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), source) else { return };
    let (_, tree) = recorded(&[&program]);
    let peak = tree.samples().map(|sample| sample.total_bytes()).max().unwrap();
    // The sampler waits a hundred times as long as a sample took: for 50 MiB less than the child sleeps.
    assert!(peak > 50 << 20 && peak < 60 << 20, "{peak}");
}

fn a_process_whose_first_thread_has_ended_has_its_memory() {
    let source = "
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *hold(void *unused) { size_t bytes = 50u << 20; memset(malloc(bytes), 1, bytes); sleep(2); return 0; }
int main(void) { pthread_t thread; pthread_create(&thread, 0, hold, 0); pthread_exit(0); }";
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path(), source) else { return };
    let (_, tree) = recorded(&[&program]);
    let own = image(&tree, &program).used.peak_bytes.unwrap();
    let sampled = tree.samples().map(|sample| sample.total_bytes()).max().unwrap();
    assert!([own, sampled].iter().all(|bytes| (50 << 20..60 << 20).contains(bytes)), "{own} {sampled}");
}

fn a_process_that_is_killed_had_as_much_memory_as_its_samples() {
    let script = "import os, time; held = bytearray(100_000_000); time.sleep(1.5); os.kill(os.getpid(), 9)";
    let Some((_, tree)) = python(script) else { return };
    let last = tree.image(tree.processes()[0].last_image);
    let peak = last.used.peak_bytes.unwrap();
    assert!((100_000_000..140_000_000).contains(&peak), "{peak}");
    assert!(tree.cpu_ns(last).unwrap() > 10_000_000);
}
