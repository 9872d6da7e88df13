//! Memory for columns: anonymous pages under the limit, mapped temporary files beyond it.
//!
//! ```text
//!   Memory ── limit, used ──┬─ Column   anonymous pages           under the limit, or if there is none
//!                           ├─ Column   a mapped, unlinked file   beyond it: the system pages it
//!                           └─ Scratch  first the one, then the other, for the part in use
//!                                 ▲
//!   pager thread ── every few milliseconds: if mapped files hold more than the limit leaves them,
//!                   release some of their pages; pages needed again come from the page cache
//!                ── if all else holds more than the limit, note it: questions that check end
//! ```
//!
//! A column is an array of plain numbers, initially zero. Large columns request 2 MiB pages, because graph algorithms
//! mostly wait for memory, and much of that wait is for page tables.

#![expect(unsafe_code, reason = "mapping a file is unsafe, and so is releasing its pages")]

mod ceiling;
mod scratch;
mod spill;

pub(crate) use self::scratch::{Growth, Scratch};

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use parking_lot::Mutex;

use crate::error::{AnalyzerError, Result};
use crate::file::bytes::{Bytes, prefer_large_pages, release_pages};

use self::spill::Spill;

/// Columns of at least this length request large pages, which have this size on x86-64.
const LARGE_PAGE_BYTES: usize = 2 << 20;
/// The part of a limit that is reserved for everything but columns: decoders, tables, stacks, the program.
const OTHER_BYTES: u64 = 48 << 20;
/// The least and the greatest interval between checks of the pager. It is shorter the nearer mapped pages are to the
/// limit, because released pages can be read back at gigabytes per second.
const PAGER_INTERVALS: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(100)];
/// Bytes of pages that a process can map or fill per millisecond.
const FILLED_BYTES_PER_MILLISECOND: u64 = 16 << 20;
/// Bytes of mapped pages that the pager never releases, however low the limit is.
const LEAST_MAPPED_BYTES: u64 = 16 << 20;
/// The number of times that each page may be read again, on average, before a question is given up. Measured with 8
/// million objects that refer to each other at random: 130 times under a ceiling that makes `top by retained` twice as
/// slow, 390 times under one that makes it six times as slow; 3 times with a list, which costs nothing.
const MOST_READINGS: u64 = 144;
/// A smaller total of mapped bytes counts as this number, because it is soon read again.
const LEAST_PAGED_BYTES: u64 = 64 << 20;
/// The unit of [`Account::released_parts`]: all mapped files, released once.
const PARTS: u64 = 1 << 16;
/// Bytes that the pager releases before it checks again, so that it releases few more than necessary.
const PAGER_BYTES: usize = 8 << 20;

/// The memory limit for columns. Clones share one account.
#[derive(Debug, Clone)]
pub struct Memory(Arc<Account>);

#[derive(Debug)]
struct Account {
    limit_bytes: Option<u64>,
    used_bytes: AtomicU64,
    /// Bytes of columns that are files for want of room. Under a higher limit they are in memory.
    spilled_bytes: AtomicU64,
    /// For each heap in use, the bytes that long-lived columns leave free for columns that must be resident.
    rooms: Mutex<Vec<u64>>,
    folder: PathBuf,
    /// Mapped files whose pages can be released: address and length.
    regions: Mutex<Vec<(usize, usize)>>,
    /// The bytes that the process holds besides mapped files, if the pager last found them above the limit; otherwise 0.
    excess_bytes: AtomicU64,
    /// The bytes released since a question began, relative to those of all mapped files, times [`PARTS`].
    released_parts: AtomicU64,
    /// The bytes needed by a question that mostly reads released pages again; otherwise 0.
    needed_bytes: AtomicU64,
}

impl Default for Memory {
    fn default() -> Self {
        Self::unlimited()
    }
}

