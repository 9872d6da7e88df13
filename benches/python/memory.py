"""Makes a heap with or without sites, and prints objects and the most bytes that were resident.

    python memory.py MODE PROGRAM     MODE: off, light, sample=512K, full; PROGRAM: json, ast, lists
"""

import ast
import glob
import json
import os
import resource
import sys
import tempfile

import barrow

mode, program = sys.argv[1:]


class Node:
    def __init__(self, key):
        self.key = key
        self.children = []


barrow.start(os.path.join(tempfile.mkdtemp(), "out.barrow"), sites=None if mode == "off" else mode)
if program == "json":
    text = json.dumps([{"id": i, "name": "n%d" % i, "tags": ["a", "b"], "v": i * 1.5} for i in range(1000)])
    kept = [json.loads(text) for _ in range(200)], [Node(i) for i in range(500_000)]
elif program == "ast":
    modules = sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))
    kept = [ast.parse(open(name, encoding="utf8").read()) for name in modules]
else:
    kept = [[i, (i, str(i))] for i in range(700_000)]
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(barrow.snapshot(), most)
sys.stdout.flush()
os._exit(0)
