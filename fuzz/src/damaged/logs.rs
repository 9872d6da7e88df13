//! Logs of ninja and of strace, a line for each command or call.

use std::collections::{BTreeMap, BTreeSet};

use barrow_analyzer::{ProcessId, ProcessRow, Recording};

use super::choices::Choices;
use super::lines::Harm;
use super::recorded;

/// Makes a log as the bytes say, damages lines as they say, and imports it: each process that is recovered was there with
/// all of its programs, and once.
///
/// # Panics
/// If that is not so.
pub fn damaged_logs(input: &[u8]) {
    let choices = &mut Choices::new(input);
    let (lines, harm) = if choices.byte().is_multiple_of(2) {
        (strace(choices), Harm { breaks: false, kept_fields: 2, changes: |_| true })
    } else {
        (ninja(choices), Harm { breaks: false, kept_fields: 0, changes: |_| true })
    };
    let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let whole = programs(&recorded(whole.as_bytes()).expect("a whole log"), input);
    let Some(recording) = recorded(&harm.damage(&lines, choices)) else { return };
    for (process, programs) in self::programs(&recording, input) {
        let held = whole.get(&process).unwrap_or_else(|| panic!("{process:?} was not there: {input:02x?}"));
        // A text with a byte that is no part of it has changed.
        let is_right = |program: &String| {
            held.contains(program) || program.contains(char::REPLACEMENT_CHARACTER) || program.contains("\\xff")
        };
        assert!(programs.iter().all(is_right), "{process:?}: {programs:?} of {held:?}: {input:02x?}");
    }
}

/// A process: its number, or how long it ran if it has none.
type Process = (u64, i64);

/// The programs of each process.
fn programs(recording: &Recording, input: &[u8]) -> BTreeMap<Process, BTreeSet<String>> {
    let tables = recording.tables().expect("tables");
    let mut processes: BTreeMap<ProcessId, (u64, i64, i64, BTreeSet<String>)> = BTreeMap::new();
    let told = |program: &barrow_analyzer::Program| {
        let words = program.arguments.iter().map(|&word| tables.string(word)).collect::<Vec<_>>();
        (!words.is_empty()).then(|| words.join(" "))
    };
    let visit = |row: ProcessRow| {
        match row {
            ProcessRow::Begin { process, time_ns, pid, program, .. } => {
                processes.insert(process, (pid, time_ns, time_ns, told(&program).into_iter().collect()));
            }
            ProcessRow::Image { process, program, .. } => {
                processes.get_mut(&process).expect("it began").3.extend(told(&program));
            }
            ProcessRow::End { process, time_ns, .. } => processes.get_mut(&process).expect("it began").2 = time_ns,
            _ => {}
        }
        Ok(())
    };
    recording.process_rows(visit).expect("a whole recording");
    let mut found = BTreeMap::new();
    for (pid, began, ended, programs) in processes.into_values() {
        let process = if pid == 0 { (0, ended - began) } else { (pid, 0) };
        assert!(found.insert(process, programs).is_none(), "{process:?} twice: {input:02x?}");
    }
    found
}

/// Each process of a build has a number of its own.
fn strace(choices: &mut Choices<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |pid: usize, what: &str| lines.push(format!("{pid} 1700000000.{:06} {what}", lines.len()));
    say(100, r#"execve("/bin/make", ["make", "-j2"], 0x7ffe) = 0"#);
    for child in 101..102 + choices.up_to(8) {
        say(100, "vfork( <unfinished ...>");
        say(child, &format!(r#"execve("/bin/cc", ["cc", "{child}.c"], 0x7ffe) = 0"#));
        say(100, &format!("<... vfork resumed>) = {child}"));
        if choices.byte().is_multiple_of(2) {
            say(child, r#"chdir("sub") = 0"#);
        }
        say(child, &format!("+++ exited with {} +++", choices.byte() % 3));
    }
    say(100, "+++ exited with 0 +++");
    lines
}

/// Each command of a build has its own duration.
fn ninja(choices: &mut Choices<'_>) -> Vec<String> {
    let mut lines = vec!["# ninja log v6".to_owned()];
    let mut start = 0;
    for number in 1..2 + choices.up_to(12) {
        start += choices.up_to(50);
        lines.push(format!("{start}\t{}\t0\tout/{number}.o\t{:x}", start + 100 * number, 0xabc_def0 + number));
    }
    lines
}
