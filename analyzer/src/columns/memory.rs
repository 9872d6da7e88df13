//! Memory for columns: anonymous while it lasts, mapped temporary files when a ceiling is set.
//!
//! ```text
//!   Memory ── limit, used ──┬─ Column   anonymous pages          under the limit, or without one
//!                           └─ Column   an unlinked file, mapped  over it: the system pages it
//!                                 ▲
//!   pager thread ── every few milliseconds: do mapped files hold more than is left? then give back
//!                   some of their pages; what is needed again comes back from the page cache
//! ```
//!
//! A column is an array of plain numbers, zero at first. Large ones ask for 2 MiB pages: most of the
//! time of a graph algorithm is spent waiting for memory, and much of that for page tables.

#![expect(unsafe_code, reason = "mapping a file is unsafe, and so is giving back its pages")]

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};

use crate::error::{AnalyzerError, Result};
use crate::file::bytes::{Bytes, give_back, prefer_large_pages};

/// Columns from this length on ask for large pages.
const LARGE_PAGE_BYTES: usize = 2 << 20;
/// What a limit leaves for everything that is no column: decoders, tables, stacks, the program.
const OTHER_BYTES: u64 = 48 << 20;
/// How often the pager looks. Pages come back at gigabytes a second.
const PAGER_INTERVAL: Duration = Duration::from_millis(2);
/// Pages of mapped files that the pager leaves alone, however low the limit is.
const LEAST_MAPPED_BYTES: u64 = 16 << 20;
/// What the pager gives back before it looks again.
const PAGER_BYTES: usize = 8 << 20;

/// How much memory columns may take, and where they go beyond it. Clones share one account.
#[derive(Debug, Clone)]
pub struct Memory(Arc<Account>);

#[derive(Debug)]
struct Account {
    limit_bytes: Option<u64>,
    used_bytes: AtomicU64,
    /// What columns that stay leave free, for those that must be resident.
    room_bytes: AtomicU64,
    folder: PathBuf,
    /// Mapped files whose pages can be given back: address and length.
    regions: Mutex<Vec<(usize, usize)>>,
}

impl Default for Memory {
    fn default() -> Self {
        Self::unlimited()
    }
}

