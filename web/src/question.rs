//! The content of a request: a line, and the file, snapshot and rows it refers to.

use barrow_query::commands::Subject;
use barrow_query::{QueryError, Question, SnapshotName, Touches};
use hyper::StatusCode;

use crate::error::{Fault, Refusal};
use crate::verbs::{self, ALLOWED};

/// Maximum length of a line, in bytes: people type hundreds, and an address with it, its exclusions and names stays
/// within what is accepted.
pub(crate) const LONGEST_LINE: usize = 8 << 10;
/// Maximum number of rows of a window, which the server and the page hold as a whole; further ones are asked for as
/// people scroll.
const MOST_ROWS: usize = 1_000;
/// Maximum number of exclusions and names: each is evaluated for every template. This is a judgement.
const MOST_WORDS: usize = 64;

/// A parsed request.
pub(crate) struct ParsedRequest {
    pub(crate) file: usize,
    pub(crate) snapshot: SnapshotName,
    pub(crate) question: Question,
    pub(crate) without: Vec<String>,
    pub(crate) lets: Vec<String>,
    /// The first wanted row, and the number of rows; `None`: those of the question itself.
    pub(crate) window: Option<(u64, usize)>,
}

impl ParsedRequest {
    /// Parses the part after `?`. Refuses lines that are not questions, and questions that do anything but read the
    /// recording.
    ///
    /// `name_of` is the name of a served file, `is_served` says whether one has this name: a question may name them.
    pub(crate) fn of_query(
        query: &str,
        name_of: impl Fn(usize) -> Option<String>,
        is_served: impl Fn(&str) -> bool,
    ) -> Result<Self, Refusal> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let line = first(&pairs, "q").unwrap_or_default();
        let (without, lets) = (all(&pairs, "w"), all(&pairs, "let"));
        let texts = without.iter().chain(&lets).map(String::len);
        if texts.chain([line.len()]).any(|length| length > LONGEST_LINE) {
            return Err(Refusal::new(StatusCode::URI_TOO_LONG, "a line has at most 8 KiB"));
        }
        if without.len() + lets.len() > MOST_WORDS {
            return Err(bad_request(format!("at most {MOST_WORDS} things can be excluded or named")));
        }
        let file = number(&pairs, "f")?.map_or(Ok(0), usize::try_from).unwrap_or(usize::MAX);
        let Some(name) = name_of(file) else {
            return Err(Refusal::new(StatusCode::NOT_FOUND, "no file of that number is served"));
        };
        let snapshot = first(&pairs, "s").map_or(Ok(SnapshotName::Last), str::parse).map_err(bad_request)?;
        let question = question(line, &name, is_served)?;
        for (verb, words) in
            without.iter().map(|words| ("without", words)).chain(lets.iter().map(|words| ("let", words)))
        {
            check_words(verb, words, &name)?;
        }
        let window = match (number(&pairs, "from")?, number(&pairs, "n")?) {
            (None, None) => None,
            (from, rows) => {
                Some((from.unwrap_or(0), rows.map_or(MOST_ROWS, |rows| rows.min(MOST_ROWS as u64) as usize)))
            }
        };
        Ok(ParsedRequest { file, snapshot, question, without, lets, window })
    }
}

fn bad_request(message: String) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, message)
}

/// The first value of a key.
fn first<'p>(pairs: &'p [(String, String)], key: &str) -> Option<&'p str> {
    pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// The first value of a key as a number.
fn number(pairs: &[(String, String)], key: &str) -> Result<Option<u64>, Refusal> {
    let value = first(pairs, key).map(str::parse::<u64>).transpose();
    value.map_err(|_| bad_request(format!("`{key}` is no number")))
}

/// All values of a key.
fn all(pairs: &[(String, String)], key: &str) -> Vec<String> {
    pairs.iter().filter(|(name, _)| name == key).map(|(_, value)| value.clone()).collect()
}

/// The question of a line about the file of this name, which may name other served files.
fn question(line: &str, name: &str, is_served: impl Fn(&str) -> bool) -> Result<Question, Refusal> {
    let question = understood(line)?;
    let touches = question.touches_beside(is_served).except(ALLOWED);
    if verbs::is_about_recordings(question.command) && touches == Touches::NOTHING {
        return Ok(question);
    }
    Err(only_in_a_shell(&question, line, ALLOWED, name))
}

