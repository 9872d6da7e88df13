//! Paths that fit: what is left out is in the middle, and never the root's end, the own end or a step with a name.

use unicode_width::UnicodeWidthStr;

use barrow_answer::{BETWEEN_STEPS, visible};

/// A path in at most `room` characters, if that can be: its root's end, its own end and every step with a name of its own
/// stay; of the others those are left out first that repeat a step, then those in the middle.
pub(crate) fn fitted(steps: &[String], room: usize) -> String {
    let clean: Vec<String> = steps.iter().map(|step| visible::cell(step).into_owned()).collect();
    let mut kept: Vec<usize> = (0..clean.len()).collect();
    loop {
        let drawn = with_gaps(&clean, &kept);
        if drawn.width() <= room {
            return drawn;
        }
        let middle = kept.len() / 2;
        let may_go = (1..kept.len().saturating_sub(1)).filter(|&at| !has_name(&clean[kept[at]]));
        let repeats = |at: usize| kept[..at].iter().any(|&before| clean[before] == clean[kept[at]]);
        let Some(least) = may_go.min_by_key(|&at| (!repeats(at), at.abs_diff(middle))) else { return drawn };
        kept.remove(least);
    }
}

/// Returns whether a step of a path is one class, module or group of roots: people look for these.
fn has_name(step: &str) -> bool {
    step.starts_with('[') || step.contains(' ') && !step.contains('(')
}

/// The steps that are kept, and how many are missing between them.
fn with_gaps(steps: &[String], kept: &[usize]) -> String {
    let (mut drawn, mut next) = (Vec::new(), 0);
    for &at in kept {
        if at > next {
            drawn.push(format!("… {} …", at - next));
        }
        drawn.push(steps[at].clone());
        next = at + 1;
    }
    drawn.join(BETWEEN_STEPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_ends_and_its_holder() {
        let steps = ["class Shop", "HashMap", "Node[]", "Node", "class Loader", "Node", "Node", "Order", "byte[]"];
        let steps = steps.map(str::to_owned);
        let whole = "class Shop › HashMap › Node[] › Node › class Loader › Node › Node › Order › byte[]";
        assert_eq!(fitted(&steps, usize::MAX), whole);
        let drawn = fitted(&steps, 60);
        assert_eq!(drawn, "class Shop › … 3 … › class Loader › … 2 … › Order › byte[]");
        assert!(drawn.chars().count() <= 60);
        assert_eq!(fitted(&steps, 1), "class Shop › … 3 … › class Loader › … 3 … › byte[]");
        assert_eq!(fitted(&steps[..1], 1), "class Shop");
    }
}
