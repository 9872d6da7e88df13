//! The interpreter that this module was loaded into: its version, and functions that not every version has.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, ffi, intern, types};

use crate::layout::Layout;

/// A thread of the interpreter. Only ever handled by address.
#[repr(C)]
pub(crate) struct Thread {
    _opaque: [u8; 0],
}

type Function = *mut c_void;
type FirstThread = unsafe extern "C" fn(*mut ffi::PyInterpreterState) -> *mut Thread;
type NextThread = unsafe extern "C" fn(*mut Thread) -> *mut Thread;
type TypeDict = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;
type VisitObjects = unsafe extern "C" fn(Visit, *mut c_void);
type Visit = extern "C" fn(*mut ffi::PyObject, *mut c_void) -> c_int;

/// Facts about the interpreter, found once.
#[derive(Debug)]
pub(crate) struct Interpreter {
    pub(crate) layout: &'static Layout,
    /// Place of the dictionary of a class written in C, which may differ by interpreter; 3.12 and later.
    type_dict: Option<TypeDict>,
    /// Visits all objects that the collector knows; 3.12 and later.
    visit_objects: Option<VisitObjects>,
    first_thread: FirstThread,
    next_thread: NextThread,
}

static INTERPRETER: OnceLock<Interpreter> = OnceLock::new();

/// The interpreter. To be called after [`meet`] only.
pub(crate) fn interpreter() -> &'static Interpreter {
    INTERPRETER.get().expect("nothing happens before the module was initialised")
}

/// Offsets in the structures of this interpreter.
pub(crate) fn layout() -> &'static Layout {
    interpreter().layout
}

/// Finds out what interpreter this is.
///
/// # Errors
/// It is one whose objects cannot be read.
pub(crate) fn meet(py: Python<'_>) -> PyResult<()> {
    let sys = py.import(intern!(py, "sys"))?;
    let name: String = sys.getattr("implementation")?.getattr("name")?.extract()?;
    let version: (u8, u8) = sys.getattr("version_info")?.get_item(types::PySlice::new(py, 0, 2, 1))?.extract()?;
    let is_free_threaded =
        sys.hasattr("_is_gil_enabled")? && !sys.call_method0("_is_gil_enabled")?.extract::<bool>()?;
    let traces_references = sys.hasattr("getobjects")?;
    let layout =
        Layout::of(version.1).filter(|_| name == "cpython" && version.0 == 3 && cfg!(target_pointer_width = "64"));
    let Some(layout) = layout.filter(|_| !is_free_threaded && !traces_references) else {
        let how = if is_free_threaded { ", without a global lock" } else { "" };
        return Err(PyRuntimeError::new_err(format!(
            "barrow reads the heap of 64-bit CPython 3.9 to 3.14 with its global lock; this is {name} {}.{}{how}",
            version.0, version.1
        )));
    };
    // SAFETY: the functions have these types in every version that has them.
    let interpreter = unsafe {
        Interpreter {
            layout,
            type_dict: symbol(c"PyType_GetDict").map(|found| std::mem::transmute::<Function, TypeDict>(found)),
            visit_objects: symbol(c"PyUnstable_GC_VisitObjects")
                .map(|found| std::mem::transmute::<Function, VisitObjects>(found)),
            first_thread: std::mem::transmute::<Function, FirstThread>(needed(c"PyInterpreterState_ThreadHead")?),
            next_thread: std::mem::transmute::<Function, NextThread>(needed(c"PyThreadState_Next")?),
        }
    };
    // A second thread finds the same.
    let _ = INTERPRETER.set(interpreter);
    Ok(())
}

/// While it lives, the collector is off. It is made and dropped without letting go of the global lock, so that no other thread
/// and no child of a fork sees it off.
pub(crate) struct CollectorOff<'py>(Option<Bound<'py, PyAny>>);

impl<'py> CollectorOff<'py> {
    pub(crate) fn new(py: Python<'py>) -> PyResult<Self> {
        // Not by an import, which a program may have replaced by Python code. What is called here is written in C.
        let name = intern!(py, "gc");
        // SAFETY: the name is a string; what the function returns is an object that is ours, or null.
        let module = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyImport_GetModule(name.as_ptr())) };
        let module = module.ok_or_else(|| PyRuntimeError::new_err("the module gc is gone"))?;
        let was_on = module.call_method0(intern!(py, "isenabled"))?.is_truthy()?;
        if was_on {
            module.call_method0(intern!(py, "disable"))?;
        }
        Ok(CollectorOff(was_on.then_some(module)))
    }
}

