//! A line typed at the prompt: its words, and where its answer goes.
//!
//! Words are divided at blanks and keep their quotes, since `type="Foo Bar"` means something to an
//! expression that `type=Foo Bar` does not. Quotes are `"…"` and `'…'`, in which `\` keeps the next
//! character, and `/…/` after a `~` or `strings`.
//!
//! `>` and `|` take the answer elsewhere, or belong to an expression: in parentheses; `>` before a
//! number or an attribute; `|` before `$`, `@` or `%`, where no command begins, and before a comparison of an attribute.

use crate::error::QueryError;

use super::field;
use super::quotes::{is_pattern, scan};

/// A line, divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The words, with their quotes.
    pub words: Vec<String>,
    /// Where the answer goes.
    pub sink: Sink,
}

/// Where an answer goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    /// To stdout.
    Stdout,
    /// Into a file.
    File(String),
    /// Into a command of the shell.
    Command(String),
}

impl Line {
    /// Divides `text`. What follows `#` at the beginning of a line is a comment.
    ///
    /// # Errors
    /// A quote that does not end, or a `>` or `|` with nothing after it.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        if text.trim_start().starts_with('#') {
            return Ok(Line { words: Vec::new(), sink: Sink::Stdout });
        }
        let marks = marks(text)?;
        if let Some(bar) = marks.bar {
            let command = text[bar + 1..].trim();
            if command.is_empty() {
                return Err(QueryError::usage("a command has to follow `|`, like `| less`"));
            }
            return Ok(Line { words: words(&text[..bar])?, sink: Sink::Command(command.to_owned()) });
        }
        match marks.arrow.filter(|&arrow| is_redirection(&text[arrow + 1..])) {
            Some(arrow) => {
                let name = unquoted(text[arrow + 1..].trim());
                Ok(Line { words: words(&text[..arrow])?, sink: Sink::File(name) })
            }
            None if text.trim_end().ends_with('>') => Err(QueryError::usage("a file has to follow `>`")),
            None => Ok(Line { words: words(text)?, sink: Sink::Stdout }),
        }
    }
}

/// `size > 1M` compares, `top > file` redirects: a file is one last word that does not begin like a
/// number or a field. A file that does is put in quotes.
fn is_redirection(rest: &str) -> bool {
    let name = rest.trim();
    let quoted = name.len() > 1 && name.starts_with(['"', '\'']) && name.ends_with(['"', '\'']);
    let is_number = name.starts_with(|c: char| c.is_ascii_digit() || c == '=' || c == '-');
    let is_file = !name.is_empty() && !is_number && !field::begins(name) && !name.contains(char::is_whitespace);
    // A comparison with an attribute is a mistake, not a redirection to a file of its name.
    quoted || is_file && !is_attribute(name)
}

/// Returns whether expressions know an attribute of this name.
fn is_attribute(word: &str) -> bool {
    barrow_analyzer::Expression::is_attribute(word) || barrow_processes::Expression::is_attribute(word)
}

/// `$a | $b` is one set or the other, and so is `type = "A" | type = "B"`; `find … | less` goes through a command.
fn is_pipe(rest: &str) -> bool {
    let rest = rest.trim_start();
    let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').next().unwrap_or(rest);
    let is_comparison = is_attribute(word) && {
        let rest_after = rest[word.len()..].trim_start();
        rest_after.starts_with(['=', '!', '~', '<', '>']) || rest_after.starts_with("in ")
    };
    !rest.starts_with(['$', '@', '%']) && !field::begins(rest) && !is_comparison
}

/// The positions of the last `>` and the first `|` outside of quotes and parentheses.
struct Marks {
    arrow: Option<usize>,
    bar: Option<usize>,
}

fn marks(text: &str) -> Result<Marks, QueryError> {
    let mut marks = Marks { arrow: None, bar: None };
    let mut depth = 0u32;
    scan(text, |position, c| match c {
        '(' => depth = depth.saturating_add(1),
        ')' => depth = depth.saturating_sub(1),
        '>' if depth == 0 => marks.arrow = Some(position),
        '|' if depth == 0 && marks.bar.is_none() && is_pipe(&text[position + 1..]) => marks.bar = Some(position),
        _ => {}
    })?;
    Ok(marks)
}

/// Divides a part of a line at blanks.
///
/// # Errors
/// A quote that does not end.
pub(crate) fn words(text: &str) -> Result<Vec<String>, QueryError> {
    let mut ends = vec![];
    scan(text, |position, c| {
        if c.is_whitespace() {
            ends.push((position, c.len_utf8()));
        }
    })?;
    ends.push((text.len(), 0));
    let mut start = 0;
    let mut words = Vec::new();
    for (end, width) in ends {
        if end > start {
            words.push(text[start..end].to_owned());
        }
        start = end + width;
    }
    Ok(words)
}

