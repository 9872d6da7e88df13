//! The structures of the C side, and the writer's values that correspond to them.

use std::ffi::c_char;

use barrow_writer as writer;

use crate::codes::{Code, Failure};
use crate::growing::Growing;

/// A text: UTF-8, not terminated. NULL with length 0 is none, or empty where a text is required.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// Its first byte.
    pub bytes: *const c_char,
    /// Its length in bytes.
    pub length: usize,
}

/// A key and its value.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// The key.
    pub key: Text,
    /// The value.
    pub value: Text,
}

// One structure for each table, so that a number of one is not taken for that of another. They are
// written out: cbindgen does not look into macros.

/// A string of the recording; 0 is none.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StringId {
    /// The number.
    pub number: u32,
}

/// A kind of objects; 0 is none.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindId {
    /// The number.
    pub number: u32,
}

/// A type of objects; 0 is none.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeId {
    /// The number.
    pub number: u32,
}

/// A strength of references; 0 is strong, which is always there.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StrengthId {
    /// The number.
    pub number: u32,
}

/// A declared field; 0 is none.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FieldId {
    /// The number.
    pub number: u32,
}

/// An allocation site: a declared one, or any number that has a meaning for the runtime; 0 is none.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SiteId {
    /// The number.
    pub number: u32,
}

/// Conversions for ids of which 0 is none: the writer's own numbers are one less.
macro_rules! counted_from_1 {
    ($name:ident) => {
        impl From<writer::$name> for $name {
            fn from(id: writer::$name) -> Self {
                $name { number: id.0.wrapping_add(1) }
            }
        }

        impl $name {
            /// The writer's number; none becomes one that was never declared, and is refused.
            pub(crate) fn known(self) -> writer::$name {
                writer::$name(self.number.wrapping_sub(1))
            }

            #[allow(dead_code, reason = "kinds are never optional")]
            pub(crate) fn optional(self) -> Option<writer::$name> {
                (self.number != 0).then(|| self.known())
            }
        }
    };
}

counted_from_1!(FieldId);
counted_from_1!(StringId);
counted_from_1!(KindId);
counted_from_1!(TypeId);

impl From<writer::StrengthId> for StrengthId {
    fn from(id: writer::StrengthId) -> Self {
        StrengthId { number: id.0 }
    }
}

impl From<writer::SiteId> for SiteId {
    fn from(id: writer::SiteId) -> Self {
        SiteId { number: id.0 }
    }
}

impl SiteId {
    pub(crate) fn optional(self) -> Option<writer::SiteId> {
        (self.number != 0).then_some(writer::SiteId(self.number))
    }
}

/// The values of a field.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum Encoding {
    /// Unsigned numbers of at most 64 bits.
    Unsigned = 0,
    /// Signed numbers of at most 64 bits.
    Signed = 1,
    /// True or false.
    Boolean = 2,
    /// UTF-16 code units or Unicode code points.
    Character = 3,
    /// `float`.
    Float = 4,
    /// `double`.
    Double = 5,
    /// Texts.
    Text = 6,
    /// Objects: the value is the reference with the field's name, and the field has no values. An object without the
    /// reference holds null.
    Reference = 7,
}

pub(crate) fn encoding(number: u32) -> Result<writer::Encoding, Failure> {
    writer::Encoding::from_number(number.into()).map_err(|_| meaningless("encoding of a field", number))
}

/// The purpose of a kind.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum Role {
    /// Ordinary objects.
    Object = 0,
    /// Objects that describe types: classes, metaobjects, hidden layouts.
    Type = 1,
    /// Call frames and closures; their types are functions with a file and a line.
    Frame = 2,
    /// Not on the heap: a node that represents a group of roots, usually of size 0.
    Root = 3,
}

pub(crate) fn role(number: u32) -> Result<writer::KindRole, Failure> {
    match number {
        0 => Ok(writer::KindRole::Object),
        1 => Ok(writer::KindRole::Type),
        2 => Ok(writer::KindRole::Frame),
        3 => Ok(writer::KindRole::Root),
        _ => Err(meaningless("role of a kind", number)),
    }
}

