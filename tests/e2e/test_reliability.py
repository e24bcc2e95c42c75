"""What is decided when: the rows of docs/reliability.md that no other file shows, each on real daemons."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from harness.site import wait_until
from harness.wired import WiredCluster, directory_for

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")

# Says who it is once, and a number every 50 ms, until the flag is there.
TICKER = """
echo attempt $LOCKSTEP_ATTEMPT on $(uname -n)
i=0
while [ ! -e {flag} ]; do echo tick $i; i=$((i + 1)); sleep 0.05; done
echo last $i
"""


@pytest.fixture
def cluster(shared_bin):
    directory = directory_for("ls-rel")
    made = WiredCluster(directory, shared_bin, nodes=2, launcher_flags=("--reconnect-grace", "10s"))
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


class Ticking:
    """A job that ticks on `nodes` nodes until it is told to end."""

    def __init__(self, cluster, nodes=1, name="ticking"):
        self.cluster, self.site, self.name, self.nodes = cluster, cluster.site, name, nodes
        self.flag = cluster.directory / f"{name}.flag"
        self.site.submit("-N", str(nodes), "--name", name, "--", "sh", "-c",
                         TICKER.format(flag=self.flag))
        self.ticks_on(1)

    def log(self, attempt):
        return self.site.logs(self.name, "--attempt", str(attempt)).decode()

    def ticks_on(self, attempt):
        """Waits until each rank of this attempt ticks, beyond what was known of it."""
        before = self.log(attempt).count("tick")
        wait_until(lambda: self.log(attempt).count("attempt") == self.nodes and
                   self.log(attempt).count("tick") > before + 5 * self.nodes, f"attempt {attempt} ticks")

    def attempts(self):
        return self.site.show(self.name)["attempts"]

    def places(self, attempt=-1):
        names = [p["node_name"] for p in self.attempts()[attempt]["parts"]]
        return [next(n for n in self.cluster.nodes if n.name == name) for name in names]

    def end(self, attempts):
        """Lets it end: Completed, in so many attempts, and the last one's log is whole."""
        self.flag.touch()
        self.site.wait_for_status(self.name, "Completed")
        assert len(self.attempts()) == attempts
        for path in self.cluster.launcher.home.glob(f"logs/{self.name}/{attempts}/*.stdout"):
            lines = path.read_text().splitlines()
            assert lines[1:-1] == [f"tick {i}" for i in range(len(lines) - 2)], path
            assert lines[-1] == f"last {len(lines) - 2}"


def liveness(cluster, node):
    done = cluster.site.run("node", "show", node.name, "-o", "json")
    return json.loads(done.stdout)["liveness"] if done.returncode == 0 else "?"


def wait_for(cluster, node, word):
    wait_until(lambda: liveness(cluster, node) == word, f"{node.name} is {word}", 60)


def takes_work(cluster, node):
    return cluster.site.json("node", "show", node.name)["reason"] == ""


def fenced(cluster, node):
    """ALIVE again, it takes work only without its stale ranks, which have a grace time to end."""
    wait_until(lambda: takes_work(cluster, node), f"{node.name} takes work", 60)
    assert not node.programs("sh"), "a rank of a lost attempt is on a node that takes work"
    wait_until(lambda: not node.programs("lockstep-runner"), "their runner leaves")


def jobs_of(cluster, node):
    return cluster.site.json("node", "show", node.name)["jobs"]


def test_a_killed_spawn_takes_its_ranks_along_and_the_job_is_retried(cluster):
    job = Ticking(cluster, nodes=2)
    victim = job.places()[0]
    ranks = [p for p, _ in victim.programs("sh")]
    assert ranks
    os.kill(victim.programs("lockstep-spawn")[0][0], signal.SIGKILL)
    wait_until(lambda: len(job.attempts()) == 2, "the job is retried")
    assert not set(ranks) & {p for p, _ in victim.programs("sh")}
    assert job.attempts()[0]["report"]["cause"] == "runner_lost"
    job.ticks_on(2)
    job.end(attempts=2)


def test_an_agent_gone_for_long_is_lost_and_finds_its_stale_ranks_fenced(cluster):
    job = Ticking(cluster)
    victim = job.places()[0]
    victim.kill_daemon()
    wait_until(lambda: len(job.attempts()) == 2, "the job is retried elsewhere", 60)
    assert job.attempts()[0]["report"]["cause"] == "node_lost"
    assert job.places()[0] is not victim
    job.ticks_on(2)
    assert victim.programs("lockstep-runner"), "nobody on the node could know"
    cluster.start_agent(victim)
    wait_for(cluster, victim, "ALIVE")
    fenced(cluster, victim)
    job.end(attempts=2)


