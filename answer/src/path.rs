//! Paths as people read them: what repeats is folded, and what has no room is left out of the middle.

use std::cmp::Reverse;
use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{BETWEEN_STEPS, units, visible};

/// The maximum number of steps that repeat together. This is a judgement: longer rounds are rare, and each length
/// takes another comparison per step.
const LONGEST_ROUND: usize = 6;
/// Fewer rounds or steps are not folded: that would hardly be shorter.
const LEAST_ROUNDS: usize = 3;
const LEAST_STEPS: usize = 6;
/// Of a longer path that does not fit, only this many parts at each end are considered: no terminal has room for more,
/// and the search for what fits stays short.
const CONSIDERED: usize = 50;

/// Steps of a path that repeat, or a single step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// The first step.
    pub start: usize,
    /// The number of steps of a round.
    pub period: usize,
    /// The number of rounds; 1 of a single step.
    pub rounds: usize,
}

impl Fold {
    /// All of its steps.
    #[must_use]
    pub fn steps(&self) -> Range<usize> {
        self.start..self.start + self.period * self.rounds
    }
}

/// Divides a path of `steps` steps into those that repeat and single ones. `is_same` compares two steps by their numbers.
/// Time: linear.
#[must_use]
pub fn folds(steps: usize, is_same: impl Fn(usize, usize) -> bool) -> Vec<Fold> {
    folds_from(steps, LEAST_ROUNDS, LEAST_STEPS, is_same)
}

/// A path with each round of what repeats once: paths that differ only in their rounds are equal so.
#[must_use]
pub fn once<T: PartialEq + Clone>(steps: &[T]) -> Vec<T> {
    let folds = folds_from(steps.len(), 2, 2, |one, other| steps[one] == steps[other]);
    folds.iter().flat_map(|fold| steps[fold.start..fold.start + fold.period].iter().cloned()).collect()
}

fn folds_from(
    steps: usize,
    least_rounds: usize,
    least_steps: usize,
    is_same: impl Fn(usize, usize) -> bool,
) -> Vec<Fold> {
    let (mut folds, mut start) = (Vec::new(), 0);
    while start < steps {
        let found = (1..=LONGEST_ROUND).map(|period| {
            let same = (start + period..steps).take_while(|&step| is_same(step - period, step)).count();
            Fold { start, period, rounds: same / period + 1 }
        });
        let long = found.filter(|fold| fold.rounds >= least_rounds && fold.steps().len() >= least_steps);
        let longest = long.max_by_key(|fold| (fold.steps().len(), Reverse(fold.period)));
        let fold = longest.unwrap_or(Fold { start, period: 1, rounds: 1 });
        start = fold.steps().end;
        folds.push(fold);
    }
    folds
}

/// `Node × 200,000`, or `(Node › Entry) × 100,000`.
#[must_use]
pub fn repeated(round: &[impl AsRef<str>], rounds: u64) -> String {
    let rounds = units::grouped(rounds);
    match round {
        [only] => format!("{} × {rounds}", only.as_ref()),
        several => {
            let several: Vec<&str> = several.iter().map(AsRef::as_ref).collect();
            format!("({}) × {rounds}", several.join(BETWEEN_STEPS))
        }
    }
}

/// A path with what repeats folded, in at most `room` columns. Both ends stay. Of the other steps those are left out first
/// that repeat a step, then those in the middle, and last those with a name of their own. If that is not enough, the text
/// loses its middle.
#[must_use]
pub fn fitted(steps: &[String], room: usize) -> String {
    let parts = parts(steps);
    let mut kept: Vec<usize> = (0..parts.len()).collect();
    if width(&parts, &kept) > room && parts.len() > 2 * CONSIDERED {
        kept.drain(CONSIDERED..parts.len() - CONSIDERED);
    }
    loop {
        let drawn = with_gaps(&parts, &kept);
        let middle = kept.len() / 2;
        let may_go = 1..kept.len().saturating_sub(1);
        let repeats = |at: usize| kept[..at].iter().any(|&before| parts[before].text == parts[kept[at]].text);
        let key = |at: &usize| (parts[kept[*at]].has_name(), !repeats(*at), at.abs_diff(middle));
        let least = || may_go.min_by_key(key);
        match if drawn.width() <= room { None } else { least() } {
            Some(least) => drop(kept.remove(least)),
            None => return cut(&drawn, room),
        }
    }
}

/// A text of at most `width` columns: a longer one loses its middle, since a path begins with its root and ends with what
/// it leads to.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let begin = taken(text.chars(), room.div_ceil(2));
    let end = taken(text.chars().rev(), room / 2);
    let begin: String = text.chars().take(begin).collect();
    let end: String = text.chars().skip(text.chars().count() - end).collect();
    format!("{}…{}", begin.trim_end(), end.trim_start())
}

/// Number of these characters that have room.
fn taken(characters: impl Iterator<Item = char>, room: usize) -> usize {
    let mut used = 0;
    characters
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        })
        .count()
}

/// A part of a path: a step, or steps that are folded.
struct Part {
    text: String,
    steps: usize,
}

impl Part {
    /// Returns whether it is one class, module or group of roots: people look for these.
    fn has_name(&self) -> bool {
        self.text.starts_with('[') || self.text.contains(' ') && !self.text.contains('(') && self.steps == 1
    }
}

