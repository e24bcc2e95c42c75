"""First screens of ranks that hang, are stopped, are slow, leave early, claim one rank twice, or have other libraries than
the rest. Each waits for as long as such a thing takes to be sure: LOCKSTEP_HANGS_LONG. Lines of Python need py-spy."""
import os
import re
import signal
import subprocess

import pytest
from harness import hangs
from harness.first_screen import Watched, judge, only_long, screen

pytestmark = [only_long, pytest.mark.skipif(not hangs.HAS_PY_SPY, reason="py-spy could not be fetched")]

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
SOON_S = 180  # two looks, stacks, and a busy machine
OF_A_RANK = re.compile(r"(out|err)\| \S+:\d+ +\| ")


@pytest.fixture
def pair(site, shared_bin):
    """Two nodes, with py-spy."""
    hangs.give_tools(shared_bin)
    return site.up(2)


def start(site, program, *words, gang=GANG, distribution="pytorch"):
    pytest.importorskip("torch" if distribution == "pytorch" else "mpi4py")
    compile(program, "train.py", "exec")  # a slip is seen at once
    site.write("train.py", program)
    return Watched(site, "run", "--name", "train", *SHARE, *gang, *QUICK, "--distribution", distribution, *words, "--",
                   "python3", "train.py")


def judge_from(name, text, pattern, *says):
    """The screen from the line on that says so: what was told before depends on when ranks were looked at. Without the
    ranks' own last words, when they are ended in any order."""
    lines = [line for line in text.splitlines() if not OF_A_RANK.match(line)]
    first = next((number for number, line in enumerate(lines) if re.search(pattern, line)), None)
    assert first is not None, f"'{pattern}' is not said:\n{text}"
    judge(name, "\n".join(lines[:1] + lines[first:]) + "\n", *says)


def judge_found(name, site, run, pattern, *says, deadline_s=SOON_S):
    run.wait_for(pattern, deadline_s)
    judge_from(name, screen(site, run.cancel()), pattern, *says)


def test_a_rank_that_reads_what_nobody_writes(pair):
    """Neutral: nobody knows whether it will come. The others wait, and it is said for whom."""
    run = start(pair, HEAD + "if rank == 3: os.read(os.pipe()[0], 1)\ndist.all_reduce(value)\n")
    judge_found("rank-reads", pair, run, "for rank 3 on local-1, which reads", "ranks 0–2 have waited", r"train\.py:7",
                "`lockstep job stacks train --rank 3`")


def test_ranks_that_skip_a_collective(pair):
    """DDP's classic: one rank skips an all-reduce and meets the others' in the next one."""
    run = start(pair, HEAD + "if rank != 1: dist.all_reduce(torch.ones(1))\ndist.barrier()\n")
    judge_found("skipped-collective", pair, run, "hang: ranks 0–3 wait for each other", r"rank 1 on local-0", r"train\.py:8",
                "`lockstep job stacks train`")


def test_a_dead_lock_in_python(pair):
    run = start(pair, HEAD + ("import threading\nlock = threading.Lock()\nif rank == 2:\n    lock.acquire()\n    lock.acquire()\n"
                              "dist.all_reduce(value)\n"))
    judge_found("dead-lock", pair, run, "hang: rank 2 on local-1 has waited", "for a lock", r"train\.py:11")


def test_a_rank_that_never_reaches_the_rendezvous(pair):
    run = start(pair, "import os, time\nif os.environ['RANK'] == '3': time.sleep(600)\n" + HEAD)
    judge_found("not-started", pair, run, "rank 3 on local-1 has not reached", "nanosleep|sleeps", "`lockstep job stacks train --rank 3`")


def test_a_rank_that_is_stopped(pair):
    run = start(pair, HEAD + "print('met', flush=True)\nwhile True:\n    dist.all_reduce(value)\n    time.sleep(0.1)\n",
                "--on-hang", "fail")
    run.wait_until(lambda: run.said["out"].count(b"met") == 4, "all have met")
    os.kill(pair.rank_pids("train")[3], signal.SIGSTOP)
    done = run.end(SOON_S)
    assert done.returncode == 124, done
    judge_from("rank-stopped", screen(pair, done), "hang: rank 3 on local-1 has been stopped", r"SIGSTOP, Ctrl-Z or a debugger\); ranks 0–2 wait for it",
               "`lockstep job signal train --rank 3 CONT`", "job train Failed")


