//! `barrow record`: the command behaves as if it ran alone, and what goes wrong with the recording does not concern it.

#![cfg(target_os = "linux")]

mod program;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use program::{finished, program, testdata};

const BARROW: &str = env!("CARGO_BIN_EXE_barrow");

fn record(folder: &Path, words: &[&str]) -> Output {
    program(folder).current_dir(folder).arg("record").args(words).output().unwrap()
}

/// The output of a Python script that runs in `folder` and has barrow as `sys.argv[1]`; `None` if there is no Python.
fn python(folder: &Path, script: &str) -> Option<String> {
    let output = Command::new("python3").args(["-c", script, BARROW]).current_dir(folder).output().ok()?;
    Some(String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr))
}

/// Waits until there is a file.
fn await_file(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(20), "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_exit_status_is_that_of_the_command_or_says_what_failed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("old"), "kept").unwrap();
    let cases: [(&[&str], i32, &str); 7] = [
        (&["-o", "new", "--", "sh", "-c", "exit 3"], 3, ""),
        (&["--via", "smoke", "--", "true"], 125, "invalid value 'smoke' for '--via <WAY>'"),
        (&["--", "no-such-command"], 127, "no command \"no-such-command\""),
        (&["-o", "old", "--force", "--", "no-such-command"], 127, "no command"),
        (&["-o", "old", "--force", "--", "/"], 126, "cannot run \"/\": Permission denied"),
        (&["-o", "old", "--", "true"], 125, "old: File exists (os error 17); add --force to replace it"),
        (&["-o", "no/folder", "--", "touch", "made"], 125, "no/folder: No such file or directory"),
    ];
    for (words, code, said) in cases {
        let run = finished(record(folder.path(), words));
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains(said) && run.stderr.lines().count() == usize::from(code > 100), "{}", run.stderr);
    }
    assert_eq!(std::fs::read(folder.path().join("old")).unwrap(), b"kept");
    let mut names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["new", "old"]);
}

#[test]
fn the_signal_that_ends_the_command_ends_barrow() {
    let folder = tempfile::tempdir().unwrap();
    for signal in [2, 9, 13, 15] {
        let ended = record(folder.path(), &["--force", "--", "sh", "-c", &format!("kill -{signal} $$")]);
        assert_eq!(ended.status.signal(), Some(signal));
    }
    // And one that is sent to barrow reaches the command.
    let mut recorder = program(folder.path());
    let script = "trap 'exit 5' TERM; touch ready; while :; do sleep 0.02; done";
    let recorder = recorder.current_dir(folder.path()).args(["record", "-o", "x", "--", "sh", "-c", script]);
    let mut recorder = recorder.spawn().unwrap();
    await_file(&folder.path().join("ready"));
    Command::new("kill").arg(recorder.id().to_string()).status().unwrap();
    assert_eq!(recorder.wait().unwrap().code(), Some(5));
}

#[test]
fn the_cpu_that_is_in_no_row_is_known_if_all_was_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let in_no_row = |script: &str| {
        assert!(record(folder.path(), &["--force", "-o", "x", "--", "sh", "-c", script]).status.success());
        let asked =
            program(folder.path()).args(["summary", "x", "--format", "json"]).current_dir(folder.path()).output();
        let answer: serde_json::Value = serde_json::from_slice(&asked.unwrap().stdout).unwrap();
        let of = &answer["processes"];
        // The use of the machine is known as far as the time is.
        assert_eq!(of["utilisation"].is_null(), of["cpu_unknown"] != 0, "{of}");
        of["cpu_in_no_row_ns"].as_u64()
    };
    if in_no_row("/bin/true; /bin/true; true").is_none() {
        eprintln!("not tested: the system does not tell what is waited for, or calls are not reported here");
        return;
    }
    // Nobody waits for the first one.
    assert_eq!(in_no_row("/bin/true & exec sleep 0.2"), None);
    // The first one runs when the recording ends.
    assert_eq!(in_no_row("sleep 3 & /bin/true; true"), None);
}

