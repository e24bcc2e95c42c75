"""Two ordinary accounts, alice's and bob's, of one primary group, under a launcher and an agent of root's: what a
review found that one could do to the machine or to the other is done here for real, on the host and with real
engines. Unit tests put the same attacks between any two system calls, or against each message.

| finding | shown by |
|---|---|
| 1 user code as the agent | `test_code_of_an_environment_runs_as_its_user`; agent/environment/environment_uid_test |
| 2 modes through symlinks | `test_what_is_swapped_while_a_checkpoint_is_restored_is_nobody_elses`; common/snapshot/checkout/materialize_test, agent/workspace/privileged_test |
| 3 a deep tree ends the agent | `test_a_deep_tree_ends_no_agent`; test_hostile_ranks, common/io/remove_tree_test |
| 4 `<any directory>/checkpoint` | as 2: alice's folder has a `checkpoint` |
| 5 links at outputs and logs | `test_links_at_outputs_and_logs_give_nothing_away`; runner/node/working_directory_test |
| 6 others' jobs, blobs, nodes | `test_bob_reads_nothing_of_alices`, `test_how_alices_job_failed_is_hers_to_tell`; test_permissions, test_roles, launcher/api/permission_test, launcher/daemon/bulk_permission_test |
| 7 any user ends the launcher | test_permissions (`down`), launcher/api/permission_test |
| 8 a name of an environment has no owner | `test_what_alices_names_mean_is_hers_to_say`; test_roles, launcher/state/people/names_test |
| 9 foreign locks | launcher/core/attempts/environment_solvers_test |
| 10 a stolen node key | test_revocation, launcher/core/nodes/remove_node_test |
| 11 connections before authentication | common/io/net/admission_test, launcher/daemon/daemon_flood_test |
| 12 no limits of a user | test_quota, launcher/core/queue/quota_test, launcher/daemon/hostile_client_test |
| 13 names in /tmp | `test_names_that_bob_took_in_tmp_harm_no_job_of_alices`; test_places, common/io/net/port_lease_test |
| 14 files, variables, command lines | `test_bob_reads_nothing_of_alices`; test_places, test_secrets, common/io/files/places_test |
| 15 builds outside of limits | agent/environment/environment_hog_test, test_hostile_ranks |
| 16 peers that report any node | launcher/daemon/blobs/peer_directory_test |
| 17 others' MPI jobs | `test_bob_joins_no_mpi_job_of_alices`; runner/bootstrap/pmix_test, runner/pmix/peer_test, client_test |
| 18 locks for all accounts | `test_nothing_of_bobs_configuration_is_in_an_environment_of_alices`; launcher/core/attempts/environment_test, agent/environment/target_test |
| 19 images of other nodes | envs/image_archive_test, envs/docker_test |
"""
import contextlib
import json
import os
import pathlib
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
import zipfile

import pytest
from harness import squat
from harness.accounts import Neighbour, as_account
from harness.conda import channel, conda_file
from harness.engine import Docker, Podman, import_debian
from harness.readable import PROBE, now
from harness.site import PROGRAMS, Site, alive, wait_until

IMAGE = "small:1"
DEPTH = 25_000
INSTALL_S = 300  # py-rattler is fetched first
SHARE = ("--cpus", "1", "--memory", "128m", "--gpus", "0")
FINAL = ("Completed", "Failed", "Canceled")


class World:
    """A launcher and a node of root's, and two people. Jobs of `runs` are on the host, or in an engine's image."""

    def __init__(self, site, runs, engine):
        self.site, self.engine = site, engine
        site.ok("up", "--nodes", "1", env=engine.environment if engine else {})
        self.alice, self.bob = (Neighbour(site, account) for account in ("lockstep-alice", "lockstep-bob"))
        self.image = ["--image", IMAGE] if engine else []
        self.runs = runs
        self.attempts = site.home / "nodes" / "local-0" / "attempts"

    def submit(self, person, name, *words, **options):
        return person.submit("--name", name, "--retry", "0", *SHARE, *self.image, *words, **options)

    @contextlib.contextmanager
    def running(self, person, name, *words, **options):
        """A job that has printed "up" and runs until the end of the block."""
        self.submit(person, name, *words, **options)
        try:
            wait_until(lambda: b"up\n" in person.logs(name) or person.show(name)["status"] in FINAL, f"{name} runs")
            yield name
        finally:
            person.ok("job", "cancel", name)
            person.wait_for_status(name, *FINAL)


