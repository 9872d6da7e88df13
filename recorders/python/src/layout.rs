//! Offsets in the structures of each version of CPython that its API does not reveal.
//!
//! Offsets are in bytes, for 64-bit builds with a global lock, and were taken from the headers of 3.9.18, 3.10.13,
//! 3.11.7, 3.12.1, 3.13.0 and 3.14.10 with `offsetof`; within a minor version CPython does not move fields. Fields that
//! lie at the same place in all of them are constants beside their use, in `object`.

use crate::sites::lines::LineFormat;

/// The place of the attributes of instances without a dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    /// They always have a dictionary.
    Dictionary,
    /// A pointer to values, 4 words before the object.
    Pointer,
    /// A pointer less one, 3 words before the object; if even, it is the dictionary's.
    Tagged,
    /// After the object's own fields.
    Inline,
}

/// The place of the running frames of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Objects like all others: the offset in the thread.
    Objects(usize),
    /// Records on a stack of their own: the offset in the thread.
    Records(usize),
    /// The same, one step further: the offset in the thread, and the offset in the structure found there.
    RecordsBehind(usize, usize),
}

/// A frame: an object before 3.11, a record since.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameLayout {
    /// The code that runs.
    pub(crate) code: usize,
    /// The frame that called it.
    pub(crate) previous: usize,
    /// The local variables.
    pub(crate) locals: usize,
    /// The position in the code: the address of an instruction, or an offset.
    pub(crate) instruction: usize,
    /// Of an offset: how much an instruction counts.
    pub(crate) instruction_unit: i64,
    /// References of a record other than variables, with names.
    pub(crate) parts: &'static [(&'static str, usize)],
    /// The byte that says what owns a record, and from what value on it is a call from C: most of that one means nothing.
    pub(crate) owner: Option<(usize, u8)>,
    /// The frame object of the record, if one was made.
    pub(crate) object: Option<usize>,
}

/// A code object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodeLayout {
    pub(crate) file: usize,
    /// With the names of what it is nested in, where the version has that.
    pub(crate) name: usize,
    pub(crate) first_line: usize,
    /// Tuples that name the local variables, one after the other.
    pub(crate) local_names: &'static [usize],
    pub(crate) instructions: Instructions,
    /// The bytes object that says which instruction is of which line.
    pub(crate) line_table: usize,
    pub(crate) line_format: LineFormat,
}

/// The place of the instructions of a code object.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Instructions {
    /// In a bytes object: the offset of the pointer.
    Bytes(usize),
    /// As a part of it.
    Inside(usize),
}

/// Offsets in the structures of one version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// In a class made at run time: the names of its instances' attributes.
    pub(crate) cached_keys: usize,
    /// In a class made at run time: its qualified name.
    pub(crate) qualified_name: usize,
    pub(crate) attributes: Attributes,
    /// In a thread's state: the number that `threading` gives it.
    pub(crate) thread_id: usize,
    /// There, too: a number that no other thread ever has.
    pub(crate) thread_serial: usize,
    pub(crate) frames: Frames,
    pub(crate) frame: FrameLayout,
    /// In a generator: its frame record.
    pub(crate) generator_frame: Option<usize>,
    pub(crate) code: CodeLayout,
    /// In a string of ASCII: its characters.
    pub(crate) ascii: usize,
    /// In a tuple: its elements.
    pub(crate) tuple_items: usize,
    /// Whether classes say that instances have two words more before them.
    pub(crate) has_preheaders: bool,
    /// Whether `sys.getsizeof` adds what the collector needs to classes that it does not care for, too.
    pub(crate) adds_collector_by_class: bool,
    /// The allocator's arenas have 2 to the power of this many bytes, and lie at multiples of that.
    pub(crate) arena_bits: u32,
    /// Its pools, likewise.
    pub(crate) pool_bits: u32,
}

