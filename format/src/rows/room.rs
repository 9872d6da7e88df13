//! Limits of the memory that the rows of a table take in a reader.
//!
//! A reader decodes strings chunk by chunk, when a question needs one of them, so a file may hold any number of them.
//! All other rows that a question needs are held in memory at once. A chunk can compress ten thousandfold, so the
//! length of a file does not bound the memory of its rows; the limit is therefore a number that writers and readers
//! share.

use crate::frame::SectionType;

/// Memory of one row, apart from its bytes.
const ROW_BYTES: u64 = 64;
/// The limit for tables that grow with the program: types, shapes, fields, sites, and the threads of one snapshot.
const LARGE_TABLE_BYTES: u64 = 512 << 20;
/// The limit for the roots of one snapshot.
const ROOTS_BYTES: u64 = 1 << 30;
/// The limit for processes, which have a few rows each, and for measurements.
const LOG_BYTES: u64 = 4 << 30;
/// The limit for the other ones: facts, kinds, strengths and words.
const SMALL_TABLE_BYTES: u64 = 16 << 20;

/// Memory of the rows of a table, by the format's rule: 64 bytes per row, and their encoded bytes multiplied by the
/// largest growth of any field.
#[must_use]
pub fn table_memory_bytes(section: SectionType, raw_bytes: u64, rows: u64) -> u64 {
    // A label of a shape takes eight bytes for one in the chunk; an attribute of a type, site or thread takes four.
    let factor = match section {
        SectionType::SHAPES => 8,
        SectionType::TYPES | SectionType::SITES | SectionType::THREADS => 4,
        _ => 1,
    };
    raw_bytes.saturating_mul(factor).saturating_add(rows.saturating_mul(ROW_BYTES))
}

/// Maximum of [`table_memory_bytes`] for a table that a writer writes; `None` if there is no limit.
#[must_use]
pub fn table_memory_limit(section: SectionType) -> Option<u64> {
    match section {
        SectionType::TYPES | SectionType::SHAPES | SectionType::FIELDS | SectionType::SITES | SectionType::THREADS => {
            Some(LARGE_TABLE_BYTES)
        }
        SectionType::ROOTS => Some(ROOTS_BYTES),
        SectionType::PROCESSES | SectionType::MEASUREMENTS => Some(LOG_BYTES),
        SectionType::META | SectionType::KINDS | SectionType::STRENGTHS | SectionType::WORDS => Some(SMALL_TABLE_BYTES),
        _ => None,
    }
}

/// The table whose memory is out of range, in errors.
#[must_use]
pub fn table_memory_name(section: SectionType) -> &'static str {
    match section {
        SectionType::TYPES => "memory for tables (TYPES)",
        SectionType::SHAPES => "memory for tables (SHAPES)",
        SectionType::FIELDS => "memory for tables (FIELDS)",
        SectionType::SITES => "memory for tables (SITES)",
        SectionType::THREADS => "memory for tables (THREADS)",
        SectionType::PROCESSES => "memory for tables (PROCESSES)",
        SectionType::MEASUREMENTS => "memory for tables (MEASUREMENTS)",
        SectionType::ROOTS => "memory for tables (ROOTS)",
        SectionType::META => "memory for tables (META)",
        SectionType::KINDS => "memory for tables (KINDS)",
        SectionType::STRENGTHS => "memory for tables (STRENGTHS)",
        SectionType::WORDS => "memory for tables (WORDS)",
        _ => "memory for tables",
    }
}
