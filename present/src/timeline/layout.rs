//! Places in a line of a timeline: a time, columns for processes, and how many more run.

/// Characters before the first column: a time.
pub(super) const GUTTER: usize = 10;
/// Characters after the last column: how many more processes run.
const MORE: usize = 4;
/// Characters of a column.
pub(super) const COLUMN: usize = 2;

/// Columns that have room in lines of `width` characters.
pub(super) fn columns(width: usize) -> u32 {
    u32::try_from(limit(width) / COLUMN).unwrap_or(u32::MAX)
}

/// Characters of all columns in lines of `width` characters.
pub(super) fn limit(width: usize) -> usize {
    width.saturating_sub(GUTTER + MORE)
}

/// Characters between a process and the next one to its right, or the end of the columns.
pub(super) fn room(width: usize, column: u32, next: Option<u32>) -> usize {
    let from = place(column) + COLUMN;
    next.map_or(limit(width), |next| place(next).saturating_sub(1)).saturating_sub(from)
}

/// The first character of a column.
pub(super) fn place(column: u32) -> usize {
    column as usize * COLUMN
}
