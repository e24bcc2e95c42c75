"""lockstep-provider docker against real engines: containers become nodes, and are removed without a trace."""
import json
import os
import subprocess

import pytest
from harness.engine import Docker, Podman, import_busybox
from harness.provider import DockerTarget, create_target, new_token
from harness.site import wait_until

MIB = 1 << 20
ROOT_ACCOUNT = "root:x:0:0:root:/root:/bin/sh\n"


@pytest.fixture(scope="module")
def docker():
    engine = Docker()
    import_busybox(engine, "base:1", accounts=ROOT_ACCOUNT)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def podman():
    if os.geteuid() != 0:
        pytest.skip("needs root: a rootless podman keeps its images in its user's home, and a provider has its own")
    engine = Podman()
    import_busybox(engine, "base:1", accounts=ROOT_ACCOUNT)
    yield engine
    engine.close()


@pytest.fixture
def lab(site):
    return create_target(site.up(1))


@pytest.fixture
def target(docker, tmp_path):
    made = DockerTarget(docker, "base:1", tmp_path)
    yield made
    made.call("remove", machines=[{"name": "vm1"}, {"name": "vm2"}])
    wait_until(lambda: not docker.containers(), "no container is left")


def steps(events):
    return [event["step"] for event in events if event["event"] == "step"]


def nodes_of(site):
    return {node["name"]: node for node in json.loads(site.ok("node", "list", "-o", "json"))
            if node["compute"] == "vms"}


@pytest.mark.parametrize("kind", ["docker", "podman"])
def test_a_container_becomes_a_node_and_is_removed_without_a_trace(lab, bundle, tmp_path, kind, request):
    engine = request.getfixturevalue(kind)
    target = DockerTarget(engine, "base:1", tmp_path)
    assert target.state() == "absent"
    token = new_token(lab)
    code, events, errors = target.call("create", bundle, token)
    assert (code, steps(events)) == (0, ["start"]), (events, errors)
    assert events[-1]["about"]["container"] == target.name
    shown = json.loads(engine.ok("inspect", target.name))[0]
    assert {key: value for key, value in shown["Config"]["Labels"].items() if key != "lockstep.bundle"} == {
        "lockstep.launcher": "a1b2", "lockstep.target": "vms", "lockstep.machine": "vm1", "lockstep.cpus": ""}
    assert token.removeprefix("lockstep-token-")[:40] not in json.dumps(shown) + engine.ok("logs", target.name)
    assert lab.ok("run", "--compute", "vms", "--", "echo", "here").strip() == "here"
    code, events, _ = target.call("create", bundle, "")
    assert (code, steps(events), events[-1]["state"]) == (0, [], "running"), "it stays"
    assert list(nodes_of(lab)) == ["vm1"]
    assert target.done("remove")["state"] == "absent"
    assert engine.containers() == [] and engine.ok("volume", "ls", "--quiet") == ""
    assert target.done("remove")["state"] == "absent", "removed twice"


def test_a_container_that_was_killed_is_started_again_without_a_token(lab, target, bundle):
    target.done("create", bundle=bundle, token=new_token(lab))
    target.engine.ok("kill", target.name)
    said = target.done("list")
    assert (said["state"], said["about"]["reason"]) == ("stopped", "Exited (137)")
    assert target.done("create", bundle=bundle)["state"] == "running"
    wait_until(lambda: nodes_of(lab)["vm1"]["liveness"] == "ALIVE", "its node is back")
    assert lab.ok("run", "--compute", "vms", "--", "echo", "again").strip() == "again"


def test_a_container_whose_agent_never_joined_is_replaced(lab, target, bundle):
    labels = [f"--label=lockstep.{key}={value}" for key, value in
              {"launcher": "a1b2", "target": "vms", "machine": "vm1"}.items()]
    target.engine.ok("run", "--detach", *labels, "--network=none", "--name", target.name, "base:1", "sleep", "1000")
    assert target.error("create", bundle=bundle)["code"] == "failed", "there is no token"
    target.engine.run("rm", "-f", target.name)
    target.engine.ok("create", *labels, "--name", target.name, "base:1", "false")
    target.done("create", bundle=bundle, token=new_token(lab))
    assert list(nodes_of(lab)) == ["vm1"]


