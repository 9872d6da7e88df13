//! `assert`: whether what is said of a recording holds, for CI.

use std::fs;

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::assertion::input::{assertions_of, judge};
use crate::assertion::junit;
use crate::assertion::{self, Assertion, Judged, junit_cases};
use crate::error::QueryError;
use crate::session::Session;

use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "assert",
    aliases: &[],
    group: Group::Alive,
    arguments: "ASSERTION..",
    about: "Whether what is said of the heap holds, with a witness if not: for CI",
    details: "An ASSERTION is `count(EXPR) <= 100`, `size(EXPR)` (shallow and unmanaged), `retained(EXPR) < 64M` (what \
              would be freed with all these objects), compared by `<` `<=` `>` `>=` `=` `!=`; `growth(EXPR) <= 0`, how \
              many bytes more the objects retain with each snapshot, or `growth(count EXPR)`, how many more there are; or \
              `no leaks`, no suspects as `leaks` lists them, perhaps `no leaks except FINGERPRINT up to 64M, ..`. EXPR is that of \
              `find`, and a KIND may stand before it: `count(frames size > 1M)`. It is about the selected snapshot; `in 3` asks another, `over 3..10` each of these; \
              growth is measured over all snapshots, at least 5, and judged as `growth` and `trend` judge it. It is too \
              large only if the objects grow by that judgement and the whole interval of the slope is above the limit; a \
              warm-up, steps or a sawtooth are no growth, and a note says so. With 5 to 7 snapshots that rise each time \
              there are too few to be sure, so that the assertion is undecided. `--baseline OTHER` gives a recording, or snapshot `OTHER:3`, to compare with: \
              `count(EXPR) <= baseline + 10%`, `- 64K`, `* 1.1`, or `no leaks except baseline`, which excuses the suspects of the baseline, each up to 1.5 times \
              what it retains there or 1 % of the heap more, if that is more. A FINGERPRINT without `up to` is bounded so as well if there is a baseline that has it; \
              without one it is excused at any size, and a note says so. `--from FILE` reads \
              more assertions, one a line, `--allow FILE` fingerprints of known leaks, each perhaps with `up to SIZE`; `#` begins a comment. `--min` is \
              that of `leaks`. `--junit FILE` writes the results for a CI server. From a shell each ASSERTION is one \
              word, so put it in single quotes; at the prompt a line is one. Exit code 1 if any is false, 2 if \
              there are too few snapshots to tell.",
    example: "assert 'retained(type = \"Cache\") < 64M'",
    flags: &["--from", "--allow", "--baseline", "--junit", "--min"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    completion: Completion::Expressions,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let assertions = assertions(session, arguments)?;
    let mut judge = judge(session, arguments)?;
    let judged = assertions.iter().map(|assertion| Judged::new(&mut judge, session, assertion));
    let judged = judged.collect::<Result<Vec<_>, _>>()?;
    session.listed.clear();
    if let Some(path) = &arguments.flags.junit {
        let suite = session.file().map_or("", |file| file.name.as_str());
        let xml = junit::document(suite, &junit_cases(&judged));
        fs::write(path, xml).map_err(|error| QueryError::file(path, error))?;
    }
    let mut answer = assertion::answer(&judged);
    answer.lost = judge.baseline.and_then(|baseline| Some(format!("{}: {}", baseline.file, baseline.damage?)));
    Ok(answer)
}

/// The assertions of the line and of `--from`.
fn assertions(session: &Session, arguments: &Arguments) -> Result<Vec<Assertion>, QueryError> {
    let assertions = assertions_of(session, session.snapshot()?, &arguments.assertions(), arguments)?;
    if assertions.is_empty() {
        return Err(QueryError::usage(format!("what should hold? `{}`", COMMAND.example)));
    }
    Ok(assertions)
}
