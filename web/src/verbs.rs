//! The verbs and the words of attributes, as the page lists them.

use barrow_query::commands::{self, COMMANDS, Command, Subject};
use barrow_query::{Touches, vocabulary};
use serde_json::{Value, json};

/// Resources that a question from the page may touch.
pub(crate) const ALLOWED: Touches = Touches::RECORDING;

/// Every verb, and whether it can be asked here; the attributes, and where lines take their words.
pub(crate) fn list() -> Value {
    let verbs: Vec<Value> = COMMANDS.iter().map(|command| verb(command)).collect();
    let attributes = json!({ "objects": vocabulary::objects(), "processes": vocabulary::processes() });
    json!({ "verbs": verbs, "attributes": attributes })
}

fn verb(command: &Command) -> Value {
    let is_for_shells = command.subject != Subject::Session;
    json!({
        "name": command.name,
        "aliases": command.aliases,
        "group": command.group.title(),
        "usage": command.usage(),
        "about": command.about,
        "details": command.details(),
        "example": command.example,
        "flags": command.flags,
        "page": is_for_page(command),
        "needs": command.needs().iter().map(|content| content.name()).collect::<Vec<_>>(),
        "shell": is_for_shells.then(|| commands::from_shell(command)),
    })
}

/// Returns whether a command asks a recording, or nothing, like `help`; and not a prompt or a terminal.
pub(crate) fn is_about_recordings(command: &Command) -> bool {
    matches!(command.subject, Subject::Recording | Subject::Nothing)
}

/// Returns whether the page takes a line of this command: a question, or a change of what the address holds.
pub(crate) fn is_for_line(command: &Command) -> bool {
    is_for_page(command) || ["without", "let", "snapshot"].contains(&command.name)
}

/// Returns whether a command only reads the open recording. Those that can also read other files are asked about
/// served ones.
fn is_for_page(command: &Command) -> bool {
    let touches = command.touches.except(Touches::READS_FILES);
    is_about_recordings(command) && touches.except(ALLOWED) == Touches::NOTHING
}