/// The effect of a reference on the reachability of its target.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum StrengthClass {
    /// Keeps its target alive.
    Strong = 0,
    /// Never keeps its target alive.
    Weak = 1,
    /// Keeps its target alive until memory runs short.
    Soft = 2,
    /// Keeps its target alive as long as its source and a key are; the key is the target of the reference
    /// before it.
    Ephemeron = 3,
}

pub(crate) fn strength_class(number: u32) -> Result<writer::StrengthClass, Failure> {
    match number {
        0 => Ok(writer::StrengthClass::Strong),
        1 => Ok(writer::StrengthClass::Weak),
        2 => Ok(writer::StrengthClass::Soft),
        3 => Ok(writer::StrengthClass::Ephemeron),
        _ => Err(meaningless("class of a strength", number)),
    }
}

/// The compression of columns.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum Compression {
    /// zstd with level 3.
    Default = 0,
    /// Bytes as they are.
    None = 1,
    /// LZ4: the fastest, about a third larger than zstd.
    Lz4 = 2,
    /// zstd with the level in `compression_level`, 1 to 22.
    Zstd = 3,
}

/// When the operating system is told to write bytes to the disk. A killed process loses nothing either way.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum Sync {
    /// Never; the system decides.
    Never = 0,
    /// Before and after each commit: a snapshot that was committed survives a power failure.
    AtCommit = 1,
}

/// As `encoder_threads`: the threads that announce also encode.
pub const BARROW_NO_ENCODER_THREADS: i32 = -1;

/// Options of a recording. Begin with `{0}`: every field has a default.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// sizeof(barrow_options).
    pub size: usize,
    /// Memory for objects and references, in bytes, whatever the heap's size; 0 is 64 MiB. Strings, types and shapes
    /// come on top.
    pub memory_budget_bytes: u64,
    /// A `barrow_compression`.
    pub compression: u32,
    /// The level, for zstd.
    pub compression_level: i32,
    /// Threads that encode and compress; 0 is one per core, up to eight.
    pub encoder_threads: i32,
    /// A `barrow_sync`.
    pub sync: u32,
    /// The permanent identifier of the recording; zeros are a random one.
    pub uuid: [u8; 16],
    /// Start of the recording, in nanoseconds since 1970-01-01 UTC; 0 is now.
    pub created_ns: u64,
    /// If not 0, a snapshot is written as its difference to the one before if that is smaller and every object has a
    /// unique serial. Objects are then renumbered in the file. Besides the budget this takes 30 bytes per object, 38
    /// with addresses, up to half as much again for dead ones, and a temporary file as large as a snapshot.
    pub patches: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: `repr(C)` with `size` first; eight-byte fields are at multiples of eight, so that there is no
// padding; all fields are numbers.
unsafe impl Growing for Options {
    const NAME: &'static str = "barrow_options";
    const FIRST_BYTES: usize = 56;
}

impl Options {
    /// The options of the writer.
    pub(crate) fn chosen(&self) -> Result<writer::Options, Failure> {
        let defaults = writer::Options::default();
        let budget = usize::try_from(self.memory_budget_bytes).unwrap_or(usize::MAX);
        Ok(writer::Options {
            memory_budget_bytes: if budget == 0 { defaults.memory_budget_bytes } else { budget },
            compression: match self.compression {
                0 => defaults.compression,
                1 => writer::Compression::None,
                2 => writer::Compression::Lz4,
                3 => writer::Compression::Zstd(self.compression_level),
                other => return Err(meaningless("compression", other)),
            },
            threads: match self.encoder_threads {
                BARROW_NO_ENCODER_THREADS => 0,
                0 => defaults.threads,
                threads => {
                    let message = || format!("encoder_threads cannot be {threads}");
                    usize::try_from(threads).map_err(|_| Failure::new(Code::BadArgument, message()))?
                }
            },
            sync: match self.sync {
                0 => writer::Sync::Never,
                1 => writer::Sync::AtCommit,
                other => return Err(meaningless("sync", other)),
            },
            uuid: (self.uuid != [0; 16]).then_some(self.uuid),
            created_ns: (self.created_ns != 0).then_some(self.created_ns),
            patches: self.patches != 0,
        })
    }
}

