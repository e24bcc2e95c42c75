"""Environments on real nodes: solved once, built once on each, reused, and whole after kill -9."""
import json
import os
import re
import signal
import zipfile

import pytest
from harness import leftovers
from harness.environments import built_environments
from harness.silent import Silent
from harness.site import wait_until

PRINT = "import inner, sys; print('inner', inner.VERSION, sys.prefix, flush=True)"


def wheel(folder, name, version):
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"{name}.py", f"VERSION = {version!r}\n")
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    path.chmod(0o644)


def prepare(site):
    """Two nodes, a job file, and an index that is a folder: no network is needed."""
    wheels = site.directory / "wheels"
    wheel(wheels, "inner", "1.0")
    site.write("requirements.txt", f"--no-index\n--find-links {wheels}\ninner\n")
    site.write("print.py", PRINT)
    return site.up(2)


@pytest.fixture
def prepared(site):
    return prepare(site)


@pytest.fixture
def prepared_for_any(any_site):
    return prepare(any_site)


def job_file(site, nodes=2, command="python print.py"):
    site.write("job.yml", f"""
command: {command}
code: .
environment:
  requirements: requirements.txt
  python: python3
resources:
  instance_count: {nodes}
""")


def submit(site, name, *words):
    site.ok("job", "create", "-f", "job.yml", "--name", name, *words)


def built(site):
    """{folder of a node's environment: what was noted when it was built}."""
    return {folder: json.loads((folder / "built.json").read_text()) for folder in built_environments(site.home)}


def test_run_says_in_few_lines_how_an_environment_is_made(prepared):
    site = prepared
    job_file(site, nodes=1)
    done = site.run("job", "create", "-f", "job.yml", "--name", "few", "--stream", timeout=200)
    said = done.stderr.decode().splitlines()
    assert done.returncode == 0 and b"inner 1.0 " in done.stdout, done
    assert len(said) <= 6 and max(map(len, said)) < 300 and not any("[environment" in line for line in said), said
    assert len(site.ok("environment", "log", "few").splitlines()) > len(said)
    streamed = site.run("job", "stream", "few").stderr.decode()
    assert site.ok("environment", "log", "few") in streamed, "who asks for it, gets it"

    (site.work / "requirements.txt").write_text((site.work / "requirements.txt").read_text() + "nosuchpackage\n")
    done = site.run("job", "create", "-f", "job.yml", "--name", "bad", "--stream", timeout=200)
    said = done.stderr.decode()
    assert done.returncode == 125 and "look at it with: lockstep environment log bad" in said, said
    longest = max((line.strip() for line in said.splitlines() if "nosuchpackage" in line), key=len)
    assert said.count(longest[-60:]) == 1, said


def test_two_nodes_have_one_lock_and_the_next_job_builds_nothing(prepared_for_any):
    site = prepared_for_any
    job_file(site)
    submit(site, "first")
    site.wait_for_status("first", "Completed")
    assert site.logs("first").decode().count("inner 1.0 ") == 2
    before = built(site)
    assert len(before) == 2 and len({folder.name for folder in before}) == 1, before
    assert {note["job"] for note in before.values()} == {"first"}
    # What the index says now is of no meaning for a definition that is solved.
    wheel(site.directory / "wheels", "inner", "2.0")
    submit(site, "second")
    site.wait_for_status("second", "Completed")
    assert site.logs("second").decode().count("inner 1.0 ") == 2
    assert built(site) == before


def test_rebuild_solves_and_builds_anew(prepared):
    site = prepared
    job_file(site)
    submit(site, "first")
    site.wait_for_status("first", "Completed")
    wheel(site.directory / "wheels", "inner", "2.0")
    submit(site, "second", "--rebuild")
    site.wait_for_status("second", "Completed")
    assert site.logs("second").decode().count("inner 2.0 ") == 2
    assert len(built(site)) == 4


def test_twenty_jobs_at_once_share_one_build_on_each_node(prepared):
    site = prepared
    job_file(site, nodes=1)
    names = [f"j{number}" for number in range(20)]
    for name in names:
        submit(site, name)
    for name in names:
        site.wait_for_status(name, "Completed", deadline_s=300)
        assert "inner 1.0 " in site.logs(name).decode()
    assert 1 <= len(built(site)) <= 2
    for folder in built(site):
        log = (folder / "log").read_text()
        assert len(re.findall(r"^\$ .* install .*--no-deps", log, re.M)) == 1, log


