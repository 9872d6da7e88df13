//! Who allocated what: four bytes a block, noted by a hook in front of the interpreter's allocator.
//!
//! A code object gets a range of numbers when it first allocates; the site of a block is the first of them plus the
//! number of the instruction that runs. Function, file and line are found out when a snapshot has an object of that site.

pub(crate) mod blocks;
pub(crate) mod lines;

use std::ffi::{c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use barrow_writer::{Result, SiteDescription, SiteId, Writer};
use foldhash::HashMap;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::interpreter::{layout, needed, symbol};
use crate::layout::{Frames, Instructions, Layout};
use crate::object::{Object, Stopped};
use blocks::Blocks;
use lines::{Location, locate};

/// `PYMEM_DOMAIN_OBJ`.
const OBJECTS: c_int = 2;
const HEAD_LENGTH: usize = 16;
const BYTES_DATA: usize = 32;
/// In a thread's state: its interpreter.
const INTERPRETER: usize = 16;
/// Slots of the cache of code objects: a power of two.
const CODES: usize = 1 << 13;

/// `PyMemAllocatorEx`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Allocator {
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

type Function = *mut c_void;
type ThisThread = unsafe extern "C" fn() -> *const u8;
type GetSetAllocator = unsafe extern "C" fn(c_int, *mut Allocator);
type SetExtra = unsafe extern "C" fn(*mut c_void, isize, *mut c_void) -> c_int;
type RequestExtra = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void)) -> isize;

/// A code object that allocated: it may be gone by now.
struct Unit {
    code: u64,
    first_site: u32,
    name: String,
    file: String,
    first_line: u32,
    table: Box<[u8]>,
}

/// Everything that is known of sites. Used by whoever has the global lock only.
struct Sites {
    below: Allocator,
    this_thread: ThisThread,
    set_extra: SetExtra,
    extra: isize,
    interpreter: u64,
    layout: &'static Layout,
    blocks: Blocks,
    units: Vec<Unit>,
    by_code: HashMap<u64, usize>,
    /// Code objects met lately, with their first sites.
    recent: Box<[(u64, u32)]>,
    next_site: u32,
}

/// Made once, and never freed: the interpreter has its address.
static SITES: AtomicPtr<Sites> = AtomicPtr::new(null_mut());

/// What the sites of one recording are declared as.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    by_site: HashMap<u32, SiteId>,
    by_place: HashMap<(usize, Location), SiteId>,
}

/// Begins to note who allocates.
///
/// # Errors
/// The interpreter's allocator is not its own (`PYTHONMALLOC=malloc`, say).
pub(crate) fn begin(py: Python<'_>) -> PyResult<()> {
    check_pools(py)?;
    let mut sites = SITES.load(Ordering::Relaxed);
    if sites.is_null() {
        sites = Box::into_raw(Box::new(Sites::find()?));
        SITES.store(sites, Ordering::Relaxed);
    }
    // SAFETY: `py` has the global lock, so nothing else uses them, and no hook is there.
    unsafe {
        // What was allocated in between is not known.
        (*sites).blocks = Blocks::new(layout().arena_bits, layout().pool_bits);
        (*sites).below = allocator()?;
        set_allocator(Allocator { context: sites.cast(), malloc, calloc, realloc, free })
    }
}

/// Notes nothing any more, unless another hook was put in front meanwhile: then all goes on.
pub(crate) fn end(_py: Python<'_>) {
    let sites = SITES.load(Ordering::Relaxed);
    // SAFETY: `py` has the global lock, so nothing else uses them.
    unsafe {
        if !sites.is_null() && allocator().is_ok_and(|current| current.context == sites.cast()) {
            // The function was there when the hook was put in place.
            let _ = set_allocator((*sites).below);
        }
    }
}

/// Whether blocks lie in pools as they do in the interpreter's own allocator.
fn check_pools(py: Python<'_>) -> PyResult<()> {
    let made = py.eval(c"[object() for _ in range(64)]", None, None)?;
    let head = (1_u64 << layout().pool_bits) - 1;
    let objects =
        made.try_iter()?.map(|object| object.map(|object| object.as_ptr() as u64)).collect::<PyResult<Vec<_>>>()?;
    if objects.iter().all(|address| (address & head) >= 48 && address.is_multiple_of(16))
        && objects.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 16).count() > objects.len() / 4
    {
        return Ok(());
    }
    Err(PyRuntimeError::new_err("allocation sites need the interpreter's own allocator (PYTHONMALLOC says another)"))
}

/// # Safety
/// The caller has the global lock.
unsafe fn allocator() -> PyResult<Allocator> {
    let mut current = std::mem::MaybeUninit::uninit();
    // SAFETY: the function has this type in every version, and fills what it is given.
    unsafe {
        std::mem::transmute::<Function, GetSetAllocator>(needed(c"PyMem_GetAllocator")?)(OBJECTS, current.as_mut_ptr());
        Ok(current.assume_init())
    }
}

