"""What people write and type about environments, up to the job that has one: names, versions, the map."""
import json
import os
import pwd
import socket

import pytest

USAGE, FAILED, REFUSED = 2, 1, 125
URL = "azureml://registries/azureml/environments/sklearn-1.5/labels/latest"
FINAL = ("Completed", "Failed", "Canceled")


@pytest.fixture(scope="module")
def up_site(shared_bin):
    from conftest import _close, _site
    made = _site(None, shared_bin)
    made.up(2)
    yield made
    _close(made)


def refused(site, code, texts, *words):
    """It exits so, says all of these, makes no job; and the next good job runs."""
    before = len(site.json("job", "list"))
    done = site.run(*words)
    err = done.stderr.decode()
    assert done.returncode == code, (done.returncode, err)
    for text in texts:
        assert text in err, err
    assert "terminate called" not in err and done.stdout == b"", done
    assert len(site.json("job", "list")) == before
    good = site.run("run", "--", "echo", "good")
    assert (good.returncode, good.stdout) == (0, b"good\n"), good.stderr


def environment_of(site, *words):
    """Submits with these words; what the job's record says of its environment."""
    name = site.ok("run", "--detach", *words, "--", "true").strip()
    record = site.json("job", "show", name)
    site.run("job", "cancel", name)
    site.wait_for_status(name, *FINAL)
    return record["environment"]


def environment_of_file(site, text, *words):
    site.write("job.yml", f"command: 'true'\n{text}")
    name = site.ok("job", "create", "-f", "job.yml", *words).strip()
    record = site.json("job", "show", name)
    site.run("job", "cancel", name)
    site.wait_for_status(name, *FINAL)
    return record["environment"]


# ---- names and versions --------------------------------------------------------------------------


def test_a_definition_is_named_shown_and_listed(site):
    assert site.ok("environment", "list").startswith("no environments yet"), "that starts a launcher, too"
    site.write("requirements.txt", "numpy==1.26.4\n-r more.txt\n")
    site.write("more.txt", "six  # the rest\n")
    site.write("env.yml", "$schema: https://azuremlschemas.azureedge.net/latest/environment.schema.json\n"
               "name: tools\ndescription: what we train with\ntags: {team: vision}\n"
               "requirements: requirements.txt\npython: python3\n")
    assert site.ok("environment", "create", "-f", "env.yml") == "tools:1\n"
    assert site.ok("environment", "create", "-f", "env.yml") == "tools:1\n", "the same again is no error"
    first = site.json("environment", "show", "tools")
    assert first["requirements"] == ["numpy==1.26.4", "six"] and first["python"] == "python3"
    assert first["tags"] == {"team": "vision"} and first["description"] == "what we train with"
    assert first["lockstep"]["provider"] == "venv" and first["lockstep"]["locks"] == []
    assert first["creation_context"]["created_by"] == pwd.getpwuid(os.getuid()).pw_name

    site.write("more.txt", "six==1.16.0\n")
    changed = site.run("environment", "create", "-f", "env.yml", "--version", "1")
    assert changed.returncode == FAILED and changed.stdout == b"", changed
    assert b"environment tools:1 already exists with another definition" in changed.stderr
    assert site.ok("environment", "create", "-f", "env.yml") == "tools:2\n"
    assert site.ok("environment", "create", "-f", "env.yml", "--version", "beta") == "tools:beta\n"
    other = json.loads(site.ok("environment", "create", "-f", "env.yml", "--name", "other", "-o", "json"))
    assert (other["name"], other["version"]) == ("other", "1")
    assert other["lockstep"]["definition"] == site.json("environment", "show", "tools:2")["lockstep"]["definition"]

    listed = site.json("environment", "list")
    assert [(e["name"], e["version"]) for e in listed] == [("other", "1"), ("tools", "beta")]
    all_tools = site.json("environment", "list", "--name", "tools")
    assert [e["version"] for e in all_tools] == ["beta", "2", "1"]
    assert site.json("environment", "show", "tools:1") == first
    for words in (["tools:2"], ["azureml:tools:2"], ["--name", "tools", "--version", "2"], ["tools", "-v", "2"]):
        assert site.json("environment", "show", *words)["version"] == "2", words
    for words in (["tools@latest"], ["tools", "--label", "latest"]):
        assert site.json("environment", "show", *words)["version"] == "beta", words
    assert "requirements:   numpy==1.26.4\n                six==1.16.0\n" in site.ok("environment", "show", "tools")

    site.kill(site.launcher_pids())
    assert site.json("environment", "list") == listed, "names outlive a launcher that is killed"


