"""kill -9 of every part in mid-job: the job finishes, and every line arrives exactly once."""
import hashlib
import signal

import pytest
from harness.site import wait_until

# Numbered lines, each with a checksum of its own, until the file appears (or for ever).
TALKER = """
import hashlib, os, sys, time
rank, flag = os.environ["AZUREML_PROCESS_NAME"], sys.argv[1]
number = 0
while True:
    body = f"{rank} line {number}"
    print(body, hashlib.sha256(body.encode()).hexdigest()[:16], flush=True)
    number += 1
    if number % 50 == 0 and os.path.exists(flag):
        break
    time.sleep(0.002)
print(f"{rank} end {number}", flush=True)
"""


def check_lines(text, ranks):
    """Each rank's lines: all there, in order, once, unharmed."""
    for rank in range(ranks):
        mine = [l.split("rank_", 1)[1] for l in text.splitlines() if f"rank_{rank} " in l]
        assert mine and mine[-1].split()[1] == "end", (rank, mine[-3:])
        assert len(mine) - 1 == int(mine[-1].split()[2])
        for number, line in enumerate(mine[:-1]):
            words = ("rank_" + line).split()
            assert words[2] == str(number), (rank, number, line)
            assert hashlib.sha256(" ".join(words[:3]).encode()).hexdigest()[:16] == words[3]


def start_talker(site, name):
    site.write("talker.py", TALKER)
    flag = site.directory / f"{name}.flag"
    site.ok("run", "--detach", "-N", "2", "-n", "2", "--name", name, "--", "python3", "talker.py", flag)
    wait_until(lambda: site.logs(name).count(b"line") > 200, "lines arrive")
    return flag


def finish(site, name, flag):
    flag.write_text("")
    flag.chmod(0o644)
    site.wait_for_status(name, "Completed")
    check_lines(site.logs(name, "--stdout").decode(), 4)
    assert len(site.show(name)["attempts"]) == 1


@pytest.mark.parametrize("what", ["launcher", "agent", "both"])
def test_kill_and_restart_loses_nothing(any_site, what):
    any_site.up(2)
    flag = start_talker(any_site, what)
    before = any_site.logs(what).count(b"\n")
    if what in ("launcher", "both"):
        any_site.kill(any_site.launcher_pids())
    if what in ("agent", "both"):
        any_site.kill(any_site.agent_pids())
    any_site.up(2)
    wait_until(lambda: any_site.logs(what).count(b"\n") > before + 200, "lines go on")
    finish(any_site, what, flag)


def test_when_it_started_is_known_though_all_were_killed_soon_after(site):
    """Launcher, agent and runner at once: whoever comes next finds the runner's own word of it."""
    site.up(1)
    site.submit("-N", "1", "--name", "short", "--retry", "0", "--", "sleep", "1000")
    wait_until(lambda: site.rank_pids("short"), "its rank runs")
    site.kill(site.launcher_pids() + site.agent_pids() + site.runner_pids("short"))
    site.up(1)
    job = site.wait_for_status("short", "Failed")
    [attempt] = job["attempts"]
    assert attempt["report"]["cause"] == "runner_lost", attempt
    assert attempt["started"] and attempt["placed"] <= attempt["started"] <= attempt["ended"], attempt


def test_an_agent_restarted_twice_in_a_row(site):
    site.up(2)
    flag = start_talker(site, "twice")
    for _ in range(2):
        site.kill(site.agent_pids("local-0"))
        site.up(2)
    finish(site, "twice", flag)


def test_a_stream_goes_on_over_a_launcher_restart_exactly_once(site):
    site.up(2)
    flag = start_talker(site, "streamed")
    stream = site.start("job", "stream", "streamed", bufsize=0)
    first = stream.stdout.readline()  # unbuffered: communicate() gets the rest
    site.kill(site.launcher_pids())
    site.up(2)
    before = site.logs("streamed").count(b"\n")
    wait_until(lambda: site.logs("streamed").count(b"\n") > before + 200, "lines go on")
    flag.write_text("")
    out, err = stream.communicate(timeout=120)
    assert stream.returncode == 0, err
    check_lines((first + out).decode(), 4)


def test_a_killed_runner_takes_its_ranks_along_and_the_job_is_retried(any_site):
    any_site.up(2)
    flag = any_site.directory / "runner.flag"
    script = f"echo attempt $LOCKSTEP_ATTEMPT; while [ ! -e {flag} ]; do sleep 0.05; done"
    name = any_site.submit("-N", "2", "-n", "2", "--name", "retried", "--", "sh", "-c", script)
    wait_until(lambda: any_site.logs(name).count(b"attempt 1") == 4, "the first attempt runs")
    ranks = any_site.rank_pids(name)
    runner = any_site.runner_pids(name)
    assert len(runner) == 2 and len(ranks) == 4
    any_site.kill(runner[:1])
    wait_until(lambda: not set(ranks.values()) & set(any_site.rank_pids(name).values()),
               "the old ranks are gone", 15)
    wait_until(lambda: any_site.show(name)["attempts"][-1]["number"] == 2, "a second attempt")
    flag.write_text("")
    job = any_site.wait_for_status(name, "Completed")
    assert [a["number"] for a in job["attempts"]] == [1, 2]
    assert job["attempts"][0]["report"]["cause"] == "runner_lost"


# The first attempt says it is there, writes many lines when told to, and stays; the second ends.
WRITER = """
import os, sys, time
if os.environ["LOCKSTEP_ATTEMPT"] != "1":
    sys.exit(0)
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
for number in range(20_000):
    print("line", number)
    print("error", number, file=sys.stderr)
print("last", flush=True)
time.sleep(10_000)
"""


def test_what_the_ranks_of_a_killed_runner_wrote_is_all_kept(any_site):
    any_site.up(1)
    any_site.write("writer.py", WRITER)
    flag = any_site.directory / "write.flag"
    name = any_site.submit("-N", "1", "-n", "2", "--name", "written", "--",
                           "python3", "writer.py", flag)
    wait_until(lambda: any_site.logs(name).count(b"ready") == 2, "the ranks are there")
    directory = next(any_site.home.rglob(f"{name}.1/logs"))

    def written(rank):
        lines = (directory / f"rank_{rank}.stdout").read_bytes().splitlines()
        errors = (directory / f"rank_{rank}.stderr").read_bytes().splitlines()
        return lines[-1] == b"last" and errors[-1] == b"error 19999"

    # The agent ships nothing of it before the runner is dead.
    agents = any_site.agent_pids()
    any_site.kill(agents, signal.SIGSTOP)
    try:
        flag.touch(0o644)
        wait_until(lambda: written(0) and written(1), "all is on the node's disk", 8)
        any_site.kill(any_site.runner_pids(name))
    finally:
        any_site.kill(agents, signal.SIGCONT)
    job = any_site.wait_for_status(name, "Completed")
    assert job["attempts"][0]["report"]["cause"] == "runner_lost"
    for rank in ("0", "1"):
        shown = any_site.run("job", "logs", name, "--attempt", "1", "--rank", rank)
        out, err = shown.stdout.splitlines(), shown.stderr.splitlines()
        assert [l.split()[-1] for l in out] == [b"ready", *(b"%d" % n for n in range(20_000)), b"last"]
        assert [l.split()[-1] for l in err] == [b"%d" % n for n in range(20_000)]
