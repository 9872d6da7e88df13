//! `docs/commands.md`, from the table of commands.

use std::fmt::Write;

use crate::commands::{COMMANDS, Command, Group, Subject, expressions, from_shell};

const HEAD: &str = "\
# Commands

<!-- Made from the table of commands in `query/src/commands.rs`; `BLESS=1 cargo test -p barrow` writes it anew. -->

A line at the prompt is `VERB [ARGS]`. The same question from a shell is `barrow VERB FILE [ARGS]`;
`barrow FILE` opens the prompt; `barrow FILE -e 'LINE'` (repeatable) and `barrow FILE -f SCRIPT` run lines and leave.
FILE is a recording or a dump that can be imported, recognised by its first bytes; `-` is the standard input, and any pipe will
do: `zcat dump.gz | barrow top -`. What comes through a pipe is copied to the disk while it is asked; nothing of it is kept.
A unique beginning of a verb is enough, except for verbs that write a file.

";

const TAIL: &str = "\
## Conventions

- Objects: `123` or `@123` in the selected snapshot, `2:@123` in snapshot 2, `0x7f00` by address, `%3` in row 3 of the
  last table.
- Kinds, as the recording declares them: any case, singular or plural, a unique beginning. `types` and `all` mean
  every kind.
- Sizes are binary for people (`64 KiB`), bytes for machines. A size column says shallow or unmanaged.
- `--format table|json|csv`. JSON has `schema_version`, units in its keys, `\"exactness\"`, and the same bytes for the
  same input. CSV has units in its header.
- What a dump says never controls a terminal: control, bidirectional, zero-width and tag characters in names are written out, like
  `\\u{1b}`. JSON escapes them, so that the value stays the same. In CSV a text that begins with `=`, `+`, `-` or `@` gets a leading
  apostrophe, so that no spreadsheet takes it for a formula; numbers stay as they are.
- `-s N` asks another snapshot than the last one; `--threads N` bounds the threads, `--max-memory SIZE` the memory of questions, with
  exit code 5 where that is too little, and the buffers of an import; `--quiet` shows no progress; `--no-color` and
  `NO_COLOR` no colours.
- At the prompt `> FILE` and `| COMMAND` at the end of a line take the answer elsewhere, with every row unless the line says how many; FILE appears whole or not at all.
- Ctrl-C stops whatever runs or prints and leaves the prompt with its session, however often it is pressed; a one-shot command ends
  with 130. Rows that were printed are whole, JSON has no end then, and stderr says `stopped`. Should a question not stop within a
  second, the next Ctrl-C says how to end barrow, or the command after `|`, with one more.
- A dump that is opened directly is imported into `$BARROW_CACHE`, `$XDG_CACHE_HOME/barrow` or `~/.cache/barrow`; without a home into
  `barrow-UID` in the folder for temporary files, which must belong to this user alone. Cached recordings are readable for their
  owner only. A dump is imported again when its path, length, times, device or inode change, or its bytes: all of them are
  compared by checksum up to 8 MiB, above that 128 pieces of 4 KiB. What a dump had lost is told at each opening.
- Each new import removes from the cache what was imported of dumps that are gone or were written anew, and beyond 10 GiB
  (`BARROW_CACHE_SIZE`, like `500M`) what was used least recently; the newest import stays in any case.
- A compressed dump that is opened directly is unpacked in the cache first, up to 1 GiB or 10,000 times its length, whichever is
  more; `--max-unpacked SIZE` sets another limit. 1 GiB of the disk, or a twentieth of a smaller one, stays free.

| exit code | meaning |
|---|---|
| 0 | answered |
| 1 | `verify` found damage; what was asserted is false |
| 2 | the question was not understood, or the recording has too few snapshots to tell whether what was asserted is true |
| 3 | the file could not be read; `repair` could keep nothing of it |
| 4 | answered from damaged input; stderr says what was lost |
| 5 | a resource ceiling |
| 130 | stopped by Ctrl-C |
";

/// The text of `docs/commands.md`.
#[must_use]
pub fn document() -> String {
    let mut text = HEAD.to_owned();
    for group in Group::ALL {
        let _ = writeln!(text, "## {}\n", group.title());
        for command in COMMANDS.iter().filter(|command| command.group == group) {
            section(&mut text, command);
        }
    }
    let _ = writeln!(text, "## Expressions\n\n```text\n{}\n```\n", expressions());
    text + TAIL
}

fn section(text: &mut String, command: &Command) {
    let _ = writeln!(text, "### `{}`\n", command.usage());
    let _ = writeln!(text, "{}. {}\n", command.about, command.details);
    if !command.aliases.is_empty() {
        let aliases = command.aliases.iter().map(|alias| format!("`{alias}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "Also called {aliases}.\n");
    }
    let _ = match command.subject {
        Subject::Session => writeln!(text, "```text\n{}\n```\n", command.example),
        Subject::Growing => writeln!(text, "```text\n{}\n```\n", from_shell(command)),
        _ => writeln!(text, "```text\n{}\n{}\n```\n", command.example, from_shell(command)),
    };
}