def test_what_is_archived_is_found_by_its_version_alone(site):
    site.up(1)
    for interpreter in ("python3", "/usr/bin/python3"):
        site.write("env.yml", f"name: tools\ninterpreter: {interpreter}\n")
        site.ok("environment", "create", "-f", "env.yml")
    assert b"environment tools:2: archived" in site.run("environment", "archive", "-n", "tools", "-l", "latest").stderr
    assert site.json("environment", "show", "tools@latest")["version"] == "1"
    assert [e["version"] for e in site.json("environment", "list", "-n", "tools")] == ["1"]
    assert site.ok("run", "-q", "--environment", "tools:2", "--", "echo", "two") == "two\n"
    site.ok("environment", "archive", "tools")
    assert site.json("environment", "list") == []
    only = site.json("environment", "list", "-n", "tools", "--archived-only")
    assert [(e["version"], e["lockstep"]["archived"]) for e in only] == [("2", True), ("1", True)]
    refused(site, REFUSED, ["all versions of environment 'tools' are archived", "environment restore -n tools"],
            "run", "--environment", "tools@latest", "--", "true")
    site.ok("environment", "restore", "tools:2")
    site.ok("environment", "update", "tools", "--set", "tags.team=vision", "--set", "description=for tests")
    site.kill(site.launcher_pids())
    shown = site.json("environment", "show", "tools")
    assert (shown["version"], shown["tags"], shown["description"]) == ("2", {"team": "vision"}, "for tests")


def test_prune_says_what_it_does(up_site):
    done = up_site.run("environment", "prune", "--unused-for", "5m")
    assert done.returncode == 0 and b"not used for 5m" in done.stderr, done
    assert "not used for 168h" in up_site.json("environment", "prune")["message"]
    refused(up_site, USAGE, ["--unused-for 'soon' is not a time"], "environment", "prune", "--unused-for", "soon")


# ---- the ways into a job -------------------------------------------------------------------------


def test_every_form_of_a_job_file_is_the_same_definition(up_site):
    up_site.write("py.yml", "interpreter: python3\n")
    assert up_site.ok("environment", "create", "-f", "py.yml", "-n", "py", "-v", "4") == "py:4\n"
    up_site.write("py.yml", "name: py\nversion: 4\ninterpreter: python3\n")
    forms = {"inline": "environment: {interpreter: python3}\n", "file": "environment: file:./py.yml\n",
             "azure": "environment: azureml:py:4\n", "latest": "environment: azureml:py@latest\n",
             "bare": "environment: py:4\n"}
    seen = {form: environment_of_file(up_site, text) for form, text in forms.items()}
    assert len({e["definition"] for e in seen.values()}) == 1, seen
    assert all(e["provider"] == "host" for e in seen.values())
    assert {(e["name"], e["version"]) for form, e in seen.items() if form != "inline"} == {("py", "4")}
    assert (seen["inline"]["name"], seen["inline"]["version"]) == (None, None)
    overridden = environment_of_file(up_site, "", "--set", "environment=azureml:py:4")
    assert overridden == seen["azure"]
    inner = environment_of_file(up_site, forms["inline"], "--set", "environment.interpreter=python9")
    assert inner["definition"] != seen["inline"]["definition"]
    assert environment_of_file(up_site, "") is None


