"""Several hosts on one machine: network namespaces on one bridge, each with its own address, host
name, hosts file and (for nodes) PID namespace, so that a node can be 'rebooted'. Needs root."""
import contextlib
import errno
import os
import pathlib
import signal
import subprocess
import uuid

from . import leftovers
from .site import Site, alive, wait_until

SUBNET = "10.77.0"


def _sh(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def remove_empty_nurseries():
    """A power cut takes cgroups, too; these hosts share this machine's. Those of others are not empty.

    The folder stays empty where the cut hit a process that had made it and not yet its nursery.
    """
    top = pathlib.Path("/sys/fs/cgroup")
    for folder in [*top.glob("**/lockstep/starting-*"), *top.glob("**/lockstep")]:
        try:
            if not (folder / "cgroup.procs").read_text():
                folder.rmdir()
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EBUSY, errno.ENODEV):
                raise


class Host:
    """One namespace: `launcher` or a node."""

    def __init__(self, cluster, name, address):
        self.cluster, self.name, self.address = cluster, name, address
        self.namespace = f"{cluster.id}-{name}"
        self.process = None

    def create(self):
        _sh("ip", "netns", "add", self.namespace)
        veth = f"{self.cluster.id[-4:]}{self.name}"[:14]
        _sh("ip", "link", "add", veth, "netns", self.cluster.switch, "type", "veth", "peer", "name",
            "eth0", "netns", self.namespace)
        for words in (("link", "set", veth, "master", "br0"), ("link", "set", veth, "up")):
            _sh("ip", "-n", self.cluster.switch, *words)
        for words in (("link", "set", "lo", "up"), ("addr", "add", f"{self.address}/24", "dev", "eth0"),
                      ("link", "set", "eth0", "up")):
            _sh("ip", "-n", self.namespace, *words)
        self.veth = veth

    def argv(self, words, pid_namespace=False):
        inner = f"hostname {self.name}; mount --bind {self.cluster.hosts} /etc/hosts; exec \"$@\""
        flags = ["-u", "-m"] + (["-p", "-f", "--mount-proc", "--kill-child"] if pid_namespace else [])
        return ["nsenter", f"--net=/run/netns/{self.namespace}", "unshare", *flags, "sh", "-c", inner,
                "sh", *map(str, words)]

    def run(self, *words, **options):
        return subprocess.run(self.argv(words), capture_output=True, stdin=subprocess.DEVNULL, check=False,
                              timeout=120, **options)

    def link(self, state):
        """Plugs the cable in ('up') or out ('down')."""
        _sh("ip", "-n", self.cluster.switch, "link", "set", self.veth, state)

    def start(self, words, log, pid_namespace=False, env=None):
        with open(log, "ab") as out:
            self.process = subprocess.Popen(self.argv(words, pid_namespace), stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=out, env=env, start_new_session=True)

    def stop(self):
        """Ends everything here at once, as a power cut does, and waits until it is gone."""
        if not self.process:
            return
        if self.process.poll() is not None:  # it could not start; what it printed is in its log
            self.process = None
            return
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        inner = [int(pid) for pid in children.read_text().split()]
        for pid in [*inner, self.process.pid]:
            os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=30)
        wait_until(lambda: not any(alive(pid) for pid in inner), f"{self.name} is off", 30)
        self.process = None
        remove_empty_nurseries()


class NamespaceSite(Site):
    """The launcher's own host: every `lockstep …` runs in its namespace."""

    def __init__(self, directory, cluster, bin_directory):
        super().__init__(directory, bin_directory=bin_directory)
        self.cluster = cluster

    def _argv(self, words):
        return self.cluster.launcher.argv([self.bin / "lockstep", *words])

    def down(self):
        """The cluster stops its own parts."""


