//! An event of a profile.

use serde_json::{Map, Value};

/// An event that takes time, or one of another kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// An action that Bazel processes.
    Action(Action),
    /// A part of an action.
    Phase(Phase, Span),
    /// Several events that Bazel merged, since it was to keep few (`--slim_profile`).
    Merged(u64),
    Other,
}

/// The activity of an action, or the reason why it waits, in a part of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Bazel runs a process on this machine.
    Run,
    /// It looks for the outputs in a cache.
    Cache,
    /// It waits for a machine, or for resources of this one.
    Queue,
    /// It sends inputs to another machine.
    Upload,
    /// Another machine prepares, and runs the command.
    Remote,
    /// It fetches outputs.
    Download,
}

impl Phase {
    /// The phase of an event, by its name and category: those are in Bazel's `ProfilerTask.java`.
    fn of(name: &str, category: &str) -> Option<Phase> {
        if name == "subprocess.run" {
            return Some(Phase::Run);
        }
        Some(match category.to_ascii_lowercase().as_str() {
            "remote action cache check" | "remote execution upload cache check" => Phase::Cache,
            "remote execution queuing time"
            | "local execution queuing time"
            | "action lock"
            | "action resource lock"
            | "acquiring resources" => Phase::Queue,
            "remote execution upload time" | "remote execution upload" => Phase::Upload,
            "remote execution setup"
            | "remote execution file fetching"
            | "remote execution process wall time"
            | "remote action execution" => Phase::Remote,
            "remote output download" => Phase::Download,
            _ => return None,
        })
    }

    /// The attribute with the time of all parts of this kind.
    pub(super) fn attribute(self) -> &'static str {
        match self {
            Phase::Run => "run_ns",
            Phase::Cache => "cache_ns",
            Phase::Queue => "queue_ns",
            Phase::Upload => "upload_ns",
            Phase::Remote => "remote_ns",
            Phase::Download => "download_ns",
        }
    }
}

/// A span of time on one of Bazel's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) thread: u64,
    /// Microseconds since the command began.
    pub(super) start_us: i64,
    pub(super) end_us: i64,
}

impl Span {
    /// Returns whether it lies within another, on the same thread.
    pub(super) fn is_in(&self, other: &Span) -> bool {
        self.thread == other.thread && other.start_us <= self.start_us && self.end_us <= other.end_us
    }
}

/// An action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) span: Span,
    /// A short description.
    pub(super) description: String,
    /// The target that it belongs to.
    pub(super) target: Option<String>,
    /// The kind of action.
    pub(super) mnemonic: Option<String>,
    /// Its first output.
    pub(super) output: Option<String>,
}

impl Event {
    /// Parses an event.
    ///
    /// # Errors
    /// The defect of the event.
    pub(super) fn parse(bytes: &[u8]) -> Result<Event, String> {
        let event: Map<String, Value> = serde_json::from_slice(bytes).map_err(|_| "no event".to_owned())?;
        if text(&event, "ph") != Some("X") {
            return Ok(Event::Other);
        }
        let name = text(&event, "name").unwrap_or_default();
        let category = text(&event, "cat").unwrap_or_default();
        let is_action = category == "action processing";
        if let Some(merged) = merged(name) {
            return Ok(Event::Merged(merged));
        }
        let phase = Phase::of(name, category);
        if !is_action && phase.is_none() {
            return Ok(Event::Other);
        }
        let span = span(&event).ok_or("an event without a time")?;
        if let Some(phase) = phase {
            return Ok(Event::Phase(phase, span));
        }
        Ok(Event::Action(Action {
            span,
            description: name.to_owned(),
            target: argument(&event, "target"),
            mnemonic: argument(&event, "mnemonic"),
            output: owned(event.get("out")),
        }))
    }
}

fn text<'e>(event: &'e Map<String, Value>, key: &str) -> Option<&'e str> {
    event.get(key)?.as_str()
}

fn argument(event: &Map<String, Value>, key: &str) -> Option<String> {
    owned(event.get("args")?.get(key))
}

/// The number in a name such as `merged 12 events`.
fn merged(name: &str) -> Option<u64> {
    name.strip_prefix("merged ")?.strip_suffix(" events")?.parse().ok()
}

fn owned(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn span(event: &Map<String, Value>) -> Option<Span> {
    let start_us = event.get("ts")?.as_i64()?;
    let duration_us = event.get("dur").map_or(Some(0), Value::as_u64)?;
    let end_us = start_us.checked_add_unsigned(duration_us)?;
    Some(Span { thread: event.get("tid").and_then(Value::as_u64).unwrap_or(0), start_us, end_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_apart() {
        let parse = |text: &str| Event::parse(text.as_bytes());
        let action = r#"{"cat":"action processing","name":"Compiling a.c","ph":"X","ts":-2,"dur":5,"tid":7,"out":"a.o",
            "args":{"target":"","mnemonic":"CppCompile"}}"#;
        let span = Span { thread: 7, start_us: -2, end_us: 3 };
        let expected = Action {
            span,
            description: "Compiling a.c".to_owned(),
            target: None,
            mnemonic: Some("CppCompile".to_owned()),
            output: Some("a.o".to_owned()),
        };
        assert_eq!(parse(action), Ok(Event::Action(expected)));
        let process = r#"{"cat":"x","name":"subprocess.run","ph":"X","ts":-2,"dur":5,"tid":7}"#;
        assert_eq!(parse(process), Ok(Event::Phase(Phase::Run, span)));
        let queued = r#"{"cat":"Remote execution queuing time","name":"queue","ph":"X","ts":-2,"dur":5,"tid":7}"#;
        assert_eq!(parse(queued), Ok(Event::Phase(Phase::Queue, span)));
        assert_eq!(parse(r#"{"name":"merged 12 events","ph":"X"}"#), Ok(Event::Merged(12)));
        assert_eq!(parse(r#"{"name":"subprocess.run","ph":"i"}"#), Ok(Event::Other));
        assert_eq!(parse("{}"), Ok(Event::Other));
        assert_eq!(parse(r#"{"name":"subprocess.run","ph":"X","ts":"1"}"#), Err("an event without a time".to_owned()));
        assert_eq!(parse("1"), Err("no event".to_owned()));
    }
}
