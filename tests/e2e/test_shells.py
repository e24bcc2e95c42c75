"""What helps a person who types: completion in real shells, manual pages, `lockstep init`, defaults, comparing two runs."""
import json
import os
import pty
import select
import shutil
import subprocess

import pytest
import yaml
from harness.site import BUILD

LOCKSTEP = BUILD / "bin/lockstep"


def alone(*words, home="/nonexistent/home", **options):
    return subprocess.run([LOCKSTEP, *words], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "LOCKSTEP_HOME": str(home)}, **options)


def in_bash(site, line):
    """What bash offers at the end of `line`."""
    script = f"""
source <(lockstep completion bash)
COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}
eval "COMP_WORDS=($COMP_LINE)"
[[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_lockstep
(( ${{#COMPREPLY[@]}} )) && printf '%s\\n' "${{COMPREPLY[@]}}"
exit 0
"""
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=False, timeout=60,
                          env={**site.environment(), "PATH": f"{site.bin}:{os.environ['PATH']}"})
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_bash_completes_verbs_flags_and_words_of_options(site):
    assert in_bash(site, "lockstep jo") == ["job"]
    assert set(in_bash(site, "lockstep job re")) == {"restore", "resume"}
    assert in_bash(site, "lockstep job list --par") == ["--parent", "--parent-job-name"]
    assert in_bash(site, "lockstep job list -o ") == ["table", "json", "yaml", "tsv"]
    assert in_bash(site, "lockstep run --priority m") == ["medium"]
    assert in_bash(site, "lockstep top --sort = n") == ["network", "name"]
    assert in_bash(site, "lockstep run -n 2 -- --") == []
    assert in_bash(site, "lockstep completion ") == ["bash", "zsh", "fish"]
    assert not (site.home / "launcher").exists(), "completion started a launcher"


def test_tab_completes_in_an_interactive_bash(site):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(site.environment(), PATH=f"{site.bin}:{os.environ['PATH']}", TERM="dumb", PS1="$ ")
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    os.write(terminal, b"source <(lockstep completion bash)\nlockstep job valid\t --help\nexit\n")
    seen = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # bash has ended
            break
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"lockstep job validate" in seen and b"check whether a job file could be submitted" in seen, seen


def test_bash_completes_names_that_the_launcher_has(site):
    site.up(1)
    site.ok("run", "--name", "digits-1", "--", "true")
    site.ok("run", "--name", "digits-2", "--", "true")
    assert set(in_bash(site, "lockstep job show dig")) == {"digits-1", "digits-2"}
    assert in_bash(site, "lockstep job stream digits-1") == ["digits-1"]
    assert in_bash(site, "lockstep node drain ") == ["local-0"]
    assert in_bash(site, "lockstep compute show ") == ["local"]
    assert in_bash(site, "lockstep run --compute l") == ["local"]
    site.write("set/a", "")
    site.ok("data", "create", "-n", "faces", "--path", "set")
    assert in_bash(site, "lockstep data show -n f") == ["faces"]
    site.write("two.yml", "type: pipeline\njobs: {fit: {command: 'true'}, score: {command: 'true'}}\n")
    site.ok("job", "create", "-f", "two.yml", "--name", "two", "--stream")
    assert set(in_bash(site, "lockstep job show two_")) == {"two_fit", "two_score"}
    shown = site.ok("__complete", "job", "show", "digits-2").splitlines()
    assert shown == ["digits-2\tCompleted"]
    site.down()
    assert in_bash(site, "lockstep job show dig") == []


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(site):
    script = """
autoload -Uz compinit; compinit -D -u
_describe() { local name=${@[-1]}; print -l -- ${(P)name}; }
_files() { print files; }
source <(lockstep completion zsh)
words=(lockstep job li); CURRENT=3; _lockstep
words=(lockstep job list -o ''); CURRENT=5; _lockstep
words=(lockstep run -- ''); CURRENT=4; _lockstep
"""
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=False, timeout=60,
                          env={**site.environment(), "PATH": f"{site.bin}:{os.environ['PATH']}"})
    assert not done.stderr, done.stderr
    assert done.stdout.splitlines() == ["list:jobs, newest first", "table:", "json:", "yaml:", "tsv:", "files"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(site):
    script = "lockstep completion fish | source; complete -C 'lockstep job li'; complete -C 'lockstep job list -o t'"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=False, timeout=60,
                          env={**site.environment(), "PATH": f"{site.bin}:{os.environ['PATH']}"})
    assert not done.stderr, done.stderr
    assert done.stdout.splitlines() == ["list\tjobs, newest first", "table", "tsv"]


