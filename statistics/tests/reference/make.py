#!/usr/bin/env python3
"""Writes reference.json: inputs and what SciPy, NumPy and diptest compute from them.

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6 scipy==1.17.1 diptest==0.12.0
    venv/bin/python statistics/tests/reference/make.py

The same versions write the same file. Hodges and Lehmann's estimate and epsilon squared are computed from their
definitions, because SciPy has neither.
"""

import json
import pathlib

import diptest
import numpy as np
from scipy import special, stats

random = np.random.default_rng(20261124)


def numbers(values):
    return [float(value) for value in values]


def samples():
    """Pairs of samples: small and large, with ties and without, of equal and of different sizes."""
    shapes = [
        lambda n: random.normal(100, 5, n),
        lambda n: random.lognormal(1, 0.8, n),
        lambda n: np.round(random.normal(20, 3, n)),
        lambda n: random.standard_t(2, n),
    ]
    sizes = [(3, 4), (6, 6), (12, 9), (20, 20), (21, 30), (60, 45), (200, 150)]
    for shape in shapes:
        for m, n in sizes:
            a, b = shape(m), shape(n)
            yield numbers(a), numbers(b + random.choice([0.0, 1.0, -2.0]))


def half_width(a, b, shift):
    """Half of the interval of the share of differences above the shift, by the variance of Brunner and Munzel there."""
    moved, b = np.add(a, shift), np.asarray(b)
    share = lambda values, among: np.array([((among < v).mean() + (among <= v).mean()) / 2 for v in values])
    parts = [share(moved, b).var(ddof=1) / len(a), share(b, moved).var(ddof=1) / len(b)]
    variance = sum(parts)
    lower = min(len(a), len(b)) - 1
    freedom = variance**2 / (parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1)) if variance else lower
    half = stats.t.ppf(0.975, freedom) * np.sqrt(variance)
    return half / np.sqrt(1 + 7 * freedom / (freedom + 16) * half * half)


def two_samples():
    rows = []
    for a, b in samples():
        has_ties = len(set(a + b)) < len(a) + len(b)
        method = "exact" if not has_ties and max(len(a), len(b)) <= 20 else "asymptotic"
        # Of the second sample: whether its values are larger, or smaller.
        test = {
            side: float(stats.mannwhitneyu(b, a, alternative=side, method=method, use_continuity=True).pvalue)
            for side in ("greater", "less")
        }
        differences = np.sort(np.subtract.outer(b, a).ravel())
        shift = float(np.median(differences))
        half = half_width(a, b, shift)
        outside = int(max(0.5 - half, 0) * len(differences))
        munzel = {
            side: float(stats.brunnermunzel(b, a, alternative=side).pvalue) for side in ("greater", "less")
        }
        if np.isnan(munzel["greater"]):
            # Samples that are apart have no variance.
            munzel = {"greater": float(min(b) < min(a)), "less": float(min(b) > min(a))}
        rows.append({
            "a": a, "b": b, "method": method, "larger": test["greater"], "smaller": test["less"], "shift": shift,
            "shift_low": min(float(differences[outside]), shift),
            "shift_high": max(float(differences[-1 - outside]), shift),
            "munzel_larger": munzel["greater"], "munzel_smaller": munzel["less"],
            "welch_larger": float(stats.ttest_ind(b, a, equal_var=False, alternative="greater").pvalue),
            "smirnov": float(stats.ks_2samp(a, b, method="asymp").pvalue),
        })
    return rows


def kruskal():
    rows = []
    for count, size, effect, digits in [(2, 3, 0, 9), (5, 6, 1, 9), (10, 6, 3, 0), (20, 15, 0.5, 1), (4, 30, 0, 0)]:
        groups = [numbers(np.round(random.normal(50 + effect * random.normal(), 2, size), digits)) for _ in range(count)]
        rows.append({"groups": groups, "p_value": float(stats.kruskal(*groups).pvalue)})
    return rows


def fisher():
    rows = []
    for totals in [(6, 6), (10, 7), (60, 60), (60, 20), (300, 200)]:
        for _ in range(4):
            hits = [int(random.integers(0, total + 1)) for total in totals]
            table = [hits, [totals[0] - hits[0], totals[1] - hits[1]]]
            rows.append({"hits": hits, "totals": list(totals), "p_value": float(stats.fisher_exact(table).pvalue)})
    return rows


