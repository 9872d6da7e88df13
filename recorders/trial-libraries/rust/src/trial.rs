//! A trial as seen from inside a benchmark: its iterations and their values.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::blocks::Blocks;
use crate::layout::Layout;
use crate::metric::Metric;
use crate::report::{self, Place};
use crate::settings::Settings;
use crate::stack;

/// Iterations of the process so far: its number names an iteration in the recording. Nothing else depends on the order.
static ITERATIONS: AtomicU64 = AtomicU64::new(0);

/// Room for lines and knobs of an iteration, made before its blocks.
const LINES_BYTES: usize = 1024;
const KNOBS: usize = 16;

/// The trial that the process is part of. Outside of `barrow trial` it does nothing.
#[derive(Debug, Default)]
pub struct Trial {
    settings: Settings,
}

/// One iteration, while it runs.
#[derive(Debug)]
pub struct Iteration<'t> {
    values: Option<&'t File>,
    place: Place,
    layout: Option<Layout>,
    /// Finished lines, without the knobs, which the first one gets.
    lines: String,
    first_line: usize,
    knobs: Vec<(String, u64)>,
}

impl Trial {
    /// Reads the settings of `barrow trial` from the environment. Call it once, at the beginning.
    #[must_use]
    pub fn from_environment() -> Self {
        Trial { settings: Settings::read(|name| std::env::var_os(name)) }
    }

    /// A trial that does nothing.
    #[must_use]
    pub fn off() -> Self {
        Trial::default()
    }

    /// Whether iterations have layouts of their own, or values are recorded.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.settings.seed.is_some() || self.settings.values.is_some()
    }

    /// Runs `body` as an iteration: its allocations and its place on the stack have a layout of their own.
    ///
    /// Set up, measure and drop within `body`, since only what is allocated there moves. The blocks of the layout are
    /// held until it returns or panics; then its values are written, with one call of the system.
    ///
    /// With a random layout an iteration costs about 200 µs, which is not part of what `body` measures.
    pub fn iteration<R>(&self, body: impl FnOnce(&mut Iteration<'_>) -> R) -> R {
        if !self.is_on() {
            return body(&mut Iteration::off());
        }
        let number = ITERATIONS.fetch_add(1, Ordering::Relaxed);
        let settings = &self.settings;
        let layout = settings.seed.map(|seed| Layout::of(seed, number));
        let mut iteration = Iteration::on(settings, number, layout);
        let Some(layout) = layout else { return body(&mut iteration) };
        // Dropped before the iteration, whose memory was there first.
        let blocks = settings.has_heap.then(|| Blocks::of(&layout));
        let result = if settings.has_stack {
            let (mut body, mut result) = (Some(body), None);
            stack::lowered(layout.stack, &mut || result = body.take().map(|body| body(&mut iteration)));
            result.expect("the stack calls its function once")
        } else {
            body(&mut iteration)
        };
        drop(black_box(blocks));
        result
    }

    /// Reports a value of the run as a whole.
    pub fn report(&self, metric: Metric<'_>, value: f64) {
        let Some(values) = &self.settings.values else { return };
        let mut line = String::new();
        if report::append(&mut line, metric, Place::default(), value) {
            line.push('\n');
            write(values, &line);
        }
    }
}

impl<'t> Iteration<'t> {
    fn off() -> Self {
        Iteration {
            values: None,
            place: Place::default(),
            layout: None,
            lines: String::new(),
            first_line: 0,
            knobs: Vec::new(),
        }
    }

    fn on(settings: &'t Settings, number: u64, layout: Option<Layout>) -> Self {
        let mut iteration = Iteration {
            values: settings.values.as_ref(),
            place: Place { iteration: Some(number), seed: layout.map(|layout| layout.seed) },
            layout,
            lines: String::with_capacity(LINES_BYTES),
            first_line: 0,
            knobs: Vec::with_capacity(KNOBS),
        };
        if let Some(layout) = layout.filter(|_| settings.has_stack) {
            iteration.note("stack", layout.stack);
        }
        if let Some(layout) = layout.filter(|_| settings.has_heap) {
            iteration.note("heap_small", layout.heap_small);
            iteration.note("heap_large", layout.heap_large);
            iteration.note("heap_offset", layout.heap_offset);
        }
        iteration
    }

    /// Its number in the process, from 0; `None` outside of a trial.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.place.iteration
    }

    /// Its own layout, if it has one. Which blocks of it are there depends on the knobs of the trial.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        self.layout
    }

    /// Reports a value of this iteration. Values that are no finite numbers are left out.
    pub fn report(&mut self, metric: Metric<'_>, value: f64) {
        if self.values.is_some() && report::append(&mut self.lines, metric, self.place, value) {
            if self.first_line == 0 {
                self.first_line = self.lines.len();
            }
            self.lines.push('\n');
        }
    }

    /// Calls `function` `times` times and reports the nanoseconds of one call.
    pub fn time<R>(&mut self, metric: Metric<'_>, times: u64, mut function: impl FnMut() -> R) {
        let began = Instant::now();
        for _ in 0..times {
            black_box(function());
        }
        let elapsed = began.elapsed();
        self.report(metric, elapsed.as_nanos() as f64 / times as f64);
    }

    /// Records the address of a buffer: the knob `NAME_address` is the address modulo 4,096. `modes` then reports whether it
    /// affects speed.
    pub fn note_address<T: ?Sized>(&mut self, name: &str, address: *const T) {
        if self.values.is_some() {
            let name = if name.is_empty() { "address".to_owned() } else { format!("{name}_address") };
            self.note(&name, address.addr() as u64 % 4096);
        }
    }

    /// Records any other number that may affect speed as a knob of this name, such as the distance of two buffers.
    pub fn note(&mut self, name: &str, value: u64) {
        if self.values.is_some() {
            self.knobs.retain(|(known, _)| known != name);
            self.knobs.push((name.to_owned(), value));
        }
    }
}

impl Drop for Iteration<'_> {
    fn drop(&mut self) {
        let Some(values) = self.values.filter(|_| self.first_line > 0) else { return };
        let mut knobs = String::new();
        for (name, value) in &self.knobs {
            report::append_knob(&mut knobs, name, *value);
        }
        self.lines.insert_str(self.first_line, &knobs);
        write(values, &self.lines);
    }
}

/// Appends lines at once, so that those of other threads and processes do not come between.
fn write(mut values: &File, lines: &str) {
    if let Err(error) = values.write_all(lines.as_bytes()) {
        eprintln!("barrow-trial: values are lost: {error}");
    }
}
