//! `completions`: completions of verbs and flags for a shell. The terminal answers it.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "completions",
    aliases: &[],
    group: Group::Session,
    arguments: "bash|zsh|fish",
    about: "Completions of verbs and flags for a shell",
    details: "Prints a script to the standard output. For bash: `barrow completions bash > ~/.local/share/bash- \
              completion/completions/barrow`. For zsh: a file `_barrow` in a folder of `$fpath`. For fish: \
              `~/.config/fish/completions/barrow.fish`. The prompt completes more: types, sets and snapshots.",
    example: "completions bash",
    flags: &[],
    subject: Subject::Program,
    touches: Touches::NOTHING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Err(QueryError::usage("completions is for a shell: `barrow completions bash`"))
}
