//! What a process is about to execute, as its memory tells while it waits.

use std::fs;
use std::path::Path;

use super::filter::Calls;
use super::listener::Request;
use crate::system::{self, Pid};

/// What is executed if the system agrees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Execution {
    /// The path as the program names it, below its directory if it does not begin with `/`.
    pub(crate) path: Option<String>,
    /// The arguments, each with a zero after it.
    pub(crate) arguments: Vec<u8>,
}

/// The system takes no longer path and no longer arguments.
const LONGEST_PATH: usize = 4096;
const MOST_ARGUMENT_BYTES: usize = 6 << 20;
/// Memory is read up to the end of a page: the next one may not be there.
const PAGE: u64 = 4096;
/// The file itself is in the first argument of `execveat`.
const EMPTY_PATH: u64 = 0x1000;

impl Execution {
    /// Reads what the call of a process names. `None` if it is no call that executes.
    pub(crate) fn read(process: Pid, request: &Request) -> Option<Self> {
        let calls = Calls::of(request.architecture)?;
        let number = u32::try_from(request.number).ok()?;
        let [first, second, third, _, fifth, _] = request.arguments;
        let (folder, path, arguments, flags) = match number {
            _ if number == calls.execve => (None, first, second, 0),
            _ if number == calls.execveat => (Some(first as i32), second, third, fifth),
            _ => return None,
        };
        let mut memory = Memory { process, page: [0; PAGE as usize], at: u64::MAX, length: 0 };
        let path = memory.text(path, LONGEST_PATH).filter(|path| !path.is_empty());
        let path = match (folder.filter(|&folder| folder != libc::AT_FDCWD), path) {
            (None, path) => path.map(|path| String::from_utf8_lossy(&path).into_owned()),
            (Some(folder), None) if flags & EMPTY_PATH != 0 => opened(process, folder),
            (Some(folder), Some(path)) => {
                let path = String::from_utf8_lossy(&path).into_owned();
                if path.starts_with('/') {
                    Some(path)
                } else {
                    opened(process, folder).map(|folder| folder + "/" + &path)
                }
            }
            (Some(_), None) => None,
        };
        Some(Execution { path, arguments: memory.texts(arguments, calls.word) })
    }

    /// Whether other arguments are those of the interpreter of this script: the same ones follow.
    pub(crate) fn is_script_with(&self, interpreter: &[u8]) -> bool {
        let first = self.arguments.iter().position(|&byte| byte == 0);
        let rest = first.map_or(&[][..], |first| &self.arguments[first + 1..]);
        interpreter.len() > self.arguments.len() && interpreter.ends_with(rest)
    }

    /// The path of the file, from the root on, as far as that is known.
    pub(crate) fn whole_path(&self, directory: Option<&str>) -> Option<String> {
        let path = self.path.as_deref()?;
        let whole = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", directory?) };
        let has_steps = whole.contains("/./") || whole.contains("/../") || whole.contains("//");
        let parts = || Path::new(&whole).components().collect::<std::path::PathBuf>();
        Some(if has_steps { parts().to_string_lossy().into_owned() } else { whole })
    }
}

/// The file that a process has open under a number.
fn opened(process: Pid, number: i32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{process}/fd/{number}")).ok()?;
    Some(path.to_string_lossy().into_owned())
}

/// Memory of a process, page by page: texts of arguments lie beside each other.
struct Memory {
    process: Pid,
    page: [u8; PAGE as usize],
    /// The address of what was read last.
    at: u64,
    length: usize,
}

impl Memory {
    /// The bytes from an address to the end of its page, at most.
    fn rest_of_page(&mut self, address: u64) -> &[u8] {
        let page = address & !(PAGE - 1);
        if self.at != page {
            self.at = page;
            self.length = system::memory(self.process, page, &mut self.page);
        }
        self.page[..self.length].get((address - page) as usize..).unwrap_or_default()
    }

    /// The bytes up to a zero.
    fn text(&mut self, mut address: u64, most: usize) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        loop {
            let rest = self.rest_of_page(address);
            if rest.is_empty() || text.len() > most {
                return None;
            }
            match rest.iter().position(|&byte| byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&rest[..end]);
                    return Some(text);
                }
                None => {
                    let length = rest.len() as u64;
                    text.extend_from_slice(rest);
                    address = address.checked_add(length)?;
                }
            }
        }
    }

    /// The texts whose addresses lie one after the other, up to an address that is 0.
    fn texts(&mut self, mut address: u64, word: usize) -> Vec<u8> {
        let mut texts = Vec::new();
        let mut addresses: Vec<u64> = Vec::new();
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
        for address in addresses {
            let left = MOST_ARGUMENT_BYTES.saturating_sub(texts.len());
            let Some(text) = self.text(address, left) else { break };
            texts.extend(text);
            texts.push(0);
        }
        texts
    }
}
