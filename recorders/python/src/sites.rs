//! The allocation site of each block: three bytes, noted by a hook in front of the interpreter's allocator.
//!
//! ```text
//!   hooks ─▶ Sites::note ─▶ units: code object + instruction ─▶ site ─▶ blocks: address ─▶ site
//!                           calls: … with callers            ─▶ site
//! ```
//!
//! A code object gets a range of numbers when it first allocates; the site of a block is the first of them plus the
//! number of the instruction that runs. With callers, a site is a node of the tree of all stacks that were met. Function, file and
//! line are found out when a snapshot has an object of that site.

pub(crate) mod blocks;
mod calls;
mod hooks;
pub(crate) mod lines;
mod units;

use std::fmt;
use std::ptr::{null, null_mut};
use std::str::FromStr;
use std::sync::atomic::{AtomicPtr, Ordering};

use barrow_writer::{Result, SiteDescription, SiteId, Writer};
use foldhash::HashMap;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::heap_map::HeapMap;
use crate::interpreter::{layout, needed, symbol};
use crate::layout::{Frames, Layout};
use crate::object::Stopped;
use crate::stacks::Thread;
use blocks::{Blocks, SMALL};
use calls::Calls;
use hooks::Allocator;
use lines::{Location, locate};
use units::Units;

/// In a thread's state: its interpreter.
const INTERPRETER: usize = 16;

type Function = *mut std::ffi::c_void;
type ThisThread = unsafe extern "C" fn() -> *const u8;

/// Data that is noted of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The line.
    Light,
    /// The line and those that called its function.
    Full,
    /// The line and its callers, for about one allocation in this many bytes.
    Sample(u64),
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Light => f.write_str("light"),
            Mode::Full => f.write_str("full"),
            Mode::Sample(bytes) => write!(f, "sample={bytes}"),
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    /// `light`, `full`, `sample=512K`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "light" => Some(Mode::Light),
            "full" => Some(Mode::Full),
            _ => text.strip_prefix("sample=").and_then(parse_bytes).map(Mode::Sample),
        }
        .ok_or_else(|| format!("sites can be light, full or sample=512K, not {text}"))
    }
}

/// Bytes, at least one, as `4096`, `512K` or `1M`.
fn parse_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M']);
    let unit = match text.strip_prefix(digits)? {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

/// All data about sites. Used only with the global lock held.
struct Sites {
    mode: Mode,
    /// Whether the hooks are installed.
    is_noting: bool,
    /// Bytes until the next sample.
    until_sample: i64,
    /// Bytes from the last sample to the next.
    between_samples: i64,
    /// State of the random numbers that choose the intervals.
    random: u64,
    below: Allocator,
    this_thread: ThisThread,
    interpreter: u64,
    layout: &'static Layout,
    units: Units,
    calls: Calls,
    blocks: Blocks,
    /// The thread that allocated last, its serial number, whether it runs in this interpreter, and what it allocated since
    /// another did.
    thread: *const u8,
    serial: u64,
    is_ours: bool,
    allocated: Allocated,
    /// Earlier allocations of each thread, by its serial number.
    threads: HashMap<u64, Allocated>,
}

/// Sums of the allocations of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Allocated {
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
}

/// Made once, and never freed: the interpreter has its address.
static SITES: AtomicPtr<Sites> = AtomicPtr::new(null_mut());

/// The numbers of the sites in one recording.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    by_site: HashMap<u32, SiteId>,
    by_place: HashMap<(usize, Location, Option<SiteId>), SiteId>,
}

/// Finds out what [`begin`] needs to know. This runs Python code.
///
/// # Errors
/// The interpreter's allocator is not its own (`PYTHONMALLOC=malloc`, say).
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    if SITES.load(Ordering::Relaxed).is_null() {
        hooks::check_pools(py)?;
        let sites = Box::new(Sites::find()?);
        // The code that ran may have done the same.
        if SITES.load(Ordering::Relaxed).is_null() {
            SITES.store(Box::into_raw(sites), Ordering::Relaxed);
        }
    }
    Ok(())
}

