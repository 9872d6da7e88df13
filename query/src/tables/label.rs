//! Names of references and objects as people read them.

use barrow_analyzer::{KindRole, Label, Root, StrengthId, StringId, Tables, TypeId};

use crate::answer::{Value, shortened};

/// An object's own name or text, if it has one.
pub(crate) fn name(tables: &Tables, name: Option<StringId>) -> Value {
    name.map_or(Value::None, |name| Value::name_of(tables.string(name)))
}

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

/// The name of a reference with its strength, as [`arrow`] has them; nothing of an ordinary one without a name.
pub(crate) fn reference(tables: &Tables, reference: Option<(Label, StrengthId)>) -> Option<String> {
    let (label, strong) = reference?;
    match (text(tables, label), strength(tables, strong)) {
        (Some(name), Some(strength)) => Some(format!("{name} ({strength})")),
        (name, strength) => name.or(strength),
    }
}

/// A root: its group, and what the runtime says of it, such as the thread and the frame that it is in.
pub(crate) fn root(tables: &Tables, root: &Root) -> String {
    match root.label {
        Some(label) => format!("{} ({})", tables.string(root.category), tables.string(label)),
        None => tables.string(root.category).to_owned(),
    }
}

/// Characters of an object's own text that its title repeats: as many as a table shows of a name.
const LONGEST_NAME: usize = 40;

/// An object as people name it: the class or module that it represents, with its kind (`class Leaky`, `STable Cache`), or
/// its type with its own name or text (`java.lang.Thread "worker-3"`), if it has one.
pub(crate) fn object(tables: &Tables, type_id: TypeId, name: Option<StringId>) -> String {
    let (kind, title) = (tables.type_kind(type_id), tables.type_title(type_id));
    let (role, kind) = (tables.kind_role(kind), tables.kind_name(kind));
    match name.map(|name| tables.string(name)) {
        Some(name) if role == KindRole::Type => format!("{kind} {}", shortened(name, usize::MAX)),
        // The place in the program, of a function that has several.
        Some(name) if role == KindRole::Frame => format!("{title} ({})", shortened(name, usize::MAX)),
        Some(name) => format!("{title} \"{}\"", shortened(name, LONGEST_NAME)),
        // Where classes have no names, their type is what they represent.
        None if role == KindRole::Type && !title.eq_ignore_ascii_case(kind) => format!("{kind} {title}"),
        None => title,
    }
}

/// The same as a value of a column of names: a line if it repeats a text of the object.
pub(crate) fn title(tables: &Tables, type_id: TypeId, name: Option<StringId>) -> Value {
    let role = tables.kind_role(tables.type_kind(type_id));
    let repeats_text = name.is_some() && !matches!(role, KindRole::Type | KindRole::Frame);
    let title = object(tables, type_id, name);
    if repeats_text { Value::Line(title) } else { Value::Text(title) }
}
