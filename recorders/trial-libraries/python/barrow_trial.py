"""Memory layouts per iteration and reported values, inside a benchmark that `barrow trial` runs.

Outside of `barrow trial` it does nothing.

    import time
    import barrow_trial

    def measure(iteration):
        data = bytearray(b"x" * 50_000)             # set up under the layout of the iteration
        iteration.note_address("data", data)
        began = time.perf_counter_ns()
        data.count(b"y")
        iteration.report("count", time.perf_counter_ns() - began, unit="ns", better="lower")

    for iteration in barrow_trial.iterations(60):
        measure(iteration)

What moves in CPython: objects of more than 512 bytes, and the contents of lists, dictionaries, strings, `bytearray`,
`array` and NumPy arrays of that size, since they come from malloc. Smaller objects come from pools of the interpreter,
where only those with as many bytes as the small block move, by one place. The stack does not move within a run; between
runs `barrow trial` moves it.
"""

import os
import sys
import threading

__version__ = "0.1.0"
__all__ = ["Iteration", "Layout", "is_on", "iteration", "iterations", "layout_of", "report"]

_MASK = (1 << 64) - 1
_BETTER = {"lower": "lower", "higher": "higher", "": "", None: ""}
# Blocks of these sizes fill gaps, from large to small, see `_Blocks`.
_GAPS = (64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 2 << 10, 1 << 10)
_MOST_GAPS = 1000
_USUAL_BLOCKS = 2000
_SMALL_GAPS = (512, 256, 128, 64, 40, 24)


def _next(state):
    """The next state of SplitMix64 (Steele, Lea and Flood 2014), and its number."""
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return state, mixed ^ (mixed >> 31)


class Layout:
    """The layout of one iteration, in bytes. The libraries for Rust and C compute the same numbers.

        seed    = next(run_seed ^ next(iteration))     next(x): the first number of SplitMix64 with the seed x
        numbers = SplitMix64 with this seed, in this order:
          stack        (number mod 256) * 16
          heap_small    number mod 32
          heap_large    87040 + number mod 32
          heap_offset  (number mod 256) * 16

    `stack` is not used in Python.
    """

    __slots__ = ("seed", "stack", "heap_small", "heap_large", "heap_offset")

    def __init__(self, seed):
        self.seed = seed
        state, stack = _next(seed)
        state, small = _next(state)
        state, large = _next(state)
        state, offset = _next(state)
        self.stack = stack % 256 * 16
        self.heap_small = small % 32
        self.heap_large = 87040 + large % 32
        self.heap_offset = offset % 256 * 16


def layout_of(run_seed, number):
    """The layout of an iteration of a run."""
    return Layout(_next(run_seed ^ _next(number)[1])[1])


class _Trial:
    """What `barrow trial` says in the environment."""

    def __init__(self, environment):
        self.lock = threading.Lock()
        self.iterations = 0
        self.seed = None
        knobs = environment.get("BARROW_TRIAL_KNOBS", "").split(",")
        if environment.get("BARROW_TRIAL_LAYOUT") == "random" and "heap" in knobs:
            seed = environment.get("BARROW_TRIAL_SEED", "")
            self.seed = int(seed) & _MASK if seed.isdigit() else None
        self.values = None
        path = environment.get("BARROW_TRIAL_VALUES")
        if path:
            try:
                self.values = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
            except OSError as error:
                print(f"barrow_trial: values are lost: {error}", file=sys.stderr)

    def next_number(self):
        with self.lock:
            self.iterations += 1
            return self.iterations - 1

    def write(self, metric, value, unit, better, iteration, seed, knobs):
        if better not in _BETTER:
            raise ValueError(f"better is 'lower', 'higher' or None, not {better!r}")
        value = float(value)
        if self.values is None or value != value or value in (float("inf"), float("-inf")):
            return False
        place = ["" if one is None else str(one) for one in (iteration, seed)]
        fields = ["value", _clean(metric), _clean(unit), _BETTER[better], *place, repr(value)]
        fields += [f"{_clean(name).replace('=', '_')}={number}" for name, number in knobs.items()]
        # Written at once, so that lines of other threads and processes do not come between.
        os.write(self.values, ("\t".join(fields) + "\n").encode("utf-8", "replace"))
        return True


def _clean(name):
    """A name in which nothing ends a field or a line."""
    return "".join(character if character.isprintable() else " " for character in str(name))


