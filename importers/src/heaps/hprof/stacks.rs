//! Stack frames: as text, and as allocation sites if the dump has allocation stacks.

use std::collections::HashSet;

use barrow_writer::{SiteDescription, SiteId};

use crate::context::Context;
use crate::error::ImportError;

use super::classes::{UNKNOWN_CLASS, UNKNOWN_METHOD};
use super::outline::{Names, Outline, StackFrame, Table};
use super::records::THREAD;

/// The line of a frame of native code.
const NATIVE: i32 = -3;

/// A frame as text.
struct FrameText {
    /// Class and method.
    function: String,
    file: Option<String>,
    line: Option<u32>,
}

impl FrameText {
    fn new(names: &Names<'_>, frame: &StackFrame) -> Self {
        let class = names.class_of_serial(frame.class_serial).and_then(|class| names.class_name(class));
        let class = class.as_deref().unwrap_or(UNKNOWN_CLASS);
        let method = names.text(frame.method).unwrap_or(UNKNOWN_METHOD.into());
        FrameText {
            function: format!("{class}.{method}"),
            file: names.text(frame.source).map(Into::into),
            line: u32::try_from(frame.line).ok().filter(|&line| line > 0),
        }
    }
}

/// A frame in Java's notation, such as `java.lang.Object.wait(Object.java:338)`.
pub(super) fn frame_text(names: &Names<'_>, frame: &StackFrame) -> String {
    let FrameText { function, file, line } = FrameText::new(names, frame);
    match (file, line) {
        _ if frame.line == NATIVE => format!("{function}(native)"),
        (Some(file), Some(line)) => format!("{function}({file}:{line})"),
        (Some(file), None) => format!("{function}({file})"),
        (None, _) => function,
    }
}

/// Allocation sites by the serial of the stack trace.
#[derive(Debug)]
pub(super) struct Sites(Table<u32, SiteId>);

impl Sites {
    /// Declares a site for each stack trace of the dump that has frames and is not the stack of a thread. Traces with
    /// the same outer frames share their callers.
    pub(super) fn declare<const ID: usize>(outline: &Outline<'_>, context: &Context<'_>) -> Result<Self, ImportError> {
        let of_thread = outline.roots.iter().filter(|root| root.tag == THREAD).filter_map(|root| root.place);
        let of_threads: HashSet<u32> = of_thread.collect();
        let mut traces: Vec<u32> = outline.names.traces().filter(|trace| !of_threads.contains(trace)).collect();
        traces.sort_unstable();
        let mut sites = Table::default();
        let mut known: Table<(u64, Option<SiteId>), SiteId> = Table::default();
        for trace in traces {
            let frames: Vec<(u64, &StackFrame)> = outline.names.frames::<ID>(trace).collect();
            let mut caller = None;
            // The innermost frame comes first, and callers are declared before what they call.
            for &(frame_id, frame) in frames.iter().rev() {
                let site = match known.get(&(frame_id, caller)) {
                    Some(&site) => site,
                    None => {
                        let FrameText { function, file, line } = FrameText::new(&outline.names, frame);
                        let description = SiteDescription {
                            function: Some(&function),
                            file: file.as_deref(),
                            line,
                            caller,
                            ..SiteDescription::default()
                        };
                        let site = context.vocabulary.site(&description)?;
                        known.insert((frame_id, caller), site);
                        site
                    }
                };
                caller = Some(site);
            }
            if let Some(site) = caller {
                sites.insert(trace, site);
            }
        }
        Ok(Sites(sites))
    }

    /// The site of objects with this stack trace.
    #[inline]
    pub(super) fn of(&self, trace: u32) -> Option<SiteId> {
        // Nearly all dumps have none: then this costs nothing.
        if self.0.is_empty() { None } else { self.0.get(&trace).copied() }
    }
}
