//! The records of an HPROF dump, read one after the other.
//!
//! ```text
//!   "JAVA PROFILE 1.0.2\0" · identifier bytes u4 · time u8          all integers big-endian
//!   record …   tag u1 · microseconds u4 · length u4 · body
//!     HEAP DUMP, HEAP DUMP SEGMENT: the body is sub-records   tag u1 · fields, without a length
//! ```
//!
//! Source: HotSpot's `heapDumper.cpp`, which describes the format in a comment; Android's `hprof.h` for
//! the tags from 0x89 on.

use byteorder::{BigEndian, ByteOrder};

use crate::error::Damage;

/// The first bytes of every dump.
pub(super) const MAGIC: &[u8] = b"JAVA PROFILE ";

/// The tags of records.
pub(super) mod tag {
    pub(crate) const STRING: u8 = 0x01;
    pub(crate) const LOAD_CLASS: u8 = 0x02;
    pub(crate) const UNLOAD_CLASS: u8 = 0x03;
    pub(crate) const STACK_FRAME: u8 = 0x04;
    pub(crate) const STACK_TRACE: u8 = 0x05;
    pub(crate) const HEAP_DUMP: u8 = 0x0c;
    pub(crate) const HEAP_DUMP_SEGMENT: u8 = 0x1c;
    pub(crate) const HEAP_DUMP_END: u8 = 0x2c;
}

/// Length of the head of a record: tag, time and length.
pub(super) const RECORD_HEAD_BYTES: usize = 9;

/// Returns whether a record can have this tag.
pub(super) fn is_record(tag: u8) -> bool {
    matches!(tag, 0x01..=0x07 | 0x0a..=0x0e | tag::HEAP_DUMP_SEGMENT | 0x2c)
}

/// Returns whether records with this tag hold objects.
pub(super) fn is_heap(tag: u8) -> bool {
    matches!(tag, tag::HEAP_DUMP | tag::HEAP_DUMP_SEGMENT)
}

/// Returns whether sub-records with this tag are objects or classes, which a heap of unknown length begins with.
pub(super) fn begins_object(tag: u8) -> bool {
    matches!(tag, 0x20..=0x23)
}

/// The first fields of a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header<'a> {
    /// Such as "1.0.2".
    pub(super) version: &'a str,
    /// 4 or 8.
    pub(super) id_bytes: u8,
    /// The time of the dump, in milliseconds since 1970.
    pub(super) time_ms: u64,
    /// Length of the header in bytes.
    pub(super) length: usize,
}

impl<'a> Header<'a> {
    pub(super) fn parse(dump: &'a [u8]) -> Result<Self, Damage> {
        let ends = Damage::Ends { length: dump.len() as u64, inside: "the header" };
        let version_end = dump.iter().take(32).position(|&byte| byte == 0).ok_or_else(|| ends.clone())?;
        let version = dump.get(MAGIC.len()..version_end).and_then(|bytes| str::from_utf8(bytes).ok());
        let fields = dump.get(version_end + 1..version_end + 13).ok_or(ends)?;
        let id_bytes = BigEndian::read_u32(fields);
        if id_bytes != 4 && id_bytes != 8 {
            return Err(Damage::Unexpected {
                found: format!("an identifier size of {id_bytes} bytes"),
                offset: version_end as u64 + 1,
                expected: "4 or 8",
            });
        }
        Ok(Header {
            version: version.unwrap_or_default(),
            id_bytes: id_bytes as u8,
            time_ms: BigEndian::read_u64(&fields[4..]),
            length: version_end + 13,
        })
    }

    /// Returns whether Android's runtime wrote the dump.
    pub(super) fn is_of_android(&self) -> bool {
        self.version == "1.0.3"
    }
}

/// A record, cut at the end of the dump.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) tag: u8,
    /// The offset of its body.
    pub(super) body_offset: usize,
    pub(super) body: &'a [u8],
    /// Full length of the body, in bytes.
    pub(super) length: u64,
}

/// The record at `offset`; `None` at the end of the dump.
pub(super) fn record(dump: &[u8], offset: usize) -> Result<Option<Record<'_>>, Damage> {
    let rest = dump.get(offset..).unwrap_or_default();
    if rest.is_empty() {
        return Ok(None);
    }
    if !is_record(rest[0]) {
        return Err(Damage::Unexpected {
            found: format!("the tag {:#04x}", rest[0]),
            offset: offset as u64,
            expected: "the tag of a record",
        });
    }
    let ends = Damage::Ends { length: dump.len() as u64, inside: "the beginning of a record" };
    let length = u64::from(BigEndian::read_u32(rest.get(5..RECORD_HEAD_BYTES).ok_or(ends)?));
    let body_offset = offset + RECORD_HEAD_BYTES;
    let after = &rest[RECORD_HEAD_BYTES..];
    // HotSpot before 6u25 wrote 0 for lengths of more than 32 bits. Later versions write the length last, so it is
    // missing after a kill.
    let begins_heap = after.first().is_some_and(|&tag| begins_object(tag));
    let is_all = length == 0 && (rest[0] == tag::HEAP_DUMP || rest[0] == tag::HEAP_DUMP_SEGMENT && begins_heap);
    let length = if is_all { after.len() as u64 } else { length };
    let body = &after[..after.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
    Ok(Some(Record { tag: rest[0], body_offset, body, length }))
}

