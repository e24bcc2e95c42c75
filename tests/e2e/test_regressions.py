"""What once went wrong for somebody, typed by hand; each stays mended."""
import os
import signal
import subprocess

from harness.site import wait_until


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
    assert b"no launcher runs that could cancel alone" in rest
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


def test_status_says_which_launcher_it_cannot_find(site):
    done = site.run("status", env={"LOCKSTEP_LAUNCHER": "/nowhere/endpoint.json"})
    assert done.returncode == 1
    assert b"LOCKSTEP_LAUNCHER" in done.stderr and b"/nowhere/endpoint.json" in done.stderr
    assert done.stdout == b""


def test_a_token_that_outlives_all_is_refused(site):
    done = site.run("node", "token", "--valid-for", "99999d")
    assert done.returncode == 2
    assert b"up to 365d" in done.stderr