def test_a_rank_that_leaves_while_others_wait(pair):
    """Those who have met it would fail; those who wait for it at the rendezvous do not."""
    run = start(pair, "import os, sys\nif os.environ['RANK'] == '3': sys.exit(0)\n" + HEAD)
    judge_found("left-while-others-wait", pair, run, "rank 3 on local-1 exited with code 0", "while ranks 0–2 wait for it",
                "`lockstep job logs train --rank 3`")


def test_two_processes_that_claim_one_rank(pair):
    """Python's way to start workers imports the program again, and with it mpi4py."""
    program = ("import multiprocessing, time\nfrom mpi4py import MPI\n\ndef work():\n    time.sleep(60)\n\n"
               "if __name__ == '__main__':\n    comm = MPI.COMM_WORLD\n    comm.Barrier()\n"
               "    if comm.rank == 1:\n        multiprocessing.get_context('spawn').Process(target=work).start()\n"
               "    time.sleep(300)\n")
    run = start(pair, program, distribution="mpi")
    judge_found("two-claims", pair, run, "two processes claim rank 1 on local-0", "has called MPI_Init again", "__main__")


def test_a_slow_rank(pair):
    """Each rank computes between two collectives; one of them three times as long. What differs is said where it is seen;
    a rank with more to do than the others has no such reason."""
    run = start(pair, HEAD + ("def work(seconds):\n    end = time.thread_time() + seconds\n"
                              "    while time.thread_time() < end:\n        sum(range(1000))\n"
                              "while True:\n    work(0.3 if rank == 1 else 0.1)\n    dist.all_reduce(value)\n"), gang=("-N", "2"))
    run.wait_for("rank 1 on local-1 is slower than the others", 300)
    text = re.sub(r"; (other load|cpu quota|disk wait) N %", "", screen(pair, run.cancel()))
    judge_from("slow-rank", text, "rank 1 on local-1 is slower", "N times the median", "`lockstep node show local-1`")


def test_different_versions_of_a_library(pair):
    """Two builds of what NCCL is called, each loaded by another rank."""
    for version in ("2.19.3", "2.20.5"):
        subprocess.run(["gcc", "-shared", "-o", pair.work / f"libnccl.so.{version}", "-xc", "/dev/null"], check=True)
    run = start(pair, "import ctypes, os\nversion = '2.20.5' if os.environ['RANK'] == '3' else '2.19.3'\n"
                "ctypes.CDLL(os.path.abspath(f'libnccl.so.{version}'))\n" + HEAD + "time.sleep(300)\n")
    judge_found("different-versions", pair, run, "the ranks use different versions",
                r"rank 3 on local-1 has NCCL 2\.20\.5 \(the others 2\.19\.3\)", "--requirements")


def test_a_rank_that_others_wait_for_is_no_alarm(pair):
    """An evaluation on one rank, or an endless loop: until it ends nobody can tell. Then they go on, and that is said."""
    run = start(pair, HEAD + ("end = time.monotonic() + 60\nwhile rank == 3 and time.monotonic() < end:\n    sum(range(1000))\n"
                              "for _ in range(300):\n    dist.all_reduce(value)\n    time.sleep(0.1)\n"), "--on-hang", "fail")
    done = run.end(SOON_S)
    assert done.returncode == 0 and b"hang:" not in done.stderr, done.stderr.decode()
    # On a busy machine, "is slower" comes beside it.
    text = "".join(line + "\n" for line in screen(pair, done).splitlines()
                   if "is slower" not in line and "what else uses the node" not in line)
    judge_from("others-wait", text, "for rank 3 on local-1, which computes", "ranks 0–2 have waited",
               "nothing is done about it", "no longer wait for rank 3")
