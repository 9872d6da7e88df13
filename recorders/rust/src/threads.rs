//! The data of each thread: counters of what it has allocated and freed, and the chains it met last.
//!
//! A thread takes a *share*, a set of counters that only it writes, and leaves it to the next one when it ends. What is
//! live of a leaf is the sum over all shares; in one share a counter may be negative, where blocks of other threads are
//! freed. Before it has a share, and in destructors that run after it was left, a thread uses the common one.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::classes::class_of;
use crate::region::{Counter, Pair, zeroed};
use crate::sites::{BITS, Sites, UNRECORDED};
use crate::stack::{self, Bounds, MAX_DEPTH};
use crate::state;

/// Chains that a thread remembers: `1 << LEAST_BITS` at first, more when it meets many, up to `1 << MOST_BITS`.
const LEAST_BITS: u32 = 10;
const MOST_BITS: u32 = 17;

/// Counters and remembered chains of one thread at a time.
#[derive(Debug)]
struct Share {
    /// By leaf.
    counters: &'static [Counter],
    /// The hash of chain and class, and the leaf; by the hash.
    remembered: &'static [Pair],
    /// Bits by which a hash is shifted to give its row.
    shift: AtomicU32,
    /// Chains that were not remembered, since there were more rows.
    missed: AtomicU32,
    /// The chain that was looked up last; see [`Sites::leaf`].
    last: &'static [Pair],
}

/// All shares, the common one first.
#[derive(Debug)]
struct Shares {
    all: Vec<&'static Share>,
    free: Vec<&'static Share>,
}

static SHARES: Mutex<Shares> = Mutex::new(Shares { all: Vec::new(), free: Vec::new() });
/// The share of threads without one: written with atomic additions.
static COMMON: std::sync::OnceLock<Option<&'static Share>> = std::sync::OnceLock::new();

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It has not allocated yet.
    New,
    /// It allocates for the recorder: that is not recorded.
    Quiet,
    /// It records.
    Recording,
    /// Its share was left to others: what it still does goes to the common one.
    Ended,
}

/// The state of a thread. It needs no destructor, so that it is there until the very end.
struct Local {
    standing: Cell<Standing>,
    share: Cell<Option<&'static Share>>,
    bounds: Cell<Bounds>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            standing: Cell::new(Standing::New),
            share: Cell::new(None),
            bounds: Cell::new(Bounds::NONE),
        }
    };
    /// Leaves the share when the thread ends.
    static LEAVING: Leaving = const { Leaving };
}

struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        LOCAL.with(|local| {
            let _quiet = Quiet::new();
            let share = local.share.take();
            // In the child of a fork, the lock may be held by a thread that no longer exists.
            if let Some(share) = share.filter(|_| state::is_own_process()) {
                shares().free.push(share);
            }
        });
        LOCAL.with(|local| local.standing.set(Standing::Ended));
    }
}

/// While it lives, the calling thread's allocations are not recorded.
pub(crate) struct Quiet {
    before: Standing,
}

impl Quiet {
    pub(crate) fn new() -> Self {
        Quiet { before: LOCAL.with(|local| local.standing.replace(Standing::Quiet)) }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        LOCAL.with(|local| local.standing.set(self.before));
    }
}

/// Notes that a block of `size` bytes was allocated here. Returns its leaf.
#[inline(never)]
pub(crate) fn allocated(size: usize) -> u32 {
    let frame = stack::frame_pointer();
    LOCAL.with(|local| match (local.standing.get(), local.share.get()) {
        (Standing::Recording, Some(share)) => {
            let leaf = share.leaf_here(frame, local.bounds.get(), size);
            let Some(counter) = share.counters.get(leaf as usize) else { return UNRECORDED };
            // Only this thread writes here, so that no addition is lost.
            add_own(&counter.blocks, 1);
            add_own(&counter.bytes, size as i64);
            leaf
        }
        _ => allocated_elsewhere(local, frame, size),
    })
}

/// Notes that a block of this leaf was freed.
#[inline]
pub(crate) fn freed(leaf: u32, size: usize) {
    LOCAL.with(|local| match (local.standing.get(), local.share.get()) {
        (Standing::Recording, Some(share)) => {
            if let Some(counter) = share.counters.get(leaf as usize) {
                add_own(&counter.blocks, -1);
                add_own(&counter.bytes, -(size as i64));
            }
        }
        _ => add_common(leaf, -1, -(size as i64)),
    });
}

#[inline]
fn add_own(counter: &AtomicI64, amount: i64) {
    // Relaxed: sums over threads are taken without order; see `live`.
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
}

