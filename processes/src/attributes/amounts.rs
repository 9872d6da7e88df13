//! The numbers of images, which rank them.

use std::cmp::Reverse;

use super::numbers::Column;
use super::{Attribute, Quantity};
use crate::image_set::ImageSet;
use crate::tree::{ImageId, ProcessTree};

/// A number for each image of a tree.
pub struct Amounts {
    attribute: &'static Attribute,
    quantity: Quantity,
    column: Column,
}

impl Amounts {
    /// The numbers of an attribute; `None` if it is a text or a property.
    #[must_use]
    pub fn of_attribute(attribute: &'static Attribute, tree: &ProcessTree) -> Option<Self> {
        Some(Amounts { attribute, quantity: attribute.quantity()?, column: Column::of(attribute, tree)? })
    }

    /// The attribute.
    #[must_use]
    pub fn attribute(&self) -> &'static Attribute {
        self.attribute
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