/// Describes a type. Only `kind` and `name` are required.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Type {
    /// sizeof(barrow_type).
    pub size: usize,
    /// The kind its objects are of.
    pub kind: KindId,
    /// The type it is derived from.
    pub base: TypeId,
    /// Its name.
    pub name: Text,
    /// The memory layout of its objects, in the runtime's words.
    pub layout: Text,
    /// The file it is declared in.
    pub file: Text,
    /// The line it is declared at, counted from 1.
    pub line: u32,
    /// 0.
    pub reserved: u32,
    /// Other facts that the runtime knows.
    pub attributes: *const Pair,
    /// Their number.
    pub attribute_count: usize,
}

// SAFETY: as for `Options`, with pointers, for which zero is NULL.
unsafe impl Growing for Type {
    const NAME: &'static str = "barrow_type";
    const FIRST_BYTES: usize = 88;
}

/// Describes an allocation site. Nothing is required.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// sizeof(barrow_site).
    pub size: usize,
    /// The function that allocates.
    pub function: Text,
    /// The file it is in.
    pub file: Text,
    /// The line in it, counted from 1.
    pub line: u32,
    /// The column of that line, counted from 1.
    pub column: u32,
    /// The call site of the function: a site that was declared before.
    pub caller: SiteId,
    /// 0.
    pub reserved: u32,
    /// Other facts that the runtime knows.
    pub attributes: *const Pair,
    /// Their number.
    pub attribute_count: usize,
}

// SAFETY: as for `Type`.
unsafe impl Growing for Site {
    const NAME: &'static str = "barrow_site";
    const FIRST_BYTES: usize = 72;
}

/// The known numbers of a snapshot, since 0 may be a time or the number of a collection.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum Known {
    /// `time_ns` is.
    Time = 1,
    /// `gc_number` is.
    GcNumber = 2,
}

/// Describes a snapshot apart from its objects. Nothing is required.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SnapshotInfo {
    /// sizeof(barrow_snapshot_info).
    pub size: usize,
    /// The known ones of the two numbers: a sum of `barrow_known` values.
    pub known: u32,
    /// 0.
    pub reserved: u32,
    /// Time of the snapshot, in nanoseconds since the recording began.
    pub time_ns: u64,
    /// The collection after which it is taken.
    pub gc_number: u64,
    /// A name for people.
    pub label: Text,
    /// Other facts that the runtime knows, such as its own totals.
    pub key_values: *const Pair,
    /// Their number.
    pub key_value_count: usize,
}

// SAFETY: as for `Type`.
unsafe impl Growing for SnapshotInfo {
    const NAME: &'static str = "barrow_snapshot_info";
    const FIRST_BYTES: usize = 64;
}

/// Describes an object, apart from its number and its references. Only `type` is required.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// sizeof(barrow_object).
    pub size: usize,
    /// Its type.
    pub r#type: TypeId,
    /// Its own name or text, if it has one: a string's content, the name of the class that it represents.
    pub name: StringId,
    /// Its own size on the managed heap, in bytes.
    pub shallow_bytes: u64,
    /// Memory outside the managed heap that it owns, in bytes.
    pub unmanaged_bytes: u64,
    /// Its address.
    pub address: u64,
    /// Its identity across snapshots, if the runtime has one.
    pub serial: u64,
    /// Its allocation site.
    pub site: SiteId,
    /// 0.
    pub reserved: u32,
}

// SAFETY: as for `Options`.
unsafe impl Growing for Object {
    const NAME: &'static str = "barrow_object";
    const FIRST_BYTES: usize = 56;
}

impl From<&Object> for writer::Object {
    #[inline]
    fn from(object: &Object) -> Self {
        let optional = |value: u64| (value != 0).then_some(value);
        writer::Object {
            type_id: object.r#type.known(),
            shallow_bytes: object.shallow_bytes,
            unmanaged_bytes: object.unmanaged_bytes,
            address: optional(object.address),
            serial: optional(object.serial),
            site: object.site.optional(),
            name: object.name.optional(),
        }
    }
}

/// The known counters of a thread, since 0 may be a count.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum ThreadKnown {
    /// `allocated_bytes` is.
    AllocatedBytes = 1,
    /// `allocated_objects` is.
    AllocatedObjects = 2,
    /// `cpu_time_ns` is.
    CpuTime = 4,
}

