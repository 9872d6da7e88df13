//! The language of expressions about objects: attributes, and objects that have names.

use std::cell::Cell;
use std::sync::Arc;

use barrow_expressions::{FieldTest, Language, NumberTest, PathStep, Range, TextTest};
use barrow_format::{ObjectId, SnapshotId};

use super::names::Names;
use super::terms::{
    ATTRIBUTES, Attribute, FieldTerm, NumberAttribute, NumberComparison, Operand, Property, Term, TextAttribute,
    TextComparison,
};
use crate::questions::fields::{FieldPath, Measure};

/// Objects of a snapshot, and the names that some of them have.
pub(super) struct Objects<'n> {
    names: &'n dyn Names,
    /// A name was looked up.
    has_names: Cell<bool>,
}

impl<'n> Objects<'n> {
    /// Objects with these names.
    pub(super) fn new(names: &'n dyn Names) -> Self {
        Objects { names, has_names: Cell::new(false) }
    }

    /// Returns whether a name was looked up.
    pub(super) fn has_names(&self) -> bool {
        self.has_names.get()
    }

    /// Rejects a set or row of another snapshot.
    fn belongs(&self, what: &str, snapshot: SnapshotId) -> Result<(), String> {
        let asked = self.names.snapshot();
        if snapshot != asked {
            return Err(format!("{what} of snapshot {snapshot}; this question is about {asked}"));
        }
        self.has_names.set(true);
        Ok(())
    }
}

