"""Hosts whose systemd keeps the agent running, in the cases that a real systemd of ours cannot show.

Real: sshd, the provider and its scripts, the launcher, the agent and its jobs, the text of the unit, which
systemd-analyze verifies. Fake: systemd itself. /run/systemd/system and lingering are empty files in a mount namespace
of sshd, and `systemctl` is programs/fake_systemctl.py, which notes its calls and starts and stops a unit's main
process. It restarts nothing. test_provider_real_systemd.py shows what a real systemd does with a system unit;
no test has a real systemd of an ordinary account. Without systemd the shell script keeps the agent:
test_provider_ssh.py."""
import getpass
import gzip
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import pytest
from harness.checkout import COVER
from harness.provider import Server, Target, create_target, new_token, processes_in
from harness.site import wait_until

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")
FAKE = pathlib.Path(__file__).parent / "programs/fake_systemctl.py"
MOUNTS = """
cover=$1; shift
for at in /run /etc/systemd/system /var/lib/systemd; do mkdir -p $at; "$cover" $at -t tmpfs tmpfs; done
mkdir -p /run/sshd /run/systemd/system /var/lib/systemd/linger
[ -z "$1" ] || : > /var/lib/systemd/linger/$1
shift
exec "$@"
"""


class SystemdHost:
    """An sshd in a mount namespace where systemd seems to run; `lingers`: the account whose own one seems to."""

    def __init__(self, directory, lingers=""):
        self.state = directory / "systemd"
        self.state.mkdir()
        self.state.chmod(0o777)
        programs = directory / "programs"
        programs.mkdir()
        shutil.copy(FAKE, programs / "systemctl")
        lines = f"SetEnv PATH={programs}:/usr/bin:/bin FAKE_SYSTEMD={self.state}\n"
        before = ["unshare", "-m", "sh", "-ec", MOUNTS, "sh", COVER, lingers]
        self.server = Server(directory, wrap=lambda words: [*before, *words], lines=lines)
        self.target = Target(self.server, directory)

    def calls(self):
        return [line for line in (self.state / "calls").read_text().splitlines() if not line.startswith("--version")]

    def changes(self):
        return [call.rsplit(" ", 1)[0] if ".service" in call else call for call in self.calls()
                if "is-active" not in call]

    def systemctl(self, *words):
        subprocess.run(["nsenter", "-t", str(self.server.process.pid), "-m", FAKE, *words], check=True,
                       env={**os.environ, "FAKE_SYSTEMD": str(self.state)})

    def unit(self):
        """The only unit of the system."""
        [unit] = pathlib.Path(f"/proc/{self.server.process.pid}/root/etc/systemd/system").glob("*.service")
        return unit

    def forget_calls(self):
        (self.state / "calls").unlink()


