//! The fields of one line, as `recorders/python/dump_heap.py` writes them.

use crate::error::Damage;
use crate::heaps::json_lines::{Scanner, Text};

/// One line: the header, an object, a group of roots, or the end.
#[derive(Debug, Default)]
pub(crate) struct Line<'a> {
    /// Kind of the first or last line.
    pub(crate) barrow: Option<Text<'a>>,
    pub(crate) version: Option<u64>,
    pub(crate) python: Option<Text<'a>>,
    pub(crate) pid: Option<u64>,
    pub(crate) is_collected: bool,
    /// Number of objects written, in the last line.
    pub(crate) objects: Option<u64>,

    pub(crate) address: Option<u64>,
    /// `object`, `type`, `frame` or `ROOT`.
    pub(crate) kind: &'a [u8],
    /// Category of a group of roots.
    pub(crate) root: Option<Text<'a>>,
    pub(crate) class: Option<u64>,
    pub(crate) size: Option<u64>,
    /// Number of elements of a container, of characters of a string, or of bytes.
    pub(crate) length: Option<u64>,
    /// Number of elements or bytes that fit into it.
    pub(crate) capacity: Option<u64>,
    /// A text for people: the value of a string or number, the name of a function.
    pub(crate) name: Option<Text<'a>>,
    /// Module that defines a type.
    pub(crate) module: Option<Text<'a>>,
    pub(crate) base: Option<u64>,
    /// Bases of a type, except the first one and that one's bases.
    pub(crate) further_bases: Vec<u64>,
    /// Names of attributes that instances of a type have, although the dump may not have them.
    pub(crate) computed: Vec<Text<'a>>,
    /// Function called in a frame.
    pub(crate) function: Option<Text<'a>>,
    pub(crate) file: Option<Text<'a>>,
    pub(crate) line: Option<u64>,
    /// Number of references, from the first on, that are elements of a list or tuple.
    pub(crate) elements: u64,
}

/// The references of a line.
#[derive(Debug, Default)]
pub(crate) struct References<'a> {
    pub(crate) strong: Vec<u64>,
    pub(crate) weak: Vec<u64>,
    /// Labels of the references after the elements; may be fewer.
    pub(crate) labels: Vec<Option<Text<'a>>>,
}

impl<'a> References<'a> {
    /// Empty references that reuse this memory.
    pub(crate) fn recycled<'b>(mut self) -> References<'b> {
        self.strong.clear();
        self.weak.clear();
        self.labels.clear();
        // Collecting an emptied vector in place keeps its memory.
        let labels = self.labels.into_iter().map(|_| None).collect();
        References { strong: self.strong, weak: self.weak, labels }
    }
}

impl<'a> Line<'a> {
    /// Reads `text`, which is at `offset`; references go to `references`, which is empty.
    #[inline]
    pub(crate) fn read(text: &'a [u8], offset: u64, references: &mut References<'a>) -> Result<Self, Damage> {
        let mut line = Line::default();
        let mut scanner = Scanner::new(text, offset);
        scanner.object(|scanner, key| {
            match key {
                // If a key occurs twice, the first counts, since the survey reads only the first.
                b"address" if line.address.is_none() => line.address = scanner.address()?,
                b"type" if line.kind.is_empty() => line.kind = scanner.text()?.map_or(&b""[..], |text| text.raw),
                b"class" => line.class = scanner.address()?,
                b"size" => line.size = scanner.integer()?,
                b"length" => line.length = scanner.integer()?,
                b"capacity" => line.capacity = scanner.integer()?,
                b"name" => line.name = scanner.text()?,
                b"references" => scanner.addresses(&mut references.strong)?,
                b"elements" => line.elements = scanner.integer()?.unwrap_or(0),
                b"labels" => scanner.array(|scanner| {
                    references.labels.push(scanner.text()?);
                    Ok(())
                })?,
                b"weak" => scanner.addresses(&mut references.weak)?,
                b"root" => line.root = scanner.text()?,
                b"module" => line.module = scanner.text()?,
                b"base" => line.base = scanner.address()?,
                b"further_bases" => scanner.addresses(&mut line.further_bases)?,
                b"computed" => scanner.array(|scanner| {
                    line.computed.extend(scanner.text()?);
                    Ok(())
                })?,
                b"function" => line.function = scanner.text()?,
                b"file" => line.file = scanner.text()?,
                b"line" => line.line = scanner.integer()?,
                b"barrow" => line.barrow = scanner.text()?,
                b"version" => line.version = scanner.integer()?,
                b"python" => line.python = scanner.text()?,
                b"pid" => line.pid = scanner.integer()?,
                b"collected" => line.is_collected = scanner.boolean()?,
                b"objects" => line.objects = scanner.integer()?,
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        scanner.end()?;
        Ok(line)
    }
}