def test_an_agent_that_is_killed_in_mid_build_builds_again(prepared_for_any):
    site = prepared_for_any
    job_file(site)
    submit(site, "j")
    wait_until(lambda: site._pids("lockstep-env", ""), "somebody solves or builds")
    site.kill(site.agent_pids())
    wait_until(lambda: not site._pids("lockstep-env", ""), "what they started ends with them")
    assert not [pid for pid in site._pids("python3", "-m venv") + site._pids("python", "-m pip")]
    site.up(2)
    site.wait_for_status("j", "Completed", deadline_s=300)
    assert site.logs("j").decode().count("inner 1.0 ") == 2
    assert len(built(site)) == 2


def test_what_cannot_be_solved_fails_at_once_the_next_time(prepared):
    site = prepared
    site.ok("node", "drain", "local-1")  # what failed is remembered where it did
    site.write("requirements.txt", "--no-index\nno-such-thing\n")
    job_file(site, nodes=1)
    submit(site, "first")
    [attempt] = site.wait_for_status("first", "Failed")["attempts"]
    assert attempt["report"]["cause"] == "environment_failed", attempt
    assert "no-such-thing" in attempt["report"]["message"]
    submit(site, "second")
    [attempt] = site.wait_for_status("second", "Failed")["attempts"]
    assert "failed before" in attempt["report"]["message"] and "--rebuild" in attempt["report"]["message"]
    # The next good job runs.
    site.write("requirements.txt", f"--no-index\n--find-links {site.directory / 'wheels'}\ninner\n")
    submit(site, "third")
    site.wait_for_status("third", "Completed")


def build_cgroups():
    """Those of this account's builds."""
    return [path for path in leftovers.cgroups()
            if ("/lockstep/build-" in path or "/lockstep-build-" in path) and os.stat(path).st_uid == os.getuid()]


def test_an_agent_that_leaves_in_mid_build_ends_it_first(prepared):
    site = prepared
    site.ok("node", "drain", "local-1")
    silent = Silent()
    site.write("requirements.txt", f"--index-url {silent.address}\nsix\n")
    job_file(site, nodes=1)
    submit(site, "j")
    wait_until(lambda: silent.taken, "pip waits for an answer")
    assert site._pids("lockstep-env", "") and (build_cgroups() or os.getuid() != 0)
    site.kill(site.agent_pids("local-0"), signal.SIGTERM)
    wait_until(lambda: not site.agent_pids("local-0"), "the agent leaves")
    if os.getuid() == 0:
        assert not build_cgroups() and not site._pids("lockstep-env", "")
    else:  # without a cgroup, the build ends itself when it sees that its agent has left
        wait_until(lambda: not site._pids("lockstep-env", ""), "the build ends", 5)
    silent.close()


def test_cancel_in_mid_build_leaves_nothing_at_work(prepared):
    site = prepared
    silent = Silent()
    site.write("requirements.txt", f"--index-url {silent.address}\nsix\n")
    job_file(site, nodes=1)
    submit(site, "j")
    wait_until(lambda: silent.taken, "pip waits for an answer")
    assert site._pids("lockstep-env", "")
    site.ok("job", "cancel", "j")
    site.wait_for_status("j", "Canceled")
    wait_until(lambda: not site._pids("lockstep-env", ""), "nobody solves any more")
    silent.close()


def test_an_interpreter_that_hangs_is_ended_with_its_job(site):
    site.ok("up", "--nodes", "1")
    hangs = [site.write(f"hang{number}", "#!/bin/sh\nexec sleep 4711\n", 0o755) for number in range(2)]
    names = [site.submit("--cpus", "1", "--memory", "64m", "--interpreter", hang, "--", "true") for hang in hangs]
    wait_until(lambda: site._pids("sleep", "4711"), "an interpreter hangs")
    site.ok("job", "cancel", *names)
    for name in names:
        site.wait_for_status(name, "Canceled")
    wait_until(lambda: not site._pids("sleep", "4711"), "it was ended", 10)
    site.ok("run", "--interpreter", "/usr/bin/python3", "--", "python3", "-c", "print(1)", timeout=30)
