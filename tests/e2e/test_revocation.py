"""A key that is revoked in the middle of something: what it follows, sends and fetches stops within two seconds of
the command's return."""
import os
import threading
import time

import pytest
from harness.site import wait_until
from test_roles import REVOKED_WITHIN_S, job_of, people  # noqa: F401

LARGE_MIB = 400
QUIET_S = 1.5


def size_of(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(path, name)).st_size
            except FileNotFoundError:
                continue
    return total


class Growth:
    """Looks at the size of a folder all the time, and notes when it grew last."""

    def __init__(self, folder):
        self.folder, self.size, self.grew = folder, size_of(folder), time.monotonic()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.over.is_set():
            if (now := size_of(self.folder)) > self.size:
                self.size, self.grew = now, time.monotonic()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        self.over.set()
        self.thread.join()

    def stops_within(self, seconds, since):
        """Demands that it grew until a moment, and after `seconds` from then no more."""
        wait_until(lambda: time.monotonic() - max(self.grew, since) > seconds + QUIET_S, f"{self.folder} grows no more")
        assert self.grew - since < seconds, f"it grew for {self.grew - since:.2f} s after the command had returned"


def revoked_at(site, *words):
    """The moment when the command has returned."""
    site.ok(*words)
    return time.monotonic()


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
    heard = []

    def listen():
        for line in follower.stdout:
            heard.append((time.monotonic(), line))

    listener = threading.Thread(target=listen)
    listener.start()
    wait_until(lambda: len(heard) > 3, "the follower is told")
    revoked = revoked_at(site, "user", "key", "revoke", alice.key)
    follower.wait(timeout=60)
    ended = time.monotonic()
    listener.join()
    assert follower.returncode != 0
    late = heard[-1][0] - revoked
    assert late < REVOKED_WITHIN_S, f"it was told something {late:.2f} s after the command had returned"
    assert ended - revoked < REVOKED_WITHIN_S, f"it ended after {ended - revoked:.2f} s"
    assert "this key was revoked" in (text := follower.stderr.read().decode()), text
    follower.stdout.close()
    follower.stderr.close()
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")


def test_an_upload_stops(site, people, large):  # noqa: F811
    alice, blobs = people["alice"], site.home / "launcher" / "blobs"
    upload = alice.start("run", "--detach", "--", "true")
    wait_until(lambda: size_of(blobs) > 8 << 20, "the upload has begun")
    with Growth(blobs) as growth:
        growth.stops_within(REVOKED_WITHIN_S, revoked_at(site, "user", "key", "revoke", alice.key))
    assert growth.size < LARGE_MIB << 20
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
    with Growth(node) as growth:
        growth.stops_within(REVOKED_WITHIN_S, revoked_at(site, "node", "revoke", "local-0", "--now"))
    assert growth.size < before + (LARGE_MIB << 20)
    assert "local-0" not in [n["name"] for n in site.json("node", "list")]
    wait_until(lambda: not site.agent_pids("local-0"), "its agent, which was told, has ended")
    told = [e for e in site.json("audit", "--node", "local-0") if e["what"] == "open a session"]
    assert told and told[-1]["outcome"] == "refused" and "was removed" in told[-1]["detail"]
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")
