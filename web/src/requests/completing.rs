//! Completion of the line of the page: the words that can follow.

use std::sync::Arc;

use barrow_query::SnapshotName;
use barrow_query::commands;
use barrow_query::completion::{Choice, Known};
use serde_json::{Value, json};

use super::{App, failed};
use crate::error::Refusal;
use crate::files::Served;
use crate::question::LONGEST_LINE;
use crate::verbs;

/// Maximum number of choices: a page shows a few at a time.
const MOST: usize = 200;

/// The words that can follow the line of a request. `replaces` counts the UTF-16 units at its end that they replace.
pub(super) async fn completions(app: &Arc<App>, file: Arc<Served>, query: &str) -> Result<Value, Refusal> {
    let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let app = Arc::clone(app);
    let found = tokio::task::spawn_blocking(move || found(&app, &file, &pairs)).await;
    found.map_err(|_| failed())?
}

fn found(app: &App, file: &Served, pairs: &[(String, String)]) -> Result<Value, Refusal> {
    let first = |key: &str| pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let line = first("q").filter(|line| line.len() <= LONGEST_LINE).unwrap_or_default();
    let beside = app.files.names_beside(file);
    let (file, _) = file.open(&app.templates)?;
    let name = |set: &str| set.split(|c: char| c.is_whitespace() || c == '=').next().unwrap_or_default().to_owned();
    let sets: Vec<String> = pairs.iter().filter(|(key, _)| key == "let").map(|(_, set)| name(set)).collect();
    let number = match first("s").map(str::parse) {
        Some(Ok(SnapshotName::Number(number))) => Some(number),
        _ => None,
    };
    let snapshot = number.and_then(|number| file.recording.snapshot_ids().find(|id| id.0 == number));
    let found = Known { recording: &file.recording, snapshot, sets: &sets, beside: &beside }.complete(line);
    let choices = found.choices.into_iter().filter(can_be_asked).take(MOST);
    let choices: Vec<Value> = choices.map(|choice| json!({ "text": choice.text, "what": choice.what })).collect();
    Ok(json!({ "replaces": line[found.start..].encode_utf16().count(), "choices": choices }))
}

/// Returns whether a page takes this word: some verbs are for a shell or a prompt.
fn can_be_asked(choice: &Choice) -> bool {
    choice.what != "verb" || commands::named(&choice.text).is_ok_and(verbs::is_for_line)
}
