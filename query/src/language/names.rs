//! Matches words with names by prefix, and finds the type that a misspelt name probably meant.

use barrow_analyzer::{Expression, Tables, TypeId, nearest};

/// The names that a word may stand for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// One of them: exactly, or as the only one that begins so.
    One(usize),
    /// Several begin so.
    Several(Vec<usize>),
    /// None begins so.
    None,
}

/// Finds `word` among `(name, index)`; several names may share an index.
pub(crate) fn find<'a>(word: &str, names: impl Iterator<Item = (&'a str, usize)> + Clone) -> Match {
    if let Some((_, index)) = names.clone().find(|(name, _)| *name == word) {
        return Match::One(index);
    }
    let mut found: Vec<usize> = names.filter(|(name, _)| name.starts_with(word)).map(|(_, index)| index).collect();
    found.dedup();
    match found[..] {
        [] => Match::None,
        [one] => Match::One(one),
        _ => Match::Several(found),
    }
}

/// The type that was probably meant by a name that no type of these tables has: one whose last part is that name, such as
/// `app.Session` for `Session`, else the nearest.
pub(crate) fn nearest_type<'t>(name: &str, tables: &'t Tables) -> Option<&'t str> {
    type_called(name, tables).or_else(|| nearest(name, types(tables)))
}

/// The type of this name in any case, or whose last part it is.
pub(crate) fn type_called<'t>(name: &str, tables: &'t Tables) -> Option<&'t str> {
    let is_last_part = |known: &&str| known.strip_suffix(name).is_some_and(|rest| rest.ends_with(['.', ':', '/', '$']));
    types(tables).find(|known| known.eq_ignore_ascii_case(name)).or_else(|| types(tables).find(is_last_part))
}

fn types(tables: &Tables) -> impl Iterator<Item = &str> {
    (0..tables.type_count() as u32).map(|id| tables.type_name(TypeId(id)))
}

/// Says that no type of these tables has this name, and which one was probably meant.
pub(crate) fn unknown_type(name: &str, tables: &Tables) -> String {
    let mut ids = (0..tables.type_count() as u32).map(TypeId);
    // Tables show types of functions and constructors with their place.
    let titled = ids.find(|&id| tables.type_title(id) == name).map(|id| tables.type_name(id));
    let near = titled.or_else(|| nearest_type(name, tables));
    let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
    format!("this recording knows no type \"{name}\", so no object is one{near}")
}

/// A note for each pattern without `*` and `?` that is no type's name, but a part of one.
pub(crate) fn partial_names<'t>(expression: &'t Expression, tables: &'t Tables) -> impl Iterator<Item = String> + 't {
    let words = expression.type_words().into_iter().filter(|word| !tables.has_titled_type(word) && !word.is_empty());
    words.filter_map(|word| {
        let mut names: Vec<&str> = types(tables).filter(|name| name.contains(word)).collect();
        names.sort_unstable();
        names.dedup();
        let (first, others) = names.split_first()?;
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        Some(format!("`~ {word}` matches whole names, and no type has this one; `~ *{word}*` matches {first}{more}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [(&str, usize); 5] = [("summary", 0), ("snapshots", 1), ("ls", 1), ("snapshot", 2), ("show", 3)];

    #[test]
    fn a_unique_prefix_is_enough() {
        let find = |word| find(word, NAMES.into_iter());
        assert_eq!(find("su"), Match::One(0));
        assert_eq!(find("l"), Match::One(1));
        assert_eq!(find("snapshot"), Match::One(2));
        assert_eq!(find("snap"), Match::Several(vec![1, 2]));
        assert_eq!(find("x"), Match::None);
    }
}
