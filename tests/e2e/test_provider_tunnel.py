"""Hosts that ssh reaches and that cannot dial the launcher: its verb `hold`, and hosts behind a jump.

Real network namespaces, sshd, ssh, launcher and agents. The launcher listens on an address to which the hosts have no
route; `inner` hangs on a cable to `gate` alone, which forwards no packets."""
import hashlib
import json
import os
import pathlib
import pwd
import signal
import subprocess
import tempfile

import pytest
from harness.checkout import covering
from harness.namespaces import Cluster, Host
from harness.provider import Hold, Server, Target, create_target, new_token
from harness.site import alive, wait_until

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces need root")
LISTENS_ON = "10.99.0.1"
INNER = "10.78.0.2"


def _ip(*words):
    subprocess.run(["ip", *words], check=True, stdout=subprocess.DEVNULL)


class Inner(Host):
    """A host whose only cable goes to the gate."""

    def create(self):
        gate = self.cluster.gate
        _ip("netns", "add", self.namespace)
        _ip("link", "add", "eth1", "netns", gate.namespace, "type", "veth", "peer", "name", "eth0", "netns",
            self.namespace)
        for host, device, address in ((gate, "eth1", "10.78.0.1"), (self, "eth0", self.address)):
            _ip("-n", host.namespace, "addr", "add", f"{address}/24", "dev", device)
            _ip("-n", host.namespace, "link", "set", device, "up")
        _ip("-n", self.namespace, "link", "set", "lo", "up")


class FarCluster(Cluster):
    """The launcher's host, `gate` on the same network, `inner` behind it; no agent runs yet."""

    def __init__(self, directory, bin_directory):
        super().__init__(directory, bin_directory, nodes=0)
        self.gate = Host(self, "gate", "10.77.0.2")
        self.inner = Inner(self, "inner", INNER)
        self.listens_on = LISTENS_ON
        self.ssh = self.directory / "person"  # what ~/.ssh is for the provider's ssh
        self.ssh.mkdir(mode=0o700)

    def create(self):
        super().create()
        for host in (self.gate, self.inner):
            self.add(host)
        return self

    def start_launcher(self):
        _ip("-n", self.launcher.namespace, "addr", "add", f"{LISTENS_ON}/32", "dev", "lo")
        super().start_launcher()

    def start_agent(self, host):
        raise AssertionError("only the provider starts agents here")

    def as_launcher(self, words):
        """On the launcher's host, with a ~/.ssh of its own."""
        home = pwd.getpwuid(os.getuid()).pw_dir
        inner = f'{covering(home, "-t", "tmpfs", "tmpfs")}; cp -r {self.ssh} {home}/.ssh; exec "$@"'
        return self.launcher.argv(["sh", "-c", inner, "sh", *words])


