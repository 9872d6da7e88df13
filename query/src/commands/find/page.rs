//! The next page of a long list, as `find`, `list` and `processes` show it.

use std::ops::Range;

use barrow_processes::{ImageId, ProcessTree};

use crate::answer::{Answer, Column, Table, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::session::listed::Listed;
use crate::tables::known_in_part;

/// The rows of a list that an answer shows.
pub(crate) struct ListPage {
    pub(crate) rows: Range<usize>,
    /// Every row is made, piece by piece.
    pub(crate) is_whole: bool,
    /// The rows before a window were passed over.
    pub(crate) has_skipped: bool,
    /// The number of rows of a page was given.
    is_sized: bool,
    /// Number of rows of the list.
    total: usize,
}

impl ListPage {
    /// The page that follows the first `shown` of `total` rows; `size` is the number of rows of a page, if given.
    pub(crate) fn next(ask: &Ask, size: Option<usize>, shown: usize, total: usize) -> Self {
        let is_whole = ask.view.is_whole && size.is_none();
        let skip = ask.view.skip.filter(|_| is_whole);
        let start = skip.map_or(shown, |skip| usize::try_from(skip).unwrap_or(usize::MAX).min(total));
        let end = start.saturating_add(if is_whole { ask.view.piece } else { ask.ranking_rows(size) }).min(total);
        ListPage { rows: start..end, is_whole, has_skipped: skip.is_some(), is_sized: size.is_some(), total }
    }

    /// Returns whether rows follow.
    pub(crate) fn has_more(&self) -> bool {
        self.rows.end < self.total
    }

    /// The reply with a table of processes, in which each row is one of `images`.
    pub(crate) fn of_processes(
        &self,
        ask: &Ask,
        tree: &ProcessTree,
        table: Table,
        images: &[ImageId],
        verb: &str,
    ) -> Reply {
        let answer = known_in_part::rows_of(Answer::default().table(table), tree, images);
        let answer = self.told(ask, answer, "row", verb);
        let answer = answer.note_if(self.total == 0, "no process matches");
        Reply::from(answer).listing_page(ask, Listed::of_images(images.iter().copied())).skipping(self.has_skipped)
    }

    /// Adds whether the answer is complete, and how `verb` shows more of its rows. Each row is a `thing`.
    pub(crate) fn told(&self, ask: &Ask, mut answer: Answer, thing: &str, verb: &str) -> Answer {
        let is_cut = self.has_more() && !self.is_whole;
        answer = answer.fact(Column::text("complete").own_words().for_machines(), !is_cut);
        answer.goes_on = self.has_more() && self.is_whole;
        answer.all_rows = self.is_whole.then_some(self.total as u64);
        if !is_cut {
            return answer;
        }
        let way = if ask.view.is_paged { "`more`".to_owned() } else { format!("`{verb} N …` lists N") };
        let all = units::counted(self.total as u64, thing);
        let note = format!("… {} of {all} that match: {way}", units::grouped(self.rows.end as u64));
        if self.is_sized { answer.note(note) } else { answer.cut(note) }
    }
}
