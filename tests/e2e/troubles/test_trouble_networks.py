"""First screens of networks among nodes that are not what they seem: a firewall among ranks, an MTU black hole, and a
second network with other names that leads nowhere. With the settings that Lockstep makes taken away, the last one hangs
or fails: so these are what helps."""
import pathlib
import subprocess
import tempfile

import pytest
from harness.first_screen import judge, needs_root, only_long, screen
from harness.namespaces import Cluster

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
    try:
        yield made
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def ip(namespace, *words):
    subprocess.run(["ip", "-n", namespace, *words], check=True)


def iptables(host, *words):
    subprocess.run(["nsenter", f"--net=/run/netns/{host.namespace}", "iptables", *words], check=True)


def run(cluster, *words):
    cluster.site.write("train.py", SUMS)
    return cluster.site.run("run", "--name", "train", "-N", "2", "-n", "1", "--distribution", "pytorch", "--retry", "0", *words,
                            "--", "python3", "train.py", timeout=300)


@pytest.mark.parametrize("how", ["DROP", "REJECT"])
def test_a_firewall_among_ranks(cluster, how):
    """It lets nodes and launcher talk, and drops or rejects what nodes say to each other."""
    cluster.create()
    n1, n2 = cluster.nodes
    reject = ["--reject-with", "tcp-reset"] if how == "REJECT" else []
    iptables(n2, "-A", "INPUT", "-p", "tcp", "--syn", "-s", n1.address, "-j", how, *reject)
    judge(f"firewall-{how.lower()}", screen(cluster.site, run(cluster)))


def test_a_firewall_in_one_direction_after_the_tree_is_connected(cluster):
    """What lets the runners' tree be made may still keep ranks from each other: it is the port range that counts."""
    cluster.create()
    n1, n2 = cluster.nodes
    # The tree is dialled by the second node: the first may not dial the second.
    iptables(n2, "-A", "INPUT", "-p", "tcp", "--syn", "-s", n1.address, "-j", "DROP")
    judge("firewall-one-way", screen(cluster.site, run(cluster)))


def test_an_mtu_black_hole(cluster):
    """Packets above 1,400 bytes are lost between the nodes, and no ICMP tells of it."""
    cluster.create()
    for host in cluster.nodes:
        iptables(host, "-A", "INPUT", "-p", "tcp", "-m", "length", "--length", "1401:65535", "-s",
                 next(other.address for other in cluster.nodes if other is not host), "-j", "DROP")
        subprocess.run(["nsenter", f"--net=/run/netns/{host.namespace}", "ethtool", "-K", "eth0", "tso", "off", "gso", "off",
                        "gro", "off"], check=False)
    judge("mtu-black-hole", screen(cluster.site, run(cluster)))


def add_dead_network(cluster):
    """As docker's bridge: the same address on every node, and nobody is there. And a network of another name on each node
    whose other end is plugged into nothing."""
    for number, host in enumerate(cluster.nodes):
        ip(host.namespace, "link", "add", "docker0", "type", "bridge")
        ip(host.namespace, "addr", "add", "172.17.0.1/16", "dev", "docker0")
        ip(host.namespace, "link", "set", "docker0", "up")
        name = ("aaa0", "fast1")[number % 2]
        ip(host.namespace, "link", "add", name, "type", "veth", "peer", "name", "nowhere")
        ip(host.namespace, "addr", "add", f"192.168.50.{number + 2}/24", "dev", name)
        for link in (name, "nowhere"):
            ip(host.namespace, "link", "set", link, "up")


def test_a_second_network_that_leads_nowhere(cluster):
    cluster.before_agents = lambda: add_dead_network(cluster)
    cluster.create()
    done = run(cluster)
    assert done.returncode == 0, done.stderr.decode()
    text = "\n".join(sorted(screen(cluster.site, done).splitlines())) + "\n"
    shown = [line for line in cluster.site.ok("job", "show", "train").splitlines() if line.startswith("network")]
    judge("second-network", text + "\n".join(shown) + "\n")


def test_without_the_settings_the_second_network_is_taken(cluster):
    """What Lockstep sets is what helps: the same job that names the other network fails or hangs, and is told why."""
    cluster.before_agents = lambda: add_dead_network(cluster)
    cluster.create()
    done = run(cluster, "-e", "GLOO_SOCKET_IFNAME=docker0", "-e", "TP_SOCKET_IFNAME=docker0", "--timeout", "30s")
    assert done.returncode != 0
    warned = [line for line in screen(cluster.site, done).splitlines() if "SOCKET_IFNAME" in line]
    judge("second-network-taken", "\n".join(warned) + "\n")