impl Memory {
    /// No limit.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(None)
    }

    /// The usual limit: three quarters of the memory that is free when this is called. On Linux that is `MemAvailable`
    /// of `/proc/meminfo`, or less if a control group of the process (version 1 or 2) leaves less. On other systems the
    /// limit is 8 GiB.
    #[must_use]
    pub fn usual() -> Self {
        Self::new(Some(ceiling::usual_limit_bytes()))
    }

    /// A limit for the whole process, in bytes. Columns that do not fit under it are mapped temporary files in
    /// `TMPDIR`, or else in `/var/tmp`. The pages of those files may exceed the limit; the system can reclaim them. A
    /// file that the disk has no room for is an error: 1 GiB of the disk, or a twentieth of a smaller one, stays free.
    #[must_use]
    pub fn limited(limit_bytes: u64) -> Self {
        Self::new(Some(limit_bytes))
    }

    fn new(limit_bytes: Option<u64>) -> Self {
        let folder = temporary_folder();
        let account = Account {
            limit_bytes,
            used_bytes: AtomicU64::new(0),
            spilled_bytes: AtomicU64::new(0),
            rooms: Mutex::default(),
            folder,
            regions: Mutex::new(Vec::new()),
            excess_bytes: AtomicU64::new(0),
            released_parts: AtomicU64::new(0),
            needed_bytes: AtomicU64::new(0),
        };
        let memory = Memory(Arc::new(account));
        if limit_bytes.is_some() {
            let watched = Arc::downgrade(&memory.0);
            // If the thread cannot start, the limit is kept less strictly.
            let _ = std::thread::Builder::new().name("pager".into()).spawn(move || keep_under(&watched));
        }
        memory
    }

    /// The limit in bytes; `None` if there is none.
    #[must_use]
    pub fn limit_bytes(&self) -> Option<u64> {
        self.0.limit_bytes
    }

    /// The reason for ending a question, if there is one: the process holds more than the limit, for columns, rows of an
    /// answer, decoded tables or anything else, or it mostly reads released pages again. Pages of mapped files do not
    /// count as held, because the system can reclaim them. Known on Linux only, after some milliseconds.
    #[must_use]
    pub fn excess(&self) -> Option<AnalyzerError> {
        let limit_bytes = self.0.limit_bytes?;
        // Relaxed: the numbers order no other memory.
        match (self.0.excess_bytes.load(Ordering::Relaxed), self.0.needed_bytes.load(Ordering::Relaxed)) {
            (0, 0) => None,
            (0, needed_bytes) => Some(AnalyzerError::MemoryCeiling { needed_bytes, limit_bytes }),
            (held_bytes, _) => Some(AnalyzerError::MemoryExceeded { held_bytes, needed_bytes: None, limit_bytes }),
        }
    }

    /// The bytes that the process holds besides mapped files. Known on Linux only.
    #[must_use]
    pub fn held_bytes() -> Option<u64> {
        Some(Resident::now().anonymous_bytes).filter(|&bytes| bytes > 0)
    }

    /// Forgets how many pages were released: another question begins.
    pub fn begin_question(&self) {
        self.0.released_parts.store(0, Ordering::Relaxed);
        self.0.needed_bytes.store(0, Ordering::Relaxed);
    }

    /// Waits until the process holds no more than the limit, for `longest` at most. Returns whether it does.
    #[must_use]
    pub fn settles(&self, longest: Duration) -> bool {
        let since = Instant::now();
        while self.excess().is_some() {
            if since.elapsed() > longest {
                return false;
            }
            std::thread::sleep(PAGER_INTERVALS[0]);
        }
        true
    }

    /// Makes later columns leave at least `bytes` free for columns that must be resident, until the result is dropped.
    /// Otherwise an early question could take the room that a later one needs.
    pub(crate) fn keep_room(&self, bytes: u64) -> KeptRoom {
        self.0.rooms.lock().push(bytes);
        KeptRoom { account: Arc::clone(&self.0), bytes }
    }

    /// The bytes that long-lived columns leave free: the largest need of a heap in use.
    pub(crate) fn room_bytes(&self) -> u64 {
        self.0.rooms.lock().iter().copied().max().unwrap_or(0)
    }

    /// A column of `length` zeros that may be paged out and may live long.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`] if neither memory nor a temporary file can be had.
    pub(crate) fn column<T: Pod>(&self, length: usize) -> Result<Column<T>> {
        self.with_room(length, self.room_bytes())
    }

    /// A column of `length` zeros that stays in memory. It is meant for random access.
    ///
    /// # Errors
    /// [`AnalyzerError::MemoryCeiling`]; [`AnalyzerError::Io`].
    pub(crate) fn resident<T: Pod>(&self, length: usize) -> Result<Column<T>> {
        let bytes = (length * size_of::<T>()) as u64;
        let limit_bytes = self.0.limit_bytes.unwrap_or(u64::MAX);
        if let Some(charge) = self.charge(bytes, OTHER_BYTES, limit_bytes) {
            return Column::anonymous(length, Some(charge));
        }
        Err(AnalyzerError::MemoryCeiling { needed_bytes: self.with_columns(bytes), limit_bytes })
    }

    /// Fails unless `bytes` of columns that must be resident fit beside the columns that there are. They stay free for
    /// them until the result is dropped.
    ///
    /// # Errors
    /// [`AnalyzerError::MemoryCeiling`].
    pub(crate) fn require_resident(&self, bytes: u64) -> Result<KeptRoom> {
        match (self.has_room(bytes), self.0.limit_bytes) {
            (false, Some(limit_bytes)) => {
                Err(AnalyzerError::MemoryCeiling { needed_bytes: self.with_columns(bytes), limit_bytes })
            }
            _ => Ok(self.keep_room(bytes)),
        }
    }

    /// The limit under which `bytes` fit beside the columns that there are. Those in files count, since they are in memory
    /// under a limit that has room for them.
    fn with_columns(&self, bytes: u64) -> u64 {
        let columns = [&self.0.used_bytes, &self.0.spilled_bytes].map(|bytes| bytes.load(Ordering::Relaxed));
        columns.into_iter().fold(bytes.saturating_add(OTHER_BYTES), u64::saturating_add)
    }

    /// Fails unless `bytes` fit under the limit.
    ///
    /// # Errors
    /// [`AnalyzerError::MemoryCeiling`].
    pub(crate) fn require(&self, bytes: u64) -> Result<()> {
        match self.0.limit_bytes {
            Some(limit_bytes) if limit_bytes < bytes + OTHER_BYTES => {
                Err(AnalyzerError::MemoryCeiling { needed_bytes: bytes + OTHER_BYTES, limit_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Fails unless `bytes` fit under the limit in addition to the memory that the process holds now.
    ///
    /// # Errors
    /// [`AnalyzerError::MemoryCeiling`].
    pub fn require_more(&self, bytes: u64) -> Result<()> {
        let Some(limit_bytes) = self.0.limit_bytes else { return Ok(()) };
        let needed_bytes = Resident::now().anonymous_bytes.saturating_add(bytes);
        if needed_bytes <= limit_bytes.max(OTHER_BYTES) {
            return Ok(());
        }
        // Under a higher limit columns are in memory that are files now, and an eighth of it may be strings.
        let needed_bytes = needed_bytes.saturating_add(self.0.spilled_bytes.load(Ordering::Relaxed));
        let needed_bytes = needed_bytes.saturating_add(needed_bytes / 7);
        Err(AnalyzerError::MemoryCeiling { needed_bytes, limit_bytes })
    }

    /// Returns whether `bytes` more fit under the limit now.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        let taken = self.0.used_bytes.load(Ordering::Relaxed) + OTHER_BYTES;
        self.0.limit_bytes.is_none_or(|limit_bytes| taken.saturating_add(bytes) <= limit_bytes)
    }

    /// A column that leaves `reserved_bytes` free for columns that must be resident later.
    ///
    /// # Errors
    /// As for [`Memory::column`].
    pub(crate) fn with_room<T: Pod>(&self, length: usize, reserved_bytes: u64) -> Result<Column<T>> {
        match self.charge((length * size_of::<T>()) as u64, reserved_bytes, self.ceiling_bytes()) {
            Some(charge) => Column::anonymous(length, Some(charge)),
            None => self.spilled(length),
        }
    }

    /// Copies a paged column into memory, if there is room.
    ///
    /// # Errors
    /// [`AnalyzerError::Allocation`].
    pub(crate) fn bring_in<T: Pod>(&self, column: Column<T>) -> Result<Column<T>> {
        if column.region.is_none() {
            return Ok(column);
        }
        let Some(charge) = self.charge(size_of_val(&column[..]) as u64, 0, self.ceiling_bytes()) else {
            return Ok(column);
        };
        let mut resident = Column::anonymous(column.len(), Some(charge))?;
        resident.copy_from_slice(&column);
        Ok(resident)
    }

    /// Moves a column to a temporary file if `needed_bytes`, which must be resident soon, would not fit next to it.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`].
    pub(crate) fn make_room<T: Pod>(&self, column: Column<T>, needed_bytes: u64) -> Result<Column<T>> {
        let used_bytes = self.0.used_bytes.load(Ordering::Relaxed);
        let needed_bytes = used_bytes.saturating_add(needed_bytes).saturating_add(OTHER_BYTES);
        if self.0.limit_bytes.is_none_or(|limit_bytes| needed_bytes <= limit_bytes) || column.charge.is_none() {
            return Ok(column);
        }
        let mut paged = self.spilled(column.len())?;
        paged.copy_from_slice(&column);
        Ok(paged)
    }

    /// A column of which only an initial part of unknown length will be used. Pages that are never touched cost nothing.
    ///
    /// # Errors
    /// As for [`Memory::column`].
    pub(crate) fn scratch<T: Pod>(&self, upper_bound: usize) -> Result<Scratch<T>> {
        Scratch::new(self, upper_bound)
    }

    /// The bytes that pageable columns may take. The rest of the limit is left for pages of mapped files that are being
    /// read. Under a small limit they get less, or nothing.
    fn ceiling_bytes(&self) -> u64 {
        self.0.limit_bytes.map_or(u64::MAX, |limit| (limit / 8 * 5).min(limit.saturating_sub(OTHER_BYTES)))
    }

    /// Charges `bytes` to the account, if these and `others` stay under a ceiling.
    fn charge(&self, bytes: u64, others: u64, ceiling_bytes: u64) -> Option<Charge> {
        let used = self.0.used_bytes.fetch_add(bytes, Ordering::Relaxed);
        let charge = Charge { account: Arc::clone(&self.0), bytes };
        // Dropping the charge gives the bytes back.
        (used.saturating_add(bytes).saturating_add(others) <= ceiling_bytes).then_some(charge)
    }

    fn spilled<T: Pod>(&self, length: usize) -> Result<Column<T>> {
        let bytes = (length * size_of::<T>()).max(1);
        let spill = Spill::new(&self.0.folder, bytes as u64)?;
        spill.allocate(0, bytes as u64)?;
        // SAFETY: no other process can open the file, because it has no name. It is as long as the mapping.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(&spill.file) }
            .map_err(AnalyzerError::io(&self.0.folder, "map a temporary file in"))?;
        let region = self.spilled_region(map.as_ptr() as usize, bytes);
        Ok(Column { length, region: Some(region), map, charge: None, values: PhantomData })
    }

    /// Lets the pager release the pages of a mapping until the result is dropped.
    fn region(&self, address: usize, bytes: usize) -> Region {
        self.0.regions.lock().push((address, bytes));
        Region { account: Arc::clone(&self.0), address, spilled_bytes: 0 }
    }

    /// The same for a column that is a file for want of room.
    fn spilled_region(&self, address: usize, bytes: usize) -> Region {
        self.0.spilled_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let mut region = self.region(address, bytes);
        region.spilled_bytes = bytes as u64;
        region
    }

    /// Lets the pager also release pages of `bytes`, if these are a mapped file. The result must be dropped before
    /// `bytes`.
    pub(crate) fn pages_of(&self, bytes: &Bytes) -> Option<Region> {
        let bytes = bytes.mapped()?;
        self.0.limit_bytes.map(|_| self.region(bytes.as_ptr() as usize, bytes.len()))
    }
}

/// The folder for temporary files.
pub(crate) fn temporary_folder() -> PathBuf {
    let disk = PathBuf::from("/var/tmp");
    // On many systems `/tmp` is in memory.
    match std::env::var_os("TMPDIR") {
        None if disk.is_dir() => disk,
        _ => std::env::temp_dir(),
    }
}

/// Bytes charged to an account until this is dropped.
#[derive(Debug)]
struct Charge {
    account: Arc<Account>,
    bytes: u64,
}

impl Charge {
    /// Adds another charge to the same account.
    fn join(&mut self, other: Charge) {
        self.bytes += std::mem::replace(&mut { other }.bytes, 0);
    }

    /// Gives back a part of the charged bytes.
    fn pay_back(&mut self, bytes: u64) {
        self.account.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.bytes -= bytes;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.used_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Room that later columns leave free until this is dropped.
#[derive(Debug)]
pub(crate) struct KeptRoom {
    account: Arc<Account>,
    bytes: u64,
}

impl Drop for KeptRoom {
    fn drop(&mut self) {
        let mut rooms = self.account.rooms.lock();
        if let Some(at) = rooms.iter().position(|&bytes| bytes == self.bytes) {
            rooms.swap_remove(at);
        }
    }
}

/// A mapping whose pages the pager may release until this is dropped.
#[derive(Debug)]
pub(crate) struct Region {
    account: Arc<Account>,
    address: usize,
    spilled_bytes: u64,
}

impl Drop for Region {
    fn drop(&mut self) {
        self.account.spilled_bytes.fetch_sub(self.spilled_bytes, Ordering::Relaxed);
        let mut regions = self.account.regions.lock();
        if let Some(at) = regions.iter().position(|&(address, _)| address == self.address) {
            regions.swap_remove(at);
        }
    }
}

/// An array of plain numbers.
#[derive(Debug)]
pub(crate) struct Column<T> {
    length: usize,
    /// Declared before the mapping, so that it is dropped first.
    region: Option<Region>,
    map: MmapMut,
    charge: Option<Charge>,
    values: PhantomData<T>,
}

impl<T: Pod> Column<T> {
    fn anonymous(length: usize, charge: Option<Charge>) -> Result<Self> {
        let bytes = (length * size_of::<T>()).max(1);
        let map = MmapOptions::new()
            .len(bytes)
            .no_reserve_swap()
            .map_anon()
            .map_err(|source| AnalyzerError::Allocation { bytes: bytes as u64, source })?;
        if bytes >= LARGE_PAGE_BYTES {
            // Only a hint: small pages are slower, but correct.
            prefer_large_pages(&map);
        }
        Ok(Column { length, region: None, map, charge, values: PhantomData })
    }
}

impl Column<[u32; 2]> {
    /// Keeps the second number of each pair and releases the memory of the first ones.
    pub(crate) fn into_seconds(mut self) -> Column<u32> {
        let length = self.length;
        // An empty column maps one byte, which is not a number.
        let numbers: &mut [u32] = bytemuck::cast_slice_mut(&mut self.map[..2 * length * size_of::<u32>()]);
        for at in 0..length {
            numbers[at] = numbers[2 * at + 1];
        }
        let Column { region, map, mut charge, .. } = self;
        let used = (length * size_of::<u32>()).next_multiple_of(LARGE_PAGE_BYTES);
        if used < map.len() {
            // SAFETY: the range is part of this mapping. The mapping starts at a page and `used` is a multiple of the
            // page size. The bytes after the numbers are never read again.
            unsafe { release_pages(map.as_ptr() as usize + used, map.len() - used) };
            if let Some(charge) = &mut charge {
                charge.pay_back(charge.bytes.saturating_sub(used as u64));
            }
        }
        Column { length, region, map, charge, values: PhantomData }
    }
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &bytemuck::cast_slice(whole::<T>(&self.map))[..self.length]
    }
}

impl<T: Pod> DerefMut for Column<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let whole = self.map.len() / size_of::<T>() * size_of::<T>();
        &mut bytemuck::cast_slice_mut(&mut self.map[..whole])[..self.length]
    }
}

/// The bytes that form whole values: an empty column maps one byte.
fn whole<T>(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() / size_of::<T>() * size_of::<T>()]
}

/// The pager thread. When mapped files hold more memory than the limit leaves them, it releases their pages, region by
/// region in turns, until a quarter of that memory is free: pages that stay need not be read again. When the rest of the
/// process holds more than the limit, it notes this in the account.
fn keep_under(account: &Weak<Account>) {
    let mut turn = 0;
    while let Some(account) = account.upgrade() {
        let limit = account.limit_bytes.unwrap_or(u64::MAX);
        // Charged bytes count before they are touched, because columns fill faster than pages are released.
        let taken = account.used_bytes.load(Ordering::Relaxed) + OTHER_BYTES;
        let most = limit.saturating_sub(taken).max(LEAST_MAPPED_BYTES);
        let resident = Resident::now();
        let room = most.saturating_sub(resident.mapped_bytes);
        if room == 0 {
            let regions = account.regions.lock();
            let pieces = regions.iter().flat_map(|&region| pieces_of(region));
            let count = pieces.clone().count();
            let (mut mapped_bytes, mut released_bytes) = (resident.mapped_bytes, 0);
            for (address, length) in pieces.cycle().skip(turn % count.max(1)).take(count) {
                // SAFETY: a region is removed from the list before it is unmapped, under the lock that is held here.
                // Regions are shared mappings of files, or private mappings that are never written.
                unsafe { release_pages(address, length) };
                turn += 1;
                let before = std::mem::replace(&mut mapped_bytes, Resident::now().mapped_bytes);
                released_bytes += before.saturating_sub(mapped_bytes);
                if mapped_bytes <= most / 4 * 3 {
                    break;
                }
            }
            let paged_bytes = regions.iter().map(|&(_, length)| length as u64).sum::<u64>();
            let parts = released_bytes.saturating_mul(PARTS) / paged_bytes.max(LEAST_PAGED_BYTES);
            let parts = account.released_parts.fetch_add(parts, Ordering::Relaxed) + parts;
            if parts / PARTS > MOST_READINGS {
                account.needed_bytes.store(taken + paged_bytes, Ordering::Relaxed);
            }
        }
        let excess = excess_bytes(resident, limit.max(OTHER_BYTES));
        account.excess_bytes.store(excess, Ordering::Relaxed);
        let room = room.min(limit.saturating_sub(resident.anonymous_bytes));
        drop(account);
        let [least, longest] = PAGER_INTERVALS;
        std::thread::sleep(Duration::from_millis(room / FILLED_BYTES_PER_MILLISECOND).clamp(least, longest));
    }
}

/// The bytes that the process holds besides mapped files if these are more than `limit_bytes`, otherwise 0.
fn excess_bytes(resident: Resident, limit_bytes: u64) -> u64 {
    match resident.anonymous_bytes {
        held_bytes if held_bytes <= limit_bytes => return 0,
        // Trimming freed memory takes milliseconds: too long if the excess is large.
        held_bytes if held_bytes > limit_bytes.saturating_add(limit_bytes / 8) => return held_bytes,
        _ => {}
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes no pointer, and any thread may call it at any time.
    unsafe {
        libc::malloc_trim(0)
    };
    let held = Resident::now().anonymous_bytes;
    if held > limit_bytes { held } else { 0 }
}

/// Maps a file over a part of a mapping, which stays one mapping for its owner.
///
/// # Safety
/// The range is part of a private anonymous mapping and begins at a page boundary. All its bytes are zeros. The file has
/// this length and consists of zeros, and no other process can change it.
#[cfg(target_os = "linux")]
unsafe fn map_over(address: usize, length: usize, spill: &Spill) -> Result<()> {
    use std::os::fd::AsRawFd;
    let start = std::ptr::with_exposed_provenance_mut(address);
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
    // SAFETY: as the caller says. The mapping that is replaced is the caller's own.
    let mapped = unsafe { libc::mmap(start, length, access, flags, spill.file.as_raw_fd(), 0) };
    if mapped == libc::MAP_FAILED {
        let source = std::io::Error::last_os_error();
        return Err(AnalyzerError::Allocation { bytes: length as u64, source });
    }
    Ok(())
}

/// Never called: on this system columns do not grow.
///
/// # Safety
/// None is needed.
#[cfg(not(target_os = "linux"))]
unsafe fn map_over(_: usize, _: usize, _: &Spill) -> Result<()> {
    unreachable!("columns grow on Linux only")
}

/// Splits a region into the pieces that the pager releases one at a time: address and length.
fn pieces_of((address, length): (usize, usize)) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..length).step_by(PAGER_BYTES).map(move |at| (address + at, PAGER_BYTES.min(length - at)))
}

