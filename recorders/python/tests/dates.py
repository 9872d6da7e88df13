"""Objects with dates and numbers; prints questions about them, each with Python's own answer.

    python dates.py RECORDING
"""

import datetime
import operator
import random
import sys

import barrow

UTC = datetime.timezone.utc
OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Stamp(datetime.datetime):
    """Has no more than its base."""


class Count(int):
    """A number of a class of the program."""


class Case:
    __slots__ = ("day", "local", "known", "count")

    def __init__(self, number):
        start = datetime.datetime(2020, 2, 1) + datetime.timedelta(hours=random.randrange(20 * 24))
        start += datetime.timedelta(microseconds=random.choice([0, 0, 1, 999_999]))
        self.day = None if number % 10 == 0 else datetime.date.max if number % 11 == 0 else start.date()
        self.local = Stamp(*start.timetuple()[:6], start.microsecond) if number % 3 else start
        zone = datetime.timezone(datetime.timedelta(hours=1)) if number % 5 == 0 else UTC
        self.known = start.replace(tzinfo=zone)
        self.count = Count(random.randrange(-10, 10)) if number % 2 else random.randrange(-10, 10)


def count(test, holds):
    print("count", test, sum(1 for case in cases if holds(case)), sep="\t")


random.seed(5)
cases = [Case(number) for number in range(400)]
tenth, noon = datetime.date(2020, 2, 10), datetime.datetime(2020, 2, 10, 12)
for name, compare in OPERATORS.items():
    count(f".day {name} 2020-02-10", lambda case: case.day is not None and compare(case.day, tenth))
    count(f".local {name} 2020-02-10", lambda case: compare(case.local.date(), tenth))
    count(f".local {name} 2020-02-10T12:00", lambda case: compare(case.local, noon))
    for typed in "2020-02-10T12:00", "2020-02-10T12:00Z", "2020-02-10T14:00+02:00":
        count(
            f".known {name} {typed}",
            lambda case: case.known.tzinfo is UTC and compare(case.known, noon.replace(tzinfo=UTC)),
        )
    count(f".count {name} 3", lambda case: compare(case.count, 3))
count(".local > 2020-02-10T12:00Z", lambda case: False)
count(".day in 2020-02-05..2020-02-10", lambda case: case.day and datetime.date(2020, 2, 5) <= case.day <= tenth)
print("sum", ".count", sum(case.count for case in cases), sep="\t")
for day in sorted({case.day for case in cases if case.day}):
    print("group", day, sum(1 for case in cases if case.day == day), sep="\t")
barrow.start(sys.argv[1])
barrow.snapshot()
barrow.stop()
