"""Makes objects of every sort, records them, and then says what Python itself says of them:

    object ADDRESS CLASS SIZE TARGET TARGET ...     sys.getsizeof, gc.get_referents
    label SOURCE NAME TARGET                        what the reference must be called
    weak SOURCE TARGET
    garbage ADDRESS                                 nothing but itself refers to it
    holds ADDRESS FIELD VALUE                       `len` and the like; ? if the recording cannot hold it
    says ADDRESS TEXT                               what it is called there, as `ascii` writes it
    is CLASS ADDRESS ADDRESS ...                    `isinstance`
"""

import asyncio
import collections
import functools
import gc
import sys
import threading
import types
import weakref

import barrow


class Card:
    def __init__(self, number):
        self.number = number
        self.text = "card %d" % number


class Slotted:
    __slots__ = ("left", "right", "__weakref__")

    def __init__(self, left):
        self.left = left


class Late(Card):
    def also(self, number):
        setattr(self, "late%d" % (number % 50), [number])
        return self


class Odd:
    @property
    def __class__(self):
        raise ValueError

    def __getattribute__(self, name):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    def __hash__(self):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


class Meta(type):
    def __getattribute__(self, name):
        raise RuntimeError


class OfMeta(metaclass=Meta):
    pass


class Deck(list):
    pass


class Index(dict):
    pass


class Pair(tuple):
    pass


class Number(int):
    pass


class Marked:
    pass


class Sorted:
    pass


class MarkedDeck(Deck, Marked, Sorted):
    pass


class Twice(Marked, MarkedDeck.__base__):
    pass


Point = collections.namedtuple("Point", "x y")

cards = Deck(Card(number) for number in range(3000))
cards.extra = "sp\u00e4te \ud800 \U0001f600 Karte"
late = [Late(number).also(number) for number in range(200)]
index = Index((card.text, card) for card in cards)
index["sp\u00e4t"] = []
slotted = [Slotted(card) for card in cards]
weak = [weakref.ref(one) for one in slotted[:10]]
odd = [Odd() for _ in range(7)] + [OfMeta() for _ in range(5)]
pairs = [Pair((card, card.text)) for card in cards[:50]]
points = [Point([1], [2])]
numbers = [Number(7), 1 << 200, -(1 << 63), (1 << 63) - 1, 1 << 63, -3, 0, 2.5, -0.1, float("inf"), 1j, True, None, b"bytes", bytearray(100), range(1, 1 << 70)]
sets = [set(range(100)), frozenset("abc"), {card.text for card in cards}, set(), set(range(9)) - {1}]
grown = []
grown.extend(range(11))
grown.pop()
texts = ["", "sp\u00e4t", "\U0001f600" * 300, "x" * 200, "y" * 201, "\ud800", "quoted '\""]
bytestrings = [b"", b"\0\n\r\t\\ \xff", b"it's", b"both ' and \"", b"z" * 150, b"z" * 197, b"z" * 198, b"\0" * 300]
lengthened = bytearray(b"abc")
lengthened.append(1)
queues = [collections.deque(range(1000)), collections.OrderedDict(a=[]), collections.defaultdict(list, b=[]), collections.Counter("abc")]
others = [functools.partial(print, []), types.SimpleNamespace(inside=[]), memoryview(bytearray(9)), slice([], 1), iter([1]), zip([]), object()]
keyed = {5: [5], None: [None], True: [True], (1, 2): [12], 1 << 90: []}


def outer():
    kept = ["in a cell"]

    def inner(default=[]):
        return kept, default

    return inner


def generate():
    local = ["held by a generator"]
    yield local


async def wait():
    awaited = ["held by a coroutine"]
    await asyncio.sleep(0)
    return awaited


marked = [Marked(), Marked(), MarkedDeck(), MarkedDeck([1]), Twice(), Sorted()]
closure = outer()
generator = generate()
next(generator)
coroutine = wait()
started, stop = threading.Event(), threading.Event()
in_thread = []


def work():
    kept = Deck(["held by another thread"])
    in_thread.append(kept)
    started.set()
    stop.wait()


thread = threading.Thread(target=work, daemon=True)
thread.start()
started.wait()

try:
    raise ValueError(["in an exception"])
except ValueError as error:
    caught = error

