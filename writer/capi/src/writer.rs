//! The functions of a recording: start, declarations and end.

use std::ffi::{OsStr, c_void};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use barrow_writer::{SiteDescription, TypeDescription, Writer};

use crate::codes::{Code, Failure, guarded};
use crate::pointers::{bytes, optional_text, pairs, place, structure, text};
use crate::process::{Process, without_signals};
use crate::stream::{FlushFunction, Stream, WriteFunction, is_inside};
use crate::values::{FieldId, Finished, KindId, Options, Site, SiteId, StrengthId, StringId, Text, Type, TypeId};
use crate::values::{encoding, role, strength_class};

/// A recording that is being written. Any thread may use it, several at once.
pub struct WriterHandle {
    process: Process,
    /// None once it is finished.
    writer: RwLock<Option<Writer>>,
}

impl WriterHandle {
    /// Runs `work` with the writer; other threads may do so at the same time.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Writer) -> Result<T, Failure>) -> Result<T, Failure> {
        self.process.check()?;
        outside_of_streams()?;
        let writer = self.writer.read().unwrap_or_else(PoisonError::into_inner);
        work(writer.as_ref().ok_or_else(finished)?)
    }

    fn finish(&self) -> Result<barrow_writer::Finished, Failure> {
        self.process.check()?;
        outside_of_streams()?;
        let mut writer = self.writer.write().unwrap_or_else(PoisonError::into_inner);
        if writer.as_ref().ok_or_else(finished)?.has_open_snapshot() {
            return Err(barrow_writer::WriterError::SnapshotOpen.into());
        }
        Ok(writer.take().ok_or_else(finished)?.finish()?)
    }
}

fn finished() -> Failure {
    Failure::new(Code::Ended, "the recording was finished")
}

/// Fails inside a function of a stream.
pub(crate) fn outside_of_streams() -> Result<(), Failure> {
    if is_inside() { Err(Failure::new(Code::Busy, "a write function must not call barrow")) } else { Ok(()) }
}

/// Converts options; NULL means the defaults.
///
/// # Safety
/// As for [`structure`].
unsafe fn options(options: *const Options) -> Result<barrow_writer::Options, Failure> {
    if options.is_null() {
        return Ok(barrow_writer::Options::default());
    }
    // SAFETY: the caller's.
    unsafe { structure(options) }?.chosen()
}

/// Makes a handle. Threads started meanwhile block the program's signals.
fn begin(
    place: &mut Option<Box<WriterHandle>>,
    make: impl FnOnce() -> Result<Writer, barrow_writer::WriterError>,
) -> Result<(), Failure> {
    outside_of_streams()?;
    let process = Process::current();
    let writer = RwLock::new(Some(without_signals(make)?));
    *place = Some(Box::new(WriterHandle { process, writer }));
    Ok(())
}

/// Begins a recording in a new file; an existing one is replaced. `options` may be NULL.
///
/// # Safety
/// `path` and `options` are readable, `writer` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_create(
    path: Text,
    options: *const Options,
    writer: Option<&mut MaybeUninit<Option<Box<WriterHandle>>>>,
) -> Code {
    guarded(|| {
        let place = place("writer", writer)?;
        // SAFETY: the caller's.
        let (path, options) = unsafe { (bytes(path)?, self::options(options)?) };
        begin(place, || Writer::create(Path::new(OsStr::from_bytes(path)), options))
    })
}

/// Begins a recording in an open file, which must be empty, or on a pipe or socket. The descriptor is duplicated; the
/// caller keeps the original. It should block; writing to a pipe without a reader raises SIGPIPE unless the program
/// ignores that.
///
/// # Safety
/// `fd` is open, if it is a descriptor at all; `options` is NULL or readable, `writer` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_create_fd(
    fd: i32,
    options: *const Options,
    writer: Option<&mut MaybeUninit<Option<Box<WriterHandle>>>>,
) -> Code {
    guarded(|| {
        let place = place("writer", writer)?;
        if fd < 0 {
            return Err(Failure::new(Code::BadArgument, format!("a descriptor cannot be {fd}")));
        }
        // SAFETY: the caller's.
        let options = unsafe { self::options(options) }?;
        // SAFETY: the descriptor is not -1; it is only used to ask the system for another one, which fails
        // if it is not open.
        let duplicate = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned();
        let action = "duplicate the descriptor";
        begin(place, || {
            let file = File::from(duplicate.map_err(|source| barrow_writer::WriterError::Io { action, source })?);
            Writer::to_file(file, options)
        })
    })
}

