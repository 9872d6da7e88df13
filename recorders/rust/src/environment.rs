//! A recording that the environment asks for: begun by the first allocation, ended at the exit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::complaint::tell;
use crate::options::{Blocks, Frames, Options};
use crate::recording;
use crate::system;
use crate::threads::Quiet;

/// Begins what `BARROW_OUT` asks for.
pub(crate) fn start() {
    let _quiet = Quiet::new();
    let Some(path) = system::variable(c"BARROW_OUT") else { return };
    let options = options(
        system::variable(c"BARROW_DEPTH").as_deref(),
        system::variable(c"BARROW_FRAMES").as_deref(),
        system::variable(c"BARROW_BLOCKS").as_deref(),
        system::variable(c"BARROW_INTERVAL").as_deref(),
    );
    match options.map_err(Problem::Variable).and_then(|options| {
        // The guard is forgotten: this recording ends with the process.
        recording::begin(Path::new(&path), &options).map(std::mem::forget).map_err(Problem::Recording)
    }) {
        Ok(()) => system::at_exit(end),
        Err(Problem::Variable(clause)) => tell(&clause),
        Err(Problem::Recording(error)) => tell(&format!("{}: {error}", PathBuf::from(path).display())),
    }
}

enum Problem {
    Variable(String),
    Recording(crate::RecordError),
}

extern "C" fn end() {
    if let Err(error) = recording::end("exit") {
        tell(&error.to_string());
    }
}

fn options(
    depth: Option<&str>,
    frames: Option<&str>,
    blocks: Option<&str>,
    interval: Option<&str>,
) -> Result<Options, String> {
    let mut options = Options::default();
    if let Some(text) = depth {
        let depth = text.parse().ok().filter(|depth| (1..=255).contains(depth));
        options.depth = depth.ok_or_else(|| format!("BARROW_DEPTH is `{text}`, not a number from 1 to 255"))?;
    }
    options.frames = match frames {
        None => Frames::Detect,
        Some("pointers") => Frames::Pointers,
        Some("tables") => Frames::Tables,
        Some(text) => return Err(format!("BARROW_FRAMES is `{text}`, neither `pointers` nor `tables`")),
    };
    options.blocks = match blocks {
        None | Some("each") => Blocks::Each,
        Some("grouped") => Blocks::Grouped,
        Some(text) => return Err(format!("BARROW_BLOCKS is `{text}`, neither `each` nor `grouped`")),
    };
    if let Some(text) = interval {
        let seconds = text.parse().ok().and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok());
        let interval = seconds.filter(|interval| !interval.is_zero());
        options.interval =
            Some(interval.ok_or_else(|| format!("BARROW_INTERVAL is `{text}`, not a number of seconds"))?);
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_understood_or_refused() {
        let all = options(Some("12"), Some("tables"), Some("grouped"), Some("0.5")).unwrap();
        let expected = Options {
            depth: 12,
            frames: Frames::Tables,
            blocks: Blocks::Grouped,
            interval: Some(Duration::from_millis(500)),
        };
        assert_eq!(all, expected);
        assert_eq!(options(None, None, None, None).unwrap(), Options::default());
        assert!(options(Some("0"), None, None, None).is_err());
        assert!(options(None, Some("both"), None, None).is_err());
        assert!(options(None, None, Some("all"), None).is_err());
        for wrong in ["0", "-1", "soon", "inf"] {
            assert!(options(None, None, None, Some(wrong)).is_err(), "{wrong}");
        }
    }
}
