"""Bad input: each case says what, where and what to do, exits as it should, and loses nothing."""
import subprocess

import pytest

USAGE, REFUSED = 2, 125


class File:
    """A job file with this text; run with `job create -f job.yml --stream` and more words."""

    def __init__(self, text, *words):
        self.text, self.words = text, words


# name -> (file or words, exit codes, texts that standard error must hold)
CASES = {
    "unknown-key": (File("command: true\nenvironment_varables: {A: b}\n"), {USAGE}, [
        "job.yml:2:1: unknown key 'environment_varables'; did you mean 'environment_variables'?"]),
    "unknown-nested-key": (File("command: true\nresources:\n  instance_cuont: 2\n"), {USAGE},
                           ["job.yml:3:3", "instance_count"]),
    "not-supported-yet": (File("command: true\nservices: {}\n"), {USAGE},
                          ["job.yml:2:1", "'services'", "not supported yet"]),
    "wrong-type": (File("command: true\nresources: {instance_count: many}\n"), {USAGE},
                   ["job.yml:2:", "instance_count"]),
    "zero-nodes": (File("command: true\nresources: {instance_count: 0}\n"), {USAGE},
                   ["job.yml:2:", "instance_count"]),
    "no-command": (File("display_name: x\n"), {USAGE}, ["job.yml", "command"]),
    "empty-command": (File("command: ''\n"), {USAGE}, ["job.yml:1:", "command"]),
    "empty-file": (File(""), {USAGE}, ["job.yml"]),
    "not-a-mapping": (File("- command: true\n"), {USAGE}, ["job.yml:1:1"]),
    "yaml-syntax": (File("command: [true\n"), {USAGE}, ["job.yml:"]),
    "a-tab": (File("command: true\nresources:\n\tinstance_count: 1\n"), {USAGE}, ["job.yml:3:"]),
    "duplicate-key": (File("command: true\ncommand: false\n"), {USAGE}, ["job.yml:2:1", "command"]),
    "unknown-input": (File("command: echo ${{inputs.lr}}\n"), {USAGE}, ["job.yml:1:", "lr"]),
    "outputs-expression": (File("command: echo ${{outputs.model}}\n"), {USAGE},
                           ["job.yml:1:", "unknown output 'model'"]),
    "tensorflow": (File("command: true\ndistribution: {type: tensorflow}\n"), {USAGE},
                   ["job.yml:2:", "tensorflow", "not supported yet"]),
    "unknown-distribution": (File("command: true\ndistribution: {type: pytroch}\n"), {USAGE},
                             ["job.yml:2:", "pytroch", "pytorch"]),
    "a-pipeline": (File("type: pipeline\njobs: {}\n"), {USAGE}, ["job.yml:1:", "not supported yet"]),
    "bad-name": (File("name: ../../etc\ncommand: true\n"), {USAGE}, ["job.yml:1:", "../../etc"]),
    "missing-code": (File("command: true\ncode: ./nowhere\n"), {USAGE}, ["job.yml:2:", "nowhere"]),
    "bad-timeout": (File("command: true\nlimits: {timeout: soon}\n"), {USAGE}, ["job.yml:2:", "timeout"]),
    "other-compute": (File("command: true\ncompute: azureml:gpu-cluster\n"), {USAGE},
                      ["job.yml:2:", "gpu-cluster"]),
    "bad-memory": (File("command: true\nlockstep: {resources: {memory: lots}}\n"), {USAGE},
                   ["job.yml:2:", "memory"]),
    "bad-set-key": (File("command: true\n", "--set", "resourcs.instance_count=2"), {USAGE},
                    ["--set", "resourcs"]),
    "bad-set-form": (File("command: true\n", "--set", "nonsense"), {USAGE}, ["--set", "nonsense"]),
    "a-directory-as-file": (["job", "create", "-f", "/"], {USAGE}, ["/"]),
    "no-such-file": (["job", "create", "-f", "no.yml"], {USAGE}, ["no.yml"]),
    "nothing-to-run": (["run", "--"], {USAGE}, ["COMMAND"]),
    "unknown-flag": (["run", "--nodez", "2", "--", "true"], {USAGE}, ["nodez"]),
    "negative-nodes": (["run", "-N", "-1", "--", "true"], {USAGE}, ["-N"]),
    "ranks-not-a-number": (["run", "-n", "two", "--", "true"], {USAGE}, ["-n"]),
    "bad-env": (["run", "--env", "NOVALUE", "--", "true"], {USAGE}, ["NOVALUE"]),
    "bad-run-timeout": (["run", "--timeout", "soon", "--", "true"], {USAGE}, ["soon"]),
    "bad-distribution": (["run", "--distribution", "mpich", "--", "true"], {USAGE}, ["mpich"]),
    "missing-code-dir": (["run", "--code", "nowhere", "--", "true"], {USAGE, REFUSED}, ["nowhere"]),
    "whole-root": (["run", "--", "true"], {USAGE, REFUSED}, ["/", "--code"]),
    "more-nodes-than-exist": (["run", "-N", "9", "--", "true"], {REFUSED}, ["9 nodes", "up --nodes 9"]),
    "unknown-job": (["job", "show", "no_such_job"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "cancel-unknown-job": (["job", "cancel", "no_such_job"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "unknown-node": (["node", "show", "nowhere"], {1, USAGE, REFUSED}, ["nowhere"]),
    "unknown-verb": (["jbo", "list"], {USAGE}, ["jbo"]),
    "unknown-output": (["job", "list", "-o", "xml"], {USAGE}, ["xml"]),
}


@pytest.fixture(scope="module")
def up_site(shared_bin):
    from conftest import _close, _site
    made = _site(None, shared_bin)
    made.up(2)
    yield made
    _close(made)


@pytest.mark.parametrize("case", CASES)
def test_bad_input(up_site, case):
    what, codes, texts = CASES[case]
    jobs_before = len(up_site.json("job", "list"))
    if isinstance(what, File):
        up_site.write("job.yml", what.text)
        done = up_site.run("job", "create", "-f", "job.yml", "--stream", *what.words)
    else:
        done = up_site.run(*what, cwd="/" if case == "whole-root" else None)
    err = done.stderr.decode()
    assert done.returncode in codes, (done.returncode, err)
    for text in texts:
        assert text in err, err
    assert "terminate called" not in err and "Traceback" not in err
    assert len(up_site.json("job", "list")) == jobs_before
    good = up_site.run("run", "--", "echo", "good")
    assert (good.returncode, good.stdout) == (0, b"good\n"), good.stderr


def test_a_launcher_that_cannot_listen_says_where_and_what_would_do(site):
    for host in ("203.0.113.9", "no-such-host.invalid"):  # RFC 5737, RFC 2606: nobody's
        done = subprocess.run([site.bin / "lockstepd", "--home", site.directory / "other", "--listen",
                               f"tcp://{host}:7070"], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 5, done
        assert f"--listen tcp://{host}:7070: " in done.stderr, done
        assert "HOST must be an address of this machine" in done.stderr, done


def test_a_node_name_that_would_be_changed_is_refused(site):
    for name in ("my node", "17", "n" * 64):
        done = subprocess.run([site.bin / "lockstep-agent", "--home", site.directory / "agent", "--name", name],
                              capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2, done
        assert f"--name '{name}' cannot be a node's name" in done.stderr, done
    assert not (site.directory / "agent").exists(), "nothing was made"


@pytest.mark.parametrize("words", [["--bogus"], ["doctor", "bogus"], ["--log-level", "loud"]])
def test_a_wrong_flag_of_the_agent_is_named_and_exits_2(site, words):
    done = subprocess.run([site.bin / "lockstep-agent", "--home", site.directory / "agent", *words],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith("lockstep-agent: ") and words[-1] in done.stderr, done
