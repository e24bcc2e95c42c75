"""Hangs of MPI and torch, each named for what it is; a node that is lost; what lockstep.on_hang does; and jobs that only
take their time, which are no alarm. See test_hangs.

LOCKSTEP_HANGS_LONG=1 (scripts/check); with LOCKSTEP_HANGS_LONG=real the last ones take as long as in the world.
"""
import os
import pathlib
import subprocess
import tempfile
import time

import pytest
from harness import hangs
from harness.hangs import FOUND_S, end, events_of, find, found_of, judge_words, met, names, stack_of, submit
from harness.namespaces import Cluster
from harness.site import BUILD, ROOT

LONG = os.environ.get("LOCKSTEP_HANGS_LONG", "")
pytestmark = pytest.mark.skipif(not LONG, reason="takes minutes: LOCKSTEP_HANGS_LONG=1")


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


# ---- the eight ---------------------------------------------------------------------------------

def test_an_endless_loop(four):
    name = submit(four, "mpi-loop", "mpi.py", "loop", nodes=2, ranks=2, kind="mpi")
    met(four, name)
    found = find(four, name, "waits", "waits")
    assert names(found) == [1] and found["waiting"] == [0, 2, 3] and found["ranks"][0]["doing"] == "computes", found
    assert stack_of(found) is None or "mpi.py:" in stack_of(found), found
    judge_words(four, name, found)
    end(four, name)


def test_a_read(four):
    name = submit(four, "mpi-read", "mpi.py", "read", nodes=2, ranks=2, kind="mpi")
    met(four, name)
    found = find(four, name, "waits", "waits")
    assert names(found) == [1] and found["waiting"] == [0, 2, 3], found
    assert found["ranks"][0]["doing"] == "reads" and "never" in found["ranks"][0]["on"], found
    judge_words(four, name, found)
    end(four, name)


def test_a_stopped_rank(four):
    name = submit(four, "mpi-stop", "mpi.py", "stop", nodes=2, ranks=2, kind="mpi")
    met(four, name)
    found = find(four, name, "stopped", "hangs")
    assert names(found) == [1] and found["waiting"] == [0, 2, 3], found
    judge_words(four, name, found)
    four.ok("job", "signal", name, "--rank", "1", "CONT")
    assert four.wait_for_status(name, "Completed")


def test_one_that_never_calls_mpi_init(four):
    """Told after 30 s whatever lockstep.hang_after is."""
    name = submit(four, "mpi-no-init", "mpi.py", "no-init", nodes=2, ranks=2, kind="mpi", after="10m")
    found = find(four, name, "not_started", "notice")
    assert names(found) == [1] and "MPI_Init" in found["text"] and found["seconds"] >= 30, found
    judge_words(four, name, found)
    end(four, name)


def test_one_that_skips_a_barrier(four):
    """It waits in MPI_Finalize, the others in the barrier: nobody can go on."""
    name = submit(four, "mpi-skip", "mpi.py", "skip", nodes=2, ranks=2, kind="mpi")
    met(four, name)
    found = find(four, name, ("cycle", "missed_fence"), "hangs")
    assert names(found)[0] == 1, found
    judge_words(four, name, found)
    end(four, name)


def test_a_deadlock_of_python(four):
    name = submit(four, "mpi-lock", "mpi.py", "lock", nodes=2, ranks=2, kind="mpi")
    met(four, name)
    found = find(four, name, "cycle", "hangs")
    assert names(found) == [1] and found["fact"] == "lock", found
    assert stack_of(found) is None or "mpi.py:" in stack_of(found), found
    judge_words(four, name, found)
    end(four, name)


def test_a_ddp_rank_that_skips_an_all_reduce(four):
    name = submit(four, "ddp-skip", "ddp.py", nodes=2, ranks=2, kind="pytorch")
    met(four, name)
    found = find(four, name, "cycle", "hangs")
    assert names(found)[0] == 1, found
    assert stack_of(found) is None or "ddp.py:" in stack_of(found), found
    judge_words(four, name, found)
    end(four, name)


@pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")
def test_a_lost_node_under_tcp(shared_bin):
    """The launcher would give it up much later: the ranks that wait for it are heard before."""
    hangs.give_tools(shared_bin)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
    directory.chmod(0o755)
    cluster = Cluster(directory, shared_bin, launcher_flags=("--node-lost-timeout", "600s"))
    try:
        site = cluster.create().site
        hangs.write_programs(site)
        name = submit(site, "lost", "tcp.py", nodes=3, ranks=1, kind="mpi")
        met(site, name)
        time.sleep(15)  # each runner has looked at its ranks, and told of them
        cluster.nodes[2].link("down")
        found = find(site, name, "peer_gone", "hangs")
        assert names(found) == [2] and found["ranks"][0]["node_name"] == "n3", found
        assert "cannot be reached" in found["text"] and "lockstep node show n3" in found["remedy"], found
        cluster.nodes[2].link("up")
        end(site, name)
    finally:
        cluster.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


