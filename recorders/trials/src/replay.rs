//! Repeats a recorded run under its layout, at the terminal, perhaps in a debugger.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::ended::Ended;
use crate::error::TrialError;
use crate::how::How;
use crate::input;
use crate::layout::{Knobs, Layout};
use crate::output::Route;
use crate::plan::OutputTo;
use crate::reported::ReportFile;
use crate::round::Round;
use crate::run::Runner;

/// A recorded run.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// The command, word by word.
    pub command: Vec<String>,
    /// The working directory.
    pub directory: Option<String>,
    /// The attributes recorded for the variant.
    pub attributes: Vec<(String, String)>,
    /// Names and values of the knobs of the run.
    pub knobs: Vec<(String, String)>,
    /// The seed of its layout.
    pub seed: Option<u64>,
}

impl Replay {
    /// Whether the layout can be repeated to the byte: not where the system chose addresses.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        self.knobs.iter().any(|(name, value)| name == "aslr" && value == "off")
    }
}

/// Repeats a run, with the terminal's input and output. `under` are words before the command, such as `gdb --args`: what
/// they start has the layout, too.
///
/// # Errors
/// That nothing can be repeated, because the run was imported; that the program cannot be started.
///
/// If the system randomised addresses, it does so again: [`Replay::is_repeatable`].
pub fn replay(run: &Replay, under: &[OsString]) -> Result<Ended, TrialError> {
    if run.command.is_empty() {
        return Err(TrialError::NoReplay("its command is not known"));
    }
    let seed = run.seed.ok_or(TrialError::NoReplay("its layout is not known"))?;
    let layout: Layout = attribute(run, "layout").and_then(|text| text.parse().ok()).unwrap_or(Layout::AS_IS);
    if let Some(directory) = &run.directory {
        std::env::set_current_dir(directory).map_err(TrialError::io("enter the recorded directory"))?;
    }
    let input = attribute(run, "input").map(PathBuf::from);
    let has_terminal = input.is_none();
    // Nothing stops a run at the terminal but the signals themselves.
    let input = input::open(input.as_deref(), &|| false)?.ok_or(TrialError::NoReplay("its input was not opened"))?;
    let mut runner = Runner::new(input, &OutputTo::Inherit, Vec::new())?;
    let words = under.iter().cloned().chain(run.command.iter().map(OsString::from)).collect();
    let prepared = runner.prepare(words, Knobs::NONE)?;
    // Reported values are discarded, but without the variable its environment would differ.
    let reports = ReportFile::new().map_err(TrialError::io("make a file for values"))?;
    let how = How {
        layout,
        round: Round::of_pairs(&run.knobs),
        seed,
        values: Some(reports.path()),
        counts_heap: attribute(run, "counts heap") == Some("yes"),
        output: Route::Inherit,
        shows_errors: true,
        patterns: &[],
        keeps_all: false,
        time_limit: None,
        has_terminal,
    };
    let measured = runner.run(&prepared, how, &|| false)?;
    Ok(measured.map(|measured| measured.ended).unwrap_or_default())
}

fn attribute<'r>(run: &'r Replay, name: &str) -> Option<&'r str> {
    run.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
