//! `timeline`: what began and ended, as a drawing with time from top to bottom.

use std::sync::Arc;

use barrow_analyzer::{ProcessLog, ProcessRow, Recording};
use barrow_processes::{Evaluation, Rules, TimeRange, Timeline, started_ns};

use crate::answer::timeline::Moment;
use crate::answer::{Answer, Audience, Column, Table, Value, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::session::state::State;
use crate::tables::known_in_part;
use crate::tables::timeline_moments::Moments;
use crate::tables::timeline_rows;

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[SCHEMA] [from TIME] [to TIME] [--width N] [--classes FILE]",
    example: "timeline from 10s to 20s",
    flags: &["--width", "--classes"],
    ..Command::new("timeline", include_str!("../../verbs/timeline.md"), Group::Processes, run)
};

/// Events between two checks for cancellation: a cancelled question ends within milliseconds.
const EVENTS: usize = 1024;

/// Reads the name of a schema, and the part of the time.
fn asked(words: &[String]) -> Result<(Option<&str>, TimeRange), QueryError> {
    let (mut schema, mut window) = (None, TimeRange::default());
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "from" | "to" => {
                let text = words.next().unwrap_or_default();
                let time = barrow_analyzer::parse_duration(text).and_then(|ns| i64::try_from(ns).ok());
                let time = time.ok_or_else(|| {
                    QueryError::usage(format!("`{word} {text}` is no time; times are like 10s, 1.5min or 200ms"))
                })?;
                *(if word == "from" { &mut window.from_ns } else { &mut window.to_ns }) = Some(time);
            }
            name if schema.is_none() => schema = Some(name),
            other => return Err(COMMAND.refuses(other)),
        }
    }
    match window {
        TimeRange { from_ns: Some(from), to_ns: Some(to) } if from > to => {
            Err(QueryError::usage("the part would end before it begins: `from` comes before `to`"))
        }
        _ => Ok((schema, window)),
    }
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let (schema, window) = asked(&words)?;
    let recording = ask.recording()?;
    if !recording.has_processes() {
        return Err(QueryError::NoProcesses);
    }
    let rules = ask.class_rules(&ask.arguments.flags)?.map(Arc::new);
    let evaluation = evaluation(rules.as_deref().unwrap_or(Rules::standard()), schema)?;
    let start_ns = started_ns(&recording);
    let moments = match ask.context.settings.is_abridged {
        true => Some(Moments::new(ask.arguments.flags.width, start_ns, has_several_hosts(ask, &recording)?)),
        false => None,
    };
    let timeline = Timeline::new(recording, window, Moment::COLUMNS)?;
    Pages { timeline, rules, evaluation, moments, start_ns, window, has_rows: false }.answer(ask)
}

/// Returns whether processes of a recording ran on several hosts. Rows are read up to the first one of another host; of
/// one host, recorders write a fact.
fn has_several_hosts(state: &State, recording: &Arc<Recording>) -> Result<bool, QueryError> {
    if recording.facts()?.iter().any(|(key, _)| key == "host") {
        return Ok(false);
    }
    let tables = recording.tables()?;
    let mut log = ProcessLog::new(Arc::clone(recording))?;
    let mut first = None;
    while let Some(rows) = log.next_rows()? {
        state.context.check()?;
        for row in rows {
            let ProcessRow::Begin { host, .. } = row else { continue };
            // A recording may hold a text twice.
            let host = host.map(|host| tables.string(host));
            if *first.get_or_insert(host) != host {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn evaluation(rules: &Rules, name: Option<&str>) -> Result<Evaluation, QueryError> {
    let Some(name) = name else { return Ok(rules.evaluation(0)) };
    let at = rules.schema_names().position(|known| known == name).ok_or_else(|| {
        let names: Vec<&str> = rules.schema_names().collect();
        QueryError::usage(format!("there is no schema `{name}`; there are {}", names.join(", ")))
    })?;
    Ok(rules.evaluation(at))
}

/// The pages of a timeline.
#[derive(Clone)]
struct Pages {
    timeline: Timeline,
    /// The rules for classes, if not the usual ones.
    rules: Option<Arc<Rules>>,
    evaluation: Evaluation,
    /// Moments instead of events, where a person reads.
    moments: Option<Moments>,
    /// The time at which the recording began, in nanoseconds since 1970, if it is known.
    start_ns: Option<u64>,
    window: TimeRange,
    has_rows: bool,
}

impl Pages {
    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let is_paged = ask.page_rows() != usize::MAX && !ask.view.is_whole;
        let (rows, has_ended) = self.rows(ask, more::rows_at_once(ask, is_paged))?;
        self.has_rows |= !rows.is_empty();
        let mut answer = Answer::default().table(self.table(rows));
        if has_ended {
            answer.notes = self.notes();
        } else if is_paged {
            answer = answer.cut("… more: `more`".to_owned());
        }
        answer.goes_on = !has_ended && !is_paged;
        let reply = Reply::from(answer.exact()).listing_page(ask, Listed::default());
        Ok(if has_ended { reply } else { reply.with_more(move |ask| self.clone().answer(ask)) })
    }

    /// The rows of the next events until there are `most`, and whether these are the last ones.
    fn rows(&mut self, state: &State, most: usize) -> Result<(Vec<Vec<Value>>, bool), QueryError> {
        let recording = Arc::clone(self.timeline.recording());
        let tables = Recording::tables(&recording)?;
        let rules = self.rules.as_deref().unwrap_or(Rules::standard());
        let mut labeller = rules.labeller(&recording, &self.evaluation);
        let (mut rows, mut moments, mut events) = (Vec::new(), Vec::new(), 0usize);
        while rows.len() < most {
            if events.is_multiple_of(EVENTS) {
                state.context.check()?;
            }
            events += 1;
            let Some(event) = self.timeline.next_event(&mut labeller)? else { return Ok((rows, true)) };
            match &mut self.moments {
                Some(of_event) => {
                    of_event.add(&event, tables, &mut moments);
                    rows.extend(moments.drain(..).map(|moment| vec![Value::Moment(Box::new(moment))]));
                }
                None => rows.push(timeline_rows::row(&event, self.start_ns, tables)),
            }
        }
        Ok((rows, false))
    }

    fn table(&self, rows: Vec<Vec<Value>>) -> Table {
        let columns = match self.moments {
            Some(_) => vec![Column::picture("line").called("     time processes")],
            None => timeline_rows::columns(),
        };
        Table { key: "rows", audience: Audience::Everyone, columns, rows }
    }

    /// The notes after the last row.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.has_rows {
            notes.push("nothing happened in this part".to_owned());
        }
        let running = self.timeline.running();
        if self.window.to_ns.is_some() && running > 0 {
            let were = if running == 1 { "process was" } else { "processes were" };
            notes.push(format!("{} {were} running then", units::grouped(running as u64)));
        }
        notes.extend(known_in_part::used_at_least(self.timeline.at_least()));
        notes
    }
}
