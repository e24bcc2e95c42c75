"""The audit log: who did what and who was refused, whole after kill -9, and what is found when it was changed."""
import json
import os
import pwd
import subprocess

import pytest
from harness.site import wait_until
from test_roles import Person, job_of, people  # noqa: F401


def entries(site, *words):
    return site.json("audit", *words)


def found(site, **fields):
    return [e for e in entries(site, "--limit", "0") if all(e[k] == v for k, v in fields.items())]


def segments(site):
    return sorted((site.home / "launcher" / "audit").glob("audit-*.jsonl"))


def stop_launcher(site):
    pid = site.launcher_pids()[0]
    subprocess.run(["kill", "-9", str(pid)], check=True)
    wait_until(lambda: not site.launcher_pids(), "the launcher is gone")


def test_every_change_and_refusal_names_who_what_and_how_it_ended(site, people):  # noqa: F811
    alice, bob = people["alice"], people["bob"]
    name = job_of(alice, "-e", "TOKEN=canary-51d0", "--", "bash", "-c", "echo hi; sleep 300")
    site.wait_for_status(name, "Running")
    bob.refused("job", "cancel", name)
    bob.refused("job", "logs", name)
    people["vic"].refused("node", "drain", "local-0")
    people["olga"].ok("node", "drain", "local-0")
    site.ok("job", "show", name)
    site.ok("job", "logs", name)
    site.ok("user", "role", "bob", "viewer")
    site.ok("compute", "create", "--name", "lab", "--type", "virtualmachine", "--node-source", "join")
    site.ok("compute", "update", "lab", "--description", "canary-51d0", "--tags", "owner=canary-51d0")
    alice.ok("job", "cancel", name)
    site.wait_for_status(name, "Canceled")
    alice.ok("job", "delete", name)

    job = f"job {name}"
    for fields in ({"who": "alice", "what": "submit job", "object": job, "outcome": "done"},
                   {"who": "bob", "what": "cancel job", "object": job, "outcome": "refused"},
                   {"who": "bob", "what": "read logs", "object": job, "outcome": "refused"},
                   {"who": "vic", "what": "drain node", "object": "node local-0", "outcome": "refused"},
                   {"who": "olga", "what": "drain node", "object": "node local-0", "outcome": "done"},
                   {"who": "alice", "what": "cancel job", "object": job, "outcome": "done"},
                   {"who": "alice", "what": "delete jobs", "object": job, "outcome": "done"},
                   {"what": "show job", "object": job, "outcome": "read"},
                   {"what": "read logs", "object": job, "outcome": "read"},
                   {"what": "update compute", "object": "compute lab", "detail": "description, tags"},
                   {"what": "give role", "object": "user bob", "outcome": "done"},
                   {"who": "node local-0", "what": "join", "outcome": "done"}):
        assert found(site, **fields), fields
    whole = entries(site, "--limit", "0")
    assert [e["number"] for e in whole] == list(range(1, len(whole) + 1)), "the newest is last"
    for entry in whole:
        assert entry["what"] and entry["object"] and entry["time"], entry
        if entry["outcome"] != "note":
            assert entry["key"].startswith("lskey") and entry["address"] or entry["who"] == "lockstepd", entry
    assert b"canary-51d0" not in b"".join(path.read_bytes() for path in segments(site))

    assert all(e["who"] == "alice" or e["object"] == "user alice" for e in entries(site, "--user", "alice"))
    assert all("node local-0" in (e["who"], e["object"]) for e in entries(site, "--node", "local-0"))
    assert len(entries(site, "--limit", "3")) == 3
    assert entries(site, "--since", "2090-01-01T00:00:00Z") == []
    assert "WHO" in site.ok("audit", "--since", "1h")
    for person in people.values():
        assert "may not read the audit log" in person.refused("audit")
        assert "may not read the audit log" in person.refused("audit", "verify")


