"""Targets whose machines the launcher attaches over ssh: a real launcher, a real sshd, real agents.

The host is this machine: sshd listens on a loopback address and lets in the account that runs the tests.
test_provider_ssh.py has what the provider itself does."""
import getpass
import gzip
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from harness.provider import Server, processes_in
from harness.site import wait_until


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    yield made
    made.stop()


class Lab:
    """A launcher, and hosts that are directories of this machine behind one sshd."""

    def __init__(self, site, server, bundle, directory):
        self.site, self.server, self.bundle, self.directory = site, server, bundle, directory
        self.up()

    def up(self):
        self.site.ok("up", "--nodes", "1", env={"LOCKSTEP_NODE_BUNDLE": str(self.bundle)})

    def folder(self, name):
        return self.directory / "machines" / name / "lockstep"

    def file(self, *names, tunnel="auto", **changes):
        """A compute file with these hosts."""
        hosts = []
        for name in names:
            self.folder(name).parent.mkdir(parents=True, exist_ok=True)
            hosts.append({"name": name, "address": "127.0.0.1", "port": self.server.port,
                          "user": getpass.getuser(), "key": str(self.server.directory / "user"),
                          "directory": str(self.folder(name)), **changes})
        spec = {"name": "lab", "type": "virtualmachine", "lockstep": {"node_source": "ssh", "hosts": hosts, "tunnel": tunnel}}
        return self.site.write("lab.json", json.dumps(spec))

    def attach(self, *names, **changes):
        return self.site.run("compute", "attach", "-f", self.file(*names, **changes))

    def attached(self, *names, **changes):
        done = self.attach(*names, **changes)
        assert done.returncode == 0, done.stderr.decode() + self.log()
        return done

    def show(self):
        return self.site.json("compute", "show", "lab", "--history")

    def machine(self, name):
        return {m["name"]: m for m in self.show()["machines"]}[name]

    def log(self):
        return self.site.run("compute", "log", "lab").stdout.decode()

    def end(self):
        self.site.run("compute", "detach", "lab", "--force")
        for folder in (self.directory / "machines").glob("*"):
            for pid in processes_in(folder):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def lab(site, server, bundle, tmp_path):
    made = Lab(site, server, bundle, tmp_path)
    yield made
    made.end()


def test_hosts_become_nodes_run_a_job_and_leave_without_a_trace(lab):
    done = lab.attached("vm1", "vm2")
    assert "vm1: joined as node vm1" in done.stderr.decode()
    assert lab.site.ok("run", "--compute", "lab", "-N", "2", "--", "echo", "here").count("here") == 2
    assert [(m["name"], m["state"]) for m in lab.show()["machines"]] == [("vm1", "joined"), ("vm2", "joined")]
    # Attached again: the same nodes.
    lab.attached("vm1", "vm2")
    assert len(lab.site.json("compute", "list-nodes", "lab")) == 2
    lab.site.ok("compute", "detach", "lab")
    for name in ("vm1", "vm2"):
        assert not lab.folder(name).exists()
        assert processes_in(lab.folder(name)) == []
    assert lab.site.run("compute", "show", "lab").returncode != 0
    assert lab.site.json("node", "list")[0]["compute"] == "local"


def test_a_host_is_added_and_another_removed_while_a_job_runs(lab):
    lab.attached("vm1")
    job = lab.site.submit("--compute", "lab", "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.1; done; echo done")
    lab.site.wait_for_status(job, "Running")
    lab.attached("vm1", "vm2")
    assert lab.site.ok("run", "--compute", "lab", "--", "echo", "second").strip() == "second"
    lab.site.ok("compute", "detach", "lab", "--host", "vm2")
    assert [m["name"] for m in lab.show()["machines"]] == ["vm1"]
    # A busy host is drained and waited for; by force its job goes back to the queue, not charged.
    assert lab.site.run("compute", "detach", "lab", "--host", "vm1", "--timeout", "2s").returncode == 1
    assert lab.machine("vm1")["state"] == "leaving"
    assert lab.site.show(job)["status"] == "Running"
    lab.site.ok("compute", "detach", "lab", "--host", "vm1", "--force")
    assert lab.site.show(job)["status"] == "Queued"
    assert not lab.folder("vm1").exists()
    lab.site.ok("job", "cancel", job)


