"""Logs under force: every byte once, bounded on every side, whoever is away; and what is said of it."""
import datetime
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest
from harness.site import wait_until

# Writes its share as fast as it can, in bursts, and leaves what it wrote (a digest) as a witness.
BURSTS = r"""
import hashlib, os, sys
size, witness = int(sys.argv[1]), sys.argv[2]
rank = int(os.environ["LOCKSTEP_RANK"])
digest, written, number = hashlib.sha256(), 0, 0
while written < size:
    burst = b"".join(b"rank %03d line %08d " % (rank, number + i) + b"x" * 74 + b"\n" for i in range(200))
    number += 200
    digest.update(burst)
    view = memoryview(burst)
    while view:
        view = view[os.write(1, view):]
    written += len(burst)
    with open(f"{witness}/{rank}.progress", "w") as file:
        file.write(str(written))
with open(f"{witness}/{rank}", "w") as file:
    file.write(digest.hexdigest())
"""


def make_witness(site):
    witness = site.directory / "witness"
    witness.mkdir()
    witness.chmod(0o777)
    return witness


def start_bursts(site, name, ranks, size):
    site.write("bursts.py", BURSTS)
    witness = make_witness(site)
    site.submit("-N", "1", "-n", str(ranks), "--name", name, "--",
                "/usr/bin/python3", "bursts.py", str(size), witness)
    return witness


def log_of(site, name, rank, stream="stdout"):
    return site.home / "launcher" / "logs" / name / "1" / f"rank_{rank}.{stream}"


def check_bytes(site, name, ranks, witness):
    for rank in range(ranks):
        digest = hashlib.sha256(log_of(site, name, rank).read_bytes()).hexdigest()
        assert digest == (witness / str(rank)).read_text(), f"rank {rank}"


def progress(witness):
    total = 0
    for path in witness.glob("*.progress"):
        total += int(path.read_text() or 0)
    return total


def resident_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) / 1024


def whats(site, name):
    return [event["what"] for event in site.json("job", "events", name)]


@pytest.mark.parametrize("fate", ["launcher-stopped", "launcher-killed", "agent-killed"])
def test_bursts_of_sixteen_ranks_arrive_byte_for_byte(any_site, fate):
    any_site.up(1)
    witness = start_bursts(any_site, "bursts", 16, 3_000_000)
    wait_until(lambda: progress(witness) > 2_000_000, "they write")
    if fate == "launcher-stopped":
        pids = any_site.launcher_pids()
        any_site.kill(pids, signal.SIGSTOP)
        try:
            wait_until(lambda: progress(witness) >= 16 * 3_000_000, "they go on into the spool")
        finally:
            any_site.kill(pids, signal.SIGCONT)
    else:
        launcher = fate == "launcher-killed"
        any_site.kill(any_site.launcher_pids() if launcher else any_site.agent_pids())
        any_site.up(1)
    any_site.wait_for_status("bursts", "Completed")
    check_bytes(any_site, "bursts", 16, witness)
    assert len(any_site.show("bursts")["attempts"]) == 1


def spool_bytes(site, name):
    directory = next(site.home.rglob(f"{name}.1/logs"))
    return sum(p.stat().st_blocks * 512 for p in directory.iterdir() if not p.name.endswith(".times"))


def test_at_the_spools_bound_the_ranks_wait_and_go_on_by_themselves(any_site):
    any_site.ok("up", "--nodes", "1", env={"LOCKSTEP_LOG_SPOOL": "4m"})
    pids = any_site.launcher_pids()
    site_witness = start_bursts(any_site, "bound", 4, 5_000_000)
    wait_until(lambda: progress(site_witness) > 100_000, "they write")
    any_site.kill(pids, signal.SIGSTOP)
    try:
        def still():
            before = progress(site_witness)
            runner = any_site.runner_pids("bound")[0]
            # Blocked: every rank sleeps in write(2) on its pipe, and the runner has said why.
            log = next(any_site.home.rglob("bound.1/runner.log")).read_text()
            return "is paused: the launcher has not yet stored" in log and progress(site_witness) == before and runner
        wait_until(still, "the ranks wait")
        assert progress(site_witness) < 4 * 5_000_000
        assert spool_bytes(any_site, "bound") < 7 << 20
    finally:
        any_site.kill(pids, signal.SIGCONT)
    any_site.wait_for_status("bound", "Completed")
    check_bytes(any_site, "bound", 4, site_witness)
    assert "LogsWait" in whats(any_site, "bound")
    assert "LogsGoOn" in whats(any_site, "bound")


