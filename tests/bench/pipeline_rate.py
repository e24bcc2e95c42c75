#!/usr/bin/env python3
"""Steps of a pipeline beside plain jobs, and how fast an unchanged pipeline is reused.

Usage: tests/bench/pipeline_rate.py [--jobs N] [--depth N] [--turns N]     after a build
The nodes are drained until all jobs wait, so that submitting them is not measured. Prints seconds for N plain jobs, for one
pipeline of N steps side by side, their ratio; for a step of a chain, and from when its input was there until it had its
node (the launcher's part); and for a pipeline of 100 steps that is reused."""

import argparse
import json
import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from needs import OURS, need

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from harness.site import Site, wait_until  # noqa: E402

SMALL = "lockstep: {resources: {cpus: 1, memory: 10M}}"


def chain(steps):
    lines = ["type: pipeline", "jobs:"]
    for i in range(steps):
        reads = f"inputs: {{i: '${{{{parent.jobs.s{i - 1}.outputs.o}}}}'}}, " if i else ""
        lines.append(f"  s{i}: {{command: 'echo {i} > ${{{{outputs.o}}}}/x', {reads}outputs: {{o: }}, {SMALL}}}")
    return "\n".join(lines) + "\n"


def wide(steps):
    return "type: pipeline\njobs:\n" + "".join(f"  s{i}: {{command: 'true', {SMALL}}}\n" for i in range(steps))


def create(site, name, text):
    site.write("bench.yml", text)
    site.ok("job", "create", "-f", "bench.yml", "--name", name)


def over(site):
    counts = site.json("status")["jobs"]
    return all(count == 0 for status, count in counts.items() if status not in ("Completed", "Failed", "Canceled"))


def held(site, submit):
    """Seconds from when the nodes take work until all that `submit` submitted has ended."""
    for node in (n["name"] for n in site.json("node", "list")):
        site.ok("node", "drain", node)
    submit()
    began = time.perf_counter()
    for node in (n["name"] for n in site.json("node", "list")):
        site.ok("node", "resume", node)
    wait_until(lambda: over(site), "all have ended", 900)
    return time.perf_counter() - began


def until_completed(site, name):
    began = time.perf_counter()
    site.wait_for_status(name, "Completed", "Failed", deadline_s=900)
    return time.perf_counter() - began


def placed_after(site, name, steps):
    """Milliseconds from the outputs of each step of a chain until the next one has its node: a list, sorted."""
    def at(step, what):
        [time_of] = [event["time"] for event in site.json("job", "events", f"{name}_s{step}") if event["what"] == what]
        return datetime.fromisoformat(time_of.replace("Z", "+00:00")).timestamp()
    return sorted(1000 * (at(i + 1, "Placed") - at(i, "OutputsCollected")) for i in range(steps - 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--turns", type=int, default=3, help="of plain jobs and steps; the medians are printed")
    options = parser.parse_args()
    need(OURS)
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-") as name:
        site = Site(Path(name) / "site").up(2)
        try:
            site.write("plain.yml", f"command: 'true'\n{SMALL}\n")
            each = []
            for turn in range(options.turns):
                each.append((held(site, lambda: [site.ok("job", "create", "-f", "plain.yml") for _ in range(options.jobs)]),
                             held(site, lambda turn=turn: create(site, f"wide{turn}", wide(options.jobs)))))
            plain, steps = (statistics.median(times) for times in zip(*each))
            create(site, "deep", chain(options.depth))
            deep = until_completed(site, "deep") / options.depth
            placed = placed_after(site, "deep", options.depth)
            create(site, "first", chain(100))
            until_completed(site, "first")
            began = time.perf_counter()
            create(site, "again", chain(100))
            until_completed(site, "again")
            reused = time.perf_counter() - began
        finally:
            site.down()
    print(f"{options.jobs} plain jobs: {plain:.2f} s; a pipeline of as many steps: {steps:.2f} s; ratio {steps / plain:.2f}")
    print(f"a step of a chain of {options.depth}: {1000 * deep:.0f} ms; an unchanged pipeline of 100 steps: {reused:.2f} s")
    print(f"from a step's outputs until the next step has its node: median {statistics.median(placed):.0f} ms, "
          f"most {placed[-1]:.0f} ms")
    print(json.dumps({"plain_s": plain, "steps_s": steps, "ratio": steps / plain, "chain_step_s": deep, "reused_s": reused,
                      "placed_median_ms": statistics.median(placed), "placed_most_ms": placed[-1]}))


if __name__ == "__main__":
    main()
