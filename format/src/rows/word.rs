//! Words: strings that the recorder says itself, whatever program it records.

use super::Row;
use crate::error::Result;
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;
use crate::numbered::numbered_enum;

/// A row that marks a string as a word.
const WORD: u64 = 0;

numbered_enum! {
    /// The part of a string that a word is.
    pub enum WordPlace("place of a word", up to 4) {
        /// All of it.
        Whole = 0,
        /// Its beginning; a name follows.
        BeforeNames = 1,
        /// Its end, after a name.
        BehindNames = 2,
        /// Its beginning; a number follows.
        BeforeNumbers = 3,
        /// All of it, where it is the name of a kind or of a strength.
        Kind = 4,
    }
}

numbered_enum! {
    /// The values of a word that is a key. Where several rows mark a word, the largest number holds.
    pub enum WordValues("values of a word", up to 2) {
        /// Texts of the program or of its surroundings; also of a word that is no key.
        Texts = 0,
        /// Names of the program, such as paths.
        Names = 1,
        /// Versions, counts and settings, or words of the recorder.
        Settings = 2,
    }
}

/// A string that is a word of the recorder: a kind, a category of roots, a metric, a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordRow {
    /// The word.
    pub text: StringId,
    /// Where it stands in strings.
    pub place: WordPlace,
    /// Its values, where it is a key.
    pub values: WordValues,
}

/// A row of a kind, of a place or of values that are not known to this version is `None`.
impl Row for Option<WordRow> {
    const SECTION: SectionType = SectionType::WORDS;
    const NAME: &'static str = "word";
    const HAS_LENGTH: bool = true;

    fn put(&self, out: &mut Vec<u8>) {
        let Some(word) = self else { return put_varint(out, WORD + 1) };
        for number in [WORD, word.text.0.into(), word.place.number(), word.values.number()] {
            put_varint(out, number);
        }
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        if fields.varint()? != WORD {
            return Ok(None);
        }
        let text = StringId(fields.varint_u32()?);
        let (place, values) = (WordPlace::from_number(fields.varint()?), WordValues::from_number(fields.varint()?));
        Ok(place.ok().zip(values.ok()).map(|(place, values)| WordRow { text, place, values }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Compression, Compressor, Decompressor};
    use crate::rows::{Chunk, encode_chunk};

    fn read(directory: &[u8], body: &[u8]) -> Vec<Option<WordRow>> {
        let mut rows = Vec::new();
        let push = |row| {
            rows.push(row);
            Ok(())
        };
        Chunk::parse(directory, body).unwrap().for_each(&mut Decompressor::new(), push).unwrap();
        rows
    }

    #[test]
    fn words_are_read_back_and_unknown_ones_skipped() {
        let row = |number| {
            let (place, values) = (WordPlace::from_number(number), WordValues::from_number(number % 3));
            Some(WordRow { text: StringId(300 + number as u32), place: place.unwrap(), values: values.unwrap() })
        };
        let rows: Vec<Option<WordRow>> = (0..5).map(row).chain([None]).collect();
        let mut compressor = Compressor::new(Compression::None).unwrap();
        let (directory, mut body) = encode_chunk(0, &rows, &mut compressor).unwrap();
        assert_eq!(read(&directory, &body), rows);
        // A place of a later version.
        assert_eq!(body[..6], [5, 0, 0xac, 2, 0, 0]);
        body[4] = 5;
        assert_eq!(read(&directory, &body)[..2], [None, rows[1]]);
    }
}
