"""Makes a heap, walks all of it with one tool, and prints objects, wall and CPU seconds, and megabytes on top.

    python pause.py TOOL [MILLIONS]      TOOL: barrow, guppy3, pympler, objgraph, pyheap, getsizeof
"""

import gc
import json
import os
import resource
import sys
import tempfile
import time

tool = sys.argv[1]
millions = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0


class Node:
    def __init__(self, key):
        self.key = key
        self.children = []


rows = [{"id": i, "name": "n%d" % i, "tags": ["a", "b"], "v": i * 1.5} for i in range(1000)]
text = json.dumps(rows)
documents = [json.loads(text) for _ in range(int(millions * 50))]
nodes = [Node(i) for i in range(int(millions * 150_000))]
for number, node in enumerate(nodes[1:], 1):
    nodes[(number - 1) // 4].children.append(node)
gc.collect()
gc.disable()


def walk():
    if tool == "barrow":
        import barrow

        barrow.start(os.path.join(tempfile.mkdtemp(), "out.barrow"))
        figures, _ = barrow._barrow.snapshot("pause")
        return figures[0], figures[3]
    if tool == "guppy3":
        from guppy import hpy

        return hpy().heap().count, None
    if tool == "pympler":
        from pympler import muppy, summary

        return sum(row[1] for row in summary.summarize(muppy.get_objects())), None
    if tool == "objgraph":
        import objgraph

        return sum(objgraph.typestats(shortnames=False).values()), None
    if tool == "getsizeof":
        return sum(1 for value in gc.get_objects() if sys.getsizeof(value)), None
    raise SystemExit("unknown tool")


before = resource.getrusage(resource.RUSAGE_SELF)
began, cpu = time.perf_counter(), time.thread_time()
count, pause = walk()
wall, cpu = pause or time.perf_counter() - began, time.thread_time() - cpu
after = resource.getrusage(resource.RUSAGE_SELF)
print(count, "%.3f" % wall, "%.3f" % cpu, (after.ru_maxrss - before.ru_maxrss) // 1024)
