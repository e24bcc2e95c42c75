"""What fails, who is named first, and that nothing survives."""
import re
import signal
import time

import pytest

from harness.site import alive, wait_until


def start_gang(site, name, script, *words):
    return site.start("run", "-N", "2", "-n", "2", "--name", name, *words, "--", "sh", "-c", script)


def wait_for_ranks(site, name, count):
    return wait_until(lambda: len(r := site.rank_pids(name)) == count and r, f"{count} ranks of {name}")


def test_a_killed_rank_is_named_first_and_all_others_are_gone(any_site):
    any_site.up(2)
    gang = start_gang(any_site, "victim", "exec sleep 1000")
    ranks = wait_for_ranks(any_site, "victim", 4)
    any_site.kill([ranks[3]])
    begin = time.monotonic()
    wait_until(lambda: not any(alive(p) for p in ranks.values()), "all ranks are gone", 10)
    gone_s = time.monotonic() - begin
    _, err = gang.communicate(timeout=60)
    assert gang.returncode == 137, err
    assert b"rank 3" in err and b"9" in err, err
    assert gone_s < 5, gone_s
    report = any_site.show("victim")["report"]
    assert report["rank"] == 3 and sorted(report["terminated_ranks"]) == [0, 1, 2]


def test_a_rank_that_ended_early_is_shown_and_named(any_site):
    any_site.up(2)
    flag = any_site.directory / "flag"
    script = (f"[ $LOCKSTEP_RANK = 1 ] && exit 0; while [ ! -e {flag} ]; do sleep 0.02; done; "
              "[ $LOCKSTEP_RANK = 0 ] && echo a peer is gone >&2 && exit 1; sleep 600")
    any_site.submit("-N", "2", "-n", "2", "--name", "early", "--", "sh", "-c", script)
    wait_until(lambda: "rank 1: exited with code 0 at " in any_site.ok("job", "show", "early"), "rank 1 has ended")
    assert "rank 0: running" in any_site.ok("job", "show", "early")
    states = any_site.show("early")["attempts"][0]["parts"][0]["rank_states"]
    assert [state["state"] for state in states] == ["Running", "Exited"], states
    assert states[1]["exit_code"] == 0 and states[1]["ended"], states
    flag.touch()
    any_site.wait_for_status("early", "Failed")
    said = any_site.run("job", "stream", "-q", "early").stderr.decode()
    assert re.search(r" before it, rank 1 on local-[01] had exited with code 0\n", said), said
    parts = any_site.show("early")["attempts"][0]["parts"]
    states = [state["state"] for part in parts for state in part["rank_states"]]
    assert states == ["Exited", "Exited", "Terminated", "Terminated"], parts
    shown = any_site.ok("job", "show", "early")
    assert "rank 0: exited with code 1 at " in shown and "rank 2: terminated" in shown, shown


def test_a_crash_says_where_if_the_job_asks_for_it(site):
    """Where the kernel puts core files, and whether a node has a debugger, is this machine's matter: one of the stack
    and a note is there."""
    site.up(1)
    done = site.run("run", "--", "sh", "-c", "kill -SEGV $$")
    assert done.returncode == 139 and b"--core backtrace" in done.stderr, done
    done = site.run("run", "--name", "where", "--core", "keep", "--", "sh", "-c", "kill -SEGV $$")
    assert done.returncode == 139 and b"--core backtrace" not in done.stderr, done
    report = site.show("where")["report"]
    note = re.search("note: .*core file of rank 0.*", site.ok("job", "show", "where"))
    assert note or report["backtrace"], report
    if note and "is kept" in note.group():
        assert "core.rank0" in site.ok("job", "files", "where")


def test_mpi_abort_gives_its_code(any_site):
    any_site.up(2)
    program = any_site.install_program("mpi_abort")
    done = any_site.run("run", "-N", "2", "-n", "2", "--distribution", "mpi", "--", program, "42")
    assert done.returncode == 42, done.stderr
    assert b"MPI_Abort" in done.stderr


