"""Compute targets: an unchanged Azure file on this machine, nodes of a target's own, and who may do what."""
import json
import os
import pwd
import signal

import pytest
from harness.site import wait_until
from test_operators import Operator, states
from test_roles import Person

JOB = "$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json\n" \
      "command: echo here\ncompute: azureml:cpu-cluster\n"


def target(site, name):
    return site.json("compute", "show", name)


def test_an_azure_file_runs_here_once_its_target_has_a_name(site):
    site.write("job.yml", JOB)
    done = site.run("job", "create", "-f", "job.yml")
    assert done.returncode == 2
    said = done.stderr.decode()
    assert said.startswith("lockstep: job.yml:3:10: there is no compute target 'cpu-cluster'. Existing targets: local. "), said
    assert "`lockstep compute create --name cpu-cluster --type local`" in said
    site.ok("compute", "create", "--name", "cpu-cluster", "--type", "local")
    assert site.ok("job", "create", "-f", "job.yml", "--stream") == "here\n"
    assert target(site, "cpu-cluster")["pool"] == "local"
    assert site.json("job", "list")[0]["compute"] == "cpu-cluster"


def test_an_unknown_target_is_said_before_anything_is_sent(site):
    site.up(1)
    site.write("job.yml", JOB)
    site.ok("compute", "create", "--name", "cpu-clusters", "--type", "local")
    for words, where in ((["job", "create", "-f", "job.yml"], "job.yml:3:10"),
                         (["job", "validate", "-f", "job.yml"], "job.yml:3:10"),
                         (["job", "create", "-f", "job.yml", "--set", "compute=cpu-cluste"], "--set compute=cpu-cluste"),
                         (["run", "--compute", "cpu-cluster", "--", "true"], "--compute")):
        done = site.run(*words)
        assert done.returncode == 2
        said = done.stderr.decode()
        assert f"{where}: there is no compute target" in said and "did you mean 'cpu-clusters'?" in said, said
    assert site.json("job", "list") == []


def test_defaults_apply_where_a_job_names_no_target(site):
    site.up(1)
    site.ok("compute", "create", "--name", "laptop", "--type", "local")
    site.ok("config", "set", "defaults.compute=laptop")
    assert site.ok("config", "get", "defaults.compute") == "laptop\n"
    site.write("plain.yml", "command: 'true'\n")
    site.ok("job", "create", "-f", "plain.yml", "--stream")
    site.ok("run", "--", "true")
    assert {job["compute"] for job in site.json("job", "list")} == {"laptop"}
    done = site.run("run", "--", "true", env={"LOCKSTEP_COMPUTE": "lapdog"})
    assert done.returncode == 2 and b"LOCKSTEP_COMPUTE: there is no compute target 'lapdog'" in done.stderr
    site.ok("config", "unset", "defaults.compute")
    site.ok("run", "--", "true")
    assert site.json("job", "list")[0]["compute"] == "local"


@pytest.fixture
def operator(site):
    """A launcher with two nodes of target local and one of target lab."""
    made = Operator(site)
    try:
        made.process = made.launcher()
        site.ok("compute", "create", "--name", "lab", "--type", "virtualmachine", "--node-source", "join")
        for names, flags in ((("n1", "n2"), ("--uses", "2")), (("lab-1",), ("--compute", "lab"))):
            token = made.token(*flags)
            for name in names:
                made.agent(name, "--token-file", token)
            wait_until(lambda: all(states(site).get(name) == "ALIVE" for name in names), "its nodes are there", 30)
        yield made
        # An agent that is stopped first leaves the last attempt's end to the next agent.
        wait_until(lambda: not list(site.directory.glob("*/attempts/*")), "the attempts are removed")
    finally:
        made.close()


def test_a_targets_queue_holds_up_no_other(site, operator):
    assert [node["name"] for node in site.json("compute", "list-nodes", "lab")] == ["lab-1"]
    busy = site.submit("--compute", "lab", "--", "sleep", "300")
    gang = site.submit("--compute", "lab", "-N", "2", "--", "true")
    head = site.submit("--compute", "lab", "--", "true")
    site.wait_for_status(busy, "Running")
    assert site.ok("run", "--compute", "local", "-N", "2", "--", "echo", "went").count("went") == 2
    assert site.show(head)["status"] == "Queued"
    assert "1 of the 1 nodes of target 'lab'" in site.show(gang)["reason"]
    assert target(site, "lab")["jobs"] == {"queued": 2, "running": 1}
    assert target(site, "lab")["nodes"] == {"total": 1, "idle": 0, "busy": 1, "unavailable": 0}
    for what in (["compute", "delete", "lab"], ["compute", "delete", "local"]):
        assert site.run(*what).returncode == 1
    site.ok("job", "cancel", gang, busy)
    site.wait_for_status(head, "Completed")


def test_pools_survive_a_killed_launcher(site, operator):
    running = site.submit("--compute", "lab", "--", "sleep", "300")
    site.wait_for_status(running, "Running")
    waits = site.submit("--compute", "lab", "--", "true")
    operator.process.send_signal(signal.SIGKILL)
    operator.process.wait(timeout=30)
    operator.launcher()
    wait_until(lambda: set(states(site).values()) == {"ALIVE"}, "all nodes are back", 60)
    assert site.show(waits)["status"] == "Queued"
    assert {node["name"]: node["compute"] for node in site.json("node", "list")} == {
        "n1": "local", "n2": "local", "lab-1": "lab"}
    site.ok("job", "cancel", running)
    site.wait_for_status(waits, "Completed")


