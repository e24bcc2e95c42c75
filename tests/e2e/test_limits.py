"""Limits of memory where cgroups are not as usual: they hold, or the node and the job say that they do not."""
import os
import subprocess

import pytest

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can change mounts")

TWICE = """
mkdir -p "$1"
if [ -d /sys/fs/cgroup/memory ]; then mount -t cgroup -o memory cgroup "$1"; else mount -t cgroup2 cgroup2 "$1"; fi
shift
exec "$@"
"""
READ_ONLY = """
shift
grep -E ' - cgroup2? ' /proc/self/mountinfo | cut -d' ' -f5 | while read -r mount; do
  mount -o remount,bind,ro "$mount"
done
exec "$@"
"""
TAKES_400_MIB = "x = bytearray(400 << 20); print(len(x))"


def up_with(site, mounts):
    """The local node's daemons, in a mount namespace of their own."""
    subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-ec", mounts, "sh",
                    str(site.directory / "twice"), *site._argv(["up", "--nodes", "1"])],
                   env=site.environment(), check=True, capture_output=True, timeout=120)


def test_a_hierarchy_that_is_mounted_twice_limits_memory_all_the_same(site):
    up_with(site, TWICE)
    done = site.run("run", "--name", "hog", "--memory", "64m", "--require-limits", "--",
                    "/usr/bin/python3", "-c", TAKES_400_MIB)
    assert done.returncode == 137 and b"note" not in done.stderr, done
    assert site.show("hog")["report"]["cause"] == "out_of_memory"
    [node] = site.json("node", "list")
    assert node["inventory"]["unenforced"] == {}, node["inventory"]


def test_a_limit_that_cannot_be_enforced_is_said_and_can_be_required(site):
    up_with(site, READ_ONLY)
    [node] = site.json("node", "list")
    assert "memory" in node["inventory"]["unenforced"], node["inventory"]
    assert "memory is not limited" in site.ok("node", "show", node["name"])
    done = site.run("run", "--name", "free", "--memory", "64m", "--", "/usr/bin/python3", "-c", TAKES_400_MIB)
    note = "its memory limit of 64.0 MiB is not enforced on this node"
    assert done.returncode == 0 and note in done.stderr.decode(), done
    assert note in site.ok("job", "show", "free") and note in site.ok("job", "explain", "free")
    assert any(note in line for line in site.show("free")["attempts"][0]["parts"][0]["notes"])
    site.write("strict.yml", "command: 'true'\nname: strict\nlockstep:\n  limits: required\n  resources: {memory: 64m}\n")
    refused = site.run("job", "create", "-f", "strict.yml")
    assert refused.returncode == 1 and b"cannot enforce a limit of memory (lockstep.limits: required)" in refused.stderr, refused
