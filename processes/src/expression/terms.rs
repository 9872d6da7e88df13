//! The terms of expressions about processes.

use std::sync::Arc;

use barrow_expressions::{Attribute as Operand, Range, TextTest, Unit};

use crate::attributes::{Attribute, Quantity, Reading, Text};
use crate::image_set::ImageSet;
use crate::tree::ImageId;

/// An expression or a part of one.
pub(super) type Node = barrow_expressions::Node<Term>;

/// A test of an image.
#[derive(Debug, Clone)]
pub(super) enum Term {
    Text(Text, TextTest),
    Number(&'static Attribute, Range),
    Is(&'static Attribute),
    Member(Arc<ImageSet>),
    Image(ImageId),
}

/// An attribute at the start of a term.
pub(super) fn operand(attribute: &'static Attribute) -> Operand<Text, &'static Attribute, &'static Attribute> {
    match attribute.reading {
        Reading::Text(text) => Operand::Text(text),
        Reading::Number(quantity, _) => Operand::Number(attribute, unit(quantity)),
        Reading::Either(text, quantity, _) => Operand::Either(text, attribute, unit(quantity)),
        Reading::Property(_) => Operand::Property(attribute),
    }
}

fn unit(quantity: Quantity) -> Unit {
    match quantity {
        Quantity::Time => Unit::Duration,
        Quantity::Bytes | Quantity::Count | Quantity::Number => Unit::Size,
    }
}
