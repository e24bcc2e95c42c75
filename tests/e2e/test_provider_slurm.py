"""lockstep-provider slurm against a real Slurm: jobs become nodes, wait, are taken away, and leave nothing."""
import json

import pytest
from harness.provider import SlurmTarget, create_target, new_token
from harness.site import wait_until

@pytest.fixture
def lab(site):
    return create_target(site.up(1))


@pytest.fixture
def target(slurm, tmp_path):
    made = SlurmTarget(slurm, tmp_path)
    yield made
    made.call("remove", machines=[{"name": "vm1"}, {"name": "vm2"}])
    slurm.run("scancel", "--user=root")
    wait_until(lambda: slurm.run("squeue", "--noheader") == "", "Slurm has ended all jobs")


def steps(events):
    return [event["step"] for event in events if event["event"] == "step"]


def test_a_job_becomes_a_node_and_is_ended_without_a_trace(lab, target, bundle):
    assert target.done("check")["state"] == "absent"
    token = new_token(lab)
    code, events, errors = target.call("create", bundle, token)
    assert (code, steps(events), events[-1]["state"]) == (0, ["submit"], "running"), (events, errors)
    assert events[-1]["about"]["node"] == "n1"
    job = events[-1]["about"]["job"]
    shown = target.slurm.run("scontrol", "show", "job", job) + target.slurm.run("scontrol", "write", "batch_script", job, "-")
    assert "Comment=lockstep a1b2 vms vm1" in shown and "Requeue=0" in shown and token not in shown
    assert list(target.shared.rglob("token")) == [], "it is of use once"
    assert lab.ok("run", "--compute", "vms", "--", "echo", "here").strip() == "here"
    modes = lab.ok("run", "--compute", "vms", "--", "sh", "-c", 'cd "$TMPDIR/../.." && stat -c %a . .. ../..').split()
    assert len(modes) == 3 and all(int(mode[-1]) & 1 for mode in modes), f"other users' ranks pass: {modes}"
    code, events, _ = target.call("create", bundle, "")
    assert (code, steps(events), events[-1]["state"]) == (0, [], "running"), "it stays"
    assert target.done("remove")["state"] == "absent"
    wait_until(lambda: target.leftovers() == [], "nothing is left")
    assert target.done("remove")["state"] == "absent", "removed twice"


def test_a_job_with_a_time_limit_says_how_long_it_lives_and_what_is_left(lab, target, bundle):
    about = target.joined(bundle, new_token(lab), time="5")["about"]
    assert about["lifetime"] == "300" and 200 < int(about["left"]) <= 300, about
    target.done("remove")
    about = target.joined(bundle, new_token(lab))["about"]
    assert about["lifetime"] == str(365 * 24 * 3600), "what Slurm gives jobs of a partition without a limit"


def test_a_job_that_waits_is_pending_until_slurm_starts_it(lab, target, bundle):
    target.slurm.run("sbatch", "--exclusive", "--wrap=sleep 1000", "--job-name=other", "--output=/dev/null")
    said = target.done("create", bundle=bundle, token=new_token(lab))
    assert said["state"] == "pending" and said["about"]["reason"] in ("Resources", "Priority"), said
    assert target.done("list")["about"]["job"] == said["about"]["job"]
    again = target.done("create", bundle=bundle, token=new_token(lab))
    assert again["about"]["job"] == said["about"]["job"], "it has not been submitted twice"
    target.slurm.run("scancel", "--name=other")
    wait_until(lambda: target.done("create", bundle=bundle, token="")["state"] == "running", "Slurm starts it")
    assert lab.ok("run", "--compute", "vms", "--", "echo", "here").strip() == "here"


def test_a_node_that_slurm_took_is_absent_with_the_reason(lab, target, bundle):
    target.joined(bundle, new_token(lab), partition="last")
    target.slurm.run("sbatch", "--exclusive", "--partition=first", "--wrap=sleep 1000", "--output=/dev/null")
    said = wait_until(lambda: (event := target.done("list"))["state"] == "absent" and event, "it is preempted")
    assert said["about"]["reason"] == "PREEMPTED"
    code, events, _ = target.call("list", machines=[])
    assert (code, events) == (0, []), "nothing of it is there"
    assert target.done("create", bundle=bundle, token=new_token(lab), partition="last")["state"] == "pending"


def test_a_job_saves_its_work_before_slurm_takes_its_node(lab, target, bundle):
    target.joined(bundle, new_token(lab))
    script = ("trap 'echo work > $LOCKSTEP_CHECKPOINT_DIR/state; echo saved; exit 0' TERM; echo begun; "
              "while :; do sleep 0.1; done")
    file = lab.write("saves.json", json.dumps({"name": "saves", "compute": "azureml:vms", "command": script,
                                               "lockstep": {"checkpoint": {"every": "1h"}}}))
    lab.ok("job", "create", "-f", file)
    wait_until(lambda: b"begun" in lab.logs("saves"), "it runs")
    target.slurm.run("scancel", "--user=root")
    ended = wait_until(lambda: lab.show("saves")["attempts"][0].get("report"), "it is preempted")
    assert ended["cause"] == "preempted" and "SIGTERM" in ended["message"], ended
    assert "saved" in lab.logs("saves").decode() and "retry 1 of 3" in lab.ok("job", "events", "saves")
    [part] = lab.show("saves")["attempts"][0]["parts"]
    assert "checkpoint" in json.dumps(part["outputs"]), part
    lab.ok("job", "cancel", "saves")


def test_an_agent_that_cannot_join_ends_its_job(lab, target, bundle):
    error = target.error("create", bundle=bundle, token="lockstep-token-2.of-nobody")
    assert error["code"] == "launcher_unreachable"
    wait_until(lambda: "RUNNING" not in target.jobs().values(), "its job has ended")


@pytest.mark.parametrize("settings, code, words", [
    ({"partition": "nowhere"}, "unsupported", "nvalid partition"),
    ({"constraint": "no-such-feature"}, "unsupported", "eature"),
    ({"options": ["--no-such-option"]}, "unsupported", "option"),
    ({"directory": "/proc/nowhere"}, "no_permission", "/proc/nowhere"),
])
def test_check_submits_nothing_and_says_what_slurm_says(target, settings, code, words):
    error = target.error("check", **settings)
    assert error["code"] == code and words in error["message"], error
    assert "lockstep" not in target.slurm.run("squeue", "--noheader")


@pytest.mark.parametrize("change, words", [
    ({"directory": ""}, "settings.directory is missing"),
    ({"directory": "/x; rm -rf /"}, "not an absolute path made only of letters"),
    ({"directory": "/x/%j"}, "not an absolute path made only of letters"),
    ({"partition": "a b"}, "settings.partition"),
    ({"time": "1;2"}, "settings.time"),
    ({"options": "--gres=gpu:1"}, "settings.options is not a list"),
    ({"options": ["-Ccpu"]}, "write each as --name"),
    ({"options": ["--wrap=id"]}, "which Lockstep sets itself"),
    ({"options": ["--wr=id"]}, "which Lockstep sets itself"),
    ({"options": ["--requ"]}, "which Lockstep sets itself"),
    ({"options": ["--partition=x"]}, "settings of their own"),
    ({"colour": "red"}, "unknown key 'colour'"),
])
def test_settings_that_could_become_a_command_are_refused(target, change, words):
    code, events, errors = target.call("check", **change)
    assert (code, events) == (2, []), events
    assert words in errors
