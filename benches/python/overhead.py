"""Runs one program with one recorder, and prints the CPU seconds that the program took.

    python overhead.py MODE PROGRAM DOCUMENT     MODE: none, off, light, sample=512K, full, tracemalloc, memray
"""

import ast
import glob
import json
import os
import sys
import tempfile
import time

mode, program, document = sys.argv[1:]


def documents():
    import docutils.core

    text = open(document, encoding="utf8").read()
    for _ in range(4):
        docutils.core.publish_string(text, writer="html", settings_overrides={"report_level": 5})


def syntax_trees():
    for name in sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))[:80]:
        tree = ast.parse(open(name, encoding="utf8").read())
        list(ast.walk(tree))
        ast.unparse(tree)


def json_documents():
    rows = [{"id": i, "name": "n%d" % i, "tags": ["a", "b%d" % (i % 10)], "v": i * 1.5} for i in range(20000)]
    text = json.dumps(rows)
    for _ in range(25):
        json.loads(text)


if program == "docutils":
    import docutils.parsers.rst
    import docutils.writers.html4css1

out = os.path.join(tempfile.mkdtemp(), "out")
if mode == "tracemalloc":
    import tracemalloc

    tracemalloc.start()
elif mode == "memray":
    import memray

    memray.Tracker(out, trace_python_allocators=True).__enter__()
elif mode != "none":
    import barrow

    barrow.start(out, sites=None if mode == "off" else mode)
began = time.process_time()
{"docutils": documents, "ast": syntax_trees, "json": json_documents}[program]()
print("%.3f" % (time.process_time() - began))
sys.stdout.flush()
os._exit(0)