@pytest.mark.parametrize("way", ["out", "in"])
def test_loss_in_one_direction_only(cluster, way):
    """Shorter than node_lost_timeout nothing happens; longer, it is a lost node, once."""
    job = Ticking(cluster)
    victim = job.places()[0]
    victim.cable(way, loss=1.0)
    wait_for(cluster, victim, "UNKNOWN")
    victim.cable(way)
    wait_for(cluster, victim, "ALIVE")
    job.ticks_on(1)
    assert len(job.attempts()) == 1
    victim.cable(way, loss=1.0)
    wait_until(lambda: len(job.attempts()) == 2, "the job is retried elsewhere", 60)
    assert job.places()[0] is not victim
    job.ticks_on(2)
    victim.cable(way)
    wait_for(cluster, victim, "ALIVE")
    assert not jobs_of(cluster, victim)
    fenced(cluster, victim)
    job.end(attempts=2)


def test_a_node_that_is_cut_off_goes_on_and_is_fenced_at_its_first_contact(cluster):
    job = Ticking(cluster)
    victim = job.places()[0]
    log = next(victim.home.glob("attempts/ticking.1/logs/*.stdout"))
    victim.link("down")
    wait_until(lambda: len(job.attempts()) == 2, "the job is retried elsewhere", 60)
    size = log.stat().st_size
    wait_until(lambda: log.stat().st_size > size, "its ranks go on meanwhile")
    victim.link("up")
    wait_for(cluster, victim, "ALIVE")
    fenced(cluster, victim)
    job.ticks_on(2)
    job.end(attempts=2)


def test_a_launcher_gone_for_ten_minutes(cluster):
    """The ten minutes are the nodes' clocks': all that has a timer there sees them pass."""
    job = Ticking(cluster, nodes=2)
    cluster.launcher.kill_daemon()
    for node in cluster.nodes:
        pid = node.programs("lockstep-runner")[0][0]
        assert cluster.skew.name in pathlib.Path(f"/proc/{pid}/maps").read_text()
        node.skew(since_s=600)
    logs = [next(n.home.glob("attempts/ticking.1/logs/*.stdout")) for n in cluster.nodes]
    sizes = [log.stat().st_size for log in logs]
    wait_until(lambda: all(log.stat().st_size > size + 200 for log, size in zip(logs, sizes)),
               "the ranks go on")
    cluster.start_launcher()
    cluster.wait_until_alive()
    job.ticks_on(1)
    job.end(attempts=1)


def test_a_launcher_stopped_for_longer_than_the_lost_timeout_blames_nobody(cluster):
    """Only time in which the launcher itself polled counts."""
    job = Ticking(cluster)
    pid = cluster.launcher.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    begin = time.monotonic()
    wait_until(lambda: time.monotonic() > begin + 14, "more than node_lost_timeout has passed")
    os.kill(pid, signal.SIGCONT)
    cluster.launcher.wake_nsenter()
    job.ticks_on(1)
    cluster.wait_until_alive()
    job.end(attempts=1)


def test_a_cloned_node_is_refused_with_its_twin(cluster):
    original, host = cluster.nodes
    host.stop_daemon()
    shutil.rmtree(host.home)
    shutil.copytree(original.home, host.home, ignore=shutil.ignore_patterns("*.lock", "*.sock"))
    (cluster.directory / "n2.token").unlink()
    host.start_daemon([cluster.bin / "lockstep-agent", "--home", host.home])
    wait_until(lambda: "cloned" in cluster.site.json("node", "show", "n1")["reason"] or
               "cloned" in host.log.read_text() + original.log.read_text(), "both are named", 60)
    for machine in (original, host):
        wait_until(lambda m=machine: not m.daemon_pid() or "two agents identify themselves as node n1" in
                   m.log.read_text(), f"the agent on {machine.name} was told")


@pytest.mark.parametrize("who", ["launcher", "node"])
@pytest.mark.parametrize("hours", [3, -3])
def test_a_jump_of_the_wall_clock_moves_no_deadline(cluster, who, hours):
    job = Ticking(cluster)
    machine = cluster.launcher if who == "launcher" else job.places()[0]
    machine.skew(wall_s=3600.0 * hours)
    job.ticks_on(1)
    assert cluster.live() == 2
    machine.kill_daemon()  # and what starts with the new time agrees with the old
    cluster.start(machine)
    cluster.wait_until_alive()
    job.ticks_on(1)
    second = cluster.site.submit("--name", "second", "--", "true")
    cluster.site.wait_for_status(second, "Completed")
    assert cluster.live() == 2
    job.end(attempts=1)


def test_a_full_disk_of_a_node_blocks_its_ranks_until_there_is_space(cluster):
    job = Ticking(cluster)
    victim = job.places()[0]
    log = next(victim.home.glob("attempts/ticking.1/logs/*.stdout"))
    victim.fill_disk()
    # A page that was begun is still filled: then nothing more can be written.
    wait_until(lambda: log.stat().st_size % os.sysconf("SC_PAGE_SIZE") == 0, "the log cannot grow")
    assert victim.programs("lockstep-runner")
    victim.free_disk()
    job.ticks_on(1)
    job.end(attempts=1)