/// The tag of roots that are threads.
pub(super) const THREAD: u8 = 0x08;

/// The type of a field, or of the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldType {
    Reference,
    Boolean,
    Char,
    Float,
    Double,
    Byte,
    Short,
    Int,
    Long,
}

impl FieldType {
    pub(super) fn new(code: u8) -> Option<Self> {
        Some(match code {
            2 => FieldType::Reference,
            4 => FieldType::Boolean,
            5 => FieldType::Char,
            6 => FieldType::Float,
            7 => FieldType::Double,
            8 => FieldType::Byte,
            9 => FieldType::Short,
            10 => FieldType::Int,
            11 => FieldType::Long,
            _ => return None,
        })
    }

    /// Its code in the dump.
    pub(super) fn code(self) -> u8 {
        match self {
            FieldType::Reference => 2,
            FieldType::Boolean => 4,
            FieldType::Char => 5,
            FieldType::Float => 6,
            FieldType::Double => 7,
            FieldType::Byte => 8,
            FieldType::Short => 9,
            FieldType::Int => 10,
            FieldType::Long => 11,
        }
    }

    /// Number of bytes of a value in the dump and, except for references, in the JVM.
    pub(super) fn bytes(self, reference_bytes: u8) -> u8 {
        match self {
            FieldType::Reference => reference_bytes,
            FieldType::Boolean | FieldType::Byte => 1,
            FieldType::Char | FieldType::Short => 2,
            FieldType::Float | FieldType::Int => 4,
            FieldType::Double | FieldType::Long => 8,
        }
    }

    /// Its name in Java.
    pub(super) fn name(self) -> &'static str {
        match self {
            FieldType::Reference => "object",
            FieldType::Boolean => "boolean",
            FieldType::Char => "char",
            FieldType::Float => "float",
            FieldType::Double => "double",
            FieldType::Byte => "byte",
            FieldType::Short => "short",
            FieldType::Int => "int",
            FieldType::Long => "long",
        }
    }
}

/// A root of the heap, and the reason why it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Root {
    /// The tag of the sub-record.
    pub(super) tag: u8,
    pub(super) object: u64,
    /// The serial of its thread.
    pub(super) thread: Option<u32>,
    /// The number of the frame in the thread's stack; for a thread, the serial of its stack trace.
    pub(super) place: Option<u32>,
}

/// A sub-record of a heap dump.
#[derive(Debug, Clone, Copy)]
pub(super) enum SubRecord<'a> {
    Root(Root),
    Class(ClassPart<'a>),
    Instance {
        address: u64,
        trace: u32,
        class: u64,
        fields: &'a [u8],
    },
    ObjectArray {
        address: u64,
        trace: u32,
        class: u64,
        elements: &'a [u8],
    },
    PrimitiveArray {
        address: u64,
        trace: u32,
        element: FieldType,
        count: u32,
        elements: &'a [u8],
    },
    /// No object: a name of a heap, in dumps of Android.
    Other,
}

impl SubRecord<'_> {
    /// The address of an object that is not a class.
    #[inline]
    pub(super) fn object(&self) -> Option<u64> {
        match *self {
            SubRecord::Instance { address, .. }
            | SubRecord::ObjectArray { address, .. }
            | SubRecord::PrimitiveArray { address, .. } => Some(address),
            _ => None,
        }
    }
}

/// The dump of a class.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassPart<'a> {
    pub(super) address: u64,
    pub(super) superclass: u64,
    pub(super) loader: u64,
    pub(super) signers: u64,
    pub(super) protection_domain: u64,
    /// Name id, type and value of each static field.
    statics: &'a [u8],
    /// Name id and type of each field of the instances; not those of the superclasses.
    fields: &'a [u8],
}

impl<'a> ClassPart<'a> {
    /// A class of which only the address is known.
    pub(super) fn undumped(address: u64) -> Self {
        let (statics, fields) = (&[], &[]);
        ClassPart { address, superclass: 0, loader: 0, signers: 0, protection_domain: 0, statics, fields }
    }

