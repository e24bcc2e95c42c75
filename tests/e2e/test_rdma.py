"""RDMA, or the reason why not (decision 088): on plain hosts, which have no device; and between two virtual machines
with soft-RoCE, whose devices' counters prove it.

The machines take minutes: LOCKSTEP_RDMA=1 (scripts/test --rdma).
"""
import os
import pathlib
import shlex
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import pytest
from harness import vm
from harness.namespaces import Cluster
from harness.site import BUILD, ROOT

IS_LONG = os.environ.get("LOCKSTEP_RDMA") == "1"
TIMEOUT_S = 540
INSIDE = pathlib.Path(__file__).parent / "vm"
TESTS = ["test_devices_are_found", "test_an_mpi_job_runs_over_rdma[by-lockstep]", "test_an_mpi_job_runs_over_rdma[by-hand]",
         "test_sockets_where_rdma_is_required_are_a_failure_with_its_cause",
         "test_sockets_where_rdma_is_preferred_are_a_note", "test_a_wrong_gid_index_is_named_before_the_start",
         "test_a_device_that_is_taken_away_is_missed_at_the_start"]

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="network namespaces and virtual machines need root")


# ---- two machines with soft-RoCE ---------------------------------------------------------------

def tasks():
    """Of each machine: its network, then the tests or the node."""
    programs = ["/usr/bin/python3 -m pytest -q -p no:cacheprovider --junitxml=/run/shared/results.xml tests/e2e/vm/rdma.py",
                "/usr/bin/python3 tests/e2e/vm/rdma_node.py"]
    return ["\n".join([f"cd {shlex.quote(str(ROOT))}", f"set -- {number}", ". tests/e2e/vm/rdma_network",
                       f"export LOCKSTEP_BUILD={shlex.quote(str(BUILD.resolve()))}", program]) + "\n"
            for number, program in enumerate(programs, 1)]


@pytest.fixture(scope="module")
def results():
    """{name: None, or how it failed} of one run of both machines."""
    if not IS_LONG:
        pytest.skip("two emulated machines take minutes: scripts/test --rdma")
    with tempfile.TemporaryDirectory(prefix="ls-shared-") as name:
        shared = pathlib.Path(name)
        try:
            printed = vm.run_pair(tasks(), [ROOT, BUILD.resolve()], shared, TIMEOUT_S)
        except vm.Unavailable as reason:
            pytest.skip(f"no virtual machines with Debian's kernel: {reason}")
        log = (shared / "n2.log").read_text(errors="replace")[-2000:] if (shared / "n2.log").exists() else "none"
        said = "\n".join([*(f"== n{i} printed:\n{text[-6000:]}" for i, text in enumerate(printed, 1)), f"== n2's agent:\n{log}"])
        assert (shared / "results.xml").exists(), said
        found = {}
        for case in ElementTree.parse(shared / "results.xml").getroot().iter("testcase"):
            bad = [node for node in case if node.tag in ("failure", "error", "skipped")]
            found[case.get("name")] = f"{bad[0].text or bad[0].get('message')}\n{said}" if bad else None
        return found


@pytest.mark.parametrize("name", TESTS)
def test_two_machines(results, name):
    assert name in results, (name, sorted(results))
    assert results[name] is None, results[name]


def test_all_of_the_machines_tests_are_listed():
    listed = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider",
                             INSIDE / "rdma.py"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert [line.rpartition("::")[2] for line in listed.splitlines() if "::" in line] == TESTS, listed


# ---- hosts without a device --------------------------------------------------------------------

@pytest.fixture
def cluster(shared_bin):
    if os.path.isdir("/sys/class/infiniband") and os.listdir("/sys/class/infiniband"):
        pytest.skip("this machine has an RDMA device, which network namespaces share")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=2)
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


def test_a_job_that_requires_rdma_is_not_started_and_says_why(cluster):
    site = cluster.site
    done = site.run("run", "-N", "2", "-n", "1", "--name", "fabric", "--rdma", "required", "--", "true")
    said = done.stderr.decode()
    assert done.returncode == 1 and "leave out --rdma" in said, done
    name = site.submit("-N", "2", "-n", "1", "--name", "waits", "--wait-anyway", "--rdma", "required", "--", "true")
    explained = site.ok("job", "explain", name)
    for node in ("n1", "n2"):
        assert f"{node} has no RDMA device" in explained, explained
    job = site.show(name)
    assert job["status"] == "Queued" and not job["attempts"], job
    site.ok("job", "cancel", name)


def test_a_job_that_prefers_rdma_runs_and_has_a_note(cluster):
    site = cluster.site
    program = site.install_program("mpi_hello")
    done = site.run("run", "-N", "2", "-n", "1", "--name", "rather", "--rdma", "preferred", "--distribution", "mpi", "--",
                    program, "2", "1")
    assert done.returncode == 0, done
    notes = {part["node_name"]: part["notes"] for part in site.show("rather")["attempts"][0]["parts"]}
    wanted = "RDMA is preferred, but this node has no RDMA device; its ranks use TCP"
    assert {name: [note for note in all_ if "RDMA" in note] for name, all_ in notes.items()} == \
        {"n1": [wanted], "n2": [wanted]}, notes
    # Both nodes say the same, and the first is shown.
    said = done.stderr.decode()
    assert sum(f"note of {node}: {wanted}" in said for node in ("n1", "n2")) == 1, said
    # Without a word about RDMA nobody hears of it.
    site.ok("run", "-N", "2", "-n", "1", "--name", "plain", "--", "true")
    assert not any("RDMA" in note for part in site.show("plain")["attempts"][0]["parts"] for note in part["notes"])
