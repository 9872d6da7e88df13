//! Labels that an expression compares classes with.
//!
//! `class` is the label in the first schema. A label that is compared with `=` or `!=` and that the first schema does
//! not have refers to the first schema that has it: `class = "cc1"` finds the compiler proper where the first schema
//! calls it `compiler`.

use barrow_expressions::{Pattern, TextTest};

use super::Expression;
use super::terms::Term;
use crate::attributes::Text;
use crate::classes::Classes;

/// A label that the expected schema does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrangeLabel<'e> {
    /// The label.
    pub label: &'e str,
    /// The number of the schema that has it; `None` if no process has such a class.
    pub schema: Option<usize>,
}

/// The number of the schema in which `class` is compared.
pub(super) fn schema_of(test: &TextTest, classes: &Classes) -> usize {
    match &test.pattern {
        Pattern::Exact(label) => schema_with(label, classes).unwrap_or(0),
        Pattern::Word(_) | Pattern::Regex(_) | Pattern::Length(_) => 0,
    }
}

fn schema_with(label: &str, classes: &Classes) -> Option<usize> {
    classes.schemata().iter().position(|schema| schema.labels().iter().any(|known| known == label))
}

impl Expression {
    /// The exactly compared labels that the first schema, or the named one, does not have.
    #[must_use]
    pub fn strange_labels(&self, classes: &Classes) -> Vec<StrangeLabel<'_>> {
        let strange = self.node.terms().into_iter().filter_map(|term| match term {
            &Term::Text(attribute, TextTest { pattern: Pattern::Exact(ref label), .. }) => {
                let number = match attribute {
                    Text::Class => schema_with(label, classes),
                    Text::ClassOf(number) => {
                        let labels = classes.schemata().get(number).map_or(&[][..], |schema| schema.labels());
                        labels.contains(label).then_some(0)
                    }
                    _ => Some(0),
                };
                (number != Some(0)).then_some(StrangeLabel { label, schema: number })
            }
            _ => None,
        });
        strange.collect()
    }
}
