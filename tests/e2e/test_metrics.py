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


def test_jobs_are_listed_shown_and_compared_by_their_metrics(site):
    site.up(1)
    for name, loss in (("good", "0.1"), ("bad", "0.9")):
        site.write(f"{name}.yml", f"command: echo loss={loss}\nlockstep: {{metrics: {{loss: 'loss=(?P<value>\\S+)'}}}}\n")
        site.ok("job", "create", "-f", f"{name}.yml", "-n", name)
        site.wait_for_status(name, "Completed")
        wait_until(lambda: metric(site, name), "its number is there")
    site.ok("run", "--name", "silent", "--", "true")
    listed = site.json("job", "list", "--sort", "metrics.loss")
    assert [job["name"] for job in listed] == ["good", "bad", "silent"], listed
    assert listed[0]["metrics"][0]["last"] == 0.1 and "metrics" not in listed[2], listed
    best = site.json("job", "list", "--sort", "metrics.loss:desc", "-r", "1", "--query", "[].metrics[].last")
    assert best == [0.9], best
    assert "loss" in site.ok("job", "list", "--metrics", "loss").splitlines()[0]
    shown = site.json("job", "show", "good")["metrics"]
    assert [(one["name"], one["last"], one["trend"]) for one in shown] == [("loss", 0.1, [0.1])], shown
    assert "TREND" in site.ok("job", "show", "good")
    fields = {field["key"]: (field["a"], field["b"]) for field in site.json("job", "compare", "good", "bad")["fields"]}
    assert fields["metrics.loss.last"] == (0.1, 0.9), fields
    table = site.ok("job", "metrics", "good", "--name", "loss", "-o", "csv").splitlines()
    assert table[0].startswith("attempt,rank,first") and table[1].endswith("0.1,0.1,0.1"), table
    refused = site.run("job", "metrics", "good", "--follow")
    assert refused.returncode == 2 and "is none" in refused.stderr.decode(), refused


def test_numbers_go_with_their_job(site):
    site.up(1)
    job(site, "gone")
    site.wait_for_status("gone", "Completed")
    wait_until(lambda: points(site, "gone") == 6, "all numbers are there")
    site.ok("job", "delete", "gone")
    refused = site.run("job", "metrics", "gone")
    assert refused.returncode == 1 and "there is no job" in refused.stderr.decode(), refused