#[test]
fn the_command_has_the_signals_that_it_would_have_alone() {
    let script = "
import signal, subprocess, sys
def prepare():
    for ignored in signal.SIGPIPE, signal.SIGCHLD, signal.SIGINT: signal.signal(ignored, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
def signals(words, prepare):
    text = subprocess.run(words, stdout=subprocess.PIPE, preexec_fn=prepare, restore_signals=False).stdout.decode()
    return [line for line in text.splitlines() if line.startswith('Sig') and not line.startswith('SigQ')]
command = ['cat', '/proc/self/status']
for how in None, prepare, lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL):
    alone, recorded = signals(command, how), signals([sys.argv[1], 'record', '--force', '--'] + command, how)
    assert len(alone) == 4 and alone == recorded, (alone, recorded)
print('same')
";
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = python(folder.path(), script) else { return };
    assert_eq!(said, "same\n");
}

#[test]
fn a_terminal_has_the_command_in_the_foreground() {
    let script = r#"
import os, pty, re, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.environ['PS1'] = '> '
    os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])
seen = ''
def expect(pattern):
    global seen
    until = time.time() + 15
    while not re.search(pattern, seen):
        ready, _, _ = select.select([terminal], [], [], 0.1)
        if ready: seen += os.read(terminal, 4096).decode()
        if time.time() > until: sys.exit('no %s in %r' % (pattern, seen))
    seen = seen[re.search(pattern, seen).end():]
def say(text): os.write(terminal, text.encode())
expect('> ')
record = sys.argv[1] + ' record --force -o x -- '
say(record + 'sh -c \'test -t 0 && test -t 1 && echo is a $((1+1))tty\'\n'); expect('is a 2tty')
say(record + 'sh -c \'echo begun $((1+1)); sleep 30; echo went on\'\n'); expect('begun 2')
time.sleep(0.2); say('\x1a'); expect('Stopped')
say('fg\n'); expect('sleep 30'); time.sleep(0.3)
say('\x03'); time.sleep(0.2); say('echo status $?.\n'); expect(r'status 130\.')
say(record + 'sh -c \'trap "exit 7" INT; echo begun $((1+2)); while :; do sleep 0.1; done\'\n'); expect('begun 3')
say('\x03'); time.sleep(0.2); say('echo status $?.\n'); expect(r'status 7\.')
say(record + 'sleep 0.3 & wait $!; echo status $?.\n'); expect(r'status 0\.')
say(record + 'cat & sleep 0.5; jobs\n'); expect('Stopped'); say('fg\n'); expect('cat'); time.sleep(0.2)
say('a line\n'); expect('a line\r\na line'); say('\x04'); time.sleep(0.2); say('echo status $?.\n'); expect(r'status 0\.')
print('as alone')
"#;
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = python(folder.path(), script) else { return };
    assert_eq!(said, "as alone\n");
}

#[test]
fn a_recording_that_cannot_be_written_does_not_end_the_command() {
    let folder = tempfile::tempdir().unwrap();
    // Files of at most 4 KiB: the recording is longer.
    let script = format!(
        "ulimit -f 4; {BARROW} record -o x -- sh -c 'for i in $(seq 300); do /bin/echo $i$i$i > /dev/null; done; exit 6'"
    );
    let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    let run = finished(output);
    assert_eq!((run.code, run.stdout.as_str()), (6, ""), "{}", run.stderr);
    assert!(run.stderr.contains("x is not complete: ") && run.stderr.lines().count() == 1, "{}", run.stderr);
    assert!(run.stderr.contains("File too large"), "{}", run.stderr);
}