def test_every_way_of_run_is_taken(up_site):
    up_site.write("r.txt", "six\n")
    up_site.write("six.yml", "requirements: [six]\n")
    by_file = environment_of(up_site, "--requirements", "r.txt")
    assert by_file["provider"] == "venv"
    assert environment_of(up_site, "--pip", "six") == by_file
    assert environment_of(up_site, "--pip", "six", "--rebuild") == by_file
    assert environment_of(up_site, "--environment", "six.yml") == by_file
    assert environment_of(up_site, "--environment", "file:six.yml") == by_file
    assert environment_of(up_site, "--requirements", "r.txt", "--pip", "numpy")["definition"] != by_file["definition"]
    host = environment_of(up_site, "--interpreter", "/opt/py/bin/python3")
    assert host["provider"] == "host" and host["name"] is None
    up_site.ok("environment", "create", "-f", "six.yml", "-n", "six-only")
    named = environment_of(up_site, "--environment", "azureml:six-only@latest")
    assert (named["name"], named["version"], named["definition"]) == ("six-only", "1", by_file["definition"])
    assert up_site.json("environment", "show", "six-only")["lockstep"]["last_job"]


def test_every_way_to_name_a_conda_file_is_the_same_definition(up_site):
    """Nothing is solved here: what counts is what the jobs were submitted with."""
    up_site.write("conda.yml", "name: ours\nchannels: [conda-forge]\ndependencies:\n- python=3.11\n"
                  "- pip: [-r pip.txt]\nprefix: /opt/conda/envs/ours\n")
    up_site.write("pip.txt", "six\n")
    up_site.write("azure.yml", "name: azures\nconda_file: conda.yml\n")
    note = b"lockstep: note: conda.yml:6:1: 'prefix' is ignored: "
    created = up_site.run("environment", "create", "-f", "conda.yml", "-o", "json")
    shown = json.loads(created.stdout)
    assert note in created.stderr and (shown["name"], shown["lockstep"]["provider"]) == ("ours", "conda"), created
    assert shown["conda_file"]["dependencies"] == ["python=3.11", {"pip": ["six"]}], shown
    assert "channels:       conda-forge\n" in up_site.ok("environment", "show", "ours")
    inline = "{channels: [conda-forge], dependencies: [python=3.11, pip: [six]]}"
    forms = ["file:conda.yml", "file:azure.yml", "{conda_file: conda.yml}", "azureml:ours:1",
             f"\n  conda_file: {inline}"]
    seen = [environment_of_file(up_site, f"environment: {form}\n") for form in forms]
    seen += [environment_of(up_site, option, "conda.yml") for option in ("--conda-file", "--environment")]
    assert {e["definition"] for e in seen} == {shown["lockstep"]["definition"]}, seen
    assert [e["name"] for e in seen] == ["ours", "azures", "ours", "ours", None, "ours", "ours"]
    assert seen[0]["channels"] == ["conda-forge"] and seen[0]["pip"] == ["six"]


def test_what_is_shown_is_a_file_of_the_same(up_site):
    up_site.write("pips.yml", "name: round\nversion: 1.10\npython: python3\nrequirements: [six==1.16.0, --pre]\n"
                  "constraints: [six<2]\n")
    up_site.write("condas.yml", "name: round-conda\nchannels: [conda-forge]\ndependencies: [python=3.11, {pip: [six]}]\n")
    for file, name in (("pips.yml", "round"), ("condas.yml", "round-conda")):
        reference = up_site.ok("environment", "create", "-f", file).strip()
        up_site.write("shown.yml", up_site.ok("environment", "show", reference, "-o", "yaml"))
        again = up_site.run("environment", "create", "-f", "shown.yml")
        assert (again.returncode, again.stdout.decode().strip(), again.stderr) == (0, reference, b""), again
        copy = json.loads(up_site.run("environment", "create", "-f", "shown.yml", "--name", name + "-copy", "-o", "json").stdout)
        original = up_site.json("environment", "show", reference)
        assert copy["lockstep"]["definition"] == original["lockstep"]["definition"]


