//! Trials that are hard to show: hostile names, too few values, no run that succeeded, ten thousand values, a heap beside.

use std::path::Path;

use barrow_testdata::Random;
use barrow_writer::{
    Better, MetricDescription, MetricId, Result, RunDescription, RunEnd, RunId, ValueDescription, VariantDescription,
    VariantId, Writer,
};

const MILLISECOND: i64 = 1_000_000;

/// Writes all of them into a folder.
pub(super) fn write(folder: &Path) -> Result<()> {
    odd(&folder.join("trials-odd.barrow"))?;
    failed(&folder.join("trials-failed.barrow"))?;
    many(&folder.join("trials-many.barrow"))?;
    with_heap(&folder.join("trials-heap.barrow"))
}

fn metric(writer: &Writer, name: &str, unit: &str) -> Result<MetricId> {
    writer.metric(&MetricDescription { name, unit, better: Better::Lower, exact: false })
}

fn variant(writer: &Writer, name: &str) -> Result<VariantId> {
    writer.variant(&VariantDescription { name, command: &[name, "<b>"], ..VariantDescription::default() })
}

/// A run that begins, with these knobs.
fn begin(writer: &Writer, variant: VariantId, number: u64, knobs: &[(&str, &str)]) -> Result<RunId> {
    let time_ns = number as i64 * MILLISECOND;
    let run = writer.begin_run(&RunDescription { variant, time_ns, seed: Some(number), warmup: false })?;
    writer.run_knobs(run, None, knobs)?;
    Ok(run)
}

/// It ends; with an output if it failed.
fn end(writer: &Writer, run: RunId, number: u64, output: Option<&str>) -> Result<()> {
    let time_ns = (number as i64 + 1) * MILLISECOND;
    let exit_status = Some(u64::from(output.is_some()));
    writer.end_run(run, &RunEnd { time_ns, exit_status, failed: output.is_some(), output, ..RunEnd::default() })
}

fn value(writer: &Writer, metric: MetricId, run: RunId, value: f64) -> Result<()> {
    writer.value(&ValueDescription { metric, run, value, ..ValueDescription::default() })
}

/// Programs, metrics, knobs and outputs with hostile names. `common` is in all programs, `alone` in the first one;
/// `equal` never varies, and `few` has too few values for a statement about modes.
fn odd(path: &Path) -> Result<()> {
    let writer = super::create(path)?;
    let names = super::hostile_names();
    let hostile: Vec<VariantId> = names.iter().map(|name| variant(&writer, name)).collect::<Result<_>>()?;
    let plain = variant(&writer, "./plain.sh")?;
    let common = metric(&writer, "common", "ns")?;
    let alone = metric(&writer, "alone", "")?;
    let equal = metric(&writer, "equal", "bytes")?;
    let few = metric(&writer, "few", "ns")?;
    let scripts = [metric(&writer, &names[0], &names[1])?, metric(&writer, &names[7], "")?];
    let mut random = Random::new(1);
    for number in 0..40 {
        for program in [0, 1, 6, 7, 10].map(|at| &hostile[at]).into_iter().chain([&plain]) {
            let knob = random.below(4096).to_string();
            let run = begin(&writer, *program, number, &[(&names[0], &knob), ("switch", &names[number as usize % 2])])?;
            let is_slow = knob.parse::<u64>().is_ok_and(|knob| knob % 64 < 16);
            let noise = random.below(50_000) as f64;
            value(&writer, common, run, if is_slow { 3e6 } else { 2e6 } + noise)?;
            value(&writer, equal, run, 4096.0)?;
            for metric in scripts {
                value(&writer, metric, run, noise)?;
            }
            if program == &hostile[0] {
                value(&writer, alone, run, noise)?;
            }
            if number < 11 {
                value(&writer, few, run, noise)?;
            }
            end(&writer, run, number, None)?;
        }
    }
    for (number, output) in (40..).zip(&names) {
        let run = begin(&writer, plain, number, &[])?;
        let output: String = output.chars().take(2000).collect();
        end(&writer, run, number, Some(&format!("{output}\n`barrow trial --replay 1; touch /tmp/barrow-e2e-harm`")))?;
    }
    writer.finish()?;
    Ok(())
}

/// No run succeeded.
fn failed(path: &Path) -> Result<()> {
    let writer = super::create(path)?;
    let program = variant(&writer, "broken")?;
    metric(&writer, "wall", "ns")?;
    for number in 0..3 {
        let run = begin(&writer, program, number, &[])?;
        end(&writer, run, number, Some("broken: it is broken"))?;
    }
    writer.finish()?;
    Ok(())
}

/// Ten thousand values of one program, each under a layout of its own.
fn many(path: &Path) -> Result<()> {
    let writer = super::create(path)?;
    let program = variant(&writer, "many")?;
    let latency = metric(&writer, "latency", "ns")?;
    let mut random = Random::new(1);
    for number in 0..100 {
        let run = begin(&writer, program, number, &[])?;
        for iteration in 0..100 {
            let offset = random.below(4096);
            let value = if offset % 64 < 16 { 1500.0 } else { 1000.0 } + random.below(4000) as f64 / 100.0;
            writer.run_knobs(run, Some(iteration), &[("heap_offset", &offset.to_string())])?;
            let seed = Some(random.next());
            let iteration = Some(iteration);
            writer.value(&ValueDescription { metric: latency, run, iteration, seed, time_ns: None, value })?;
        }
        end(&writer, run, number, None)?;
    }
    writer.finish()?;
    Ok(())
}

/// A heap, and trials of two programs.
fn with_heap(path: &Path) -> Result<()> {
    let writer = super::create(path)?;
    super::commit_list(&writer, &super::declare(&writer, super::LIST)?, 3)?;
    let programs = [variant(&writer, "old")?, variant(&writer, "new")?];
    let wall = metric(&writer, "wall", "ns")?;
    let mut random = Random::new(1);
    for number in 0..20 {
        for program in programs {
            let run = begin(&writer, program, number, &[("env", &random.below(4096).to_string())])?;
            value(&writer, wall, run, 1e6 + random.below(10_000) as f64)?;
            end(&writer, run, number, None)?;
        }
    }
    writer.finish()?;
    Ok(())
}