#[test]
fn the_command_outlives_a_recorder_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let script = "/bin/echo before > /dev/null; touch ready; sleep 1; /bin/true; touch done";
    let mut recorder = program(folder.path());
    let mut recorder = recorder
        .current_dir(folder.path())
        .args(["record", "-o", "x.barrow", "--", "sh", "-c", script])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    await_file(&folder.path().join("ready"));
    std::thread::sleep(Duration::from_millis(500));
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    await_file(&folder.path().join("done"));
    let asked = ["processes", "x.barrow", "--format", "json"];
    let run = finished(program(folder.path()).current_dir(folder.path()).args(asked).output().unwrap());
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let rows = answer["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["arguments"][0] == name).unwrap_or_else(|| panic!("{rows:?}"));
    assert_eq!(row("/bin/echo")["exit_code"], 0);
    assert!(row("sleep")["ended_ns"].is_null() && row("sleep")["exit_code"].is_null());
}

#[test]
fn a_process_leads_to_the_recording_of_its_heap() {
    let folder = tempfile::tempdir().unwrap();
    let raku = testdata("raku.barrow");
    let words =
        ["-o", "x.barrow", "--", "env", "BARROW_OUT=heap", BARROW, "repack", raku.to_str().unwrap(), "-o", "heap"];
    let run = finished(record(folder.path(), &words));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let ask = |words: &[&str]| {
        let output = program(folder.path()).current_dir(folder.path()).args(words).output().unwrap();
        let run = finished(output);
        assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
        run.stdout
    };
    let rows: serde_json::Value = serde_json::from_str(&ask(&["processes", "x.barrow", "--format", "json"])).unwrap();
    let name = rows["rows"][0]["process"].as_str().unwrap();
    let through = ask(&["heap", "x.barrow", name, "summary", "--format", "json"]);
    let (through, heap): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(&through).unwrap(),
        serde_json::from_str(&ask(&["summary", "heap", "--format", "json"])).unwrap(),
    );
    assert_eq!(through["snapshots"][0]["objects"], 540_607);
    assert_eq!(through["snapshots"], heap["snapshots"]);
}

