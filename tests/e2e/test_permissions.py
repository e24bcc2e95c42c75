"""What each role may do, verb by verb, over real keys: DESIGN section 13, written out by hand."""
import os
import pty
import re
import tempfile

from harness.site import wait_until
from test_roles import job_of, people  # noqa: F401

# admin, operator, the owner (a submitter), another submitter of the project, a viewer of it, a submitter of another.
ASKERS = ("admin", "olga", "alice", "bob", "vic", "eve")
TABLE = """
yyyyyy  user whoami
yyyyyy  status
yyyyyy  node list
yyyyyy  node show local-0
yyyyyy  project list
yyyyyy  environment list
yyyyyy  quota list
yyyyyy  quota show
y---y-  quota show --user vic
y-----  quota set --user vic --gpus 1
y-----  quota unset --user vic --gpus
y-yy-y  secret set TOKEN
y-yy-y  secret list
y-yy-y  secret remove TOKEN
yyyyy-  job show JOB
yyyyy-  job explain JOB
y-y---  job logs JOB
y-y---  job events JOB
--y---  job share JOB
yyyyy-  job show JOB
y-yyy-  job logs JOB
y-yyy-  job events JOB
--y---  job unshare JOB
y-y---  job logs JOB
y-y---  job update JOB --set tags.a=b
y-y---  job archive JOB
y-y---  job restore JOB
y-yyy-  environment show tools
y-yy--  environment create -f tools.yml
yy----  environment prune --unused-for 1d
yy----  node drain local-0
yy----  node resume local-0
y-----  node token
y-----  node approve local-0
y-----  node remove local-0
y-----  user list
y-----  user show alice
y-----  user add someone
y-----  user account someone root
y-----  user role someone viewer
y-----  user key add someone NEWKEY
y-----  user key revoke NEWKEY
y-----  user remove someone
y-----  project create mine
y-----  project remove mine
y-----  audit
y-----  audit verify
y-yy--  run --detach --project default -- true
yyy---  job cancel JOB
y-y---  job download JOB -p got
y-y---  job delete JOB
yyyyyy  user key rotate
yy----  node revoke local-0 --now
y-----  down
"""
# An admin may, and is told why it cannot be now; or an earlier asker did it already.
NOT_NOW = {"node remove local-0": "is ALIVE", "node revoke local-0 --now": "there is no node"}


def may(done):
    """Whether it was refused for what the asker may not do; another failure is no answer."""
    text = done.stderr.decode()
    if done.returncode == 0:
        return True
    if re.search(r"may not |belongs to user|the name .* is taken|only an admin sees|names another launcher", text):
        return False
    raise AssertionError(f"{done.args} exited {done.returncode}: {text}")


def test_every_verb_is_as_the_table_says(site, people):  # noqa: F811
    runs = {"admin": site.run, **{name: people[name].run for name in ASKERS[1:]}}
    site.write("tools.yml", "name: tools\nversion: '1'\nimage: busybox:1\n")
    people["alice"].ok("environment", "create", "-f", "tools.yml")
    running = job_of(people["alice"], "--", "sh", "-c", "echo made > outputs/made; echo up; exec sleep 600")
    wait_until(lambda: b"up" in site.logs(running), "the job has left something")
    words_for = {"JOB": running, "NEWKEY": _fresh_key(site)}
    seen = {"y": 0, "-": 0}
    for line in TABLE.strip().splitlines():
        cells, _, verb = line.partition("  ")
        if verb.startswith("job download"):
            site.wait_for_status(running, "Canceled")
        if verb == "down":
            refused_so_far(site)
        # First those who are refused, so that what is asked for is still there.
        for cell, asker in sorted(zip(cells, ASKERS, strict=True)):
            if verb == "job delete JOB" and asker == "admin":
                continue  # its owner did
            with tempfile.TemporaryFile() as value:
                value.write(b"a value\n")
                value.seek(0)
                done = runs[asker](*[words_for.get(w, w) for w in verb.split()], stdin=value)
            if cell == "y" and NOT_NOW.get(verb, "-") in done.stderr.decode():
                continue
            assert may(done) == (cell == "y"), (asker, verb, done)
            seen[cell] += 1
    assert seen["y"] > 90 and seen["-"] > 120, seen
    assert not site.launcher_pids(), "its admin ended it, last"


