"""The tools of force really have force: cable, clock, disk and proxy of harness/wired.py."""
import os
import re
import subprocess
import time

import pytest
from harness.site import wait_until
from harness.wired import WiredCluster, directory_for

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")


@pytest.fixture
def cluster(shared_bin):
    directory = directory_for("ls-wired")
    made = WiredCluster(directory, shared_bin, nodes=1, proxied=("n1",))
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def inside(machine, *words, **environment):
    return subprocess.run(machine.inside(words), capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, **environment}).stdout


def test_cable_clock_disk_and_proxy_do_what_they_say(cluster):
    node = cluster.nodes[0]

    def ping(count=5):
        return inside(node, "ping", "-n", "-i", "0.1", "-W", "1", "-c", count, cluster.launcher.address)

    assert " 0% packet loss" in ping()
    for way in ("out", "in"):
        node.cable(way, loss=1.0)
        assert "100% packet loss" in ping()
        node.cable(way, duplicate=1.0)
        assert re.search(r"\+\d duplicates, 0% packet loss", ping())
        node.cable(way, delay_ms=150)
        assert float(re.search(r"min/avg/max/mdev = ([\d.]+)", ping(2))[1]) >= 150
        node.cable(way)
    assert " 0% packet loss" in ping()

    preload = {"LD_PRELOAD": str(cluster.skew), "LOCKSTEP_TEST_SKEW": str(node.skew_file)}
    clocks = "import time; print(int(time.time()), int(time.monotonic()))"

    def read_clocks():
        return [int(word) for word in inside(node, "/usr/bin/python3", "-c", clocks, **preload).split()]

    wall, since = read_clocks()
    node.skew(wall_s=-7200.0, since_s=600.0)
    wall_now, since_now = read_clocks()
    assert -7200 <= wall_now - wall <= -7140 and 600 <= since_now - since <= 660
    node.skew(wall_s=0.0, sync_s=0.5)
    begin = time.monotonic()
    inside(node, "/usr/bin/python3", "-c", "import os; os.fsync(os.open('/tmp/x', 65))", **preload)
    assert time.monotonic() - begin >= 0.5
    node.skew(sync_s=0.0)

    node.fill_disk()
    assert "No space" in inside(node, "sh", "-c", "head -c 100000 /dev/zero 2>&1 > /tmp/y; "
                                "dd if=/dev/zero of=/tmp/y bs=100k count=1 2>&1")
    node.free_disk()

    def liveness():
        return cluster.site.json("node", "show", "n1")["liveness"]

    for what in ("drop_request", "drop_reply"):
        assert liveness() == "ALIVE"
        before = cluster.proxy_stats()
        cluster.order_proxy(name=node.address, **{what: 1.0})
        word = "requests_dropped" if what == "drop_request" else "replies_dropped"
        wait_until(lambda: cluster.proxy_stats()[word] > before[word] + 3, f"{word} grows")
        cluster.order_proxy(name=node.address)
        wait_until(lambda: liveness() == "ALIVE", "all is well again")
    cluster.order_proxy(name=node.address, cut=2)
    wait_until(lambda: cluster.proxy_stats()["cuts"] >= 2, "the connection is cut twice")
    wait_until(lambda: liveness() == "ALIVE", "all is well again")
