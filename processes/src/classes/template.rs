//! Labels with holes: `$1`, `${crate}`, `${1:_}`, `${program}`, `${category}`.

use regex::{Captures, Regex};

/// A part of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Text(String),
    /// A group of a pattern: the position of the pattern among those of the rule with groups, and the number of the
    /// group in it.
    Group(usize, usize),
    /// The same with `_` for each `-`: the name of a crate, which cargo spells both ways.
    Identifier(usize, usize),
    /// A property of the command.
    Field(Field),
    /// The label in another schema.
    Class(usize),
}

/// A property of a command that patterns are matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Its name: the last part of the path of the program.
    Program,
    /// The script or module that it interprets.
    Script,
    /// The path of the program.
    Executable,
    /// The working directory; in a label, its last part.
    Directory,
    /// The target it builds, as stated by the tool that started it.
    Target,
}

impl Field {
    pub(super) const ALL: [Field; 5] =
        [Field::Program, Field::Script, Field::Executable, Field::Directory, Field::Target];

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "program" => Field::Program,
            "script" => Field::Script,
            "executable" => Field::Executable,
            "directory" => Field::Directory,
            "target" => Field::Target,
            _ => return None,
        })
    }
}

/// Parses a label. `patterns` are those of the rule; `schema` finds a schema by its name.
///
/// # Errors
/// A hole without a value.
pub(super) fn parse(
    text: &str,
    patterns: &[&Regex],
    schema: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<Segment>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        push_text(&mut parts, before);
        if let Some(after) = after.strip_prefix('$') {
            push_text(&mut parts, "$");
            rest = after;
            continue;
        }
        let (name, after) = match after.strip_prefix('{') {
            Some(inside) => inside.split_once('}').ok_or("`${` is not closed by `}`")?,
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                after.split_at(end)
            }
        };
        let hole = match name.strip_suffix(":_").map(|name| group(name, patterns)) {
            Some(Some(Segment::Group(pattern, group))) => Some(Segment::Identifier(pattern, group)),
            _ => group(name, patterns),
        };
        let hole = hole.or_else(|| Field::named(name).map(Segment::Field));
        let hole = hole.or_else(|| schema(name).map(Segment::Class));
        parts.push(hole.ok_or_else(|| {
            format!("`${{{name}}}` is no group of the rule's patterns, no field and no schema; `$$` is a dollar sign")
        })?);
        rest = after;
    }
    push_text(&mut parts, rest);
    Ok(parts)
}

fn push_text(parts: &mut Vec<Segment>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Segment::Text(before)) => before.push_str(text),
        _ => parts.push(Segment::Text(text.to_owned())),
    }
}

/// A group by its number, counted across all patterns, or by its name.
fn group(name: &str, patterns: &[&Regex]) -> Option<Segment> {
    if let Ok(number) = name.parse::<usize>() {
        let mut left = number.checked_sub(1)?;
        for (at, pattern) in patterns.iter().enumerate() {
            let groups = pattern.captures_len() - 1;
            if left < groups {
                return Some(Segment::Group(at, left + 1));
            }
            left -= groups;
        }
        return None;
    }
    patterns.iter().enumerate().find_map(|(at, pattern)| {
        let group = pattern.capture_names().position(|known| known == Some(name))?;
        Some(Segment::Group(at, group))
    })
}

/// The text of a group of a match; empty if the group did not participate.
pub(super) fn captured<'h>(captures: Option<&Captures<'h>>, group: usize) -> &'h str {
    captures.and_then(|captures| captures.get(group)).map_or("", |found| found.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Segment>, String> {
        let (one, two) = (Regex::new("(a)(?<crate>b)").unwrap(), Regex::new("(c)").unwrap());
        parse(text, &[&one, &two], |name| (name == "category").then_some(7))
    }

    #[test]
    fn holes_are_groups_fields_and_schemata() {
        let text = |text: &str| Segment::Text(text.to_owned());
        assert_eq!(parsed("a$$b"), Ok(vec![text("a$b")]));
        assert_eq!(parsed("$1-${3}x$crate"), {
            Ok(vec![Segment::Group(0, 1), text("-"), Segment::Group(1, 1), text("x"), Segment::Group(0, 2)])
        });
        assert_eq!(parsed("${program} ${category}"), {
            Ok(vec![Segment::Field(Field::Program), text(" "), Segment::Class(7)])
        });
        for wrong in ["$4", "$0", "${x", "$", "${nothing}"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