    /// The static fields: name id, type and value.
    pub(super) fn statics<const ID: usize>(&self) -> impl Iterator<Item = (u64, FieldType, &'a [u8])> + use<'a, ID> {
        let mut rest = self.statics;
        std::iter::from_fn(move || {
            let (name, kind) = (id::<ID>(rest.get(..ID)?), FieldType::new(*rest.get(ID)?)?);
            let end = ID + 1 + usize::from(kind.bytes(ID as u8));
            let value = rest.get(ID + 1..end)?;
            rest = &rest[end..];
            Some((name, kind, value))
        })
    }

    /// The fields of the instances: name id and type.
    pub(super) fn fields<const ID: usize>(&self) -> impl Iterator<Item = (u64, FieldType)> + use<'a, ID> {
        self.fields.chunks_exact(ID + 1).filter_map(|field| Some((id::<ID>(field), FieldType::new(field[ID])?)))
    }
}

/// Reads an identifier from the beginning of `bytes`, which must be long enough.
#[inline]
pub(super) fn id<const ID: usize>(bytes: &[u8]) -> u64 {
    if ID == 4 { BigEndian::read_u32(bytes).into() } else { BigEndian::read_u64(bytes) }
}

/// Iterates over sub-records.
#[derive(Debug, Clone)]
pub(super) struct SubRecords<'a, const ID: usize> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a, const ID: usize> SubRecords<'a, ID> {
    /// The sub-records in these bytes.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        SubRecords { bytes, at: 0 }
    }

    /// The offset of the next one.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The next sub-record; `None` at the end.
    ///
    /// # Errors
    /// [`Bad`]; the offset then remains at the bad one.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Option<SubRecord<'a>>, Bad> {
        let rest = &self.bytes[self.at..];
        let Some(&tag) = rest.first() else { return Ok(None) };
        let (part, length) = Self::part(tag, &rest[1..])?;
        self.at += 1 + length;
        Ok(Some(part))
    }

    /// The sub-record at the beginning of these bytes, and its length.
    #[cold]
    pub(super) fn first(bytes: &'a [u8]) -> Result<(SubRecord<'a>, usize), Bad> {
        let (&tag, rest) = bytes.split_first().ok_or(Bad::Short)?;
        Self::part(tag, rest).map(|(part, length)| (part, 1 + length))
    }

    /// Parses a sub-record. Also returns its length without the tag.
    #[inline]
    fn part(tag: u8, rest: &'a [u8]) -> Result<(SubRecord<'a>, usize), Bad> {
        match tag {
            0x21 => {
                let head = fixed(rest, 2 * ID + 8)?;
                let start = 2 * ID + 8;
                let end = start + BigEndian::read_u32(&head[2 * ID + 4..]) as usize;
                let fields = rest.get(start..end).ok_or(Bad::Short)?;
                let (address, trace) = (id::<ID>(head), BigEndian::read_u32(&head[ID..]));
                Ok((SubRecord::Instance { address, trace, class: id::<ID>(&head[ID + 4..]), fields }, end))
            }
            0x22 => {
                let head = fixed(rest, 2 * ID + 8)?;
                let start = 2 * ID + 8;
                let end = start + BigEndian::read_u32(&head[ID + 4..]) as usize * ID;
                let elements = rest.get(start..end).ok_or(Bad::Short)?;
                let (address, trace) = (id::<ID>(head), BigEndian::read_u32(&head[ID..]));
                Ok((SubRecord::ObjectArray { address, trace, class: id::<ID>(&head[ID + 8..]), elements }, end))
            }
            // 0xc3 is Android's, of arrays whose elements were left out.
            0x23 | 0xc3 => {
                let head = fixed(rest, ID + 9)?;
                let (address, trace) = (id::<ID>(head), BigEndian::read_u32(&head[ID..]));
                let (count, code) = (BigEndian::read_u32(&head[ID + 4..]), head[ID + 8]);
                let element = FieldType::new(code).filter(|&kind| kind != FieldType::Reference);
                let element = element.ok_or(Bad::Type(code))?;
                let start = ID + 9;
                let bytes = if tag == 0x23 { count as usize * usize::from(element.bytes(0)) } else { 0 };
                let elements = rest.get(start..start + bytes).ok_or(Bad::Short)?;
                Ok((SubRecord::PrimitiveArray { address, trace, element, count, elements }, start + bytes))
            }
            0x20 => Self::class(rest),
            // Android: u4 heap, id name.
            0xfe => fixed(rest, 4 + ID).map(|head| (SubRecord::Other, head.len())),
            _ => Self::root(tag, rest),
        }
    }

    fn root(tag: u8, rest: &'a [u8]) -> Result<(SubRecord<'a>, usize), Bad> {
        let numbers = match tag {
            0xff | 0x05 | 0x07 | 0x89..=0x8d | 0x90 => 0,
            0x04 | 0x06 => 1,
            0x02 | 0x03 | 0x08 | 0x8e => 2,
            // A JNI global: the second identifier is that of the handle.
            0x01 => ID / 4,
            _ => return Err(Bad::Tag),
        };
        let head = fixed(rest, ID + 4 * numbers)?;
        let count = if tag == 0x01 { 0 } else { numbers };
        let mut numbers = head[ID..].chunks_exact(4).take(count).map(BigEndian::read_u32);
        let root = Root { tag, object: id::<ID>(head), thread: numbers.next(), place: numbers.next() };
        Ok((SubRecord::Root(root), head.len()))
    }

    fn class(rest: &'a [u8]) -> Result<(SubRecord<'a>, usize), Bad> {
        let head = fixed(rest, 7 * ID + 8)?;
        let [superclass, loader, signers, protection_domain] =
            std::array::from_fn(|number| id::<ID>(&head[ID + 4 + number * ID..]));
        let mut at = head.len();
        let constants = count_at(rest, at)?;
        at += 2;
        for _ in 0..constants {
            at = end_of_value::<ID>(rest, at + 2)?;
        }
        let statics = count_at(rest, at)?;
        at += 2;
        let statics_start = at;
        for _ in 0..statics {
            at = end_of_value::<ID>(rest, at + ID)?;
        }
        let statics = &rest[statics_start..at];
        let fields = count_at(rest, at)?;
        at += 2;
        let end = at + usize::from(fields) * (ID + 1);
        let fields = rest.get(at..end).ok_or(Bad::Short)?;
        if let Some(field) = fields.chunks_exact(ID + 1).find(|field| FieldType::new(field[ID]).is_none()) {
            return Err(Bad::Type(field[ID]));
        }
        let address = id::<ID>(head);
        let class = ClassPart { address, superclass, loader, signers, protection_domain, statics, fields };
        Ok((SubRecord::Class(class), end))
    }
}

