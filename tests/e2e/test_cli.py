"""The command line as people and scripts meet it: records, exit codes, signals, lists, progress."""
import json
import os
import pty
import re
import select
import signal
import time

import pytest
import yaml
from harness.site import Site, wait_until

JOB_FILE = """
command: >-
  echo "epochs ${{inputs.epochs}}"; echo to-err >&2; exit 3
name: NAME
display_name: "digits: three epochs"
experiment_name: on
description: |
  first line
  second: line
tags: {owner: ada, when: "2030-01-01", yes: "no", empty: "", number: "1e3"}
inputs: {epochs: 3}
environment_variables: {A: "null", B: "0x1F", C: "two\\nlines"}
"""


@pytest.mark.parametrize("form, load", [("json", json.loads), ("yaml", yaml.safe_load)])
def test_run_prints_the_record_in_the_end_and_nothing_else(site, form, load):
    site.up(1)
    name = f"recorded-{form}"
    done = site.run("run", "-o", form, "--name", name, "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert done.returncode == 3, done.stderr
    assert b"out\n" in done.stderr and b"err\n" in done.stderr
    assert load(done.stdout)["status"] == "Failed"
    assert done.stdout.decode() == site.ok("job", "show", name, "-o", form)
    site.write("job.yml", JOB_FILE.replace("NAME", name + "-file"))
    done = site.run("job", "create", "-f", "job.yml", "--stream", "-o", form)
    assert done.returncode == 3 and b"epochs 3\n" in done.stderr, done.stderr
    assert done.stdout.decode() == site.ok("job", "show", name + "-file", "-o", form)


def test_yaml_says_the_same_as_json(site):
    site.up(1)
    site.write("job.yml", JOB_FILE.replace("NAME", "first"))
    assert site.run("job", "create", "-f", "job.yml", "--stream").returncode == 3
    site.ok("run", "-q", "--name", "second", "--env", "WORD=~", "--", "echo", "a: b", "- c", "#d", "\u2028")
    for words in (["job", "show", "first"], ["job", "list"], ["node", "list"], ["node", "show", "local-0"],
                  ["job", "explain", "first"], ["status"]):
        def same(words=words):
            as_json = json.loads(site.ok(*words, "-o", "json"))
            as_yaml = yaml.safe_load(site.ok(*words, "-o", "yaml"))
            return _without_times(as_json) == _without_times(as_yaml)
        wait_until(same, f"{words} says the same in both", 10)


def _without_times(value):
    """Without what goes on between two questions."""
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _without_times(item) for key, item in value.items() if key not in ("last_heard", "disk_free", "use")}


def test_a_table_shows_what_the_job_file_said(site):
    site.up(1)
    site.write("job.yml", JOB_FILE.replace("NAME", "first"))
    site.run("job", "create", "-f", "job.yml", "--stream")
    text = site.ok("job", "show", "first")
    for line in ("display name: digits: three epochs", "experiment:   on", "description:  first line",
                 "              second: line", "inputs:       epochs=3", "holds:        whole nodes",
                 "tags:         empty=, number=1e3, owner=ada, when=2030-01-01, yes=no",
                 "job first Failed", "    | to-err"):
        assert line in text.splitlines(), text


@pytest.mark.parametrize("words, code, texts", [
    (["run", "--code", "/nosuch", "--", "true"], 2, ["--code '/nosuch' does not exist"]),
    (["run", "--code", "/dev/null", "--", "true"], 2, ["--code '/dev/null' is neither a directory nor a file"]),
    (["run", "-N", "9", "--", "true"], 1, ["9 nodes"]),
    (["run", "--detach", "-N", "9", "--", "true"], 1, ["9 nodes"]),
    (["job", "create", "-f", "wide.yml", "--stream"], 1, ["9 nodes"]),
    (["job", "create", "-f", "wide.yml"], 1, ["9 nodes"]),
    (["job", "stream", "nosuch"], 125, ["nosuch"]),
    (["job", "logs", "nosuch"], 1, ["nosuch"]),
    (["job", "logs", "there", "--attempt", "2"], 2, ["there has no attempt 2; it has one attempt"]),
    (["run", "--name=", "--", "true"], 2, ["--name"]),
])
def test_who_fails_says_so_by_its_exit_code(site, words, code, texts):
    site.up(1)
    site.ok("run", "-q", "--name", "there", "--", "true")
    site.write("wide.yml", "command: 'true'\nresources: {instance_count: 9}\n")
    done = site.run(*words)
    assert done.returncode == code, done.stderr
    assert done.stdout == b""
    for text in texts:
        assert text in done.stderr.decode(), done.stderr


def test_a_trivial_job_says_its_name_and_no_more(site):
    site.up(1)
    site.ok("run", "-q", "--", "true")
    # A machine under load may take longer than a second for it: then a line is right.
    started = time.monotonic()
    done = site.run("run", "--", "true")
    if time.monotonic() - started < 1:
        assert (done.returncode, done.stdout) == (0, b"")
        assert re.fullmatch(rb"lockstep: [a-z]+_[a-z]+_[a-z]+: Completed after \d+ms\n", done.stderr), done.stderr


def test_the_newest_job_has_a_word_where_a_job_is_named_and_nowhere_else(site):
    site.up(1)
    site.ok("run", "-q", "--name", "first", "--", "true")
    site.write("next.sbatch", "#!/bin/bash\necho @last \"$@\"\n")
    done = site.run("run", "--name", "second", "--sbatch", "next.sbatch", "--after", "@last", "--display-name", "@last")
    assert (done.returncode, done.stdout) == (0, b"@last\n"), done.stderr
    second = site.show("second")
    assert second["display_name"] == "@last" and [one["job"] for one in second["lockstep"]["after"]] == ["first"], second
    done = site.run("run", "--sbatch", "next.sbatch", "--from-checkpoint-of", "@last", "--", "--name=@last")
    assert b"@last" not in done.stderr and b"second" in done.stderr, done.stderr
    assert site.run("job", "logs", "--name=@last").stdout.endswith(b"@last\n")


