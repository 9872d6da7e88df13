//! The page without its comments, as it is sent: they are a fourth of what would be sent.

/// The same text without indentation and without comments that fill whole lines. Every line keeps its number, so that
/// a browser's messages name lines of the source. No text of the page goes over several lines, as a test makes sure.
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
            plain.push_str(line);
        }
        plain.push('\n');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets;

    #[test]
    fn comments_that_fill_lines_are_left_out() {
        let text = "// One\n/** Two */\n/**\n * Three\n */\nlet a = 1; // four\n  /** @type {number} */ (b).c();\n\n/* five\n six */\nd();";
        assert_eq!(
            without_comments(text),
            "\n\n\n\n\nlet a = 1; // four\n/** @type {number} */ (b).c();\n\n\n\nd();\n"
        );
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
