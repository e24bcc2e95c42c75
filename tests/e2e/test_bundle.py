"""The bundle of scripts/bundle: unpacked anywhere, on machines where nothing of ours is installed."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

import pytest
from harness import roots
from harness.bundle import archive
from harness.namespaces import Cluster, Host
from harness.roots import RootHost
from harness.site import BUILD, wait_until

# Debian 11's C library is that of Ubuntu 20.04, and older than all that the bundle was built with.
SUITES = ["bookworm", "bullseye"]
PACKAGES = ["python3-mpi4py"]  # what the jobs bring: MPI is the users', not ours
SUM = ("from mpi4py import MPI\n"
       "c = MPI.COMM_WORLD\n"
       "print('rank', c.rank, 'of', c.size, 'sum', c.allreduce(c.rank + 1))\n")
# Nothing of the bundle may reach a rank but where it was not asked: its variables, what is mapped.
RANKS_PMIX = {f"PMIX_{name}" for name in """BFROP_BUFFER_TYPE GDS_MODULE HOSTNAME MCA_gds NAMESPACE RANK
              SECURITY_MODE SERVER_TMPDIR SERVER_URI2 SERVER_URI21 SERVER_URI3 SERVER_URI4 SERVER_URI41
              SYSTEM_TMPDIR VERSION""".split()}
LOOK = "env; cat /proc/self/maps; echo the end\n"


@pytest.fixture(scope="module")
def bundle():
    """The unpacked bundle, in a place with a space in its name, and as nobody can change it."""
    with tempfile.TemporaryDirectory(prefix="ls-bundle-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        packed = archive(BUILD, directory)
        place = directory / "an odd place"
        place.mkdir()
        with tarfile.open(packed) as opened:
            opened.extractall(place)
        packed.rename(directory / "first.tar.gz")
        [top] = place.iterdir()
        yield top


@pytest.fixture(scope="module")
def trees():
    """{suite: its tree, or why there is none}; both at once, because each waits for the network."""
    if os.getuid() != 0:
        pytest.skip("only root can make another distribution's tree")

    def make(suite):
        try:
            return roots.debian(suite, PACKAGES)
        except roots.Unavailable as reason:
            return str(reason)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(SUITES, pool.map(make, SUITES)))


def libraries_in(pid):
    """Shared libraries that a process has mapped; /dev and the like are none."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    return {line.split(maxsplit=5)[5] for line in maps.splitlines() if ".so" in line}


def check_ranks_see_nothing(site, place):
    site.write("look.sh", LOOK)
    seen = site.ok("run", "-N", "1", "-n", "1", "--distribution", "mpi", "--", "sh", "look.sh")
    assert "the end" in seen, seen
    # The command `lockstep` is at the end of PATH, for jobs that submit jobs.
    assert seen.count(str(place)) == 1 and re.search(rf"^PATH=.*:{re.escape(str(place))}/bin$", seen, re.M), seen
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert not [name for name in names if name.startswith(("LD_", "GLIBC_", "HWLOC_PLUGINS_PATH"))], names
    assert {name for name in names if name.startswith("PMIX_")} == RANKS_PMIX, names


def test_manifest_lists_every_file_and_the_same_inputs_give_the_same_bytes(bundle, tmp_path):
    manifest = json.loads((bundle / "lockstep-bundle.json").read_text())
    found = {str(path.relative_to(bundle)): hashlib.sha256(path.read_bytes()).hexdigest()
             for path in bundle.rglob("*") if path.is_file() and path.name != "lockstep-bundle.json"}
    assert manifest["sha256"] == found
    for package in manifest["packages"]:
        assert (bundle / "share/doc" / package / "copyright").is_file(), package
    sbom = json.loads((bundle / "share/doc/lockstep/sbom.spdx.json").read_text())
    listed = {file["fileName"]: {c["algorithm"]: c["checksumValue"] for c in file["checksums"]}["SHA256"]
              for file in sbom["files"]}
    assert listed == {f"./{name}": digest for name, digest in found.items() if not name.endswith("sbom.spdx.json")}
    versions = {package["name"]: package["versionInfo"] for package in sbom["packages"]}
    assert versions.pop("lockstep-node") == manifest["version"]
    assert versions == manifest["packages"]
    libraries = {r["relatedSpdxElement"]: r["spdxElementId"] for r in sbom["relationships"]
                 if r["relationshipType"] == "CONTAINS"}
    libc = next(file["SPDXID"] for file in sbom["files"] if file["fileName"] == "./lib/libc.so.6")
    assert libraries[libc] == "SPDXRef-Package-libc6"
    assert archive(BUILD, tmp_path).read_bytes() == (bundle.parents[1] / "first.tar.gz").read_bytes()