class _Blocks:
    """Blocks of a layout, which are held.

        ... gap, filled | gap, filled ... | heap_small | heap_large | heap_offset | what is allocated next, and moves

    malloc uses gaps that earlier blocks left before it uses fresh memory. What fits into a gap would not move, so all gaps
    are filled first. glibc also keeps up to seven freed blocks of each size up to 1,032 bytes, which are taken as well.
    """

    def __init__(self, layout):
        # Of the interpreter's pools.
        self.small = bytes(layout.heap_small)
        self.free, allocate = _allocator()
        if allocate is None:
            self.held = [bytearray(layout.heap_large), bytearray(layout.heap_offset)]
            return
        # A list that grew would leave gaps.
        self.held = held = [None] * _USUAL_BLOCKS
        self.count = 0

        def hold(size):
            address = allocate(size) or 0
            if self.count < len(held):
                held[self.count] = address
            else:
                held.append(address)
            self.count += 1
            return address

        def fill(sizes, fresh):
            # There is no gap of a size when a block of it is after all other blocks.
            for size in sizes:
                for _ in range(_MOST_GAPS):
                    address = hold(size)
                    if address > fresh:
                        fresh = address
                        break
            return fresh

        fresh = fill(_GAPS, max(hold(120 << 10) for _ in range(4)))
        for number in range(64 * 7):
            hold(24 + number // 7 * 16)
        fill(_SMALL_GAPS, fresh)
        hold(layout.heap_small)
        hold(layout.heap_large)
        # With room after it: without, what comes next would be elsewhere.
        for _ in range(8):
            address, room = hold(layout.heap_offset), hold(120 << 10)
            if address <= room <= address + layout.heap_offset + 64:
                self.count -= 1
                self.free(held[self.count])
                break
            fill(_SMALL_GAPS, fill(_GAPS, room))

    def release(self):
        if self.free:
            for block in self.held[: self.count]:
                self.free(block)
        self.held = []


def _allocator():
    """`free` and `malloc` of the interpreter, without its pools; nothing if it is another one than CPython."""
    global _functions
    if _functions is None:
        try:
            import ctypes

            allocate, free = ctypes.pythonapi.PyMem_RawMalloc, ctypes.pythonapi.PyMem_RawFree
            allocate.argtypes, allocate.restype = [ctypes.c_size_t], ctypes.c_void_p
            free.argtypes, free.restype = [ctypes.c_void_p], None
            _functions = (free, allocate)
        except (ImportError, AttributeError):
            _functions = (None, None)
    return _functions


_functions = None
_trial = _Trial(os.environ)


class Iteration:
    """One iteration: between `begin` and `end`, what is allocated has a layout of its own. Also a context manager."""

    def __init__(self):
        self.number = None
        self.layout = None
        self._knobs = {}
        self._blocks = None

    def begin(self):
        """Makes the blocks of its layout. Set up after this."""
        if not is_on():
            return self
        self.number = _trial.next_number()
        if _trial.seed is not None:
            self.layout = layout_of(_trial.seed, self.number)
            self._knobs = {name: getattr(self.layout, name) for name in ("heap_small", "heap_large", "heap_offset")}
            self._blocks = _Blocks(self.layout)
        return self

    def end(self):
        """Releases the blocks. Values can still be reported."""
        if self._blocks:
            self._blocks.release()
            self._blocks = None

    def __enter__(self):
        return self.begin()

    def __exit__(self, *exception):
        self.end()

    def report(self, metric, value, unit="", better=None):
        """Reports a value of this iteration. Values that are no finite numbers are left out."""
        seed = self.layout.seed if self.layout else None
        if _trial.write(metric, value, unit, better, self.number, seed, self._knobs):
            self._knobs = {}

    def note(self, name, value):
        """Notes what may decide about speed, as a knob of this name. It goes with the next value that is reported."""
        if _trial.values is not None:
            self._knobs[name] = int(value)

    def note_address(self, name, buffer):
        """Notes where a buffer is: the knob `NAME_address` is its address modulo 4,096.

        `buffer` is an address, a NumPy array, or anything writable with the buffer protocol.
        """
        if _trial.values is not None:
            self.note(f"{name}_address" if name else "address", _address(buffer) % 4096)


def _address(buffer):
    if isinstance(buffer, int):
        return buffer
    interface = getattr(buffer, "__array_interface__", None)
    if interface:
        return interface["data"][0]
    import ctypes

    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def is_on():
    """Whether iterations have layouts of their own, or values are recorded."""
    return _trial.seed is not None or _trial.values is not None


def iteration():
    """An iteration, to be used with `with`, or with `begin` and `end`."""
    return Iteration()


def iterations(count):
    """Iterations that begin and end one after the other.

    Call a function in the loop: its variables are gone before the next iteration begins. Those of the loop itself would
    still hold the data of the iteration before.
    """
    for _ in range(count):
        with Iteration() as one:
            yield one


def report(metric, value, unit="", better=None):
    """Reports a value of the run as a whole."""
    _trial.write(metric, value, unit, better, None, None, {})
