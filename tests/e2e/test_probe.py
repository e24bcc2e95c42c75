"""Before the ranks of a gang on several hosts start, its network is probed: it uses the network that reaches all nodes,
or the pair is named that does not reach each other. With LOCKSTEP_PROBE_LONG=1 (scripts/check) also: the same jobs
without what the probe gives them, which fail or hang."""
import os
import pathlib
import re
import subprocess
import tempfile
import time

import pytest
from harness.namespaces import Cluster
from harness.networks import (Network, RoutedNetwork, add_bridge, break_default_route, clear_firewall, lose_large,
                              no_longer_slow, only_new, remove_routers, slow)
from harness.site import wait_until

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")

IS_LONG = os.environ.get("LOCKSTEP_PROBE_LONG") == "1"
NAMES = ("ens5", "data0", "eno7")  # of the second interface, on each node
# Takes away what Lockstep set, for one run of a test.
WRAP = ('if [ -n "$TAKE_AWAY" ]; then unset GLOO_SOCKET_IFNAME TP_SOCKET_IFNAME NCCL_SOCKET_IFNAME '
        'OMPI_MCA_btl_tcp_if_include UCX_NET_DEVICES; fi; exec "$@"')
GLOO = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
values = torch.ones(1 << 18)
for _ in range(3):
    dist.all_reduce(values)
    values /= dist.get_world_size()
