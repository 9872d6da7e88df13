//! The effects of a question, declared by its command, its flags and the end of its line.

use std::fmt;
use std::ops::BitOr;

/// The effects that a question may have. A session answers only questions that touch nothing but what it [allows].
///
/// ```
/// use barrow_query::{Question, Touches};
/// let question = Question::of_line("repair -o saved.barrow")?.expect("no comment");
/// assert!(question.touches().contains(Touches::WRITES_FILES));
/// assert_eq!(Question::of_line("top 5")?.expect("no comment").touches(), Touches::RECORDING);
/// # Ok::<(), barrow_query::QueryError>(())
/// ```
///
/// [allows]: crate::Session::allow
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touches(u8);

impl Touches {
    /// Nothing.
    pub const NOTHING: Self = Touches(0);
    /// Reads the open recording.
    pub const RECORDING: Self = Touches(1);
    /// Changes the session: the selected snapshot, named sets, exclusions, settings.
    pub const SESSION: Self = Touches(2);
    /// Reads other files, which its words or its flags name.
    pub const READS_FILES: Self = Touches(4);
    /// Writes files that its flags or the end of its line name.
    pub const WRITES_FILES: Self = Touches(8);
    /// Runs a program: `| COMMAND`.
    pub const RUNS_PROGRAMS: Self = Touches(16);
    /// Everything.
    pub const ALL: Self = Touches(31);

    /// Effects that cannot harm anything outside the session.
    pub const READ_ONLY: Self = Touches(1 | 2);

    const NAMES: [(Self, &'static str); 5] = [
        (Self::RECORDING, "reads the open recording"),
        (Self::SESSION, "changes the session"),
        (Self::READS_FILES, "reads other files"),
        (Self::WRITES_FILES, "writes files"),
        (Self::RUNS_PROGRAMS, "runs a program"),
    ];

    /// Returns whether it contains all of `other`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Touches(self.0 | other.0)
    }

    /// Its effects that are not in `other`.
    #[must_use]
    pub const fn except(self, other: Self) -> Self {
        Touches(self.0 & !other.0)
    }
}

impl BitOr for Touches {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

/// In words: `reads other files, writes files`.
impl fmt::Display for Touches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            Self::NAMES.iter().filter(|(touched, _)| self.contains(*touched)).map(|(_, name)| *name).collect();
        f.write_str(if names.is_empty() { "touches nothing" } else { "" })?;
        f.write_str(&names.join(", "))
    }
}
