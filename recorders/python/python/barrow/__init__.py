"""Records the heap of a running Python program.

    import barrow

    with barrow.recording("app.barrow"):
        work()
        barrow.snapshot("after work")       # as many as you like

Around a whole program, without a change to it:

    python -m barrow run --every-gc --out app.barrow app.py ARGUMENTS

A snapshot has every object, what it refers to and by which name. The program is paused while it is taken, as it does
for a full collection. Read the file with the command `barrow`, also while it is being written.
"""

import atexit
import gc
import os
import sys
import threading
import time
import warnings
from contextlib import contextmanager

from . import _barrow, _children

__all__ = ["is_recording", "recording", "snapshot", "start", "stop"]

# What ends whatever makes snapshots besides the program itself.
_triggers = []
# What gives signals back. Not before `stop`: one that is meant for a recording that has ended must not end the program.
_signals = []
# What takes a snapshot at intervals, if requested, and whether one is to be taken at exit.
_clock = None
_wants_exit = False
# When the last snapshot of the recording was taken, by `time.monotonic`; None before the first one.
_latest = None
# The recording that those of children are called after.
_first = ""

# A block that ends so many seconds after a snapshot, with as many blocks of memory but for one in so many, needs no other
# one: in a series, a repeated state looks like an end of growth.
_JUST_NOW = 0.1
_CHANGED = 100


def start(
    path=None,
    *,
    sites=None,
    contents="all",
    max_snapshots=None,
    max_size=None,
    every_gc=False,
    interval=None,
    on_signal=None,
    at_exit=False,
    children=False
):
    """Begins a recording in a new file, `BARROW_OUT` in the environment unless `path` is given.

    It ends with `stop`, with the interpreter, or with the first snapshot that brings it to `max_snapshots` or to `max_size`
    bytes. Snapshots are taken by `snapshot` and, on request, after each full collection, every `interval` seconds,
    at a signal ("USR2"; in the main thread only), and at exit.

    With `sites="light"` each object that is allocated from now on has the function, file and line that did it; with "full" those
    that called it, too; with "sample=512K" about one allocation in that many bytes has them.

    Recorded is also what objects hold: strings, bytes, numbers, lengths. With `contents="none"` it is not. With
    "texts=128" texts that take more bytes are shortened.

    A child made by `os.fork` records too, into a file of its own: `app.PID.barrow` beside `app.barrow`. With `children`, so do
    Python processes that are started anew, as `multiprocessing` and `subprocess` do it.
    """
    path = path or os.environ.get("BARROW_OUT")
    if not path:
        raise ValueError("where to? give a path or set BARROW_OUT")
    _begin(
        os.fspath(path),
        dict(
            sites=sites,
            contents=contents,
            max_snapshots=max_snapshots,
            max_size=max_size,
            every_gc=every_gc,
            interval=interval,
            on_signal=on_signal,
            at_exit=at_exit,
        ),
        children,
    )


def _begin(path, options, children=False, first=None):
    """Begins a recording. `first` is that of the process that all others come from, if this is another."""
    global _clock, _first, _latest, _wants_exit
    first_path = first or os.path.abspath(path)
    limits = options["max_snapshots"], options["max_size"]
    longest_text = _longest_text(options["contents"])
    _barrow.begin(path, os.path.splitext(first_path), limits, options["sites"], longest_text, first is not None)
    _first = first_path
    _latest = None
    if children:
        _triggers.append(_children.invite(_first, options))
    if options["every_gc"]:
        gc.callbacks.append(_after_gc)
        _triggers.append(lambda: gc.callbacks.remove(_after_gc))
    _clock = _Clock(options["interval"]) if options["interval"] else None
    if _clock:
        _triggers.append(_clock.stop)
    if options["on_signal"]:
        _signals.append(_on_signal(options["on_signal"]))
    _wants_exit = options["at_exit"]