impl Drop for CollectorOff<'_> {
    fn drop(&mut self) {
        if let Some(module) = &self.0 {
            // The function has no way to fail.
            let _ = module.call_method0(intern!(module.py(), "enable"));
        }
    }
}

/// A function of the interpreter.
pub(crate) fn symbol(name: &CStr) -> Option<Function> {
    // SAFETY: the name ends with 0; looking it up has no other effect.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// A function that the interpreter must have.
pub(crate) fn needed(name: &CStr) -> PyResult<Function> {
    symbol(name)
        .ok_or_else(|| PyRuntimeError::new_err(format!("the interpreter has no function {}", name.to_string_lossy())))
}

impl Interpreter {
    /// The dictionary of a class, without a reference of its own. May be null.
    ///
    /// # Safety
    /// `class` is a live class; the caller has the global lock.
    pub(crate) unsafe fn type_dict(&self, class: *mut ffi::PyObject) -> Option<*mut ffi::PyObject> {
        let function = self.type_dict?;
        // SAFETY: as the caller says. The class keeps its dictionary alive.
        unsafe {
            let space = function(class);
            ffi::Py_DecRef(space);
            Some(space)
        }
    }

    /// Calls `visit` with the address of each object that the collector knows.
    ///
    /// # Safety
    /// The caller has the global lock, and `visit` neither makes nor frees objects.
    pub(crate) unsafe fn visit_collected<F: FnMut(u64)>(&self, mut visit: F) {
        extern "C" fn call<F: FnMut(u64)>(object: *mut ffi::PyObject, visit: *mut c_void) -> c_int {
            // SAFETY: `visit` is what is given away below, and outlives the call.
            unsafe { (*visit.cast::<F>())(object as u64) };
            1
        }
        match self.visit_objects {
            // SAFETY: the function calls what it is given for each object, with the argument.
            Some(all) => unsafe { all(call::<F>, (&raw mut visit).cast()) },
            // SAFETY: as the caller says; versions without the function have lists.
            None => unsafe { visit_lists(visit) },
        }
    }

    /// All threads of this interpreter.
    ///
    /// # Safety
    /// The caller has the global lock until it is done with them.
    pub(crate) unsafe fn threads(&self) -> impl Iterator<Item = *const u8> {
        // SAFETY: as the caller says: threads come and go with the lock held only.
        let first = unsafe { (self.first_thread)(ffi::PyInterpreterState_Get()) };
        let listed = |thread: &*mut Thread| !thread.is_null();
        // SAFETY: as above.
        let next = move |&thread: &*mut Thread| Some(unsafe { (self.next_thread)(thread) }).filter(listed);
        std::iter::successors(Some(first).filter(listed), next).map(|thread| thread.cast_const().cast())
    }
}

/// Visits the collector's lists, before 3.12: circles through the heads of objects and one of each list, which are
/// fields of the interpreter: three generations of 3 words, a pointer, and what is never collected.
///
/// # Safety
/// As for [`Interpreter::visit_collected`].
unsafe fn visit_lists(mut visit: impl FnMut(u64)) {
    const HEAD: usize = 16;
    // SAFETY: a new object is the last of the youngest generation, so the next one is that list's head. The heads of
    // the others lie at fixed distances from it; each is followed by the first object's.
    unsafe {
        let object = ffi::PyList_New(0);
        if object.is_null() {
            ffi::PyErr_Clear();
            return;
        }
        let youngest = object.cast::<u8>().sub(HEAD).cast::<*const u8>().read();
        ffi::Py_DecRef(object);
        for distance in [0, 24, 48, 80] {
            let list = youngest.add(distance);
            let mut head = list.cast::<*const u8>().read();
            while head != list {
                visit(head.add(HEAD) as u64);
                head = head.cast::<*const u8>().read();
            }
        }
    }
}

/// The class of something that only Python code makes.
pub(crate) fn class_of(py: Python<'_>, expression: &CStr) -> PyResult<u64> {
    let object = py.eval(expression, None, None)?;
    Ok(types::PyType::type_object(py).call1((object,))?.as_ptr() as u64)
}