#[cold]
fn add_common(leaf: u32, blocks: i64, bytes: i64) {
    if let Some(counter) = common().and_then(|share| share.counters.get(leaf as usize)) {
        counter.blocks.fetch_add(blocks, Ordering::Relaxed);
        counter.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[cold]
fn allocated_elsewhere(local: &Local, frame: usize, size: usize) -> u32 {
    match local.standing.get() {
        Standing::Quiet => UNRECORDED,
        Standing::New | Standing::Recording => {
            let Some(share) = begin(local) else { return UNRECORDED };
            let leaf = share.leaf_here(frame, local.bounds.get(), size);
            if let Some(counter) = share.counters.get(leaf as usize) {
                add_own(&counter.blocks, 1);
                add_own(&counter.bytes, size as i64);
            }
            leaf
        }
        Standing::Ended => {
            // Nothing is remembered in the common share: several threads may be here.
            let last = [const { Pair::empty() }; MAX_DEPTH];
            let leaf = find(frame, local.bounds.get(), state::depth(), class_of(size), &last);
            add_common(leaf, 1, size as i64);
            leaf
        }
    }
}

/// Gives the thread a share.
fn begin(local: &Local) -> Option<&'static Share> {
    let quiet = Quiet::new();
    common()?;
    local.bounds.set(Bounds::of_this_thread());
    let share = shares().free.pop();
    let share = share.or_else(|| {
        let share = Share::leak()?;
        shares().all.push(share);
        Some(share)
    })?;
    local.share.set(Some(share));
    // Registers the destructor.
    LEAVING.with(|_| ());
    drop(quiet);
    local.standing.set(Standing::Recording);
    Some(share)
}

fn common() -> Option<&'static Share> {
    *COMMON.get_or_init(|| {
        let _quiet = Quiet::new();
        let share = Share::leak()?;
        shares().all.insert(0, share);
        Some(share)
    })
}

fn shares() -> MutexGuard<'static, Shares> {
    SHARES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Share {
    /// A share that stays for ever.
    fn leak() -> Option<&'static Share> {
        let (counters, remembered, last) = (zeroed(1 << BITS)?, zeroed(1 << MOST_BITS)?, zeroed(MAX_DEPTH)?);
        let shift = AtomicU32::new(u64::BITS - LEAST_BITS);
        Some(Box::leak(Box::new(Share { counters, remembered, shift, missed: AtomicU32::new(0), last })))
    }

    /// The leaf of the chain of calls that leads here.
    #[inline]
    fn leaf_here(&self, frame: usize, bounds: Bounds, size: usize) -> u32 {
        let class = class_of(size);
        let depth = state::depth();
        let mut hash = u64::from(class);
        if state::follows_frame_pointers() {
            stack::follow(frame, bounds, depth, |address| hash = mix(hash, address));
        } else {
            stack::unwind(depth, |address| hash = mix(hash, address));
        }
        // Never 0, which is what an empty row has.
        let hash = spread(hash) | 1;
        // Two rows for each hash, in one line of the processor's cache: the older one goes.
        let at = (hash >> self.shift.load(Ordering::Relaxed)) as usize & !1;
        let Some([newer, older]) = self.remembered.get(at..at + 2) else { return UNRECORDED };
        for row in [newer, older] {
            if row.wide.load(Ordering::Relaxed) == hash {
                return row.narrow.load(Ordering::Relaxed);
            }
        }
        let leaf = find(frame, bounds, depth, class, self.last);
        // Only this thread reads and writes here.
        older.narrow.store(newer.narrow.load(Ordering::Relaxed), Ordering::Relaxed);
        older.wide.store(newer.wide.load(Ordering::Relaxed), Ordering::Relaxed);
        newer.narrow.store(leaf, Ordering::Relaxed);
        newer.wide.store(hash, Ordering::Relaxed);
        self.remember_more();
        leaf
    }
}

impl Share {
    /// One more chain was not remembered: after as many as there are rows, there will be twice as many.
    fn remember_more(&self) {
        let (missed, shift) = (self.missed.load(Ordering::Relaxed) + 1, self.shift.load(Ordering::Relaxed));
        let is_enough = missed < 1 << (u64::BITS - shift);
        self.missed.store(if is_enough { missed } else { 0 }, Ordering::Relaxed);
        if !is_enough && shift > u64::BITS - MOST_BITS {
            self.shift.store(shift - 1, Ordering::Relaxed);
        }
    }
}

/// Adds an address to a hash. Chains of a program that differ have the same 64 bits once in 2^64 pairs.
#[inline(always)]
fn mix(hash: u64, address: u64) -> u64 {
    (hash.rotate_left(23) ^ address).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The high bits depend on all others.
#[inline(always)]
fn spread(hash: u64) -> u64 {
    (hash ^ hash >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Finds the leaf of a chain in the tree.
#[cold]
#[inline(never)]
fn find(frame: usize, bounds: Bounds, depth: usize, class: u32, last: &[Pair]) -> u32 {
    let _quiet = Quiet::new();
    let (mut chain, mut count) = ([0; MAX_DEPTH], 0);
    let add = |address| {
        chain[count] = address;
        count += 1;
    };
    if state::follows_frame_pointers() {
        stack::follow(frame, bounds, depth, add);
    } else {
        stack::unwind(depth, add);
    }
    Sites::get().map_or(UNRECORDED, |sites| sites.leaf(&chain[..count], class, last))
}

/// Blocks and bytes that are live, by leaf.
///
/// Threads go on meanwhile. A block that is neither allocated nor freed while this runs is counted exactly; of
/// others it depends on the moment.
pub(crate) fn live(leaves: u32) -> Vec<(i64, i64)> {
    let mut sums = vec![(0i64, 0i64); leaves as usize];
    let all: Vec<&Share> = shares().all.clone();
    for share in all {
        for (sum, counter) in sums.iter_mut().zip(share.counters) {
            sum.0 = sum.0.wrapping_add(counter.blocks.load(Ordering::Relaxed));
            sum.1 = sum.1.wrapping_add(counter.bytes.load(Ordering::Relaxed));
        }
    }
    sums
}

/// Threads that have a share now.
pub(crate) fn count() -> usize {
    let shares = shares();
    shares.all.len().saturating_sub(1 + shares.free.len())
}
