//! Judges the nodes of a tree of series, so that the deepest node that explains growth is the one reported.
//!
//! The value of a node includes those of its children; its own part is its value less theirs. A node is judged by the
//! sum of the own parts at and below it that rise suspiciously. So a warm-up or a step below a node does not count as
//! its growth, and noise below it does not hide growth.
//!
//! The method is this crate's own; the example `growth_rates` measures it. Assumption: own parts are disjoint. Time:
//! three judgements for each node.

use super::{Judgement, Reason, Verdict};

/// A child with this share of its parent's growth is reported instead of the parent.
const CARRIED: f64 = 0.9;
/// With at least this number of growing children the parent is reported as well.
const MANY: usize = 3;

/// The judgement of one node of a tree, which is the path from the top to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathJudgement {
    /// The judgement of the node's values, without parts below it that do not grow.
    pub judgement: Judgement,
    /// Whether nodes below it explain its growth, so that they say more.
    pub is_carried: bool,
}

/// Judges all nodes of a tree. `parents` holds the index of each node's parent, which must be smaller than its own;
/// `values` holds the series of each node, which includes those of its children.
///
/// # Panics
/// If `parents` and `values` differ in length, or a parent does not precede its child.
#[must_use]
pub fn judge_paths(parents: &[Option<usize>], values: &[Vec<f64>]) -> Vec<PathJudgement> {
    judge_parts(parents, values, &own_parts(parents, values))
}

/// The own part of each node: its series less those of its children.
///
/// # Panics
/// As for [`judge_paths`].
#[must_use]
pub fn own_parts(parents: &[Option<usize>], values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut own = values.to_vec();
    for (node, parent) in parents.iter().enumerate() {
        if let Some(parent) = *parent {
            subtract(&mut own[parent], &values[node]);
        }
    }
    own
}

/// The same as [`judge_paths`] for nodes whose own parts are not those of [`own_parts`], because some stand for nodes
/// below them that are not in the tree.
///
/// # Panics
/// As for [`judge_paths`].
#[must_use]
pub fn judge_parts(parents: &[Option<usize>], values: &[Vec<f64>], own: &[Vec<f64>]) -> Vec<PathJudgement> {
    let mut found: Vec<Subtree> = own.iter().map(|own| Subtree::of(own)).collect();
    let mut children = vec![Children::default(); parents.len()];
    let mut judged = Vec::with_capacity(parents.len());
    for node in (0..parents.len()).rev() {
        judged.push(found[node].judge(&values[node], children[node]));
        if let Some(parent) = parents[node] {
            let (above, below) = found.split_at_mut(node);
            above[parent].add(&below[0]);
            let slope = judged[judged.len() - 1].judgement.trend.slope;
            children[parent].add(&below[0], slope);
        }
    }
    judged.reverse();
    judged
}

/// The own parts in a subtree that rise suspiciously.
struct Subtree {
    /// Whether the own part of the top is one of them.
    is_own: bool,
    /// Their number.
    parts: usize,
    /// Their sum.
    rise: Vec<f64>,
    /// The sum of their slopes.
    amount: f64,
}

impl Subtree {
    fn of(own: &[f64]) -> Self {
        let judgement = Judgement::of(own);
        if !judgement.is_suspicious {
            return Subtree { is_own: false, parts: 0, rise: Vec::new(), amount: 0.0 };
        }
        Subtree { is_own: true, parts: 1, rise: own.to_vec(), amount: judgement.trend.slope.max(0.0) }
    }

    fn add(&mut self, child: &Subtree) {
        if child.parts == 0 {
            return;
        }
        self.parts += child.parts;
        self.amount += child.amount;
        if self.rise.is_empty() {
            self.rise.clone_from(&child.rise);
        } else {
            self.rise.iter_mut().zip(&child.rise).for_each(|(sum, value)| *sum += value);
        }
    }

    fn judge(&self, whole: &[f64], children: Children) -> PathJudgement {
        let all = Judgement::of(whole);
        if self.parts == 0 {
            let is_carried = all.trend.slope > 0.0 && children.most_slope >= CARRIED * all.trend.slope;
            return PathJudgement { judgement: without_alarm(all), is_carried };
        }
        let rise = Judgement::of(&self.rise);
        let is_carried =
            children.most >= CARRIED * self.amount && children.count > 0 || !self.is_own && children.count < MANY;
        // Report the judgement of the whole value, unless harmless parts hide the growth of the others. Of few values
        // nothing is known to be harmless.
        let is_alike = all.verdict == rise.verdict && all.is_suspicious == rise.is_suspicious;
        let is_alike = is_alike || all.verdict == Verdict::TooFew;
        let judgement = if is_alike { all } else { rise };
        PathJudgement { judgement, is_carried }
    }
}

/// The judgement of a sum that looks like growth although none of its parts grows, as steps and warm-ups add up to.
fn without_alarm(mut judgement: Judgement) -> Judgement {
    if judgement.verdict == Verdict::Grows {
        judgement.verdict = Verdict::DoesNot(Reason::Parts);
    }
    judgement.is_suspicious = false;
    judgement
}

/// Summary of the children of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Children {
    /// The number of children with parts that rise suspiciously.
    count: usize,
    /// The largest [`Subtree::amount`] of a child.
    most: f64,
    /// The steepest slope of a child.
    most_slope: f64,
}

impl Children {
    fn add(&mut self, child: &Subtree, slope: f64) {
        self.count += usize::from(child.parts > 0);
        self.most = self.most.max(child.amount);
        self.most_slope = self.most_slope.max(slope);
    }
}

fn subtract(from: &mut [f64], values: &[f64]) {
    from.iter_mut().zip(values).for_each(|(from, value)| *from -= value);
}