/// Starts recording allocation sites. To be called after [`prepare`].
///
/// # Errors
/// Another tool hooks the allocator, so that what is noted already cannot end.
pub(crate) fn begin(_py: Python<'_>, mode: Mode) -> PyResult<()> {
    let sites = SITES.load(Ordering::Relaxed);
    if sites.is_null() {
        return Err(PyRuntimeError::new_err("sites were not prepared"));
    }
    // SAFETY: `py` has the global lock, so nothing else uses them.
    unsafe {
        // In a child that was forked the hooks are in place, and all that was noted is true.
        if (*sites).is_noting && (*sites).mode == mode {
            return Ok(());
        }
        if (*sites).is_noting && !hooks::take_away(sites) {
            let was = (*sites).mode;
            return Err(PyRuntimeError::new_err(format!(
                "sites={was} cannot end while another tool hooks the allocator"
            )));
        }
        (*sites).is_noting = false;
        (*sites).begin(mode);
        hooks::put_before(sites)?;
        (*sites).is_noting = true;
    }
    Ok(())
}

/// Notes nothing any more, unless another hook was put in front meanwhile: then all goes on.
pub(crate) fn end(_py: Python<'_>) {
    let sites = SITES.load(Ordering::Relaxed);
    if !sites.is_null() {
        // SAFETY: `py` has the global lock, so nothing else uses them.
        unsafe { (*sites).is_noting &= !hooks::take_away(sites) };
    }
}

/// The site of the block at an address, as a recording has it.
///
/// # Errors
/// Errors of the writer.
pub(crate) fn site_of(
    _stopped: &Stopped,
    writer: &Writer,
    declared: &mut Declared,
    address: u64,
) -> Result<Option<SiteId>> {
    let sites = SITES.load(Ordering::Relaxed);
    if sites.is_null() {
        return Ok(None);
    }
    // SAFETY: the program is paused, so nothing changes them.
    let sites = unsafe { &*sites };
    match sites.blocks.get(address) {
        0 => Ok(None),
        site => sites.declare(writer, declared, site).map(Some),
    }
}

/// Forgets blocks that no object is in. `numbers` has the objects' addresses.
pub(crate) fn keep(_stopped: &Stopped, numbers: &HeapMap) {
    /// Possible distances of an object from the beginning of its block.
    const BEFORE: [u64; 3] = [0, 16, 32];
    let sites = SITES.load(Ordering::Relaxed);
    if !sites.is_null() {
        // SAFETY: the program is paused, so nothing else uses them.
        unsafe { (*sites).blocks.keep(|block| BEFORE.iter().any(|before| numbers.id(block + before).is_some())) };
    }
}

/// Sums of the allocations of each of these threads since sites are noted; forgets all other threads.
pub(crate) fn allocated(_stopped: &Stopped, threads: &[Thread]) -> Vec<Option<Allocated>> {
    let sites = SITES.load(Ordering::Relaxed);
    if sites.is_null() {
        return vec![None; threads.len()];
    }
    // SAFETY: the program is paused, so nothing else uses them.
    let sites = unsafe { &mut *sites };
    sites.put_by();
    let found: Vec<_> = threads.iter().map(|thread| sites.threads.get(&thread.serial).copied()).collect();
    sites.threads.retain(|serial, _| threads.iter().any(|thread| thread.serial == *serial));
    found.into_iter().map(|one| Some(one.unwrap_or_default())).collect()
}

impl Sites {
    fn find() -> PyResult<Self> {
        let this_thread = symbol(c"PyThreadState_GetUnchecked");
        let this_thread = this_thread.map_or_else(|| needed(c"_PyThreadState_UncheckedGet"), Ok)?;
        // SAFETY: the functions have these types in every version; the caller has the global lock.
        unsafe {
            Ok(Sites {
                mode: Mode::Light,
                is_noting: false,
                until_sample: 0,
                between_samples: 0,
                random: SEED,
                below: hooks::allocator()?,
                this_thread: std::mem::transmute::<Function, ThisThread>(this_thread),
                interpreter: ffi::PyInterpreterState_Get() as u64,
                layout: layout(),
                units: Units::find()?,
                calls: Calls::new(),
                blocks: Blocks::new(layout().arena_bits, layout().pool_bits),
                thread: null(),
                serial: 0,
                is_ours: false,
                allocated: Allocated::default(),
                threads: HashMap::default(),
            })
        }
    }

