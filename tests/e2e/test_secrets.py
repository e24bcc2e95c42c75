"""Secrets: their ranks get them, and nobody and nothing else has them."""
import json
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from harness.readable import files_with
from harness.site import wait_until
from test_roles import job_of, people  # noqa: F401

CANARY = "canary-9d42c7-" + "q" * 20


def set_secret(person, name, value):
    """As a pipe or `< FILE` would."""
    with tempfile.TemporaryFile() as file:
        file.write(value.encode())
        file.seek(0)
        return person.run("secret", "set", name, stdin=file)


def give(person, name, value):
    done = set_secret(person, name, value + "\n")
    assert done.returncode == 0, done.stderr.decode()
    return done


def processes_with(text):
    """Command lines; and variables of all that is no rank of ours."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            variables = (entry / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in command:
            found.append(f"argv of {entry.name}: {command}")
        if text.encode() in variables and b"RANK=" not in variables:
            found.append(f"variables of {entry.name}: {command}")
    return found


def test_ranks_have_it_and_nothing_else_does(site, people):  # noqa: F811
    alice, bob = people["alice"], people["bob"]
    assert CANARY not in give(alice, "HF_TOKEN", CANARY).stderr.decode()
    assert [s["name"] for s in json.loads(alice.ok("secret", "list", "-o", "json"))] == ["HF_TOKEN"]
    assert json.loads(bob.ok("secret", "list", "-o", "json")) == []

    check = f"test \"$AUTH\" = 'Bearer {CANARY[:7]}'\"$REST\" && echo it-is-right; sleep 300"
    name = job_of(alice, "-e", "AUTH=Bearer ${{secrets.HF_TOKEN}}", "-e", f"REST={CANARY[7:]}",
                  "--secret", "COPY=HF_TOKEN", "--", "bash", "-c", check)
    wait_until(lambda: "it-is-right" in alice.run("job", "logs", name).stdout.decode(), "the rank has it")

    assert "${{secrets.HF_TOKEN}}" in alice.ok("job", "show", name, "-o", "json")
    for person in (alice, bob, people["olga"], people["vic"]):
        for words in (("job", "show", name, "-o", "json"), ("job", "list", "-o", "json"),
                      ("job", "explain", name), ("job", "events", name), ("secret", "list"),
                      ("node", "show", "local-0", "-o", "json"), ("doctor",)):
            done = person.run(*words)
            assert CANARY.encode() not in done.stdout + done.stderr, (person.name, words)
    admin = site.run("job", "show", name, "-o", "json")
    assert CANARY.encode() not in admin.stdout + admin.stderr

    assert processes_with(CANARY) == []
    assert files_with(CANARY, site.directory, "/run/lockstep", "/dev/shm") == []
    backup = site.directory / "backup"
    subprocess.run([str(site.bin / "lockstepd"), "backup", "--home", str(site.home / "launcher"), str(backup)],
                   check=True, capture_output=True)
    assert files_with(CANARY, backup) == []
    assert not (backup / "secrets").exists()

    # A daemon that dies of a fault leaves no memory behind.
    for pid in site.launcher_pids() + site.agent_pids() + site.runner_pids():
        limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
        soft = next(line for line in limits.splitlines() if line.startswith("Max core")).split()[4]
        assert soft in ("0", "1"), site.command_of(pid)
    alice.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")


def test_a_backup_says_that_it_has_none_or_has_them_sealed(site, people):  # noqa: F811
    alice = people["alice"]
    give(alice, "TOKEN", CANARY)
    home, key, backups = str(site.home / "launcher"), site.directory / "backup.key", site.directory

    def tool(*words):
        done = subprocess.run([str(site.bin / "lockstepd"), *map(str, words)], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    code, _, said = tool("backup", backups / "bare", "--home", home)
    assert code == 0 and "left out: 1 secret of users" in said and "--with-secrets" in said
    code, _, said = tool("restore", backups / "bare", "--home", backups / "bare-home")
    assert code == 0 and "left out: 1 secret of users" in said

    assert tool("backup-key", key)[0] == 0 and key.stat().st_mode & 0o777 == 0o600
    code, _, said = tool("backup", backups / "wrong", "--home", home, "--with-secrets", key)
    assert code == 2 and "private key" in said and not (backups / "wrong").exists()
    code, out, said = tool("backup", backups / "full", "--home", home, "--with-secrets", f"{key}.pub")
    assert code == 0 and "1 secret" in out and "secret" not in said, said
    assert files_with(CANARY, backups / "full") == []

    code, _, said = tool("restore", backups / "full", "--home", backups / "without")
    assert code == 0 and "left out: the secrets of users that the backup has" in said
    other = site.directory / "other.key"
    tool("backup-key", other)
    code, _, said = tool("restore", backups / "full", "--home", backups / "no", "--with-secrets", other)
    assert code == 2 and "sealed to the key" in said and not (backups / "no").exists()
    site.kill(site.launcher_pids())
    shutil.rmtree(home)
    code, out, said = tool("restore", backups / "full", "--home", home, "--with-secrets", key)
    assert code == 0 and "1 secret" in out, said
    site.ok("up")
    name = job_of(alice, "--secret", "TOKEN", "--", "bash", "-c", f"test ${{#TOKEN}} = {len(CANARY)}")
    site.wait_for_status(name, "Completed")


def test_it_is_given_again_after_the_agent_or_the_launcher_died(site, people):  # noqa: F811
    alice = people["alice"]
    give(alice, "TOKEN", CANARY)
    agent, = site.agent_pids()
    site.kill([agent])
    name = job_of(alice, "--secret", "TOKEN", "--", "bash", "-c", f"test ${{#TOKEN}} = {len(CANARY)}")
    launcher, = site.launcher_pids()
    site.kill([launcher])
    wait_until(lambda: not site.launcher_pids(), "the launcher is gone")
    site.ok("up")
    site.wait_for_status(name, "Completed")
    assert files_with(CANARY, site.directory) == []


def test_one_that_is_not_there_is_said_when_the_job_is_submitted(site, people):  # noqa: F811
    alice, bob = people["alice"], people["bob"]
    give(alice, "TOKEN", CANARY)
    assert "user 'bob' has no secret 'TOKEN'; set it with `lockstep secret set TOKEN`" in bob.refused(
        "run", "--secret", "TOKEN", "--", "true")
    site.write("job.yml", "command: curl -H ${{secrets.TOKEN}}\n")
    done = alice.run("job", "create", "-f", "job.yml")
    assert done.returncode == 2 and b"job.yml:1:18" in done.stderr and b"environment_variables" in done.stderr
    site.write("job.yml", "command: test -n \"$T\"\nenvironment_variables:\n  T: ${{ secrets.TOKEN }}\n")
    alice.ok("job", "create", "-f", "job.yml", "--stream")
    for refused in (("secret", "remove", "NONE"), ("secret", "set", "a-b")):
        assert alice.run(*refused).returncode in (1, 2)
    for value, why in (("", "is empty"), ("x" * 70_000, "at most 65536")):
        done = set_secret(alice, "TOKEN", value)
        assert done.returncode == 2 and why in done.stderr.decode()
        assert "xxxx" not in done.stderr.decode()
    assert "may not use secrets" in set_secret(
        people["vic"], "TOKEN", "x").stderr.decode()


def test_one_that_was_removed_while_its_job_waited_ends_the_job_with_its_name(site, people):  # noqa: F811
    alice = people["alice"]
    give(alice, "TOKEN", CANARY)
    site.ok("node", "drain", "local-0")
    name = job_of(alice, "--secret", "TOKEN", "--", "true")
    alice.ok("secret", "remove", "TOKEN")
    site.ok("node", "resume", "local-0")
    site.wait_for_status(name, "Failed")
    assert "the secret 'TOKEN' no longer exists" in alice.ok("job", "show", name)


def test_a_removed_users_secrets_go(site, people):  # noqa: F811
    give(people["alice"], "TOKEN", CANARY)
    site.ok("user", "remove", "alice")
    database = site.home / "launcher" / "secrets" / "secrets.db"
    wait_until(lambda: b"TOKEN" not in database.read_bytes(), "her secrets are removed")


@pytest.mark.parametrize("missing", ["key", "secrets.db"])
def test_a_launcher_that_lost_a_file_of_them_says_so_and_serves_the_rest(site, people, missing):  # noqa: F811
    alice = people["alice"]
    give(alice, "TOKEN", CANARY)
    pid, = site.launcher_pids()
    site.kill([pid])
    wait_until(lambda: not site.launcher_pids(), "the launcher is gone")
    (site.home / "launcher" / "secrets" / missing).unlink()
    site.ok("up")
    done = alice.run("run", "--secret", "TOKEN", "--", "true")
    assert done.returncode == 125
    expected = "secrets/key: is missing" if missing == "key" else "has no secret 'TOKEN'"
    assert expected in done.stderr.decode()
    alice.ok("run", "--", "true")