def test_exit_zero_before_finalize_is_a_failure_that_says_so(any_site):
    any_site.up(2)
    program = any_site.install_program("mpi_exit_without_finalize")
    done = any_site.run("run", "-N", "2", "-n", "2", "--distribution", "mpi", "--", program)
    assert done.returncode not in (0, 125), done.stderr
    assert b"MPI_Finalize" in done.stderr, done.stderr


def test_a_rank_that_never_calls_mpi_init_is_named(any_site):
    any_site.up(1)
    program = any_site.install_program("mpi_hello")
    for silent in (0, 1):
        script = f'[ "$OMPI_COMM_WORLD_RANK" = {silent} ] && exit 0; exec {program}'
        done = any_site.run("run", "-n", "2", "--distribution", "mpi", "--", "sh", "-c", script)
        assert done.returncode not in (0, 125), done.stderr
        assert f"rank {silent}".encode() in done.stderr, done.stderr
        assert b"without connecting" in done.stderr, done.stderr


@pytest.mark.parametrize("first", ["silent", "joined"])
def test_a_rank_on_another_node_that_never_calls_mpi_init_is_named(any_site, first):
    """The others wait for it: from when its runner may be gone, or from before it ends."""
    any_site.up(2)
    program = any_site.install_program("mpi_hello")
    for silent in (0, 1):
        mark = f"{any_site.directory}/{first}-{silent}"
        wait, tell = f"until [ -e {mark} ]; do sleep 0.05; done", f"touch {mark}"
        before_exit, before_init = (tell, wait) if first == "silent" else (wait, tell)
        script = (f"[ $OMPI_COMM_WORLD_RANK = {silent} ] && {{ {before_exit}; exit 0; }}; "
                  f"{before_init}; exec {program}")
        done = any_site.run("run", "-N", "2", "-n", "1", "--distribution", "mpi", "--", "sh", "-c", script)
        assert done.returncode not in (0, 125), done.stderr
        assert f"rank {silent} (node".encode() in done.stderr, done.stderr
        assert b"without connecting" in done.stderr, done.stderr


def test_scripts_without_mpi_complete_under_mpi_over_nodes(any_site):
    any_site.up(2)
    plain = any_site.run("run", "-N", "2", "-n", "2", "--distribution", "mpi", "--", "sh", "-c",
                         "sleep 0.$OMPI_COMM_WORLD_RANK; echo plain")
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.count(b"plain") == 4, plain.stdout


def test_two_mpi_programs_in_a_row_complete_over_nodes(any_site):
    any_site.up(2)
    program = any_site.install_program("mpi_hello")
    twice = any_site.run("run", "-N", "2", "-n", "2", "--distribution", "mpi", "--", "sh", "-c",
                         f"{program} && exec {program}")
    assert twice.returncode == 0, twice.stderr
    assert twice.stdout.count(b" of 4") == 8, twice.stdout


def test_out_of_memory_is_called_so(site):
    site.up(1)
    if "cgroup" not in site.json("node", "show", "local-0")["inventory"]["isolation"]:
        pytest.skip("no cgroup is writable: memory is not limited")
    site.write("oom.yml", "name: oom\ncommand: python3 -c \"x = bytearray(400_000_000); print(len(x))\"\n"
               "lockstep: {resources: {memory: 100m}, retry: {max: 0}}\n")
    done = site.run("job", "create", "-f", "oom.yml", "--stream")
    assert done.returncode == 137, done.stderr
    assert b"memory" in done.stderr, done.stderr


def test_a_rank_that_ignores_sigterm_and_its_daemons_are_gone_after_cancel(any_site):
    any_site.up(1)
    script = ("trap '' TERM; "
              "setsid sh -c 'trap \"\" TERM; (sleep 4321 & sleep 4321) & wait' & "
              "(setsid setsid sleep 4321 &) ; echo ready; while :; do sleep 1; done")
    name = any_site.submit("--name", "stubborn", "--", "sh", "-c", script)
    wait_until(lambda: b"ready" in any_site.logs(name), "the rank is ready")
    any_site.ok("job", "cancel", name)
    any_site.wait_for_status(name, "Canceled", deadline_s=40)
    wait_until(lambda: not any_site.rank_pids(name), "no process of the job", 5)