@contextlib.contextmanager
def on_a_disk_in_memory(folder):
    """ext4 takes minutes to remove a deep tree, whoever does it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755,size=3g", "two-users", folder], check=True)
    try:
        yield
    finally:
        wait_until(lambda: subprocess.run(["umount", folder], check=False, capture_output=True).returncode == 0,
                   "the disk is free")
        folder.rmdir()


@pytest.fixture(scope="module")
def world(request, shared_bin, two_accounts):
    from conftest import _close
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-e2e-"))
    with contextlib.ExitStack() as undo:
        undo.enter_context(on_a_disk_in_memory(directory))
        site = Site(directory, bin_directory=shared_bin)
        engine = {"host": lambda: None, "docker": Docker, "podman": Podman}[request.param]()
        if engine:
            undo.callback(engine.close)
            import_debian(engine, IMAGE)
        undo.callback(_close, site)
        yield World(site, request.param, engine)


everywhere = pytest.mark.parametrize("world", ["host", "docker", "podman"], indirect=True)
on_the_host = pytest.mark.parametrize("world", ["host"], indirect=True)


def listing(folder):
    """Owner, mode and content of all that is there; symlinks are not followed."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        info = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(info.st_mode) else b""
        found[str(path)] = (info.st_uid, info.st_gid, oct(info.st_mode), content)
    return found


@pytest.fixture
def precious(world):
    """A folder of alice's, which nobody but her may change; bob knows its name."""
    folder = world.alice.directory / "precious"
    for part in (folder, folder / "checkpoint", folder / "closed"):
        part.mkdir(mode=0o711, exist_ok=True)
        (part / "kept").write_text("hers\n")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, world.alice.uid, world.alice.gid)
    before = listing(folder)
    yield folder
    assert listing(folder) == before


# ---- 1 -------------------------------------------------------------------------------------------


@everywhere
def test_code_of_an_environment_runs_as_its_user(world):
    """The post-link script of a package from alice's own channel."""
    said = world.alice.directory / "said"
    said.mkdir(mode=0o1777)
    said.chmod(0o1777)
    script = f"#!/bin/sh\nid -u > {said}/uid.$$\ncp /bin/sh $PREFIX/raised && chmod 6755 $PREFIX/raised\n"
    address, _ = channel(world.site, "ours", [{"name": "canary", "version": "1",
                                               "files": {"bin/.canary-post-link.sh": {"text": script}}}])
    conda_file(world.alice, "conda.yml", address, "canary")
    name = world.submit(world.alice, "packages", "--conda-file", "conda.yml", "--",
                        "bash", "-c", 'stat -c "%u %a" $CONDA_PREFIX/raised; id -u')
    job = world.alice.wait_for_status(name, *FINAL, deadline_s=INSTALL_S)
    assert job["status"] == "Completed", (job["attempts"], world.alice.ok("environment", "log", name))
    assert {path.read_text() for path in said.iterdir()} == {f"{world.alice.uid}\n"}
    owner, ranks = world.alice.logs(name).decode().splitlines()
    assert ranks == str(world.alice.uid)
    if world.engine:  # in an image files belong to root, and nothing of the package's is raised by that
        assert owner == "0 755", owner
    else:
        assert owner.split()[0] == str(world.alice.uid), owner


# ---- 17 ------------------------------------------------------------------------------------------

# What the interpreter's environment has, besides pip.
HAS = 'import importlib.metadata as m; print(*sorted({d.name for d in m.distributions()} & {"inner", "his"}))'


def wheel(folder, name, **files):
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"{name}.py", "")
        for file, text in files.items():
            packed.writestr(file, text)
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    path.chmod(0o644)


@contextlib.contextmanager
def configured(person, text):
    """With this pip.conf in the home of the person's account."""
    folder = pathlib.Path(pwd.getpwnam(person.name).pw_dir) / ".config" / "pip"
    person.python("import os, sys; os.makedirs(sys.argv[1], exist_ok=True); "
                  "open(sys.argv[1] + '/pip.conf', 'w').write(sys.stdin.read())", folder, told=text)
    try:
        yield
    finally:
        (folder / "pip.conf").unlink()