/// A word without the quotes around the whole of it; those inside mean something.
pub(crate) fn unquoted_whole(word: &str) -> String {
    let between = |quote| word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    between('\'').or_else(|| between('"')).unwrap_or(word).to_owned()
}

/// A word without the quotes around and inside it; `\` keeps the next character. The path of a field and a regular
/// expression keep theirs.
pub(crate) fn unquoted(word: &str) -> String {
    if field::is_quoted(word) || is_pattern(word) {
        return word.to_owned();
    }
    let mut text = String::with_capacity(word.len());
    let mut quote: Option<char> = None;
    let mut characters = word.chars();
    while let Some(c) = characters.next() {
        match quote {
            Some(_) if c == '\\' => text.extend(characters.next()),
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(text: &str) -> (Vec<String>, Sink) {
        let line = Line::parse(text).unwrap();
        (line.words, line.sink)
    }

    #[test]
    fn words_keep_their_quotes() {
        let (words, sink) = divided(r#"  find 5 object type="Foo \"Bar\"" and name ~ /a b|c>/  "#);
        let expected = ["find", "5", "object", r#"type="Foo \"Bar\"""#, "and", "name", "~", "/a b|c>/"];
        assert_eq!(words, expected);
        assert_eq!(sink, Sink::Stdout);
        assert_eq!(unquoted(r#"type="Foo \"Bar\"""#), r#"type=Foo "Bar""#);
        assert_eq!(unquoted(r#"./"my file".barrow"#), "./my file.barrow");
        assert_eq!(unquoted(r#"."a.b".x,"#), r#"."a.b".x,"#);
        assert_eq!(unquoted(r#".m["a b"],.n["c"]"#), r#".m["a b"],.n["c"]"#);
        assert_eq!(divided("# summary").0, Vec::<String>::new());
    }

    #[test]
    fn the_pattern_of_strings_is_one_word() {
        for pattern in ["/a|b/", r#"/it's "a/"#, "/a > b/", r"/a\/b|c/"] {
            let line = format!("strings {pattern} | less");
            assert_eq!(divided(&line), (vec!["strings".to_owned(), pattern.to_owned()], Sink::Command("less".into())));
            assert_eq!(unquoted(pattern), pattern);
        }
        assert_eq!(divided("strings /usr | wc /tmp/x").0, ["strings", "/usr"]);
        assert_eq!(divided("strings /usr/lib > /tmp/").1, Sink::File("/tmp/".into()));
        assert_eq!(divided("strings // | wc").0, ["strings", "//"]);
    }

    #[test]
    fn an_arrow_redirects_or_compares() {
        assert_eq!(divided("top > /tmp/a.txt").1, Sink::File("/tmp/a.txt".into()));
        assert_eq!(divided("find object size > 1M").1, Sink::Stdout);
        assert_eq!(divided("find object size >= 1M > out.csv").1, Sink::File("out.csv".into()));
        assert_eq!(divided("find object size > 1M and refs > 5").1, Sink::Stdout);
        assert_eq!(divided("find object (size > x)").1, Sink::Stdout);
        assert_eq!(divided("find object (size > x) > y").1, Sink::File("y".into()));
        assert_eq!(divided("top > '1 M'").1, Sink::File("1 M".into()));
        assert!(Line::parse("top >").is_err());
        for text in ["count .hits > -3", "count .load > .5", "count .hits > .limit"] {
            assert_eq!(divided(text).1, Sink::Stdout, "{text}");
        }
        assert_eq!(divided("list of .id > ./out.csv").1, Sink::File("./out.csv".into()));
    }

    #[test]
    fn a_bar_pipes() {
        let (words, sink) = divided("histogram | sort | head -3");
        assert_eq!((words, sink), (vec!["histogram".to_owned()], Sink::Command("sort | head -3".into())));
        assert!(Line::parse("top |").is_err());
        for text in ["count $a | $b", "count $a |@5", "count .a | .b", "count (size > 1 | refs = 0)"] {
            assert_eq!(divided(text).1, Sink::Stdout, "{text}");
        }
        let (words, sink) = divided("find type = \"A\" | type = \"B\" | less");
        assert_eq!((words.len(), sink), (8, Sink::Command("less".into())));
        assert_eq!(divided("count size > unmanaged").1, Sink::Stdout);
        assert_eq!(divided("top | sort -n").1, Sink::Command("sort -n".into()));
        assert_eq!(divided("top | type less").1, Sink::Command("type less".into()));
        assert_eq!(divided("count (size > 1 | %2) | cat").1, Sink::Command("cat".into()));
        assert!(Line::parse("find object type=\"Foo").is_err());
    }
}
