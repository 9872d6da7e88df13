//! The settings that `barrow trial` passes in the environment.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};

/// The settings of iterations.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// The seed of the run, if iterations have layouts of their own.
    pub(crate) seed: Option<u64>,
    /// Whether iterations allocate blocks on the heap.
    pub(crate) has_heap: bool,
    /// Whether iterations have a block on the stack.
    pub(crate) has_stack: bool,
    /// The file that receives values.
    pub(crate) values: Option<File>,
}

impl Settings {
    /// Reads variables through `variable`.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name| variable(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
        let knobs = text("BARROW_TRIAL_KNOBS");
        let has = |name| knobs.split(',').any(|knob| knob == name);
        let (has_heap, has_stack) = (has("heap"), has("stack"));
        let is_random = text("BARROW_TRIAL_LAYOUT") == "random" && (has_heap || has_stack);
        Settings {
            seed: text("BARROW_TRIAL_SEED").parse().ok().filter(|_| is_random),
            has_heap,
            has_stack,
            values: variable("BARROW_TRIAL_VALUES").filter(|path| !path.is_empty()).and_then(open),
        }
    }
}

fn open(path: OsString) -> Option<File> {
    let opened = OpenOptions::new().append(true).open(&path);
    // The benchmark still works without recorded values, so it continues with a warning.
    opened.inspect_err(|error| eprintln!("barrow-trial: values are lost: {}: {error}", path.display())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(layout: &str, seed: &str, knobs: &str) -> Option<u64> {
        let value = |name: &str| match name {
            "BARROW_TRIAL_LAYOUT" => Some(layout.into()),
            "BARROW_TRIAL_SEED" => Some(seed.into()),
            "BARROW_TRIAL_KNOBS" => Some(knobs.into()),
            _ => None,
        };
        Settings::read(value).seed
    }

    #[test]
    fn layouts_need_a_random_layout_a_seed_and_a_knob() {
        assert_eq!(seed("random", "00000000000000000017", "aslr,heap"), Some(17));
        assert_eq!(seed("random", "18446744073709551615", "stack"), Some(u64::MAX));
        for [layout, text, knobs] in
            [["fixed", "17", "heap"], ["random", "", "heap"], ["random", "17", "aslr,env"], ["", "17", "heap"]]
        {
            assert_eq!(seed(layout, text, knobs), None);
        }
    }
}
