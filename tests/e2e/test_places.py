"""Names that others could take first, and values that others could read."""
import errno
import os
import pathlib
import pwd
import secrets
import subprocess

import pytest
from harness import squat
from harness.site import wait_until


@pytest.fixture
def squatted(ordinary_user):
    with squat.taken_by(pwd.getpwnam(ordinary_user).pw_uid):
        yield


def test_folders_that_another_user_made_in_tmp_break_no_job_of_root(squatted, site):
    site.up(2)
    name = site.submit("-N", "2", "--distribution", "pytorch", "--", "sh", "-c", "pwd; echo $MASTER_PORT")
    job = site.wait_for_status(name, "Completed", "Failed")
    assert job["status"] == "Completed", job
    lines = site.logs(name).decode().splitlines()
    assert sum(line.endswith(f"/run/lockstep/jobs/{name}") for line in lines) == 2, lines
    info = os.stat("/run/lockstep/jobs")
    assert (info.st_uid, info.st_mode & 0o777) == (0, 0o755)


# Attempt 1 leaves what holds its path, attempt 2 follows it.
FINDS_ITS_CHECKPOINT = """
import json, os, socket, sys, time
folder = os.environ["LOCKSTEP_CHECKPOINT_DIR"]
rank = os.environ["RANK"]
print("path", os.path.realpath(os.getcwd()), os.path.realpath(folder), flush=True)
if os.environ["LOCKSTEP_ATTEMPT"] == "1":
    made = os.path.realpath(os.path.join(folder, f"step {rank}"))
    open(made, "w").write(rank)
    os.symlink(made, os.path.join(folder, f"last{rank}"))
    json.dump({"path": made}, open(os.path.join(folder, f"pointer{rank}"), "w"))
    # Rank 0 ends the attempt, so it waits until the others have written too.
    master = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    if rank == "0":
        with socket.create_server(master) as server:
            for _ in range(int(os.environ["WORLD_SIZE"]) - 1):
                server.accept()
        sys.exit(3)
    for _ in range(600):
        try:
            socket.create_connection(master).close()
            sys.exit()
        except OSError:
            time.sleep(0.05)
    sys.exit("rank 0 does not listen")
assert open(os.path.join(folder, f"last{rank}")).read() == rank
assert open(json.load(open(os.path.join(folder, f"pointer{rank}")))["path"]).read() == rank
"""
LONG = "a-name-of-many-characters-as-people-give-to-their-trainings-2026"


def run_twice(site, name, nodes, *words):
    """Runs the script until its second attempt completes; returns the paths that its ranks saw."""
    site.write("a file/finds.py", FINDS_ITS_CHECKPOINT)
    done = site.run("run", "--name", name, "-N", str(nodes), "--distribution", "pytorch", "--retry-on",
                    "exit_code", *words, "--", "/usr/bin/python3", "a file/finds.py")
    assert done.returncode == 0, done.stderr.decode() + site.logs(name, "--attempt", "1").decode()
    lines = [line for attempt in "12" for line in site.logs(name, "--attempt", attempt).decode().splitlines()]
    paths = [line.partition("path ")[2].split() for line in lines if "path " in line]
    assert len(paths) == 2 * nodes and all(p[1] == p[0] + "/.lockstep/checkpoint" for p in paths), lines
    return [path for path, _ in paths], done.stderr.decode()


# A socket below the given folder with 60 bytes of its own; what `multiprocessing` makes has fewer. The other folders
# of an ordinary user's agent lie in that user's home, whose path counts.
SOCKETS = """
import multiprocessing, os, socket
tmp = os.environ["TMPDIR"]
with socket.socket(socket.AF_UNIX) as one:
    one.bind(os.path.join(tmp, "s" * 59))
if __name__ == "__main__":
    with multiprocessing.Manager() as manager:
        shared = manager.dict(x=1)
        print("shared", shared["x"])
long = {k: v for k, v in os.environ.items()
        if v.startswith("/") and ":" not in v and os.path.isdir(v) and ".lockstep/checkpoint" not in v}
most = 47 if os.geteuid() == 0 else len(os.environ["HOME"]) + 34
skipped = ("HOME", "OLDPWD") if os.geteuid() == 0 else ("HOME", "OLDPWD", "PWD")
print("long", {k: v for k, v in long.items() if len(v) > most and k not in skipped})
"""


@pytest.mark.parametrize("distribution", ["none", "mpi"])
def test_sockets_fit_below_the_folders_of_a_rank(any_site, distribution):
    any_site.up(1)
    any_site.write("sockets.py", SOCKETS)
    done = any_site.run("run", "--name", LONG[:60], "--distribution", distribution, "--", "/usr/bin/python3", "sockets.py")
    said = done.stdout.decode() + done.stderr.decode()
    if distribution == "none":  # of the other one, it never calls MPI_Init
        assert done.returncode == 0, said
    assert "shared 1" in said and "long {}" in said, said