@pytest.fixture
def cluster(shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-far-"))
    directory.chmod(0o755)
    made = FarCluster(directory, shared_bin)
    try:
        create_target(made.create().site)
        yield made
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def server_on(host, name, **options):
    directory = host.cluster.directory / name
    directory.mkdir()
    return Server(directory, host.address, host.argv, **options)


def target_on(server, cluster):
    made = Target(server, server.directory, cluster.as_launcher)
    made.endpoints = json.loads((cluster.site.home / "launcher/endpoint.json").read_text())
    return made


@pytest.fixture
def gate(cluster):
    """An sshd on the gate, and the target of that host."""
    server = server_on(cluster.gate, "gate-sshd")
    target = target_on(server, cluster)
    yield target
    target.call("remove")
    server.stop()


@pytest.fixture
def inner(cluster, gate):
    """An sshd on the host behind the gate; the gate lets the same key in."""
    server = server_on(cluster.inner, "inner-sshd")
    with open(gate.server.authorized, "a") as keys:
        keys.write((server.directory / "user.pub").read_text())
    target = target_on(server, cluster)
    yield target
    target.call("remove")
    server.stop()


def dials(host, address, port):
    return host.run("timeout", "5", "bash", "-c", f"exec 3<>/dev/tcp/{address}/{port}").returncode == 0


def liveness(site):
    return [n["liveness"] for n in site.json("node", "list") if n["compute"] == "vms"]


JOB = """
command: >-
  sha256sum data; mkdir -p outputs; cp data outputs/copy; i=0;
  while [ ! -e {flag} ]; do i=$((i+1)); echo line $i; sleep 0.05; done; echo lines $i
code: .
compute: vms
"""


def test_a_job_runs_through_a_tunnel_that_is_killed_in_its_midst(cluster, gate, bundle):
    site = cluster.site
    assert not dials(cluster.gate, LISTENS_ON, 7070)
    assert gate.done("check")["about"]["tunnel"] is True
    made = gate.done("create", bundle=bundle, token=new_token(site))
    assert (made["state"], made["about"]["joined"], made["about"]["tunnel"]) == ("running", "yes", True)
    port = int((gate.folder / "tunnel").read_text())
    identity = gate.folder / "agent/identity.json"
    known = json.loads(identity.read_text())
    assert [known["control"], known["bulk"]] == [f"tcp://127.0.0.1:{port}", f"tcp://127.0.0.1:{port + 1}"]
    hold = Hold(gate)
    try:
        assert hold.next("machine")["about"] == {"tunnel": True, "tunnel_port": str(port)}
        wait_until(lambda: liveness(site) == ["ALIVE"], "the node is alive through the tunnel")
        [node] = [n for n in site.json("node", "list") if n["compute"] == "vms"]
        assert node["inventory"]["address"] == cluster.gate.address, "other nodes find it there, not at 127.0.0.1"
        assert not dials(cluster.launcher, cluster.gate.address, port), "only the host itself reaches the port"
        data = os.urandom(3 << 20)
        (site.work / "data").write_bytes(data)
        flag = cluster.directory / "flag"
        site.write("job.yml", JOB.format(flag=flag))
        site.ok("job", "create", "-f", "job.yml", "--name", "far")
        wait_until(lambda: b"line 20" in site.logs("far"), "the job runs")
        for _ in range(2):
            os.kill(hold.connection(), signal.SIGKILL)
            warning = hold.next("warning")
            assert warning["message"].startswith("the tunnel is down: "), warning
            assert hold.next("machine")["about"]["tunnel"] is True
        wait_until(lambda: liveness(site) == ["ALIVE"], "the agent is back")
        flag.touch()
        site.wait_for_status("far", "Completed")
        log = site.logs("far").decode()
        assert hashlib.sha256(data).hexdigest() in log, "the source snapshot went there through the bulk socket"
        count = int(log.split()[-1])
        assert [int(line.split()[-1]) for line in log.splitlines() if " line " in line or line.startswith("line ")] \
            == list(range(1, count + 1)), "no line of its log is missing"
        assert len(site.show("far")["attempts"]) == 1, site.show("far")
        got = site.directory / "got"
        got.mkdir()
        site.ok("job", "download", "far", "-p", got)
        [copy] = got.rglob("copy")
        assert copy.read_bytes() == data, "its output came back through the bulk socket"
        assert json.loads(identity.read_text()) == known, "the agent's endpoints stay"
        # While `hold` has the tunnel, `create` finds all there.
        assert gate.done("create", bundle=bundle)["about"]["tunnel"] is True
    finally:
        assert hold.end() == 0
    wait_until(lambda: not dials(cluster.gate, "127.0.0.1", port), "the tunnel is gone")


def test_a_session_that_has_not_noticed_its_end_does_not_keep_the_ports(cluster, gate, bundle):
    """As after a network that was cut: ssh hears nothing and gives up; the host's sshd still has the ports."""
    gate.done("create", bundle=bundle, token=new_token(cluster.site))
    hold = Hold(gate)
    try:
        hold.next("machine")
        session = int((gate.folder / "tunnel.session").read_text().split()[0])
        os.kill(session, signal.SIGSTOP)
        assert "not responding" in hold.next("warning", 20)["message"]
        assert hold.next("machine")["about"]["tunnel"] is True
        wait_until(lambda: liveness(cluster.site) == ["ALIVE"], "the agent is back")
    finally:
        hold.process.terminate()
        assert hold.end() == 0


def test_no_ssh_is_left_when_the_child_that_has_the_tunnels_is_killed(gate):
    """Nothing is attached there: `hold` connects and says so."""
    hold = Hold(gate)
    try:
        assert "nothing of this target is installed there" in hold.next("warning")["message"]
        os.kill(gate.server.process.pid, signal.SIGSTOP)  # so that it stays for a while
        wait_until(hold.ssh_pids, "it tries again")
        [child] = map(int, pathlib.Path(f"/proc/{hold.process.pid}/task/{hold.process.pid}/children").read_text().split())
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: hold.ssh_pids() == {}, "no ssh is left", 10)
        assert hold.process.wait(timeout=30) == 128 + signal.SIGKILL
    finally:
        os.kill(gate.server.process.pid, signal.SIGCONT)
        hold.kill()


