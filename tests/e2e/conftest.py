"""Fixtures: a site as root or as an ordinary user, and the leftovers check around every test."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import accounts, leftovers, moto as moto_server  # noqa: E402
from harness.bundle import archive  # noqa: E402
from harness.kube import ApiServer, Kubelet  # noqa: E402
from harness.site import BUILD, Site, wait_until  # noqa: E402
from harness.slurm import Slurm  # noqa: E402

# Under nohup, or behind a shell's '&', these are ignored, and what the tests start would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

USER = "lockstep-test"


@pytest.fixture(scope="session")
def shared_bin():
    """The programs in a place that every user can reach (a checkout may be private)."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-bin-"))
    directory.chmod(0o755)
    for program in (BUILD / "bin").iterdir():
        if program.is_file():
            shutil.copy(program, directory / program.name)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def bundle():
    """The archive of scripts/bundle. LOCKSTEP_TEST_BUNDLE names one that is made already."""
    made = os.environ.get("LOCKSTEP_TEST_BUNDLE")
    if made:
        yield pathlib.Path(made)
        return
    with tempfile.TemporaryDirectory(prefix="ls-bundle-") as name:
        yield archive(BUILD, pathlib.Path(name))


@pytest.fixture(scope="session")
def moto():
    """An environment with boto3, and moto's server in it."""
    with moto_server.serving() as venv:
        yield venv


@pytest.fixture(scope="module")
def slurm():
    """A Slurm with one node, and a partition whose jobs displace those of another."""
    if os.getuid() != 0:
        pytest.skip("only root can start Slurm's daemons")
    if not shutil.which("slurmctld", path="/usr/sbin:/usr/bin"):
        pytest.skip("there is no Slurm: apt-get install munge slurmctld slurmd slurm-client")
    lines = ["PreemptType=preempt/partition_prio", "PreemptMode=CANCEL",
             "PartitionName=first Nodes=n1 PriorityTier=10 MaxTime=INFINITE State=UP",
             "PartitionName=last Nodes=n1 PriorityTier=1 MaxTime=INFINITE State=UP"]
    with tempfile.TemporaryDirectory(prefix="ls-slurm-") as name:
        made = Slurm(pathlib.Path(name), nodes=1, lines=lines)
        try:
            yield made.start()
        finally:
            made.stop()


@pytest.fixture(scope="session")
def kube_api():
    """A Kubernetes API server."""
    with tempfile.TemporaryDirectory(prefix="ls-kube-") as name:
        made = ApiServer(pathlib.Path(name))
        try:
            yield made
        finally:
            made.stop()


@pytest.fixture(scope="session")
def unpacked_bundle(bundle):
    """The folder that the archive of scripts/bundle has."""
    with tempfile.TemporaryDirectory(prefix="ls-unpacked-") as name:
        shutil.unpack_archive(bundle, name)
        [folder] = pathlib.Path(name).iterdir()
        yield folder


@pytest.fixture
def kubelet(kube_api, unpacked_bundle, tmp_path):
    """Runs the pods of a namespace of the test's own."""
    namespace = f"test-{os.getpid()}-{tmp_path.name.rpartition('-')[2]}".replace("_", "-").lower()[-60:].strip("-")
    kube_api.make_namespace(namespace)
    made = Kubelet(kube_api, tmp_path / "kubelet", namespace, unpacked_bundle).start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def ordinary_user():
    """A user made for the tests; needs root."""
    if os.getuid() != 0:
        pytest.skip("only root can make another user")
    with accounts.existing(USER):
        yield USER


@pytest.fixture(scope="session")
def two_accounts():
    """Two users of one primary group; needs root."""
    if os.getuid() != 0:
        pytest.skip("only root can make other users")
    with accounts.existing(*accounts.PEOPLE, group=accounts.GROUP):
        yield accounts.PEOPLE


@pytest.fixture(autouse=True)
def nothing_left():
    """Fails a test that leaves a process, cgroup, mount, port, shm segment or file behind."""
    before = leftovers.listing()
    yield
    remaining = []

    def clean():
        remaining[:] = leftovers.difference(before, leftovers.listing())
        return not remaining

    try:
        wait_until(clean, "nothing is left", deadline_s=60)
    except AssertionError:
        pytest.fail("left behind:\n" + "\n".join(remaining))


def _site(user, bin_directory):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-e2e-"))
    directory.chmod(0o755)
    return Site(directory, user=user, bin_directory=bin_directory)


def _close(site):
    survivors = []
    try:
        site.down()
    finally:
        for pid in site.agent_pids() + site.launcher_pids() + site.runner_pids():
            survivors.append(f"{pid} {site.command_of(pid)}")
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                continue
        subprocess.run(["rm", "-rf", "--one-file-system", str(site.directory)], check=False)
    assert not survivors, f"`lockstep down` left {survivors} running"


@pytest.fixture
def site(shared_bin):
    """As whoever runs the tests (root in CI), no node up yet."""
    made = _site(None, shared_bin)
    yield made
    _close(made)


@pytest.fixture(params=["as-root", "as-user"])
def any_site(request, shared_bin):
    """The e2e core: once as root and once as an ordinary user (whoever runs the tests, if not root)."""
    user = None
    if request.param == "as-user" and os.getuid() == 0:
        user = request.getfixturevalue("ordinary_user")
    elif request.param == "as-root" and os.getuid() != 0:
        pytest.skip("not root")
    made = _site(user, shared_bin)
    yield made
    _close(made)
