"""What a second review did between two ordinary accounts, alice's and bob's, under a launcher and an agent of root's:
each row's own attack, with real daemons. test_two_users has the other rows of that review; unit tests put the same
attacks against each message.

| row | shown by |
|---|---|
| S4 one user's folders hold up all submissions | `test_bobs_huge_folders_hold_up_no_submission_of_alices`; launcher/daemon/daemon_blobs_test |
| S5 registered versions have no limit | `test_a_limit_on_bobs_versions_is_his_alone_and_a_delete_makes_room`, `test_a_limit_on_the_texts_of_bobs_versions_is_his_alone`; launcher/state/people/names_test |
| S8 a child forges a later step of its owner's | `test_what_an_attempts_credential_made_is_reused_in_its_family_alone`; launcher/core/pipelines/pipeline_test |
| S9 caches and images of others' builds | `test_a_cache_of_bobs_builds_is_in_no_build_of_alices`, `test_an_image_of_alices_is_nothing_that_bob_can_name`; envs/dockerfile_test, docker_test |
| a job that is named as another user's task | `test_a_job_that_bob_names_as_a_task_of_alices_is_taken_for_none`; launcher/core/jobs/step_names_test |
| S10 others' jobs beside an environment | `test_an_environment_tells_bob_of_no_job_of_alices`; launcher/api/queries/environment_queries_test |

What a third review did to a launcher's disk:

| attack | shown by |
|---|---|
| so many jobs that retention deletes alice's | `test_a_flood_of_bobs_jobs_costs_alice_none`; launcher/core/jobs/delete_test |
| logs without end | `test_bobs_logs_fill_his_share_alone_and_wait_there`; launcher/core/queue/job_files_test, agent/daemon/links/log_shipper_test |
| outputs without end | `test_bobs_outputs_beyond_his_share_wait_and_come_when_there_is_room`; launcher/daemon/stores/output_room_test |
| versions of a running job's outputs that nobody needs | `test_old_versions_of_bobs_running_job_make_way`; common/snapshot/content/blob_gc_test, launcher/core/attempts/outputs_test |
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import pytest
from harness.accounts import Neighbour
from harness.engine import Podman, import_busybox
from harness.site import Site, wait_until
from test_children import home_of
from test_operators import Operator
from test_two_users import FINAL, SHARE, World, on_a_disk_in_memory, wheel

BUILDX = """#!/bin/sh
case $1 in
info) echo '{"ServerVersion": "28", "MemoryLimit": true, "ClientInfo": {"Plugins": [{"Name": "buildx"}]}}' ;;
build)
  for word; do
    case $word in BUILDKIT_CACHE_MOUNT_NS=*) space=${word#*=} ;; esac
  done
  cache=CACHES/$space
  mkdir -p "$cache"
  echo "before:[$(echo $(ls "$cache"))]"
  cp "$word/mark" "$cache/$(cat "$word/mark")"
  echo "then:[$(echo $(ls "$cache"))]"
  exit 1 ;;
esac
"""


class Buildx:
    """Stands for docker with buildx, which Debian 12 does not have, as far as a build that fails. BuildKit's frontend
    puts BUILDKIT_CACHE_MOUNT_NS before each cache's id; here the cache is a folder of that name."""

    def __init__(self, folder):
        folder.mkdir(mode=0o755)
        program = folder / "engine"
        program.write_text(BUILDX.replace("CACHES", str(folder / "caches")))
        program.chmod(0o755)
        self.environment = {"LOCKSTEP_CONTAINER_ENGINE": str(program)}

    def close(self):
        """Its folder goes with the site's."""


def podman():
    """With the mounts that Lockstep refuses to Debian 12's."""
    engine = Podman()
    engine.own["LOCKSTEP_PODMAN_MOUNTS"] = "allow"
    import_busybox(engine, "base:1")
    return engine


@pytest.fixture(scope="module")
def world(request, shared_bin, two_accounts):
    """Jobs run on the host; images are built by the engine that the parameter names."""
    from conftest import _close
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-e2e-"))
    with contextlib.ExitStack() as undo:
        undo.enter_context(on_a_disk_in_memory(directory))
        site = Site(directory, bin_directory=shared_bin)
        engine = podman() if request.param == "podman" else Buildx(directory / "buildx")
        undo.callback(engine.close)
        undo.callback(_close, site)
        made = World(site, request.param, engine)
        made.image = []
        yield made


builders = pytest.mark.parametrize("world", ["buildx", "podman"], indirect=True)
on_the_host = pytest.mark.parametrize("world", ["buildx"], indirect=True)
with_podman = pytest.mark.parametrize("world", ["podman"], indirect=True)


# ---- S5 ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def limited(world, person, flag, value):
    """The operator's limit on what this user may have."""
    world.site.ok("quota", "set", "--user", person.name, flag, value)
    try:
        yield
    finally:
        world.site.ok("quota", "unset", "--user", person.name, flag)


def why_refused(person, *words, code=1):
    done = person.run(*words)
    assert done.returncode == code, (words, done)
    return done.stderr.decode()


@on_the_host
def test_a_limit_on_bobs_versions_is_his_alone_and_a_delete_makes_room(world):
    alice, bob = world.alice, world.bob

    def kinds(person):
        """A first version of each kind."""
        person.write("env.yml", f"name: env-{person.name}\ninterpreter: /usr/bin/python3\n")
        person.write("part.yml", f"name: part-{person.name}\ntype: command\ncommand: 'true'\n")
        return [("environment", "create", "-f", "env.yml"),
                ("component", "create", "-f", "part.yml"),
                ("model", "create", "-n", f"net-{person.name}", "--path", "set"),
                ("data", "create", "-n", f"more-{person.name}", "--path", "set")]

    with limited(world, bob, "--versions", "2"):
        for number in (1, 2):
            bob.write("set/a.txt", f"{number}\n")
            assert bob.ok("data", "create", "-n", "many", "--path", "set") == f"many:{number}\n"
        for words in kinds(bob):
            why = why_refused(bob, *words)
            assert ("quota: user 'lockstep-bob' has 2 registered versions, this one would add 1, and 2 are allowed"
                    in why and "`lockstep data delete NAME --version V`" in why), why
        assert "may not see or change all users, roles, projects and quotas" in why_refused(
            bob, "quota", "set", "--user", bob.name, "--versions", "9")
        alice.write("set/a.txt", "hers\n")
        for words in kinds(alice):
            assert alice.ok(*words).endswith("-lockstep-alice:1\n")

        bob.ok("data", "delete", "many", "--version", "1")
        environment, component, *_ = kinds(bob)
        assert bob.ok(*environment) == "env-lockstep-bob:1\n"
        assert "has 2 registered versions" in why_refused(bob, *component), "there was room for one"


@on_the_host
def test_a_limit_on_the_texts_of_bobs_versions_is_his_alone(world):
    alice, bob = world.alice, world.bob
    text = "x" * 6000

    def create(person, number):
        return ("data", "create", "-n", f"wordy{number}-{person.name}", "--path", "set", "--description", text)

    for person in (alice, bob):
        person.write("set/a.txt", f"{person.name}\n")
    with limited(world, bob, "--version-size", "10k"):
        bob.ok(*create(bob, 1))
        why = why_refused(bob, *create(bob, 2))
        assert "quota: user 'lockstep-bob' has " in why and "in definitions and texts of registered versions" in why
        assert "10.0 KiB are allowed" in why, why
        for number in (1, 2):
            alice.ok(*create(alice, number))
        bob.ok("data", "delete", "wordy1-lockstep-bob", "--all")
        bob.ok(*create(bob, 2))


# ---- S8 ------------------------------------------------------------------------------------------

# The file that it reads on its node is no part of what steps are compared by; root of the node may change it.
STEP = """type: pipeline
jobs:
  make:
    command: tee ${{outputs.o}}/x < %s
    outputs: {o: {type: uri_folder}}
    lockstep: {resources: {cpus: 1, memory: 128m, gpus: 0}}
"""


def stolen(world, job):
    """The credential of the job's attempt, as root of its node has it."""
    copy = world.site.directory / f"of-{job}"
    shutil.copytree(home_of(world.site, job), copy)
    return {"LOCKSTEP_HOME": str(copy), "LOCKSTEP_LAUNCHER": str(copy / "endpoint.json")}


@on_the_host
def test_what_an_attempts_credential_made_is_reused_in_its_family_alone(world):
    site, alice = world.site, world.alice
    on_its_node = site.directory / "read-by-the-step"
    for who in (site, alice):
        who.write("pipeline.yml", STEP % on_its_node)

    def make(name, key=None):
        """The step of such a pipeline: alice's, or one that is submitted with this credential."""
        if key:
            site.ok("job", "create", "-f", "pipeline.yml", "--name", name, env=key)
        else:
            alice.ok("job", "create", "-f", "pipeline.yml", "--name", name)
        job = alice.wait_for_status(name, *FINAL)
        assert job["status"] == "Completed", job
        return job["jobs"]["make"]

    waits = ("--", "bash", "-c", "echo up; exec sleep 600")
    on_its_node.write_text("forged\n")
    with world.running(alice, "train", *waits):
        key = stolen(world, "train")
        assert make("forged", key)["phase"] == "Completed"
        assert make("forged-again", key)["reused_from"] == "forged_make", "the same family"
        on_its_node.write_text("hers\n")
        assert make("own")["phase"] == "Completed", "what the credential made is not taken for it"
    assert alice.logs("forged_make") == b"forged\n" and alice.logs("own_make") == b"hers\n"
    with world.running(alice, "other", *waits):
        assert make("of-other", stolen(world, "other"))["phase"] == "Completed", "another family"
    assert make("own-again")["reused_from"] == "own_make", "a person's steps are reused as before"


# ---- S9 ------------------------------------------------------------------------------------------

CACHES = """FROM base:1
COPY mark /mark
RUN --mount=type=cache,target=/cache echo "before:[$(echo $(ls /cache))]"; cp /mark "/cache/$(cat /mark)"
RUN --mount=type=cache,target=/cache echo "then:[$(echo $(ls /cache))]"
RUN false
"""
BUILDS = "command: 'true'\nenvironment: {build: {path: context}}\n" \
         "lockstep: {resources: {cpus: 1, memory: 128m, gpus: 0}, retry: {max: 0}}\n"


def build(person, name, dockerfile):
    """Submits a job whose build fails; returns the job and the build's log."""
    person.write("context/Dockerfile", dockerfile)
    person.write("context/mark", name)
    os.chown(person.work / "context", person.uid, person.gid)
    person.write("job.yml", BUILDS)
    person.ok("job", "create", "-f", "job.yml", "--name", name)
    job = person.wait_for_status(name, *FINAL)
    log = person.ok("environment", "log", name)
    assert job["status"] == "Failed" and job["attempts"][0]["report"]["cause"] == "environment_failed", (job, log)
    return job, log


@builders
def test_a_cache_of_bobs_builds_is_in_no_build_of_alices(world):
    alice, bob = world.alice, world.bob

    def found(person, name):
        """What the cache held when the build came to it."""
        log = build(person, name, CACHES)[1]
        seen = dict(re.findall(r"(before|then):\[([^]$]*)\]", log))
        assert name in seen["then"].split(), log
        return seen["before"]

    assert found(bob, "of-bob") == ""
    assert found(alice, "of-alice") == ""
    # The account's own with buildx; of one build with podman.
    assert found(bob, "of-bob-again") == {"buildx": "of-bob", "podman": ""}[world.runs]


@with_podman
def test_an_image_of_alices_is_nothing_that_bob_can_name(world):
    alice, bob = world.alice, world.bob
    world.submit(alice, "boxed", "--image", "base:1", "--", "true")
    job = alice.wait_for_status("boxed", *FINAL)
    assert job["status"] == "Completed", job
    hers = [name for name in world.engine.names() if "lockstep/env:" in name]
    assert hers
    for name in hers:
        done = bob.run("run", *SHARE, "--image", name, "--", "true")
        assert done.returncode == 2 and b"is a name that nodes give to what they built" in done.stderr, done
    job, _ = build(bob, "on-hers", f"FROM {hers[0]}\n")
    assert "is an image of another job's" in job["attempts"][0]["report"]["message"], job


# ---- S10 -----------------------------------------------------------------------------------------


@on_the_host
def test_an_environment_tells_bob_of_no_job_of_alices(world):
    alice, bob = world.alice, world.bob
    wheels = world.site.directory / "wheels"
    wheel(wheels, "inner")
    alice.write("requirements.txt", f"--no-index\n--find-links {wheels}\ninner\n")
    alice.write("tools.yml", "name: tools\nrequirements: requirements.txt\n")
    assert alice.ok("environment", "create", "-f", "tools.yml") == "tools:1\n"
    world.submit(bob, "his-9e02", "--begin", "1h", "--environment", "tools:1", "--", "true")
    world.submit(alice, "hers-9e02", "--environment", "tools:1", "--", "true")
    job = alice.wait_for_status("hers-9e02", *FINAL)
    assert job["status"] == "Completed", (job["attempts"], alice.ok("environment", "log", "hers-9e02"))

    forms = ((), ("-o", "json"), ("-o", "yaml"))
    for form in forms:
        for words in (("show", "tools"), ("list",), ("list", "--name", "tools")):
            assert "hers-9e02" in alice.ok("environment", *words, *form), (words, form)
            told = bob.ok("environment", *words, *form)
            assert "his-9e02" in told and "hers-9e02" not in told, (words, form, told)
    of_alice, of_bob = (json.loads(person.ok("environment", "show", "tools", "-o", "json"))["lockstep"]["locks"]
                        for person in (alice, bob))
    assert [lock["job"] for lock in of_alice] == ["hers-9e02"] and of_bob == [], "nor of what was solved for it"
    assert "may not" in why_refused(bob, "environment", "log", "hers-9e02")
    bob.ok("job", "cancel", "his-9e02")
    bob.wait_for_status("his-9e02", "Canceled")


# ---- S4 ------------------------------------------------------------------------------------------

ENTRIES, ASKED = 200_000, 16

# Links to one file: the folder is large, and nothing of it but its list is.
HUGE = """
import os, sys
os.mkdir(sys.argv[1])
os.chdir(sys.argv[1])
with open("first", "w") as file:
    file.write("x")
for number in range(int(sys.argv[2])):
    os.link("first", f"{number:06}" + "x" * 114)
"""


@on_the_host
def test_bobs_huge_folders_hold_up_no_submission_of_alices(world):
    """He has a limit on the size of his folders, far above this one, so that each of his submissions is measured: the
    launcher goes through the whole list, and then refuses to resume what never ran."""
    alice, bob = world.alice, world.bob
    folder = bob.directory / "huge"
    bob.python(HUGE, folder, ENTRIES)
    alice.write("new.txt", "hers\n")
    with limited(world, bob, "--snapshot-size", "1t"):
        world.submit(bob, "huge", "--begin", "1h", "--", "true", cwd=folder)
        bob.ok("job", "cancel", "huge")
        bob.wait_for_status("huge", "Canceled")
        asked = [bob.start("job", "resume", "huge") for _ in range(ASKED)]

        def answered():
            return sum(one.poll() is not None for one in asked)

        try:
            wait_until(answered, "the first of his is answered")
            world.submit(alice, "beside-them", "--", "true")
            before = answered()
        finally:
            ends = [(one.communicate()[1], one.returncode) for one in asked]
    for errors, code in ends:
        assert code == 1 and b"has saved no checkpoint" in errors, (code, errors)
    assert before <= ASKED // 2, f"hers came after {before} of {ASKED}"
    assert alice.wait_for_status("beside-them", *FINAL)["status"] == "Completed"


# ---- names of tasks --------------------------------------------------------------------------------


@on_the_host
def test_a_job_that_bob_names_as_a_task_of_alices_is_taken_for_none(world):
    alice, bob = world.alice, world.bob
    world.submit(bob, "alice-sweep_1", "--", "bash", "-c", "echo bob > outputs/model")
    bob.wait_for_status("alice-sweep_1", "Completed")
    bob.ok("job", "share", "alice-sweep_1")
    why = alice.refused("run", "--detach", "--name", "alice-sweep", "--array", "0-2", *SHARE, "--", "true")
    assert "would be called 'alice-sweep_1', but another user has a job of this name" in why, why
    done = alice.run("job", "download", "alice-sweep_1", "-p", "got")
    assert done.returncode == 0 and f"job 'alice-sweep_1' is {bob.name}'s" in done.stderr.decode(), done
    done = alice.run("run", "--detach", "--name", "reads", *SHARE,
                     "--input", "d=azureml://jobs/alice-sweep_1/outputs/artifacts/paths/outputs", "--", "true")
    assert done.returncode == 0 and f"job 'alice-sweep_1' is {bob.name}'s" in done.stderr.decode(), done
    alice.ok("run", "--detach", "--name", "own", "--array", "0-1%1", *SHARE, "--", "sleep", "600")
    why = bob.refused("run", "--detach", "--name", "own_1", *SHARE, "--", "true")
    assert "belongs to task '1' of job 'own', which is another user's" in why, why
    alice.ok("job", "cancel", "own")


# ---- the launcher's disk -------------------------------------------------------------------------


@contextlib.contextmanager
def launcher_of_roots(shared_bin, *flags, megabytes=None):
    """With these flags, its home on a disk of so many megabytes (None: a large one), and one node: the site, alice and
    bob."""
    from conftest import _close
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ls-e2e-"))
    with contextlib.ExitStack() as undo:
        undo.enter_context(on_a_disk_in_memory(directory))
        site = Site(directory, bin_directory=shared_bin)
        undo.callback(_close, site)
        if megabytes:
            home = site.home / "launcher"
            home.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=700,size={megabytes}m", "two-users", home], check=True)
            undo.callback(subprocess.run, ["umount", home], check=True)
        operator = Operator(site)
        undo.callback(operator.close)
        operator.launcher(*flags)
        operator.agent("n1", "--token-file", operator.token())
        wait_until(lambda: [node["liveness"] for node in site.json("node", "list")] == ["ALIVE"], "the node is there")
        yield site, *(Neighbour(site, account) for account in ("lockstep-alice", "lockstep-bob"))


def job_names(site):
    return {job["name"] for job in site.json("job", "list")}


def test_a_flood_of_bobs_jobs_costs_alice_none(shared_bin, two_accounts):
    """Retention leaves jobs alone for a minute."""
    with launcher_of_roots(shared_bin, "--keep-jobs", "4") as (site, alice, bob):
        alice.submit("--name", "thesis", "--retry", "0", *SHARE, "--", "sh", "-c",
                     "mkdir -p outputs; echo precious > outputs/model")
        alice.wait_for_status("thesis", "Completed")
        names = [bob.submit("--name", f"flood-{number}", "--begin", "1h", *SHARE, "--", "true") for number in range(6)]
        bob.ok("job", "cancel", *names)
        wait_until(lambda: len(job_names(site)) == 4, "retention took what is too much")
        assert job_names(site) == {"thesis", *names[3:]}
        assert alice.ok("job", "cat", "thesis", "outputs/model") == "precious\n"
        deleted = [entry for entry in site.json("audit", "--limit", "0")
                   if (entry["who"], entry["what"]) == ("lockstepd", "delete jobs")]
        assert [entry["object"] for entry in deleted] == [f"job {name}" for name in names[:3]]
        assert "more than --keep-jobs 4; lockstep-bob has most, 6" in deleted[0]["detail"], deleted


@on_the_host
def test_bobs_logs_fill_his_share_alone_and_wait_there(world):
    alice, bob = world.alice, world.bob
    bob.ok("job", "delete", "--all-final")  # what he ran before counts
    with limited(world, bob, "--job-files", "20m"):
        world.submit(bob, "loud", "--", "sh", "-c", "head -c 40000000 /dev/urandom | base64; echo the end")
        wait_until(lambda: "(quota job-files)" in (bob.show("loud")["reason"] or ""), "his logs wait, and it is said why")
        assert bob.show("loud")["status"] == "Finalizing"
        world.submit(alice, "quiet", "--", "echo", "hers")
        assert alice.wait_for_status("quiet", *FINAL)["status"] == "Completed"
        assert alice.logs("quiet") == b"hers\n"
        why = why_refused(bob, "run", "--detach", *SHARE, "--", "true", code=125)
        assert "quota: the logs, outputs, checkpoints and sources of the jobs of user 'lockstep-bob' take" in why, why
        assert "20.0 MiB are allowed" in why and "`lockstep job delete NAME`" in why, why
        told = [event["message"] for event in bob.json("job", "events", "loud") if event["what"] == "LogsWait"]
        assert len(told) == 1 and "the launcher takes no more logs" in told[0], told
    assert bob.wait_for_status("loud", *FINAL)["status"] == "Completed"
    logs = bob.logs("loud")
    assert logs.endswith(b"the end\n") and len(logs) > 53_000_000, "nothing was lost"
    bob.ok("job", "delete", "loud")


@on_the_host
def test_bobs_outputs_beyond_his_share_wait_and_come_when_there_is_room(world):
    alice, bob = world.alice, world.bob
    bob.ok("job", "delete", "--all-final")  # what he ran before counts
    with limited(world, bob, "--job-files", "20m"):
        world.submit(bob, "large", "--", "sh", "-c",
                     "head -c 60000000 /dev/urandom > made; md5sum < made; mkdir -p outputs; mv made outputs/model")
        wait_until(lambda: "(quota job-files)" in (bob.show("large")["reason"] or ""),
                   "his outputs wait, and it is said why")
        assert bob.show("large")["status"] == "Finalizing"
        world.submit(alice, "small", "--", "sh", "-c", "mkdir -p outputs; echo hers > outputs/model")
        assert alice.wait_for_status("small", *FINAL)["status"] == "Completed"
        assert alice.ok("job", "cat", "small", "outputs/model") == "hers\n"
    assert bob.wait_for_status("large", *FINAL)["status"] == "Completed"
    bob.ok("job", "download", "large", "-p", "large")
    [file] = (bob.work / "large").rglob("model")
    said = subprocess.run(["md5sum", file], capture_output=True, text=True, check=True).stdout
    assert bob.logs("large").decode().split()[0] == said.split()[0]
    bob.ok("job", "delete", "large")


# Twice what the launcher's disk holds, in versions of which only the last is of use.
REWRITES = """
name: rewrites
command: |
  mkdir -p outputs
  for round in $(seq 14); do
    head -c 8000000 /dev/urandom > outputs/x
    head -c 4000000 /dev/urandom > $LOCKSTEP_CHECKPOINT_DIR/y
    sleep 2.5
  done
  md5sum < outputs/x
lockstep:
  checkpoint:
    every: 1s
  retry:
    max: 0
  resources:
    cpus: 1
    memory: 128m
    gpus: 0
"""


def test_old_versions_of_bobs_running_job_make_way(shared_bin, two_accounts):
    with launcher_of_roots(shared_bin, megabytes=96) as (site, alice, bob):
        bob.write("rewrites.yml", REWRITES)
        bob.ok("job", "create", "-f", "rewrites.yml")
        bob.wait_for_status("rewrites", "Running")
        accepted = []

        def submit():
            done = alice.run("run", "--detach", "--name", f"hers-{len(accepted)}", *SHARE, "--", "true")
            accepted.append(done.returncode == 0)
            assert accepted[-1] or b"the launcher's disk is low" in done.stderr, done
            return accepted[-1]

        for _ in range(5):
            wait_until(submit, "she is let in again while his job runs", 60)
            time.sleep(4)
        bob.wait_for_status("rewrites", *FINAL)
        assert bob.show("rewrites")["status"] == "Completed"
        bob.ok("job", "download", "rewrites", "-p", "got")
        [file] = (bob.work / "got").rglob("x")
        said = subprocess.run(["md5sum", file], capture_output=True, text=True, check=True).stdout
        assert bob.logs("rewrites").decode().split()[0] == said.split()[0]
        for number, was_accepted in enumerate(accepted):
            if was_accepted:
                assert alice.wait_for_status(f"hers-{number}", *FINAL)["status"] == "Completed"
