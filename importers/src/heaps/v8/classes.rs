//! The types of the recording: the constructors of nodes, named as in DevTools.

use std::borrow::Cow;

use crate::context::Context;
use crate::error::ImportError;

/// The naming of the types of nodes of one kind.
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

/// The types of V8's nodes. A snapshot may name others.
pub(crate) const NODE_TYPES: [&str; 16] = [
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
    "symbol",
    "bigint",
    "object shape",
    "wasm object",
];

/// The names of [`Class::Fixed`], by the type of the node.
const FIXED: [(&str, &str); 13] = [
    ("hidden", "(system)"),
    ("code", "(compiled code)"),
    ("closure", "Function"),
    ("regexp", "RegExp"),
    ("array", "(array)"),
    ("string", "(string)"),
    ("number", "(number)"),
    ("concatenated string", "(concatenated string)"),
    ("sliced string", "(sliced string)"),
    ("symbol", "(symbol)"),
    ("bigint", "(bigint)"),
    ("object shape", "(object shape)"),
    ("wasm object", "(wasm object)"),
];

/// V8's groups of roots, and that of nodes without a name.
pub(crate) const GROUPS: [&str; 34] = [
    "(Bootstrapper)",
    "(Builtins)",
    "(Client heap)",
    "(Code flusher)",
    "(Compilation cache)",
    "(Debugger)",
    "(Eternal handles)",
    "(Extensions)",
    "(External strings)",
    "(GC roots)",
    "(Global handles)",
    "(Handle scope)",
    "(Identity map)",
    "(Internalized strings)",
    "(Micro tasks)",
    "(Read-only object cache)",
    "(Read-only roots)",
    "(Relocatable)",
    "(Retain maps)",
    "(Shareable object cache)",
    "(SharedStruct type registry)",
    "(Smi roots)",
    "(Stack roots)",
    "(Startup object cache)",
    "(Strong root list)",
    "(Strong roots)",
    "(Thread manager)",
    "(Traced handles)",
    "(Unknown)",
    "(Weak collections)",
    "(Weak roots)",
    "(Wrapper tracing)",
    "(Write barrier)",
    "(root)",
];

/// Marks the name of the nodes of this type, if the type is V8's.
pub(crate) fn mark_fixed(node_type: &str, context: &Context<'_>) -> Result<(), ImportError> {
    let name = FIXED.iter().find(|(known, _)| *known == node_type);
    name.map_or(Ok(()), |&(_, name)| context.vocabulary.word(name).map(drop))
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
