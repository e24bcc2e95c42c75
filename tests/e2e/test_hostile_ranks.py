"""Ranks of an ordinary user that take all they can get, on a node whose agent is root: the node stays ALIVE,
jobs of others run on, the message says which limit it was, and nothing is left."""
import glob
import os
import subprocess
import time

import pytest
from harness.site import wait_until
from test_operators import Operator, states

HEARD_WITHIN_S = 5
MILLION = 1_000_000
# In a bind mount, as tests run, the kernel walks all the way up for each "..": 100,000 take minutes.
DEPTH = int(os.environ.get("LOCKSTEP_TREE_DEPTH", "25000"))


def share(memory):
    return ["--cpus", "1", "--memory", memory, "--gpus", "0"]


SHARE = share("256m")


class Submitter:
    """Somebody with a key of their own, whose jobs run as an ordinary account."""

    def __init__(self, site, account):
        self.site = site
        home = site.directory / f"home-{account}"
        home.mkdir()
        self.environment = {"LOCKSTEP_HOME": str(home),
                            "LOCKSTEP_LAUNCHER": str(site.home / "launcher" / "endpoint.json")}
        key = site.ok("user", "key", "show", env=self.environment).strip()
        site.ok("user", "add", account, "--key", key, "--role", "submitter", "--account", account)

    def submit(self, name, *words, memory="256m"):
        self.site.ok("run", "--detach", "--name", name, *share(memory), *words, env=self.environment)
        return name


@pytest.fixture
def node(site, ordinary_user):
    """start(*flags) makes a launcher and one node of two cpus with a root agent; returns the submitter."""
    if os.getuid() != 0:
        pytest.skip("an agent for several accounts needs root")
    operator = Operator(site)

    def start(*flags):
        operator.launcher()
        words = operator.agent_words("n1", "--token-file", operator.token(), *flags)
        del words[words.index("--cpus"):words.index("--cpus") + 2]
        operator._start(*words)
        wait_until(lambda: states(site) == {"n1": "ALIVE"}, "the node is there", 30)
        return Submitter(site, ordinary_user)

    yield start
    for job in site.json("job", "list"):
        if job["status"] not in ("Completed", "Failed", "Canceled"):
            site.run("job", "cancel", job["name"])
            site.wait_for_status(job["name"], "Completed", "Failed", "Canceled")
    wait_until(lambda: not attempts(site), "all attempts are removed")
    operator.close()


def attempts(site):
    return [path.name for path in (site.directory / "n1" / "attempts").iterdir()]


def another_job_runs(site, name, within_s=60):
    begun = time.monotonic()
    site.submit("--name", name, *SHARE, "--", "echo", "here I am")
    site.wait_for_status(name, "Completed", deadline_s=within_s)
    assert site.logs(name) == b"here I am\n"
    assert states(site) == {"n1": "ALIVE"}
    return time.monotonic() - begun


def read(path):
    with open(path) as file:
        return file.read().strip()


def part_of(site, name):
    return site.show(name)["attempts"][-1]["parts"][0]


def test_a_fork_bomb_is_stopped_at_its_limit_and_said(site, node):
    user = node()
    bomb = user.submit("bomb", "--pids-limit", "1000", "--", "bash", "-c", ":(){ :|:& };:; exec sleep 1000")
    wait_until(lambda: part_of(site, bomb)["limits"], "the limit is shown")
    another_job_runs(site, "other")
    [line] = part_of(site, bomb)["limits"]
    assert line.startswith("rank 0 was refused ") and line.endswith("its limit is 1,000 (--pids-limit; lockstep.limits.pids in a job file)"), line
    assert "limit: rank 0 was refused" in site.ok("job", "show", bomb)
    assert "limit on n1: rank 0 was refused" in site.ok("job", "explain", bomb)
    assert "LimitReached" in site.ok("job", "events", bomb)
    site.ok("job", "cancel", bomb)
    site.wait_for_status(bomb, "Canceled")
    assert "was refused" in part_of(site, bomb)["limits"][0], "it stays with the job"


