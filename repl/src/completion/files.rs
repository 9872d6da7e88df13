//! Names of files, as Tab offers them.

use std::fs;

use barrow_query::answer::visible;

/// More choices than this do not help: they do not fit a screen. This is a judgement.
const MOST: usize = 200;

/// Files and folders whose path begins like `word`, in quotes where they need them. A name that cannot be shown or typed
/// is not offered; nor is one that begins with a dot, unless the word does.
pub(super) fn beginning(word: &str) -> Vec<String> {
    let is_quoted = word.starts_with('"');
    let wanted = word.trim_start_matches('"');
    let (folder, beginning) =
        wanted.rsplit_once('/').map_or(("", wanted), |(_, name)| wanted.split_at(wanted.len() - name.len()));
    let Ok(entries) = fs::read_dir(if folder.is_empty() { "." } else { folder }) else { return Vec::new() };
    let found = entries.filter_map(Result::ok).filter_map(|entry| {
        let mut name = entry.file_name().into_string().ok()?;
        let is_wanted = name.starts_with(beginning) && (beginning.starts_with('.') || !name.starts_with('.'));
        if !is_wanted || name.contains(|c: char| visible::is_hidden(c) || matches!(c, '"' | '\'' | '\\' | '\n' | '\t'))
        {
            return None;
        }
        if entry.path().is_dir() {
            name.push('/');
        }
        Some(quoted(format!("{folder}{name}"), is_quoted))
    });
    let mut found: Vec<String> = found.take(MOST).collect();
    found.sort_unstable();
    found
}

/// A path in quotes if they are open already, or if the line means something by one of its characters. A folder
/// leaves them open, since a name in it follows.
fn quoted(path: String, is_quoted: bool) -> String {
    let needs = is_quoted || path.contains(|c: char| c.is_whitespace() || "|<>()#".contains(c));
    match (needs, path.ends_with('/')) {
        (false, _) => path,
        (true, true) => format!("\"{path}"),
        (true, false) => format!("\"{path}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_offered_as_the_line_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["one.barrow", "one two.barrow", "on\u{1b}e", "on\u{202e}e", "on\"e", ".one", "other"];
        names.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        fs::create_dir(folder.path().join("one folder")).unwrap();
        let folder = folder.path().to_str().unwrap();
        let offered =
            |word: &str| -> Vec<String> { beginning(word).iter().map(|choice| choice.replace(folder, "F")).collect() };
        assert_eq!(offered(&format!("{folder}/on")), ["\"F/one folder/", "\"F/one two.barrow\"", "F/one.barrow"]);
        assert_eq!(offered(&format!("\"{folder}/one t")), ["\"F/one two.barrow\""]);
        assert_eq!(offered(&format!("{folder}/.")), ["F/.one"]);
        assert_eq!(offered("/there is no such folder/"), Vec::<String>::new());
        for choice in beginning(&format!("{folder}/on")).iter().filter(|choice| !choice.ends_with('/')) {
            let line = barrow_query::Line::parse(&format!("top > {choice}")).unwrap();
            let barrow_query::Sink::File(name) = line.sink else { panic!("{choice} is no file") };
            assert!(fs::exists(name).unwrap(), "{choice}");
        }
    }
}
