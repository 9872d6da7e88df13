//! The identity of types, in one recording or across recordings.

use barrow_format::TypeId;

use crate::file::tables::{self, Tables};

/// The attributes that identify a type across recordings. The order is that of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeIdentity<'a> {
    /// Its name.
    pub name: &'a str,
    /// The file it is declared in.
    pub file: Option<&'a str>,
    /// The line it is declared at.
    pub line: Option<u32>,
    /// The name of its kind.
    pub kind: &'a str,
    /// The layout of its objects, in the runtime's words.
    pub layout: Option<&'a str>,
    /// The name of the class or module that an object of the type represents; `None` for the type itself.
    pub stands_for: Option<&'a str>,
}

impl<'a> TypeIdentity<'a> {
    /// The identity of a type of a recording.
    #[must_use]
    pub fn of(tables: &'a Tables, id: TypeId) -> Self {
        TypeIdentity {
            name: tables.type_name(id),
            file: tables.type_file(id),
            line: tables.type_line(id),
            kind: tables.kind_name(tables.type_kind(id)),
            layout: tables.type_layout(id),
            stands_for: None,
        }
    }

    /// The identity of an object of this type that represents the class or module of this name.
    #[must_use]
    pub(crate) fn of_class(tables: &'a Tables, id: TypeId, name: &'a str) -> Self {
        TypeIdentity { stands_for: Some(name), ..Self::of(tables, id) }
    }

    /// The display form of the type: its name, with file and line for a function. For an object that represents a class
    /// it is the kind and the name of the class.
    #[must_use]
    pub fn title(&self) -> String {
        if let Some(name) = self.stands_for {
            return format!("{} {name}", self.kind);
        }
        tables::title(self.name, self.file, self.line)
    }
}
