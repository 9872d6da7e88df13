//! What strings say, and what they are built with. The characters are in an array elsewhere in the dump.
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
use super::records::{FieldType, Part, id};

/// All texts together have at most this many bytes for each byte of the dump, and so many more. In a heap of nothing but
/// strings that share their arrays, these may have 800 bytes on average. What goes beyond is no real dump.
const MOST_FOR_EACH_BYTE: u64 = 16;
const MOST_BESIDE: u64 = 64 << 20;

const STRING: &str = "java.lang.String";

/// Room for what says that characters are left out.
const MARK_BYTES: usize = 64;

/// Reads the texts of strings and of what they are built with.
pub(super) struct Texts<'o, 'a, const ID: usize> {
    outline: &'o Outline<'a>,
    /// Those of `java.lang.String` first.
    fields: Vec<TextFields>,
    /// Two bytes of UTF-16 in a `byte[]` are in the order of the machine.
    is_big_endian: bool,
    longest: usize,
}

/// Where the fields of a class of texts are among the values of an instance.
#[derive(Debug, Clone, Copy)]
struct TextFields {
    /// The number of the class.
    class: usize,
    value: usize,
    coder: Option<usize>,
    /// The field with the number of characters, if there may be more in the array, and that with the first one's index.
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
        // How far the first of two bytes is shifted: 8 where the high one comes first.
        let is_big_endian = classes.find("java.lang.StringUTF16").is_some_and(|number| {
            let mut statics = outline.classes[number].statics::<ID>();
            statics.any(|(name, _, value)| {
                outline.names.text(name).as_deref() == Some("HI_BYTE_SHIFT") && value == 8_i32.to_be_bytes()
            })
        });
        Some(Texts { outline, fields, is_big_endian, longest })
    }

    /// The fields of a class of texts, its own and those of its superclasses.
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

    /// Whether instances of the class with this number are texts.
    #[inline]
    pub(super) fn has(&self, class: usize) -> bool {
        self.fields.iter().any(|fields| fields.class == class)
    }

    /// How many bytes all texts of the dump may have together.
    pub(super) fn most_bytes(&self) -> u64 {
        self.outline.dump.len() as u64 * MOST_FOR_EACH_BYTE + MOST_BESIDE
    }

    /// Writes what an instance of a class of texts with these fields says to `text`, which is empty. Whether that is all
    /// of it; `None` if its array is not in the dump.
    pub(super) fn read(&self, class: usize, fields: &[u8], text: &mut String) -> Option<bool> {
        let of_class = self.fields.iter().find(|fields| fields.class == class)?;
        let value = id::<ID>(fields.get(of_class.value..of_class.value + ID)?);
        let array = self.outline.addresses.number(value)?;
        let Part::PrimitiveArray { element, elements, .. } = self.outline.object::<ID>(array)? else { return None };
        let is_wide = of_class.coder.and_then(|at| fields.get(at)) == Some(&1);
        let elements = match of_class.part {
            Some((offset, count)) => {
                let width = if is_wide { 2 } else { usize::from(element.bytes(ID as u8)) };
                let place = |at: usize| {
                    let place = i32::from_be_bytes(fields.get(at..at + 4)?.try_into().ok()?);
                    usize::try_from(place).ok()?.checked_mul(width)
                };
                let offset = offset.map_or(Some(0), place)?;
                elements.get(offset..)?.get(..place(count)?)?
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

    /// Whether an instance of a class of texts has no array at all: its field is null, so it has no characters.
    pub(super) fn has_none(&self, class: usize, fields: &[u8]) -> bool {
        let value = |of_class: &TextFields| fields.get(of_class.value..of_class.value + ID).map(id::<ID>);
        self.fields.iter().find(|fields| fields.class == class).and_then(value) == Some(0)
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

    /// The arrays of strings, by number: their contents are what the strings say. All threads of the current pool look.
    pub(super) fn arrays(&self, context: &Context<'_>) -> Result<OwnArrays, ImportError> {
        let outline = self.outline;
        context.progress.begin("finding the arrays of strings", outline.dump.len() as u64, "bytes");
        let arrays = OwnArrays((0..outline.objects().div_ceil(64)).map(|_| AtomicU64::new(0)).collect());
        let class = outline.classes[self.fields[0].class].address;
        outline.chunks.par_iter().try_for_each(|chunk| {
            context.check_cancelled()?;
            for_each_object::<ID>(chunk, |_, part| {
                if let Part::Instance { class: of, fields, .. } = part
                    && of == class
                    && let Some(value) = fields.get(self.fields[0].value..self.fields[0].value + ID)
                    && let Some(array) = outline.addresses.number(id::<ID>(value))
                {
                    // Relaxed: the threads end before the bits are read.
                    arrays.0[array as usize / 64].fetch_or(1 << (array % 64), Ordering::Relaxed);
                }
            });
            context.progress.advance(chunk.bytes.len() as u64);
            Ok::<_, ImportError>(())
        })?;
        Ok(arrays)
    }
}

/// A set of arrays.
pub(super) struct OwnArrays(Vec<AtomicU64>);

impl OwnArrays {
    pub(super) fn contain(&self, number: u64) -> bool {
        let bits = self.0.get((number / 64) as usize);
        bits.is_some_and(|bits| bits.load(Ordering::Relaxed) >> (number % 64) & 1 == 1)
    }
}

/// The characters of UTF-16; half of a pair of surrogates is an error.
pub(super) fn utf16_characters(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> impl Iterator<Item = Result<char, u16>> {
    let units = bytes.chunks_exact(2).map(move |pair| unit(pair.try_into().expect("2 bytes")));
    char::decode_utf16(units).map(|character| character.map_err(|lone| lone.unpaired_surrogate()))
}

/// Adds characters, as many as there is room for in `longest` bytes; whether all are added. `length` is what Java says of the
/// text. Half of a pair of surrogates is written as `\uD83D`.
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
