//! Attributes that rank images: those that are numbers.

use std::cmp::Reverse;

use barrow_expressions::Attribute;

use super::columns::Column;
use super::terms::{ATTRIBUTES, NumberAttribute, attribute_named};
use crate::image_set::ImageSet;
use crate::tree::{ImageId, ProcessTree};

/// A number for each image of a tree.
pub struct Amounts {
    name: &'static str,
    quantity: Quantity,
    column: Column,
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Time,
    /// A plain count.
    Count,
    /// An identifier: it counts nothing.
    Number,
}

impl Amounts {
    /// The numbers of the attribute with the exact name `word`.
    #[must_use]
    pub fn named(word: &str, tree: &ProcessTree) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let (Attribute::Number(attribute, _) | Attribute::Either(_, attribute, _)) = attribute_named(&word)? else {
            return None;
        };
        let name = ATTRIBUTES.iter().map(|(name, _)| *name).find(|name| *name == word).unwrap_or("memory");
        Some(Amounts { name, quantity: quantity(attribute), column: Column::of(attribute, tree) })
    }

    /// The names of all attributes that rank images, in their order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ATTRIBUTES
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| matches!(attribute_named(name), Some(Attribute::Number(..) | Attribute::Either(..))))
    }

    /// The name of the attribute.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its unit.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// The number of an image of the tree, if known.
    #[must_use]
    pub fn of(&self, tree: &ProcessTree, image: ImageId) -> Option<u64> {
        self.column.get(tree, image)
    }

    /// The images of a set, the largest numbers first, unknown ones last; equal ones in order of start.
    #[must_use]
    pub fn ranked(&self, tree: &ProcessTree, images: &ImageSet) -> Vec<ImageId> {
        let mut keyed: Vec<(Reverse<Option<u64>>, ImageId)> =
            images.iter().map(|image| (Reverse(self.of(tree, image)), image)).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|(_, image)| image).collect()
    }
}

fn quantity(attribute: NumberAttribute) -> Quantity {
    use NumberAttribute as N;
    match attribute {
        N::Memory | N::Reads | N::Writes | N::TotalReads | N::TotalWrites => Quantity::Bytes,
        N::Cpu | N::User | N::System | N::Waiting | N::Wall | N::Began | N::Ended => Quantity::Time,
        N::TotalCpu | N::TotalUser | N::TotalSystem | N::TotalWaiting => Quantity::Time,
        N::Faults | N::MajorFaults | N::TotalFaults | N::Children | N::Descendants => Quantity::Count,
        N::Exit | N::Signal | N::Pid | N::Image | N::Depth => Quantity::Number,
    }
}
