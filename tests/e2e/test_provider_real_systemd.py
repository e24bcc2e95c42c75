"""A host whose systemd keeps the agent running, with a real systemd as process 1 of namespaces (harness/systemd.py).

All is real but the machine: it shares kernel and network with this one, and its control groups have no controllers.
What systemd refuses, and a person's own systemd, are in test_provider_systemd.py, with a fake."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest
from harness.bundle import archive
from harness.provider import Server, Target, create_target, new_token, processes_in
from harness.site import BUILD, wait_until
from harness.systemd import SystemdMachine

pytestmark = pytest.mark.skipif(os.getuid() != 0 or not shutil.which("/lib/systemd/systemd") or
                                SystemdMachine.unified() is None,
                                reason="needs root, systemd and control groups of version 2")


@pytest.fixture
def machine():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-real-systemd-"))
    directory.chmod(0o755)
    for name in ("host", "shared"):
        (directory / name).mkdir()
    made = SystemdMachine(directory / "host", directory / "shared")
    server = Server(directory / "shared")  # its keys and its configuration
    server.stop()
    server.authorized.chmod(0o644)
    made.power_on()
    made.target = Target(server, directory / "shared")
    made.target.host["directory"] = ""  # on the machine's own disk
    yield made
    made.destroy()
    subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


@pytest.fixture
def lab(site):
    return create_target(site.up(1))


def test_systemd_starts_the_agent_again_and_after_a_reboot_and_leaves_its_jobs_alone(lab, machine, tmp_path):
    bundle = archive(BUILD, tmp_path)
    made = machine.target.done("create", bundle=bundle, token=new_token(lab))
    assert (made["state"], made["about"]["supervisor"]) == ("running", "system")
    assert made["about"]["directory"] == "/var/lib/lockstep/node-a1b2-vms"
    units = machine.systemctl("list-units", "--plain", "--no-legend", "lockstep-*").stdout.split()
    unit = units[0]
    assert (machine.show(unit, "ActiveState"), machine.show(unit, "UnitFileState")) == ("active", "enabled")
    flag = machine.shared / "flag"
    job = lab.submit("--compute", "vms", "--", "sh", "-c",
                     f"echo begun; while [ ! -e {flag} ]; do sleep 0.1; done; echo survived")
    wait_until(lambda: b"begun" in lab.logs(job), "the job runs")
    for end in (lambda: machine.systemctl("kill", "-s", "KILL", "--kill-who=main", unit),
                lambda: machine.systemctl("restart", unit)):
        before = machine.show(unit, "MainPID")
        end()
        wait_until(lambda old=before: machine.show(unit, "MainPID") not in ("0", old), "systemd starts another agent")
    flag.touch()
    lab.wait_for_status(job, "Completed")
    assert "survived" in lab.logs(job).decode()
    assert len(lab.show(job)["attempts"]) == 1
    machine.power_off()
    machine.power_on()
    assert lab.ok("run", "--compute", "vms", "--", "echo", "here again").strip() == "here again"
    assert machine.target.done("remove")["state"] == "absent"
    assert machine.systemctl("list-units", "--plain", "--no-legend", "--all", "lockstep-*").stdout == ""
    assert machine.systemctl("cat", unit).returncode != 0
    assert processes_in("/var/lib/lockstep/node-a1b2-vms") == []
