"""A launcher that moves: its nodes follow it to another address, told before or afterwards, and what runs goes on."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import pytest
from harness.namespaces import SUBNET, Cluster, Host
from harness.site import wait_until

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")


@pytest.fixture
def cluster(shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-mv-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=2)
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def identity(cluster, node):
    return json.loads((cluster.directory / node / "identity.json").read_text())


def alive(cluster):
    done = cluster.site.run("node", "list", "-o", "json")
    if done.returncode != 0:
        return set()
    return {node["name"] for node in json.loads(done.stdout) if node["liveness"] == "ALIVE"}


def start_launcher(cluster, host, port):
    """On this host, with the same home."""
    host.start([cluster.bin / "lockstepd", "--home", cluster.site.home / "launcher", "--listen",
                f"tcp://{host.address}:{port}", "--allow-root"],
               cluster.directory / "lockstepd.log", env=cluster.site.environment())
    wait_until(lambda: cluster.site.run("status").returncode == 0, "the launcher answers")


def end(host):
    inner = pathlib.Path(f"/proc/{host.process.pid}/task/{host.process.pid}/children").read_text().split()
    for pid in [*map(int, inner), host.process.pid]:
        os.kill(pid, signal.SIGTERM)
    host.process.wait(timeout=30)
    host.process = None


def test_nodes_follow_where_the_launcher_said_it_would_be(cluster):
    site, flag = cluster.site, cluster.directory / "go"
    job = site.submit("-N", "2", "--", "sh", "-c",
                      f"while [ ! -e {flag} ]; do sleep 0.1; done; {site.bin}/lockstep job list >&2 && echo reached")
    site.wait_for_status(job, "Running")
    there = Host(cluster, "there", f"{SUBNET}.9")
    there.create()
    place = f"tcp://{there.address}:7270"
    other = cluster.directory / "other"
    told = cluster.launcher.run(cluster.bin / "lockstepd", "--home", other, "--moving-to", place)
    assert told.returncode != 0 and b"no launcher has run with the home" in told.stderr and not other.exists(), told
    told = cluster.launcher.run(cluster.bin / "lockstepd", "--home", site.home / "launcher", "--moving-to", place)
    assert told.returncode == 0, told
    for name in ("n1", "n2"):
        wait_until(lambda n=name: [o["control"] for o in identity(cluster, n)["others"]] == [place], f"{name} knows")
    end(cluster.launcher)
    old, cluster.launcher = cluster.launcher, there
    try:
        start_launcher(cluster, there, 7270)
        wait_until(lambda: alive(cluster) == {"n1", "n2"}, "both follow", 40)
        flag.touch()
        site.wait_for_status(job, "Completed")
        assert len(site.show(job)["attempts"]) == 1
        assert site.logs(job).count(b"reached") == 2
        assert identity(cluster, "n1")["control"] == place
        # Its --launcher says where the launcher was; the agent's home knows better.
        cluster.nodes[0].stop()
        cluster.start_agent(cluster.nodes[0])
        wait_until(lambda: alive(cluster) == {"n1", "n2"}, "it finds the launcher again", 40)
        assert not (site.home / "launcher" / "moving_to").exists()
        cluster.settle()
    finally:
        there.stop()
        cluster.launcher = old
        old.process = None
        subprocess.run(["ip", "netns", "del", there.namespace], check=False)


def test_nodes_that_were_not_told_are_told_afterwards(cluster):
    """The same host and home, other ports: by `lockstep-agent moved`, and by a new token in the old one's place."""
    site = cluster.site
    job = site.submit("-N", "2", "--", "sleep", "300")
    site.wait_for_status(job, "Running")
    end(cluster.launcher)
    start_launcher(cluster, cluster.launcher, 7370)
    place = f"tcp://{cluster.launcher.address}:7370"
    n1, n2 = cluster.nodes
    home = cluster.directory / "n1"
    said = n1.run(cluster.bin / "lockstep-agent", "moved", "--home", home, "--launcher", place)
    assert said.returncode == 0, said
    wait_until(lambda: "n1" in alive(cluster), "n1 follows", 20)
    (cluster.directory / "n2.token").write_text(site.ok("node", "token"))
    wait_until(lambda: "n2" in alive(cluster), "n2 follows", 20)
    # An address where nobody is, and one of somebody else's launcher: the agent returns.
    log = cluster.directory / "n1.log"
    before = log.read_text().count("connected to")
    n1.run(cluster.bin / "lockstep-agent", "moved", "--home", home, "--launcher", f"tcp://{cluster.launcher.address}:1")
    wait_until(lambda: log.read_text().count("connected to") > before, "n1 returns", 20)
    other = n2.run(cluster.bin / "lockstep-agent", "moved", "--home", cluster.directory / "n2", "--launcher", "nonsense")
    assert other.returncode == 2 and b"tcp://HOST:PORT" in other.stderr, other
    wait_until(lambda: alive(cluster) == {"n1", "n2"}, "all is well", 20)
    assert site.show(job)["status"] == "Running" and len(site.show(job)["attempts"]) == 1