    fn begin(&mut self, mode: Mode) {
        self.mode = mode;
        // SAFETY: the caller of the module's `begin` has the global lock.
        self.interpreter = unsafe { ffi::PyInterpreterState_Get() } as u64;
        // It must be found out anew whether the thread belongs to this interpreter.
        self.put_by();
        self.thread = null();
        self.serial = 0;
        self.is_ours = false;
        self.blocks = Blocks::new(layout().arena_bits, layout().pool_bits);
        self.begin_interval();
    }

    /// Notes that a block was allocated.
    ///
    /// # Safety
    /// The caller has the global lock, and sampling is off.
    #[inline]
    unsafe fn note(&mut self, address: u64, bytes: usize) {
        if address == 0 {
            return;
        }
        // SAFETY: as the caller says.
        let site = unsafe {
            match self.mode {
                Mode::Light => self.innermost().map_or(0, |frame| self.light(frame)),
                Mode::Full | Mode::Sample(_) => self.full(),
            }
        };
        self.allocated.blocks += 1;
        self.allocated.bytes += bytes as u64;
        self.blocks.set(address, bytes, site);
    }

    /// Whether sampling skips a block of this size; it nearly always does.
    #[inline]
    fn passes(&mut self, bytes: usize) -> bool {
        let small = bytes.cast_signed() as i64;
        let passes = bytes <= SMALL && small <= self.until_sample;
        if passes {
            self.until_sample -= small;
            self.allocated.blocks += 1;
        }
        passes
    }

    /// Bytes to allocate for a block that does not [pass](Sites::passes). A sampled block is made too large for a pool,
    /// where another block could replace it unnoticed.
    fn sampled_bytes(&self, bytes: usize) -> usize {
        if self.until_sample < bytes.cast_signed() as i64 { bytes.max(SMALL + 1) } else { bytes }
    }

    /// Notes that a block was allocated that does not [pass](Sites::passes): a sample, or so large that one may have been in
    /// its place.
    ///
    /// # Safety
    /// The caller has the global lock.
    unsafe fn note_sample(&mut self, address: u64, bytes: usize) {
        if address == 0 {
            return;
        }
        self.until_sample = self.until_sample.saturating_sub_unsigned(bytes as u64);
        if self.until_sample >= 0 {
            self.allocated.blocks += 1;
            return self.blocks.remove(address);
        }
        // Allocations since the last sample count for this thread.
        let blocks = std::mem::take(&mut self.allocated.blocks) + 1;
        // SAFETY: as the caller says.
        let site = unsafe { self.full() };
        self.allocated.blocks += blocks;
        self.allocated.bytes += self.between_samples.abs_diff(self.until_sample);
        self.blocks.set_large(address, site);
        self.begin_interval();
    }

    /// Notes that a block was moved.
    ///
    /// # Safety
    /// The caller has the global lock.
    unsafe fn note_moved(&mut self, from: u64, to: u64, bytes: usize) {
        self.blocks.remove(from);
        let is_sampling = matches!(self.mode, Mode::Sample(_));
        // SAFETY: as the caller says.
        unsafe {
            match is_sampling {
                false => self.note(to, bytes),
                true if bytes > SMALL => self.note_sample(to, bytes),
                // It may lie in a pool, so it is no sample: the next block that is allocated may be.
                true => self.blocks.remove(to),
            }
        }
    }

    /// Adds what the last thread allocated to what it did before.
    #[cold]
    fn put_by(&mut self) {
        let Allocated { blocks, bytes } = std::mem::take(&mut self.allocated);
        let before = self.threads.entry(self.serial).or_default();
        before.blocks += blocks;
        before.bytes += bytes;
    }

    /// Half to one and a half times the interval, so that a program that repeats itself does not hit the same place each time.
    fn begin_interval(&mut self) {
        let Mode::Sample(interval) = self.mode else { return };
        // G. Marsaglia, Xorshift RNGs, 2003.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.between_samples = i64::try_from(interval / 2 + self.random % interval).unwrap_or(i64::MAX);
        self.until_sample = self.between_samples;
    }

    /// # Safety
    /// A live thread, or null; the caller has the global lock.
    #[cold]
    unsafe fn change_thread(&mut self, thread: *const u8) {
        self.put_by();
        self.thread = thread;
        // SAFETY: as the caller says; threads are laid out as the version's layout says.
        (self.serial, self.is_ours) = unsafe {
            match thread.is_null() {
                true => (0, false),
                false => (word(thread, self.layout.thread_serial), word(thread, INTERPRETER) == self.interpreter),
            }
        };
    }