def test_bad_words_are_told(site):
    site.up(1)
    for words, why in ((("audit", "--since", "yesterday"), "is not a time"),
                       (("audit", "--limit", "-1"), "whole number"),
                       (("audit", "verify", "--mark", "12"), "is not NUMBER:DIGEST"),
                       (("audit", "verfy"), "did you mean 'audit verify'")):
        done = site.run(*words)
        assert done.returncode == 2 and why in done.stderr.decode(), (words, done)
    done = site.run("audit", "verify", "--home", str(site.work))
    assert done.returncode == 1 and b"there is no audit log" in done.stderr


def test_nothing_is_lost_by_kill_9_and_a_cut_entry_is_mended(site, people):  # noqa: F811
    for i in range(20):
        site.ok("node", "drain" if i % 2 == 0 else "resume", "local-0")
    stop_launcher(site)
    home = site.home / "launcher"
    told = json.loads(site.ok("audit", "verify", "--home", str(home), "-o", "json"))
    assert told["whole"] and not told["notes"]
    newest = segments(site)[-1]
    assert newest.read_text().count('"what":"drain node"') == 10
    with newest.open("ab") as file:
        file.write(b'{"n":999,"ns":1')
    told = json.loads(site.ok("audit", "verify", "--home", str(home), "-o", "json"))
    assert told["whole"] and "not finished" in told["notes"][0], "a cut entry is no tampering"
    site.ok("up")
    assert "bytes were removed" in found(site, what="fix the log")[0]["detail"]
    assert site.ok("audit", "verify").startswith("whole: entries 1 to ")


@pytest.mark.parametrize("change", ["edit", "remove", "reorder", "cut"])
def test_what_was_changed_is_found_and_named(site, people, change):  # noqa: F811
    site.ok("node", "drain", "local-0")
    site.ok("node", "resume", "local-0")
    wait_until(lambda: int((site.home / "launcher/audit/head").read_text().split()[0])
               >= site.json("audit", "verify")["last"], "the newest entry is on disk")
    stop_launcher(site)
    path = segments(site)[-1]
    lines = path.read_bytes().splitlines(keepends=True)
    at = len(lines) - 2
    if change == "edit":
        lines[at] = lines[at].replace(b"drain", b"dream")
    elif change == "remove":
        del lines[at]
    elif change == "reorder":
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    else:
        del lines[at:]
    path.write_bytes(b"".join(lines))
    home = str(site.home / "launcher")
    for stopped in (True, False):
        if not stopped:
            site.ok("up")
        done = site.run("audit", "verify", *(["--home", home] if stopped else []))
        assert done.returncode == 1, done
        text = done.stdout.decode()
        assert text.startswith("broken: "), text
        if change != "cut":
            assert f"{path.name}:{at + 1}: " in text, text
        else:
            assert "missing" in text, text


def test_a_backup_has_it_and_a_restored_launcher_goes_on(site, people):  # noqa: F811
    site.ok("node", "drain", "local-0")
    daemon = str(site.bin / "lockstepd")
    backup, copy = site.directory / "backup", site.directory / "restored"
    home = str(site.home / "launcher")
    subprocess.run([daemon, "backup", str(backup), "--home", home], check=True, capture_output=True)
    subprocess.run([daemon, "restore", str(backup), "--home", str(copy)], check=True, capture_output=True)
    told = json.loads(site.ok("audit", "verify", "--home", str(copy), "-o", "json"))
    assert told["whole"] and told["entries"] > 5
    subprocess.run([daemon, "fsck", "--home", str(copy)], check=True, capture_output=True)


def test_a_name_that_was_added_again_finds_the_entries_of_both(site):
    site.up(1)
    account = pwd.getpwuid(os.getuid()).pw_name
    site.ok("user", "add", "zoe", "--role", "viewer", "--account", account)
    site.ok("user", "remove", "zoe")
    site.ok("user", "add", "zoe", "--role", "viewer", "--account", account)
    site.ok("user", "role", "zoe~2", "submitter")
    done = site.run("audit", "--user", "zoe")
    assert done.returncode == 0 and b"user zoe~2" in done.stdout and b"remove user" in done.stdout, done
    assert b"these are entries of 2 users, zoe, zoe~2" in done.stderr, done
    only = site.run("audit", "--user", "zoe~2")
    assert b"remove user" not in only.stdout and only.stderr == b"", only
