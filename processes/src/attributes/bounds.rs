//! Intervals of numbers of which a recording knows only a part.

use super::numbers::{Column, Source, totals};
use super::{Attribute, Reading};
use crate::class_totals::Measure;
use crate::selection::is_traced;
use crate::tree::{ImageId, ProcessTree};

/// The interval that contains the true number of each image.
pub(crate) struct Bounds {
    column: Column,
    /// Whether a part of the number of each image is unknown; `None` for numbers that are known or do not exist.
    in_part: Option<Vec<bool>>,
    /// The largest number that an unknown one can be.
    most: u64,
    /// A recorded number may contain that of another attribute.
    is_divided: bool,
}

impl Bounds {
    /// The intervals of an attribute, if that is a number.
    pub(crate) fn of(attribute: &Attribute, tree: &ProcessTree) -> Option<Self> {
        let column = Column::of(attribute, tree)?;
        let (Reading::Number(_, source) | Reading::Either(_, _, source)) = attribute.reading else { return None };
        let is_measured = attribute.aggregate.is_some_and(|aggregate| !aggregate.noun.is_empty());
        let is_partly = |id, recorded: Option<u64>| recorded.is_none() || tree.used_at_least(id);
        let in_part: Option<Vec<bool>> = match source {
            Source::Own(own) if is_measured => {
                Some(tree.image_ids().map(|id| is_partly(id, own(tree, id, tree.image(id)))).collect())
            }
            Source::Total(own) => {
                let unknown = totals(tree, |id| Some(is_partly(id, own(tree, tree.image(id))).into()));
                Some(unknown.into_iter().map(|images| images != Some(0)).collect())
            }
            Source::Own(_) | Source::Starters(_) => None,
        };
        // Of a traced process a peak is unknown if that of an earlier image or of a child was larger.
        let is_peak = matches!(attribute.of_classes, Some(Measure::Memory)) && is_traced(tree);
        let largest = || tree.image_ids().filter_map(|id| column.get(tree, id)).max();
        let most = if is_peak { largest().unwrap_or(u64::MAX) } else { u64::MAX };
        Some(Bounds { most, in_part, is_divided: attribute.is_divided, column })
    }

    /// The least and the most that the number of an image may be; `None` if it has no such number.
    pub(crate) fn get(&self, tree: &ProcessTree, id: ImageId) -> Option<[u64; 2]> {
        let recorded = self.column.get(tree, id);
        let Some(in_part) = &self.in_part else { return recorded.map(|number| [number; 2]) };
        Some(match (in_part[id.index()], recorded) {
            (false, Some(number)) => [number; 2],
            (_, Some(number)) if !self.is_divided => [number, self.most.max(number)],
            _ => [0, self.most],
        })
    }
}
