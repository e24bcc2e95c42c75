"""First screens of programs that do not work: killed from outside, a requirement that is none, a build that fails,
results where nobody looks for them, a rank that leaves early."""
import os

import pytest
from harness.first_screen import finished, judge, only_long, screen
from harness.site import wait_until

SHARE = ("--cpus", "1", "--memory", "512m", "--gpus", "0")


def test_a_rank_that_was_killed_from_outside(site):
    site.up(1)
    run = site.start("run", "--name", "train", *SHARE, "-n", "2", "--retry", "0", "--", "sleep", "1000")
    ranks = wait_until(lambda: len(found := site.rank_pids("train")) == 2 and found, "both ranks run")
    site.wait_for_status("train", "Running")
    os.kill(ranks[1], 9)
    judge("killed-from-outside", screen(site, finished(run)), "rank 1 on local-0 .* was killed by SIGKILL", "not sent by Lockstep")


def test_a_requirement_that_is_none(site):
    site.write("needs.txt", "numpy\ntorch=2.1\n")
    judge("requirement-wrong", screen(site, site.run("run", "--name", "train", *SHARE, "--requirements", "needs.txt",
                                                     "--", "python3", "train.py")), r"needs\.txt:2", "==")


def test_a_requirement_that_no_version_meets(site):
    """From a folder, so that no index is asked."""
    site.write("wheels/README", "no wheel is here\n")
    site.write("needs.txt", f"--no-index\n--find-links {site.work}/wheels\nlockstep-nothing==9.9\n")
    done = site.run("run", "--name", "train", *SHARE, "--retry", "0", "--requirements", "needs.txt", "--", "true")
    lines = [line for line in screen(site, done).splitlines() if "lockstep-nothing" in line or "exit code" in line]
    assert done.returncode != 0, done.stderr.decode()
    judge("requirement-not-found", "\n".join(lines) + "\n", "lockstep-nothing==9.9", "correct the name or version")


def test_a_program_whose_build_fails(site):
    site.write("train.c", "#include <stdio.h>\nint main(void) {\n  printf(\"%d\\n\", steps);\n  return 0;\n}\n")
    script = "set -e; gcc -O2 -o train train.c; ./train"
    judge("build-fails", screen(site, site.run("run", "--name", "train", *SHARE, "--", "sh", "-c", script)),
          r"train\.c:3:\d+: error", "first failure: rank 0", "`?lockstep job logs train")


def test_results_outside_of_outputs(site):
    script = "mkdir -p results && echo 0.93 > results/accuracy.txt && echo done"
    judge("results-outside", screen(site, site.run("run", "--name", "train", *SHARE, "--", "sh", "-c", script)),
          "exit code 0", "results", "write to outputs/")


EARLY = """
import sys, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1)
dist.all_reduce(value)
if dist.get_rank() == 3:
    sys.exit(0)
dist.all_reduce(value)
"""


@only_long
def test_a_rank_that_leaves_early_with_code_0(site):
    """The others fail then, all at once: which of them is named first is the network's choice. Each names who left."""
    pytest.importorskip("torch")
    site.up(2)
    site.write("train.py", EARLY)
    done = site.run("run", "--name", "train", *SHARE, "-N", "2", "-n", "2", "--distribution", "pytorch", "--retry", "0",
                    "--", "python3", "train.py", timeout=300)
    lines = [line for line in screen(site, done).splitlines() if line.startswith(("exit", "err| job")) or "rank 3" in line]
    text = "\n".join(lines) + "\n"
    for rank in ("rank 0", "rank 1", "rank 2"):
        text = text.replace(rank, "rank R")
    judge("early-exit", text, "job train Failed", "rank 3 (on local-1 )?had exited with code 0", "`lockstep job logs train --rank 3`")
