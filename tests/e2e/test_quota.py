"""Quotas: what a user may take, who may change it, and that nobody else waits for it."""
import os
import pwd
import json

import pytest
from harness.site import wait_until
from test_roles import Person, job_of


@pytest.fixture
def people(site):
    site.up(1)
    made = {}
    for name in ("alice", "bob"):
        made[name] = Person(site, name)
        site.ok("user", "add", name, "--key", made[name].key, "--account", pwd.getpwuid(os.getuid()).pw_name)
    return made


SLEEP = ("--cpus", "1", "--memory", "16m", "--gpus", "0", "--", "sleep", "300")


def test_a_job_over_its_users_quota_waits_says_why_and_lets_others_pass(site, people):
    alice, bob = people["alice"], people["bob"]
    assert "may not see or change all users, roles, projects and quotas" in alice.refused(
        "quota", "set", "--user", "alice", "--running-jobs", "9")
    site.ok("quota", "set", "--user", "alice", "--running-jobs", "1", "--nodes", "1")
    first = job_of(alice, *SLEEP)
    site.wait_for_status(first, "Running")
    second = job_of(alice, *SLEEP)
    reason = "waits: user 'alice' has 1 of 1 running jobs"
    wait_until(lambda: json.loads(alice.ok("job", "show", second, "-o", "json"))["reason"] == reason,
               "the quota is the reason")
    assert reason in alice.ok("job", "explain", second)
    other = job_of(bob, "--cpus", "1", "--memory", "16m", "--gpus", "0", "--", "true")
    site.wait_for_status(other, "Completed")
    refused = alice.refused("run", "-N", "2", *SLEEP)
    assert "user 'alice' may use at most 1 at once" in refused
    assert "lockstep quota set --user alice --nodes N" in refused

    own = json.loads(alice.ok("quota", "show", "-o", "json"))
    mine = next(q["limits"] for q in own if q["kind"] == "user")
    assert mine["running_jobs"] == {"limit": 1, "used": 1, "default": False}
    assert mine["queued_jobs"] == {"limit": 20000, "used": 1, "default": True}
    assert "running-jobs" in alice.ok("user", "whoami")
    assert "only an admin sees" in alice.refused("quota", "show", "--user", "bob")
    assert "running-jobs" in site.ok("quota", "list")

    site.ok("quota", "unset", "--user", "alice", "--running-jobs", "--nodes")
    site.wait_for_status(second, "Running")
    for name in (first, second):
        site.ok("job", "cancel", name)
        site.wait_for_status(name, "Canceled")


def test_a_source_beyond_its_projects_quota_is_refused(site, people):
    site.ok("quota", "set", "--project", "default", "--snapshot-size", "1m")
    site.write("big.bin", "x" * (2 << 20))
    site.write("job.yml", "command: \"true\"\ncode: .\n")
    assert "project 'default' may submit at most 1.0 MiB" in people["alice"].refused(
        "job", "create", "-f", "job.yml")


def test_what_is_wrong_is_said(site, people):
    for words, why in ((("quota", "set", "--user", "alice"), "give --user NAME or --project NAME, and a limit"),
                       (("quota", "set", "--gpus", "1"), "give --user NAME or --project NAME, and a limit"),
                       (("quota", "set", "--user", "alice", "--gpus", "many"), "not a whole number"),
                       (("quota", "set", "--user", "alice", "--snapshot-size", "big"), "not a size")):
        done = site.run(*words)
        assert done.returncode == 2
        assert why in done.stderr.decode()
    assert b"there is no user 'nobody'" in site.run("quota", "set", "--user", "nobody", "--gpus", "1").stderr
