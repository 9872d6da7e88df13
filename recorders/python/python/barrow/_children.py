"""Python processes that a recorded program starts anew: how they come to be recorded, and where to.

The environment says it, so that grandchildren are recorded, too: `PYTHONPATH` leads to a `sitecustomize`, which every Python
process runs first, and `BARROW_CHILDREN` has the options.
"""

import json
import os
import sys

_SETTINGS = "BARROW_CHILDREN"
_HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")


def own_path(first):
    """The recording of this process, if that of the first one is `first`."""
    name, extension = os.path.splitext(first)
    return "%s.%d%s" % (name, os.getpid(), extension)


def invite(first, options):
    """Has processes that are started from now on recorded. Returns what ends that."""
    os.environ[_SETTINGS] = json.dumps([first, options])
    path = os.environ.get("PYTHONPATH")
    if not path or _HOOK not in path.split(os.pathsep):
        os.environ["PYTHONPATH"] = _HOOK + (os.pathsep + path if path else "")
    return lambda: os.environ.pop(_SETTINGS, None)


def begin():
    """Begins a recording, if this process was started by one that is recorded."""
    import barrow

    settings = os.environ.get(_SETTINGS)
    # What cleans up after `multiprocessing` is no process of the program.
    is_tracker = any("multiprocessing.resource_tracker" in argument for argument in getattr(sys, "orig_argv", ()))
    if settings and not is_tracker:
        first, options = json.loads(settings)
        barrow._begin(own_path(first), options, first=first)