def test_a_fork_bomb_without_a_limit_of_its_own_meets_the_default_one(site, node):
    user = node()
    # No limit of memory either: it begins in its nursery.
    site.ok("run", "--detach", "--name", "bomb", "--", "bash", "-c", ":(){ :|:& };:; exec sleep 1000",
            env=user.environment)
    wait_until(lambda: part_of(site, "bomb")["limits"], "the limit is shown")
    [line] = part_of(site, "bomb")["limits"]
    assert line.startswith("rank 0 was refused ") and line.endswith("its limit is 4,096 (--pids-limit; lockstep.limits.pids in a job file)"), line
    # Nor can many of them take the last process id.
    of_all = [read(path) for path in glob.glob("/sys/fs/cgroup/**/lockstep/pids.max", recursive=True)]
    assert any(limit != "max" and int(limit) < int(read("/proc/sys/kernel/pid_max")) for limit in of_all), of_all
    site.ok("job", "cancel", "bomb")
    site.wait_for_status("bomb", "Canceled")
    another_job_runs(site, "other")


def test_a_rank_that_cannot_fork_fails_with_the_reason(site, node):
    user = node()
    name = user.submit("few", "--pids-limit", "16", "--retry", "0", "--", "python3", "-c",
                       "import os, time\nfor i in range(40):\n  if os.fork() == 0: time.sleep(1000)")
    report = site.wait_for_status(name, "Failed")["report"]
    assert "rank 0" in report["message"] and "its limit is 16 (--pids-limit; lockstep.limits.pids in a job file)" in report["message"], report
    assert "its limit is 16 (--pids-limit; lockstep.limits.pids in a job file)" in site.run("job", "stream", name).stderr.decode()


def test_more_than_the_operator_allows_is_not_placed_and_docker_args_do_not_lift_it(site, node):
    user = node("--max-pids-limit", "2000", "--max-log-limit", "10m")
    assert "at most 2,000 processes a rank, 10.0 MiB of logs" in site.ok("node", "show", "n1")
    name = user.submit("greedy", "--pids-limit", "2001", "--", "true")
    why = wait_until(lambda: site.show(name)["reason"], "it waits, with a reason")
    assert "at most 2,000 processes a rank, 2,001 requested (lockstep-agent --max-pids-limit)" in why
    site.ok("job", "cancel", name)
    for args, said in (("--pids-limit -1", "is refused unless the operator allows it"),
                       ("--pids-limit 99999", "write --pids-limit instead")):
        done = site.run("run", *SHARE, "--image", "debian:12", "--docker-args", args, "--", "true",
                        env=user.environment)
        assert done.returncode != 0 and said in done.stderr.decode(), done.stderr
    site.write("job.yml", "command: sleep 0.1\nlockstep:\n  limits: {pids: 300, log: 1m, disk: 1g}\n")
    made = site.json("job", "create", "-f", "job.yml")["name"]
    site.wait_for_status(made, "Completed")
    assert site.show(made)["lockstep"]["limits"] == {"pids": 300, "log": 1 << 20, "disk": 1 << 30, "required": False}
    assert "300 processes a rank; 1.0 MiB of logs; 1.0 GiB of disk" in site.ok("job", "show", made)


def test_a_gigabyte_a_second_of_output_costs_others_nothing(site, node):
    user = node("--log-spool", "256m")
    flood = user.submit("flood", "--log-limit", "64m", "--", "python3", "-c",
                        "import os\nblock = (b'y' * 1023 + b'\\n') * 1024\nwhile True: os.write(1, block)")
    ticks = site.submit("--name", "ticks", *SHARE, "--", "bash", "-c",
                        "while :; do echo t $EPOCHREALTIME; sleep 0.2; done")
    wait_until(lambda: b"t " in site.logs(ticks), "the first line")
    ages = []
    end = time.monotonic() + 12
    while time.monotonic() < end:
        lines = [line for line in site.logs(ticks).splitlines() if line.startswith(b"t ")]
        ages.append(time.time() - float(lines[-1].split()[1]))
        time.sleep(0.2)
    assert max(ages) < HEARD_WITHIN_S, ages
    assert states(site) == {"n1": "ALIVE"}
    [line] = wait_until(lambda: part_of(site, flood)["limits"], "the limit is shown")
    assert "of the output of rank 0 are not kept" in line and "64.0 MiB (--log-limit; lockstep.limits.log in a job file)" in line, line
    for job in (flood, ticks):
        site.ok("job", "cancel", job)
        site.wait_for_status(job, "Canceled")
    kept = site.logs(flood)
    assert len(kept) < (64 << 20) + 1000
    assert b"[lockstep: this log is cut here: the limit of the job's logs on a node, 64.0 MiB, is reached" in kept[-400:]
    dropped = part_of(site, flood)["limits"][0]
    assert " GiB of the output" in dropped, dropped


