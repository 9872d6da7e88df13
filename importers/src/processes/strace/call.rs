//! The relevant calls: those that begin processes, execute programs, or change the working directory.

use super::line::LineEvent;
use super::quoted::{MARK, list, quoted};

/// A program that a process executes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) executable: Option<String>,
    pub(super) arguments: Vec<String>,
    /// An argument was cut or omitted by strace.
    pub(super) is_cut: bool,
}

/// The purpose of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    /// Begins another process, or a thread of the same.
    Birth { is_thread: bool },
    /// Executes another program.
    Execute(Program),
    /// Changes the working directory; `None` if the log lacks it.
    ChangeDirectory(Option<String>),
    /// Asks for the working directory, which is in the result.
    AskDirectory,
}

impl Call {
    /// The call of this name, if it is relevant.
    pub(super) fn of(name: &[u8], arguments: &[u8]) -> Option<Call> {
        Some(match name {
            b"fork" | b"vfork" | b"clone" | b"clone2" | b"clone3" => {
                Call::Birth { is_thread: memchr::memmem::find(arguments, b"CLONE_THREAD").is_some() }
            }
            b"execve" | b"execveat" => Call::Execute(program(arguments)),
            b"chdir" => Call::ChangeDirectory(directory(arguments)),
            b"fchdir" => Call::ChangeDirectory(descriptor(arguments)),
            b"getcwd" => Call::AskDirectory,
            _ => return None,
        })
    }
}

/// Returns whether a line may belong to a call that begins processes.
pub(super) fn may_bear(what: &LineEvent<'_>) -> bool {
    let name = match what {
        LineEvent::Call { name, .. } | LineEvent::Unfinished { name, .. } | LineEvent::Resumed { name, .. } => name,
        _ => return false,
    };
    // The rest of a line after a message has no name.
    matches!(*name, b"fork" | b"vfork" | b"clone" | b"clone2" | b"clone3" | b"")
}

/// The number that a call returned: of a process or thread, in the namespace of strace.
pub(super) fn returned_task(result: &[u8]) -> Option<u64> {
    // `2 /* 1235 in strace's PID NS */`
    let outside = memchr::memmem::find(result, b"/* ").map(|at| &result[at + 3..]);
    let text = outside.filter(|text| memchr::memmem::find(text, b"strace's PID NS").is_some()).unwrap_or(result);
    let length = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    // With -Y the name of the program follows: `7<make>`. Before anything else the number is damaged.
    let is_whole = matches!(text.get(length), None | Some(b' ' | b'<'));
    str::from_utf8(&text[..length]).ok()?.parse().ok().filter(|&task| is_whole && task > 0)
}

/// Returns whether a call succeeded, for calls that then return 0.
pub(super) fn succeeded(result: &[u8]) -> bool {
    result == b"0" || result.starts_with(b"0 ")
}

/// The working directory in the result of the system.
pub(super) fn answered_directory(arguments: &[u8]) -> Option<String> {
    quoted(arguments).filter(|(path, _)| !path.is_cut && path.text.starts_with('/')).map(|(path, _)| path.text)
}

fn program(arguments: &[u8]) -> Program {
    let begin = memchr::memchr2(b'"', b'[', arguments).unwrap_or(arguments.len());
    let path = quoted(&arguments[begin..]);
    let (executable, rest) = path.map_or((None, &arguments[begin..]), |(path, rest)| (Some(path), rest));
    let listed = list(rest.strip_prefix(b", ").unwrap_or(rest));
    let is_cut = executable.as_ref().is_some_and(|path| path.is_cut);
    let executable = executable.map(|path| path.text);
    match listed {
        Some((mut arguments, list_is_cut)) => {
            // strace cuts arguments, but no path: the first argument usually is the path again.
            if let (Some(path), Some(first)) = (&executable, arguments.first_mut())
                && first.strip_suffix(MARK).is_some_and(|begin| path.starts_with(begin))
            {
                first.clone_from(path);
            }
            Program { executable, arguments, is_cut: is_cut || list_is_cut }
        }
        None => Program { executable, arguments: Vec::new(), is_cut },
    }
}

