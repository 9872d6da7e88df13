//! Judges the paths of a tree, so that the deepest one that explains growth answers for those above it.
//!
//! Below a node there are parts that share no byte: what each node holds itself, without its children. What a
//! node is judged by is the sum of those parts that rise suspiciously. A warm-up or a step below it is
//! therefore no growth of it, and noise below it hides none.

use super::{Judgement, Reason, Verdict};

/// A child with this part of its parent's growth stands for both.
const CARRIED: f64 = 0.9;
/// As many children that grow are told by their parent; fewer each for themselves.
const MANY: usize = 3;

/// What is said of one path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathJudgement {
    /// The judgement of what the path holds, without parts below it that are known not to grow.
    pub judgement: Judgement,
    /// Whether paths below it say more.
    pub is_carried: bool,
}

/// Judges all paths: `parents` names a node's parent, which comes before it; `values` its series.
///
/// # Panics
/// If there are not as many series as parents.
#[must_use]
pub fn judge_paths(parents: &[Option<usize>], values: &[Vec<f64>]) -> Vec<PathJudgement> {
    let mut own = values.to_vec();
    for (node, parent) in parents.iter().enumerate() {
        if let Some(parent) = *parent {
            subtract(&mut own[parent], &values[node]);
        }
    }
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

/// The parts of a subtree that rise suspiciously.
struct Subtree {
    /// Whether what the top holds itself is one of them.
    is_own: bool,
    /// How many.
    parts: usize,
    /// Their sum.
    rise: Vec<f64>,
    /// Their slopes, summed.
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
        // What is shown is of all the path holds, unless what does not grow hides what does.
        let is_alike = all.verdict == rise.verdict && all.is_suspicious == rise.is_suspicious;
        let judgement = if is_alike { all } else { rise };
        PathJudgement { judgement, is_carried }
    }
}

/// Steps and warm-ups of several parts may look like growth together; none of the parts grows.
fn without_alarm(mut judgement: Judgement) -> Judgement {
    if judgement.verdict == Verdict::Grows {
        judgement.verdict = Verdict::DoesNot(Reason::Parts);
    }
    judgement.is_suspicious = false;
    judgement
}

/// What is known of the children of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Children {
    /// How many have parts that rise suspiciously.
    count: usize,
    /// The largest amount of one.
    most: f64,
    /// The steepest slope of one.
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
