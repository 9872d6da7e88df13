"""Run by every Python process that a recorded program starts: records it, and leaves the rest to the next `sitecustomize`.

It may be any version of Python.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _begin():
    package = os.path.dirname(os.path.dirname(_here))
    sys.path.insert(0, package)
    try:
        from barrow import _children

        _children.begin()
    except Exception as error:
        sys.stderr.write("barrow: %s; the program runs, nothing is recorded\n" % error)
    finally:
        sys.path.remove(package)


def _run_next():
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _here]
    this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        # Whoever imports this module looks for it afterwards.
        sys.modules.setdefault("sitecustomize", this)


_begin()
_run_next()