class Cluster:
    """A launcher's host and `nodes` node hosts named n1, n2, …"""

    def __init__(self, directory, bin_directory, nodes=3, launcher_flags=(), agent_flags=lambda name: ()):
        self.launcher_flags, self.agent_flags = launcher_flags, agent_flags
        self.id = "ls-" + uuid.uuid4().hex[:6]
        self.switch = f"{self.id}-switch"
        self.directory = pathlib.Path(directory)
        self.launcher = Host(self, "launcher", f"{SUBNET}.1")
        self.nodes = [Host(self, f"n{i}", f"{SUBNET}.{i + 1}") for i in range(1, nodes + 1)]
        self.listens_on = self.launcher.address
        self.site = NamespaceSite(directory, self, bin_directory)
        self.bin = self.site.bin
        self.hosts = self.directory / "hosts"
        self.before_agents = lambda: None  # the hosts are there
        self.node_environment = lambda name: {}  # more variables of its agent
        self.in_order = False  # nodes register one after another: n1 has node rank 0 of a gang of all

    def create(self):
        lines = ["127.0.0.1 localhost"] + [f"{h.address} {h.name}" for h in [self.launcher, *self.nodes]]
        self.hosts.write_text("\n".join(lines) + "\n")
        _sh("ip", "netns", "add", self.switch)
        _sh("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        _sh("ip", "-n", self.switch, "link", "set", "br0", "up")
        for host in [self.launcher, *self.nodes]:
            host.create()
        self.start_launcher()
        self.before_agents()
        for number, host in enumerate(self.nodes, 1):
            self.start_agent(host)
            if self.in_order:
                self.wait_until_alive(number)
        self.wait_until_alive(len(self.nodes))
        return self

    def wait_until_alive(self, count):
        wait_until(lambda: sum(n["liveness"] == "ALIVE" for n in self.site.json("node", "list")) == count,
                   f"{count} nodes are ALIVE")

    def start_launcher(self):
        home = self.site.home / "launcher"
        self.launcher.start([self.bin / "lockstepd", "--home", home, "--listen",
                             f"tcp://{self.listens_on}:7070", "--allow-root",
                             *self.launcher_flags],
                            self.directory / "lockstepd.log",
                            env=self.site.environment())
        wait_until(lambda: (home / "endpoint.json").exists() and
                   self.site.run("status").returncode == 0, "the launcher answers")

    def start_agent(self, host):
        home = self.directory / host.name
        words = [self.bin / "lockstep-agent", "--launcher", f"tcp://{self.listens_on}:7070",
                 "--home", home, "--name", host.name, *self.agent_flags(host.name)]
        if not (home / "identity.json").exists():
            token = self.directory / f"{host.name}.token"
            token.write_text(self.site.ok("node", "token"))
            token.chmod(0o600)
            words += ["--token-file", token]
        home.mkdir(exist_ok=True)
        host.start(words, self.directory / f"{host.name}.log", pid_namespace=True,
                   env={**self.site.environment(), **self.node_environment(host.name)})

    def add(self, host):
        """One more node, after create(); its agent is not started."""
        with open(self.hosts, "a", encoding="utf-8") as hosts:
            hosts.write(f"{host.address} {host.name}\n")
        host.create()
        self.nodes.append(host)

    def reboot(self, host):
        """The node's processes are gone at once, and its agent is back with a new boot."""
        host.stop()
        self.start_agent(host)

    def destroy(self):
        try:
            self.settle()
        finally:
            for host in [*self.nodes, self.launcher]:
                host.stop()
            for host in [self.launcher, *self.nodes]:
                subprocess.run(["ip", "netns", "del", host.namespace], check=False)
            subprocess.run(["ip", "netns", "del", self.switch], check=False)

    def settle(self):
        """Cancels what still runs and waits until every runner has left, and agents have cleaned up after those that a
        power cut ended."""
        if not self.launcher.process:
            return
        jobs = self.site.json("job", "list")
        for job in jobs:
            if job["status"] not in ("Completed", "Failed", "Canceled"):
                self.site.run("job", "cancel", job["name"])
        wait_until(lambda: not self._runners(), "all runners have left", 60)
        with contextlib.suppress(AssertionError):  # `nothing_left` says what stays, if no agent is there to clean up
            wait_until(lambda: not any(f"{job['name']}." in os.path.basename(path)
                                       for path in leftovers.cgroups() for job in jobs), "agents have cleaned up", 30)

    def _runners(self):
        return self.site._pids("lockstep-runner", str(self.directory))
