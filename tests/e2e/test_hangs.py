"""Jobs that hang, each named for what it is (decisions 081 and 082), read as a person's program reads them, from
`job show -o json`: ranks that talk over plain sockets, four jobs side by side. test_hangs_long has the eight with MPI
and torch, and what is no hang.
"""
import pytest
from harness import hangs
from harness.hangs import FOUND_S, end, events_of, find, found_of, judge_words, met, names, submit
from harness.site import wait_until


@pytest.fixture(scope="module")
def four(shared_bin):
    """Four nodes, so that four jobs run at once."""
    from conftest import _close, _site
    hangs.give_tools(shared_bin)
    made = _site(None, shared_bin)
    made.up(4)
    hangs.write_programs(made)
    yield made
    _close(made)


def test_four_hangs_are_named(four):
    """All at once: they mostly wait."""
    jobs = {how: submit(four, f"ring-{how}", "ring.py", how) for how in ("loop", "read", "lock", "stop")}
    for name in jobs.values():
        met(four, name)
    four.ok("job", "signal", jobs["stop"], "--rank", "1", "STOP")

    loop = find(four, jobs["loop"], "waits", "waits")
    assert names(loop) == [1] and loop["waiting"] == [0, 2], loop
    assert loop["ranks"][0]["doing"] == "computes" and loop["ranks"][0]["cpus"] > 0.2, loop

    read = find(four, jobs["read"], "waits", "waits")
    assert names(read) == [1] and read["waiting"] == [0, 2], read
    assert read["ranks"][0]["doing"] == "reads" and "never" in read["ranks"][0]["on"], read

    lock = find(four, jobs["lock"], "cycle", "hangs")
    assert names(lock) == [1] and lock["fact"] == "lock" and lock["waiting"] == [0, 2], lock

    stop = find(four, jobs["stop"], "stopped", "hangs")
    assert names(stop) == [1] and stop["waiting"] == [0, 2], stop
    for how, found in (("loop", loop), ("read", read), ("lock", lock), ("stop", stop)):
        judge_words(four, jobs[how], found)
    assert "job signal" in stop["remedy"] and "CONT" in stop["remedy"], stop

    # An alarm is over when the rank goes on; neither computing nor reading was one.
    four.ok("job", "signal", jobs["stop"], "--rank", "1", "CONT")
    wait_until(lambda: not any(one["verdict"] == "hangs" for one in found_of(four, jobs["stop"])), "it goes on", FOUND_S)
    for how in ("loop", "read"):
        assert all(one["verdict"] != "hangs" for one in found_of(four, jobs[how])), how
    events = {how: events_of(four, name) for how, name in jobs.items()}
    assert "Hang" in events["lock"] and "GoesOn" in events["stop"], events
    assert "Hang" not in events["loop"] + events["read"], events
    end(four, *jobs.values())
