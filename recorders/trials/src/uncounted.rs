//! Runs of which it is not known what they allocated, and why.

/// A program with a reason, and its runs.
struct Reason {
    program: String,
    why: String,
    runs: Vec<u32>,
}

/// Runs of which it is not known what they allocated, by program and reason.
#[derive(Default)]
pub(crate) struct Uncounted {
    reasons: Vec<Reason>,
}

impl Uncounted {
    /// Adds a run. Returns whether this program had no such run for this reason before.
    pub(crate) fn add(&mut self, program: &str, why: &str, run: u32) -> bool {
        match self.reasons.iter_mut().find(|reason| reason.program == program && reason.why == why) {
            Some(reason) => {
                reason.runs.push(run);
                false
            }
            None => {
                self.reasons.push(Reason { program: program.to_owned(), why: why.to_owned(), runs: vec![run] });
                true
            }
        }
    }

    /// All of it as a text, if there is anything: `run 0 to 19 of x: it has an allocator of its own`.
    pub(crate) fn text(&self) -> Option<String> {
        let clauses: Vec<String> = self
            .reasons
            .iter()
            .map(|reason| format!("{} of {}: {}", ranges(&reason.runs), reason.program, reason.why))
            .collect();
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }
}

/// Ascending numbers of runs: `runs 0 to 3, 7`.
fn ranges(runs: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &run in runs {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == run => *last = run,
            _ => ranges.push((run, run)),
        }
    }
    let text =
        |&(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first} to {last}") };
    let texts: Vec<String> = ranges.iter().map(text).collect();
    format!("{} {}", if runs.len() == 1 { "run" } else { "runs" }, texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_by_program_and_reason() {
        let mut uncounted = Uncounted::default();
        assert_eq!(uncounted.text(), None);
        let added = [("a", "x", 0), ("a", "x", 1), ("b", "x", 2), ("a", "x", 3), ("a", "y", 4)];
        let is_first = added.map(|(program, why, run)| uncounted.add(program, why, run));
        assert_eq!(is_first, [true, false, true, false, true]);
        assert_eq!(uncounted.text().unwrap(), "runs 0 to 1, 3 of a: x; run 2 of b: x; run 4 of a: y");
    }
}
