"""What once went wrong for somebody, typed by hand; each stays mended."""
import os
import signal

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

    assert site.run("down", "--cancel").returncode == 0
    assert not site.agent_pids() and not site.runner_pids() and not site.launcher_pids()
    assert b"nothing is running" in site.run("down").stderr


def test_status_says_which_launcher_it_cannot_find(site):
    done = site.run("status", env={"LOCKSTEP_LAUNCHER": "/nowhere/endpoint.json"})
    assert done.returncode == 1
    assert b"LOCKSTEP_LAUNCHER" in done.stderr and b"/nowhere/endpoint.json" in done.stderr
    assert done.stdout == b""


def test_a_token_that_outlives_all_is_refused(site):
    done = site.run("node", "token", "--valid-for", "99999d")
    assert done.returncode == 2
    assert b"up to 365d" in done.stderr
