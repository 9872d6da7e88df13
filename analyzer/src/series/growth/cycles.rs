//! Cycles of types, such as lists whose nodes are objects of two types in turn.
//!
//! ```text
//!   Depot › Object › Context › Object › Context › Object › …       Depot › Object
//!              ▲        ╰─────────┴─────────┴────────┴─ one step with the first ─╯
//! ```
//!
//! Such a list grows by rounds at one of its ends. No step of any depth then grows, since each has its size from the
//! snapshot on in which the list became so long, but all of them together do.

/// The maximum number of types of a cycle: six are folded where paths are shown.
const LONGEST: usize = 6;
/// Fewer rounds are no list: maps in maps, for instance, are the structure of the program.
const LEAST_ROUNDS: usize = 4;

/// The first step of the cycle that each node of a tree belongs to; the node itself outside of cycles. `parents` holds the
/// index of each node's parent, which is smaller than its own. Time: linear.
pub(super) fn entries(parents: &[Option<usize>], is_same: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut entries: Vec<usize> = (0..parents.len()).collect();
    // Of each node: the ancestor `period` steps above it, the number of steps down to it that are equal to those a round
    // before them, and the step where their first round begins.
    let (mut above, mut equal, mut starts) = (parents.to_vec(), vec![0; parents.len()], entries.clone());
    for period in 1..=LONGEST {
        let least = period * (LEAST_ROUNDS - 1);
        for node in 0..parents.len() {
            let Some((before, parent)) = above[node].zip(parents[node]).filter(|&(before, _)| is_same(before, node))
            else {
                equal[node] = 0;
                continue;
            };
            equal[node] = equal[parent] + 1;
            starts[node] = if equal[node] == 1 { before } else { starts[parent] };
            let known = if equal[node] > least { 1 } else { least + period };
            if equal[node] >= least {
                let steps = std::iter::successors(Some(node), |&step| parents[step]).take(known);
                steps.for_each(|step| entries[step] = entries[step].min(starts[node]));
            }
        }
        above = above.iter().map(|above| above.and_then(|above| parents[above])).collect();
    }
    // A step may be the first of one cycle and a later one of another.
    (0..parents.len()).for_each(|node| entries[node] = entries[entries[node]]);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of a single path, whose types are letters.
    fn path(types: &str) -> Vec<usize> {
        let parents: Vec<Option<usize>> = (0..types.len()).map(|at: usize| at.checked_sub(1)).collect();
        entries(&parents, |one, other| types.as_bytes()[one] == types.as_bytes()[other])
    }

    #[test]
    fn steps_that_repeat_belong_to_the_first() {
        for (types, expected) in [
            ("ABCDEF", vec![0, 1, 2, 3, 4, 5]),
            ("RABABAB", vec![0, 1, 2, 3, 4, 5, 6]),
            ("RABABABA", vec![0, 1, 2, 3, 4, 5, 6, 7]),
            ("RABABABAB", vec![0, 1, 1, 1, 1, 1, 1, 1, 1]),
            ("RABABABABAX", vec![0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10]),
            ("ABCABCABCABCD", vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12]),
            ("AAAABC", vec![0, 0, 0, 0, 4, 5]),
        ] {
            assert_eq!(path(types), expected, "{types}");
        }
    }

    #[test]
    fn branches_of_a_cycle_have_its_entry() {
        // A list of ten rounds from node 1 on; from its fourth round on, each has a branch of another type and one that
        // goes on for a step.
        let (mut parents, mut types) = (vec![None, Some(0)], vec!['R', 'A']);
        for step in 1..20 {
            parents.push(Some(step));
            types.push(if step % 2 == 1 { 'B' } else { 'A' });
        }
        let list = parents.len();
        for step in (8..20).step_by(2) {
            parents.extend([Some(step), Some(step)]);
            types.extend(['X', 'A']);
        }
        let found = entries(&parents, |one, other| types[one] == types[other]);
        assert_eq!(found[..list], [vec![0], vec![1; list - 1]].concat());
        for (at, &entry) in found.iter().enumerate().skip(list) {
            let expected = if types[at] == 'X' { at } else { 1 };
            assert_eq!(entry, expected, "{at}");
        }
    }
}