@pytest.fixture
def host(request):
    """Open to every account."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-systemd-"))
    directory.chmod(0o755)
    made = SystemdHost(directory, getattr(request, "param", ""))
    yield made
    made.target.call("remove")
    made.server.stop()
    subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


@pytest.fixture
def person(ordinary_user):
    """An account that sshd lets in by its key: it refuses those without a password as locked."""
    subprocess.run(["chpasswd"], input=f"{ordinary_user}:{os.urandom(16).hex()}\n", text=True, check=True)
    yield ordinary_user
    subprocess.run(["passwd", "--lock", ordinary_user], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture
def lab(site):
    return create_target(site.up(1))


def verified(text, directory, *words):
    copy = directory / "lockstep-copy.service"
    copy.write_text(text)
    done = subprocess.run(["systemd-analyze", *words, "verify", "--man=no", copy], capture_output=True, text=True,
                          check=False, env={**os.environ, "XDG_RUNTIME_DIR": str(directory)})
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def agent_pid(target):
    return int((target.folder / "agent/agent.pid").read_text().split()[0])


def test_a_host_of_root_gets_a_unit_whose_restart_and_upgrade_leave_jobs_alone(lab, host, bundle, tmp_path):
    target = host.target
    made = target.done("create", bundle=bundle, token=new_token(lab))
    assert (made["state"], made["about"]["supervisor"]) == ("running", "system")
    assert host.changes() == ["daemon-reload", "enable", "restart"]
    unit, text = host.unit(), host.unit().read_text()
    assert unit.name.startswith("lockstep-a1b2-vms-")
    for line in ("Restart=always", "KillMode=process", "Delegate=yes", "OOMPolicy=continue",
                 "WantedBy=multi-user.target", "RestartPreventExitStatus=2", "StartLimitIntervalSec=0",
                 f'ExecStart="{target.folder}/current/bin/lockstep-agent" --home "{target.folder}/agent" --name vm1 '
                 f"--token-file {target.folder}/token --share all --advertise all"):
        assert f"\n{line}\n" in text, text
    verified(text, tmp_path)
    flag = tmp_path / "flag"
    job = lab.submit("--compute", "vms", "--", "sh", "-c",
                     f"echo begun; while [ ! -e {flag} ]; do sleep 0.1; done; echo survived")
    wait_until(lambda: b"begun" in lab.logs(job), "the job runs")
    first = agent_pid(target)
    host.systemctl("restart", unit.name)
    wait_until(lambda: agent_pid(target) != first, "another agent runs")
    # Another bundle: the unit stays, and the runner goes on from the old one.
    second, host_before = agent_pid(target), host.unit().read_text()
    newer = tmp_path / "newer.tar.gz"
    newer.write_bytes(gzip.compress(gzip.decompress(bundle.read_bytes()), 1))
    host.forget_calls()
    assert target.done("create", bundle=newer)["state"] == "running"
    assert host.changes() == ["stop", "daemon-reload", "enable", "restart"]
    assert (agent_pid(target) != second, host.unit().read_text()) == (True, host_before)
    assert len(list(target.folder.glob("bundle-*"))) == 2, "the job's runner is of the old one"
    flag.touch()
    lab.wait_for_status(job, "Completed")
    assert "survived" in lab.logs(job).decode()
    host.forget_calls()
    assert target.done("remove")["state"] == "absent"
    assert host.changes() == ["stop", "disable", "daemon-reload", "reset-failed"]
    assert not unit.exists() and not target.folder.exists()
    assert processes_in(target.folder) == []


def test_where_systemd_does_not_start_it_a_shell_script_does(lab, host, bundle):
    (host.state / "broken").touch()
    code, events, _ = host.target.call("create", bundle, new_token(lab))
    assert code == 0, events
    [warning] = [event for event in events if event["event"] == "warning"]
    assert "systemd there did not start the agent (Job for lockstep-a1b2-vms-" in warning["message"]
    assert (events[-1]["state"], events[-1]["about"]["supervisor"]) == ("running", "process")
    assert lab.ok("run", "--compute", "vms", "--", "echo", "here").strip() == "here"
    assert host.target.done("remove")["state"] == "absent"


def test_an_agent_that_cannot_join_leaves_no_unit(lab, host, bundle):
    token = new_token(lab)
    host.target.done("create", bundle=bundle, token=token)
    host.target.done("remove")
    host.forget_calls()
    assert "the join token was used 1 time" in host.target.error("create", bundle=bundle, token=token)["message"]
    assert host.changes() == ["daemon-reload", "enable", "restart", "stop", "disable", "daemon-reload", "reset-failed"]
    assert processes_in(host.target.folder) == []


@pytest.mark.parametrize("host, supervisor", [("lockstep-test", "user"), ("", "process")], indirect=["host"],
                         ids=["lingering", "not lingering"])
def test_an_account_that_lingers_gets_a_unit_of_its_own(lab, person, host, bundle, tmp_path, supervisor):
    machine = host.target.directory / "machine"
    shutil.chown(machine, person, pwd.getpwnam(person).pw_gid)
    host.target.host["user"] = person
    assert person != getpass.getuser()
    made = host.target.done("create", bundle=bundle, token=new_token(lab))
    assert (made["state"], made["about"]["supervisor"]) == ("running", supervisor)
    units = pathlib.Path(f"~{person}/.config/systemd/user").expanduser()
    if supervisor == "user":
        assert host.changes() == ["--user show-environment", "--user daemon-reload", "--user enable", "--user restart"]
        [unit] = units.glob("*.service")
        assert "\nWantedBy=default.target\n" in unit.read_text()
        assert "Capability" not in unit.read_text(), "a person's own systemd can give and take none"
        verified(unit.read_text(), tmp_path, "--user")
    assert host.target.done("remove")["state"] == "absent"
    assert list(units.glob("*.service")) == []
    assert processes_in(host.target.folder) == []