def test_nodes_have_the_cpus_and_the_memory_of_their_containers(lab, target, bundle):
    machines = [{"name": name, "token": new_token(lab)} for name in ("vm1", "vm2")]
    target.done("create", bundle=bundle, machines=machines, cpus=1, memory=300 * MIB, shm_size=8 * MIB)
    found = wait_until(lambda: (nodes := nodes_of(lab)) and all(n["inventory"]["cpus"] for n in nodes.values()) and nodes,
                       "both have said what they have")
    cpus = [found[name]["inventory"]["cpus"] for name in ("vm1", "vm2")]
    assert [len(each) for each in cpus] == [1, 1]
    assert os.cpu_count() == 1 or cpus[0] != cpus[1], "their ranks share no cpu"
    assert {node["inventory"]["memory"] for node in found.values()} == {300 * MIB}
    config = json.loads(target.engine.ok("inspect", target.name))[0]["HostConfig"]
    assert (config["NanoCpus"], config["Memory"], config["ShmSize"]) == (10 ** 9, 300 * MIB, 8 * MIB)
    code, events, _ = target.call("list", machines=[])
    assert (code, sorted(event["machine"] for event in events)) == (0, ["vm1", "vm2"]), "those that it knows by tag"
    out = lab.ok("run", "--compute", "vms", "-N", "2", "--", "sh", "-c", "echo $AZUREML_NODE_COUNT")
    assert [line.split()[-1] for line in out.splitlines()] == ["2", "2"]


def test_a_list_without_an_engine_names_the_target(target):
    assert target.error("list", machines=[], **target.away())["machine"] == "vms", "it concerns no single machine"
    target.variables = {}


@pytest.mark.parametrize("settings, code, words", [
    ({"image": "localhost:1/no/such"}, "unreachable", "localhost:1"),
    ({"image": "empty:1"}, "unsupported", "/bin/sh"),
    ({"cpus": 10_000}, "unsupported", "this machine has"),
    ({"memory": 1 << 50}, "unsupported", "this machine has"),
    ({"network": "no-such-network"}, "unsupported", "no-such-network"),
])
def test_what_is_wrong_is_told_with_a_code(target, bundle, settings, code, words):
    if settings.get("image") == "empty:1":
        empty = subprocess.run(["tar", "--create", "--files-from=/dev/null"], capture_output=True, check=True).stdout
        target.engine.ok("import", "-", "empty:1", input=empty)
    error = target.error("create", bundle=bundle, token="lockstep-token-of-nobody", **settings)
    assert error["code"] == code and words in error["message"], error
    assert target.engine.containers() == []


def test_check_starts_nothing(target):
    assert target.done("check")["state"] == "absent"
    assert target.error("check", image="localhost:1/no/such")["code"] == "unreachable"
    assert target.error("check", cpus=10_000)["code"] == "unsupported"
    assert target.engine.containers() == []


@pytest.mark.parametrize("change, words", [
    ({"image": ""}, "settings.image is missing"),
    ({"image": "-v=/:/host"}, "begins with '-'"),
    ({"cpus": 0}, "settings.cpus is not a number from"),
    ({"cpus": "2"}, "settings.cpus is not a number"),
    ({"memory": 1}, "settings.memory is not a number from"),
    ({"network": "--privileged"}, "settings.network"),
    ({"gpus": "all --privileged"}, "settings.gpus"),
    ({"args": "--init"}, "settings.args is not a list"),
    ({"args": ["--privileged"]}, "'--privileged' is refused"),
    ({"args": ["--volume", "/:/host"]}, "'--volume' is refused"),
    ({"args": ["--memory=1g"]}, "write settings.memory instead"),
    ({"args": ["--name", "x"]}, "which Lockstep sets itself"),
    ({"args": ["debian:12"]}, "is not an option"),
    ({"colour": "red"}, "unknown key 'colour'"),
])
def test_settings_that_could_become_a_command_are_refused(target, change, words):
    code, events, errors = target.call("check", **change)
    assert (code, events) == (2, []), events
    assert words in errors


def test_an_engine_of_another_machine_is_refused(target):
    target.variables = {"DOCKER_HOST": "ssh://elsewhere"}
    error = target.error("check")
    target.variables = {}
    assert error["code"] == "unsupported" and "ssh://elsewhere" in error["message"]