def test_a_port_that_others_took_and_one_that_all_could_dial_are_refused(cluster, gate, bundle):
    gate.done("create", bundle=bundle, token=new_token(cluster.site))
    port = (gate.folder / "tunnel").read_text().strip()
    squatter = subprocess.Popen(cluster.gate.argv(["/usr/bin/python3", "-c", f"""
import socket
with socket.create_server(("127.0.0.1", {port})): input()"""]), stdin=subprocess.PIPE)
    wait_until(lambda: dials(cluster.gate, "127.0.0.1", port), "the port is taken")
    hold = Hold(gate)
    try:
        assert f"another program there listens on the tunnel's port {port}" in hold.next("warning")["message"]
        squatter.communicate()
        assert hold.next("machine")["about"]["tunnel"] is True
    finally:
        assert hold.end() == 0
    gate.done("remove")
    gate.server.lines = "GatewayPorts yes\n"
    gate.server.start("host")
    error = gate.error("create", bundle=bundle, token=new_token(cluster.site))
    assert (error["step"], error["code"]) == ("tunnel", "unsupported")
    assert "set GatewayPorts there to no" in error["message"]
    gate.server.lines = "AllowTcpForwarding no\n"
    gate.server.start("host")
    error = gate.error("create", bundle=bundle, token=new_token(cluster.site))
    assert (error["step"], error["code"]) == ("tunnel", "unsupported")
    assert "its sshd may say AllowTcpForwarding no" in error["message"]


def group_of(leader):
    """The pids of a process group."""
    found = subprocess.run(["pgrep", "-g", str(leader)], capture_output=True, text=True, check=False).stdout
    return [pid for pid in map(int, found.split()) if alive(pid)]


def through(inner, gate, cluster, way, user="root"):
    """Tells the provider of the gate: by its settings, or by the person's own ~/.ssh/config."""
    jump = f"{user}@{cluster.gate.address}:{gate.server.port}"
    if way == "setting":
        inner.settings["jump"] = jump
        return
    (cluster.ssh / "config").write_text(f"Host {INNER}\n  ProxyJump gate\n"
                                        f"Host gate\n  HostName {cluster.gate.address}\n  Port {gate.server.port}\n"
                                        f"  User {user}\n  IdentityFile {inner.host['key']}\n"
                                        "  StrictHostKeyChecking accept-new\n")
    (cluster.ssh / "config").chmod(0o600)


