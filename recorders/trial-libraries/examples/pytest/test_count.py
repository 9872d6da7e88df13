"""A pytest-benchmark test whose rounds have memory layouts of their own under `barrow trial`."""

import barrow_trial


def count(data):
    return data.count(b"y")


def test_count(benchmark):
    iterations = []

    def setup():
        # One iteration for each round: the round before has ended.
        if iterations:
            iterations[-1].end()
        iterations.append(barrow_trial.iteration().begin())
        data = bytearray(b"x" * 50_000)
        iterations[-1].note_address("data", data)
        return (data,), {}

    result = benchmark.pedantic(count, setup=setup, rounds=60, iterations=1)
    assert result == 0
    iterations[-1].end()
    # With --benchmark-disable, there are no times.
    if benchmark.stats:
        for iteration, seconds in zip(iterations, benchmark.stats.stats.data):
            iteration.report("count", seconds * 1e9, unit="ns", better="lower")
