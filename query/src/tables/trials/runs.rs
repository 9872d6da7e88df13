//! The runs of trials.

use barrow_trials::{Run, RunId, Trials};

use crate::answer::{Column, Fact, Table, Value, measured::measured, table};
use crate::error::QueryError;

use super::{program_column, variant_of};

/// Characters of a failed run's output in a table: they fit a line of 80 columns with the number of the run.
const OUTPUT: usize = 60;

/// A row for each run; `check` is called before each.
///
/// # Errors
/// Those of `check`.
pub(crate) fn table(
    trials: &Trials,
    walls: &Walls,
    runs: &[RunId],
    check: impl Fn() -> Result<(), QueryError>,
) -> Result<Table, QueryError> {
    let runs = runs.iter().filter_map(|id| Some((*id, trials.runs().get(id.index())?)));
    Ok(table!("rows", runs, |(id, run)| {
        check()?;
        let end = run.end.as_ref();
        let [knobs, layout] = layout(run, None);
        Column::number("run") => id.0,
        program_column(trials.variants().len() > 1) => variant_of(trials, run.variant).name.as_str(),
        Column::duration("time_ns").called("began").secondary() => u64::try_from(run.time_ns).ok(),
        Column::number("wall") => walls.of_run(id),
        Column::number("seed").secondary() => run.seed,
        Column::text("state").own_words() => state(run),
        Column::number("exit_status").called("exit") => end.and_then(|end| end.exit_status),
        Column::number("signal").secondary() => end.and_then(|end| end.signal),
        Column::nested("knobs").for_machines() => knobs,
        Column::text("layout") => layout,
        Column::text("output") => end.and_then(|end| end.output.as_deref()).map(last_line),
    }))
}

/// The wall time of each run.
pub(crate) struct Walls {
    unit: String,
    /// By run; NaN if it is not known, as no value is.
    of_runs: Vec<f64>,
}

impl Walls {
    pub(crate) fn of(trials: &Trials) -> Self {
        let Ok(wall) = trials.metric("wall") else { return Walls { unit: String::new(), of_runs: Vec::new() } };
        let mut of_runs = vec![f64::NAN; trials.runs().len()];
        for value in trials.values(wall).iter().filter(|value| value.iteration.is_none()) {
            if let Some(wall) = of_runs.get_mut(value.run.index()) {
                *wall = value.value;
            }
        }
        Walls { unit: trials.metrics()[wall.index()].unit.clone(), of_runs }
    }

    fn of_run(&self, run: RunId) -> Option<Value> {
        let wall = self.of_runs.get(run.index()).filter(|wall| !wall.is_nan())?;
        Some(measured(*wall, &self.unit))
    }
}

/// The layout of a run, and of one of its iterations, for machines and for people.
pub(crate) fn layout(run: &Run, iteration: Option<u64>) -> [Value; 2] {
    let of_run = run.knobs.iter().filter(|knob| knob.iteration.is_none());
    let own = run.knobs.iter().filter(|knob| iteration.is_some() && knob.iteration == iteration);
    let knobs = of_run.chain(own);
    let record = knobs.clone().map(|knob| Fact::noted(&knob.name, &knob.value)).collect();
    let layout: Vec<String> = knobs.map(|knob| format!("{}={}", knob.name, knob.value)).collect();
    [Value::Record(record), Value::text(layout.join(" "))]
}

/// The outcome of a run, in a word.
fn state(run: &Run) -> &'static str {
    match &run.end {
        _ if run.is_warmup => "warm-up",
        None => "",
        Some(end) if end.timed_out => "timed out",
        Some(end) if end.failed => "failed",
        Some(_) => "ok",
    }
}

/// The last line of an output that says something.
fn last_line(output: &str) -> String {
    let line = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match line.char_indices().nth(OUTPUT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
