"""Jobs on a machine with cgroup v2 alone; run inside the virtual machine, by test_cgroup_v2.py."""
import json
import os
import pathlib
import pwd
import subprocess
import tempfile

import pytest

from harness.site import Site, alive, wait_until

TOP = pathlib.Path("/sys/fs/cgroup")
DELEGATED = TOP / "delegated"  # what a service manager would hand to a user


class DelegatedSite(Site):
    """An ordinary user whose processes live in a subtree that is theirs."""

    def _argv(self, words):
        join = f"echo 0 > {DELEGATED}/session/cgroup.procs && exec \"$@\""
        return ["sh", "-c", join, "sh", *super()._argv(words)]


@pytest.fixture
def delegation(ordinary_user):
    """As cgroup-v2.rst has it under "Delegation": the directory and three of its files."""
    (TOP / "cgroup.subtree_control").write_text("+memory +pids +cpu")
    (DELEGATED / "session").mkdir(parents=True)
    user = pwd.getpwnam(ordinary_user)
    for name in ("", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"):
        os.chown(DELEGATED / name, user.pw_uid, user.pw_gid)
    yield
    wait_until(lambda: "populated 0" in (DELEGATED / "cgroup.events").read_text(), "all have left")
    for directory in sorted(DELEGATED.rglob("*/"), reverse=True):
        if directory.is_dir():
            directory.rmdir()
    DELEGATED.rmdir()


@pytest.fixture(params=["root", "delegated", "plain-user"])
def vm_site(request, shared_bin):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-e2e-"))
    directory.chmod(0o755)
    user = None if request.param == "root" else request.getfixturevalue("ordinary_user")
    if request.param == "delegated":
        request.getfixturevalue("delegation")
    made = (DelegatedSite if request.param == "delegated" else Site)(directory, user, shared_bin)
    made.kind = request.param
    yield made
    made.down()
    subprocess.run(["rm", "-rf", str(directory)], check=True)


def pids_of(words):
    """Processes with exactly this command line."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
        if line.split(b"\0")[:-1] == [w.encode() for w in words] and alive(int(entry)):
            found.append(int(entry))
    return found


def test_isolation_memory_limit_and_strays(vm_site):
    """One site for all three: starting one takes long here."""
    vm_site.up(1)
    node = vm_site.json("node", "show", "local-0")
    isolation = node["inventory"]["isolation"]
    if vm_site.kind == "plain-user":
        assert isolation in ("pid-namespace", "subreaper"), node
        assert "memory is not limited" in json.dumps(node), node
    else:
        assert isolation == "cgroup-v2", node
        out_of_memory_is_called_so(vm_site)
    what_a_rank_detaches_is_gone_with_its_job(vm_site)
    a_killed_runner_takes_everything_along(vm_site)


def out_of_memory_is_called_so(site):
    site.write("oom.yml", "name: oom\ncommand: /usr/bin/python3 -c 'x = bytearray(300_000_000)'\n"
               "lockstep: {resources: {memory: 100m}, retry: {max: 0}}\n")
    done = site.run("job", "create", "-f", "oom.yml", "--stream")
    assert done.returncode == 137 and b"ran out of memory" in done.stderr, done.stderr


def what_a_rank_detaches_is_gone_with_its_job(site):
    daemon = "trap \"\" TERM; setsid sleep 4321 & setsid sleep 4321 &"
    done = site.run("run", "--", "sh", "-c", f"(setsid sh -c '{daemon}') ; echo started")
    assert (done.returncode, done.stdout) == (0, b"started\n"), done.stderr
    wait_until(lambda: not pids_of(["sleep", "4321"]), "what was detached is gone")


def a_killed_runner_takes_everything_along(site):
    site.write("stray.yml", "name: stray\nlockstep: {retry: {max: 0}}\n"
               "command: setsid sh -c 'setsid sleep 5432 & setsid sleep 5432 &'; exec sleep 5432\n")
    site.ok("job", "create", "-f", "stray.yml")
    wait_until(lambda: len(pids_of(["sleep", "5432"])) == 3, "rank and strays run")
    site.kill(site.runner_pids("stray"))
    wait_until(lambda: not pids_of(["sleep", "5432"]), "rank and strays are gone")
    site.wait_for_status("stray", "Failed")