/// Refuses words after `without` or `let` that do anything but exclude and name objects.
fn check_words(verb: &str, words: &str, name: &str) -> Result<(), Refusal> {
    let line = format!("{verb} {words}");
    let question = understood(&line)?;
    if question.touches().except(Touches::READ_ONLY) == Touches::NOTHING {
        return Ok(());
    }
    Err(only_in_a_shell(&question, &line, Touches::READ_ONLY, name))
}

/// The question of a line.
fn understood(line: &str) -> Result<Question, Refusal> {
    let refusal = |error: QueryError| {
        let fault = Fault::of(&error);
        Refusal { status: fault.status().unwrap_or(StatusCode::BAD_REQUEST), fault }
    };
    let question = Question::of_line(line).map_err(refusal)?;
    let question =
        question.ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "which question? `help all` lists the verbs"))?;
    question.check().map_err(refusal)?;
    Ok(question)
}

/// The refusal of a question that touches more than `allowed`.
fn only_in_a_shell(question: &Question, line: &str, allowed: Touches, name: &str) -> Refusal {
    let touches = question.touches().except(allowed);
    let what = if touches == Touches::NOTHING { "is about a prompt".to_owned() } else { touches.to_string() };
    let shell = match question.command.subject {
        Subject::Recording | Subject::Session => format!("barrow {} -e {}", quoted(name), quoted(line)),
        _ => format!("barrow {line}"),
    };
    let message = format!("`{}` works only in a shell, because it {what}: {shell}", question.command.name);
    let mut refusal = Refusal::new(StatusCode::FORBIDDEN, message);
    refusal.fault.shell = Some(shell.into());
    refusal
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c));
    if !word.is_empty() && is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Result<ParsedRequest, Refusal> {
        ParsedRequest::of_query(query, |file| (file == 0).then(|| "it's.barrow".to_owned()), |name| name == "b.barrow")
    }

    #[test]
    fn a_request_is_a_question_with_its_place() {
        let asked = of("f=0&s=3&q=top+5&w=type+%7E+x&w=size+%3E+1&let=%24a+%3D+size%3E2&from=10&n=5000").ok().unwrap();
        assert_eq!((asked.question.command.name, asked.snapshot), ("top", SnapshotName::Number(3)));
        assert_eq!((asked.without.len(), asked.lets[0].as_str()), (2, "$a = size>2"));
        assert_eq!(asked.window, Some((10, 1000)));
        assert_eq!(of("q=summary").ok().unwrap().window, None);
    }

    #[test]
    fn what_is_no_question_has_a_status() {
        let status = |query: &str| of(query).err().map(|refusal| refusal.status.as_u16());
        let long = format!("q={}", "x".repeat(9000));
        let expected = [
            ("q=", 400),
            ("q=nosuchverb", 400),
            ("f=7&q=top", 404),
            ("f=-1&q=top", 400),
            ("s=x&q=top", 400),
            ("n=x&q=top", 400),
            ("q=top+%7C+sh", 403),
            ("q=top+%3E+file.txt", 403),
            ("q=repair+-o+x", 403),
            ("q=without+size", 403),
            ("q=diff+%2Fetc%2Fpasswd", 403),
            ("q=assert+--from+x", 403),
            ("q=set+rows+3", 403),
            ("q=import+x+-o+y", 403),
            ("q=top&w=size+%3E+1+%7C+sh", 403),
            ("q=top&let=%24a+%3D+all+%3E+out.txt", 403),
            ("q=top&w=size+--min+1%25", 400),
        ];
        for (query, code) in expected {
            assert_eq!(status(query), Some(code), "{query}");
        }
        assert_eq!(status(&long), Some(414));
    }

    #[test]
    fn the_way_in_a_shell_is_quoted() {
        let refusal = of("q=top+%7C+sh").err().unwrap();
        let text = serde_json::to_string(&refusal.fault).unwrap();
        assert!(text.contains(r#""shell":"barrow 'it'\\''s.barrow' -e 'top | sh'""#), "{text}");
    }
}