def test_a_target_goes_when_it_is_empty_and_its_tokens_with_it(site):
    site.up(1)
    site.write("lab.yml", "name: lab\ntype: virtualmachine\nlockstep: {node_source: join}\ntags: {room: cellar}\n")
    site.ok("compute", "create", "-f", "lab.yml", "--set", "description=ours")
    assert target(site, "lab")["tags"] == {"room": "cellar"} and target(site, "lab")["description"] == "ours"
    site.ok("compute", "create", "-f", "lab.yml", "--set", "description=ours")  # the same again is no error
    assert b"already exists with other settings" in site.run("compute", "create", "-f", "lab.yml").stderr
    site.ok("compute", "update", "lab", "--description", "theirs", "--tags", "n=1")
    assert target(site, "lab")["tags"] == {"room": "cellar", "n": "1"}
    job = site.submit("--compute", "lab", "--", "true")
    assert b"has 1 job that has not ended" in site.run("compute", "delete", "lab").stderr
    site.ok("job", "cancel", job)
    site.wait_for_status(job, "Canceled")
    site.ok("compute", "delete", "lab", "--yes")
    assert [one["name"] for one in site.json("compute", "list")] == ["local"]
    assert site.show(job)["compute"] == "lab"


def test_only_admins_change_targets_and_all_see_them(site):
    site.up(1)
    site.ok("compute", "create", "--name", "laptop", "--type", "local")
    account = pwd.getpwuid(os.getuid()).pw_name
    for name, role in (("sam", "submitter"), ("vic", "viewer"), ("olga", "operator")):
        person = Person(site, name)
        site.ok("user", "add", name, "--key", person.key, "--role", role, "--account", account)
        assert [one["name"] for one in json.loads(person.ok("compute", "list", "-o", "json"))] == ["local", "laptop"]
        for words in (["create", "--name", "mine", "--type", "local"], ["update", "laptop", "--description", "x"],
                      ["delete", "laptop"]):
            assert "create, change or delete compute targets" in person.refused("compute", *words)
        assert "admit nodes" in person.refused("node", "token", "--compute", "laptop")
    assert [one["name"] for one in site.json("compute", "list")] == ["local", "laptop"]


def test_a_machine_that_nobody_reaches_is_said_and_given_up(site):
    site.up(1)
    done = site.run("compute", "attach", "lab", "--host", "127.0.0.1:1", "--timeout", "60s")
    said = done.stderr.decode()
    assert done.returncode == 1, said
    assert "127.0.0.1: " in said and " failed: " in said and "0 of 1 machine joined; not: 127.0.0.1" in said, said
    assert "`lockstep compute detach lab --host 127.0.0.1` gives it up" in said
    shown = json.loads(site.ok("compute", "show", "lab", "--history", "-o", "json"))
    assert shown["machines"][0]["failure"]["message"] and shown["history"]
    assert "tries again" in site.ok("compute", "show", "lab")
    assert b"lockstep.tunnel=never" in site.run("compute", "attach", "lab", "--host", "vm2", "--tunnel", "never").stderr
    assert site.run("compute", "connect-ssh", "lab", "vm2").returncode == 1
    site.ok("compute", "detach", "lab", "--host", "127.0.0.1", "--timeout", "60s")
    assert target(site, "lab")["machines"] == []
    site.ok("compute", "delete", "lab")
    assert [one["name"] for one in site.json("compute", "list")] == ["local"]


def test_waiting_ends_and_attaching_goes_on(site):
    site.up(1)
    site.ok("compute", "attach", "lab", "--host", "127.0.0.1:1", "--no-wait")
    site.write("lab.yml", "name: lab\ntype: virtualmachine\nlockstep: {hosts: [{address: 127.0.0.1, port: x}, '@']}\n")
    done = site.run("compute", "attach", "-f", "lab.yml")
    assert done.returncode == 2 and done.stderr.count(b"lockstep: lab.yml:3:") == 2, done.stderr
    assert site.run("compute", "attach", "laptop", "--host", "vm1", "--timeout", "soon").returncode == 2
    assert site.run("up", "--hosts", "vm1:ssh").returncode == 2
    site.ok("compute", "delete", "lab", "--force", "--timeout", "60s")


def test_connect_ssh_runs_ssh_with_the_hosts_settings(site):
    site.up(1)
    site.write("bin/ssh", "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n")
    (site.work / "bin" / "ssh").chmod(0o755)
    site.ok("compute", "create", "--name", "laptop", "--type", "local")
    site.ok("compute", "attach", "lab", "--host", "ann@127.0.0.1:1", "--jump", "gate", "--no-wait")
    path = f"{site.work / 'bin'}:{os.environ['PATH']}"
    done = site.run("compute", "connect-ssh", "lab", "--", "ls", "-l", env={"PATH": path})
    assert done.returncode == 7
    assert done.stdout.decode().split() == ["-p", "1", "-l", "ann", "-J", "gate", "--", "127.0.0.1", "ls", "-l"]
    done = site.run("compute", "connect-ssh", "laptop", env={"PATH": path})
    assert done.returncode == 1 and b"has the nodes of target local" in done.stderr
    site.ok("compute", "detach", "lab", "--force", "--timeout", "60s")
