"""A launcher whose disk stalls for seconds (tests/fakes/skew): what goes on, what waits, and who is told."""
import json
import os
import signal
import struct
import subprocess
import time

import pytest
from harness.site import BUILD, wait_until

STALL_S = 6.0


class SlowDisk:
    """The site's launcher, started again by hand: `stall(seconds)` makes each of its syncs take so long."""

    def __init__(self, site):
        self.site = site
        self.control = site.directory / "skew"
        self.stall(0)
        self.log = site.directory / "lockstepd.log"
        self.process = None

    def stall(self, seconds):
        with open(self.control, "r+b" if self.control.exists() else "wb") as file:
            file.write(struct.pack("qqq", 0, 0, int(seconds * 1e9)))

    def start(self):
        environment = {**self.site.environment(), "LOCKSTEP_TEST_SKEW": str(self.control),
                       "LD_PRELOAD": str(BUILD / "tests" / "fakes" / "skew" / "libskew.so")}
        command = json.loads((self.site.home / "launcher" / "started.json").read_text())["command"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.all_alive, "the nodes are back")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=10)

    def all_alive(self):
        status = self.site.run("status", "-o", "json")
        return status.returncode == 0 and json.loads(status.stdout)["nodes"] == {"ALIVE": 2}


@pytest.fixture
def slow(site):
    site.up(2)
    site.kill(site.launcher_pids())
    disk = SlowDisk(site)
    disk.start()
    yield disk
    disk.stall(0)
    if disk.process.poll() is None:
        disk.kill()  # it may be in a long stall still
    site.down()


def status_within(site, seconds):
    """The status and how long `lockstep status` took."""
    begun = time.monotonic()
    status = site.json("status")
    assert time.monotonic() - begun < seconds, "status answers at once"
    return status


def test_a_stalled_disk_delays_what_it_must_and_nothing_else(slow, site):
    site.submit("--name", "runs", "--", "sleep", "600")
    site.wait_for_status("runs", "Running")
    slow.stall(STALL_S)
    begun = time.monotonic()
    waits = site.start("run", "--detach", "--name", "waits", "--", "true")
    wait_until(lambda: status_within(site, 2)["disk"]["slow_write_seconds"], "the status says it", deadline_s=5)
    assert "disk is slow" in site.ok("status")
    while time.monotonic() - begun < STALL_S - 1:
        assert status_within(site, 2)["nodes"] == {"ALIVE": 2}, "heartbeats go on"
        time.sleep(0.3)
    assert waits.poll() is None, "it was not told of a job that a crash would lose"
    slow.stall(0)
    out, err = waits.communicate(timeout=30)
    assert waits.returncode == 0 and b"the launcher's disk is slow: a write has taken" in err, (out, err)
    assert err.count(b"disk is slow") == 1, err
    site.wait_for_status("waits", "Completed")
    disk = site.json("status")["disk"]
    assert disk["slow_write_seconds"] is None and disk["last_slow_write_seconds"] >= STALL_S - 1, disk
    text = slow.log.read_text()
    assert "the disk is slow: a write of the journal has taken" in text and "to write the journal" in text
    assert len(site.show("runs")["attempts"]) == 1
    assert site.run("job", "cancel", "runs").returncode == 0
    site.wait_for_status("runs", "Canceled")


def test_ctrl_c_ends_a_client_that_waits_for_the_disk(slow, site):
    slow.stall(STALL_S)
    waits = site.start("run", "--detach", "--name", "waits", "--", "true")
    wait_until(lambda: site.json("status")["disk"]["slow_write_seconds"], "the disk is slow")
    begun = time.monotonic()
    waits.send_signal(signal.SIGINT)
    waits.communicate(timeout=10)
    assert waits.returncode != 0 and time.monotonic() - begun < 2
    slow.stall(0)


def test_a_launcher_killed_in_a_stall_loses_nothing_that_was_acknowledged(slow, site):
    told = [site.submit("--name", f"told-{i}", "--", "true") for i in range(5)]
    for name in told:
        site.wait_for_status(name, "Completed")
    slow.stall(60)
    waits = site.start("run", "--detach", "--name", "waits", "--", "true")
    wait_until(lambda: site.json("status")["disk"]["slow_write_seconds"], "the disk is slow")
    slow.kill()
    waits.kill()
    out, _ = waits.communicate(timeout=10)
    assert b"waits" not in out
    slow.stall(0)
    slow.start()
    assert {site.show(name)["status"] for name in told} == {"Completed"}
    site.wait_for_status(site.submit("--name", "later", "--", "true"), "Completed")


def test_sigterm_waits_for_the_write(slow, site):
    slow.stall(3)
    waits = site.start("run", "--detach", "--name", "waits", "--", "true")
    wait_until(lambda: site.json("status")["disk"]["slow_write_seconds"], "the disk is slow")
    slow.stall(0)
    os.kill(slow.process.pid, signal.SIGTERM)
    assert slow.process.wait(timeout=20) == 0
    out, err = waits.communicate(timeout=30)
    assert waits.returncode == 0, (out, err)
    slow.start()
    site.wait_for_status("waits", "Completed")
