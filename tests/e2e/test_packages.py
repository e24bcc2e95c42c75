"""`cmake --install` at a prefix, and the Debian packages in a clean Debian."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
from harness import roots
from harness.site import BUILD, ROOT, Site

PROGRAMS = ["bin/lockstep", "bin/lockstepd", "bin/lockstep-agent", "libexec/lockstep/lockstep-runner",
            "libexec/lockstep/lockstep-spawn", "libexec/lockstep/lockstep-pmix", "libexec/lockstep/lockstep-env",
            "libexec/lockstep/lockstep-provider"]
UNITS = ["lib/systemd/system/lockstepd.service", "lib/systemd/system/lockstep-agent.service"]


@pytest.fixture(scope="module")
def prefix():
    with tempfile.TemporaryDirectory(prefix="ls-prefix-") as name:
        top = pathlib.Path(name)
        top.chmod(0o755)
        place = top / "an odd prefix"
        subprocess.run(["ninja", "-C", BUILD, "manual", *(p.rpartition("/")[2] for p in PROGRAMS)], check=True,
                       stdout=subprocess.DEVNULL)
        for component in ("launcher", "node"):
            subprocess.run(["cmake", "--install", BUILD, "--prefix", place, "--component", component], check=True,
                           stdout=subprocess.DEVNULL)
        yield place


def test_an_installed_tree_is_whole_and_its_units_are_valid(prefix):
    for name in [*PROGRAMS, *UNITS, "etc/lockstep/lockstepd.env", "etc/lockstep/agent.env",
                 "share/doc/lockstep/guide-install.md", "share/doc/lockstep/examples/digits/job-ddp.yml", "share/man/man1/lockstep-job.1",
                 "share/bash-completion/completions/lockstep", "share/zsh/site-functions/_lockstep"]:
        assert (prefix / name).is_file(), name
    for program in PROGRAMS:
        assert os.access(prefix / program, os.X_OK)
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *(prefix / unit for unit in UNITS)],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    agent = (prefix / UNITS[1]).read_text()
    for line in ("KillMode=process", "Delegate=yes", "OOMPolicy=continue"):
        assert f"\n{line}\n" in agent
    # Jobs inherit the agent's unit: of systemd's sandboxing only this, which no job misses. A seccomp filter
    # would cost each system call, and what covers parts of /proc keeps ranks' own containers from starting.
    sandbox = re.findall(r"^((?:Protect|Private|Restrict|NoNew|System|Memory|Lock|Device|Inacc|ReadOnly).*)$", agent,
                         re.M)
    assert sandbox == ["ProtectSystem=yes", "InaccessiblePaths=-/var/lib/lockstep/launcher"]
    kept = set(" ".join(re.findall(r"^CapabilityBoundingSet=(.*)$", agent, re.M)).split())
    assert {"CAP_SYS_ADMIN", "CAP_SETUID", "CAP_KILL", "CAP_IPC_LOCK"} <= kept
    assert not kept & {"CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_BOOT", "CAP_SYS_TIME", "CAP_NET_ADMIN",
                       "CAP_BPF", "CAP_SYSLOG", "CAP_MAC_ADMIN", "CAP_MAC_OVERRIDE", "CAP_LINUX_IMMUTABLE"}


@pytest.mark.parametrize("unit, most", [(UNITS[0], 1.7), (UNITS[1], 8.6)])
def test_a_units_exposure_is_what_the_guide_says(prefix, unit, most):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", prefix / unit],
                          capture_output=True, text=True, check=False)
    found = re.search(r"Overall exposure level for \S+: (\S+)", done.stdout)
    assert found and float(found[1]) <= most, done.stdout + done.stderr


@pytest.fixture
def prefix_site(prefix, any_site):
    any_site.bin = prefix / "bin"
    return any_site


def test_an_installed_tree_runs_jobs(prefix_site):
    site = prefix_site.up(1)
    out = site.ok("run", "-n", "2", "--", "sh", "-c", "echo $AZUREML_PROCESS_NAME")
    assert sorted(re.findall(r"rank_\d", out)) == ["rank_0", "rank_1"], out


@pytest.fixture(scope="module")
def packages():
    with tempfile.TemporaryDirectory(prefix="ls-debs-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        done = subprocess.run([ROOT / "scripts/package", "--build", BUILD, "--out", directory],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stdout + done.stderr
        names = [pathlib.Path(line).name for line in done.stdout.splitlines() if line.endswith(".deb")]
        assert sorted(name.partition("_")[0] for name in names) == ["lockstep", "lockstep-node"]
        for deb in names:
            listing = json.loads((directory / deb).with_suffix(".spdx.json").read_text())
            files = {file["fileName"] for file in listing["files"]}
            program = "lockstepd" if deb.startswith("lockstep_") else "lockstep-agent"
            assert f"./usr/bin/{program}" in files, files
        yield directory


IN_A_CLEAN_DEBIAN = r"""
set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8
what_is_there() { find / -xdev -iname '*lockstep*' ! -path '/opt/*' | sort; getent passwd lockstep || true; }
as_alice() { setpriv --reuid=alice --regid=alice --init-groups env HOME=/home/alice USER=alice "$@"; }
cat >/tmp/sum.py <<'END'
from mpi4py import MPI
import os
c = MPI.COMM_WORLD
print(os.environ['USER'], 'rank', c.rank, 'sum', c.allreduce(c.rank + 1))
END
echo '== before'; what_is_there
apt-get install -y -qq --no-install-recommends /opt/debs/*.deb >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
echo '== account'; getent passwd lockstep
echo '== running'; cat /proc/[0-9]*/comm | grep lockstep || true
echo '== root'; mkdir /root/work; cd /root/work; lockstep up >/dev/null
lockstep run -n 2 --distribution mpi -- python3 /tmp/sum.py; lockstep down
useradd --create-home --shell /bin/sh alice
echo '== alice'; as_alice mkdir /home/alice/work; cd /home/alice/work; as_alice lockstep up >/dev/null
as_alice lockstep run -n 2 --distribution mpi -- python3 /tmp/sum.py; as_alice lockstep down
mkdir -p /var/lib/lockstep/launcher /var/lib/lockstep/agent; touch /var/lib/lockstep/launcher/journal.db
rm -rf /root/.lockstep /home/alice/.lockstep
apt-get remove -y -qq lockstep lockstep-node >/dev/null 2>&1
echo '== removed'; what_is_there
apt-get purge -y -qq lockstep lockstep-node >/dev/null 2>&1
echo '== purged'; what_is_there
"""


def test_packages_in_a_clean_debian(packages, tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root can make another Debian's tree")
    try:
        tree = roots.debian("bookworm", ["python3-mpi4py"])
    except roots.Unavailable as reason:
        pytest.skip(str(reason))
    (tmp_path / "hosts").write_text("127.0.0.1 localhost clean\n")
    words = roots.argv(tree, tmp_path / "own", "clean", tmp_path / "hosts", {packages: "/opt/debs"},
                       ["sh", "-c", IN_A_CLEAN_DEBIAN])
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)
    shutil.rmtree(tmp_path / "own")
    if re.search(r"Temporary failure resolving|Could not connect|Failed to fetch", done.stdout):
        pytest.skip(f"the packages' dependencies cannot be fetched: {done.stdout[-300:]}")
    assert done.returncode == 0, done.stdout
    parts = dict(re.findall(r"^== (\w+)\n(.*?)(?=^== |\Z)", done.stdout, re.M | re.S))
    assert parts["before"] == "" and parts["running"] == "", done.stdout
    assert re.search(r"^lockstep:x:\d+:\d+:Lockstep launcher:.*/nologin$", parts["account"], re.M), done.stdout
    for who in ("root", "alice"):
        assert sorted(re.findall(rf"{who} rank (\d) sum 3", parts[who])) == ["0", "1"], done.stdout
    # Settings and state stay, with what apt knows of them; the programs are gone.
    left = [line for line in parts["removed"].splitlines() if not line.startswith(("/var/lib/dpkg/", "lockstep:"))]
    assert left == ["/etc/lockstep", "/etc/lockstep/lockstepd.env", "/var/lib/lockstep"], done.stdout
    assert parts["purged"] == "", done.stdout
