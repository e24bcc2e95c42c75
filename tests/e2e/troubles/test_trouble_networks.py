"""First screens of networks among nodes that are not what they seem: a firewall among ranks, an MTU black hole, and a
second network with other names that leads nowhere. With the settings that Lockstep makes taken away, the last one hangs
or fails: so these are what helps."""
import pathlib
import re
import subprocess
import tempfile

import pytest
from harness.first_screen import judge, needs_root, only_long, plain, screen
from harness.namespaces import Cluster
from harness.networks import add_bridge, iptables, lose_large

pytestmark = [needs_root, only_long]

SUMS = """
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1 << 20)
dist.all_reduce(value)
print(f"rank {dist.get_rank()} has the sum {value[0]:.0f}")
"""


@pytest.fixture
def cluster(shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-nets-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=2)
    made.in_order = True
    try:
        yield made
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def ip(host, *words):
    subprocess.run(["ip", "-n", host.namespace, *words], check=True)


def run(cluster, *words):
    cluster.site.write("train.py", SUMS)
    return cluster.site.run("run", "--name", "train", "-N", "2", "-n", "1", "--distribution", "pytorch", "--retry", "0", *words,
                            "--", "python3", "train.py", timeout=300)


def refuse(host, other, how="DROP"):
    """`host` lets no connection of `other` in."""
    reject = ["--reject-with", "tcp-reset"] if how == "REJECT" else []
    iptables(host, "-A", "INPUT", "-p", "tcp", "--syn", "-s", other.address, "-j", how, *reject)


@pytest.mark.parametrize("how, says", [("DROP", "timed out"), ("REJECT", "refused")])
def test_a_firewall_among_ranks(cluster, how, says):
    """It lets nodes and launcher talk, and drops or rejects what nodes say to each other."""
    cluster.create()
    n1, n2 = cluster.nodes
    refuse(n1, n2, how)
    refuse(n2, n1, how)
    judge(f"firewall-{how.lower()}", screen(cluster.site, run(cluster)),
          rf"n2 \(10\.77\.0\.3, eth0\) cannot reach n1 \(10\.77\.0\.2\) port PORT: {says}", "firewall|listens")


def test_a_firewall_in_one_direction(cluster):
    """What lets the runners' tree be made, which the second node dials, may still keep ranks from each other."""
    cluster.create()
    n1, n2 = cluster.nodes
    refuse(n2, n1)
    judge("firewall-one-way", screen(cluster.site, run(cluster)),
          r"n1 \(10\.77\.0\.2, eth0\) cannot reach n2 \(10\.77\.0\.3\) port PORT: timed out; a firewall")


def test_an_mtu_black_hole(cluster):
    """Packets above 1,400 bytes are lost between the nodes, and no ICMP tells of it."""
    cluster.create()
    n1, n2 = cluster.nodes
    lose_large(n1, n2, 1400)
    lose_large(n2, n1, 1400)
    judge("mtu-black-hole", screen(cluster.site, run(cluster)), "packets above 1400 bytes are lost; set the MTU of eth0 on n[12]")


def add_dead_network(cluster):
    """As docker's bridge: the same address on every node, and nobody is there. And a network of another name on each node
    whose other end is plugged into nothing."""
    for number, (host, name) in enumerate(zip(cluster.nodes, ("aaa0", "fast1"))):
        add_bridge(host)
        ip(host, "link", "add", name, "type", "veth", "peer", "name", "nowhere")
        ip(host, "addr", "add", f"192.168.50.{number + 2}/24", "dev", name)
        for link in (name, "nowhere"):
            ip(host, "link", "set", link, "up")


def test_a_second_network_that_leads_nowhere(cluster):
    cluster.before_agents = lambda: add_dead_network(cluster)
    cluster.create()
    done = run(cluster)
    assert done.returncode == 0, done.stderr.decode()
    text = "\n".join(sorted(screen(cluster.site, done).splitlines())) + "\n"
    shown = [line.strip() for line in cluster.site.ok("job", "show", "train").splitlines() if line.startswith("    network:")]
    judge("second-network", text + plain(cluster.site, "\n".join(shown) + "\n"), "exit code 0", "rank 1 has the sum 2",
          "network: eth0 on all 2 nodes")


def test_without_the_settings_the_second_network_is_taken(cluster):
    """What Lockstep sets is what helps: the same job that names the other network fails or hangs, and is told why."""
    cluster.before_agents = lambda: add_dead_network(cluster)
    cluster.create()
    done = run(cluster, "-e", "GLOO_SOCKET_IFNAME=docker0", "-e", "TP_SOCKET_IFNAME=docker0", "--timeout", "30s")
    assert done.returncode != 0
    warned = [line for line in screen(cluster.site, done).splitlines() if "SOCKET_IFNAME" in line]
    # Both nodes say it, and the first is shown; or one looked before its bridge was up.
    text = re.sub(r"note of n\d", "note of NODE", "\n".join(warned))
    text = text.replace("is a bridge inside of this machine and reaches no other",
                        "is down on this node and reaches no other node")
    lines = sorted(set(text.splitlines()))
    judge("second-network-taken", "\n".join(lines) + "\n", "GLOO_SOCKET_IFNAME and TP_SOCKET_IFNAME ", "docker0 ")
