"""Clusters that grow and shrink: a real launcher and real agents, made by a program of the site (programs/site_provider.py)."""
import json
import os
import pathlib
import random
import shutil
import signal
import time

import pytest
from harness.site import wait_until

PROVIDER = pathlib.Path(__file__).parent / "programs" / "site_provider.py"


class SiteCluster:
    """A launcher with a target `lab` whose machines are agents of this machine."""

    def __init__(self, site):
        self.site = site
        self.place = site.directory / "place"
        self.place.mkdir()
        site.ok("up", "--nodes", "1")
        programs = site.home / "launcher" / "providers"
        programs.mkdir(exist_ok=True)
        shutil.copy(PROVIDER, programs / "site")
        (programs / "site").chmod(0o755)

    def file(self, command=None, **keys):
        settings = {"program": "site", "bin": str(self.site.bin), "place": str(self.place), **(command or {})}
        spec = {"name": "lab", "type": "amlcompute", "idle_time_before_scale_down": 2, **keys,
                "lockstep": {"command": settings}}
        return self.site.write("lab.json", json.dumps(spec))

    def create(self, **keys):
        self.site.ok("compute", "create", "-f", self.file(**keys))
        return self

    def faults(self, **keys):
        (self.place / "faults.json").write_text(json.dumps(keys))

    def show(self, *words):
        return self.site.json("compute", "show", "lab", *words)

    def folders(self):
        return sorted(path.name.split("-lab-")[-1] for path in self.place.glob("*-lab-*"))

    def agents(self):
        return self.site._pids("lockstep-agent", str(self.place))

    def is_empty(self):
        return not self.folders() and not self.agents() and not self.show()["machines"]

    def until_empty(self):
        wait_until(self.is_empty, "the cluster has no machines", 60)


@pytest.fixture
def cluster(site):
    made = SiteCluster(site)
    yield made
    for pid in made.agents():
        os.kill(pid, signal.SIGKILL)


def test_it_grows_for_a_gang_runs_it_and_shrinks_to_nothing(cluster):
    site = cluster.site
    cluster.create(max_instances=3)
    assert cluster.show()["scaling"]["wanted"] == 0
    site.ok("run", "--compute", "lab", "-N", "3", "--name", "gang", "--", "true", timeout=100)
    [attempt] = site.show("gang")["attempts"]
    assert sorted(part["node_name"] for part in attempt["parts"]) == ["lab-1", "lab-2", "lab-3"]
    cluster.until_empty()
    told = " ".join(event["text"] for event in cluster.show("--history")["history"])
    assert "wanted: job 'gang' waits for it" in told and "leaves: it had no work for" in told and "gone" in told


def test_min_instances_are_there_before_any_job_and_stay(cluster):
    cluster.create(min_instances=1, max_instances=2)
    shown = cluster.show()
    assert [machine["state"] for machine in shown["machines"]] == ["joined"], "create waits for it"
    time.sleep(4)  # twice the idle time
    assert [machine["name"] for machine in cluster.show()["machines"]] == ["lab-1"]
    cluster.site.ok("compute", "update", "lab", "--min-instances", "0")
    cluster.until_empty()


def test_a_creation_that_fails_twice_is_shown_and_made_again(cluster):
    site = cluster.site
    cluster.create(max_instances=1)
    cluster.faults(fail=2)
    site.submit("--compute", "lab", "--name", "late", "--", "true")
    reason = wait_until(lambda: "site is full" in (why := site.show("late")["reason"]) and why, "the job says why")
    assert "could not be made" in reason
    assert "the site is full" in cluster.show()["scaling"]["failure"]
    assert site.wait_for_status("late", "Completed", "Failed", deadline_s=60)["status"] == "Completed"
    assert cluster.show()["scaling"]["failure"] == ""
    cluster.until_empty()


def test_what_waits_at_the_provider_is_pending_with_its_reason(cluster):
    site = cluster.site
    cluster.create(max_instances=1)
    cluster.faults(pending=1)
    site.submit("--compute", "lab", "--name", "late", "--", "true")
    machine = wait_until(lambda: next((m for m in cluster.show()["machines"] if m["state"] == "pending"), None), "pending")
    assert machine["about"]["reason"] == "Resources"
    site.wait_for_status("late", "Completed", deadline_s=60)