COUNTED = """
import json, os, socket, sys, time
import ras
rank = int(os.environ["LOCKSTEP_RANK"])
MEET
def ranks():
    return [json.load(open(f"pid-{one}")) for one in range(3)]
with open(f"pid-{rank}.part", "w") as mine:
    json.dump({"rank": rank, "host": "127.0.0.1", "pid": os.getpid(), "counts": {"AllReduce": 4 if rank == 1 else 5}}, mine)
os.rename(f"pid-{rank}.part", f"pid-{rank}")
while not all(os.path.exists(f"pid-{one}") for one in range(3)):
    time.sleep(0.05)
if rank == 0:
    print("ras at", os.environ.get("NCCL_RAS_ADDR"), flush=True)
    ras.serve(os.environ["NCCL_RAS_ADDR"], ranks)
peers = meet()
if rank == 1:
    print("all met", flush=True)
    peers[0].recv(1)
else:
    peers.recv(1)
"""


def test_unequal_counts_of_nccl(site, shared_bin):
    """By a stand-in of its RAS, on stand-ins of GPUs; scripts/gpu-check has the real ones."""
    hangs.give_tools(shared_bin)
    site.ok("up", "--nodes", "1", env={"LOCKSTEP_NVML_LIBRARY": str(BUILD / "tests" / "fakes" / "nvml" / "libfake_nvml.so")})
    site.write("counted.py", COUNTED.replace("\nMEET\n", hangs.MEET))
    site.write("ras.py", (ROOT / "tests" / "fakes" / "ras" / "ras.py").read_text())
    name = submit(site, "counted", "counted.py", kind="pytorch", flags=["--gpus", "3"])
    met(site, name)
    found = find(site, name, "unequal_counts", "hangs")
    assert names(found) == [1] and (found["here"], found["elsewhere"], found["fact"]) == (4, 5, "AllReduce"), found
    judge_words(site, name, found)
    end(site, name)


# ---- what a hang does --------------------------------------------------------------------------

@pytest.mark.parametrize("what", ["report", "stacks", "fail", "retry"])
def test_on_hang(four, what):
    flags = ["--on-hang", what] + (["--retry", "1"] if what == "retry" else [])
    name = submit(four, f"on-{what}", "ring.py", "lock", flags=flags)
    met(four, name)
    if what in ("report", "stacks"):
        find(four, name, "cycle", "hangs")
        assert four.show(name)["status"] == "Running"
        end(four, name)
        return
    job = four.wait_for_status(name, "Failed", deadline_s=2 * FOUND_S)
    report = job["attempts"][0]["report"]
    assert report["cause"] == "hang" and report["hang"] == "cycle" and report["exit_code"] == 124, report
    assert len(job["attempts"]) == (2 if what == "retry" else 1), job


def test_diagnose_says_the_same_on_demand(four):
    name = submit(four, "asked", "ring.py", "read", after="off")
    met(four, name)
    time.sleep(15)
    assert not found_of(four, name), "off: nobody looks"
    told = four.json("job", "diagnose", name)
    assert "ring.py" in str(told) and told["job"] == name, told
    assert "rank 1" in four.ok("job", "diagnose", name)
    end(four, name)


# ---- no alarm ----------------------------------------------------------------------------------

SECONDS = {"compile": 600, "load": 300, "evaluate": 300, "sleep": 300}
FREED = {"alarm": 75, "serve": 75, "helper": 75}


@pytest.mark.parametrize("hows", [SECONDS, FREED], ids=["work", "locks"])
def test_what_only_takes_its_time_is_no_alarm(four, hows):
    seconds = hows if LONG == "real" else dict.fromkeys(hows, 75)
    jobs = {how: submit(four, f"slow-{how}", "slow.py", how, str(seconds[how])) for how in hows}
    end_at = time.monotonic() + max(seconds.values()) + 2 * FOUND_S
    running = set(jobs)
    while running and time.monotonic() < end_at:
        for how in sorted(running):
            job = four.show(jobs[how])
            for found in job["attempts"][-1]["found"] if job["attempts"] else []:
                assert found["verdict"] != "hangs", (how, found)
            if job["status"] in ("Completed", "Failed"):
                assert job["status"] == "Completed", job
                running.discard(how)
        time.sleep(1)
    assert not running
    for how, name in jobs.items():
        events = events_of(four, name)
        assert "Hang" not in events, (how, events)