def test_the_bound_holds_and_is_said_while_the_agent_is_dead(site):
    site.ok("up", "--nodes", "1", env={"LOCKSTEP_LOG_SPOOL": "2m"})
    witness = start_bursts(site, "alone", 2, 5_000_000)
    wait_until(lambda: progress(witness) > 100_000, "they write")
    site.kill(site.agent_pids())
    wait_until(lambda: "is paused: the launcher has not yet stored" in
               next(site.home.rglob("alone.1/runner.log")).read_text(), "the ranks wait")
    assert progress(witness) < 2 * 5_000_000
    site.ok("up", "--nodes", "1")
    site.wait_for_status("alone", "Completed")
    check_bytes(site, "alone", 2, witness)


def test_a_job_canceled_while_its_ranks_wait_ends_in_its_grace_time(site):
    site.ok("up", "--nodes", "1", env={"LOCKSTEP_LOG_SPOOL": "1m"})
    pids = site.launcher_pids()
    witness = start_bursts(site, "stuck", 2, 50_000_000)
    wait_until(lambda: progress(witness) > 100_000, "they write")
    agents = site.agent_pids()
    site.kill(agents, signal.SIGSTOP)  # nothing is taken any more, and the launcher still answers
    try:
        wait_until(lambda: "is paused: the launcher has not yet stored" in
                   next(site.home.rglob("stuck.1/runner.log")).read_text(), "the ranks wait", 8)
    finally:
        site.kill(agents, signal.SIGCONT)
    site.ok("job", "cancel", "stuck")
    job = site.wait_for_status("stuck", "Canceled", deadline_s=30)
    assert pids == site.launcher_pids()
    assert job["attempts"][0]["report"]["cause"] == "canceled"
    for rank in range(2):
        lines = log_of(site, "stuck", rank).read_bytes().split(b"\n")
        for number, line in enumerate(lines[:-1]):
            assert line.startswith(b"rank %03d line %08d " % (rank, number)), number
    assert whats(site, "stuck")[-1] == "Finished"