def test_a_machine_that_boots_for_a_while_joins_with_the_token_that_it_was_ordered_with(cluster):
    site = cluster.site
    cluster.create(max_instances=1)
    cluster.faults(boots=14)  # the launcher asks again after 10 s, and hears that it runs
    site.submit("--compute", "lab", "--name", "late", "--", "true")
    states = set()

    def is_over():
        states.update(machine["state"] for machine in cluster.show()["machines"])
        return site.show("late")["status"] == "Completed"

    wait_until(is_over, "the job ran", 60)
    assert {"pending", "created"} <= states
    assert site.show("late")["attempts"][0]["parts"][0]["node_name"] == "lab-1", "no machine was made twice"
    cluster.until_empty()


def test_a_killed_machine_of_low_priority_is_a_preemption(cluster):
    site = cluster.site
    cluster.create(max_instances=1, tier="low_priority")
    script = "if [ $LOCKSTEP_ATTEMPT = 1 ]; then sleep 300; fi; echo attempt $LOCKSTEP_ATTEMPT"
    site.submit("--compute", "lab", "--name", "victim", "--", "sh", "-c", script)
    site.wait_for_status("victim", "Running")
    for pid in cluster.agents() + site.runner_pids("victim") + list(site.rank_pids("victim").values()):
        os.kill(pid, signal.SIGKILL)
    done = site.wait_for_status("victim", "Completed", "Failed", deadline_s=90)
    assert done["status"] == "Completed" and "attempt 2" in site.logs("victim").decode()
    events = site.ok("job", "events", "victim")
    assert "low_priority, so this does not count as a retry" in events, events
    cluster.until_empty()


def test_a_notice_of_the_provider_gives_the_job_time_to_save(cluster):
    site = cluster.site
    cluster.create(tier="low_priority", max_instances=1)
    cluster.faults(notices=True)
    script = ("if [ -f $LOCKSTEP_CHECKPOINT_DIR/state ]; then echo goes on, attempt $LOCKSTEP_ATTEMPT; exit; fi; "
              "trap 'touch $LOCKSTEP_CHECKPOINT_DIR/state; exit 0' TERM; echo begun; while :; do sleep 0.1; done")
    file = site.write("saves.json", json.dumps({"name": "saves", "compute": "azureml:lab", "command": script,
                                                "lockstep": {"checkpoint": {"every": "1h"}, "retry": {"max": 0}}}))
    site.ok("job", "create", "-f", file)
    wait_until(lambda: b"begun" in site.logs("saves"), "it runs", 60)
    (cluster.place / "notice-lab-1").touch()
    done = site.wait_for_status("saves", "Completed", "Failed", deadline_s=60)
    assert done["status"] == "Completed" and "goes on, attempt 2" in site.logs("saves").decode(), done
    report = done["attempts"][0]["report"]
    assert report["cause"] == "preempted" and "the site is told so" in report["message"], report
    cluster.until_empty()


def said(done):
    return done.stderr.decode().replace("\n  ", " ")


def explained(site, name):
    return " ".join(site.ok("job", "explain", name).split())


def test_the_end_of_machines_costs_no_retry_and_is_not_tried_for_ever(cluster):
    """Three machines end below one job, which has no limit and saves nothing. Slurm: test_cluster_slurm.py."""
    site = cluster.site
    cluster.create(max_instances=1)
    cluster.faults(lives=40)
    file = site.write("endless.json", json.dumps({"name": "endless", "compute": "azureml:lab", "command": "sleep 300",
                                                  "lockstep": {"retry": {"max": 0}}}))
    site.ok("job", "create", "-f", file)
    site.wait_for_status("endless", "Running", deadline_s=60)
    refused = site.run("run", "--compute", "lab", "--name", "long", "--timeout", "60s", "--", "true")
    assert refused.returncode != 0 and "may run for 1m" in said(refused), refused
    assert "a machine of target 'lab' ends after 40.0s" in said(refused), refused
    site.submit("--compute", "lab", "--name", "tight", "--timeout", "39s", "--", "true")
    wait_until(lambda: "and the job may run for 39.0s (limits.timeout)" in explained(site, "tight"),
               "what is left of the machine is too little", 30)
    assert not site.show("tight")["attempts"]
    site.ok("job", "cancel", "tight")
    cluster.faults(lives=25)  # the next ones: notice comes 15 s before the end
    ended = site.wait_for_status("endless", "Failed", "Completed", deadline_s=100)
    assert ended["status"] == "Failed" and len(ended["attempts"]) == 3, ended
    assert {attempt["report"]["cause"] for attempt in ended["attempts"]} == {"preempted"}, ended
    events = site.ok("job", "events", "endless")
    assert "its machine's time was over, which does not count as a retry" in events, events
    for word in ("the machines of its target end after 25.0s", "did not end 3 times (it was there for", "save checkpoints"):
        assert word in ended["reason"], ended["reason"]
    cluster.until_empty()


