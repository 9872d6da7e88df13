//! `barrow record`: what a recording knows only in part is not told as if it were all.

#![cfg(target_os = "linux")]

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use super::program::{Run, finished, program};

/// Runs a script, recorded in this way. Returns whether that was possible: a test needs what the script runs.
fn recorded(folder: &Path, via: &str, script: &str) -> bool {
    let mut recorder = program(folder);
    let words = ["record", "--force", "--via", via, "-o", "x", "--", "bash", "-c", script];
    let run = finished(recorder.current_dir(folder).args(words).output().unwrap());
    assert!(run.code == 0 || run.code == 77, "{via}: {}", run.stderr);
    run.code == 0
}

fn ask(folder: &Path, words: &[&str]) -> Run {
    finished(program(folder).current_dir(folder).args(words).output().unwrap())
}

/// The exit code of an assertion about the recording.
fn assert_code(folder: &Path, assertion: &str) -> i32 {
    ask(folder, &["assert", "x", assertion]).code
}

#[test]
fn a_call_to_execute_that_failed_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script"), "#!/nonexistent/interpreter\n").unwrap();
    std::fs::write(folder.path().join("plain"), "no program\n").unwrap();
    Command::new("chmod").arg("+x").arg(folder.path().join("script")).status().unwrap();
    let scripts = [
        "(shopt -s execfail; exec ./script; kill -KILL $BASHPID); true",
        "(shopt -s execfail; exec ./plain; kill -KILL $BASHPID); true",
        "(shopt -s execfail; exec /nonexistent/compiler; exec /; kill -TERM $BASHPID); true",
        "(shopt -s execfail; exec /nonexistent/compiler; for i in {1..30000}; do :; done; kill -KILL $BASHPID); true",
    ];
    for (script, via) in scripts.iter().flat_map(|script| [(script, "notify"), (script, "ptrace")]) {
        assert!(recorded(folder.path(), via, script));
        let rows = ask(folder.path(), &["processes", "x", "--format", "csv"]).stdout;
        assert!(rows.contains("bash") && !rows.contains(",compiler,"), "{via}: {rows}");
        let summary = ask(folder.path(), &["summary", "x", "--format", "json"]).stdout;
        // The copy of the shell that failed to execute has no program of its own.
        assert!(summary.contains("\"images\":2,") && summary.contains("\"forked\":1,"), "{via}: {summary}");
    }
}

#[test]
fn a_file_of_text_that_a_process_tries_to_execute_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain"), "no program\n").unwrap();
    Command::new("chmod").arg("+x").arg(folder.path().join("plain")).status().unwrap();
    // The parent waits already, so nothing of the child is left to look at.
    let program = "
import os
child = os.fork()
if not child:
    try: os.execv(\"./plain\", [\"plain\"])
    except OSError as error: os.kill(os.getpid(), 9)
os.waitpid(child, 0)
";
    for via in ["notify", "ptrace"] {
        if !recorded(folder.path(), via, &format!("command -v python3 > made || exit 77; python3 -c '{program}'; true"))
        {
            return;
        }
        let count = |expression| ask(folder.path(), &["count", "x", expression, "--format", "json"]).stdout;
        let (tried, forked) = (count("executable ~ */plain"), count("forked and command ~ python* and signal = KILL"));
        assert!(tried.contains("\"programs\":0,"), "{via}: {tried}");
        assert!(forked.contains("\"programs\":1,"), "{via}: {forked}");
    }
}

/// The interval of a number that is known in part decides which programs match.
#[test]
fn whether_a_killed_program_matches_may_be_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let killed = "sh -c 'sleep 0.4; kill -KILL $$'; true";
    let asserted = [
        ("count(memory > 1T) = 0", 2),
        ("count(memory > 1T) <= 1", 0),
        ("count(memory > 1) >= 3", 0),
        ("count(not memory > 1T) >= 2", 0),
        ("count(not memory > 1T) >= 3", 2),
        ("count(total.cpu > 100h) = 0", 2),
        ("count(cpu > 100h and command = \"sleep\") = 0", 0),
        ("count(user < 100h) >= 3", 2),
        ("count(reads > 1T) = 0", 2),
        ("count(pid > 0) = 3", 0),
        ("wall(cpu > 100h) < 100h", 0),
        ("failed(memory < 1T) = 1", 2),
        ("failed(memory < 1T) <= 1", 0),
    ];
    assert!(recorded(folder.path(), "notify", killed));
    for (assertion, code) in asserted {
        assert_eq!(assert_code(folder.path(), assertion), code, "{assertion}");
    }
    let note = "of 1 program too little is recorded to know whether they match";
    for (verb, rest) in [("count", ""), ("find", ""), ("processes", ""), ("list", "of memory"), ("group", "by command")]
    {
        let words = [&[verb, "x", "memory > 1T"][..], &rest.split_whitespace().collect::<Vec<_>>()].concat();
        let answer = ask(folder.path(), &words).stdout;
        assert!(answer.contains(note), "{words:?}: {answer}");
        let json = ask(folder.path(), &[&words[..], &["--format", "json"]].concat()).stdout;
        assert!(json.contains("\"exactness\":\"as far as values are known\""), "{words:?}: {json}");
    }
    assert!(!ask(folder.path(), &["count", "x", "memory > 1"]).stdout.contains(note), "it is more in any case");
    assert!(recorded(folder.path(), "ptrace", killed));
    for (assertion, _) in asserted {
        assert_ne!(assert_code(folder.path(), assertion), 2, "all is known: {assertion}");
    }
}

