"""Writes invoices, and leaks: for docs/guides/python.md."""

import functools
import gc
import random


class Invoice:
    def __init__(self, number):
        self.number = number
        self.lines = [(random.randrange(1, 10), random.randrange(100, 9900)) for _ in range(20)]

    @functools.lru_cache(maxsize=None)
    def total(self):
        return sum(count * cents for count, cents in self.lines)


class Ledger:
    def __init__(self):
        self.months = {}

    def book(self, invoice):
        month = invoice.number // 300
        self.months[month] = self.months.get(month, 0) + invoice.total()


random.seed(1)
ledger = Ledger()
for month in range(6):
    for number in range(300):
        ledger.book(Invoice(month * 300 + number))
    gc.collect()