/// Begins a recording on a stream: `write` takes its bytes, and `flush`, which may be NULL, passes them on. They are
/// called with `context`, one call at a time, from barrow's encoder threads and from threads that are inside of barrow,
/// also while the world is stopped. They must return normally, must not call barrow (BARROW_CODE_BUSY) and must not
/// wait for a thread that may be waiting for barrow. After a failure nothing more is written. The last call is made by
/// `barrow_writer_finish`, or before all handles of the recording are freed.
///
/// # Safety
/// The functions may be called as said; `options` is NULL or readable, `writer` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_create_stream(
    write: WriteFunction,
    flush: FlushFunction,
    context: *mut c_void,
    options: *const Options,
    writer: Option<&mut MaybeUninit<Option<Box<WriterHandle>>>>,
) -> Code {
    guarded(|| {
        let place = place("writer", writer)?;
        // SAFETY: the caller's.
        let (stream, options) = unsafe { (Stream::new(write, flush, context)?, self::options(options)?) };
        begin(place, || Writer::to_stream(Box::new(stream), options))
    })
}

/// The number of a text; the same text has the same number, unless the texts in between were more than 16 MiB: keep the
/// numbers of frequent names. A text of more than 1 MiB is shortened, here and in all other calls, and ends with a
/// mark: `… (123 bytes left out)`.
///
/// # Safety
/// `writer` is NULL or a handle; `text` is readable, `string` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_string(
    writer: Option<&WriterHandle>,
    text: Text,
    string: Option<&mut MaybeUninit<StringId>>,
) -> Code {
    guarded(|| {
        let place = place("string", string)?;
        // SAFETY: the caller's.
        let text = unsafe { self::text(text) }?;
        *place = handle(writer)?.with(|writer| Ok(writer.string(&text)?))?.into();
        Ok(())
    })
}

/// Declares a kind of objects by its name in the singular; `role` is a `barrow_role`.
///
/// # Safety
/// `writer` is NULL or a handle; `name` is readable, `kind` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_kind(
    writer: Option<&WriterHandle>,
    name: Text,
    role: u32,
    kind: Option<&mut MaybeUninit<KindId>>,
) -> Code {
    guarded(|| {
        let place = place("kind", kind)?;
        let role = self::role(role)?;
        // SAFETY: the caller's.
        let name = unsafe { text(name) }?;
        *place = handle(writer)?.with(|writer| Ok(writer.kind(&name, role)?))?.into();
        Ok(())
    })
}

/// Declares a strength of references by the runtime's word for it; `strength_class` is a `barrow_strength_class`. There
/// may be 16; number 0 is strong and need not be declared.
///
/// # Safety
/// `writer` is NULL or a handle; `name` is readable, `strength` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_strength(
    writer: Option<&WriterHandle>,
    name: Text,
    strength_class: u32,
    strength: Option<&mut MaybeUninit<StrengthId>>,
) -> Code {
    guarded(|| {
        let place = place("strength", strength)?;
        let class = self::strength_class(strength_class)?;
        // SAFETY: the caller's.
        let name = unsafe { text(name) }?;
        *place = handle(writer)?.with(|writer| Ok(writer.strength(&name, class)?))?.into();
        Ok(())
    })
}