@pytest.mark.parametrize("changes, words", [
    ({"port": 1}, ["vm1", "connect", "Connection refused"]),
    ({"address": "no-such-host.invalid"}, ["vm1", "Could not resolve"]),
    ({"key": "/nonexistent/key"}, ["vm1", "/nonexistent/key"]),
    ({"directory": "/proc/lockstep"}, ["vm1", "0 MiB are free" if os.geteuid() == 0 else "cannot write to /proc"]),
])
def test_what_is_wrong_with_a_host_is_said_and_mended_in_place(lab, changes, words):
    done = lab.attach("vm1", **changes)
    text = " ".join(done.stderr.decode().split())
    assert done.returncode == 1, text
    for word in words + ["lockstep compute detach lab --host vm1"]:
        assert word in text, text
    assert lab.machine("vm1")["state"] == "failed"
    # A job that waits says why.
    job = lab.site.submit("--compute", "lab", "--", "true")
    assert "vm1 failed" in lab.site.ok("job", "explain", job)
    lab.site.ok("job", "cancel", job)
    if "directory" in changes:
        lab.site.ok("compute", "detach", "lab", "--host", "vm1", "--force")
    lab.attached("vm1")
    assert lab.site.ok("run", "--compute", "lab", "--", "echo", "mended").strip() == "mended"


def test_another_host_key_is_refused_and_the_job_there_goes_on(lab):
    lab.attached("vm1")
    job = lab.site.submit("--compute", "lab", "--", "sh", "-c", "sleep 5; echo survived")
    lab.site.wait_for_status(job, "Running")
    lab.server.start("other_host")
    done = lab.attach("vm1")
    assert done.returncode == 1 and b"host key" in done.stderr.lower(), done.stderr
    assert "survived" in lab.site.ok("job", "stream", job)
    assert lab.machine("vm1")["state"] == "joined", "the agent's own link decides"
    lab.server.start("host")


def test_a_launcher_that_dies_while_it_attaches_ends_with_one_node(lab):
    for delay in (0.1, 0.6, 1.2):
        site = lab.site
        attaching = site.start("compute", "attach", "-f", lab.file("vm1"))
        time.sleep(delay)
        site.kill(site.launcher_pids())
        attaching.communicate(timeout=120)
        lab.up()
        if any(c["name"] == "lab" for c in site.json("compute", "list")):
            wait_until(lambda: lab.machine("vm1")["state"] == "joined", f"vm1 joins after {delay} s")
        else:
            lab.attached("vm1")
        assert [n["name"] for n in site.json("compute", "list-nodes", "lab")] == ["vm1"]
        site.ok("compute", "detach", "lab")
        assert processes_in(lab.folder("vm1")) == []


def test_the_launcher_holds_tunnels_and_a_job_survives_one_that_breaks(lab):
    done = lab.attach("vm1", tunnel="always")
    assert done.returncode == 0, done.stderr.decode() + lab.log()
    job = lab.site.submit("--compute", "lab", "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.1; done; echo survived")
    lab.site.wait_for_status(job, "Running")
    holds = subprocess.run(["pgrep", "-f", "lockstep-provider ssh hold"], capture_output=True, text=True, check=True)
    for pid in holds.stdout.split():
        os.kill(int(pid), signal.SIGKILL)
    time.sleep(3)
    pathlib.Path(f"/proc/{lab.site.rank_pids(job)[0]}/cwd/go").touch()  # in the rank's own mounts
    assert "survived" in lab.site.ok("job", "stream", job)
    assert len(lab.site.show(job)["attempts"]) == 1
    lab.site.kill(lab.site.launcher_pids())
    lab.up()
    assert lab.site.ok("run", "--compute", "lab", "--", "echo", "again").strip() == "again"
    lab.site.ok("compute", "detach", "lab")
    gone = subprocess.run(["pgrep", "-f", "lockstep-provider ssh hold"], capture_output=True, check=False)
    assert gone.returncode == 1, gone.stdout