impl Layout {
    /// The layout of 3.`minor`, if it is known.
    pub(crate) fn of(minor: u8) -> Option<&'static Layout> {
        match minor {
            9 => Some(&V3_9),
            10 => Some(&V3_10),
            11 => Some(&V3_11),
            12 => Some(&V3_12),
            13 => Some(&V3_13),
            14 => Some(&V3_14),
            _ => None,
        }
    }
}

const V3_9: Layout = Layout {
    cached_keys: 864,
    qualified_name: 856,
    attributes: Attributes::Dictionary,
    thread_id: 176,
    thread_serial: 256,
    frames: Frames::Objects(24),
    frame: FrameLayout {
        code: 32,
        previous: 24,
        locals: 360,
        instruction: 104,
        instruction_unit: 2,
        parts: &[],
        owner: None,
        object: None,
    },
    generator_frame: None,
    code: CodeLayout {
        file: 104,
        name: 112,
        first_line: 40,
        local_names: &[72, 88, 80],
        instructions: Instructions::Bytes(48),
        line_table: 120,
        line_format: LineFormat::Increments,
    },
    ascii: 48,
    tuple_items: 24,
    has_preheaders: false,
    adds_collector_by_class: false,
    arena_bits: 18,
    pool_bits: 12,
};

const V3_10: Layout = Layout {
    cached_keys: 872,
    qualified_name: 864,
    frame: FrameLayout { locals: 352, instruction: 96, instruction_unit: 1, ..V3_9.frame },
    code: CodeLayout { line_format: LineFormat::Ranges, ..V3_9.code },
    arena_bits: 20,
    pool_bits: 14,
    ..V3_9
};

const V3_11: Layout = Layout {
    cached_keys: 872,
    qualified_name: 864,
    attributes: Attributes::Pointer,
    thread_id: 152,
    thread_serial: 240,
    frames: Frames::RecordsBehind(56, 8),
    frame: FrameLayout {
        code: 32,
        previous: 48,
        locals: 72,
        instruction: 56,
        instruction_unit: 2,
        parts: &[("f_func", 0), ("f_code", 32), ("f_locals", 24)],
        owner: None,
        object: Some(40),
    },
    generator_frame: Some(80),
    code: CodeLayout {
        file: 112,
        name: 128,
        first_line: 72,
        local_names: &[96],
        instructions: Instructions::Inside(184),
        line_table: 136,
        line_format: LineFormat::Locations,
    },
    ascii: 48,
    tuple_items: 24,
    has_preheaders: true,
    adds_collector_by_class: true,
    arena_bits: 20,
    pool_bits: 14,
};

const V3_12: Layout = Layout {
    cached_keys: 880,
    qualified_name: 872,
    attributes: Attributes::Tagged,
    thread_id: 136,
    thread_serial: 224,
    frames: Frames::RecordsBehind(56, 0),
    frame: FrameLayout {
        code: 0,
        previous: 8,
        locals: 72,
        instruction: 56,
        instruction_unit: 2,
        parts: &[("f_func", 16), ("f_code", 0), ("f_locals", 40)],
        owner: Some((70, 3)),
        object: Some(48),
    },
    generator_frame: Some(72),
    code: CodeLayout { first_line: 68, instructions: Instructions::Inside(192), ..V3_11.code },
    ascii: 40,
    tuple_items: 24,
    has_preheaders: true,
    adds_collector_by_class: true,
    arena_bits: 20,
    pool_bits: 14,
};

const V3_13: Layout = Layout {
    attributes: Attributes::Inline,
    thread_id: 152,
    frames: Frames::Records(72),
    code: CodeLayout { instructions: Instructions::Inside(200), ..V3_12.code },
    adds_collector_by_class: false,
    ..V3_12
};

const V3_14: Layout = Layout {
    frame: FrameLayout { locals: 80, owner: Some((74, 3)), ..V3_12.frame },
    code: CodeLayout { instructions: Instructions::Inside(208), ..V3_12.code },
    tuple_items: 32,
    ..V3_13
};