/// # Safety
/// The caller has the global lock, and the functions do what their names say.
unsafe fn set_allocator(mut new: Allocator) -> PyResult<()> {
    // SAFETY: the function has this type in every version, and copies what it is given.
    unsafe {
        std::mem::transmute::<Function, GetSetAllocator>(needed(c"PyMem_SetAllocator")?)(OBJECTS, &raw mut new);
    }
    Ok(())
}

/// The site of the block at an address, as a recording has it. `stopped` says that nothing else runs.
///
/// # Errors
/// That of the writer.
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
    // SAFETY: the program stands still, so nothing changes them.
    let sites = unsafe { &*sites };
    match sites.blocks.get(address) {
        0 => Ok(None),
        site => sites.declare(writer, declared, site).map(Some),
    }
}

impl Sites {
    fn find() -> PyResult<Self> {
        let either = |new, old| symbol(new).map_or_else(|| needed(old), Ok);
        let this_thread = either(c"PyThreadState_GetUnchecked", c"_PyThreadState_UncheckedGet")?;
        let set_extra = either(c"PyUnstable_Code_SetExtra", c"_PyCode_SetExtra")?;
        let request = either(c"PyUnstable_Eval_RequestCodeExtraIndex", c"_PyEval_RequestCodeExtraIndex")?;
        // SAFETY: the functions have these types in every version; the caller has the global lock.
        unsafe {
            let extra = std::mem::transmute::<Function, RequestExtra>(request)(code_freed);
            if extra < 0 {
                return Err(PyRuntimeError::new_err("the interpreter has no room for what allocation sites need"));
            }
            Ok(Sites {
                below: allocator()?,
                this_thread: std::mem::transmute::<Function, ThisThread>(this_thread),
                set_extra: std::mem::transmute::<Function, SetExtra>(set_extra),
                extra,
                interpreter: ffi::PyInterpreterState_Get() as u64,
                layout: layout(),
                blocks: Blocks::new(layout().arena_bits, layout().pool_bits),
                units: Vec::new(),
                by_code: HashMap::default(),
                recent: vec![(0, 0); CODES].into(),
                next_site: 1,
            })
        }
    }

    /// The site of whatever runs in this thread; 0 if that is no Python code.
    ///
    /// # Safety
    /// The caller has the global lock.
    #[inline]
    unsafe fn current(&mut self) -> u32 {
        // SAFETY: threads, frames and code are laid out as the version's layout says; with the lock held they stay.
        unsafe {
            let thread = (self.this_thread)();
            // Another interpreter may have a lock of its own.
            if thread.is_null() || word(thread, INTERPRETER) != self.interpreter {
                return 0;
            }
            let mut frame = match self.layout.frames {
                Frames::Objects(offset) | Frames::Records(offset) => word(thread, offset),
                Frames::RecordsBehind(offset, behind) => word(word(thread, offset) as *const u8, behind),
            } as *const u8;
            if let Some((offset, from_c)) = self.layout.frame.owner {
                while !frame.is_null() && frame.add(offset).read() == from_c {
                    frame = word(frame, self.layout.frame.previous) as *const u8;
                }
            }
            if frame.is_null() {
                return 0;
            }
            let code = word(frame, self.layout.frame.code);
            if code == 0 {
                return 0;
            }
            let recent = ((code >> 4) ^ (code >> 17)) as usize % CODES;
            if self.recent[recent].0 != code {
                self.recent[recent] = (code, self.first_site(code));
            }
            match self.recent[recent].1 {
                0 => 0,
                first => first + instruction(self.layout, frame, code),
            }
        }
    }

    /// The first site of a code object; 0 if it cannot have any.
    ///
    /// # Safety
    /// At `code` lies a live code object; the caller has the global lock.
    #[cold]
    unsafe fn first_site(&mut self, code: u64) -> u32 {
        if let Some(&unit) = self.by_code.get(&code) {
            return self.units[unit].first_site;
        }
        let number = self.units.len();
        // SAFETY: as the caller says.
        unsafe {
            let mark = without_provenance_mut(number + 1);
            let Some(unit) = Unit::read(code, self.next_site) else { return 0 };
            let Some(next_site) = self.next_site.checked_add(unit.1) else { return 0 };
            if (self.set_extra)(code as *mut c_void, self.extra, mark) != 0 {
                ffi::PyErr_Clear();
                return 0;
            }
            self.next_site = next_site;
            self.units.push(unit.0);
        }
        self.by_code.insert(code, number);
        self.units[number].first_site
    }

    fn declare(&self, writer: &Writer, declared: &mut Declared, site: u32) -> Result<SiteId> {
        if let Some(&known) = declared.by_site.get(&site) {
            return Ok(known);
        }
        let number = self.units.partition_point(|unit| unit.first_site <= site) - 1;
        let unit = &self.units[number];
        let location = locate(layout().code.line_format, &unit.table, unit.first_line, site - unit.first_site);
        let id = match declared.by_place.get(&(number, location)) {
            Some(&known) => known,
            None => writer.site(&SiteDescription {
                function: Some(&unit.name),
                file: Some(&unit.file),
                line: location.line,
                column: location.column,
                ..SiteDescription::default()
            })?,
        };
        declared.by_place.insert((number, location), id);
        declared.by_site.insert(site, id);
        Ok(id)
    }
}