/// Declares a type. Each call makes a new one: store its number with the runtime's own type.
///
/// # Safety
/// `writer` is NULL or a handle; `description` and what it leads to are readable, `type` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_type(
    writer: Option<&WriterHandle>,
    description: *const Type,
    r#type: Option<&mut MaybeUninit<TypeId>>,
) -> Code {
    guarded(|| {
        let place = place("type", r#type)?;
        // SAFETY: the caller's.
        let given = unsafe { structure(description) }?;
        // SAFETY: the caller's.
        let (name, layout, file, attributes) = unsafe {
            let attributes = pairs(given.attributes, given.attribute_count)?;
            (text(given.name)?, optional_text(given.layout)?, optional_text(given.file)?, attributes)
        };
        let attributes: Vec<_> = attributes.iter().map(|(key, value)| (&**key, &**value)).collect();
        let description = TypeDescription {
            kind: given.kind.known(),
            name: &name,
            layout: layout.as_deref(),
            base: given.base.optional(),
            file: file.as_deref(),
            line: (given.line != 0).then_some(given.line),
            attributes: &attributes,
        };
        *place = handle(writer)?.with(|writer| Ok(writer.declare_type(&description)?))?.into();
        Ok(())
    })
}

/// Declares a field. Objects of the type and of those derived from it have it; if `is_optional` is not 0, only those
/// for which a value is announced. `encoding` is a `barrow_encoding`. Each call makes a new one: store its number with
/// the runtime's own field.
///
/// # Safety
/// `writer` is NULL or a handle; `name` is readable, `field` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_field(
    writer: Option<&WriterHandle>,
    r#type: TypeId,
    name: Text,
    encoding: u32,
    is_optional: u32,
    field: Option<&mut MaybeUninit<FieldId>>,
) -> Code {
    guarded(|| {
        let place = place("field", field)?;
        let encoding = self::encoding(encoding)?;
        // SAFETY: the caller's.
        let name = unsafe { text(name) }?;
        let declared = |writer: &Writer| Ok(writer.field(r#type.known(), &name, encoding, is_optional != 0)?);
        *place = handle(writer)?.with(declared)?.into();
        Ok(())
    })
}

/// Declares an allocation site. Each call makes a new one, numbered from 1: store its number with the runtime's own.
/// Objects may also have numbers of sites that were never declared.
///
/// # Safety
/// `writer` is NULL or a handle; `description` and what it leads to are readable, `site` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_site(
    writer: Option<&WriterHandle>,
    description: *const Site,
    site: Option<&mut MaybeUninit<SiteId>>,
) -> Code {
    guarded(|| {
        let place = place("site", site)?;
        // SAFETY: the caller's.
        let given = unsafe { structure(description) }?;
        // SAFETY: the caller's.
        let (function, file, attributes) = unsafe {
            let attributes = pairs(given.attributes, given.attribute_count)?;
            (optional_text(given.function)?, optional_text(given.file)?, attributes)
        };
        let attributes: Vec<_> = attributes.iter().map(|(key, value)| (&**key, &**value)).collect();
        let description = SiteDescription {
            function: function.as_deref(),
            file: file.as_deref(),
            line: (given.line != 0).then_some(given.line),
            column: (given.column != 0).then_some(given.column),
            caller: given.caller.optional(),
            attributes: &attributes,
        };
        *place = handle(writer)?.with(|writer| Ok(writer.site(&description)?))?.into();
        Ok(())
    })
}

/// Records a fact about the whole file: producer, runtime, host and so on.
///
/// # Safety
/// `writer` is NULL or a handle; `key` and `value` are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_fact(writer: Option<&WriterHandle>, key: Text, value: Text) -> Code {
    guarded(|| {
        // SAFETY: the caller's.
        let (key, value) = unsafe { (text(key)?, text(value)?) };
        handle(writer)?.with(|writer| Ok(writer.fact(&key, &value)?))
    })
}

/// Writes the trailing index and ends the encoder threads; `finished` may be NULL. Without it the recording is still
/// readable, as after a crash. Waits for calls of other threads with this handle. The recording ends even if this
/// fails, except with BARROW_CODE_SNAPSHOT_OPEN, which changes nothing.
///
/// # Safety
/// `writer` is NULL or a handle; `finished` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_finish(
    writer: Option<&WriterHandle>,
    finished: Option<&mut MaybeUninit<Finished>>,
) -> Code {
    guarded(|| {
        let place = finished.map(|place| place.write(Finished::default()));
        let finished = handle(writer)?.finish()?;
        if let Some(place) = place {
            *place = finished.into();
        }
        Ok(())
    })
}

/// Frees the handle. A recording that was not finished stays as it is. An open snapshot of it continues, and encodes in
/// the threads that announce.
///
/// # Safety
/// `writer` is NULL or a handle that no other thread uses and that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_writer_free(writer: Option<Box<WriterHandle>>) {
    free(writer, |writer| writer.process);
}

/// Checks that a handle is not NULL.
pub(crate) fn handle<T>(handle: Option<&T>) -> Result<&T, Failure> {
    handle.ok_or_else(|| Failure::null("the handle"))
}

/// Frees a handle in the process that made it. In the child of a fork its threads and the holders of its locks are
/// gone: nothing of it is touched.
pub(crate) fn free<T>(handle: Option<Box<T>>, process: impl FnOnce(&T) -> Process) {
    let Some(handle) = handle else { return };
    if process(&handle).is_current() {
        guarded(|| {
            drop(handle);
            Ok(())
        });
    } else {
        std::mem::forget(handle);
    }
}
