"""A real sshd, and lockstep-provider called as a launcher would call it, for the tests of kind ssh."""
import getpass
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import tempfile
import threading

from .site import BUILD, ROOT, alive, wait_until

PROVIDER = BUILD / "bin/lockstep-provider"
FAKE = ROOT / "tests/fakes/provider/provider.py"

STATES = {"running", "pending", "stopped", "absent"}
CODES = {"unreachable", "host_key", "unauthenticated", "unsupported", "no_space", "no_permission",
         "launcher_unreachable", "timed_out", "conflict", "failed"}


def check_event(event):
    """The grammar of docs/decisions/038-providers.md."""
    texts = {key: value for key, value in event.items() if key != "about"}
    assert all(isinstance(value, str) for value in texts.values()), event
    assert event["machine"], event
    kind = event["event"]
    if kind == "machine":
        assert event.keys() == {"event", "machine", "state", "about"} and event["state"] in STATES, event
        assert all(isinstance(value, bool if key == "tunnel" else str) for key, value in event["about"].items()), event
        life = [event["about"].get(key) for key in ("lifetime", "left")]
        assert life == [None, None] or all(value.isdigit() for value in life), event
        assert event["state"] != "pending" or event["about"].keys() >= {"reason", "job"}, event
    elif kind == "step":
        assert event.keys() == {"event", "machine", "step"}, event
    else:
        assert kind in ("warning", "error") and event.keys() >= {"step", "message"}, event
        assert kind != "error" or event["code"] in CODES, event


class Server:
    """A real sshd on a port of its own; `host_key` can be changed between two starts. `wrap`: what to put before its
    command line, for one in another network namespace. `lines`: more of its configuration."""

    def __init__(self, directory, address="127.0.0.1", wrap=lambda words: words, lines=""):
        self.directory, self.address, self.wrap, self.lines = directory, address, wrap, lines
        self.port = 2200 + os.getpid() % 300
        for name in ("host", "other_host", "user", "stranger"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / name], check=True)
        self.authorized = directory / "authorized"
        self.authorized.write_text((directory / "user.pub").read_text())
        self.process = None
        self.start("host")

    def start(self, host_key):
        self.stop()
        config = self.directory / "sshd_config"
        config.write_text(f"Port {self.port}\nListenAddress {self.address}\nHostKey {self.directory / host_key}\n"
                          f"AuthorizedKeysFile {self.authorized}\nStrictModes no\nUsePAM no\n"
                          f"PasswordAuthentication yes\nPidFile none\n{self.lines}")
        if os.getuid() == 0:
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        log = self.directory / "sshd.log"
        self.process = subprocess.Popen(self.wrap(["/usr/sbin/sshd", "-D", "-f", config, "-E", log]))
        wait_until(lambda: "listening" in self.log(), "sshd listens")

    def log(self):
        path = self.directory / "sshd.log"
        return path.read_text() if path.exists() else ""

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            (self.directory / "sshd.log").unlink()
            self.process = None