def _size(text):
    """The bytes of a size, as 4096, 100K or 2G."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1].upper()] if text[-1:].upper() in units else int(text)


def _longest_text(contents):
    """The most bytes of a text; None if nothing is recorded of what objects hold."""
    kind, _, size = contents.partition("=")
    if contents == "none":
        return None
    if contents == "all":
        return 1 << 20
    try:
        longest = _size(size)
    except ValueError:
        longest = 0
    if kind != "texts" or longest < 128:
        raise ValueError("contents is %r; it can be all, none or texts=SIZE, where the least is texts=128" % contents)
    return min(longest, 1 << 20)


def stop():
    """Ends the recording. Snapshots can be read before that, and without it."""
    _disarm()
    while _signals:
        _signals.pop()()
    _warn(_barrow.finish())


def is_recording():
    """Whether something is recorded."""
    return _barrow.is_recording()


def snapshot(label=None):
    """Takes a snapshot of all objects. Returns how many that are, or None if nothing is recorded.

    Garbage is not collected before: what nothing refers to is in the snapshot, and unreachable there.
    If the file cannot be written to, a warning says so once and nothing more is recorded; the program goes on.
    """
    return _take(label)


@contextmanager
def recording(path=None, **options):
    """Records while the block runs, and takes a snapshot at its end, unless one was just taken. Options are those of `start`."""
    start(path, **options)
    try:
        yield
    finally:
        if not _was_just_taken():
            snapshot("end")
        stop()


def _was_just_taken():
    """Whether the latest snapshot has the state of now, as far as that is seen at once."""
    if _latest is None:
        return False
    then, blocks = _latest
    return time.monotonic() - then <= _JUST_NOW and abs(sys.getallocatedblocks() - blocks) <= blocks // _CHANGED


def _take(label):
    global _latest
    figures, why = _barrow.snapshot(label, _threads())
    if figures:
        _latest = time.monotonic(), sys.getallocatedblocks()
    if not _barrow.is_recording():
        _disarm()
    _warn(why)
    return figures[0] if figures else None


def _threads():
    """What is known of the threads that `threading` knows. Not by `threading.enumerate`, whose lock this thread may have."""
    known = list(threading._active.items())
    return [(number, str(thread.name), thread.native_id) for number, thread in known]


def _warn(why):
    if why:
        warnings.warn(why, RuntimeWarning, stacklevel=3)


def _disarm():
    while _triggers:
        _triggers.pop()()


def _after_gc(phase, info):
    if phase == "stop" and info["generation"] == 2:
        _take("gc")


def _at_exit():
    # A program that ends before the first interval has one snapshot, too.
    if (_wants_exit or _clock and _latest is None) and is_recording():
        with _termination_waits():
            _take("exit")
    stop()


@contextmanager
def _termination_waits():
    """Ignores the signal to end: a pool sends it to workers that are at their end already."""
    import signal

    try:
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except ValueError:
        # Only the main thread may do that.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


class _Clock:
    """Takes a snapshot every `interval` seconds."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.start()

    def start(self):
        self.stopped = threading.Event()
        threading.Thread(target=self.run, args=[self.stopped], name="barrow", daemon=True).start()

    def run(self, stopped):
        while not stopped.wait(self.seconds):
            _take("interval")

    def stop(self):
        self.stopped.set()


def _on_signal(name):
    import signal

    number = getattr(signal, name if name.startswith("SIG") else "SIG" + name)
    before = signal.signal(number, lambda _number, _frame: _take(name))
    return lambda: signal.signal(number, before)


def _in_child():
    global _latest
    if not _barrow.is_recording():
        return
    _latest = None
    if _clock:
        _clock.start()
    # Where `multiprocessing` forks, it ends the process without `atexit`, and forgets what was to be done before.
    util = sys.modules.get("multiprocessing.util")
    if util:
        util.register_after_fork(_at_exit, lambda at_exit: util.Finalize(None, at_exit, exitpriority=-100))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
# What is recorded is whole without `stop`; with it, the file can be opened faster.
atexit.register(_at_exit)