def test_prepare_is_a_small_job_on_all_nodes(up_site):
    up_site.write("host.yml", "interpreter: python3\n")
    done = up_site.run("environment", "prepare", "-f", "host.yml", "-o", "json")
    record = json.loads(done.stdout)
    assert done.returncode == record["exit_code"], done
    assert record["name"].startswith("prepare-") and record["command"] == ["true"], record
    assert record["resources"]["instance_count"] == 2
    assert record["lockstep"]["resources"]["cpus"] == 1
    assert record["environment"]["provider"] == "host"
    one = up_site.run("environment", "prepare", "-f", "host.yml", "--nodes", "1", "-o", "json")
    assert json.loads(one.stdout)["resources"]["instance_count"] == 1
    explained = up_site.json("job", "explain", record["name"])["environment"]
    assert explained["definition"] == record["environment"]["definition"]
    assert "environment:" in up_site.ok("job", "show", record["name"])


def test_an_image_that_is_built_is_registered_with_its_folder(up_site):
    up_site.write("docker/Dockerfile", "FROM debian:12\nCOPY . /opt\n")
    up_site.write("docker/.gitignore", "*.bin\n")
    up_site.write("docker/model.bin", "all of it is taken\n")
    up_site.write("env.yml", "name: built\nbuild: {path: docker}\n")
    first = json.loads(up_site.run("environment", "create", "-f", "env.yml", "-o", "json").stdout)
    assert (first["version"], first["build"]["dockerfile_path"]) == ("1", "Dockerfile"), first
    assert first["lockstep"]["provider"] == "docker"
    assert up_site.ok("environment", "create", "-f", "env.yml") == "built:1\n"
    up_site.write("docker/model.bin", "another\n")
    assert up_site.ok("environment", "create", "-f", "env.yml") == "built:2\n"
    assert up_site.json("environment", "show", "built:1")["build"] == first["build"]
    listed = {e["version"]: e for e in up_site.json("environment", "list", "--name", "built")}
    assert listed["1"]["build"] == first["build"] != listed["2"]["build"]


def test_what_is_for_a_container_is_ignored_without_one(up_site):
    up_site.write("host.yml", "name: host\ninterpreter: python3\n")
    up_site.ok("environment", "create", "-f", "host.yml")
    done = up_site.run("run", "--environment", "host@latest", "--shm-size", "2g", "--", "true")
    assert done.returncode == 0 and b"note: 'resources.shm_size' is ignored: " in done.stderr, done
    up_site.write("job.yml", "command: 'true'\nresources: {docker_args: --init}\n")
    done = up_site.run("job", "create", "-f", "job.yml", "--stream")
    assert done.returncode == 0 and b"note: job.yml:2:26: 'resources.docker_args' is ignored: " in done.stderr, done


# ---- the operator's map --------------------------------------------------------------------------


def test_a_registrys_name_is_looked_up_in_the_operators_map(up_site):
    path = up_site.home / "launcher" / "environments.map"
    up_site.write("job.yml", f"command: 'true'\nenvironment: {URL}\n")
    refused(up_site, REFUSED, ["job.yml:2:14: ", f"Add this line to {path}", f"\n  {URL}: sklearn-1.5.yml\n"],
            "job", "create", "-f", "job.yml", "--stream")
    path.write_text(f"# ours\n{URL}: sklearn-1.5.yml\nbroken: {{interpretor: x}}\n")
    refused(up_site, REFUSED, ["job.yml:2:14: the launcher's ", f"{path}:2:{len(URL) + 3}: ", "sklearn-1.5.yml"],
            "job", "create", "-f", "job.yml", "--stream")
    (path.parent / "sklearn-1.5.yml").write_text("interpreter: python3\n")
    assert environment_of_file(up_site, f"environment: {URL}\n")["name"] == "sklearn-1.5"
    assert up_site.json("environment", "show", URL)["interpreter"] == "python3"
    refused(up_site, FAILED, [f"{path}:3:10: unknown key 'interpretor'; did you mean 'interpreter'?"],
            "environment", "show", "broken")
    os.mkfifo(path.parent / "pipe")
    path.write_text("waits: pipe\n")
    refused(up_site, FAILED, [f"{path}:1:8: read {path.parent}/pipe: it is not a regular file"],
            "environment", "show", "waits")


