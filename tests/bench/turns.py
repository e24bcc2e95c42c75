"""Times two things in turns, so that both meet the same machine."""
import statistics
import time


def timed(action) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def medians(runs, turn):
    """`turn()` yields two actions, and undoes them when it goes on. Seconds of each; the first turn does not count."""
    times = ([], [])
    for number in range(runs + 1):
        steps = turn()
        took = [timed(next(steps)), timed(next(steps))]
        for _ in steps:
            pass
        if number > 0:
            times[0].append(took[0])
            times[1].append(took[1])
    return statistics.median(times[0]), statistics.median(times[1])
