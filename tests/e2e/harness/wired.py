"""A cluster for force: as namespaces.py, but each host hangs on a cable with faults (tests/fakes/wire),
has a disk of its own that can be full, a clock that can jump and fsyncs that can be slow
(tests/fakes/skew), and runs an init, so that its agent can be killed without the node. Needs root."""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import uuid

from .checkout import covering, kept_below
from .namespaces import SUBNET, remove_empty_nurseries
from .site import BUILD, Site, alive, wait_until

WIRE = BUILD / "tests" / "fakes" / "wire" / "wire"
SKEW = BUILD / "tests" / "fakes" / "skew" / "libskew.so"
PROXY = pathlib.Path(__file__).with_name("proxy.py")
DISK_BYTES = 192 << 20
PORT, PROXY_PORT = 7070, 7170
INIT = ("import os, signal\n"
        "signal.signal(signal.SIGCHLD, lambda *_: None)\n"
        "while True:\n"
        "    try:\n"
        "        os.wait()\n"
        "    except ChildProcessError:\n"
        "        signal.sigtimedwait([signal.SIGCHLD], 0.2)\n")


def _sh(*words):
    subprocess.run([str(w) for w in words], check=True, stdout=subprocess.DEVNULL)


def children(pid):
    try:
        return [int(p) for p in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


class Machine:
    """A host: its namespaces, disk, clock and daemon. `launcher`, or a node."""

    def __init__(self, cluster, name, address):
        self.cluster, self.name, self.address = cluster, name, address
        self.namespace = f"{cluster.id}-{name}"
        self.disk = cluster.directory / name
        self.home = self.disk / "home"
        self.log = cluster.directory / f"{name}.log"
        self.skew_file = cluster.directory / f"{name}.skew"
        self.skews = {"wall_s": 0.0, "since_s": 0.0, "sync_s": 0.0}
        self.init = None     # Popen of what holds the namespaces
        self.init_pid = 0
        self.daemon = None   # Popen of nsenter
        self.reboots = 0

    # ---- hardware ----------------------------------------------------------------------------
    def create(self):
        self.disk.mkdir()
        _sh("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=755", f"disk-{self.name}", self.disk)
        for path, mode in ((self.home, 0o755), (self.disk / "tmp", 0o1777)):
            path.mkdir()
            path.chmod(mode)
        self.skew()

    def connect(self):
        """The cable is there; it gets an address."""
        for words in (("link", "set", "lo", "up"), ("addr", "add", f"{self.address}/24", "dev", "eth0"),
                      ("link", "set", "eth0", "up")):
            _sh("ip", "-n", self.namespace, *words)
        if self.name in self.cluster.proxied:  # the launcher tells its own address too: no way around the proxy
            _sh("nsenter", f"--net=/run/netns/{self.namespace}", "iptables", "-A", "OUTPUT", "-o", "eth0", "-p", "tcp",
                "--dport", f"{PORT}:{PORT + 2}", "-j", "DROP")
        for words in (("link", "set", self.name, "master", "br0"), ("link", "set", self.name, "up")):
            _sh("ip", "-n", self.cluster.switch, *words)

    def destroy(self):
        subprocess.run(["umount", "-l", str(self.disk)], check=False)

    def link(self, state):
        _sh("ip", "-n", self.cluster.switch, "link", "set", self.name, state)

    def cable(self, way, loss=0.0, duplicate=0.0, delay_ms=0.0, jitter_ms=0.0):
        """`way`: out (from this host) or in."""
        self.cluster.order_wire(f"{self.name} {way} {loss} {duplicate} {delay_ms} {jitter_ms}")

    def skew(self, **change):
        """From now on: `wall_s` the wall clock is ahead by so much, `since_s` so much more time seems to
        have passed, `sync_s` each fsync takes so much longer."""
        self.skews.update(change)
        with open(self.skew_file, "r+b" if self.skew_file.exists() else "wb") as file:
            file.write(struct.pack("qqq", *(int(s * 1e9) for s in self.skews.values())))

    def fill_disk(self):
        with open(self.disk / "ballast", "ab", buffering=0) as file:
            block = bytes(1 << 20)
            while block:
                try:
                    file.write(block)
                except OSError:
                    block = block[:len(block) // 2]

    def free_disk(self):
        (self.disk / "ballast").unlink(missing_ok=True)

    # ---- power -------------------------------------------------------------------------------
    def power_on(self):
        """Namespaces of its own, and an init in them; nothing else yet."""
        script = (f"hostname {self.name}; mount --bind {self.cluster.hosts} /etc/hosts; "
                  f"{covering('/tmp', '--bind', self.disk / 'tmp')}; "
                  f"{covering('/dev/shm', '-t', 'tmpfs', '-o', 'mode=1777', 'shm')}; exec \"$@\"")
        with open(self.log, "ab") as out:
            self.init = subprocess.Popen(
                ["nsenter", f"--net=/run/netns/{self.namespace}", "unshare", "-u", "-m", "-i", "-p", "-f",
                 "--mount-proc", "--kill-child", "sh", "-c", script, "sh", "/usr/bin/python3", "-ISc",
                 INIT], stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        wait_until(lambda: children(self.init.pid), f"{self.name} boots")
        self.init_pid = children(self.init.pid)[0]
        wait_until(lambda: self._command(self.init_pid).startswith("/usr/bin/python3"),
                   f"{self.name} is up")

    def power_off(self):
        """Ends everything there at once, as a power cut does."""
        if not self.init:
            return
        inside = self.pids()
        for pid in (self.init_pid, self.init.pid):
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.init.wait(timeout=30)
        wait_until(lambda: not any(alive(p) for p in inside), f"{self.name} is off", 30)
        if self.daemon:
            self.wake_nsenter()
            self.daemon.wait(timeout=30)
        self.init, self.init_pid = None, 0
        remove_empty_nurseries()

    def reboot(self):
        self.power_off()
        self.reboots += 1
        self.power_on()

    def left_in_tmp(self):
        """What lies in the folders of its /tmp; not the checkout."""
        kept = {each for path in kept_below("/tmp") for each in (path, *path.parents)}
        inside = [pathlib.Path("/tmp") / path.relative_to(self.disk / "tmp")
                  for path in (self.disk / "tmp").glob("*/*")]
        return [path for path in inside if path not in kept]

    def mounts(self):
        """Lines of /proc/mounts, without those of the checkout."""
        kept = kept_below("/tmp") + kept_below("/dev/shm")
        lines = pathlib.Path(f"/proc/{self.init_pid}/mounts").read_text().splitlines()
        points = [pathlib.Path(line.split()[1].encode().decode("unicode_escape")) for line in lines]
        return [line for line, at in zip(lines, points) if not any(at == p or p in at.parents for p in kept)]

    # ---- processes ---------------------------------------------------------------------------
    @staticmethod
    def _command(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            return ""

    def pids(self):
        """All processes on this host, init aside."""
        try:
            mine = os.readlink(f"/proc/{self.init_pid}/ns/pid")
        except OSError:
            return []
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.readlink(f"/proc/{entry}/ns/pid") == mine and alive(int(entry)):
                    found.append(int(entry))
            except OSError:
                continue
        return [p for p in found if p != self.init_pid]

    def programs(self, name):
        """Processes here that run this program, in order of their pid: [(pid, command line)]."""
        commands = [(p, self._command(p)) for p in sorted(self.pids())]
        return [(p, c) for p, c in commands if os.path.basename(c.split(" ")[0]) == name]

    def inside(self, words):
        return ["nsenter", "-t", str(self.init_pid), "--net", "--uts", "--mount", "--ipc", "--pid",
                "--", *map(str, words)]

    def start_daemon(self, words):
        environment = {**self.cluster.site.environment(), "LD_PRELOAD": str(self.cluster.skew),
                       "LOCKSTEP_TEST_SKEW": str(self.skew_file)}
        with open(self.log, "ab") as out:
            self.daemon = subprocess.Popen(self.inside(words), stdin=subprocess.DEVNULL, stdout=out,
                                           stderr=out, env=environment, start_new_session=True)

    def daemon_pid(self):
        """The daemon's own pid, or 0."""
        if not self.daemon or self.daemon.poll() is not None:
            return 0
        return next((p for p in children(self.daemon.pid) if alive(p)), 0)

    def kill_daemon(self):
        """kill -9, and waits until it is gone."""
        os.kill(wait_until(self.daemon_pid, f"the daemon of {self.name} is there"), signal.SIGKILL)
        self.wake_nsenter()
        self.daemon.wait(timeout=30)

    def wake_nsenter(self):
        """It stops itself when the daemon is stopped."""
        if self.daemon and self.daemon.poll() is None:
            os.kill(self.daemon.pid, signal.SIGCONT)

    def stop_daemon(self):
        """SIGTERM, as a supervisor does; returns its exit code."""
        if pid := self.daemon_pid():
            os.kill(pid, signal.SIGTERM)
        return self.daemon.wait(timeout=60) if self.daemon else 0


class WiredSite(Site):
    """A client on the launcher's host: every `lockstep …` runs in its network, on a disk apart."""

    def __init__(self, directory, cluster, bin_directory):
        super().__init__(directory, bin_directory=bin_directory)
        self.cluster = cluster

    def environment(self):
        return {**super().environment(), "LOCKSTEP_LAUNCHER": str(self.cluster.endpoint)}

    def _argv(self, words):
        return ["nsenter", f"--net=/run/netns/{self.cluster.launcher.namespace}",
                str(self.bin / "lockstep"), *map(str, words)]

    def down(self):
        """The cluster stops its own parts."""


class WiredCluster:
    """A launcher's host and nodes n1, n2, …; those named in `proxied` dial through the proxy.
    `directory` must not lie in /tmp: each host has a /tmp of its own."""

    def __init__(self, directory, bin_directory, nodes=3, seed=1, proxied=(), launcher_flags=(),
                 agent_flags=()):
        self.id = "lw" + uuid.uuid4().hex[:6]
        self.switch = f"{self.id}-switch"
        self.directory = pathlib.Path(directory)
        self.seed, self.proxied = seed, set(proxied)
        self.launcher_flags, self.agent_flags = launcher_flags, agent_flags
        self.launcher = Machine(self, "launcher", f"{SUBNET}.1")
        self.nodes = [Machine(self, f"n{i}", f"{SUBNET}.{i + 1}") for i in range(1, nodes + 1)]
        self.machines = [self.launcher, *self.nodes]
        self.site = WiredSite(self.directory / "client", self, bin_directory)
        self.programs = pathlib.Path(bin_directory)
        self.bin = self.site.bin = self.directory / "bin"
        self.skew = self.bin / SKEW.name
        self.hosts = self.directory / "hosts"
        self.endpoint = self.directory / "endpoint.json"
        self.wire = self.proxy = None

    def _install(self):
        """The programs, where every host sees them: each has a /tmp of its own."""
        self.bin.mkdir()
        for program in [*self.programs.iterdir(), SKEW]:
            if program.is_file():
                try:
                    os.link(program, self.bin / program.name)
                except OSError:
                    shutil.copy(program, self.bin / program.name)

    def create(self):
        self._install()
        lines = ["127.0.0.1 localhost"] + [f"{h.address} {h.name}" for h in self.machines]
        self.hosts.write_text("\n".join(lines) + "\n")
        _sh("ip", "netns", "add", self.switch)
        _sh("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        _sh("ip", "-n", self.switch, "link", "set", "br0", "up")
        cables = []
        for machine in self.machines:
            machine.create()
            _sh("ip", "netns", "add", machine.namespace)
            cables += [machine.name, f"/run/netns/{machine.namespace}", "eth0",
                       f"/run/netns/{self.switch}", machine.name]
        self.wire = self._tool([WIRE, self.seed, *cables])
        for machine in self.machines:
            machine.connect()
            machine.power_on()
        self.proxy = self._tool(self.launcher.inside(
            ["/usr/bin/python3", "-I", PROXY, self.launcher.address, PROXY_PORT, PORT, 3, self.seed]))
        self.start_launcher()
        self._let_us_in()
        for node in self.nodes:
            self.start_agent(node)
        self.wait_until_alive()
        return self

    @staticmethod
    def _tool(words):
        tool = subprocess.Popen([str(w) for w in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True, bufsize=1, start_new_session=True)
        assert tool.stdout.readline() == "ready\n", words
        return tool

    def order_wire(self, line):
        self.wire.stdin.write(line + "\n")

    def order_proxy(self, **order):
        self.proxy.stdin.write(json.dumps(order) + "\n")

    def proxy_stats(self):
        self.order_proxy(stats=True)
        return json.loads(self.proxy.stdout.readline())

    def start_launcher(self):
        self.launcher.start_daemon([self.bin / "lockstepd", "--home", self.launcher.home, "--listen",
                                    f"tcp://{self.launcher.address}:{PORT}", "--allow-root",
                                    *self.launcher_flags])

    def _let_us_in(self):
        """The client knows the launcher's endpoint, and the launcher the client's key."""
        made = self.launcher.home / "endpoint.json"
        wait_until(made.exists, "the launcher listens")
        self.endpoint.write_bytes(made.read_bytes())
        self.site.run("status")  # makes the key
        key = (self.site.home / "keys" / "user.key").read_text().split()
        public = key[key.index("public") + 1]
        with open(self.launcher.home / "keys" / "authorized_users", "a") as file:
            file.write(f"root {public}\n")
        wait_until(lambda: self.site.run("status").returncode == 0, "the launcher answers")

    def start_agent(self, node):
        port = PROXY_PORT if node.name in self.proxied else PORT
        words = [self.bin / "lockstep-agent", "--launcher", f"tcp://{self.launcher.address}:{port}",
                 "--home", node.home, "--name", node.name, *self.agent_flags]
        if not (node.home / "identity.json").exists():
            token = self.directory / f"{node.name}.token"
            if not token.exists():
                token.touch(0o600)
                token.write_text(self.site.ok("node", "token", "--valid-for", "1d"))
            words += ["--token-file", token]
        node.start_daemon(words)

    def start(self, machine):
        """Starts the daemon that belongs on this machine."""
        if machine is self.launcher:
            self.start_launcher()
        else:
            self.start_agent(machine)

    def wait_until_alive(self):
        wait_until(lambda: self.live() == len(self.nodes), f"{len(self.nodes)} nodes are ALIVE")

    def live(self):
        done = self.site.run("node", "list", "-o", "json")
        if done.returncode != 0:
            return 0
        return sum(n["liveness"] == "ALIVE" for n in json.loads(done.stdout))

    def end_proxy(self):
        if self.proxy:
            self.proxy.stdin.close()
            self.proxy.wait(timeout=10)
        self.proxy = None

    def settle(self):
        """Ends what still runs, and waits until the nodes have tidied up after it."""
        if not self.launcher.init or not self.launcher.daemon_pid() or self.site.run("status").returncode != 0:
            return
        for job in self.site.json("job", "list", "--all-results"):
            if job["status"] not in ("Completed", "Failed", "Canceled"):
                self.site.run("job", "cancel", job["name"])
        for node in self.nodes:
            wait_until(lambda n=node: not n.programs("lockstep-runner"),
                       f"the runners on {node.name} have left", 60)

    def destroy(self):
        try:
            self.settle()
        finally:
            self._remove()

    def _remove(self):
        for machine in [*self.nodes, self.launcher]:
            machine.power_off()
        self.end_proxy()
        if self.wire:
            self.wire.stdin.close()
            self.wire.wait(timeout=10)
        for machine in self.machines:
            subprocess.run(["ip", "netns", "del", machine.namespace], check=False)
            machine.destroy()
        subprocess.run(["ip", "netns", "del", self.switch], check=False)


def directory_for(prefix):
    """A new directory outside of /tmp, open to all."""
    path = pathlib.Path("/var/tmp") / f"{prefix}-{uuid.uuid4().hex[:8]}"
    path.mkdir(mode=0o755)
    return path


