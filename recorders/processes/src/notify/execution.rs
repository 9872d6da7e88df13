//! The program that a process is about to execute, read from its memory while its call waits.

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::filter::Calls;
use super::listener::Request;
use crate::files;
use crate::system::{self, Pid};

/// The arguments of a call to execute, which may still fail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Execution {
    /// The path as passed, relative to the working directory unless it begins with `/`.
    pub(crate) path: Option<String>,
    /// The working directory of the process.
    pub(crate) directory: Option<String>,
    /// The arguments, each with a zero after it.
    pub(crate) arguments: Vec<u8>,
    /// The call fails: there is no such file, or it may not be executed.
    pub(crate) is_in_vain: bool,
}

/// Limits of the system for a path and for all arguments together, in bytes.
const LONGEST_PATH: usize = 4096;
const MOST_ARGUMENT_BYTES: usize = 6 << 20;
/// Initial capacity for arguments, which nearly all programs fit in.
const USUAL_ARGUMENTS: usize = 32;
/// Memory is read page by page, since the next page may not be mapped.
const PAGE: u64 = 4096;
/// The flag of `execveat` for an empty path: its first argument is the file itself.
const EMPTY_PATH: u64 = 0x1000;

impl Execution {
    /// Reads the path and arguments of a call. `None` if the call is not one that executes a program.
    pub(crate) fn read(process: Pid, request: &Request) -> Option<Self> {
        let calls = Calls::of(request.architecture)?;
        let number = u32::try_from(request.number).ok()?;
        let [first, second, third, _, fifth, _] = request.arguments;
        let (folder, path, arguments, flags) = match number {
            _ if number == calls.execve => (None, first, second, 0),
            _ if number == calls.execveat => (Some(first as i32), second, third, fifth),
            _ => return None,
        };
        let mut memory = Memory::of(process);
        memory.read_both([path, arguments]);
        let path = match (folder.filter(|&folder| folder != libc::AT_FDCWD), memory.path(path)) {
            (None, path) => path,
            (Some(folder), None) if flags & EMPTY_PATH != 0 => opened(process, folder),
            (Some(folder), Some(path)) => {
                if path.starts_with('/') {
                    Some(path)
                } else {
                    opened(process, folder).map(|folder| folder + "/" + &path)
                }
            }
            (Some(_), None) => None,
        };
        let (directory, arguments) = (files::directory(process), memory.texts(arguments, calls.word));
        let mut execution = Execution { path, directory, arguments, is_in_vain: false };
        // Nearly all processes see the files that the recorder sees. Looking through `/proc` costs each of them 8 µs.
        let is_seen = execution.whole_path().is_some_and(|path| system::may_execute(Path::new(&path)).is_ok());
        execution.is_in_vain = !is_seen && execution.path.as_deref().is_some_and(|path| is_in_vain(process, path));
        Some(execution)
    }

    /// Returns true if the system gives this name to a process that executes it: the first bytes of the name of the file. Any
    /// name may be right if the file is unknown.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        const LONGEST_NAME: usize = 15;
        let file = self.path.as_ref().and_then(|path| path.rsplit('/').next());
        file.is_none_or(|file| file.bytes().take(LONGEST_NAME).eq(name.bytes()))
    }

    /// Returns true if `interpreter` is the argument list of the interpreter that runs this as a script: it is longer and
    /// ends with the arguments after the first.
    pub(crate) fn is_script_with(&self, interpreter: &[u8]) -> bool {
        let first = self.arguments.iter().position(|&byte| byte == 0);
        let rest = first.map_or(&[][..], |first| &self.arguments[first + 1..]);
        interpreter.len() > self.arguments.len() && interpreter.ends_with(rest)
    }

    /// The absolute path of the file, if it is known.
    pub(crate) fn whole_path(&self) -> Option<String> {
        let path = self.path.as_deref()?;
        let whole =
            if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.directory.as_deref()?) };
        let may_have_steps = whole.as_bytes().windows(2).any(|pair| pair == b"//" || pair == b"/.");
        if !may_have_steps {
            return Some(whole);
        }
        Some(Path::new(&whole).components().collect::<PathBuf>().to_string_lossy().into_owned())
    }
}

/// Returns true if a path leads a process to no file that it may execute. The file may be gone when the process ends, so
/// this is asked while its call waits.
fn is_in_vain(process: Pid, path: &str) -> bool {
    let from = if path.starts_with('/') { "root" } else { "cwd/" };
    let seen = format!("/proc/{process}/{from}{path}");
    let error = system::may_execute(Path::new(&seen)).err().and_then(|error| error.raw_os_error());
    match error {
        // The path has bytes that are no text.
        _ if path.contains(char::REPLACEMENT_CHARACTER) => false,
        Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::ENAMETOOLONG) => true,
        // Unless this program may not look at that one.
        Some(libc::EACCES) => fs::metadata(&seen).is_ok(),
        _ => false,
    }
}

