"""A shell, a program, a signal and stacks in ranks that run, and runs whose rank 0 has this terminal or standard
input (decision 078), with real daemons that are killed meanwhile. test_two_users has what others may not, also in
containers; unit tests lose, double and hold up every frame.

LOCKSTEP_ATTACH_LONG=1 (scripts/check): 200 shells at once, and a client that is killed.
"""
import fcntl
import hashlib
import json
import os
import re
import signal
import struct
import subprocess
import termios
import threading
import time

import pytest
from harness.first_screen import Watched
from harness.screen import OnATerminal
from harness.site import DEADLINE_S, alive, wait_until

IS_LONG = os.environ.get("LOCKSTEP_ATTACH_LONG") == "1"
MEGABYTE = 1 << 20
SHARE = ("--cpus", "1", "--memory", "256m", "--gpus", "0")
SILENCE_S = 60  # of a client; its attachment is ended then


@pytest.fixture
def held(site):
    """A site with four nodes, and a job with a rank on two of them that runs until it is canceled."""
    site.up(4)
    site.submit("--name", "held", "-N", "2", *SHARE, "--", "sleep", "3000")
    site.wait_for_status("held", "Running")
    yield site
    site.run("job", "cancel", "held")
    site.wait_for_status("held", "Canceled")


class Typed(OnATerminal):
    """A command on a terminal whose keys are pressed here."""

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for_text(self, pattern):
        """Reads until the pattern comes; what came is forgotten up to its end."""
        found = []

        def came():
            goes_on = self._read()
            found[:] = [m for m in [re.search(pattern.encode(), self.seen)] if m]
            assert goes_on or found, f"{pattern}: {self.seen}"
            return found
        wait_until(came, f"{pattern} on the terminal: {self.seen[-2000:]}")
        self.seen = self.seen[found[0].end():]
        return found[0]

    def is_raw(self):
        return not termios.tcgetattr(self.terminal)[3] & (termios.ICANON | termios.ECHO)

    def resize(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def shell(site, *words, data=b"", timeout=DEADLINE_S):
    """`job shell` without a terminal, with this standard input."""
    return subprocess.run(site._argv(("job", "shell", *words)), cwd=site.work, env=site.environment(), input=data,
                          capture_output=True, timeout=timeout, check=False)


def processes_with(word):
    """Pids of all processes with this word in their command line."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            words = open(f"/proc/{entry}/cmdline", "rb").read().split(b"\0") if entry.isdigit() else []
        except OSError:
            continue
        if word.encode() in words and alive(int(entry)):
            found.append(int(entry))
    return found


# ---- at a terminal -----------------------------------------------------------------------------

def test_a_shell_at_a_terminal_is_one_as_ssh_has_it(held):
    terminal = Typed(held, "job", "shell", "held")
    terminal.wait_for_text("attached to rank 0 of held on local-[0-3]")
    terminal.type("PS1='> '; stty size; tty -s && echo it is one; echo rank=$LOCKSTEP_RANK\r")
    terminal.wait_for_text("30 100\r\n")
    terminal.wait_for_text("it is one\r\n")
    terminal.wait_for_text("rank=0\r\n")
    assert terminal.is_raw()
    terminal.resize(40, 120)
    terminal.type("stty size\r")
    wait_until(lambda: (terminal.type("stty size\r"), terminal._read(), b"40 120\r\n" in terminal.seen)[-1],
               "the size is passed on")
    terminal.type("sleep 1234; echo code=$?\r")
    wait_until(lambda: processes_with("1234"), "it sleeps")
    terminal.type("\x03")
    wait_until(lambda: not processes_with("1234"), "Ctrl-C goes to the foreground program")
    terminal.type("\recho two=$((1+1))\r")
    terminal.wait_for_text("two=2\r\n")
    terminal.type("exit 7\r")
    wait_until(lambda: not terminal._read(), "it ends")
    assert not terminal.is_raw(), "the terminal is as it was"
    assert terminal.exit_code() == 7


def test_a_hung_session_is_left_and_leaves_nothing(held):
    terminal = Typed(held, "job", "shell", "held")
    terminal.wait_for_text("attached to rank 0")
    terminal.type("setsid sleep 4321 & sleep 4322\r")
    wait_until(lambda: processes_with("4321") and processes_with("4322"), "both sleep")
    terminal.type("\r~.")
    wait_until(lambda: not terminal._read(), "it ends")
    assert not terminal.is_raw()
    assert terminal.exit_code() == 125
    assert b"left held" in terminal.seen
    wait_until(lambda: not processes_with("4321") + processes_with("4322"), "what ran in it is gone")


@pytest.mark.parametrize("sig,code", [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_terminal_is_as_before_after_a_signal(held, sig, code):
    terminal = Typed(held, "job", "shell", "held")
    terminal.wait_for_text("attached to rank 0")
    wait_until(terminal.is_raw, "it is raw")
    os.kill(terminal.pid, sig)
    wait_until(lambda: not terminal._read(), "it ends")
    assert not terminal.is_raw()
    assert terminal.exit_code() == code


# ---- without one -------------------------------------------------------------------------------

def test_a_program_has_its_streams_and_its_code(held):
    directory = os.readlink(f"/proc/{held.rank_pids('held')[0]}/cwd")
    done = shell(held, "held", "--", "sh", "-c", "echo out; echo err >&2; pwd; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, f"out\n{directory}\n".encode(), b"err\n")
    assert shell(held, "held", "--rank", "1", "--", "sh", "-c", "echo $LOCKSTEP_RANK").stdout == b"1\n"
    nodes = {node: shell(held, "held", "--node", node, "--", "sh", "-c", "echo $LOCKSTEP_RANK").stdout
             for node in (part["node_name"] for part in held.show("held")["attempts"][0]["parts"])}
    assert sorted(nodes.values()) == [b"0\n", b"1\n"]
    for script, code in (("kill -9 $$", 137), ("kill -TERM $$", 143), ("true", 0), ("exit 255", 255)):
        assert shell(held, "held", "--", "sh", "-c", script).returncode == code, script
    assert shell(held, "held", "--", "no-such-program").returncode == 127
    held.write("plain", "not executable\n")
    assert shell(held, "held", "--", held.work / "plain").returncode == 126
    assert shell(held, "held", data=b"echo from-a-script $((6*7))\n").stdout == b"from-a-script 42\n"
    assert shell(held, "held", "--", "wc", "-c", data=b"x" * 1000).stdout.split() == [b"1000"]
    assert shell(held, "held", "--", "printf", "%s|", "a b", "", "'\"$x", "\n").stdout == b"a b||'\"$x|\n|"
    assert shell(held, "held", "--", "sh", "-c", "exec 0<&-; sleep 0.5; echo on", data=b"x" * MEGABYTE).stdout == b"on\n"


def test_what_cannot_be_attached_to_says_why(held):
    held.ok("run", "--name", "over", *SHARE, "--", "true")
    held.submit("--name", "waits", *SHARE, "--after", "held", "--", "true")
    held.write("line.yml", "type: pipeline\nname: line\njobs:\n  a: {type: command, command: sleep 3000}\n")
    held.ok("job", "create", "-f", "line.yml")
    cases = [
        (("nobody", "--", "true"), 125, "nobody"),
        (("over", "--", "true"), 125, "over has ended (Completed)"),
        (("waits", "--", "true"), 125, "waits is Queued, so it has no ranks yet"),
        (("line", "--", "true"), 125, "line has no ranks of its own; name one of its steps"),
        (("held", "--rank", "2", "--", "true"), 2, "held has no rank 2; its ranks are 0 to 1"),
        (("held", "--node", "2", "--", "true"), 2, "held has no node 2"),
        (("held", "--node", "elsewhere", "--", "true"), 2, "elsewhere"),
        (("held", "-t", "--", "true"), 2, "-t needs a terminal"),
        (("held", "--main"), 2, "lockstep.terminal"),
        (("held", "--", "x" * 70_000), 2, "job shell"),
        (("held", "--", ""), 2, "job shell"),
        (("held", "true"), 2, "write the command after --"),
    ]
    for words, code, why in cases:
        done = shell(held, *words)
        assert done.returncode == code and why in done.stderr.decode() and not done.stdout, (words, done)
    held.ok("job", "cancel", "waits", "line")
    for verb in ("signal", "stacks"):
        words = ("USR1",) if verb == "signal" else ()
        done = held.run("job", verb, "over", *words)
        assert done.returncode == 1 and b"has ended" in done.stderr, done
        assert held.run("job", verb, "held", *words, "--rank", "9").returncode == 2


def test_signals_reach_the_program_and_the_second_one_leaves(held):
    script = "trap 'echo got; exit 9' INT; echo up; while :; do sleep 0.05; done"
    child = held.start("job", "shell", "held", "--", "sh", "-c", script)
    assert child.stdout.readline() == b"up\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=DEADLINE_S)
    assert (out, child.returncode) == (b"got\n", 9)

    child = held.start("job", "shell", "held", "--", "sh", "-c", "trap '' INT; echo up; sleep 5432")
    assert child.stdout.readline() == b"up\n"
    child.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert child.poll() is None and processes_with("5432"), "it ignores the first one"
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=DEADLINE_S)
    assert child.returncode == 130
    wait_until(lambda: not processes_with("5432"), "what ran in it is gone")


def test_a_closed_input_is_an_end_of_input(held):
    for words in (["job", "shell", "held", "--", "cat"], ["run", "-q", "--stdin", "--", "cat"]):
        done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *map(str, held._argv(words))], cwd=held.work,
                              env=held.environment(), capture_output=True, timeout=DEADLINE_S, check=False)
        assert (done.returncode, done.stdout) == (0, b""), done


def test_a_closed_output_ends_it(held):
    child = held.start("job", "shell", "held", "--", "yes", "6543")
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(timeout=DEADLINE_S) == 141
    child.stderr.close()
    wait_until(lambda: not processes_with("6543"), "its program is gone")


def test_the_job_takes_its_shells_along(site):
    site.up(1)
    site.submit("--name", "short", *SHARE, "--", "sleep", "3000")
    site.wait_for_status("short", "Running")
    child = site.start("job", "shell", "short", "--", "sh", "-c", "setsid sleep 7654 & echo up; sleep 7655")
    assert child.stdout.readline() == b"up\n"
    site.ok("job", "cancel", "short")
    _, err = child.communicate(timeout=DEADLINE_S)
    assert child.returncode in (125, 129, 137, 143), (child.returncode, err)
    assert site.wait_for_status("short", "Canceled")
    assert not processes_with("7654") + processes_with("7655")


def test_a_shell_names_how_to_start_a_launcher_that_was_killed(site):
    site.up(1)
    site.submit("--name", "alone", *SHARE, "--", "sleep", "3000")
    site.wait_for_status("alone", "Running")
    shell_ = Watched(site, "job", "shell", "alone", "--", "sh", "-c", "echo up; sleep 7656")
    shell_.wait_until(lambda: shell_.said["out"] == b"up\n", "it runs")
    site.kill(site.launcher_pids())
    shell_.wait_for("the launcher has ended.*`lockstep up` starts it again")
    site.up(1)
    site.ok("job", "cancel", "alone")
    said = shell_.end().stderr
    assert b"`lockstep up` starts it again" in said, said
    site.wait_for_status("alone", "Canceled")


# ---- many bytes, and daemons that are killed ---------------------------------------------------

class Transfer:
    """`job shell held -- cat`, with bytes that go on when the test says so."""

    def __init__(self, site, megabytes):
        self.data = os.urandom(MEGABYTE) * megabytes
        self.child = site.start("job", "shell", "held", "--rank", "1", "--", "cat", stdin=subprocess.PIPE)
        self.go_on, self.read, self.digest = threading.Event(), 0, hashlib.sha256()
        self.threads = [threading.Thread(target=self._write), threading.Thread(target=self._read)]
        for thread in self.threads:
            thread.start()

    def _write(self):
        half = len(self.data) // 2
        try:
            self.child.stdin.write(self.data[:half])
            self.go_on.wait(DEADLINE_S)
            self.child.stdin.write(self.data[half:])
            self.child.stdin.close()
        except BrokenPipeError:
            pass  # its exit code tells

    def _read(self):
        while piece := self.child.stdout.read1(MEGABYTE):
            self.read += len(piece)
            self.digest.update(piece)

    def finish(self):
        self.go_on.set()
        for thread in self.threads:
            thread.join(2 * DEADLINE_S)
        error = self.child.stderr.read()
        assert self.child.wait(timeout=DEADLINE_S) == 0, error
        assert self.read == len(self.data), error
        assert self.digest.digest() == hashlib.sha256(self.data).digest()


def test_a_hundred_megabytes_go_both_ways(held):
    transfer = Transfer(held, 100)
    transfer.finish()


@pytest.mark.parametrize("daemon", ["launcher", "agents"])
def test_a_transfer_goes_on_after_a_daemon_was_killed(held, daemon):
    transfer = Transfer(held, 24)
    wait_until(lambda: transfer.read > 4 * MEGABYTE, "bytes come")
    held.kill(held.launcher_pids() if daemon == "launcher" else held.agent_pids())
    transfer.go_on.set()
    held.ok("up", "--nodes", "4")
    transfer.finish()


def test_many_are_open_at_once(site):
    nodes, count = (4, 200) if IS_LONG else (1, 12)
    site.up(nodes)
    site.submit("--name", "held", "-N", str(nodes), "--", "sleep", "3000")
    site.wait_for_status("held", "Running")
    children = [site.start("job", "shell", "held", "--rank", str(i % nodes), "--", "cat", stdin=subprocess.PIPE)
                for i in range(count)]
    for i, child in enumerate(children):
        child.stdin.write(f"{i}\n".encode())
        child.stdin.flush()
    for i, child in enumerate(children):
        assert child.stdout.readline() == f"{i}\n".encode(), child.stderr.read()
    for child in children:
        assert child.communicate(timeout=DEADLINE_S)[0] == b"" and child.returncode == 0
    site.ok("job", "cancel", "held")
    site.wait_for_status("held", "Canceled")


def test_a_killed_client_leaves_nothing(held):
    child = held.start("job", "shell", "held", "--", "sh", "-c", "setsid sleep 8765 & echo up; sleep 8766")
    assert child.stdout.readline() == b"up\n"
    child.kill()
    child.communicate(timeout=DEADLINE_S)
    if IS_LONG:
        wait_until(lambda: not processes_with("8765") + processes_with("8766"), "its programs are gone",
                   SILENCE_S + 30)
    held.ok("job", "cancel", "held")
    held.wait_for_status("held", "Canceled")
    assert not processes_with("8765") + processes_with("8766")


# ---- signals and stacks ------------------------------------------------------------------------

def test_a_signal_reaches_the_ranks_that_it_is_for(site):
    site.up(2)
    script = "trap 'echo got $LOCKSTEP_RANK' USR1; echo up; while :; do sleep 0.05; done"
    site.submit("--name", "heard", "-N", "2", "--", "bash", "-c", script)
    wait_until(lambda: site.logs("heard", "--no-prefix").count(b"up\n") == 2, "both ranks run")
    done = site.ok("job", "signal", "heard", "--rank", "1", "SIGUSR1")
    assert re.fullmatch(r"sent SIGUSR1 to rank 1 on local-[0-3] of heard\n", done), done
    wait_until(lambda: b"got 1\n" in site.logs("heard", "--no-prefix"), "rank 1 has it")
    assert b"got 0\n" not in site.logs("heard", "--no-prefix")
    told = site.json("job", "signal", "@last", "10")
    assert told["sent"] and told["signal"] == {"name": "SIGUSR1", "number": 10}
    assert sorted(rank for node in told["nodes"] for rank in node["ranks"]) == [0, 1]
    wait_until(lambda: site.logs("heard", "--no-prefix").count(b"got") == 3, "both have it")
    told = [event["message"] for event in site.json("job", "events", "heard") if event["what"] == "Signaled"]
    assert len(told) == 3 and re.fullmatch(r"SIGUSR1 to rank 1, by \S+", told[0]), told
    wrong = site.run("job", "signal", "heard", "USR")
    assert wrong.returncode == 2 and b"did you mean USR" in wrong.stderr
    site.ok("job", "cancel", "heard")
    site.wait_for_status("heard", "Canceled")


TRAIN = """import os, time
def read(): time.sleep(3000)
def all_reduce(): time.sleep(3000)
def step(): read() if os.environ["LOCKSTEP_RANK"] == "1" else all_reduce()
step()
"""
# Says the same as py-spy, where that is not among the node's tools.
PY_SPY = """#!/bin/sh
[ "$1" = dump ] || exit 2
name=all_reduce line=3
[ "$LOCKSTEP_RANK" = 1 ] && name=read line=2
printf '[{"pid": 1, "thread_name": "MainThread", "os_thread_id": 1, "active": true, "owns_gil": true, "frames": ['
printf '{"name": "%s", "filename": "/w/train.py", "line": %s},' $name $line
printf '{"name": "step", "filename": "/w/train.py", "line": 4}]}]\\n'
"""


def test_stacks_group_the_ranks_and_name_the_one_that_differs(site):
    site.up(1)
    site.write("train.py", TRAIN)
    site.write("bin/py-spy", PY_SPY, mode=0o755)
    path = f"PATH={site.work}/bin:/usr/bin:/bin"
    site.submit("--name", "py", "-n", "4", "--env", path, "--", "python3", "train.py")
    site.wait_for_status("py", "Running")

    def read():
        text = site.run("job", "stacks", "py").stdout.decode()
        return "3 ranks" in text and "all_reduce" in text and text
    first, second = wait_until(read, "all ranks wait").splitlines()[:2]
    assert first.startswith("rank 1: read train.py:2 <- step train.py:4"), first
    assert second.startswith("3 ranks (0, 2–3): all_reduce train.py:3 <- step train.py:4"), second
    told = site.json("job", "stacks", "py", "--rank", "2")
    assert [group["ranks"] for group in told["groups"]] == [[2]] and told["unread"] == []
    site.ok("job", "cancel", "py")
    site.wait_for_status("py", "Canceled")


def test_stacks_of_a_c_program_have_its_functions(site):
    site.up(1)
    site.write("wait.c", "#include <unistd.h>\nvoid deep_inside(void) { for (;;) sleep(1000); }\n"
               "int main(void) { deep_inside(); return 0; }\n")
    subprocess.run(["cc", "-g", "-O0", "-o", site.work / "wait", site.work / "wait.c"], check=True)
    site.submit("--name", "c", "--", "./wait")
    site.wait_for_status("c", "Running")
    told = wait_until(lambda: (told := json.loads(site.run("job", "stacks", "c", "-o", "json").stdout))["groups"] and told,
                      "its stack is read")
    functions = [frame["function"] for frame in told["groups"][0]["processes"][0]["threads"][0]["frames"]]
    assert "deep_inside" in functions and "main" in functions, told
    site.ok("job", "cancel", "c")
    site.wait_for_status("c", "Canceled")


# ---- runs with a terminal or an input ----------------------------------------------------------

def test_run_pty_is_a_shell_as_a_job(site):
    site.up(1)
    terminal = Typed(site, "run", "--name", "mine", "--pty", "--", "bash", "--norc")
    wait_until(lambda: terminal._read() and terminal.is_raw(), "rank 0 has the terminal")
    terminal.type("stty size; echo it=$((6*7))\r")
    terminal.wait_for_text("30 100\r\n")
    terminal.wait_for_text("it=42\r\n")
    terminal.type("sleep 2345\r")
    wait_until(lambda: processes_with("2345"), "it sleeps")
    terminal.type("\x03")
    wait_until(lambda: not processes_with("2345"), "Ctrl-C goes to the program")
    terminal.type("exit 5\r")
    wait_until(lambda: not terminal._read(), "it ends")
    assert not terminal.is_raw()
    assert terminal.exit_code() == 5
    assert site.show("mine")["lockstep"]["terminal"] == "pty"
    assert b"it=42" in site.logs("mine"), "the log has it too"


def test_run_pty_shows_what_was_written_before_it_was_attached(site):
    site.up(1)
    terminal = Typed(site, "run", "--pty", "--", "echo", "said at once")
    wait_until(lambda: not terminal._read(), "it ends")
    assert terminal.exit_code() == 0 and b"said at once" in terminal.seen


def test_a_terminal_that_is_closed_cancels_its_job(site):
    site.up(1)
    terminal = Typed(site, "run", "--name", "gone", "--pty", "--", "bash", "--norc")
    wait_until(lambda: terminal._read() and terminal.is_raw(), "rank 0 has the terminal")
    os.close(terminal.terminal)
    os.waitpid(terminal.pid, 0)
    assert site.wait_for_status("gone", "Canceled")


def test_leaving_the_terminal_of_rank_0_cancels_its_job(site):
    site.up(1)
    terminal = Typed(site, "run", "--name", "left", "--pty", "--", "bash", "--norc")
    wait_until(lambda: terminal._read() and terminal.is_raw(), "rank 0 has the terminal")
    terminal.type("\r~.")
    wait_until(lambda: not terminal._read(), "it ends")
    assert terminal.exit_code() == 130
    assert site.wait_for_status("left", "Canceled")


def test_run_stdin_passes_a_pipe_to_rank_0(site):
    site.up(2)
    data = os.urandom(10 * MEGABYTE)
    (site.work / "data").write_bytes(data)
    site.write("empty/none", "")
    with open(site.work / "data", "rb") as source:
        done = site.run("run", "-q", "--stdin", "--code", "empty", "--", "sha256sum", stdin=source)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0].decode() == hashlib.sha256(data).hexdigest()
    script = 'if [ $LOCKSTEP_RANK = 0 ]; then wc -c; exit 3; fi; echo other; exec cat'
    with open(site.work / "data", "rb") as source:
        done = site.run("run", "--stdin", "--code", "empty", "-N", "2", "--", "sh", "-c", script, stdin=source)
    assert done.returncode == 3 and b"10485760" in done.stdout and b"| other" in done.stdout, done
    for words, why in ((("--pty",), "needs a terminal"), (("--stdin", "--detach"), "--detach"),
                       (("--stdin", "--array", "0-1"), "--array"), (("--stdin", "--retry", "1"), "--retry"),
                       (("--pty", "-o", "json"), "-o")):
        done = site.run("run", *words, "--", "true")
        assert done.returncode == 2 and why in done.stderr.decode(), (words, done)


def test_a_job_file_gives_rank_0_a_standard_input(site):
    site.up(1)
    site.write("job.yml", "name: asks\ncommand: read line; echo heard $line; exec sleep 3000\n"
               "lockstep: {terminal: stdin}\n")
    site.ok("job", "create", "-f", "job.yml")
    site.wait_for_status("asks", "Running")
    child = site.start("job", "shell", "asks", "--main", stdin=subprocess.PIPE)
    child.stdin.write(b"you\n")
    child.stdin.flush()
    wait_until(lambda: b"heard you\n" in site.logs("asks"), "rank 0 reads it")
    child.stdin.close()
    site.ok("job", "cancel", "asks")
    child.wait(timeout=DEADLINE_S)
    child.stdout.close()
    child.stderr.close()
    site.wait_for_status("asks", "Canceled")


# ---- who may -----------------------------------------------------------------------------------

def test_a_rank_reaches_no_other_job_and_not_its_childs(held):
    share = " ".join(SHARE)
    script = (f"lockstep run --detach --name kid {share} -- sleep 3000; "
              "until lockstep job show kid | grep -q Running; do sleep 0.2; done; for job in held kid; do "
              "for verb in shell stacks signal; do [ $verb = signal ] && word=KILL || word=; "
              "lockstep job $verb $job $word < /dev/null; echo $job $verb code=$?; done; done; lockstep job cancel kid")
    held.submit("--name", "spy", *SHARE, "--", "bash", "-c", script)
    held.wait_for_status("spy", "Completed", "Failed")
    said = held.logs("spy").decode()
    for job in ("held", "kid"):
        for verb, code in (("shell", 125), ("stacks", 1), ("signal", 1)):
            assert f"{job} {verb} code={code}\n" in said, said
    assert held.show("held")["status"] == "Running" and held.show("kid")["status"] == "Canceled"
    refused = [entry for entry in held.json("audit") if entry["outcome"] == "refused" and "kid" in json.dumps(entry)]
    assert len(refused) >= 3, "each refusal is in the audit"