def test_a_long_wait_says_why_and_then_goes_on(site):
    site.up(1)
    flag = site.directory / "go"
    blocker = site.submit("--", "sh", "-c", f"while [ ! -e {flag} ]; do sleep 0.05; done")
    site.wait_for_status(blocker, "Running")
    waiting = site.start("run", "--name", "waits", "--", "sleep", "1.5")
    lines = []
    while not any(b"waits: Queued (" in line for line in lines):
        lines.append(waiting.stderr.readline())
    flag.touch()
    rest = waiting.communicate(timeout=60)[1]
    assert waiting.returncode == 0 and b"waits: Running\n" in rest, rest
    assert b"waits: Completed after" in rest, rest


def running(site, *words, **options):
    """`run` of a job that runs until it is ended; returns it with the job's name."""
    process = site.start("run", "--name", "long", *words, "--",
                         "sh", "-c", "trap '' TERM; echo started; while :; do sleep 0.05; done", **options)
    assert process.stdout.readline() == b"started\n"
    return process


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_cancels_and_a_second_one_stops_waiting(site, first):
    site.up(1)
    process = running(site)
    process.send_signal(first)
    lines = [process.stderr.readline()]
    while b"canceling long" not in lines[-1]:
        lines.append(process.stderr.readline())
    site.wait_for_status("long", "CancelRequested")
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 130
    assert "stopped following long; the job is still being canceled" in err and "lockstep job show long" in err
    assert site.wait_for_status("long", "Canceled")["exit_code"] == 130


def test_a_closed_terminal_leaves_the_job_running(site):
    site.up(1)
    process = running(site)
    process.send_signal(signal.SIGHUP)
    err = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 129 and "lockstep job stream long" in err
    assert site.show("long")["status"] == "Running"


def test_a_hangup_of_a_real_terminal_leaves_the_job_running(site):
    site.up(1)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(site.work)
        argv = site._argv(["run", "--name", "tty", "--", "sh", "-c", "echo started; sleep 600"])
        os.execvpe(argv[0], argv, {**site.environment(), "TERM": "xterm"})
    seen = b""
    while b"started" not in seen:
        assert select.select([terminal], [], [], 60)[0], seen
        seen += os.read(terminal, 4096)
    os.close(terminal)  # the kernel sends SIGHUP
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (129, 141)
    assert site.show("tty")["status"] == "Running"


def test_a_killed_agent_is_started_again_while_a_run_waits(site):
    site.up(1)
    flag = site.directory / "go"
    process = site.start("run", "--name", "kept", "--",
                         "sh", "-c", f"echo started; while [ ! -e {flag} ]; do sleep 0.05; done; echo done")
    assert process.stdout.readline() == b"started\n"
    killed = site.agent_pids()
    site.kill(killed)
    wait_until(lambda: (now := site.agent_pids()) and now != killed, "another agent runs", 30)
    flag.touch()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"done\n"), err
    assert b"the agent of node local-0 had ended; started it again" in err
    assert len(site.show("kept")["attempts"]) == 1


def test_a_list_is_short_and_says_what_it_leaves_out(site):
    site.up(1)
    names = [site.submit("--cpus", "1", "--name", f"j{i}", "--", "true") for i in range(3)]
    done = site.run("job", "list", "--max-results", "2", "-o", "json")
    assert [job["name"] for job in json.loads(done.stdout)] == names[:0:-1]
    assert b"only the newest 2 of 3 jobs are shown" in done.stderr
    for words in ([], ["--all-results"]):
        done = site.run("job", "list", *words, "-o", "json")
        assert [job["name"] for job in json.loads(done.stdout)] == names[::-1] and done.stderr == b""
    assert "newest 2 of 3 jobs" in site.run("job", "list", "-r", "2").stderr.decode()


def test_output_that_cannot_be_written_is_no_success(site):
    site.up(1)
    for words, code in ((["job", "list", "-o", "json"], 1), (["node", "token"], 1), (["--help"], 1),
                        (["run", "--detach", "--", "true"], 1), (["run", "-o", "json", "--", "true"], 125),
                        (["run", "--", "echo", "lost"], 125)):
        with open("/dev/full", "wb") as full:
            done = site.run(*words, stdout=full)
        assert done.returncode == code, (words, done.stderr)
        assert b"the output of this command is not complete" in done.stderr, words
        assert b"No space left on device" in done.stderr, words


def test_a_home_inside_the_source_directory_stays_at_home(site):
    site.up(1)
    done = site.run("run", "--code", str(site.home.parent), "--", "find", ".", "-name", "*.key")
    assert (done.returncode, done.stdout) == (0, b""), (done.stdout, done.stderr)


def test_a_home_that_cannot_be_used_is_named(site):
    done = site.run("run", "--", "true", env={"LOCKSTEP_HOME": "/proc/no-home"})
    assert done.returncode == 125 and b"set LOCKSTEP_HOME to use another directory" in done.stderr, done.stderr


def test_a_home_that_may_not_be_read_is_not_called_empty(site):
    site.up(1)
    stranger = Site(site.directory)
    if os.geteuid() == 0:
        stranger.user = "nobody"
    mode = 0o700 if os.geteuid() == 0 else 0
    site.home.chmod(mode)
    try:
        done = stranger.run("status")
    finally:
        site.home.chmod(0o755)
    assert done.returncode == 1 and b"not running" not in done.stdout
    assert b"Permission denied" in done.stderr and b"only the account that owns this home" in done.stderr
