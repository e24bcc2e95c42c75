"""First screens of ranks that hang, are stopped, are slow, claim one rank twice, or have other libraries than the rest.
Each waits for as long as such a thing takes to be sure: LOCKSTEP_HANGS_LONG."""
import os
import signal
import subprocess

import pytest
from harness.first_screen import Watched, judge, only_long, screen
from harness.site import wait_until

pytestmark = only_long

SHARE = ("--cpus", "1", "--memory", "1g", "--gpus", "0")
GANG = ("-N", "2", "-n", "2")
QUICK = ("--hang-after", "10s", "--retry", "0")
HEAD = """
import os, sys, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1)
dist.all_reduce(value)
rank = dist.get_rank()
"""


def start(site, program, *words, distribution="pytorch"):
    pytest.importorskip("torch" if distribution == "pytorch" else "mpi4py")
    site.up(2)
    site.write("train.py", program)
    return Watched(site, "run", "--name", "train", *SHARE, *GANG, *QUICK, "--distribution", distribution, *words, "--",
                   "python3", "train.py")


def test_a_rank_that_reads_what_nobody_writes(site):
    """Neutral: nobody knows whether it will come. The others wait, and it is said for whom."""
    program = HEAD + "if rank == 3: os.read(os.pipe()[0], 1)\ndist.all_reduce(value)\n"
    run = start(site, program).wait_for("rank 3")
    judge("rank-reads", screen(site, run.cancel()))


def test_ranks_that_skip_a_collective(site):
    """DDP's classic: one rank skips an all-reduce and meets the others' in the next one."""
    program = HEAD + "if rank != 1: dist.all_reduce(torch.ones(1))\ndist.barrier()\nif rank == 1: time.sleep(600)\n"
    run = start(site, program).wait_for("rank 1|wait for each other")
    judge("skipped-collective", screen(site, run.cancel()))


def test_a_dead_lock_in_python(site):
    program = HEAD + ("import threading\nlock = threading.Lock()\nif rank == 2:\n    lock.acquire()\n    lock.acquire()\n"
                      "dist.all_reduce(value)\n")
    run = start(site, program).wait_for("rank 2")
    judge("dead-lock", screen(site, run.cancel()))


def test_a_rank_that_never_reaches_the_rendezvous(site):
    program = "import os, time\nif os.environ['RANK'] == '3': time.sleep(600)\n" + HEAD
    run = start(site, program).wait_for("rank 3")
    judge("not-started", screen(site, run.cancel()))


def test_a_rank_that_is_stopped(site):
    program = HEAD + "while True:\n    dist.all_reduce(value)\n    time.sleep(0.1)\n"
    run = start(site, program, "--on-hang", "fail")
    stopped = wait_until(lambda: len(found := site.rank_pids("train")) == 4 and found, "all ranks run")[3]
    wait_until(lambda: site.show("train")["status"] == "Running", "the job runs")
    os.kill(stopped, signal.SIGSTOP)
    done = run.end(deadline_s=180)
    judge("rank-stopped", screen(site, done))


def test_a_rank_that_leaves_while_others_wait(site):
    """Of MPI: a rank that is done before a barrier that the others are in."""
    program = ("import sys, time\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\ncomm.Barrier()\n"
               "if comm.rank == 3:\n    MPI.Finalize()\n    sys.exit(0)\ncomm.recv(source=3)\n")
    run = start(site, program, distribution="mpi").wait_for("rank 3")
    judge("left-while-others-wait", screen(site, run.cancel()))


def test_two_processes_that_claim_one_rank(site):
    """Python's way to start workers imports the program again, and with it mpi4py."""
    program = ("import multiprocessing, time\nfrom mpi4py import MPI\n\ndef work():\n    time.sleep(60)\n\n"
               "if __name__ == '__main__':\n    comm = MPI.COMM_WORLD\n    comm.Barrier()\n"
               "    if comm.rank == 1:\n        multiprocessing.get_context('spawn').Process(target=work).start()\n"
               "    time.sleep(30)\n    comm.Barrier()\n")
    run = start(site, program, distribution="mpi").wait_for("claim")
    judge("two-claims", screen(site, run.cancel()))


def test_a_slow_rank(site):
    """Each rank computes between two collectives; one of them twice as long."""
    program = HEAD + ("def work(seconds):\n    end = time.thread_time() + seconds\n"
                      "    while time.thread_time() < end:\n        sum(range(1000))\n"
                      "while True:\n    work(0.3 if rank == 3 else 0.1)\n    dist.all_reduce(value)\n")
    run = start(site, program).wait_for("slower", deadline_s=240)
    judge("slow-rank", screen(site, run.cancel()))


def test_different_versions_of_a_library(site):
    """Two builds of what NCCL is called, each loaded by another rank."""
    for version in ("2.19.3", "2.20.5"):
        subprocess.run(["gcc", "-shared", "-o", site.work / f"libnccl.so.{version}", "-xc", "/dev/null"], check=True)
    program = ("import ctypes, os\nversion = '2.20.5' if os.environ['RANK'] == '3' else '2.19.3'\n"
               "ctypes.CDLL(os.path.abspath(f'libnccl.so.{version}'))\n" + HEAD + "time.sleep(120)\n")
    run = start(site, program).wait_for("different versions")
    judge("different-versions", screen(site, run.cancel()))
