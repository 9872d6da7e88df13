//! The texts of strings and string builders. The characters are in an array elsewhere in the dump.
//!
//! ```text
//!   java.lang.String   value ──▶ byte[]             coder 0: Latin-1, 1: UTF-16       since JDK 9
//!                      value ──▶ char[]             offset and count up to JDK 6      before
//!                      value ──▶ byte[] or char[]                                     Android
//!   StringBuilder      value ──▶ the same           of which count characters are used
//! ```

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::context::Context;
use crate::error::ImportError;

use super::classes::Classes;
use super::outline::{Outline, for_each_object};
use super::records::{FieldType, SubRecord, id};

/// The total length of all texts is at most the first number of bytes for each byte of the dump, plus the second. In
/// a heap of nothing but strings that share their arrays, these may have 800 bytes on average. No real dump has more.
const MOST_FOR_EACH_BYTE: u64 = 16;
const MOST_BESIDE: u64 = 64 << 20;

const STRING: &str = "java.lang.String";
/// The same in the spelling of class files.
pub(super) const STRING_FILE_NAME: &str = "java/lang/String";

/// Bytes reserved for the mark of omitted characters.
const MARK_BYTES: usize = 64;

/// Reads the texts of strings and string builders.
pub(super) struct Texts<'o, 'a, const ID: usize> {
    outline: &'o Outline<'a>,
    /// `java.lang.String` comes first.
    fields: Vec<TextFields>,
    /// UTF-16 in a `byte[]` is big-endian; it has the byte order of the machine.
    is_big_endian: bool,
    longest: usize,
}

/// Offsets of the fields of a class of texts in the values of an instance.
#[derive(Debug, Clone, Copy)]
struct TextFields {
    /// The number of the class.
    class: usize,
    value: usize,
    coder: Option<usize>,
    /// If the text may be a part of the array: the field with the index of the first character, and that with their
    /// number.
    part: Option<(Option<usize>, usize)>,
}

impl<'o, 'a, const ID: usize> Texts<'o, 'a, ID> {
    /// For texts of at most `longest` bytes. `None` if the dump has no strings.
    pub(super) fn new(outline: &'o Outline<'a>, classes: &Classes<'_, 'a, ID>, longest: usize) -> Option<Self> {
        let fields = [STRING, "java.lang.StringBuilder", "java.lang.StringBuffer"];
        let fields: Vec<TextFields> =
            fields.into_iter().filter_map(|name| Self::find(classes, classes.find(name)?)).collect();
        if fields.first().is_none_or(|fields| classes.name(fields.class) != STRING) {
            return None;
        }
        // The shift of the first of two bytes: 8 if the high byte comes first.
        let is_big_endian = classes.find("java.lang.StringUTF16").is_some_and(|number| {
            let mut statics = outline.classes[number].statics::<ID>();
            statics.any(|(name, _, value)| {
                outline.names.text(name).as_deref() == Some("HI_BYTE_SHIFT") && value == 8_i32.to_be_bytes()
            })
        });
        Some(Texts { outline, fields, is_big_endian, longest })
    }

    /// Finds the fields of a class of texts, its own and those of its superclasses.
    fn find(classes: &Classes<'_, 'a, ID>, class: usize) -> Option<TextFields> {
        let (mut value, mut coder, mut offset, mut count) = (None, None, None, None);
        let mut at = 0;
        for (name, kind) in classes.all_fields(class) {
            match (name.as_deref(), kind) {
                (Some("value"), FieldType::Reference) => value = Some(at),
                (Some("coder"), FieldType::Byte) => coder = Some(at),
                (Some("offset"), FieldType::Int) => offset = Some(at),
                (Some("count"), FieldType::Int) => count = Some(at),
                _ => {}
            }
            at += usize::from(kind.bytes(ID as u8));
        }
        // The `count` of Android's strings is something else.
        let is_part = offset.is_some() || classes.name(class) != STRING;
        let part = count.filter(|_| is_part).map(|count| (offset, count));
        Some(TextFields { class, value: value?, coder, part })
    }

    /// Returns whether instances of the class with this number are texts.
    #[inline]
    pub(super) fn has(&self, class: usize) -> bool {
        self.fields.iter().any(|fields| fields.class == class)
    }

    /// Maximum total length of the texts of the dump, in bytes.
    pub(super) fn most_bytes(&self) -> u64 {
        self.outline.dump.len() as u64 * MOST_FOR_EACH_BYTE + MOST_BESIDE
    }

