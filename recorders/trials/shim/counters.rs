//! The counters of a process, in a slot of its own.

use core::ffi::{c_char, c_long, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::objects::Object;
use crate::slots::{FILE, RUN_BYTES, Slot, expects, free_slot, process};
use crate::verdict::{Verdict, verdict};
use crate::{libc, next, slots};

/// The bytes of a name, with a zero at its end.
const NAME_BYTES: usize = 48;

/// Null while nothing is counted.
static SLOT: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());

/// Whether the environment was read: counting begins with the first block after there is one, which may be before any
/// function of ours.
static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);
const UNKNOWN: u32 = 0;
const KNOWN: u32 = 1;

/// Which run of the file this is.
static RUN: AtomicUsize = AtomicUsize::new(0);
static VERDICT: AtomicU64 = AtomicU64::new(0);
static LAYOUT: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
/// Whether blocks are to be counted: 0 or 1.
static COUNTS: AtomicUsize = AtomicUsize::new(0);

/// Whether there is one thread, in a byte of glibc 2.32 and later; null before.
static SINGLE_THREADED: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Blocks that move what a program places, in bytes.
pub(crate) struct Layout {
    pub(crate) small: usize,
    pub(crate) large: usize,
    pub(crate) offset: usize,
    pub(crate) stack: usize,
}

/// The layout that barrow asks for. The heap is left alone where the program has an allocator of its own.
pub(crate) fn layout() -> Layout {
    read_environment();
    let [small, large, offset, stack] = [0, 1, 2, 3].map(|at: usize| LAYOUT[at].load(Ordering::Relaxed));
    if VERDICT.load(Ordering::Relaxed) == Verdict::First as u64 {
        return Layout { small: 0, large: 0, offset: 0, stack };
    }
    Layout { small, large, offset, stack }
}

/// Runs before `main`.
pub(crate) fn begin() {
    read_environment();
    // SAFETY: the function may be called at any time.
    unsafe { libc::pthread_atfork(Some(forks), None, Some(forked)) };
}

unsafe extern "C" fn forks() {
    if !FILE.load(Ordering::Relaxed).is_null() {
        slots::forks_now();
    }
}

unsafe extern "C" fn forked() {
    if FILE.load(Ordering::Relaxed).is_null() {
        return;
    }
    // SAFETY: a slot stays mapped for the life of the process.
    let before = unsafe { SLOT.load(Ordering::Relaxed).as_ref() };
    let live = before.map_or(0, |slot| slot.live.load(Ordering::Relaxed));
    let live_blocks = before.map_or(0, |slot| slot.live_blocks.load(Ordering::Relaxed));
    take_slot(live, live_blocks);
    slots::was_forked();
}

/// Reads what barrow asks for, once. The first caller is alone: no thread starts without a block.
#[inline]
fn read_environment() {
    if STATE.load(Ordering::Acquire) == UNKNOWN {
        read_environment_now();
    }
}

#[cold]
fn read_environment_now() {
    // SAFETY: the library of C has this variable, which is null until it has begun.
    if unsafe { libc::environ.is_null() } {
        return;
    }
    // Whatever is called from here may allocate; that is not counted.
    STATE.store(KNOWN, Ordering::Release);
    // SAFETY: the name is a C string.
    let text = unsafe { libc::getenv(c"BARROW_TRIAL_SHIM".as_ptr()) };
    if text.is_null() {
        return;
    }
    let mut path = [0_u8; 256];
    let mut length = 0;
    let mut at = text.cast::<u8>();
    // SAFETY: the text ends with a zero, and nothing is read after it.
    unsafe {
        while *at != 0 && *at != b':' && length + 1 < path.len() {
            path[length] = *at;
            length += 1;
            at = at.add(1);
        }
        for number in [&RUN].into_iter().chain(&LAYOUT).chain([&COUNTS]) {
            if *at != b':' {
                break;
            }
            at = at.add(1);
            let mut value = 0_usize;
            while (*at).is_ascii_digit() {
                value = value.wrapping_mul(10).wrapping_add(usize::from(*at - b'0'));
                at = at.add(1);
            }
            // More would be no layout, but a lack of memory.
            number.store(value.min(1 << 20), Ordering::Relaxed);
        }
    }
    if length > 0 {
        open(path.as_ptr().cast(), RUN.load(Ordering::Relaxed));
    }
}

fn open(path: *const c_char, run: usize) {
    let begin = (run * RUN_BYTES) as c_long;
    // SAFETY: the path is a C string; the file is longer than what is mapped, as barrow made it.
    let mapped = unsafe {
        let file = libc::open(path, libc::O_RDWR | libc::O_CLOEXEC);
        if file < 0 {
            return;
        }
        let mapped = libc::mmap(ptr::null_mut(), RUN_BYTES, libc::PROT_READ_WRITE, libc::MAP_SHARED, file, begin);
        libc::close(file);
        mapped
    };
    if mapped != libc::MAP_FAILED {
        let (verdict, allocator) = verdict();
        VERDICT.store(verdict as u64, Ordering::Relaxed);
        // SAFETY: the name is a C string.
        let single = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
        SINGLE_THREADED.store(single.cast(), Ordering::Relaxed);
        FILE.store(mapped, Ordering::Relaxed);
        if verdict != Verdict::Counted {
            tell_name(allocator);
        }
        take_slot(0, 0);
    }
}