def test_a_cluster_that_is_busy_is_not_deleted_and_an_idle_one_leaves_nothing(cluster):
    site = cluster.site
    cluster.create(max_instances=2)
    site.submit("--compute", "lab", "--name", "busy", "--", "sleep", "300")
    site.wait_for_status("busy", "Running")
    refused = site.run("compute", "delete", "lab", "--yes")
    assert refused.returncode != 0 and b"has 1 job that has not ended" in refused.stderr
    site.ok("job", "cancel", "busy")
    site.wait_for_status("busy", "Canceled")
    site.ok("compute", "delete", "lab", "--yes")
    assert not cluster.folders() and not cluster.agents()
    kept = site.home / "launcher" / "compute"
    wait_until(lambda: [path.name for path in kept.iterdir()] == ["lab.log"], "its log alone is left")
    assert "create lab-1 runs" in site.ok("compute", "log", "lab")


def test_a_launcher_that_is_killed_during_creations_leaks_nothing(cluster):
    site = cluster.site
    cluster.create(max_instances=2)
    dice = random.Random(20261126)
    for round_ in range(5):
        name = f"job{round_}"
        cluster.faults(slow=0.3)
        site.submit("--compute", "lab", "-N", "2", "--name", name, "--", "true")
        time.sleep(dice.uniform(0, 0.8))
        site.kill(site.launcher_pids())
        site.ok("up", "--nodes", "1")
        site.wait_for_status(name, "Completed", deadline_s=60)
    cluster.until_empty()


def test_settings_that_the_provider_refuses_are_refused_at_once(cluster):
    site = cluster.site
    bad = cluster.file(command={"image": "missing"}, max_instances=2)
    done = site.run("compute", "create", "-f", bad)
    assert done.returncode == 1 and "the site has no image 'missing'" in said(done) and "--no-check" in said(done), done
    assert "lab" not in {target["name"] for target in site.json("compute", "list")}
    assert not list((site.home / "launcher" / "compute").glob("*lab*")), "nothing of it is left"
    cluster.create(max_instances=2)
    bad = cluster.file(command={"image": "missing"}, max_instances=2)  # the same file, which create() wrote anew
    done = site.run("compute", "update", "-f", bad)
    assert done.returncode == 1 and "the site has no image 'missing'" in said(done), done
    assert "image" not in cluster.show()["lockstep"]["settings"]
    site.ok("compute", "update", "-f", bad, "--no-check")
    site.ok("compute", "update", "lab", "--max-instances", "3")
    assert cluster.show()["lockstep"]["settings"]["image"] == ["missing"] and cluster.show()["max_instances"] == 3


def test_what_only_the_provider_knows_is_found_and_removed(cluster):
    site = cluster.site
    cluster.create(max_instances=1)
    site.ok("run", "--compute", "lab", "--name", "first", "--", "true")
    [folder] = cluster.place.glob("*-lab-1")
    (cluster.place / folder.name.replace("lab-1", "lab-77")).mkdir()
    site.kill(site.launcher_pids())
    site.ok("up", "--nodes", "1")
    cluster.until_empty()
    told = [event["text"] for event in cluster.show("--history")["history"] if event["machine"] == "lab-77"]
    assert told[0].startswith("found by its tag") and told[-1].startswith("gone"), told


def test_a_program_that_others_may_write_is_not_run(cluster):
    site = cluster.site
    program = site.home / "launcher" / "providers" / "site"
    program.chmod(0o777)
    refused = site.run("compute", "create", "-f", cluster.file())
    assert refused.returncode == 1 and b"others may write it" in refused.stderr, refused
    site.ok("compute", "create", "-f", cluster.file(max_instances=1), "--no-check")
    site.submit("--compute", "lab", "--name", "waits", "--", "true")
    reason = wait_until(lambda: "others may write it" in (why := site.show("waits")["reason"]) and why, "the reason")
    assert "could not be made" in reason
    site.ok("job", "cancel", "waits")
    refused = site.run("run", "--compute", "lab", "-N", "2", "--", "true")
    assert refused.returncode != 0 and b"needs 2 nodes, but target 'lab' has at most 1" in refused.stderr