#[test]
fn where_tracing_is_forbidden_a_sentence_says_what_else_there_is() {
    // A filter of system calls that refuses ptrace and further filters: their numbers differ by processor.
    let script = "
import ctypes, os, platform, struct, sys
ptrace, seccomp = {'x86_64': (101, 317), 'aarch64': (117, 277)}[platform.machine()]
code = [(0x20, 0, 0, 0), (0x15, 1, 0, ptrace), (0x15, 0, 1, seccomp), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
filters = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))
class Program(ctypes.Structure): _fields_ = [('length', ctypes.c_ushort), ('filters', ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
program = Program(len(code), ctypes.addressof(filters))
assert libc.prctl(22, 2, ctypes.byref(program)) == 0
os.execv(sys.argv[1], ['barrow', 'record', '-o', 'x', '--', 'touch', 'made'])
";
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("python3").args(["-c", script, BARROW]).current_dir(folder.path()).output();
    let Ok(output) = output else { return };
    let run = finished(output);
    assert_eq!((run.code, run.stdout.as_str()), (125, ""), "{}", run.stderr);
    let hint = "BARROW_SH_LOG=build.log make SHELL=$(command -v barrow-sh)";
    assert!(run.stderr.contains("Operation not permitted") && run.stderr.contains(hint), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_program_that_loses_its_rights_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(folder.path()).unwrap());
    if own != 0 {
        eprintln!("not tested: only root can make such a program");
        return;
    }
    // `id` with the rights of root, for a user without any.
    let script = format!(
        "cp /usr/bin/id id; chmod 4755 id; chmod 777 .; cp {BARROW} barrow
         setpriv --reuid=65534 --regid=65534 --clear-groups ./barrow record -o x -- ./id"
    );
    let run = finished(Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = "ran without the rights of its owner, which only root can record it with: ";
    assert!(run.stderr.contains(said) && run.stderr.lines().count() == 1, "{}", run.stderr);
}

#[test]
fn what_processes_send_to_the_recorder_reaches_the_command() {
    let script = "
import os, signal, subprocess, sys, time
names = ['INT', 'QUIT', 'TERM', 'HUP', 'ALRM', 'USR1', 'PIPE', 'WINCH', 'VTALRM', 'XCPU', 'RTMIN']
handles = 'import os, signal, time\\ndef end(number, frame): os._exit(100 + number)\\n'
handles += ''.join('signal.signal(signal.SIG%s, end)\\n' % name for name in names)
handles += 'open(\"ready\", \"w\").close()\\nwhile True: time.sleep(0.05)'
for via in 'notify', 'ptrace':
    for name in names:
        words = [sys.argv[1], 'record', '--force', '--via', via, '--', sys.executable, '-c', handles]
        recorder = subprocess.Popen(words, start_new_session=True)
        while not os.path.exists('ready'): time.sleep(0.01)
        os.remove('ready')
        number = getattr(signal, 'SIG' + name)
        recorder.send_signal(number)
        found = recorder.wait(20)
        assert found == 100 + number, (via, name, found)
print('all')
";
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = python(folder.path(), script) else { return };
    assert_eq!(said, "all\n");
}

#[test]
fn a_program_that_checks_for_leaks_does_so_when_it_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <stdlib.h>\n#include <stdio.h>\nint main(int c,char**v){char*p=malloc(100);if(c>1)p=0;else free(p);puts(\"ok\");}";
    std::fs::write(folder.path().join("leak.c"), source).unwrap();
    let compile = "gcc -w -fsanitize=address -o leak leak.c && ./leak";
    let alone = Command::new("sh").args(["-c", compile]).current_dir(folder.path()).output().unwrap();
    if !alone.status.success() {
        eprintln!("not tested: no compiler here makes programs that check for leaks");
        return;
    }
    for words in [vec!["./leak"], vec!["./leak", "lose it"]] {
        let mut alone = Command::new(words[0]);
        let alone = finished(alone.args(&words[1..]).current_dir(folder.path()).output().unwrap());
        assert_eq!(alone.stderr.contains("100 byte(s) leaked"), words.len() > 1, "{}", alone.stderr);
        for via in ["notify", "ptrace"] {
            let run = finished(record(folder.path(), &[&["--force", "--via", via, "--"], &words[..]].concat()));
            assert_eq!((run.code, run.stdout), (alone.code, alone.stdout.clone()), "{via}: {}", run.stderr);
            assert_eq!(run.stderr.contains("100 byte(s) leaked"), words.len() > 1, "{via}: {}", run.stderr);
        }
    }
}

#[test]
fn recordings_inside_each_other_hold_what_each_one_started() {
    let folder = tempfile::tempdir().unwrap();
    for via in ["notify", "ptrace"] {
        let inner = format!("{BARROW} record --force -o inner -- sh -c '/bin/true; exit 7'");
        let run = finished(record(folder.path(), &["--force", "--via", via, "-o", "outer", "--", "sh", "-c", &inner]));
        assert_eq!((run.code, run.stdout.as_str()), (7, ""), "{via}: {}", run.stderr);
        let says_so =
            run.stderr == "barrow: recorded by ptrace, since another recording of these processes is by notify\n";
        assert!(if via == "notify" { says_so } else { run.stderr.is_empty() }, "{via}: {}", run.stderr);
        for recording in ["inner", "outer"] {
            let asked = ["processes", recording, "arguments = \"/bin/true\"", "--format", "json"];
            let run = finished(program(folder.path()).current_dir(folder.path()).args(asked).output().unwrap());
            assert_eq!(
                run.stdout.matches("\"arguments\":[\"/bin/true\"]").count(),
                1,
                "{via}, {recording}: {}",
                run.stdout
            );
        }
    }
    // A third one finds neither way.
    let third = format!("{BARROW} record --force -- {BARROW} record --force -o x -- touch made");
    let run = finished(record(folder.path(), &["--force", "-o", "y", "--", "sh", "-c", &third]));
    assert_eq!(run.code, 125, "{}", run.stderr);
    assert!(run.stderr.contains("these processes are traced by "), "{}", run.stderr);
}

/// The command goes on whenever the recorder is killed, also while a call waits for it.
#[test]
fn a_recorder_can_be_killed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let script = "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done; touch done";
    for moment in 0..20u64 {
        let _ = std::fs::remove_file(folder.path().join("done"));
        let mut recorder = program(folder.path());
        let words = ["record", "--force", "-o", "x", "--via", "notify", "--", "sh", "-c", script];
        let mut recorder = recorder.current_dir(folder.path()).args(words).spawn().unwrap();
        // The recording exists before the command begins, and the guardian soon after.
        await_file(&folder.path().join("x"));
        std::thread::sleep(Duration::from_micros(4_000 + 2_700 * moment));
        recorder.kill().unwrap();
        let ended = recorder.wait().unwrap();
        await_file(&folder.path().join("done"));
        let asked = ["processes", "x", "--format", "json"];
        let run = finished(program(folder.path()).current_dir(folder.path()).args(asked).output().unwrap());
        // It is not whole, and has the command at least.
        assert!(
            (run.code == 4 || ended.success()) && run.stdout.contains("\"process\":"),
            "{} {}",
            run.code,
            run.stderr
        );
        std::fs::remove_file(folder.path().join("x")).unwrap();
    }
}