def test_a_full_disk_blocks_the_rank_and_says_so(site):
    if os.getuid() != 0:
        pytest.skip("mounting needs root")
    nodes = site.home / "nodes"
    nodes.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "lockstep-e2e", nodes], check=True)
    try:
        site.up(1)
        site.write("wait.py", "import os, sys, time\n"
                   "print('ready', flush=True)\n"
                   "while not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
                   "for i in range(40_000): print('line', i)\n")
        flag, ballast = site.directory / "flag", nodes / "ballast"
        name = site.submit("-N", "1", "--name", "full", "--", "/usr/bin/python3", "wait.py", flag)
        wait_until(lambda: site.logs(name).count(b"ready") == 1, "the rank is there")
        with pytest.raises(OSError), open(ballast, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        flag.touch()
        waiting = wait_until(
            lambda: "No space left" in (job := site.show(name))["reason"] and job, "the reason is shown")
        assert waiting["status"] == "Running"
        assert "ranks wait: their output cannot be written to" in waiting["reason"]
        ballast.unlink()
        site.wait_for_status(name, "Completed")
        assert site.logs(name) == b"ready\n" + b"".join(b"line %d\n" % i for i in range(40_000))
        told = whats(site, name)
        assert told.index("LogsWait") < told.index("LogsGoOn") < told.index("Finished")
    finally:
        site.down()
        subprocess.run(["umount", nodes], check=True)


def test_a_follower_that_never_reads_costs_a_bounded_amount(site):
    site.up(1)
    stuck = site.start("job", "logs", "big", "-f")
    stuck.communicate()  # there is no such job yet
    witness = start_bursts(site, "big", 8, 25_000_000)
    wait_until(lambda: progress(witness) > 100_000, "they write")
    before = resident_mb(site.launcher_pids()[0])
    readers = [site.start("job", "stream", "big", "-q") for _ in range(3)]
    wait_until(lambda: readers[0].stdout.read1(10), "they follow")
    for reader in readers[:2]:  # one is stopped at once, one has a full pipe that nobody reads
        os.kill(reader.pid, signal.SIGSTOP)
    try:
        site.wait_for_status("big", "Completed")
        check_bytes(site, "big", 8, witness)
        assert resident_mb(site.launcher_pids()[0]) < before + 64
        assert resident_mb(readers[2].pid) < 64
    finally:
        for reader in readers:
            reader.kill()
            reader.communicate()


def test_an_empty_log_says_why(site):
    site.up(1)
    site.run("run", "--name", "gone", "--", "no-such-program")
    done = site.run("job", "logs", "gone")
    assert done.stdout == b"" and b"gone has no logs: " in done.stderr and b"not found" in done.stderr, done
    [node] = site.json("node", "list")
    site.ok("node", "drain", node["name"])
    site.ok("run", "--detach", "--wait-anyway", "--name", "later", "--", "true")
    done = site.run("job", "logs", "later")
    assert done.stdout == b"" and b"later is Queued and has no logs yet" in done.stderr, done
    assert f"`lockstep node resume {node['name']}`".encode() in done.stderr, done
    site.ok("node", "resume", node["name"])
    site.wait_for_status("later", "Completed")
    done = site.run("job", "logs", "later")
    assert done.stdout == b"" and b"the ranks of later wrote nothing" in done.stderr, done


def test_a_single_ranks_bytes_are_exact(any_site):
    any_site.up(1)
    any_site.write("binary.py", "import sys\n"
                   "data = bytes(range(256)) * 500 + b'\\x1b[2J\\x00\\xff\\xfe no newline'\n"
                   "sys.stdout.buffer.write(data); sys.stdout.flush(); sys.stderr.buffer.write(data[::-1])\n")
    data = bytes(range(256)) * 500 + b"\x1b[2J\x00\xff\xfe no newline"
    done = any_site.run("run", "-q", "--name", "binary", "--", "/usr/bin/python3", "binary.py")
    assert done.stdout == data and done.stderr == data[::-1] and done.returncode == 0
    assert any_site.run("job", "logs", "binary", "--rank", "0", "--stdout").stdout == data
    assert log_of(any_site, "binary", 0).read_bytes() == data


def test_lines_of_ranks_never_mix_and_a_long_one_is_marked(site):
    site.up(1)
    site.write("mix.py", "import os, sys\n"
               "rank = os.environ['LOCKSTEP_RANK']\n"
               "if rank == '0':\n"
               "    sys.stdout.write('L' * 10_000_000 + '\\n')\n"
               "else:\n"
               "    for i in range(20_000): print(f'rank {rank} line {i}')\n")
    done = site.run("run", "-q", "-n", "3", "--name", "mix", "--", "/usr/bin/python3", "mix.py")
    assert done.returncode == 0
    mine = {"0": b"", "1": [], "2": []}
    for line in done.stdout.splitlines():
        match = re.fullmatch(rb"local-0:(\d) ([|+]) (.*)", line)
        assert match, line[:80]
        rank = match.group(1).decode()
        if rank == "0":
            assert (match.group(2) == b"+") == bool(mine["0"]), "the rest of a line is marked"
            mine["0"] += match.group(3)
        else:
            mine[rank].append(match.group(3).decode())
    assert mine["0"] == b"L" * 10_000_000
    for rank in ("1", "2"):
        assert mine[rank] == [f"rank {rank} line {i}" for i in range(20_000)]


TIMED = """
import os, sys, time
rank = os.environ["LOCKSTEP_RANK"]
print(f"rank {rank} early alpha", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
print(f"rank {rank} late beta", flush=True)
print(f"rank {rank} late ERROR 17", file=sys.stderr, flush=True)
"""


def test_since_grep_tail_and_timestamps(site):
    site.up(1)
    site.write("timed.py", TIMED)
    flag = site.directory / "flag"
    name = site.submit("-N", "1", "-n", "2", "--name", "timed", "--", "/usr/bin/python3", "timed.py", flag)
    wait_until(lambda: site.logs(name).count(b"early") == 2, "the first lines")
    followed = site.start("job", "logs", name, "-f", "--grep", "beta|ERROR")
    # Times are exact to a quarter of a second: the instant between lies in the middle of two.
    first = datetime.datetime.now(datetime.timezone.utc)
    wait_until(lambda: (datetime.datetime.now(datetime.timezone.utc) - first).total_seconds() > 1.2,
               "time passes")
    between = (first + datetime.timedelta(seconds=0.6)).isoformat(timespec="milliseconds")
    flag.touch()
    site.wait_for_status(name, "Completed")
    late = sorted(site.ok("job", "logs", name, "--since", between, "--stdout").splitlines())
    assert late == ["local-0:0 | rank 0 late beta", "local-0:1 | rank 1 late beta"]
    assert site.logs(name, "--since", "1h", "--rank", "1", "--stdout").splitlines() == [
        b"rank 1 early alpha", b"rank 1 late beta"]
    assert site.logs(name, "--since", "2200-01-01T00:00:00Z") == b""
    done = site.run("job", "logs", name, "--rank", "0", "--grep", "^rank 0 late (beta|ERROR \\d+)$")
    assert (done.stdout, done.stderr) == (b"rank 0 late beta\n", b"rank 0 late ERROR 17\n")
    out, err = followed.communicate(timeout=60)
    assert sorted(out.splitlines()) == [b"local-0:0 | rank 0 late beta", b"local-0:1 | rank 1 late beta"]
    assert len(err.splitlines()) == 2
    stamped = site.ok("job", "logs", name, "--rank", "1", "--stdout", "-t").splitlines()
    times = []
    for line, text in zip(stamped, ["rank 1 early alpha", "rank 1 late beta"], strict=True):
        time, _, rest = line.partition(" ")
        assert rest == text
        times.append(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")))
    assert times[0] < first + datetime.timedelta(seconds=0.3) < times[1]
    # Who of the two was first is the clock's word, and the tests below ask for it.
    last = site.ok("job", "logs", name, "--tail", "1", "--stdout", "--no-prefix").splitlines()
    assert sorted(last) == ["rank 0 late beta", "rank 1 late beta"]
    streamed = site.run("job", "stream", name, "-q", "--rank", "1", "--since", between)
    assert streamed.stdout == b"rank 1 late beta\n"
    for words in (("--grep", "("), ("--since", "soon"), ("--rank", "2")):
        for verb in ("logs", "stream"):
            refused = site.run("job", verb, name, *words)
            assert refused.returncode == 2 and refused.stderr.startswith(b"lockstep: job " + verb.encode())


# Each line of all ranks and streams when its number is in the file.
IN_TURN = """
import os, sys, time
rank, world = int(os.environ["LOCKSTEP_RANK"]), int(os.environ["LOCKSTEP_WORLD_SIZE"])
for turn in range(4):
    for place, stream in enumerate((sys.stdout, sys.stderr)):
        number = (turn * world + rank) * 2 + place
        while int(open(sys.argv[1]).read()) < number:
            time.sleep(0.01)
        print(f"line {number}", file=stream, flush=True)
"""


def merged(site, *words):
    """Both streams of a command as one, as a terminal has them."""
    process = site.start(*words, stderr=subprocess.STDOUT)
    return process.communicate(timeout=60)[0].decode().splitlines()


def test_the_lines_of_an_ended_job_come_in_the_order_of_time(site):
    site.up(2)
    site.write("in_turn.py", IN_TURN)
    witness = make_witness(site)
    now, lines = witness / "now", list(range(32))
    now.write_text("-1")
    site.submit("-N", "2", "-n", "2", "--name", "turns", "--", "/usr/bin/python3", "in_turn.py", now)
    with open(site.directory / "seen", "wb") as seen:
        follower = site.start("job", "logs", "turns", "-f", stdout=seen, stderr=subprocess.STDOUT)
    for number in lines:  # the next line is printed when this one has been read, however slow the machine is
        (witness / "next").write_text(str(number))
        (witness / "next").rename(now)
        wait_until(lambda n=number: f"line {n}\n" in (site.directory / "seen").read_text(), f"line {number} is seen")
    site.wait_for_status("turns", "Completed")
    assert follower.wait(timeout=60) == 0
    for words in ((), ("-t",), ("--no-prefix",), ("--no-prefix", "-f")):
        printed = merged(site, "job", "logs", "turns", *words)
        assert [int(line.rsplit(" ", 1)[1]) for line in printed] == lines, (words, printed)
    one = merged(site, "job", "logs", "turns", "--rank", "1")
    assert [int(line.split()[1]) % 8 for line in one] == [2, 3] * 4, one
    stamped = [line.split(" | ")[1].split(" ")[0] for line in merged(site, "job", "logs", "turns", "-t")]
    assert stamped == sorted(stamped)
    streamed = merged(site, "job", "stream", "-q", "turns")
    assert [int(line.rsplit(" ", 1)[1]) for line in streamed] == lines, streamed


BAR = """
import sys
sys.stderr.write("loading\\n")
for state in range(200_000):
    sys.stderr.write(f"\\r{state:6} of 200000 [{'#' * 40}]")
sys.stderr.write("\\nboom\\n")
sys.exit(3)
"""


def test_off_a_terminal_a_progress_bar_is_a_state_a_second(site):
    site.up(1)
    site.write("bar.py", BAR)
    done = site.run("run", "-n", "1", "--name", "bar", "--", "/usr/bin/python3", "bar.py")
    assert done.returncode == 3 and len(done.stderr) < 8_000, done.stderr[:2000]
    said = done.stderr.decode()
    assert "loading\n" in said and said.count("199999 of 200000") == 2 and max(map(len, said.splitlines())) < 200, said
    report = said[said.index("its last lines on stderr"):]
    assert report.count("199999 of 200000") == 1 and "    | boom\n" in report, report
    again = site.run("job", "logs", "bar").stderr
    assert len(again) < 4_000 and again.endswith(b"\nboom\n") and b"199999 of 200000" in again, again
    tail = site.run("job", "logs", "bar", "--tail", "2").stderr.decode().splitlines()
    assert len(tail) == 2 and tail[0].lstrip().startswith("199999 of") and tail[1] == "boom", tail
    assert len(site.run("job", "logs", "bar", "--raw").stderr) > 10_000_000
    assert log_of(site, "bar", 0, "stderr").stat().st_size > 10_000_000


def test_events_tell_what_happened_in_order(any_site):
    any_site.up(1)
    any_site.write("fail.py", "import sys\nopen('outputs/f', 'w').write('x')\nsys.exit(3)\n")
    done = any_site.run("run", "-q", "--name", "told", "--", "/usr/bin/python3", "fail.py")
    assert done.returncode == 3
    events = any_site.json("job", "events", "told")
    order = [e["what"] for e in events if e["what"] != "Waits"]
    assert order[:2] == ["Submitted", "Placed"] and order[-1] == "Finished"
    assert {"OutputsCollected", "Ended"} < set(order)
    assert [e["time"] for e in events] == sorted(e["time"] for e in events)
    assert "rank 0" in events[-1]["message"] and events[-1]["message"].startswith("Failed")
    table = any_site.ok("job", "events", "told")
    assert table.splitlines()[0].split() == ["TIME", "ATTEMPT", "NODE", "WHAT", "MESSAGE"]
    before = events
    any_site.kill(any_site.launcher_pids())
    any_site.up(1)
    facts = [e for e in any_site.json("job", "events", "told") if e["what"] != "Waits"]
    assert facts == [e for e in before if e["what"] != "Waits"], "they survive a restart"
    missing = any_site.run("job", "events", "nothing")
    assert missing.returncode == 1 and b"there is no job 'nothing'" in missing.stderr


def test_events_are_followed_to_the_end(site):
    site.up(1)
    flag = site.directory / "flag"
    name = site.submit("-N", "1", "--name", "followed", "--", "sh", "-c",
                       f"while [ ! -e {flag} ]; do sleep 0.05; done")
    site.wait_for_status(name, "Running")
    follower = site.start("job", "events", name, "-f", "-o", "json", bufsize=0)
    seen = [json.loads(follower.stdout.readline())]
    while seen[-1]["what"] != "Running":
        seen.append(json.loads(follower.stdout.readline()))
    flag.touch()
    out, err = follower.communicate(timeout=60)
    assert follower.returncode == 0, err
    seen += [json.loads(line) for line in out.splitlines()]
    assert seen == site.json("job", "events", name)
    assert seen[-1]["what"] == "Finished"


def test_a_slow_reader_says_nothing_about_the_launcher(site):
    """Time in which we were blocked writing to our own output is no silence of the launcher."""
    site.up(1)
    lines = 2_000_000
    followers = {"run": site.start("run", "-q", "-N", "1", "--name", "talks", "--", "seq", str(lines))}
    begun = {"run": os.read(followers["run"].stdout.fileno(), 1)}
    site.wait_for_status("talks", "Completed")
    followers["logs"] = site.start("job", "logs", "talks")
    followers["stream"] = site.start("job", "stream", "talks")
    for _ in range(2):  # nobody reads for longer than a launcher may be silent
        with pytest.raises(subprocess.TimeoutExpired):
            followers["logs"].wait(timeout=5)
        for word, follower in followers.items():
            begun[word] = begun.get(word, b"") + os.read(follower.stdout.fileno(), 1 << 16)
    whole = b"".join(b"%d\n" % i for i in range(1, lines + 1))
    for word, follower in followers.items():
        out, err = follower.communicate(timeout=60)
        assert follower.returncode == 0, (word, err)
        assert b"the launcher" not in err and b"did not arrive" not in err, (word, err)
        assert begun[word] + out == whole, word


def test_other_accounts_of_a_node_see_nothing_of_a_job(any_site):
    if os.getuid() != 0:
        pytest.skip("becoming another account needs root")
    any_site.up(1)
    name = any_site.submit("--name", "private", "--", "sh", "-c",
                           "umask 0; echo secret; echo secret > outputs/left; touch outputs/ready; sleep 600")
    attempts = any_site.home / "nodes" / "local-0" / "attempts"
    wait_until(lambda: list(attempts.glob(f"{name}.1/**/outputs/ready")), "the rank has written")
    log = attempts / f"{name}.1" / "logs" / "rank_0.stdout"
    wait_until(lambda: log.read_bytes() == b"secret\n", "its log is on the node")
    look = ("import os, sys\n"
            "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "for path in sys.argv[1:]:\n"
            "    try: print(os.listdir(path) if os.path.isdir(path) else open(path).read())\n"
            "    except PermissionError: print('refused')\n")
    places = [attempts, log.parent.parent, log, *attempts.glob(f"{name}.1/**/outputs/left")]
    assert len(places) > 3
    seen = subprocess.run(["/usr/bin/python3", "-c", look, *map(str, places)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    # isdir() of what cannot be reached is False, and open() refuses.
    assert seen.split() == ["refused"] * len(places), seen
    any_site.ok("job", "cancel", name)


# ---- environments --------------------------------------------------------------------------------

def test_the_log_of_an_environment_is_apart_from_the_ranks(site):
    site.up(2)
    site.ok("run", "-N", "2", "--name", "two", "--", "echo", "hello")
    nodes = [part["node_name"] for part in site.show("two")["attempts"][0]["parts"]]
    ranks = site.run("job", "stream", "-q", "two").stdout
    assert sorted(ranks.splitlines()) == sorted(f"{nodes[rank]}:{rank} | hello".encode() for rank in range(2))
    for rank in range(2):  # as its node would have sent it
        log_of(site, "two", rank).with_name(f"node_{rank}.environment").write_text(f"solve\nready {rank}\n")
    told = b"".join(b"[environment %s] solve\n[environment %s] ready %d\n" % (node.encode(), node.encode(), rank)
                    for rank, node in enumerate(nodes))
    stream = site.run("job", "stream", "two")
    assert (stream.returncode, stream.stdout) == (0, ranks) and stream.stderr.startswith(told), stream.stderr
    for quiet in (["stream", "-q"], ["logs"], ["logs", "--node", "1"], ["logs", "--rank", "1"]):
        done = site.run("job", *quiet, "two")
        assert (done.returncode, done.stderr) == (0, b""), quiet
        assert b"solve" not in done.stdout and b"hello" in done.stdout, quiet
    node = site.run("job", "stream", "two", "--node", "1", "--tail", "1")
    assert node.stderr.startswith(b"[environment %s] ready 1\n" % nodes[1].encode()), node.stderr
    site.ok("job", "download", "two", "-p", "got")
    assert (site.work / "got/artifacts/user_logs/environment_1.txt").read_text() == "solve\nready 1\n"
    site.ok("job", "delete", "two")
    wait_until(lambda: not (site.home / "launcher/logs/two").exists(), "they went with the job")


def test_an_environments_log_of_a_job_without_one(site):
    site.up(1)
    site.ok("run", "--name", "plain", "--", "true")
    refused = site.run("job", "logs", "plain", "--environment")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr == b"lockstep: job logs: plain has no environment, so it has no environment log\n"
    assert site.run("job", "logs", "plain", "--environment", "--rank", "0").returncode == 2


def test_the_logs_of_launcher_and_agents_have_one_format(site):
    site.up(1)
    site.ok("run", "--", "true")
    line = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (trace|debug|info|warning|error|critical) \S.*|    .*")
    for log in (site.home / "launcher" / "lockstepd.log", site.home / "nodes" / "local-0" / "agent.log"):
        lines = log.read_text().splitlines()
        assert lines and not [text for text in lines if not line.fullmatch(text)], (log, lines)
