//! Codes: the results of calls, and the error messages of threads.

use std::any::Any;
use std::cell::Cell;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use barrow_writer::WriterError;

/// The result of a call. The numbers never change; more may be added.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Success.
    Ok = 0,
    /// The file cannot be written, because the disk is full, for example. `barrow_error_errno` tells why.
    Io = 1,
    /// An earlier write failed in the middle of a section: start a new file.
    Broken = 2,
    /// An earlier call for this snapshot failed, and reported the reason.
    SnapshotFailed = 3,
    /// The snapshot was committed and counts, but it may not be on the disk.
    CommittedNotSynced = 4,
    /// The format cannot represent this.
    Format = 5,
    /// Two announcements have the same number.
    ObjectAnnouncedTwice = 6,
    /// The numbers of the announced objects leave a gap.
    ObjectNeverAnnounced = 7,
    /// The target of a reference is not an object.
    ReferenceToUnannounced = 8,
    /// The target of a root is not an object.
    RootToUnannounced = 9,
    /// A value is larger than its limit.
    OutOfRange = 10,
    /// A number that this writer never returned.
    Undeclared = 11,
    /// A reference was announced before any object, or after one that was refused.
    ReferenceWithoutObject = 12,
    /// A snapshot is still open: commit or free it first.
    SnapshotOpen = 13,
    /// A snapshot cannot be committed while shards are still announcing.
    ShardsOpen = 14,
    /// A shard was freed without being finished.
    ShardAbandoned = 15,
    /// The handle was finished or committed, or the snapshot of the shard has ended.
    Ended = 16,
    /// A value was announced before any object, after one that was refused, or after a reference.
    ValueWithoutObject = 17,
    /// A value is of another kind than its field.
    WrongValue = 18,
    /// A required argument is NULL.
    NullArgument = 32,
    /// An argument has an invalid value.
    BadArgument = 33,
    /// The shard is in use by another thread, or a write function called barrow.
    Busy = 34,
    /// The handle belongs to the process that forked this one.
    Forked = 35,
    /// The versions of program and library are incompatible.
    WrongAbi = 36,
    /// A bug in barrow. The snapshot is unreliable; snapshots committed before are not affected.
    Panic = 37,
    /// An error that this version of the ABI has no number for.
    Other = 38,
}

/// The reason why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    /// The `errno` of the system, or 0.
    errno: i32,
    message: String,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Failure { code, errno: 0, message: message.into() }
    }

    /// A call with an argument that must not be NULL.
    pub(crate) fn null(what: &str) -> Self {
        Failure::new(Code::NullArgument, format!("{what} is NULL"))
    }
}

impl From<WriterError> for Failure {
    fn from(error: WriterError) -> Self {
        let code = match error {
            WriterError::Io { .. } => Code::Io,
            WriterError::Broken => Code::Broken,
            WriterError::SnapshotFailed => Code::SnapshotFailed,
            WriterError::CommittedNotSynced { .. } => Code::CommittedNotSynced,
            WriterError::Format(_) => Code::Format,
            WriterError::ObjectAnnouncedTwice { .. } => Code::ObjectAnnouncedTwice,
            WriterError::ObjectNeverAnnounced { .. } => Code::ObjectNeverAnnounced,
            WriterError::ReferenceToUnannounced { .. } => Code::ReferenceToUnannounced,
            WriterError::RootToUnannounced { .. } => Code::RootToUnannounced,
            WriterError::OutOfRange { .. } => Code::OutOfRange,
            WriterError::Undeclared { .. } => Code::Undeclared,
            WriterError::ReferenceWithoutObject => Code::ReferenceWithoutObject,
            WriterError::SnapshotOpen => Code::SnapshotOpen,
            WriterError::ShardsOpen { .. } => Code::ShardsOpen,
            WriterError::ShardAbandoned => Code::ShardAbandoned,
            WriterError::SnapshotEnded => Code::Ended,
            WriterError::ValueWithoutObject => Code::ValueWithoutObject,
            WriterError::WrongValue { .. } => Code::WrongValue,
            _ => Code::Other,
        };
        let errno = match &error {
            WriterError::Io { source, .. } | WriterError::CommittedNotSynced { source, .. } => source.raw_os_error(),
            _ => None,
        };
        // Strings, kinds, types and fields are counted from 1 here, since 0 means none.
        let message = match error {
            WriterError::Undeclared { what, id, known } if !matches!(what, "strength" | "calling site") => {
                WriterError::Undeclared { what, id: id.wrapping_add(1), known }.to_string()
            }
            WriterError::WrongValue { field, declared, announced } => {
                WriterError::WrongValue { field: field.wrapping_add(1), declared, announced }.to_string()
            }
            error => error.to_string(),
        };
        Failure { code, errno: errno.unwrap_or(0), message }
    }
}

/// The longest message, with the zero at its end, in bytes.
const MESSAGE_BYTES: usize = 512;

thread_local! {
    // Plain bytes, so that neither a failure nor the end of a thread allocates or frees.
    static MESSAGE: Cell<[u8; MESSAGE_BYTES]> = const { Cell::new([0; MESSAGE_BYTES]) };
    static ERRNO: Cell<i32> = const { Cell::new(0) };
}

/// Runs the body of one call. Errors and panics become codes and messages.
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> Code {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Code::Ok,
        Ok(Err(failure)) => remember(&failure),
        Err(panic) => remember(&Failure::new(Code::Panic, format!("a bug in barrow: {}", words(&*panic)))),
    }
}

#[cold]
fn remember(failure: &Failure) -> Code {
    let mut bytes = [0; MESSAGE_BYTES];
    let mut end = failure.message.len().min(MESSAGE_BYTES - 1);
    while !failure.message.is_char_boundary(end) {
        end -= 1;
    }
    for (to, &from) in bytes.iter_mut().zip(&failure.message.as_bytes()[..end]) {
        // A zero would end the message.
        *to = if from == 0 { b'?' } else { from };
    }
    MESSAGE.set(bytes);
    ERRNO.set(failure.errno);
    failure.code
}

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}

/// The message of the last failed call of this thread: a zero-terminated text, empty if none failed. It is valid until
/// the thread's next failing call or its end.
#[unsafe(no_mangle)]
pub extern "C" fn barrow_error_message() -> *const c_char {
    MESSAGE.with(|message| message.as_ptr().cast::<c_char>().cast_const())
}

/// The `errno` of the last error if a system call failed; otherwise 0.
#[unsafe(no_mangle)]
pub extern "C" fn barrow_error_errno() -> i32 {
    ERRNO.get()
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn message() -> String {
        // SAFETY: the pointer leads to this thread's message, which ends with a zero.
        unsafe { CStr::from_ptr(barrow_error_message()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn panics_become_codes() {
        assert_eq!(guarded(|| panic!("odd: {}", 3)), Code::Panic);
        assert_eq!(message(), "a bug in barrow: odd: 3");
        assert_eq!(guarded(|| std::panic::panic_any(7)), Code::Panic);
        assert_eq!(message(), "a bug in barrow: it panicked");
    }

    #[test]
    fn messages_are_cut_between_characters() {
        let long = format!("x\0{}", "ü".repeat(400));
        assert_eq!(guarded(|| Err(Failure::new(Code::BadArgument, long))), Code::BadArgument);
        assert_eq!(message(), format!("x?{}", "ü".repeat(254)));
        // A success changes nothing.
        assert_eq!(guarded(|| Ok(())), Code::Ok);
        assert!(message().starts_with("x?"));
        assert_eq!(std::thread::spawn(message).join().unwrap(), "");
    }
}
