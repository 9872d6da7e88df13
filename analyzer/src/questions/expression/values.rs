//! The values of attributes of objects. What is kept for all objects is opened once.

use std::borrow::Cow;

use barrow_format::{ObjectId, TypeId};

use super::terms::{Attribute, NumberAttribute, Operand, Property, Quantity, TextAttribute};
use crate::error::Result;
use crate::file::object::ObjectDetails;
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::Filling;

/// Objects whose distances are read one by one: opening those of all takes longer than so many looks.
const FEW: usize = 64;

/// The value of an attribute of an object.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue<'h> {
    /// The object has none, or it was not recorded.
    None,
    /// A name in the code, such as that of a type.
    Name(Cow<'h, str>),
    /// A text of the program: the object's own name or text.
    Text(&'h str),
    /// The line of the object.
    Line(String),
    /// A number, or a size in bytes.
    Number(u64),
    /// The place of the object in memory.
    Address(u64),
    /// A part of a whole, from 0 to 1.
    Share(f64),
    /// Whether the object has a property.
    Flag(bool),
}

impl AttributeValue<'_> {
    fn number(number: Option<impl Into<u64>>) -> Self {
        number.map_or(AttributeValue::None, |number| AttributeValue::Number(number.into()))
    }

    fn make_address(&mut self) {
        if let AttributeValue::Number(number) = *self {
            *self = AttributeValue::Address(number);
        }
    }
}

type Values<'h> = Result<Vec<AttributeValue<'h>>>;

fn each<'h>(objects: &[ObjectDetails], value: impl Fn(&ObjectDetails) -> AttributeValue<'h>) -> Values<'h> {
    Ok(objects.iter().map(value).collect())
}

