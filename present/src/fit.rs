//! Makes a table as wide as a terminal: long texts are cut in the middle, and if that is not enough, columns that say
//! least are left out.

/// Blanks between two columns: one could be a blank in a text.
pub(crate) const GAP: usize = 2;
/// A text is not cut below this width while a column can be left out instead: half of a terminal of 80 columns tells
/// most names apart. This is a judgement.
const WIDE_TEXT: usize = 40;
/// A text is never cut below this width, as less of it names nothing. This is a judgement.
const NARROW_TEXT: usize = 12;

/// A column as it would be drawn with room for everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnSize {
    /// The width of its widest cell, the heading included.
    pub(crate) width: usize,
    /// Its cells may be cut. Numbers never are.
    pub(crate) is_text: bool,
    /// It may be left out.
    pub(crate) is_secondary: bool,
}

/// The width of each column, so that all are at most `room` wide together; `None` for one that is left out. A table
/// that cannot be that narrow comes as narrow as it can be.
pub(crate) fn widths(columns: &[ColumnSize], room: usize) -> Vec<Option<usize>> {
    let mut widths: Vec<Option<usize>> = columns.iter().map(|column| Some(column.width)).collect();
    shrink(columns, &mut widths, room, WIDE_TEXT);
    for at in (0..columns.len()).rev().filter(|&at| columns[at].is_secondary) {
        if total(&widths) <= room {
            break;
        }
        widths[at] = None;
    }
    // Columns that are left out may have made room for texts that were cut before.
    for (width, column) in widths.iter_mut().zip(columns) {
        *width = width.map(|_| column.width);
    }
    shrink(columns, &mut widths, room, WIDE_TEXT);
    shrink(columns, &mut widths, room, NARROW_TEXT);
    widths
}

fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
}

/// Narrows the widest text again and again, none below `least`.
fn shrink(columns: &[ColumnSize], widths: &mut [Option<usize>], room: usize, least: usize) {
    let mut excess = total(widths).saturating_sub(room);
    while excess > 0 {
        let texts =
            (0..columns.len()).filter(|&at| columns[at].is_text && widths[at].is_some_and(|width| width > least));
        let Some(widest) = texts.max_by_key(|&at| widths[at]) else { return };
        widths[widest] = widths[widest].map(|width| width - 1);
        excess -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(width: usize, is_text: bool, is_secondary: bool) -> ColumnSize {
        ColumnSize { width, is_text, is_secondary }
    }

    #[test]
    fn what_has_room_stays() {
        let columns = [column(5, false, false), column(60, true, false)];
        assert_eq!(widths(&columns, 67), [Some(5), Some(60)]);
        assert_eq!(widths(&columns, 200), [Some(5), Some(60)]);
    }

    #[test]
    fn texts_are_cut_before_columns_go_and_after() {
        let columns = [column(70, true, false), column(10, false, false), column(8, true, true)];
        assert_eq!(widths(&columns, 80), [Some(58), Some(10), Some(8)]);
        assert_eq!(widths(&columns, 60), [Some(48), Some(10), None]);
        assert_eq!(widths(&columns, 40), [Some(28), Some(10), None]);
        // Numbers are never cut.
        assert_eq!(widths(&columns, 10), [Some(12), Some(10), None]);
    }

    #[test]
    fn any_room_is_kept_where_that_is_possible() {
        for room in 0..200 {
            let columns =
                [column(90, true, false), column(7, false, true), column(30, true, true), column(9, false, false)];
            let widths = widths(&columns, room);
            assert!(total(&widths) <= room.max(NARROW_TEXT + 9 + GAP), "{room}: {widths:?}");
        }
    }
}