/// The first `length` bytes of a sub-record.
#[inline]
fn fixed(rest: &[u8], length: usize) -> Result<&[u8], Bad> {
    rest.get(..length).ok_or(Bad::Short)
}

fn count_at(rest: &[u8], at: usize) -> Result<u16, Bad> {
    rest.get(at..at + 2).map(BigEndian::read_u16).ok_or(Bad::Short)
}

/// The end of a value that follows its type at `at`.
fn end_of_value<const ID: usize>(rest: &[u8], at: usize) -> Result<usize, Bad> {
    let code = *rest.get(at).ok_or(Bad::Short)?;
    let kind = FieldType::new(code).ok_or(Bad::Type(code))?;
    let end = at + 1 + usize::from(kind.bytes(ID as u8));
    if end <= rest.len() { Ok(end) } else { Err(Bad::Short) }
}

/// The reason why bytes are not a sub-record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// It continues after the last byte.
    Short,
    Tag,
    Type(u8),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_checked() {
        let header = [b"JAVA PROFILE 1.0.2\0".as_slice(), &[0, 0, 0, 8], &[0, 0, 0, 0, 0, 0, 1, 0]].concat();
        let parsed = Header::parse(&header).expect("a header");
        assert_eq!(parsed, Header { version: "1.0.2", id_bytes: 8, time_ms: 256, length: 31 });
        assert!(matches!(Header::parse(&header[..30]), Err(Damage::Ends { .. })));
        let odd = [b"JAVA PROFILE 1.0.2\0".as_slice(), &[0, 0, 0, 3], &[0; 8]].concat();
        assert!(matches!(Header::parse(&odd), Err(Damage::Unexpected { offset: 19, .. })));
    }

    #[test]
    fn sub_records_follow_each_other() {
        let body = [
            0x05, 0, 0, 1, 0, // sticky class 0x100
            0x01, 0, 0, 2, 0, 0, 0, 9, 9, // JNI global 0x200 of a handle
            0x03, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 2, // Java frame: thread 1, frame 2
            0x23, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 3, 9, 1, 2, 3, 4, 5, 6, // short[3]
            0x22, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 2, 0, // an array of one reference
            0x44,
        ];
        let mut parts = SubRecords::<4>::new(&body);
        let mut next = || parts.next();
        let root = |tag, object, thread, place| Root { tag, object, thread, place };
        assert!(matches!(next(), Ok(Some(SubRecord::Root(found))) if found == root(5, 0x100, None, None)));
        assert!(matches!(next(), Ok(Some(SubRecord::Root(found))) if found == root(1, 0x200, None, None)));
        assert!(matches!(next(), Ok(Some(SubRecord::Root(found))) if found == root(3, 0x300, Some(1), Some(2))));
        assert!(matches!(next(), Ok(Some(SubRecord::PrimitiveArray { count: 3, element: FieldType::Short, .. }))));
        assert!(matches!(next(), Ok(Some(SubRecord::ObjectArray { class: 0x100, elements: [0, 0, 2, 0], .. }))));
        assert!(matches!(next(), Err(Bad::Tag)));
        assert_eq!(parts.offset(), body.len() - 1);
    }
}
