//! The C ABI of the writer: a heap in any language becomes a barrow recording.
//!
//! ```text
//!   C, or what speaks it        barrow_…                        barrow-writer
//!   ────────────────────        ────────                        ─────────────
//!   barrow_writer   *   ──▶  writer    WriterHandle    ──▶  Writer
//!   barrow_snapshot *   ──▶  snapshot  SnapshotHandle  ──▶  Snapshot<'static>
//!   barrow_shard    *   ──▶  shard     ShardHandle     ──▶  Shard<'static>
//!   barrow_type, …      ──▶  values    plain structures     TypeDescription, …
//!   barrow_code         ◀──  codes     Failure         ◀──  WriterError, panics
//! ```
//!
//! Every function is a translation: arguments become the values of the writer, and an error becomes a code and a
//! message. Handles keep the state that C cannot express: a recording that was finished, a shard that two threads use,
//! a process that is the child of a `fork`.
//!
//! If the safety of a function depends on its caller, the function says so under *Safety*, and that text is in
//! `barrow.h`. Parameters are references instead of pointers where possible: `Option<&T>` is a pointer that may be
//! NULL, `Option<Box<T>>` one that is owned. The remaining raw pointers are in `pointers`.
//!
//! Reading order: `values`, `codes`, `pointers`; `writer`, `snapshot`, `shard`; `stream`, and `process`, which
//! knows of forks and signals.

#[cfg(not(unix))]
compile_error!("libbarrow is for Unix systems: it hears of forks, masks signals and takes file descriptors");

// The header lists their functions in this order.
pub mod values;

pub mod codes;

mod growing;
pub mod pointers;

pub mod writer;

pub mod snapshot;

pub mod shard;

pub mod stream;

pub mod process;

use std::ffi::c_char;

use codes::{Code, Failure, guarded};

/// Changes when programs must be recompiled.
pub const BARROW_ABI_MAJOR: u32 = 1;
/// Changes when functions or fields are added.
pub const BARROW_ABI_MINOR: u32 = 2;
/// The version of the ABI that this header describes.
pub const BARROW_ABI_VERSION: u32 = (BARROW_ABI_MAJOR << 16) | BARROW_ABI_MINOR;

/// The version of the ABI of the library: `BARROW_ABI_VERSION` of the header that it was built with.
#[unsafe(no_mangle)]
pub extern "C" fn barrow_abi_version() -> u32 {
    BARROW_ABI_VERSION
}

/// Returns whether the library supports a program that was compiled with the header of `version`: pass
/// `BARROW_ABI_VERSION`. The major version must be the same, the minor one may be older.
#[unsafe(no_mangle)]
pub extern "C" fn barrow_check_abi(version: u32) -> Code {
    guarded(|| {
        let (major, minor) = (version >> 16, version & 0xffff);
        if (BARROW_ABI_MAJOR << 16..=BARROW_ABI_VERSION).contains(&version) {
            return Ok(());
        }
        let message = format!(
            "the program was compiled for version {major}.{minor} of the ABI, libbarrow has {BARROW_ABI_MAJOR}.\
             {BARROW_ABI_MINOR}: {}",
            if major < BARROW_ABI_MAJOR { "compile the program anew" } else { "install a newer libbarrow" }
        );
        Err(Failure::new(Code::WrongAbi, message))
    })
}

/// The version of barrow itself, as a zero-terminated text that is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn barrow_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