# ---- what is refused -----------------------------------------------------------------------------

# name -> (what follows "command: true", words of `job create`, exit code, texts of standard error)
FILES = {
    "no-version": ("environment: sklearn\n", [], USAGE, ["job.yml:2:14: ", "write sklearn:VERSION"]),
    "unknown-name": ("environment: azureml:nope:3\n", [], REFUSED,
                     ["job.yml:2:14: there is no environment 'nope'", "environment create -f"]),
    "unknown-name-set": ("", ["--set", "environment=nope@latest"], REFUSED,
                         ["--set environment=nope@latest: there is no environment 'nope'"]),
    "image": ("environment: {image: Ubuntu}\n", [], USAGE,
              ["job.yml:2:22: environment.image: 'Ubuntu' has upper-case letters", "write ubuntu"]),
    "no-context": ("environment: {build: {path: nowhere}}\n", [], USAGE,
                   ["job.yml:2:29: 'environment.build.path': nowhere does not exist"]),
    "no-dockerfile": ("environment: {build: {path: context, dockerfile_path: D}}\n", [], USAGE,
                      ["job.yml:2:55: 'environment.build.dockerfile_path': context/D does not exist"]),
    "fifo": ("environment: {build: {path: context}}\n", [], USAGE,
             ["job.yml:2:29: 'environment.build.path': ", "context/pipe cannot be uploaded, because it is a fifo"]),
    "docker-args": ("environment: {image: ubuntu}\nresources: {docker_args: --gpus all}\n", [], USAGE,
                    ["job.yml:3:26: resources.docker_args: a job cannot set '--gpus': ", "write lockstep.resources.gpus"]),
    "operators-docker-args": ("environment: {image: ubuntu}\nresources: {docker_args: --privileged}\n", [], REFUSED,
                              ["resources.docker_args: '--privileged' is refused unless the operator allows it: "
                               "lockstepd --allow-docker-args --privileged"]),
    "missing-conda": ("environment:\n  conda_file: c.yml\n", [], USAGE, ["job.yml:3:15: ", "c.yml: No such file"]),
    "bad-conda": ("environment:\n  conda_file: bad-conda.yml\n", [], USAGE,
                  ["bad-conda.yml:2:16: 'numpy=>1': '=>' is not an operator; write >="]),
    "conda-and-image": ("environment: {image: ubuntu, conda_file: c.yml}\n", [], USAGE,
                        ["job.yml:2:42: ", "c.yml: No such file"]),
    "conda-and-pip": ("environment:\n  conda_file: {dependencies: [python]}\n  requirements: [six]\n", [], USAGE,
                      ["job.yml:4:3: ", "cannot be combined", "- pip: [-r requirements.txt]"]),
    "conda-for-a-mac": ("environment: {conda_file: mac.lock}\n", [], USAGE, ["mac.lock:2:1: ", "is a package for 'osx-64'"]),
    "conda-of-ftp": ("environment:\n  conda_file:\n    channels: [a, 'ftp://h/x']\n    dependencies: [b]\n", [], USAGE,
                     ["job.yml:4:19: 'environment.conda_file.channels': 'ftp://h/x' has the scheme 'ftp'"]),
    "conda-with-subdir": ("environment:\n  conda_file:\n    dependencies: ['b[subdir=osx-64]']\n", [], USAGE,
                          ["job.yml:4:20: ", "'subdir' is not supported"]),
    "lock-of-pixi": ("environment: file:pixi.lock\n", [], USAGE,
                     ["pixi.lock:1:1: is a lock file of pixi", "pixi workspace export conda-explicit-spec"]),
    "conda-itself": ("environment:\n  channels: [c]\n", [], USAGE, ["job.yml:3:3: ", "'environment.conda_file'"]),
    "misspelt": ("environment:\n  requirments: [six]\n", [], USAGE,
                 ["job.yml:3:3: ", "did you mean 'environment.requirements'?"]),
    "two-kinds": ("environment: {interpreter: p, requirements: [six]}\n", [], USAGE, ["job.yml:2:31: ", "leave one out"]),
    "missing-file": ("environment: file:nowhere.yml\n", [], USAGE, ["job.yml:2:14: ", "nowhere.yml"]),
    "missing-requirements": ("environment: {requirements: nowhere.txt}\n", [], USAGE,
                             ["job.yml:2:29: ", "nowhere.txt: No such file"]),
    "bad-requirements": ("environment: {requirements: bad.txt}\n", [], USAGE, ["bad.txt:2: '-e .': an editable"]),
    "bad-requirement": ("environment: {requirements: grammar.txt}\n", [], USAGE,
                        ["grammar.txt:3:4: 'six=1.16': '=' is not an operator; write =="]),
    "bad-requirement-in-a-list": ("environment: {requirements: ['six; python_version <']}\n", [], USAGE,
                                  ["job.yml:2:30: 'six; python_version <': expected a name such as python_version or a value in quotes, found the end"]),
    "a-nodes-variable": ("environment: {requirements: ['six==${VERSION}']}\n", [], USAGE,
                         ["job.yml:2:30: ", "${VERSION} may have another value on each node"]),
    "many-files": ("environment: {requirements: tree9.txt}\n", [], USAGE,
                   ["tree1.txt:", ": too many lines", "at most 10000 are allowed"]),
    "conda-with-a-query": ("environment: {conda_file: {channels: ['http://h/c?t=x'], dependencies: [b]}}\n", [], USAGE,
                           ["job.yml:2:39: 'environment.conda_file.channels': an address has a query ('?…')"]),
    "bad-file": ("environment: file:bad.yml\n", [], USAGE, ["bad.yml:2:1: unknown key 'packages'"]),
    "windows": ("environment: {interpreter: p, os_type: windows}\n", [], USAGE, ["job.yml:2:40: ", "must be linux"]),
    "relative": ("environment: {interpreter: bin/python}\n", [], USAGE, ["job.yml:2:28: ", "relative"]),
    "rebuild-of-nothing": ("", ["--rebuild"], USAGE, ["job.yml: has no 'environment'"]),
}


