//! The runs of trials.

use barrow_trials::{Knob, Run, RunId, Trials};

use crate::answer::measured::measured;
use crate::answer::{Audience, Column, Table, Value};

use super::variant_of;

/// Characters of a failed run's output in a table.
const OUTPUT: usize = 60;

/// The table of runs, without rows.
pub(crate) fn table(trials: &Trials) -> Table {
    let variant = Column::text("variant").called("program");
    let columns = vec![
        Column::number("run"),
        if trials.variants().len() > 1 { variant } else { variant.for_machines() },
        Column::duration("time_ns").called("began").secondary(),
        Column::number("wall"),
        Column::number("seed").secondary(),
        Column::text("state"),
        Column::number("exit_status").called("exit"),
        Column::number("signal").secondary(),
        Column::nested("knobs").for_machines(),
        Column::text("layout"),
        Column::text("output"),
    ];
    Table { key: "rows", audience: Audience::Everyone, rows: Vec::new(), columns }
}

/// How long each run took.
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

/// A row for a run.
pub(crate) fn row(trials: &Trials, walls: &Walls, id: RunId) -> Option<Vec<Value>> {
    Some(row_of(trials, id, trials.runs().get(id.index())?, walls.of_run(id)))
}

fn row_of(trials: &Trials, id: RunId, run: &Run, wall: Option<Value>) -> Vec<Value> {
    let end = run.end.as_ref();
    let [knobs, layout] = layout(run, None);
    vec![
        id.0.into(),
        variant_of(trials, run.variant).name.as_str().into(),
        u64::try_from(run.time_ns).ok().into(),
        wall.unwrap_or(Value::None),
        run.seed.into(),
        state(run).into(),
        end.and_then(|end| end.exit_status).into(),
        end.and_then(|end| end.signal).into(),
        knobs,
        layout,
        end.and_then(|end| end.output.as_deref()).map(last_line).into(),
    ]
}

/// The layout of a run, and of one of its iterations, for machines and for people.
pub(crate) fn layout(run: &Run, iteration: Option<u64>) -> [Value; 2] {
    let is_own = |knob: &&Knob| iteration.is_some() && knob.iteration == iteration;
    let of_run = run.knobs.iter().filter(|knob| knob.iteration.is_none());
    let knobs = of_run.chain(run.knobs.iter().filter(is_own));
    let record = knobs.clone().map(|knob| (knob.name.to_string(), Value::text(&*knob.value))).collect();
    let layout: Vec<String> = knobs.map(|knob| format!("{}={}", knob.name, knob.value)).collect();
    [Value::Record(record), Value::text(layout.join(" "))]
}

/// What became of a run, in a word.
pub(crate) fn state(run: &Run) -> &'static str {
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