@on_the_host
def test_nothing_of_bobs_configuration_is_in_an_environment_of_alices(world):
    """His pip.conf adds a package of his, whose .pth runs at the start of each interpreter, to what he solves: her
    definition, before she does and again with --rebuild."""
    alice, bob = world.alice, world.bob
    said = world.site.directory / "said"
    said.mkdir()
    said.chmod(0o1777)
    hers, his = world.site.directory / "wheels", world.site.directory / "his-wheels"
    wheel(hers, "inner")
    wheel(his, "his", **{"his.pth": f"import os; open(f'{said}/{{os.getuid()}}', 'w').close()\n"})
    (his / "more.txt").write_text("his\n")
    for person in (alice, bob):
        person.write("requirements.txt", f"--no-index\n--find-links {hers}\ninner\n")

    def environment(person, name, *words):
        world.submit(person, name, "--requirements", "requirements.txt", *words, "--", "python", "-c", HAS)
        job = person.wait_for_status(name, *FINAL)
        return job["status"], person.ok("environment", "log", name), person.logs(name).decode().split()

    def attacked(name):
        status, log, _ = environment(bob, name, "--rebuild")  # pip refuses to build what lacks a hash in his file
        assert "  his 1.0 (pip)" in log, (status, log)

    def has_her_own(name):
        status, log, packages = environment(alice, name)
        assert (status, packages) == ("Completed", ["inner"]), log
        return log

    with configured(bob, f"[install]\nrequirement = {his}/more.txt\n[global]\nfind-links = {his}\n"):
        attacked("of-bob")
        has_her_own("of-alice")
        attacked("of-bob-again")
        assert ": reused, built " in has_her_own("of-alice-again"), "his rebuild is not hers"
    assert str(alice.uid) not in [path.name for path in said.iterdir()], "nothing of his ran as her"
    of_bob, of_alice = (json.loads(person.ok("job", "explain", name, "-o", "json"))
                        for person, name in ((bob, "of-bob"), (alice, "of-alice")))
    assert of_bob["environment"]["definition"] == of_alice["environment"]["definition"], "it is one definition"


# ---- 2 and 4 -------------------------------------------------------------------------------------

SAVE = """
import os, sys
if os.environ["LOCKSTEP_ATTEMPT"] == "1":
    os.chdir(os.environ["LOCKSTEP_CHECKPOINT_DIR"])
    for i in range(60):
        os.mkdir(f"closed{i}")
        for k in range(20):
            open(f"closed{i}/{k}", "w").write(str(k))
        os.chmod(f"closed{i}", 0o755 if i % 2 else 0o500)
    sys.exit(1)
print("restored", len(os.listdir(os.environ["LOCKSTEP_CHECKPOINT_DIR"])))
"""

# Puts links to the victim wherever this account can while the second attempt is staged.
SWAP = """
import os, sys
attempt, victim = sys.argv[1:]
def swap(folder, name):
    at = f"{folder}/{name}"
    if os.path.islink(at):
        return
    if os.path.lexists(at):
        os.rename(at, f"{folder}/aside.{os.getpid()}.{name}")
    os.symlink(victim, at)
    print(at)
print("ready")
while True:
    for folder, name in (("upper", ".lockstep"), ("code", ".lockstep"), ("checkpoint.part", "closed1"),
                         ("", "checkpoint")):
        try:
            swap(os.path.join(attempt, folder), name)
        except OSError:
            pass
"""


@everywhere
def test_what_is_swapped_while_a_checkpoint_is_restored_is_nobody_elses(world, precious):
    bob = world.bob
    bob.write("save.py", SAVE)
    name = f"saves-{world.runs}"
    command = ["python3", "save.py"]
    if world.engine:
        bob.write("save.sh", 'cd $LOCKSTEP_CHECKPOINT_DIR; [ $LOCKSTEP_ATTEMPT = 1 ] || exit 0\n'
                             'for i in {0..59}; do mkdir closed$i; for k in {0..19}; do echo $k > closed$i/$k; done; '
                             'chmod $((i % 2 ? 755 : 500)) closed$i; done; exit 1\n')
        command = ["bash", "save.sh"]
    swaps = bob.start_python(SWAP, world.attempts / f"{name}.2", precious)
    try:
        assert swaps.stdout.readline() == "ready\n"
        bob.submit("--name", name, "--retry", "1", "--retry-on", "exit_code", *SHARE, *world.image, "--", *command)
        job = bob.wait_for_status(name, *FINAL)
    finally:
        swaps.kill()
        swapped, errors = swaps.communicate()
    assert not errors
    assert "/.lockstep" in swapped, "the attack took place"
    assert len(job["attempts"]) == 2 and job["attempts"][0]["report"]["exit_code"] == 1, job


