//! Command lines as a shell would read them.

/// Words with blanks between them, those in quotes that need them.
#[must_use]
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        push(&mut line, word);
    }
    line
}

/// The beginning of the same, with not many more than `most` characters.
pub fn beginning<'a>(words: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let mut left = most;
    let taken = words.into_iter().take_while(|word| {
        let is_room = left > 0;
        left = left.saturating_sub(word.len() + 1);
        is_room
    });
    let line = line(taken);
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn push(line: &mut String, word: &str) {
    if !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%^".contains(c)) {
        line.push_str(word);
    } else {
        line.push('\'');
        line.push_str(&word.replace('\'', r"'\''"));
        line.push('\'');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_back() {
        assert_eq!(
            line(["gcc", "-DX=\"a b\"", "", "it's", "$HOME", "a.c"]),
            r#"gcc '-DX="a b"' '' 'it'\''s' '$HOME' a.c"#
        );
        assert_eq!(beginning(["abc", "def", "ghi"], 5), "abc d…");
        assert_eq!(beginning(["abc"], 5), "abc");
    }
}
