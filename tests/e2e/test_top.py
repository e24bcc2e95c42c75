"""What nodes, jobs and ranks use: `lockstep top`, `node show` and `job show`, with real ranks that burn cpu and memory."""
import json
import os
import pwd
import re
import signal
import sys
import termios
import time

import pytest
from harness.screen import OnATerminal
from harness.site import wait_until
from test_roles import Person

MIB = 1 << 20
# Burns a cpu in a child of its own, and holds memory.
BURN = """
import os, sys, time
held = bytearray(int(sys.argv[1]) << 20)
for i in range(0, len(held), 4096):
    held[i] = 1
if os.fork() == 0:
    while True:
        pass
print("up", flush=True)
time.sleep(600)
"""
SHARE = ("--cpus", "1", "--memory", "256m", "--gpus", "0")


@pytest.fixture
def quick(site):
    """A launcher and one node that reports each second. A job is silent after 3 s."""
    site.sampling = {"LOCKSTEP_SAMPLE_EVERY": "1s", "LOCKSTEP_SILENT_AFTER": "3s"}
    site.ok("up", "--nodes", "1", env=site.sampling)
    return site


def usage(site, *words):
    return site.json("top", *words)


def job_use(site, name):
    """What the job's first part uses; None: that is not known yet."""
    jobs = [job for job in usage(site)["jobs"] if job["name"] == name]
    return jobs[0]["parts"][0]["use"] if jobs else None


def test_ranks_that_burn_cpu_and_memory_are_seen_everywhere(quick):
    quick.write("burn.py", BURN)
    name = quick.submit("--name", "burner", *SHARE, "-n", "2", "--", sys.executable, "burn.py", "60")
    use = wait_until(lambda: (now := job_use(quick, name)) and now["cpu"] > 0.2 and now["memory"] > 120 * MIB and now,
                     "top shows what the job uses")
    assert use["memory"] < 400 * MIB and use["peak_memory"] >= use["memory"] and not use["stale"]
    assert use["cpu_seconds"] > 0.2 and use["age_seconds"] < 5

    node = usage(quick, "--nodes")["nodes"][0]
    assert usage(quick, "--nodes")["jobs"] == [] and usage(quick, "--jobs")["nodes"] == []
    assert node["use"]["cpu"] > 0.2 and node["use"]["memory"] > 120 * MIB and node["jobs"] == 1
    assert 0 < node["use"]["disk_used"] < node["use"]["disk_total"]
    table = quick.ok("top")
    assert re.search(r"^NODE +STATE", table, re.M) and re.search(r"^burner +\S+ +Running", table, re.M), table
    shown = quick.json("node", "show", node["name"])["use"]
    assert shown["cpu"] > 0.1 and shown["history"], "what it uses, and the last minutes"
    assert re.search(r"uses now: +\d+\.\d\d of", quick.ok("node", "show", node["name"]))

    part = quick.show(name)["attempts"][0]["parts"][0]
    assert [rank["rank"] for rank in part["use"]["ranks"]] == [0, 1] and part["used"] == []
    assert all(rank["memory"] > 60 * MIB and rank["cpu"] > 0.1 for rank in part["use"]["ranks"])
    assert re.search(r"rank 1: \d+\.\d\d cpus", quick.ok("job", "show", name))
    quick.ok("job", "cancel", name)
    quick.wait_for_status(name, "Canceled")
    assert usage(quick)["jobs"] == []


def test_peaks_survive_the_end_and_a_restart_of_the_launcher(quick):
    """Also of a rank that is too short for any sample: the kernel says it when the rank is reaped."""
    quick.ok("run", "--name", "short", *SHARE, "--", sys.executable, "-c", "held = b'1' * (80 << 20)")
    quick.kill(quick.launcher_pids())
    used = quick.show("short")["attempts"][0]["parts"][0]["used"]
    assert len(used) == 1 and 80 * MIB < used[0]["peak_memory"] < 200 * MIB and used[0]["cpu_seconds"] > 0
    assert re.search(r"rank 0: used \S+ of cpu time, peak memory \d+", quick.ok("job", "show", "short"))


