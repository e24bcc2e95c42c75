"""Conda environments on real nodes: solved once by py-rattler, built once on each, held to hashes, whole after
kill -9. py-rattler comes from the index of Python packages; channels are folders that the tests write."""
import json
import pathlib
import re
import shutil
import signal

import pytest
from harness.conda import channel, conda_file
from harness.environments import built_environments
from harness.silent import Silent
from harness.site import wait_until

REFUSED, INTERRUPTED = 125, 130
INSTALL_S = 300  # py-rattler is fetched first
TOOL = '#!/bin/sh\necho "inner {version} prefix=$CONDA_PREFIX home=$INNER_HOME greeting=$GREETING"\n'


def inner(version, text=None, **more):
    """A package with a program that says which it is, and a variable that its activation sets."""
    package = {"name": "inner", "version": version, "build": "h_0", "depends": ["base"], "noarch": "generic",
               "files": {"bin/inner": {"text": text or TOOL.format(version=version), "executable": True}},
               "activate": 'export INNER_HOME="$CONDA_PREFIX/share/inner"\n'}
    return {**package, **more}


BASE = {"name": "base", "version": "1.0", "build": "h_0", "files": {"share/base/text": "base\n"}}


def job_file(site, conda, nodes=2, retries=0):
    site.write("job.yml", f"""
command: inner
environment: {{conda_file: {conda}}}
resources: {{instance_count: {nodes}}}
lockstep: {{resources: {{cpus: 1, memory: 64m}}, retry: {{max: {retries}}}}}
""")


def submit(site, name, *words):
    site.ok("job", "create", "-f", "job.yml", "--name", name, *words)


def completed(site, name):
    """Waits for it; returns its parts' environments."""
    job = site.wait_for_status(name, "Completed", "Failed", "Canceled", deadline_s=INSTALL_S)
    assert job["status"] == "Completed", (job["attempts"], site.ok("environment", "log", name), site.diagnosis())
    return [part["environment"] for part in job["attempts"][-1]["parts"]]


def run_job(site, name, conda, nodes=2):
    job_file(site, conda, nodes)
    submit(site, name)
    return completed(site, name)


def built(site):
    """Folders of environments that are ready, on all nodes."""
    return set(built_environments(site.home))


def lines_of(site, name):
    """What its ranks said, without what says which of them it was."""
    return sorted(re.findall(r"inner .*", site.logs(name).decode()))


def tool_pids(site):
    """lockstep-env, and what it has py-rattler and pip do."""
    found = site._pids("lockstep-env", "")
    for program in ("python", "python3"):
        found += site._pids(program, str(site.home))
    return found


@pytest.fixture
def silent():
    server = Silent()
    yield server
    server.close()


@pytest.fixture(scope="module")
def up_site(shared_bin):
    from conftest import _close, _site
    made = _site(None, shared_bin)
    made.up(2)
    yield made
    _close(made)


# ---- solved once, built once ---------------------------------------------------------------------


def test_two_nodes_have_one_lock_and_the_next_job_builds_nothing(any_site):
    site = any_site.up(2)
    address, _ = channel(site, "ours", [BASE, inner("1.0"), inner("2.0")])
    conda_file(site, "conda.yml", address, "inner<2", more="variables: {GREETING: a b, COUNT: 3}\n")
    first = run_job(site, "first", "conda.yml")
    assert len({e["lock"] for e in first}) == 1 and len({e["key"] for e in first}) == 1, first
    assert all(re.fullmatch(r"linux-\S+( __\S+=\S+)* __glibc=\d\S*( __\S+=\S+)*", e["platform"]) for e in first), first
    folders = built(site)
    assert len(folders) == 2
    lines = lines_of(site, "first")
    assert len(lines) == 2, lines
    said = {re.search(r"inner 1\.0 prefix=(\S+) home=(\S+) greeting=a b$", line).groups() for line in lines}
    assert {pathlib.Path(prefix).parent for prefix, _ in said} == folders, (said, folders)
    assert all(home == f"{prefix}/share/inner" for prefix, home in said), said
    assert "solved: 2 conda packages, 0 pip packages" in site.ok("environment", "log", "first")

    # What the channel says now is of no meaning for a definition that is solved.
    channel(site, "ours", [inner("1.5")])
    again = run_job(site, "second", "conda.yml")
    assert built(site) == folders and lines_of(site, "second") == lines
    assert [e["lock"] for e in again] == [e["lock"] for e in first]
    assert all(e["how"].startswith("was ready since ") for e in again), again
    explained = site.ok("job", "explain", "second")
    assert explained.count("was ready since ") == 2 and "dependencies inner<2" in explained, explained
    record = site.json("job", "explain", "second")["environment"]
    assert record["provider"] == "conda" and record["dependencies"] == ["inner<2"]
    assert record["variables"] == {"GREETING": "a b", "COUNT": "3"}

    # And with --rebuild it is.
    submit(site, "third", "--rebuild")
    completed(site, "third")
    assert all("inner 1.5 " in line for line in lines_of(site, "third")) and len(built(site)) == 4


