//! The text of `barrow --version`: the program's version, its commit, and the format it writes.

use std::sync::LazyLock;

use barrow_analyzer::{FORMAT_MAJOR_VERSION, FORMAT_MINOR_VERSION};

/// The commit, in seven digits; empty if the program was built outside of a repository and of a package. Changes that
/// were not committed do not show.
const COMMIT: &str = env!("BARROW_COMMIT");

/// For instance `0.1.0 (abc1234, format 1.0)`, or `0.1.0 (format 1.0)` if the commit is unknown.
pub(crate) fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| text(COMMIT));
    &TEXT
}

fn text(commit: &str) -> String {
    let comma = if commit.is_empty() { "" } else { ", " };
    let number = env!("CARGO_PKG_VERSION");
    format!("{number} ({commit}{comma}format {FORMAT_MAJOR_VERSION}.{FORMAT_MINOR_VERSION})")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn an_unknown_commit_is_left_out() {
        let format = format!("format {}.{}", super::FORMAT_MAJOR_VERSION, super::FORMAT_MINOR_VERSION);
        assert!(text("abc1234").ends_with(&format!(" (abc1234, {format})")), "{}", text("abc1234"));
        assert!(text("").ends_with(&format!(" ({format})")), "{}", text(""));
    }
}