def quantiles():
    rows = []
    for values in [random.normal(100, 5, 7), random.lognormal(1, 1, 60), random.normal(0, 1, 1000), np.arange(12) ** 2]:
        shares = [0.05, 0.25, 0.5, 0.75, 0.99]
        rows.append({"values": numbers(np.sort(values)), "shares": shares, "quantiles": numbers(np.quantile(values, shares))})
    return rows


def tails():
    return {
        "normal": [[z, float(stats.norm.sf(z))] for z in [-9.0, -3.0, -0.5, 0.0, 0.7, 1.96, 4.0, 8.0, 20.0]],
        "chi_squared": [[x, k, float(stats.chi2.sf(x, k))] for x in [0.1, 3.0, 20.0, 150.0] for k in [1, 5, 59]],
        "beta": [[x, a, b, float(special.betainc(a, b, x))] for x in [0.01, 0.3, 0.5, 0.9] for a, b in [(0.5, 3), (15.25, 45.75), (500, 501)]],
        "at_most_half": [[k, n, float(stats.binom.cdf(k, n, 0.5))] for k, n in [(0, 6), (5, 20), (10, 20), (21, 60), (4850, 10000)]],
        "ln_choose": [[n, k, float(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))] for n, k in [(10, 3), (60, 30), (5000, 17)]],
        "wilson": [[hits, n, *map(float, stats.binomtest(hits, n).proportion_ci(method="wilson"))] for hits, n in [(0, 10), (12, 60), (59, 60), (400, 1000)]],
    }


def epsilon_squared():
    """Kelley (1935) on ranks: (SS_between - (k - 1) MS_within) / SS_total."""
    rows = []
    for count, classes, effect in [(20, 2, 0), (40, 4, 1), (60, 8, 3), (100, 3, 0.3)]:
        knob = random.integers(0, classes, count)
        values = np.round(random.normal(knob * effect, 1, count), 1)
        ranks = stats.rankdata(values)
        total = float(((ranks - ranks.mean()) ** 2).sum())
        parts = [ranks[knob == one] for one in sorted(set(knob))]
        within = float(sum(((part - part.mean()) ** 2).sum() for part in parts))
        share = (total - within - (len(parts) - 1) * within / (count - len(parts))) / total
        rows.append({"values": numbers(values), "knob": [int(one) for one in knob], "share": max(share, 0.0)})
    return rows


def bootstrap():
    """Groups of equal size in one mode: the percentile interval of the median of all values, by drawing whole groups."""
    rows = []
    for groups, size in [(20, 5), (40, 3)]:
        values = np.array([random.normal(100 + 2 * random.normal(), 1, size) for _ in range(groups)])
        medians = np.array([np.median(values[random.integers(0, groups, groups)]) for _ in range(20000)])
        low, high = np.percentile(medians, [2.5, 97.5])
        rows.append({"groups": [numbers(group) for group in values], "low": float(low), "high": float(high), "error": float(medians.std())})
    return rows


def dips():
    rows = []
    shapes = [
        lambda n: random.normal(0, 1, n),
        lambda n: random.uniform(0, 1, n),
        lambda n: random.exponential(1, n),
        lambda n: np.concatenate([random.normal(0, 1, n // 2), random.normal(6, 1, n - n // 2)]),
        lambda n: np.concatenate([random.normal(0, 1, n - n // 5), random.normal(8, 1, n // 5)]),
        lambda n: np.round(random.normal(0, 2, n)),
    ]
    for shape in shapes:
        for n in [4, 7, 12, 20, 60, 300]:
            values = np.sort(shape(n))
            dip, p_value = diptest.diptest(values)
            rows.append({"values": numbers(values), "dip": float(dip), "p_value": float(p_value)})
    return rows


def main():
    made = {
        "two_samples": two_samples(), "kruskal": kruskal(), "fisher": fisher(), "quantiles": quantiles(),
        "tails": tails(), "epsilon_squared": epsilon_squared(), "bootstrap": bootstrap(), "dips": dips(),
    }
    path = pathlib.Path(__file__).with_name("reference.json")
    lines = [f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in made.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