impl Unit {
    /// Reads a code object. Returns how many instructions it has, too.
    ///
    /// # Safety
    /// At `code` lies a live code object; the caller has the global lock.
    unsafe fn read(code: u64, first_site: u32) -> Option<(Self, u32)> {
        // SAFETY: what is read here is what code objects have; nothing is freed meanwhile.
        unsafe {
            let stopped = Stopped::new();
            let object = stopped.object(code);
            let text = |part: Option<Object<'_>>| part.map(Object::text).unwrap_or_default();
            let unit = Unit {
                code,
                first_site,
                name: text(object.code_name()),
                file: text(object.code_file()),
                first_line: object.code_first_line().unwrap_or(0),
                table: bytes(word(code as *const u8, layout().code.line_table)).into(),
            };
            let instructions = match layout().code.instructions {
                Instructions::Inside(_) => word(code as *const u8, HEAD_LENGTH),
                Instructions::Bytes(offset) => bytes(word(code as *const u8, offset)).len() as u64 / 2,
            };
            // One more, so that each has at least one.
            Some((unit, u32::try_from(instructions + 1).ok()?))
        }
    }
}

/// The number of the instruction at which a frame is.
///
/// # Safety
/// A live frame, and the code that it runs.
#[inline]
unsafe fn instruction(layout: &Layout, frame: *const u8, code: u64) -> u32 {
    // SAFETY: as the caller says.
    let found = unsafe {
        match layout.code.instructions {
            Instructions::Inside(offset) => {
                let begin = code + offset as u64;
                word(frame, layout.frame.instruction).wrapping_sub(begin).cast_signed() / 2
            }
            Instructions::Bytes(_) => {
                let offset = frame.add(layout.frame.instruction).cast::<c_int>().read();
                i64::from(offset) / layout.frame.instruction_unit
            }
        }
    };
    // Before the first one, it is less than 0.
    u32::try_from(found).unwrap_or(0)
}

/// # Safety
/// At `pointer + offset` lies a word.
unsafe fn word(pointer: *const u8, offset: usize) -> u64 {
    // SAFETY: as the caller says.
    unsafe { pointer.add(offset).cast::<u64>().read() }
}

/// The contents of a bytes object.
///
/// # Safety
/// At `address` lies a live bytes object that lives on as long as the result is used, or it is 0.
unsafe fn bytes<'b>(address: u64) -> &'b [u8] {
    if address == 0 {
        return &[];
    }
    // SAFETY: as the caller says: its length, and so many bytes.
    unsafe {
        let object = address as *const u8;
        let length = usize::try_from(word(object, HEAD_LENGTH)).unwrap_or(0);
        std::slice::from_raw_parts(object.add(BYTES_DATA), length)
    }
}

/// Called when a code object is freed: another may come to lie where it was.
unsafe extern "C" fn code_freed(mark: *mut c_void) {
    let sites = SITES.load(Ordering::Relaxed);
    let Some(unit) = mark.addr().checked_sub(1) else { return };
    if sites.is_null() {
        return;
    }
    // SAFETY: objects are freed with the global lock held, so nothing else uses them.
    let sites = unsafe { &mut *sites };
    let Some(code) = sites.units.get(unit).map(|unit| unit.code) else { return };
    sites.by_code.remove(&code);
    for recent in &mut sites.recent {
        if recent.0 == code {
            *recent = (0, 0);
        }
    }
}

// The hooks. The interpreter calls them with the global lock held, and with what it was given as the context.

unsafe extern "C" fn malloc(context: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *context.cast::<Sites>();
        let block = (sites.below.malloc)(sites.below.context, bytes);
        note(sites, block, bytes);
        block
    }
}

unsafe extern "C" fn calloc(context: *mut c_void, count: usize, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *context.cast::<Sites>();
        let block = (sites.below.calloc)(sites.below.context, count, bytes);
        note(sites, block, count.saturating_mul(bytes));
        block
    }
}

unsafe extern "C" fn realloc(context: *mut c_void, old: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *context.cast::<Sites>();
        let block = (sites.below.realloc)(sites.below.context, old, bytes);
        // Where it stays it keeps its site.
        if block != old && !block.is_null() {
            sites.blocks.remove(old as u64);
            note(sites, block, bytes);
        }
        block
    }
}

unsafe extern "C" fn free(context: *mut c_void, block: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *context.cast::<Sites>();
        sites.blocks.remove(block as u64);
        (sites.below.free)(sites.below.context, block);
    }
}

/// # Safety
/// The caller has the global lock.
#[inline]
unsafe fn note(sites: &mut Sites, block: *mut c_void, bytes: usize) {
    if !block.is_null() {
        // SAFETY: as the caller says.
        let site = unsafe { sites.current() };
        sites.blocks.set(block as u64, bytes, site);
    }
}
