//! Arguments in the syntax of a shell.

/// Joins the arguments of a command, quoted if a shell needs that.
pub(crate) fn shell_words(arguments: &[String]) -> String {
    arguments.iter().map(|argument| word(argument)).collect::<Vec<_>>().join(" ")
}

fn word(argument: &str) -> String {
    let mut characters = argument.chars();
    if !argument.is_empty()
        && characters.all(|character| character.is_alphanumeric() || "_@%+=:,./-".contains(character))
    {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_must_be() {
        let words = ["make", "-j2", "CC=gcc", "", "a b", "it's"].map(str::to_owned);
        assert_eq!(shell_words(&words), r"make -j2 CC=gcc '' 'a b' 'it'\''s'");
    }
}