# ---- 3 -------------------------------------------------------------------------------------------

DEEP = f"""
import os
for i in range({DEPTH}):
    os.mkdir("d")
    os.chdir("d")
"""


@on_the_host
def test_a_deep_tree_ends_no_agent(world):
    agent, = world.site.agent_pids()
    world.bob.write("deep.py", DEEP)
    name = world.submit(world.bob, "deep", "--", "python3", "deep.py")
    assert world.bob.wait_for_status(name, *FINAL)["status"] == "Completed"
    other = world.submit(world.alice, "beside-it", "--", "true")
    assert world.alice.wait_for_status(other, *FINAL)["status"] == "Completed"
    wait_until(lambda: not (world.attempts / "deep.1").exists(), "the tree is removed")
    assert alive(agent) and world.site.agent_pids() == [agent]


# ---- 5 -------------------------------------------------------------------------------------------


@everywhere
def test_links_at_outputs_and_logs_give_nothing_away(world, precious):
    bob = world.bob
    for name in ("outputs", "logs"):
        (bob.work / name).symlink_to(precious)
    name = world.submit(bob, "links", "--", "bash", "-c", "touch outputs/x; id -u")
    job = bob.wait_for_status(name, *FINAL)
    assert job["status"] == "Completed", job
    assert bob.logs(name, "--stdout").decode().split() == [str(bob.uid)]
    bob.run("job", "download", name, "-p", "got")
    taken = [path for path in bob.work.joinpath("got").rglob("*") if path.is_file() and path.name == "kept"]
    for link in ("outputs", "logs"):
        (bob.work / link).unlink()
    assert not taken, "what is behind a link is not collected"


# ---- 13 ------------------------------------------------------------------------------------------


@everywhere
def test_names_that_bob_took_in_tmp_harm_no_job_of_alices(world):
    with squat.taken_by(world.bob.uid) as folders:
        mine = world.submit(world.alice, "squatted", "-n", "2", "--distribution", "pytorch", "--",
                            "bash", "-c", "pwd; echo port $MASTER_PORT")
        job = world.alice.wait_for_status(mine, *FINAL)
        assert job["status"] == "Completed", job
        out = world.alice.logs(mine).decode()
        assert out.count("port ") == 2 and not any(str(folder) in out for folder in folders), out
        for folder in folders:
            assert folder.stat().st_uid == world.bob.uid, "it is still his"
            assert not [entry for entry in folder.iterdir() if not stat.S_ISFIFO(entry.lstat().st_mode)]


# ---- 17 ------------------------------------------------------------------------------------------

# Connects as often as it is told, says nothing, and prints how many of the connections are still open.
HOLD = """
import socket, sys, time
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(100)]
time.sleep(0.5)
def is_open(each):
    each.setblocking(False)
    try:
        return each.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
print(sum(map(is_open, held)), flush=True)
time.sleep(60)
"""


@everywhere
def test_bob_joins_no_mpi_job_of_alices(world):
    """He has all that her ranks know, and claims her uid; the door of their PMIx server asks the kernel."""
    alice, bob = world.alice, world.bob
    program = shutil.copy(PROGRAMS / "pmix_intruder", world.site.directory)
    with world.running(alice, "mpi", "-n", "2", "--distribution", "mpi", "--",
                       "bash", "-c", "echo up; exec sleep 600") as name:
        guessed = world.site.directory / "guessed"
        guessed.write_bytes(pathlib.Path(f"/proc/{alice.rank_pids(name)[0]}/environ").read_bytes())

        def join(person, what):
            return subprocess.run([*as_account(person.name), program, guessed, str(alice.uid), str(alice.gid), what],
                                  capture_output=True, text=True, check=True, timeout=60).stdout

        assert join(bob, "abort").startswith("refused:")
        port = re.search(rb"PMIX_SERVER_URI[^;]*;tcp4://127.0.0.1:(\d+)", guessed.read_bytes())[1].decode()
        silent = bob.start_python(HOLD, port)
        try:
            assert silent.stdout.readline() == "0\n", "none of his connections stays"
            assert join(alice, "stay") == "joined\n", "and hers are served"
        finally:
            silent.kill()
            silent.communicate()
        assert alice.show(name)["status"] == "Running"


