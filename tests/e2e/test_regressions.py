"""What once went wrong for somebody, typed by hand; each stays mended."""
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest

from harness.site import alive, wait_until


def read_until(stream, needle):
    """Reads lines of a pipe up to the one with `needle`."""
    seen = b""
    for line in stream:
        seen += line
        if needle in line:
            return seen
    raise AssertionError(f"{needle} did not come; there was {seen}")


def kill_launcher(site):
    for pid in site.launcher_pids():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not site.launcher_pids(), "the launcher is gone")


def test_one_interrupt_leaves_when_the_launcher_has_ended(site):
    site.up(1)
    command = site.start("run", "--name", "alone", "--", "sleep", "600")
    read_until(command.stderr, b"Running")
    kill_launcher(site)
    read_until(command.stderr, b"`lockstep up` starts it again")
    command.send_signal(signal.SIGINT)
    _, rest = command.communicate(timeout=30)
    assert command.returncode == 130, rest
    assert b"cannot cancel alone: no launcher is running" in rest
    site.ok("down", "--cancel")


def test_down_ends_what_runs_when_the_launcher_cannot_start(site):
    site.up(1)
    site.submit("--name", "orphan", "--", "sleep", "600")
    site.wait_for_status("orphan", "Running")
    kill_launcher(site)
    for part in (site.home / "launcher").glob("journal.db*"):
        part.unlink()
    (site.home / "launcher" / "journal.db").write_bytes(b"damaged" * 1000)

    refused = site.run("down")
    assert refused.returncode == 1
    assert b"lockstep down --cancel" in refused.stderr and site.runner_pids()

    ended = site.run("down", "--cancel")
    assert ended.returncode == 1 and b"could not be canceled" in ended.stderr, ended
    assert not site.agent_pids() and not site.runner_pids() and not site.launcher_pids()
    assert b"nothing is running" in site.run("down").stderr


def test_down_cancel_also_cancels_what_was_killed_with_its_launcher(any_site):
    site = any_site.up(2)
    site.submit("-N", "2", "--name", "killed", "--", "sleep", "600")
    site.wait_for_status("killed", "Running")
    site.kill(site.launcher_pids() + site.agent_pids() + site.runner_pids())
    wait_until(lambda: not site.rank_pids("killed"), "the ranks went with their runners")
    site.ok("down", "--cancel")
    site.up(2)
    assert site.show("killed")["status"] == "Canceled"
    assert len(site.show("killed")["attempts"]) == 1


def test_local_nodes_join_the_launcher_that_their_home_has_now(any_site):
    site = any_site.up(2)
    site.down()
    (site.home / "launcher").rename(site.home / "lost")
    site.up(2)
    assert sorted(n["name"] for n in site.json("node", "list")) == ["local-0", "local-1"]
    site.ok("run", "-N", "2", "--", "true")
    site.down()
    subprocess.run(["rm", "-rf", site.home / "nodes"], check=True)
    site.up(2)
    assert sorted(n["name"] for n in site.json("node", "list")) == ["local-0", "local-1"]
    site.ok("run", "-N", "2", "--", "true")


def remove_tree(path):
    """Also while somebody writes into it."""
    wait_until(lambda: subprocess.run(["rm", "-rf", path], check=False).returncode == 0, f"{path} is gone")


def lose_launcher_home(site):
    kill_launcher(site)
    (site.home / "launcher").rename(site.directory / "lost")


def test_living_local_nodes_join_the_launcher_that_is_there_now(any_site):
    site = any_site.up(2)
    site.submit("--name", "unknown", "--", "sleep", "600")
    site.wait_for_status("unknown", "Running")
    lost = site.runner_pids()
    lose_launcher_home(site)
    up = site.run("up")
    assert up.returncode == 0, up.stderr
    assert b"local-0 had joined a launcher that no longer exists" in up.stderr
    assert b"and 1 part(s) of jobs" in up.stderr
    assert not site.runner_pids() and lost
    assert {n["liveness"] for n in site.json("node", "list")} == {"ALIVE"}
    site.ok("run", "-N", "2", "--", "true")


def test_run_heals_local_nodes_of_a_lost_launcher(site):
    site.up(1)
    lose_launcher_home(site)
    assert site.ok("run", "-q", "--", "echo", "healed").endswith("healed\n")


def test_living_local_nodes_join_a_launcher_that_was_begun_anew_with_its_keys(site):
    site.up(1)
    site.submit("--name", "unknown", "--", "sleep", "600")
    site.wait_for_status("unknown", "Running")
    kill_launcher(site)
    for part in (site.home / "launcher").iterdir():
        if part.name != "keys":
            remove_tree(part) if part.is_dir() else part.unlink()
    site.up(1)
    assert not site.runner_pids()
    site.ok("run", "--", "true")


def test_down_cancel_ends_what_a_lost_launcher_ran_without_an_agent(site):
    site.up(1)
    site.submit("--memory", "64m", "--name", "unknown", "--", "sleep", "600")
    site.wait_for_status("unknown", "Running")
    lose_launcher_home(site)
    site.kill(site.agent_pids())
    refused = site.run("up")
    assert refused.returncode == 1 and b"another launcher" in refused.stderr
    assert site.run("down", "--cancel").returncode == 1
    assert not site.runner_pids() and not site.launcher_pids()


def test_a_runner_without_its_attempt_directory_is_ended_by_the_next_agent(any_site):
    site = any_site.up(1)
    site.submit("--name", "homeless", "--retry", "1", "--", "sh", "-c",
                "setsid sleep 600 & exec sleep 600")
    site.wait_for_status("homeless", "Running")
    old = list(site.rank_pids("homeless").values()) + site.runner_pids("homeless")
    remove_tree(site.home / "nodes/local-0/attempts/homeless.1")
    site.kill(site.agent_pids())
    site.up(1)
    wait_until(lambda: len(site.show("homeless")["attempts"]) == 2, "it is tried again")
    assert not any(alive(pid) for pid in old)
    site.ok("down", "--cancel")
    assert not site.runner_pids()