impl Memory {
    /// As much as there is.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(None)
    }

    /// A ceiling for the whole process, in bytes. Columns that do not fit under it are mapped
    /// temporary files in `TMPDIR`, or else in `/var/tmp`; their pages may exceed it, and the system may take them.
    #[must_use]
    pub fn limited(limit_bytes: u64) -> Self {
        Self::new(Some(limit_bytes))
    }

    fn new(limit_bytes: Option<u64>) -> Self {
        let folder = temporary_folder();
        let account = Account {
            limit_bytes,
            used_bytes: AtomicU64::new(0),
            room_bytes: AtomicU64::new(0),
            folder,
            regions: Mutex::new(Vec::new()),
        };
        let memory = Memory(Arc::new(account));
        if limit_bytes.is_some() {
            let watched = Arc::downgrade(&memory.0);
            // Without the thread the limit is kept less closely.
            let _ = std::thread::Builder::new().name("pager".into()).spawn(move || keep_under(&watched));
        }
        memory
    }

    /// The ceiling, if there is one.
    pub(crate) fn limit_bytes(&self) -> Option<u64> {
        self.0.limit_bytes
    }

    /// From now on columns leave at least so many bytes free, as something will need them resident: what is
    /// asked first must not take the room of what is asked later.
    pub(crate) fn keep_room(&self, bytes: u64) {
        self.0.room_bytes.fetch_max(bytes, Ordering::Relaxed);
    }

    /// How many bytes columns that stay leave free.
    pub(crate) fn room_bytes(&self) -> u64 {
        self.0.room_bytes.load(Ordering::Relaxed)
    }

    /// A column of `length` zeros, which may be paged, and may stay.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`] if neither memory nor a temporary file can be had.
    pub(crate) fn column<T: Pod>(&self, length: usize) -> Result<Column<T>> {
        self.with_room(length, self.room_bytes())
    }

    /// A column of `length` zeros, for which memory is there: it is read and written in no order.
    ///
    /// # Errors
    /// [`AnalyzerError::MemoryCeiling`]; [`AnalyzerError::Io`].
    pub(crate) fn resident<T: Pod>(&self, length: usize) -> Result<Column<T>> {
        let bytes = (length * size_of::<T>()) as u64;
        let limit_bytes = self.0.limit_bytes.unwrap_or(u64::MAX);
        if let Some(charge) = self.charge(bytes, OTHER_BYTES, limit_bytes) {
            return Column::anonymous(length, Some(charge));
        }
        let needed_bytes = self.0.used_bytes.load(Ordering::Relaxed) + bytes + OTHER_BYTES;
        Err(AnalyzerError::MemoryCeiling { needed_bytes, limit_bytes })
    }

    /// Fails unless `bytes` can be resident.
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

    /// Whether so many bytes more stay under the limit.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        let taken = self.0.used_bytes.load(Ordering::Relaxed) + OTHER_BYTES;
        self.0.limit_bytes.is_none_or(|limit_bytes| taken.saturating_add(bytes) <= limit_bytes)
    }

    /// A column that leaves room for `reserved_bytes` that are to be resident later.
    ///
    /// # Errors
    /// As for [`Memory::column`].
    pub(crate) fn with_room<T: Pod>(&self, length: usize, reserved_bytes: u64) -> Result<Column<T>> {
        match self.charge((length * size_of::<T>()) as u64, reserved_bytes, self.ceiling_bytes()) {
            Some(charge) => Column::anonymous(length, Some(charge)),
            None => self.spilled(length),
        }
    }

    /// Takes a column that may be paged into memory, if there is room.
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

    /// Lets a column be paged if `needed_bytes`, which must be resident soon, would not fit beside it.
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

    /// A column of which only the beginning will be used, nobody knows how much of it: pages that
    /// are never touched cost nothing.
    ///
    /// # Errors
    /// As for [`Memory::column`].
    pub(crate) fn scratch<T: Pod>(&self, upper_bound: usize) -> Result<Column<T>> {
        if self.0.limit_bytes.is_some() { self.spilled(upper_bound) } else { Column::anonymous(upper_bound, None) }
    }

    /// How much columns may take that need not be resident: the rest of a limit is for pages of mapped files on their
    /// way. Of a small one not even that is left.
    fn ceiling_bytes(&self) -> u64 {
        let ceiling = |limit: u64| (limit / 8 * 5).min(limit.saturating_sub(OTHER_BYTES));
        self.0.limit_bytes.map_or(u64::MAX, ceiling)
    }

    /// Charges `bytes`, if with `others` they stay under a ceiling.
    fn charge(&self, bytes: u64, others: u64, ceiling_bytes: u64) -> Option<Charge> {
        let used = self.0.used_bytes.fetch_add(bytes, Ordering::Relaxed);
        let charge = Charge { account: Arc::clone(&self.0), bytes };
        // A charge that is dropped is paid back.
        (used.saturating_add(bytes).saturating_add(others) <= ceiling_bytes).then_some(charge)
    }

    fn spilled<T: Pod>(&self, length: usize) -> Result<Column<T>> {
        let folder = &self.0.folder;
        let at = |action| AnalyzerError::io(folder, action);
        let file = tempfile::tempfile_in(folder).map_err(at("make a temporary file in"))?;
        let bytes = (length * size_of::<T>()).max(1);
        file.set_len(bytes as u64).map_err(at("make a temporary file in"))?;
        // SAFETY: nobody else knows the file: it has no name any more. It is as long as the mapping.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(&file) }.map_err(at("map a temporary file in"))?;
        let region = Region { account: Arc::clone(&self.0), address: map.as_ptr() as usize };
        lock(&self.0.regions).push((region.address, bytes));
        Ok(Column { length, region: Some(region), map, charge: None, values: PhantomData })
    }

    /// Lets the pager give back pages of `bytes` too, if they are those of a mapped file. The result must
    /// be dropped before they are.
    pub(crate) fn pages_of(&self, bytes: &Bytes) -> Option<Region> {
        let bytes = bytes.mapped()?;
        self.0.limit_bytes.map(|_| {
            let region = Region { account: Arc::clone(&self.0), address: bytes.as_ptr() as usize };
            lock(&self.0.regions).push((region.address, bytes.len()));
            region
        })
    }
}