class ProviderTarget:
    """What a launcher would tell the provider of one target, `vms`, with one machine, vm1. `wrap`: as of Server."""

    words = ()  # the provider's program, and its kind
    target, machine = "vms", "vm1"

    def __init__(self, directory, wrap=lambda words: words):
        self.directory, self.wrap = directory, wrap
        self.endpoints = None

    def settings_with(self, **changes):
        raise NotImplementedError

    def request(self, bundle="", token="", machines=None, **changes):
        machines = [{"name": self.machine, "token": token}] if machines is None else machines
        request = {"contract": 1, "launcher": "a1b2", "target": self.target, "state": str(self.directory / "state"),
                   "bundle": str(bundle), "settings": self.settings_with(**changes), "machines": machines}
        return {**request, "endpoints": self.endpoints} if self.endpoints else request

    def environment(self):
        # Its own HOME: known_hosts and agents of the person who runs the tests do not count.
        return {**os.environ, "HOME": str(self.directory)}

    def start(self, verb):
        return subprocess.Popen(self.wrap([*self.words, verb]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment())

    def call(self, verb, bundle="", token="", **changes):
        process = self.start(verb)
        text, errors = process.communicate(json.dumps(self.request(bundle, token, **changes)))
        assert "Traceback" not in errors
        assert token == "" or token not in text + errors
        events = [json.loads(line) for line in text.splitlines()]
        for event in events:
            check_event(event)
        assert (process.returncode == 1) == any(event["event"] == "error" for event in events), (events, errors)
        return process.returncode, events, errors

    def done(self, verb, **options):
        """Demands exit code 0; returns the last event."""
        code, events, errors = self.call(verb, **options)
        assert code == 0, (events, errors)
        return events[-1]

    def joined(self, bundle, token, **options):
        """Creates vm1; again, as a launcher does, while it is pending. Returns the last event."""
        return wait_until(lambda: (event := self.done("create", bundle=bundle, token=token, **options))["state"] != "pending"
                          and event, "vm1 is no longer pending")

    def error(self, verb, **options):
        code, events, _ = self.call(verb, **options)
        assert (code, events[-1]["event"]) == (1, "error"), events
        return events[-1]

    def state(self):
        return self.done("list")["state"]

    def away(self):
        """Changes of the settings with which what makes the machines does not answer."""
        raise NotImplementedError

    def leftovers(self):
        """What `create` made and is still there."""
        raise NotImplementedError

    def agents(self):
        """Pids of the agents of vm1, wherever they run on this machine."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"/lockstep-agent") and b"vm1" in words and alive(int(entry.name)):
                found.append(int(entry.name))
        return found


class Target(ProviderTarget):
    """A target of kind ssh with one host, vm1."""

    words = (PROVIDER, "ssh")

    def __init__(self, server, directory, wrap=lambda words: words):
        super().__init__(directory, wrap)
        self.server = server
        self.host = {"name": "vm1", "address": server.address, "port": server.port, "user": getpass.getuser(),
                     "key": str(server.directory / "user"), "directory": str(directory / "machine/lockstep")}
        self.settings = {}
        (directory / "machine").mkdir()

    @property
    def folder(self):
        return pathlib.Path(self.host["directory"])

    def settings_with(self, **changes):
        return {"hosts": [{**self.host, **changes}], **self.settings}

    def away(self):
        return {"port": 1}

    def leftovers(self):
        return [*self.folder.parent.glob("*"), *processes_in(self.folder)]

    def put_in_the_way(self):
        self.folder.mkdir()
        (self.folder / "thesis.tex").write_text("years of work")

    def is_in_the_way(self):
        return (self.folder / "thesis.tex").read_text() == "years of work"

    def clear_the_way(self):
        shutil.rmtree(self.folder)


class DockerTarget(ProviderTarget):
    """A target of kind docker; its machine is a container of `image` in a test's own engine."""

    words = (PROVIDER, "docker")

    def __init__(self, engine, image, directory):
        super().__init__(directory)
        self.engine, self.variables = engine, {}
        self.settings = {"image": image}

    def settings_with(self, **changes):
        return {**self.settings, **changes}

    def environment(self):
        return {**super().environment(), **self.engine.environment, **self.variables}

    def away(self):
        self.variables = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}
        return {}

    def leftovers(self):
        return [*self.engine.containers(), *self.engine.ok("volume", "ls", "--quiet").split()]

    def put_in_the_way(self):
        self.engine.ok("create", "--name", self.name, self.settings["image"], "true")

    def is_in_the_way(self):
        return self.engine.ok("inspect", "--format", "{{.State.Status}}", self.name) == "created"

    def clear_the_way(self):
        self.engine.ok("rm", self.name)

    @property
    def name(self):
        """Of the machine's container."""
        return f"lockstep-a1b2-{self.target}-{self.machine}"


class SlurmTarget(ProviderTarget):
    """A target of kind slurm; its machine is a job of a test's own Slurm."""

    words = (PROVIDER, "slurm")

    def __init__(self, slurm, directory):
        super().__init__(directory)
        self.slurm, self.variables = slurm, {}
        self.shared = directory / "shared"
        self.shared.mkdir()
        self.settings = {"directory": str(self.shared)}

    def settings_with(self, **changes):
        return {**self.settings, **changes}

    def environment(self):
        return {**super().environment(), **self.slurm.environment(), "HOME": str(self.directory), **self.variables}

    def away(self):
        conf = pathlib.Path(self.slurm.environment()["SLURM_CONF"]).read_text()
        own = self.directory / "slurm.conf"
        own.write_text(conf.replace("SlurmctldPort=16817", "SlurmctldPort=1") + "MessageTimeout=2\n")
        self.variables = {"SLURM_CONF": str(own)}
        return {}

    def leftovers(self):
        return [*pathlib.Path(tempfile.gettempdir()).glob("lockstep-a1b2-vms-*"), *self.shared.iterdir(),
                *self.slurm.run("squeue", "--noheader").split()]

    def put_in_the_way(self):
        (self.shared / "lockstep-a1b2-vms").mkdir()
        (self.shared / "lockstep-a1b2-vms/thesis.tex").write_text("years of work")

    def is_in_the_way(self):
        return (self.shared / "lockstep-a1b2-vms/thesis.tex").read_text() == "years of work"

    def clear_the_way(self):
        shutil.rmtree(self.shared / "lockstep-a1b2-vms")

    def jobs(self):
        """{id: state} of all that Slurm still knows."""
        lines = self.slurm.run("squeue", "--noheader", "--states=all", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)


