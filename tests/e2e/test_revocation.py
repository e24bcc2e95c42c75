"""A key that is revoked in the middle of something: what it follows, sends and fetches stops within two seconds."""
import os
import time

import pytest
from harness.site import wait_until
from test_roles import REVOKED_WITHIN_S, job_of, people  # noqa: F401

LARGE_MIB = 400


def size_of(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(path, name)).st_size
            except FileNotFoundError:
                continue
    return total


def stops_within(folder, seconds, what):
    """Demands that nothing grows in `folder` any more after so long."""
    time.sleep(seconds)
    then = size_of(folder)
    time.sleep(1.5)
    assert size_of(folder) == then, f"{what} goes on after {seconds} s"
    return then


@pytest.fixture
def large(site):
    """The jobs' code, too large to travel in a moment."""
    with open(site.work / "large.bin", "wb") as file:
        for _ in range(LARGE_MIB // 8):
            file.write(os.urandom(8 << 20))


def test_a_follower_of_logs_stops(site, people):  # noqa: F811
    alice = people["alice"]
    name = job_of(alice, "--", "bash", "-c", "while :; do echo tick; sleep 0.1; done")
    site.wait_for_status(name, "Running")
    follower = alice.start("job", "logs", "-f", name)
    while b"tick" not in follower.stdout.readline():
        assert follower.poll() is None
    site.ok("user", "key", "revoke", alice.key)
    follower.wait(timeout=60)
    assert follower.returncode != 0
    assert follower.stdout.read().count(b"tick") < 10 * (REVOKED_WITHIN_S + 1)
    follower.stdout.close()
    follower.stderr.close()
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")


def test_an_upload_stops(site, people, large):  # noqa: F811
    alice, blobs = people["alice"], site.home / "launcher" / "blobs"
    upload = alice.start("run", "--detach", "--", "true")
    wait_until(lambda: size_of(blobs) > 8 << 20, "the upload has begun")
    site.ok("user", "key", "revoke", alice.key)
    assert stops_within(blobs, REVOKED_WITHIN_S, "the upload") < LARGE_MIB << 20
    assert upload.wait(timeout=120) not in (0, None)
    upload.stdout.close()
    upload.stderr.close()
    assert [e for e in site.json("audit", "--limit", "0")
            if e["outcome"] == "refused" and e["key"] == alice.key], "what came after is in the audit log"


def test_a_node_that_is_revoked_is_sent_nothing_more(site, people, large):  # noqa: F811
    node = site.home / "nodes" / "local-0"
    before = size_of(node)
    name = site.submit("--", "true", timeout=300)
    wait_until(lambda: size_of(node) > before + (8 << 20), "the node has begun to fetch")
    site.ok("node", "revoke", "local-0", "--now")
    assert "local-0" not in [n["name"] for n in site.json("node", "list")]
    time.sleep(REVOKED_WITHIN_S)
    assert stops_within(node, 0, "the node's fetch") < before + (LARGE_MIB << 20)
    wait_until(lambda: not site.agent_pids("local-0"), "its agent, which was told, has ended")
    told = [e for e in site.json("audit", "--node", "local-0") if e["what"] == "open a session"]
    assert told and told[-1]["outcome"] == "refused" and "was removed" in told[-1]["detail"]
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")