    /// Writes the text of an instance with these fields to `text`, which is empty. Returns whether it is whole;
    /// `None` if its array is not in the dump.
    pub(super) fn read(&self, class: usize, fields: &[u8], text: &mut String) -> Option<bool> {
        let of_class = self.fields.iter().find(|fields| fields.class == class)?;
        let value = id::<ID>(fields.get(of_class.value..of_class.value + ID)?);
        let array = self.outline.addresses.number(value)?;
        let SubRecord::PrimitiveArray { element, elements, .. } = self.outline.object::<ID>(array)? else {
            return None;
        };
        let is_wide = of_class.coder.and_then(|at| fields.get(at)) == Some(&1);
        let elements = match of_class.part {
            Some((offset, count)) => {
                let width = if is_wide { 2 } else { usize::from(element.bytes(ID as u8)) };
                let offset = offset.map_or(Some(0), |offset| int_at(fields, offset))?.checked_mul(width)?;
                elements.get(offset..)?.get(..int_at(fields, count)?.checked_mul(width)?)?
            }
            None => elements,
        };
        match element {
            FieldType::Char => Some(self.utf16(elements, u16::from_be_bytes, text)),
            FieldType::Byte if is_wide && self.is_big_endian => Some(self.utf16(elements, u16::from_be_bytes, text)),
            FieldType::Byte if is_wide => Some(self.utf16(elements, u16::from_le_bytes, text)),
            FieldType::Byte => Some(self.latin1(elements, text)),
            _ => None,
        }
    }

    /// Returns whether an instance of a class of texts has no array: its field is null, so it has no characters.
    pub(super) fn has_none(&self, class: usize, fields: &[u8]) -> bool {
        let of_class = self.fields.iter().find(|fields| fields.class == class);
        let value = of_class.and_then(|of_class| fields.get(of_class.value..of_class.value + ID));
        value.is_some_and(|value| id::<ID>(value) == 0)
    }

    fn latin1(&self, bytes: &[u8], text: &mut String) -> bool {
        if bytes.len() <= self.longest
            && let Ok(ascii) = str::from_utf8(bytes)
            && ascii.is_ascii()
        {
            text.push_str(ascii);
            return true;
        }
        append(bytes.iter().map(|&byte| Ok(char::from(byte))), bytes.len(), self.longest, text)
    }

    fn utf16(&self, bytes: &[u8], unit: fn([u8; 2]) -> u16, text: &mut String) -> bool {
        append(utf16_characters(bytes, unit), bytes.len() / 2, self.longest, text)
    }

    /// Finds the arrays of strings, whose contents are the texts of the strings, on all threads of the current pool.
    pub(super) fn arrays(&self, context: &Context<'_>) -> Result<OwnArrays, ImportError> {
        let outline = self.outline;
        context.progress.begin("finding the arrays of strings", outline.dump.len() as u64, "bytes");
        let arrays = OwnArrays((0..outline.objects().div_ceil(64)).map(|_| AtomicU64::new(0)).collect());
        let class = outline.classes[self.fields[0].class].address;
        outline.chunks.par_iter().try_for_each(|chunk| {
            context.check_cancelled()?;
            if outline.string_class == Some(class) {
                chunk.strings::<ID>().for_each(|string| self.add_array(string, &arrays));
            } else {
                for_each_object::<ID>(chunk, |_, part| {
                    if matches!(part, SubRecord::Instance { class: of, .. } if of == class) {
                        self.add_array(part, &arrays);
                    }
                });
            }
            context.progress.advance(chunk.bytes.len() as u64);
            Ok::<_, ImportError>(())
        })?;
        Ok(arrays)
    }

    /// Adds the array of a string to the set.
    fn add_array(&self, string: SubRecord<'_>, arrays: &OwnArrays) {
        if let SubRecord::Instance { fields, .. } = string
            && let Some(value) = fields.get(self.fields[0].value..self.fields[0].value + ID)
            && let Some(array) = self.outline.addresses.number(id::<ID>(value))
        {
            // Relaxed: the threads end before the bits are read.
            arrays.0[array as usize / 64].fetch_or(1 << (array % 64), Ordering::Relaxed);
        }
    }
}

/// A set of arrays, by object number.
pub(super) struct OwnArrays(Vec<AtomicU64>);

impl OwnArrays {
    pub(super) fn contain(&self, number: u64) -> bool {
        let bits = self.0.get((number / 64) as usize);
        bits.is_some_and(|bits| bits.load(Ordering::Relaxed) >> (number % 64) & 1 == 1)
    }
}

/// The value of an `int` field that is not negative.
fn int_at(fields: &[u8], at: usize) -> Option<usize> {
    let value = i32::from_be_bytes(fields.get(at..at + 4)?.try_into().ok()?);
    usize::try_from(value).ok()
}

/// Decodes UTF-16; an unpaired surrogate is an error.
pub(super) fn utf16_characters(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> impl Iterator<Item = Result<char, u16>> {
    let units = bytes.chunks_exact(2).map(move |pair| unit(pair.try_into().expect("2 bytes")));
    char::decode_utf16(units).map(|character| character.map_err(|lone| lone.unpaired_surrogate()))
}

/// Appends the characters that fit in `longest` bytes. Returns whether these are all. `length` is the length of the
/// text in Java. An unpaired surrogate is written as `\uD83D`.
pub(super) fn append(
    characters: impl Iterator<Item = Result<char, u16>>,
    length: usize,
    longest: usize,
    text: &mut String,
) -> bool {
    let mut shortened = 0;
    for character in characters {
        match character {
            Ok(character) => text.push(character),
            Err(lone) => {
                let _ = write!(text, "\\u{lone:04X}");
            }
        }
        if text.len() + MARK_BYTES <= longest {
            shortened = text.len();
        }
        if text.len() > longest {
            text.truncate(shortened);
            let _ = write!(text, "… ({length} characters)");
            return false;
        }
    }
    true
}