class KubeTarget(ProviderTarget):
    """A target of kind kubernetes; its machine is a pod of a test's own API server and kubelet."""

    words = (PROVIDER, "kubernetes")

    def __init__(self, kubelet, directory):
        super().__init__(directory)
        self.kubelet, self.api, self.variables = kubelet, kubelet.api, {}
        self.settings = {"image": "debian:12", "bundle_image": "bundle:1", "namespace": kubelet.namespace,
                         "kubeconfig": str(self.api.kubeconfig()), "memory": 400 << 20, "cpus": 1, "host_network": True}

    def settings_with(self, **changes):
        return {**self.settings, **changes}

    def environment(self):
        return {**super().environment(), **self.variables}

    def away(self):
        return {"kubeconfig": str(self.api.kubeconfig(server="https://127.0.0.1:1", name="away"))}

    def leftovers(self):
        namespace = self.kubelet.namespace
        return [*self.api.names("pods", namespace), *self.api.names("secrets", namespace), *self.kubelet.pods]

    def put_in_the_way(self):
        container = {"name": "theirs", "image": "theirs"}
        self.api.ask("POST", f"/api/v1/namespaces/{self.kubelet.namespace}/pods",
                     {"metadata": {"name": self.name}, "spec": {"containers": [container], "nodeName": "elsewhere"}})

    def is_in_the_way(self):
        return self.api.names("pods", self.kubelet.namespace) == [self.name]

    def clear_the_way(self):
        self.api.ask("DELETE", f"/api/v1/namespaces/{self.kubelet.namespace}/pods/{self.name}", {"gracePeriodSeconds": 0})

    @property
    def name(self):
        """Of the machine's pod."""
        return f"lockstep-a1b2-{self.target}-{self.machine}"


class FakeTarget(ProviderTarget):
    """A target of tests/fakes/provider: its machine is an agent beside the launcher's."""

    words = (FAKE,)

    def settings_with(self, **changes):
        return {"faults": changes}

    def away(self):
        return {"fail": dict.fromkeys(("check", "create", "list", "remove"), "unreachable")}

    def leftovers(self):
        return [*(self.directory / "state/machines").glob("*"), *self.agents()]


def leads(pid):
    """Whether it is the first of its process group."""
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:
        return False


class Hold:
    """`hold` of a target while it runs."""

    def __init__(self, target):
        self.process = subprocess.Popen(target.wrap([PROVIDER, "ssh", "hold"]), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=target.environment())
        self.mark = str(target.directory / "state/known_hosts")
        self.process.stdin.write(json.dumps(target.request()) + "\n")
        self.process.stdin.flush()
        self.queue = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.queue.put(json.loads(line))

    def next(self, event, timeout=60):
        found = self.queue.get(timeout=timeout)
        assert found["event"] == event, found
        return found

    def ssh_pids(self):
        """Every ssh of this target, that of a jump among them: {pid: command line}."""
        found = {}
        for entry in os.listdir("/proc"):
            try:
                words = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes() if entry.isdigit() else b""
            except OSError:
                continue
            words = words.decode(errors="replace").split("\0")
            if os.path.basename(words[0]) == "ssh" and self.mark in " ".join(words) and alive(int(entry)):
                found[int(entry)] = " ".join(words)
        return found

    def connection(self):
        """The pid of the ssh that holds the tunnel. A child of it has its command line until it runs another
        program, but is in its process group."""
        [pid] = [pid for pid, words in self.ssh_pids().items() if "ControlMaster=yes" in words and leads(pid)]
        return pid

    def end(self):
        """Closes its standard input; returns its exit code."""
        if self.process.poll() is None:
            self.process.stdin.close()
        code = self.process.wait(timeout=30)
        assert self.ssh_pids() == {}
        return code

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def processes_in(folder):
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        for link in ("exe", "cwd"):
            try:
                if os.readlink(entry / link).startswith(str(folder)):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def new_token(site):
    return site.ok("node", "token", "--compute", "vms").strip()


def create_target(site):
    site.ok("compute", "create", "--name", "vms", "--type", "virtualmachine", "--node-source", "join")
    return site