/// Writes which file has the allocator, if no process did so yet.
fn tell_name(allocator: Object) {
    let file = FILE.load(Ordering::Relaxed);
    // SAFETY: the beginning of the run is mapped, and so is the name after it.
    let (is_told, name) = unsafe { (&*file.cast::<AtomicU32>().add(1), file.cast::<u8>().add(8)) };
    if is_told.swap(1, Ordering::Relaxed) == 0 {
        for (at, &byte) in allocator.file_name().iter().take(NAME_BYTES - 1).enumerate() {
            // SAFETY: the name has room for so many bytes, and this process alone writes it.
            unsafe { name.add(at).write_volatile(byte) };
        }
    }
}

fn take_slot(live: u64, live_blocks: u64) {
    SLOT.store(ptr::null_mut(), Ordering::Relaxed);
    let Some(slot) = free_slot() else { return };
    slot.live.store(live, Ordering::Relaxed);
    slot.peak.store(live, Ordering::Relaxed);
    slot.live_blocks.store(live_blocks, Ordering::Relaxed);
    slot.verdict.store(VERDICT.load(Ordering::Relaxed), Ordering::Relaxed);
    slot.process.store(process(), Ordering::Relaxed);
    let is_counted = VERDICT.load(Ordering::Relaxed) == Verdict::Counted as u64;
    if is_counted && COUNTS.load(Ordering::Relaxed) != 0 {
        SLOT.store(ptr::from_ref(slot).cast_mut(), Ordering::Release);
    }
}

/// This process executes a program from now on. Returns what says so, if anything is counted.
pub(crate) fn executes() -> Option<&'static Slot> {
    let own = slot()?;
    if own.process.load(Ordering::Relaxed) == process() {
        own.executes.store(1, Ordering::Relaxed);
        return Some(own);
    }
    expects(process())
}

/// This process has started a program in another process.
pub(crate) fn started(process: u64) {
    if slot().is_some() {
        expects(process);
    }
}

/// The slot that counts, if any does.
#[inline]
fn slot() -> Option<&'static Slot> {
    read_environment();
    // SAFETY: a slot stays mapped for the life of the process.
    unsafe { SLOT.load(Ordering::Acquire).as_ref() }
}

/// Counts a block, if there is one, and returns it.
///
/// # Safety
/// The block is null or was handed out by the allocator that has `malloc`.
#[inline]
pub(crate) unsafe fn allocated(block: *mut c_void) -> *mut c_void {
    if let Some(slot) = slot()
        && !block.is_null()
    {
        // SAFETY: the caller's promise.
        let bytes = unsafe { next::usable_size(block) } as u64;
        let alone = is_alone();
        add(&slot.allocated, bytes, alone);
        add(&slot.blocks, 1, alone);
        add(&slot.live_blocks, 1, alone);
        let live = add(&slot.live, bytes, alone) + bytes;
        if live > slot.peak.load(Ordering::Relaxed) {
            slot.peak.fetch_max(live, Ordering::Relaxed);
        }
    }
    block
}

/// The bytes of a block that is to be counted as gone; 0 if nothing is counted.
///
/// # Safety
/// As for [`allocated`].
#[inline]
pub(crate) unsafe fn bytes_if_counted(block: *mut c_void) -> usize {
    // SAFETY: the caller's promise.
    if block.is_null() || slot().is_none() { 0 } else { unsafe { next::usable_size(block) } }
}

/// Counts a block as gone.
///
/// # Safety
/// As for [`allocated`].
#[inline]
pub(crate) unsafe fn freed(block: *mut c_void) {
    if !block.is_null() && slot().is_some() {
        // SAFETY: the caller's promise.
        released(unsafe { next::usable_size(block) });
    }
}

/// Counts bytes as gone. Blocks from before the counting began are not in the sums: these stay at 0.
#[inline]
pub(crate) fn released(bytes: usize) {
    let Some(slot) = slot() else { return };
    let alone = is_alone();
    for (count, by) in [(&slot.live, bytes as u64), (&slot.live_blocks, 1)] {
        let before = add(count, by.wrapping_neg(), alone);
        if before < by {
            add(count, by - before, alone);
        }
    }
}

/// Whether this process has one thread. Then a sum needs no instruction that locks memory, of which five for each block are
/// most of what counting costs.
#[inline]
fn is_alone() -> bool {
    // SAFETY: it is null or glibc's variable, which glibc alone writes.
    unsafe { SINGLE_THREADED.load(Ordering::Relaxed).as_ref().is_some_and(|is_single| *is_single != 0) }
}

/// Adds to a sum, which wraps around, and returns what it was.
#[inline]
fn add(sum: &AtomicU64, by: u64, alone: bool) -> u64 {
    if !alone {
        return sum.fetch_add(by, Ordering::Relaxed);
    }
    let before = sum.load(Ordering::Relaxed);
    sum.store(before.wrapping_add(by), Ordering::Relaxed);
    before
}