def test_names_share_a_build_and_another_order_of_channels_is_another_environment(up_site):
    site = up_site
    one, _ = channel(site, "one", [BASE, inner("1.0")])
    two, _ = channel(site, "two", [inner("2.0")])
    for name in ("a", "b"):
        conda_file(site, f"{name}.yml", [one, two], "inner", more=f"name: {name}\n")
    conda_file(site, "turned.yml", [two, one], "inner")
    first = run_job(site, "name-a", "a.yml", nodes=1)
    second = run_job(site, "name-b", "b.yml", nodes=1)
    turned = run_job(site, "turned", "turned.yml", nodes=1)
    assert first[0]["key"] == second[0]["key"] != turned[0]["key"]
    assert "inner 1.0 " in lines_of(site, "name-b")[0], "strict: the first channel that has it"
    assert "inner 2.0 " in lines_of(site, "turned")[0]


def test_ten_jobs_at_once_share_one_build_on_each_node(up_site):
    site = up_site
    address, _ = channel(site, "burst", [BASE, inner("1.0")])
    conda_file(site, "burst.yml", address, "inner=1.0=h_0")
    before = built(site)
    job_file(site, "burst.yml", nodes=1)
    names = [f"burst-{number}" for number in range(10)]
    for name in names:
        submit(site, name)
    keys = {completed(site, name)[0]["key"] for name in names}
    assert len(keys) == 1
    new = built(site) - before
    assert 1 <= len(new) <= 2
    for folder in new:
        log = (folder / "log").read_text()
        assert len(re.findall(r"^installing 2 packages$", log, re.M)) == 1, log


# ---- lock files ----------------------------------------------------------------------------------


def platform_of(packages):
    return pathlib.PurePosixPath(packages["base"]["url"]).parent.name


def lock_of_conda_lock(packages):
    listed = []
    platform = platform_of(packages)
    for name, written in packages.items():
        listed.append({"name": name, "version": "1.0", "manager": "conda", "platform": platform, "dependencies": {},
                       "url": written["url"], "hash": {"md5": written["md5"], "sha256": written["sha256"]},
                       "category": "main", "optional": False})
        listed.append({**listed[-1], "platform": "osx-64", "url": "https://192.0.2.1/osx-64/x-1-0.conda"})
    return json.dumps({"version": 1, "metadata": {"platforms": [platform, "osx-64"]}, "package": listed})


def explicit_lock(packages, kind):
    lines = [f"{p['url']}#{'sha256:' if kind == 'sha256' else ''}{p[kind]}" for p in packages.values()]
    return f"# platform: {platform_of(packages)}\n@EXPLICIT\n" + "\n".join(lines) + "\n"


FORMS = {"explicit-md5": lambda packages: explicit_lock(packages, "md5"),
         "explicit-sha256": lambda packages: explicit_lock(packages, "sha256"), "conda-lock": lock_of_conda_lock}


@pytest.mark.parametrize("form", FORMS)
def test_a_lock_file_is_installed_as_it_is(up_site, form):
    site = up_site
    _, packages = channel(site, f"locked-{form}", [BASE, inner("1.0")])
    channel(site, f"locked-{form}", [inner("9.0")])
    site.write("conda.lock", FORMS[form](packages))
    environments = run_job(site, f"locked-{form}", "conda.lock")
    assert len({e["key"] for e in environments}) == 1
    lines = lines_of(site, f"locked-{form}")
    assert len(lines) == 2 and all("inner 1.0 " in line for line in lines), lines
    assert f"locked 2 packages for {platform_of(packages)}" in site.ok("job", "show", f"locked-{form}")


# ---- what is refused -----------------------------------------------------------------------------


def test_what_cannot_be_solved_is_explained_and_the_next_good_job_runs(up_site):
    site = up_site
    address, _ = channel(site, "torn", [BASE, inner("1.0"), inner("2.0"),
                                        {**BASE, "name": "wants-one", "depends": ["inner<2"]},
                                        {**BASE, "name": "wants-two", "depends": ["inner>=2"]}])
    conda_file(site, "torn.yml", address, "wants-one", "wants-two")
    done = site.run("run", "--conda-file", "torn.yml", "--", "true", timeout=INSTALL_S)
    err = done.stderr.decode()
    assert done.returncode == REFUSED and done.stdout == b"", err
    assert "cannot be solved" in err and "wants-one" in err and "wants-two" in err and "inner" in err, err
    assert "Traceback" not in err, err
    conda_file(site, "good.yml", address, "wants-one")
    good = site.run("run", "--conda-file", "good.yml", "--", "inner", timeout=INSTALL_S)
    assert good.returncode == 0 and b"inner 1.0 " in good.stdout, good


