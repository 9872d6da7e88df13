//! The results of assertions, as an answer and as cases of JUnit.

use super::{Assertion, Claim, Figure, Judge, Verdict, judgement::Judgement};
use crate::answer::{Answer, Column, Outcome, Value, table, units, visible};
use crate::assertion::junit::{Case, Problem};
use crate::error::QueryError;
use crate::language::names;
use crate::session::state::State;

/// An assertion that was judged.
pub(crate) struct Judged {
    text: String,
    sign: &'static str,
    judgement: Judgement,
    /// Notes of the judgement, and on types that the recording does not have.
    notes: Vec<String>,
    seconds: f64,
}

impl Judged {
    /// Judges an assertion.
    ///
    /// # Errors
    /// A usage error; those of the analyzer.
    pub(crate) fn new(judge: &mut Judge, state: &State, assertion: &Assertion) -> Result<Self, QueryError> {
        let meter = state.meter();
        let judgement = judge.judge(state, assertion)?;
        let recording = state.recording()?;
        let tables = recording.tables()?;
        let mut notes = Vec::new();
        if let Some(expression) = assertion.expression() {
            notes.extend(expression.unknown_types(tables).into_iter().map(|name| names::unknown_type(name, tables)));
            notes.extend(names::partial_names(expression, tables));
        }
        notes.extend(judgement.notes.iter().cloned());
        // An undecided assertion says why.
        let is_decided = !matches!(judgement.verdict, Verdict::Undecided(_));
        notes.extend(judgement.inexact.iter().filter(|_| is_decided).map(|inexact| inexact.note.clone()));
        let sign = match &assertion.claim {
            Claim::NoLeaks(_) => "=",
            Claim::Compared(compared) => compared.comparison.sign(),
        };
        let seconds = meter.elapsed().as_secs_f64();
        Ok(Judged { text: assertion.text.clone(), sign, judgement, notes, seconds })
    }

    /// The verdict.
    pub(crate) fn verdict(&self) -> &Verdict {
        &self.judgement.verdict
    }

    /// The assertion with the reason why it is undecided, if it is.
    pub(crate) fn undecided(&self) -> Option<String> {
        self.undecided_because().map(|why| format!("{}: {why}", self.text))
    }

    fn undecided_because(&self) -> Option<&str> {
        match self.verdict() {
            Verdict::Undecided(why) => Some(why),
            _ => None,
        }
    }

    /// `snapshot 2: 7 objects, not <= 5`.
    fn figures(&self) -> String {
        let Judgement { limit, unit, found, snapshot, .. } = self.judgement;
        let place = snapshot.map_or_else(String::new, |at| format!("snapshot {at}: "));
        let text = unit.text(found);
        match unit {
            Figure::Suspects => format!("{place}{}", units::counted(found as u64, "suspect")),
            Figure::Count(name) => format!("{place}{text} {name}, not {} {}", self.sign, unit.text(limit)),
            Figure::Share => format!("{place}worse by {text}, not {} {}", self.sign, unit.text(limit)),
            _ => format!("{place}{text}, not {} {}", self.sign, unit.text(limit)),
        }
    }

    /// The reason why it does not hold, in lines.
    fn reasons(&self) -> Vec<String> {
        match &self.judgement.verdict {
            Verdict::Holds => Vec::new(),
            Verdict::Fails => {
                let witness = self.judgement.witness.iter().flat_map(|witness| witness.lines.clone());
                // Where the number is within its limit, something else is the reason, and the witness says it.
                let is_reason = self.sign != "<=" || self.judgement.found > self.judgement.limit;
                let figures = (is_reason || self.judgement.witness.is_none()).then(|| self.figures());
                figures.into_iter().chain(witness).collect()
            }
            Verdict::Undecided(why) => vec![why.clone()],
        }
    }
}

/// An answer with a row for each assertion.
pub(crate) fn answer(judged: &[Judged]) -> Answer {
    let table = table!("assertions", judged, |one| {
        let Judgement { verdict, snapshot, found, limit, said, unit, witness, .. } = &one.judgement;
        let is_decided = one.undecided_because().is_none();
        Column::text("result") => match verdict {
            Verdict::Holds => "holds",
            Verdict::Fails => "FALSE",
            Verdict::Undecided(_) => "undecided",
        },
        Column::text("assertion") => one.text.as_str(),
        Column::number("snapshot") => snapshot.map(|snapshot| snapshot.0),
        Column::number("found").for_machines() => is_decided.then_some(Value::Rate(*found)),
        Column::number("found_text").called("found").for_people() => is_decided.then(|| unit.text(*found)),
        Column::number("limit").for_machines() => is_decided.then_some(Value::Rate(*limit)),
        Column::number("limit_text").called("limit").for_people() => is_decided.then(|| unit.text(*limit)),
        Column::text("unit").for_machines() => unit.name(),
        Column::text("undecided_because").for_machines() => one.undecided_because(),
        Column::text("false_because").for_machines() => if *verdict == Verdict::Fails { one.reasons().into_iter().next() } else { None },
        Column::text("verdict").for_machines() => *said,
        Column::nested("witness").for_machines()
            => witness.as_ref().map(|witness| Value::Record(witness.fields.clone())),
    });
    let fails = judged.iter().any(|judged| *judged.verdict() == Verdict::Fails);
    let undecided = judged.iter().any(|judged| judged.undecided_because().is_some());
    let mut answer = Answer::default()
        .fact(Column::text("holds").own_words().for_machines(), Value::Flag(!fails && !undecided))
        .table(table);
    for judged in judged {
        for note in &judged.notes {
            answer = answer.note(format!("{}: {note}", judged.text));
        }
    }
    for judged in judged {
        let reasons = judged.reasons();
        if !reasons.is_empty() {
            answer = answer.lines([String::new(), judged.text.clone()]);
            answer = answer.lines(reasons.into_iter().map(|reason| format!("  {reason}")));
        }
    }
    answer.outcome = match (fails, undecided) {
        (true, _) => Outcome::False,
        (false, true) => Outcome::Undecided,
        (false, false) => Outcome::Answered,
    };
    match judged.iter().find_map(|judged| judged.judgement.inexact.as_ref()) {
        None => answer.exact(),
        // Notes name the assertions.
        Some(inexact) => Answer { exactness: Some(inexact.exactness), ..answer },
    }
}

/// Joins lines. Line ends within a line, as of a name, are made visible.
fn visible_lines(lines: &[String]) -> String {
    lines.iter().map(|line| visible::line(line)).collect::<Vec<_>>().join("\n")
}

/// A test case for each assertion, for programs that show the results of tests.
pub(crate) fn junit_cases(judged: &[Judged]) -> Vec<Case> {
    let cases = judged.iter().map(|judged| {
        let problem = match judged.verdict() {
            Verdict::Holds => None,
            Verdict::Fails => {
                Some(Problem::Failure { message: judged.figures(), text: visible_lines(&judged.reasons()) })
            }
            Verdict::Undecided(why) => Some(Problem::Error { message: why.clone() }),
        };
        let (name, notes) = (judged.text.clone(), visible_lines(&judged.notes));
        Case { name, seconds: judged.seconds, problem, notes }
    });
    cases.collect()
}
