"""Numbers that ranks print, from a job file's patterns to `lockstep job metrics`; over kills of launcher and agent."""
import signal

import pytest
from harness.site import wait_until

JOB = r"""
command: |
  for i in 0 1 2 3 4; do
    echo "epoch $i: loss=0.$((9 - i))"
    sleep {pause}
  done
  printf 'loss=nan'
lockstep:
  metrics:
    loss: 'loss=(?P<value>\S+)'
resources: {{instance_count: 1}}
"""


def job(site, name, pause="0"):
    site.write("job.yml", JOB.format(pause=pause))
    return site.ok("job", "create", "-f", "job.yml", "-n", name)


def metric(site, name):
    found = site.json("job", "metrics", name)["metrics"]
    return found[0] if found else None


def points(site, name):
    return sum(curve["points"] for curve in site.json("job", "metrics", name, "--metric", "loss")["curves"])


def test_numbers_that_ranks_print_become_curves(site):
    site.up(1)
    job(site, "train")
    site.wait_for_status("train", "Completed")
    wait_until(lambda: points(site, "train") == 6, "all numbers are there")
    loss = metric(site, "train")
    assert (loss["name"], loss["last"], loss["last_step"]) == ("loss", "NaN", 5), loss
    assert (loss["greatest"], loss["least"], loss["least_step"]) == (0.9, 0.5, 4), loss
    table = site.ok("job", "metrics", "train")
    assert "METRIC" in table and "loss" in table, table
    drawn = site.ok("job", "metrics", "train", "--metric", "loss")
    assert "attempt 1, rank 0, 6 points" in drawn, drawn
    refused = site.run("job", "metrics", "train", "--metric", "accuracy")
    assert refused.returncode == 1 and "it has loss" in refused.stderr.decode(), refused


def test_a_wrong_pattern_is_named_before_anything_is_sent(site):
    site.write("bad.yml", "command: ls\nlockstep:\n  metrics:\n    loss: 'loss=('\n")
    refused = site.run("job", "validate", "-f", "bad.yml")
    said = (refused.stdout + refused.stderr).decode()
    assert refused.returncode != 0 and "bad.yml:4:" in said and "loss" in said, refused


@pytest.mark.parametrize("victim", ["launcher", "agent"])
def test_a_kill_loses_and_doubles_none(site, victim):
    site.up(1)
    job(site, "long", pause="1")
    wait_until(lambda: points(site, "long") >= 2, "two numbers are there")
    site.kill(site.launcher_pids() if victim == "launcher" else site.agent_pids(), signal.SIGKILL)
    site.up(1)
    site.wait_for_status("long", "Completed")
    wait_until(lambda: points(site, "long") == 6, "all numbers are there once")


def test_numbers_go_with_their_job(site):
    site.up(1)
    job(site, "gone")
    site.wait_for_status("gone", "Completed")
    wait_until(lambda: points(site, "gone") == 6, "all numbers are there")
    site.ok("job", "delete", "gone")
    refused = site.run("job", "metrics", "gone")
    assert refused.returncode == 1 and "there is no job" in refused.stderr.decode(), refused
