//! Facts that a recording can state about its processes: its recorder may not have observed all of them.
//!
//! ```text
//!   recorded by            waits   memory kills   failures   starters   one command
//!   barrow record          yes     yes            yes        yes        yes
//!   …, by last calls       no      no             at least   yes        yes
//!   …, with few files      no      no             yes        yes        yes
//!   strace                 no      no             yes        yes        no
//!   Kleknev                no      no             at least   yes        no
//!   barrow-sh              no      no             yes        yes        no
//!   Bazel                  no      no             no         no         no
//!   ninja                  no      no             no         no         no
//!   anything else          if any process has the attribute  yes        no
//! ```

use barrow_analyzer::Recording;

/// The facts about processes that are known. If a fact is not, its absence in the recording means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knowledge {
    /// Whether parents waited for their children.
    pub waits: bool,
    /// Whether the system killed processes because memory was short.
    pub memory_kills: bool,
    /// Whether processes failed.
    pub failures: bool,
    /// Whether a signal that ended a process is distinguished from exit status 0.
    pub signals: bool,
    /// The process that started each process.
    pub starters: bool,
    /// Whether processes are known by the calls that they make: what they used until the last one, and none that is forked
    /// and soon ends without a call.
    pub by_calls: bool,
    /// Whether processes that others waited for are not recorded.
    pub unseen: Unseen,
    /// The number of processes whose ends were not reported to the recorder: only those by a call are known.
    pub unwatched: u64,
    /// Whether a process without a known program has executed none.
    pub(crate) forks: bool,
    /// Whether all processes descend from the first one: a process of unknown parent is its orphan.
    pub(crate) one_command: bool,
}

/// Whether a recording lacks processes that others waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// It does not.
    None,
    /// This number of processes waited for some.
    Of(u64),
    /// This number of processes may have: each also waited for one that is recorded, but made no call.
    PerhapsOf(u64),
    /// Nothing is known of it.
    Unknown,
}

impl Unseen {
    /// What a recorder that knows processes by their calls found by their page faults, of which parents have the sum.
    fn of_facts(facts: &[(String, String)]) -> Self {
        let number = |name| number_of(facts, name);
        match [number("parents of unseen processes"), number("parents of processes that may be unseen")] {
            [0, 0] if facts.iter().any(|(key, count)| key == "parents not checked" && count == "0") => Unseen::None,
            [0, 0] => Unseen::Unknown,
            [0, perhaps] => Unseen::PerhapsOf(perhaps),
            [surely, _] => Unseen::Of(surely),
        }
    }
}

/// The number that a fact states, or 0.
fn number_of(facts: &[(String, String)], name: &str) -> u64 {
    facts.iter().find(|(key, _)| key == name).and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

/// The fact of the recorder that it was told the ends of fewer processes than there were.
const UNWATCHED: &str = "processes not watched";
/// The fact stated by imports whose log has the time of day.
const TIME_OF_DAY: &str = "time of day";

/// The start of the times of a recording in nanoseconds since 1970, if known: logs without a time of day count from an
/// unknown moment.
#[must_use]
pub fn started_ns(recording: &Recording) -> Option<u64> {
    let facts = recording.facts().unwrap_or_default();
    let is_known = facts.iter().any(|(key, value)| match key.as_str() {
        "recorded by" => matches!(value.as_str(), "barrow record" | "Kleknev" | "barrow-sh"),
        key => key == TIME_OF_DAY && value == "known",
    });
    Some(recording.created_ns()).filter(|&created_ns| is_known && created_ns > 0)
}

impl Knowledge {
    /// The facts that the recorder of a recording observes, if it is a known recorder.
    pub(crate) fn of_recorder(recording: &Recording) -> Option<Self> {
        let facts = recording.facts().unwrap_or_default();
        let by = facts.iter().find(|(key, _)| key == "recorded by").map(|(_, by)| by.as_str());
        let by_calls = facts.iter().any(|(key, via)| key == "recorded via" && via == "notify");
        let all = Knowledge {
            by_calls,
            unseen: if by_calls { Unseen::of_facts(&facts) } else { Unseen::None },
            unwatched: number_of(&facts, UNWATCHED),
            waits: true,
            memory_kills: true,
            failures: true,
            signals: true,
            starters: true,
            forks: true,
            one_command: true,
        };
        let of_log =
            Knowledge { by_calls: false, waits: false, memory_kills: false, forks: false, one_command: false, ..all };
        Some(match by? {
            // The system did not report how processes ended.
            "barrow record" if facts.iter().any(|(key, _)| key == "statuses") => {
                Knowledge { waits: false, memory_kills: false, signals: false, ..all }
            }
            "barrow record" if all.unwatched > 0 => Knowledge { waits: false, memory_kills: false, ..all },
            "barrow record" => all,
            "strace" | "barrow-sh" => of_log,
            // It logs the result of WEXITSTATUS for any end.
            "Kleknev" => Knowledge { signals: false, ..of_log },
            // Ninja logs only commands that succeeded; Bazel logs no exit status.
            "ninja" | "Bazel" => Knowledge { failures: false, starters: false, ..of_log },
            _ => return None,
        })
    }

    /// The facts that an unknown recorder observes: it writes an attribute for every process or for none.
    pub(crate) fn of_rows(has_waits: bool, has_memory_kills: bool) -> Self {
        let (waits, memory_kills) = (has_waits, has_memory_kills);
        Knowledge {
            waits,
            memory_kills,
            failures: true,
            signals: true,
            starters: true,
            by_calls: false,
            unseen: Unseen::None,
            unwatched: 0,
            forks: false,
            one_command: false,
        }
    }
}

/// The attribute of a process that says how its usage was measured.
pub(crate) const MEASURED: &str = "measured";

/// Whether a process used at least what is recorded of it, by a value of [`MEASURED`].
pub(crate) fn is_at_least(measured: &str) -> bool {
    measured.starts_with("at least")
}
