//! `barrow trial` and what is around it: the signals that it inherits and receives, and the files that it writes and reads.

#![cfg(target_os = "linux")]

mod program;

use std::path::Path;
use std::process::Command;

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
