//! Assertions with what came of them, as an answer and as cases of JUnit.

use super::figure::Figure;
use super::judgement::Judgement;
use super::{Assertion, Claim, Judge, Verdict};
use crate::answer::units;
use crate::answer::visible;
use crate::answer::{Answer, Audience, Column, Outcome, Table, Value};
use crate::assertion::junit::{Case, Problem};
use crate::error::QueryError;
use crate::language::names;
use crate::session::state::State;
use crate::tables::found::{BY_LOWER_BOUNDS, INEXACT};

/// An assertion that was judged.
pub(crate) struct Judged {
    text: String,
    sign: &'static str,
    judgement: Judgement,
    /// About types that the recording does not have.
    notes: Vec<String>,
    seconds: f64,
}

impl Judged {
    /// Judges an assertion.
    ///
    /// # Errors
    /// A usage error, those of the analyzer.
    pub(crate) fn new(judge: &mut Judge, state: &State, assertion: &Assertion) -> Result<Self, QueryError> {
        let meter = state.meter();
        let judgement = judge.judge(state, assertion)?;
        let recording = state.recording()?;
        let tables = recording.tables()?;
        let mut notes: Vec<String> =
            assertion.unknown_types(tables).into_iter().map(|name| names::unknown_type(name, tables)).collect();
        notes.extend(judgement.notes.iter().cloned());
        if !judgement.is_exact {
            notes.push(INEXACT.to_owned());
        }
        let sign = match &assertion.claim {
            Claim::NoLeaks(_) => "=",
            Claim::Compared(compared) => compared.comparison.sign(),
        };
        let seconds = meter.elapsed().as_secs_f64();
        Ok(Judged { text: assertion.text.clone(), sign, judgement, notes, seconds })
    }

    /// Whether it holds.
    pub(crate) fn verdict(&self) -> &Verdict {
        &self.judgement.verdict
    }

    /// The assertion with why it could not be judged, if it could not.
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

    /// Why it does not hold, in lines.
    fn reasons(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.judgement.verdict {
            Verdict::Holds => {}
            Verdict::Fails => {
                lines.push(self.figures());
                lines.extend(self.judgement.witness.iter().flat_map(|witness| witness.lines.clone()));
            }
            Verdict::Undecided(why) => lines.push(why.clone()),
        }
        lines
    }

    fn row(&self) -> Vec<Value> {
        let Judgement { verdict, snapshot, found, limit, said, unit, witness, .. } = &self.judgement;
        let is_decided = !matches!(verdict, Verdict::Undecided(_));
        let figure = |number: f64| if is_decided { Value::Rate(number) } else { Value::None };
        let text = |number: f64| if is_decided { Value::Text(unit.text(number)) } else { Value::None };
        let fields = witness.as_ref().map(|witness| Value::Record(witness.fields.clone()));
        vec![
            Value::text(match verdict {
                Verdict::Holds => "holds",
                Verdict::Fails => "FALSE",
                Verdict::Undecided(_) => "undecided",
            }),
            Value::text(&self.text),
            snapshot.map(|snapshot| snapshot.0).into(),
            figure(*found),
            text(*found),
            figure(*limit),
            text(*limit),
            Value::text(unit.name()),
            self.undecided_because().into(),
            said.map_or(Value::None, Value::text),
            fields.unwrap_or(Value::None),
        ]
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("result"),
        Column::text("assertion"),
        Column::number("snapshot"),
        Column::number("found").for_machines(),
        Column::number("found_text").called("found").for_people(),
        Column::number("limit").for_machines(),
        Column::number("limit_text").called("limit").for_people(),
        Column::text("unit").for_machines(),
        Column::text("undecided_because").for_machines(),
        Column::text("verdict").for_machines(),
        Column::nested("witness").for_machines(),
    ]
}

/// All of them as one answer.
pub(crate) fn answer(judged: &[Judged]) -> Answer {
    let rows = judged.iter().map(Judged::row).collect();
    let is = |verdict: fn(&Verdict) -> bool| judged.iter().any(|judged| verdict(judged.verdict()));
    let (fails, undecided) =
        (is(|verdict| *verdict == Verdict::Fails), is(|verdict| matches!(verdict, Verdict::Undecided(_))));
    let mut answer = Answer::default()
        .fact(Column::text("holds").for_machines(), Value::Flag(!fails && !undecided))
        .table(Table { key: "assertions", audience: Audience::Everyone, columns: columns(), rows });
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
    match judged.iter().all(|judged| judged.judgement.is_exact) {
        true => answer.exact(),
        // The notes say which.
        false => Answer { exactness: Some(BY_LOWER_BOUNDS), ..answer },
    }
}

/// Lines as one text, in which a line end is the end of a line and never a part of a name.
fn visible_lines(lines: &[String]) -> String {
    lines.iter().map(|line| visible::line(line)).collect::<Vec<_>>().join("\n")
}

/// All of them as test cases, for programs that show the results of tests.
pub(crate) fn junit_cases(judged: &[Judged]) -> Vec<Case> {
    let case = |judged: &Judged| {
        let text = visible_lines(&judged.reasons());
        let problem = match judged.verdict() {
            Verdict::Holds => None,
            Verdict::Fails => Some(Problem::Failure { message: judged.figures(), text }),
            Verdict::Undecided(why) => Some(Problem::Error { message: why.clone() }),
        };
        Case { name: judged.text.clone(), seconds: judged.seconds, problem, notes: visible_lines(&judged.notes) }
    };
    judged.iter().map(case).collect()
}