#[test]
fn a_program_whose_file_is_gone_soon_is_one() {
    let folder = tempfile::tempdir().unwrap();
    // As `configure` tries what a compiler makes.
    let script = "for i in 1 2 3 4 5 6 7 8; do cp -L $BASH tried; ./tried -c 'kill -ABRT $$'; rm tried; done; true";
    for via in ["notify", "ptrace"] {
        assert!(recorded(folder.path(), via, script));
        let rows = ask(folder.path(), &["processes", "x", "--format", "csv"]).stdout;
        let tried = rows.lines().filter(|row| row.contains(",./tried -c"));
        assert_eq!(tried.count(), 8, "{via}: {rows}");
    }
}

#[test]
fn what_runs_on_after_the_recording_may_use_more() {
    let folder = tempfile::tempdir().unwrap();
    for via in ["notify", "ptrace"] {
        assert!(recorded(folder.path(), via, "sleep 2 & sleep 0.2"));
        let codes = ["memory() < 1T", "memory() > 1T", "cpu() < 100h", "wall() < 100h", "failed() = 0"];
        let codes = codes.map(|assertion| assert_code(folder.path(), assertion));
        assert_eq!(codes, [2, 2, 2, 0, 0], "{via}");
    }
}

#[test]
fn a_recording_that_was_cut_decides_nothing_about_the_command() {
    let folder = tempfile::tempdir().unwrap();
    assert!(recorded(folder.path(), "auto", "for i in {1..20}; do sleep 0.03; done"));
    let whole = std::fs::read(folder.path().join("x")).unwrap();
    std::fs::write(folder.path().join("cut"), &whole[..whole.len() * 6 / 10]).unwrap();
    let repaired = ask(folder.path(), &["repair", "cut", "-o", "x", "--force"]);
    assert!(repaired.code == 0, "{}", repaired.stderr);
    assert!(repaired.stdout.contains("processes kept; nothing that was committed is lost"), "{}", repaired.stdout);
    let codes = ["wall() < 100h", "failed() = 0", "peak() < 1T", "count() >= 1"];
    let codes = codes.map(|assertion| assert_code(folder.path(), assertion));
    assert_eq!(codes, [2, 2, 2, 0]);
}

#[test]
fn a_program_that_a_signal_ends_before_its_next_call_is_one() {
    let folder = tempfile::tempdir().unwrap();
    for via in ["notify", "ptrace"] {
        assert!(recorded(folder.path(), via, "(exec sh -c 'kill -KILL $$'); true"));
        let summary = ask(folder.path(), &["summary", "x", "--format", "json"]).stdout;
        assert!(summary.contains("\"programs\":2,"), "{via}: {summary}");
    }
}

#[test]
fn the_peak_of_a_program_that_was_killed_is_at_least_that_of_its_samples() {
    let folder = tempfile::tempdir().unwrap();
    let killed = "sh -c 'sleep 0.4; kill -KILL $$'; true";
    assert!(recorded(folder.path(), "ptrace", killed));
    assert_eq!(assert_code(folder.path(), "memory() < 1T"), 0, "all of it is known");
    assert!(recorded(folder.path(), "notify", killed));
    let asserted = ask(folder.path(), &["assert", "x", "memory() < 1T"]);
    assert!(asserted.code == 2 && asserted.stdout.contains("at least"), "{}", asserted.stdout);
    assert_eq!(assert_code(folder.path(), "memory() < 1"), 1, "it is more than that in any case");
    assert_eq!(assert_code(folder.path(), "memory() > 1"), 0);
    assert_eq!(assert_code(folder.path(), "memory(class = \"nothing\") < 1T"), 0, "none of these was killed");
    let questions = [&["processes", "x"][..], &["summary", "x"], &["classes", "x"], &["count", "x", "cpu >= 0"]];
    for words in [&questions[..], &[&["timeline", "x"], &["lanes", "x"]]].concat() {
        let answer = ask(folder.path(), words).stdout;
        assert!(answer.contains("of 1 program, which ended by a signal or the call exit"), "{words:?}: {answer}");
    }
    let rows = ask(folder.path(), &["processes", "x", "--format", "json"]).stdout;
    assert!(rows.contains("\"exactness\":\"lower bound\""), "{rows}");
}

