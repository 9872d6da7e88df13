//! Code objects that allocated, and the numbers of their instructions.

use std::ffi::{c_int, c_void};
use std::ptr::without_provenance_mut;
use std::sync::atomic::Ordering;

use foldhash::HashMap;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::blocks::MOST_SITES;
use super::{Function, SITES, word};
use crate::interpreter::{layout, needed, symbol};
use crate::layout::{Instructions, Layout};
use crate::object::{Object, Stopped, without_tags};

const LENGTH: usize = 16;
const BYTES: usize = 32;
/// Code objects that are found without a search: a power of two.
const RECENT: usize = 1 << 13;

type SetExtra = unsafe extern "C" fn(*mut c_void, isize, *mut c_void) -> c_int;
type RequestExtra = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void)) -> isize;

/// A code object that allocated. It may be gone by now.
pub(super) struct Unit {
    address: u64,
    /// The number of its first instruction.
    pub(super) first_site: u32,
    pub(super) name: String,
    pub(super) file: String,
    pub(super) first_line: u32,
    pub(super) table: Box<[u8]>,
}

/// All of them.
pub(super) struct Units {
    set_extra: SetExtra,
    extra: isize,
    units: Vec<Unit>,
    by_address: HashMap<u64, usize>,
    /// The code object met last, with its first site, and others met lately.
    last: (u64, u32),
    recent: Box<[(u64, u32)]>,
    next_site: u32,
}

impl Units {
    /// Asks the interpreter to tell when code objects are freed.
    pub(super) fn find() -> PyResult<Self> {
        let set_extra = symbol(c"PyUnstable_Code_SetExtra").map_or_else(|| needed(c"_PyCode_SetExtra"), Ok)?;
        let request = symbol(c"PyUnstable_Eval_RequestCodeExtraIndex")
            .map_or_else(|| needed(c"_PyEval_RequestCodeExtraIndex"), Ok)?;
        // SAFETY: the functions have these types in every version; the caller has the global lock.
        let (set_extra, extra) = unsafe {
            let extra = std::mem::transmute::<Function, RequestExtra>(request)(freed);
            (std::mem::transmute::<Function, SetExtra>(set_extra), extra)
        };
        if extra < 0 {
            return Err(PyRuntimeError::new_err("the interpreter has no room for what allocation sites need"));
        }
        Ok(Units {
            set_extra,
            extra,
            units: Vec::new(),
            by_address: HashMap::default(),
            last: (0, 0),
            recent: vec![(0, 0); RECENT].into(),
            next_site: 1,
        })
    }

    /// The number of the instruction at which a frame is; 0 if it runs no code.
    ///
    /// # Safety
    /// A live frame; the caller has the global lock.
    #[inline(always)]
    pub(super) unsafe fn site(&mut self, layout: &Layout, frame: *const u8) -> u32 {
        // SAFETY: frames are laid out as the version's layout says.
        unsafe {
            let code = without_tags(word(frame, layout.frame.code));
            if code == 0 {
                return 0;
            }
            if self.last.0 != code {
                let recent = ((code >> 4) ^ (code >> 17)) as usize % RECENT;
                if self.recent[recent].0 != code {
                    self.recent[recent] = (code, self.first_site(code));
                }
                self.last = self.recent[recent];
            }
            match self.last.1 {
                0 => 0,
                first => first + instruction(layout, frame, code),
            }
        }
    }

    /// The code object that has a site, with its number.
    pub(super) fn of(&self, site: u32) -> (usize, &Unit) {
        let number = self.units.partition_point(|unit| unit.first_site <= site) - 1;
        (number, &self.units[number])
    }

    /// The first site of a code object; 0 if it cannot have any.
    ///
    /// # Safety
    /// At `code` lies a live code object; the caller has the global lock.
    #[cold]
    unsafe fn first_site(&mut self, code: u64) -> u32 {
        if let Some(&unit) = self.by_address.get(&code) {
            return self.units[unit].first_site;
        }
        let number = self.units.len();
        // SAFETY: as the caller says.
        unsafe {
            let Some((unit, sites)) = Unit::read(code, self.next_site) else { return 0 };
            let next_site = self.next_site.checked_add(sites).filter(|&next| next <= MOST_SITES);
            let Some(next_site) = next_site else { return 0 };
            let mark = without_provenance_mut(number + 1);
            // Memory of an object that is never freed may be read-only.
            let is_freed_some_time = Stopped::new().object(code).reference_count().is_some();
            if is_freed_some_time && (self.set_extra)(code as *mut c_void, self.extra, mark) != 0 {
                ffi::PyErr_Clear();
                return 0;
            }
            self.next_site = next_site;
            self.units.push(unit);
        }
        self.by_address.insert(code, number);
        self.units[number].first_site
    }

    fn forget(&mut self, unit: usize) {
        let Some(address) = self.units.get(unit).map(|unit| unit.address) else { return };
        self.by_address.remove(&address);
        if self.last.0 == address {
            self.last = (0, 0);
        }
        for recent in &mut self.recent {
            if recent.0 == address {
                *recent = (0, 0);
            }
        }
    }
}

impl Unit {
    /// Reads a code object. Returns how many sites it has, too.
    ///
    /// # Safety
    /// At `code` lies a live code object; the caller has the global lock.
    unsafe fn read(code: u64, first_site: u32) -> Option<(Self, u32)> {
        // SAFETY: what is read here is what code objects have; nothing is freed meanwhile.
        unsafe {
            let stopped = Stopped::new();
            let object = stopped.object(code);
            if object.is_code_of_interpreter() {
                return None;
            }
            let unit = Unit {
                address: code,
                first_site,
                name: object.code_name().map(Object::text).unwrap_or_default(),
                file: object.code_file().map(Object::text).unwrap_or_default(),
                first_line: object.code_first_line().unwrap_or(0),
                table: bytes(word(code as *const u8, layout().code.line_table)).into(),
            };
            let instructions = match layout().code.instructions {
                Instructions::Inside(_) => word(code as *const u8, LENGTH),
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
                word(frame, layout.frame.instruction).wrapping_sub(code + offset as u64).cast_signed() / 2
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

/// The contents of a bytes object.
///
/// # Safety
/// At `address` lies a live bytes object that lives on as long as the result is used, or it is 0.
unsafe fn bytes<'b>(address: u64) -> &'b [u8] {
    if address == 0 {
        return &[];
    }
    // SAFETY: by the caller, the length is followed by that many bytes.
    unsafe {
        let object = address as *const u8;
        let length = usize::try_from(word(object, LENGTH)).unwrap_or(0);
        std::slice::from_raw_parts(object.add(BYTES), length)
    }
}

/// Called when a code object is freed: another may come to lie where it was.
unsafe extern "C" fn freed(mark: *mut c_void) {
    let sites = SITES.load(Ordering::Relaxed);
    if let (Some(unit), false) = (mark.addr().checked_sub(1), sites.is_null()) {
        // SAFETY: objects are freed with the global lock held, so nothing else uses them.
        unsafe { (*sites).units.forget(unit) };
    }
}
