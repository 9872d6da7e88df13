"""Objects with dictionaries and texts of classes of the program; prints the name of an object, a path, and what that leads
to: a text as Python has it, `Missing`, or `Unknown`, where the recording does not say it.

    python keys.py RECORDING
"""

import datetime
import enum
import sys

import barrow


class Text(str):
    """A text of a class of the program."""


class State(str, enum.Enum):
    ACTIVE = "active"
    GONE = "gone"


class Level(enum.IntEnum):
    ONE = 1
    TWO = 2


class Own:
    pass


class Named(dict):
    """A dictionary with a key that is the name of an attribute."""

    def __init__(self):
        self["size"], self.size, self["other"] = "of the key", "of the attribute", "of another key"


class Slotted:
    __slots__ = ("set", "unset")

    @property
    def computed(self):
        return "text"


class Case:
    def __init__(self, name, held):
        self.name = name
        self.held = held

    def tell(self, path, expected):
        print(self.name, path, expected, sep="\t")


LONG = "L" * 500
HUGE = 2**63

mixed = Case("mixed", {Text("own"): "own text", State.ACTIVE: "state", Level.ONE: "level", LONG: "long", "plain": "plain"})
for key in ["own", "active", "plain", "absent"]:
    mixed.tell('.held["%s"]' % key, mixed.held.get(key, "Missing"))
mixed.tell(".held[1]", mixed.held[1])
mixed.tell(".held[true]", mixed.held[True])
mixed.tell(".held[3]", "Missing")
mixed.tell('.held["%s"]' % LONG, "Unknown")
mixed.tell('.held["%s"]' % ("L" * 100), "Missing")

large = Case("large", {HUGE: "huge"})
large.tell('.held["%d"]' % HUGE, "Missing")
large.tell('.held["absent"]', "Missing")
large.tell(".held[%d]" % HUGE, "Unknown")
large.tell(".held[3]", "Unknown")

truths = Case("truths", {True: "true", "1": "text"})
truths.tell(".held[1]", truths.held[1])
truths.tell(".held[true]", truths.held[True])
truths.tell(".held[0]", "Missing")
truths.tell('.held["1"]', truths.held["1"])
truths.tell('.held["True"]', "Missing")

several = Case("several", {(1, 2): "tuple", None: "none"})
several.tell('.held["None"]', "Missing")
several.tell(".held[null]", several.held[None])
several.tell(".held[1]", "Missing")

own = Case("own", {Own(): "own"})
own.tell('.held["own"]', "Unknown")  # Equality may be anything.

plain, vast, error = Case("plain", 1), Case("vast", 1), type("ErrorCase", (Exception,), {"__module__": "__main__"})()
vars(vast)  # Makes the instance keep its attributes in a dictionary.
plain.user = vast.user = "a user"
error.name, error.user = "error", "user of an error"
for one in [plain, vast, error]:
    print(one.name, ".user", one.user, sep="\t")
    print(one.name, ".other", "Missing", sep="\t")
owner = Case("owner", vast)
owner.other = "other text"
owner.tell(".held.user", owner.held.user)

state, text = Case("state", State.GONE), Case("text", Text("some text"))
state.tell(".held", str.__str__(state.held))
text.tell(".held", str.__str__(text.held))

named, span = Case("named", Named()), Case("span", datetime.timedelta(3))
failed, slotted = Case("failed", ValueError(1)), Case("slotted", Slotted())
slotted.held.set, span.weeks = "a text", "of the case"
vast_named = Case("vast named", Named())
vars(vast_named.held)
for one in [named, vast_named]:
    one.tell(".held.size", one.held.size)
    one.tell('.held["size"]', one.held["size"])
    one.tell('.held["other"]', one.held["other"])
span.tell(".held.days", "Unknown")
span.tell(".held.weeks", "Missing")
failed.tell(".held.args", "Unknown")
slotted.tell(".held.set", slotted.held.set)
slotted.tell(".held.unset", "Missing")
slotted.tell(".held.computed", "Unknown")

barrow.start(sys.argv[1])
barrow.snapshot()
barrow.stop()