def test_ctrl_c_cancels_and_exits_130(any_site):
    any_site.up(2)
    gang = start_gang(any_site, "interrupted", "exec sleep 1000")
    ranks = wait_for_ranks(any_site, "interrupted", 4)
    gang.send_signal(signal.SIGINT)
    _, err = gang.communicate(timeout=60)
    assert gang.returncode == 130, err
    assert not any(alive(p) for p in ranks.values())
    assert any_site.show("interrupted")["status"] == "Canceled"


def test_ctrl_c_in_stream_detaches_and_the_job_goes_on(any_site):
    any_site.up(1)
    name = any_site.submit("--", "sh", "-c", "echo begin; while [ ! -e /tmp/ls-e2e-go ]; do sleep 0.1; done")
    stream = any_site.start("job", "stream", name)
    assert stream.stdout.readline().endswith(b"begin\n")
    stream.send_signal(signal.SIGINT)
    _, err = stream.communicate(timeout=30)
    assert name.encode() in err, err
    assert any_site.show(name)["status"] == "Running"
    any_site.ok("job", "cancel", name)
    any_site.wait_for_status(name, "Canceled")


def test_the_last_stderr_lines_are_in_the_report(any_site):
    any_site.up(1)
    done = any_site.run("run", "--", "sh", "-c", "echo 'the cause of it all' >&2; exit 7")
    assert done.returncode == 7
    assert done.stderr.count(b"the cause of it all") >= 1
    job = any_site.json("job", "list")[0]
    report = any_site.show(job["name"])["report"]
    assert "the cause of it all" in report["stderr_tail"]
    assert report["exit_code"] == 7 and report["cause"] == "exit_code"


SAVES = """
import os, signal, sys, time
rank = int(os.environ["RANK"])
def save(*_):
    for i in range(12):
        print("saving", i, flush=True)
        time.sleep(0.2)
    sys.exit(0)
if rank == 0:
    signal.signal(signal.SIGTERM, save)
open("outputs/ready", "w").close()
print("ready", flush=True)
time.sleep(1)
if rank == 1 and sys.argv[1] == "fails":
    sys.exit(3)
time.sleep(1000)
"""


def test_one_grace_for_all_ends_on_two_nodes(any_site):
    """A rank that saves for 2.4 s after SIGTERM, while the other node's has ended at once."""
    any_site.up(2)
    any_site.write("saves.py", SAVES)
    for how, words in (("times-out", ("--timeout", "2s")), ("fails", ())):
        name = any_site.submit("-N", "2", "--name", how, "--distribution", "pytorch", *words, "--",
                               "/usr/bin/python3", "saves.py", how)
        job = any_site.wait_for_status(name, "Failed")
        assert b"saving 11" in any_site.logs(name), any_site.logs(name)
        told = any_site.ok("job", "events", name) + any_site.ok("job", "explain", name)
        assert "nobody" not in told, told
        assert job["report"]["cause"] == ("timeout" if how == "times-out" else "exit_code"), job["report"]


WARNED = """
import signal, sys, time
began = time.monotonic()
def warned(*_):
    print(f"warned after {time.monotonic() - began:.1f} s", flush=True)
    sys.exit(0)
signal.signal(signal.SIGUSR1, warned)
time.sleep(1000)
"""


def test_a_job_gets_its_early_signal_and_may_end_before_its_time_limit(site):
    """The shell around it does not handle the signal, so it does not get it."""
    site.up(1)
    site.write("warned.py", WARNED)
    done = site.run("run", "--timeout", "8s", "--signal", "USR1@4s", "--", "sh", "-c",
                    "/usr/bin/python3 warned.py; echo went on after $?")
    assert done.returncode == 0, done
    assert b"warned after " in done.stdout and b"went on after 0" in done.stdout, done
