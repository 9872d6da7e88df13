//! The fields of one line, as Ruby 2.7 to 3.4 write them.

use crate::error::Damage;
use crate::heaps::json_lines::{Scanner, Text};

/// One line of a dump: an object, a shape or a group of roots. Fields that are not recorded (`frozen`, `flags` and so
/// on) are skipped.
#[derive(Debug, Default)]
pub(crate) struct Line<'a> {
    pub(crate) address: Option<u64>,
    /// `STRING`, `CLASS` and so on.
    pub(crate) kind: &'a [u8],
    /// Category of a group of roots.
    pub(crate) root: Option<Text<'a>>,
    pub(crate) class: Option<u64>,
    pub(crate) superclass: Option<u64>,
    /// Default proc of a hash.
    pub(crate) default: Option<u64>,
    /// Name of a class.
    pub(crate) name: Option<Text<'a>>,
    /// Name of the class of a singleton class's object.
    pub(crate) real_class_name: Option<Text<'a>>,
    pub(crate) is_singleton: bool,
    /// Name of the C structure that a `DATA` wraps.
    pub(crate) structure: Option<Text<'a>>,
    /// Role of an `IMEMO` in the virtual machine.
    pub(crate) imemo_type: Option<Text<'a>>,
    /// Method of an `IMEMO` that is a method entry.
    pub(crate) method_id: Option<Text<'a>>,
    /// The text of a string, symbol or float.
    pub(crate) value: Option<Text<'a>>,
    /// Number of elements of an array, or of entries of a hash, where the key is `size`.
    pub(crate) length: Option<u64>,
    pub(crate) string: StringFields<'a>,
    /// Number of instance variables of an `OBJECT`.
    pub(crate) ivars: Option<u64>,
    pub(crate) shape_id: Option<u64>,
    pub(crate) shape: Shape<'a>,
    pub(crate) memsize: Option<u64>,
    pub(crate) slot_size: Option<u64>,
    pub(crate) site: Site<'a>,
}

/// The fields of a string or symbol, apart from its text.
#[derive(Debug, Default)]
pub(crate) struct StringFields<'a> {
    pub(crate) bytes: Option<u64>,
    /// Absent if equal to `bytes`, and for embedded or shared strings.
    pub(crate) capacity: Option<u64>,
    pub(crate) is_embedded: bool,
    pub(crate) is_shared: bool,
    /// Encoding of a string; absent for `ASCII-8BIT`.
    pub(crate) encoding: Option<Text<'a>>,
    pub(crate) code_range: Option<Text<'a>>,
}

/// The fields of a `SHAPE`.
#[derive(Debug, Default)]
pub(crate) struct Shape<'a> {
    pub(crate) id: Option<u64>,
    pub(crate) parent_id: Option<u64>,
    pub(crate) shape_type: Option<Text<'a>>,
    pub(crate) edge_name: Option<Text<'a>>,
}

/// The place where an object was allocated, if that was traced.
#[derive(Debug, Default)]
pub(crate) struct Site<'a> {
    pub(crate) file: Option<Text<'a>>,
    pub(crate) line: Option<u64>,
    pub(crate) method: Option<Text<'a>>,
    /// Number of the collection since the process began, which gives the time.
    pub(crate) generation: Option<u64>,
    /// All but the generation, as bytes of the dump.
    pub(crate) written: &'a [u8],
}

/// State kept from one line to the next.
#[derive(Debug, Default)]
pub(crate) struct LineBuffers {
    /// The references of the last line.
    pub(crate) references: Vec<u64>,
    /// The flags of the last line: long, nearly always the same, and of no use.
    flags: Vec<u8>,
}

impl<'a> Line<'a> {
    /// Reads `text`, which is at `offset`.
    #[inline]
    pub(crate) fn read(text: &'a [u8], offset: u64, reading: &mut LineBuffers) -> Result<Self, Damage> {
        let LineBuffers { references, flags } = reading;
        references.clear();
        let mut line = Line::default();
        let mut scanner = Scanner::new(text, offset);
        let mut site_start = None;
        scanner.object(|scanner, key| {
            match key {
                // If a key occurs twice, the first counts, since the survey reads only the first.
                b"address" if line.address.is_none() => line.address = scanner.address()?,
                b"type" if line.kind.is_empty() => line.kind = scanner.text()?.map_or(&b""[..], |text| text.raw),
                b"class" => line.class = scanner.address()?,
                b"references" => scanner.addresses(references)?,
                b"value" => line.value = scanner.text()?,
                b"bytesize" => line.string.bytes = scanner.integer()?,
                b"capacity" => line.string.capacity = scanner.integer()?,
                b"embedded" => line.string.is_embedded = scanner.boolean()?,
                b"shared" => line.string.is_shared = scanner.boolean()?,
                b"encoding" => line.string.encoding = scanner.text()?,
                b"coderange" => line.string.code_range = scanner.text()?,
                b"length" | b"size" => line.length = scanner.integer()?,
                b"memsize" => line.memsize = scanner.integer()?,
                b"slot_size" => line.slot_size = scanner.integer()?,
                b"shape_id" => line.shape_id = scanner.integer()?,
                b"file" => {
                    site_start = Some(scanner.place());
                    line.site.file = scanner.text()?;
                    line.site.written = scanner.since(site_start.unwrap_or_default());
                }
                b"line" => {
                    line.site.line = scanner.integer()?;
                    line.site.written = scanner.since(site_start.unwrap_or_default());
                }
                b"method" => {
                    line.site.method = scanner.text()?;
                    line.site.written = scanner.since(site_start.unwrap_or_default());
                }
                b"generation" => line.site.generation = scanner.integer()?,
                b"flags" => scanner.skip_again(flags)?,
                b"ivars" => line.ivars = scanner.integer()?,
                b"superclass" => line.superclass = scanner.address()?,
                b"name" => line.name = scanner.text()?,
                b"real_class_name" => line.real_class_name = scanner.text()?,
                b"singleton" => line.is_singleton = scanner.boolean()?,
                b"default" => line.default = scanner.address()?,
                b"struct" => line.structure = scanner.text()?,
                b"imemo_type" => line.imemo_type = scanner.text()?,
                b"mid" => line.method_id = scanner.text()?,
                b"root" => line.root = scanner.text()?,
                b"id" => line.shape.id = scanner.integer()?,
                b"parent_id" => line.shape.parent_id = scanner.integer()?,
                b"shape_type" => line.shape.shape_type = scanner.text()?,
                b"edge_name" => line.shape.edge_name = scanner.text()?,
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        scanner.end()?;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_stand_in_any_order() {
        let mut reading = LineBuffers { references: vec![7], flags: Vec::new() };
        let text = br#"{"type":"STRING","unknown":{"a":[1]},"method":"read","line":3,"file":"a.rb","references":["0x10", "0x20"],"address":"0x8"}"#;
        let line = Line::read(text, 0, &mut reading).expect("JSON");
        assert_eq!((line.address, line.kind), (Some(8), &b"STRING"[..]));
        assert_eq!(reading.references, [0x10, 0x20]);
        assert_eq!(line.site.line, Some(3));
        assert_eq!(line.site.file.map(|file| file.decode().into_owned()), Some("a.rb".to_string()));
    }
}
