//! `assert`: whether what is said of a recording holds, for CI.

use std::fs;
use std::path::Path;

use barrow_analyzer::SnapshotId;

use crate::answer::Answer;
use crate::args::SnapshotName;
use crate::assertion::{self, Assertion, Judge, Judged, junit_cases};
use crate::error::ReplError;
use crate::operand::{Compared, Operand};
use crate::output::junit;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "assert",
    aliases: &[],
    group: Group::Alive,
    arguments: "ASSERTION..",
    about: "Checks statements about the heap, with a witness if false: for CI",
    details: "An ASSERTION is one of these: `count(EXPR) <= 100`; `size(EXPR)`, shallow and unmanaged; \
              `retained(EXPR) < 64M`, what would be freed with all these objects; `growth(EXPR) <= 0`, by how many \
              bytes per snapshot their retained size grows; `growth(count EXPR)`, by how many objects per snapshot \
              their number grows; or `no leaks`, no suspects as `leaks` lists them, also `no leaks except FINGERPRINT \
              up to 64M, ..`. Numbers are compared by `<` `<=` `>` `>=` `=` `!=`. EXPR is that of `find`, and a KIND \
              may precede it: `count(frames size > 1M)`. An assertion is about the selected snapshot; `in 3` selects \
              another, and `over 3..10` each of these. Growth is measured over all snapshots, at least 5, and judged \
              as in `growth` and `trend`. It is too large only if the objects grow by that judgement and the whole \
              interval of the slope is above the limit. A warm-up, steps or a sawtooth are not growth, and a note \
              says so. If 5 to 7 snapshots rise each time, they are too few to be sure, and the assertion is \
              undecided. `--baseline OTHER` gives a recording, or snapshot `OTHER:3`, to compare with: `count(EXPR) \
              <= baseline + 10%`, `- 64K`, `* 1.1`, or `no leaks except baseline`. The latter excuses the suspects of \
              the baseline: each may retain 1.5 times what it retains there, or 1 % of the heap more, whichever is \
              more. A FINGERPRINT without `up to` has the same limit if the baseline has that suspect. Otherwise it \
              is excused at any size, and a note says so. `--from FILE` reads more assertions, one per line. `--allow \
              FILE` reads fingerprints of known leaks, each optionally with `up to SIZE`. `#` begins a comment. \
              `--min` is that of `leaks`. `--junit FILE` writes the results for a CI server. In a shell each \
              ASSERTION is one word, so put it in single quotes; at the prompt a line is one. The exit code is 1 if \
              any is false, and 2 if there are too few snapshots to tell.",
    example: "assert 'retained(type = \"Cache\") < 64M'",
    flags: &["--from", "--allow", "--baseline", "--junit", "--min"],
    subject: Subject::Recording,
    completion: Completion::Expressions,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let assertions = assertions(session, arguments)?;
    let mut judge = judge(session, arguments)?;
    let judged = assertions.iter().map(|assertion| Judged::new(&mut judge, session, assertion));
    let judged = judged.collect::<Result<Vec<_>, _>>()?;
    session.listed.clear();
    if let Some(path) = &arguments.junit {
        let suite = session.file().map_or("", |file| file.name.as_str());
        let xml = junit::document(suite, &junit_cases(&judged));
        fs::write(path, xml).map_err(|error| ReplError::file(path, error))?;
    }
    let mut answer = assertion::answer(&judged);
    answer.lost = judge.baseline.and_then(|baseline| Some(format!("{}: {}", baseline.file, baseline.damage?)));
    Ok(answer)
}

/// The assertions of the line and of `--from`.
fn assertions(session: &Session, arguments: &Arguments) -> Result<Vec<Assertion>, ReplError> {
    let assertions = assertions_of(session, session.snapshot()?, &arguments.assertions(), arguments)?;
    if assertions.is_empty() {
        return Err(ReplError::usage(format!("what should hold? `{}`", COMMAND.example)));
    }
    Ok(assertions)
}

/// These assertions and those of `--from`, about this snapshot unless they name another.
///
/// # Errors
/// A usage error with the place, a file that cannot be read.
pub(crate) fn assertions_of(
    session: &Session,
    snapshot: SnapshotId,
    texts: &[String],
    arguments: &Arguments,
) -> Result<Vec<Assertion>, ReplError> {
    let scope = session.scope(snapshot);
    let mut assertions = texts.iter().map(|text| Assertion::parse(text, &scope)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &arguments.from {
        let text = read(path)?;
        let lines = (1..).zip(text.lines().map(str::trim));
        for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let place = |error| ReplError::usage(format!("{}, line {number}: {error}", path.display()));
            assertions.push(Assertion::parse(line, &scope).map_err(place)?);
        }
    }
    Ok(assertions)
}

fn read(path: &Path) -> Result<String, ReplError> {
    fs::read_to_string(path)
        .map_err(|error| ReplError::Unreadable { path: path.display().to_string(), cause: error.to_string() })
}

/// Who judges, with what the flags say.
pub(crate) fn judge(session: &Session, arguments: &Arguments) -> Result<Judge, ReplError> {
    let mut judge = Judge::default();
    judge.min = arguments.min;
    if let Some(name) = &arguments.baseline {
        judge.baseline = Some(baseline(session, name)?);
    }
    if let Some(path) = &arguments.allow {
        let known = assertion::fingerprints(&read(path)?);
        judge.allowed = known.map_err(|error| ReplError::usage(format!("{}: {}", path.display(), error.message)))?;
    }
    Ok(judge)
}

/// `FILE`, `FILE:3`; a number is a snapshot of the open recording.
fn baseline(session: &Session, name: &str) -> Result<Compared, ReplError> {
    let file = || Operand::Other(name.to_owned(), SnapshotName::Last);
    Operand::named(name).unwrap_or_else(file).look_up(session)
}