fn directory(arguments: &[u8]) -> Option<String> {
    quoted(arguments).filter(|(path, _)| !path.is_cut).map(|(path, _)| path.text)
}

/// The path of a descriptor: `3</srv/cards>`, as with `strace -y`.
fn descriptor(arguments: &[u8]) -> Option<String> {
    let begin = memchr::memchr(b'<', arguments)? + 1;
    let path = arguments[begin..].strip_suffix(b">")?;
    path.starts_with(b"/").then(|| crate::processes::process_logs::text(path).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> Option<Call> {
        Call::of(name.as_bytes(), arguments.as_bytes())
    }

    #[test]
    fn calls_that_matter_are_told_apart() {
        assert_eq!(call("vfork", ""), Some(Call::Birth { is_thread: false }));
        assert_eq!(call("clone", "flags=CLONE_VM|CLONE_THREAD, x"), Some(Call::Birth { is_thread: true }));
        assert_eq!(call("getcwd", ""), Some(Call::AskDirectory));
        assert_eq!(call("chdir", "\"sub\""), Some(Call::ChangeDirectory(Some("sub".to_owned()))));
        assert_eq!(call("chdir", "\"sub\"..."), Some(Call::ChangeDirectory(None)));
        assert_eq!(call("fchdir", "3"), Some(Call::ChangeDirectory(None)));
        assert_eq!(call("fchdir", "3</a b>"), Some(Call::ChangeDirectory(Some("/a b".to_owned()))));
        assert_eq!(call("read", "3"), None);
    }

    #[test]
    fn programs_have_arguments() {
        let program = |arguments: &str| match call("execve", arguments) {
            Some(Call::Execute(Program { executable, arguments, is_cut })) => (executable, arguments.join(" "), is_cut),
            other => panic!("{other:?}"),
        };
        let path = Some("/bin/sh".to_owned());
        let whole = program("\"/bin/sh\", [\"sh\", \"-c\"], 0x7ffe /* 3 vars */");
        assert_eq!(whole, (path.clone(), "sh -c".to_owned(), false));
        assert_eq!(program("\"/bin/sh\", [\"sh\"...], NULL"), (path.clone(), "sh…".to_owned(), true));
        assert_eq!(program("\"/bin/sh\", 0x7ffe"), (path.clone(), String::new(), false));
        assert_eq!(program("AT_FDCWD, \"/bin/sh\", [\"sh\"], NULL, 0"), (path, "sh".to_owned(), false));
        assert_eq!(program("0x7ffe, [\"sh\"], NULL"), (None, "sh".to_owned(), false));
        let cut = program("\"/usr/libexec/gcc/12/cc1\", [\"/usr/libexec/\"..., \"-quiet\"], NULL");
        assert_eq!(
            cut,
            (Some("/usr/libexec/gcc/12/cc1".to_owned()), "/usr/libexec/gcc/12/cc1 -quiet".to_owned(), true)
        );
        let other = program("\"/usr/bin/busybox\", [\"/usr/bin/gr\"...], NULL");
        assert_eq!(other, (Some("/usr/bin/busybox".to_owned()), "/usr/bin/gr…".to_owned(), true));
    }

    #[test]
    fn results_are_read() {
        assert_eq!(returned_task(b"1235"), Some(1235));
        assert_eq!(returned_task(b"1235 <0.000012>"), Some(1235));
        assert_eq!(returned_task(b"2 /* 1235 in strace's PID NS */"), Some(1235));
        assert_eq!(returned_task(b"-1 EAGAIN (Resource temporarily unavailable)"), None);
        assert_eq!(returned_task(b"?"), None);
        assert!(succeeded(b"0") && succeeded(b"0 <0.1>") && !succeeded(b"-1 ENOENT") && !succeeded(b"?"));
    }
}
