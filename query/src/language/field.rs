//! Fields as words of a line: `.owner.name`, `.attributes["tenant"]`, and several of them, divided by commas.

use barrow_analyzer::FieldPath;

use crate::error::QueryError;

use super::quotes::scan;

/// Returns whether a text begins like a field, `.count`, and not like a path, `./count`.
pub(crate) fn begins(text: &str) -> bool {
    text.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '['))
}

/// The field that a word names.
///
/// # Errors
/// A usage error that says what is wrong.
pub(crate) fn typed(word: &str) -> Result<FieldPath, QueryError> {
    FieldPath::typed(word).map_err(|mistake| {
        let known = "a field is written `.name` or `.owner.name`, and what a map holds `.attributes[\"tenant\"]`";
        QueryError::usage(format!("`{word}` is no field: {mistake}; {known}"))
    })
}

/// The parts of a word between commas outside of quotes, without blanks around them and without empty ones.
pub(crate) fn listed(word: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let scanned = scan(word, |at, c| {
        if c == ',' {
            parts.push(&word[start..at]);
            start = at + 1;
        }
    });
    // A quote that does not end is a mistake in the last part.
    scanned.unwrap_or_default();
    parts.push(&word[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns whether a word has a field with names or keys in quotes, as `."content type"`.
pub(crate) fn is_quoted(word: &str) -> bool {
    listed(word).into_iter().any(|part| {
        let has_key = part.starts_with('.') && (part.contains("[\"") || part.contains("['"));
        has_key || (part.contains(".\"") || part.contains(".'")) && FieldPath::typed(part).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_quotes_do_not_divide() {
        assert_eq!(listed(r#".a,,.m["x, y"].b,type,"#), [".a", r#".m["x, y"].b"#, "type"]);
        assert_eq!(listed(r#".a,.m["x,y"#), [".a", r#".m["x,y"#]);
        assert_eq!(listed(r#".a, .m[" x"] , "#), [".a", r#".m[" x"]"#]);
        assert!(is_quoted(r#"type,.m["x"]"#) && is_quoted(r#"."a b".x,"#));
        assert!(!is_quoted(r#"./"my file".barrow"#) && !is_quoted(".m[4]"));
        let error = typed(".m[x]").unwrap_err().to_string();
        assert!(error.contains("in quotes here") && error.contains(".attributes[\"tenant\"]"), "{error}");
    }
}
