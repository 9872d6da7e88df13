//! The page without its comments and the blanks of CSS, as it is sent: comments are a quarter of it.

/// The same text without indentation, comments that fill whole lines, and types within lines. Every line keeps its
/// number, so that messages of a browser refer to lines of the source. No text of the page spans several lines, which a
/// test checks.
pub(crate) fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut is_inside = false;
    for line in text.lines() {
        let line = line.trim();
        let begins = line.starts_with("/*");
        let is_comment =
            is_inside || line.starts_with("//") || (begins && (!line.contains("*/") || line.ends_with("*/")));
        if begins || is_inside {
            is_inside = !line.contains("*/");
        }
        if !is_comment {
            push_without_types(line, &mut plain);
        }
        plain.push('\n');
    }
    plain
}

/// Appends a line without the types in `/** */`.
fn push_without_types(line: &str, plain: &mut String) {
    let mut rest = line;
    while let Some((before, (_, after))) =
        rest.split_once("/** ").and_then(|(before, types)| Some((before, types.split_once("*/")?)))
    {
        plain.push_str(before);
        rest = after.trim_start();
    }
    plain.push_str(rest);
}

/// CSS without empty lines and, outside of texts, without blanks beside its signs: no message refers to its lines.
pub(crate) fn tightened(css: &str) -> String {
    const SIGNS: [(&str, &str); 6] = [("; }", "}"), (" { ", "{"), (" }", "}"), ("; ", ";"), (": ", ":"), (", ", ",")];
    let mut tight = String::with_capacity(css.len());
    for line in css.lines().filter(|line| !line.is_empty()) {
        for (at, part) in line.split('"').enumerate() {
            if at > 0 {
                tight.push('"');
            }
            if at % 2 == 1 {
                tight.push_str(part);
            } else {
                tight.push_str(&SIGNS.iter().fold(part.to_owned(), |text, (from, to)| text.replace(from, to)));
            }
        }
        tight.push('\n');
    }
    tight
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets;

    #[test]
    fn comments_that_fill_lines_are_left_out() {
        let text = "// One\n/** Two */\n/**\n * Three\n */\nlet a = 1; // four\n  /** @type {number} */ (b).c();\n\n/* five\n six */\nd();";
        assert_eq!(without_comments(text), "\n\n\n\n\nlet a = 1; // four\n(b).c();\n\n\n\nd();\n");
    }

    #[test]
    fn types_within_lines_are_left_out() {
        let text = "let [a, b] = /** @type {[A, B]} */ (f(/** @type {any} */ (c)));\nx = /** open";
        assert_eq!(without_comments(text), "let [a, b] = (f((c)));\nx = /** open\n");
    }

    #[test]
    fn css_keeps_its_texts_and_selectors() {
        let css =
            "a :is(b, c)::after { content: \"x: {y}; \"; margin: 0 1px; }\n\n@media (max-width: 4rem) {\nd { }\n}\n";
        let tight = "a :is(b,c)::after{content:\"x: {y}; \";margin:0 1px}\n@media (max-width:4rem) {\nd{}\n}\n";
        assert_eq!(tightened(css), tight);
    }

    #[test]
    fn no_text_holds_a_type() {
        for (path, text) in assets::sources() {
            let mut types = text.lines().flat_map(|line| line.split("/** ").skip(1).map(move |rest| (line, rest)));
            let odd = types.find(|(line, rest)| !rest.starts_with('@') && !line.trim().starts_with("/**"));
            assert_eq!(odd, None, "{path}: what begins in a text like a comment would be left out");
        }
    }

    #[test]
    fn no_text_goes_over_several_lines() {
        for (path, text) in assets::sources() {
            let lines = || text.lines().filter(|line| !line.trim().starts_with(['*', '/']));
            let odd = lines().find(|line| line.matches('`').count() % 2 == 1);
            assert_eq!(odd, None, "{path}: a text over several lines would lose its indentation");
        }
    }
}
