//! `docs/commands.md`, from the table of commands.

use std::fmt::Write;

use crate::commands::{COMMANDS, Command, Group, Subject, expressions, from_shell};

/// Lines of the document are at most this long.
const WIDTH: usize = 120;

const HEAD: &str = "\
# Commands

<!-- Made from the table of commands: `BLESS=1 cargo test -p barrow --test document` writes it again. -->

A line at the prompt is `VERB [ARGS]`. The same question from a shell is `barrow VERB FILE [ARGS]`. `barrow FILE` opens
the prompt. `barrow FILE -e 'LINE'` (repeatable) and `barrow FILE -f SCRIPT` run lines and leave.

FILE is a recording, or a dump that can be imported; its first bytes say which. `-` is the standard input, and any pipe
works: `zcat dump.gz | barrow top -`. Input from a pipe is copied to the disk for the time of the question, and removed
afterwards.

A unique beginning of a verb is enough, except for verbs that write a file.

";

const TAIL: &str = "\
## Conventions

- **Objects:** `123` or `@123` in the selected snapshot, `2:@123` in snapshot 2, `0x7f00` by address, `%3` in row 3 of
  the last table.
- **Kinds** are those that the recording declares: in any case, singular or plural, or a unique beginning. `types` and
  `all` mean every kind.
- **Sizes** are binary for people (`64 KiB`) and bytes for machines. A size column says shallow or unmanaged.
- **Formats:** `--format table|json|csv`. JSON has `schema_version`, units in its keys, `\"exactness\"`, and the same
  bytes for the same input. CSV has units in its header.
- **Names never control a terminal.** Control, bidirectional, zero-width and tag characters in names of a dump are
  written out, like `\\u{1b}`. JSON escapes them, so that the value stays the same. In CSV a text that begins with `=`,
  `+`, `-` or `@` gets a leading apostrophe, so that no spreadsheet reads it as a formula; numbers stay as they are.
- **Flags:** `-s N` selects another snapshot than the last one. `--threads N` limits the threads. `--max-memory SIZE`
  limits the memory of questions, with exit code 5 if that is too little, and the buffers of an import. `--quiet` shows
  no progress. `--no-color` and `NO_COLOR` switch colours off.
- **Memory:** without `--max-memory` questions may use three quarters of the memory that is free when barrow starts: of
  the machine or of its control group, whichever has less (8 GiB on other systems than Linux). What does not fit goes to
  temporary files in `TMPDIR` or `/var/tmp`, which have no names and end with the process. 1 GiB of that disk, or a
  twentieth of a smaller one, stays free; a question that needs it ends with exit code 5. So does one that holds more
  than the limit, or that would read the same pages of those files again and again.
- **Redirection:** at the prompt, `> FILE` and `| COMMAND` at the end of a line send the answer elsewhere, with every
  row unless the line limits them. FILE appears whole or not at all.
- **Ctrl-C** stops whatever runs or prints, and leaves the prompt with its session, however often it is pressed. A
  one-shot command exits with 130. Printed rows are whole, JSON then has no end, and stderr says `stopped`. If a
  question does not stop within a second, the next Ctrl-C says how to end barrow, or the command after `|`, with one
  more.
- **The cache.** A dump that is opened directly is imported into `$BARROW_CACHE`, `$XDG_CACHE_HOME/barrow` or
  `~/.cache/barrow`. Without a home directory, it is imported into `barrow-UID` in the folder for temporary files, which
  must belong to this user alone. Cached recordings are readable for their owner only. A dump is imported again when its
  path, length, times, device, inode or bytes change. Bytes are compared by checksum: all of them up to 8 MiB, and above
  that 128 pieces of 4 KiB. Each opening says what a dump had lost.
- **Before the import.** The prompt on a dump that was never imported is there at once, and the import goes on.
  `summary`, `top`, `histogram` and `count` by type are answered from one pass over the dump, as the import will answer
  them; references and roots are left out where that pass does not count them. Other questions wait for the import, and
  Ctrl-C stops only the waiting. `exit` gives the import up. In one shot, such a question is answered without an import.
- **The size of the cache.** Each new import removes imports of dumps that are gone or were rewritten. Beyond 10 GiB
  (`BARROW_CACHE_SIZE`, like `500M`) it also removes the least recently used ones. The newest import always stays.
- **Contents.** `--contents none` imports no texts of a dump, `--contents texts=4K` shortens those that take more than 4
  KiB, `--contents all` imports also what takes most room: all elements of arrays of numbers, not only the first 64.
  Names are always imported. The option holds for dumps that are opened directly, too.
- **Compressed dumps** that are opened directly are first unpacked in the cache, up to 1 GiB or 10,000 times their
  length, whichever is more; `--max-unpacked SIZE` sets another limit. 1 GiB of the disk, or a twentieth of a smaller
  one, stays free.

| exit code | meaning |
|---|---|
| 0 | answered |
| 1 | `verify` found damage; an assertion is false |
| 2 | the question was not understood, or the recording has too few snapshots to decide an assertion |
| 3 | the file could not be read; `repair` could keep nothing of it |
| 4 | answered from damaged input; stderr says what was lost |
| 5 | a resource limit was reached |
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
    let description = format!("{}. {}", command.about, command.details());
    let _ = writeln!(text, "{}\n", textwrap::fill(&description, WIDTH));
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
