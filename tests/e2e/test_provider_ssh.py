"""lockstep-provider ssh against a real sshd: hosts become nodes, and are given back without a trace.

The host is this machine: sshd listens on a loopback address and lets in the account that runs the tests."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from harness.provider import Server, Target, create_target, new_token, processes_in
@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    yield made
    made.stop()


@pytest.fixture
def target(server, tmp_path):
    made = Target(server, tmp_path)
    yield made
    made.call("remove")


@pytest.fixture
def lab(site):
    return create_target(site.up(1))


def test_a_host_becomes_a_node_and_is_given_back_without_a_trace(lab, target, bundle):
    folder = pathlib.Path(target.host["directory"])
    assert target.state() == "absent"
    code, events, _ = target.call("create", bundle, new_token(lab))
    assert code == 0, events
    assert [e.get("step") for e in events if e["event"] == "step"] == ["connect", "copy", "start", "verify"]
    assert (events[-1]["state"], events[-1]["about"]["joined"]) == ("running", "yes")
    assert not (folder / "token").exists(), "a token is of use once"
    assert lab.ok("run", "--compute", "vms", "--", "echo", "here").strip() == "here"
    # Attached twice is one node, and nothing is copied again.
    code, events, _ = target.call("create", bundle, "")
    assert (code, [e.get("step") for e in events if e["event"] == "step"]) == (0, ["connect"])
    nodes = json.loads(lab.ok("node", "list", "-o", "json"))
    assert [n["name"] for n in nodes if n["compute"] == "vms"] == ["vm1"]
    assert target.call("remove")[0] == 0
    assert not folder.exists()
    assert processes_in(folder) == []
    assert target.call("remove")[0] == 0, "removed twice"


def test_an_agent_that_is_killed_comes_back_and_keeps_its_job(lab, target, bundle):
    assert target.call("create", bundle, new_token(lab))[0] == 0
    job = lab.submit("--compute", "vms", "--", "sh", "-c", "sleep 9; echo survived")
    lab.wait_for_status(job, "Running")
    pid = int((pathlib.Path(target.host["directory"]) / "agent/agent.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    assert "survived" in lab.ok("job", "stream", job)
    assert target.state() == "running"
    assert target.call("remove")[0] == 0


def test_a_token_that_was_used_is_said_with_the_agents_own_words(lab, target, bundle):
    token = new_token(lab)
    assert target.call("create", bundle, token)[0] == 0
    assert target.call("remove")[0] == 0
    error = target.error("create", bundle=bundle, token=token)
    assert (error["step"], error["code"]) == ("start", "launcher_unreachable")
    assert "the join token was used 1 time" in error["message"]
    assert processes_in(target.host["directory"]) == [], "an agent that cannot join does not go on trying"


@pytest.mark.parametrize("changes, code, words", [
    ({"port": 1}, "unreachable", "Connection refused"),
    ({"address": "no-such-host.invalid"}, "unreachable", "Could not resolve"),
    ({"user": "nobody-here"}, "unauthenticated", "refused the key"),
    ({"directory": "/proc/lockstep"}, *(("no_space", "0 MiB are free") if os.geteuid() == 0 else
                                        ("no_permission", "cannot write to /proc"))),
])
def test_what_is_wrong_with_a_host_is_told_with_its_name(target, changes, code, words):
    error = target.error("check", **changes)
    assert error["code"] == code, error
    assert words in error["message"], error


def test_a_key_that_the_host_does_not_know_is_refused(target, server):
    error = target.error("check", key=str(server.directory / "stranger"))
    assert error["code"] == "unauthenticated"
    assert str(server.directory / "stranger") in error["message"]


def test_another_host_key_is_refused_before_anything_is_sent(target, server):
    assert target.call("check")[0] == 0
    server.start("other_host")
    error = target.error("check")
    assert (error["step"], error["code"]) == ("connect", "host_key")
    assert str(target.directory / "state/known_hosts") in error["message"]


def test_a_password_is_given_and_never_shown(target, ordinary_user):
    password = "a pass'word \"with\" $quotes"
    subprocess.run(["chpasswd"], input=f"{ordinary_user}:{password}\n", text=True, check=True)
    try:
        account = {"user": ordinary_user, "key": "", "directory": "/tmp/ls-password-host"}
        code, events, errors = target.call("check", password=password, **account)
        assert code == 0, events
        assert password not in json.dumps(events) + errors
        assert target.error("check", password="wrong", **account)["code"] == "unauthenticated"
    finally:
        subprocess.run(["passwd", "--lock", ordinary_user], check=True, stdout=subprocess.DEVNULL)


def test_a_directory_that_is_not_ours_is_left_as_it_is(target, bundle):
    folder = pathlib.Path(target.host["directory"])
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    assert target.error("create", bundle=bundle, token="x")["code"] == "conflict"
    assert target.error("remove")["code"] == "conflict"
    (folder / "tag").write_text("another vms vm1\n")
    assert target.error("remove")["code"] == "conflict"
    assert (folder / "thesis.tex").read_text() == "years of work"


def test_a_host_that_prints_anything_is_no_crash(target, server, tmp_path):
    shell = tmp_path / "hostile"
    shell.write_text("#!/bin/sh\nprintf 'lockstep-begin\\nsystem \\033[31mLinux\\n'\nhead -c 3000000 /dev/zero\n")
    shell.chmod(0o755)
    keys = server.directory / "authorized"
    keys.write_text(f'command="{shell}" ' + (server.directory / "user.pub").read_text())
    begin = time.monotonic()
    assert target.error("check")["code"] == "unsupported"
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("change, words", [
    ({"address": "-oProxyCommand=true"}, "is not a valid machine name"),
    ({"address": "a b"}, "is not a valid machine name"),
    ({"user": "-l"}, "is not a valid account name"),
    ({"directory": "/x; rm -rf /"}, "is not an absolute path made only of letters"),
    ({"directory": "/x/../../etc"}, "is not an absolute path made only of letters"),
    ({"key": "relative"}, "is not a path that begins with / or ~"),
    ({"port": 70000}, "from 1 to 65535"),
    ({"colour": "red"}, "unknown key 'colour'"),
])
def test_settings_that_could_become_a_command_are_refused(target, change, words):
    code, events, errors = target.call("check", **change)
    assert (code, events) == (2, []), events
    assert words in errors
