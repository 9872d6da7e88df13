//! `trial`: runs a program many times and records every value. The terminal does it.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "trial",
    aliases: &[],
    group: Group::File,
    arguments: "[-o DST] [-n N | --until PRECISION] [--layout LAYOUT] [--value NAME=REGEX].. [--compare CMD].. \
                -- COMMAND.. | CMD.. | --replay RUN FILE",
    about: "Run a program many times under fixed or random memory layouts",
    details: "A program is measured as a command with its words after `--`, or as lines of a shell before it; several \
              lines, and those of --compare, are run in turn, in random blocks, so that drift of the machine meets all of \
              them. Every value is kept: wall, user and system time, peak_resident, page_faults, context_switches; \
              peak_heap, allocated, blocks and live_at_end from a counting allocator; instructions, cycles, branch and \
              cache misses where the kernel permits; and what --value finds in the output, or in that of --conclude, however long it is. Figures of the heap are left out where \
              a program has an allocator that is not seen, and a sentence says why. `--read FILE` takes the values \
              that each run writes to a file, in a format that `import` reads, such as the JSON of Criterion. DST is `trial.barrow` \
              unless told; `--force` replaces it.\n\
              `--layout fixed` makes memory figures repeat to the byte: no address space randomisation, environment and \
              arguments padded to a fixed size. `--layout random` gives each run another layout from a recorded seed, so \
              that a benchmark shows all of its modes; `random=heap,stack` varies only these of aslr, env, argv, stack, \
              heap and thp. `--replay RUN FILE` repeats a run under its layout, and `--under 'gdb --args'` in a debugger.\n\
              `-n` is the number of runs, 20 unless told. `--until 5%` goes on until the median, or the locations and \
              weights of all modes, are known to 5 % at a confidence of 95 %, between --min-runs (20) and --max-runs (1,000) \
              and within --max-time (10min). A run that fails is kept as a failed run, and its values do not count, unless \
              `-i` or `-i=STATUS,..` (--ignore-failure) says so; a program that fails three times and never succeeds is \
              not run again.\n\
              As in hyperfine: `-P NAME FROM TO` and `-L NAME A,B` run a program for each value in place of {NAME}; \
              --prepare, --conclude, --setup and --cleanup run commands around runs; --shell=none starts programs \
              without a shell; --warmup, --input, --output, --show-output; --export-markdown, --export-asciidoc, --export-orgmode, \
              --export-csv, --export-json, which hyperfine's scripts read; --sort, -u (--time-unit); --reference CMD is measured as \
              the first program, which the others are compared with, and has the name of --reference-name. \
              The standard output of programs is discarded unless --value or `--read -` reads it; `--output pipe` keeps the \
              first and the last of it in a failed run, as is always done with the standard error. \
              `--no-disturb` refuses to measure on a machine whose frequency or load varies.",
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
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Err(QueryError::usage("a program is measured from a shell: `barrow trial -- COMMAND`"))
}
