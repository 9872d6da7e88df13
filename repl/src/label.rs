//! Names of references as people read them.

use barrow_analyzer::{Label, StrengthId, Tables};

/// A name, or a place like `[3]`; nothing if the runtime does not say.
pub(crate) fn text(tables: &Tables, label: Label) -> Option<String> {
    match label {
        Label::Unknown => None,
        Label::Index(index) => Some(format!("[{index}]")),
        Label::Name(name) => Some(tables.string(name).to_owned()),
    }
}

/// Nothing for an ordinary reference: only others are worth a word.
pub(crate) fn strength(tables: &Tables, strength: StrengthId) -> Option<String> {
    (strength != StrengthId(0)).then(|| tables.strength_name(strength).to_owned())
}

/// `--[ name ]-->`, with the strength if it is not an ordinary one.
pub(crate) fn arrow(tables: &Tables, reference: Option<(Label, StrengthId)>) -> String {
    let Some((label, strong)) = reference else { return "-->".to_owned() };
    match (text(tables, label), strength(tables, strong)) {
        (Some(name), Some(strength)) => format!("--[ {name} ({strength}) ]-->"),
        (Some(name), None) => format!("--[ {name} ]-->"),
        (None, Some(strength)) => format!("--( {strength} )-->"),
        (None, None) => "-->".to_owned(),
    }
}