/// The memory that the process holds; zeros on systems that do not report it.
#[derive(Debug, Clone, Copy, Default)]
struct Resident {
    /// Pages of mapped files.
    mapped_bytes: u64,
    /// All other pages.
    anonymous_bytes: u64,
}

impl Resident {
    fn now() -> Self {
        let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mut resident = Resident::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let bytes = match name {
                // Resident pages of temporary files count as shared memory.
                "RssFile" | "RssShmem" => &mut resident.mapped_bytes,
                "RssAnon" => &mut resident.anonymous_bytes,
                _ => continue,
            };
            let kibibytes = value.trim().strip_suffix("kB").and_then(|value| value.trim().parse::<u64>().ok());
            *bytes += kibibytes.unwrap_or(0) << 10;
        }
        resident
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_kept_for_the_heaps_in_use() {
        let memory = Memory::limited(1 << 30);
        let (large, small) = (memory.keep_room(100), memory.clone().keep_room(50));
        assert_eq!(memory.room_bytes(), 100);
        drop(large);
        assert_eq!(memory.room_bytes(), 50);
        drop(small);
        assert_eq!(memory.room_bytes(), 0);
    }

    #[test]
    fn all_clones_charge_one_account() {
        let memory = Memory::limited(OTHER_BYTES + (10 << 20));
        let other = memory.clone();
        let column: Column<u8> = memory.resident(6 << 20).unwrap();
        assert!(matches!(other.resident::<u8>(6 << 20), Err(AnalyzerError::MemoryCeiling { .. })));
        assert!(!other.has_room(6 << 20));
        drop(column);
        assert_eq!(other.resident::<u8>(6 << 20).unwrap().len(), 6 << 20);
        assert_eq!(memory.0.used_bytes.load(Ordering::Relaxed), 0);
    }
}