@pytest.mark.parametrize("made_again", [False, True])
def test_down_ends_a_runner_without_its_attempt_directory(site, made_again):
    site.up(1)
    site.submit("--name", "homeless", "--", "sleep", "600")
    site.wait_for_status("homeless", "Running")
    remove_tree(site.home / "nodes/local-0/attempts")
    site.kill(site.launcher_pids() + site.agent_pids())
    if made_again:
        (site.home / "nodes/local-0/attempts/homeless.1").mkdir(parents=True, exist_ok=True)
    site.ok("down", "--cancel")
    assert not site.runner_pids() and not site.rank_pids("homeless")


def test_a_killed_runner_without_its_attempt_directory_leaves_no_cgroup(site):
    site.up(1)
    site.submit("--name", "homeless", "--retry", "0", "--", "sleep", "600")
    site.wait_for_status("homeless", "Running")
    remove_tree(site.home / "nodes/local-0/attempts/homeless.1")
    site.kill(site.runner_pids("homeless"))
    site.wait_for_status("homeless", "Failed")


def test_a_job_whose_attempt_directory_was_removed_says_so(site):
    site.up(1)
    flag = site.directory / "flag"
    site.submit("--name", "removed", "--", "sh", "-c",
                f"until test -e {flag}; do sleep 0.1; done")
    site.wait_for_status("removed", "Running")
    remove_tree(site.home / "nodes/local-0/attempts/removed.1")
    flag.write_text("")
    wait_until(lambda: site.show("removed")["attempts"][0].get("ended") or
               len(site.show("removed")["attempts"]) > 1, "the attempt ends")
    job = site.show("removed")
    assert "its attempt directory was removed: " in json.dumps(job), job


def test_status_says_which_launcher_it_cannot_find(site):
    done = site.run("status", env={"LOCKSTEP_LAUNCHER": "/nowhere/endpoint.json"})
    assert done.returncode == 1
    assert b"LOCKSTEP_LAUNCHER" in done.stderr and b"/nowhere/endpoint.json" in done.stderr
    assert done.stdout == b""


def test_a_token_that_outlives_all_is_refused(site):
    done = site.run("node", "token", "--valid-for", "99999d")
    assert done.returncode == 2
    assert b"up to 30d" in done.stderr


def start_upload(site, *words):
    """A command that uploads the folder `big`; some of it has arrived."""
    (site.work / "big").mkdir()
    (site.work / "big" / "data").write_bytes(os.urandom(300 << 20))

    def arrived():
        total = 0
        for path in (site.home / "launcher").rglob("*"):
            try:
                total += path.lstat().st_size
            except FileNotFoundError:  # it was renamed
                pass
        return total

    before = arrived()
    command = site.start(*words)
    wait_until(lambda: arrived() > before + (8 << 20), "some of it has arrived")
    return command


def test_an_upload_says_soon_that_the_launcher_went_away(site):
    site.up(1)
    command = start_upload(site, "data", "create", "-n", "big", "--path", "./big")
    kill_launcher(site)
    begin = time.monotonic()
    _, said = command.communicate(timeout=120)
    assert command.returncode == 1 and time.monotonic() - begin < 45, said
    assert b"lockstep: the launcher at tcp://127.0.0.1:" in said and b" went away: " in said, said
    assert b"nothing was registered: run the command again" in said, said
    assert site.ok("data", "create", "-n", "big", "--path", "./big") == "big:1\n"


@pytest.mark.parametrize("words, nothing", [
    (("data", "create", "-n", "big", "--path", "./big"), b"nothing was registered"),
    (("run", "--detach", "--name", "job", "--code", "big", "--", "ls"), b"nothing was submitted")])
def test_an_interrupted_upload_says_that_nothing_was_done(site, words, nothing):
    site.up(1)
    command = start_upload(site, *words)
    site.kill(site.launcher_pids(), signal.SIGSTOP)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=60)
    site.kill(site.launcher_pids(), signal.SIGCONT)
    assert command.returncode == -signal.SIGINT, said
    assert said.endswith(b"lockstep: interrupted; " + nothing + b"\n"), said
    assert site.json("job", "list") == [] and site.json("data", "list") == []


def held_home(site):
    """The lock of a home whose agent has ended, held as by one that is ending, and the agent's command."""
    site.up(1)
    agent = site.agent_pids("local-0")[0]
    command = pathlib.Path(f"/proc/{agent}/cmdline").read_text(encoding="utf-8").split("\0")[:-1]
    site.kill([agent], signal.SIGKILL)
    wait_until(lambda: not site.agent_pids("local-0"), "the agent is gone")
    lock = open(site.home / "nodes" / "local-0" / "lock", "rb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock, command


def test_the_home_of_an_agent_that_is_ending_is_waited_for(site):
    lock, command = held_home(site)
    released = threading.Timer(0.8, lock.close)
    released.start()
    with subprocess.Popen(command, env=site.environment(), stderr=subprocess.DEVNULL) as agent:
        released.join()
        assert site.ok("run", "-q", "--", "echo", "there") == "there\n"
        assert agent.poll() is None
        agent.terminate()


def test_the_home_of_an_agent_that_stays_is_refused(site):
    lock, command = held_home(site)
    done = subprocess.run(command, env=site.environment(), capture_output=True, timeout=30, check=False)
    lock.close()
    assert done.returncode == 1 and b"another lockstep-agent already uses the home" in done.stderr, done