impl Language for Objects<'_> {
    type Text = TextAttribute;
    type Number = NumberAttribute;
    type Property = Property;
    type Term = Term;

    const TERM: &'static str =
        "an attribute such as `type` or `size`, a field such as `.name`, a set, an object or `(`";
    const TEXT: &'static str = "Hash";

    fn attribute(&self, word: &str) -> Option<Operand> {
        Attribute::named(word).map(Attribute::operand)
    }

    fn attributes(&self) -> Vec<String> {
        ATTRIBUTES.iter().map(|attribute| attribute.word().to_owned()).collect()
    }

    fn text(&self, attribute: TextAttribute, test: TextTest) -> Term {
        match attribute {
            TextAttribute::Line => Term::Field(Arc::new(FieldTerm::Line(test))),
            _ => Term::Text(TextComparison { attribute, test }),
        }
    }

    fn number(&self, attribute: NumberAttribute, range: Range) -> Term {
        Term::Number(NumberComparison { attribute, range })
    }

    fn property(&self, property: Property) -> Term {
        Term::Is(property)
    }

    fn field(&self, path: Vec<PathStep>, test: FieldTest) -> Result<Term, String> {
        Ok(Term::Field(Arc::new(FieldTerm::Field(FieldPath::of(path), test))))
    }

    fn measure(&self, attribute: NumberAttribute, test: NumberTest) -> Result<Term, String> {
        let measure = if matches!(attribute, NumberAttribute::Fill) { Measure::Fill } else { Measure::Elements };
        Ok(Term::Field(Arc::new(FieldTerm::Measure(measure, test))))
    }

    fn set(&self, name: &str) -> Result<Term, String> {
        let Some(set) = self.names.set(name) else {
            if let Some(other) = self.names.other_set(name) {
                return Err(other);
            }
            let known: Vec<String> = self.names.set_names().iter().map(|name| format!("${name}")).collect();
            return Err(match known.len() {
                0 => format!("there is no set ${name}; no set has a name"),
                1 => format!("there is no set ${name}; there is only {}", known[0]),
                _ => format!("there is no set ${name}; there are {}", known.join(", ")),
            });
        };
        self.belongs(&format!("${name} is a set"), set.snapshot())?;
        Ok(Term::Member(set))
    }

    fn object(&self, number: u32) -> Result<Term, String> {
        Ok(Term::Object(ObjectId(number)))
    }

    fn object_of(&self, snapshot: u32, number: u32) -> Result<Term, String> {
        self.belongs(&format!("{snapshot}:@{number} is an object"), SnapshotId(snapshot))?;
        self.object(number)
    }

    fn row(&self, row: usize) -> Result<Term, String> {
        if let Some(set) = self.names.row_set(row) {
            self.belongs(&format!("%{row} is a group of objects"), set.snapshot())?;
            return Ok(Term::Member(set));
        }
        let Some((snapshot, object)) = self.names.row(row) else {
            if let Some(other) = self.names.other_row(row) {
                return Err(other);
            }
            return Err(match self.names.row_count() {
                0 => "the last table lists no objects".to_owned(),
                rows => format!("the last table has the rows %1 to %{rows}"),
            });
        };
        self.belongs(&format!("%{row} is an object"), snapshot)?;
        Ok(Term::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barrow_expressions::ExpressionError;

    use super::super::names::NoNames;
    use super::super::terms::Node;
    use super::*;
    use crate::graph::object_set::ObjectSet;

    fn parse(text: &str, names: &dyn Names) -> Result<(Node, bool), ExpressionError> {
        let language = Objects::new(names);
        Ok((barrow_expressions::parse(text, &language)?, language.has_names()))
    }

    /// `$a` and row 1 belong to this snapshot, `$b` and row 2 to another.
    struct TestNames;

    impl Names for TestNames {
        fn snapshot(&self) -> SnapshotId {
            SnapshotId(1)
        }

        fn set(&self, name: &str) -> Option<Arc<ObjectSet>> {
            let snapshot = ["b", "a"].iter().position(|known| *known == name)?;
            Some(Arc::new(ObjectSet::new(SnapshotId(snapshot as u32), 10)))
        }

        fn set_names(&self) -> Vec<String> {
            vec!["a".into(), "b".into()]
        }

        fn row(&self, row: usize) -> Option<(SnapshotId, ObjectId)> {
            (1..=2).contains(&row).then(|| (SnapshotId(2 - row as u32), ObjectId(7)))
        }

        fn row_count(&self) -> usize {
            2
        }
    }

    #[test]
    fn errors_point_at_their_place() {
        for (text, position, message) in [
            ("size", 4, "expected an operator"),
            ("size >", 6, "expected a value"),
            ("colour = 3", 0, "unknown attribute"),
            ("objects size > 3", 0, "unknown attribute"),
            ("size ~ 3", 5, "numbers are compared with"),
            ("size = \"3\"", 7, "expected a number"),
            ("size | 3", 5, "expected an operator"),
            ("type > a", 5, "texts are compared with"),
            ("type in a..b", 5, "texts are compared with"),
            ("type = $a", 7, "expected a text"),
            ("type = \"open", 7, "never closed"),
            ("type ~ /(/", 7, "not a regular expression"),
            ("size > 1 size", 9, "expected `and`"),
            ("(size > 1", 9, "expected `)`"),
            ("size > big", 7, "expected a number"),
            ("size > 0xfg", 7, "expected a number"),
            ("size in 5", 8, "expected a range"),
            ("size in ..", 8, "expected a range"),
            ("size in 1 .. 2", 8, "expected a range"),
            ("length", 6, "expected a text in parentheses"),
            ("length > 3", 7, "expected a text in parentheses"),
            ("length()", 7, "expected a text in parentheses"),
            ("length(text", 11, "expected `)`"),
            ("length(size) > 3", 7, "is no text"),
            ("length(colour) > 3", 7, "unknown attribute"),
            ("length(.a..b) > 3", 7, "expected the name of a field"),
            ("length(text) ~ a", 13, "numbers are compared with"),
            ("length(text) > x", 15, "expected a number"),
            ("fill < full", 7, "expected a number such as 100, 1.5M, 25%"),
            ("fill ~ 3", 5, "numbers are compared with"),
            ("elements in 5", 12, "expected a range"),
            ("size in 3..2", 8, "ends before it begins"),
            ("size in", 7, "expected a value"),
            ("root = 1", 5, "`root` is true or false"),
            ("reachable size > 1", 10, "expected `and`"),
            ("not", 3, "expected an attribute"),
            ("!", 1, "expected an attribute"),
            ("$a - ", 5, "expected an attribute"),
            ("$a -$a", 3, "`-` needs blanks around it"),
            ("- $a", 0, "unknown attribute"),
            ("$a $a", 3, "expected `and`"),
            ("$a & | $a", 5, "expected an attribute"),
            ("$a and $c", 7, "there is no set $c; there are $a, $b"),
            ("$", 0, "sets have names"),
            ("!$a-b", 1, "sets have names"),
            ("$a or $b", 6, "$b is a set of snapshot 0; this question is about 1"),
            ("%1 or %2", 6, "%2 is an object of snapshot 0"),
            ("%3", 0, "the rows %1 to %2"),
            ("%0", 0, "the rows %1 to %2"),
            ("%x", 0, "from %1 on"),
            ("size > 1 and @", 13, "from @0 on"),
            ("@+1", 0, "from @0 on"),
            ("@4294967296", 0, "from @0 on"),
            ("@1 | 1:@2 | 0:@3", 12, "0:@3 is an object of snapshot 0; this question is about 1"),
            ("1:@x", 0, "from @0 on"),
        ] {
            let error = parse(text, &TestNames).unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
        assert!(parse(&"(".repeat(100_000), &TestNames).is_err());
        assert!(parse(&"!".repeat(100_000), &TestNames).is_err());
    }

    #[test]
    fn without_names_there_are_none() {
        for (text, message) in [("$a", "no set has a name"), ("%1", "lists no objects")] {
            assert!(parse(text, &NoNames).unwrap_err().message.contains(message), "{text}");
        }
        assert!(!parse("@1 - size > 5", &TestNames).unwrap().1);
        assert!(parse("size > 5 or $a", &TestNames).unwrap().1);
        assert!(parse("@1 - 1:@2", &TestNames).unwrap().1);
    }
}
