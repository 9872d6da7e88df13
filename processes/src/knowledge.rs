//! What a recording can tell of its processes: its recorder may not have noticed some of it.
//!
//! ```text
//!   recorded by            waits   memory kills   failures   starters
//!   barrow record          yes     yes            yes        yes
//!   …, by last calls       no      no             at least   yes
//!   strace                 no      no             yes        yes
//!   Kleknev                no      no             at least   yes
//!   barrow-sh              no      no             yes        yes
//!   Bazel                  no      no             no         no
//!   ninja                  no      no             no         no
//!   anything else          if any process has the attribute  yes
//! ```

use barrow_analyzer::Recording;

/// Which facts about processes are known. Where one is not, nothing in the recording says that it is not so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knowledge {
    /// Whether parents waited for their children.
    pub waits: bool,
    /// Whether the system killed processes because memory was short.
    pub memory_kills: bool,
    /// Whether processes failed.
    pub failures: bool,
    /// Whether a signal that ended a process is told apart from exit status 0.
    pub signals: bool,
    /// What started what.
    pub starters: bool,
    /// Whether a process of which no program is known has executed none.
    pub(crate) forks: bool,
}

/// The fact of an import whose log has the time of day.
const TIME_OF_DAY: &str = "time of day";

/// When the times of a recording begin, in nanoseconds since 1970, if it tells: those of a log without a time of day count
/// from an unknown moment.
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
    /// What the recorder of a recording notices, if it is a known one.
    pub(crate) fn of_recorder(recording: &Recording) -> Option<Self> {
        let facts = recording.facts().unwrap_or_default();
        let by = facts.iter().find(|(key, _)| key == "recorded by").map(|(_, by)| by.as_str());
        let all =
            Knowledge { waits: true, memory_kills: true, failures: true, signals: true, starters: true, forks: true };
        let of_log = Knowledge { waits: false, memory_kills: false, forks: false, ..all };
        Some(match by? {
            // The system did not tell it how processes ended.
            "barrow record" if facts.iter().any(|(key, _)| key == "statuses") => {
                Knowledge { waits: false, memory_kills: false, signals: false, ..all }
            }
            "barrow record" => all,
            "strace" | "barrow-sh" => of_log,
            // It logs what WEXITSTATUS makes of any end.
            "Kleknev" => Knowledge { signals: false, ..of_log },
            // Ninja logs only commands that succeeded; Bazel logs no exit status.
            "ninja" | "Bazel" => Knowledge { failures: false, starters: false, ..of_log },
            _ => return None,
        })
    }

    /// What an unknown recorder notices: it writes an attribute at each process or at none.
    pub(crate) fn of_rows(has_waits: bool, has_memory_kills: bool) -> Self {
        let (waits, memory_kills) = (has_waits, has_memory_kills);
        Knowledge { waits, memory_kills, failures: true, signals: true, starters: true, forks: false }
    }
}
