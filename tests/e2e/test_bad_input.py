"""Bad input: each case says what, where and what to do, exits as it should, and loses nothing."""
import subprocess

import pytest

from harness.site import BUILD

USAGE, REFUSED, IN_VAIN = 2, 125, 1


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
    "not-supported-yet": (File("command: true\nparameters: {a: b}\n"), {USAGE},
                          ["job.yml:2:1", "'parameters'", "not supported yet"]),
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
    "several-at-once": (File("comand: true\nresources: {instance_count: many}\nlimits: {timeout: soon}\n"), {USAGE},
                        ["job.yml:1:1: unknown key 'comand'", "\nlockstep: job.yml:2:29: ",
                         "\nlockstep: job.yml:3:19: "]),
    "unknown-status": (["job", "list", "--status", "Done"], {USAGE}, ["--status 'Done'", "Queued, Preparing"]),
    "a-tag-without-key": (["job", "list", "--tag", "=x"], {USAGE}, ["--tag '=x'"]),
    "no-time": (["job", "list", "--since", "soon"], {USAGE}, ["--since 'soon'", "2h"]),
    "duplicate-key": (File("command: true\ncommand: false\n"), {USAGE}, ["job.yml:2:1", "command"]),
    "unknown-input": (File("command: echo ${{inputs.lr}}\n"), {USAGE}, ["job.yml:1:", "lr"]),
    "outputs-expression": (File("command: echo ${{outputs.model}}\n"), {USAGE},
                           ["job.yml:1:", "unknown output 'model'"]),
    "tensorflow": (File("command: true\ndistribution: {type: tensorflow, process_count_per_instance: 2}\n"),
                   {USAGE}, ["job.yml:2:", "is a key of mpi and pytorch, not of tensorflow", "worker_count"]),
    "missing-sbatch": (["run", "--sbatch", "none.sbatch"], {USAGE}, ["run: --sbatch", "none.sbatch"]),
    "unknown-distribution": (File("command: true\ndistribution: {type: pytroch}\n"), {USAGE},
                             ["job.yml:2:", "pytroch", "pytorch"]),
    "a-pipeline": (File("type: pipeline\njobs: {}\n"), {USAGE}, ["job.yml:2:1: the pipeline has no steps"]),
    "bad-name": (File("name: ../../etc\ncommand: true\n"), {USAGE}, ["job.yml:1:", "../../etc"]),
    "missing-code": (File("command: true\ncode: ./nowhere\n"), {USAGE}, ["job.yml:2:", "nowhere"]),
    "bad-timeout": (File("command: true\nlimits: {timeout: soon}\n"), {USAGE}, ["job.yml:2:", "timeout"]),
    "other-compute": (File("command: true\ncompute: azureml:gpu-cluster\n"), {USAGE},
                      ["job.yml:2:", "gpu-cluster"]),
    "bad-memory": (File("command: true\nlockstep: {resources: {memory: lots}}\n"), {USAGE},
                   ["job.yml:2:", "memory"]),
    "bad-keep": (File("command: true\nlockstep: {keep: ['*.pt', ../model.pt]}\n"), {USAGE},
                 ["job.yml:2:27: 'lockstep.keep': pattern ../model.pt: '..' is not a file name"]),
    "unquoted-keep": (File("command: true\nlockstep: {keep: [*.pt]}\n"), {USAGE}, ["job.yml:2:"]),
    "bad-keep-flag": (["run", "--keep", "a[b", "--", "true"], {USAGE}, ["--keep a[b: its '[' has no ']'"]),
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
    "more-nodes-than-exist": (["run", "-N", "9", "--", "true"], {IN_VAIN}, ["9 nodes", "up --nodes 9"]),
    "unknown-job": (["job", "show", "no_such_job"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "cancel-unknown-job": (["job", "cancel", "no_such_job"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "unknown-node": (["node", "show", "nowhere"], {1, USAGE, REFUSED}, ["nowhere"]),
    "unknown-verb": (["jbo", "list"], {USAGE}, ["jbo"]),
    "unknown-output": (["job", "list", "-o", "xml"], {USAGE}, ["xml"]),
    # Of hangs, core files, networks and running ranks; those that need a job are further down.
    "hang-after-a-word": (File("command: true\nlockstep: {hang_after: soon}\n"), {USAGE},
                          ["job.yml:2:", "'lockstep.hang_after': 'soon' is not a time", "off for never"]),
    "hang-after-too-short": (File("command: true\nlockstep: {hang_after: 2s}\n"), {USAGE}, ["job.yml:2:", "lockstep.hang_after", "10s"]),
    "hang-after-negative": (File("command: true\nlockstep: {hang_after: -5}\n"), {USAGE}, ["job.yml:2:", "hang_after"]),
    "hang-after-too-long": (File("command: true\nlockstep: {hang_after: 9999d}\n"), {USAGE}, ["job.yml:2:", "lockstep.hang_after"]),
    "hang-after-a-list": (File("command: true\nlockstep: {hang_after: [1m]}\n"), {USAGE}, ["job.yml:2:", "hang_after"]),
    "hang-after-empty": (File("command: true\nlockstep: {hang_after: ''}\n"), {USAGE}, ["job.yml:2:", "hang_after"]),
    "on-hang-unknown": (File("command: true\nlockstep: {on_hang: explode}\n"), {USAGE},
                        ["job.yml:2:", "on_hang", "report", "stacks", "fail", "retry"]),
    "on-hang-a-boolean": (File("command: true\nlockstep: {on_hang: true}\n"), {USAGE}, ["job.yml:2:", "on_hang"]),
    "on-hang-a-mapping": (File("command: true\nlockstep: {on_hang: {do: fail}}\n"), {USAGE}, ["job.yml:2:", "on_hang"]),
    "core-unknown": (File("command: true\nlockstep: {core: full}\n"), {USAGE}, ["job.yml:2:", "core", "off", "backtrace", "keep"]),
    "core-a-number": (File("command: true\nlockstep: {core: 1}\n"), {USAGE}, ["job.yml:2:", "core"]),
    "core-misspelt": (File("command: true\nlockstep: {cores: keep}\n"), {USAGE}, ["job.yml:2:", "unknown key 'lockstep.cores'"]),
    "rdma-unknown": (File("command: true\nlockstep: {rdma: yes}\n"), {USAGE}, ["job.yml:2:", "rdma", "required", "preferred", "off"]),
    "rdma-a-list": (File("command: true\nlockstep: {rdma: [required]}\n"), {USAGE}, ["job.yml:2:", "rdma"]),
    "rdma-misspelt": (File("command: true\nlockstep: {rmda: required}\n"), {USAGE}, ["job.yml:2:", "did you mean", "rdma"]),
    "hang-after-flag": (["run", "--hang-after", "soon", "--", "true"], {USAGE}, ["--hang-after", "'soon' is not a time"]),
    "hang-after-flag-too-short": (["run", "--hang-after", "1s", "--", "true"], {USAGE}, ["10s"]),
    "hang-after-flag-empty": (["run", "--hang-after", "", "--", "true"], {USAGE}, ["--hang-after"]),
    "on-hang-flag": (["run", "--on-hang", "kill", "--", "true"], {USAGE}, ["--on-hang 'kill' is not report, stacks, fail or retry"]),
    "on-hang-flag-empty": (["run", "--on-hang", "", "--", "true"], {USAGE}, ["--on-hang"]),
    "core-flag": (["run", "--core", "all", "--", "true"], {USAGE}, ["--core 'all' is not off, backtrace or keep"]),
    "core-flag-empty": (["run", "--core", "", "--", "true"], {USAGE}, ["--core"]),
    "rdma-flag": (["run", "--rdma", "ib", "--", "true"], {USAGE}, ["--rdma 'ib' is not required, preferred or off"]),
    "rdma-flag-empty": (["run", "--rdma", "", "--", "true"], {USAGE}, ["--rdma"]),
    "shell-of-nobody": (["job", "shell", "no_such_job"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "shell-without-a-job": (["job", "shell"], {USAGE}, ["NAME"]),
    "shell-bad-rank": (["job", "shell", "no_such_job", "--rank", "first"], {USAGE}, ["--rank"]),
    "shell-negative-rank": (["job", "shell", "no_such_job", "--rank", "-1"], {USAGE}, ["--rank"]),
    "shell-rank-and-node": (["job", "shell", "no_such_job", "--rank", "0", "--node", "n1"], {USAGE}, ["--rank", "--node"]),
    "stacks-of-nobody": (["job", "stacks", "no_such_job"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "stacks-bad-rank": (["job", "stacks", "no_such_job", "--rank", "1.5"], {USAGE}, ["--rank"]),
    "stacks-bad-output": (["job", "stacks", "no_such_job", "-o", "flame"], {USAGE}, ["flame"]),
    "signal-of-nobody": (["job", "signal", "no_such_job", "TERM"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "signal-unknown": (["job", "signal", "no_such_job", "SIGWHAT"], {USAGE}, ["SIGWHAT"]),
    "signal-zero": (["job", "signal", "no_such_job", "0"], {USAGE}, ["0"]),
    "signal-too-high": (["job", "signal", "no_such_job", "65"], {USAGE}, ["65"]),
    "signal-none": (["job", "signal", "no_such_job"], {USAGE}, ["SIGNAL"]),
    "diagnose-of-nobody": (["job", "diagnose", "no_such_job"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "diagnose-without-a-job": (["job", "diagnose"], {USAGE}, ["NAME"]),
    "diagnose-bad-output": (["job", "diagnose", "no_such_job", "-o", "xml"], {USAGE}, ["xml"]),
    "explain-env-of-nobody": (["job", "explain", "--env", "no_such_job"], {1, USAGE, REFUSED}, ["no_such_job"]),
    "explain-env-bad-rank": (["job", "explain", "--env", "--rank", "one", "no_such_job"], {USAGE}, ["--rank"]),
    "explain-rank-without-env": (["job", "explain", "--rank", "0", "no_such_job"], {USAGE}, ["--env"]),
    "fabric-of-no-node": (["node", "show", "--fabric", "nowhere"], {1, USAGE, REFUSED}, ["nowhere"]),
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


def test_what_is_asked_of_a_running_job_must_be_there(up_site):
    up_site.submit("--name", "held", "-n", "2", "--cpus", "1", "--memory", "64m", "--", "sleep", "1000")
    up_site.wait_for_status("held", "Running")
    try:
        for words, codes, texts in (
                (["shell", "held", "--rank", "2"], {USAGE}, ["held has no rank 2; its ranks are 0 to 1"]),
                (["shell", "held", "--node", "nowhere"], {USAGE, 1}, ["nowhere"]),
                (["shell", "held", "--node", "1"], {USAGE, 1}, ["held has no node 1"]),
                (["stacks", "held", "--rank", "2"], {USAGE}, ["held has no rank 2"]),
                (["signal", "held", "TERM", "--rank", "9"], {USAGE}, ["held has no rank 9"]),
                (["explain", "held", "--env", "--rank", "2"], {USAGE},
                 ["job explain: held has no rank 2; its ranks are 0 to 1"]),
                (["update", "held", "--set", "lockstep.hang_after=1m"], {USAGE, 1, REFUSED}, ["hang_after"])):
            done = up_site.run("job", *words)
            said = done.stderr.decode()
            assert done.returncode in codes and all(text in said for text in texts), (words, done)
        said = up_site.ok("job", "explain", "--env", "--rank", "1", "held")
        assert "no network settings of rank 1: its ranks are on one node" in said, said
    finally:
        up_site.ok("job", "cancel", "held")
        up_site.wait_for_status("held", "Canceled")


def test_what_needs_ranks_is_refused_of_a_job_without(up_site):
    up_site.ok("run", "--name", "ended", "--", "true")
    up_site.submit("--name", "waits", "--wait-anyway", "--label", "rack=nowhere", "--", "true")
    for name, state in (("ended", "Completed"), ("waits", "Queued")):
        for words in (["shell", name], ["stacks", name], ["signal", name, "TERM"], ["diagnose", name]):
            done = up_site.run("job", *words)
            said = done.stderr.decode()
            if words[0] == "diagnose" and done.returncode == 0:
                continue  # of one that has ended it shows what was kept
            assert done.returncode in (1, USAGE, REFUSED) and name in said and state in said, (words, done)
            assert "`lockstep job " in said, (words, "says what to do instead", done)
    done = up_site.run("job", "explain", "--env", "waits")
    assert done.returncode in (0, 1) and "waits" in (done.stdout + done.stderr).decode(), done
    up_site.ok("job", "cancel", "waits")


def test_a_wrong_fabric_yml_is_a_note_and_the_last_good_one_counts(up_site):
    path = up_site.home / "launcher" / "fabric.yml"
    path.write_text("rules:\n- environment_variables: {NCCL_IB_TC: 41}\n")
    path.chmod(0o600)
    words = ["--", "sh", "-c", "echo tc=$NCCL_IB_TC"]
    try:
        assert up_site.ok("run", *words) == "tc=41\n"
        for text, place in (("rules: eth0\n", "fabric.yml:1:"), ("rules:\n- interfce: eth0\n", "fabric.yml:2:3: unknown key 'interfce'"),
                            ("rules:\n- network: 10.1.0.0/99\n", "fabric.yml:2:12"), ("rules: [\n", "fabric.yml:")):
            path.write_text(text)
            done = up_site.run("run", *words)
            assert (done.returncode, done.stdout) == (0, b"tc=41\n"), done
            assert "the operator's fabric.yml has an error" in done.stderr.decode(), done
            assert any(place in log.read_text() for log in (up_site.home / "launcher").rglob("*.log")), place
    finally:
        path.unlink()
    assert up_site.ok("run", *words) == "tc=\n"


# What the launcher cannot know of a job file: whether a folder is there.
ONLY_HERE = {"missing-code"}


@pytest.mark.parametrize("case", [name for name, row in CASES.items() if isinstance(row[0], File)])
def test_a_bad_job_file_has_the_same_errors_at_the_launcher(up_site, case):
    what = CASES[case][0]
    up_site.write("job.yml", what.text)
    jobs_before = len(up_site.json("job", "list"))
    created = up_site.run("job", "create", "-f", "job.yml", *what.words).stderr.decode()
    validated = up_site.run("job", "validate", "-f", "job.yml", *what.words)
    assert (validated.returncode, validated.stdout) == (USAGE, b""), validated
    assert validated.stderr.decode() == created
    asked = subprocess.run([BUILD / "tests" / "ask_job_file", "job.yml", *what.words[1:]], cwd=up_site.work,
                           env=up_site.environment(), capture_output=True, timeout=60, check=False)
    if case in ONLY_HERE:
        assert (asked.returncode, asked.stdout) == (0, b""), asked
    else:
        assert asked.returncode == USAGE, asked
        assert "".join(f"lockstep: {line}\n" for line in asked.stdout.decode().splitlines()) == created
    assert len(up_site.json("job", "list")) == jobs_before


def test_what_only_the_launcher_knows_is_an_error_of_the_file(up_site):
    for text, says in (("environment: azureml:nobodys:7\n", "job.yml:2:14"),
                       ("lockstep: {project: nowhere}\n", "job.yml:2:21: there is no project 'nowhere'"),
                       ("resources: {instance_count: 9}\n", "job.yml:2:29: needs 9 nodes"),
                       ("environment_variables: {A: '${{secrets.NOBODYS}}'}\n", "NOBODYS")):
        up_site.write("job.yml", "command: true\n" + text)
        done = up_site.run("job", "validate", "-f", "job.yml")
        assert (done.returncode, done.stdout) == (USAGE, b""), done
        assert says in done.stderr.decode(), done
        assert up_site.ok("job", "validate", "-f", "job.yml", "--local") == "job.yml: valid\n"


def test_all_that_the_launcher_refuses_is_said_at_once(up_site):
    """job create as job validate, each with the place of what it names."""
    up_site.write("job.yml", "command: 'true'\nenvironment: azureml:nobodys:7\ninputs:\n  a: {path: azureml:nothing:1}\n"
                             "  b: {path: azureml://datastores/nowhere/paths/x}\n"
                             "outputs:\n  c: {path: azureml://datastores/lost/paths/x}\n")
    wanted = ["job.yml:2:14: ", "job.yml:4:13: inputs.a: ", "job.yml:5:13: inputs.b: ", "job.yml:7:13: outputs.c.path: "]
    for verb in ("create", "validate"):
        done = up_site.run("job", verb, "-f", "job.yml")
        said = done.stderr.decode()
        assert done.returncode in (1, USAGE) and all(f"lockstep: {place}" in said for place in wanted), (verb, said)
        assert "to add it, the launcher's operator writes into" in said and "\n  lost:\n    directory: " in said, said


def test_faults_of_the_reader_and_of_the_launcher_are_said_at_once(up_site):
    jobs_before = len(up_site.json("job", "list"))
    up_site.write("job.yml", "comand: 'true'\nenvironment: azureml:nobodys:7\ncompute: lost\nlockstep: {project: nowhere}\n"
                             "inputs: {a: {path: azureml:nothing:1}}\ncode: ./gone\n")
    wanted = ["job.yml:1:1: unknown key 'comand'", "job.yml:6:7: ", "job.yml:2:14: ", "job.yml:3:10: there is no compute target 'lost'",
              "job.yml:4:21: there is no project 'nowhere'", "job.yml:5:20: inputs.a: ", "--grace 'soon' is not a time"]
    for verb in ("create", "validate"):
        done = up_site.run("job", verb, "-f", "job.yml", "--grace", "soon")
        said = done.stderr.decode()
        assert done.returncode == USAGE and all(f"lockstep: {place}" in said for place in wanted), (verb, said)
        assert len(said.splitlines()) == len(set(said.splitlines())), said
    good = ["--compute", "lost", "--project", "nowhere", "--environment", "nobodys:7", "--from-checkpoint-of", "nobody"]
    wanted = ["--compute: there is no compute target 'lost'", "--project nowhere: there is no project", "nobodys:7: ",
              "--from-checkpoint-of nobody: there is no job 'nobody'"]
    for more, first in ([], []), (["--memory", "lots", "--timeout", "soon"], ["--memory 'lots'", "--timeout 'soon'"]):
        done = up_site.run("run", *good, *more, "--", "true")
        said = done.stderr.decode()
        assert done.returncode == USAGE and all(text in said for text in wanted + first), said
    done = up_site.run("environment", "prepare", "-f", "nobodys:7", "--project", "nowhere")
    said = done.stderr.decode()
    assert done.returncode == REFUSED and "nobodys" in said and "--project nowhere: there is no project" in said, said
    assert len(up_site.json("job", "list")) == jobs_before


def test_a_job_that_is_not_there_cannot_be_deleted(up_site):
    for names, first in (["nosuch"], "nosuch"), (["nosuch", "neither", "--yes"], "nosuch"):
        done = up_site.run("job", "delete", *names)
        said = done.stderr.decode().splitlines()
        assert done.returncode == 1 and done.stdout.strip() == b"", done
        assert said[0] == f"lockstep: there is no job '{first}'; `lockstep job list` shows all", said
        assert len(said) == len([name for name in names if not name.startswith("--")]), said


def test_a_wrong_file_starts_no_launcher(site):
    site.write("job.yml", "comand: 'true'\n")
    done = site.run("job", "create", "-f", "job.yml")
    assert done.returncode == USAGE and b"job.yml:1:1: unknown key 'comand'" in done.stderr, done
    assert "not running" in site.run("status").stdout.decode()


def test_a_job_file_may_come_from_standard_input(up_site, tmp_path):
    (tmp_path / "job").write_text("command: cat ${{inputs.d}}\ninputs: {d: {type: uri_file, path: here.txt}}\n")
    (tmp_path / "bad").write_text("command: 'true'\nenv: x\n")
    up_site.write("here.txt", "from standard input\n")
    with open(tmp_path / "job") as job:
        done = up_site.run("job", "create", "-f", "-", "--stream", stdin=job)
    assert (done.returncode, done.stdout) == (0, b"from standard input\n"), done
    with open(tmp_path / "job") as job:
        assert up_site.run("job", "validate", "-f", "-", stdin=job).stdout == b"standard input: valid\n"
    with open(tmp_path / "bad") as bad:
        done = up_site.run("job", "create", "-f", "-", stdin=bad)
    assert done.returncode == USAGE and b"lockstep: standard input:2:1: unknown key 'env'" in done.stderr, done


def test_run_and_create_take_the_same_flags(up_site):
    up_site.write("set/a.txt", "data\n")
    up_site.write("job.yml", "command: cat ${{inputs.d}}/a.txt; echo ${{inputs.lr}}; echo x > ${{outputs.o}}/x\n"
                             "inputs: {lr: 1, d: {path: elsewhere}}\noutputs: {o: }\n")
    words = ["--tag", "owner=anna", "--experiment", "digits", "--display-name", "night", "--compute", "local",
             "--input", "d=./set", "--input", "lr=0.010", "--output", "o"]
    script = 'cat "$1/a.txt"; echo "$2"; echo x > "$3/x"'
    for name, verb in (("flags-run", ["run"]), ("flags-file", ["job", "create", "-f", "job.yml", "--stream"])):
        tail = ["--", "sh", "-c", script, "-", "${{inputs.d}}", "${{inputs.lr}}", "${{outputs.o}}"] if verb == ["run"] else []
        done = up_site.run(*verb, "--name", name, *words, *tail)
        assert (done.returncode, done.stdout) == (0, b"data\n0.010\n"), done
        job = up_site.json("job", "show", name)
        assert (job["tags"], job["experiment_name"], job["display_name"]) == ({"owner": "anna"}, "digits", "night"), job
        assert job["inputs"]["lr"] == "0.010" and list(job["outputs"]) == ["o"], job
    done = up_site.run("run", "--input", "d=./set", "--", "cat", "${{inputs.e}}/a.txt")
    assert done.returncode == USAGE and b"unknown input 'e'" in done.stderr, done
    done = up_site.run("job", "create", "-f", "job.yml", "--compute", "nowhere", "--input", "d=./set")
    assert done.returncode == USAGE and b"--compute nowhere: " in done.stderr, done


def test_a_good_job_file_is_valid_with_the_files_that_it_names(up_site):
    up_site.write("jobs/r.txt", "six\n-r more.txt\n")
    up_site.write("jobs/more.txt", "numpy\n")
    up_site.write("jobs/job.yml", "command: true\ncode: .\nenvironment: {requirements: r.txt}\n")
    assert up_site.ok("job", "validate", "-f", "jobs/job.yml") == "jobs/job.yml: valid\n"
    assert up_site.json("job", "validate", "-f", "jobs/job.yml") == {
        "file": "jobs/job.yml", "valid": True, "errors": [], "notes": []}


def test_hostile_files_stall_nobody(up_site):
    """A launcher that parses one answers others meanwhile, and takes the next good one."""
    half = "x" * (1 << 19)
    for text in ("a: " + "[" * 1_000_000, f"a: &a {half}\nb: [" + "*a," * 100_000 + "]\n"):
        up_site.write("job.yml", text)
        asking = [subprocess.Popen([BUILD / "tests" / "ask_job_file", "job.yml"], cwd=up_site.work,
                                   env=up_site.environment(), stdout=subprocess.PIPE) for _ in range(3)]
        assert up_site.json("status")["running"]
        for one in asking:
            out, _ = one.communicate(timeout=60)
            assert one.returncode == USAGE and out.startswith(b"job.yml:"), (one.returncode, out[:200])
    up_site.write("job.yml", "command: true\n")
    assert up_site.ok("job", "validate", "-f", "job.yml") == "job.yml: valid\n"


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


@pytest.mark.parametrize("words", [["--bogus"], ["doctor", "bogus"], ["--log-level", "loud"],
                                   ["--launcher", "nonsense"], ["--memory", "lots"]])
def test_a_wrong_flag_of_the_agent_is_named_and_exits_2(site, words):
    done = subprocess.run([site.bin / "lockstep-agent", "--home", site.directory / "agent", *words],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith("lockstep-agent: ") and words[-1] in done.stderr, done
