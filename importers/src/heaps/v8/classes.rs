//! The types of the recording: the constructors of nodes, named as in DevTools.

use std::borrow::Cow;

/// The way in which types of nodes are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Class {
    /// One name for all.
    Fixed(String),
    /// The node's name: that of a constructor or of a native object.
    Named,
    /// The same, and the place of the constructor: many have the same name.
    Placed,
    /// The node's name: a group of roots.
    Group,
}

impl Class {
    /// The class of nodes of this type, by DevTools' rules (`calculateObjectNames` in its
    /// `HeapSnapshot.ts`).
    pub(crate) fn of(node_type: &str) -> Class {
        match node_type {
            "hidden" => Class::Fixed("(system)".to_owned()),
            "code" => Class::Fixed("(compiled code)".to_owned()),
            "closure" => Class::Fixed("Function".to_owned()),
            "regexp" => Class::Fixed("RegExp".to_owned()),
            "object" => Class::Placed,
            "native" => Class::Named,
            "synthetic" => Class::Group,
            other => Class::Fixed(format!("({other})")),
        }
    }
}

/// The constructor's name in the name of a node: `<div id="a">` is a `<div>`.
pub(crate) fn constructor(name: &str) -> Cow<'_, str> {
    let start = match name {
        _ if name.starts_with('<') => 0,
        _ if name.starts_with("Detached <") => "Detached <".len(),
        _ => return Cow::Borrowed(name),
    };
    match name[start..].find(' ') {
        Some(space) => Cow::Owned(format!("{}>", &name[..start + space])),
        None => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_named_by_their_tag() {
        for (name, expected) in [
            ("<div id=\"a\" class=\"b\">", "<div>"),
            ("<div>", "<div>"),
            ("Detached <span id=\"a\">", "Detached <span>"),
            ("Detached <span>", "Detached <span>"),
            ("Detached Text", "Detached Text"),
            ("system / Context", "system / Context"),
            ("<", "<"),
            ("", ""),
        ] {
            assert_eq!(constructor(name), expected);
        }
    }
}
