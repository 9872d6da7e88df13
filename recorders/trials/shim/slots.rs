//! The slots of processes, in a file that barrow reads after the run: what is in it stays when a process is killed.
//!
//! ```text
//!   run 0 │ run 1 │ …                                                   a run: 262,144 bytes
//!   run: u32 slots taken · u32 whether there is a name · name, up to byte 56 · u32 forks · u32 forked processes │ slot 0 │ …
//!   slot: u64 process · allocated bytes · blocks · live bytes · peak of live bytes · live blocks · verdict · whether it executes
//! ```
//!
//! Each process takes a slot: when it executes a program, and when it is forked. A forked process begins with the live
//! bytes of its parent, which it holds copies of. Where it is not known what a process allocates, its slot has the verdict
//! alone, and the name is that of the file that has its allocator.
//!
//! Before a fork, the parent counts it, and the forked process counts itself when it has its slot: until then, the numbers
//! differ.
//!
//! A process that executes a program says so in its slot, and the program takes another one. If none follows, the program
//! did not load the library, and what it allocated is not known. A process without a slot of its own, as after `vfork`, takes
//! one that does nothing but expect the program's; so does who starts a program by `posix_spawn`.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::libc;

/// Bytes of a run, whole pages.
pub(crate) const RUN_BYTES: usize = 64 + SLOTS * size_of::<Slot>();
const SLOTS: usize = 4095;

#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) process: AtomicU64,
    pub(crate) allocated: AtomicU64,
    pub(crate) blocks: AtomicU64,
    pub(crate) live: AtomicU64,
    pub(crate) peak: AtomicU64,
    pub(crate) live_blocks: AtomicU64,
    /// A [`Verdict`], or [`EXPECTS`], or [`VOID`].
    pub(crate) verdict: AtomicU64,
    /// 1 if the process executes another program.
    pub(crate) executes: AtomicU64,
}

/// In place of a verdict, as `src/heap.rs` reads it: another slot of this process is expected; there is nothing here.
const EXPECTS: u64 = 7;
const VOID: u64 = 8;

/// The beginning of the run in the file; null while it is not mapped.
pub(crate) static FILE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The number of slots of the run that are taken, or were asked for.
fn taken() -> &'static AtomicU32 {
    // SAFETY: the run begins with this number, and stays mapped; this is called when it is.
    unsafe { &*FILE.load(Ordering::Relaxed).cast::<AtomicU32>() }
}

/// The forks of the run, and the forked processes that have a slot, or asked for one.
fn forks() -> [&'static AtomicU32; 2] {
    let file = FILE.load(Ordering::Relaxed).cast::<AtomicU32>();
    // SAFETY: the run begins with a header of 64 bytes, and stays mapped; this is called when it is.
    [14, 15].map(|at| unsafe { &*file.add(at) })
}

/// This process is about to fork.
pub(crate) fn forks_now() {
    forks()[0].fetch_add(1, Ordering::Relaxed);
}

/// This process was forked and has its slot.
pub(crate) fn was_forked() {
    forks()[1].fetch_add(1, Ordering::Release);
}

/// Takes a slot, if one is left.
pub(crate) fn free_slot() -> Option<&'static Slot> {
    let number = taken().fetch_add(1, Ordering::Relaxed) as usize;
    if number >= SLOTS {
        return None;
    }
    // SAFETY: the slot lies in the mapping, which is aligned to a page.
    Some(unsafe { &*FILE.load(Ordering::Relaxed).cast::<u8>().add(64).cast::<Slot>().add(number) })
}

/// This process.
pub(crate) fn process() -> u64 {
    // SAFETY: the call takes nothing.
    unsafe { libc::getpid() as u64 }
}

/// The process that said that it executes a program does not, because that failed.
pub(crate) fn executes_not(slot: &Slot) {
    if slot.verdict.load(Ordering::Relaxed) != EXPECTS {
        return slot.executes.store(0, Ordering::Relaxed);
    }
    slot.verdict.store(VOID, Ordering::Relaxed);
    // Shells try each folder of PATH: the slot can be taken again, if no other was since.
    let number = (ptr::from_ref(slot) as usize - FILE.load(Ordering::Relaxed) as usize) / size_of::<Slot>();
    let _ = taken().compare_exchange(number as u32, number as u32 - 1, Ordering::Relaxed, Ordering::Relaxed);
}

/// A slot that expects another one of a process.
pub(crate) fn expects(process: u64) -> Option<&'static Slot> {
    let slot = free_slot()?;
    slot.process.store(process, Ordering::Relaxed);
    slot.verdict.store(EXPECTS, Ordering::Relaxed);
    Some(slot)
}
