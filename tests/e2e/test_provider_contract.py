"""The contract of docs/decisions/038-providers.md, kept by every kind of provider, and by the fake that tests of
launchers use. Each event that a provider says is checked by harness.provider.check_event."""
import json
import os
import pathlib
import signal
import subprocess
import threading

import pytest
from harness.engine import Docker, import_busybox
from harness.provider import DockerTarget, FakeTarget, KubeTarget, Server, SlurmTarget, Target, create_target, new_token
from harness.site import wait_until

KINDS = ["ssh", "docker", "slurm", "kubernetes", "fake"]
OURS = ["ssh", "docker", "slurm", "kubernetes"]
STRANGER = "lockstep-token-of-nobody"


@pytest.fixture(scope="module")
def docker():
    engine = Docker()
    import_busybox(engine, "base:1", accounts="root:x:0:0:root:/root:/bin/sh\n")
    yield engine
    engine.close()


@pytest.fixture
def target(request, tmp_path):
    kind, server = request.param, None
    if kind == "ssh":
        server = Server(tmp_path)
        made = Target(server, tmp_path)
    elif kind == "fake":
        made = FakeTarget(tmp_path)
    else:
        source = {"kubernetes": "kubelet"}.get(kind, kind)
        of_kind = {"docker": lambda source: DockerTarget(source, "base:1", tmp_path),
                   "slurm": lambda source: SlurmTarget(source, tmp_path),
                   "kubernetes": lambda source: KubeTarget(source, tmp_path)}
        made = of_kind[kind](request.getfixturevalue(source))
    yield made
    made.variables = {}
    made.call("remove")
    if server:
        server.stop()


@pytest.fixture
def lab(site):
    return create_target(site.up(1))


def over(kinds):
    return pytest.mark.parametrize("target", kinds, indirect=True)


def names_of(lab):
    return [node["name"] for node in json.loads(lab.ok("node", "list", "-o", "json")) if node["compute"] == "vms"]


@over(KINDS)
def test_a_machine_becomes_a_node_and_is_given_back_without_a_trace(lab, target, bundle):
    assert target.done("check")["machine"] == "vm1"
    assert target.leftovers() == [], "`check` makes nothing"
    assert target.state() == "absent"
    token = new_token(lab)
    with Watched(token) as watched:
        assert target.joined(bundle, token)["state"] == "running"
    assert watched.found == [], "a token is in no argument list and no environment"
    assert target.state() == "running"
    assert lab.ok("run", "--compute", "vms", "--", "echo", "here").strip() == "here"
    assert target.done("create", bundle=bundle)["state"] == "running", "it stays, and needs no token"
    assert names_of(lab) == ["vm1"]
    assert target.done("remove")["state"] == "absent"
    wait_until(lambda: target.leftovers() == [], "nothing is left")
    assert target.done("remove")["state"] == "absent", "removed twice"


class Watched:
    """Looks for a secret in all processes' arguments and environments while it is open."""

    def __init__(self, secret):
        self.secret, self.found, self.is_over = secret.encode(), [], threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def _watch(self):
        while not self.is_over.wait(0.05):
            for entry in pathlib.Path("/proc").glob("[0-9]*"):
                for name in ("cmdline", "environ"):
                    try:
                        if self.secret in (entry / name).read_bytes():
                            self.found.append((entry.name, name))
                    except OSError:
                        continue

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


@over(OURS)
def test_an_agent_that_is_killed_comes_back_and_keeps_its_job(lab, target, bundle):
    target.joined(bundle, new_token(lab))
    job = lab.submit("--compute", "vms", "--", "sh", "-c", "sleep 9; echo survived")
    lab.wait_for_status(job, "Running")
    [pid] = target.agents()
    os.kill(pid, signal.SIGKILL)
    assert "survived" in lab.ok("job", "stream", job)
    assert target.state() == "running"


@over(KINDS)
def test_a_token_that_was_used_is_said_with_the_agents_own_words(lab, target, bundle):
    token = new_token(lab)
    target.joined(bundle, token)
    target.done("remove")
    error = target.error("create", bundle=bundle, token=token)
    assert (error["step"], error["code"]) == ("start", "launcher_unreachable")
    assert "vm1" in error["message"] and "the join token was used 1 time" in error["message"]
    wait_until(lambda: target.agents() == [], "an agent that cannot join does not go on trying")


@over(KINDS)
def test_a_provider_that_is_killed_leaves_what_the_next_call_finds(lab, target, bundle):
    process = target.start("create")
    process.stdin.write(json.dumps(target.request(bundle, new_token(lab))))
    process.stdin.close()
    process.stdout.readline()  # the work has begun
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    assert target.joined(bundle, new_token(lab))["state"] == "running"
    assert names_of(lab) == ["vm1"]
    target.done("remove")
    wait_until(lambda: target.leftovers() == [], "nothing is left")


@over(OURS)
def test_what_is_not_ours_is_left_as_it_is(target, bundle):
    target.put_in_the_way()
    assert target.error("create", bundle=bundle, token=STRANGER)["code"] == "conflict"
    target.call("remove")
    assert target.is_in_the_way()
    target.clear_the_way()


@over(KINDS)
def test_a_source_that_does_not_answer_is_unreachable(target, bundle):
    changes = target.away()
    for verb in ("check", "create", "list", "remove"):
        error = target.error(verb, bundle=bundle, token=STRANGER, **changes)
        assert (error["machine"], error["code"]) == ("vm1", "unreachable"), error


@over(KINDS)
def test_a_request_that_is_not_understood_changes_nothing(target):
    good = target.request()
    without = {key: value for key, value in good.items() if key != "launcher"}
    for request in ("", "no JSON", "[]", json.dumps({**good, "contract": 2}), json.dumps(without),
                    json.dumps({**good, "state": "relative"}), json.dumps({**good, "machines": [{"name": "../x"}]})):
        for verb in ("check", "create", "list", "remove"):
            done = subprocess.run([*target.words, verb], input=request, capture_output=True, text=True, check=False,
                                  env=target.environment())
            assert (done.returncode, done.stdout) == (2, ""), (verb, request, done)
            assert done.stderr.strip(), "the reason is on standard error"
    assert subprocess.run([*target.words, "verb"], input=json.dumps(good), capture_output=True, text=True, check=False,
                          env=target.environment()).returncode == 2


@over(["fake"])
def test_the_fake_misbehaves_as_it_is_told_to(lab, target, bundle):
    def raw(verb, timeout=60, token=""):
        process = target.start(verb)
        try:
            out, _ = process.communicate(json.dumps(target.request(bundle, token, **faults)), timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "hangs", ""
        return process.returncode, out

    faults = {"hang": ["list"]}
    assert raw("list", 1) == ("hangs", "")
    faults = {"slow": 0.5}
    assert raw("list", 0.3)[0] == "hangs" and raw("list")[0] == 0
    faults = {"lies": ["create", "remove"]}
    assert '"running"' in raw("create")[1] and target.state() == "absent"
    faults = {"pending": 1}
    assert '"pending"' in raw("create", token=new_token(lab))[1]
    faults = {"crash": ["create"]}
    assert raw("create", token=new_token(lab))[0] == -signal.SIGKILL and target.state() == "running"
    faults = {"fail": {"remove": "no_space"}}
    assert raw("remove")[0] == 1 and target.state() == "running"
    process = target.start("list")
    process.stdin.write(json.dumps(target.request(junk=["list"])))
    process.stdin.close()
    assert b"\xff\xfe" in process.stdout.buffer.read() and process.wait() == 0
    process.stdout.close()
    process.stderr.close()
