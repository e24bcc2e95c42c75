"""One rank, start to exit: argv, environment, working directory, streams, exit codes."""
import json
import os

import pytest


def test_a_trivial_job_prints_and_exits_zero(any_site):
    any_site.up(1)
    done = any_site.run("run", "--", "echo", "hello")
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr


def test_run_starts_a_launcher_by_itself(any_site):
    done = any_site.run("run", "--", "echo", "hello")
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    assert len(any_site.launcher_pids()) == 1


@pytest.mark.parametrize("words, code", [
    (["false"], 1), (["sh", "-c", "exit 42"], 42), (["sh", "-c", "kill -9 $$"], 137),
    (["sh", "-c", "kill -TERM $$"], 143), (["no-such-program"], 127), (["/etc/passwd"], 126),
    (["sh", "-c", "exit 255"], 255),
])
def test_the_exit_code_is_the_jobs(site, words, code):
    site.up(1)
    done = site.run("run", "--", *words)
    assert done.returncode == code, done.stderr


def test_argv_is_exact_and_no_shell_sees_it(any_site):
    any_site.up(1)
    words = ["$HOME", "a b", "", "*", "'quoted\"", "tab\there", "new\nline", "ünïcode"]
    program = "import sys,json; print(json.dumps(sys.argv[1:]))"
    out = any_site.ok("run", "--", "python3", "-c", program, *words)
    assert json.loads(out) == words


def test_a_rank_sees_a_clean_environment(any_site):
    any_site.up(1)
    done = any_site.run("run", "--env", "MINE=1", "--", "env", "-0",
                        env={"SECRET_OF_THE_SHELL": "x", "NCCL_IB_DISABLE": "1"})
    variables = dict(v.split(b"=", 1) for v in done.stdout.split(b"\0") if v)
    assert b"SECRET_OF_THE_SHELL" not in variables and b"NCCL_IB_DISABLE" not in variables
    # That of the attempt, not the one of the shell.
    assert variables[b"LOCKSTEP_HOME"].endswith(b"/lockstep")
    assert variables[b"LOCKSTEP_HOME"].decode() != str(any_site.home)
    assert variables[b"MINE"] == b"1"
    assert variables[b"PATH"].startswith(b"/usr/bin")
    assert variables[b"PYTHONUNBUFFERED"] == b"1"
    assert variables[b"AZUREML_PROCESS_NAME"] == b"rank_0"
    assert variables[b"LOCKSTEP_ATTEMPT"] == b"1"
    assert variables[b"USER"].decode() == any_site.environment()["USER"]


def test_the_code_may_be_one_file(site):
    site.up(1)
    site.write("tools/hello.py", "print('hello')\n")
    site.write("tools/other.py", "")
    words = ("run", "--code", "tools/hello.py", "--", "sh", "-c", "test ! -e other.py && python3 hello.py")
    assert site.ok(*words) == "hello\n"


def test_the_snapshot_is_the_working_directory_and_writes_stay_private(any_site):
    any_site.up(2)
    any_site.write("data/input.txt", "original\n")
    script = "cat data/input.txt; echo changed > data/input.txt; pwd; ls -d outputs logs"
    out = any_site.ok("run", "--", "sh", "-c", script).splitlines()
    assert out[0] == "original" and out[2:] == ["logs", "outputs"]
    assert (any_site.work / "data/input.txt").read_text() == "original\n"
    assert any_site.ok("run", "--", "cat", "data/input.txt") == "original\n"


def test_all_ranks_of_a_job_share_one_working_directory_path(any_site):
    any_site.up(2)
    out = any_site.ok("run", "-N", "2", "-n", "2", "--", "pwd")
    paths = {line.split(" ")[-1] for line in out.splitlines()}
    assert len(out.splitlines()) == 4 and len(paths) == 1, out


def test_output_is_byte_exact(site):
    site.up(1)
    program = ("import os,sys,hashlib\n"
               "data = os.urandom(3_000_000)\n"
               "sys.stdout.buffer.write(data)\n"
               "open('outputs/sum','w').write('')\n"
               "sys.stderr.write(hashlib.sha256(data).hexdigest())\n")
    done = site.run("run", "-q", "--", "python3", "-c", program)
    import hashlib
    assert hashlib.sha256(done.stdout).hexdigest() in done.stderr.decode(errors="replace")


def test_stdin_is_empty(site):
    site.up(1)
    assert site.ok("run", "--", "wc", "-c").strip() == "0"


def test_a_timeout_ends_the_job_with_124(any_site):
    any_site.up(1)
    done = any_site.run("run", "--timeout", "1", "--", "sleep", "1000")
    assert done.returncode == 124, done.stderr
    assert b"time" in done.stderr.lower()


def test_detach_show_list_and_logs(any_site):
    any_site.up(1)
    name = any_site.submit("--", "sh", "-c", "echo out; echo err >&2; exit 3")
    job = any_site.wait_for_status(name, "Failed")
    assert job["name"] == name
    assert any_site.logs(name, "--stdout").splitlines()[-1].endswith(b"out")
    both = any_site.run("job", "logs", name)
    assert (both.stdout, both.stderr) == (b"out\n", b"err\n")
    assert any_site.run("job", "logs", name, "--stderr").stderr == b"err\n"
    assert [j["name"] for j in any_site.json("job", "list")] == [name]
    assert any_site.run("job", "stream", name).returncode == 3


def test_nodes_are_listed_with_their_inventory(any_site):
    any_site.up(2)
    nodes = any_site.json("node", "list")
    assert len(nodes) == 2
    shown = any_site.json("node", "show", nodes[0]["name"])
    assert shown["name"] == nodes[0]["name"]
    text = json.dumps(shown)
    assert "cgroup" in text or "namespace" in text or "subreaper" in text
    assert os.uname().nodename in text


def test_a_home_inside_of_the_code_is_no_part_of_it(site):
    """Each snapshot would hold the keys, and the snapshots before it."""
    site.up(1)
    listed = site.ok("run", "-q", "--code", str(site.home.parent), "--", "ls", "-A").split()
    assert site.work.name in listed and site.home.name not in listed, listed