def test_an_upgrade_installs_another_archive_and_the_job_goes_on(lab, tmp_path):
    lab.attached("vm1")
    before = lab.machine("vm1")["about"]["bundle"]
    job = lab.site.submit("--compute", "lab", "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.1; done; echo survived")
    lab.site.wait_for_status(job, "Running")
    agent = (lab.folder("vm1") / "agent/agent.pid").read_text()
    # Another archive: the same programs, compressed otherwise.
    other = tmp_path / "other.tar.gz"
    other.write_bytes(gzip.compress(gzip.decompress(lab.bundle.read_bytes()), compresslevel=1))
    lab.bundle = other
    lab.site.kill(lab.site.launcher_pids())
    lab.up()
    lab.site.ok("compute", "update", "lab", "--upgrade")
    wait_until(lambda: lab.machine("vm1")["about"]["bundle"] != before, "another archive is installed")
    assert (lab.folder("vm1") / "agent/agent.pid").read_text() != agent, "another agent"
    pathlib.Path(f"/proc/{lab.site.rank_pids(job)[0]}/cwd/go").touch()
    assert "survived" in lab.site.ok("job", "stream", job)
    assert len(lab.site.show(job)["attempts"]) == 1


def test_an_agent_that_is_gone_for_good_is_started_again(lab):
    lab.attached("vm1")
    for pid in processes_in(lab.folder("vm1")):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    wait_until(lambda: lab.machine("vm1")["state"] == "lost" or "lost" in json.dumps(lab.show()["history"]),
               "vm1 is lost", 90)
    wait_until(lambda: lab.machine("vm1")["state"] == "joined", "vm1 is back", 90)
    assert lab.site.ok("run", "--compute", "lab", "--", "echo", "back").strip() == "back"


