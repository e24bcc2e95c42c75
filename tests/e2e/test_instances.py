"""Compute instances: a real launcher, and an agent that a program of the site makes (programs/site_provider.py)."""
import datetime
import json
import os
import signal
import time

import pytest
from harness.site import wait_until
from test_cluster import SiteCluster
from test_roles import Person


class SiteInstance(SiteCluster):
    """A launcher with a compute instance `lab`, whose machine is an agent of this machine."""

    def file(self, **keys):
        spec = json.loads(super().file().read_text())
        del spec["idle_time_before_scale_down"]
        return self.site.write("lab.json", json.dumps({**spec, "type": "computeinstance", **keys}))

    def until(self, state):
        return wait_until(lambda: (shown := self.show())["state"] == state and shown, f"the instance is {state}", 60)


@pytest.fixture
def instance(site):
    made = SiteInstance(site)
    yield made
    for pid in made.agents():
        os.kill(pid, signal.SIGKILL)


def in_seconds(count):
    """The local time of UTC then."""
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=count)).strftime("%Y-%m-%dT%H:%M:%S")


def at_time(action, when):
    return {"action": action, "trigger": {"type": "recurrence", "frequency": "day", "interval": 1, "start_time": when,
                                          "time_zone": "UTC"}}


def test_it_stops_when_idle_and_a_job_waits_until_it_is_started(instance):
    site = instance.site
    instance.create(idle_time_before_shutdown="PT3S")
    assert instance.show()["state"] == "Running", "create waits for it"
    site.ok("run", "--compute", "lab", "--name", "first", "--", "sleep", "4")
    stopped = instance.until("Stopped")
    assert stopped["last_operation"]["cause"] == "idle"
    assert "without work" in stopped["last_operation"]["why"]
    assert not instance.folders() and not instance.agents()
    assert site.show("first")["status"] == "Completed", "it stopped after the job, not under it"
    site.submit("--compute", "lab", "--name", "second", "--", "true")
    reason = wait_until(lambda: (why := site.show("second")["reason"]) and "stopped" in why and why, "the job says why")
    assert "`lockstep compute start lab` starts it" in reason
    site.kill(site.launcher_pids())
    site.ok("up", "--nodes", "1")
    assert instance.show()["state"] == "Stopped", "a restart of the launcher changes nothing"
    site.ok("compute", "start", "lab")
    site.wait_for_status("second", "Completed", deadline_s=60)


def test_people_stop_it_restart_it_and_may_not_always(instance):
    site = instance.site
    instance.create()
    account = os.environ.get("USER", "root")
    people = {}
    for name, role in (("olga", "operator"), ("alice", "submitter")):
        people[name] = Person(site, name)
        words = ["--role", role] + (["--project", "default"] if role == "submitter" else [])
        site.ok("user", "add", name, "--key", people[name].key, "--account", account, *words)
    assert "that needs the role operator or admin" in people["alice"].refused("compute", "stop", "lab")
    site.submit("--compute", "lab", "--name", "busy", "--", "sleep", "300")
    site.wait_for_status("busy", "Running")
    refused = people["olga"].refused("compute", "stop", "lab")
    assert "runs job 'busy'" in refused and "--force" in refused
    people["olga"].ok("compute", "stop", "lab", "--force")
    shown = instance.show()
    assert shown["state"] == "Stopped" and shown["last_operation"]["why"] == "stopped by olga"
    waits = site.show("busy")
    assert waits["status"] == "Queued" and "stopped (by olga)" in waits["reason"]
    site.ok("job", "cancel", "busy")
    people["olga"].ok("compute", "start", "lab")
    [before] = [machine["name"] for machine in instance.show()["machines"]]
    people["olga"].ok("compute", "restart", "lab")
    [after] = [machine["name"] for machine in instance.show()["machines"]]
    assert instance.show()["state"] == "Running" and before != after
    assert b"is of type local" in site.run("compute", "stop", "local").stderr
    site.ok("compute", "delete", "lab")


def test_schedules_start_and_stop_it(instance):
    site = instance.site
    bad = site.run("compute", "create", "-f", instance.file(schedules={"compute_start_stop": [
        {"action": "stop", "trigger": {"type": "cron", "expression": "0 8 * * *", "time_zone": "Europe/Berln"}}]}))
    assert b"lab.json:1:" in bad.stderr, bad.stderr
    assert bad.returncode != 0 and b"did you mean 'Europe/Berlin'?" in bad.stderr
    instance.create(schedules={"compute_start_stop": [
        {"action": "start", "trigger": {"type": "cron", "expression": "0 8 * * mon-fri",
                                        "time_zone": "W. Europe Standard Time"}}]})
    planned = instance.show()["next_operation"]
    assert planned["action"] == "start" and "T08:00:00 W. Europe Standard Time" in planned["local_time"]
    soon = in_seconds(3)
    site.ok("compute", "update", "-f", instance.file(schedules={"compute_start_stop": [at_time("stop", soon)]}))
    stopped = instance.until("Stopped")
    assert stopped["last_operation"]["cause"] == "schedule"
    # Missed while the launcher is down.
    soon = in_seconds(3)
    site.ok("compute", "update", "-f", instance.file(schedules={"compute_start_stop": [at_time("start", soon)]}))
    site.kill(site.launcher_pids())
    time.sleep(4)
    site.ok("up", "--nodes", "1")
    assert instance.until("Running")["last_operation"]["cause"] == "schedule"
    told = [event["text"] for event in instance.show("--history")["history"] if not event["machine"]]
    assert [text.split(" by its schedule")[0] for text in told if "by its schedule" in text] == ["stopped", "started"], told
    shown = site.ok("compute", "show", "lab")
    assert "next scheduled:" in shown and "Running (" not in shown and "every day, UTC" in shown, shown
    site.ok("compute", "update", "lab", "--set", "schedules={compute_start_stop: []}", "--idle-time-before-shutdown", "1h")
    now = instance.show()
    assert now["schedules"] == {"compute_start_stop": []} and now["idle_time_before_shutdown_minutes"] == 60
