//! Suggestions for unknown words: the name that was probably meant.

/// The name with the smallest edit distance, if that is small for the length of the word.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Names whose lengths differ more than the limit need no comparison: a dump may have a million types.
    let (length, limit) = (word.chars().count(), 1 + word.chars().count() / 3);
    let near = names.filter(|name| name.len() >= length.saturating_sub(limit) && name.len() <= 4 * (length + limit));
    let (edits, name) = near.map(|name| (strsim::levenshtein(word, name), name)).min_by_key(|(edits, _)| *edits)?;
    (edits <= limit).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_near() {
        let nearest = |word| nearest(word, ["summary", "snapshots", "ls", "show"].into_iter());
        assert_eq!(nearest("sumary"), Some("summary"));
        assert_eq!(nearest("shwo"), Some("show"));
        assert_eq!(nearest("frobnicate"), None);
    }
}
