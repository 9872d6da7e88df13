//! `trial`: runs a program many times and records every value. The terminal does it.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "[-o DST] [-n N | --until PRECISION] [--layout LAYOUT] [--value NAME=REGEX].. [--compare CMD].. \
                -- COMMAND.. | CMD.. | --replay RUN FILE",
    example: "trial -n 60 --layout random -- ./benchmark",
    flags: &[
        "-o",
        "--force",
        "-n",
        "--until",
        "--min-runs",
        "--max-runs",
        "--max-time",
        "--layout",
        "--seed",
        "--value",
        "--read",
        "--warmup",
        "--prepare",
        "--conclude",
        "--setup",
        "--cleanup",
        "--compare",
        "--name",
        "--shell",
        "-i",
        "-P",
        "-D",
        "-L",
        "--time-limit",
        "--no-heap-counts",
        "--input",
        "--output",
        "--show-output",
        "--no-disturb",
        "--replay",
        "--under",
        "--export-markdown",
        "--export-json",
        "--export-csv",
        "--export-asciidoc",
        "--export-orgmode",
        "--sort",
        "-u",
        "--reference",
        "--reference-name",
    ],
    subject: Subject::Program,
    touches: Touches::WRITES_FILES.with(Touches::RUNS_PROGRAMS),
    ..Command::new("trial", include_str!("../../verbs/trial.md"), Group::File, |_| {
        Err(QueryError::usage("a program is measured from a shell: `barrow trial -- COMMAND`"))
    })
};