def test_a_full_disk_of_the_launcher_loses_nothing(cluster):
    """It may end with the code of a failed commit; started again with space, it goes on. What a job
    left behind meanwhile is sent then."""
    job = Ticking(cluster)
    site, launcher = cluster.site, cluster.launcher
    flag = cluster.directory / "late.flag"
    site.submit("--name", "late", "--", "sh", "-c",
                f"while [ ! -e {flag} ]; do sleep 0.05; done; head -c 300000 /dev/urandom > outputs/big")
    wait_until(lambda: site.show("late")["status"] == "Running", "the second job runs")
    launcher.fill_disk()
    refused = site.run("run", "--detach", "--name", "later", "--", "true", timeout=60)
    assert refused.returncode != 0
    flag.touch()
    node = next(n for n in cluster.nodes if list(n.home.glob("attempts/late.1")))
    wait_until(lambda: not node.programs("lockstep-runner"), "the second job's rank has ended")
    launcher.free_disk()
    if not launcher.daemon_pid():
        assert launcher.daemon.wait(timeout=10) in (6, 7)
        cluster.start_launcher()
    cluster.wait_until_alive()
    assert site.wait_for_status("late", "Completed")["attempts"][0]["parts"][0]["outputs"][0]["files"] == 1
    job.ticks_on(1)
    job.end(attempts=1)


@pytest.mark.parametrize("who", ["launcher", "node"])
def test_a_slow_disk_makes_no_node_lost(cluster, who):
    job = Ticking(cluster)
    machine = cluster.launcher if who == "launcher" else job.places()[0]
    machine.skew(sync_s=2.0)
    second = cluster.site.submit("--name", "second", "--", "true")
    cluster.site.wait_for_status(second, "Completed")
    assert cluster.live() == 2
    machine.skew(sync_s=0)
    job.end(attempts=1)


FAILS = """
import os, sys, time
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.002)
if os.uname().nodename == "n1":
    sys.exit(1)
time.sleep(0.3)
sys.exit(3)
"""


def test_the_first_failure_is_found_though_a_clock_is_slow(cluster):
    """n2's clock says 0.3 s before n1's failure when its own rank fails 0.3 s after it."""
    site = cluster.site
    cluster.nodes[1].skew(wall_s=-0.6)
    wait_until(lambda: "its clock is 0.60 s behind the launcher's" in site.ok("node", "list"), "it is measured")
    flag = cluster.directory / "fails.flag"
    site.write("fails.py", FAILS)
    name = site.submit("-N", "2", "--name", "fails", "--", "/usr/bin/python3", "fails.py", str(flag))
    wait_until(lambda: site.logs(name).count(b"ready") == 2, "both ranks look for the flag")
    cluster.order_wire("n1 out 0 0 500 0")  # n2's rank fails before it could hear of n1's
    try:
        flag.touch()
        report = site.wait_for_status(name, "Failed")["report"]
    finally:
        cluster.order_wire("n1 out 0 0 0 0")
    assert (report["node_name"], report["exit_code"], report["also"]) == ("n1", 1, []), report
    [clock] = report["clocks"]
    assert clock["node_name"] == "n2" and -0.61 < clock["ahead_seconds"] < -0.59, clock
    assert clock["uncertainty_seconds"] < 0.05, clock


TURNS = """
import os, pathlib, sys, time
batons = pathlib.Path(sys.argv[1])
mine = ["n1", "n2"].index(os.uname().nodename)
print("ready", flush=True)
for turn in range(6):
    while not (batons / str(turn)).exists():
        time.sleep(0.002)
    if turn % 2 == mine:
        print("turn", turn, flush=True)
        time.sleep(0.05)
        (batons / str(turn + 1)).touch()
"""


@pytest.mark.parametrize("when", ["before", "while-it-runs"])
def test_lines_of_nodes_are_in_order_though_a_clock_is_slow(cluster, when):
    site = cluster.site
    batons = cluster.directory / "batons"
    batons.mkdir()
    batons.chmod(0o777)

    def make_slow():
        cluster.nodes[1].skew(wall_s=-0.6)
        wait_until(lambda: "its clock is 0.60 s behind the launcher's" in site.ok("node", "list"), "it is measured")

    if when == "before":
        make_slow()
    site.write("turns.py", TURNS)
    name = site.submit("-N", "2", "--name", "turns", "--", "/usr/bin/python3", "turns.py", str(batons))
    wait_until(lambda: site.logs(name).count(b"ready") == 2, "both ranks wait for their turn")
    if when != "before":
        make_slow()
    (batons / "0").touch()
    site.wait_for_status(name, "Completed")
    lines = [line.split(b"| ")[-1] for line in site.logs(name).splitlines()]
    assert [line for line in lines if line.startswith(b"turn")] == [b"turn %d" % turn for turn in range(6)], lines
