//! The part of an address after `#`: the state of the page, which is a question and what it depends on.

use barrow_query::{QueryError, Question};
use form_urlencoded::Serializer;

/// The fragment of lines of the prompt, of which the last is the question: `without`, `let` and `snapshot` before it
/// become a part of it.
///
/// # Errors
/// Those of a line that is no question.
pub fn fragment(lines: &[String]) -> Result<String, QueryError> {
    let mut fragment = Serializer::new(String::new());
    for line in lines {
        let Some(question) = Question::of_line(line)? else { continue };
        question.check()?;
        let rest = line.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim());
        match question.command.name {
            "without" => fragment.append_pair("w", rest),
            "let" => fragment.append_pair("let", rest),
            "snapshot" => fragment.append_pair("s", rest),
            _ => fragment.append_pair("q", line.trim()),
        };
    }
    // `+` is a blank only after `?`.
    Ok(fragment.finish().replace('+', "%20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_the_state_of_the_page() {
        let lines = ["let $a = size > 1K", "without type ~ /x+y/", "use 3", "growth 0..5"].map(str::to_owned);
        let expected = "let=%24a%20%3D%20size%20%3E%201K&w=type%20%7E%20%2Fx%2By%2F&s=3&q=growth%200..5";
        assert_eq!(fragment(&lines).unwrap(), expected);
        assert!(fragment(&["nosuchverb".to_owned()]).is_err());
    }
}
