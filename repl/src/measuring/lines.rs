//! Lines of commands: which of them need a shell.

use std::ffi::OsString;

use barrow_query::QueryError;
use barrow_trial_recorder::{Command, is_program};

/// Words that only a shell understands, though they look like programs.
const BUILTINS: &str = ". : alias bg cd command eval exec exit export fg getopts hash jobs local read readonly return set \
                        shift source times trap type ulimit umask unalias unset wait if for while until case function \
                        time let declare";

/// A line beside a command of words: both are started in the same way.
pub(super) fn without_shell(line: &str) -> Result<Command, QueryError> {
    let words = shlex::split(line).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| QueryError::usage(format!("`{line}` is no command: a quote is not closed")))?;
    if words.iter().any(|word| matches!(word.as_str(), "|" | "||" | "&&" | ";" | "&" | ">" | ">>" | "<")) {
        return Err(QueryError::usage(format!(
            "`{line}` needs a shell, and the command after `--` has none: give both as lines, or add `--shell=sh`"
        )));
    }
    Ok(Command::Words(words.into_iter().map(OsString::from).collect()))
}

/// The words of a line that means the same without a shell: such a program is started without one, so that the shell is no
/// part of what is measured.
pub(super) fn plain(line: &str) -> Option<Vec<OsString>> {
    let is_plain = |c: char| c.is_alphanumeric() || " \t_-+=./,:@%^".contains(c);
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.first()?;
    let means_itself = !first.contains('=') && !is_builtin(first);
    (line.chars().all(is_plain) && means_itself && is_program(first))
        .then(|| words.into_iter().map(OsString::from).collect())
}

fn is_builtin(word: &str) -> bool {
    BUILTINS.split_whitespace().any(|builtin| builtin == word)
}

/// Returns whether a line is one word that names neither a program nor a builtin of the shell.
pub(super) fn is_no_program(line: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || "_-+.,:@%/".contains(c);
    !line.is_empty() && line.chars().all(is_name) && !is_builtin(line) && !is_program(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_marks_of_a_shell_needs_none() {
        assert_eq!(plain("/bin/true --x=1 a.b").unwrap(), ["/bin/true", "--x=1", "a.b"]);
        for line in
            ["/bin/true 'a b'", "/bin/true | x", "A=1 /bin/true", "cd /", "exit 3", "/bin/echo $HOME", "/bin/ls *", ""]
        {
            assert_eq!(plain(line), None, "{line}");
        }
        assert!(plain("no-such-program-anywhere").is_none());
    }

    #[test]
    fn lines_beside_words_are_divided() {
        assert_eq!(without_shell("a 'b c'").unwrap().text(), "a 'b c'");
        assert!(without_shell("a | b").is_err() && without_shell("a 'b").is_err());
    }
}
