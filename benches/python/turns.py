"""Runs one program without and with each mode of sites by turns in one process, and prints the ratios of CPU seconds.

    python turns.py PROGRAM DOCUMENT ROUNDS MODE…     PROGRAM: docutils, ast, json; MODE: none, off, light, sample=512K, full

A ratio is that of one turn to the mean of the turns without before and after it; printed are the median and the quartiles.
"""

import ast
import gc
import glob
import json
import os
import statistics
import sys
import tempfile
import time

import barrow

program, document, rounds, *modes = sys.argv[1:]
rows = [{"id": i, "name": "n%d" % i, "tags": ["a", "b%d" % (i % 10)], "v": i * 1.5} for i in range(20000)]
text = json.dumps(rows)
modules = sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))[:25]
sources = [open(name, encoding="utf8").read() for name in modules]
if program == "docutils":
    import docutils.core
    import docutils.parsers.rst
    import docutils.writers.html4css1


def work():
    if program == "json":
        for _ in range(4):
            json.loads(text)
    elif program == "ast":
        for source in sources:
            tree = ast.parse(source)
            list(ast.walk(tree))
            ast.unparse(tree)
    else:
        source = open(document, encoding="utf8").read()
        docutils.core.publish_string(source, writer="html", settings_overrides={"report_level": 5})


def seconds():
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


work()
found = {mode: [] for mode in modes}
out = os.path.join(tempfile.mkdtemp(), "out.barrow")
for _ in range(int(rounds)):
    before = seconds()
    for mode in modes:
        if mode != "none":
            barrow.start(out, sites=None if mode == "off" else mode)
        during = seconds()
        barrow.stop()
        after = seconds()
        found[mode].append(2 * during / (before + after))
        before = after
for mode, ratios in found.items():
    low, middle, high = statistics.quantiles(ratios, n=4)
    print("%s %s: %.3f (%.3f to %.3f)" % (program, mode, middle, low, high))
