//! What the rows of a table may take in the memory of a reader.
//!
//! A reader decodes strings chunk by chunk, when a question needs one of them, so a file may hold any number of them. It
//! holds all other rows that questions need at once. A chunk can compress ten thousandfold, so the length of a file says
//! nothing about what its rows take; the limit is therefore a number that writers and readers both know.

use crate::frame::SectionType;

/// What one row takes in memory, apart from its bytes.
const ROW_BYTES: u64 = 64;
/// The limit for tables that grow with the program: types, shapes, fields, sites, and the threads of one snapshot.
const LARGE_TABLE_BYTES: u64 = 512 << 20;
/// The limit for the roots of one snapshot.
const ROOTS_BYTES: u64 = 1 << 30;
/// The limit for processes, of which there are a few rows each, and for measurements.
const LOG_BYTES: u64 = 4 << 30;
/// The limit for the other ones: facts, kinds and strengths.
const SMALL_TABLE_BYTES: u64 = 16 << 20;

/// What rows of a table take in memory, by the format's rule: 64 bytes each, and their encoded bytes multiplied by what
/// the smallest of their fields grows by.
#[must_use]
pub fn table_memory_bytes(section: SectionType, raw_bytes: u64, rows: u64) -> u64 {
    // A label of a shape takes eight bytes, an attribute of a type, site or thread four, for one in the chunk.
    let factor = match section {
        SectionType::SHAPES => 8,
        SectionType::TYPES | SectionType::SITES | SectionType::THREADS => 4,
        _ => 1,
    };
    raw_bytes.saturating_mul(factor).saturating_add(rows.saturating_mul(ROW_BYTES))
}

/// The most that [`table_memory_bytes`] may be for a table that a writer writes; `None` if there is no limit.
#[must_use]
pub fn table_memory_limit(section: SectionType) -> Option<u64> {
    match section {
        SectionType::TYPES | SectionType::SHAPES | SectionType::FIELDS | SectionType::SITES | SectionType::THREADS => {
            Some(LARGE_TABLE_BYTES)
        }
        SectionType::ROOTS => Some(ROOTS_BYTES),
        SectionType::PROCESSES | SectionType::MEASUREMENTS => Some(LOG_BYTES),
        SectionType::META | SectionType::KINDS | SectionType::STRENGTHS => Some(SMALL_TABLE_BYTES),
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
        _ => "memory for tables",
    }
}