/// The recorder may have received a call when it ends: whoever made that goes on.
#[test]
fn what_outlives_the_command_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    // Forks that execute a program, and others that end, around the end of the command.
    let script = "
import os, time
for child in range(24):
    if os.fork() == 0:
        os.setsid()
        ends = time.monotonic() + 0.0002 + 0.0001 * child
        while time.monotonic() < ends: pass
        if child % 2: os._exit(0)
        os.execv('/bin/true', ['true'])
time.sleep(0.001)
os._exit(0)
";
    for turn in 0..40 {
        let mut recorder = program(folder.path());
        let words = ["record", "--force", "-o", "x", "--via", "notify", "--", "python3", "-c", script];
        let recorder = recorder.current_dir(folder.path()).args(words).stdout(Stdio::piped()).spawn().unwrap();
        // Whatever lives on keeps the pipe open.
        let (sent, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || sent.send(recorder.wait_with_output().unwrap().status.code()));
        let code = ended.recv_timeout(Duration::from_secs(20));
        assert!(matches!(code, Ok(Some(0 | 127))), "{turn}: {code:?}");
    }
}

/// Without a file for each process, its program and its last call are known, and what is not is said.
#[test]
fn few_open_files_leave_no_wrong_rows() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!(
        "ulimit -n 64; {BARROW} record -o x --via notify -- sh -c 'for i in $(seq 100); do sleep 1.5 & done; kill -9 $!; wait'"
    );
    let run = finished(Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap());
    assert!(run.code == 0 && run.stderr.contains("too few files may be open"), "{}", run.stderr);
    let ask = |line: &[&str]| finished(program(folder.path()).current_dir(folder.path()).args(line).output().unwrap());
    for (assertion, code) in [
        ("count(command = sleep) >= 99", 0),
        ("count(command = sleep) <= 100", 0),
        ("count(forked) <= 1", 0),
        ("count(waited) >= 0", 2),
    ] {
        let run = ask(&["assert", "x", assertion]);
        assert_eq!(run.code, code, "{assertion}: {}{}", run.stdout, run.stderr);
    }
    let said = ask(&["summary", "x"]).stdout;
    assert!(said.contains("too few files could be open while this was recorded"), "{said}");
    assert!(!said.contains("running at the end"), "{said}");
}

#[test]
fn a_standard_file_that_is_closed_stays_closed() {
    let folder = tempfile::tempdir().unwrap();
    for via in ["notify", "ptrace"] {
        for closed in ["<&-", ">&-", "2>&-"] {
            let command = "sh -c 'for file in 0 1 2; do test -e /dev/fd/$file || exit 9; done'";
            let status = |line: String| {
                Command::new("sh").args(["-c", &line]).current_dir(folder.path()).stdin(Stdio::null()).status().unwrap()
            };
            assert_eq!(status(format!("{command} {closed}")).code(), Some(9), "{closed}");
            let line = format!("{BARROW} record --force --via {via} -- {command} {closed}");
            assert_eq!(status(line).code(), Some(9), "{via} {closed}");
        }
    }
}

