//! `barrow trial` and what is around it: the signals that it inherits and receives, and the files that it writes and reads.

#![cfg(target_os = "linux")]

mod program;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use program::trials::{asked, barrow, trial, values};
use program::{Run, finished, program};

/// The output of a Python script that runs in `folder` and has barrow as `sys.argv[1]`; `None` if there is no Python.
fn python(folder: &Path, script: &str) -> Option<String> {
    let words = ["-c", script, env!("CARGO_BIN_EXE_barrow")];
    let output = Command::new("python3").args(words).current_dir(folder).output().ok()?;
    Some(String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_program_has_the_signals_that_it_would_have_alone() {
    let script = "
import signal, subprocess, sys
def prepare():
    for ignored in signal.SIGPIPE, signal.SIGCHLD, signal.SIGINT: signal.signal(ignored, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
def signals(words, prepare):
    subprocess.run(words, stdout=subprocess.DEVNULL, preexec_fn=prepare, restore_signals=False, timeout=20)
    lines = [line.split() for line in open('status') if line.startswith('Sig') and not line.startswith('SigQ')]
    # Signals 32 and 33 are those of glibc, which handles them where there are threads.
    return [(name, int(signals, 16) & ~(3 << 31)) for name, signals in lines]
command = ['cp', '/proc/self/status', 'status']
trial = [sys.argv[1], 'trial', '--quiet', '--force', '-o', 't.barrow', '-n', '2', '--'] + command
for how in None, prepare, lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL):
    alone, measured = signals(command, how), signals(trial, how)
    assert len(alone) == 4 and alone == measured, (alone, measured)
print('same')
";
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = python(folder.path(), script) else { return };
    assert_eq!(said, "same\n");
}

/// Starts a trial in a folder, and waits until its program, or a command around it, has made the file `began`.
fn started(folder: &Path, words: &[&str]) -> Child {
    let mut trial = program(folder);
    trial.current_dir(folder).arg("trial").args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    let trial = trial.spawn().unwrap();
    let since = Instant::now();
    while !folder.join("began").exists() {
        assert!(since.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    trial
}

/// Sends a signal to a trial, and returns its exit code and what it said.
fn stopped(trial: Child, signal: &str) -> Run {
    Command::new("kill").args(["-s", signal, &trial.id().to_string()]).status().unwrap();
    finished(trial.wait_with_output().unwrap())
}

#[test]
fn a_file_that_another_trial_writes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words = ["--force", "-o", "t.barrow", "-n", "100", "touch began; sleep 0.1; test -e go || sleep 30"];
    let first = started(folder, &words);
    for verb in ["trial", "record"] {
        let second = barrow(folder, &[verb, "--force", "-o", "t.barrow", "--", "true"]);
        let code = if verb == "trial" { 3 } else { 125 };
        assert_eq!(second.code, code, "{verb}: {}", second.stderr);
        let said = "t.barrow: another process writes a recording there";
        assert!(second.stderr.contains(said), "{verb}: {}", second.stderr);
    }
    assert_eq!(stopped(first, "INT").code, 130);
    assert_eq!(trial(folder, &["-n", "2", "true"]).code, 0);
    assert_eq!(values(folder, "wall").len(), 2);
    // Devices have several writers.
    assert_eq!(barrow(folder, &["record", "--force", "-o", "/dev/null", "--", "true"]).code, 0);
}

#[test]
fn a_trial_that_measured_nothing_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let new = barrow(folder, &["trial", "--setup", "false", "true"]);
    assert!(new.code == 125 && !folder.join("trial.barrow").exists(), "{}", new.stderr);
    assert_eq!(trial(folder, &["-n", "2", "true"]).code, 0);
    let before = std::fs::read(folder.join("t.barrow")).unwrap();
    assert_eq!(trial(folder, &["--setup", "false", "true"]).code, 125);
    for signal in ["INT", "TERM"] {
        let _ = std::fs::remove_file(folder.join("began"));
        let run = stopped(started(folder, &["--force", "-o", "t.barrow", "touch began; sleep 30"]), signal);
        let said = "no run was recorded, and t.barrow is as it was";
        assert!(run.code == 130 && run.stderr.contains(said), "{signal}: {}", run.stderr);
        assert!(run.stdout.is_empty() && !run.stderr.contains("every value is in"), "{signal}: {}", run.stderr);
    }
    assert!(before == std::fs::read(folder.join("t.barrow")).unwrap());
}

#[test]
fn a_trial_that_is_killed_keeps_its_first_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The first run of one program ends, and the second program does not.
    let words = ["--force", "-o", "t.barrow", "test -e other && touch began && sleep 30; touch other"];
    let mut killed =
        started(folder, &[&words[..], &["test -e other && touch began && sleep 30; touch other; true"]].concat());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(values_of_damaged(folder).len(), 1);
}

/// The wall times of a recording that was not finished.
fn values_of_damaged(folder: &Path) -> Vec<f64> {
    let run = barrow(folder, &["values", "t.barrow", "wall", "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    answer["rows"].as_array().unwrap().iter().filter_map(|row| row["value"].as_f64()).collect()
}

#[test]
fn a_trial_that_waits_for_its_input_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    for signal in ["INT", "TERM"] {
        let mut waiting = program(folder);
        waiting.args(["trial", "-o", "t.barrow", "--input", "pipe", "cat"]).current_dir(folder);
        let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Its thread that opens the pipe is there when it hears signals.
        let since = Instant::now();
        while !has_thread(&waiting, "input") {
            assert!(since.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
        let run = stopped(waiting, signal);
        assert!(run.code == 130 && run.stderr.contains("no run was recorded"), "{signal}: {}", run.stderr);
    }
    // What is written is read.
    let mut writer = Command::new("sh").args(["-c", "echo x=7 > pipe"]).current_dir(folder).spawn().unwrap();
    let run = trial(folder, &["--input", "pipe", "-n", "1", "--value", "x=x=([0-9]+)", "cat"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    writer.wait().unwrap();
    assert_eq!(values(folder, "x"), [7.0]);
}

/// Whether a process has a thread of this name.
fn has_thread(process: &Child, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", process.id())).unwrap();
    let mut names = threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.any(|found| found.trim() == name)
}

#[test]
fn counts_are_not_known_while_a_process_still_runs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines = ["(setsid sleep 0.5 &) ; exit 0", "sleep 0.5 & exit 0", "(sleep 0.5; true) & exit 0"];
    for line in lines {
        let run = barrow(folder, &["trial", "--force", "-o", "t.barrow", "-n", "10", "--shell", "sh", line]);
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        let said = run.stderr.contains("its allocations are not known: a process that it started still runs");
        assert!(said && !run.stderr.contains("has not loaded"), "{line}: {}", run.stderr);
        let trials = asked(folder, &["trials"]);
        let names: Vec<&str> =
            trials["rows"].as_array().unwrap().iter().filter_map(|row| row["metric"].as_str()).collect();
        assert!(names.contains(&"wall") && !names.contains(&"blocks"), "{line}: {names:?}");
    }
    // What has ended is known, also of forks without a program.
    let line = "(true) & (sleep 0.01; true) & wait; (sh -c true); x=$(echo)";
    assert_eq!(trial(folder, &["-n", "3", "--layout", "fixed", "--shell", "sh", line]).code, 0);
    assert_eq!(values(folder, "blocks").len(), 3);
}