def launch(site, port, **environment):
    """`lockstepd` as an operator starts it, at this port of loopback."""
    log = open(site.directory / "lockstepd.log", "ab")
    process = subprocess.Popen(
        [site.bin / "lockstepd", "--home", site.home / "launcher", "--listen", f"tcp://127.0.0.1:{port}", "--allow-root",
         "--started-by-lockstep"],  # so that `down` may start it again at the end
        env={**site.environment(), **environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        start_new_session=True)
    log.close()
    wait_until(lambda: site.run("status").returncode == 0 and process.poll() is None, "the launcher answers")
    return process


def liveness(site, name):
    return {n["name"]: n["liveness"] for n in site.json("node", "list")}.get(name)


@pytest.mark.parametrize("tunnel", ["auto", "always"])
def test_a_machine_follows_a_launcher_that_moved(lab, tunnel):
    lab.attached("vm1", tunnel=tunnel)
    job = lab.site.submit("--compute", "lab", "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.1; done; echo survived")
    lab.site.wait_for_status(job, "Running")
    agent = (lab.folder("vm1") / "agent/agent.pid").read_text()
    lab.site.kill(lab.site.launcher_pids())
    moved = launch(lab.site, 17670, LOCKSTEP_NODE_BUNDLE=str(lab.bundle))
    try:
        wait_until(lambda: liveness(lab.site, "vm1") == "ALIVE", "vm1 is told without anybody asking", 50)
        done = lab.site.run("compute", "update", "lab", "--upgrade", "--timeout", "90")
        assert done.returncode == 0 and b"vm1: joined" in done.stderr, done
        assert liveness(lab.site, "vm1") == "ALIVE", "nothing says joined of a node that is not ALIVE"
        about = lab.machine("vm1")["about"]
        assert about["joined"] == "yes" and (tunnel == "always" or about["connected"] == "tcp://127.0.0.1:17670"), about
        assert (lab.folder("vm1") / "agent/agent.pid").read_text() == agent, "the same agent"
        pathlib.Path(f"/proc/{lab.site.rank_pids(job)[0]}/cwd/go").touch()
        assert "survived" in lab.site.ok("job", "stream", job)
        assert len(lab.site.show(job)["attempts"]) == 1
        lab.site.run("compute", "detach", "lab", "--force")
    finally:
        moved.terminate()
        moved.wait(timeout=30)


def test_a_machine_that_is_attached_twice_is_refused_unless_it_is_divided(site, server, bundle, tmp_path):
    launcher = launch(site, 17680, LOCKSTEP_SHARED_MACHINES="", LOCKSTEP_NODE_BUNDLE=str(bundle))
    lab = object.__new__(Lab)
    lab.site, lab.server, lab.bundle, lab.directory = site, server, bundle, tmp_path
    try:
        lab.attached("vm1")
        whole = site.json("node", "show", "vm1")["inventory"]

        def attach_other(**keys):
            lab.file("vm2")
            spec = json.loads((site.work / "lab.json").read_text())
            spec["name"] = "other"
            spec["lockstep"].update(keys)
            return site.run("compute", "attach", "-f", site.write("other.json", json.dumps(spec)))

        done = attach_other()
        text = " ".join(done.stderr.decode().split())
        assert done.returncode == 1, text
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        for word in (boot, "is node vm1 of target 'lab' already", "--share 1/2"):
            assert word in text, text
        assert [n["name"] for n in site.json("node", "list")] == ["vm1"]
        site.ok("compute", "detach", "other", "--force")
        # By a token too.
        token = tmp_path / "token"
        token.touch(0o600)
        token.write_text(site.ok("node", "token"))
        by_token = [site.bin / "lockstep-agent", "--home", tmp_path / "third", "--token-file", token, "--name", "third"]
        refused = subprocess.run(by_token, env=site.environment(), capture_output=True, check=False, timeout=60)
        assert refused.returncode == 1 and boot.encode() in refused.stderr, refused
        # Divided, it is two nodes that together have no more than one.
        site.ok("compute", "update", "lab", "--set", "lockstep.share=1/2", "--upgrade")
        wait_until(lambda: site.json("node", "show", "vm1")["inventory"]["memory"] < whole["memory"], "vm1 offers less")
        done = attach_other(share="2/2")
        assert done.returncode == 0, done.stderr.decode() + site.ok("compute", "log", "other")
        nodes = wait_until(lambda: (n := site.json("node", "list")) and [x["liveness"] for x in n] == ["ALIVE"] * 2 and n,
                           "both are there")
        assert [n["reason"] for n in nodes] == ["", ""], nodes
        has = [n["inventory"] for n in nodes]
        assert not set(has[0]["cpus"]) & set(has[1]["cpus"]), has
        assert sum(one["memory"] for one in has) <= whole["memory"]
        site.run("compute", "detach", "other", "--force")
        site.run("compute", "detach", "lab", "--force")
    finally:
        launcher.terminate()
        launcher.wait(timeout=30)
        for folder in (tmp_path / "machines").glob("*"):
            for pid in processes_in(folder):
                os.kill(pid, signal.SIGKILL)


def test_only_an_admin_attaches_and_everybody_sees_why_it_failed(lab):
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "lockstep-provider" not in shown, "a call ends with its last machine"
    lab.attached("vm1")
    text = lab.log()
    assert "vm1" in text and "start" in text
    assert "token" not in text.lower() or "LSJ" not in text
    table = lab.site.ok("compute", "show", "lab", "--history")
    assert "its agent joined" in table and "joined" in table


@pytest.mark.skipif(os.getuid() != 0, reason="only root can set a password")
def test_a_password_is_a_secret_and_never_shown(lab, ordinary_user):
    password = "s3cret pass'word"
    subprocess.run(["chpasswd"], input=f"{ordinary_user}:{password}\n", text=True, check=True)
    try:
        lab.site.ok("secret", "set", "VM_PASSWORD", stdin=_pipe(password))
        directory = f"/tmp/ls-lab-{os.getpid()}"
        done = lab.attach("vm1", user=ordinary_user, key="", password_secret="VM_PASSWORD", directory=directory)
        assert done.returncode == 0, done.stderr.decode() + lab.log()
        for text in (lab.log(), json.dumps(lab.show()), done.stderr.decode(), _journal(lab)):
            assert password not in text
        assert lab.machine("vm1")["state"] == "joined"
        lab.site.ok("compute", "detach", "lab")
        assert not pathlib.Path(directory).exists()
    finally:
        subprocess.run(["usermod", "-p", "!", ordinary_user], check=True)


def _pipe(text):
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    return read


def _journal(lab):
    return "".join(p.read_bytes().decode(errors="replace")
                   for p in lab.site.home.rglob("journal*") if p.is_file())