@pytest.mark.parametrize("way", ["config", "setting"])
def test_a_host_behind_a_jump_is_a_node_and_no_ssh_survives_hold(cluster, gate, inner, bundle, way):
    site = cluster.site
    assert inner.error("check")["code"] == "unreachable", "only the gate reaches it"
    through(inner, gate, cluster, way)
    made = inner.done("create", bundle=bundle, token=new_token(site))
    assert (made["state"], made["about"]["tunnel"]) == ("running", True)
    hold = Hold(inner)
    try:
        hold.next("machine")
        assert site.ok("run", "--compute", "vms", "--", "hostname").strip() == "inner"
        assert len(hold.ssh_pids()) == (2 if way == "setting" else 1), "the config's jump has options of its own"
        pids = group_of(hold.connection())
        assert len(pids) == 2, "a connection and its jump"
    finally:
        hold.kill()
    wait_until(lambda: not any(alive(pid) for pid in pids), "no ssh is left", 10)
    assert hold.ssh_pids() == {}
    # Also while it connects: a gate that answers nothing.
    os.kill(gate.server.process.pid, signal.SIGSTOP)
    hold = Hold(inner)
    pids = []
    try:
        wait_until(lambda: hold.ssh_pids(), "ssh begins")
        pids = wait_until(lambda: len(found := group_of(hold.connection())) == 2 and found, "so does the jump's")
    finally:
        hold.kill()
        try:
            wait_until(lambda: not any(alive(pid) for pid in pids), "no ssh is left", 10)
        finally:
            os.kill(gate.server.process.pid, signal.SIGCONT)
    assert hold.ssh_pids() == {}


def test_a_jump_is_never_told_the_hosts_password(cluster, gate, inner, ordinary_user):
    """The gate asks for a password as well; ssh would ask the same program for both. Here both have the same one, so
    that the gate's log shows it."""
    password = "a pass'word"
    subprocess.run(["chpasswd"], input=f"{ordinary_user}:{password}\n", text=True, check=True)
    gate.server.authorized.write_text("")
    try:
        assert gate.done("check", user=ordinary_user, key="", password=password, directory="/tmp/ls-password-host")
        assert f"Accepted password for {ordinary_user}" in gate.server.log()
        for way in ("config", "setting"):
            through(inner, gate, cluster, way, ordinary_user)
            gate.server.start("host")
            error = inner.error("check", user=ordinary_user, key="", password=password)
            assert (error["code"], "Permission denied" in error["message"]) == ("unauthenticated", True), error
            # sshd writes it after the client has ended.
            wait_until(lambda: f"authenticating user {ordinary_user}" in gate.server.log(), "the gate closed the connection")
            assert "Accepted" not in gate.server.log()
    finally:
        subprocess.run(["passwd", "--lock", ordinary_user], check=True, stdout=subprocess.DEVNULL)


def test_what_tunnel_never_and_always_mean(cluster, gate, bundle):
    gate.settings["tunnel"] = "never"
    assert gate.done("check")["about"]["tunnel"] is False
    error = gate.error("create", bundle=bundle, token=new_token(cluster.site))
    assert error["code"] == "launcher_unreachable", error
    gate.settings["tunnel"] = "always"
    assert gate.done("check")["about"]["tunnel"] is True
    # A choice stands when the agent has joined, and not before.
    gate.server.lines = "AllowTcpForwarding no\n"
    gate.server.start("host")
    gate.error("create", bundle=bundle, token=new_token(cluster.site))
    assert (gate.folder / "tunnel").exists()
    gate.settings["tunnel"] = "auto"
    _ip("-n", cluster.gate.namespace, "route", "add", f"{LISTENS_ON}/32", "via", cluster.launcher.address)
    assert gate.done("check")["about"]["tunnel"] is False
    assert gate.done("create", bundle=bundle, token=new_token(cluster.site))["about"]["tunnel"] is False
    hold = Hold(gate)
    assert hold.next("machine")["about"] == {"tunnel": False}
    wait_until(lambda: hold.ssh_pids() == {}, "it needs no ssh")
    assert hold.process.poll() is None, "it ends with its standard input"
    assert hold.end() == 0
    gate.endpoints = None
    code, _, errors = gate.call("hold")
    assert (code, "the request's endpoints are missing" in errors) == (2, True)