def test_a_job_over_its_disk_limit_is_ended_and_says_so(site, node):
    user = node()
    name = user.submit("filler", "--disk-limit", "32m", "--", "bash", "-c",
                       "head -c 64M /dev/zero > big; exec sleep 1000")
    quiet = site.submit("--name", "quiet", *SHARE, "--disk-limit", "32m", "--", "sleep", "1000")
    report = site.wait_for_status(name, "Failed")["report"]
    assert report["cause"] == "disk_limit" and "its limit is 32.0 MiB (--disk-limit; lockstep.limits.disk in a job file)" in report["message"], report
    assert "(--disk-limit; lockstep.limits.disk in a job file)" in site.ok("job", "show", name)
    assert site.show(quiet)["status"] == "Running"
    assert len(site.show(name)["attempts"]) == 1, "another try would fill it again"


@pytest.fixture
def small_disk(site):
    """The node's home on a disk of its own, which goes when the node has."""
    if os.getuid() != 0:
        pytest.skip("mounting needs root")
    disk = site.directory / "n1"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m,mode=0711", "lockstep-e2e", disk], check=True)
    yield disk
    wait_until(lambda: subprocess.run(["umount", disk], check=False, capture_output=True).returncode == 0,
               "the disk is free")


def test_of_a_full_disk_the_one_who_filled_it_is_ended(site, small_disk, node):
    user = node()
    quiet = site.submit("--name", "quiet", *SHARE, "--", "bash", "-c", "while :; do echo on; sleep 0.3; done")
    wait_until(lambda: site.show(quiet)["status"] == "Running", "the other runs")
    name = user.submit("filler", "--", "bash", "-c", "cat /dev/zero > big; exec sleep 1000", memory="1g")
    report = site.wait_for_status(name, "Failed")["report"]
    assert report["cause"] == "disk_limit" and "this node's disk is full" in report["message"], report
    assert states(site) == {"n1": "ALIVE"}
    before = len(site.logs(quiet))
    wait_until(lambda: len(site.logs(quiet)) > before, "the other runs on")
    site.ok("job", "cancel", quiet)
    site.wait_for_status(quiet, "Canceled")
    another_job_runs(site, "later")


UNLINKED = "exec 7>\"$TMPDIR/hidden\"; rm \"$TMPDIR/hidden\"; head -c {} /dev/zero >&7; exec sleep 1000"


def test_what_a_rank_removed_but_still_has_open_counts(site, node):
    user = node()
    name = user.submit("hider", "--disk-limit", "32m", "--", "bash", "-c", UNLINKED.format("64M"))
    report = site.wait_for_status(name, "Failed")["report"]
    assert report["cause"] == "disk_limit" and "removed and are still open" in report["message"], report
    # In the working directory, which is an overlay where the node can have one.
    name = user.submit("hider2", "--disk-limit", "32m", "--", "bash", "-c",
                       UNLINKED.format("64M").replace("$TMPDIR", "."))
    report = site.wait_for_status(name, "Failed")["report"]
    assert report["cause"] == "disk_limit" and "removed and are still open" in report["message"], report


def test_of_a_full_disk_the_one_who_hides_what_filled_it_is_ended(site, small_disk, node):
    user = node()
    quiet = site.submit("--name", "quiet", *SHARE, "--", "sleep", "1000")
    wait_until(lambda: site.show(quiet)["status"] == "Running", "the other runs")
    name = user.submit("hider", "--", "bash", "-c", UNLINKED.format("1G"), memory="1g")
    report = site.wait_for_status(name, "Failed")["report"]
    assert report["cause"] == "disk_limit" and "this node's disk is full" in report["message"], report
    assert site.show(quiet)["status"] == "Running"
    site.ok("job", "cancel", quiet)
    site.wait_for_status(quiet, "Canceled")
    another_job_runs(site, "later")


