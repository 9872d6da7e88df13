"""With an argument, prints layouts; otherwise where iterations place their data, modulo 4,096."""

import ctypes
import sys

import barrow_trial


def count(iteration):
    data = bytearray(b"x" * 5000)
    medium = bytes(700)
    iteration.note_address("", data)
    iteration.note("a=\tb", 7)
    iteration.report("s\tum\n", 1 / 8, unit="n\rs", better="lower")
    iteration.report("rate", 1e300, better="higher")
    iteration.report("wrong", float("nan"))
    return id(medium) % 4096, ctypes.addressof(ctypes.c_char.from_buffer(data)) % 4096


if len(sys.argv) > 1:
    for i in range(100):
        layout = barrow_trial.layout_of(-i * 1000003 % 2**64, i)
        print(layout.seed, layout.stack, layout.heap_small, layout.heap_large, layout.heap_offset)
else:
    places = [count(iteration) for iteration in barrow_trial.iterations(60)]
    barrow_trial.report("whole", barrow_trial.is_on())
    for place in places:
        print(*place)