#[test]
fn nobody_has_to_wait_for_the_guardian() {
    let script = "
import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # children of children become its own
subprocess.run([sys.argv[1], 'record', '--force', '--via', 'notify', '--', 'true'], check=True)
try: print('a child:', os.waitpid(-1, 0))
except ChildProcessError: print('none')
";
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = python(folder.path(), script) else { return };
    assert_eq!(said, "none\n");
}

#[test]
fn a_recorder_that_is_killed_at_once_leaves_nothing_behind() {
    // The command may not have begun; either it ends, or the process that was to become it does.
    let script = "
import os, select, subprocess, sys, time
for step in range(40):
    reads, writes = os.pipe()
    recorder = subprocess.Popen([sys.argv[1], 'record', '--force', '--via', 'notify', '--', 'true'], stdout=writes)
    os.close(writes)
    time.sleep(0.0002 * step)
    recorder.kill()
    recorder.wait()
    assert select.select([reads], [], [], 10)[0] and os.read(reads, 1) == b'', step
    os.close(reads)
print('nothing')
";
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = python(folder.path(), script) else { return };
    assert_eq!(said, "nothing\n");
}

/// Forks that crash have no call, so nothing reports them. The program that waited for them shows that there were some.
#[test]
fn forks_that_crash_without_a_call_leave_no_assertion_to_hold() {
    let script = "
import json, subprocess, sys
program = '''
import os, signal, subprocess, sys
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
for _ in range(3):
    subprocess.run(['true'])
'''
for name, crashes in [('crashed', '40'), ('sound', '0')]:
    record = [sys.argv[1], 'record', '--via', 'notify', '--no-memory', '-o', name, '--']
    subprocess.run(record + [sys.executable, '-c', program, crashes])
    for assertion in ['failed() = 0', 'failed() < 1000', 'count() >= 2']:
        print(subprocess.run([sys.argv[1], 'assert', name, assertion], capture_output=True).returncode, end=' ')
    summary = subprocess.run([sys.argv[1], 'summary', name, '--format', 'json'], capture_output=True).stdout
    print('none failed' if json.loads(summary)['processes']['failed'] == 0 else 'some may have', end=' ')
";
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = python(folder.path(), script) else { return };
    // A sample may find one of the forks, which has failed.
    assert!(
        ["2 2 0 some may have 0 0 0 none failed ", "1 2 0 some may have 0 0 0 none failed "].contains(&said.as_str()),
        "{said}"
    );
}

/// A process that reads and writes is in the system for most of its time, although it lives for few ticks of the clock.
#[test]
fn user_and_system_time_are_divided_as_the_system_divides_them() {
    let script = "
import json, subprocess, sys
program = '''
import resource, subprocess
for _ in range(60):
    subprocess.run('exec head -c 30000000 /dev/zero', shell=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime, used.ru_stime)
'''
record = [sys.argv[1], 'record', '--force', '-o', 'times', '--via', 'notify', '--', sys.executable, '-c', program]
user, system = map(float, subprocess.run(record, capture_output=True, text=True).stdout.split())
words = [sys.argv[1], 'count', 'times', 'executable ~ */head', '--format', 'json']
counted = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
print(counted['user_ns'] / 1e9, user, counted['system_ns'] / 1e9, system)
";
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = python(folder.path(), script) else { return };
    let times: Vec<f64> = said.split_whitespace().map(|time| time.parse().expect(&said)).collect();
    let [user, user_of_children, system, system_of_children] = times[..] else { panic!("{said}") };
    // The shells, and what each process does until it ends, are in the second numbers only.
    let all = user_of_children + system_of_children;
    assert!((user - user_of_children).abs() < all / 4.0, "{said}");
    assert!((system - system_of_children).abs() < all / 4.0, "{said}");
}
