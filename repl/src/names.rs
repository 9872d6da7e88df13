//! What a word may name: matching by prefix, and the nearest name for a word that matches nothing.

/// What `word` names among `names`.
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

/// The name that takes the fewest edits to become, if they are few for its length.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (edits, name) = names.map(|name| (edits(word, name), name)).min_by_key(|(edits, _)| *edits)?;
    (edits <= 1 + word.chars().count() / 3).then_some(name)
}

/// The Levenshtein distance: insertions, deletions and replacements of one character.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
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

    #[test]
    fn the_nearest_name_is_near() {
        let nearest = |word| nearest(word, NAMES.iter().map(|(name, _)| *name));
        assert_eq!(nearest("sumary"), Some("summary"));
        assert_eq!(nearest("shwo"), Some("show"));
        assert_eq!(nearest("frobnicate"), None);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
