//! Orders to the starter, in memory that it shares with this process at one address.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Error};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// The alignment of pointers and of 64-bit numbers.
const ALIGNMENT: usize = 8;

/// The settings with which a child executes a program.
pub(crate) struct Start<'s> {
    /// The path to execute.
    pub(crate) path: OsString,
    /// The arguments, beginning with the name of the program.
    pub(crate) words: &'s [OsString],
    /// `NAME=VALUE`.
    pub(crate) environment: Vec<Cow<'s, OsStr>>,
    /// Its standard input, opened before the starter was.
    pub(crate) input: RawFd,
    /// Its standard output and its standard error, opened before the starter was; `None`: those of this process.
    pub(crate) output: Option<RawFd>,
    pub(crate) errors: Option<RawFd>,
    /// Whether the system randomises addresses; `None` to inherit the setting of this process.
    pub(crate) aslr: Option<bool>,
    /// Whether huge pages may be used; `None` to inherit the setting of this process.
    pub(crate) thp: Option<bool>,
    /// It is the leader of a group of its own, which can be killed as a whole.
    pub(crate) has_group: bool,
}

/// An order, as a child reads it. All pointers lead into the shared memory.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    pub(crate) path: *const libc::c_char,
    /// These end with null.
    pub(crate) words: *const *const libc::c_char,
    pub(crate) environment: *const *const libc::c_char,
    pub(crate) input: RawFd,
    pub(crate) output: Option<RawFd>,
    pub(crate) errors: Option<RawFd>,
    pub(crate) aslr: Option<bool>,
    pub(crate) thp: Option<bool>,
    pub(crate) has_group: bool,
    /// It waits for a byte before it executes.
    pub(crate) waits: bool,
}

impl Order {
    /// Writes an order to start a program. The child does not wait.
    pub(crate) fn write(start: &Start<'_>, room: &mut Room) -> io::Result<Self> {
        let path = room.text(&start.path)?;
        let words = room.texts(start.words)?;
        let environment = room.texts(&start.environment)?;
        let Start { input, output, errors, aslr, thp, has_group, .. } = *start;
        Ok(Order { path, words, environment, input, output, errors, aslr, thp, has_group, waits: false })
    }
}

/// The shared memory that is still free.
pub(crate) struct Room {
    next: *mut u8,
    left: usize,
}

impl Room {
    pub(crate) fn new(next: *mut u8, left: usize) -> Self {
        Room { next, left }
    }

    /// Takes `bytes` bytes, aligned for pointers.
    pub(crate) fn take(&mut self, bytes: usize) -> io::Result<*mut u8> {
        let bytes = bytes.next_multiple_of(ALIGNMENT);
        self.left = self.left.checked_sub(bytes).ok_or_else(|| Error::from_raw_os_error(libc::E2BIG))?;
        let taken = self.next;
        // SAFETY: so many bytes are left.
        self.next = unsafe { taken.add(bytes) };
        Ok(taken)
    }

    /// Writes a text with a zero after it. A text that the previous order left there is not written again, since the starter's
    /// processor would have to fetch it anew.
    fn text(&mut self, text: &OsStr) -> io::Result<*const libc::c_char> {
        let text = text.as_bytes();
        if text.contains(&0) {
            return Err(Error::from_raw_os_error(libc::EINVAL));
        }
        let to = self.take(text.len() + 1)?;
        // SAFETY: so many bytes were taken, of memory that was zero at first; this process alone uses it.
        let room = unsafe { std::slice::from_raw_parts_mut(to, text.len() + 1) };
        let (end, room) = room.split_last_mut().expect("there is room for a zero");
        if *end != 0 || room != text {
            room.copy_from_slice(text);
            *end = 0;
        }
        Ok(to.cast())
    }

    /// Writes texts and a null-terminated array of pointers to them.
    fn texts(&mut self, texts: &[impl AsRef<OsStr>]) -> io::Result<*const *const libc::c_char> {
        let to = self.take((texts.len() + 1) * size_of::<*const libc::c_char>())?.cast::<*const libc::c_char>();
        let texts = texts.iter().map(|text| self.text(text.as_ref())).collect::<io::Result<Vec<_>>>()?;
        for (at, text) in texts.into_iter().chain([ptr::null()]).enumerate() {
            // SAFETY: so many pointers were taken, from an aligned place, where zeros or other pointers are.
            unsafe {
                if to.add(at).read() != text {
                    to.add(at).write(text);
                }
            }
        }
        Ok(to)
    }
}