@pytest.mark.parametrize("case", FILES)
def test_a_bad_job_file_says_where(up_site, case):
    text, words, code, texts = FILES[case]
    up_site.write("bad.txt", "six\n-e .\n")
    up_site.write("grammar.txt", "# ours\nnumpy\nsix=1.16\n")
    up_site.write("tree0.txt", "# nothing\n")
    for level in range(1, 10):
        up_site.write(f"tree{level}.txt", f"-r tree{level - 1}.txt\n" * 30)
    up_site.write("bad.yml", "name: bad\npackages: [six]\n")
    up_site.write("bad-conda.yml", "channels: [a]\ndependencies: [numpy=>1]\n")
    up_site.write("context/Dockerfile", "FROM ubuntu\n")
    if not (up_site.work / "context" / "pipe").exists():
        os.mkfifo(up_site.work / "context" / "pipe")
    up_site.write("pixi.lock", "version: 6\nenvironments: {}\npackages: []\n")
    up_site.write("mac.lock", f"@EXPLICIT\nhttps://192.0.2.1/c/osx-64/a-1-0.conda#{'0' * 32}\n")
    up_site.write("job.yml", f"command: 'true'\n{text}")
    refused(up_site, code, texts, "job", "create", "-f", "job.yml", "--stream", *words)