def refused_so_far(site):
    refused = [e for e in site.json("audit", "--limit", "0") if e["outcome"] == "refused"]
    assert len(refused) >= 40, "refusals are in the audit log, as far as one key may have them"
    assert {e["who"] for e in refused} >= set(ASKERS[1:])


def answer_at_a_terminal(person, answer, *words):
    """Runs it on a terminal and answers its question; returns what it printed and its exit code."""
    site = person.site
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(site.work)
        os.execve(site.bin / "lockstep", ["lockstep", *words], {**site.environment(), **person.environment, "TERM": "xterm"})
    said = b""
    while b"[y/N]" not in said:
        said += os.read(terminal, 1000)
    os.write(terminal, answer + b"\n")
    try:
        while piece := os.read(terminal, 1000):
            said += piece
    except OSError:  # the other end is closed
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return said.decode(), os.waitstatus_to_exitcode(status)


def test_all_that_ended_is_ones_own_and_is_asked_for(site, people):  # noqa: F811
    alice, bob = people["alice"], people["bob"]
    hers, his = (job_of(person, "--", "true") for person in (alice, bob))
    for name in (hers, his):
        site.wait_for_status(name, "Completed")
    for answer in (b"n", b"", b"yess"):
        said, code = answer_at_a_terminal(alice, answer, "job", "delete", "--all-final")
        assert "Delete all of your jobs that have ended" in said and "nothing was deleted" in said and code == 1, said
    assert hers in alice.ok("job", "list")
    for person in ("olga", "vic"):
        said, code = answer_at_a_terminal(people[person], b"y", "job", "delete", "--all-final")
        assert code == 1 or "nothing was deleted" in said, said
    said, code = answer_at_a_terminal(alice, b"y", "job", "delete", "--all-final")
    assert code == 0 and hers in said and "1 job deleted" in said, said
    wait_until(lambda: hers not in site.ok("job", "list"), "hers is deleted")
    assert his in site.ok("job", "list")
    said, code = answer_at_a_terminal(bob, b"y", "job", "delete", "--older-than", "1h")
    assert "Delete your jobs that ended 1h ago or earlier" in said and code == 0, said
    assert his in site.ok("job", "list")


def test_a_key_that_is_no_admins_ends_no_launcher_though_it_is_local(site, people):  # noqa: F811
    """`down` of a launcher elsewhere is refused by the command line; this one's home has another's key."""
    key = site.home / "keys" / "user.key"
    own, launcher = key.read_bytes(), site.launcher_pids()
    for name in ("olga", "alice", "vic"):
        key.write_bytes((site.directory / f"home-{name}" / "keys" / "user.key").read_bytes())
        done = site.run("down", "--cancel")
        assert done.returncode == 1 and b"may not" in done.stderr, (name, done)
        assert site.launcher_pids() == launcher and site.agent_pids(), name
    key.write_bytes(own)
    site.ok("status")


def test_nobody_revokes_or_rotates_anothers_key(site, people):  # noqa: F811
    alice, bob = people["alice"], people["bob"]
    for asker in ("olga", "alice", "vic", "eve"):
        assert "may not" in people[asker].refused("user", "key", "revoke", bob.key), asker
        assert "may not" in people[asker].refused("user", "key", "add", "bob", _fresh_key(site)), asker
    bob.ok("user", "whoami")
    spare = _fresh_key(site)
    alice.ok("user", "key", "add", "alice", spare)
    alice.ok("user", "key", "revoke", spare)
    assert "was revoked" in alice.refused("user", "key", "add", "alice", spare)


def _fresh_key(site):
    home = site.directory / "home-fresh"
    home.mkdir(exist_ok=True)
    return site.ok("user", "key", "show", env={"LOCKSTEP_HOME": str(home)}).strip()