# ---- manual pages ------------------------------------------------------------------------------

@pytest.mark.skipif(shutil.which("man") is None, reason="man-db is not installed")
def test_each_manual_page_is_good_roff(tmp_path):
    assert alone("help", "--man-pages", str(tmp_path)).returncode == 0
    pages = {path.name for path in tmp_path.iterdir()}
    assert {"lockstep.1", "lockstep-job.1", "lockstep-run.1", "lockstep-compute.1"} <= pages and len(pages) > 20
    for page in tmp_path.iterdir():
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True, check=False)
        assert done.returncode == 0 and not done.stderr, (page.name, done.stderr)
    text = subprocess.run(["man", "-l", tmp_path / "lockstep-job.1"], capture_output=True, text=True, check=True,
                          env={**os.environ, "MANWIDTH": "200"}).stdout
    assert "lockstep job list" in text and "--parent-job-name" in text and "jobs, newest first" in text


def test_help_prints_one_page(site):
    assert site.ok("help", "--man", "run") == site.ok("help", "--man", "run")
    assert site.ok("help", "--man").startswith('.TH "LOCKSTEP" 1')
    done = site.run("help", "--man", "fly")
    assert done.returncode == 2 and b"there is no verb 'fly'" in done.stderr


# ---- init --------------------------------------------------------------------------------------

SCRIPTS = {
    "plain": ("print('hello')\n", []),
    "torch": ("import argparse\nimport torch.distributed as dist\np = argparse.ArgumentParser()\n"
              "p.add_argument('--learning-rate', type=float, default=1e-3)\np.add_argument('--data', required=True)\n"
              "p.add_argument('--name', default=\"it's #1\")\np.add_argument('--fast', action='store_true')\n"
              "p.add_argument('--local_rank', type=int, default=0)\nmodel.to('cuda')\n", ["requirements.txt"]),
    "mpi": ("from mpi4py import MPI\n", ["conda.yml"]),
    "odd name": ("# import torch.distributed\n", []),
}