# ---- 6 and 14 ------------------------------------------------------------------------------------

def probe(world, person, needle, since):
    places = [world.site.home, world.alice.directory, "/run/lockstep", "/dev/shm", "/tmp"]
    return json.loads(person.python(PROBE, since, *places, told=needle))


@everywhere
def test_bob_reads_nothing_of_alices(world):
    alice, bob = world.alice, world.bob
    since = now()
    canary = f"canary-4c1e-{world.runs}-" + "z" * 16
    alice.write("source.txt", f"{canary}\n")
    script = ('echo "$TOKEN"; cp source.txt outputs/of-hers; cp source.txt logs/of-hers; '
              'cp source.txt $LOCKSTEP_CHECKPOINT_DIR/saved; cp source.txt /dev/shm/of-hers; chmod 600 /dev/shm/of-hers; '
              'echo up; sleep 600')
    try:
        with world.running(alice, "hers", "--env", "TOKEN", "--", "bash", "-c", script, env={"TOKEN": canary}):
            looks_for_it(world, canary, since)
    finally:
        pathlib.Path("/dev/shm/of-hers").unlink(missing_ok=True)
    assert canary in alice.logs("hers").decode()
    assert probe(world, bob, canary, since)["found"] == [], "nor of what is left of it"


def looks_for_it(world, canary, since):
    """Bob, while alice's job runs."""
    alice, bob = world.alice, world.bob
    hers = probe(world, alice, canary, since)["found"]
    assert any(text.startswith("environ of ") for text in hers), hers
    seen = probe(world, bob, canary, since)
    assert seen["found"] == []
    private = tuple(f"{place}/" for place in (world.site.home / "launcher", world.site.home / "nodes", "/run/lockstep"))
    assert [path for path in seen["opened"] if path.startswith(private)] == [], "whatever it holds"

    # The same from inside of a job of his, on the same node; his own source holds the text, wherever it is seen.
    bob.write("probe.py", PROBE)
    bob.write("needle", canary)
    if not world.engine:
        places = f"{world.site.home} {alice.directory} /run/lockstep /dev/shm /tmp"
        out = bob.ok("run", *SHARE, "--", "bash", "-c", f"exec python3 probe.py {since} {places} < needle")
        assert [text for text in json.loads(out)["found"] if os.path.basename(text) != "needle"] == []
    else:
        out = bob.ok("run", *SHARE, *world.image, "--", "bash", "-c",
                     'for file in /dev/shm/* /proc/[0-9]*/environ; do grep -aqs -f needle "$file" && echo "$file"; done; '
                     "echo looked; ls /dev/shm")
        assert out.split() == ["looked"], out
    (bob.work / "needle").unlink()

    shown = bob.ok("job", "show", "hers", "-o", "json") + bob.ok("job", "explain", "hers") + bob.ok("job", "list")
    assert canary not in shown and "sleep 600" not in shown
    for words in (("job", "logs", "hers"), ("job", "events", "hers"), ("job", "download", "hers", "-p", "theirs"),
                  ("job", "cancel", "hers"), ("job", "delete", "hers")):
        assert "belongs to user 'lockstep-alice'" in bob.refused(*words), words


# ---- 8 -------------------------------------------------------------------------------------------

READS = """command: cat ${{inputs.d}}/said.txt
environment: azureml:team@latest
inputs: {d: {path: 'azureml:team@latest'}}
lockstep: {resources: {cpus: 1, memory: 128m, gpus: 0}}
"""