impl Heap {
    /// The value of an attribute of each object.
    ///
    /// Time: that of the column that the attribute is in, if it is computed from the references of all objects.
    ///
    /// # Errors
    /// Those of [`Heap::lines`], and of the column.
    pub fn attribute_values<'h>(
        &'h self,
        attribute: &Attribute,
        objects: &[ObjectDetails],
        progress: &dyn Progress,
    ) -> Result<Vec<AttributeValue<'h>>> {
        match attribute.operand() {
            Operand::Text(text) | Operand::Is(text) => self.texts_of_attribute(text, objects, progress),
            Operand::Number(number, _) | Operand::Measure(number) | Operand::Either(_, number, _) => {
                let mut values = self.numbers_of_attribute(number, objects, progress)?;
                if attribute.quantity() == Some(Quantity::Address) {
                    values.iter_mut().for_each(AttributeValue::make_address);
                }
                Ok(values)
            }
            Operand::Property(property) => self.flags_of_attribute(property, objects, progress),
        }
    }

    fn texts_of_attribute<'h>(
        &'h self,
        attribute: TextAttribute,
        objects: &[ObjectDetails],
        progress: &dyn Progress,
    ) -> Values<'h> {
        let tables = self.recording().tables()?;
        let of_type = |name: &dyn Fn(&'h Tables, TypeId) -> Option<Cow<'h, str>>| {
            each(objects, |object| name(tables, object.type_id).map_or(AttributeValue::None, AttributeValue::Name))
        };
        match attribute {
            TextAttribute::Type => of_type(&|tables, id| Some(tables.type_title(id).into())),
            TextAttribute::Kind => of_type(&|tables, id| Some(tables.kind_name(tables.type_kind(id)).into())),
            TextAttribute::OfType(text) => of_type(&|tables, id| text(tables, id).map(Cow::Borrowed)),
            TextAttribute::Name | TextAttribute::Text => each(objects, |object| {
                object.name.map_or(AttributeValue::None, |name| AttributeValue::Text(tables.string(name)))
            }),
            TextAttribute::Line => {
                let sorted = sorted(objects);
                let lines = self.lines(&sorted, progress)?;
                each(objects, |object| {
                    let line = sorted.binary_search(&object.id).ok().and_then(|at| lines[at].clone());
                    line.map_or(AttributeValue::None, AttributeValue::Line)
                })
            }
            // It compares a type with several, and has no value. A site is a number.
            TextAttribute::Is | TextAttribute::Site => each(objects, |_| AttributeValue::None),
        }
    }

    fn numbers_of_attribute<'h>(
        &'h self,
        attribute: NumberAttribute,
        objects: &[ObjectDetails],
        progress: &dyn Progress,
    ) -> Values<'h> {
        use AttributeValue::Number;
        let known = |number: Option<u64>| AttributeValue::number(number);
        match attribute {
            NumberAttribute::Size => each(objects, |object| Number(object.shallow_bytes)),
            NumberAttribute::Unmanaged => {
                let are_known = self.recording().has_unmanaged_sizes()?;
                each(objects, |object| known(are_known.then_some(object.unmanaged_bytes)))
            }
            NumberAttribute::Retained => self.ask_dominators(progress, |dominators| {
                each(objects, |object| Number(dominators.retained_bytes(object.id)))
            }),
            NumberAttribute::Elements => self.measured(objects, progress, |filling| known(filling.elements)),
            NumberAttribute::Fill => self.measured(objects, progress, |filling| {
                filling.share().map_or(AttributeValue::None, AttributeValue::Share)
            }),
            NumberAttribute::Distance if objects.len() <= FEW => {
                let distance = |object: &ObjectDetails| self.distance(object.id, progress).map(AttributeValue::number);
                objects.iter().map(distance).collect()
            }
            NumberAttribute::Distance => {
                let distances = self.distances(progress)?;
                each(objects, |object| AttributeValue::number(distances.distance(object.id)))
            }
            NumberAttribute::Incoming => {
                let incoming = self.incoming(progress)?;
                each(objects, |object| Number(incoming.count(object.id)))
            }
            NumberAttribute::Site => {
                let sites = self.recording().sites()?;
                each(objects, |object| AttributeValue::number(object.site.map(|site| sites.place_of(site).0)))
            }
            NumberAttribute::Generation => {
                let (sites, tables) = (self.recording().sites()?, self.recording().tables()?);
                each(objects, |object| known(object.site.and_then(|site| sites.generation(site, tables))))
            }
            NumberAttribute::Stored(stored) => each(objects, |object| known((stored.of_object)(object))),
        }
    }

    fn measured<'h>(
        &'h self,
        objects: &[ObjectDetails],
        progress: &dyn Progress,
        value: impl Fn(&Filling) -> AttributeValue<'h>,
    ) -> Values<'h> {
        let sorted = sorted(objects);
        let mut set = ObjectSet::new(self.snapshot(), self.object_count());
        sorted.iter().for_each(|&id| _ = set.insert(id));
        let fillings = self.fillings(&set, progress)?;
        each(objects, |object| sorted.binary_search(&object.id).map_or(AttributeValue::None, |at| value(&fillings[at])))
    }

    fn flags_of_attribute<'h>(
        &'h self,
        property: Property,
        objects: &[ObjectDetails],
        progress: &dyn Progress,
    ) -> Values<'h> {
        if property == Property::Root {
            let mut targets: Vec<ObjectId> = self.roots()?.rows().iter().map(|root| root.target).collect();
            targets.sort_unstable();
            return each(objects, |object| AttributeValue::Flag(targets.binary_search(&object.id).is_ok()));
        }
        // Dominators are kept, and a search for what is reachable would begin again with each page.
        let wanted = property == Property::Reachable;
        self.ask_dominators(progress, |dominators| {
            each(objects, |object| AttributeValue::Flag(dominators.is_reachable(object.id) == wanted))
        })
    }
}

fn sorted(objects: &[ObjectDetails]) -> Vec<ObjectId> {
    let mut ids: Vec<ObjectId> = objects.iter().map(|object| object.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