def test_holes_stay_holes_and_a_tree_without_room_is_refused_for_the_node(site, small_disk, node):
    user = node()
    for name, size in (("fits", "100M"), ("huge", "1G")):
        user.submit(name, "--", "bash", "-c",
                    f"echo begin > outputs/model && truncate -s {size} outputs/model")
        site.wait_for_status(name, "Completed")
    address = "azureml://jobs/{}/outputs/artifacts/paths/outputs"
    name = user.submit("reader", "--input", "d=" + address.format("fits"), "--", "bash", "-c",
                       "du -m .lockstep/inputs/d/model; stat -c %s .lockstep/inputs/d/model")
    site.wait_for_status(name, "Completed")
    blocks, size = site.logs(name).decode().splitlines()
    assert int(blocks.split()[0]) <= 2 and int(size) == 100 << 20, (blocks, size)
    site.ok("job", "download", "huge", "-p", "here")
    [model] = (site.work / "here").rglob("model")
    assert model.stat().st_size == 1 << 30 and model.stat().st_blocks * 512 < 1 << 20, model.stat()
    # How much of a file are holes is not known before it is here: it counts with its size.
    name = user.submit("refused", "--input", "d=" + address.format("huge"), "--", "true")
    job = site.wait_for_status(name, "Failed")
    assert job["report"]["cause"] == "workspace_failed", job["report"]
    assert "it needs 1.0 GiB of this node's disk, where" in job["report"]["message"], job["report"]
    assert len(job["attempts"]) == 1, "the same node has no more room a second later"
    another_job_runs(site, "later")


def test_what_a_killed_rank_leaves_in_shared_memory_goes_with_it(site, node):
    user = node()
    left = f"/dev/shm/left-{os.getpid()}"
    name = user.submit("leaver", "--retry", "0", "--", "bash", "-c",
                       f"head -c 10M /dev/zero > {left}; ls /dev/shm; kill -9 $$")
    assert site.wait_for_status(name, "Failed")["report"]["cause"] == "signal"
    assert site.logs(name).decode().split() == [os.path.basename(left)], "nobody else's is there"
    assert not os.path.exists(left)


DEEP = """
import os, sys
for i in range(int(sys.argv[1])):
    os.mkdir("d")
    os.chdir("d")
"""

LONG_NAMES = """
import os
for i in range(200):
    name = bytes([0xf0 + i % 8]) * 200 + (b"%055d" % i)
    os.mkdir(name)
    os.chdir(name)
    open(b"\\xff" * 255, "w").close()
"""

MANY = """
import os, sys
for folder in range(int(sys.argv[1]) // 10_000):
    os.mkdir(str(folder))
    for entry in range(10_000):
        os.close(os.open(f"{folder}/{entry}", os.O_CREAT | os.O_WRONLY, 0o600))
"""


@pytest.mark.parametrize("tree, words", [(DEEP, [str(DEPTH)]), (LONG_NAMES, []), (MANY, [str(MILLION)])],
                         ids=["deep", "names-of-255-bytes", "1000000-entries"])
def test_what_a_job_leaves_is_removed_while_others_run(site, node, tree, words):
    user = node()
    script = site.write("tree.py", tree)
    script.chmod(0o644)
    name = user.submit("tree", "--retry", "0", "--", "python3", "tree.py", *words)
    job = site.wait_for_status(name, "Completed", "Failed", deadline_s=300)
    assert job["status"] == "Completed", job["report"]
    began = time.monotonic()
    another_job_runs(site, "other", within_s=30)
    wait_until(lambda: not attempts(site), "the tree is removed", 300)
    print(f"removed after {time.monotonic() - began:.1f} s")
    aside = site.directory / "n1" / "quarantine"
    assert not aside.exists() or not list(aside.iterdir())
    assert states(site) == {"n1": "ALIVE"}
