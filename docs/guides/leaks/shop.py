"""A shop with a leak, for docs/guides/leaks.md: writes its heap after each hour of business.

    python3 shop.py            shop-1.pyheap to shop-8.pyheap
    python3 shop.py fixed      fixed-1.pyheap to fixed-8.pyheap, without the leak
"""

import random
import sys

import dump_heap

FIXED = "fixed" in sys.argv


class Session:
    def __init__(self, user):
        self.user = user
        self.basket = [random.random() for _ in range(50)]

    def on_price(self, product, price):
        self.basket[product % 50] = price


class Prices:
    def __init__(self):
        self.listeners = []


class Shop:
    def __init__(self):
        self.prices = Prices()
        self.sessions = {}
        self.pages = {}

    def login(self, user):
        session = self.sessions[user] = Session(user)
        self.prices.listeners.append(session.on_price)

    def logout(self, user):
        session = self.sessions.pop(user)
        if FIXED:
            self.prices.listeners.remove(session.on_price)

    def page(self, number):
        """A cache: it grows in the beginning, and then no more."""
        return self.pages.setdefault(number, "page %d" % number * 20)


random.seed(1)
shop, users = Shop(), 0
for hour in range(1, 9):
    for _ in range(100):
        shop.login(users)
        users += 1
        for _ in range(20):
            shop.page(random.randrange(1000))
    # Some stay longer than others.
    for user in list(shop.sessions)[: -random.randrange(20, 40)]:
        shop.logout(user)
    dump_heap.dump("%s-%d.pyheap" % ("fixed" if FIXED else "shop", hour))