/// Returns true unless a file is text that the system executes nothing for: a script that names no interpreter, or one that
/// is not there.
pub(crate) fn may_be_executed(path: &str) -> bool {
    const FIRST_LINE: u64 = 256;
    let mut beginning = Vec::new();
    // Nothing here may wait for the writer of a pipe, or change what a device does.
    if !fs::metadata(path).is_ok_and(|file| file.is_file()) {
        return true;
    }
    let file = fs::File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    if file.and_then(|file| file.take(FIRST_LINE).read_to_end(&mut beginning)).is_err() {
        return true;
    }
    let Some(line) = beginning.strip_prefix(b"#!") else {
        // Formats of programs, also those that an administrator registers, begin with or soon have other bytes. An empty file
        // may be one that is written anew since it was executed.
        return beginning.is_empty()
            || !beginning.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    };
    let line = String::from_utf8_lossy(line.split(|&byte| byte == b'\n').next().unwrap_or_default());
    line.split_whitespace().next().is_some_and(|interpreter| system::may_execute(Path::new(interpreter)).is_ok())
}

/// The path of a file that a process has open.
fn opened(process: Pid, number: i32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{process}/fd/{number}")).ok()?;
    Some(path.to_string_lossy().into_owned())
}

/// A cache of two pages of a process. Arguments usually lie next to each other, so that few pages are read.
struct Memory {
    process: Pid,
    pages: [[u8; PAGE as usize]; 2],
    /// The address and length of what is in each page.
    read: [(u64, usize); 2],
    /// The page that was used last; the other one is replaced next.
    last: usize,
}

impl Memory {
    fn of(process: Pid) -> Self {
        Memory { process, pages: [[0; PAGE as usize]; 2], read: [(u64::MAX, 0); 2], last: 0 }
    }

    /// Reads the pages of two addresses with one call.
    fn read_both(&mut self, addresses: [u64; 2]) {
        let [first, second] = addresses.map(|address| address & !(PAGE - 1));
        let read = system::memory(self.process, &[first, second], self.pages.as_flattened_mut());
        self.read[0] = (first, read.min(PAGE as usize));
        // If the first page cannot be read, the system does not try the second one.
        if let Some(length) = read.checked_sub(PAGE as usize).filter(|&length| length > 0) {
            self.read[1] = (second, length);
        }
    }

    /// The bytes from an address to the end of its page; empty if they cannot be read.
    fn rest_of_page(&mut self, address: u64) -> &[u8] {
        let page = address & !(PAGE - 1);
        self.last = self.read.iter().position(|&(at, _)| at == page).unwrap_or_else(|| {
            let other = 1 - self.last;
            self.read[other] = (page, system::memory(self.process, &[page], &mut self.pages[other]));
            other
        });
        let (_, length) = self.read[self.last];
        self.pages[self.last][..length].get((address - page) as usize..).unwrap_or_default()
    }

    /// Appends the bytes up to a zero byte. Returns false if memory cannot be read or there are more than about `most` bytes;
    /// some may have been appended then.
    fn append_text(&mut self, mut address: u64, most: usize, texts: &mut Vec<u8>) -> bool {
        let before = texts.len();
        loop {
            let rest = self.rest_of_page(address);
            if rest.is_empty() || texts.len() - before > most {
                return false;
            }
            if let Some(end) = rest.iter().position(|&byte| byte == 0) {
                texts.extend_from_slice(&rest[..end]);
                return true;
            }
            let length = rest.len() as u64;
            texts.extend_from_slice(rest);
            let Some(next) = address.checked_add(length) else { return false };
            address = next;
        }
    }

    /// The path at an address, unless it is empty.
    fn path(&mut self, address: u64) -> Option<String> {
        let mut path = Vec::new();
        let is_path = self.append_text(address, LONGEST_PATH, &mut path) && !path.is_empty();
        is_path.then(|| files::lossy(path))
    }

    /// The texts of a null-terminated array of addresses, each with a zero byte after it.
    fn texts(&mut self, mut address: u64, word: usize) -> Vec<u8> {
        let mut addresses: Vec<u64> = Vec::with_capacity(USUAL_ARGUMENTS);
        'all: while address != 0 && addresses.len() * word <= MOST_ARGUMENT_BYTES {
            let rest = self.rest_of_page(address);
            let before = addresses.len();
            for bytes in rest.chunks_exact(word) {
                let mut whole = [0; 8];
                whole[..word].copy_from_slice(bytes);
                match u64::from_le_bytes(whole) {
                    0 => break 'all,
                    text => addresses.push(text),
                }
            }
            let read = (addresses.len() - before) * word;
            if read == 0 {
                break;
            }
            address = address.wrapping_add(read as u64);
        }
        let mut texts = Vec::new();
        for address in addresses {
            let before = texts.len();
            if !self.append_text(address, MOST_ARGUMENT_BYTES.saturating_sub(before), &mut texts) {
                texts.truncate(before);
                break;
            }
            texts.push(0);
        }
        texts
    }
}