#[test]
fn the_time_without_a_processor_of_threads_that_ended_is_not_0() {
    let folder = tempfile::tempdir().unwrap();
    let program = "
import threading, time
one = threading.Thread(target=lambda: sum(range(5000000)))
one.start()
one.join()
# The system still has the thread for a moment.
time.sleep(0.3)
";
    let script = format!("command -v python3 > made || exit 77; python3 -c '{program}' > made");
    if !recorded(folder.path(), "ptrace", &script) {
        return;
    }
    assert_eq!(assert_code(folder.path(), "waiting() < 100h"), 0, "all of it is known");
    assert!(recorded(folder.path(), "notify", &script));
    let asserted = ask(folder.path(), &["assert", "x", "waiting() < 100h"]);
    assert_eq!(asserted.code, 2, "{} {}", asserted.stdout, ask(folder.path(), &["processes", "x"]).stdout);
    for words in [&["summary", "x"], &["classes", "x"]] {
        let answer = ask(folder.path(), words).stdout;
        assert!(answer.contains("the time without a processor of 1 program is not known"), "{words:?}: {answer}");
    }
    let predicted = ask(folder.path(), &["what-if", "x"]).stdout;
    assert!(predicted.contains("how long 1 program waited for processors is not known"), "{predicted}");
}

#[test]
fn of_a_program_that_is_not_traced_the_end_is_known() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("leak.c"), "int main(void) { return 3; }").unwrap();
    let compile = "gcc -w -fsanitize=address -o leak leak.c && ./leak; test $? = 3";
    if !Command::new("sh").args(["-c", compile]).current_dir(folder.path()).status().unwrap().success() {
        eprintln!("not tested: no compiler here makes programs that check for leaks");
        return;
    }
    assert!(recorded(folder.path(), "ptrace", "./leak; sleep 0.5; true"));
    let summary = ask(folder.path(), &["summary", "x", "--format", "json"]).stdout;
    assert!(summary.contains("\"running\":0,") && summary.contains("\"failed_unknown\":1,"), "{summary}");
    let rows = ask(folder.path(), &["processes", "x", "command ~ *leak", "--format", "json"]).stdout;
    assert_eq!(assert_code(folder.path(), "memory() < 1T"), 2, "what it held is not known");
    assert_eq!(assert_code(folder.path(), "peak() < 1T"), 2);
    let wall = rows.split("\"wall_ns\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert!(wall.parse::<u64>().unwrap() < 450_000_000, "it ended before the other one began to sleep: {rows}");
}

#[test]
fn what_the_system_sends_to_the_command_alone_reaches_it() {
    let script = "
import os, pty, signal, subprocess, sys, time
command = ['sh', '-c', 'touch ready; exec sleep 20']
def ended_by_alarm(words):
    return subprocess.run(words, preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, 0.6)).returncode
def ended_by_hangup(words):
    if os.path.exists('ready'): os.remove('ready')
    process, terminal = pty.fork()
    if process == 0: os.execvp(words[0], words)
    while not os.path.exists('ready'): time.sleep(0.02)
    time.sleep(0.2)
    os.close(terminal)
    return os.waitpid(process, 0)[1]
for end in ended_by_alarm, ended_by_hangup:
    alone = end(command)
    for via in 'notify', 'ptrace':
        begun = time.time()
        recorded = end([sys.argv[1], 'record', '--force', '-o', 'x', '--via', via, '--'] + command)
        assert alone == recorded != 0 and time.time() - begun < 15, (alone, recorded, via)
print('as alone')
";
    let folder = tempfile::tempdir().unwrap();
    let mut python = Command::new("python3");
    let words = ["-c", script, env!("CARGO_BIN_EXE_barrow")];
    let Ok(output) = python.args(words).current_dir(folder.path()).output() else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "as alone\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn each_process_has_the_one_that_started_it_and_began_after_it() {
    let folder = tempfile::tempdir().unwrap();
    // Daemons whose starters end at once, and copies of the shell that are known only once a program of theirs is.
    let script = "command -v setsid > made || exit 77
for i in {1..8}; do setsid -f sleep 0.3; done
for i in {1..40}; do (for j in 1 2; do (for k in {1..300}; do :; done; sleep 0.001; :); done; :) & done; wait";
    for via in ["notify", "ptrace"] {
        if !recorded(folder.path(), via, script) {
            return;
        }
        let rows = ask(folder.path(), &["timeline", "x", "--format", "csv"]).stdout;
        let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
        let column = |key| rows[0].iter().position(|found| *found == key).unwrap();
        let (time, event, process, parent) = (column("time_ns"), column("event"), column("process"), column("parent"));
        let begun: HashMap<&str, i64> = (rows.iter().filter(|row| row[event] == "begin"))
            .map(|row| (row[process], row[time].parse().unwrap()))
            .collect();
        let mut orphans = 0;
        for row in rows.iter().filter(|row| row[event] == "begin") {
            match begun.get(row[parent]) {
                Some(before) => assert!(*before <= begun[row[process]], "{via}: {row:?}"),
                None => orphans += 1,
            }
        }
        assert!(begun.len() > 130 && orphans == 1, "{via}: {orphans} of {}", begun.len());
    }
}
