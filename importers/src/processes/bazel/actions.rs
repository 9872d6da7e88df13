//! The parts of each action: those that ran on the thread of the action, while it ran.

use std::collections::{BTreeMap, HashMap};

use super::event::{Action, Event, Phase, Span};

/// The actions of a profile and their parts.
#[derive(Debug, Default)]
pub(super) struct Actions {
    pub(super) actions: Vec<Action>,
    phases: Vec<(Span, Phase)>,
    /// Number of events that Bazel merged with others.
    pub(super) merged: u64,
}

/// The total duration of the parts of each kind, in microseconds. Overlapping parts of one kind count once.
pub(super) type PhaseTimes = BTreeMap<Phase, i128>;

impl Actions {
    pub(super) fn add(&mut self, event: Event) {
        match event {
            Event::Action(action) => self.actions.push(action),
            Event::Phase(phase, span) => self.phases.push((span, phase)),
            Event::Merged(count) => self.merged = self.merged.saturating_add(count),
            Event::Other => {}
        }
    }

    /// The durations of the parts of each action.
    pub(super) fn phase_times(&self) -> Vec<PhaseTimes> {
        let mut by_thread: HashMap<u64, Vec<(Span, Phase)>> = HashMap::new();
        self.phases.iter().for_each(|phase| by_thread.entry(phase.0.thread).or_default().push(*phase));
        by_thread.values_mut().for_each(|phases| phases.sort_by_key(|(span, _)| span.start_us));
        let times = self.actions.iter().map(|action| {
            let mut times = PhaseTimes::new();
            let mut ends: BTreeMap<Phase, i64> = BTreeMap::new();
            let phases = by_thread.get(&action.span.thread).map(Vec::as_slice).unwrap_or_default();
            let first = phases.partition_point(|(span, _)| span.start_us < action.span.start_us);
            let inside = phases[first..].iter().take_while(|(span, _)| span.start_us <= action.span.end_us);
            for &(span, phase) in inside.filter(|(span, _)| span.is_in(&action.span)) {
                let end = ends.entry(phase).or_insert(span.start_us);
                let start = span.start_us.max(*end);
                *times.entry(phase).or_default() += i128::from(span.end_us.max(start)) - i128::from(start);
                *end = span.end_us.max(*end);
            }
            times
        });
        times.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_belong_to_the_action_around_them() {
        let span = |thread, start_us, end_us| Span { thread, start_us, end_us };
        let action = |span| {
            let description = String::new();
            Event::Action(Action { span, description, target: None, mnemonic: None, output: None })
        };
        let run = |span| Event::Phase(Phase::Run, span);
        let mut actions = Actions::default();
        for event in [
            action(span(1, 0, 10)),
            run(span(2, 3, 9)),
            run(span(1, 5, 8)),
            run(span(1, 2, 4)),
            run(span(1, 3, 6)),
            Event::Phase(Phase::Queue, span(1, 0, 2)),
            run(span(1, 12, 13)),
            action(span(2, 0, 8)),
            action(span(1, 12, 13)),
            action(span(3, 0, 8)),
        ] {
            actions.add(event);
        }
        let times = |times: &[(Phase, i128)]| times.iter().copied().collect::<PhaseTimes>();
        let expected =
            [times(&[(Phase::Run, 6), (Phase::Queue, 2)]), times(&[]), times(&[(Phase::Run, 1)]), times(&[])];
        assert_eq!(actions.phase_times(), expected);
    }
}