@on_the_host
def test_what_alices_names_mean_is_hers_to_say(world):
    alice, bob = world.alice, world.bob
    for person, more in ((alice, ""), (bob, "description: of bob's\n")):
        person.write("env.yml", f"name: team\ninterpreter: /usr/bin/python3{'.11' if more else ''}\n{more}")
        person.write("set/said.txt", f"{person.name}\n")
    alice.write("job.yml", READS)
    makes = {"environment": ("environment", "create", "-f", "env.yml"),
             "data": ("data", "create", "-n", "team", "--path", "set")}

    def said(name):
        alice.ok("job", "create", "-f", "job.yml", "--name", name)
        alice.wait_for_status(name, "Completed")
        return alice.logs(name).decode().strip(), alice.show(name)["environment"]["version"]

    for words in makes.values():
        assert alice.ok(*words) == "team:1\n"
    for kind, words in makes.items():
        why = bob.refused(*words)
        assert "it belongs to user 'lockstep-alice'" in why, why
        assert f"`lockstep {kind} share team --with lockstep-bob`" in why, why
        for wrong in (("share", "team", "--with", "lockstep-bob"), ("delete", "team", "--version", "1")):
            assert "belongs to user 'lockstep-alice'" in bob.refused(kind, *wrong)
    assert said("of-hers") == ("lockstep-alice", "1")

    for kind, words in makes.items():
        alice.ok(kind, "share", "team", "--with", "lockstep-bob")
        assert bob.ok(*words) == "team:2\n"
        rights = json.loads(bob.ok(kind, "show", "team", "-o", "json"))["lockstep"]
        assert (rights["owner"], rights["shared_with"]["users"]) == ("lockstep-alice", ["lockstep-bob"])
        alice.ok(kind, "unshare", "team", "--with", "lockstep-bob")
    assert said("of-both") == ("lockstep-bob", "2"), "as she let him"
    for kind in makes:
        assert "belongs to user 'lockstep-alice'" in bob.refused(kind, "delete", "team", "--version", "2")
        alice.ok(kind, "delete", "team", "--version", "2")
    assert said("of-hers-again") == ("lockstep-alice", "1")
    done = {(entry["what"], entry["who"]) for entry in json.loads(world.site.ok("audit", "-o", "json"))}
    assert {("share environment", "lockstep-alice"), ("delete data asset", "lockstep-alice")} <= done, done


# ---- 6 -------------------------------------------------------------------------------------------


@everywhere
def test_a_shell_is_with_the_rank_and_for_its_owner_alone(world):
    alice, bob, admin = world.alice, world.bob, world.site
    spaces = "readlink /proc/self/ns/mnt /proc/self/ns/pid; id -u; pwd; echo up"
    with world.running(alice, "shelled", "--", "bash", "-c", f"{spaces}; sleep 600"):
        there = alice.ok("job", "shell", "shelled", "--", "bash", "-c", spaces)
        assert there.encode() == alice.logs("shelled"), "the rank's namespaces, user and working directory"
        assert there.splitlines()[2] == str(alice.uid)
        assert alice.run("job", "shell", "shelled", "--", "bash", "-c", "exit 7").returncode == 7
        assert "sent SIGCONT to rank 0" in alice.ok("job", "signal", "shelled", "CONT")
        for person in (bob, admin):
            for words in (("shell", "shelled", "--", "true"), ("signal", "shelled", "KILL"), ("stacks", "shelled")):
                done = person.run("job", *words)
                assert done.returncode in (1, 125) and not done.stdout and done.stderr, (words, done)
        assert alice.show("shelled")["status"] == "Running"
    refused = {entry["who"] for entry in admin.json("audit")
               if entry["outcome"] == "refused" and "shelled" in json.dumps(entry)}
    assert admin.json("user", "whoami")["name"] in refused, refused


@on_the_host
def test_how_alices_job_failed_is_hers_to_tell(world):
    alice, bob = world.alice, world.bob
    canary = "canary-b71f"
    world.submit(alice, "fails", "--", f"/srv/{canary}/program")
    alice.wait_for_status("fails", "Failed")
    assert canary in alice.ok("job", "explain", "fails")
    for words in (("explain", "fails"), ("show", "fails"), ("list", "-a")):
        for form in ("table", "json"):
            told = bob.ok("job", *words, "-o", form)
            assert "fails" in told and canary not in told, (words, told)
    assert "ended: " in bob.ok("job", "explain", "fails"), "that it failed is no secret"