WORDS = {
    "two-ways": (["run", "--interpreter", "p", "--pip", "six", "--", "true"], USAGE, ["leave one of them out"]),
    "environment-and-pip": (["run", "--environment", "a:1", "--pip", "six", "--", "true"], USAGE, ["leave --pip out"]),
    "rebuild-of-nothing": (["run", "--rebuild", "--", "true"], USAGE, ["--rebuild needs an environment"]),
    "unknown-name": (["run", "--environment", "nope:1", "--", "true"], REFUSED,
                     ["run: --environment nope:1: there is no environment 'nope'"]),
    "no-version": (["run", "--environment", "nope", "--", "true"], USAGE, ["write nope:VERSION"]),
    "missing-file": (["run", "--environment", "./no.yml", "--", "true"], USAGE, ["./no.yml: No such file"]),
    "missing-requirements": (["run", "--requirements", "no.txt", "--", "true"], USAGE, ["no.txt: No such file"]),
    "bad-requirement": (["run", "--pip", "./here", "--", "true"], USAGE, ["--pip './here': is a path"]),
    "bad-grammar": (["run", "--pip", "six=>1", "--", "true"], USAGE, ["--pip 'six=>1': '=>' is not an operator; write >="]),
    "create-nothing": (["environment", "create", "-f", "no.yml"], USAGE, ["no.yml: No such file"]),
    "create-nameless": (["environment", "create", "-f", "nameless.yml"], USAGE, ["nameless.yml: has no 'name'"]),
    "create-bad-name": (["environment", "create", "-f", "nameless.yml", "-n", "a/b"], USAGE, ["--name: 'a/b'"]),
    "create-a-job-file": (["environment", "create", "-f", "job-like.yml"], USAGE, ["job-like.yml:1:1: ", "'command'"]),
    "create-a-bad-conda-file": (["environment", "create", "-f", "conda.yml"], USAGE,
                                ["conda.yml:3:15: ", "[python"]),
    "conda-and-pip": (["run", "--conda-file", "conda.yml", "--pip", "six", "--", "true"], USAGE, ["leave --pip out"]),
    "conda-and-name": (["run", "--environment", "a:1", "--conda-file", "c.yml", "--", "true"], USAGE,
                       ["leave --conda-file out"]),
    "missing-conda-file": (["run", "--conda-file", "no.yml", "--", "true"], USAGE,
                           ["run: --conda-file: ", "no.yml: No such file"]),
    "two-conda-files": (["run", "--conda-file", "a", "--conda-file", "b", "--", "true"], USAGE,
                        ["--conda-file is given 2 times"]),
    "show-unknown": (["environment", "show", "nope"], FAILED, ["there is no environment 'nope'"]),
    "show-twice-said": (["environment", "show", "a:1", "--version", "2"], USAGE, ["'a:1' already names the version"]),
    "list-unknown": (["environment", "list", "--name", "nope"], FAILED, ["there is no environment 'nope'"]),
    "prepare-unknown": (["environment", "prepare", "-f", "nope@latest"], REFUSED, ["there is no environment 'nope'"]),
    "prepare-missing": (["environment", "prepare", "-f", "no.yml"], USAGE, ["no.yml: No such file"]),
    "log-unknown-job": (["environment", "log", "no_such_job"], FAILED, ["no_such_job"]),
}


@pytest.mark.parametrize("case", WORDS)
def test_bad_words_are_refused(up_site, case):
    words, code, texts = WORDS[case]
    up_site.write("nameless.yml", "interpreter: python3\n")
    up_site.write("job-like.yml", "command: x\ninterpreter: python3\n")
    up_site.write("conda.yml", "name: c\nchannels: [conda-forge]\ndependencies: python\n")
    refused(up_site, code, texts, *words)


def test_a_socket_in_a_build_folder_is_left_out(up_site):
    up_site.write("build/Dockerfile", "FROM ubuntu\n")
    up_site.write("build.yml", "name: with-socket\nbuild: {path: build}\n")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(up_site.work / "build" / "agent.sock"))
        done = up_site.run("environment", "create", "-f", "build.yml")
    assert (done.returncode, done.stdout) == (0, b"with-socket:1\n"), done
    assert "build/agent.sock is a socket, so it is not uploaded" in done.stderr.decode(), done


def test_the_log_of_a_job_without_an_environment_is_refused(up_site):
    up_site.ok("run", "--name", "without", "--", "true")
    refused(up_site, FAILED, ["without has no environment"], "environment", "log", "without")
