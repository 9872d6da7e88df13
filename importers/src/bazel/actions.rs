//! Which processes belong to which actions: those that ran on the thread of the action, while it ran.

use std::collections::HashMap;

use super::event::{Action, Event, Span};

/// The actions of a profile and the processes that Bazel ran.
#[derive(Debug, Default)]
pub(super) struct Actions {
    pub(super) actions: Vec<Action>,
    processes: Vec<Span>,
    /// How many events Bazel merged with others.
    pub(super) merged: u64,
}

impl Actions {
    pub(super) fn add(&mut self, event: Event) {
        match event {
            Event::Action(action) => self.actions.push(action),
            Event::Process(span) => self.processes.push(span),
            Event::Merged(count) => self.merged = self.merged.saturating_add(count),
            Event::Other => {}
        }
    }

    /// For each action the time from the beginning of its first process to the end of its last; `None` if Bazel ran
    /// none for it.
    pub(super) fn process_times(&self) -> Vec<Option<(i64, i64)>> {
        let mut by_thread: HashMap<u64, Vec<Span>> = HashMap::new();
        self.processes.iter().for_each(|process| by_thread.entry(process.thread).or_default().push(*process));
        by_thread.values_mut().for_each(|processes| processes.sort_by_key(|process| process.start_us));
        let times = |action: &Action| {
            let processes = by_thread.get(&action.span.thread)?;
            let first = processes.partition_point(|process| process.start_us < action.span.start_us);
            let inside = processes[first..].iter().take_while(|process| process.start_us <= action.span.end_us);
            let inside = inside.filter(|process| process.is_in(&action.span));
            inside.fold(None, |times, process| {
                let (start, end) = times.unwrap_or((process.start_us, process.end_us));
                Some((start.min(process.start_us), end.max(process.end_us)))
            })
        };
        self.actions.iter().map(times).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_belong_to_the_action_around_them() {
        let span = |thread, start_us, end_us| Span { thread, start_us, end_us };
        let action = |span| {
            let description = String::new();
            Event::Action(Action { span, description, target: None, mnemonic: None, output: None })
        };
        let mut actions = Actions::default();
        for event in [
            action(span(1, 0, 10)),
            Event::Process(span(2, 3, 9)),
            Event::Process(span(1, 5, 8)),
            Event::Process(span(1, 2, 4)),
            Event::Process(span(1, 12, 13)),
            action(span(2, 0, 8)),
            action(span(1, 12, 13)),
            action(span(3, 0, 8)),
        ] {
            actions.add(event);
        }
        assert_eq!(actions.process_times(), [Some((2, 8)), None, Some((12, 13)), None]);
    }
}