def test_a_bundle_without_its_linker_says_so(bundle, tmp_path):
    copy = tmp_path / "bin" / "lockstep"
    copy.parent.mkdir()
    copy.write_bytes((bundle / "bin/lockstep").read_bytes())
    copy.chmod(0o755)
    done = subprocess.run([copy, "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 127
    assert done.stderr == ("lockstep: cannot start from its bundle: "
                           f"{tmp_path}/lib/ld-linux-x86-64.so.2: cannot be opened; unpack the bundle whole\n")


@pytest.fixture
def bundle_site(bundle, any_site):
    any_site.bin = bundle / "bin"
    return any_site


def test_all_of_lockstep_runs_from_a_bundle(bundle_site, bundle):
    site = bundle_site.up(1)
    site.write("sum.py", SUM)
    out = site.ok("run", "-n", "2", "--distribution", "mpi", "--", "python3", "sum.py")
    assert sorted(re.findall(r"rank (\d) of 2 sum 3", out)) == ["0", "1"], out
    name = site.submit("-n", "1", "--distribution", "mpi", "--", "sleep", "1000")
    wait_until(lambda: site.rank_pids(name), "the rank runs")
    [runner] = site.runner_pids()
    [server] = site._pids("lockstep-pmix", f" {runner} ")  # which its last argument names
    servers = [server] if os.geteuid() == 0 else []  # they show themselves to root alone
    for pid in site.launcher_pids() + site.agent_pids() + [runner, *servers]:
        foreign = {path for path in libraries_in(pid) if not path.startswith(str(bundle))}
        # This machine's own modules for looking up accounts, and what they need.
        modules = [path for path in foreign if "/libnss_" in path]
        needed = subprocess.run(["ldd", *modules], capture_output=True, text=True, check=True).stdout if modules else ""
        foreign -= {*modules, *(path for path in foreign if re.sub(r"\.so\.(\d+).*", r".so.\1", path)
                                .rpartition("/")[2] in needed)}
        assert not foreign, (site.command_of(pid), foreign)
    examined = json.loads(site.ok("doctor", "-o", "json", "--agent-home", site.home / "nodes/local-0"))
    assert all(each["verdict"] != "problem" for each in examined["findings"]), examined
    for pid in servers:
        assert any(path.startswith(f"{bundle}/lib/pmix/") for path in libraries_in(pid)), libraries_in(pid)
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")
    check_ranks_see_nothing(site, bundle)


@pytest.fixture
def cluster(shared_bin):
    if os.getuid() != 0:
        pytest.skip("network namespaces need root")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-ns-"))
    directory.chmod(0o755)
    made = Cluster(directory, shared_bin, nodes=0)
    try:
        yield made.create()
    finally:
        made.destroy()
        subprocess.run(["rm", "-rf", "--one-file-system", str(directory)], check=False)


class BareNode:
    """A node that has its distribution, python3-mpi4py, and the bundle at `place`."""

    def __init__(self, cluster, tree, name):
        self.host = RootHost(cluster, name, "10.77.0.9", tree)
        self.cluster = cluster
        self.home = cluster.directory / f"{name}-home"
        self.home.mkdir()
        cluster.add(self.host)
        token = self.home / "token"
        token.write_text(cluster.site.ok("node", "token"))
        token.chmod(0o600)

    def start(self, bundle, place):
        self.host.stop()
        self.host.shown = {bundle: place, self.home: self.home}
        words = [f"{place}/bin/lockstep-agent", "--home", self.home, "--name", self.host.name,
                 "--token-file", self.home / "token"]
        # The distribution's own libraries do not come between, wherever it looks for them.
        self.host.start(words, self.cluster.directory / f"{self.host.name}.log", pid_namespace=True,
                        env={"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu"})
        wait_until(self.alive, f"{self.host.name} is ALIVE", 30)

    def alive(self):
        nodes = self.cluster.site.json("node", "list")
        assert self.host.process.poll() is None, (self.cluster.directory / f"{self.host.name}.log").read_text()
        return any(n["name"] == self.host.name and n["liveness"] == "ALIVE" for n in nodes)


@pytest.mark.parametrize("suite", SUITES)
def test_mpi_on_a_bare_node(suite, trees, cluster, bundle):
    if isinstance(trees[suite], str):
        pytest.skip(trees[suite])
    site = cluster.site
    node = BareNode(cluster, trees[suite], suite)
    node.start(bundle, "/opt/an odd place")
    assert suite in site.json("node", "show", suite)["inventory"]["os"]
    site.write("sum.py", SUM)
    mpi = ("run", "-n", "2", "--distribution", "mpi", "--", "python3", "sum.py")
    out = site.ok(*mpi)
    assert sorted(re.findall(r"rank (\d) of 2 sum 3", out)) == ["0", "1"], out
    check_ranks_see_nothing(site, "/opt/an odd place")

    node.start(bundle, "/opt/moved")
    out = site.ok(*mpi)
    assert sorted(re.findall(r"rank (\d) of 2 sum 3", out)) == ["0", "1"], out
    check_ranks_see_nothing(site, "/opt/moved")

    if suite == "bookworm":  # whose MPI is this machine's: together they can be one gang
        machine = Host(cluster, "n1", "10.77.0.2")
        cluster.add(machine)
        cluster.start_agent(machine)
        wait_until(lambda: {"n1", suite} <= {node["name"] for node in site.json("node", "list")
                                             if node["liveness"] == "ALIVE"}, "both are ALIVE")
        out = site.ok("run", "-N", "2", *mpi[1:])
        assert len(re.findall(r"rank \d of 4 sum 10", out)) == 4, out
        assert "n1:" in out and "bookworm:" in out, out

    # Beside the agent's home: where /opt's directories were mounted, and what the system itself keeps.
    shared = re.compile(r"/opt(/[^/]+)?|/tmp|/tmp/ls-.*|/run(/lockstep(/(a|jobs))?)?|/(dev|etc|proc|sys)")
    assert [path for path in node.host.changed() if not shared.fullmatch(path)] == []