@pytest.mark.parametrize("kind", SCRIPTS)
def test_what_init_writes_is_valid(tmp_path, kind):
    folder = tmp_path / kind
    folder.mkdir()
    text, others = SCRIPTS[kind]
    (folder / "train.py").write_text(text)
    for other in others:
        (folder / other).write_text("six\n" if other.endswith("txt") else "channels: [conda-forge]\ndependencies: [python=3.11]\n")
    done = alone("init", str(folder), home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    valid = alone("job", "validate", "--local", "-f", str(folder / "job.yml"), home=tmp_path / "home")
    assert valid.returncode == 0, valid.stderr + (folder / "job.yml").read_text()
    job = yaml.safe_load((folder / "job.yml").read_text())
    assert job["command"].startswith("python3 train.py")
    if kind == "torch":
        assert job["distribution"]["type"] == "pytorch" and job["lockstep"]["resources"]["gpus"] == 1
        assert job["environment"] == {"requirements": "requirements.txt"}
        assert set(job["inputs"]) == {"learning_rate", "data", "name"} and job["inputs"]["name"] == "it's #1"
        assert '--learning-rate "${{inputs.learning_rate}}"' in job["command"]
    if kind == "mpi":
        assert job["distribution"]["type"] == "mpi" and job["environment"] == {"conda_file": "conda.yml"}
    if kind in ("plain", "odd name"):
        assert "distribution" not in job and "environment" not in job


def test_init_overwrites_nothing_and_asks_which_script(tmp_path):
    (tmp_path / "a.py").write_text("")
    (tmp_path / "b.py").write_text("")
    done = alone("init", str(tmp_path))
    assert done.returncode == 2 and "--script" in done.stderr
    done = alone("init", str(tmp_path / "a.py"))
    assert done.returncode == 0 and "python3 a.py" in (tmp_path / "job.yml").read_text(), done.stderr
    (tmp_path / "sub").mkdir()
    done = alone("init", str(tmp_path / "sub"))
    assert done.returncode == 2 and "is empty; put the script there first" in done.stderr
    done = alone("init", str(tmp_path / "sub"), "--script", str(tmp_path / "a.py"))
    assert done.returncode == 2, done.stderr
    done = alone("init", str(tmp_path / "none.py"))
    assert done.returncode == 2 and "is not a folder; name the script's folder" in done.stderr
    (tmp_path / "job.yml").write_text("mine")
    done = alone("init", str(tmp_path), "--script", "a.py")
    assert done.returncode == 1 and "exists already" in done.stderr and (tmp_path / "job.yml").read_text() == "mine"


# ---- defaults, --query, compare ----------------------------------------------------------------

def test_defaults_hold_for_jobs_and_output(site):
    site.up(1)
    site.ok("config", "set", "defaults.experiment=digits", "defaults.output=yaml")
    assert yaml.safe_load(site.ok("config", "list"))["defaults.experiment"] == "digits"
    site.ok("run", "-q", "--name", "first", "-o", "table", "--", "true")
    site.write("job.yml", "name: second\nexperiment_name: mine\ncommand: 'true'\n")
    site.ok("job", "create", "-f", "job.yml", "--stream")
    assert {job["name"]: job["experiment_name"] for job in site.json("job", "list")} == {"first": "digits", "second": "mine"}
    done = site.run("config", "set", "defaults.output=xml")
    assert done.returncode == 2 and b"'xml' is not table, json, yaml or tsv" in done.stderr
    site.ok("config", "unset", "defaults.output", "defaults.experiment")
    assert "NAME" in site.ok("job", "list")


def test_query_selects_from_what_verbs_print(site):
    site.up(1)
    for name, word in (("first", "true"), ("second", "false")):
        site.run("run", "-q", "--name", name, "--", word)
    assert json.loads(site.ok("job", "list", "--query", "[?status=='Failed'].name")) == ["second"]
    assert site.ok("job", "list", "--query", "sort_by([], &name)[].[name, status]", "-o", "tsv") == "first\tCompleted\nsecond\tFailed\n"
    assert site.ok("job", "show", "first", "--query", "status", "-o", "tsv") == "Completed\n"
    assert site.ok("job", "list", "--query", "[?name=='first'].{job: name, code: exit_code}", "-o", "table") == "JOB    CODE\nfirst  0\n"
    assert site.ok("job", "events", "first", "--follow", "--query", "what", "-o", "tsv").splitlines()[-1]
    done = site.run("job", "list", "--query", "[?name=='x'")
    assert done.returncode == 2 and b"column 12: expected ']'" in done.stderr, done.stderr
    done = site.run("job", "list", "--query", "abs(@)")
    assert done.returncode == 1 and b"--query: column 1: abs() takes a number" in done.stderr, done.stderr


def test_compare_names_what_differs(site):
    site.up(1)
    for name, text, rate in (("good", "print('one')\nprint('same')\n", "1"), ("bad", "print('two')\nprint('same')\n", "2")):
        site.write("tree/train.py", text)
        site.write("tree/same.txt", "same\n")
        site.write(f"tree/only-{name}.txt", "x\n")
        site.ok("run", "-q", "--name", name, "--env", f"LR={rate}", "--code", "tree", "--", "python3", "train.py")
        (site.work / f"tree/only-{name}.txt").unlink()
    found = site.json("job", "compare", "good", "bad", "--diff")
    assert not found["same"]
    assert found["code"]["added"] == ["only-bad.txt"] and found["code"]["removed"] == ["only-good.txt"]
    assert found["code"]["changed"] == ["train.py"]
    assert "-print('one')\n+print('two')\n print('same')\n" in found["code"]["lines"]["train.py"]
    assert {"key": "environment_variables.LR", "a": "1", "b": "2"} in found["fields"]
    assert not [field for field in found["fields"] if field["key"].startswith(("name", "lockstep"))], found["fields"]
    text = site.ok("job", "compare", "good", "bad")
    assert "code changed  train.py" in text and "FIRST: good" in text and "environment_variables.LR" in text
    again = site.json("job", "compare", "good", "good")
    assert again["same"] and again["fields"] == []
    assert site.run("job", "compare", "good", "nobody").returncode == 1