SOON_S = 15  # what must be said within 10 seconds, with a busy machine's leave


def findings(done):
    return {each["check"]: each for each in json.loads(done.stdout)["findings"]}


@pytest.mark.parametrize("how", ["DROP", "REJECT"])
def test_each_port_that_is_blocked_is_named(cluster, how):
    """On the person's side and on the node's, and by both doctors."""
    site = cluster.site
    n1 = cluster.nodes[0]

    def iptables(host, *words):
        subprocess.run(["nsenter", f"--net=/run/netns/{host.namespace}", "iptables", *words], check=True)

    def block(host, port):
        reject = ["--reject-with", "tcp-reset"] if how == "REJECT" else []
        iptables(host, "-A", "OUTPUT", "-p", "tcp", "--dport", str(port), "-j", how, *reject)

    def log_of(name):
        return (cluster.directory / f"{name}.log").read_text()

    places = {"port for requests": 7070, "port for files and logs": 7071, "port for joining": 7072}
    for check, port in places.items():
        block(cluster.launcher, port)
        found = findings(site.run("doctor", "-o", "json"))
        assert {c: found[c]["verdict"] for c in places} == {c: "problem" if c == check else "ok" for c in places}, found
        assert f":{port}" in found[check]["found"]
        if port != 7072:
            begun = time.monotonic()
            done = site.run("run", "--", "true")
            assert done.returncode != 0 and f":{port}" in done.stderr.decode(), done
            assert time.monotonic() - begun < SOON_S
        iptables(cluster.launcher, "-F")
    block(n1, 7071)
    job = site.submit("-w", "n1", "--", "echo", "through")
    wait_until(lambda: ":7071" in site.ok("job", "show", job), "the job says why it waits", SOON_S)
    wait_until(lambda: ":7071" in site.json("node", "show", "n1")["reason"], "the node says it", SOON_S)
    found = findings(n1.run(cluster.bin / "lockstep-agent", "doctor", "--home", cluster.directory / "n1", "-o", "json",
                            env=site.environment()))
    assert found["launcher's port for files and logs"]["verdict"] == "problem", found
    assert found["launcher's port for nodes"]["verdict"] == "ok", found
    iptables(n1, "-F")
    site.wait_for_status(job, "Completed")
    wait_until(lambda: ":7071" not in site.json("node", "show", "n1")["reason"], "the node is well", 30)
    block(n1, 7070)
    wait_until(lambda: "no connection to tcp://" in log_of("n1") and ":7070, the launcher's port" in log_of("n1"),
               "the agent says it", 40)
    iptables(n1, "-F")
    late = Host(cluster, "late", f"{SUBNET}.8")
    cluster.add(late)
    block(late, 7072)
    cluster.start_agent(late)
    wait_until(lambda: ":7072, the launcher's port for joining" in log_of("late"), "the agent says it", SOON_S)
    iptables(late, "-F")
    wait_until(lambda: alive(cluster) == {"n1", "n2", "late"}, "all are ALIVE", 60)
