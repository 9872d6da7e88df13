//! The frames of all threads.
//!
//! Before 3.11 a frame is an object. Since then it is a record on the thread's stack, and becomes an object only
//! on request. A recorder must not request one, because that allocates, so it reads the records in place.

use crate::interpreter::{interpreter, layout};
use crate::layout::Frames;
use crate::object::{Object, Record, Stopped};

/// A frame of a thread.
pub(crate) struct Frame<'s> {
    /// The thread's number, as `threading` says it.
    pub(crate) thread: u64,
    /// The code that runs.
    pub(crate) code: Object<'s>,
    pub(crate) place: Place<'s>,
}

/// The place of a frame.
pub(crate) enum Place<'s> {
    /// An object like all others.
    Object(Object<'s>),
    /// On the thread's stack: what it holds is held by no object.
    Record(Record<'s>),
}

/// The frames of all threads, the innermost of each first. `code_class` is the class of code.
pub(crate) fn frames(_stopped: &Stopped, code_class: u64) -> Vec<Frame<'_>> {
    let mut frames = Vec::new();
    // SAFETY: the program is paused, so threads neither come nor go, nor call or return. A thread's state is laid
    // out as the version's layout says.
    unsafe {
        for thread in interpreter().threads() {
            let number: u64 = thread.add(layout().thread_id).cast::<u64>().read();
            for record in std::iter::successors(innermost(thread), |record| record.previous()) {
                // Calls from C have records without code.
                if let Some(code) = record.code(code_class) {
                    frames.push(read(number, record, code));
                }
            }
        }
    }
    frames
}

/// A thread of the program.
#[derive(Clone, Copy)]
pub(crate) struct Thread {
    /// Its number, as `threading` says it.
    pub(crate) id: u64,
    /// A number that no other thread ever has.
    pub(crate) serial: u64,
}

/// All threads.
pub(crate) fn threads(_stopped: &Stopped) -> Vec<Thread> {
    // SAFETY: the program is paused, so threads neither come nor go; their state is laid out as the version's layout says.
    unsafe {
        let threads = interpreter().threads();
        threads
            .map(|one| Thread {
                id: one.add(layout().thread_id).cast::<u64>().read(),
                serial: one.add(layout().thread_serial).cast::<u64>().read(),
            })
            .collect()
    }
}

/// The innermost frame of a thread, if it runs anything.
///
/// # Safety
/// `thread` is a live thread's state.
unsafe fn innermost<'s>(thread: *const u8) -> Option<Record<'s>> {
    // SAFETY: as the layout says.
    unsafe {
        let place = match layout().frames {
            Frames::Objects(offset) | Frames::Records(offset) => thread.add(offset),
            Frames::RecordsBehind(offset, behind) => thread.add(offset).cast::<*const u8>().read().add(behind),
        };
        let record = place.cast::<*const u8>().read();
        (!record.is_null()).then(|| Record::new(record))
    }
}

fn read<'s>(thread: u64, record: Record<'s>, code: Object<'s>) -> Frame<'s> {
    let place = if layout().frame.object.is_some() {
        Place::Record(record)
    } else {
        // SAFETY: frames are objects in this version.
        Place::Object(unsafe { record.as_object() })
    };
    Frame { thread, code, place }
}

impl<'s> Frame<'s> {
    pub(crate) fn is_record(&self) -> bool {
        matches!(self.place, Place::Record(_))
    }

    /// The objects from which all references of the frame are found.
    pub(crate) fn held(&self) -> Vec<Object<'s>> {
        match self.place {
            Place::Object(object) => vec![object],
            Place::Record(record) => {
                let variables = record.variables(self.code).map(|(_, held)| held.object);
                record.parts().map(|(_, held)| held.object).chain(variables).collect()
            }
        }
    }
}
