"""Nodes fetch what they lack from each other: four hosts, and a launcher on a slow line."""
import hashlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import pytest
from harness.namespaces import Cluster
from harness.site import wait_until
from test_roles import REVOKED_WITHIN_S

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")

MIB = 1 << 20
HASH_ALL = "cat part.* | sha256sum"


@pytest.fixture
def cluster(shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-peers-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=4)
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def fill(site, mebibytes):
    """A source tree of random files; returns what HASH_ALL prints of it."""
    every = hashlib.sha256()
    for old in site.work.iterdir():
        old.unlink()
    for i in range(mebibytes // 2):
        data = os.urandom(2 * MIB)
        (site.work / f"part.{i:03}").write_bytes(data)
        every.update(data)
    return every.hexdigest()


def sent_by(host):
    words = ["cat", "/sys/class/net/eth0/statistics/tx_bytes"]
    return int(subprocess.run(["ip", "netns", "exec", host.namespace, *words], check=True,
                              capture_output=True).stdout)


def slow_down(host, megabits):
    subprocess.run(["tc", "-n", host.namespace, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate",
                    f"{megabits}mbit", "burst", "256k", "latency", "200ms"], check=True)


def stops_sending(host, seconds, since):
    """Demands that no more than `seconds` after that moment it still sends more than heartbeats."""
    counted, last, looked = sent_by(host), since, since
    while looked - last < seconds + 2:
        time.sleep(0.1)
        now, looked = sent_by(host), time.monotonic()
        if now - counted > 64 << 10:
            last = looked
        counted = now
        assert last - since < seconds, f"{host.name} goes on to send"


def agent_of(cluster, node):
    return cluster.site._pids("lockstep-agent", f"{cluster.directory}/{node} ")


def blobs_of(site):
    return {name: site.json("node", "show", name)["blobs"] for name in ("n1", "n2", "n3", "n4")}


def test_a_launcher_on_a_slow_line_sends_about_one_copy(cluster):
    site = cluster.site
    size = 200 * MIB
    expected = fill(site, 200)
    slow_down(cluster.launcher, 200)
    before = sent_by(cluster.launcher)
    name = site.submit("-N", "4", "-n", "1", "--", "sh", "-c", HASH_ALL)
    wait_until(lambda: any("peer" in part["progress"]
                           for attempt in site.show(name)["attempts"] for part in attempt["parts"]),
               "the progress of a node names its peers", 120)
    site.wait_for_status(name, "Completed", deadline_s=300)
    out = site.logs(name).decode()
    assert out.count(expected) == 4, out
    sent = sent_by(cluster.launcher) - before
    assert sent < 2 * size, f"the launcher sent {sent / size:.2f} copies"
    blobs = blobs_of(site)
    assert sum(b["from_launcher_bytes"] for b in blobs.values()) < 2 * size, blobs
    assert sum(b["from_peers_bytes"] for b in blobs.values()) > 2 * size, blobs
    assert all(b["lies"] == 0 for b in blobs.values()), blobs
    text = site.ok("node", "show", "n1")
    assert "from other nodes" in text, text


def test_peers_that_are_killed_or_stopped_on_the_way_hold_nobody_up(cluster):
    site = cluster.site
    expected = fill(site, 80)
    slow_down(cluster.launcher, 100)
    names = [site.submit("-n", "1", "--", "sh", "-c", HASH_ALL) for _ in cluster.nodes]

    def node_of(name):
        attempts = site.show(name)["attempts"]
        return attempts[-1]["parts"][0]["node_name"] if attempts else None

    def fetches(name):
        attempts = site.show(name)["attempts"]
        progress = attempts[-1]["parts"][0]["progress"] if attempts else ""
        return "fetching" in progress and "fetching 0.0" not in progress

    wait_until(lambda: all(fetches(name) for name in names), "all four fetch")
    where = {node_of(name): name for name in names}
    assert sorted(where) == ["n1", "n2", "n3", "n4"]
    killed, stopped = agent_of(cluster, "n2"), agent_of(cluster, "n3")
    site.kill(killed)
    site.kill(stopped, signal.SIGSTOP)
    for node in ("n1", "n4"):
        site.wait_for_status(where[node], "Completed", deadline_s=180)
        assert expected in site.logs(where[node]).decode()
    site.kill(stopped, signal.SIGCONT)
    cluster.reboot(cluster.nodes[1])
    for name in names:
        site.wait_for_status(name, "Completed", deadline_s=240)
        assert expected in site.logs(name).decode()


def test_a_node_in_drain_still_serves(cluster):
    site = cluster.site
    size = 24 * MIB
    expected = fill(site, 24)
    for node in ("n2", "n3", "n4"):
        site.ok("node", "drain", node)
    assert expected in site.ok("run", "-n", "1", "--", "sh", "-c", HASH_ALL)
    assert blobs_of(site)["n1"]["from_launcher_bytes"] == size
    site.ok("node", "drain", "n1")
    site.ok("node", "resume", "n2")
    assert expected in site.ok("run", "-n", "1", "--", "sh", "-c", HASH_ALL)
    blobs = blobs_of(site)
    assert blobs["n2"] == {**blobs["n2"], "from_launcher_bytes": 0, "from_peers_bytes": size}, blobs
    assert blobs["n1"]["to_peers_bytes"] == size, blobs


def test_a_node_that_is_revoked_gets_nothing_more_from_its_peers(cluster):
    """A stolen key would not end its agent, as an honest node does: this one is cut off from the launcher, and from
    nobody else."""
    site, (n1, n2) = cluster.site, cluster.nodes[:2]
    expected = fill(site, 200)
    for node in ("n2", "n3", "n4"):
        site.ok("node", "drain", node)
    assert expected in site.ok("run", "-n", "1", "--", "sh", "-c", HASH_ALL, timeout=300)
    site.ok("node", "drain", "n1")
    site.ok("node", "resume", "n2")
    slow_down(n1, 100)
    before = sent_by(n1)
    name = site.submit("-n", "1", "--", "sh", "-c", HASH_ALL)
    wait_until(lambda: sent_by(n1) - before > 10 * MIB, "n2 fetches from n1")
    subprocess.run(["ip", "-n", n2.namespace, "route", "add", "blackhole", cluster.launcher.address], check=True)
    middle = sent_by(n1)
    wait_until(lambda: sent_by(n1) - middle > 20 * MIB, "it goes on without the launcher", 30)
    site.ok("node", "revoke", "n2", "--now")
    stops_sending(n1, REVOKED_WITHIN_S, time.monotonic())
    assert sent_by(n1) - before < 150 * MIB, "there was more to send"
    assert agent_of(cluster, "n2"), "nobody told it"
    subprocess.run(["ip", "-n", n2.namespace, "route", "del", "blackhole", cluster.launcher.address], check=True)
    wait_until(lambda: not agent_of(cluster, "n2"), "it is told, and ends")
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")