fn parts(steps: &[String]) -> Vec<Part> {
    let folds = folds(steps.len(), |one, other| steps[one] == steps[other]);
    let part = |fold: Fold| {
        let round: Vec<_> =
            steps[fold.start..fold.start + fold.period].iter().map(|step| visible::cell(step)).collect();
        let text = if fold.rounds == 1 { round[0].to_string() } else { repeated(&round, fold.rounds as u64) };
        Part { text, steps: fold.steps().len() }
    };
    folds.into_iter().map(part).collect()
}

/// The parts that are kept, and how many steps are missing between them.
fn with_gaps(parts: &[Part], kept: &[usize]) -> String {
    let (mut drawn, mut next) = (Vec::new(), 0);
    for &at in kept {
        if at > next {
            drawn.push(format!("… {} …", parts[next..at].iter().map(|part| part.steps).sum::<usize>()));
        }
        drawn.push(parts[at].text.clone());
        next = at + 1;
    }
    drawn.join(BETWEEN_STEPS)
}

/// Columns of the parts, without those of gaps.
fn width(parts: &[Part], kept: &[usize]) -> usize {
    kept.iter().map(|&at| parts[at].text.width() + BETWEEN_STEPS.width()).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_path_keeps_its_ends_and_its_holder() {
        let steps = ["class Shop", "HashMap", "Node[]", "Node", "class Loader", "Node", "Node", "Order", "byte[]"];
        let steps = steps.map(str::to_owned);
        let whole = "class Shop › HashMap › Node[] › Node › class Loader › Node › Node › Order › byte[]";
        assert_eq!(fitted(&steps, usize::MAX), whole);
        let drawn = fitted(&steps, 60);
        assert_eq!(drawn, "class Shop › … 3 … › class Loader › … 2 … › Order › byte[]");
        assert_eq!(fitted(&steps, 52), "class Shop › … 3 … › class Loader › … 3 … › byte[]");
        assert_eq!(fitted(&steps, 27), "class Shop › … 7 … › byte[]");
        assert_eq!(fitted(&steps, 20), "class Shop…› byte[]");
        assert_eq!(fitted(&steps[..1], 10), "class Shop");
    }

    #[test]
    fn both_ends_stay_at_any_width() {
        let long: Vec<String> = (0..5000).map(|step| format!("Type{step}")).collect();
        for room in 20..200 {
            let drawn = fitted(&long, room);
            assert!(drawn.width() <= room && drawn.starts_with("Type0") && drawn.ends_with("Type4999"), "{drawn}");
        }
    }

    #[test]
    fn what_repeats_is_folded() {
        let cycle = format!("[root] {}Leak", "Context Object Function ".repeat(20));
        assert_eq!(fitted(&path(&cycle), 80), "[root] › (Context › Object › Function) × 20 › Leak");
        let list = format!("[root] Node {}Leak", "Node ".repeat(1999));
        assert_eq!(fitted(&path(&list), 80), "[root] › Node × 2,000 › Leak");
        // What is left of a round follows.
        assert_eq!(fitted(&path("R A B A B A B A Leak"), 80), "R › (A › B) × 3 › A › Leak");
        assert_eq!(fitted(&path("R A B A B Leak"), 80), "R › A › B › A › B › Leak");
    }

    #[test]
    fn paths_that_differ_in_their_rounds_are_equal_with_each_round_once() {
        let of = |rounds: usize, end: &str| once(&path(&format!("R {}{end}", "A B C ".repeat(rounds))));
        assert_eq!(of(20, "A"), path("R A B C A"));
        assert!([1, 2, 3, 7].into_iter().all(|rounds| of(rounds, "A") == of(20, "A")));
        assert_ne!(of(0, "A"), of(20, "A"));
        assert_ne!(of(20, "A B"), of(20, "A"));
    }

    #[test]
    fn folds_have_every_step_once_and_rounds_are_equal() {
        let mut state = 7_u64;
        for length in 0..200 {
            let steps: Vec<u64> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 60) & u64::from(length % 3 == 0) | u64::from(length % 7 == 0 && state >> 63 == 1)
                })
                .collect();
            let found = folds(steps.len(), |one, other| steps[one] == steps[other]);
            let unfolded: Vec<u64> =
                found.iter().flat_map(|fold| steps[fold.start..fold.start + fold.period].repeat(fold.rounds)).collect();
            assert_eq!(unfolded, steps);
            let starts: Vec<usize> = found.iter().map(|fold| fold.start).collect();
            let ends: Vec<usize> = found.iter().map(|fold| fold.steps().end).collect();
            assert!(
                starts.first().is_none_or(|&first| first == 0)
                    && starts.iter().skip(1).eq(ends[..ends.len().max(1) - 1].iter())
            );
        }
    }

    #[test]
    fn a_text_loses_its_middle() {
        assert_eq!(cut("abcdefghij", 10), "abcdefghij");
        assert_eq!(cut("abcdefghijk", 10), "abcde…hijk");
        assert_eq!(cut("[root] › Cache › Entry", 12), "[root]…Entry");
        assert_eq!(cut("日本語日本語", 7), "日…語");
        for width in 0..12 {
            assert!(cut("日本語 and more", width).width() <= width.max(1));
        }
    }
}
