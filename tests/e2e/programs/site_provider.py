#!/usr/bin/python3
"""A site's own provider for tests: each machine is an agent process of this machine. usage: site_provider.py VERB

Settings: bin (folder of lockstep-agent) and place (a folder). PLACE/faults.json, if it is there, makes it misbehave:
`fail` and `pending` count down, `slow` is seconds before a machine is made. With `notices` it asks for `hold`, which tells of
each file PLACE/notice-MACHINE that its machine is taken away. `boots` is seconds until its agent starts, as in a VM of a cloud:
`create` says pending when it orders the machine, and running when it is there. `lives` is seconds until a machine's time is
over, as `create` says; a launcher gives the machine back before that."""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

# `hold` keeps its input open after the first line.
request = json.loads(sys.stdin.readline() if sys.argv[-1] == "hold" else sys.stdin.read())
verb, settings = sys.argv[-1], request["settings"]
place = pathlib.Path(settings["place"])
tag = f"{request['launcher']}-{request['target']}"


def say(event, **keys):
    print(json.dumps({"event": event, **keys}), flush=True)


def take_fault(name):
    """True as often as the faults say."""
    path = place / "faults.json"
    faults = json.loads(path.read_text()) if path.exists() else {}
    if not faults.get(name):
        return False
    faults[name] -= 1
    path.write_text(json.dumps(faults))
    return True


def folder(machine):
    return place / f"{tag}-{machine}"


def pid_of(machine):
    """The agent's, if it runs."""
    try:
        pid = int((folder(machine) / "pid").read_text())
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if str(folder(machine)).encode() in b"\0".join(words) else None


def life_of(home, lives):
    """What `about` says of a machine that lives for so many seconds from its first `create`; 0: it does not end."""
    if not lives:
        return {}
    born = home / "born"
    if not born.exists():
        born.write_text(str(time.time()))
    left = float(born.read_text()) + lives - time.time()
    return {"lifetime": str(lives), "left": str(max(0, int(left)))}


def create(machine):
    name, home = machine["name"], folder(machine["name"])
    say("step", machine=name, step="start")
    path = place / "faults.json"
    faults = json.loads(path.read_text()) if path.exists() else {}
    time.sleep(faults.get("slow", 0))
    boots = faults.get("boots", 0)
    if boots and pid_of(name):
        return say("machine", machine=name, state="running", about={})
    if take_fault("pending"):
        return say("machine", machine=name, state="pending", about={"reason": "Resources"})
    if take_fault("fail"):
        return say("error", machine=name, step="start", code="no_space", message="the site is full")
    home.mkdir(parents=True, exist_ok=True)
    if not pid_of(name):
        (home / "token").touch(mode=0o600)
        (home / "token").write_text(machine["token"])
        with open(home / "log", "ab") as log:
            agent = subprocess.Popen(
                ["sh", "-c", f'sleep {boots}; exec "$@"', "sh",
                 f"{settings['bin']}/lockstep-agent", "--home", home / "agent", "--name", name, "--cpus", "1",
                 "--token-file", home / "token"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        (home / "pid").write_text(str(agent.pid))
    if boots:
        return say("machine", machine=name, state="pending", about={"reason": "boots"})
    for _ in range(300):
        if (home / "agent" / "identity.json").exists():
            return say("machine", machine=name, state="running",
                       about={"hold": bool(faults.get("notices")), **life_of(home, faults.get("lives", 0))})
        time.sleep(0.1)
    return say("error", machine=name, step="join", code="launcher_unreachable", message="the agent has not joined")


def remove(machine):
    name = machine["name"]
    pid = pid_of(name)
    if pid:
        os.kill(pid, signal.SIGTERM)
        for _ in range(100):
            if not pid_of(name):
                break
            time.sleep(0.05)
        else:
            os.kill(pid, signal.SIGKILL)
    subprocess.run(["rm", "-rf", "--one-file-system", folder(name)], check=True)
    say("machine", machine=name, state="absent", about={})


def list_all():
    for path in sorted(place.glob(f"{tag}-*")):
        name = path.name[len(tag) + 1:]
        say("machine", machine=name, state="running" if pid_of(name) else "stopped", about={})


def hold():
    """Tells the notices that lie in PLACE, until its input ends."""
    known = {machine["name"] for machine in request["machines"]}
    while not select.select([sys.stdin], [], [], 0.2)[0]:
        for path in place.glob("notice-*"):
            if (name := path.name.removeprefix("notice-")) in known:
                path.unlink()
                say("notice", machine=name, seconds=60, message="the site is told so")


if verb == "hold":
    hold()
    sys.exit(0)
if verb == "list":
    list_all()
if verb == "check" and settings.get("image") == "missing":
    say("error", machine=request["target"], step="check", code="unsupported", message="the site has no image 'missing'")
    sys.exit(1)
for one in request["machines"] if verb not in ("list", "check") else []:
    {"create": create, "remove": remove}[verb](one)