/// Where temporary files go.
pub(crate) fn temporary_folder() -> PathBuf {
    let disk = PathBuf::from("/var/tmp");
    // `/tmp` is memory on many systems.
    match std::env::var_os("TMPDIR") {
        None if disk.is_dir() => disk,
        _ => std::env::temp_dir(),
    }
}

/// Bytes of an account that are in use until this is dropped.
#[derive(Debug)]
struct Charge {
    account: Arc<Account>,
    bytes: u64,
}

impl Charge {
    /// A part of the bytes is not in use any more.
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

/// A mapping whose pages the pager may give back until this is dropped.
#[derive(Debug)]
pub(crate) struct Region {
    account: Arc<Account>,
    address: usize,
}

impl Drop for Region {
    fn drop(&mut self) {
        let mut regions = lock(&self.account.regions);
        if let Some(at) = regions.iter().position(|&(address, _)| address == self.address) {
            regions.swap_remove(at);
        }
    }
}

/// An array of plain numbers.
#[derive(Debug)]
pub(crate) struct Column<T> {
    length: usize,
    /// Before the mapping, so that it is dropped first.
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
            prefer_large_pages(&map);
        }
        Ok(Column { length, region: None, map, charge, values: PhantomData })
    }
}

impl Column<[u32; 2]> {
    /// The second numbers alone; the memory of the first ones is given back.
    pub(crate) fn into_seconds(mut self) -> Column<u32> {
        let length = self.length;
        // An empty column maps a byte, which is no number.
        let numbers: &mut [u32] = bytemuck::cast_slice_mut(&mut self.map[..2 * length * size_of::<u32>()]);
        for at in 0..length {
            numbers[at] = numbers[2 * at + 1];
        }
        let Column { region, map, mut charge, .. } = self;
        let used = (length * size_of::<u32>()).next_multiple_of(LARGE_PAGE_BYTES);
        if used < map.len() {
            // SAFETY: the range is a part of this mapping, on a multiple of the size of a page, which begins at one;
            // what is behind the numbers is never looked at again.
            unsafe { give_back(map.as_ptr() as usize + used, map.len() - used) };
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

/// The bytes that are whole values: an empty column maps a byte.
fn whole<T>(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() / size_of::<T>() * size_of::<T>()]
}

/// Gives back pages of mapped files whenever they are more than columns in memory leave room for: a quarter of them, in
/// turns, since pages that stay need not come back.
fn keep_under(account: &Weak<Account>) {
    let mut turn = 0;
    while let Some(account) = account.upgrade() {
        let limit = account.limit_bytes.unwrap_or(u64::MAX);
        // What was promised counts before it is used: it comes faster than pages go.
        let taken = account.used_bytes.load(Ordering::Relaxed) + OTHER_BYTES;
        let most = limit.saturating_sub(taken).max(LEAST_MAPPED_BYTES);
        let are_more_than = |bytes: u64| mapped_bytes().is_some_and(|mapped| mapped > bytes);
        if are_more_than(most) {
            let regions = lock(&account.regions);
            let parts = || regions.iter().flat_map(|&region| parts_of(region));
            let count = parts().count();
            for (address, length) in parts().cycle().skip(turn % count.max(1)).take(count) {
                // SAFETY: regions are taken off the list before they are unmapped, under the lock that is held here.
                // They are shared mappings of files, or private ones that nobody writes to.
                unsafe { give_back(address, length) };
                turn += 1;
                if !are_more_than(most / 4 * 3) {
                    break;
                }
            }
        }
        drop(account);
        std::thread::sleep(PAGER_INTERVAL);
    }
}

/// The parts of a region that the pager gives back at a time: address and length.
fn parts_of((address, length): (usize, usize)) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..length).step_by(PAGER_BYTES).map(move |at| (address + at, PAGER_BYTES.min(length - at)))
}

/// What the process holds in memory of mapped files; `None` where nobody says.
fn mapped_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes = |name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    // Files in memory count as shared memory.
    Some((kibibytes("RssFile:")? + kibibytes("RssShmem:")?) << 10)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
