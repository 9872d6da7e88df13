#!/usr/bin/env python3
"""Prints the table of statistics/src/dip/table.rs: quantiles of the dip of uniform values, times the root of their number.

Uses the same environment as make.py; takes about a minute.
"""

import diptest
import numpy as np

SIZES = [4, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1000, 5000]
CHANCES = [0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]

random = np.random.default_rng(1985)
for size in SIZES:
    trials = 100_000 if size <= 500 else 20_000
    dips = [diptest.dipstat(np.sort(random.random(size)), sort_x=False) for _ in range(trials)]
    quantiles = np.quantile(np.array(dips) * np.sqrt(size), [1 - chance for chance in CHANCES])
    print(f"    ({size}, [{', '.join(f'{quantile:.4f}' for quantile in quantiles)}]),")
