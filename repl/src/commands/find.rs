//! `find`: objects that match an expression.

use barrow_analyzer::{Expression, KindId, ObjectId, Page, SnapshotId};

use crate::answer::{Answer, Column, Unit, Value};
use crate::error::ReplError;
use crate::found;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, More, Subject};

pub(super) const COMMAND: Command = Command {
    name: "find",
    aliases: &[],
    group: Group::Objects,
    arguments: "[N] [KIND] [EXPR]",
    about: "Objects that match an expression",
    details: "The first N of them, 15 unless told, in the order of their numbers, and of every kind, unless KIND \
              is told. `%3` names the object in row 3 afterwards, `$_` the set of all that are listed. `help expressions` describes EXPR; in a shell put it in single quotes.",
    example: "find 5 objects type = \"Int\" and size > 1K",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Expressions,
    run,
};

/// A search that can go on.
pub(crate) struct Question {
    snapshot: SnapshotId,
    kinds: Vec<KindId>,
    expression: Expression,
    from: ObjectId,
    rows: usize,
}

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let snapshot = session.snapshot()?;
    let words = arguments.words();
    let number = words.first().and_then(|word| word.parse::<usize>().ok());
    let first = usize::from(number.is_some());
    let (kinds, expression) = found::kinds_and_expression_or_all(session, snapshot, arguments, first)?;
    let rows = number.unwrap_or(session.settings.rows).max(1);
    let question = Question { snapshot, kinds, expression, from: ObjectId(0), rows };
    session.listed.clear();
    question.answer(session)
}

impl Question {
    /// The next page.
    pub(super) fn answer(mut self, session: &mut Session) -> Result<Answer, ReplError> {
        let recording = session.recording()?;
        let meter = session.meter();
        let page = Page { from: self.from, limit: self.rows };
        let found = session.heap(self.snapshot)?.find(&self.kinds, &self.expression, page, &meter)?;
        drop(meter);
        let table = found::table(recording.tables()?, &found.objects, session.listed.len() + 1)?;
        session.listed.extend(found.objects.iter().map(|object| (self.snapshot, object.id)));
        session.set_last_to_listed(self.snapshot)?;
        let mut answer = Answer::default()
            .fact(Column::new("snapshot", "snapshot", Unit::Number), self.snapshot.0)
            .fact(Column::new("complete", "", Unit::Text).for_machines(), Value::Flag(found.next.is_none()))
            .table(table);
        answer = found::with_exactness(answer, session, self.snapshot, &self.expression)?;
        if found.objects.is_empty() {
            answer = answer.note("no object matches");
        }
        if let Some(next) = found.next {
            answer = answer.note(if session.paged { "… more match: `more`" } else { "… more match" });
            self.from = next;
            session.more = Some(More::Find(self));
        }
        Ok(answer)
    }
}