def test_a_channel_that_is_away_is_named(up_site):
    site = up_site
    conda_file(site, "away.yml", "http://127.0.0.1:9/away", "inner")
    done = site.run("run", "--retry", "0", "--conda-file", "away.yml", "--", "true", timeout=INSTALL_S)
    err = done.stderr.decode()
    assert done.returncode == REFUSED, err
    assert "the conda channel http://127.0.0.1:9/away" in err and "was not reached" in err, err


def test_a_package_that_changed_since_it_was_solved_is_refused(site):
    site.up(2)
    address, _ = channel(site, "changed", [BASE, inner("1.0")])
    conda_file(site, "changed.yml", address, "inner")
    site.ok("node", "drain", "local-1")
    run_job(site, "first", "changed.yml", nodes=1)
    channel(site, "changed", [inner("1.0", "#!/bin/sh\necho inner 1.0 of somebody else\n")])
    # The other node has nothing of it: nodes of one machine share what they fetched.
    shutil.rmtree(site.home / "packages")
    site.ok("node", "resume", "local-1")
    site.ok("node", "drain", "local-0")
    submit(site, "second")
    job = site.wait_for_status("second", "Failed", "Completed", deadline_s=INSTALL_S)
    assert job["status"] == "Failed" and job["exit_code"] == REFUSED, job["attempts"]
    [attempt] = job["attempts"]
    assert "inner-1.0-h_0" in attempt["report"]["message"], attempt
    assert "is not the package that was asked for" in attempt["report"]["message"], attempt
    submit(site, "third", "--rebuild")
    completed(site, "third")
    assert b"inner 1.0 of somebody else" in site.logs("third")


def test_a_prefix_is_ignored_and_said_so(up_site):
    site = up_site
    address, _ = channel(site, "prefixed", [BASE, inner("1.0")])
    conda_file(site, "prefixed.yml", address, "inner", more="prefix: /opt/conda/envs/mine\n")
    note = b"lockstep: note: prefixed.yml:6:1: 'prefix' is ignored: "
    done = site.run("run", "--conda-file", "prefixed.yml", "-o", "json", "--", "inner", timeout=INSTALL_S)
    assert done.returncode == 0 and note in done.stderr, done
    assert json.loads(done.stdout)["environment"]["dependencies"] == ["inner"]
    job_file(site, "prefixed.yml", nodes=1)
    created = site.run("job", "create", "-f", "job.yml", "--name", "prefixed")
    assert (created.returncode, created.stdout) == (0, b"prefixed\n") and note in created.stderr, created
    completed(site, "prefixed")


# ---- interrupted ---------------------------------------------------------------------------------


def test_ctrl_c_in_the_middle_of_solving_leaves_nothing_at_work(site, silent):
    site.up(1)
    conda_file(site, "silent.yml", silent.address, "inner")
    process = site.start("run", "--name", "silent", "--conda-file", "silent.yml", "--", "true")
    wait_until(lambda: silent.taken, "its solver asks the channel", INSTALL_S)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED and out == b"", err
    assert site.show("silent")["status"] == "Canceled"
    wait_until(lambda: not tool_pids(site), "nobody solves any more")


def test_an_agent_that_is_killed_in_mid_build_builds_again(site):
    site.up(1)
    hold, reached = site.directory / "hold", site.directory / "reached"
    slow = f"touch {reached}\nwhile [ -e {hold} ]; do sleep 0.05; done\nexport INNER_HOME=\"$CONDA_PREFIX/slow\"\n"
    address, _ = channel(site, "slow", [BASE, inner("1.0", activate=slow)])
    conda_file(site, "slow.yml", address, "inner")
    hold.touch()
    job_file(site, "slow.yml", nodes=1, retries=3)
    submit(site, "slow")
    wait_until(reached.exists, "it is being built", INSTALL_S)
    assert not built(site)
    site.kill(site.agent_pids())
    wait_until(lambda: not tool_pids(site), "what it started ends with it")
    hold.unlink()
    site.up(1)
    completed(site, "slow")
    [line] = lines_of(site, "slow")
    assert re.search(r"inner 1\.0 prefix=(\S+) home=\1/slow ", line), line
    assert len(built(site)) == 1