def test_a_job_that_is_silent_says_so_and_goes_on(quick):
    name = quick.submit("--name", "stuck", *SHARE, "--", "sleep", "600")
    busy = quick.submit("--name", "chatty", *SHARE, "--", "bash", "-c", "while sleep 0.5; do echo here; done")
    wait_until(lambda: quick.show(name)["silent_seconds"], "the job is silent")
    assert "written nothing and used no cpu" in quick.ok("job", "show", name)
    row = next(line for line in quick.ok("job", "list").splitlines() if line.startswith("stuck"))
    assert "silent for" in row, row
    assert re.search(r"^stuck .*silent for", quick.ok("top"), re.M)
    assert quick.show(busy)["silent_seconds"] is None
    assert quick.show(name)["status"] == "Running", "it is never ended for that"
    for job in (name, busy):
        quick.ok("job", "cancel", job)


def test_values_of_a_silent_agent_age_and_are_marked(quick):
    name = quick.submit("--name", "steady", *SHARE, "--", "sleep", "600")
    wait_until(lambda: job_use(quick, name), "its use is known")
    agents = quick.agent_pids()
    quick.kill(agents, signal.SIGSTOP)
    try:
        old = wait_until(lambda: (now := job_use(quick, name)) and now["stale"] and now, "the value is old")
        assert old["age_seconds"] > 3
        assert re.search(r"^steady .*\ds old$", quick.ok("top", "--jobs"), re.M)
        assert usage(quick)["nodes"][0]["use"]["stale"]
    finally:
        quick.kill(agents, signal.SIGCONT)
    wait_until(lambda: (now := job_use(quick, name)) and not now["stale"], "it reports again")
    quick.ok("job", "cancel", name)


def test_another_ordinary_user_sees_the_nodes_but_not_what_the_job_uses(quick):
    account = pwd.getpwuid(os.getuid()).pw_name
    bob = Person(quick, "bob")
    quick.ok("user", "add", "bob", "--key", bob.key, "--role", "submitter", "--project", "default", "--account",
             account)
    name = quick.submit("--name", "mine", *SHARE, "--", "sleep", "600")
    wait_until(lambda: job_use(quick, name), "its use is known")
    seen = json.loads(bob.ok("top", "-o", "json"))
    assert seen["nodes"][0]["use"]["memory"] > 0
    assert [job["name"] for job in seen["jobs"]] == [name] and seen["jobs"][0]["parts"][0]["use"] is None
    assert json.loads(bob.ok("job", "show", name, "-o", "json"))["attempts"][0]["parts"][0]["use"] is None
    quick.ok("job", "share", name)
    assert json.loads(bob.ok("top", "-o", "json"))["jobs"][0]["parts"][0]["use"]["cpu"] >= 0
    quick.ok("job", "cancel", name)


class Top(OnATerminal):
    """`lockstep top` on a terminal; the alternate screen is not interpreted."""

    def wait_for_text(self, text):
        wait_until(lambda: self._read() and text in self.seen, f"top shows {text}")

    def end(self):
        """Reads to the end; returns the exit code."""
        def ended():
            self._read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return pid and (status,)
        status, = wait_until(ended, "top ends")
        self._read()
        return os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("key, code", [(b"q", 0), (b"\x03", 130)])
def test_on_a_terminal_it_refreshes_and_restores_the_terminal(quick, key, code):
    top = Top(quick, "top", columns=120)
    before = termios.tcgetattr(top.terminal)
    top.wait_for_text(b"\x1b[?1049h")
    top.wait_for_text(b"q: quit")
    top.wait_for_text(b"ALIVE")
    assert not termios.tcgetattr(top.terminal)[3] & termios.ECHO
    drawn = top.seen.count(b"\x1b[H")
    wait_until(lambda: top._read() and top.seen.count(b"\x1b[H") > drawn + 1, "it is drawn again")
    os.write(top.terminal, key)
    assert top.end() == code
    assert top.seen.rstrip().endswith(b"\x1b[?25h\x1b[?1049l"), top.seen[-80:]
    assert termios.tcgetattr(top.terminal) == before
    os.close(top.terminal)


def test_bad_words_are_refused(quick):
    for words, said in ((("--sort", "colour"), "is not cpu, memory, gpu, network or name"),
                        (("--interval", "3"), "unknown option --interval")):
        done = quick.run("top", *words)
        assert done.returncode == 2 and said in done.stderr.decode(), done
    assert "lockstep top" in quick.run("htop").stderr.decode()
    started = time.monotonic()
    assert quick.ok("top", "--once", "--sort", "memory") and time.monotonic() - started < 10
