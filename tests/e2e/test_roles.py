"""Users, roles, projects and keys: what each of four keys may do, and what a revoked key still can."""
import os
import pwd
import json
import subprocess
import time

import pytest
from harness.site import wait_until

REVOKED_WITHIN_S = 2


class Person:
    """Somebody with a key of their own, who uses the site's launcher."""

    def __init__(self, site, name):
        self.site, self.name = site, name
        home = site.directory / f"home-{name}"
        home.mkdir()
        self.environment = {"LOCKSTEP_HOME": str(home),
                            "LOCKSTEP_LAUNCHER": str(site.home / "launcher" / "endpoint.json")}
        self.key = self.ok("user", "key", "show").strip()

    def run(self, *words, **options):
        return self.site.run(*words, env=self.environment, **options)

    def ok(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, f"{self.name}: {words}: {done.stderr.decode()}"
        return done.stdout.decode()

    def refused(self, *words):
        """Demands that it fails, and returns why."""
        done = self.run(*words)
        text = done.stderr.decode()
        assert done.returncode == 1 or (words[0] == "run" and done.returncode == 125), \
            f"{self.name}: {words} exited {done.returncode}: {text}"
        assert "Traceback" not in text
        return text

    def start(self, *words):
        return subprocess.Popen([str(self.site.bin / "lockstep"), *words], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.site.work,
                                env={**self.site.environment(), **self.environment})


@pytest.fixture
def people(site):
    """A launcher with one node, and its admin's friends. All jobs run as the account of the tests, which exists."""
    site.up(1)
    site.ok("project", "create", "vision")
    made = {}
    for name, role, project in (("olga", "operator", None), ("alice", "submitter", "default"),
                                ("bob", "submitter", "default"), ("vic", "viewer", "default"),
                                ("eve", "submitter", "vision")):
        made[name] = Person(site, name)
        words = ["user", "add", name, "--key", made[name].key, "--role", role, "--account", pwd.getpwuid(os.getuid()).pw_name]
        site.ok(*words, *(["--project", project] if project else []))
    return made


def job_of(person, *words):
    done = person.ok("run", "--detach", "-o", "json", *words)
    return json.loads(done)["name"]


def test_nobody_reads_cancels_or_deletes_what_is_somebody_elses(site, people):
    alice, bob, vic, eve, olga = (people[n] for n in ("alice", "bob", "vic", "eve", "olga"))
    name = job_of(alice, "-e", "TOKEN=canary-7f3a", "--", "bash", "-c", "echo hidden-line; sleep 300")
    site.wait_for_status(name, "Running")
    assert "canary-7f3a" in alice.ok("job", "show", name, "-o", "json")

    for person in (bob, vic):
        seen = person.ok("job", "show", name, "-o", "json")
        assert json.loads(seen)["status"] == "Running"
        assert "canary-7f3a" not in seen and "hidden-line" not in seen and "sleep 300" not in seen
        assert name in person.ok("job", "list")
        for words in (("job", "logs", name), ("job", "cancel", name), ("job", "events", name)):
            assert "alice" in person.refused(*words) or "viewer" in person.refused(*words)
    assert name not in eve.ok("job", "list")
    eve.refused("job", "show", name)
    eve.refused("job", "logs", name)

    assert "canary-7f3a" not in olga.ok("job", "show", name, "-o", "json")
    olga.refused("job", "logs", name)
    admin = site.ok("job", "show", name, "-o", "json")
    assert "canary-7f3a" not in admin
    assert "sleep 300" in admin
    assert site.show(name)["status"] == "Running"

    olga.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")
    assert "belongs to user 'alice'" in bob.refused("job", "delete", name)
    mine = job_of(bob, "--", "true")
    site.wait_for_status(mine, "Completed")
    bob.ok("job", "delete", "--all-final", "--yes")
    assert name in site.ok("job", "list"), "only one's own are deleted"
    alice.ok("job", "delete", name)


def test_only_the_roles_that_may_change_the_cluster(site, people):
    for name in ("alice", "vic", "eve"):
        person = people[name]
        for words in (("node", "drain", "local-0"), ("node", "token"), ("node", "remove", "local-0"),
                      ("node", "approve", "local-0"),
                      ("node", "revoke", "local-0", "--now"), ("environment", "prune"),
                      ("user", "list"), ("user", "add", "mallory"), ("user", "role", name, "admin"),
                      ("project", "create", "mine")):
            assert "may not" in person.refused(*words), words
        assert name in person.ok("user", "whoami")
    olga = people["olga"]
    olga.ok("node", "drain", "local-0")
    olga.ok("node", "resume", "local-0")
    olga.refused("node", "token")
    assert "may not admit nodes" in olga.refused("node", "approve", "local-0")
    olga.refused("user", "role", "olga", "admin")
    assert "that needs the role submitter or admin" in olga.refused("run", "--", "true")
    assert "may not submit" in people["vic"].refused("run", "--", "true")
    assert site.run("status").returncode == 0, "nobody ended the launcher"


def test_a_project_bounds_what_its_submitters_do(site, people):
    assert "may not submit jobs in project vision" in people["alice"].refused(
        "run", "--project", "vision", "--", "true")
    name = job_of(people["eve"], "--project", "vision", "--", "true")
    site.wait_for_status(name, "Completed")
    assert json.loads(people["eve"].ok("job", "show", name, "-o", "json"))["lockstep"]["project"] == "vision"
    assert name not in people["alice"].ok("job", "list")
    assert "there is no project 'speech'" in people["eve"].refused("run", "--project", "speech", "--", "true")
    assert b"no project 'speech'" in site.run("run", "--project", "speech", "--", "true").stderr


def test_a_name_of_an_environment_belongs_to_a_project(site, people):
    alice, bob, vic, eve = (people[n] for n in ("alice", "bob", "vic", "eve"))
    site.write("env.yml", "name: tools\nimage: busybox:1\n")
    site.write("other.yml", "name: tools\nimage: busybox:2\n")
    assert alice.ok("environment", "create", "-f", "env.yml") == "tools:1\n"
    assert "belongs to user 'alice'" in bob.refused("environment", "create", "-f", "other.yml")
    alice.ok("environment", "share", "tools", "--with-project")
    assert bob.ok("environment", "create", "-f", "other.yml") == "tools:2\n", "a submitter of the project"
    assert "may not add versions" in vic.refused("environment", "create", "-f", "env.yml")
    assert "tools" in vic.ok("environment", "list")
    assert "project:        default" in bob.ok("environment", "show", "tools")

    eve.refused("environment", "show", "tools")
    assert "tools" not in eve.ok("environment", "list")
    taken = eve.refused("environment", "create", "-f", "env.yml")
    assert "the name 'tools' is taken" in taken and "alice" not in taken
    assert "may not see environments" in eve.refused(
        "run", "--project", "vision", "--environment", "tools@latest", "--", "true")
    assert eve.ok("environment", "create", "-f", "env.yml", "--name", "eyes") == "eyes:1\n"
    shown = json.loads(eve.ok("environment", "show", "eyes", "-o", "json"))
    assert shown["lockstep"]["project"] == "vision", "the only one that she submits into"
    assert "may not create environments, data or models in project default" in eve.refused(
        "environment", "create", "-f", "env.yml", "--name", "other", "--project", "default")
    assert "eyes" not in alice.ok("environment", "list")
    alice.refused("environment", "show", "eyes")
    site.ok("environment", "create", "-f", "other.yml", "--name", "eyes")
    assert json.loads(eve.ok("environment", "show", "eyes@latest", "-o", "json"))["version"] == "2"


def test_a_job_runs_with_a_name_of_its_owners_project(site, people):
    site.write("host.yml", "name: plain\ninterpreter: /usr/bin/python3\n")
    people["eve"].ok("environment", "create", "-f", "host.yml")
    name = job_of(people["eve"], "--project", "vision", "--environment", "plain@latest", "--", "true")
    site.wait_for_status(name, "Completed")
    assert json.loads(people["eve"].ok("job", "show", name, "-o", "json"))["environment"]["name"] == "plain"
    people["alice"].refused("run", "--environment", "plain@latest", "--", "true")


def test_a_shared_job_is_read_by_its_project_until_it_is_taken_back(site, people):
    alice, bob, vic, eve, olga = (people[n] for n in ("alice", "bob", "vic", "eve", "olga"))
    site.write("shared/left.py", "open('outputs/left.txt', 'w').write('left here')\n")
    name = job_of(alice, "--code", "shared", "-e", "TOKEN=canary-31cc", "--", "bash", "-c",
                  "mkdir -p outputs; echo a-line; python3 left.py")
    site.wait_for_status(name, "Completed")
    to = site.directory / "downloads"

    def reads(person, number):
        seen = person.ok("job", "show", name, "-o", "json")
        assert "left.py" in seen and "canary-31cc" not in seen
        assert "a-line" in person.ok("job", "logs", name)
        assert "Completed" in person.ok("job", "events", name)
        person.ok("job", "download", name, "-p", str(to / f"{person.name}{number}"))
        assert "left here" in "".join(p.read_text() for p in (to / f"{person.name}{number}").rglob("left.txt"))

    def reads_not(person, number):
        assert "left.py" not in person.ok("job", "show", name, "-o", "json")
        person.refused("job", "events", name)
        assert "may not read" in person.refused("job", "files", name)
        for words in (("logs", name), ("download", name, "-p", str(to / f"{person.name}{number}"))):
            why = person.refused("job", *words)
            assert "the launcher refused: " in why and "may not read" in why and "lost the launcher" not in why, why
        assert not list((to / f"{person.name}{number}").rglob("left.txt"))

    for person in (vic, bob):
        reads_not(person, 1)
        assert "may not share this job" in person.refused("job", "share", name)
    assert "may not share this job" in site.run("job", "share", name).stderr.decode(), "no admin either"
    done = alice.run("job", "share", name, "no-such-job")
    assert done.returncode == 1
    assert f"job '{name}' is shared with project default" in done.stderr.decode()
    assert "there is no job 'no-such-job'" in done.stderr.decode()
    assert "with project default" in alice.ok("job", "show", name)
    for person in (vic, bob):
        reads(person, 2)
        person.refused("job", "unshare", name)
        person.refused("job", "delete", name)
    eve.refused("job", "show", name)
    olga.refused("job", "logs", name)
    alice.ok("job", "unshare", name)
    for person in (vic, bob):
        reads_not(person, 3)
    what = [(e["who"], e["what"], e["outcome"]) for e in site.json("audit", "--limit", "0")
            if e["what"] in ("share job", "unshare job") and e["object"] == f"job {name}"]
    assert ("alice", "share job", "done") in what and ("alice", "unshare job", "done") in what
    assert ("vic", "share job", "refused") in what and ("bob", "unshare job", "refused") in what


def test_unsharing_ends_what_others_follow(site, people):
    alice, vic = people["alice"], people["vic"]
    name = job_of(alice, "--", "bash", "-c", "while :; do echo tick; sleep 0.1; done")
    site.wait_for_status(name, "Running")
    alice.ok("job", "share", name)
    follower = vic.start("job", "logs", "-f", name)
    while b"tick" not in follower.stdout.readline():
        assert follower.poll() is None
    alice.ok("job", "unshare", name)
    follower.wait(timeout=60)
    assert follower.returncode != 0
    assert follower.stdout.read().count(b"tick") < 10 * (REVOKED_WITHIN_S + 1)
    follower.stderr.close()
    follower.stdout.close()
    alice.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")


def test_a_revoked_key_stops_what_it_follows_at_once(site, people):
    alice = people["alice"]
    name = job_of(alice, "--", "bash", "-c", "while :; do echo tick; sleep 0.1; done")
    site.wait_for_status(name, "Running")
    follower = alice.start("job", "stream", name)
    while b"tick" not in follower.stdout.readline():
        assert follower.poll() is None
    site.ok("user", "key", "revoke", alice.key)
    revoked = time.monotonic()
    follower.wait(timeout=60)
    assert follower.returncode != 0
    tail = follower.stdout.read()
    assert tail.count(b"tick") < 10 * (REVOKED_WITHIN_S + 1), "it was sent more than two seconds of lines"
    assert time.monotonic() - revoked < 60
    follower.stderr.close()
    follower.stdout.close()
    assert alice.run("job", "list", timeout=120).returncode == 1
    assert "was revoked" in site.run("user", "key", "add", "alice", alice.key).stderr.decode()
    site.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")


def test_whose_key_ended_is_told_why_and_what_to_do(site, people):
    alice, bob = people["alice"], people["bob"]
    admin = site.user or pwd.getpwuid(os.getuid()).pw_name
    site.ok("user", "key", "revoke", alice.key)
    file = site.directory / "home-alice" / "keys" / "user.key"
    for words in (["status"], ["job", "list"], ["user", "key", "rotate"]):
        done = alice.run(*words)
        text = " ".join(done.stderr.decode().split())
        assert done.returncode != 0 and "of user 'alice' was revoked at 20" in text and f" by {admin}" in text, text
        assert f"mv {file} {file}.revoked" in text and "lockstep user key add alice NEWKEY" in text, text
        assert "user add" not in text and "not complete" not in text, text
    # The advice leads back in.
    file.rename(f"{file}.revoked")
    fresh = alice.ok("user", "key", "show").strip()
    site.ok("user", "key", "add", "alice", fresh)
    assert "alice" in alice.ok("user", "whoami")
    site.ok("user", "remove", "bob")
    text = " ".join(bob.run("status").stderr.decode().split())
    assert "user 'bob' was removed at 20" in text and "lockstep user add NAME --key NEWKEY" in text, text


def test_a_rotated_key_replaces_the_old_one(site, people):
    bob = people["bob"]
    old = bob.key
    bob.ok("user", "key", "rotate")
    new = bob.ok("user", "key", "show").strip()
    assert new != old
    assert "bob" in bob.ok("user", "whoami")
    keys = [key["key"] for key in site.json("user", "show", "bob")["keys"]]
    assert keys == [new]


@pytest.mark.parametrize("step", ["told", "moved"])
def test_a_rotation_that_was_cut_off_goes_on(site, people, step):
    bob = people["bob"]
    keys = site.directory / "home-bob" / "keys"
    file, fresh, old = keys / "user.key", keys / "user.key.new", keys / "user.key.old"
    before = file.read_bytes()
    bob.ok("user", "key", "rotate")
    after = file.read_bytes()
    assert after != before and not fresh.exists() and not old.exists()
    if step == "told":  # the launcher knows a new key, and nobody heard that it does
        file.write_bytes(after)
        other = Person(site, "bob-elsewhere")
        site.ok("user", "key", "add", "bob", other.key)
        fresh.write_bytes((site.directory / "home-bob-elsewhere" / "keys" / "user.key").read_bytes())
        fresh.chmod(0o600)
    else:  # the file has the new key, the old one is not revoked yet
        old.write_bytes(before)
        old.chmod(0o600)
    bob.ok("user", "key", "rotate")
    assert not fresh.exists() and not old.exists()
    assert [key["key"] for key in site.json("user", "show", "bob")["keys"]] == [
        bob.ok("user", "key", "show").strip()]
    assert file.read_bytes() == after or step == "told"


def test_keys_are_one_word_and_users_survive_a_restart(site, people):
    for person in people.values():
        assert person.key.isalnum() and person.key.startswith("lskey")
    before = site.json("user", "list")
    assert {user["name"] for user in before} >= set(people)
    pid = site.launcher_pids()[0]
    subprocess.run(["kill", "-9", str(pid)], check=True)
    wait_until(lambda: not site.launcher_pids(), "the launcher is gone")
    site.ok("up")
    assert site.json("user", "list") == before
    assert "alice" in people["alice"].ok("user", "whoami")


def test_a_job_goes_to_the_only_project_that_its_submitter_has(site, people):
    eve = people["eve"]
    name = job_of(eve, "--", "true")
    assert json.loads(eve.ok("job", "show", name, "-o", "json"))["lockstep"]["project"] == "vision"
