"""`lockstep doctor`: what is wrong on this machine, without changing it."""
import json
import os

from harness.site import wait_until


def verdicts(site, *words):
    """({check: verdict}, exit code)"""
    done = site.run("doctor", "-o", "json", *words)
    answer = json.loads(done.stdout)
    assert answer["ok"] == (done.returncode == 0), done
    return {each["check"]: each["verdict"] for each in answer["findings"]}, done.returncode


def test_doctor_looks_and_starts_nothing(any_site):
    site = any_site
    found, _ = verdicts(site, "--agent-home", site.home / "nodes/local-0")
    assert found["lockstepd"] == found["lockstep-agent"] == found["lockstep-spawn"] == "ok", found
    assert found["MPI ranks (PMIx)"] == found["kernel"] == found["loopback interface"] == "ok", found
    assert list(site.home.iterdir()) == [], "the home is as it was"
    assert not site.launcher_pids() and not site.agent_pids()


def test_doctor_finds_the_launcher_and_a_key_that_others_may_read(any_site):
    site = any_site.up(1)
    where = ("--agent-home", site.home / "nodes/local-0")
    found, code = verdicts(site, *where)
    assert code == 0, found
    assert found["connection"] == found["clock"] == found["your key"] == "ok", found
    os.chmod(site.home / "keys/user.key", 0o644)
    found, code = verdicts(site, *where)
    assert (found["your key"], code) == ("problem", 1)
    text = site.run("doctor", *where).stdout.decode()
    assert f"chmod 600 {site.home}/keys/user.key" in text and "1 problem" in text, text
    os.chmod(site.home / "keys/user.key", 0o600)
    site.kill(site.agent_pids())
    wait_until(lambda: site.json("node", "list")[0]["liveness"] != "ALIVE", "the node is missed")
    found, code = verdicts(site, *where)
    assert (found["nodes"], code) == ("warning", 0), found


def test_doctor_names_a_launcher_that_does_not_answer_or_knows_no_such_key(any_site):
    site = any_site.up(1)
    stranger = {"LOCKSTEP_HOME": str(site.directory / "stranger"),
                "LOCKSTEP_LAUNCHER": str(site.home / "launcher/endpoint.json")}
    site.run("status", env=stranger)  # makes the stranger's key
    done = site.run("doctor", "-o", "json", env=stranger)
    [connection] = [each for each in json.loads(done.stdout)["findings"] if each["check"] == "connection"]
    assert (connection["verdict"], done.returncode) == ("problem", 1)
    assert "authorized_users" in connection["found"], connection