@pytest.mark.parametrize("name", ["trains", LONG], ids=["short", "long"])
def test_all_attempts_and_nodes_have_one_path(any_site, name):
    any_site.up(2)
    paths, said = run_twice(any_site, name, 2)
    assert len(set(paths)) == 1 and "note" not in said, (paths, said)
    folder, own = paths[0].rsplit("/", 1)
    assert own == name if name != LONG else own.startswith(LONG[:15]) and len(own) <= 28
    assert folder.endswith("lockstep/jobs")


RUN = "/run/lockstep/jobs"


def takes_folders_of(site):
    """Whether folders of the site's nodes can be moved to RUN: rename(2) needs both in one mount."""
    probe = site.home / "probe"
    probe.mkdir()
    try:
        os.rename(probe, "/run/lockstep-probe")
    except OSError as failure:
        assert failure.errno == errno.EXDEV
        probe.rmdir()
        return False
    os.rmdir("/run/lockstep-probe")
    return True


def up_without_mounts(site, nodes):
    """As in a container without CAP_SYS_ADMIN: root's runners can have no mount namespace."""
    subprocess.run(["setpriv", "--bounding-set=-sys_admin", *site._argv(["up", "--nodes", str(nodes)])],
                   env=site.environment(), check=True, capture_output=True, timeout=120)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can drop a capability and keep the others")
def test_where_nothing_can_be_mounted_all_attempts_have_one_path_too(site):
    up_without_mounts(site, 1)
    moves = takes_folders_of(site)
    folder = RUN if moves else f"{site.home}/nodes/local-0/jobs"
    paths, said = run_twice(site, "bare", 1)
    assert set(paths) == {f"{folder}/bare"} and (f"its folder is {folder}/bare on this node" in said) != moves, (paths, said)
    # A killed runner moves nothing back: its checkpoint is found all the same, at the same path.
    site.write("goes_on.sh", "pwd -P; [ -e $LOCKSTEP_CHECKPOINT_DIR/here ] && exit 0\n"
               "echo > $LOCKSTEP_CHECKPOINT_DIR/here; exec sleep 1000\n")
    name = site.submit("--name", "killed", "--", "sh", "goes_on.sh")
    wait_until(lambda: pathlib.Path(f"{folder}/killed/.lockstep/checkpoint/here").exists(), "it runs")
    site.kill(site.runner_pids(name))
    job = site.wait_for_status(name, "Completed", "Failed")
    assert job["status"] == "Completed" and len(job["attempts"]) == 2, job["report"]
    assert site.logs(name).decode().split() == [f"{folder}/killed"]
    assert not [entry for entry in os.listdir(folder) if entry.startswith(("bare", "killed"))]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can drop a capability and keep the others")
def test_two_local_nodes_without_mounts_say_that_their_paths_differ(site):
    up_without_mounts(site, 2)
    done = site.run("run", "-N", "2", "--name", "apart", "--", "sh", "-c", "pwd -P; sleep 1")
    paths = {line.rsplit(" ", 1)[-1] for line in done.stdout.decode().splitlines()}
    assert done.returncode == 0 and len(paths) == 2 and (f"{RUN}/apart" in paths) == takes_folders_of(site), done
    shown = site.ok("job", "show", "apart")
    for other in paths - {f"{RUN}/apart"}:
        assert f"its folder is {other} on this node" in done.stderr.decode(), done.stderr
        assert f"its folder is {other} on this node" in shown


def test_a_value_of_an_env_file_stands_on_no_command_line(site):
    canary = "canary-" + secrets.token_hex(8)
    site.up(1)
    file = site.write("job.env", f"# a token\nTOKEN={canary}\nOURS\n", 0o600)
    running = site.submit("-n", "1", "--env-file", file, "--env", "OURS", "--", "sh", "-c",
                          'echo "$TOKEN $OURS"; exec sleep 1000', env={"OURS": f"{canary}-too"})
    wait_until(lambda: f"{canary} {canary}-too" in site.logs(running).decode(), "the rank has both")
    seen = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            seen += [entry] if canary.encode() in entry.read_bytes() else []
        except OSError:
            continue
    site.ok("job", "cancel", running)
    site.wait_for_status(running, "Canceled")
    assert not seen


def test_a_home_that_others_may_write_to_starts_no_agent(site):
    site.up(1)
    site.ok("down")
    home = site.home / "nodes/local-0"
    assert home.stat().st_mode & 0o777 == 0o711
    home.chmod(0o777)
    done = site.run("up", "--nodes", "1", timeout=180)
    text = done.stderr.decode() + (home / "agent.log").read_text()
    assert f"chmod 0711 {home}" in text, text
    home.chmod(0o711)
    site.run("down")
