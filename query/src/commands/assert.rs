//! `assert`: checks statements about a recording, for CI.

use std::fs;

use barrow_analyzer::SnapshotId;

use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::assertion::input::{assertions_of, judge};
use crate::assertion::junit;
use crate::assertion::measure::MEASURES;
use crate::assertion::{self, Assertion, Judged, junit_cases};
use crate::error::QueryError;
use crate::session::state::State;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

/// The texts before the documents of measures of objects, of processes and of trials.
const BEFORE_MEASURES: [&str; 3] = [
    "An ASSERTION is one of these:",
    "or `no leaks`, no suspects as `leaks` lists them, also `no leaks except FINGERPRINT up to 64M, ..`. About \
     processes:",
    "Without EXPR each is about the whole tree: `wall() < 10min`. About trials:",
];

/// The text after them.
const AFTER_MEASURES: &str = "\
    They are about each program unless one is named: `median(wall, sort) < 10ms`, `compare(wall, sort, \"sort -n\") \
    <= 5%`. If the values do not tell, because the limit is within the 95 % interval or the runs are too few, the \
    assertion is undecided. Numbers are compared by `<` `<=` `>` `>=` `=` `!=`. EXPR is that of `find`, and a KIND \
    may precede it: `count(frames size > 1M)`. An assertion is about the selected snapshot; `in 3` selects another, \
    and `over 3..10` each of these. Growth is measured over all snapshots, at least 5, and judged as in `growth` and \
    `trend`. It is too large only if the objects grow by that judgement and the whole interval of the slope is above \
    the limit. A warm-up, steps or a sawtooth are not growth, and a note says so. If 5 to 7 snapshots rise each \
    time, they are too few to be sure, and the assertion is undecided. `--baseline OTHER` gives a recording, or \
    snapshot `OTHER:3`, to compare with: `count(EXPR) <= baseline + 10%`, `- 64K`, `* 1.1`, or `no leaks except \
    baseline`. The latter excuses the suspects of the baseline: each may retain 1.5 times what it retains there, or \
    1 % of the heap more, whichever is more. A FINGERPRINT without `up to` has the same limit if the baseline has \
    that suspect. Otherwise it is excused at any size, and a note says so. `--from FILE` reads more assertions, one \
    per line. `--allow FILE` reads fingerprints of known leaks, each optionally with `up to SIZE`. `#` begins a \
    comment. `--min` is that of `leaks`, `--classes` that of `classes`. `--junit FILE` writes the results for a CI \
    server. In a shell each ASSERTION is one word, so put it in single quotes; at the prompt a line is one. The exit \
    code is 1 if any is false, and 2 if there are too few snapshots or runs to tell.";

/// All of these texts, with a blank between two of them.
const DETAILS: &str = match str::from_utf8(&details::<{ details::<0>().1 }>().0) {
    Ok(text) => text.trim_ascii_end(),
    Err(_) => panic!("texts are UTF-8"),
};

/// The first `N` bytes of the texts, and the number of all.
const fn details<const N: usize>() -> ([u8; N], usize) {
    let (mut bytes, mut end) = ([0; N], 0);
    let mut subject = 0;
    while subject < MEASURES.len() {
        end = put(&mut bytes, end, BEFORE_MEASURES[subject]);
        let mut measure = 0;
        while measure < MEASURES[subject].len() {
            end = put(&mut bytes, end, MEASURES[subject][measure].document);
            measure += 1;
        }
        subject += 1;
    }
    end = put(&mut bytes, end, AFTER_MEASURES);
    (bytes, end)
}

/// Writes a text and a blank from `start` on, as far as they fit. Returns where they end.
const fn put(bytes: &mut [u8], start: usize, text: &str) -> usize {
    let mut at = 0;
    while at <= text.len() {
        if start + at < bytes.len() {
            bytes[start + at] = if at < text.len() { text.as_bytes()[at] } else { b' ' };
        }
        at += 1;
    }
    start + at
}

pub(super) const COMMAND: Command = Command {
    name: "assert",
    aliases: &[],
    group: Group::Alive,
    arguments: "ASSERTION..",
    about: "Checks statements about the recording, with a witness if false: for CI",
    details: DETAILS,
    example: "assert 'retained(type = \"Cache\") < 64M'",
    flags: &["--from", "--allow", "--baseline", "--junit", "--min", "--classes"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Expressions,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let assertions = assertions(ask, &ask.arguments)?;
    let mut judge = judge(ask, &ask.arguments)?;
    let judged = assertions.iter().map(|assertion| Judged::new(&mut judge, ask, assertion));
    let judged = judged.collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &ask.arguments.flags.junit {
        let suite = ask.file().map_or("", |file| file.name.as_str());
        let xml = junit::document(suite, &junit_cases(&judged));
        fs::write(path, xml).map_err(|error| QueryError::file(path, error))?;
    }
    let mut answer = assertion::answer(&judged);
    answer.lost = judge.baseline.and_then(|baseline| Some(format!("{}: {}", baseline.file, baseline.damage?)));
    Ok(answer.into())
}

/// Parses the assertions of the line and of `--from`.
fn assertions(state: &State, arguments: &Arguments) -> Result<Vec<Assertion>, QueryError> {
    // A recording of processes or trials need not hold a snapshot.
    let snapshot = match state.snapshot() {
        Err(QueryError::NoSnapshot) if state.recording()?.has_processes() || state.recording()?.has_measurements() => {
            SnapshotId(0)
        }
        snapshot => snapshot?,
    };
    let assertions = assertions_of(state, snapshot, &arguments.assertions(), arguments)?;
    if assertions.is_empty() {
        return Err(QueryError::usage(format!("what should hold? `{}`", COMMAND.example)));
    }
    Ok(assertions)
}
