//! The part of an address after `#`: the state of the page, which is a question and its context.

use barrow_query::{QueryError, Question, SnapshotName, Touches};
use form_urlencoded::Serializer;

/// The fragment of lines of the prompt, the last of which is the question: `without`, `let` and `snapshot` before it
/// become a part of it.
///
/// # Errors
/// Those of a line that is not a question, and of one that does more than a page may do.
pub fn fragment(lines: &[String]) -> Result<String, QueryError> {
    let mut state: Vec<(&str, &str)> = Vec::new();
    for line in lines {
        let Some(question) = Question::of_line(line)? else { continue };
        question.check()?;
        let more = question.touches().except(Touches::READ_ONLY);
        if more != Touches::NOTHING {
            return Err(QueryError::NotAllowed { verb: question.command.name, touches: more });
        }
        let rest = line.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim());
        let (key, value) = match question.command.name {
            "without" if rest == "clear" => {
                state.retain(|(key, _)| *key != "w");
                continue;
            }
            "without" if !rest.is_empty() => ("w", rest),
            "let" if !rest.is_empty() => ("let", rest),
            "snapshot" => ("s", snapshot(rest)?),
            _ => ("q", line.trim()),
        };
        // The last question and the last snapshot count.
        state.retain(|(known, _)| *known != key || matches!(key, "w" | "let"));
        state.push((key, value));
    }
    let fragment = Serializer::new(String::new()).extend_pairs(state).finish();
    // `+` is a blank only after `?`.
    Ok(fragment.replace('+', "%20"))
}

/// A snapshot as named in a line.
fn snapshot(word: &str) -> Result<&str, QueryError> {
    word.parse::<SnapshotName>().map(|_| word).map_err(QueryError::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_the_state_of_the_page() {
        let lines = ["let $a = size > 1K", "without type ~ /x+y/", "use 3", "growth 0..5"].map(str::to_owned);
        let expected = "let=%24a%20%3D%20size%20%3E%201K&w=type%20%7E%20%2Fx%2By%2F&s=3&q=growth%200..5";
        assert_eq!(fragment(&lines).unwrap(), expected);
        let later = ["snapshot 1", "top", "without size > 1", "without clear", "# comment", "use last", "summary"];
        assert_eq!(fragment(&later.map(str::to_owned)).unwrap(), "s=last&q=summary");
        for refused in ["nosuchverb", "top | sh", "top > out.txt", "repair -o file", "snapshot x", "diff a.barrow"] {
            assert!(fragment(&[refused.to_owned()]).is_err(), "{refused}");
        }
    }
}