    /// The innermost frame of this thread that runs Python code.
    ///
    /// # Safety
    /// The caller has the global lock.
    #[inline]
    unsafe fn innermost(&mut self) -> Option<*const u8> {
        // SAFETY: threads are laid out as the version's layout says; with the lock held they stay.
        unsafe {
            let thread = (self.this_thread)();
            if thread != self.thread {
                self.change_thread(thread);
            }
            // Another interpreter may have a lock of its own.
            if !self.is_ours {
                return None;
            }
            let frame = match self.layout.frames {
                Frames::Objects(offset) | Frames::Records(offset) => word(thread, offset),
                Frames::RecordsBehind(offset, behind) => word(word(thread, offset) as *const u8, behind),
            };
            self.with_code(frame as *const u8)
        }
    }

    /// The frame itself, or the first of its callers that is no call from C.
    ///
    /// # Safety
    /// A live frame or null; the caller has the global lock.
    #[inline]
    unsafe fn with_code(&self, mut frame: *const u8) -> Option<*const u8> {
        // SAFETY: as the layout says; callers outlive what they call.
        unsafe {
            if let Some((offset, from_c)) = self.layout.frame.owner {
                while !frame.is_null() && frame.add(offset).read() >= from_c {
                    frame = word(frame, self.layout.frame.previous) as *const u8;
                }
            }
        }
        (!frame.is_null()).then_some(frame)
    }

    /// Returns the site of a frame.
    ///
    /// # Safety
    /// A live frame; the caller has the global lock.
    #[inline]
    unsafe fn light(&mut self, frame: *const u8) -> u32 {
        // SAFETY: as the caller says.
        unsafe { self.units.site(self.layout, frame) }
    }

    /// Returns the site of the innermost frame and its callers.
    ///
    /// # Safety
    /// The caller has the global lock.
    unsafe fn full(&mut self) -> u32 {
        self.calls.begin();
        // SAFETY: as the caller says.
        unsafe {
            let mut frame = self.innermost();
            while let Some(here) = frame {
                let site = self.light(here);
                if !self.calls.push(site) {
                    break;
                }
                frame = self.with_code(word(here, self.layout.frame.previous) as *const u8);
            }
        }
        self.calls.node()
    }

    fn declare(&self, writer: &Writer, declared: &mut Declared, site: u32) -> Result<SiteId> {
        if let Some(&known) = declared.by_site.get(&site) {
            return Ok(known);
        }
        let mut chain = Vec::new();
        let mut caller = None;
        if self.mode == Mode::Light {
            chain.push((site, site));
        } else {
            // Callers first, as far as they are not declared.
            let mut node = site;
            while node != 0 {
                if let Some(&known) = declared.by_site.get(&node) {
                    caller = Some(known);
                    break;
                }
                let (above, light) = self.calls.get(node);
                chain.push((node, light));
                node = above;
            }
        }
        for (site, light) in chain.into_iter().rev() {
            let id = self.declare_one(writer, declared, light, caller)?;
            declared.by_site.insert(site, id);
            caller = Some(id);
        }
        Ok(declared.by_site[&site])
    }

    fn declare_one(
        &self,
        writer: &Writer,
        declared: &mut Declared,
        light: u32,
        caller: Option<SiteId>,
    ) -> Result<SiteId> {
        let (number, unit) = self.units.of(light);
        let location = locate(layout().code.line_format, &unit.table, unit.first_line, light - unit.first_site);
        if let Some(&known) = declared.by_place.get(&(number, location, caller)) {
            return Ok(known);
        }
        let id = writer.site(&SiteDescription {
            function: Some(&unit.name),
            file: Some(&unit.file),
            line: location.line,
            column: location.column,
            caller,
            ..SiteDescription::default()
        })?;
        declared.by_place.insert((number, location, caller), id);
        Ok(id)
    }
}

/// Any number but 0.
const SEED: u64 = 0x2545_f491_4f6c_dd1d;

/// # Safety
/// At `pointer + offset` lies a word.
#[inline]
unsafe fn word(pointer: *const u8, offset: usize) -> u64 {
    // SAFETY: as the caller says.
    unsafe { pointer.add(offset).cast::<u64>().read() }
}
