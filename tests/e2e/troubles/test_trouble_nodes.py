"""First screens of a node that is lost, and of one whose clock is wrong."""
import pathlib
import subprocess
import tempfile

import pytest
from harness.first_screen import Watched, judge, needs_root, only_long, plain, screen
from harness.namespaces import Cluster
from harness.site import wait_until
from harness.wired import WiredCluster, directory_for

pytestmark = [needs_root, only_long]


@pytest.fixture
def cluster(shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-lost-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=2, launcher_flags=("--node-lost-timeout", "4s"))
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def test_a_node_that_is_lost(cluster):
    site = cluster.site
    run = Watched(site, "run", "--name", "train", "-N", "2", "--retry", "0", "--", "sh", "-c", "echo begins; sleep 1000")
    run.wait_until(lambda: run.said["out"].count(b"begins") == 2, "both ranks run")
    cluster.nodes[1].link("down")
    try:
        done = run.end()
    finally:
        cluster.nodes[1].link("up")
    lines = screen(site, done).splitlines()
    outs = [line for line in lines if line.startswith("out| ")]  # in whichever order the ranks began
    text = "\n".join([lines[0], *sorted(outs), *lines[1 + len(outs):]]) + "\n"
    judge("node-lost", text, "node n2 was lost", "job train Failed")


@pytest.fixture
def wired(shared_bin):
    directory = directory_for("ls-clocks")
    made = WiredCluster(directory, shared_bin, nodes=2)
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def test_a_node_whose_clock_is_wrong(wired):
    """It is said of the node, and the order of what its ranks say is not taken for the truth."""
    site = wired.site
    wired.nodes[1].skew(wall_s=95.0)
    wait_until(lambda: "clock" in site.ok("node", "show", "n2"), "the node's clock is noticed", 60)
    shown = [line for line in site.ok("node", "show", "n2").splitlines() if line.startswith(("state", "reason", "clock"))]
    script = "sleep $LOCKSTEP_RANK; [ $LOCKSTEP_RANK = 1 ] && exit 3; sleep 600"
    done = site.run("run", "--name", "train", "-N", "2", "--retry", "0", "--", "sh", "-c", script)
    judge("clock-skew", plain(site, "\n".join(shown) + "\n") + screen(site, done), "first failure: rank 1 on n2",
          "the clock of n2 is DURATION ahead of the launcher's", "its times are corrected")