gc.collect()
gc.disable()
circle = Card(-1)
circle.itself = circle
garbage = id(circle)
del circle


def in_function():
    local = Card(-2)
    barrow.start(sys.argv[1])
    taken = barrow.snapshot("all")
    barrow.stop()
    return id(local), taken


local, taken = in_function()

# The module `barrow` changes after the snapshot: it keeps the time of it.
left_out = {id(globals()), id(vars(barrow)), id(gc.callbacks), id(threading._active)}
tracked = gc.get_objects()
everything = {id(value): value for value in tracked}
for value in tracked:
    if type(value) is not types.FrameType or sys.version_info < (3, 11):
        for part in gc.get_referents(value):
            everything.setdefault(id(part), part)
left_out |= {id(tracked), id(everything), id(left_out), id(sys._getframe())}
name_of = type.__dict__["__qualname__"].__get__
for address, value in everything.items():
    if address in left_out or type(value) is types.FrameType or value is tracked:
        continue
    parts = " ".join(str(id(part)) for part in gc.get_referents(value)) if gc.is_tracked(value) else "-"
    print("object", address, name_of(type(value)).replace(" ", "_"), sys.getsizeof(value), parts)


for kind in (Marked, Sorted, MarkedDeck, Twice):
    print("is", "__main__." + kind.__name__, *(id(one) for one in marked if isinstance(one, kind)))


def label(source, name, target):
    print("label", id(source), name, id(target))


label(cards[5], "text", cards[5].text) if sys.version_info >= (3, 11) else label(vars(cards[5]), "text", cards[5].text)
label(slotted[5], "left", cards[5])
label(index, "card 7", cards[7])
label(index, "sp\u00e4t", index["sp\u00e4t"])
label(cards, "7", cards[7])
label(pairs[3], "0", cards[3])
label(points[0], "1", points[0][1])
label(keyed, "5", keyed[5])
label(keyed, "None", keyed[None])
label(queues[1], "a", queues[1]["a"])
label(closure, "__closure__", closure.__closure__)
label(closure, "__code__", closure.__code__)
label(closure, "__defaults__", closure.__defaults__)
label(closure, "__globals__", globals())
label(closure.__closure__[0], "cell_contents", closure()[0])
label(generator if sys.version_info >= (3, 11) else generator.gi_frame, "local", generator.gi_frame.f_locals["local"])
label(Late, "__base__", Card)
label(Late, "__dict__", gc.get_referents(vars(Late))[0])
label(cards[0], "__class__", Card) if sys.version_info >= (3, 9) else None
label(others[1], "__dict__", vars(others[1]))
label(closure.__code__, "co_consts", closure.__code__.co_consts)


def holds(value, name, held):
    print("holds", id(value), name, held)


measured = sets + queues + pairs + points + texts + bytestrings + [cards, index, keyed, grown, lengthened, numbers]
for value in measured + [card.text for card in cards[:100]]:
    holds(value, "length", len(value))
list_basic, pointer = list.__basicsize__, tuple.__itemsize__
for value in (grown, numbers, texts):
    holds(value, "capacity", (list.__sizeof__(value) - list_basic) // pointer)
for value in sets:
    holds(value, "capacity", (type(value).__sizeof__(value) - set.__basicsize__) // (2 * pointer) or 8)
holds(lengthened, "capacity", lengthened.__alloc__())
for number in numbers:
    if type(number) in (int, float, bool, Number):
        is_held = type(number) in (float, bool) or -(1 << 63) <= number < 1 << 63
        holds(number, "value", repr(number).lower() if is_held else "?")
for text in texts:
    shown = text if len(text) <= 200 else "%s... (%d characters)" % (text[:200], len(text))
    print("says", id(text), ascii(shown.replace("\ud800", "\ufffd")))
for text in bytestrings[:5]:
    print("says", id(text), ascii(repr(text)))
print("says", id(bytestrings[-1]), ascii("b'%s... (300 bytes)" % ("\\x00" * 42)[:166]))
print("says", id(None), ascii("None"))

print("variable", "work", "kept", id(in_thread[0]))
print("variable", "in_function", "local", local)
for reference in weak:
    print("weak", id(reference), id(reference()))
print("garbage", garbage)
print("taken", taken)
