"""`python -m barrow run OPTIONS PROGRAM ARGUMENTS` records a program from outside."""

import argparse
import os
import runpy
import sys

import barrow


def _seconds(text):
    units = {"s": 1, "m": 60, "h": 3600}
    return float(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)


def _parser():
    parser = argparse.ArgumentParser(prog="python -m barrow")
    run = parser.add_subparsers(dest="command", required=True).add_parser(
        "run", help="run a program and record its heap", description="Runs a program and records its heap."
    )
    run.add_argument("--out", metavar="FILE", help="the recording; BARROW_OUT or PROGRAM.barrow unless given")
    run.add_argument("--sites", metavar="MODE", help="note which line allocates each object: light, full (with callers), sample=512K (some of them)")
    run.add_argument("--contents", default="all", metavar="all|texts=SIZE|none", help="what to record of what strings, bytes and numbers are, and how long containers are: texts=128 shortens longer texts; the default is all")
    run.add_argument("--every-gc", action="store_true", help="a snapshot after each full collection")
    run.add_argument("--interval", type=_seconds, metavar="TIME", help="a snapshot every 5s, 2m or 1h")
    run.add_argument("--on-signal", metavar="NAME", help="a snapshot when the process gets the signal: USR2")
    run.add_argument("--at-exit", action="store_true", help="a snapshot when the program ends; the default unless another option takes snapshots")
    run.add_argument("--no-children", dest="children", action="store_false", help="leave out Python processes that the program starts anew")
    run.add_argument("--max-snapshots", type=int, metavar="N", help="record no more than N snapshots")
    run.add_argument("--max-size", type=barrow._size, metavar="SIZE", help="end the recording at 100K, 50M or 2G bytes")
    run.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module, as for python -m")
    run.add_argument("program", metavar="PROGRAM", help="a script")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="what the program is given")
    return parser


def main():
    options = _parser().parse_args()
    out = options.out or os.environ.get("BARROW_OUT") or os.path.basename(options.program) + ".barrow"
    sys.argv = [options.program] + options.arguments
    try:
        barrow.start(
            out,
            sites=options.sites,
            contents=options.contents,
            max_snapshots=options.max_snapshots,
            max_size=options.max_size,
            every_gc=options.every_gc,
            interval=options.interval,
            on_signal=options.on_signal,
            at_exit=options.at_exit or not (options.every_gc or options.interval or options.on_signal),
            children=options.children,
        )
    except (OSError, RuntimeError, ValueError) as error:
        print("barrow: %s; the program runs, nothing is recorded" % error, file=sys.stderr)
    if options.module:
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.program))
        runpy.run_path(options.program, run_name="__main__")


if __name__ == "__main__":
    main()
