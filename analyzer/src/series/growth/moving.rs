//! Types whose objects move between paths.
//!
//! ```text
//!   snapshot 3   (Stack roots) › Context › Session      a variable dominates them
//!   snapshot 4   (GC roots) › Session                   a handle refers to them, too: their dominator is higher up
//! ```
//!
//! The size of each of these paths drops to zero repeatedly, so no path grows, although the sessions do. So such types
//! are also judged by their sum over all paths.

use std::collections::{HashMap, HashSet};

use barrow_statistics::{Judgement, Verdict};

use super::{Growth, GrowthNode, GrowthPart, GrowthRow};
use crate::file::type_identity::TypeIdentity;

/// A type that moves below a path that grows is told, too, from this part of the growth of that path: the path alone would
/// name what holds the objects and not the objects.
const LEAST_PART: f64 = 0.5;

impl<'a> Growth<'a> {
    /// Adds a path `any path › TYPE` for each type that grows over all paths although no path to it, or below it, grows. If
    /// paths above it grow, it is added if it has half of their growth. Call it once, after all snapshots are folded.
    pub fn gather_moving(&mut self) {
        let told: Vec<GrowthRow> = self.rows().into_iter().filter(|row| grows(row.judgement.verdict)).collect();
        let near: HashSet<usize> = told.iter().flat_map(|row| self.above(row.node)).collect();
        let slopes: HashMap<usize, f64> = told.iter().map(|row| (row.node, row.judgement.trend.slope)).collect();
        let mut found: Vec<GrowthNode<'a>> = Vec::new();
        for (identity, nodes) in self.tops_by_type() {
            if nodes.len() < 2 || nodes.iter().any(|node| near.contains(node)) {
                continue;
            }
            let gathered = self.gathered(identity, &nodes);
            let values: Vec<f64> = gathered.retained_bytes.iter().map(|bytes| bytes.unwrap_or(0) as f64).collect();
            let judgement = Judgement::of(&values);
            let above = nodes.iter().filter_map(|&node| self.above(node).find(|above| slopes.contains_key(above)));
            let above: HashSet<usize> = above.collect();
            let slope: f64 = above.iter().map(|above| slopes[above]).sum();
            if grows(judgement.verdict) && judgement.trend.slope >= LEAST_PART * slope {
                found.push(gathered);
            }
        }
        if found.is_empty() {
            return;
        }
        let top = self.nodes.len();
        for (parent, part) in [(None, GrowthPart::Everything), (Some(top), GrowthPart::AnyPath)] {
            let (retained_bytes, objects) = (vec![Some(0); self.columns], vec![Some(0); self.columns]);
            self.nodes.push(GrowthNode { parent, depth: 0, part, children: 0, retained_bytes, objects, largest: None });
        }
        self.nodes.extend(found.into_iter().map(|node| GrowthNode { parent: Some(top + 1), depth: 2, ..node }));
    }

    /// For each type its nodes that are below no other node of the type. Their sizes do not overlap.
    fn tops_by_type(&self) -> Vec<(TypeIdentity<'a>, Vec<usize>)> {
        let mut places: HashMap<TypeIdentity<'a>, usize> = HashMap::new();
        let mut types: Vec<(TypeIdentity<'a>, Vec<usize>)> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let GrowthPart::Type(identity) = node.part else { continue };
            if self.above(at).skip(1).any(|above| self.nodes[above].part == node.part) {
                continue;
            }
            let place = *places.entry(identity).or_insert_with(|| {
                types.push((identity, Vec::new()));
                types.len() - 1
            });
            types[place].1.push(at);
        }
        types
    }

    /// The sum of these nodes as one node. Values missing because they are small count as 0.
    fn gathered(&self, identity: TypeIdentity<'a>, nodes: &[usize]) -> GrowthNode<'a> {
        let (mut retained_bytes, mut objects) = (vec![Some(0); self.columns], vec![Some(0); self.columns]);
        for node in nodes.iter().map(|&node| &self.nodes[node]) {
            add(&mut retained_bytes, &node.retained_bytes);
            add(&mut objects, &node.objects);
        }
        let last = |node: &&GrowthNode<'_>| node.retained_bytes.last().copied().flatten();
        let largest = nodes.iter().map(|&node| &self.nodes[node]).max_by_key(last).and_then(|node| node.largest);
        let part = GrowthPart::Type(identity);
        GrowthNode { parent: None, depth: 0, part, children: 0, retained_bytes, objects, largest }
    }
}

/// Adds values to sums, which are all known.
fn add(sums: &mut [Option<u64>], values: &[Option<u64>]) {
    for (sum, value) in sums.iter_mut().flatten().zip(values) {
        *sum = sum.wrapping_add(value.unwrap_or(0));
    }
}

fn grows(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Grows | Verdict::RisesEachTime)
}
