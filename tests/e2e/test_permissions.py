"""What each role may do, verb by verb, over real keys: DESIGN section 13, written out by hand."""
import re

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
yyyyy-  job show JOB
yyyyy-  job explain JOB
y-y---  job logs JOB
y-y---  job events JOB
y-yyy-  environment show tools
y-y---  environment create -f tools.yml
yy----  environment prune --unused-for 1d
yy----  node drain local-0
yy----  node resume local-0
y-----  node token
y-----  node remove local-0
y-----  user list
y-----  user show alice
y-----  user add someone
y-----  user account someone root
y-----  user role someone viewer
y-----  user key add someone NEWKEY
y-----  user remove someone
y-----  project create mine
y-----  project remove mine
y-----  audit
y-----  audit verify
y-yy--  run --detach -- true
yyy---  job cancel JOB
y-y---  job delete JOB
"""
# An admin may, and is told why it cannot be now.
NOT_NOW = {"node remove local-0": "is ALIVE"}


def may(done):
    """Whether it was refused for what the asker may not do; another failure is no answer."""
    text = done.stderr.decode()
    if done.returncode == 0:
        return True
    if re.search(r"may not |belongs to user", text):
        return False
    raise AssertionError(f"{done.args} exited {done.returncode}: {text}")


def test_every_verb_is_as_the_table_says(site, people):  # noqa: F811
    runs = {"admin": site.run, **{name: people[name].run for name in ASKERS[1:]}}
    site.write("tools.yml", "name: tools\nversion: '1'\nimage: busybox:1\n")
    people["alice"].ok("environment", "create", "-f", "tools.yml")
    running = job_of(people["alice"], "--", "sleep", "600")
    site.wait_for_status(running, "Running")
    seen = {"y": 0, "-": 0}
    for line in TABLE.strip().splitlines():
        cells, _, verb = line.partition("  ")
        # First those who are refused, so that what is asked for is still there.
        for cell, asker in sorted(zip(cells, ASKERS, strict=True)):
            words = [running if w == "JOB" else w for w in verb.split()]
            if "NEWKEY" in words:
                words[words.index("NEWKEY")] = people["vic"].key if cell == "-" else _fresh_key(site)
            if verb == "job delete JOB" and asker == "admin":
                continue  # its owner did
            if verb == "job delete JOB":
                site.wait_for_status(running, "Canceled")
            done = runs[asker](*words)
            if cell == "y" and verb in NOT_NOW:
                assert NOT_NOW[verb] in done.stderr.decode(), (asker, verb, done)
                continue
            assert may(done) == (cell == "y"), (asker, verb, done)
            seen[cell] += 1
    assert seen["y"] > 60 and seen["-"] > 90, seen
    refused = [e for e in site.json("audit", "--limit", "0") if e["outcome"] == "refused"]
    assert len(refused) >= 40, "refusals are in the audit log, as far as one key may have them"
    assert {e["who"] for e in refused} >= set(ASKERS[1:])


def _fresh_key(site):
    home = site.directory / "home-fresh"
    home.mkdir(exist_ok=True)
    return site.ok("user", "key", "show", env={"LOCKSTEP_HOME": str(home)}).strip()
