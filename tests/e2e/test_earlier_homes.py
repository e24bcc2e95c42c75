"""A launcher and an agent on homes that an earlier landing left: journals as they were recorded (tests/data), keys in
the file that all had, folders open to everybody. What was there is there, users have roles, all is closed, jobs run."""
import os
import pathlib
import pwd
import shutil
import sqlite3
import stat
import subprocess

import pytest
from harness.site import ROOT, wait_until
from test_operators import Operator, states
from test_roles import Person

DATA = ROOT / "tests" / "data"
WITHOUT_USERS = ("0.1-spine", "0.2-stores", "0.3-holds", "0.4-environments", "0.5-images")
OF_THIS_LANDING = ("audit", "secrets", "blobs.sent")


def public_key(home):
    """As z85, which is what the file of users had."""
    words = (home / "keys" / "user.key").read_text().split()
    return words[words.index("public") + 1]


def recorded_jobs(landing):
    lines = (DATA / landing / "jobs.txt").read_text().splitlines()
    return {line.split()[0]: line.split()[1] for line in lines}


def open_to_everybody(folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def read_by_others(*folders):
    """Files below these folders that an account of nobody's can open, knowing all their names; needs root."""
    paths = [str(path) for folder in folders for path in folder.rglob("*") if path.is_file()]
    script = "import os, sys\nfor path in sys.stdin.read().split('\\n'):\n  if os.access(path, os.R_OK): print(path)"
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run([*nobody, "/usr/bin/python3", "-Ic", script], input="\n".join(paths), capture_output=True,
                          text=True, check=True, cwd="/")
    assert len(paths) > 10
    return done.stdout.splitlines()


@pytest.fixture(params=WITHOUT_USERS)
def left(request, site):
    """The launcher's home and an agent's, as that landing left them; users carl and dora had keys."""
    operator = Operator(site)
    launcher = operator.launcher()
    launcher.terminate()
    launcher.wait(timeout=30)
    home = site.home / "launcher"
    for name in OF_THIS_LANDING:
        path = home / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for path in home.glob("journal.db*"):
        path.unlink()
    journal = sqlite3.connect(home / "journal.db")
    journal.executescript((DATA / request.param / "journal.sql").read_text())
    journal.close()
    people = {name: Person(site, name) for name in ("carl", "dora")}
    lines = [f"root {public_key(site.home)}"]
    lines += [f"{name} {public_key(pathlib.Path(p.environment['LOCKSTEP_HOME']))}" for name, p in people.items()]
    (home / "keys" / "authorized_users").write_text("\n".join(lines) + "\n")
    agent = site.directory / "n9"
    for folder in ("attempts", "cache/blobs", "cache/trees"):
        (agent / folder).mkdir(parents=True)
    for folder in (home, agent):
        open_to_everybody(folder)
    for key in (home / "keys").iterdir():  # these always were closed
        key.chmod(0o600)
    yield request.param, operator, people
    operator.close()


def test_a_home_of_an_earlier_landing_goes_on(site, left):
    landing, operator, people = left
    operator.launcher("--keep-jobs-for", "unlimited")  # they were recorded in 1970
    jobs = {job["name"]: job["status"] for job in site.json("job", "list", "--all-results")}
    assert jobs.keys() == recorded_jobs(landing).keys()
    for name, status in recorded_jobs(landing).items():
        if status in ("Completed", "Failed", "Canceled"):
            assert jobs[name] == status, name

    roles = {user["name"]: [role["role"] for role in user["roles"]] for user in site.json("user", "list")}
    assert roles == {"root": ["admin"], "carl": ["submitter"], "dora": ["submitter"]}
    assert "submitter in default" in people["carl"].ok("user", "whoami")
    assert "may not" in people["carl"].refused("node", "token")
    assert people["carl"].key.startswith("lskey"), "the same key, as one word"

    for name, status in jobs.items():
        if status not in ("Completed", "Failed", "Canceled"):
            site.ok("job", "cancel", name)
    operator.agent("n9", "--token-file", operator.token())
    wait_until(lambda: states(site).get("n9") == "ALIVE", "the node is there", 60)
    for name in ("root", "carl", "dora"):
        site.ok("user", "account", name, pwd.getpwuid(os.getuid()).pw_name)
    name = site.submit("--", "sh", "-c", "echo from-now-on")
    site.wait_for_status(name, "Completed")
    assert b"from-now-on" in site.logs(name)
    hers = people["dora"].ok("run", "--detach", "--", "true").strip()
    site.wait_for_status(hers, "Completed")
    assert "belongs to user 'dora'" in people["carl"].refused("job", "logs", hers)

    # What is in a closed folder may have any mode.
    assert stat.S_IMODE(os.stat(site.home / "launcher").st_mode) == 0o700
    assert stat.S_IMODE(os.stat(site.directory / "n9").st_mode) == 0o711
    if os.getuid() == 0:
        seen = {path.rpartition("/")[2] for path in read_by_others(site.home / "launcher", site.directory / "n9")}
        assert seen <= {"boot", "agent.pid"}, "of which nothing is a secret"
    assert site.ok("audit", "verify").startswith("whole")
