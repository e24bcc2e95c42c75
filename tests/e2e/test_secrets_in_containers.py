"""A secret of alice's, whose ranks run in containers of a root agent: it is in nothing that an engine shows or keeps,
on no command line at any moment, and in no file, backup or report."""
import json
import os
import pathlib
import subprocess
import threading

import pytest
from harness.readable import PROBE, files_with, now
from harness.site import wait_until
from test_secrets import give
from test_two_users import FINAL, SHARE, world  # noqa: F401

SINCE, CANARY = now(), "canary-71fe20-" + "k" * 24

engines = pytest.mark.parametrize("world", ["docker", "podman"], indirect=True)


class CommandLines:
    """Reads the command line of every process, again and again, until it is left."""

    def __init__(self, text):
        self.text, self.rounds, self.found, self.programs = text.encode(), 0, set(), set()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.over.is_set():
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                except OSError:
                    continue
                self.programs.add(os.path.basename(words.split(b"\0")[0]).decode(errors="replace"))
                if self.text in words:
                    self.found.add(words)
            self.rounds += 1

    def __enter__(self):
        self.thread.start()
        wait_until(lambda: self.rounds, "the first round")
        return self

    def __exit__(self, *failure):
        self.over.set()
        self.thread.join()


def in_the_engine(engine):
    """All that it tells of containers and images."""
    told = [engine.ok("ps", "--all", "--no-trunc", "--format", "{{json .}}"), engine.ok("image", "ls", "--no-trunc")]
    for container in engine.containers():
        told.append(engine.ok("inspect", container))
        logs = engine.run("logs", container)
        told.append((logs.stdout + logs.stderr).decode())
        told.append(engine.ok("top", container))
    for name in engine.names():
        told += [engine.ok("image", "inspect", name), engine.ok("history", "--no-trunc", name)]
    return "\n".join(told)


@engines
def test_ranks_in_containers_have_it_and_nothing_else_does(world):  # noqa: F811
    site, alice, bob, engine = world.site, world.alice, world.bob, world.engine
    check = f"test \"$AUTH\" = 'Bearer {CANARY[:9]}'\"$REST\" && test \"$COPY\" = \"${{AUTH#Bearer }}\" && echo up; sleep 600"
    with CommandLines(CANARY) as seen:
        assert CANARY not in give(alice, "HF_TOKEN", CANARY).stderr.decode()
        words = ("-e", "AUTH=Bearer ${{secrets.HF_TOKEN}}", "-e", f"REST={CANARY[9:]}", "--secret", "COPY=HF_TOKEN",
                 "--docker-args", "-e 'OF_ARGS=seen'", "--", "bash", "-c", check)
        with world.running(alice, "has-it", *words):
            assert alice.show("has-it")["status"] == "Running"
            is_told_nowhere(site, alice, bob, engine)
        assert alice.run("run", *SHARE, *world.image, "--secret", "HF_TOKEN", "--", "bash", "-c",
                         f"test ${{#HF_TOKEN}} = {len(CANARY)}").returncode == 0
    assert seen.found == set() and seen.rounds > 20
    assert os.path.basename(engine.program) in seen.programs, "the engine's command line was seen"

    wait_until(lambda: not list(world.attempts.iterdir()), "all attempts are removed")
    assert CANARY not in in_the_engine(engine)
    assert files_with(CANARY, site.directory, engine.folder, "/run/lockstep", "/dev/shm") == [], "nothing is left behind"


def is_told_nowhere(site, alice, bob, engine):
    told = in_the_engine(engine)
    assert "OF_ARGS" in told, "variables of docker_args are in there"
    assert CANARY not in told
    assert files_with("OF_ARGS", site.home / "nodes"), "and in a file for the engine"
    assert files_with(CANARY, site.directory, engine.folder, "/run/lockstep", "/dev/shm") == []
    for person in (alice, bob, site):
        for words in (("job", "show", "has-it", "-o", "json"), ("job", "list", "-o", "json"), ("job", "explain", "has-it"),
                      ("job", "events", "has-it"), ("job", "logs", "has-it"), ("environment", "log", "has-it"),
                      ("secret", "list"), ("node", "show", "local-0", "-o", "json"), ("doctor",)):
            done = person.run(*words)
            assert CANARY.encode() not in done.stdout + done.stderr, words
    assert CANARY not in site.ok("audit", "--limit", "0", "-o", "json")
    doctor = subprocess.run([str(site.bin / "lockstep-agent"), "doctor"], env={**site.environment(), **engine.environment},
                            capture_output=True, check=False)
    assert doctor.stdout and CANARY.encode() not in doctor.stdout + doctor.stderr
    seen = json.loads(bob.python(PROBE, SINCE, site.directory, "/run/lockstep", "/dev/shm", "/tmp", told=CANARY))
    assert seen["found"] == []
    assert any(text.startswith("environ of ") for text in
               json.loads(alice.python(PROBE, SINCE, told=CANARY))["found"]), "the rank has it"
    backup = site.directory / "backup"
    subprocess.run([str(site.bin / "lockstepd"), "backup", "--home", str(site.home / "launcher"), str(backup)],
                   check=True, capture_output=True)
    assert files_with(CANARY, backup) == [] and not (backup / "secrets").exists()


@engines
def test_an_environment_that_is_made_for_a_job_with_a_secret_has_none(world):  # noqa: F811
    """Neither the build of an image nor what it leaves in the engine."""
    alice, engine = world.alice, world.engine
    give(alice, "HF_TOKEN", CANARY)
    look = json.dumps(["/bin/bash", "-c", "env > /variables; cat /proc/*/environ > /all || true"])
    alice.write("context/Dockerfile", f"FROM {world.image[1]}\nRUN {look}\n")
    os.chown(alice.work / "context", alice.uid, alice.gid)
    alice.write("job.yml", "command: cat /variables; grep -aq canary /all && echo found; test -n \"$T\"\n"
                           "environment: {build: {path: context}}\n"
                           "environment_variables: {T: '${{secrets.HF_TOKEN}}'}\n"
                           "lockstep: {resources: {cpus: 1, memory: 128m, gpus: 0}, retry: {max: 0}}\n")
    with CommandLines(CANARY) as seen:
        alice.ok("job", "create", "-f", "job.yml", "--name", "built")
        job = alice.wait_for_status("built", *FINAL)
    assert job["status"] == "Completed", (job["attempts"], alice.ok("environment", "log", "built"))
    assert seen.found == set()
    out = alice.logs("built").decode()
    assert "PATH=" in out and "canary" not in out and "found" not in out
    assert CANARY not in in_the_engine(engine)
    assert files_with(CANARY, engine.folder) == []
