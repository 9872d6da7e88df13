//! Kinds as people name them: in any case, singular or plural, with or without blanks and dashes,
//! as far as the name is unique; `types` and `all` mean every kind.

use barrow_analyzer::{KindId, Tables, nearest};

use crate::error::QueryError;
use crate::language::names::{Match, find};

/// The kinds a question is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// The kinds; none means all of them.
    pub(crate) ids: Vec<KindId>,
    /// Number of words of the question that named them.
    pub(crate) words: usize,
}

impl Kinds {
    /// Returns whether `kind` is among them.
    pub(crate) fn contain(&self, kind: KindId) -> bool {
        self.ids.is_empty() || self.ids.contains(&kind)
    }
}

/// Reads the kind at the beginning of `words`: the longest run of words that names one.
///
/// # Errors
/// A usage error that lists the kinds of this recording.
pub(crate) fn leading_kind(tables: &Tables, words: &[String]) -> Result<Kinds, QueryError> {
    match_leading(&names(tables), words)
}

/// The names of the kinds of a recording, by their ids.
pub(crate) fn names(tables: &Tables) -> Vec<&str> {
    (0..tables.kind_count()).map(|kind| tables.kind_name(KindId(kind as u32))).collect()
}

/// Reads the kind at the beginning of `words` where several recordings are asked, and only names tell
/// kinds apart: its name, `None` for every kind, and how many words named it.
///
/// # Errors
/// A usage error that lists `names`.
pub(crate) fn leading_name<'a>(names: &[&'a str], words: &[String]) -> Result<(Option<&'a str>, usize), QueryError> {
    let kinds = match_leading(names, words)?;
    Ok((kinds.ids.first().map(|kind| names[kind.index()]), kinds.words))
}

fn match_leading(names: &[&str], words: &[String]) -> Result<Kinds, QueryError> {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let mut several = Vec::new();
    // `is Map` is a comparison, and no plural of what begins with `i`.
    let is_comparison = words.first().is_some_and(|word| word.eq_ignore_ascii_case("is"));
    let most = if is_comparison { 0 } else { words.len().min(4) };
    for count in (1..=most).rev() {
        let word = self::plain(&words[..count].join(" "));
        if matches!(word.as_str(), "type" | "all") && (word == "all" || words[0].eq_ignore_ascii_case("types")) {
            return Ok(Kinds { ids: Vec::new(), words: count });
        }
        // Everything in a heap is an object, unless the recording uses the word for some of them.
        if word == "object" && !plain.iter().any(|name| name.starts_with(&word)) {
            return Ok(Kinds { ids: Vec::new(), words: count });
        }
        match find(&word, plain.iter().enumerate().map(|(index, name)| (name.as_str(), index))) {
            Match::One(index) if !word.is_empty() => {
                return Ok(Kinds { ids: vec![KindId(index as u32)], words: count });
            }
            Match::Several(found) if !word.is_empty() => several = found,
            _ => {}
        }
    }
    let list = |names: &mut dyn Iterator<Item = &&str>| names.copied().collect::<Vec<_>>().join(", ");
    let word = words.first().map_or("", String::as_str);
    Err(QueryError::usage(match several[..] {
        [] if word.is_empty() => format!("which kind? {}, or all", list(&mut names.iter())),
        [] => {
            let near = nearest(&self::plain(word), plain.iter().map(String::as_str));
            let near = near.and_then(|near| plain.iter().position(|name| name == near)).map(|at| names[at]);
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("`{word}` is no kind of this recording; its kinds are {}, or all{near}", list(&mut names.iter()))
        }
        _ => format!("`{word}` may be {}", list(&mut several.iter().map(|&index| &names[index]))),
    }))
}

/// A name in small letters, without blanks and dashes, in the singular.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_' | '"' | '\''));
    let mut word: String = letters.flat_map(char::to_lowercase).collect();
    if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["object", "type object", "STable", "frame", "permanent roots", "per-frame roots"];

    fn matched(line: &str) -> Result<(Vec<u32>, usize), String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let kinds = match_leading(&NAMES, &words).map_err(|error| error.to_string())?;
        Ok((kinds.ids.iter().map(|kind| kind.0).collect(), kinds.words))
    }

    #[test]
    fn kinds_are_named_freely() {
        for (line, kind, words) in [
            ("objects size > 1M", 0, 1),
            ("Object", 0, 1),
            ("type object by size", 1, 2),
            ("type-objects", 1, 1),
            ("typeobj", 1, 1),
            ("stables", 2, 1),
            ("permanent root", 4, 2),
            ("perm", 4, 1),
            ("perframeroots", 5, 1),
        ] {
            assert_eq!(matched(line), Ok((vec![kind], words)), "{line}");
        }
    }

    #[test]
    fn types_and_all_mean_every_kind() {
        for line in ["types by count", "all", "Types"] {
            assert_eq!(matched(line), Ok((vec![], 1)), "{line}");
        }
    }

    #[test]
    fn other_words_list_the_kinds() {
        assert_eq!(matched("per"), Err("`per` may be permanent roots, per-frame roots".into()));
        assert!(matched("widgets").unwrap_err().contains("object, type object, STable"));
        assert!(matched("").unwrap_err().starts_with("which kind?"));
    }
}