print("gloo rank", dist.get_rank(), "of", dist.get_world_size(), "sum", int(values.sum()), flush=True)
"""


def made_cluster(shared_bin, nodes=3):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
    directory.chmod(0o755)
    return Cluster(directory, shared_bin, nodes=nodes)


@pytest.fixture
def cluster(shared_bin):
    made = made_cluster(shared_bin)
    try:
        yield made.create()
    finally:
        made.destroy()
        remove_routers(made)
        subprocess.run(["rm", "-rf", "--one-file-system", str(made.directory)], check=False)


def networks_of(site, nodes=3, options=()):
    """By host name: (MASTER_ADDR, the gang's addresses, gloo's and NCCL's interface) as its rank has them."""
    out = site.ok("run", "-N", str(nodes), "-n", "1", "--distribution", "pytorch", *options, "--", "sh", "-c",
                  "echo network: $(hostname) $MASTER_ADDR $AZ_BATCH_HOST_LIST $GLOO_SOCKET_IFNAME $NCCL_SOCKET_IFNAME")
    rows = {words[0]: words[1:] for words in (found.split() for found in re.findall(r"network: (.*)", out))}
    assert len(rows) == nodes, out
    return rows


def assert_uses(cluster, network=None, nodes=3, options=()):
    """All nodes use this network; None: the one that leads to the launcher."""
    rows = networks_of(cluster.site, nodes, options)
    addresses = {(network.address(host) if network else host.address): host for host in cluster.nodes}
    for name, (master, hosts, gloo, nccl) in rows.items():
        host = next(each for each in cluster.nodes if each.name == name)
        interface = network.interface(host) if network else "eth0"
        assert (gloo, nccl) == (interface, f"={interface}"), rows
        assert set(hosts.split(",")) <= set(addresses) and master == hosts.split(",")[0], rows
    assert len({tuple(row[:2]) for row in rows.values()}) == 1, rows


def run_mpi(site, nodes=3, *options, take_away=False):
    program = site.install_program("mpi_hello")
    return site.run("run", "-N", str(nodes), "-n", "1", "--retry", "0", "--timeout", "30", *options,
                    *(("-e", "TAKE_AWAY=1") if take_away else ()), "--distribution", "mpi", "--", "sh", "-c", WRAP,
                    "sh", program, str(nodes), "4")


def run_gloo(site, nodes=3, take_away=False):
    site.write("gloo.py", GLOO)
    return site.run("run", "-N", str(nodes), "-n", "1", "--retry", "0", "--timeout", "60",
                    *(("-e", "TAKE_AWAY=1") if take_away else ()), "--distribution", "pytorch", "--", "sh", "-c", WRAP,
                    "sh", "/usr/bin/python3", "gloo.py")


def failure_of(site, *options, nodes=2, distribution="pytorch"):
    """The message of a gang that must not start."""
    name = site.submit("-N", str(nodes), "-n", "1", "--retry", "0", *options, "--distribution", distribution, "--",
                       "true")
    job = site.wait_for_status(name, "Failed")
    report = job["attempts"][0]["report"]
    assert report["cause"] == "start_failed", report
    return report["message"]


def test_the_network_that_reaches_all_is_used(cluster):
    site = cluster.site
    assert_uses(cluster)
    # The way to the launcher is slow, and the nodes have a fast network of their own, by other names.
    data = Network(cluster, 60, NAMES).create()
    for host in cluster.nodes:
        slow(host)
    assert_uses(cluster, data)
    # It stays so with bridges of one address on all nodes, a default route that leads nowhere, and a second network
    # that leads nowhere.
    for host in cluster.nodes:
        add_bridge(host)
        break_default_route(host)
    dead = Network(cluster, 61, ("ib0", "ens9", "bond1")).create(leads_nowhere=True)
    assert_uses(cluster, data)
    done = run_mpi(site)
    assert done.returncode == 0, done
    assert sorted(re.findall(r"rank (\d) of 3", done.stdout.decode())) == list("012"), done
    # What came after its agent is a part of the node, too.
    wait_until(lambda: "ens5 10.60.0.1/24" in site.ok("node", "show", "n1", "--fabric"), "the interface is reported", 60)
    # Without the fast network what is left is the slow one.
    data.remove()
    assert_uses(cluster)
    # A router that drops large packets is worse than a slow network.
    black_hole = RoutedNetwork(cluster, 62, NAMES, mtu=1400).create()
    assert_uses(cluster)
    black_hole.remove()
    dead.remove()
    # On the network that leads to the launcher the ports of ranks are closed: the other one is used.
    whole = RoutedNetwork(cluster, 63, NAMES).create()
    for host in cluster.nodes:
        no_longer_slow(host)
        for other in cluster.nodes:
            if other is not host:
                only_new(host, other, "6105:7104", "REJECT")
    assert_uses(cluster, whole)


def test_a_pair_that_is_cut_is_named(cluster):
    site = cluster.site
    n1, n2, _ = cluster.nodes
    pair = ("-w", "n1,n2")

    def assert_one_way_is_named():
        said = failure_of(site, *pair)
        assert re.search(r"n1 \(10\.77\.0\.2, eth0\) cannot reach n2 \(10\.77\.0\.3\) port \d+: timed out; a firewall",
                         said), said

    # One direction, of the ports that the kernel chooses.
    only_new(n2, n1, "32768:60999")
    assert_one_way_is_named()
    # Other nodes are tried, and the job runs there.
    name = site.submit("-N", "2", "-n", "1", "--distribution", "pytorch", "--name", "moved", "--", "true")
    job = site.wait_for_status(name, "Completed")
    assert {p["node_name"] for p in job["attempts"][-1]["parts"]} != {"n1", "n2"}, job
    clear_firewall(cluster)
    # The ports of ranks.
    for host, other in ((n1, n2), (n2, n1)):
        only_new(host, other, "6105:7104", "REJECT")
    said = failure_of(site, *pair)
    assert re.search(r"n[12] \([^)]*\) cannot reach n[12] \([^)]*\) port 6\d\d\d: refused", said), said
    clear_firewall(cluster)
    # What was found is known to the next job, until one fails.
    train = ("run", "-N", "2", "-n", "1", *pair, "--retry", "0", "--distribution", "pytorch", "--")
    site.ok(*train, "true")
    only_new(n2, n1, "32768:60999")
    site.ok(*train, "true")
    assert site.run(*train, "false").returncode != 0
    assert_one_way_is_named()


def test_large_packets_that_are_lost_are_named(cluster):
    site = cluster.site
    n1, n2, _ = cluster.nodes
    lose_large(n2, n1, 1400)
    said = failure_of(site, "-w", "n1,n2", distribution="mpi")
    assert re.search(r"n1 \(10\.77\.0\.2, eth0\) cannot reach n2 \(10\.77\.0\.3\) port \d+: "
                     r"packets above 1400 bytes are lost; set the MTU of eth0 on n1", said), said


if IS_LONG:
    def test_the_same_fails_without_the_settings(cluster):
        site = cluster.site
        # As on Debian: a host's name leads to an address that no other host reaches.
        cluster.hosts.write_text("127.0.0.1 localhost\n127.0.1.1 launcher n1 n2 n3\n")
        data = Network(cluster, 60, NAMES).create()
        Network(cluster, 61, ("ib0", "ens9", "bond1")).create(leads_nowhere=True)
        for host in cluster.nodes:
            slow(host)
            add_bridge(host)
            break_default_route(host)
        assert_uses(cluster, data)
        for run, says in ((run_mpi, r"rank (\d) of 3"), (run_gloo, r"gloo rank (\d) of 3")):
            done = run(site)
            assert done.returncode == 0, done
            assert sorted(re.findall(says, done.stdout.decode())) == list("012"), done
            assert run(site, take_away=True).returncode != 0, "it needs no settings, so this proves nothing"

    def test_the_same_hangs_without_the_probe(shared_bin):
        made = made_cluster(shared_bin, nodes=2)
        made.node_environment = lambda name: {"LOCKSTEP_PROBE": "off"}
        try:
            cluster = made.create()
            for host, other in (cluster.nodes, cluster.nodes[::-1]):
                only_new(host, other, "6105:7104")
            begun = time.monotonic()
            done = run_gloo(cluster.site, nodes=2)
            assert done.returncode == 124 and time.monotonic() - begun > 50, done
        finally:
            made.destroy()
            subprocess.run(["rm", "-rf", "--one-file-system", str(made.directory)], check=False)

    def test_why_a_gang_does_not_connect_is_said(cluster):
        n1, n2, _ = cluster.nodes
        for host, other in ((n1, n2), (n2, n1)):
            only_new(host, other, "1024:65535")
        said = failure_of(cluster.site, "-w", "n1,n2")
        assert re.search(r"did not all connect within 27\.0s: n[12] \([^)]*, eth0\) cannot reach n[12] \([^)]*\) "
                         r"port \d+: timed out", said), said