/// A thread of the recorded program. Only `id` is required. Counters start with the thread, and never fall.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Thread {
    /// sizeof(barrow_thread).
    pub size: usize,
    /// The runtime's number for it: the same in every snapshot, and of no other thread of this one.
    pub id: u64,
    /// Memory it allocated, in bytes.
    pub allocated_bytes: u64,
    /// Number of objects it allocated.
    pub allocated_objects: u64,
    /// The processor time it used, in nanoseconds.
    pub cpu_time_ns: u64,
    /// Its name.
    pub name: Text,
    /// Its state in the runtime's words: running, waiting.
    pub state: Text,
    /// The thread's roots are those with this label, and those whose label continues it with ": " and more text,
    /// such as a frame.
    pub root_label: Text,
    /// The known counters: a sum of `barrow_thread_known` values.
    pub known: u32,
    /// 0.
    pub reserved: u32,
    /// Other facts that the runtime knows.
    pub attributes: *const Pair,
    /// Their number.
    pub attribute_count: usize,
}

// SAFETY: as for `Type`.
unsafe impl Growing for Thread {
    const NAME: &'static str = "barrow_thread";
    const FIRST_BYTES: usize = 112;
}

/// The kind of name of a reference in its source.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum LabelKind {
    /// The runtime does not say.
    Unknown = 0,
    /// An element, counted from 0.
    Index = 1,
    /// A field, variable or key: the number of a string.
    Name = 2,
}

/// As a target: the reference is null, and left out.
pub const BARROW_NULL: u64 = u64::MAX;

/// A reference of an object.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    /// The number of its target object, or `BARROW_NULL`.
    pub target: u64,
    /// The index, or the number of the string, according to `label_kind`; 0 if unknown.
    pub label: u64,
    /// A `barrow_label_kind`.
    pub label_kind: u32,
    /// Its strength.
    pub strength: StrengthId,
}

impl Reference {
    /// Its label, if valid.
    #[inline]
    pub(crate) fn label(&self) -> Option<writer::Label> {
        match self.label_kind {
            0 => Some(writer::Label::Unknown),
            1 => Some(writer::Label::Index(self.label)),
            2 => u32::try_from(self.label).ok().map(|number| writer::Label::Name(StringId { number }.known())),
            _ => None,
        }
    }

    /// The error for an invalid label.
    #[cold]
    pub(crate) fn no_label(&self) -> Failure {
        match self.label_kind {
            2 => Failure::new(Code::OutOfRange, format!("the number of a string cannot be {}", self.label)),
            other => meaningless("kind of a label", other),
        }
    }
}

/// Totals of a snapshot. This structure never grows.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// Objects.
    pub objects: u64,
    /// References between them.
    pub references: u64,
    /// Roots.
    pub roots: u64,
    /// The shallow sizes of all objects, in bytes.
    pub heap_bytes: u64,
    /// Their unmanaged sizes, in bytes.
    pub unmanaged_bytes: u64,
}

impl From<writer::Totals> for Totals {
    fn from(totals: writer::Totals) -> Self {
        let writer::Totals { objects, references, roots, heap_bytes, unmanaged_bytes } = totals;
        Totals { objects, references, roots, heap_bytes, unmanaged_bytes }
    }
}

/// Totals of a finished recording. This structure never grows.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Finished {
    /// Committed snapshots.
    pub snapshots: u64,
    /// The file's length, in bytes.
    pub bytes: u64,
}

impl From<writer::Finished> for Finished {
    fn from(finished: writer::Finished) -> Self {
        Finished { snapshots: finished.snapshots.into(), bytes: finished.bytes }
    }
}

#[cold]
pub(crate) fn meaningless(what: &str, number: u32) -> Failure {
    Failure::new(Code::BadArgument, format!("{what} cannot be {number}"))
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    /// Fields may be added, none of version 1.0 may move.
    #[test]
    fn no_structure_shrinks() {
        fn check<T: Growing>() {
            assert!(size_of::<T>() >= T::FIRST_BYTES, "{}", T::NAME);
        }
        check::<Options>();
        check::<Type>();
        check::<Site>();
        check::<SnapshotInfo>();
        check::<Object>();
        check::<Thread>();
        assert_eq!((size_of::<Reference>(), size_of::<Totals>(), size_of::<Finished>()), (24, 40, 16));
    }
}
